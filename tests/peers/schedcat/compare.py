"""One global EDF, simulated by laxity and by SchedCAT: instructions a job, and CPU time in turn."""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "instructions"))
from callgrind import callgrind
from workload import task_set

# Processors, jobs for which instructions are counted, and jobs for which time is taken.
SIZES = [(4, 20_000, 4_000_000), (16, 20_000, 4_000_000), (64, 40_000, 4_000_000), (256, 60_000, 4_000_000), (1024, 60_000, 4_000_000)]
GRIDS_US = [1, 1000]


class Case:
    def __init__(self, arguments, folder, cpus, grid_us):
        self.arguments, self.cpus = arguments, cpus
        self.file = folder / f"m{cpus}-{grid_us}us.csv"
        self.file.write_text(task_set(5 * cpus, 80 * cpus, cpus, grid_us))

    def ms(self, jobs):
        """5 tasks a CPU with a job every 25.6 ms on average."""
        return jobs * 256 // (50 * self.cpus)

    def commands(self, jobs):
        cpus, ms = str(self.cpus), self.ms(jobs)
        laxity = ["simulate", str(self.file), "--cpus", cpus, "--scheduler", "edf-bh", "--duration", f"{ms}ms"]
        return [
            [self.arguments.laxity, *laxity, "--threads", "1", "--json", "-q"],
            [self.arguments.schedcat, str(self.file), cpus, str(ms)],
        ]

    def instructions(self, jobs):
        """A job, of both."""
        for few, many in zip(self.commands(jobs), self.commands(2 * jobs)):
            before, after = callgrind(few), callgrind(many)
            more = jobs_of(after[0]) - jobs_of(before[0])
            yield (sum(after[1].values()) - sum(before[1].values())) / more

    def times(self, jobs):
        """CPU time of a job in ns, and the ratio of pairs, in turn."""
        pairs = []
        for _ in range(self.arguments.pairs):
            pairs.append([cpu_seconds(command) for command in self.commands(jobs)])
        counts = [jobs_of(subprocess.run(one, capture_output=True, text=True).stdout) for one in self.commands(jobs)]
        mine, theirs = (statistics.median(column) * 1e9 / count for column, count in zip(zip(*pairs), counts))
        ratios = sorted(theirs / mine for mine, theirs in pairs)
        return mine, theirs, ratios


def jobs_of(text):
    if text.startswith("{"):
        return json.loads(text)["schedulers"][0]["completed"]
    return sum(map(int, text.split()))


def cpu_seconds(command):
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laxity", required=True)
    parser.add_argument("--schedcat", required=True)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    folder = Path("target/schedcat-sets")
    folder.mkdir(parents=True, exist_ok=True)
    print("| grid | m | laxity: instructions | SchedCAT | ratio | laxity: ns | SchedCAT | ratio of pairs |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for grid_us in GRIDS_US:
        for cpus, counted, timed in SIZES:
            case = Case(arguments, folder, cpus, grid_us)
            mine, theirs = case.instructions(counted)
            ns, peer_ns, ratios = case.times(timed)
            middle, spread = statistics.median(ratios), f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
            print(
                f"| {grid_us} us | {cpus} | {mine:,.0f} | {theirs:,.0f} | {theirs / mine:.2f} | {ns:,.0f} | {peer_ns:,.0f} "
                f"| {middle:.2f} ({spread}) |",
                flush=True,
            )


main()
