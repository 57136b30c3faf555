"""Opens every page that laxity makes in a real browser: check.py LAXITY SCRATCH AXE [--pictures DIR] [--only NAMES]."""

import argparse
import os
import sys
from pathlib import Path

import big
import broken
import controls
import looks
from devtools import Browser
from pages import Maker, NotMade, Page


def check(browser: Browser, page: Page, rules: str) -> list[str]:
    url = f"file://{page.file}"
    text = page.file.read_text()
    wrong = [f"it does not say `{words}`" for words in page.says if words not in text]
    wrong += [f"it says `{words}`" for words in page.says_not if words in text]
    wrong += looks.first_screen(browser, url, page.first)
    wrong += looks.wide(browser, url, False, rules) + looks.wide(browser, url, True, rules)
    wrong += looks.narrow(browser, url) + looks.paper(browser, url) + looks.still(browser, url)
    return wrong + controls.check(browser, url)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("laxity", type=Path)
    arguments.add_argument("scratch", type=Path)
    arguments.add_argument("axe", type=Path)
    arguments.add_argument("--pictures", type=Path)
    arguments.add_argument("--only", default="")
    options = arguments.parse_args()
    rules, failures, made = options.axe.read_text(), [], {}
    maker, browser = Maker(options.laxity, options.scratch), Browser()
    only = set(filter(None, options.only.split(",")))
    wanted = lambda name: not only or name in only  # noqa: E731
    try:
        for name, make in maker.kinds().items():
            if not wanted(name):
                continue
            try:
                made[name] = make()
            except NotMade as why:
                print(f"{name}: not made here: {why}")
                continue
            if options.pictures:
                options.pictures.mkdir(parents=True, exist_ok=True)
                looks.pictures(browser, f"file://{made[name].file}", options.pictures, name)
            failures += report(name, check(browser, made[name], rules))
        if wanted("big"):
            failures += report("big", big.check(browser, maker))
        if wanted("broken") and {"simulate", "schedule"} <= set(made):
            failures += report("broken", broken.check(browser, made["simulate"].file, made["schedule"].file, rules))
    finally:
        browser.close()
    print(f"{len(made)} pages, {len(failures)} faults, {os.times().children_user + os.times().user:.0f} s of CPU")
    return 1 if failures else 0


def report(name: str, wrong: list[str]) -> list[str]:
    print(f"{name}: {'as it should be' if not wrong else f'{len(wrong)} faults'}")
    for line in wrong:
        print(f"  {name}: {line}")
    sys.stdout.flush()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
