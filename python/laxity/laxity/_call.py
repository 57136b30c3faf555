"""How a function of Python becomes a command of laxity: words, task sets, progress, warnings."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Union

from . import _laxity
from ._errors import Error, InputError, LaxityWarning, MachineError, in_python, of_code
from ._scratch import scratch
from ._tasks import plain, time_text

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

log = logging.getLogger("laxity")

Sets = Union[_laxity.TaskSet, str, "os.PathLike[str]", Iterable[Any]]
"""Task sets: a TaskSet, a path, a table with a row for each task (a DataFrame), or several of these."""

_progress: Any = "auto"


def set_progress(how: str | None | Callable[..., None]) -> None:
    """Says how long work shows how far it is.

    Args:
        how: "auto" (default): by tqdm where it is installed and someone looks (a terminal or a notebook); None: not at
            all; or a function (what, unit, done, total, over) that is called some times a second.
    """
    global _progress
    if not (how is None or how == "auto" or callable(how)):
        raise InputError(f"{how!r}: not a way to show progress", 'write "auto", None, or give a function')
    _progress = how


def _bars() -> Any:
    """tqdm, where it is wanted and there."""
    if _progress != "auto":
        return None
    if not (sys.stderr is not None and sys.stderr.isatty() or "ipykernel" in sys.modules):
        return None
    try:
        with warnings.catch_warnings():
            # Without ipywidgets the bar is text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return tqdm


def _frames_of_laxity() -> int:
    """By how many frames the line that called laxity is above the caller of this: warnings point there."""
    here = os.path.dirname(__file__)
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        frame, count = frame.f_back, count + 1
    return count


class Watch:
    """Shows what a command tells while it works."""

    def __init__(self) -> None:
        self.bars: dict[int, Any] = {}
        self.tqdm = _bars()

    def __call__(self, kind: str, *told: Any) -> None:
        if kind == "note":
            log.info("%s", told[0])
        elif kind == "warning":
            words = in_python(told[0].removeprefix("warning: "))
            warnings.warn(words, LaxityWarning, stacklevel=_frames_of_laxity())
        else:
            self.step(*told)

    def step(self, number: int, what: str, unit: str, done: int, total: int, over: bool) -> None:
        if callable(_progress):
            _progress(what, unit, done, total, over)
        if self.tqdm is None:
            return
        bar = self.bars.get(number)
        if bar is None:
            # Short work shows nothing.
            bar = self.bars[number] = self.tqdm(desc=what, unit=f" {unit}", total=total or None, delay=0.7, leave=False)
        if total and bar.total != total:
            bar.total = total
        bar.update(done - bar.n)
        if over:
            bar.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        for bar in self.bars.values():
            bar.close()


DECIMALS = 9
"""So many decimals the command line takes."""


def underscored(name: str) -> str:
    """An option as Python writes it."""
    return name.replace("-", "_")


def word(value: Any, option: Mapping[str, Any]) -> str:
    """A value as it is written on a command line."""
    name = option["name"]
    if isinstance(value, bool):
        if option["value"] != "SWITCH":
            raise InputError(f"{underscored(name)}: {value!r} is neither text nor a number", option["help"])
        return "on" if value else "off"
    if option["value"] == "TIME" and not isinstance(value, str):
        return time_text(value, name)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (str, _laxity.Prototype)):
        return str(value)
    if hasattr(value, "__index__"):
        return str(value.__index__())
    if isinstance(value, (Real, Decimal)):
        # 0.1 + 0.2 is meant to be 0.3.
        text = f"{float(value):.{DECIMALS}f}".rstrip("0").rstrip(".")
        if value != 0 and abs(float(text) - float(value)) > 1e-6 * abs(float(value)):
            raise InputError(f"{underscored(name)}: {value!r} has more than {DECIMALS} decimals", "round it")
        return text
    raise InputError(f"{underscored(name)}: {value!r} is neither text nor a number", option["help"])


def words_of(options: Sequence[Mapping[str, Any]], given: Mapping[str, Any], files: Callable[[Any, str], str]) -> list[str]:
    """The options of a call as words. `files` writes what a file is to hold, such as a platform, and gives its path."""
    words = []
    for option in options:
        value = given.get(option["name"])
        if value is None or value is False and option["kind"] == "flag":
            continue
        if option["kind"] == "flag":
            if value is not True:
                raise InputError(f"{underscored(option['name'])}: {value!r} is neither True nor False", option["help"])
            words.append(f"--{option['name']}")
            continue
        several = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping, os.PathLike))
        values = list(value) if several else [value]
        if not values:
            raise InputError(f"{underscored(option['name'])}: there is nothing in it", "leave it out, or give one value or more")
        written = [word(files(one, option["name"]) if isinstance(one, Mapping) else one, option) for one in values]
        if option["kind"] == "one":
            written = [",".join(written)]
        words += [f"--{option['name']}={one}" for one in written]
    return words


def prototypes_in(given: Mapping[str, Any]) -> list[_laxity.Prototype]:
    """The prototypes among the values of options, each once."""
    found: list[_laxity.Prototype] = []
    for value in given.values():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, _laxity.Prototype) and not any(one is other for other in found):
                found.append(one)
    return found


def scratch_of(owner: Any) -> Path:
    """A directory that goes with its owner."""
    folder = scratch()
    weakref.finalize(owner, shutil.rmtree, folder, True)
    return folder


class Files:
    """Files for one call: what Python has in memory and a command reads from files."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.count = 0
        self.moved_from: Path | None = None

    def new(self, name: str) -> Path:
        if self.folder is None:
            self.folder = scratch_of(self)
        return self.folder / name

    def __call__(self, content: Mapping[str, Any], name: str) -> str:
        """Writes a document; errors about it name a file of this name."""
        self.count += 1
        path = self.new(f"{name}.json" if self.count == 1 else f"{name}-{self.count}.json")
        path.write_text(json.dumps(content, default=plain))
        return os.fspath(path)

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Errors about what was written name what was given, and not where it lies."""
        try:
            yield
        except Error as error:
            if self.folder is None:
                raise
            message, hint = self.without_place(error.message), error.hint and self.without_place(error.hint)
            raise type(error)(message, hint) from error.__cause__

    def without_place(self, words: str) -> str:
        """Words about files of the folder by their names alone, without lines and columns that were not given."""
        place = re.escape(os.fspath(self.folder or "")) + os.sep
        return re.sub(rf"{place}([\w-]+)\.(?:json|csv)(?:: line \d+(?:, column \d+)?)?", r"\1", words)

    def __getstate__(self) -> tuple[Path | None, dict[str, str]]:
        """Its folder and what was written into it, to be pickled: the folder goes with this object."""
        files = [] if self.folder is None else [path for path in self.folder.iterdir() if path.is_file()]
        return self.folder, {path.name: path.read_text() for path in files}

    def __setstate__(self, state: tuple[Path | None, dict[str, str]]) -> None:
        self.__init__()  # type: ignore[misc]
        self.moved_from, texts = state
        self.count = len(texts)
        for name, text in texts.items():
            self.new(name).write_text(text)

    def in_place(self, word: str) -> str:
        """A word that names a file in the folder, where the folder is now."""
        return word if self.moved_from is None else word.replace(os.fspath(self.moved_from), os.fspath(self.folder or ""))


def is_path(value: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether it names a file."""
    return isinstance(value, (str, os.PathLike))


