"""Tests and policies of a user's own: whose points count, whose turn it is, and how they end."""

import collections
import decimal
import functools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path

import laxity
import numpy
import pytest
from laxity._versions import Version, version_of
from test_first_users import STUDY

LIMIT = 1.0


def within_limit(tasks, m):
    return sum(task.wcet_ns / task.period_ns for task in tasks) <= LIMIT


def own(function):
    return laxity.own_test("mine", function, priorities="edf")


def accepted(function, out="d", **changes):
    return laxity.study({**STUDY, **changes}, out=out, tests=[own(function)]).points.to_dict()["accepted"]


def closed(limit):
    def test(tasks, m):
        return len(tasks) < limit

    return test


class Asked:
    bound = 2

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, tasks, m):
        return len(tasks) < self.limit + self.bound


def test_a_test_that_uses_another_value_is_another_test(monkeypatch):
    """What a study has judged by one does not count for the other."""
    first = accepted(within_limit)
    assert accepted(within_limit) == first, "the same test goes on"
    monkeypatch.setitem(globals(), "LIMIT", 0.5)
    with pytest.raises(laxity.InputError, match="`mine` has other code there, or uses other values"):
        accepted(within_limit)
    assert accepted(within_limit, "other") != first


def partial(limit, tasks, m):
    return len(tasks) < limit


def made(text, **names):
    """What `it` is in a text that is carried out."""
    exec(textwrap.dedent(text), names)
    return names["it"]


class Weighted(list):
    def __init__(self, weight):
        super().__init__([1, 2])
        self.weight = weight


def named(limit):
    return made(f"""
        from typing import NamedTuple
        class P(NamedTuple):
            limit: int
            def proves(self, m):
                return {limit}
        X = P(1)
        it = lambda tasks, m: X.proves(m)
    """)


def by_metaclass(answer):
    return made(f"""
        class M(type):
            def ok(cls):
                return {answer}
        class C(metaclass=M):
            pass
        it = lambda tasks, m: C.ok()
    """)


def with_default(answer):
    counts = collections.defaultdict(lambda: answer)
    return lambda tasks, m: counts[m]


def of_array(answer):
    tests = numpy.array([lambda: answer], dtype=object)
    return lambda tasks, m: tests[0]()


def of_list(weight):
    weights = Weighted(weight)
    return lambda tasks, m: weights.weight


class Limit(int):
    pass


def of_number(limit):
    limit = Limit(limit)
    return lambda tasks, m: len(tasks) < limit


@pytest.mark.parametrize(
    "one, other",
    [
        (closed(1), closed(2)),
        (named(1), named(2)),
        (by_metaclass(1), by_metaclass(2)),
        (with_default(1), with_default(2)),
        (of_array(1), of_array(2)),
        (of_list(1), of_list(2)),
        (of_number(1), of_number(2)),
        *[(made("def it(t, m): return 1", **names), made("def it(t, m): return 2", **names)) for names in ({}, {"__name__": "json"})],
        (functools.partial(partial, 1), functools.partial(partial, 2)),
        (Asked(1), Asked(2)),
        (Asked(1).__call__, Asked(2).__call__),
        (lambda tasks, m: tasks[0].wcet_ns, lambda tasks, m: tasks[0].period_ns),
        (lambda tasks, m, limit=1: True, lambda tasks, m, limit=2: True),
        (functools.lru_cache(closed(1)), functools.lru_cache(closed(2))),
    ],
)
def test_versions_differ(one, other):
    assert version_of(one) != version_of(other)
    assert version_of(one) == version_of(one)


def test_versions_see_what_is_used_from_far_away(monkeypatch):
    helpers = types.ModuleType("helpers_of_a_user")
    exec("limit = 1\nunused = 1\ndef bound(n):\n    return n < limit", vars(helpers))
    monkeypatch.setitem(sys.modules, helpers.__name__, helpers)

    def test(tasks, m):
        return helpers.bound(len(tasks))

    def same():
        return version_of(test), version_of(Asked(1))

    before = same()
    helpers.unused = 2
    assert same() == before, "what is not used makes no difference"
    helpers.limit = 2
    monkeypatch.setattr(Asked, "bound", 3)
    assert [one != other for one, other in zip(same(), before)] == [True, True]


def test_what_a_call_leaves_makes_no_other_version():
    known = {}

    def test(tasks, m):
        known[len(tasks)] = True
        return True

    version = Version(test)
    first = version.of_call()
    test([1], 2)
    version.call_ended()
    assert version.of_call() == first, "a cache that fills"
    assert Version(test).of_call() == first, "made again, as in a cell of a notebook"
    known["limit"] = 7
    assert version.of_call() != first, "what a user has changed"
    version.call_ended()
    del known["limit"]
    assert version.of_call() == first, "and what has been undone"


