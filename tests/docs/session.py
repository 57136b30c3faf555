"""Runs the commands of one page, in order, in a directory of their own."""

import json
import os
import re
import shlex
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from pages import Block, Mistake, commands

SHOWN_AS = "/home/you/robot"
LIMIT_S = 240
BUSY_S = 300
UNITS = {"ns", "us", "µs", "ms", "s", "%", "±", "–", "-", "x"}


@dataclass
class Python:
    """An interpreter with the libraries that pages use, and the folder with laxity's module."""

    executable: Path
    module: Path


class Session:
    """A directory, the program on its PATH, and what this user may do."""

    def __init__(self, repository: Path, program: Path, python: Python | None, realtime: bool):
        self.repository, self.python, self.realtime = repository, python, realtime
        self.parsed: list[str] = []
        self.interpreter: subprocess.Popen[str] | None = None
        self.printed: list[str] | None = None  # by the last block of Python; None where it was not run
        self.scratch = tempfile.TemporaryDirectory(prefix="laxity-docs-")
        base = Path(self.scratch.name)
        self.home, programs = base / "robot", base / "bin"
        self.home.mkdir()
        programs.mkdir()
        (programs / "laxity").symlink_to(program)
        for name in ("examples", "schemas", "studies"):
            (self.home / name).symlink_to(repository / name)
        sudo = programs / "sudo"  # only ever called as root
        sudo.write_text('#!/bin/sh\nexec "$@"\n')
        sudo.chmod(0o755)
        path = f"{programs}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "100"}
        self.environment.pop("LAXITY_FAULT", None)

    def close(self) -> None:
        if self.interpreter is not None:
            self.interpreter.communicate()
        self.scratch.cleanup()

    def shell(self, command: str) -> tuple[int, list[str]]:
        """Exit code and output lines, both streams as a terminal shows them. Waits for a machine in use."""
        begin = time.monotonic()
        while True:
            done = subprocess.run(
                ["bash", "-c", command], cwd=self.home, env=self.environment, timeout=LIMIT_S, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            busy = done.returncode == 3 and "holds this machine" in done.stdout
            if not busy or time.monotonic() - begin > BUSY_S:
                break
            time.sleep(5)
        return done.returncode, self.lines(done.stdout)

    def lines(self, text: str) -> list[str]:
        """The lines of an output as pages show them."""
        lines = [line.rstrip() for line in text.replace(str(self.home), SHOWN_AS).split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def parse(self, where: str, command: str) -> None:
        """Has the program (or make) read the command without doing it."""
        for words in simple_commands(command.replace("\\\n", " ")):
            while words and (words[0] == "sudo" or re.fullmatch(r"\w+=.*", words[0])):
                words.pop(0)
            if words[:1] == ["make"]:
                self.expect_success(where, command, ["make", "-C", str(self.repository), "-n", *words[1:]])
            elif words[:1] and Path(words[0]).name == "laxity":
                self.parse_laxity(where, command, words[1:])

    def parse_laxity(self, where: str, command: str, words: list[str]) -> None:
        words = words[: next((k for k, word in enumerate(words) if re.match(r"\d*[<>]", word)), len(words))]
        own, nested = words, []
        if "--" in words:
            own, nested = words[: words.index("--")], words[words.index("--") + 1 :]
        self.expect_success(where, command, ["laxity", *own, "--help"])
        if own[:1] == ["vm"] and nested and "--exec" not in own:
            self.expect_success(where, command, ["laxity", *nested, "--help"])
        if nested[:1] == ["laxity"]:
            self.parse_laxity(where, command, nested[1:])

    def expect_success(self, where: str, command: str, words: list[str]) -> None:
        status, output = self.shell(shlex.join(words))
        if status != 0:
            raise Mistake(f"{where}: the program does not accept `{command}`:\n" + "\n".join(output[:8]))

    def run(self, block: Block) -> list[list[str]]:
        """Runs the commands of a block; their outputs. Empty if they were only parsed."""
        only_parse = "parse" in block.options or ("root" in block.options and not self.realtime)
        outputs, expected = [], int(block.options.get("exit", 0))
        for command, _ in commands(block):
            if only_parse:
                self.parse(block.where(), command)
                self.parsed.append(f"{block.where()}: {command.splitlines()[0]}")
                continue
            status, output = self.shell(command)
            if status != expected:
                end = "\n".join(output[-25:])
                raise Mistake(f"{block.where()}: exit code {status}, not {expected}, of `{command}`:\n{end}")
            outputs.append(shown(block, output))
        return outputs

    def run_python(self, block: Block) -> bool:
        """Runs a block of Python; False where its libraries or the results are not there, or it is only parsed."""
        self.printed = None
        code = "\n".join(block.text)
        if self.python is None or "parse" in block.options or ("root" in block.options and not self.realtime):
            try:
                compile(code, block.where(), "exec")
            except SyntaxError as error:
                raise Mistake(f"{block.where()}: this is no Python: {error}") from None
            return False
        if self.interpreter is None:
            environment = {**self.environment, "PYTHONPATH": str(self.python.module), "PYTHONDONTWRITEBYTECODE": "1",
                           "LAXITY_DATA_DIR": str(self.repository)}  # fmt: skip
            command = [self.python.executable, Path(__file__).with_name("interpreter.py")]
            self.interpreter = subprocess.Popen(
                command, cwd=self.home, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        interpreter = self.interpreter
        assert interpreter.stdin and interpreter.stdout
        limit = threading.Timer(LIMIT_S, interpreter.kill)
        limit.start()
        try:
            print(json.dumps({"code": code, "where": block.where()}), file=interpreter.stdin, flush=True)
            answer = interpreter.stdout.readline()
        except BrokenPipeError:
            answer = ""
        limit.cancel()
        if not answer:
            raise Mistake(f"{block.where()}: Python has ended, or this takes longer than {LIMIT_S} s")
        done = json.loads(answer)
        if done["fault"]:
            raise Mistake(f"{block.where()}: Python fails:\n{done['fault']}")
        self.printed = self.lines(done["output"])
        return True


def simple_commands(line: str) -> list[list[str]]:
    """The commands of a line of shell, split at its operators."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
    lexer.whitespace_split, lexer.commenters = True, "#"
    found: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("|&;"):
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


def shown(block: Block, output: list[str]) -> list[str]:
    """What a sample shows of an output: the block's ranges, with `...` for what is left out."""
    if not block.ranges:
        return output
    lines, position = [], 0
    for begin, end in block.ranges:
        first = next((k for k in range(position, len(output)) if re.search(begin, output[k])), None)
        if first is None:
            raise Mistake(f"{block.where()}: no line of the output matches /{begin}/:\n" + "\n".join(output[:60]))
        stop = len(output)
        if end is not None:
            stop = next((k for k in range(first + 1, stop) if re.search(end, output[k])), stop)
        lines += ["..."] if first > position else []
        lines += output[first:stop]
        position = stop
    while lines and not lines[-1]:
        lines.pop()
    return lines + ["..."] if position < len(output) else lines


def same(block: Block, sample: list[str], output: list[str]) -> bool:
    """Whether a sample still shows this output."""
    if "any" in block.options:
        return True
    if "shape" in block.options:
        return words(sample) == words(output)
    return sample == output


def words(lines: list[str]) -> set[str]:
    """The words of a table whose numbers vary."""
    found = {word for line in lines for word in line.split()}
    return {word for word in found if not re.search(r"\d", word) and word not in UNITS and word not in {"of", "T"}}
