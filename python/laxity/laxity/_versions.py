"""What tells one version of a user's function or class from another: points of another version do not count.

It is the code as it runs, and the values that it uses beside its arguments: closures, defaults, globals, arguments of partials,
attributes. Packages that are installed count by their version. What a function reads from files is not seen.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import os
import pickle
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ._errors import InputError

class Version:
    """The version of a function or class, from call to call.

    What a call itself leaves in it, such as a cache that fills, makes no other version; what changes between two calls does.
    """

    def __init__(self, it: Any) -> None:
        self.it = it
        self.text = self.left = version_of(it)

    def of_call(self) -> str:
        """The version that a call now has."""
        now = version_of(self.it)
        if now != self.left:
            self.text = self.left = now
        return self.text

    def call_ended(self) -> None:
        """Notes what the call has left."""
        self.left = version_of(self.it)


def version_of(it: Any) -> str:
    """What tells one version from another, as text."""
    hashed = _Hash()
    try:
        hashed.add(it)
    except Exception as error:
        raise InputError(
            f"{it!r}: what it uses cannot be told from other values: {error}", "let it use numbers, texts and plain objects"
        ) from error
    return hashed.text()


class _Hash:
    """Adds up what makes a version."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, int] = {}
        # What has been seen is kept, so that nothing else has its id.
        self.kept: list[Any] = []

    def text(self) -> str:
        return self.hash.hexdigest()[:16]

    def put(self, *words: object) -> None:
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogatepass")
            self.hash.update(len(data).to_bytes(8, "little") + data)

    def add(self, it: Any) -> None:
        """A value, and what it is made of."""
        if it is None or isinstance(it, (bool, int, float, complex, str, bytes)) and type(it).__module__ == "builtins":
            self.put(type(it).__name__, repr(it))
            return
        if id(it) in self.seen:
            self.put("seen", self.seen[id(it)])
            return
        self.seen[id(it)] = len(self.seen)
        self.kept.append(it)
        self.put(type(it).__qualname__)
        if isinstance(it, (set, frozenset)):
            self.put(*sorted(map(version_of, it)))
        elif isinstance(it, (list, tuple)):
            self.all(it)
        elif isinstance(it, Mapping):
            self.all(part for pair in it.items() for part in pair)
        elif isinstance(it, functools.partial):
            self.all((it.func, it.args, it.keywords))
        elif isinstance(it, MethodType):
            self.all((it.__func__, it.__self__))
        elif isinstance(it, (staticmethod, classmethod)):
            self.add(it.__func__)
        elif isinstance(it, property):
            self.all((it.fget, it.fset, it.fdel))
        elif isinstance(it, (ModuleType, type, FunctionType, BuiltinFunctionType)):
            self.named(it)
        elif hasattr(it, "__wrapped__"):
            self.add(it.__wrapped__)
        else:
            self.object(it)

    def all(self, parts: Iterable[Any]) -> None:
        for part in parts:
            self.add(part)
        self.put("end")

    def named(self, it: Any) -> None:
        """A module, class or function: by its version where it is of a package that is installed."""
        self.put(it.__name__ if isinstance(it, ModuleType) else getattr(it, "__qualname__", ""))
        package = _package_of(it)
        if package is not None:
            self.put(package, getattr(sys.modules.get(package), "__version__", ""))
        elif isinstance(it, FunctionType):
            self.function(it)
        elif isinstance(it, type):
            self.all(base for base in it.__mro__[1:] if base is not object)
            for name, value in sorted(vars(it).items()):
                if inspect.isroutine(value) or not (name.startswith("__") or name.startswith("_abc_")):
                    self.put(name)
                    self.add(value)

    def function(self, it: FunctionType) -> None:
        """Its code, and all that it uses beside its arguments."""
        self.code(it.__code__)
        self.all((it.__defaults__, it.__kwdefaults__, vars(it)))
        used = {name: it.__globals__[name] for name in sorted(_globals(it.__code__)) if name in it.__globals__}
        for name, cell in zip(it.__code__.co_freevars, it.__closure__ or ()):
            try:
                used[name] = cell.cell_contents
            except ValueError:  # Nothing is in it yet.
                self.put(name)
        attributes = {name for code in _codes(it.__code__) for name in code.co_names}
        for name, value in used.items():
            self.put(name)
            self.add(value)
            # Of the user's own modules what is named counts, of all that the code names anywhere.
            if isinstance(value, ModuleType) and _package_of(value) is None:
                for named in sorted(attributes & vars(value).keys()):
                    self.put(named)
                    self.add(vars(value)[named])

    def code(self, code: CodeType) -> None:
        documentation = code.co_consts[:1] if code.co_consts and isinstance(code.co_consts[0], str) else ()
        self.put(code.co_code, *code.co_names, getattr(code, "co_exceptiontable", b""))
        for constant in code.co_consts[len(documentation) :]:
            if isinstance(constant, CodeType):
                self.code(constant)
            else:
                self.add(constant)

    def object(self, it: Any) -> None:
        """Any other object: by its attributes where its class is the user's, and else as it is pickled."""
        kind = type(it)
        self.add(kind)
        if _package_of(kind) is not None:
            try:
                self.put(pickle.dumps(it, protocol=4))
                return
            except Exception:  # Nothing more is known of it than its attributes.
                pass
        self.all(sorted(getattr(it, "__dict__", {}).items()))
        slots = [name for base in kind.__mro__ for name in _names(vars(base).get("__slots__", ()))]
        self.all((name, getattr(it, name)) for name in slots if hasattr(it, name))


def _names(slots: Any) -> Iterable[str]:
    return [slots] if isinstance(slots, str) else [name for name in slots if name not in ("__dict__", "__weakref__")]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code, and those of functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals(code: CodeType) -> set[str]:
    """Names that a code, and those of functions within it, take from their module."""
    instructions = (instruction for one in _codes(code) for instruction in dis.get_instructions(one))
    return {one.argval for one in instructions if one.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME"))}


@functools.lru_cache(maxsize=None)
def _installed_in() -> tuple[str, ...]:
    return tuple({os.path.realpath(path) + os.sep for name, path in sysconfig.get_paths().items() if "lib" in name})


def _package_of(it: Any) -> str | None:
    """The package of a module, class or function, if it is installed; None for what is the user's own."""
    name = it.__name__ if isinstance(it, ModuleType) else getattr(it, "__module__", None)
    if not isinstance(name, str):
        return "builtins"
    package = name.partition(".")[0]
    if package == "laxity" or package != "__main__" and name in sys.builtin_module_names:
        return package
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return None
    installed = os.path.realpath(file).startswith(_installed_in()) or {"site-packages", "dist-packages"} & set(file.split(os.sep))
    return package if installed else None
