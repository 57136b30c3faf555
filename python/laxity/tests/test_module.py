"""The module as a user meets it: sets, tables, errors, Ctrl-C, progress."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from datetime import timedelta
from pathlib import Path

import laxity
import pytest
from conftest import EXAMPLES, REPOSITORY, program, random_set

AVIONICS = REPOSITORY / "examples" / "avionics.toml"
PAIR = laxity.TaskSet(
    [
        laxity.Task("camera", "6ms", "10ms"),
        {"name": "lidar", "wcet": 11_000_000, "min_interarrival": timedelta(milliseconds=20), "deadline": "15ms"},
    ],
    name="robot",
)


def test_task_sets():
    assert (PAIR.name, len(PAIR), PAIR.utilization) == ("robot", 2, 1.15)
    assert [task.name for task in PAIR] == ["camera", "lidar"]
    assert PAIR[1].wcet == "11ms" and PAIR[1].deadline == "15ms" and PAIR[1].min_interarrival == "20ms"
    assert repr(PAIR) == '<laxity.TaskSet "robot": 2 tasks, utilization 1.1500>'
    assert "<td>lidar</td>" in PAIR._repr_html_()
    assert laxity.TaskSet(PAIR.tasks, name="robot") == PAIR
    assert laxity.TaskSet.of_toml(PAIR.to_toml()) == PAIR
    assert pickle.loads(pickle.dumps(PAIR)) == PAIR
    assert PAIR != laxity.TaskSet(PAIR.tasks, name="other")
    for path in EXAMPLES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = laxity.read(path)[0]
        assert pickle.loads(pickle.dumps(made)) == made, path


@pytest.mark.parametrize(
    "tasks, why, hint",
    [
        ([{"wcet": "3ms", "period": "2ms"}], "exceeds", None),
        ([{"wcet": 1.5, "period": "2ms"}], "1.5 is no time", "whole nanoseconds"),
        ([{"wcet": "1ms", "priod": "2ms"}], "priod", "period"),
        ([], "", None),
        (["camera"], "'camera' is no task", "laxity.Task"),
    ],
)
def test_sets_that_are_none(tasks, why, hint):
    with pytest.raises(laxity.InputError) as refused:
        laxity.TaskSet(tasks)
    assert why in str(refused.value)
    assert hint is None or hint in str(refused.value)


def test_errors_are_those_of_the_program():
    for call, why, hint in [
        (lambda: laxity.simulate(PAIR, duration=0), "duration 0ns", "duration 10s"),
        (lambda: laxity.simulate(PAIR, scheduler="g-edff"), "g-edff", "g-edf"),
        (lambda: laxity.simulate("nowhere.toml"), "nowhere.toml", None),
        (lambda: laxity.analyze(PAIR, cpus=2, tick="1"), "1", None),
        (lambda: laxity.generate("emberson", n=3, utilisation=1), "utilisation", "utilization"),
        (lambda: laxity.generate("embersen", n=3), "embersen", None),
        (lambda: laxity.place([PAIR, PAIR]), "2 task sets", "one"),
        (lambda: laxity.verify("nowhere"), "nowhere", None),
        (lambda: laxity.simulate(42), "42: no task set", "TaskSet"),
    ]:
        with pytest.raises(laxity.InputError) as refused:
            call()
        assert why in refused.value.message, refused.value
        assert hint is None or hint in (refused.value.hint or ""), refused.value
    with pytest.raises(ValueError):
        laxity.simulate(PAIR, duration="10")
    with pytest.raises(TypeError):
        laxity.simulate(PAIR, durration="10s")


def test_warnings_point_to_the_caller(tmp_path):
    rtapp = tmp_path / "one.json"
    rtapp.write_text(
        '{"tasks": {"one": {"policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-period": 10000, "dl-deadline": 10000, '
        '"loop": -1, "run": 900, "timer": {"ref": "t", "period": 10000}}, '
        '"two": {"loop": 1, "run": 100}}}'
    )
    for call in [lambda: laxity.read(rtapp, leave_out_threads=True), lambda: laxity.analyze(rtapp, cpus=2, leave_out_threads=True)]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert caught and all(one.category is laxity.LaxityWarning for one in caught)
        assert {one.filename for one in caught} == {__file__}, [one.filename for one in caught]


def test_values_as_python_has_them(tmp_path):
    assert laxity.generate("emberson", n=3, u=0.1 + 0.2)[0].utilization == pytest.approx(0.3)
    both = laxity.analyze(PAIR, cpus=[0, 1], scheduler="g-edf"), laxity.analyze(PAIR, cpus="0,1", scheduler="g-edf")
    assert both[0].json == both[1].json
    assert repr(PAIR[0]) == "Task(name='camera', wcet='6ms', period='10ms')"
    kept = laxity.simulate(PAIR, scheduler="edf-bh", duration="50ms", out="kept")
    assert kept.directory.path == Path("kept").resolve() and len(kept.events()) > 0 and kept.verify().clean
    assert [row["ns"] for row in both[0].bounds("soft")] and both[0].bounds()[0]["task"] == "camera"
    platform = {"version": 1, "name": "two", "cores": [{"speed": "1"}, {"speed": "0.5"}]}
    try:
        laxity.place(PAIR, platform=platform)
    except laxity.InputError as refused:
        assert str(refused).startswith("platform: `cpu` is missing")
    with pytest.raises(laxity.InputError, match="tasks"):
        laxity.generate("emberson")
    with pytest.raises(laxity.InputError, match=r"TaskSet\(\[...\]\)"):
        laxity.analyze([laxity.Task("a", "1ms", "2ms")])


def test_places_and_settings():
    placement = laxity.place(PAIR, cpus=2)
    assert [task.affinity for task in placement.task_set] == ["0", "1"] or sorted(
        task.affinity for task in placement.task_set
    ) == ["0", "1"]
    analysis = laxity.analyze(PAIR, cpus=2, scheduler="p-edf")
    assert analysis and analysis.proven
    assert all(task.affinity is not None for task in analysis.placed())
    settings = laxity.settings(PAIR, cpus=2, scheduler="p-fp", assume_no_background=True)
    assert settings and all(task.priority is not None for task in settings.task_set)
    over = laxity.TaskSet([{"wcet": "9ms", "period": "10ms"}] * 3)
    assert not laxity.analyze(over, cpus=2, scheduler="p-edf")
    with pytest.raises(laxity.InputError):
        laxity.settings(over, cpus=2).task_set


def test_a_schedule_draws_itself():
    simulation = laxity.simulate(PAIR, cpus=2, scheduler="edf-bh", duration="100ms")
    assert simulation["schedulers"][0]["misses"] == 0
    assert 10 < len(simulation.jobs) <= 10 + 5
    schedule = simulation.schedule(from_="0ms", to="20ms")
    assert "camera" in repr(schedule) and "<iframe" in schedule._repr_html_()
    assert "<iframe" in simulation._repr_html_() and "<pre " in simulation._repr_html_()
    assert simulation.directory.verify().clean
    events = simulation.events().to_dict()
    assert len(set(map(len, events.values()))) == 1


def test_tables_of_jobs_in_every_library():
    import duckdb
    import pandas
    import polars
    import pyarrow

    jobs = laxity.simulate(AVIONICS, cpus=2, scheduler="g-edf", duration="1s", demand="uniform:0.5,1").jobs
    values = jobs.to_dict()
    frame = polars.DataFrame(jobs)
    assert frame.columns == jobs.columns and frame.height == len(jobs)
    assert frame["release_ns"].to_list() == values["release_ns"]
    table = pyarrow.table(jobs)
    assert table.column("release_ns").to_pylist() == values["release_ns"]
    assert table.to_pandas()["release_ns"].tolist() == values["release_ns"]
    assert pandas.DataFrame.from_arrow(jobs)["release_ns"].tolist() == values["release_ns"]
    released = jobs
    assert duckdb.sql("select count(*) from released").fetchall() == [(len(released),)]


def test_task_sets_from_frames():
    import pandas
    import polars
    import pyarrow

    rows = {
        "set": ["a", "a", "b"],
        "name": ["x", "y", "x"],
        "wcet_ns": [1_000_000, 2_000_000, 3_000_000],
        "period_ns": [10_000_000, 20_000_000, 30_000_000],
        "deadline_ns": [None, 15_000_000, None],
    }
    expected = [
        laxity.TaskSet([laxity.Task("x", "1ms", "10ms"), laxity.Task("y", "2ms", "20ms", "15ms")], name="a"),
        laxity.TaskSet([laxity.Task("x", "3ms", "30ms")], name="b"),
    ]
    for frame in [polars.DataFrame(rows), pandas.DataFrame(rows), pyarrow.table(rows)]:
        assert laxity.TaskSet.of_table(frame) == expected, type(frame)
    # Sets in turn are put together, in the order in which they begin.
    mixed = polars.DataFrame({key: [column[at] for at in (0, 2, 1)] for key, column in rows.items()})
    assert laxity.TaskSet.of_table(mixed) == expected
    assert laxity.TaskSet.of_table(laxity.TaskSet.to_table(expected)) == expected
    again = laxity.TaskSet.of_table(laxity.TaskSet.to_table([PAIR]))
    assert again == [PAIR]
    for changed, why in [
        ({"wcet": [1, 2, 3]}, "unknown column `wcet`"),
        ({"wcet_ns": [1, 2, -3]}, "row 2: wcet_ns: -3"),
        ({"wcet_ns": [1.5, 2, 3]}, "row 0: wcet_ns: 1.5"),
        ({"wcet_ns": ["a", "b", "c"]}, "is no number"),
        ({"wcet_ns": [1, None, 3]}, "row 1: task `y`: wcet_ns is empty"),
        ({"name": [1, 2, 3]}, "is no text"),
        ({"wcet_ns": [11_000_000, 2, 3]}, "set `a`"),
    ]:
        with pytest.raises(laxity.InputError) as refused:
            laxity.TaskSet.of_table(polars.DataFrame({**rows, **changed}))
        assert why in refused.value.message, refused.value


def test_verdicts_are_those_of_the_answer():
    sets = [random_set(seed) for seed in range(40)]
    options = {"cpus": 2, "scheduler": ["g-edf", "p-rm", "p-edf", "c-rm"]}
    table = laxity.verdicts(sets, **options).to_dict()
    answer = laxity.analyze(sets, **options)["schedulers"]
    known = {"schedulable": True, "not-proven": False, "not-applicable": None}
    assert table["set"] == [one["task_set"] for one in answer]
    assert table["scheduler"] == [one["scheduler"] for one in answer]
    for guarantee in ("hard", "soft"):
        assert table[f"proven_{guarantee}"] == [known[one[guarantee]["verdict"]] for one in answer]
        assert table[f"test_{guarantee}"] == [one[guarantee]["test"] for one in answer]


def test_a_study_is_that_of_the_program():
    file = REPOSITORY / "studies" / "cerqueira2014-fig8a.toml"
    result = laxity.study(file, sets=3, out="here", threads=2)
    assert result.json == program("study", str(file), "--sets", "3", "-o", "there", "--json", "--quiet")
    for name in ("points.csv", "points.parquet"):
        assert Path("here", name).read_bytes() == Path("there", name).read_bytes()
    assert len(result.points) == len(Path("here/points.csv").read_text().splitlines()) - 1
    assert result.figures and all("<svg" in figure for figure in result.figures.values())
    assert "<svg" in result._repr_html_()


def test_long_work_tells_how_far_it_is_and_lets_others_run():
    told = []
    ticks = 0
    over = threading.Event()

    def tick():
        nonlocal ticks
        while not over.wait(0.001):
            ticks += 1

    laxity.set_progress(lambda *step: told.append(step))
    try:
        ticking = threading.Thread(target=tick)
        ticking.start()
        laxity.simulate(AVIONICS, cpus=2, scheduler="g-edf", duration="5000s")
        over.set()
        ticking.join()
    finally:
        laxity.set_progress("auto")
    assert ticks > 10, "another thread could not run meanwhile"
    assert told and told[-1][4] and any(done for _, _, done, _, _ in told)


def test_tqdm_shows_progress(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    laxity.simulate(AVIONICS, cpus=2, scheduler="g-edf", duration="20000s")
    shown = capsys.readouterr()
    assert shown.out == "" and "simulating" in shown.err and "jobs" in shown.err, shown.err


def interrupted(code):
    """Runs code, and sends it Ctrl-C when it says that it begins."""
    code = textwrap.dedent(code)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_ctrl_c_ends_a_simulation():
    code, out, err = interrupted(
        f"""
        import laxity
        print("begins", flush=True)
        try:
            laxity.simulate({str(AVIONICS)!r}, cpus=2, scheduler="g-edf", duration="100h")
        except KeyboardInterrupt:
            print("interrupted")
        print(laxity.simulate({str(AVIONICS)!r}, cpus=2, scheduler="g-edf", duration="1s").exit_code)
        """
    )
    assert (code, out) == (0, "interrupted\n0\n"), err


def test_ctrl_c_keeps_the_points_of_a_study():
    file = REPOSITORY / "studies" / "ackelman2018.toml"
    code, out, err = interrupted(
        f"""
        import laxity
        print("begins", flush=True)
        laxity.study({str(file)!r}, sets=200, out="kept")
        """
    )
    assert code != 0 and "KeyboardInterrupt" in err, (out, err)
    assert Path("kept", "study.json").exists()


def test_calls_in_several_threads_do_not_mix():
    expected = {seed: laxity.simulate(AVIONICS, cpus=2, scheduler="edf-bh", duration="1s", seed=seed).json for seed in range(4)}
    got = {}

    def call(seed):
        got[seed] = laxity.simulate(AVIONICS, cpus=2, scheduler="edf-bh", duration="1s", seed=seed).json

    threads = [threading.Thread(target=call, args=(seed,)) for seed in expected]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert got == expected


def test_the_program_runs_tasks_for_real():
    if os.geteuid() != 0:
        pytest.skip("real-time tasks need root")
    results = laxity.run(PAIR, scheduler="g-rm", duration="200ms")
    assert results.directory.path.is_dir() and len(results.jobs) > 0
    assert results["schedulers"][0]["scheduler"] == "g-rm"


def test_the_first_example_of_the_module():
    import doctest

    failures, tried = doctest.testmod(laxity)
    assert tried and not failures


def bound(tasks, m):
    """Goossens, Funk and Baruah 2003, in Python: U <= m - (m - 1) u_max, where D = T."""
    from fractions import Fraction

    if any(task.deadline_rel_ns != task.period_ns or task.jitter_ns for task in tasks):
        return None
    shares = [Fraction(task.wcet_ns, task.period_ns) for task in tasks]
    return sum(shares) <= m - (m - 1) * max(shares)


OWN_STUDY = {
    "version": 1,
    "name": "own",
    "title": "a test of one's own",
    "sets": 25,
    "guarantees": ["hard"],
    "platform": {"processors": 4},
    "axis": {"of": "utilization", "from": 1, "to": "m", "step": 0.5},
    "generator": {"name": "unc"},
    "matrix": {"utilizations": ["uni-light", "uni-heavy"]},
    "curves": [
        {"name": "ours", "scheduler": "g-edf", "tests": ["gfb"]},
        {"name": "own", "scheduler": "g-edf", "tests": ["goossens"]},
    ],
}


def test_a_test_of_ones_own_in_a_study():
    own = laxity.own_test("goossens", bound, priorities="edf", source="Goossens, Funk, Baruah 2003")
    result = laxity.study(OWN_STUDY, tests=[own], out="own")
    points = result.points.to_dict()
    rows = list(zip(points["curve"], points["family"] if "family" in points else points["value"], points["value"], points["accepted"]))
    accepted = {name: [row[1:] for row in rows if row[0] == name] for name in ("ours", "own")}
    assert accepted["ours"] == accepted["own"] and any(row[-1] for row in accepted["own"])
    with pytest.raises(laxity.InputError, match="goossens"):
        laxity.study(OWN_STUDY, out="without")
    with pytest.raises(laxity.InputError):
        laxity.study({**OWN_STUDY, "name": "x"}, tests=[laxity.own_test("gfb", bound, priorities="edf")], out="taken")
    with pytest.raises(laxity.InputError, match="edff"):
        laxity.own_test("mine", bound, priorities="edff")

    def broken(tasks, m):
        raise ZeroDivisionError("of the user's test")

    with pytest.raises(ZeroDivisionError, match="of the user's test"):
        laxity.study(OWN_STUDY, tests=[laxity.own_test("goossens", broken, priorities="edf")], out="broken")
