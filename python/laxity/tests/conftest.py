"""What the tests share: the program beside the module, the shipped examples, random sets."""

import os
import signal
import subprocess
from pathlib import Path

import laxity
import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
# A shell that starts the tests in the background lets them ignore it, and what they start, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
EXAMPLES = sorted(path for path in (REPOSITORY / "examples").glob("*.*") if path.is_file())


def program(*words: str, code: tuple[int, ...] = (0, 1, 4)) -> str:
    """What the program prints."""
    # As wide as the answer is.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run([laxity.program(), *words], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode in code, f"laxity {' '.join(words)}: {done.returncode}\n{done.stderr}"
    return done.stdout


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def seeds(count: int) -> range:
    """The seeds of a random test: those of LAXITY_SEEDS (a..b), or the first ones."""
    first, _, end = os.environ.get("LAXITY_SEEDS", f"0..{count}").partition("..")
    return range(int(first), int(end))


def random_set(seed: int) -> laxity.TaskSet:
    """A task set that a generator makes of a seed."""
    n = 2 + seed % 7
    u = round(0.3 + (seed * 37 % 100) / 60, 3)
    return laxity.generate("emberson", n=n, utilization=min(u, n * 0.9), seed=seed, wss="16KiB")[0]
