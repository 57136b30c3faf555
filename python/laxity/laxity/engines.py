"""Studies on other people's engines: Dask, HyperQueue, or anything with `submit`, such as the executors of concurrent.futures.

The engine carries units of work; this process hands them out, adds up what they come to, and keeps the journal of the study's
directory. So all engines come to the same bytes as threads do, and a study that was stopped or killed goes on with any of them.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import queue
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _call, _laxity
from ._errors import Error, InputError, MachineError, first_line
from ._hyperqueue import HyperQueue, hyperqueue_of
from ._scratch import scratch_for_now

log = logging.getLogger("laxity")

UNIT_S = 2.0
"""About how long a unit takes: long enough that handing it out is nothing, short enough that losing one is little."""
TRIES = 3
"""So often a unit is tried before it is given up."""
FIRST_SETS = 8
"""Sets of the first units, from which their time is estimated."""
PARTS_MOST = 256
"""A unit has sets of at most so many points."""


class MixedVersions(MachineError):
    """A worker has another laxity, or other files that the study names: it would not judge the same."""


REFUSALS = ("this study is conducted by laxity", "a worker would judge another study")
"""How messages of such workers begin."""


def judge(told: str, units: list[str]) -> tuple[list[str], float]:
    """What a worker does: what units come to, and the seconds that it took."""
    begun = time.perf_counter()
    return _laxity.judge(told, units), time.perf_counter() - begun


def again(
    study: str | os.PathLike[str] | Mapping[str, Any], unit: str, sets: int | None = None, seed: int | None = None
) -> str:
    """Judges one unit of a study here: what a message about a failed unit says reproduces it."""
    with scratch_for_now() as folder:
        if isinstance(study, Mapping):
            file: str | os.PathLike[str] = folder / "study.json"
            (folder / "study.json").write_text(json.dumps(study))
        else:
            file = study
        conductor = _laxity.Conductor(file, folder / "study", sets, seed)
        return _laxity.judge(conductor.told(), [unit])[0]


class _Task:
    """Units that are out together."""

    def __init__(self, units: list[tuple[int, str]], label: str, sets: int) -> None:
        self.units = units
        self.label = label
        self.sets = sets
        self.tries = 0
        self.future: Any = None


class _Run:
    """A study on its way."""

    def __init__(self, conductor: _laxity.Conductor, engine: Any, again: Callable[[str], str]) -> None:
        self.conductor = conductor
        self.engine = engine
        self.again = again
        self.told = conductor.told()
        curves = conductor.curves
        shown = ", ".join(curves[:3]) + (" ..." if len(curves) > 3 else "")
        self.name = f"{conductor.name} ({shown})"
        self.done: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self.out: set[_Task] = set()
        self.failed: list[str] = []
        self.seconds_per_set: float | None = None
        self.sets_last = FIRST_SETS
        self.count = 0

    def sets_wanted(self, workers: int) -> int:
        """How many sets make a unit: some seconds of work, and less near the end, so that all workers end together."""
        if self.seconds_per_set is None:
            return FIRST_SETS
        wanted = int(UNIT_S / max(self.seconds_per_set, 1e-7))
        judged, planned = self.conductor.progress
        left = max(planned - judged, 1)
        wanted = min(wanted, max(1, left // (2 * workers)), 4 * self.sets_last)
        return max(1, wanted)

    def cut(self, workers: int) -> _Task | None:
        """The next units, if any can be handed out."""
        wanted = self.sets_wanted(workers)
        units: list[tuple[int, str]] = []
        sets, label = 0, ""
        while sets < wanted and len(units) < PARTS_MOST:
            unit = self.conductor.next(wanted - sets)
            if unit is None:
                break
            units.append(unit)
            here, its_sets = self.place(unit[0])
            sets += its_sets
            label = label or here
        if not units:
            return None
        self.sets_last = max(self.sets_last, sets)
        more = f" and {len(units) - 1} more" if len(units) > 1 else ""
        return _Task(units, label + more, sets)

    def submit(self, task: _Task) -> None:
        """Hands units to the engine."""
        self.count += 1
        arguments = (judge, self.told, [unit for _, unit in task.units])
        self.out.add(task)
        task.tries += 1
        task.future = self.asked("submit", arguments, f"{self.name}: {task.label}", self.count)
        task.future.add_done_callback(lambda _: self.done.put(task))

    def asked(self, what: str, *arguments: Any) -> Any:
        """What the engine answers. Where it has none any more, such as a scheduler that has died, the study ends."""
        try:
            return getattr(self.engine, what)(*arguments)
        except Error:
            raise
        except Exception as error:
            raise MachineError(
                f"the engine is gone: {type(error).__name__}: {first_line(error)}",
                "finished points are kept; the same call goes on, with any engine",
            ) from error

    def ended(self, timeout_s: float) -> list[_Task]:
        """What has ended since the last time, once there is something."""
        tasks = [self.done.get(timeout=timeout_s)]
        while not self.done.empty():
            tasks.append(self.done.get())
        return tasks

    def taken(self, task: _Task, result: Any) -> None:
        """Adds up what came back, or tries again what failed."""
        self.out.discard(task)
        if isinstance(result, Exception):
            self.lost(task, result)
            return
        tallies, seconds = result
        if len(tallies) != len(task.units):
            self.lost(task, MachineError(f"{len(tallies)} answers came back to {len(task.units)} units"))
            return
        for (number, _), tally in zip(task.units, tallies):
            self.conductor.take(number, tally)
        per_set = seconds / max(task.sets, 1)
        known = self.seconds_per_set
        self.seconds_per_set = per_set if known is None else 0.5 * known + 0.5 * per_set

    def lost(self, task: _Task, error: Exception) -> None:
        message = str(getattr(error, "message", error))
        if message.startswith(REFUSALS):
            raise MixedVersions(message, getattr(error, "hint", None)) from error
        if isinstance(error, ModuleNotFoundError):
            raise MachineError(f"a worker has no laxity: {error}", f"pip install laxity=={_laxity.VERSION.split()[0]}") from error
        if task.tries < TRIES:
            log.warning("%s: lost, tried again: %s", task.label, error)
            # One by one: the others are not to fail with the one that does.
            alone = [task] if len(task.units) == 1 else [self.alone(unit, task.tries) for unit in task.units]
            for one in alone:
                self.submit(one)
            return
        for number, unit in task.units:
            label, sets = self.place(number)
            self.conductor.give_up(number)
            self.failed.append(f"{label}, {sets} sets: {first_line(error)}\n  try it again: {self.again(unit)}")

    def alone(self, unit: tuple[int, str], tries: int) -> _Task:
        """One unit of several, which have been tried so often."""
        task = _Task([unit], *self.place(unit[0]))
        task.tries = tries
        return task

    def place(self, number: int) -> tuple[str, int]:
        """Where a unit that is out is, and how many sets it has."""
        place = self.conductor.place(number)
        assert place is not None, "it is out"
        return place

    def run(self, watch: _call.Watch) -> None:
        """Until nothing is left to hand out."""
        complained = False
        while not self.conductor.over:
            workers = self.asked("workers")
            while len(self.out) < 2 * max(workers, 1) + 1:
                task = self.cut(max(workers, 1))
                if task is None:
                    break
                self.submit(task)
            try:
                tasks = self.ended(0.2)
                for task, result in zip(tasks, self.asked("results", [task.future for task in tasks])):
                    self.taken(task, result)
            except queue.Empty:
                if workers == 0 and not complained:
                    complained = True
                    log.warning("no workers yet: the study waits for them")
            judged, planned = self.conductor.progress
            watch("step", 0, "judging", "sets", judged, planned, False)

    def stop(self) -> None:
        """Asks the engine for the end of what is out."""
        futures = [task.future for task in self.out if task.future is not None]
        if futures:
            try:
                self.engine.cancel(futures)
            except Exception as error:  # It may be gone.
                log.info("the engine cannot be asked for the end of %d tasks: %s", len(futures), first_line(error))
        self.out.clear()


class _Executor:
    """An executor of concurrent.futures, or of anything that is like it."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor

    def workers(self) -> int:
        return int(getattr(self.executor, "_max_workers", 0) or os.cpu_count() or 1)

    def submit(self, arguments: tuple[Any, ...], label: str, count: int) -> Any:
        return self.executor.submit(*arguments)

    def results(self, futures: list[Any]) -> list[Any]:
        """The results of what has ended; where there is none, why."""
        return [_result(future) for future in futures]

    def cancel(self, futures: list[Any]) -> None:
        for future in futures:
            future.cancel()


