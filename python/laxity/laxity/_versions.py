"""What tells one version of a user's function or class from another."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from types import CodeType
from typing import Any


def version_of(it: Any) -> str:
    """What tells one version of a function or class from another: its source, or its code where that is not known."""
    try:
        text = inspect.getsource(it).encode()
    except (OSError, TypeError):
        text = b"".join(code_of(it)) or type(it).__qualname__.encode()
    return hashlib.sha256(text).hexdigest()[:16]


def code_of(it: Any) -> Iterable[bytes]:
    """The code of a function, of all functions of a class, or of the class of an object."""
    code = it if isinstance(it, CodeType) else getattr(it, "__code__", None)
    if code is None:
        parts = [vars(it)[name] for name in sorted(vars(it))] if inspect.isclass(it) else [type(it)]
        for part in parts:
            if inspect.isfunction(part) or inspect.isclass(part) and part not in (type, object):
                yield from code_of(part)
        return
    yield code.co_code
    for constant in code.co_consts:
        yield from code_of(constant) if isinstance(constant, CodeType) else [repr(constant).encode()]
