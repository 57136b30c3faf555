"""Tasks as Python has them. A task set is laxity's file format (`laxity schema task-set`), with times also as numbers."""

from __future__ import annotations

import html
import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Any, Callable, NamedTuple, Union

from . import _laxity
from ._errors import InputError
from ._versions import Version

Time = Union[str, int, timedelta]
"""A time: text with a unit ("1.5ms"), a whole number of nanoseconds, or a timedelta."""

_TIMES = ("wcet", "period", "min_interarrival", "deadline", "phase", "leave")


def time_text(value: Any, what: str) -> str:
    """A time as laxity's files and options have it."""
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        # That of pandas has nanoseconds beside.
        micros = value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds
        return f"{micros * 1000 + getattr(value, 'nanoseconds', 0)}ns"
    if type(value).__module__ == "numpy" and type(value).__name__ == "timedelta64":
        return f"{value.astype('timedelta64[ns]').astype('int64')}ns"
    if isinstance(value, bool) or isinstance(value, float):
        raise InputError(f"{what}: {value!r} is no time", 'write text with a unit ("1.5ms"), or whole nanoseconds')
    try:
        return f"{value.__index__()}ns"
    except AttributeError:
        raise InputError(
            f"{what}: {value!r} is no time", 'write text with a unit ("1.5ms"), or whole nanoseconds'
        ) from None


_UNITS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "min": 60 * 10**9}
_UNITS["h"] = 60 * _UNITS["m"]


def nanoseconds(value: Any, what: str) -> int:
    """A time as a whole number of nanoseconds."""
    text = time_text(value, what).strip()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz\u00b5\u03bc").strip()
    unit = _UNITS.get(text[len(number) :].strip())
    try:
        exact = Fraction(number) * (unit or 0)
    except ValueError:
        unit = None
    if unit is None or exact.denominator != 1:
        raise InputError(f"{what}: {value!r} is no time", 'write text with a unit ("1.5ms"), or whole nanoseconds')
    return exact.numerator


@dataclass(frozen=True)
class Task:
    """A recurring task. Exactly one of `period` and `min_interarrival` (sporadic) is given.

    Times are text with a unit ("1.5ms"), whole nanoseconds, or timedeltas; in a task that a set hands out they are text.

    Attributes:
        name: Unique in its set; without one, T1, T2 ... by position.
        wcet: Worst-case execution time C of one job on a CPU of speed 1.
        period: Time T between two releases.
        min_interarrival: Least time between two releases.
        deadline: Relative deadline D; default: the period.
        phase: First release after the start; default: 0.
        leave: When the task leaves: no job arrives from then on.
        batching: False: its jobs are released each by itself.
        priority: The smaller, the higher, for schedulers with given priorities.
        kind: "real-time" (default) or "best-effort".
        affinity: The CPUs on which it may run, such as "0-3,8".
        demand: What its jobs ask for, such as "uniform:0.5,1"; default: what the run asks for.
        group: Tasks of one group share memory.
        shared: How much of the working set the group shares, such as "64KiB".
        working_set: What each job walks, such as {"size": "256KiB"}.
    """

    name: str | None = None
    wcet: Time | None = None
    period: Time | None = None
    deadline: Time | None = None
    min_interarrival: Time | None = None
    phase: Time | None = None
    leave: Time | None = None
    batching: bool | None = None
    priority: int | None = None
    kind: str | None = None
    affinity: str | None = None
    demand: str | None = None
    group: str | None = None
    shared: str | int | None = None
    working_set: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        given = {name: value for name, value in vars(self).items() if value is not None}
        return f"Task({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @property
    def wcet_ns(self) -> int:
        """C in nanoseconds."""
        return nanoseconds(self.wcet, "wcet")

    @property
    def period_ns(self) -> int:
        """T in nanoseconds: the period, or the least time between arrivals."""
        return nanoseconds(self.min_interarrival if self.period is None else self.period, "period")

    @property
    def deadline_ns(self) -> int:
        """D in nanoseconds, relative to the arrival."""
        return self.period_ns if self.deadline is None else nanoseconds(self.deadline, "deadline")

    def to_dict(self) -> dict[str, Any]:
        """The task as laxity's files have it."""
        return _entry(asdict(self), self.name or "a task")


class SporadicTask(NamedTuple):
    """A task as schedulability tests have it; overheads are in it already where there are some. Times are whole nanoseconds.

    Attributes:
        wcet_ns: Worst-case execution time C.
        deadline_rel_ns: Relative deadline D.
        period_ns: Least time between arrivals T.
        jitter_ns: Release jitter J.
    """

    wcet_ns: int
    deadline_rel_ns: int
    period_ns: int
    jitter_ns: int


