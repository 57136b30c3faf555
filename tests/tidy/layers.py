"""The layers of ARCHITECTURE.md's code map, held against the manifests of the crates; and no circle of modules in a crate."""

import re
import tomllib

# What draws terminals and reads command lines: of the program alone.
TERMINAL = {"clap", "clap_complete", "clap_mangen", "indicatif", "comfy-table", "signal-hook"}
WITHOUT_TERMINAL = ("laxity-lab", "laxity-overheads")
ROW = re.compile(r"^\| `(laxity[a-z-]*)`", re.MULTILINE)


def rows(architecture):
    """The crates of the code map, from the lowest row to the highest."""
    return ROW.findall(architecture)


def manifests(files):
    """Each crate's manifest by the crate's name."""
    read = {}
    for file in files:
        if file.name == "Cargo.toml" and file.parent.parent.name == "crates":
            manifest = tomllib.loads(file.read_text(encoding="utf-8"))
            read[manifest["package"]["name"]] = manifest
    return read


def dependencies(manifest):
    """What a crate's code and build script need; tests may need anything."""
    return set(manifest.get("dependencies", {})) | set(manifest.get("build-dependencies", {}))


def faults(architecture, files):
    """A fault per crate that the map lacks or has too much, and per arrow that goes up."""
    order, read = rows(architecture), manifests(files)
    for name in sorted(set(read) ^ set(order)):
        where = "is not in ARCHITECTURE.md's code map" if name in read else "is in the code map, and no crate"
        yield f"{name} {where}"
    for name, manifest in sorted(read.items()):
        needed = dependencies(manifest)
        if name not in order:
            continue
        for other in sorted(needed & set(order)):
            if order.index(other) >= order.index(name):
                yield f"{name} depends on {other}, which is not in a row above its own (ARCHITECTURE.md)"
        if name in WITHOUT_TERMINAL:
            for other in sorted(needed & TERMINAL):
                yield f"{name} depends on {other}: the program alone draws, and reads command lines"


def circles(files):
    """A fault per crate with a circle of modules."""
    for file in files:
        if file.name != "Cargo.toml" or file.parent.parent.name != "crates":
            continue
        name = tomllib.loads(file.read_text(encoding="utf-8"))["package"]["name"]
        found = circle(modules(file.parent / "src"))
        if found:
            yield f"{name}: modules that need each other in a circle are among {', '.join(found)}"


TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*mod \w+ \{.*", re.MULTILINE | re.DOTALL)
USES = re.compile(r"\bcrate::(\{[^;]*?\}|\w+)", re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")


def modules(source):
    """The modules at the root of a crate, each with those that its code names; tests aside."""
    files = {}
    for path in sorted(source.rglob("*.rs")):
        top = path.relative_to(source).parts[0].removesuffix(".rs")
        if top not in ("lib", "main") and path.stem != "tests" and "tests" not in path.parent.parts[len(source.parts):]:
            files.setdefault(top, []).append(path)
    graph = {}
    for name, paths in files.items():
        text = "\n".join(COMMENT.sub("", TESTS.sub("", path.read_text(encoding="utf-8"))) for path in paths)
        named = {word for match in USES.finditer(text) for word in re.findall(r"(?:^|[{,\s])(\w+)", match.group(1))}
        graph[name] = (named & set(files)) - {name}
    return graph


def circle(graph):
    """The modules of a circle, if there is one."""
    below = {name: set(needed) for name, needed in graph.items()}
    while free := [name for name, needed in below.items() if not needed]:
        for name in free:
            del below[name]
        for needed in below.values():
            needed.difference_update(free)
    # What is left is in a circle or above one.
    while above := [name for name in below if not any(name in needed for needed in below.values())]:
        for name in above:
            del below[name]
    return sorted(below)
