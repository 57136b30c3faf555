"""What functions answer: the program's answer as text, as JSON and as values, and what a notebook shows of it."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from . import _call, _laxity
from ._errors import InputError
from ._scratch import scratch_for_now

SETS = _laxity.SETS
A = TypeVar("A", bound="Answer")


@lru_cache(maxsize=None)
def options_of(command: str) -> tuple[Mapping[str, Any], ...]:
    """What a command takes."""
    described = json.loads(_laxity.options(command.split()))
    return tuple(option for option in described["options"] if not option["positional"])


@lru_cache(maxsize=None)
def generators() -> tuple[str, ...]:
    """Names of all generators."""
    described = json.loads(_laxity.options(["generate"]))
    return tuple(name for name in described["commands"] if name != "help")


def given_of(arguments: Mapping[str, Any], *leading: str) -> dict[str, Any]:
    """The arguments of a function as options of the command line."""
    given = {}
    for name, value in arguments.items():
        if name not in leading:
            given[name.rstrip("_").replace("_", "-")] = value
    return given


def renamed(given: dict[str, Any], options: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`scheduler` is the name of both `--scheduler` and `--schedulers`."""
    if "scheduler" in given and all(option["name"] != "scheduler" for option in options):
        given["schedulers"] = given.pop("scheduler")
    return given


class Answer(Mapping[str, Any]):
    """The answer of a command.

    It is a mapping with the keys of the program's JSON (`laxity schema` describes them).

    Attributes:
        exit_code: That of the program: 0, 1 where something is not proven, missed or violated, 4 where too much is
            excused for a verdict.
        json: What the program prints with `--json`, byte for byte.
        text: What it prints without.
    """

    def __init__(self, words: list[str], sets: list[_laxity.TaskSet], called: _laxity.Called) -> None:
        self._words = words
        self._files: Any = None
        self._own: list[_laxity.Prototype] = []
        self._home = Path.cwd()
        self._sets = sets
        self._called = called
        self.exit_code: int = called.code
        self.json: str = called.data
        self.text: str = called.text

    @classmethod
    def of(
        cls: type[A], command: str, leading: Sequence[str], sets: list[_laxity.TaskSet], given: dict[str, Any]
    ) -> A:
        """Carries out a command in this process."""
        options = options_of(command)
        json_wanted = any(option["name"] == "json" for option in options)
        files = _call.Files()
        words = _call.words_of(options, renamed(given, options), files)
        words = [*command.split(), *words, *["--json"] * json_wanted, "--", *leading]
        own = _call.prototypes_in(given)
        with files.in_words():
            called = _call.carry_out(words, sets, own)
        answer = cls(words, sets, called)
        answer._own = own
        # What it was made from, for what is asked of it later.
        answer._files = files
        return answer

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but what can be simulated again."""
        return {name: value for name, value in vars(self).items() if name != "_with_events"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        files = state.get("_files")
        if files is not None:
            self._words = [files.in_place(word) for word in self._words]

    @cached_property
    def value(self) -> Any:
        """The JSON as values of Python."""
        return json.loads(self.json)

    def __getitem__(self, key: str) -> Any:
        return self.value[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        # Tables are wider than a notebook's column: they scroll.
        style = "white-space:pre;overflow-x:auto;line-height:1.25;font-family:monospace"
        return f'<pre style="{style}">{html.escape(self.text)}</pre>'


class Verdict(Answer):
    """An answer that is yes (the exit code is 0) or no, and is that as a boolean, too."""

    def __bool__(self) -> bool:
        return self.exit_code == 0


class Analysis(Verdict):
    """What is proven of task sets under schedulers."""

    @property
    def proven(self) -> bool:
        """Whether the guarantee that was asked for is proven of every set under every scheduler."""
        return bool(self)

    def bounds(self, guarantee: str = "hard") -> list[dict[str, Any]]:
        """What is proven of each task: rows of set, scheduler, task, kind of bound and ns, for any DataFrame.

        Args:
            guarantee: "hard": bounds of response times; "soft": of tardiness, too.
        """
        if guarantee not in ("hard", "soft"):
            raise InputError(f"guarantee: {guarantee!r} is no guarantee", 'write "hard" or "soft"')
        return [
            {"set": one["task_set"], "scheduler": one["scheduler"], "kind": one[guarantee]["bounds"]["kind"], **bound}
            for one in self["schedulers"]
            if one[guarantee]["bounds"] is not None
            for bound in one[guarantee]["bounds"]["tasks"]
        ]

    def placed(self) -> _laxity.TaskSet:
        """The task set with the places (`affinity`) in which it is proven.

        Those of the only partitioned or clustered scheduler, or of the only one of them that is proven.

        Raises:
            InputError: Several sets, or several schedulers that could be meant.
        """
        words = [word for word in self._words if word != "--json"]
        at = words.index("--")
        return _call.carry_out([*words[:at], f"--write={SETS}", *words[at:]], self._sets, self._own).sets[0]


class Placement(Answer):
    """Which tasks go onto which CPUs."""

    @property
    def task_set(self) -> _laxity.TaskSet:
        """The task set with its places (`affinity`), which all other functions keep to."""
        return self._called.sets[0]


class Settings(Verdict):
    """What to set for each thread."""

    @property
    def proven(self) -> bool:
        """Whether there are settings under which all is proven."""
        return bool(self)

    @property
    def task_set(self) -> _laxity.TaskSet:
        """The task set with its places and priorities, which all other functions keep to.

        Raises:
            InputError: There are no settings under which all is proven.
        """
        if not self._called.sets:
            raise InputError("nothing is proven: there are no places to keep to", "print the answer: it says why")
        return self._called.sets[0]


class Timeline:
    """A schedule to look at: in a notebook it draws itself; `str()` is a chart in text."""

    def __init__(self, page: str, text: str) -> None:
        self.html = page
        self.text = text

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        page = html.escape(self.html, quote=True)
        # A row for each CPU and each task, below what the page says first and above what it says last.
        lines = self.text.splitlines()
        cpus = sum(line.startswith("cpu") for line in lines)
        tasks = sum(bool(re.match(r"[A-Za-z]{1,2} \S", line)) for line in lines)
        height = min(255 + 28 * cpus + 23 * tasks, 900)
        return f'<iframe srcdoc="{page}" style="width:100%;height:{height}px;border:0" title="schedule"></iframe>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page: one file, which needs nothing else."""
        Path(path).write_text(self.html)


