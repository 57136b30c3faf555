"""What `run` and `compare` do with the program that they start."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import laxity
import pytest

SCRIPT = """
import laxity
from pathlib import Path
one = laxity.TaskSet([laxity.Task("a", "1ms", "10ms")])
try:
    laxity.run(one, scheduler="p-rm", duration="60s", out="kept")
except KeyboardInterrupt:
    Path("interrupted").touch()
"""


@pytest.fixture
def running():
    """A process of Python in whose `laxity.run` the program runs tasks, and the program's number."""
    if os.geteuid() != 0:
        pytest.skip("real-time tasks need root")
    with subprocess.Popen([sys.executable, "-c", SCRIPT], start_new_session=True) as python:
        try:
            yield python, program_of(python.pid)
        finally:
            python.kill()


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def program_of(python):
    """The program that Python has started, once a process of it runs tasks."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        # One of them may end meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            for program in children(python):
                for guardian in children(program):
                    if any(b"__worker" in Path(f"/proc/{worker}/cmdline").read_bytes() for worker in children(guardian)):
                        return program
        time.sleep(0.05)
    raise AssertionError("the program does not run")


def gone(pid):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_an_interruption_of_python_alone_reaches_the_program(running):
    python, program = running
    python.send_signal(signal.SIGINT)
    assert python.wait(60) == 0 and gone(program)
    assert Path("interrupted").exists()
    # What was measured until then is kept.
    assert laxity.Directory("kept").manifest


def test_the_program_ends_with_python(running):
    python, program = running
    python.kill()
    python.wait(60)
    assert gone(program)
