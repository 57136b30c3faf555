"""A study on other engines comes to the same bytes, whatever is killed meanwhile."""

import concurrent.futures
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import laxity
import pytest
from conftest import REPOSITORY, program
from laxity import engines

FIG8A = REPOSITORY / "studies" / "cerqueira2014-fig8a.toml"
SETS = 8
SIMULATED = """
version = 1
title = "simulated"
kind = "simulation"
sets = 6
duration = "200ms"
metrics = ["dsr", "max-tardiness"]
[platform]
processors = 2
[axis]
of = "utilization"
values = [0.5, 1.0, 1.5, 1.8, 2]
[generator]
name = "uunifast"
tasks = 4
periods = "log-uniform:10ms,50ms"
[[curves]]
scheduler = "gsn-edf"
[[curves]]
placement = "wfd"
scheduler = "p-edf"
"""


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """points.csv of both studies, from threads."""
    home = tmp_path_factory.mktemp("reference")
    file = home / "simulated.toml"
    file.write_text(SIMULATED)
    made = {}
    for path, options in [(FIG8A, ["--sets", str(SETS)]), (file, [])]:
        out = home / path.stem
        program("study", str(path), *options, "-o", str(out), "--json", "--quiet")
        made[path] = (out / "points.csv").read_bytes(), sorted((out / "points.jsonl").read_text().splitlines())
    return made


def same(reference, path, out):
    table, lines = reference[path]
    assert (Path(out) / "points.csv").read_bytes() == table
    assert sorted((Path(out) / "points.jsonl").read_text().splitlines()) == lines, "nothing twice, nothing lost"


def changes(path):
    return {"sets": SETS} if path == FIG8A else {}


def test_executors(reference):
    spawn = multiprocessing.get_context("spawn")
    for path in reference:
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            laxity.study(path, on=threads, out=f"threads-{path.stem}", **changes(path))
        same(reference, path, f"threads-{path.stem}")
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as processes:
            laxity.study(path, on=processes, out=f"processes-{path.stem}", **changes(path))
        same(reference, path, f"processes-{path.stem}")


def cluster(workers):
    from distributed import LocalCluster

    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_dask(reference, workers):
    from distributed import Client

    with cluster(workers) as local, Client(local) as client:
        for path in reference:
            result = laxity.study(path, on=client, out=path.stem, **changes(path))
            same(reference, path, path.stem)
            assert len(result.points) > 0


def test_hyperqueue(reference):
    for path in reference:
        laxity.study(path, on="hyperqueue", out=path.stem, **changes(path))
        same(reference, path, path.stem)
        assert not Path(path.stem, "units").exists()


