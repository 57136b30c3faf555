"""What Python gives is byte for byte what the program's --json gives."""

import laxity
import pytest
from conftest import EXAMPLES, program, random_set, seeds

ON_SETS = [
    ("analyze", laxity.analyze, {"cpus": 2, "scheduler": ["g-edf", "p-rm", "p-edf"]}),
    ("analyze", laxity.analyze, {"cpus": "0-3", "scheduler": "g-edf-mp", "overheads": "cerqueira2014-text/g-edf-mp-max"}),
    ("analyze", laxity.analyze, {"cpus": 2, "sensitivity": True, "guarantee": "soft", "scheduler": "g-edf"}),
    ("simulate", laxity.simulate, {"cpus": 2, "duration": "100ms", "scheduler": ["edf-bh", "p-fpp:rm"]}),
    (
        "simulate",
        laxity.simulate,
        {"cpus": 3, "duration": 50_000_000, "verify": True, "scheduler": "push-pull", "demand": "uniform:0.5,1", "seed": 7},
    ),
    ("simulate", laxity.simulate, {"cpus": 2, "duration": "20ms", "batching": False, "busy": 1, "scheduler": "edf-bh"}),
    ("place", laxity.place, {"cpus": 4}),
    ("place", laxity.place, {"cpus": 4, "placement": "wfd", "fit": "load"}),
    ("settings", laxity.settings, {"cpus": 4}),
]


def words(options):
    out = []
    for name, value in options.items():
        name = "--" + name.replace("_", "-")
        if value is True:
            out.append(name)
        elif value is False:
            out.append(f"{name}=off")
        elif name == "--duration" and isinstance(value, int):
            out.append(f"{name}={value}ns")
        else:
            out.append(f"{name}={','.join(value) if isinstance(value, list) else value}")
    return out


def same(command, function, options, path, given):
    """Either both answer the same, or both refuse with the same words."""
    import subprocess

    done = subprocess.run(
        [laxity.program(), command, str(path), *words(options), "--json", "--quiet"], capture_output=True, text=True
    )
    what = f"laxity {command} {path} {' '.join(words(options))}"
    try:
        answer = function(given, **options)
    except laxity.Error as refused:
        assert done.returncode in (2, 3), f"{what}: only Python refuses: {refused}\n{done.stderr}"
        said = done.stderr.split("error: ", 1)[1]
        assert refused.message.split(":")[-1].strip() in said, f"{what}: {said}"
        return
    assert done.returncode == answer.exit_code, f"{what}: {done.returncode}, {answer.exit_code}\n{done.stderr}"
    assert done.stdout == answer.json, what
    assert answer.text, what


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@pytest.mark.parametrize("command, function, options", ON_SETS)
@pytest.mark.filterwarnings("ignore::laxity.LaxityWarning")
def test_examples_from_files(command, function, options, path):
    same(command, function, options, path, path)


def test_random_sets_in_memory(tmp_path):
    for seed in seeds(24):
        made = random_set(seed)
        path = tmp_path / "set.json"
        path.write_text(made.to_json())
        command, function, options = ON_SETS[seed % len(ON_SETS)]
        try:
            same(command, function, options, path, made)
        except AssertionError as error:
            raise AssertionError(f"LAXITY_SEEDS={seed}..{seed + 1} tests/python/module -k random_sets\n{error}") from error


def test_generated_sets_are_those_of_the_program(tmp_path):
    import json

    for generator, options in [
        ("emberson", {"n": 5, "utilization": 2.5, "count": 3}),
        ("unc", {"utilization": "3.2", "utilizations": "exp-light", "periods": "logunif-moderate", "seed": 9, "count": 2}),
        ("waters", {"utilization": 1.5, "seed": 7}),
        ("lelli2012", {"cpus": 2, "count": 1}),
    ]:
        long = {"n": "tasks"}
        given = [f"--{long.get(name, name)}={value}" for name, value in options.items()]
        text = program("generate", generator, *given, "--json")
        made = laxity.generate(generator, **options)
        assert [json.loads(one.to_json()) for one in made] == json.loads(text), generator


def test_other_commands():
    results = laxity.simulate(EXAMPLES[0], cpus=2, duration="50ms", scheduler="g-edf", out="one", events=True)
    assert results.exit_code == 0
    laxity.simulate(EXAMPLES[0], cpus=2, duration="50ms", scheduler="g-edf", out="two", seed=2, events=True)
    for answer, words in [
        (laxity.verify("one"), ["verify", "one"]),
        (laxity.report("one"), ["report", "one"]),
        (laxity.diff("one", "two"), ["diff", "one", "two"]),
        (laxity.check(["one", EXAMPLES[0]]), ["check", "one", str(EXAMPLES[0])]),
        (laxity.catalogue(), ["list"]),
        (laxity.catalogue("tests"), ["list", "tests"]),
    ]:
        assert answer.json == program(*words, "--json"), words
        assert answer.text == program(*words, "--quiet") or words[0] in ("list", "check", "report"), words
