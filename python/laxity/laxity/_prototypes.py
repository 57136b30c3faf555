"""Scheduling policies as functions of Python, simulated beside laxity's own."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Protocol, Union

from . import _laxity
from ._errors import InputError
from ._tasks import SporadicTask, own_name, takes
from ._versions import Version


class Job(NamedTuple):
    """A job that has been released and has not ended, as a policy sees it. Times are whole nanoseconds; instants count from
    the start of the simulation.

    Attributes:
        task: The name of its task. Of every task one job is pending at most: the next one waits for it.
        release_ns: When it was released.
        deadline_abs_ns: By when it is to end.
        wcet_ns: Its task's worst-case execution time C, on a CPU of speed 1.
        period_ns: Its task's period T, or the least time between two arrivals.
        used_ns: What it has done so far, as work on a CPU of speed 1. What it will ask for is not known.
        cpu: The CPU that runs it, or None.
    """

    task: str
    release_ns: int
    deadline_abs_ns: int
    wcet_ns: int
    period_ns: int
    used_ns: int
    cpu: int | None

    def laxity_ns(self, now: int) -> int:
        """How long it could still wait, if it asks for its WCET: deadline - now - (C - used), which may be negative."""
        return self.deadline_abs_ns - now - max(self.wcet_ns - self.used_ns, 0)


class Choice(NamedTuple):
    """Which jobs run from now on, and when the policy is to be asked again.

    Attributes:
        run: The jobs, at most one for each CPU; one that runs already stays on its CPU, and others go to the first free CPUs.
            Or a dict from CPUs to jobs.
        again_at_ns: An instant at which the policy is asked again though nothing else has changed; default: none.
    """

    run: Iterable[Job] | Mapping[int, Job]
    again_at_ns: int | None = None


Chosen = Union[Choice, Iterable[Job], Mapping[int, Job]]


class Policy(Protocol):
    """A policy that remembers things: an object for each simulation of a cell."""

    def choose(self, now: int, jobs: Sequence[Job], cpus: Sequence[int]) -> Chosen:
        """Which jobs run from `now` on."""
        ...


PolicyFunction = Callable[[int, Sequence[Job], Sequence[int]], Chosen]
PolicyClass = Callable[[Sequence[SporadicTask], Sequence[int]], Policy]

SCOPES = {"global": "", "clustered": "c-", "partitioned": "p-"}


def prototype(
    name: str, policy: PolicyFunction | PolicyClass, *, scope: str = "global", order: str | None = None
) -> _laxity.Prototype:
    """A scheduling policy of your own, to be simulated beside laxity's: `laxity.simulate(sets, scheduler=[mine, "edf-bh"])`, and
    in studies by simulation `laxity.study(..., prototypes=[mine])`, whose curves name it `prototype:NAME`.

    It is slow, some hundred times slower than laxity's own (54,000 decisions a second measured), and simulations take
    turns. What it leaves is what laxity's own policies leave: jobs, events, metrics, misses, a results directory, a
    Gantt chart. With `verify` the oracles check all that holds under any policy (each job runs as long as it asks
    for, on one CPU at a time, in turn, where it may) and, if it claims an order, that the jobs that go first by it
    run. It is simulated without costs of the kernel, budgets or a reserve.

    Args:
        name: Of small letters, digits, `-`, `_` and `.`. A study's directory knows a policy by its name, its code and the values
            that it uses (closures, defaults, globals, attributes): points of one that has changed do not count.
        policy: A function choose(now, jobs, cpus) that says which of the pending jobs run on the CPUs: a list of jobs, a dict
            from CPUs to jobs, or a Choice. It is called once for each instant at which jobs were released or have ended, a
            CPU was taken or given back, or that it has named. Or a class that is made with (tasks, cpus) for each simulation of
            each cell, and has that function as a method, for a policy that remembers things.
        scope: "global" (all CPUs are one cell), "clustered" or "partitioned" (a cell for each CPU): tasks are placed first then.
        order: The priority rule that it claims: "edf", "rm", "dm" or "fp"; default: none.

    Raises:
        InputError: A name, scope or order that is none.
    """
    if not isinstance(scope, str) or scope not in SCOPES:
        raise InputError(f"scope: {scope!r} is none", f"choose one of {', '.join(SCOPES)}")
    if not callable(policy):
        raise InputError(f"policy: {policy!r} is neither a function nor a class", "give choose(now, jobs, cpus)")
    own_name(name)
    if name != name.lower():
        raise InputError(f"name: {name!r} is not in lower case", f"write {name.lower()!r}")
    if inspect.isclass(policy) and not callable(getattr(policy, "choose", None)):
        raise InputError(f"policy: {policy!r} has no method `choose`", "give it choose(self, now, jobs, cpus)")
    if inspect.isclass(policy):
        takes(policy, ([], ()), "policy: {it!r} cannot be made with (tasks, cpus)")
    else:
        takes(policy, (0, [], []), "policy: {it!r} cannot be called with (now, jobs, cpus)")
    rule = "" if order is None else f":{order}"
    return _laxity.Prototype(f"{SCOPES[scope]}prototype:{name}{rule}", policy, Version(policy))


def _made(policy: Any, tasks: list[SporadicTask], cpus: tuple[int, ...]) -> Any:
    """A policy that remembers things, for one simulation of a cell."""
    takes(policy, (tasks, cpus), "the policy {it!r} cannot be made with (tasks, cpus)")
    return policy(tasks, cpus)


def begin(
    policy: Any, tasks: list[tuple[str, int, int, int]], cpus: list[int]
) -> Callable[[int, list[tuple[int, int, int, int, int | None]], list[int]], tuple[list[tuple[int, int | None]], int | None]]:
    """What is asked in one simulation of a cell: of tasks and CPUs by their numbers there."""
    choose: PolicyFunction = policy
    if inspect.isclass(policy):
        sporadic = [SporadicTask(wcet, deadline, period, 0) for _, wcet, deadline, period in tasks]
        made: Any = policy
        choose = _made(made, sporadic, tuple(cpus)).choose
    numbers = {name: number for number, (name, *_) in enumerate(tasks)}
    places = {cpu: number for number, cpu in enumerate(cpus)}

    def number_of(job: Any) -> int:
        if not isinstance(job, Job):
            raise InputError(f"the policy chose {job!r}, which is no job", "choose among the jobs that are given")
        return numbers[job.task]

    def ask(
        now: int, rows: list[tuple[int, int, int, int, int | None]], there: list[int]
    ) -> tuple[list[tuple[int, int | None]], int | None]:
        jobs = []
        for task, release, deadline, used, cpu in rows:
            name, wcet, _, period = tasks[task]
            jobs.append(Job(name, release, deadline, wcet, period, used, None if cpu is None else cpus[cpu]))
        answer: Any = choose(now, jobs, [cpus[cpu] for cpu in there])
        again = None
        if isinstance(answer, Choice):
            answer, again = answer
        if again is not None and (isinstance(again, bool) or not hasattr(again, "__index__") or not 0 <= again < 1 << 62):
            raise InputError(f"again_at_ns: {again!r} is no instant", "write whole nanoseconds since the start")
        if isinstance(answer, Mapping):
            unknown = next((cpu for cpu in answer if cpu not in places), None)
            if unknown is not None:
                raise InputError(f"the policy chose CPU {unknown!r}, which is not there", "choose among the CPUs that are given")
            return [(number_of(job), places[cpu]) for cpu, job in answer.items() if job is not None], again
        if isinstance(answer, (Job, str)) or not isinstance(answer, Iterable):
            raise InputError(
                f"the policy answered {answer!r}", "return a list of jobs, a dict from CPUs to jobs, or a laxity.Choice"
            )
        return [(number_of(job), None) for job in answer], again

    return ask
