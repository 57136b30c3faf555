"""How each kind of function calls its command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from . import _answers, _call, _laxity
from ._answers import A, given_of, options_of, renamed
from ._errors import InputError, MachineError
from ._tasks import plain


def on_sets(command: str, kind: type[A], arguments: dict[str, Any]) -> A:
    """A command on task sets."""
    sets = _call.sets_of(arguments.pop("sets"), arguments.pop("leave_out_threads", False))
    return kind.of(command, [_answers.SETS], sets, given_of(arguments))


def on_set(command: str, kind: type[A], arguments: dict[str, Any]) -> A:
    """A command on one task set, which hands back the set with its places."""
    sets = _call.sets_of(arguments.pop("set"), arguments.pop("leave_out_threads", False))
    return kind.of(command, [_answers.SETS], sets, {**given_of(arguments), "write": _answers.SETS})


def on_paths(command: str, kind: type[A], arguments: dict[str, Any], *leading: str) -> A:
    """A command on files and directories."""
    paths = []
    for name in leading:
        value = arguments.pop(name)
        several = isinstance(value, (list, tuple))
        paths += [_call.path_of(one) for one in (value if several else [value]) if one is not None]
    if not paths and command != "list":
        raise InputError("no file is named", "give the path of one file or more")
    return kind.of(command, paths, [], given_of(arguments))


FAILED_SHOWN = 5
"""Of so many units that could not be judged it is said why."""


def own_of(given: Any, kind: type, what: str, maker: str) -> list[Any]:
    """Tests or prototypes of a user's own: one, or several."""
    if given is None:
        return []
    several = [given] if isinstance(given, kind) or not isinstance(given, Iterable) or isinstance(given, str) else list(given)
    for one in several:
        if not isinstance(one, kind):
            raise InputError(f"{what}: {one!r} is not made by {maker}", f"give {maker}(name, function, ...), or a list of these")
    return several


def study(arguments: dict[str, Any]) -> _answers.StudyResult:
    """A study that a file or a dict describes."""
    options = options_of("study")
    file, on = arguments.pop("study"), arguments.pop("on")
    own = [
        *own_of(arguments.pop("tests"), _laxity.OwnTest, "tests", "laxity.own_test"),
        *own_of(arguments.pop("prototypes"), _laxity.Prototype, "prototypes", "laxity.prototype"),
    ]
    given = given_of(arguments)
    files = _call.Files()
    name = described = None
    if isinstance(file, Mapping):
        name = slug(str(file.get("name") or file.get("title") or "study"))
        described = json.dumps(file, default=plain)
        file = files(file, name)
    elif not _call.is_path(file):
        raise InputError(f"{file!r}: no study", "give the path of a study's file, or what such a file has as a dict")
    else:
        file = _call.path_of(file)
        # `merge` and the like are commands of the program only: here it is a file.
        file = file if os.sep in file or "." in file else os.path.join(os.curdir, file)
    path = given.get("out")
    if path is None:
        path = Path("laxity-results") / str(name or Path(file).stem)
        given["out"] = path
    words = ["study", *_call.words_of(options, given, files), "--json", "--", os.fspath(file)]
    if on is not None and own:
        raise InputError("on: tests and prototypes of your own run in this process", "leave out `on`")
    if on is not None:
        from . import engines

        with files.in_words():
            failed = engines.conduct(os.fspath(file), Path(path), on, given.get("sets"), given.get("seed"), described)
        if failed:
            left = len(failed) - FAILED_SHOWN
            raise MachineError(
                f"{len(failed)} units could not be judged:\n"
                + "\n".join([*failed[:FAILED_SHOWN], *[f"and {left} more"] * (left > 0)]),
                "all else is kept; the same call goes on",
            )
    with files.in_words():
        called = _call.carry_out(words, [], own)
    return _answers.StudyResult(words, [], called, Path(path))


def by_program(command: str, arguments: dict[str, Any]) -> _answers.Results:
    """A command that runs tasks for real: the program carries it out."""
    options = options_of(command)
    sets = _call.sets_of(arguments.pop("sets"), arguments.pop("leave_out_threads", False))
    given = renamed(given_of(arguments), options)
    if given.get("out") is None:
        stamp = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H-%M-%SZ")
        given["out"] = Path("laxity-results") / f"{command}-{stamp}"
    files = _call.Files()
    paths = []
    for at, task_set in enumerate(sets):
        path = files.new(f"set-{at}.json")
        path.write_text(task_set.to_json())
        paths.append(os.fspath(path))
    words = [command, *_call.words_of(options, given, files), "--json", "--", *paths]
    code, data = _call.run_program(words)
    return _answers.Results(code, data, Path(given["out"]))


def generate(generator: str, parameters: dict[str, Any]) -> list[_laxity.TaskSet]:
    """Task sets of a generator."""
    known_generators = _answers.generators()
    if generator not in known_generators:
        raise InputError(f"`{generator}` is no generator", f"there are {', '.join(known_generators)}")
    command = f"generate {generator}"
    options = options_of(command)
    known = {option["name"]: option for option in options}
    given = given_of(parameters)
    for short, name in (("n", "tasks"), ("u", "utilization")):
        if short in given and name in known:
            if name in given:
                raise InputError(f"{short} and {name} are the same parameter", "give one of them")
            given[name] = given.pop(short)
    for name in given:
        if name not in known or name in HIDDEN:
            rule = ", ".join(name.replace("-", "_") for name in known if name not in HIDDEN)
            raise InputError(f"{name.replace('-', '_')}: `{generator}` has no such parameter", f"its parameters are {rule}")
    words = _call.words_of(options, {**given, "out": _answers.SETS}, no_file)
    return _call.carry_out([*command.split(), *words], []).sets


def slug(words: str) -> str:
    """Words as the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60] or "study"


def no_file(content: Any, name: str) -> str:
    """Where no option is a file."""
    raise InputError(f"{name}: {content!r} is neither text nor a number", "give one value")


HIDDEN = ("json", "out", "force", "format", "quiet", "verbose", "help")


def verdicts(arguments: dict[str, Any]) -> _laxity.Table:
    """What is proven of many sets, as a table."""
    options = options_of("analyze")
    sets = _call.sets_of(arguments.pop("sets"), arguments.pop("leave_out_threads", False))
    files = _call.Files()
    words = _call.words_of(options, renamed(given_of(arguments), options), files)
    with files.in_words(), _call.Watch() as watch:
        return _laxity.verdicts([*words, "--", _answers.SETS], sets, watch)
