#!/usr/bin/env python3
"""One study, every way: tests/python/with_module tests/python/ways.py OUT.

Two studies, of proofs and of simulations, are judged by threads, by Dask with 1, 2 and 4 workers, by HyperQueue, and by three shards that
are merged in the order 3, 1, 2; each as it is, and killed with SIGKILL once some points are finished and gone on with: the process that
conducts, and with Dask also a worker. OUT/ways.csv says of each way the SHA-256 of points.csv, and how many points there were when it was
killed. Exit code 1: they are not all the same.
"""

import csv
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import laxity

STUDIES = {"cerqueira2014-fig8a": 20, "lindsay2012-dsr": 1}
"""Names in studies/, and sets of each point."""
SHARDS = (3, 1, 2)
KILLED_AT = 3
"""So many points are finished when something is killed."""

ON_ENGINE = """
import sys
from pathlib import Path
import laxity
from laxity import engines

def work(how, file, sets, out):
    # Short units: something is always under way.
    engines.UNIT_S = 0.2
    name, _, workers = how.partition("-")
    if name == "hyperqueue":
        laxity.study(file, on="hyperqueue", sets=sets, out=out)
        return
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=int(workers), threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        Path(out + ".workers").write_text(" ".join(str(worker.pid) for worker in cluster.workers.values()))
        laxity.study(file, on=client, sets=sets, out=out)

if __name__ == "__main__":
    how, file, sets, out = sys.argv[1:]
    laxity.set_progress(None)
    work(how, file, int(sets), out)
"""


class Way:
    """One way to judge a study, in a directory of its own."""

    def __init__(self, home: Path, how: str, name: str, killed: str) -> None:
        self.how, self.killed, self.sets = how, killed, STUDIES[name]
        self.file = Path("studies", f"{name}.toml").resolve()
        self.home, self.out = home, home / f"{name}-{how}{'-' + killed if killed else ''}"
        shutil.rmtree(self.out, ignore_errors=True)
        self.points = 0

    def command(self, *more: str) -> list[str]:
        if self.how.startswith(("dask", "hyperqueue")):
            return [sys.executable, str(self.home / "on_engine.py"), self.how, str(self.file), str(self.sets), str(self.out)]
        return [laxity.program(), "study", str(self.file), "--sets", str(self.sets), "-o", str(self.out), "--quiet", *more]

    def finished(self, *folder: str) -> int:
        journal = self.out.joinpath(*folder, "points.jsonl")
        return journal.read_text().count("\n") if journal.exists() else 0

    def once(self, *more: str, folder: tuple[str, ...] = ()) -> None:
        """Carries it out, killed in between where that is asked for."""
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        process = subprocess.Popen(self.command(*more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
        if self.killed:
            while process.poll() is None and self.finished(*folder) < KILLED_AT:
                time.sleep(0.01)
            self.points = self.finished(*folder)
            if self.killed == "worker":
                os.kill(int(Path(f"{self.out}.workers").read_text().split()[0]), signal.SIGKILL)
            else:
                # All that it has started, too: as when the machine goes.
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        if self.killed == "conductor":
            assert code == -signal.SIGKILL, f"{self.out}: it was over before it was killed ({code})"
            code = subprocess.run(self.command(*more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False).returncode
        assert code == 0, f"{self.out}: exit code {code}"

    def digest(self) -> str:
        if self.how != "shards":
            self.once()
        else:
            merge = [laxity.program(), "study", "merge", str(self.file), "--sets", str(self.sets), "-o", str(self.out), "--quiet"]
            while True:
                for number in SHARDS:
                    self.once("--shard", f"{number}/3", folder=("shards", f"{number}-of-3"))
                    self.killed = ""
                done = subprocess.run(merge, stdout=subprocess.DEVNULL, check=False).returncode
                if done == 0:
                    break
                assert done == 1, f"merge: exit code {done}"
        return hashlib.sha256((self.out / "points.csv").read_bytes()).hexdigest()


def main() -> None:
    home = Path(sys.argv[1]).resolve()
    home.mkdir(parents=True, exist_ok=True)
    (home / "on_engine.py").write_text(textwrap.dedent(ON_ENGINE))
    rows, ways = [], ["threads", "dask-1", "dask-2", "dask-4", "hyperqueue", "shards"]
    for name in STUDIES:
        for how in ways:
            for killed in ("", "conductor", *["worker"] * how.startswith("dask")):
                way = Way(home, how, name, killed)
                rows.append([name, way.sets, how, killed or "none", "", ""])
                rows[-1][-1] = way.digest()
                rows[-1][-2] = way.points if killed else ""
                print(*rows[-1], flush=True)
    with (home / "ways.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["study", "sets", "way", "killed", "points_then", "points_csv_sha256"])
        table.writerows(rows)
    different = {name: len({row[-1] for row in rows if row[0] == name}) for name in STUDIES}
    print(different)
    sys.exit(any(count != 1 for count in different.values()))


if __name__ == "__main__":
    main()
