"""Every job of the same task sets ends at the same instant in laxity's simulator and in SimSo.

Usage: compare_simso.py LAXITY PEER_JOBS SCRATCH

How the two are made comparable:

1. Jobs are released in [0, duration) and both simulate until all of them have ended, so nothing is cut off at the horizon.
   SimSo's periodic tasks would release for ever; its "sporadic" tasks take a list of instants, which are the same here.
2. SimSo counts in floating-point milliseconds times cycles. With one cycle per "millisecond" and a cycle of 1 ns,
   all its numbers are whole and below 2^53: exact.
3. SimSo breaks ties between equal priorities in favour of the running task, laxity by task id. The sets have no
   ties: periods are drawn to the ns, and equal absolute deadlines (or periods, under RM) are refused below.
4. SimSo aborts late jobs unless told otherwise; its EDF prints every decision.

Beyond the counts of completed jobs and of misses, the two must agree on the finish of every job to the ns.
"""

import contextlib
import csv
import importlib.util
import json
import os
import subprocess
import sys
import types
from pathlib import Path

# SimSo imports `imp`, which Python 3.12 has no longer; it would use it for schedulers in files, of which there are none.
if importlib.util.find_spec("imp") is None:
    sys.modules["imp"] = types.ModuleType("imp")

from simso.configuration import Configuration
from simso.core import Model

DURATION_NS = 1_000_000_000
UNIFORM_PHASES = ["--phases", "uniform"]

POLICIES = ["edf-bh", "gsn-edf", "push-pull", "fpp", "g-edf-mp", "edf-rbt", "gsn-edf-di"]
DEDICATING = {"g-edf-mp", "gsn-edf-di"}

# Priority rule here, scheduler there, cores, tasks, total utilization, options of the generator.
CASES = [
    *(
        ("", "simso.schedulers.EDF", cores, tasks, utilization, [])
        for cores, tasks in ((1, 3), (1, 7), (2, 6), (2, 12), (4, 10), (4, 20))
        for utilization in (f"{0.6 * cores:.1f}", f"{0.9 * cores:.1f}", f"{cores}", f"{1.2 * cores:.1f}")
    ),
    *(
        ("", "simso.schedulers.EDF", cores, 4 * cores, f"{share * cores:.2f}", options)
        for cores in (1, 2, 4)
        for share in (0.8, 1.1)
        for options in (
            [*UNIFORM_PHASES, "--deadlines", "constrained:0.3"],
            [*UNIFORM_PHASES, "--deadlines", "arbitrary:2"],
        )
    ),
    *(
        (":rm", "simso.schedulers.RM_mono", 1, tasks, utilization, options)
        for tasks in (3, 8)
        for utilization in ("0.6", "0.8", "1", "1.3")
        for options in ([], UNIFORM_PHASES)
    ),
    *(
        (":rm", "simso.schedulers.RM", cores, 4 * cores, f"{share * cores:.2f}", UNIFORM_PHASES)
        for cores in (2, 4)
        for share in (0.7, 0.9, 1.15)
    ),
]


def output(command):
    """Standard output of a program that must not fail; its words only if it does."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:3]))}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def generate(laxity, case, number, scratch):
    """The task set of a case, as a file of laxity's and as rows of whole ns."""
    _, _, _, tasks, utilization, options = case
    file = scratch / f"set{number}.csv"
    command = [laxity, "generate", "emberson", "-n", str(tasks), "-u", utilization, "--seed", str(number)]
    output([*command, "--granularity", "1ns", *options, "--format", "csv", "-o", file])
    with open(file, newline="") as text:
        rows = list(csv.DictReader(line for line in text if not line.startswith("#")))
    number_of = lambda row, name, default: int(row[name]) if row.get(name) else default
    return file, [
        {
            "wcet": int(row["wcet_ns"]),
            "period": int(row["period_ns"]),
            "deadline": number_of(row, "deadline_ns", int(row["period_ns"])),
            "phase": number_of(row, "phase_ns", 0),
        }
        for row in rows
    ]


