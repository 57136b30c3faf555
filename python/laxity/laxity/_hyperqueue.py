"""HyperQueue as an engine of studies (engines.py): units are tasks of the program, and answers are files."""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _call
from ._errors import MachineError, first_line
from ._scratch import scratch_for_now


class _Promise:
    """What HyperQueue is to come to."""

    def __init__(self, number: int, job: Any, seconds: float) -> None:
        self.number, self.job, self.begun = number, job, seconds
        self.outcome: Any = None
        self.then: Callable[[Any], None] | None = None

    def add_done_callback(self, then: Callable[[Any], None]) -> None:
        self.then = then

    def result(self) -> Any:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class HyperQueue:
    """HyperQueue: units are tasks of the program, whose answers lie in a folder that all machines see.

    Args:
        client: A client of HyperQueue's server.
        folder: Where the answers are; the study's directory has one.
        workers: So many units are judged at the same time, about.
        crash_limit: So often a worker may crash under a unit before HyperQueue gives it up.
    """

    SCRIPT = 'test ! -e stop || exit 9; "$0" __judge >"$1.part" 2>"$1.said" && mv "$1.part" "$1.done" || mv "$1.said" "$1.failed"'
    LOOK_S = 0.05
    FAILURES_S = 5.0

    def __init__(self, client: Any, folder: Path, workers: int, crash_limit: int = 3) -> None:
        self.client, self.folder, self.count, self.crash_limit = client, folder, workers, crash_limit
        self.hyperqueue: Any = importlib.import_module("hyperqueue")
        self.out: dict[int, _Promise] = {}
        self.over = threading.Event()
        # Both the folder and the watcher are there from the first unit on.
        self.watcher: threading.Thread | None = None

    def workers(self) -> int:
        return self.count

    def submit(self, arguments: tuple[Any, ...], label: str, count: int) -> _Promise:
        if self.watcher is None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            self.watcher = threading.Thread(target=self.watch, daemon=True)
            self.watcher.start()
        _, told, units = arguments
        job = self.hyperqueue.Job(name=label, max_fails=None, default_workdir=self.folder)
        text = "\n".join([told, *units]) + "\n"
        job.program(["sh", "-c", self.SCRIPT, _call.program(), str(count)], stdin=text, stdout=None, stderr=None, crash_limit=self.crash_limit)
        with _root_logger_as_it_is():
            promise = _Promise(count, self.client.submit(job), time.perf_counter())
        self.out[count] = promise
        return promise

    def watch(self) -> None:
        """Looks for answers, and from time to time for tasks that HyperQueue gave up."""
        looked = time.monotonic()
        while not self.over.wait(self.LOOK_S):
            there = {entry.name for entry in os.scandir(self.folder)}
            for number, promise in list(self.out.items()):
                if f"{number}.done" in there:
                    text = (self.folder / f"{number}.done").read_text().splitlines()
                    self.end(promise, (text, time.perf_counter() - promise.begun))
                elif f"{number}.failed" in there:
                    said = (self.folder / f"{number}.failed").read_text()
                    message, _, hint = said.partition("error: ")[2].partition("\nhint: ")
                    self.end(promise, MachineError(message.strip() or said.strip() or "it failed", hint.strip() or None))
            if time.monotonic() - looked > self.FAILURES_S:
                looked = time.monotonic()
                self.given_up()

    def given_up(self) -> None:
        for promise in list(self.out.values()):
            try:
                failed = self.client.get_failed_tasks(promise.job)
            except Exception:  # It is not over.
                continue
            for context in failed.values():
                self.end(promise, MachineError(f"HyperQueue gave it up: {first_line(context.error)}"))

    def end(self, promise: _Promise, outcome: Any) -> None:
        if self.out.pop(promise.number, None) is None:
            return
        for kind in ("done", "failed", "part", "said"):
            (self.folder / f"{promise.number}.{kind}").unlink(missing_ok=True)
        promise.outcome = outcome
        if promise.then is not None:
            promise.then(promise)

    def results(self, futures: list[Any]) -> list[Any]:
        return [future.outcome for future in futures]

    def cancel(self, futures: list[Any]) -> None:
        (self.folder / "stop").touch()

    def close(self) -> None:
        self.over.set()
        if self.watcher is not None:
            self.watcher.join()
        if not self.out:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def _standard_output_is_not_heard() -> Iterator[None]:
    """What is written to standard output meanwhile, also by compiled code, is not heard."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


SOCKET_FOLDER_MOST = 85
"""Bytes: the address of a socket has 108, and HyperQueue's name for one some 16."""


@contextmanager
def _sockets_in(folder: Path) -> Iterator[None]:
    """Sockets of HyperQueue's workers lie in this folder, which is removed, if its name is short enough for them."""
    if len(os.fsencode(folder)) > SOCKET_FOLDER_MOST:
        yield
        return
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = os.fspath(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _own_signals() -> None:
    """Signals do what they did before HyperQueue's server of this process took them for its own end."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if handler is not None:
                signal.signal(number, handler)


@contextmanager
def _root_logger_as_it_is() -> Iterator[None]:
    """What is logged to the root logger gives it no handler, as it would by itself."""
    root, nothing = logging.getLogger(), logging.NullHandler()
    root.addHandler(nothing)
    try:
        yield
    finally:
        root.removeHandler(nothing)


@contextmanager
def hyperqueue_of(address: str, folder: Path) -> Iterator[HyperQueue]:
    """A server of HyperQueue by its directory, or a cluster of this machine."""
    try:
        hyperqueue: Any = importlib.import_module("hyperqueue")
        cluster: Any = importlib.import_module("hyperqueue.cluster")
    except ImportError as error:
        raise MachineError(f"HyperQueue is not installed ({error})", "pip install laxity[hyperqueue]") from error
    if address:
        try:
            client = hyperqueue.Client(address)
        except Exception as error:
            raise MachineError(
                f"hyperqueue={address}: no server can be reached by this directory: {first_line(error)}",
                "name the directory that `hq server start --server-dir` was given",
            ) from error
        engine = HyperQueue(client, folder, WORKERS_UNKNOWN)
        try:
            yield engine
        finally:
            engine.close()
        return
    workers = os.cpu_count() or 1
    with scratch_for_now() as home:
        # It draws a table of where it is.
        with _standard_output_is_not_heard(), _sockets_in(home):
            local = cluster.LocalCluster(os.fspath(home), cluster.WorkerConfig(cores=workers))
        with local:
            client = local.client()
            _own_signals()
            engine = HyperQueue(client, folder, workers)
            try:
                yield engine
            finally:
                engine.close()


WORKERS_UNKNOWN = 256
"""So many units of a HyperQueue server are out at the same time, about; more only wait there."""
