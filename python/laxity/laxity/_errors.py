"""What laxity refuses, as exceptions. Each says the value, the rule it breaks, and the way out (`hint`)."""

from __future__ import annotations


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


def of_code(code: int, message: str, hint: str | None) -> BaseException:
    """The exception for an exit code of the program."""
    if code == 130:
        return KeyboardInterrupt(message)
    return {2: InputError, 3: MachineError}.get(code, Error)(message, hint)
