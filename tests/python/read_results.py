"""Reads a results directory as researchers do, with polars, pandas and pyarrow, and checks what they see.

Usage: read_results.py DIRECTORY [ANSWER.json]

The three libraries must agree with each other, with the types that the README promises, and with the metrics
that laxity computed itself (summary.json): jobs, misses and the maximum tardiness of every scheduler.
"""

import json
import sys
from pathlib import Path

import pandas
import polars
import pyarrow.parquet

WORDS = ["scheduler", "host", "task_name", "outcome"]
INT32 = ["run", "set", "repetition", "task", "job"]
INT32_OR_NULL = ["first_cpu", "last_cpu", "migrations", "context_switches"]
INT64 = ["release_ns", "deadline_ns"]
INT64_OR_NULL = [
    "demand_ns", "start_ns", "finish_ns", "response_ns", "laxity_ns", "tardiness_ns", "cpu_time_ns",
    "instructions", "cycles", "l1d_misses", "l2_misses", "llc_misses", "warm_ns",
]  # fmt: skip


def check(condition, message):
    """Fails with a message that says what was seen."""
    if not condition:
        sys.exit(f"error: {message}")


def types_by_name():
    """Column name -> (Arrow type, nullable)."""
    types = dict.fromkeys(WORDS, ("string", False)) | {"cause": ("string", True)}
    types |= dict.fromkeys(INT32, ("int32", False)) | dict.fromkeys(INT32_OR_NULL, ("int32", True))
    types |= dict.fromkeys(INT64, ("int64", False)) | dict.fromkeys(INT64_OR_NULL, ("int64", True))
    return types


def check_schema(path):
    schema = pyarrow.parquet.read_schema(path)
    seen = {field.name: (str(field.type), field.nullable) for field in schema}
    check(seen == types_by_name(), f"columns differ:\n  seen     {seen}\n  promised {types_by_name()}")


def read_with_all(path):
    """The file by three libraries, which must see the same rows."""
    by_polars = polars.read_parquet(path)
    by_pandas = pandas.read_parquet(path)
    by_arrow = pyarrow.parquet.read_table(path)
    rows = by_polars.height
    check(len(by_pandas) == rows, f"pandas sees {len(by_pandas)} rows, polars {rows}")
    check(by_arrow.num_rows == rows, f"pyarrow sees {by_arrow.num_rows} rows, polars {rows}")
    names = list(by_arrow.column_names)
    check(by_polars.columns == names, f"polars sees the columns {by_polars.columns}, pyarrow {names}")
    check(list(by_pandas.columns) == names, f"pandas sees the columns {list(by_pandas.columns)}, pyarrow {names}")
    check(by_polars.rows() == [tuple(row.values()) for row in by_arrow.to_pylist()], "polars and pyarrow disagree")
    for name in names:
        nulls = int(by_pandas[name].isna().sum())
        check(nulls == by_polars[name].null_count(), f"pandas sees {nulls} nulls in {name}, polars other")
        if name not in [*WORDS, "cause"] and nulls < rows:
            check(by_pandas[name].sum() == by_polars[name].sum(), f"pandas and polars sum {name} differently")
    return by_polars


def check_jobs(jobs):
    """What holds for every job, by its own columns."""
    done = jobs.filter(polars.col("finish_ns").is_not_null())
    late = polars.col("finish_ns") - polars.col("deadline_ns")
    wrong = done.filter(
        (polars.col("response_ns") != polars.col("finish_ns") - polars.col("release_ns"))
        | (polars.col("laxity_ns") != -late)
        | (polars.col("tardiness_ns") != late.clip(lower_bound=0))
        | (polars.col("start_ns") < polars.col("release_ns"))
        | (polars.col("finish_ns") < polars.col("start_ns"))
        | (polars.col("outcome") != "completed")
    )
    check(wrong.is_empty(), f"jobs that contradict themselves: {wrong}")
    order = ["run", "task", "job"]
    check(jobs.select(order).equals(jobs.select(order).sort(order)), "rows are not ordered by run, task, job")


def check_summary(jobs, manifest, summary):
    """laxity's metrics against the same computed here, scheduler by scheduler."""
    horizons = {entry["run"]: entry["horizon_ns"] for entry in summary["runs"]}
    real_time = {
        (number, task)
        for number, task_set in enumerate(manifest["task_sets"])
        for task, entry in enumerate(task_set["tasks"])
        if entry.get("kind", "real-time") == "real-time"
    }
    rows = [row for row in jobs.iter_rows(named=True) if (row["set"], row["task"]) in real_time]
    for scheduler in summary["schedulers"]:
        name = scheduler["scheduler"]
        mine = [row for row in rows if (row["scheduler"], row["host"]) == (name, scheduler["host"])]
        done = [row for row in mine if row["finish_ns"] is not None]
        # A job that did not end has missed if its deadline lies within the time the run covered.
        starved = [row for row in mine if row["finish_ns"] is None and row["deadline_ns"] <= horizons[row["run"]]]
        misses = sum(row["tardiness_ns"] > 0 for row in done) + len(starved)
        seen = {"jobs": len(done) + len(starved), "completed": len(done), "misses": misses}
        said = {key: scheduler[key] for key in seen}
        check(seen == said, f"{name}: counted {seen}, summary.json says {said}")
        tardiness_max = max((row["tardiness_ns"] for row in done), default=None)
        said_max = (scheduler["tardiness_ns"] or {}).get("max")
        check(tardiness_max == said_max, f"{name}: maximum tardiness {tardiness_max}, summary.json says {said_max}")
    made = {scheduler["scheduler"] for scheduler in summary["schedulers"]}
    strangers = set(jobs["scheduler"].unique()) - made
    check(not strangers, f"jobs of schedulers that summary.json does not have: {strangers}")


def main():
    directory = Path(sys.argv[1])
    manifest = json.loads((directory / "manifest.json").read_text())
    summary = json.loads((directory / "summary.json").read_text())
    if len(sys.argv) > 2:
        printed = json.loads(Path(sys.argv[2]).read_text())
        check(printed == summary, "what --json printed is not what summary.json holds")
    path = directory / "jobs.parquet"
    check_schema(path)
    jobs = read_with_all(path)
    check_jobs(jobs)
    check_summary(jobs, manifest, summary)
    versions = f"polars {polars.__version__}, pandas {pandas.__version__}, pyarrow {pyarrow.__version__}"
    made = sum(run["status"]["state"] != "not-run" for run in manifest["runs"])
    print(f"{jobs.height} jobs of {made} runs read the same by {versions} and as summary.json says")
    if jobs.is_empty():
        print("note: no run could be made here, so only the empty table was read")


if __name__ == "__main__":
    main()
