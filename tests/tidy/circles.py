"""No circle of files in a crate: what a file needs does not need the file.

layers.py looks at the modules at the root of a crate; this looks at all files, also below a module. A path in code is followed, through
`use` and re-exports, to the file that defines what it names, and the files that need each other are reported together. So a name that is
taken from `lib.rs` or a `mod.rs` counts as a need of the file that defines it.

A module's file and the files below it may know each other, as is usual in Rust: a `mod.rs` calls its parts, and they use its types. Tests
are not looked at: neither modules nor items under `#[cfg(test)]`. Methods are not followed, only what is named by a path.
"""

import re
import sys

NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|b?r(#*)\".*?\"\1|b?\"(?:\\.|[^\"\\])*\"|b?'(?:\\.[^']*|[^'\\\n])'", re.DOTALL)
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod (\w+)\s*;")
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*")
DEFINED = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern)\s+)*(?:fn|struct|enum|union|trait|type|const|static(?: mut)?|macro_rules!)\s+(\w+)",
    re.MULTILINE,
)
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"(?<![\w:.$])(?:\$?crate|[A-Za-z_]\w*)(?:::[A-Za-z_]\w*)+")


def without_tests(code):
    """The code without its items under `#[cfg(test)]`."""
    while found := TEST.search(code):
        end, depth = found.end(), 0
        while end < len(code):
            letter = code[end]
            depth += (letter in "{([") - (letter in "})]")
            end += 1
            if depth == 0 and letter in ";}" or depth < 0:
                break
        code = code[: found.start()] + code[end:]
    return code


def leaves(tree):
    """(path, name here) of each name that a tree of `use` takes; `*` for all names of a module."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = re.sub(r"\s+", " ", tree).partition(" as ")
        parts = [part.strip() for part in path.split("::") if part.strip()]
        if len(parts) > 1 and parts[-1] == "self":
            parts.pop()
        return [(parts, alias.strip() or parts[-1])] if parts else []
    head = [part.strip() for part in tree[:brace].split("::") if part.strip()]
    found, depth, begin = [], 0, brace + 1
    for at in range(brace, len(tree)):
        depth += (tree[at] == "{") - (tree[at] == "}")
        if depth == 0 or (depth == 1 and tree[at] == ","):
            found += [(head + path, name) for path, name in leaves(tree[begin:at]) if path != ["self"]]
            found += [(head, head[-1])] if tree[begin:at].strip() == "self" else []
            begin = at + 1
        if depth == 0:
            break
    return found


class File:
    """A module's file: what it defines, what it takes from elsewhere, and the paths in its code."""

    def __init__(self, text):
        code = NOISE.sub(" ", text)
        self.tests = set(TEST_MODULE.findall(code))
        code = without_tests(code)
        self.defined = set(DEFINED.findall(code))
        uses = [leaf for tree in USE.findall(code) for leaf in leaves(tree)]
        self.taken = {name: path for path, name in uses if name != "*"}
        globs = [path[:-1] for path, name in uses if name == "*" and len(path) > 1]
        self.globs = [path for path in globs if not path[-1][0].isupper()]
        variants = [path for path in globs if path[-1][0].isupper()]
        named = {path.replace("$", "") for path in PATH.findall(USE.sub(" ", code))}
        self.paths = variants + [path.split("::") for path in sorted(named)]