class Directory:
    """A results directory: tables, schedules and the report."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._files: Any = None
        self._own: list[_laxity.Prototype] = []
        if not (self.path / "manifest.json").is_file():
            raise InputError(f"{self.path}: no results directory", "name one that laxity has written")

    def __getstate__(self) -> dict[str, Any]:
        if self._files is not None:
            raise TypeError("this directory goes with its simulation: pickle that, or keep the directory with out=")
        return vars(self)

    @cached_property
    def manifest(self) -> Any:
        """What was run, on what, and how."""
        return json.loads((self.path / "manifest.json").read_text())

    @cached_property
    def summary(self) -> Any:
        """The metrics of all runs."""
        return json.loads((self.path / "summary.json").read_text())

    @property
    def jobs(self) -> _laxity.Table:
        """A row for each job."""
        return _laxity.read_parquet(self.path / "jobs.parquet")

    def events(self, run: int = 0) -> _laxity.Table:
        """A row for each event of a run's schedule, where events were kept."""
        return _laxity.read_parquet(self.path / "events" / f"run-{run}.parquet")

    def schedule(self, run: int = 0, *, from_: Any = None, to: Any = None) -> Timeline:
        """The schedule of a run, where events were kept; all of it, or a window of time around the first miss."""
        options = options_of("report")
        with scratch_for_now() as folder:
            page = folder / "schedule.html"
            given = {"run": run, "from": from_, "to": to}
            window = _call.words_of(options, given, _call.Files())
            words = ["report", *window, "--gantt", f"--html={page}", "--", os.fspath(self.path)]
            called = _call.carry_out(words, [])
            return Timeline(page.read_text(), called.text)

    def verify(self, **options: Any) -> Verification:
        """Whether the schedules are what their schedulers define (`laxity.verify`)."""
        from . import _commands

        return _commands.verify(self.path, **options)

    def report(self) -> str:
        """The report, as HTML in one page."""
        return (self.path / "report.html").read_text()

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"<laxity.Directory {os.fspath(self.path)!r}>"


