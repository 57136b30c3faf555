"""Counts instructions, and compares them with those that are recorded."""

import argparse
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from callgrind import callgrind
from measures import Sets, all_measures

RECORDED = Path("results/instructions/instructions.json")
# Another order of hash maps, another libc: less than 1 %. What is smaller than this is not worth a line.
TOLERANCE = 0.03
# What got so much cheaper is recorded again, so that it cannot grow back unseen.
CHEAPER = 0.10
# Functions of a measure that are recorded.
FUNCTIONS = 10


def short(name):
    """Without what the compiler numbers differently from build to build."""
    return re.sub(r"'\d+$|::h[0-9a-f]{16}$", "", name)


def count(laxity, measure):
    """By name: instructions for each unit, and of the dearest functions; the measure, and its parts."""
    ran = [callgrind([laxity, *words]) for words in measure.commands]
    before = {} if len(ran) == 1 else ran[0][1]
    units = measure.more if isinstance(measure.more, int) else measure.more([text for text, _ in ran])
    per_function = {}
    for name, cost in ran[-1][1].items():
        per_function[short(name)] = per_function.get(short(name), 0) + cost - before.get(name, 0)
    total = sum(ran[-1][1].values()) - sum(before.values())
    counted = {measure.name: summary(measure.per, units, total, per_function)}
    for part, pattern in measure.parts.items():
        inside = {name: cost for name, cost in per_function.items() if re.search(pattern, name)}
        counted[f"{measure.name}: {part}"] = summary(measure.per, units, sum(inside.values()), inside)
    return counted


def summary(per, units, total, per_function):
    dearest = sorted(per_function.items(), key=lambda item: -abs(item[1]))[:FUNCTIONS]
    functions = {name: round(cost / units) for name, cost in dearest}
    return {"per": per, "instructions": round(total / units), "functions": functions}


def verdict(name, now, recorded):
    """What is wrong with a measure; nothing if it is as recorded."""
    if recorded is None:
        return f"{name}: {now['instructions']:,} instructions a {now['per']} are not recorded"
    then = recorded["instructions"]
    share = now["instructions"] / then - 1
    if -CHEAPER <= share <= TOLERANCE:
        return None
    grown = {
        function: cost - recorded["functions"].get(function, 0)
        for function, cost in now["functions"].items()
    }
    gone = {function: -cost for function, cost in recorded["functions"].items() if function not in now["functions"]}
    changes = sorted({**grown, **gone}.items(), key=lambda item: -abs(item[1]))[:4]
    where = "".join(f"\n    {change:+,} {function}" for function, change in changes)
    return f"{name}: {then:,} -> {now['instructions']:,} instructions a {now['per']} ({share:+.1%}){where}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--laxity", required=True)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    recorded = json.loads(RECORDED.read_text())["measures"] if RECORDED.exists() else {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        measures = [one for one in all_measures(Sets(folder)) if arguments.only in one.name]
        if not measures:
            parser.error(f"--only {arguments.only}: no line has this word; results/instructions/instructions.json has all")
        counted = {}
        for ran in pool.map(lambda one: count(arguments.laxity, one), measures):
            for name, now in ran.items():
                counted[name] = now
                then = recorded.get(name, {}).get("instructions")
                against = f"  recorded {then:12,} {now['instructions'] / then - 1:+7.1%}" if then else ""
                print(f"{name:34} {now['instructions']:12,} a {now['per']:5}{against}", flush=True)
    if arguments.record:
        target = Path("target/results/instructions")
        target.mkdir(parents=True, exist_ok=True)
        kept = recorded if arguments.only else {}
        text = json.dumps({"measures": {**kept, **counted}}, indent=1)
        (target / RECORDED.name).write_text(text + "\n")
        print(f"wrote {target / RECORDED.name}: copy it to {RECORDED}, and say in the commit why the counts are others")
        return
    missing = [] if arguments.only else [f"{name}: no longer counted" for name in recorded if name not in counted]
    wrong = missing + [text for name, now in counted.items() if (text := verdict(name, now, recorded.get(name)))]
    if wrong:
        print(f"\n{len(wrong)} of {len(counted)} are not as {RECORDED} has them ({TOLERANCE:+.0%}, {-CHEAPER:.0%}):")
        print("\n".join(wrong))
        print("If that is meant: tests/instructions/run --record")
        sys.exit(1)
    print(f"all {len(counted)} as recorded")


main()
