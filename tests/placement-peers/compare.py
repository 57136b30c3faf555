#!/usr/bin/env python3
"""Maximum loads found by the placement search, HiGHS and CP-SAT on the same task sets within the same time.

The sets come from `laxity generate emberson` with the seeds below. One thread each. All answers are computed again in
exact fractions, and compared with the best lower bound that any of the programs proved of the set at any limit.
"""

import argparse
import json
import math
import resource
import subprocess
import tempfile
import time
import tomllib
from fractions import Fraction
from pathlib import Path

SIZES = [(10, 3), (20, 4), (40, 8), (48, 16), (80, 16), (96, 16), (192, 32), (384, 16), (384, 64)]
SHARES = ["0.6", "0.8", "0.95"]
SEEDS = [101, 102]
LIMITS = [0.1, 1.0]
# The limit of 10 s is for these, of the first seed.
LONG_LIMIT = 10.0
LONG_SIZES = [(20, 4), (40, 8), (96, 16), (384, 64)]
LONG_SHARE = "0.8"
# CP-SAT has integers only: loads are rounded to multiples of this part of a core.
CP_SAT_SCALE = 10**9
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def nanoseconds(text: str) -> int:
    number = text.rstrip("nums")
    return int(Fraction(number) * UNITS[text.removeprefix(number)])


def loads_of(path: Path) -> list[Fraction]:
    tasks = tomllib.loads(path.read_text())["tasks"]
    return [Fraction(nanoseconds(task["wcet"]), nanoseconds(task["period"])) for task in tasks]


def greatest(loads: list[Fraction], bin_of: list[int], bins: int) -> Fraction:
    filled = [Fraction(0)] * bins
    for load, index in zip(loads, bin_of):
        filled[index] += load
    return max(filled)


def by_highs(loads, bins, limit):
    import highspy
    import numpy as np

    model = highspy.Highs()
    for option, value in [("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 5e-7),
                          ("time_limit", limit)]:
        model.setOptionValue(option, value)
    worst = model.addVariable(lb=0, obj=1)
    chosen = [[model.addBinary() for _ in range(bins)] for _ in loads]
    for row in chosen:
        model.addConstr(sum(row) == 1)
    for index in range(bins):
        model.addConstr(sum(float(load) * row[index] for load, row in zip(loads, chosen)) <= worst)
    model.run()
    bound = model.getInfo().mip_dual_bound
    if model.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None, bound
    values = np.array(model.getSolution().col_value)[1:].reshape(len(loads), bins)
    return greatest(loads, values.argmax(axis=1).tolist(), bins), bound


def by_cp_sat(loads, bins, limit):
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    weights = [math.floor(load * CP_SAT_SCALE) for load in loads]
    worst = model.new_int_var(0, sum(weights), "z")
    chosen = [[model.new_bool_var("") for _ in range(bins)] for _ in loads]
    for row in chosen:
        model.add_exactly_one(row)
    for index in range(bins):
        model.add(sum(weight * row[index] for weight, row in zip(weights, chosen)) <= worst)
    model.minimize(worst)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(model)
    bound = solver.best_objective_bound / CP_SAT_SCALE
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, bound
    bin_of = [next(index for index, var in enumerate(row) if solver.boolean_value(var)) for row in chosen]
    return greatest(loads, bin_of, bins), bound


def by_search(program, path, bins, limit):
    shown = "default" if limit is None else f"{round(limit * 1000)}ms"
    answer = subprocess.run([program, str(bins), shown, path], check=True, capture_output=True, text=True)
    fields = dict(zip(*(line.split(",") for line in answer.stdout.split())))
    return float(fields["max_load"]), float(fields["lower_bound"])


def by_laxity(program, path, bins, limit):
    platform = Path(path).parent / f"cores-{bins}.toml"
    if not platform.exists():
        cores = ", ".join(f"{{ cpu = {cpu} }}" for cpu in range(bins))
        platform.write_text(f'version = 1\nname = "cores"\ncores = [{cores}]\n')
    command = [program, "place", path, "--json", "--overload", "least-loaded", "--platform", platform]
    command += ["--ilp-time-limit", f"{round(limit * 1000)}ms"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer["max_load"], answer["lower_bound"]


def cpu_seconds() -> float:
    return sum(sum(resource.getrusage(which)[:2]) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def measure(run):
    started, used = time.monotonic(), cpu_seconds()
    load, bound = run()
    return (None if load is None else float(load)), bound, time.monotonic() - started, cpu_seconds() - used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--laxity", required=True)
    parser.add_argument("--search", required=True)
    parser.add_argument("--before", help="another laxity, to compare with")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="placement-peers-"))
    rows = []
    for size in SIZES:
        for share in SHARES:
            for seed in SEEDS:
                path = folder / f"{size[0]}-{size[1]}-{share}-{seed}.toml"
                command = [arguments.laxity, "generate", "emberson", "-n", str(size[0]), "--seed", str(seed)]
                command += ["-u", str(float(Fraction(share) * size[1])), "-o", path]
                subprocess.run(command, check=True, capture_output=True)
                rows.append((size, share, seed, path, loads_of(path)))
    for warm_up in (by_highs, by_cp_sat):
        warm_up([Fraction(1, 2)], 1, 1.0)
    results = {}
    for size, share, seed, path, loads in rows:
        long = size in LONG_SIZES and share == LONG_SHARE and seed == SEEDS[0]
        key, bins = (size, share, seed), size[1]
        results[key, "default", "search"] = measure(lambda: by_search(arguments.search, path, bins, None))
        for limit in LIMITS + [LONG_LIMIT] * long:
            programs = {
                "search": lambda: by_search(arguments.search, path, bins, limit),
                "highs": lambda: by_highs(loads, bins, limit),
                "cp-sat": lambda: by_cp_sat(loads, bins, limit),
            }
            if arguments.before:
                programs["before"] = lambda: by_laxity(arguments.before, path, bins, limit)
            for name, run in programs.items():
                results[key, limit, name] = measure(run)
        print(json.dumps([key, [(k[1:], v) for k, v in results.items() if k[0] == key]]), flush=True)
    table(rows, results, ["search", "before", "highs", "cp-sat"] if arguments.before else ["search", "highs", "cp-sat"])


def table(rows, results, names):
    """The mean gap of each size and share in per cent, and the mean CPU time."""
    keys = [row[:3] for row in rows]
    # A bound above an answer is one solver's rounding.
    answers = {key: min(v[0] for k, v in results.items() if k[0] == key and v[0] is not None) for key in keys}
    bounds = {key: max(min(v[1], answers[key]) for k, v in results.items() if k[0] == key) for key in keys}

    def cell(group, limit, name):
        found = [results.get((key, limit, name)) for key in group]
        if None in found:
            return ""
        if any(answer[0] is None for answer in found):
            return "none"
        gaps = [max(0.0, 100 * (answer[0] / bounds[key] - 1)) for answer, key in zip(found, group)]
        return f"{sum(gaps) / len(gaps):.4f} ({sum(answer[3] for answer in found) / len(found):.2f} s)"

    for limit in ["default", *LIMITS, LONG_LIMIT]:
        print(f"\nlimit {limit}\n\n| n, m, U/m | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
        for size in SIZES:
            for share in SHARES:
                group = [key for key in keys if key[:2] == (size, share) and (key, limit, "search") in results]
                if group:
                    cells = [cell(group, limit, name) for name in names]
                    print(f"| {size[0]}, {size[1]}, {share} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
