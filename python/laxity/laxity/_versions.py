"""What tells one version of a user's function or class from another: points of another version do not count.

It is the code as it runs, and the values that it uses beside its arguments: closures, defaults, globals, arguments of partials,
attributes, and the user's own modules and classes. Packages that are installed count by their version. What a function reads from files,
finds by a name in a text (`eval`), or takes from a generator that is under way is not seen.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import pickle
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ._errors import InputError

_KNOWN: dict[str, str] = {}
"""The version of every state in which calls have left something: a cache that has filled makes no other version."""


class Version:
    """The version of a function or class, from call to call.

    What a call itself leaves in it makes no other version; what changes between two calls does.
    """

    def __init__(self, it: Any) -> None:
        self.it = it
        self.text = ""
        self.of_call()

    def of_call(self) -> str:
        """The version that a call now has."""
        now = version_of(self.it)
        self.text = _KNOWN.get(now, now)
        return self.text

    def call_ended(self) -> None:
        """Notes what the call has left."""
        _KNOWN.setdefault(version_of(self.it), self.text)


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
        if it is None or type(it) in (bool, int, float, complex, str, bytes):
            self.put(type(it).__name__, repr(it))
            return
        if id(it) in self.seen:
            self.put("seen", self.seen[id(it)])
            return
        self.seen[id(it)] = len(self.seen)
        self.kept.append(it)
        self.put(type(it).__qualname__)
        if isinstance(it, (set, frozenset, list, tuple, Mapping)):
            self.container(it)
        elif isinstance(it, functools.partial):
            self.all((it.func, it.args, it.keywords))
        elif isinstance(it, MethodType):
            self.all((it.__func__, it.__self__))
        elif isinstance(it, (staticmethod, classmethod)):
            self.add(it.__func__)
        elif isinstance(it, property):
            self.all((it.fget, it.fset, it.fdel))
        elif isinstance(it, memoryview):
            self.put(bytes(it))
        elif isinstance(it, (ModuleType, type, FunctionType, BuiltinFunctionType)):
            self.named(it)
        elif hasattr(it, "__wrapped__"):
            self.add(it.__wrapped__)
        else:
            self.object(it)

    def container(self, it: Any) -> None:
        """What is in it; where its class is not Python's own, that and its attributes, too."""
        if isinstance(it, (set, frozenset)):
            self.put(*sorted(map(version_of, it)))
        elif isinstance(it, Mapping):
            self.all(part for pair in it.items() for part in pair)
            self.add(getattr(it, "default_factory", None))
        else:
            self.all(it)
        if type(it) not in (set, frozenset, list, tuple, dict):
            self.add(type(it))
            self.attributes(it)

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
        elif isinstance(it, ModuleType):
            # By a name it would be known what of it is used.
            self.all(pair for pair in sorted(vars(it).items()) if not pair[0].startswith("__"))
        elif isinstance(it, type):
            self.all(base for base in (type(it), *it.__mro__[1:]) if base not in (object, type))
            for name, value in sorted(vars(it).items()):
                if inspect.isroutine(value) or not (name.startswith("__") or name.startswith("_abc_")):
                    self.put(name)
                    self.add(value)

    def function(self, it: FunctionType) -> None:
        """Its code, and all that it uses beside its arguments."""
        self.code(it.__code__)
        self.all((it.__defaults__, it.__kwdefaults__, vars(it)))
        codes = list(_codes(it.__code__))
        names = {name for code in codes for name in code.co_names}
        found = {name for code in codes for name in _globals(code)}
        used = {name: it.__globals__[name] for name in sorted(found) if name in it.__globals__}
        for name, cell in zip(it.__code__.co_freevars, it.__closure__ or ()):
            try:
                used[name] = cell.cell_contents
            except ValueError:  # Nothing is in it yet.
                self.put(name)
        for imported in sorted({name for code in codes for name in _imports(code, it.__globals__)}):
            self.put(imported)
            module = _module(imported)
            if module is not None:
                used[f"import {imported}"] = module
        for name, value in used.items():
            self.put(name)
            # Of a module of the user's what is named counts, of all that the code names anywhere; all of it, where names are computed.
            if isinstance(value, ModuleType) and _package_of(value) is None and not {"getattr", "vars"} & found:
                for named in sorted(names & vars(value).keys()):
                    self.put(named)
                    self.add(vars(value)[named])
            else:
                self.add(value)

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
        self.put(*(base.__repr__(it) for base in (int, float, complex, str, bytes) if isinstance(it, base)))
        if _package_of(kind) is not None:
            try:
                self.put(pickle.dumps(it, protocol=4))
                return
            except Exception:  # Its values may be known, such as those of an array, and its attributes.
                if hasattr(it, "tolist"):
                    self.add(it.tolist())
        self.attributes(it)

    def attributes(self, it: Any) -> None:
        self.all(sorted(getattr(it, "__dict__", {}).items()))
        slots = [name for base in type(it).__mro__ for name in _names(vars(base).get("__slots__", ()))]
        self.all((name, getattr(it, name)) for name in slots if hasattr(it, name))


