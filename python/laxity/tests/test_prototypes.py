"""Scheduling policies of one's own, simulated beside laxity's."""

import json

import laxity
import pytest
from conftest import program, random_set, seeds


def earliest_deadline(now, jobs, cpus):
    return sorted(jobs, key=lambda job: job.deadline_abs_ns)[: len(cpus)]


def least_laxity(now, jobs, cpus):
    first = sorted(jobs, key=lambda job: job.laxity_ns(now))[: len(cpus)]
    waiting = [job for job in jobs if job not in first]
    return laxity.Choice(first, again_at_ns=now + 100_000 if waiting else None)


def outcomes(simulation):
    """What a summary says of its runs, but for the scheduler's name."""
    return [{key: value for key, value in run.items() if key not in ("scheduler", "run", "notes")} for run in simulation["runs"]]


def jobs_of(simulation):
    table = simulation.jobs.to_dict()
    return sorted(zip(*(table[name] for name in ("task", "job", "release_ns", "finish_ns"))))


def simulated(sets, **options):
    return laxity.simulate(sets, cpus=2, duration="200ms", seed=3, **options)


@pytest.mark.parametrize("seed", seeds(12))
def test_edf_as_a_prototype_is_edf(seed):
    mine = laxity.prototype("mine", earliest_deadline, order="edf")
    theirs = simulated(random_set(seed), scheduler="edf-bh")
    ours = simulated(random_set(seed), scheduler=mine, verify=True)
    assert ours.exit_code == theirs.exit_code
    assert jobs_of(ours) == jobs_of(theirs)


def test_it_stands_beside_others_in_results_and_pictures():
    sets = laxity.TaskSet([laxity.Task("a", "6ms", "10ms"), laxity.Task("b", "6ms", "10ms"), laxity.Task("c", "7ms", "20ms")])
    mine = laxity.prototype("llf", least_laxity)
    assert str(mine) == mine.scheduler == "prototype:llf" and repr(mine) == '<laxity.Prototype "prototype:llf">'
    both = simulated(sets, scheduler=[mine, "edf-bh"], verify=True, out="both", events=True)
    assert "prototype:llf" in both.text and "edf-bh" in both.text
    assert "prototype" in program("report", "both") and "slowly" in json.dumps(both.value)
    # What is kept can be verified without the function.
    verdict = json.loads(program("verify", "both", "--json", code=(0,)))
    assert "may run any ready job" in json.dumps(verdict)
    assert simulated(sets, scheduler=mine)._repr_html_()


def test_a_class_remembers_things_in_each_simulation():
    made = []

    class RoundRobin:
        def __init__(self, tasks, cpus):
            made.append((len(tasks), cpus))
            self.turn = 0

        def choose(self, now, jobs, cpus):
            self.turn += 1
            turns = jobs[self.turn % max(len(jobs), 1) :] + jobs[: self.turn % max(len(jobs), 1)]
            return laxity.Choice(turns[: len(cpus)], now + 500_000 if jobs else None)

    sets = [random_set(3), random_set(4)]
    simulated(sets, scheduler=laxity.prototype("rr", RoundRobin), verify=True)
    assert sorted(made) == sorted((len(task_set), (0, 1)) for task_set in sets)
    made.clear()
    simulated(random_set(5), scheduler=laxity.prototype("rr", RoundRobin, scope="partitioned"), verify=True)
    assert [cpus for _, cpus in made] == [(0,), (1,)][: len(made)]


def test_cpus_can_be_chosen():
    sets = laxity.TaskSet([laxity.Task("a", "1ms", "10ms"), laxity.Task("b", "1ms", "10ms")])

    def last_cpus_first(now, jobs, cpus):
        return dict(zip(reversed(cpus), jobs))

    cpus = set(simulated(sets, scheduler=laxity.prototype("last", last_cpus_first), verify=True, out="x").jobs.to_dict()["last_cpu"])
    assert cpus == {0, 1}
    one = laxity.TaskSet([laxity.Task("a", "1ms", "10ms")])
    cpus = set(simulated(one, scheduler=laxity.prototype("last", last_cpus_first)).jobs.to_dict()["last_cpu"])
    assert cpus == {1}


def test_a_claim_that_is_not_kept_is_found():
    def latest(now, jobs, cpus):
        return sorted(jobs, key=lambda job: -job.deadline_abs_ns)[: len(cpus)]

    sets = laxity.TaskSet([laxity.Task("a", "6ms", "10ms"), laxity.Task("b", "6ms", "12ms"), laxity.Task("c", "7ms", "20ms")])
    found = simulated(sets, scheduler=laxity.prototype("late", latest, order="edf"), verify=True)
    assert found.exit_code == 1 and "global-invariant" in found.text + found.json
    free = simulated(sets, scheduler=laxity.prototype("late", latest), verify=True)
    assert "global-invariant" not in free.text


