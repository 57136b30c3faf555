"""The schedule to zoom in: every button, key, turn of the wheel and link gives the view that it is for."""

import re

from devtools import SHORT_S, Browser, PageError, Tab

# What the buttons are called, and the keys that do the same.
BUTTONS = {
    "Zoom in": ["+", "="], "Zoom out": ["-"], "Move to earlier times": ["ArrowLeft"], "Move to later times": ["ArrowRight"],
    "Show all": ["0"], "Previous missed deadline": ["p"], "Next missed deadline": ["n"],
}
KBD = {"←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown", "−": "-"}
MISSES_TRIED = 4
TRIED_WHOLE = 2


class Schedule:
    """One of the schedules of a page."""

    def __init__(self, tab: Tab, number: int) -> None:
        self.tab, self.number = tab, number
        self.root = f"document.querySelectorAll('.schedule')[{number}]"
        tab.run(f"{self.root}.scrollIntoView({{behavior: 'instant'}})")
        tab.until(lambda: "–" in self.output())
        self.id = tab.run(f"{self.root}.dataset.schedule")
        header = tab.run(f"(d => [d.from, d.to, d.misses])(JSON.parse({self.root}.querySelector('.schedule-data').textContent))")
        self.all, self.misses = (header[0], header[1]), header[2]

    def output(self) -> str:
        return self.tab.run(f"{self.root}.querySelector('output').textContent")

    def link(self) -> str:
        return self.tab.run(f"{self.root}.querySelector('.schedule-bar a').href")

    def view(self) -> tuple[int, int]:
        """From where to where, in ns: what the link to this view says."""
        self.tab.settle()
        found = re.search(r"from=(\d+)ns&to=(\d+)ns", self.link())
        return int(found[1]), int(found[2])

    def button(self, label: str) -> None:
        x, y = self.tab.run(
            f"(b => {{ b.scrollIntoView({{block: 'nearest', behavior: 'instant'}}); const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})"
            f"({self.root}.querySelector('button[aria-label=\"{label}\"]'))"
        )
        self.tab.click(x, y)

    def key(self, key: str) -> None:
        self.tab.run(f"{self.root}.querySelector('.schedule-canvas').focus({{preventScroll: true}})")
        self.tab.press(key)

    def area(self) -> tuple[float, float, float, float]:
        box = self.tab.run(
            f"(c => {{ c.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = c.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})"
            f"({self.root}.querySelector('.schedule-canvas'))"
        )
        return tuple(box)


def check(browser: Browser, url: str) -> list[str]:
    """All schedules of a page."""
    with browser.open(url) as tab:
        count = tab.run("document.querySelectorAll('.schedule').length")
        wrong = []
        for number in range(count):
            try:
                one = Schedule(tab, number)
                found = misses(one)
                # All schedules of a page have the same script: what does not depend on their data is tried in some.
                if number < TRIED_WHOLE:
                    found += controls(one) + pointer(one) + links(browser, url, one) + colours(one)
            except PageError as error:
                found = [str(error)]
            wrong += [f"schedule {number}: {line}" for line in found]
        return wrong + tab.complaints()


def near(one: tuple[int, int], other: tuple[float, float]) -> bool:
    """Equal views, but for rounding to ns and half a percent of a pixel."""
    slack = 2 + abs(other[1] - other[0]) * 1e-6
    return all(abs(a - b) <= slack for a, b in zip(one, other))