def test_modules_that_are_imported_or_looked_up_within(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "of_a_user.py").write_text("limit = 1\ndef ok(): return limit")

    def imports(tasks, m):
        from of_a_user import ok

        return ok()

    import of_a_user

    tests = {"a": of_a_user}

    def looks_up(tasks, m):
        return tests["a"].ok()

    def computes(tasks, m):
        return getattr(of_a_user, "lim" + "it")

    before = [version_of(test) for test in (imports, looks_up, computes)]
    assert before == [version_of(test) for test in (imports, looks_up, computes)]
    of_a_user.limit = 2
    assert all(one != version_of(test) for one, test in zip(before, (imports, looks_up, computes)))


def test_a_test_is_asked_in_the_callers_context():
    seen = set()

    def test(tasks, m):
        seen.add(decimal.getcontext().prec)
        return True

    with decimal.localcontext() as context:
        context.prec = 50
        assert accepted(test) == [50]
    assert seen == {50}


def is_interrupted(code, twice=False):
    """A script says that it has begun, gets Ctrl-C, and says that it was interrupted."""
    Path("script.py").write_text(textwrap.dedent(code))
    process = subprocess.Popen([sys.executable, "script.py"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    if twice:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    try:
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, said.splitlines()[-1]) == (0, "interrupted")


def test_the_second_ctrl_c_does_not_wait_for_what_sleeps():
    code = f"""
        import laxity, time
        def sleeps(*_):
            print("begun", flush=True)
            time.sleep(1000)
        try:
            laxity.study({STUDY!r}, out="d", tests=[laxity.own_test("mine", sleeps, priorities="edf")])
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    is_interrupted(code, twice=True)


def test_a_test_is_asked_by_one_thread_at_a_time():
    inside = most = 0

    def test(tasks, m):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        # Here another thread has the interpreter.
        time.sleep(0.001)
        inside -= 1
        return True

    result = laxity.study({**STUDY, "sets": 200}, out="d", tests=[own(test)], threads=4)
    assert (most, result.points.to_dict()["accepted"]) == (1, [200])


def test_a_test_that_studies_by_itself_says_so():
    def test(tasks, m):
        laxity.study(STUDY, out="inner", tests=[mine])
        return True

    mine = own(test)
    with pytest.raises(laxity.InputError, match="`mine` asks for itself"):
        laxity.study(STUDY, out="outer", tests=[mine])

    def other(tasks, m):
        inner = {**STUDY, "sets": 2}
        return len(laxity.study(inner, out=f"inner-{len(os.listdir())}", tests=[own(within_limit)]).points) == 1

    assert accepted(other, "another", sets=5) == [5]


@pytest.mark.parametrize(
    "what",
    [
        'laxity.study(STUDY, out="d", tests=[laxity.own_test("mine", forever, priorities="edf")])',
        'laxity.simulate(ONE, scheduler=laxity.prototype("mine", forever), cpus=1)',
    ],
)
def test_ctrl_c_ends_what_loops(what):
    code = f"""
        import laxity, sys
        STUDY = {STUDY!r}
        ONE = laxity.TaskSet([laxity.Task("a", "1ms", "10ms")])
        def forever(*_):
            print("begun", flush=True)
            while True:
                pass
        try:
            {what}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    is_interrupted(code)


def test_two_calls_of_one_test_take_turns():
    mine, ended = own(within_limit), []

    def study(out):
        ended.append(laxity.study(STUDY, out=out, tests=[mine]).points.to_dict()["accepted"])

    threads = [threading.Thread(target=study, args=(f"out-{number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 4 and all(one == ended[0] for one in ended)


@pytest.mark.parametrize("name", ["", "Mine X", "gfb", "m\x00", 5])
def test_a_test_has_a_name_of_its_own(name):
    with pytest.raises(laxity.InputError, match="name"):
        laxity.own_test(name, within_limit, priorities="edf")


@pytest.mark.parametrize(
    "call, why",
    [
        (lambda: laxity.own_test("mine", "g-edf", priorities="edf"), "cannot be called"),
        (lambda: laxity.own_test("mine", within_limit, priorities="edf", exact="yes"), "neither True nor False"),
        (lambda: laxity.own_test("mine", within_limit, priorities=None), "no text"),
        (lambda: laxity.study(STUDY, tests=[within_limit]), "not made by laxity.own_test"),
        (lambda: laxity.study(STUDY, tests=within_limit), "not made by laxity.own_test"),
        (lambda: laxity.study(STUDY, prototypes=[own(within_limit)]), "not made by laxity.prototype"),
        (lambda: laxity.prototype("mine", Asked), "no method `choose`"),
        (lambda: own(lambda: True), "cannot be called with .tasks, m."),
        (lambda: own(lambda tasks, m, x: True), "cannot be called with .tasks, m."),
        (lambda: laxity.prototype("mine", lambda: 1), "cannot be called with .now, jobs, cpus."),
    ],
)
def test_slips_with_what_is_ones_own(call, why):
    with pytest.raises(laxity.InputError, match=why):
        call()


def test_one_test_needs_no_list():
    assert laxity.study(STUDY, out="d", tests=own(within_limit)).points.to_dict()["accepted"] == accepted(within_limit, "list")
