"""What first users met: each of these was wrong once."""

import multiprocessing
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import laxity
import pytest

T = laxity.Task
ONE = laxity.TaskSet([T("a", "1ms", "10ms")])
STUDY = {
    "version": 1,
    "title": "own",
    "sets": 50,
    "platform": {"processors": 2},
    "axis": {"of": "utilization", "values": [1]},
    "generator": {"name": "emberson", "tasks": 3},
    "guarantees": ["hard"],
    "curves": [{"scheduler": "g-edf", "tests": ["mine"]}],
}
PLAIN = {key: value for key, value in STUDY.items() if key != "guarantees"} | {"curves": [{"scheduler": "g-edf"}]}


def own(function):
    return laxity.own_test("mine", function, priorities="edf")


def test_what_ends_one_call_does_not_end_the_next():
    def broken(*_):
        raise ZeroDivisionError

    for _ in range(50):
        laxity.set_progress(broken)
        try:
            laxity.simulate(ONE, scheduler="g-edf", cpus=1, duration="10ms")
        except ZeroDivisionError:
            pass
        finally:
            laxity.set_progress(None)
        assert len(laxity.verdicts([ONE] * 5, scheduler="g-edf", cpus=1)) == 5
    laxity.set_progress("auto")


def test_what_ends_one_call_does_not_end_those_of_other_threads():
    def broken(what, *_):
        if threading.current_thread().name == "broken":
            raise ZeroDivisionError

    def breaking():
        for _ in range(100):
            try:
                laxity.simulate(ONE, scheduler="g-edf", cpus=1, duration="10ms")
            except ZeroDivisionError:
                pass

    laxity.set_progress(broken)
    try:
        thread = threading.Thread(target=breaking, name="broken")
        thread.start()
        while thread.is_alive():
            assert laxity.simulate(ONE, scheduler="g-edf", cpus=1, duration="10ms").exit_code == 0
        thread.join()
    finally:
        laxity.set_progress("auto")


def test_a_set_during_which_an_own_test_raises_does_not_count():
    asked = 0

    def buggy(tasks, m):
        nonlocal asked
        asked += 1
        if asked == 7:
            raise ZeroDivisionError
        return True

    mine = own(buggy)
    with pytest.raises(ZeroDivisionError):
        laxity.study(STUDY, out="d", tests=[mine])
    # Points of another test would not count; this one raises once.
    with pytest.raises(laxity.InputError, match="another study: `mine` has other code there"):
        laxity.study(STUDY, out="d", tests=[own(lambda tasks, m: True)])
    result = laxity.study(STUDY, out="d", tests=[mine])
    assert result.points.to_dict()["accepted"] == [50]


@pytest.mark.parametrize("answer", [(False, "why"), float("nan"), "no", 1])
def test_an_own_test_says_true_false_or_none(answer):
    with pytest.raises(laxity.InputError, match="not True, False or None"):
        laxity.study(STUDY, out="d", tests=[own(lambda tasks, m: answer)])


def test_an_own_test_may_answer_as_numpy_does():
    import numpy

    result = laxity.study(STUDY, out="d", tests=[own(lambda tasks, m: numpy.bool_(True))])
    assert result.points.to_dict()["accepted"] == [50]


def test_times_of_pandas_and_numpy_are_exact():
    import numpy
    import pandas

    tasks = [T("a", pandas.Timedelta(500_999, "ns"), "1ms"), T("b", numpy.timedelta64(499_999, "ns"), "1ms")]
    made = laxity.TaskSet(tasks)
    assert [task.wcet_ns for task in made] == [500_999, 499_999]
    assert not laxity.analyze(made, scheduler="p-edf", cpus=1, assume_no_background=True).proven
    assert (made[0].period_ns, made[0].deadline_ns) == (1_000_000, 1_000_000)
    assert laxity.Task("x", "1.5ms", "0.25s").wcet_ns == 1_500_000
    laxity.TaskSet([T("a", "1ms", "10ms", priority=numpy.int64(3))])


def test_nothing_is_not_proven():
    import polars

    none = polars.Series([], dtype=polars.Int64)
    for nothing in ([], polars.DataFrame({"wcet_ns": none, "period_ns": none})):
        with pytest.raises(laxity.InputError, match="no task set is given"):
            laxity.analyze(nothing)
        with pytest.raises(laxity.InputError, match="no task set is given"):
            laxity.verdicts(nothing)


def test_tables_of_sets_lose_nothing():
    with pytest.raises(laxity.InputError, match="two sets are named `tasks`"):
        laxity.TaskSet.to_table([ONE, ONE])
    for changed in ({"affinity": "0"}, {"kind": "best-effort"}, {"priority": 3}, {"demand": "0.5"}):
        one = laxity.TaskSet([T("a", "1ms", "10ms", **changed)])
        with pytest.raises(laxity.InputError, match="what no column of a table is for"):
            laxity.TaskSet.to_table([one])