@pytest.mark.parametrize(
    "wrong, why",
    [
        (lambda now, jobs, cpus: jobs + jobs, "twice"),
        (lambda now, jobs, cpus: jobs[0], "return a list of jobs"),
        (lambda now, jobs, cpus: [1], "which is no job"),
        (lambda now, jobs, cpus: {9: jobs[0]}, "CPU 9, which is not there"),
        (lambda now, jobs, cpus: laxity.Choice([], now), "later instant"),
        (lambda now, jobs, cpus: laxity.Choice([], now + 0.5), "no instant"),
        (lambda now, jobs, cpus: None, "answered None"),
    ],
)
def test_a_wrong_choice_says_what_is_wrong(wrong, why):
    sets = laxity.TaskSet([laxity.Task("a", "6ms", "10ms"), laxity.Task("b", "6ms", "12ms")])
    with pytest.raises(laxity.InputError, match=why):
        simulated(sets, scheduler=laxity.prototype("wrong", wrong))


def test_what_it_raises_is_raised():
    def broken(now, jobs, cpus):
        return 1 // (30_000_000 - now if now < 40_000_000 else 0)

    def raises(now, jobs, cpus):
        if now >= 30_000_000:
            raise ZeroDivisionError("of the user's policy")
        return jobs[: len(cpus)]

    with pytest.raises(ZeroDivisionError, match="of the user's policy"):
        simulated(random_set(1), scheduler=laxity.prototype("raises", raises))
    # The next call is whole.
    assert simulated(random_set(1), scheduler=laxity.prototype("fine", earliest_deadline)).exit_code in (0, 1)


@pytest.mark.parametrize("name", ["", "A", "a:b", "a,b", "a b"])
def test_a_name_is_a_name(name):
    with pytest.raises(laxity.InputError):
        laxity.prototype(name, earliest_deadline)


def test_what_is_no_policy_is_refused():
    with pytest.raises(laxity.InputError, match="scope"):
        laxity.prototype("a", earliest_deadline, scope="everywhere")
    with pytest.raises(laxity.InputError, match="priority rule"):
        laxity.prototype("a", earliest_deadline, order="llf")
    with pytest.raises(laxity.InputError, match="neither a function nor a class"):
        laxity.prototype("a", "edf")
    with pytest.raises(laxity.InputError, match="beside budgets"):
        simulated(random_set(1), scheduler=laxity.prototype("a", earliest_deadline), budget="throttle")
    twice = [laxity.prototype("a", earliest_deadline), laxity.prototype("a", least_laxity)]
    with pytest.raises(laxity.InputError, match="twice|two of your own"):
        simulated(random_set(1), scheduler=twice)
    with pytest.raises(laxity.InputError, match="no prototype is known"):
        simulated(random_set(1), scheduler="prototype:a")


STUDY = {
    "version": 1,
    "kind": "simulation",
    "name": "own-policy",
    "title": "a policy of one's own beside EDF",
    "sets": 6,
    "duration": "100ms",
    "platform": {"processors": 2},
    "axis": {"of": "utilization", "from": 1, "to": "m", "step": 0.5},
    "generator": {"name": "unc"},
    "matrix": {"utilizations": ["uni-medium"], "periods": ["uni-short"]},
    "metrics": ["dsr"],
}


def test_in_a_study_beside_others():
    mine = laxity.prototype("mine", earliest_deadline)
    study = {**STUDY, "curves": [{"name": "ours", "scheduler": "edf-bh"}, {"name": "own", "scheduler": mine}]}
    result = laxity.study(study, prototypes=[mine], out="own")
    points = result.points.to_dict()
    values = {name: [row for row in zip(points["curve"], points["value"], points["mean"]) if row[0] == name] for name in ("ours", "own")}
    assert [row[1:] for row in values["ours"]] == [row[1:] for row in values["own"]] and values["own"]
    with pytest.raises(laxity.InputError, match="no prototype is known"):
        laxity.study(study, out="without")
    # Points of another policy of that name do not count.
    other = laxity.prototype("mine", least_laxity)
    with pytest.raises(laxity.Error, match="other|changed|another"):
        laxity.study({**study, "sets": 6}, prototypes=[other], out="own")
    with pytest.raises(laxity.InputError, match="leave out `on`"):
        laxity.study(study, prototypes=[mine], on="dask", out="there")


def test_it_is_not_run():
    for words in (["run", "x.toml", "--scheduler", "prototype:a"], ["load", "prototype:a"]):
        assert "it can be simulated, not run" in failing(*words)
    assert laxity.analyze(random_set(1), scheduler="prototype:a", cpus=2).exit_code == 1


def failing(*words):
    import subprocess

    return subprocess.run([laxity.program(), *words], capture_output=True, text=True, check=False).stderr
