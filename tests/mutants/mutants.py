"""Puts each fault of table.toml before the tests, in a copy of the checkout. See `run`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# Seeds of the kernel's host beneath the model, by what its threads do.
SEEDS = ["calm 0..300", "hostile 0..600", "held 0..100", "overloaded 0..2", "crowded 0..2"]
# Seeds of the host in C.
OPERATIONS = 3000
MODES = {"ordered": "0", "delayed": "1", "interleaved": "2"}


def quiet(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def line_of(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0][:120] if lines else "it does not end"


def operations(copy, fault):
    """The host of crates/laxity-policy/tests/operations, with the policies' own checks."""
    program = copy / "operations"
    sources = sorted((copy / "crates/laxity-policy/tests/operations").glob("*.c")) + [copy / "policy/native.c"]
    built = quiet(["cc", "-std=gnu11", "-DLX_LISTS", "-DLX_CHECKED", "-O1", "-w", "-I", copy / "policy", *sources, "-o", program])
    if built.returncode:
        sys.exit(f"{fault['name']}: {built.stderr}")
    for policy in fault["policies"]:
        for mode, number in MODES.items():
            if mode == "interleaved" and policy not in ("push_pull", "g_edf_mp"):
                continue
            ran = quiet([program, policy, number, "1", str(OPERATIONS)])
            if ran.returncode:
                return f"operations, {policy}, {mode}: {line_of(ran.stdout + ran.stderr)}"
    return None


def host(copy, fault, target):
    """bpf/host with the policy beneath the model of the kernel."""
    cargo = ["cargo", "build", "--release", "--locked", "-q", "-p", "laxity-scx", "--example", "host"]
    built = quiet(cargo, cwd=copy, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
    if built.returncode:
        sys.exit(f"{fault['name']}: {built.stderr[-2000:]}")
    seeds_of = [tuple(words.split()) for words in fault.get("seeds", SEEDS)]
    for kind, seeds in seeds_of:
        for policy in fault["policies"]:
            try:
                ran = quiet([target / "release/examples/host", policy, kind, seeds], timeout=300)
            except subprocess.TimeoutExpired:
                return f"host, {policy}, {kind}: it does not end"
            if ran.returncode:
                return f"host, {policy}, {kind}: {line_of(ran.stdout + ran.stderr)}"
    return None


def named(copy, fault, target):
    """The tests that the table names, as arguments of `cargo test`."""
    for test in fault.get("tests", []):
        cargo = ["cargo", "test", "--release", "--locked", "-q", *test.split()]
        ran = quiet(cargo, cwd=copy, env={**os.environ, "CARGO_TARGET_DIR": str(target)})
        if ran.returncode:
            return f"cargo test {test}"
    return None


def guest(copy, fault, target):
    """A step of tests/vm/faults, which has to fail: `NAME=VALUE ... STEP (a text that it shows)`."""
    environment, step, text = re.fullmatch(r"((?:\w+=\S+ )*)(\S+)(?: \((.*)\))?", fault["guest"]).groups()
    settings = dict(word.split("=", 1) for word in environment.split())
    settings.update(CARGO_TARGET_DIR=str(target))
    built = quiet(["cargo", "build", "--release", "--locked", "-q", "-p", "laxity"], cwd=copy, env={**os.environ, **settings})
    if built.returncode:
        sys.exit(f"{fault['name']}: {built.stderr[-2000:]}")
    ran = quiet(["tests/vm/faults", step], cwd=copy, env={**os.environ, **settings})
    shown = [line for line in ran.stdout.splitlines() if line.startswith("NOT OK") or (text and text in line)]
    if ran.returncode == 77 or "did not get to the end" in ran.stdout:
        sys.exit(f"{fault['name']}: no machine got to the end: {ran.stdout[-500:]}")
    if ran.returncode and (not text or any(text in line for line in shown)):
        return f"guest, {step}: {line_of(chr(10).join(shown) or ran.stdout)}"
    return None


def put(copy, fault):
    """The fault into the copy; the text that it replaces."""
    file = copy / fault["file"]
    text = file.read_text()
    if text.count(fault["right"]) != 1:
        sys.exit(f"{fault['name']}: `{fault['right']}` is in {fault['file']} {text.count(fault['right'])} times, not once")
    file.write_text(text.replace(fault["right"], fault["wrong"]))
    return text


def noticed(copy, fault, target):
    if fault["file"].startswith("policy/"):
        how = operations(copy, fault)
        if how:
            return how
    return host(copy, fault, target) or named(copy, fault, target)


def main():
    faults = tomllib.loads((HERE / "table.toml").read_text())["fault"]
    wanted = sys.argv[1:]
    unknown = set(wanted) - {fault["name"] for fault in faults}
    if unknown:
        sys.exit(f"no fault is called {', '.join(sorted(unknown))}: {HERE / 'table.toml'} has the names")
    survived = 0
    guests = os.environ.get("MUTANTS_IN_GUESTS", "0") != "0"
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "checkout"
        # What git has: no build outputs, and no changes that are not committed.
        subprocess.run(["git", "clone", "-q", str(ROOT), str(copy)], check=True)
        target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "mutants"
        for fault in faults:
            if wanted and fault["name"] not in wanted:
                continue
            before = put(copy, fault)
            # What a guest has to notice, nothing before it does.
            if guests and "guest" in fault:
                how = guest(copy, fault, target)
            else:
                how = noticed(copy, fault, target)
            (copy / fault["file"]).write_text(before)
            if not how and not guests and "guest" in fault:
                how = f"(by the table) guest, {fault['guest']}"
            if not how and "harmless" in fault:
                how = f"survives: {fault['harmless']}"
            survived += not how
            print(f"{fault['name']}: {how or 'SURVIVED'}", flush=True)
        shutil.rmtree(copy)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
