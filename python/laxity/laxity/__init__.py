"""laxity: the real-time scheduling laboratory for Linux, from Python.

A task set is placed, proven, simulated, verified and studied within the process; `run` and `compare`, which run tasks for
real, call the program (`pip install laxity-cli`). What functions answer is what the program's `--json` answers.

    >>> import laxity
    >>> tasks = laxity.TaskSet([laxity.Task("camera", "6ms", "10ms"), laxity.Task("lidar", "11ms", "20ms")])
    >>> laxity.analyze(tasks, scheduler="p-edf", cpus=2).proven
    True
"""

from ._answers import (
    Analysis,
    Answer,
    Check,
    Directory,
    Placement,
    Results,
    Settings,
    Simulation,
    StudyResult,
    Timeline,
    Verification,
)
from ._call import program, read, set_progress
from ._commands import (
    analyze,
    catalogue,
    check,
    compare,
    diff,
    generate,
    place,
    report,
    run,
    settings,
    simulate,
    study,
    verdicts,
    verify,
)
from ._errors import Error, InputError, LaxityWarning, MachineError
from ._laxity import VERSION as __version__
from ._laxity import OwnTest, Prototype, Table, TaskSet, read_parquet
from ._prototypes import Choice, Job, prototype
from ._tasks import SporadicTask, Task, own_test

__all__ = [
    "Analysis",
    "Answer",
    "Check",
    "Choice",
    "Directory",
    "Error",
    "InputError",
    "Job",
    "LaxityWarning",
    "MachineError",
    "OwnTest",
    "Placement",
    "Prototype",
    "Results",
    "Settings",
    "Simulation",
    "SporadicTask",
    "StudyResult",
    "Table",
    "Task",
    "TaskSet",
    "Timeline",
    "Verification",
    "__version__",
    "analyze",
    "catalogue",
    "check",
    "compare",
    "diff",
    "generate",
    "own_test",
    "place",
    "program",
    "prototype",
    "read",
    "read_parquet",
    "report",
    "run",
    "set_progress",
    "settings",
    "simulate",
    "study",
    "verdicts",
    "verify",
]