class Crate:
    """The files of a crate by their modules: `()` is `lib.rs` or `main.rs`, `("proofs", "curve")` is `proofs/curve.rs`."""

    def __init__(self, texts):
        self.files = {module: File(text) for module, text in texts.items()}
        for module in list(self.files):
            if any(module[:at] in self.files and module[at] in self.files[module[:at]].tests for at in range(len(module))):
                del self.files[module]

    def defines(self, module, path, seen=frozenset(), by_glob=True):
        """The module whose file defines what a path names where `module`'s code says it; none if that is outside, or a module."""
        if not path or (module, tuple(path)) in seen:
            return None
        seen = seen | {(module, tuple(path))}
        if path[0] == "crate":
            return self.inside((), path[1:], seen)
        if path[0] == "self":
            return self.inside(module, path[1:], seen)
        return self.inside(module, path, seen, by_glob)

    def inside(self, module, path, seen, by_glob=True):
        """The module whose file defines what a path that begins in `module` names; `by_glob`: also by its `use ...::*`."""
        if not path or module not in self.files:
            return None
        file, first = self.files[module], path[0]
        if first == "super":
            return self.inside(module[:-1], path[1:], seen)
        if (*module, first) in self.files:
            return self.inside((*module, first), path[1:], seen)
        if first in file.defined:
            return module
        if first in file.taken:
            return self.defines(module, file.taken[first] + path[1:], seen, by_glob=False)
        globs = file.globs if by_glob else []
        return next(filter(None, (self.defines(module, glob + path, seen, by_glob=False) for glob in globs)), None)

    def needs(self):
        """Each module with those whose files its own file needs, and by which names, but for the ones above and below it."""
        graph = {}
        for module, file in self.files.items():
            needed = {}
            for path in [*file.taken.values(), *file.paths]:
                other = self.defines(module, path)
                if other is not None and not above(other, module) and not above(module, other):
                    needed.setdefault(other, set()).add("::".join(path))
            graph[module] = needed
        return graph


def above(module, other):
    """Whether `other` is `module`, or below it."""
    return other[: len(module)] == module


def connected(graph):
    """The sets of modules in which each needs each, over others or by itself (Tarjan)."""
    numbers, lowest, stack, found = {}, {}, [], []

    def visit(module):
        numbers[module] = lowest[module] = len(numbers)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in numbers:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == numbers[module]:
            at = stack.index(module)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(graph):
        if module not in numbers:
            visit(module)
    return [circle for circle in found if len(circle) > 1]


def module_of(parts):
    """The module of a file, by the parts of its path below `src`."""
    *directories, file = parts
    stem = file.removesuffix(".rs")
    return tuple(directories) if stem in ("mod", "lib", "main") else (*directories, stem)


def seen():
    """A circle is found through re-exports and below a module, and none where a module and its parts, or tests, need each other."""
    tree = {
        (): "mod shapes;\nmod draw;\npub use shapes::{Circle, Square as Quad};\n",
        ("shapes",): "mod circle;\nmod square;\npub use circle::*;\npub use square::Square;\npub struct Size;\n",
        ("shapes", "circle"): "use super::Size;\nuse crate::Quad;\npub struct Circle(Quad);\n",
        ("shapes", "square"): "pub struct Square;\nfn of() { super::Circle::new(\"crate::draw::Pen\") }\n",
        ("draw",): "use crate::{shapes::{self, Size}, Circle};\npub struct Pen;\nfn a() -> shapes::Size {}\n",
    }
    assert connected(Crate(tree).needs()) == [[("shapes", "circle"), ("shapes", "square")]], connected(Crate(tree).needs())
    assert set(Crate(tree).needs()[("draw",)]) == {("shapes",), ("shapes", "circle")}, Crate(tree).needs()
    tested = tree | {("shapes", "square"): "pub struct Square;\n#[cfg(test)]\nmod tests {\n    use crate::Circle;\n    fn f() { super::Circle::new() }\n}\n"}
    assert not connected(Crate(tested).needs())


def faults(files):
    """A fault per circle of files."""
    seen()
    crates = {}
    for file in files:
        parts = file.parts
        at = max((at for at, part in enumerate(parts) if part == "src"), default=0)
        if file.suffix == ".rs" and at > 1 and parts[at - 2] == "crates" and file.stem != "tests" and "tests" not in parts[at:]:
            crates.setdefault(parts[at - 1], {})[module_of(parts[at + 1 :])] = file.read_text(encoding="utf-8")
    for name, texts in sorted(crates.items()):
        needs = Crate(texts).needs()
        for circle in connected(needs):
            arrows = [f"{'/'.join(a)} -> {'/'.join(b)} ({', '.join(sorted(needs[a][b]))})" for a in circle for b in sorted(needs[a]) if b in circle]
            yield f"{name}: files that need each other in a circle: {'; '.join(arrows)}"


if __name__ == "__main__":
    import pathlib

    for fault in faults(pathlib.Path(sys.argv[1]).resolve().rglob("*.rs")):
        print(fault)
