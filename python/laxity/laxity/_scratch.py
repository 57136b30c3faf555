"""Files that are gone with the process: also where it was killed, once another one begins."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "laxity-"
LOCK = ".in-use"

_home: tuple[int, Path] | None = None


def scratch() -> Path:
    """A new directory of this process."""
    global _home
    if _home is None or _home[0] != os.getpid():
        _home = os.getpid(), _begun()
    return Path(tempfile.mkdtemp(dir=_home[1]))


@contextmanager
def scratch_for_now() -> Iterator[Path]:
    """A new directory, for now."""
    folder = scratch()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _begun() -> Path:
    """The directory of this process, which is in use as long as its file is locked."""
    _sweep()
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    # Under its name only once it is locked: nothing else takes it away before.
    lock = os.open(home / "draft", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(home / "draft", home / LOCK)
    owner = os.getpid()

    def end() -> None:
        # A child of this process has it, too.
        if os.getpid() == owner:
            shutil.rmtree(home, ignore_errors=True)

    atexit.register(end)
    return home


def _sweep() -> None:
    """Removes what processes that were killed have left."""
    for home in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        try:
            lock = os.open(home / LOCK, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:  # It is another's, or none of ours.
            continue
        try:
            if os.fstat(lock).st_uid == os.getuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(home, ignore_errors=True)
        except OSError:  # It is in use.
            pass
        finally:
            os.close(lock)
