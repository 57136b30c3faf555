"""What laxity refuses, as exceptions. Each says the value, the rule it breaks, and the way out (`hint`)."""

from __future__ import annotations

import re


class Error(Exception):
    """Something that laxity cannot do. `message` names the value and the rule, `hint` the way out (or is None)."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class InputError(Error, ValueError):
    """The input is wrong: the exit code of the program would be 2."""


class MachineError(Error, RuntimeError):
    """This machine, kernel or user cannot do it: the exit code of the program would be 3."""


class LaxityWarning(UserWarning):
    """What a user has to know in any case, such as what a file says and a task set cannot."""


def first_line(error: object) -> str:
    """What other libraries say first: behind it there may be pages of where they were."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


def in_python(words: str) -> str:
    """Words of the command line in those of Python: `--reserve-period TIME` is `reserve_period=TIME`."""

    # Commands for a shell stay as they are.
    parts = re.split(r"(`laxity [^`]*`)", words)
    return "".join(part if part.startswith("`laxity ") else _options_in_python(part) for part in parts)


def _options_in_python(words: str) -> str:
    def option(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        # Lists and names alike: in Python both are `scheduler`.
        name = "scheduler" if name == "schedulers" else name
        return f"{name}={match[2].strip('<>')}" if match[2] else name

    return re.sub(r"(?<![\w-])--([a-z][a-z-]*[a-z])(?:[ =](<[^>]*>|[A-Z][A-Z|]+\b))?", option, words)


def of_code(code: int, message: str, hint: str | None) -> BaseException:
    """The exception for an exit code of the program."""
    message, hint = in_python(message), None if hint is None else in_python(hint)
    if code == 130:
        return KeyboardInterrupt(message)
    return {2: InputError, 3: MachineError}.get(code, Error)(message, hint)
