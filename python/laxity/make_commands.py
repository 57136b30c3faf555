#!/usr/bin/env python3
"""Writes laxity/_commands.py: a function for each command, with its options, as the program's command line has them.

Usage: make_commands.py [--check]     (with the built module on the path: tests/python/module)

--check: only says whether the file is what it should be, by the exit code.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path

import _laxity  # by itself: the package lacks the file that is written here

TARGET = Path(__file__).parent / "laxity" / "_commands.py"
# Of the command line alone.
HIDDEN = {"json", "quiet", "verbose", "help", "write", "text", "gantt", "slurm", "minutes", "fail-on-miss", "from", "to"}

# name: (command, first parameters with their types and help, what is returned, how it is called)
SETS = [("sets", "Sets", "Task sets: a TaskSet, the path of a file, a table with a row for each task, or several of these.")]
SET = [("set", "Sets", "A task set: a TaskSet, the path of a file, or a table with a row for each task.")]
PATH = "str | os.PathLike[str]"
FUNCTIONS = {
    "analyze": (SETS, "Analysis", '_run.on_sets("analyze", Analysis, locals())', {"force"}),
    "verdicts": (SETS, "Table", "_run.verdicts(locals())", {"sensitivity", "force"}),
    "simulate": (SETS, "Simulation", '_run.on_sets("simulate", Simulation, locals())', set()),
    "place": (SET, "Placement", '_run.on_set("place", Placement, locals())', {"force"}),
    "settings": (SET, "Settings", '_run.on_set("settings", Settings, locals())', set()),
    "verify": (
        [("directory", PATH, "A results directory with events.")],
        "Verification",
        '_run.on_paths("verify", Verification, locals(), "directory")',
        set(),
    ),
    "report": (
        [("directory", PATH, "A results directory.")],
        "Answer",
        '_run.on_paths("report", Answer, locals(), "directory")',
        {"run", "force", "perfetto", "html"},
    ),
    "diff": (
        [("before", PATH, "A results directory."), ("after", PATH, "Another one.")],
        "Answer",
        '_run.on_paths("diff", Answer, locals(), "before", "after")',
        set(),
    ),
    "check": (
        [("files", f"{PATH} | list[str | os.PathLike[str]]", "Files and results directories.")],
        "Check",
        '_run.on_paths("check", Check, locals(), "files")',
        set(),
    ),
    "catalogue": (
        [("what", "str | None", "A part of it: schedulers, tests, generators, placements, platforms, overheads, metrics or machine.")],
        "Answer",
        '_run.on_paths("list", Answer, locals(), "what")',
        {"as-platform"},
    ),
    "study": (
        [
            ("study", f"{PATH} | Mapping[str, Any]", "The study: the path of its file, or a dict of the same keys."),
            (
                "on",
                "Any | None",
                "Where it is judged: \"dask\" or \"hyperqueue\" (a cluster of this machine), \"dask=ADDRESS\", "
                "\"hyperqueue=SERVER-DIRECTORY\", a client of Dask, or an executor of concurrent.futures; default: threads of this process. The results are the same.",
            ),
            ("tests", "OwnTest | Sequence[OwnTest] | None", "Tests of your own (`laxity.own_test`), which its curves name: one or several. They run in this process, without `on`."),
            (
                "prototypes",
                "Prototype | Sequence[Prototype] | None",
                "Scheduling policies of your own (`laxity.prototype`), which curves of a study by simulation name.",
            ),
        ],
        "StudyResult",
        "_run.study(locals())",
        {"real", "duration", "repeat", "cpus", "limit", "clusters", "record", "record-overheads", "quiet-machine", "shard", "on"},
    ),
    "compare": (SETS, "Results", '_run.by_program("compare", locals())', set()),
    "run": (SETS, "Results", '_run.by_program("run", locals())', set()),
}
COMMANDS = {"verdicts": "analyze", "catalogue": "list"}
INSTEAD = {
    "verdicts": "Say what is proven of many task sets under given schedulers, as a table: a row for each set and scheduler.\n\n"
    "For sets by the thousand: nothing but the verdicts is handed back.",
    "study": "Sweep over task sets and machines: what tests prove, or simulations show, of many random sets against what varies.\n\n"
    "The study is described in TOML or JSON, or as a dict (`laxity schema study`): how task sets are drawn, what varies, and curves. "
    "Curves of a schedulability study are schedulers with the overheads and the tests by which every set is judged; those of a study "
    "by simulation (kind = \"simulation\") are placements with schedulers and costs. The papers' are in studies/. The directory gets a "
    "page with figures (report.html, plots/), all points as Parquet and CSV (points.parquet, points.csv) and what they come from "
    "(manifest.json). Finished points are kept: called again with the same directory it goes on where it was interrupted, and the same "
    "seed gives the same points wherever it is judged. For curves that are really run, for shards and for Slurm there is the program: "
    "`laxity study --help`.",
}
TYPES = {"flag": "bool", "one": "Value", "many": "Value | Sequence[Value]"}

HEAD = '''"""A function for each command. Written by make_commands.py from the program's command line; not by hand."""

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
'''


def identifier(name: str) -> str:
    name = {"schedulers": "scheduler"}.get(name, name).replace("-", "_")
    return name + "_" if name in {"from", "class", "lambda"} else name


def worded(text: str) -> str:
    """Help in the words of Python."""
    text = re.sub(r"\s*\n\s*\n\s*", "\n\n", text.strip())
    text = re.sub(r"(?<![\w`-])--([a-z][a-z-]*[a-z])", lambda option: f"`{identifier(option[1])}`", text)
    for words, instead in [
        ("separated by commas or given several times", "one or a list"),
        ("separated by commas where several are compared", "a list where several are compared"),
        ("May be given several times", "May be a list"),
        ("may be given several times", "may be a list"),
    ]:
        text = text.replace(words, instead)
    return text.replace("\\", "\\\\")


def documented(option: dict) -> str:
    text = option["long_help"] or option["help"] or ""
    # The short help is the first paragraph, without a full stop.
    parts = [" ".join(part.split()) for part in worded(text).split("\n\n")]
    text = " ".join(part if part.endswith((".", ":")) else part + "." for part in parts)
    if option["default"] and "default" not in text:
        text = f"{text.rstrip('.')}; default: {option['default']}"
    text = text.rstrip(".") + "."
    return textwrap.fill(f"{identifier(option['name'])}: {text}", 116, initial_indent=" " * 8, subsequent_indent=" " * 12)


def about(command: dict, name: str) -> str:
    if name in INSTEAD:
        return INSTEAD[name]
    after = worded(command["after"] or "").split("Examples:")[0]
    after = re.split(r"Exit codes:", after)[0].strip()
    summary = worded(command["about"]).rstrip(".") + "."
    if not after:
        return summary
    paragraphs = [" ".join(part.split()) for part in after.split("\n\n")]
    return "\n\n".join([summary, *paragraphs])


def function(name: str) -> str:
    leading, result, body, left_out = FUNCTIONS[name]
    command = json.loads(_laxity.options([COMMANDS.get(name, name)]))
    options = [
        option
        for option in command["options"]
        if not option["positional"] and option["name"] not in HIDDEN | left_out
    ]
    first = [f"    {it}: {kind}{' = None' if 'None' in kind else ''}," for it, kind, _ in leading]
    rest = [f"    {identifier(option['name'])}: {TYPES[option['kind']]} | None = None," for option in options]
    text = "\n\n".join(textwrap.fill(part, 116, initial_indent="    ", subsequent_indent="    ") for part in about(command, name).split("\n\n"))
    arguments = [
        textwrap.fill(f"{it}: {help}", 116, initial_indent=" " * 8, subsequent_indent=" " * 12) for it, _, help in leading
    ]
    lines = [
        f"def {name}(",
        *first,
        *(["    *,"] if rest else []),
        *rest,
        f") -> {result}:",
        '    """' + text.strip(),
        "",
        "    Args:",
        *arguments,
        *[documented(option) for option in options],
        "",
        "    Raises:",
        "        InputError: A value that is none; the message names the rule and the way out.",
        '    """',
        f"    return {body}",
    ]
    return "\n".join(lines)


def generate() -> str:
    """The function of all generators."""
    names = [name for name in json.loads(_laxity.options(["generate"]))["commands"] if name != "help"]
    lines = [
        "def generate(generator: str, **parameters: Value) -> list[TaskSet]:",
        '    """Make task sets with a generator of the literature. The same seed gives the same sets on every machine.',
        "",
        "    Args:",
        "        generator: Its name.",
        "        parameters: `count` (of sets; default: 1), `seed` (default: 1), and those of the generator; `n` is `tasks`, and",
        "            `u` is `utilization`.",
        "",
        "    Raises:",
        "        InputError: A value that is none; the message names the rule and the way out.",
        "",
        "    The generators, and what each takes:",
    ]
    for name in names:
        command = json.loads(_laxity.options(["generate", name]))
        about = " ".join(worded(command["about"]).split()).rstrip(".")
        taken = [it for it in command["options"] if it["name"] not in {*HIDDEN, "out", "force", "format", "seed", "count"}]
        parts = [identifier(it["name"]) + (f"={it['default']}" if it["default"] else "") for it in taken]
        text = f"{name}: {about}. Takes {', '.join(parts)}."
        lines += ["", textwrap.fill(text, 116, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False)]
    return "\n".join([*lines, '    """', "    return _run.generate(generator, parameters)"])


def main() -> int:
    functions = [*(function(name) for name in FUNCTIONS), generate()]
    text = "\n\n\n".join([HEAD.rstrip("\n"), *functions]) + "\n"
    if "--check" not in sys.argv:
        TARGET.write_text(text)
        return 0
    if TARGET.read_text() == text:
        return 0
    print(f"error: {TARGET} is not what the command line says\nhint: tests/python/module --bless", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