def test_frames_as_they_are():
    import pandas
    import polars

    rows = {"set": ["b", "a"], "name": ["x", "y"], "wcet_ns": [1, 2], "period_ns": [10, 20]}
    assert len(laxity.TaskSet.of_table(pandas.DataFrame(rows).sort_values("set"))) == 2
    categories = pandas.DataFrame(rows).astype({"set": "category"})
    assert [one.name for one in laxity.TaskSet.of_table(categories)] == ["b", "a"]
    assert len(laxity.TaskSet.of_table(polars.DataFrame(rows).with_columns(polars.col("name").cast(polars.Categorical)))) == 2
    assert len(laxity.TaskSet.of_table(pandas.DataFrame({**rows, "deadline_ns": [None, None]}))) == 2


def test_whole_numbers_as_databases_add_them_up():
    import decimal

    import polars
    import pyarrow

    def of(*periods, scale):
        column = polars.Series([decimal.Decimal(one) for one in periods], dtype=polars.Decimal(38, scale))
        return laxity.TaskSet.of_table(polars.DataFrame({"wcet_ns": [1] * len(periods), "period_ns": column}))[0]

    assert [task.period_ns for task in of("10", "20", scale=0)] == [10, 20]
    assert [task.period_ns for task in of("10", "20.00", scale=2)] == [10, 20]
    for wrong, shown in (("10.5", "10.50"), ("-10", "-10.00"), ("-0.5", "-0.50"), ("1e30", f"1{'0' * 30}.00")):
        with pytest.raises(laxity.InputError, match=f"period_ns: {shown} is not a whole number"):
            of(wrong, scale=2)
    for small in (pyarrow.decimal32(9, 1), pyarrow.decimal64(18, 1), pyarrow.decimal256(70, 1)):
        column = pyarrow.array([decimal.Decimal("30.0")], type=small)
        table = pyarrow.table({"wcet_ns": [1], "period_ns": column})
        assert laxity.TaskSet.of_table(table)[0][0].period_ns == 30
    with pytest.raises(laxity.InputError, match="2\\^53"):
        laxity.TaskSet.of_table(polars.DataFrame({"wcet_ns": [1], "period_ns": [2.0**53 + 2]}))


def test_a_row_names_its_set():
    import polars

    rows = {"set": ["a", None], "wcet_ns": [1, 2], "period_ns": [10, 20]}
    with pytest.raises(laxity.InputError, match="row 1: set: nothing is there"):
        laxity.TaskSet.of_table(polars.DataFrame(rows))
    for empty in (polars.DataFrame(), polars.DataFrame({"wcet_ns": [], "period_ns": []}), polars.DataFrame(rows).clear()):
        with pytest.raises(laxity.InputError) as refused:
            laxity.analyze(empty)
        assert refused.value.hint


def test_a_set_comes_back_from_a_table():
    made = laxity.generate("emberson", n=3, u=1, seed=5, count=3)
    assert laxity.TaskSet.of_table(laxity.TaskSet.to_table(made)) == made
    assert laxity.TaskSet.of_table(laxity.TaskSet.to_table(ONE)) == [ONE] and hash(made[0]) == hash(laxity.TaskSet.of_json(made[0].to_json(), made[0].name))


def test_a_column_is_there_once():
    import pyarrow

    columns = [pyarrow.array([1]), pyarrow.array([10]), pyarrow.array([20])]
    table = pyarrow.table(columns, names=["wcet_ns", "period_ns", "period_ns"])
    with pytest.raises(laxity.InputError, match="two columns `period_ns`"):
        laxity.TaskSet.of_table(table)


def test_what_is_wrong_in_a_set_has_no_place_in_a_text():
    with pytest.raises(laxity.InputError) as refused:
        laxity.TaskSet([{"wcet": "1ms", "period": "2 parsecs"}])
    assert "parsecs" in str(refused.value) and "column" not in str(refused.value), refused.value


def test_forked_workers_of_a_study():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert len(laxity.study(PLAIN, on=pool, out="forked").points) > 0


def test_documents_as_dicts():
    platform = {"version": 1, "name": "two", "cores": 2}
    simulation = laxity.simulate(ONE, scheduler="p-edf", platform=platform, duration="100ms")
    assert len(simulation.jobs) == 10 and "<iframe" in simulation._repr_html_()
    assert laxity.analyze(ONE, scheduler="p-edf", platform=platform).placed()
    costs = {"version": 1, "release": "5us"}
    assert laxity.simulate(ONE, scheduler="gsn-edf", cpus=2, duration="10ms", costs=costs).exit_code == 0