def _names(slots: Any) -> Iterable[str]:
    return [slots] if isinstance(slots, str) else [name for name in slots if name not in ("__dict__", "__weakref__")]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code, and those of functions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals(code: CodeType) -> Iterator[str]:
    """Names that a code takes from its module."""
    for one in dis.get_instructions(code):
        if one.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
            yield one.argval


def _imports(code: CodeType, module: Mapping[str, Any]) -> Iterator[str]:
    """Modules that a code imports while it runs, by their whole names."""
    level = 0
    for one in dis.get_instructions(code):
        if one.opname.startswith("LOAD_") and isinstance(one.argval, int):
            level = one.argval
        if one.opname == "IMPORT_NAME":
            package = module.get("__package__") or ""
            yield importlib.util.resolve_name("." * level + one.argval, package) if level and package else one.argval


def _module(name: str) -> ModuleType | None:
    """A module of the user's by its name. One that is installed counts by its name alone: it may not be imported yet."""
    package = name.partition(".")[0]
    if package in sys.builtin_module_names or package == "laxity":
        return None
    try:
        spec = importlib.util.find_spec(package)
        return None if spec is None or _is_installed(spec.origin or "") else importlib.import_module(name)
    except Exception:  # The function will say so, if it comes to it.
        return None


_MADE_LATER = 1 << 9
"""The flag of classes that are not compiled into Python (Py_TPFLAGS_HEAPTYPE)."""


@functools.lru_cache(maxsize=None)
def _installed_in() -> tuple[str, ...]:
    return tuple({os.path.realpath(path) + os.sep for name, path in sysconfig.get_paths().items() if "lib" in name})


def _is_installed(file: str) -> bool:
    """Whether a file is of Python itself or of a package that is installed."""
    if file.startswith("<frozen ") or file == "frozen":
        return True
    return os.path.realpath(file).startswith(_installed_in()) or bool({"site-packages", "dist-packages"} & set(file.split(os.sep)))


def _package_of(it: Any) -> str | None:
    """The package of a module, class or function, if it is installed; None for what is the user's own."""
    name = it.__name__ if isinstance(it, ModuleType) else getattr(it, "__module__", None)
    package = name.partition(".")[0] if isinstance(name, str) else "builtins"
    if package == "laxity":
        return package
    if isinstance(it, FunctionType):
        # Whatever the module is called, its code is the user's.
        return package if _is_installed(it.__code__.co_filename) else None
    if isinstance(it, type) and package == "builtins":
        return None if it.__flags__ & _MADE_LATER else package
    if package != "__main__" and name in sys.builtin_module_names or name is None:
        return package
    file = getattr(sys.modules.get(name or ""), "__file__", None)
    return package if file is not None and _is_installed(file) else None
