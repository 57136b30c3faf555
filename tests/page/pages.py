"""Makes a page of every kind with the built program, from small inputs."""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

OPTERON = "examples/platforms/opteron-6168.toml"
LOCK_WAITS = 40


class NotMade(Exception):
    """A page that this machine cannot make, and why."""


@dataclass
class Page:
    """A page, and what is to be found in it."""

    name: str
    file: Path
    # What has to be seen before anything is touched.
    first: list[str] = field(default_factory=list)
    # Words that have to be there, and words that must not.
    says: list[str] = field(default_factory=list)
    says_not: list[str] = field(default_factory=list)


class Maker:
    """Makes pages below a directory."""

    def __init__(self, laxity: Path, scratch: Path) -> None:
        self.scratch = scratch
        # Where another user may read and run it.
        self.laxity = scratch / "laxity"
        shutil.copy(laxity, self.laxity)
        scratch.chmod(0o755)

    def call(self, *arguments: object, ends: tuple[int, ...] = (0,), user: str | None = None) -> str:
        """Runs laxity; what it prints. Waits where another run holds the machine."""
        words = [str(self.laxity), *map(str, arguments)]
        if user:
            words = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *words]
        for _ in range(LOCK_WAITS):
            # Another user has another home.
            home = {"HOME": str(self.scratch / "unprivileged")} if user else {}
            done = subprocess.run(
                words, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, **home}
            )
            if done.returncode != 3 or "another laxity run" not in done.stderr:
                break
            time.sleep(3)
        if done.returncode not in ends:
            raise NotMade(f"`{' '.join(words[1:])}` ends with exit code {done.returncode}: {done.stderr.strip()[-600:]}")
        return done.stdout

    def compare(self) -> Page:
        """The main page. Without the right to run real-time threads it is the page of `nothing`."""
        out = self.scratch / "compare"
        if os.geteuid() != 0:
            raise NotMade("real-time threads need root")
        self.call(
            "compare", "examples/robot-controller.toml", "--duration", "300ms", "--alone", "0s", "--repeat", "1", "--quiet", "--json",
            "--out", out, ends=(0, 1),
        )
        return Page("compare", out / "report.html", first=["#answer", "#what-to-set table"], says=["What to set", "Recommendation"])

    def nothing(self) -> Page:
        """What a user sees who may not run real-time threads."""
        out = self.scratch / "unprivileged"
        out.mkdir()
        arguments = ["compare", "examples/three-tasks.csv", "--duration", "100ms", "--alone", "0s", "--out", out / "answer"]
        if os.geteuid() == 0:
            out.chmod(0o777)
            # Another user may not read where the sources are.
            shutil.copy("examples/three-tasks.csv", out)
            arguments[1] = out / "three-tasks.csv"
        text = self.call(*arguments, ends=(3,), user="65534" if os.geteuid() == 0 else None)
        if "No job missed" in text or "Nothing was run." not in text:
            raise AssertionError(f"the terminal says of a user who may not run anything:\n{text}")
        return Page("nothing", out / "answer/report.html", first=["#answer"], says=["Nothing was run"], says_not=["No job missed"])

    def simulate(self) -> Page:
        """One set under several schedulers, with misses and schedules."""
        out = self.scratch / "simulate"
        self.call(
            "simulate", "examples/robot-controller.toml", "--cpus", 2, "--schedulers", "p-rm,g-edf,g-rm", "--placement", "ff",
            "--overload", "least-loaded", "--demand", "bimodal:0.8,1.9,0.2", "--duration", "400ms", "--events", "--out", out, "--quiet", "--json",
        )
        return Page("simulate", out / "report.html", first=["#answer", "#misses table"], says=["Missed deadlines by task"])

    def sets(self) -> Page:
        """Several sets with notes of the reader's own, measured against each other by simulation."""
        out, sets = self.scratch / "sets", self.scratch / "generated"
        self.call("generate", "emberson", "-n", 5, "-u", 1.9, "--count", 4, "--seed", 3, "-o", sets, "--quiet")
        out.mkdir()
        self.call(
            "simulate", *sorted(sets.iterdir()), "--cpus", 2, "--schedulers", "p-edf,g-edf,g-rm", "--overload", "least-loaded", "--duration", "300ms",
            "--repeat", 2, "--out", out, "--quiet", "--json", "--force",
        )
        (out / "notes.md").write_text("# What shows\n\nTwo words.\n\n- one\n- two\n")
        self.call("report", out, "--quiet", "--json")
        return Page("sets", out / "report.html", first=["#answer", "#misses table"], says=["What shows", "by set and scheduler"])

    def schedule(self) -> Page:
        """A schedule by itself."""
        file = self.scratch / "schedule.html"
        self.call(
            "simulate", "examples/overloaded.json", "--scheduler", "p-fpp:rm", "--cpus", 2, "--platform", OPTERON, "--overload", "least-loaded",
            "--costs", "examples/costs/constant.toml", "--duration", "400ms", "--html", file, "--quiet", "--json",
        )
        return Page("schedule", file, first=["h1", ".schedule-bar"], says=["deadlines missed"])

    def schedulability(self) -> Page:
        out = self.scratch / "schedulability"
        self.call("study", "studies/calandrino2007-fig4.toml", "--sets", 1, "-o", out, "--quiet")
        return Page("schedulability", out / "report.html", first=["h1"])

    def simulated(self) -> Page:
        out = self.scratch / "simulated"
        self.call("study", "studies/lindsay2012-overload.toml", "--sets", 1, "-o", out, "--quiet")
        return Page("simulated", out / "report.html", first=["h1"])

    def kernel(self, what: str) -> Page:
        """The studies of the running kernel, one small cell."""
        if os.geteuid() != 0:
            raise NotMade("recording the kernel needs root")
        out = self.scratch / what
        self.call(
            "study", what, "--cpu-counts", 2, "--tasks", 2, "--schedulers", "g-edf", "--duration", "200ms", "-o", out, "--quiet", ends=(0, 1)
        )
        return Page(what, out / "report.html", first=["h1"])

    def kinds(self) -> dict:
        return {
            "compare": self.compare, "nothing": self.nothing, "simulate": self.simulate, "sets": self.sets, "schedule": self.schedule,
            "schedulability": self.schedulability, "simulated": self.simulated, "schedules": lambda: self.kernel("schedules"),
            "overheads": lambda: self.kernel("overheads"),
        }
