"""A schedule of a million events: the page is small, and a frame costs no more than one of a tenth of them. How much work
that is says no clock: every loop and function of the page's script counts its steps."""

import re
from pathlib import Path

from devtools import Browser
from pages import Maker
from schedule import Schedule, red

EVENTS = 1_000_000
BYTES_PER_EVENT_MAX = 11
ELEMENTS_MAX = 400
# A frame of ten times more events takes a few more steps of bisection, and each pixel of a row a few dozen.
WORK_RATIO_MAX = 1.7
WORK_PER_PIXEL_MAX = 40
# Calls of the canvas for each row and pixel, at most.
CALLS_PER_PIXEL = 3

SET = """version = 1
[[tasks]]
name = "fast"
wcet = "40us"
period = "100us"
[[tasks]]
name = "middle"
wcet = "60us"
period = "300us"
[[tasks]]
name = "slow"
wcet = "100us"
period = "1ms"
[[tasks]]
name = "rare"
wcet = "1ms"
period = "7ms"
"""

COUNT_CALLS = """
window.calls = 0;
for (const name of ['fillRect', 'fillText', 'stroke', 'fill']) {
  const original = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...values) { window.calls++; return original.apply(this, values); };
}
"""


def make(maker: Maker, duration: str, name: str) -> tuple[Path, int, int]:
    """A page, how many events it is of, and how many deadlines are missed."""
    set_file = maker.scratch / "fast.toml"
    set_file.write_text(SET)
    page = maker.scratch / f"{name}.html"
    # One job in some thousands takes six times as long as it should: misses are rare.
    words = (
        "simulate", set_file, "--cpus", 2, "--scheduler", "g-edf", "--demand", "bimodal:0.8,6,0.0002", "--duration", duration, "--quiet",
    )
    events = maker.call(*words, "--text", "--html", page)
    return page, events.count("\n"), events.count(" misses")


def counting(page: Path) -> Path:
    """The same page, whose script counts."""
    head, script = page.read_text().split('"use strict";', 1)
    script = re.sub(r"(?m)((?:for|while) \(.*\) \{|=> \{|^\s*function \w+\(.*\) \{|return function \(\) \{)$", r"\1 window.steps++;", script)
    script = script.replace("function paint() {", "function paint() { window.frames++;")
    counted = page.with_name(f"counting-{page.name}")
    counted.write_text(head + '"use strict"; window.steps = window.frames = 0;' + script)
    return counted


def frame(browser: Browser, page: Path) -> dict:
    """What it takes to draw everything once, and what is seen of it."""
    with browser.open(f"file://{counting(page)}") as tab:
        one = Schedule(tab, 0)
        tab.run(COUNT_CALLS)
        work = {}
        for view, action in {"all": "Show all", "half": "Zoom in", "quarter": "Zoom in", "eighth": "Zoom in"}.items():
            tab.run("window.steps = window.calls = window.frames = 0")
            one.button(action)
            tab.settle()
            work[view] = tab.run("({steps: Math.round(steps / frames), calls: Math.round(calls / frames)})")
        one.button("Show all")
        tab.settle()
        pixels = tab.run("document.querySelectorAll('.schedule canvas')[1].clientWidth")
        rows = tab.run("JSON.parse(document.querySelector('.schedule-data').textContent).tasks.length") + 2
        elements = tab.run("document.querySelectorAll('*').length")
        wrong = tab.complaints()
        return {
            "views": work, "pixels": pixels, "rows": rows, "elements": elements, "misses": one.misses, "red": red(one), "wrong": wrong,
            "next": walk(one),
        }


def walk(one: Schedule) -> int:
    """Misses found one after the other, from the first."""
    found = 0
    for _ in range(min(one.misses, 5)):
        one.key("n")
        one.tab.settle()
        found += bool(re.search(r"miss \d+ of", one.output())) and red(one)
    return found


def check(browser: Browser, maker: Maker) -> list[str]:
    small, few, _ = make(maker, "2200ms", "small")
    large, many, missed = make(maker, "22s", "large")
    wrong = []
    if many < EVENTS:
        wrong.append(f"the large schedule has {many} events only")
    if large.stat().st_size > BYTES_PER_EVENT_MAX * many:
        wrong.append(f"{large.stat().st_size} bytes for {many} events")
    one, other = frame(browser, small), frame(browser, large)
    wrong += one["wrong"] + other["wrong"]
    for view, values in other["views"].items():
        before = one["views"][view]
        pixels = other["pixels"] * other["rows"]
        if values["steps"] > min(WORK_PER_PIXEL_MAX * pixels, WORK_RATIO_MAX * before["steps"]):
            wrong.append(f"a frame ({view}) of {many} events takes {values['work']} steps, of {few} {before['work']}")
        if values["calls"] > CALLS_PER_PIXEL * other["pixels"] * other["rows"]:
            wrong.append(f"a frame ({view}) of {many} events takes {values['calls']} calls")
    if other["elements"] > ELEMENTS_MAX:
        wrong.append(f"the page of {many} events has {other['elements']} elements")
    if other["misses"] != missed or not missed:
        wrong.append(f"{other['misses']} misses on the page, {missed} in the schedule")
    if not other["red"]:
        wrong.append(f"the {missed} misses of {many} events are not seen where all is shown")
    if other["next"] != min(missed, 5):
        wrong.append(f"{other['next']} of the first {min(missed, 5)} misses are shown")
    print(f"large: {many} events, {large.stat().st_size} bytes, {missed} misses; frames: {other['views']}; of {few} events: {one['views']}")
    return wrong
