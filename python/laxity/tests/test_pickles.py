"""Answers go from one process to another, as those of pools do."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import laxity
import pytest

PAIR = laxity.TaskSet([laxity.Task("a", "2ms", "10ms"), laxity.Task("b", "3ms", "15ms")], name="pair")
PLATFORM = {"version": 1, "name": "two", "cores": 2}


def edf(now, jobs, cpus):
    """At module level, so that it can be pickled."""
    return sorted(jobs, key=lambda job: job.deadline_abs_ns)[: len(cpus)]


def there_and_back(value):
    return pickle.loads(pickle.dumps(value))


def test_tables():
    jobs = laxity.simulate(PAIR, scheduler="g-edf", cpus=1, duration="60ms").jobs
    back = there_and_back(jobs)
    assert back.to_dict() == jobs.to_dict() and back.columns == jobs.columns
    empty = there_and_back(laxity.verdicts(PAIR, scheduler="g-edf", cpus=1))
    assert len(empty) == 1 and empty.to_dict()["proven_hard"] == [True]


def test_answers():
    for answer in (
        laxity.analyze(PAIR, scheduler="g-edf", cpus=1),
        laxity.place(PAIR, cpus=2),
        laxity.settings(PAIR, platform=PLATFORM),
        laxity.simulate(PAIR, scheduler="g-edf", platform=PLATFORM, duration="60ms"),
    ):
        back = there_and_back(answer)
        assert type(back) is type(answer)
        assert (back.json, back.text, back.exit_code, back.value) == (answer.json, answer.text, answer.exit_code, answer.value)
        assert copy.copy(answer).json == answer.json
    assert there_and_back(laxity.place(PAIR, cpus=2)).task_set == laxity.place(PAIR, cpus=2).task_set


def simulated(_):
    return laxity.simulate(PAIR, scheduler=["g-edf", "p-rm"], platform=PLATFORM, duration="60ms")


def test_what_is_asked_of_an_answer_from_another_process():
    """Its jobs are simulated again, on a platform that only that process had as a file."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        far = next(iter(pool.map(simulated, [0])))
    here = simulated(0)
    assert far.json == here.json
    assert far.jobs.to_dict() == here.jobs.to_dict()
    assert far.verify().clean


def test_prototypes():
    mine = laxity.prototype("mine", edf, scope="global", order="edf")
    answer = laxity.simulate(PAIR, scheduler=mine, cpus=1, duration="60ms")
    back = there_and_back(answer)
    assert back.jobs.to_dict() == answer.jobs.to_dict()
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(laxity.prototype("mine", lambda now, jobs, cpus: jobs[: len(cpus)], scope="global"))


def test_directories_that_go_with_an_answer_stay_with_it(tmp_path):
    answer = laxity.simulate(PAIR, scheduler="g-edf", cpus=1, duration="60ms")
    with pytest.raises(TypeError, match="pickle that, or keep the directory with out="):
        pickle.dumps(answer.directory)
    kept = laxity.simulate(PAIR, scheduler="g-edf", cpus=1, duration="60ms", out=tmp_path / "kept")
    assert there_and_back(kept.directory).summary == kept.directory.summary


def test_sets_in_sets_and_as_keys():
    twin = laxity.TaskSet(PAIR.tasks, name="pair")
    other = laxity.TaskSet(PAIR.tasks, name="other")
    assert hash(twin) == hash(PAIR) and len({PAIR, twin, other}) == 2
