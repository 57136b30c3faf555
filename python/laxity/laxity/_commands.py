"""A function for each command. Written by make_commands.py from the program's command line; not by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Union

from . import _run
from ._answers import Analysis, Answer, Check, Placement, Results, Settings, Simulation, StudyResult, Verification
from ._call import Sets
from ._laxity import OwnTest, Prototype, Table, TaskSet

Value = Union[str, int, float, bool, timedelta, "os.PathLike[str]", Mapping[str, Any], Prototype]
"""The value of an option: what the command line takes, as text or as a number. Times are text with a unit ("1.5ms"), whole
nanoseconds or timedeltas; a platform or costs can be a dict with the keys of their files; a scheduler can be a prototype."""


def analyze(
    sets: Sets,
    *,
    leave_out_threads: bool | None = None,
    scheduler: Value | Sequence[Value] | None = None,
    fit: Value | None = None,
    overload: Value | None = None,
    ilp_time_limit: Value | None = None,
    placement: Value | Sequence[Value] | None = None,
    overheads: Value | Sequence[Value] | None = None,
    cache_delays: Value | None = None,
    assume_no_background: bool | None = None,
    kernel_threads: Value | None = None,
    tick: Value | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    server: Value | Sequence[Value] | None = None,
    tardiness_bound: Value | None = None,
    count_double_hit: bool | None = None,
    guarantee: Value | None = None,
    test: Value | None = None,
    sensitivity: bool | None = None,
    work: Value | None = None,
    threads: Value | None = None,
) -> Analysis:
    """Say what is proven of a task set under given schedulers, with overheads.

    Says what is proven of a set, for any arrivals and without running it: that no deadline is missed (hard), or
    that tardiness is bounded (soft), with response times or tardiness for each task. Tests are sufficient unless
    they are called exact; not proven then means that nothing is known. Names are those of simulate, and pfair and
    g-fl, which have tests only. `laxity list tests` has the tests with their sources.

    pfair gives CPUs away in whole quanta (`tick`), whatever scheduling costs: jobs arrive at any time and wait for
    the next, quanta begin together on all CPUs, and every CPU handles release interrupts. pfair:aligned has jobs
    arrive at multiples of the quantum, pfair:staggered spreads the quanta over the CPUs, pfair:dedicated leaves
    interrupts to the last CPU; they combine, as in pfair:staggered:dedicated.

    `overheads` takes CSV files in the columns of the field (TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK,
    RELEASE-LATENCY; in us), such as overheads/*-max.csv of `laxity run `record_overheads``. They are as observed,
    waiting for locks and for other kernel work included: simulate `costs` adds that itself. Without, scheduling
    costs nothing.

    Linux's schedulers are proven as Linux has them: its fair server runs starved background threads before
    SCHED_FIFO, by default for up to 50 ms in a row twice, and as a reservation among those of SCHED_DEADLINE;
    kernels before 6.12, or with groups of real-time tasks, stop SCHED_FIFO that uses more than its share. These are
    the running kernel's without `platform` and `cpus`, else Linux's defaults. `assume_no_background` leaves the
    servers out. On several CPUs SCHED_DEADLINE is proven beside no server. Policies of laxity's own and what only
    analyses know have none. Under these policies kernel threads that can run on one CPU only go before the tasks
    there, for as long as load `kernel_threads` lets them: `kernel_threads` counts that, as an interrupt on every
    CPU.

    `server` is for amp-rm (calandrino2007): background tasks go before real-time tasks while the deferrable server
    of their CPU has a budget. Hard counts that a server can use up two budgets in a row (ds-rta, exact); soft does
    not, and its bounds are those of Theorem 1 (ds-tardiness). It is what place `server` and the admission of a
    loaded amp-rm say of the same CPUs, and its tasks are judged where these put them, unless `placement` ilp or
    `fit` are asked for. With `overheads` nothing is said: nothing bounds how often background tasks preempt others.

    Partitioned and clustered schedulers are judged where run, compare, simulate and place put their tasks: by the
    least load (ilp); where that is not proven, by a heuristic or a search that puts a task onto CPUs only if the
    scheduler's own test accepts what is there with it, overheads included. `placement` names one; `fit` load goes
    by load alone. `write` writes the places into a task set, which every command then keeps to: those of the only
    partitioned or clustered scheduler, or of the only one of them that is proven.

    Args:
        sets: Task sets: a TaskSet, the path of a file, a table with a row for each task, or several of these.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        scheduler: The schedulers, one or a list; default: g-edf, g-rm, c-edf, c-rm, p-edf and p-rm. `laxity list
            schedulers` has all names.
        fit: What may be placed together: test, load, utilization, density or dbf; default: test. `test`: what the
            scheduler's own schedulability test accepts, so that each has places of its own; `load`: by density
            where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
            places, and all of clusters.
        overload: What to do with a task that fits nowhere: refuse, or least-loaded; default: refuse.
        ilp_time_limit: How long the ILP may look for the optimum and its proof. The best placement found until then
            is used. Default: it stops after a fixed amount of work, in about a tenth of a second.
        placement: How tasks are placed onto CPUs and clusters; default: auto. auto is ilp, the least load; where
            the test does not prove its places, those of wfd, ffd, bf-deadline or a search in which it is proven
            with the most room. `laxity list placements` has all names. Under amp-rm the default is slowest-fit, by
            what is proven below its servers.
        overheads: What scheduling costs: a CSV file, or a name that `laxity list overheads` has. With SCHEDULER=
            before it, of this one. May be a list.
        cache_delays: What a preemption or a migration costs by working set, a CSV file. Its columns are WSS, MEM,
            L1, L2, L3; in KiB and us.
        assume_no_background: Assume that no other thread is ever ready on these CPUs: the kernel's servers then
            take nothing, and throttling comes only where the tasks alone use up what it leaves.
        kernel_threads: Count kernel threads that go before the tasks of laxity's own policies for so long, in each
            10ms of each CPU. Of `load `kernel_threads``, whose default is 500us. Two such times may follow each
            other.
        tick: The quantum of pfair; also how often a tick comes, where `overheads` say what it costs; default: 1ms.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        server: Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none. For so long
            background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
            2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be a
            list: for each CPU the last one counts.
        tardiness_bound: How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound.
        count_double_hit: Count that a server can use up two budgets in a row: no deadline is missed then.
        guarantee: What is to be proven, for the exit code and `sensitivity`: hard or soft; default: hard.
        test: Ask this test only (`laxity list tests`).
        sensitivity: Say what would make it fit: the fewest CPUs, and the largest factor for all execution times.
            Tasks are placed anew for each number of CPUs and for each factor.
        work: Steps that a test may take, the same on every machine; default: 268435456.
        threads: Threads that judge; default: one per CPU of this machine. They do not change the answer.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_sets("analyze", Analysis, locals())


def verdicts(
    sets: Sets,
    *,
    leave_out_threads: bool | None = None,
    scheduler: Value | Sequence[Value] | None = None,
    fit: Value | None = None,
    overload: Value | None = None,
    ilp_time_limit: Value | None = None,
    placement: Value | Sequence[Value] | None = None,
    overheads: Value | Sequence[Value] | None = None,
    cache_delays: Value | None = None,
    assume_no_background: bool | None = None,
    kernel_threads: Value | None = None,
    tick: Value | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    server: Value | Sequence[Value] | None = None,
    tardiness_bound: Value | None = None,
    count_double_hit: bool | None = None,
    guarantee: Value | None = None,
    test: Value | None = None,
    work: Value | None = None,
    threads: Value | None = None,
) -> Table:
    """Say what is proven of many task sets under given schedulers, as a table: a row for each set and scheduler.

    For sets by the thousand: nothing but the verdicts is handed back.

    Args:
        sets: Task sets: a TaskSet, the path of a file, a table with a row for each task, or several of these.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        scheduler: The schedulers, one or a list; default: g-edf, g-rm, c-edf, c-rm, p-edf and p-rm. `laxity list
            schedulers` has all names.
        fit: What may be placed together: test, load, utilization, density or dbf; default: test. `test`: what the
            scheduler's own schedulability test accepts, so that each has places of its own; `load`: by density
            where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
            places, and all of clusters.
        overload: What to do with a task that fits nowhere: refuse, or least-loaded; default: refuse.
        ilp_time_limit: How long the ILP may look for the optimum and its proof. The best placement found until then
            is used. Default: it stops after a fixed amount of work, in about a tenth of a second.
        placement: How tasks are placed onto CPUs and clusters; default: auto. auto is ilp, the least load; where
            the test does not prove its places, those of wfd, ffd, bf-deadline or a search in which it is proven
            with the most room. `laxity list placements` has all names. Under amp-rm the default is slowest-fit, by
            what is proven below its servers.
        overheads: What scheduling costs: a CSV file, or a name that `laxity list overheads` has. With SCHEDULER=
            before it, of this one. May be a list.
        cache_delays: What a preemption or a migration costs by working set, a CSV file. Its columns are WSS, MEM,
            L1, L2, L3; in KiB and us.
        assume_no_background: Assume that no other thread is ever ready on these CPUs: the kernel's servers then
            take nothing, and throttling comes only where the tasks alone use up what it leaves.
        kernel_threads: Count kernel threads that go before the tasks of laxity's own policies for so long, in each
            10ms of each CPU. Of `load `kernel_threads``, whose default is 500us. Two such times may follow each
            other.
        tick: The quantum of pfair; also how often a tick comes, where `overheads` say what it costs; default: 1ms.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        server: Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none. For so long
            background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
            2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be a
            list: for each CPU the last one counts.
        tardiness_bound: How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound.
        count_double_hit: Count that a server can use up two budgets in a row: no deadline is missed then.
        guarantee: What is to be proven, for the exit code and `sensitivity`: hard or soft; default: hard.
        test: Ask this test only (`laxity list tests`).
        work: Steps that a test may take, the same on every machine; default: 268435456.
        threads: Threads that judge; default: one per CPU of this machine. They do not change the answer.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.verdicts(locals())


def simulate(
    sets: Sets,
    *,
    leave_out_threads: bool | None = None,
    duration: Value | None = None,
    grace: Value | None = None,
    repeat: Value | None = None,
    seed: Value | None = None,
    demand: Value | None = None,
    on_miss: Value | None = None,
    background: Value | None = None,
    busy: Value | None = None,
    scheduler: Value | Sequence[Value] | None = None,
    budget: Value | None = None,
    batching: Value | None = None,
    retries: Value | None = None,
    interleave: Value | None = None,
    at_ticks: bool | None = None,
    placement: Value | Sequence[Value] | None = None,
    fit: Value | None = None,
    overload: Value | None = None,
    ilp_time_limit: Value | None = None,
    costs: Value | None = None,
    reserve: Value | None = None,
    reserve_period: Value | None = None,
    interference: Value | Sequence[Value] | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    server: Value | Sequence[Value] | None = None,
    tardiness_bound: Value | None = None,
    count_double_hit: bool | None = None,
    at: Value | Sequence[Value] | None = None,
    verify: bool | None = None,
    tolerate: Value | None = None,
    out: Value | None = None,
    force: bool | None = None,
    events: bool | None = None,
    perfetto: Value | None = None,
    html: Value | None = None,
    threads: Value | None = None,
) -> Simulation:
    """Simulate a task set under given schedulers on any number of CPUs.

    Needs no root and no particular kernel. The schedulers are laxity's own policies (`laxity list schedulers`),
    global as they are, clustered with c- and partitioned with p- before the name, with fixed priorities by :rm, :dm
    or :fp behind it. The names of Linux's schedulers (g-edf, p-rm ...) are simulated as Linux's structure, push and
    pull. Without a name, they are the six that `compare` runs.

    Without `out` nothing is written, and memory does not grow with the length of the simulation.

    Args:
        sets: Task sets: a TaskSet, the path of a file, a table with a row for each task, or several of these.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        duration: How long jobs are released; default: 10s.
        grace: How much longer than `duration` late jobs may run. Without it, the longest deadline, between 50ms and
            10s.
        repeat: Simulations per set and scheduler, each with a seed, and so with jobs, of its own; default: 1.
        seed: Seed of everything random; default: 1.
        demand: How much of its WCET a job asks for. `wcet`, a fraction such as 0.8, or a distribution such as
            uniform:0.5,1, normal:0.8,0.1 or bimodal:0.5,1.2,0.05; default: wcet.
        on_miss: What happens to a job that misses its deadline: continue, abort or skip. continue: it runs to its
            end; abort: it stops there, or as soon as it gets a CPU after it; skip: it runs to its end, and releases
            that pass meanwhile are not made up; default: continue.
        background: Background tasks with random lifetimes and run ratios, on the time that real-time tasks leave.
            As in calandrino2007, 5.1; default: 0.
        busy: Background tasks that want the same CPUs all the time, beside the tasks; default: 0.
        scheduler: The schedulers, one or a list; default: those of compare: g-edf, g-rm, c-edf, c-rm, p-edf and
            p-rm. `laxity list schedulers` has all names.
        budget: What happens to a job that exceeds its WCET: off, throttle or postpone. off: nothing; throttle: it
            waits for the next period; postpone: its deadline moves by a period. Jobs exceed their WCET only if
            `demand` says so. What runs in the kernel is throttled (`laxity run `budget``); default: off.
        batching: Whether jobs of one release instant are released together: on or off; default: on.
        retries: push-pull: failures after which a push is given up; default: 3.
        interleave: Interleave operations on different CPUs at their locks and messages, as this seed draws.
        at_ticks: The scheduler looks at ticks of 1 ms only, as in schedsim. A task that is done keeps its CPU until
            the next tick.
        placement: How tasks are placed onto CPUs and clusters, a list where several are compared; default: auto.
            auto is ilp, the least load; where the test does not prove its places, those of wfd, ffd, bf-deadline or
            a search in which it is proven with the most room. `laxity list placements` has all names. Under amp-rm
            the default is slowest-fit, by what is proven below its servers. Of several, each scheduler that places
            tasks has a configuration for each, such as p-rm@ffd; those with the same places are one.
        fit: What may be placed together: test, load, utilization, density or dbf; default: test. `test`: what the
            scheduler's own schedulability test accepts, so that each has places of its own; `load`: by density
            where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
            places, and all of clusters.
        overload: What to do with a task that fits nowhere: refuse, or least-loaded; default: refuse.
        ilp_time_limit: How long the ILP may look for the optimum and its proof. The best placement found until then
            is used. Default: it stops after a fixed amount of work, in about a tenth of a second.
        costs: What the kernel costs: TOML, or CSV of overheads; default: nothing.
        reserve: What real-time tasks leave of every CPU to background tasks, in percent; default: nothing. As
            `laxity load` has it: in each `reserve_period` real-time tasks have a CPU for the rest at most while
            background tasks wait.
        reserve_period: The time within which the reserve is granted; default: 1s.
        interference: What takes a CPU from the scheduler, and when: CPU@FROM+LENGTH[/PERIOD]; may be a list. As in
            1@10ms+2ms, once, or 1@10ms+2ms/50ms, again every 50 ms: an interrupt that lasts, or a thread of a class
            above. No task runs on the CPU then; the scheduler is told, as `laxity load` tells it. Times are of the
            simulation. No proof counts it.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        server: Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none. For so long
            background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
            2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be a
            list: for each CPU the last one counts.
        tardiness_bound: How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound.
        count_double_hit: Count that a server can use up two budgets in a row: no deadline is missed then.
        at: What changes, and when: 200ms=enter:TASK and the like; may be a list. Before `duration`: TIME=enter:TASK
            (not there before), promote:TASK, demote:TASK, leave:TASK (it releases no more jobs), resize:CPU:SIZE.
            Times are of the simulation.
        verify: Let the oracles check every schedule. Exit with 1 if one is not what its scheduler's definition
            says.
        tolerate: How long a schedule may differ from its definition beside what `costs` explain; default: not at
            all.
        out: Keep manifest, jobs and report in this directory.
        force: Replace results that are in the directory already, and the files of `perfetto` and `html`.
        events: Keep the events, too (events/run-N.parquet).
        perfetto: Write the schedule for Perfetto (ui.perfetto.dev).
        html: Write the schedule as a page to zoom in, which a browser opens without a network.
        threads: Threads that simulate; default: one per CPU of this machine. They do not change the results.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_sets("simulate", Simulation, locals())


def place(
    set: Sets,
    *,
    leave_out_threads: bool | None = None,
    onto: Value | None = None,
    scheduler: Value | None = None,
    limit: Value | None = None,
    fit: Value | None = None,
    overload: Value | None = None,
    ilp_time_limit: Value | None = None,
    placement: Value | Sequence[Value] | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    server: Value | Sequence[Value] | None = None,
    tardiness_bound: Value | None = None,
    count_double_hit: bool | None = None,
) -> Placement:
    """Place tasks onto CPUs or clusters.

    Args:
        set: A task set: a TaskSet, the path of a file, or a table with a row for each task.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        onto: What tasks are placed onto: cpus or clusters; default: cpus, or those of `scheduler`.
        scheduler: The scheduler that they are placed for: its own test says what fits. Without it, they are placed
            by load (`fit` load). `laxity list schedulers` has all names.
        limit: Fill each CPU only up to this share, such as 0.95, or `kernel`. `kernel` is what SCHED_DEADLINE is
            admitted for here: sched_rt_runtime_us less the kernel's servers; default: 1.
        fit: What may be placed together: test, load, utilization, density or dbf; default: test. `test`: what the
            scheduler's own schedulability test accepts, so that each has places of its own; `load`: by density
            where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
            places, and all of clusters.
        overload: What to do with a task that fits nowhere: refuse, or least-loaded; default: refuse.
        ilp_time_limit: How long the ILP may look for the optimum and its proof. The best placement found until then
            is used. Default: it stops after a fixed amount of work, in about a tenth of a second.
        placement: How tasks are placed onto CPUs and clusters; default: auto. auto is ilp, the least load; where
            the test does not prove its places, those of wfd, ffd, bf-deadline or a search in which it is proven
            with the most room. `laxity list placements` has all names. Under amp-rm the default is slowest-fit, by
            what is proven below its servers.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        server: Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none. For so long
            background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
            2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be a
            list: for each CPU the last one counts.
        tardiness_bound: How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound.
        count_double_hit: Count that a server can use up two budgets in a row: no deadline is missed then.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_set("place", Placement, locals())


def settings(
    set: Sets,
    *,
    leave_out_threads: bool | None = None,
    soft: Value | Sequence[Value] | None = None,
    measured: Value | None = None,
    scheduler: Value | None = None,
    placement: Value | None = None,
    overheads: Value | Sequence[Value] | None = None,
    cache_delays: Value | None = None,
    assume_no_background: bool | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    work: Value | None = None,
    force: bool | None = None,
    deploy: Value | None = None,
) -> Settings:
    """Say what to set for each thread, so that all is proven: priorities or budgets, and CPUs.

    Says what to set for each thread, so that no job misses its deadline whatever arrives: policy, priority or
    runtime, deadline and period, and CPUs. What is set is proven by the tests of `laxity analyze`, and is what the
    kernel takes and admits.

    SCHED_FIFO (p-fp, c-fp, g-fp): the simplest order of priorities that is proven, rate- or deadline-monotonic,
    else Audsley's optimal assignment. p-rm and p-dm keep their order. SCHED_DEADLINE (p-edf, c-edf, g-edf): the
    least bandwidth. Without `scheduler`, the first of p-fp, p-edf, c-fp, c-edf, g-fp and g-edf under which all is
    proven.

    `soft` says how often a job may miss its deadline: SCHED_DEADLINE gets the least bandwidth for that, from the
    `demand` in the task set or from `measured` execution times, by an upper bound on the backlog (Abeni, Buttazzo
    1999). The other tasks miss nothing.

    Without `platform` and `cpus` the limits are those of the running kernel, else Linux's defaults. What the kernel
    takes for starved background threads, and for throttling SCHED_FIFO, is counted; `assume_no_background` leaves
    the servers out.

    Args:
        set: A task set: a TaskSet, the path of a file, or a table with a row for each task.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        soft: The greatest probability with which jobs may miss their deadlines: P for all tasks, TASK=P for one,
            such as 0.01 or 1%.
        measured: How long the jobs of soft tasks run: a results directory, or a CSV file with the columns task and
            cpu_time; default: the demand in the task set.
        scheduler: auto, or p-, c- or g- with edf, rm, dm or fp, such as p-edf; default: auto.
        placement: How tasks are placed onto CPUs and clusters; default: auto, by several heuristics and a search.
        overheads: What scheduling costs: a CSV file, or a name that `laxity list overheads` has.
        cache_delays: What a preemption or a migration costs by working set, a CSV file.
        assume_no_background: Assume that no other thread is ever ready on these CPUs: the kernel's servers then
            take nothing, and throttling comes only where the tasks alone use up what it leaves.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        work: Steps that a test may take, the same on every machine; fewer than for `analyze`, for there are
            thousands of questions; default: 16777216.
        force: Replace what is there already.
        deploy: Write files that set it into this directory: a script, systemd units, C, Rust and Python code and
            more.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_set("settings", Settings, locals())


def verify(
    directory: str | os.PathLike[str],
    *,
    run: Value | None = None,
    tolerate: Value | None = None,
    excuse_limit: Value | None = None,
    excuse_share: Value | None = None,
) -> Verification:
    """Check that schedules, simulated or recorded, are what their schedulers' definitions say.

    Every event of a run goes through independent checks (oracles): no CPU runs two jobs, the right jobs run at
    every instant, budgets, demands, releases and deadlines are right. They know the scheduler's definition (scope,
    rule, budgets), nothing of how it is made. In the schedule of a real kernel (laxity run, laxity compare),
    whatever was measured in that run excuses what it explains: kernel threads, interrupts on their way, decisions
    under way. If more is excused than `excuse_limit` and `excuse_share` allow, there is no verdict: a schedule that
    is wrong would look the same.

    Args:
        directory: A results directory with events.
        run: Only this run.
        tolerate: How long a schedule may differ from its definition beside what its costs explain; default: what
            the simulation said.
        excuse_limit: For how long a real scheduler may be late with one thing; what is more is no verdict. A timer,
            an interrupt on its way, a decision, a switch. Without it 500us, half a tick: a request that was lost is
            made good by the next one. Emulated machines need more, such as 50ms.
        excuse_share: What share of the observed CPU time may be excused; what is more is no verdict. Without it
            0.1.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_paths("verify", Verification, locals(), "directory")


def report(
    directory: str | os.PathLike[str],
) -> Answer:
    """Make the report of a results directory again.

    Writes report.html, summary.json, summary.md and plots/ of the directory again. A file notes.md in it, in which
    you say what the results mean, becomes part of the report. Works on the results of an interrupted run too.

    With `text`, `gantt`, `html` or `perfetto`, the schedule of a run that kept its events instead: `laxity run` and
    `laxity compare` do where the kernel lets them, `laxity simulate` with `events`.

    Args:
        directory: A results directory.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_paths("report", Answer, locals(), "directory")


def diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
) -> Answer:
    """Say what differs between two results directories by more than noise.

    Compares what both have: the same task sets under the same schedulers, run by run of the same jobs. Misses,
    tardiness and laxity differ where Student's t says so at 1 % for all comparisons together, and where the
    difference matters (misses: 0.1 % of the jobs, normalized laxity: 0.05). A configuration's noise is what its own
    repetitions vary by: make both with `repeat` 3 or more, on a quiet machine.

    Args:
        before: A results directory.
        after: Another one.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_paths("diff", Answer, locals(), "before", "after")


def check(
    files: str | os.PathLike[str] | list[str | os.PathLike[str]],
    *,
    leave_out_threads: bool | None = None,
) -> Check:
    """Say what a file is, and what is wrong with it.

    Task sets (TOML, JSON, CSV, rt-app JSON, SimSo XML), platforms, costs and studies (TOML, JSON), overheads and
    cache-related delays (CSV), plans of what to set (deploy/plan.json), and results directories: what each is shows
    from its content. It is read as the commands read it, with the files that it names.

    Args:
        files: Files and results directories.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_paths("check", Check, locals(), "files")


def catalogue(
    what: str | None = None,
) -> Answer:
    """What this machine can run, and the names of schedulers, tests, placements and the like.

    Args:
        what: A part of it: schedulers, tests, generators, placements, platforms, overheads, metrics or machine.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.on_paths("list", Answer, locals(), "what")


def study(
    study: str | os.PathLike[str] | Mapping[str, Any],
    on: Any | None = None,
    tests: OwnTest | Sequence[OwnTest] | None = None,
    prototypes: Prototype | Sequence[Prototype] | None = None,
    *,
    sets: Value | None = None,
    seed: Value | None = None,
    threads: Value | None = None,
    out: Value | None = None,
) -> StudyResult:
    """Sweep over task sets and machines: what tests prove, or simulations show, of many random sets against what
    varies.

    The study is described in TOML or JSON, or as a dict (`laxity schema study`): how task sets are drawn, what
    varies, and curves. Curves of a schedulability study are schedulers with the overheads and the tests by which
    every set is judged; those of a study by simulation (kind = "simulation") are placements with schedulers and
    costs. The papers' are in studies/. The directory gets a page with figures (report.html, plots/), all points as
    Parquet and CSV (points.parquet, points.csv) and what they come from (manifest.json). Finished points are kept:
    called again with the same directory it goes on where it was interrupted, and the same seed gives the same
    points wherever it is judged. For curves that are really run, for shards and for Slurm there is the program:
    `laxity study --help`.

    Args:
        study: The study: the path of its file, or a dict of the same keys.
        on: Where it is judged: "dask" or "hyperqueue" (a cluster of this machine), "dask=ADDRESS",
            "hyperqueue=SERVER-DIRECTORY", a client of Dask, or an executor of concurrent.futures; default: threads
            of this process. The results are the same.
        tests: Tests of your own (`laxity.own_test`), which its curves name: one or several. They run in this
            process, without `on`.
        prototypes: Scheduling policies of your own (`laxity.prototype`), which curves of a study by simulation
            name.
        sets: Task sets at every point, instead of those that the file says.
        seed: Seed of everything random, instead of the file's.
        threads: Threads; default: one per CPU. Results do not depend on it.
        out: The study's directory; default: laxity-results/ and the study's name.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.study(locals())


def compare(
    sets: Sets,
    *,
    leave_out_threads: bool | None = None,
    duration: Value | None = None,
    repeat_disturbed: Value | None = None,
    demand: Value | None = None,
    demand_model: Value | None = None,
    calibration: Value | None = None,
    on_miss: Value | None = None,
    grace: Value | None = None,
    seed: Value | None = None,
    busy: Value | None = None,
    alone: Value | None = None,
    repeat: Value | None = None,
    budget_margin: Value | None = None,
    budget: Value | None = None,
    batching: Value | None = None,
    retries: Value | None = None,
    scheduler: Value | Sequence[Value] | None = None,
    placement: Value | Sequence[Value] | None = None,
    fit: Value | None = None,
    overload: Value | None = None,
    ilp_time_limit: Value | None = None,
    quiet_machine: bool | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    assume_no_background: bool | None = None,
    server: Value | Sequence[Value] | None = None,
    tardiness_bound: Value | None = None,
    count_double_hit: bool | None = None,
    record: Value | None = None,
    no_simulation: bool | None = None,
    costs: Value | None = None,
    out: Value | None = None,
    force: bool | None = None,
) -> Results:
    """Run a task set under every scheduler and say which one to deploy, with the evidence.

    Every task runs alone first (its reference), then the whole set under each scheduler; the same jobs are
    simulated, too, to show what is the scheduler and what is the machine. The results directory holds
    manifest.json, jobs.parquet (pandas, polars and DuckDB read it as it is), summary.json, plots, what it takes to
    deploy the recommended scheduler, and report.html.

    Args:
        sets: Task sets: a TaskSet, the path of a file, a table with a row for each task, or several of these.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        duration: How long each run releases jobs; default: 10s.
        repeat_disturbed: Make a run again where others had more than 5 % of its CPUs, at most so often. Others are
            threads that do not belong to the run, interrupts and a hypervisor. The quietest run is kept. Where
            three in a row were made again in vain, no more are; default: 2.
        demand: How much of its WCET a job asks for. `wcet`, a fraction such as 0.8, or a distribution such as
            uniform:0.5,1, normal:0.8,0.1 or bimodal:0.5,1.2,0.05; default: wcet.
        demand_model: What a demand is: cpu-time or work. cpu-time: a job runs for its demand of CPU time; work: it
            makes the accesses that took that long in isolation, so that cold caches show as longer execution;
            default: cpu-time.
        calibration: With `demand_model` work: keep the speed of working sets in this file. Several calls then give
            jobs the same work. The file is made if it is not there, and gains what it lacks.
        on_miss: What happens to a job that misses its deadline: continue, abort or skip. continue: it runs to its
            end; abort: it stops at its next safe point; skip: it runs to its end, and releases that pass meanwhile
            are not made up; default: continue.
        grace: How much longer than `duration` late jobs may run. Without it, the longest deadline, between 50ms and
            10s.
        seed: Seed of everything random; default: 1.
        busy: Background threads that want the same CPUs all the time, beside the tasks; default: 0.
        alone: About how long each task runs alone first; 0s skips it; default: 500ms.
        repeat: Runs of the same jobs per set and scheduler; default: 3. Schedulers take turns: every one has its
            first run before any has its second. What repetitions of the same jobs differ by is noise.
        budget_margin: Added to the WCET to make a SCHED_DEADLINE budget. `auto` is an equal share of the free
            bandwidth, at most half the WCET or 500us, whichever is larger; 5%,100us is the larger of a share and a
            time; default: auto.
        budget: Laxity's own policies: what happens to a job that exceeds its budget: throttle, postpone or off.
            throttle: it waits for the next period, as under SCHED_DEADLINE; postpone: its deadline moves by a
            period; off: nothing; default: throttle.
        batching: Laxity's own policies: whether jobs of one release instant are released together: on or off;
            default: on.
        retries: push-pull: failures after which a push is given up; default: 3.
        scheduler: Only these schedulers, one or a list; default: g-edf, g-rm, c-edf, c-rm, p-edf and p-rm. Laxity's
            own (edf-bh, gsn-edf ...) need a kernel with sched_ext; where it has none they are simulated, not run.
            `laxity list schedulers` has all names.
        placement: How tasks are placed onto CPUs and clusters, a list where several are compared; default: auto.
            auto is ilp, the least load; where the test does not prove its places, those of wfd, ffd, bf-deadline or
            a search in which it is proven with the most room. `laxity list placements` has all names. Under amp-rm
            the default is slowest-fit, by what is proven below its servers. Of several, each scheduler that places
            tasks has a configuration for each, such as p-rm@ffd; those with the same places are one.
        fit: What may be placed together: test, load, utilization, density or dbf; default: test. `test`: what the
            scheduler's own schedulability test accepts, so that each has places of its own; `load`: by density
            where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
            places, and all of clusters.
        overload: What to do with a task that fits nowhere: refuse, or least-loaded; default: refuse.
        ilp_time_limit: How long the ILP may look for the optimum and its proof. The best placement found until then
            is used. Default: it stops after a fixed amount of work, in about a tenth of a second.
        quiet_machine: Make the CPUs of the runs quiet while they are made, as far as this machine lets it, and put
            all back. Frequency governor performance, no idle state with an exit latency, interrupts on other CPUs
            if there are any, isolated partitions for SCHED_FIFO cells of one CPU (cgroup v2). What was set and what
            could not be is in the manifest, and said with `verbose`.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        assume_no_background: Prove with the assumption that no background thread is ever ready on these CPUs. The
            kernel's servers for such threads are then not counted.
        server: Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none. For so long
            background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
            2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be a
            list: for each CPU the last one counts.
        tardiness_bound: How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound.
        count_double_hit: Count that a server can use up two budgets in a row: no deadline is missed then.
        record: Whether the schedule is recorded and checked against the scheduler's definition: on or off; default:
            on.
        no_simulation: Do not simulate what is measured.
        costs: What the kernel costs in the simulations beside the measurements: TOML, or CSV of overheads. Without
            it, nothing.
        out: Results directory; default: laxity-results/ and the time.
        force: Replace results that are in the directory already.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.by_program("compare", locals())


def run(
    sets: Sets,
    *,
    leave_out_threads: bool | None = None,
    duration: Value | None = None,
    repeat_disturbed: Value | None = None,
    demand: Value | None = None,
    demand_model: Value | None = None,
    calibration: Value | None = None,
    on_miss: Value | None = None,
    grace: Value | None = None,
    seed: Value | None = None,
    busy: Value | None = None,
    repeat: Value | None = None,
    budget_margin: Value | None = None,
    budget: Value | None = None,
    batching: Value | None = None,
    retries: Value | None = None,
    scheduler: Value | Sequence[Value] | None = None,
    placement: Value | Sequence[Value] | None = None,
    fit: Value | None = None,
    overload: Value | None = None,
    ilp_time_limit: Value | None = None,
    quiet_machine: bool | None = None,
    platform: Value | None = None,
    cpus: Value | None = None,
    clusters: Value | None = None,
    server: Value | Sequence[Value] | None = None,
    tardiness_bound: Value | None = None,
    count_double_hit: bool | None = None,
    record: Value | None = None,
    record_overheads: Value | None = None,
    out: Value | None = None,
    force: bool | None = None,
) -> Results:
    """Run a task set under given schedulers on this machine, real threads.

    Args:
        sets: Task sets: a TaskSet, the path of a file, a table with a row for each task, or several of these.
        leave_out_threads: Leave out threads of an rt-app file that make no task, and say which. They wait for other
            threads and have no timer, or are forked: no period is known. Without this, such a file is refused, as
            nothing is known of a set that lacks their work.
        duration: How long each run releases jobs; default: 10s.
        repeat_disturbed: Make a run again where others had more than 5 % of its CPUs, at most so often. Others are
            threads that do not belong to the run, interrupts and a hypervisor. The quietest run is kept. Where
            three in a row were made again in vain, no more are; default: 2.
        demand: How much of its WCET a job asks for. `wcet`, a fraction such as 0.8, or a distribution such as
            uniform:0.5,1, normal:0.8,0.1 or bimodal:0.5,1.2,0.05; default: wcet.
        demand_model: What a demand is: cpu-time or work. cpu-time: a job runs for its demand of CPU time; work: it
            makes the accesses that took that long in isolation, so that cold caches show as longer execution;
            default: cpu-time.
        calibration: With `demand_model` work: keep the speed of working sets in this file. Several calls then give
            jobs the same work. The file is made if it is not there, and gains what it lacks.
        on_miss: What happens to a job that misses its deadline: continue, abort or skip. continue: it runs to its
            end; abort: it stops at its next safe point; skip: it runs to its end, and releases that pass meanwhile
            are not made up; default: continue.
        grace: How much longer than `duration` late jobs may run. Without it, the longest deadline, between 50ms and
            10s.
        seed: Seed of everything random; default: 1.
        busy: Background threads that want the same CPUs all the time, beside the tasks; default: 0.
        repeat: Runs of the same jobs per set and scheduler; default: 1. Schedulers take turns: every one has its
            first run before any has its second. What repetitions of the same jobs differ by is noise.
        budget_margin: Added to the WCET to make a SCHED_DEADLINE budget. `auto` is an equal share of the free
            bandwidth, at most half the WCET or 500us, whichever is larger; 5%,100us is the larger of a share and a
            time; default: auto.
        budget: Laxity's own policies: what happens to a job that exceeds its budget: throttle, postpone or off.
            throttle: it waits for the next period, as under SCHED_DEADLINE; postpone: its deadline moves by a
            period; off: nothing; default: throttle.
        batching: Laxity's own policies: whether jobs of one release instant are released together: on or off;
            default: on.
        retries: push-pull: failures after which a push is given up; default: 3.
        scheduler: The schedulers, one or a list. `laxity list schedulers` has all names.
        placement: How tasks are placed onto CPUs and clusters, a list where several are compared; default: auto.
            auto is ilp, the least load; where the test does not prove its places, those of wfd, ffd, bf-deadline or
            a search in which it is proven with the most room. `laxity list placements` has all names. Under amp-rm
            the default is slowest-fit, by what is proven below its servers. Of several, each scheduler that places
            tasks has a configuration for each, such as p-rm@ffd; those with the same places are one.
        fit: What may be placed together: test, load, utilization, density or dbf; default: test. `test`: what the
            scheduler's own schedulability test accepts, so that each has places of its own; `load`: by density
            where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
            places, and all of clusters.
        overload: What to do with a task that fits nowhere: refuse, or least-loaded; default: refuse.
        ilp_time_limit: How long the ILP may look for the optimum and its proof. The best placement found until then
            is used. Default: it stops after a fixed amount of work, in about a tenth of a second.
        quiet_machine: Make the CPUs of the runs quiet while they are made, as far as this machine lets it, and put
            all back. Frequency governor performance, no idle state with an exit latency, interrupts on other CPUs
            if there are any, isolated partitions for SCHED_FIFO cells of one CPU (cgroup v2). What was set and what
            could not be is in the manifest, and said with `verbose`.
        platform: The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this
            machine.
        cpus: Which CPUs: a number of them, or a list such as 0-3,8. Of `platform`, if one is given. Commands that
            run on this machine (run, compare, load) take CPUs that it has; place, analyze and simulate without
            `platform` work on that many identical CPUs.
        clusters: Clusters: llc, each, all, or lists as in `0-3;4-7`. `llc`: CPUs that share a last-level cache;
            `each` CPU; `all` CPUs.
        server: Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none. For so long
            background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
            2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be a
            list: for each CPU the last one counts.
        tardiness_bound: How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound.
        count_double_hit: Count that a server can use up two budgets in a row: no deadline is missed then.
        record: Whether the schedule is recorded and checked against the scheduler's definition: on or off; default:
            on.
        record_overheads: Record what scheduling costs in the kernel: events, or functions as well. `events` are
            releases, interrupts, scheduling, switches and ticks; `functions` also times the functions of scheduling
            classes, which makes the events longer. So does recording the schedule: `record` off.
        out: Results directory; default: laxity-results/ and the time.
        force: Replace results that are in the directory already.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.
    """
    return _run.by_program("run", locals())


def generate(generator: str, **parameters: Value) -> list[TaskSet]:
    """Make task sets with a generator of the literature. The same seed gives the same sets on every machine.

    Args:
        generator: Its name.
        parameters: `count` (of sets; default: 1), `seed` (default: 1), and those of the generator; `n` is `tasks`, and
            `u` is `utilization`.

    Raises:
        InputError: A value that is none; the message names the rule and the way out.

    The generators, and what each takes:

    emberson: n tasks of total utilization U, uniform over all such sets (RandFixedSum). Takes tasks, utilization,
        periods=log-uniform:10ms,100ms, granularity=1ms, rescale_cores, rescale_wcet_min, deadlines=implicit,
        phases=none, arrivals=periodic, wss=0B, read_write=4:1, access=sequential.

    uunifast: n tasks of total utilization U by UUniFast, discarding sets with a task above 1. Takes tasks,
        utilization, periods=log-uniform:10ms,100ms, granularity=1ms, deadlines=implicit, phases=none,
        arrivals=periodic, wss=0B, read_write=4:1, access=sequential.

    unc: Independently drawn utilizations and periods, n tasks or up to a total utilization. Takes tasks,
        utilization, last=drop, utilizations=uni-medium, periods=uni-moderate, granularity=1ms, rescale_above,
        deadlines=implicit, phases=none, arrivals=periodic, wss=0B, read_write=4:1, access=sequential.

    waters: Automotive runnables with measured execution times, summed into tasks by period. Takes runnables=100,
        utilization, task_utilization_max=1, demand=run, deadlines=implicit, phases=none, arrivals=periodic, wss=0B,
        read_write=4:1, access=sequential.

    mtt: Multi-threaded tasks whose members share a working set, up to a total utilization. Takes distribution,
        utilization, granularity=1ms, shared=1, deadlines=implicit, phases=none, arrivals=periodic, read_write=4:1,
        access=sequential.

    calandrino2007: Tasks that enter 2 to 100 ms after one another, for fast and slow CPUs; periods of 2 to 80 ms.
        Takes tasks=100, requirement=2, slowest=0.5, deadlines=implicit, arrivals=periodic, wss=0B, read_write=4:1,
        access=sequential.

    lelli2012: The task sets of lelli2012's experiment: U/m .6 .7 .8 x 2m 3m 4m tasks x working sets. Takes cpus,
        wss=16KiB,256KiB.
    """
    return _run.generate(generator, parameters)