def controls(one: Schedule) -> list[str]:
    """Buttons and keys that move and zoom."""
    wrong = []
    labels = one.tab.run(f"[...{one.root}.querySelectorAll('button')].map(b => b.getAttribute('aria-label'))")
    wrong += [f"a button `{label}` that no test knows" for label in labels if label not in BUTTONS]
    named = one.tab.run(f"[...{one.root}.querySelectorAll('.schedule-help kbd')].map(k => k.textContent)")
    documented = {KBD.get(key, key) for key in named}
    known = {key for keys in BUTTONS.values() for key in keys} | {"Home", "End", "ArrowUp", "ArrowDown"}
    if documented != known - {"="}:
        wrong.append(f"the keys on the page, {sorted(documented)}, are not those that work, {sorted(known)}")

    def does(what: str, wanted, start: float = 8) -> None:
        """Tries the button and its keys, each from a view of an eighth of the whole in the middle."""
        for how in [what, *BUTTONS.get(what, [])]:
            begin = middle(one, start)
            one.button(how) if how == what and what in BUTTONS else one.key(how)
            if not near(one.view(), wanted(*begin)):
                wrong.append(f"`{how}` leads from {begin} to {one.view()}, not {wanted(*begin)}")

    def bounded(begin: float, end: float) -> tuple[float, float]:
        low, high = one.all[0], max(one.all[1], one.all[0] + 20)
        span = min(max(end - begin, 20), high - low)
        begin = min(max(begin, low), high - span)
        return begin, begin + span

    does("Zoom in", lambda a, b: bounded(a + (b - a) / 4, b - (b - a) / 4))
    does("Zoom out", lambda a, b: bounded(a - (b - a) / 2, b + (b - a) / 2))
    does("Zoom out", lambda a, b: bounded(*one.all), 1)
    does("Move to later times", lambda a, b: bounded(a + (b - a) / 5, b + (b - a) / 5))
    does("Move to earlier times", lambda a, b: bounded(a - (b - a) / 5, b - (b - a) / 5))
    does("Show all", lambda a, b: bounded(*one.all))
    does("Home", lambda a, b: bounded(one.all[0], one.all[0] + b - a))
    does("End", lambda a, b: bounded(one.all[1] - (b - a), one.all[1]))
    return wrong + rows(one)


def middle(one: Schedule, part: float) -> tuple[int, int]:
    """Shows that part of the whole, by the address."""
    begin, end = one.all
    span = max((end - begin) / part, 20)
    at = int(begin + (end - begin - span) / 2)
    # An address that is there already is not followed again.
    one.tab.run(f"location.hash = '#schedule={one.id}&from={at}ns&to={at + int(span)}ns&' + performance.now()")
    if not one.tab.comes(lambda: near(one.view(), (at, at + int(span))), SHORT_S):
        raise PageError(f"the link to {at} - {at + int(span)} ns shows {one.view()}")
    return one.view()


def rows(one: Schedule) -> list[str]:
    """The keys up and down move the rows, where there are more than fit."""
    box = f"{one.root}.querySelector('.schedule-rows')"
    if not one.tab.run(f"{box}.scrollHeight > {box}.clientHeight"):
        return []
    one.tab.run(f"{box}.scrollTop = 0")
    one.key("ArrowDown")
    one.tab.settle()
    down = one.tab.run(f"{box}.scrollTop")
    one.key("ArrowUp")
    one.tab.settle()
    up = one.tab.run(f"{box}.scrollTop")
    return [] if down > 0 and up == 0 else [f"ArrowDown and ArrowUp lead to {down} and {up}"]


def misses(one: Schedule) -> list[str]:
    """From miss to miss, all of them; none beyond the last."""
    said = one.tab.run(f"{one.root}.querySelector('.schedule-words').textContent")
    number = re.search(r"([\d,]+|no) deadlines? missed", said)
    counted = 0 if number[1] == "no" else int(number[1].replace(",", ""))
    wrong = [] if counted == one.misses else [f"the words say {counted} misses, the data {one.misses}"]
    disabled = one.tab.run(f"[...{one.root}.querySelectorAll('button')].filter(b => b.disabled).map(b => b.getAttribute('aria-label'))")
    if disabled != ([] if counted else ["Previous missed deadline", "Next missed deadline"]):
        wrong.append(f"{disabled} are disabled, with {counted} misses")
    if not counted:
        return wrong

    def shows(place: int, how: str) -> None:
        one.tab.settle()
        found = re.search(r"miss (\d+) of (\d+): ", one.output())
        if not found or (int(found[1]), int(found[2])) != (place, counted):
            wrong.append(f"{how} does not show miss {place} of {counted}: {one.output()}")
        elif not red(one):
            wrong.append(f"miss {place} is not to be seen")

    for by in ("button", "key"):
        one.button("Show all")
        one.tab.settle()
        tried = min(counted, MISSES_TRIED)
        for place in range(1, tried + 1):
            one.button("Next missed deadline") if by == "button" else one.key("n")
            shows(place, f"the next ({by})")
        if counted == tried:
            one.key("n")
            shows(tried, "one beyond the last")
        for place in range(tried - 1, 0, -1):
            one.button("Previous missed deadline") if by == "button" else one.key("p")
            shows(place, f"the previous ({by})")
    return wrong