def test_a_results_directory_outlives_its_simulation():
    directory = laxity.simulate(ONE, scheduler="edf-bh", cpus=1, duration="50ms").directory
    assert directory.verify().clean and laxity.verify(directory).clean
    code = f"""
import laxity, warnings
warnings.simplefilter("error")
laxity.simulate(laxity.TaskSet.of_json({ONE.to_json()!r}), scheduler="edf-bh", cpus=1, duration="50ms").jobs
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_results_stay_where_they_are(tmp_path):
    kept = laxity.simulate(ONE, scheduler="edf-bh", cpus=1, duration="50ms", out="kept", events=True)
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    assert len(kept.jobs) == 5


def test_a_script_without_a_guard_may_use_dask():
    Path("script.py").write_text(f"import laxity\nprint(len(laxity.study({PLAIN!r}, on='dask', out='script').points))\n")
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "1\n", done.stderr


def test_annotations_can_be_resolved():
    import typing

    for function in (laxity.analyze, laxity.simulate, laxity.verdicts, laxity.place, laxity.run, laxity.read):
        assert typing.get_type_hints(function)


@pytest.mark.filterwarnings("error")
def test_what_is_wrong_with_a_file_is_the_answer():
    Path("bad.json").write_text('{"version": 1, "tasks": [{"wcet": "3ms", "period": "2ms"}]}')
    Path("good.json").write_text(ONE.to_json())
    both = laxity.check(["bad.json", "good.json"])
    assert not both and not both.valid and [one["valid"] for one in both["files"]] == [False, True]
    bad, hint, good = str(both).splitlines()
    assert bad.startswith("error: bad.json: task `T1`: wcet 3ms exceeds") and hint.startswith("hint: ")
    assert good.startswith("good.json: task set, valid")
    assert laxity.check("good.json").valid


@pytest.mark.parametrize(
    "call, why",
    [
        (lambda: laxity.generate("embersn", n=3, u=1), "`embersn` is no generator"),
        (lambda: laxity.generate("emberson", n=3, tasks=5, u=1), "the same parameter"),
        (lambda: laxity.generate("emberson", n=3, u=1, json=True), "no such parameter"),
        (lambda: laxity.generate("emberson", n=3, u=1e-12), "more than 9 decimals"),
        (lambda: laxity.analyze(ONE, leave_out_threads="no"), "neither True nor False"),
        (lambda: laxity.analyze(ONE, scheduler="g-edf", cpus=2).bounds("firm"), "no guarantee"),
        (lambda: laxity.analyze(ONE, assume_no_background=1), "assume_no_background: 1"),
        (lambda: laxity.simulate(ONE, scheduler=[], cpus=1), "scheduler: there is nothing in it"),
        (lambda: laxity.analyze(ONE, scheduler="nothing"), "scheduler"),
        (lambda: laxity.analyze(ONE, cpus=True), "cpus: True is neither text nor a number"),
        (lambda: laxity.study(5), "no study"),
        (lambda: laxity.simulate(ONE, scheduler="g-edf", cpus=1, events=True), "needed beside what is given: out=DIR"),
        (lambda: laxity.simulate(ONE, scheduler="g-edf", cpus=1, seed=-1), "from 0 to 2.64"),
        (lambda: laxity.study("merge"), "merge: no such file"),
        (lambda: laxity.study(STUDY, on="dask="), "no address behind"),
        (lambda: laxity.check(ONE), "no path of a file"),
        (lambda: laxity.check([]), "no file is named"),
        (lambda: laxity.read(), "no file is named"),
        (lambda: laxity.analyze(ONE.to_toml()), "no path of a file"),
        (lambda: laxity.read("a\0b"), "no path of a file"),
        (lambda: laxity.TaskSet.of_table({"wcet_ns": [1], "period_ns": [2]}), "no table: dict"),
        (lambda: laxity.TaskSet.of_table(None), "no table"),
        (lambda: laxity.TaskSet.to_table([]), "no task set is given"),
        (lambda: laxity.generate("emberson", n=2), "utilization"),
        (lambda: laxity.study({**STUDY, "sets": "many"}), "^own: |^own`|own"),
        (lambda: laxity.simulate(ONE, scheduler="g-edf", cpus=1, costs={"versio": 1}), "^costs: "),
    ],
)
def test_slips(call, why):
    with pytest.raises(laxity.InputError, match=why) as refused:
        call()
    assert refused.value.hint and not re.search("/laxity-[^/]*/", str(refused.value)) and "schedulers=" not in str(refused.value)
