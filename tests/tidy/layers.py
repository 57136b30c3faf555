"""The layers of ARCHITECTURE.md's code map, held against the manifests of the crates."""

import re
import tomllib

# What draws terminals and reads command lines: of the program alone.
TERMINAL = {"clap", "clap_complete", "clap_mangen", "indicatif", "comfy-table", "signal-hook"}
WITHOUT_TERMINAL = ("laxity-lab",)
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
                yield f"{name} depends on {other}: notes and progress go to its Observer"