def red(one: Schedule) -> bool:
    """Whether both canvases have the colour of misses: the row above all, and a task's."""
    return one.tab.run(
        f"(root => {{ const probe = document.createElement('canvas').getContext('2d'); probe.fillStyle = getComputedStyle(root).getPropertyValue('--s-miss').trim();"
        f" probe.fillRect(0, 0, 1, 1); const want = probe.getImageData(0, 0, 1, 1).data;"
        f" return [...root.querySelectorAll('canvas')].every(c => {{ const data = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);"
        f" return data.includes(new Uint32Array(want.buffer)[0]); }}); }})({one.root})"
    )


def pointer(one: Schedule) -> list[str]:
    """Drag, wheel, and what is said of the job below the pointer."""
    wrong, tab = [], one.tab
    begin = middle(one, 8)
    x, y, wide, _ = one.area()
    tab.run("document.activeElement.blur()")
    tab.mouse("mouseWheel", x + wide * 0.6, y + 30, deltaX=0, deltaY=-120)
    if one.view() != begin:
        wrong.append("the wheel zooms without focus, where a reader wants to go on in the page")
    x, y, wide, _ = one.area()
    for kind, to in (("mousePressed", 0.7), ("mouseMoved", 0.6), ("mouseReleased", 0.6)):
        tab.mouse(kind, x + wide * to, y + 30, button="left", buttons=1, clickCount=1)
    dragged = one.view()
    if not (dragged[0] > begin[0] and abs((dragged[1] - dragged[0]) - (begin[1] - begin[0])) <= 4):
        wrong.append(f"dragging to the left leads from {begin} to {dragged}")
    # The click has given it the focus.
    tab.mouse("mouseWheel", x + wide * 0.6, y + 30, deltaX=0, deltaY=-120)
    zoomed = one.view()
    if not zoomed[1] - zoomed[0] < dragged[1] - dragged[0]:
        wrong.append(f"the wheel leads from {dragged} to {zoomed}")
    tab.mouse("mouseWheel", x + wide * 0.6, y + 30, deltaX=200, deltaY=0)
    if not one.view()[0] > zoomed[0]:
        wrong.append(f"the wheel sideways leads from {zoomed} to {one.view()}")
    tip = f"(t => t.hidden ? '' : t.textContent)({one.root}.querySelector('.schedule-tip'))"
    one.button("Show all")
    one.tab.settle()
    x, y, wide, _ = one.area()
    said = ""
    for step in range(30, 100):
        tab.mouse("mouseMoved", x + wide * step / 100, y + 12)
        said = tab.run(tip)
        if said:
            break
    if "CPU" not in said and "overhead" not in said:
        wrong.append(f"the pointer on a CPU says {said!r}")
    tab.mouse("mouseMoved", x + 2, y + 12)
    if tab.run(tip):
        wrong.append("the words on a job stay when the pointer leaves")
    return wrong


def links(browser: Browser, url: str, one: Schedule) -> list[str]:
    """Links to a view and to a miss give these in a new window."""
    wrong = []
    middle(one, 16)
    begin = one.view()
    with browser.open(one.link()) as other:
        again = Schedule(other, one.number)
        if not near(again.view(), begin):
            wrong.append(f"the link to {begin} shows {again.view()}")
    if one.misses:
        with browser.open(f"{url}#schedule={one.id}&miss=1") as other:
            again = Schedule(other, one.number)
            other.settle()
            if f"miss 1 of {one.misses}" not in again.output():
                wrong.append(f"the link to the first miss shows {again.output()}")
    return wrong


def colours(one: Schedule) -> list[str]:
    """Drawn again when the reader's colours change."""
    hash_of = f"(c => {{ const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let h = 0; for (const v of d) h = (h * 31 + v) | 0; return h; }})({one.root}.querySelector('.schedule-canvas'))"
    one.tab.settle()
    light = one.tab.run(hash_of)
    one.tab.media(dark=True)
    one.tab.settle()
    dark = one.tab.run(hash_of)
    one.tab.media(dark=False)
    one.tab.settle()
    again = one.tab.run(hash_of)
    return [] if light != dark and light == again else ["it is not drawn again in the reader's colours"]