def test_a_worker_of_dask_is_killed(reference, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(engines, "UNIT_S", 0.05)
    with cluster(2) as local, Client(local) as client:
        killed = []
        laxity.set_progress(lambda what, unit, done, total, over: kill_one(client, done, killed))
        try:
            laxity.study(FIG8A, on=client, out="killed", sets=SETS)
        finally:
            laxity.set_progress("auto")
        assert killed, "the study was over before a worker was killed"
    same(reference, FIG8A, "killed")


def kill_one(client, done, killed):
    """Kills a worker once some sets are judged."""
    if done > 50 and not killed:
        pids = list(client.run(os.getpid).values())
        killed.append(pids[0])
        os.kill(pids[0], signal.SIGKILL)


def test_the_coordinator_is_killed_and_the_study_goes_on(reference):
    from distributed import Client

    code = textwrap.dedent(
        f"""
        import laxity, os, signal
        from laxity import engines
        from distributed import Client
        engines.UNIT_S = 0.05
        laxity.set_progress(lambda what, unit, done, total, over: done > 60 and os.kill(os.getpid(), signal.SIGKILL))
        laxity.study({str(FIG8A)!r}, on=Client(ADDRESS), sets={SETS}, out="gone-on")
        """
    )
    with cluster(2) as local:
        ended = subprocess.run([sys.executable, "-c", code.replace("ADDRESS", repr(local.scheduler_address))], check=False)
        assert ended.returncode == -signal.SIGKILL
        kept = len(Path("gone-on", "points.jsonl").read_text().splitlines())
        assert 0 < kept < len(reference[FIG8A][1]), "some points are finished, and some are not"
        with Client(local) as client:
            laxity.study(FIG8A, on=client, sets=SETS, out="gone-on")
    same(reference, FIG8A, "gone-on")


def test_ctrl_c_keeps_what_is_merged_and_leaves_nothing_running(reference):
    code = textwrap.dedent(
        f"""
        import laxity, os, signal
        if __name__ == "__main__":
            from laxity import engines
            engines.UNIT_S = 0.05
            laxity.set_progress(lambda what, unit, done, total, over: done > 60 and os.kill(os.getpid(), signal.SIGINT))
            laxity.study({str(FIG8A)!r}, on="dask", sets={SETS}, out="stopped")
        """
    )
    Path("stop.py").write_text(code)
    process = subprocess.Popen([sys.executable, "stop.py"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    _, said = process.communicate(timeout=120)
    assert process.returncode != 0 and "KeyboardInterrupt" in said, said
    time.sleep(1)
    left = [
        pid
        for pid in os.listdir("/proc")
        if pid.isdigit() and session_of(pid) == process.pid
    ]
    assert not left, [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
    laxity.study(FIG8A, sets=SETS, out="stopped")
    same(reference, FIG8A, "stopped")


def session_of(pid):
    """The session of a process that runs; None of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[3])


class Failing(concurrent.futures.ThreadPoolExecutor):
    """Fails every unit with the third set of some point."""

    def __init__(self, always):
        super().__init__(2)
        self.always, self.failed = always, 0

    def submit(self, judge, told, units):
        def work():
            if any('"start":0,' in unit and '"family":0,' in unit for unit in units) and (self.always or self.failed < 2):
                self.failed += 1
                raise OSError("the disk is gone")
            return judge(told, units)

        return super().submit(work)


def test_a_unit_that_fails_is_tried_again_and_after_three_times_the_rest_goes_on(reference):
    path = next(path for path in reference if path != FIG8A)
    with Failing(always=False) as executor:
        laxity.study(path, on=executor, out="again")
        assert executor.failed == 2
    same(reference, path, "again")
    with Failing(always=True) as executor, pytest.raises(laxity.MachineError) as failed:
        laxity.study(path, on=executor, out="given-up")
    assert "the disk is gone" in str(failed.value) and "try it again: python3 -c" in str(failed.value)
    command = str(failed.value).split("try it again: ", 1)[1].splitlines()[0].replace("python3", sys.executable, 1)
    again = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert '"series"' in again.stdout, again
    laxity.study(path, out="given-up")
    same(reference, path, "given-up")


class Other(concurrent.futures.ThreadPoolExecutor):
    """Workers with another laxity."""

    def submit(self, judge, told, units):
        told = json.loads(told)
        return super().submit(judge, json.dumps({**told, "version": "0.0.9 (then)"}), units)


def test_workers_with_another_laxity_are_refused(reference):
    path = next(path for path in reference if path != FIG8A)
    with Other(1) as executor, pytest.raises(engines.MixedVersions) as refused:
        laxity.study(path, on=executor, out="mixed")
    assert "0.0.9" in str(refused.value) and "install the same laxity" in str(refused.value)


class Gone(concurrent.futures.ThreadPoolExecutor):
    """An engine that ends within a study."""

    def submit(self, *arguments):
        if self._work_queue.qsize() == 0:
            return super().submit(*arguments)
        raise ConnectionError("the scheduler has died\n  at line 1\n  at line 2")


def test_an_engine_that_is_gone_keeps_what_there_is(reference):
    path = next(path for path in reference if path != FIG8A)
    with Gone(1) as executor, pytest.raises(laxity.MachineError) as gone:
        laxity.study(path, on=executor, out="gone")
    assert str(gone.value).startswith("the engine is gone: ConnectionError: the scheduler has died\nhint: finished points are kept"), gone
    laxity.study(path, out="gone")
    same(reference, path, "gone")


def test_a_closed_client_of_dask_is_gone():
    import distributed

    client = distributed.Client(n_workers=1, processes=False)
    client.close()
    with pytest.raises(laxity.MachineError, match="the engine is gone"):
        laxity.study(FIG8A, on=client, out="closed", sets=2)


def test_a_failed_unit_of_a_dict_can_be_tried_again():
    described = {
        "version": 1,
        "title": "of a dict",
        "sets": 8,
        "platform": {"processors": 2},
        "axis": {"of": "utilization", "values": [round(0.1 * n, 1) for n in range(1, 13)]},
        "generator": {"name": "emberson", "tasks": 3},
        "curves": [{"scheduler": "g-edf"}],
    }

    class Broken(concurrent.futures.ThreadPoolExecutor):
        def submit(self, *_):
            return super().submit(lambda: 1 / 0)

    with Broken(1) as executor, pytest.raises(laxity.MachineError) as failed:
        laxity.study(described, on=executor, out="broken")
    assert str(failed.value).count("try it again") == 5 and "and 7 more" in str(failed.value), failed.value
    command = str(failed.value).split("try it again: ", 1)[1].splitlines()[0].replace("python3", sys.executable, 1)
    again = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert '"series"' in again.stdout, (command, again)


def test_hyperqueue_leaves_signals_loggers_and_files_alone(reference):
    code = f"""
        import laxity, logging, os, signal, sys, tempfile
        from pathlib import Path
        from laxity import engines
        def seen(what, unit, done, total, over):
            print("working", flush=True)
        engines.UNIT_S = 0.05
        laxity.set_progress(seen)
        if sys.argv[1] == "whole":
            laxity.set_progress(None)
            laxity.study({str(FIG8A)!r}, on="hyperqueue", sets={SETS}, out="whole")
            print(logging.getLogger().handlers, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        else:
            laxity.study({str(FIG8A)!r}, on="hyperqueue", sets=400, out="stopped")
    """
    Path("on_hq.py").write_text(textwrap.dedent(code))
    # Its name is short: addresses of sockets are.
    home = Path(tempfile.mkdtemp())
    environment = {**os.environ, "TMPDIR": os.fspath(home)}
    start = [sys.executable, "on_hq.py"]
    for number in (signal.SIGTERM, signal.SIGKILL):
        process = subprocess.Popen([*start, "stopped"], stdout=subprocess.PIPE, text=True, env=environment)
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        process.communicate(timeout=60)
        assert process.returncode == -number
    assert any(home.iterdir()), "what was killed has left files"
    done = subprocess.run([*start, "whole"], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines()[-1] == "[] True", done
    assert not list(home.iterdir()), "the next one removes them, and its own"
    same(reference, FIG8A, "whole")


def test_what_is_no_engine():
    for on, why in [("dusk", "no engine"), (42, "no engine")]:
        with pytest.raises(laxity.InputError, match=why):
            laxity.study(FIG8A, on=on, out="none", sets=2)
    with pytest.raises(laxity.MachineError, match="no server can be reached") as nowhere:
        laxity.study(FIG8A, on="hyperqueue=/nowhere", out="none", sets=2)
    assert len(str(nowhere.value).splitlines()) == 2, nowhere.value
    with pytest.raises(laxity.MachineError, match="no scheduler can be reached"):
        laxity.study(FIG8A, on="dask=tcp://127.0.0.1:9", out="none", sets=2)


def test_a_full_disk_ends_the_study_and_it_goes_on_when_there_is_room(reference):
    """A limit on files stands for the disk: the journal is as long as it may be after some points."""
    code = textwrap.dedent(
        f"""
        import concurrent.futures, laxity, resource
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
            try:
                laxity.study({str(FIG8A)!r}, on=pool, sets={SETS}, out="full")
            except laxity.MachineError as error:
                print(error)
            # The engine is as it was.
            print(pool.submit(lambda: "goes on").result(10))
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "cannot write full/points.jsonl" in done.stdout and "goes on" in done.stdout, done
    kept = Path("full/points.jsonl").read_text().count("\n")
    assert 0 < kept < len(reference[FIG8A][1])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        laxity.study(FIG8A, on=pool, sets=SETS, out="full")
    same(reference, FIG8A, "full")


def test_a_study_that_has_changed_is_refused():
    path = Path("changing.toml")
    path.write_text(SIMULATED)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        laxity.study(path, on=executor, out="one")
        path.write_text(SIMULATED.replace("200ms", "100ms"))
        with pytest.raises(laxity.InputError):
            laxity.study(path, on=executor, out="one")


def test_the_program_goes_on_an_engine(reference):
    environment = {**os.environ, "LAXITY_PYTHON": sys.executable}

    def study(*words):
        return subprocess.run([laxity.program(), "study", *words], capture_output=True, text=True, env=environment)

    done = study(str(FIG8A), "--on", "dask", "--sets", str(SETS), "-o", "by-program", "--json")
    assert done.returncode == 0, done.stderr
    assert "report: " in done.stderr and "dashboard: http" in done.stderr, done.stderr
    assert done.stdout == program("study", str(FIG8A), "--sets", str(SETS), "-o", "by-program", "--json", "--quiet")
    same(reference, FIG8A, "by-program")
    queued = study(str(FIG8A), "--on", "hyperqueue", "--sets", str(SETS), "-o", "queued", "--json")
    assert (queued.returncode, queued.stdout) == (0, done.stdout), queued.stderr
    assert "Server" not in queued.stderr
    same(reference, FIG8A, "queued")
    for words, code, why in [
        (["--on", "dusk"], 2, "is no engine"),
        (["--on", "hyperqueue=/nowhere", "-o", "x"], 3, "no server can be reached"),
        (["--on", "dask=tcp://127.0.0.1:9", "-o", "x"], 3, "no scheduler can be reached"),
        (["--on", "dask", "--threads", "2"], 2, "cannot be used with"),
    ]:
        done = study(str(FIG8A), "--sets", "2", *words)
        assert done.returncode == code and why in done.stderr, done.stderr
        assert not Path("x").exists(), "nothing is half-written"
    environment["LAXITY_PYTHON"] = "/usr/bin/false"
    done = study(str(FIG8A), "--on", "dask", "-o", "y")
    assert done.returncode == 3 and "pip install 'laxity[dask]'" in done.stderr, done.stderr
