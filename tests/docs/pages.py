"""Pages and their fenced blocks, with what a comment before a block says about its test.

A block is run unless the comment on the line before its fence says otherwise. Parts are separated by `;`:

    <!-- test: file robot.toml -->            write the block to this file
    <!-- test: parse: REASON -->              only parse the commands with the program
    <!-- test: root: REASON -->               run where real-time tasks can run, otherwise parse
    <!-- test: any: REASON -->                run; the output differs from machine to machine
    <!-- test: exit 1 -->                     the commands end with this exit code
    <!-- test: show /FROM/../TO/ -->          the sample shows the output from a line to before another (or `..$`)
    <!-- test: shape -->                      numbers differ from run to run: compare the words
    <!-- test: output -->                     before a block of text: what the Python block before it prints
    <!-- test: before COMMAND -->             run this first; may stand anywhere, and shows nothing

Blocks of Python have the names of those before them on the page, as in a notebook.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(```+)\s*([a-z]*)\s*$")
COMMENT = re.compile(r"^<!--\s*test:\s*(.*?)\s*-->$")
RANGE = re.compile(r"^/(.+?)/\.\.(?:/(.+)/|\$)$")
TESTED = {"sh", "console", "python", "toml", "json"}
REASONED = {"parse", "root", "any"}


class Mistake(Exception):
    """A page or a sample is wrong; the text says where and how."""


@dataclass
class Block:
    """One fenced block, or a command that only a comment has (`language` is then `before`)."""

    page: Path
    line: int  # of the fence, from 1
    language: str
    text: list[str]
    options: dict[str, str] = field(default_factory=dict)
    ranges: list[tuple[str, str | None]] = field(default_factory=list)

    def where(self) -> str:
        return f"{self.page}:{self.line}"


def read_comment(block: Block, text: str) -> None:
    """Puts what a comment says into `block`."""
    for part in (part.strip() for part in text.split(";")):
        word, _, rest = part.partition(" ")
        word, rest = word.rstrip(":"), rest.strip()
        if word in REASONED and (not rest or not part.startswith(f"{word}:")):
            raise Mistake(f"{block.where()}: `{word}` needs a reason: `{word}: REASON`")
        if word == "show":
            found = RANGE.match(rest)
            if not found:
                raise Mistake(f"{block.where()}: `{rest}` is no range; write /FROM/../TO/ or /FROM/..$")
            block.ranges.append((found[1], found[2]))
        elif word in REASONED | {"file", "exit", "shape", "output"}:
            block.options[word] = rest
        else:
            raise Mistake(f"{block.where()}: unknown test option `{word}`")


def blocks(path: Path, shown: Path) -> list[Block]:
    """The blocks of a page in order. Messages name it as `shown`."""
    found, lines, i = [], path.read_text().splitlines(), 0
    comment = None
    while i < len(lines):
        said, fence = COMMENT.match(lines[i].strip()), FENCE.match(lines[i])
        if said and said[1].startswith("before "):
            found.append(Block(shown, i + 1, "before", [said[1].removeprefix("before ")]))
        elif said:
            comment = said[1]
        elif fence:
            end = next((k for k in range(i + 1, len(lines)) if lines[k] == fence[1]), None)
            if end is None:
                raise Mistake(f"{shown}:{i + 1}: the block does not end")
            block = Block(shown, i + 1, fence[2], lines[i + 1 : end])
            if comment:
                read_comment(block, comment)
            found.append(block)
            comment, i = None, end
        elif lines[i].strip():
            if comment:
                raise Mistake(f"{shown}:{i + 1}: a test comment belongs on the line before a block")
        i += 1
    return found


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the output that a `console` block shows."""
    found: list[tuple[str, list[str]]] = []
    continued = False
    for line in block.text:
        if continued:
            command, output = found[-1]
            found[-1] = (f"{command}\n{line}", output)
        elif block.language != "console":
            if line.strip() and not line.lstrip().startswith("#"):
                found.append((line, []))
        elif line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            raise Mistake(f"{block.where()}: a console block begins with `$ COMMAND`")
        is_command = block.language != "console" or line.startswith("$ ") or continued
        continued = is_command and line.endswith("\\")
    return found


def with_output(block: Block, outputs: list[list[str]]) -> list[str]:
    """The lines of a console block with these outputs instead of its own."""
    lines = []
    for (command, _), output in zip(commands(block), outputs, strict=True):
        lines += ["$ " + command.split("\n")[0], *command.split("\n")[1:], *output]
    return lines


def replace(path: Path, changes: list[tuple[Block, list[str]]]) -> None:
    """Writes the page with these blocks' lines replaced."""
    lines = path.read_text().splitlines()
    for block, text in sorted(changes, key=lambda change: -change[0].line):
        lines[block.line : block.line + len(block.text)] = text
    path.write_text("\n".join(lines) + "\n")
