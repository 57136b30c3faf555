#!/usr/bin/env python3
"""Puts the thesis's Tables 6.3 to 6.26 (thesis.csv) beside ours (points.csv): prints beside.md.

Usage: results/lindsay2012/beside.py [POINTS]
"""

import csv
import pathlib
import sys

CURVES = ["WFD", "FFD", "BF", "LWFG"]
CAPS = range(6, 49, 6)
METRICS = {
    "ipc": ("Instructions per cycle", "Tables 6.3 to 6.10", max),
    "llc-miss-rate": ("LLC miss rate (other quantities: see README.md)", "Tables 6.11 to 6.18", min),
    "dsr": ("Deadline satisfaction ratio", "Tables 6.19 to 6.26", max),
}


HERE = pathlib.Path(__file__).parent


def means(path, cap):
    """Means by metric, distribution, curve and cap."""
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {(r["metric"], r["distribution"], r["curve"], int(r[cap])): float(r["mean"]) for r in rows}


def main():
    """Prints a table for each metric, and what LWFG is relative to WFD and to the best of the others."""
    points = sys.argv[1] if len(sys.argv) > 1 else HERE / "points.csv"
    thesis, here = means(HERE / "thesis.csv", "cap"), means(points, "value")
    distributions = list(dict.fromkeys(key[1] for key in thesis))
    print("# The thesis's Tables 6.3 to 6.26 beside ours\n")
    print("Made by `beside.py` of `thesis.csv` (the thesis's numbers; the caption of Table 6.19 says MWL and means MLU) and")
    print("`points.csv`. The last columns: LWFG's mean by the best of the three others', thesis and here.")
    for metric, (title, tables, best) in METRICS.items():
        print(f"\n## {title} ({tables})\n")
        print("| | cap | WFD | FFD | BF | LWFG | here: WFD | FFD | BF | LWFG | thesis: LWFG by best other | here |")
        print("| --- " * 12 + "|")
        for distribution in distributions:
            for cap in CAPS:
                cells = []
                ratios = []
                for source in (thesis, here):
                    values = {curve: source[metric, distribution, curve, cap] for curve in CURVES}
                    digits = 5 if metric == "dsr" else 3
                    cells += [f"{values[curve]:.{digits}f}".removeprefix("0") for curve in CURVES]
                    other = best(values[curve] for curve in CURVES if curve != "LWFG")
                    ratios.append(f"{values['LWFG'] / other:.2f}")
                print("|", " | ".join([distribution.upper() if cap == 6 else "", str(cap), *cells, *ratios]), "|")


if __name__ == "__main__":
    main()