def path_of(value: Any) -> str:
    """The path of a file, as text."""
    if not is_path(value):
        raise InputError(f"{value!r}: no path of a file", "give a text or a pathlib.Path")
    path = os.fspath(value)
    if not isinstance(path, str):
        path = os.fsdecode(path)
    if "\0" in path or "\n" in path:
        raise InputError(
            f"{path[:60]!r}: no path of a file", "give its path; a text that is a task set goes into laxity.TaskSet.of_toml(text)"
        )
    return path


def read(*paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], leave_out_threads: bool = False) -> list[_laxity.TaskSet]:
    """Reads task sets from files: laxity's TOML and JSON, CSV, rt-app JSON, SimSo XML.

    Args:
        leave_out_threads: Leave out threads of an rt-app file that make no task, and warn of each; otherwise such a file
            is refused.

    Raises:
        InputError: A file that is no task set.
    """
    several = [one for path in paths for one in ([path] if is_path(path) or not isinstance(path, Iterable) else path)]
    if not several:
        raise InputError("no file is named", "give the path of one file or more")
    with Watch() as watch:
        return _laxity.TaskSet.of_files(list(map(path_of, several)), leave_out_threads, watch)


def sets_of(sets: Sets, leave_out_threads: Any = False) -> list[_laxity.TaskSet]:
    """Task sets, of all that they can be given as; at least one."""
    if leave_out_threads not in (None, False, True):
        raise InputError(f"leave_out_threads: {leave_out_threads!r} is neither True nor False", "write True or False")
    made = _sets_of(sets, bool(leave_out_threads))
    if not made:
        what = "a table without rows" if hasattr(sets, "__arrow_c_stream__") else repr(sets)
        raise InputError(f"no task set is given: {what} has none", "nothing is proven of nothing")
    return made