def takes(it: Any, arguments: tuple[Any, ...], why: str) -> None:
    """Refuses what cannot be called with such arguments."""
    try:
        inspect.signature(it).bind(*arguments)
    except TypeError as error:
        raise InputError(f"{why.format(it=it)}: {error}", f"let it take {len(arguments)} arguments") from error
    except ValueError:  # Its signature is not known.
        pass


def own_name(name: Any) -> None:
    """Refuses a name that is no text; its letters are looked at where it is taken."""
    if not isinstance(name, str):
        raise InputError(f"name: {name!r} is no text", "write such as 'least-laxity'")


def own_test(
    name: str,
    function: Callable[[list[SporadicTask], int], bool | None],
    *,
    priorities: str,
    guarantee: str = "hard",
    exact: bool = False,
    source: str = "of its user",
) -> _laxity.OwnTest:
    """A schedulability test of your own, for curves of studies beside those of the catalogue: `laxity.study(..., tests=[test])`.

    It is asked from several threads, one at a time; what it raises ends the study and is raised there, also KeyboardInterrupt by Ctrl-C.

    Args:
        name: By what curves name it, of small letters, digits, `-`, `_` and `.`. A study's directory knows a test by its name, its
            code and the values that it uses (closures, defaults, globals, attributes): points of one that has changed do not
            count.
        function: Says of tasks on m CPUs whether it proves them (True), does not (False), or does not apply (None). Under
            fixed priorities tasks are in their order, the highest first.
        priorities: What it is for: "edf", "edzl", "g-fl", "fixed" or "pfair".
        guarantee: What it proves: "hard" (no deadline is missed) or "soft" (tardiness is bounded).
        exact: Whether what it does not prove is not schedulable.
        source: Where it is published.

    Raises:
        InputError: A name that is none, or is of the catalogue; a function that cannot be called with tasks and m.
    """
    own_name(name)
    if not callable(function):
        raise InputError(f"function: {function!r} cannot be called", "give a function of (tasks, m)")
    takes(function, ([], 1), "function: {it!r} cannot be called with (tasks, m)")
    if not isinstance(exact, bool):
        raise InputError(f"exact: {exact!r} is neither True nor False", "write True or False")
    for what, text in (("priorities", priorities), ("guarantee", guarantee), ("source", source)):
        if not isinstance(text, str):
            raise InputError(f"{what}: {text!r} is no text", "write a text")
    return _laxity.OwnTest(name, function, priorities, guarantee, exact, (source, Version(function)))


def _entry(task: Mapping[str, Any], name: str) -> dict[str, Any]:
    entry = {key: value for key, value in task.items() if value is not None}
    for key in _TIMES:
        if key in entry:
            entry[key] = time_text(entry[key], f"task `{name}`: {key}")
    return entry


def plain(value: Any) -> Any:
    """A value of other libraries as JSON has it: numbers and arrays of numpy, paths; a prototype as curves name it."""
    if isinstance(value, _laxity.Prototype):
        return value.scheduler
    for method in ("tolist", "__index__", "__float__", "__fspath__"):
        if hasattr(value, method):
            return getattr(value, method)()
    raise InputError(f"{value!r}: JSON has no such value", "give text, a number, a list or a dict")


def document(tasks: Iterable[Task | Mapping[str, Any]], name: str) -> str:
    """A task set in laxity's JSON."""
    entries = []
    for at, task in enumerate(tasks, 1):
        if isinstance(task, Task):
            entries.append(task.to_dict())
        elif isinstance(task, Mapping):
            entries.append(_entry(task, str(task.get("name", f"T{at}"))))
        else:
            raise InputError(f"task {at}: {task!r} is no task", "give laxity.Task or a dict of the same keys")
    return json.dumps({"version": 1, "name": name, "tasks": entries}, default=plain)


def tasks_of(text: str) -> list[Task]:
    """The tasks of a task set in laxity's JSON."""
    return [Task(**task) for task in json.loads(text)["tasks"]]


def table_html(name: str, rows: Iterable[tuple[Any, ...]]) -> str:
    """A task set as a table of HTML: rows of name, C, T, D and phase in ns, sporadic."""
    head = "".join(f"<th>{title}</th>" for title in ("task", "C (ms)", "T (ms)", "D (ms)", "phase (ms)", "C/T"))
    body = []
    for task, wcet, period, deadline, phase, sporadic in rows:
        times = [f"{time / 1e6:g}" for time in (wcet, period, deadline, phase)]
        times[1] = f"\u2265 {times[1]}" if sporadic else times[1]
        cells = [html.escape(task), *times, f"{wcet / period:.4f}"]
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table><caption>{html.escape(name)}</caption><tr>{head}</tr>{''.join(body)}</table>"
