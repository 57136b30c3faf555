"""Runs a command in valgrind's callgrind."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# One libc on processors of every kind: valgrind has no AVX-512, and some hosts have no AVX2.
ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM"}


def callgrind(words):
    """Standard output, and the instructions of each function, of a command in which {out} is a place for what it writes."""
    with tempfile.TemporaryDirectory() as folder:
        profile = f"{folder}/profile"
        words = [word.replace("{out}", f"{folder}/out") for word in words]
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *words]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ENVIRONMENT})
        # 1: something is not schedulable, or was missed.
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout, functions(Path(profile).read_text())


def functions(profile):
    """The instructions of each function itself, from a file of callgrind; names are given once, with a number."""
    names, costs, current, is_call = {}, {}, None, False
    for line in profile.splitlines():
        if line.startswith("fn="):
            number, _, name = line[3:].partition(" ")
            names.setdefault(number, name)
            current = names[number]
        elif line.startswith(("cfn=", "calls=")):
            if line.startswith("cfn="):
                number, _, name = line[4:].partition(" ")
                names.setdefault(number, name)
            is_call = line.startswith("calls=")
        elif current and re.match(r"[0-9+*-]", line):
            # The line after a call has what the function that was called cost.
            if not is_call:
                costs[current] = costs.get(current, 0) + int(line.split()[1])
            is_call = False
    return costs