JOBS_DRAWN = 20_000
"""A notebook draws the schedule of a simulation with so many jobs by itself; of more, what `schedule(from_=..., to=...)` is asked for."""


class Simulation(Answer):
    """Simulated runs of task sets under schedulers.

    The jobs and the schedule are simulated again when they are first asked for, unless they were kept (`out`, `events`): the
    same seed gives the same bytes.
    """

    @property
    def directory(self) -> Directory:
        """The results directory: that of `out`, or one that goes with this object."""
        out = self._out()
        return self._with_events if out is None else Directory(out)

    def _out(self) -> Path | None:
        """Where it was kept, wherever the process is by now."""
        named = next((word.split("=", 1)[1] for word in self._words if word.startswith("--out=")), None)
        return None if named is None else self._home / named

    @cached_property
    def _with_events(self) -> Directory:
        """A results directory that has events."""
        words = [word for word in self._words if word != "--json"]
        out = self._out()
        if out is not None and "--events" in words:
            return Directory(out)
        files = _call.Files()
        scratch = files.new("results")
        dropped = ("--out=", "--html=", "--perfetto=", "--events", "--force", "--fail-on-miss")
        words = [word for word in words if not word.startswith(dropped)]
        at = words.index("--")
        _call.carry_out([*words[:at], f"--out={scratch}", "--events", *words[at:]], self._sets, self._own)
        directory = Directory(scratch)
        directory._files = files
        return directory

    @property
    def jobs(self) -> _laxity.Table:
        """A row for each job of all runs."""
        return self.directory.jobs

    def events(self, run: int = 0) -> _laxity.Table:
        """A row for each event of a run's schedule."""
        return self._with_events.events(run)

    def verify(self, **options: Any) -> Verification:
        """Whether the schedules are what their schedulers define (`laxity.verify`)."""
        return self._with_events.verify(**options)

    def schedule(self, run: int = 0, *, from_: Any = None, to: Any = None) -> Timeline:
        """The schedule of a run to look at: around its first miss, or in the given window of time."""
        return self._with_events.schedule(run, from_=from_, to=to)

    def _repr_html_(self) -> str:
        text = super()._repr_html_()
        jobs = sum(one["jobs"] for one in self["schedulers"])
        if len(self["runs"]) != 1 or jobs > JOBS_DRAWN:
            return text
        return text + self.schedule()._repr_html_()


class Verification(Verdict):
    """What the oracles say of schedules."""

    @property
    def clean(self) -> bool:
        """Whether nothing is violated, and little enough is excused for a verdict."""
        return bool(self)


class Check(Verdict):
    """What files are, and what is wrong with them."""

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with any of them."""
        return bool(self)


class StudyResult(Answer):
    """What a study has come to."""

    def __init__(self, words: list[str], sets: list[_laxity.TaskSet], called: _laxity.Called, path: Path) -> None:
        super().__init__(words, sets, called)
        self.path = Path.cwd() / path

    @property
    def points(self) -> _laxity.Table:
        """A row for each point and curve."""
        return _laxity.read_parquet(self.path / "points.parquet")

    @property
    def figures(self) -> dict[str, str]:
        """The figures by name, as SVG."""
        return {path.stem: path.read_text() for path in sorted((self.path / "plots").glob("*.svg"))}

    def _repr_html_(self) -> str:
        return "".join(f"<div>{figure}</div>" for figure in self.figures.values()) + super()._repr_html_()


class Results(Answer):
    """Runs on this machine, with their results directory."""

    def __init__(self, code: int, data: str, path: Path) -> None:
        self.exit_code, self.json = code, data
        self.directory = Directory(path)
        self.text = (path / "summary.md").read_text()

    @property
    def jobs(self) -> _laxity.Table:
        """A row for each job of all runs."""
        return self.directory.jobs
