#!/usr/bin/env python3
"""What handing out the units of a study costs: tests/python/with_module tests/python/engines.py [--study FILE] [--sets N] [--pairs N]
[--empty N].

1. A study by threads and by Dask's local cluster with as many workers, in turn: CPU seconds of all processes and wall seconds. Starting
   the cluster is not counted: it is there before.
2. As many units as --empty says, of one set each, that are not judged at all: what the coordinator takes for each, by itself and with
   Dask, and how it grows.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import laxity
from laxity import _laxity, engines

EMPTY = """
version = 1
title = "empty"
sets = {sets}
[platform]
processors = 4
[axis]
of = "utilization"
values = [1, 2, 3, 4]
[generator]
name = "unc"
[matrix]
utilizations = ["uni-light"]
[[curves]]
scheduler = "g-edf"
"""


def cpu_of(pids):
    """CPU seconds of processes."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measured(pids, work):
    """CPU seconds of all processes, and wall seconds."""
    before, begun = cpu_of(pids), time.perf_counter()
    work()
    return cpu_of(pids) - before, time.perf_counter() - begun


def beside_threads(file, sets, pairs, workers):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        pids = [os.getpid(), *client.run(os.getpid).values()]
        client.run(lambda: __import__("laxity.engines"))
        ratios = []
        for pair in range(pairs):
            with tempfile.TemporaryDirectory() as folder:
                times = {}
                ways = {
                    "threads": lambda: laxity.study(file, sets=sets, threads=workers, out=f"{folder}/threads"),
                    "dask": lambda: laxity.study(file, sets=sets, on=client, out=f"{folder}/dask"),
                }
                for name in sorted(ways, reverse=pair % 2 == 0):
                    times[name] = measured(pids, ways[name])
                same = Path(folder, "threads/points.csv").read_bytes() == Path(folder, "dask/points.csv").read_bytes()
                assert same, "not the same bytes"
            ratios.append([times["dask"][at] / times["threads"][at] for at in (0, 1)])
            shown = ", ".join(f"{name} {cpu:.2f} CPU s, {wall:.2f} s" for name, (cpu, wall) in sorted(times.items()))
            print(f"pair {pair + 1}: {shown}; ratio {ratios[-1][0]:.3f} CPU, {ratios[-1][1]:.3f} wall", flush=True)
        medians = [statistics.median(ratio[at] for ratio in ratios) for at in (0, 1)]
        print(f"median ratio of {pairs} pairs, {workers} workers: {medians[0]:.3f} CPU, {medians[1]:.3f} wall")


def empty(count, workers, slots):
    """By a pool of threads, where all is laxity's own, and by Dask, whose scheduler is in the same process."""
    from concurrent.futures import ThreadPoolExecutor

    # Workers import it, as they import laxity.engines.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    from empty_units import not_judged

    engines.UNIT_S = 0.0
    engines.FIRST_SETS = 1
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "empty.toml")
        file.write_text(EMPTY.format(sets=count // 4))
        conductor = _laxity.Conductor(file, Path(folder, "one"), None, None)
        tally = _laxity.judge(conductor.told(), [conductor.next(1)[1]])[0]
        conductor.close()
        engines.judge = not_judged
        with ThreadPoolExecutor(workers) as pool:
            hand_out(file, count, engines._Executor(pool), tally, f"{workers} threads")

        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=workers, threads_per_worker=slots, dashboard_address=None)
        with cluster, Client(cluster) as client:
            hand_out(file, count, engines._Dask(client), tally, f"Dask, {workers} workers of {slots} threads")


def hand_out(file, count, engine, tally, name):
    """Hands out units that come to `tally` without being judged."""
    run = engines._Run(_laxity.Conductor(file, Path(file.parent, name), None, None), engine, str)
    run.told = tally
    watch = engines._call.Watch()
    sizes, step = [], max(count // 10, 1)

    def look(kind, number, what, unit, judged, planned, over):
        if judged // step >= len(sizes):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            sizes.append(pages * resource.getpagesize() / 2**20)

    watch.__class__ = type("Look", (engines._call.Watch,), {"__call__": lambda self, *told: look(*told)})
    cpu, wall = measured([os.getpid()], lambda: run.run(watch))
    assert run.conductor.complete
    print(
        f"{count} empty units, {name}: {wall / count * 1e6:.0f} us of wall time and {cpu / count * 1e6:.0f} us of the coordinator's CPU time "
        "for each; resident MiB at every tenth: " + " ".join(f"{size:.0f}" for size in sizes),
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--study", default="studies/ackelman2018.toml")
    parser.add_argument("--sets", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--empty", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--slots", type=int, default=1, help="with --empty: threads of each worker")
    asked = parser.parse_args()
    if asked.pairs:
        beside_threads(asked.study, asked.sets, asked.pairs, asked.workers)
    if asked.empty:
        empty(asked.empty, asked.workers, asked.slots)


if __name__ == "__main__":
    sys.exit(main())
