"""The examples of every `--help`: run where they are cheap and need no right, otherwise parsed."""

import re
from collections.abc import Callable

from pages import Mistake
from session import Session

# What examples name; each is made by the program itself.
FILES = """
laxity init set.toml
mkdir sets && laxity generate emberson -n 4 -u 0.6 --seed 2 -o sets/a.toml
cp -L examples/costs/overheads.csv examples/costs/cpmd.csv .
cp overheads.csv p-edf-max.csv && cp overheads.csv g-edf-max.csv
cp -L examples/platforms/four-cores.toml server.toml
cp -L examples/platforms/calandrino2007-small.toml amp.toml
"""
# Commands that need neither rights nor minutes.
CHEAP = {"diff", "report", "list", "place", "analyze", "verify", "simulate", "generate", "init", "schema", "check", "completions", "settings"}
# A description stands two or more blanks behind its command.
EXAMPLE = re.compile(r"^ {2,}((?:sudo )?laxity .*?)(?: {2,}\S.*)?$")
HEAD = re.compile(r"^(Examples?|A first session):")
WRITTEN = re.compile(r"(?:\s(?:-o|--out|--perfetto)|>|\binit)\s*([\w./-]+)")


def commands(text: str) -> list[str]:
    """The subcommands that a help text lists."""
    part = re.search(r"^Commands:\n((?:.+\n)+)", text, re.MULTILINE)
    found = re.findall(r"^  ([a-z][a-z0-9-]*)", part[1], re.MULTILINE) if part else []
    return [name for name in found if name != "help"]


def pages_of_help(session: Session, words: str = "laxity") -> list[tuple[str, str]]:
    """The help text of every command: (command, text)."""
    status, lines = session.shell(f"{words} --help")
    if status != 0:
        raise Mistake(f"`{words} --help` ends with {status}")
    text = "\n".join(lines) + "\n"
    found = [(words, text)]
    for name in commands(text):
        found += pages_of_help(session, f"{words} {name}")
    return found


def is_cheap(command: str) -> bool:
    words = command.split()
    return words[0] == "laxity" and words[1] in CHEAP and not re.search(r"laxity-results/|mine\.toml", command)


def examples(text: str) -> list[str]:
    """The commands below the headings of examples."""
    found, inside = [], False
    for line in re.sub(r" *\\\n\s*", " ", text).splitlines():  # continued lines are one command
        if HEAD.match(line):
            inside = True
        elif line.strip() and not line.startswith(" "):
            inside = False
        elif inside and (example := EXAMPLE.match(line)):
            found.append(example[1].strip())
    return found


def check(new_session: Callable[[], Session], skipped: list[str]) -> list[str]:
    """Runs or parses every example, those of each help text in a directory of their own. What is wrong."""
    wrong = []
    first = new_session()
    helps = pages_of_help(first)
    first.close()
    for words, text in helps:
        found = examples(text)
        if not found:
            continue
        session = new_session()
        status, output = session.shell("set -e\n" + FILES)
        if status != 0:
            raise Mistake("the files for the examples cannot be made:\n" + "\n".join(output))
        for command in found:
            try:
                run_one(session, f"{words} --help", command)
            except Mistake as mistake:
                wrong.append(str(mistake))
        skipped += session.parsed
        session.close()
    return wrong


def run_one(session: Session, where: str, command: str) -> None:
    if not is_cheap(command):
        session.parse(where, command)
        session.parsed.append(f"{where}: {command}")
        return
    # What an example writes is not there before.
    for name in WRITTEN.findall(command):
        session.shell(f"rm -rf ./{name}")
    status, output = session.shell(command)
    # 1: not everything is proven.
    if status not in {0, 1}:
        end = "\n".join(output[-8:])
        raise Mistake(f"{where}: `{command}` ends with {status}:\n{end}")