def _sets_of(sets: Sets, leave_out_threads: bool) -> list[_laxity.TaskSet]:
    if isinstance(sets, _laxity.TaskSet):
        return [sets]
    if is_path(sets):
        return read(path_of(sets), leave_out_threads=leave_out_threads)
    if hasattr(sets, "__arrow_c_stream__"):
        return _laxity.TaskSet.of_table(sets, "tasks")
    if isinstance(sets, Iterable) and not isinstance(sets, (Mapping, bytes)):
        several = list(sets)
        if several and all(is_path(one) for one in several):
            return read(*several, leave_out_threads=leave_out_threads)
        return [one for part in several for one in _sets_of(part, leave_out_threads)]
    raise InputError(
        f"{sets!r}: no task set",
        "give a TaskSet, the path of a file, a table with a row for each task, or a list of these; tasks go into a "
        "TaskSet: laxity.TaskSet([...])",
    )


def carry_out(
    words: list[str], sets: list[_laxity.TaskSet], own: Iterable[_laxity.OwnTest | _laxity.Prototype] = ()
) -> _laxity.Called:
    """Carries out a command in this process, on a thread of its own."""
    asked = list(own)
    try:
        with Watch() as watch:
            called = _laxity.call(words, sets, asked, watch)
    finally:
        for one in asked:
            one._version.call_ended()
    if called.code == 130:
        raise KeyboardInterrupt
    return called


def program() -> str:
    """The path of the program, which the package `laxity-cli` brings.

    Raises:
        MachineError: It is not there.
    """
    named = os.environ.get("LAXITY_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise MachineError(f"LAXITY_PROGRAM={named}: no program is there", "name it, or leave the variable out")
        return named
    beside = Path(sysconfig.get_path("scripts")) / "laxity"
    found = os.fspath(beside) if beside.is_file() else shutil.which("laxity")
    if found is None:
        raise MachineError("the program `laxity` is not installed", "pip install laxity-cli")
    return found


def run_program(words: list[str]) -> tuple[int, str]:
    """Carries out a command by the program: its exit code and its data. What it says goes to standard error.

    Ctrl-C is handed on to the program, which keeps what was measured until then; the second one ends it at once.
    """
    # In a session of its own it gets no signal but those from here, each once: a terminal would send it its own Ctrl-C, and
    # what interrupts Python alone would not reach it.
    process = subprocess.Popen(
        [program(), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, _laxity.ENDS_WITH_PARENT: "1"},
    )
    said: list[str] = []

    def listen() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if not line.startswith(("error:", "hint:")):
                sys.stderr.write(line)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    interrupted = False
    while True:
        try:
            assert process.stdout is not None
            data = process.stdout.read()
            code = process.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
    listener.join()
    if interrupted or code == 130:
        raise KeyboardInterrupt
    if code not in (0, 1, 4):
        text = "".join(said)
        message, _, hint = text[text.rfind("error: ") + len("error: ") :].partition("\nhint: ")
        raise of_code(code, message.strip() or f"laxity ended with {code}", hint.strip() or None)
    return code, data
