"""What is counted: two commands each, of which one does more, and what they do more of."""

import json
from pathlib import Path

from workload import task_set

COSTS = "examples/costs/constant.toml"


class Measure:
    """`commands` are a few words after `laxity`, {out} a directory of their own; their difference is for `more` units.

    `more` is a number, or takes the standard outputs of both. With one command only, all it does counts. `parts` are counted
    besides: what functions cost whose names match a pattern.
    """

    def __init__(self, name, per, commands, more, parts=None):
        self.name, self.per, self.commands, self.more, self.parts = name, per, commands, more, parts or {}


def jobs(outputs):
    """How many jobs the second simulation has more."""
    few, many = (json.loads(text)["schedulers"][0]["jobs"] for text in outputs)
    return many - few


# The functions of policies, as their sources name them: those that release jobs, and those that decide what runs.
RELEASES = r"^lx_\w*(release|take_due|await)"
POLICY = {"releases": RELEASES, "decisions": rf"^lx_(?!\w*(release|take_due|await))"}


class Sets:
    """Files of task sets, made once."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def file(self, count, percent, seed):
        path = self.folder / f"n{count}-u{percent}-{seed}.csv"
        if not path.exists():
            path.write_text(task_set(count, percent, seed))
        return str(path)

    def files(self, how_many, count, percent):
        return [self.file(count, percent, 1000 + seed) for seed in range(how_many)]


def simulation(sets, scheduler, cpus, options=(), name=None, job_count=8000):
    """5 tasks a CPU that ask for .8 of it (.7 where one CPU runs none); a job costs what so many jobs and twice as many differ by."""
    tasks = sets.file(5 * cpus, (70 if scheduler == "g-edf-mp" else 80) * cpus, cpus)
    # 5 tasks a CPU with periods of 39 ms on average (the mean of their rates is 1 / 25.6 ms).
    ms = job_count * 256 // (50 * cpus)
    shared = ["--cpus", str(cpus), "--scheduler", scheduler, "--threads", "1", "--json", "-q", *options]
    commands = [["simulate", tasks, "--duration", f"{times * ms}ms", *shared] for times in (1, 2)]
    words = " ".join(["simulate", scheduler, f"m={cpus}", *([name] if name else [])])
    return Measure(words, "job", commands, jobs, {} if options else POLICY)


def verdicts(sets, scheduler, count, percent, cpus):
    tests = ["--cpus", str(cpus), "--scheduler", scheduler, "--json", "-q"]
    commands = [["analyze", *sets.files(few, count, percent), *tests] for few in (10, 40)]
    return Measure(f"analyze {scheduler} n={count} m={cpus} U={percent / 100}", "set", commands, 30)


def placement(sets, method, few, many, fit):
    def command(count):
        cpus = str(count // 5)
        return ["place", sets.file(count, 16 * count, count), "--cpus", cpus, "--placement", method, *fit, "--json", "-q"]

    return Measure(f"place {method} {' '.join(fit)}".strip(), "task", [command(few), command(many)], many - few)


def all_measures(sets):
    """In the order of the table."""
    policies = ["edf-bh", "edf-rbt", "fpp", "gsn-edf", "edzl", "amp-rm", "push-pull", "g-edf-mp", "g-edf", "g-rm", "p-edf"]
    yield from (simulation(sets, policy, 4) for policy in policies)
    yield from (simulation(sets, "edf-bh", cpus, job_count=30_000) for cpus in (64, 1024))
    yield simulation(sets, "edf-bh", 4, ["--verify"], "--verify")
    yield simulation(sets, "edf-bh", 4, ["--costs", COSTS], "--costs constant")
    yield simulation(sets, "edf-bh", 4, ["-o", "{out}"], "-o")
    yield simulation(sets, "edf-bh", 4, ["-o", "{out}", "--events"], "-o --events")
    yield simulation(sets, "edf-bh", 4, ["--perfetto", "{out}"], "--perfetto", 24_000)
    # By a test that is quick, and by one that looks at many intervals.
    yield verdicts(sets, "g-edf", 20, 220, 4)
    yield verdicts(sets, "g-edf", 60, 370, 4)
    yield verdicts(sets, "g-rm", 20, 180, 4)
    yield verdicts(sets, "p-edf", 20, 320, 4)
    yield verdicts(sets, "p-rm", 20, 280, 4)
    yield placement(sets, "ffd", 500, 1000, ["--fit", "load"])
    yield placement(sets, "wfd", 500, 1000, ["--fit", "load"])
    yield Measure("place ilp n=60", "set", [["place", sets.file(60, 960, 5), "--cpus", "12", "--json", "-q"]], 1)
    generate = ["generate", "emberson", "-n", "20", "-u", "3.2", "--json", "-q", "--count"]
    yield Measure("generate emberson n=20", "set", [[*generate, "50"], [*generate, "150"]], 100)
    yield Measure("start: laxity --version", "start", [["--version"]], 1)
    few = ["simulate", "examples/three-tasks.csv", "--cpus", "2", "--scheduler", "g-edf", "--duration", "1ms", "--json", "-q"]
    yield Measure("start: simulate 1 ms", "start", [few], 1)