def releases(task):
    return list(range(task["phase"], DURATION_NS, task["period"]))


def check_no_ties(case, tasks):
    if case[0] == ":rm":
        keys = [task["period"] for task in tasks]
    else:
        keys = [release + task["deadline"] for task in tasks for release in releases(task)]
    assert len(keys) == len(set(keys)), f"{case}: equal priorities; choose another seed"


def scheduler_here(case, number):
    """Scheduler and cores on our side: the policies take turns, and two of them need a core for themselves."""
    rule, _, cores, *_ = case
    policy = POLICIES[number % len(POLICIES)]
    return policy + rule, str(cores + (policy in DEDICATING))


def simulate_with_simso(case, tasks, horizon_ns):
    """Per task, (release, deadline, finish, whether SimSo calls it late) of every job."""
    _, scheduler, cores, *_ = case
    configuration = Configuration()
    configuration.duration = horizon_ns
    configuration.cycles_per_ms = 1
    configuration.scheduler_info.clas = scheduler
    for core in range(cores):
        configuration.add_processor(name=f"cpu {core}", identifier=core)
    for identifier, task in enumerate(tasks):
        configuration.add_task(
            name=f"t{identifier}",
            identifier=identifier,
            task_type="Sporadic",
            abort_on_miss=False,
            period=task["period"],
            deadline=task["deadline"],
            wcet=task["wcet"],
            list_activation_dates=releases(task),
        )
    configuration.check_all()
    model = Model(configuration)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        model.run_model()
    return [
        [
            (int(job.activation_date), int(job.absolute_deadline), int(job.end_date), bool(job.exceeded_deadline))
            for job in task.jobs
        ]
        for task in model.task_list
    ]


def compare(case, tasks, ours, theirs):
    """What differs, in words."""
    differences = []
    for task, (our_jobs, their_jobs) in enumerate(zip(ours["tasks"], theirs, strict=True)):
        if len(our_jobs) != len(their_jobs):
            differences.append(f"task {task}: {len(our_jobs)} jobs here, {len(their_jobs)} in SimSo")
        late = sum(finish > deadline for _, deadline, finish in our_jobs)
        late_there = sum(job[3] for job in their_jobs)
        if late != late_there:
            differences.append(f"task {task}: {late} misses here, {late_there} in SimSo")
        for index, (our_job, their_job) in enumerate(zip(our_jobs, their_jobs)):
            if tuple(our_job) != their_job[:3]:
                differences.append(
                    f"task {task} job {index}: release, deadline, finish {our_job} here, {their_job[:3]} in SimSo"
                )
                break
    return differences


def main():
    laxity, peer_jobs, scratch = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    cases = []
    for number, case in enumerate(CASES):
        file, tasks = generate(laxity, case, number, scratch)
        check_no_ties(case, tasks)
        # However late, every job has ended when all work has been done on a single core.
        work = sum(task["wcet"] * len(releases(task)) for task in tasks)
        cases.append((case, tasks, file, work))
    words = [
        word
        for number, (case, _, file, work) in enumerate(cases)
        for word in (*scheduler_here(case, number), str(DURATION_NS), str(work), str(file))
    ]
    answers = json.loads(output([peer_jobs, *words]))
    jobs = misses = failed = 0
    for (case, tasks, _, work), ours in zip(cases, answers, strict=True):
        theirs = simulate_with_simso(case, tasks, DURATION_NS + work + 1)
        differences = compare(case, tasks, ours, theirs)
        if differences:
            failed += 1
            print(f"FAILED: {ours['scheduler']} and {case}")
            print("\n".join(f"  {difference}" for difference in differences))
        jobs += sum(len(task) for task in theirs)
        misses += sum(job[3] for task in theirs for job in task)
    assert jobs > 5_000 and misses > 500, f"only {jobs} jobs and {misses} misses: the comparison shows little"
    if failed:
        print(f"{failed} of {len(cases)} simulations differ from SimSo")
        sys.exit(1)
    print(f"{len(cases)} simulations, {jobs} jobs, {misses} misses: every job ends when it ends in SimSo")


main()
