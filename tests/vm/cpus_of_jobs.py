"""Checks in a results directory that every job began and ended on the CPUs that its task was placed on.

Usage: cpus_of_jobs.py DIRECTORY
"""

import json
import sys
from pathlib import Path

import polars


def cpus(text):
    """The CPUs of a list such as 0-2,5."""
    ends = [part.split("-") for part in text.split(",")]
    return [cpu for end in ends for cpu in range(int(end[0]), int(end[-1]) + 1)]


def main(directory):
    runs = json.loads((directory / "manifest.json").read_text())["runs"]
    jobs = polars.read_parquet(directory / "jobs.parquet").filter(polars.col("first_cpu").is_not_null())
    seen = 0
    for run in runs:
        for cell in run["placement"]["bins"]:
            of_cell = (polars.col("run") == run["id"]) & polars.col("task_name").is_in(cell["tasks"])
            inside = polars.col("first_cpu").is_in(cpus(cell["cpus"])) & polars.col("last_cpu").is_in(cpus(cell["cpus"]))
            elsewhere = jobs.filter(of_cell & ~inside)
            if not elsewhere.is_empty():
                sys.exit(f"{run['scheduler']}: jobs outside CPUs {cell['cpus']}: {elsewhere}")
            seen += jobs.filter(of_cell).height
    if seen == 0 or seen != jobs.height:
        sys.exit(f"{seen} jobs belong to a cell, {jobs.height} ran")
    print(f"{seen} jobs")


main(Path(sys.argv[1]))