def _result(future: Any) -> Any:
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        return error if isinstance(error, Exception) else MachineError("it was cancelled")


class _Dask:
    """A client of Dask's distributed scheduler."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.known = 0
        self.looked = 0.0

    def workers(self) -> int:
        if time.monotonic() - self.looked > 2 or self.known == 0:
            self.known = sum(self.client.nthreads().values())
            self.looked = time.monotonic()
        return self.known

    def submit(self, arguments: tuple[Any, ...], label: str, count: int) -> Any:
        # The dashboard groups by what is before the first hyphen.
        key = label.replace("-", "\u2010") + f"-{count}"
        return self.client.submit(*arguments, key=key, pure=False)

    def results(self, futures: list[Any]) -> list[Any]:
        # All at once: each question to the scheduler is a way there and back.
        there = [future for future in futures if future.status == "finished"]
        try:
            gathered = dict(zip((id(future) for future in there), self.client.gather(there)))
        except Exception:
            # A worker was lost meanwhile: one by one, Dask judges again what it had.
            gathered = {}
        return [gathered[id(future)] if id(future) in gathered else _result(future) for future in futures]

    def cancel(self, futures: list[Any]) -> None:
        self.client.cancel(futures, force=True)


def _is_dask(client: Any) -> bool:
    return type(client).__module__.partition(".")[0] == "distributed"


@contextmanager
def engine_of(on: Any, directory: Path) -> Iterator[Any]:
    """The engine that is meant: "dask", "dask=ADDRESS", "hyperqueue", "hyperqueue=DIRECTORY", a client of Dask, or an executor."""
    if not isinstance(on, str):
        if not hasattr(on, "submit"):
            raise InputError(f"{on!r}: no engine", 'give a client of Dask, an executor, "dask" or "hyperqueue"')
        yield on if isinstance(on, HyperQueue) else _Dask(on) if _is_dask(on) else _Executor(on)
        return
    name, named, address = on.partition("=")
    if named and not address:
        raise InputError(f"`{on}`: there is no address behind `=`", f'name one, or write "{name}" for a cluster of this machine')
    if name == "hyperqueue":
        with hyperqueue_of(address, directory / "units") as queue:
            yield queue
        return
    if name != "dask":
        raise InputError(
            f"`{on}`: no engine",
            'write "dask", "dask=ADDRESS" such as "dask=tcp://head:8786", "hyperqueue" or "hyperqueue=SERVER-DIRECTORY"',
        )
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise MachineError(f"Dask is not installed ({error})", "pip install laxity[dask]") from error
    if address:
        try:
            client = distributed.Client(address, timeout=20)
        except (OSError, ValueError) as error:
            raise MachineError(f"dask={address}: no scheduler can be reached there: {first_line(error)}", "is it started, and is the address right?") from error
        with client:
            yield _Dask(client)
        return
    # Threads of this process, which judge at the same time: processes would run a script that has no guard again.
    cpus = os.cpu_count() or 1
    with distributed.LocalCluster(n_workers=cpus, threads_per_worker=1, processes=False) as cluster, distributed.Client(cluster) as client:
        log.info("dashboard: %s", client.dashboard_link)
        yield _Dask(client)


def conduct(
    file: str, directory: Path, on: Any, sets: int | None, seed: int | None, described: str | None = None
) -> list[str]:
    """Judges what a study's directory lacks on an engine. What failed, in words. A study that Python has described is `described`,
    as JSON: its file is not there later.
    """
    changed = "".join(f", {name}={value}" for name, value in (("sets", sets), ("seed", seed)) if value is not None)

    def command(unit: str) -> str:
        study = os.path.abspath(file) if described is None else json.loads(described)
        code = f"from laxity.engines import again; print(again({study!r}, {unit!r}{changed}))"
        return f"python3 -c {shlex.quote(code)}"

    # An engine that is not there leaves no directory behind, and a directory of another study leaves the engine alone.
    with engine_of(on, directory) as engine:
        conductor = _laxity.Conductor(file, directory, sets, seed)
        run = _Run(conductor, engine, command)
        try:
            with _call.Watch() as watch:
                run.run(watch)
        finally:
            run.stop()
            conductor.close()
        return run.failed


def main() -> None:
    """`laxity study FILE --on ENGINE`, which the program becomes."""
    on, version, file, directory, sets, seed, how, told = sys.argv[1:]

    def number(text: str) -> int | None:
        return None if text == "-" else int(text)

    code = 0
    # The end that a batch system asks for is an interruption, too: finished points are kept.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if told == "quiet":
        _call.set_progress(None)
    else:
        logging.basicConfig(level=logging.WARNING, format="%(message)s")
        log.setLevel(logging.INFO)
    try:
        if version != _laxity.VERSION:
            raise MixedVersions(
                f"the program is laxity {version}, and the module of {sys.executable} is {_laxity.VERSION}",
                "pip install laxity==" + version.split()[0],
            )
        from . import _commands

        result = _commands.study(file, on=on, sets=number(sets), seed=number(seed), out=directory)
        print(result.json if how == "json" else result.text, end="")
        if told != "quiet":
            print(f"report: {(result.path / 'report.html').resolve()}", file=sys.stderr)
    except KeyboardInterrupt:
        print("interrupted: finished points are kept; the same command goes on", file=sys.stderr)
        code = 130
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2 if isinstance(error, InputError) else 3
    sys.exit(code)
