"""Every control of a page does what it says: by pointer, by key, and by nothing else than what is known here."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import schedule
from devtools import SHORT_S, Browser, Tab
from looks import load

# Whatever a reader could operate, and what it is. What is none of these is a control that no test knows.
KINDS = """
(function () {
  const all = "a, area, button, input, select, textarea, summary, label, iframe, audio, video, object, embed, [tabindex], [contenteditable], [onclick], [role=button], [role=link]";
  const kinds = {
    skip: "a.skip", place: "a[href^='#']:not(.skip):not(.schedule-bar a)", plot: "a[href^='plots/']", "view link": ".schedule-bar a",
    summary: "details > summary", scroll: ".scroll[tabindex='0'], pre[tabindex='0']", button: ".schedule-bar button", schedule: "canvas.schedule-canvas",
  };
  const kindOf = (element) => Object.keys(kinds).find((kind) => element.matches(kinds[kind])) || "unknown";
  window.controls = [...document.querySelectorAll(all)].map((element) => ({ element, kind: kindOf(element) }));
  return controls.map(({ element, kind }) => ({ kind, name: looks.named(element) }));
})()
"""
# Which elements may listen to what.
LISTENERS = {
    "canvas.schedule-canvas": {"keydown", "wheel", "pointerdown", "pointermove", "pointerup", "pointercancel", "pointerleave"},
    ".schedule-bar button": {"click"},
    ".schedule-rows": {"scroll"},
}


def check(browser: Browser, url: str) -> list[str]:
    """All controls of a page, one after the other, then the keyboard by itself."""
    with browser.open(url) as tab:
        load(tab)
        # All parts that are folded are opened by their own controls first.
        wrong = []
        controls = tab.run(KINDS)
        for k, control in enumerate(controls):
            if control["kind"] == "summary":
                wrong += folds(tab, k, control["name"])
        for k, control in enumerate(controls):
            match control["kind"]:
                case "unknown":
                    wrong.append(f"{control['name']}: a control that no test knows")
                case "skip" | "place":
                    wrong += leads(tab, k, control["name"])
                case "plot":
                    wrong += has_file(tab, k, url)
                case "scroll":
                    wrong += scrolls(tab, k, control["name"])
        wrong += listeners(tab)
        wrong += tab.complaints()
    wrong += keyboard(browser, url)
    return sorted(set(wrong)) + schedule.check(browser, url)


def element(k: int) -> str:
    return f"controls[{k}].element"


def point(tab: Tab, k: int) -> tuple[float, float]:
    """A place in the element, in view."""
    place = tab.run(
        f"(e => {{ e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = e.getClientRects()[0];"
        f" return [r.x + Math.min(r.width / 2, 60), r.y + r.height / 2]; }})({element(k)})"
    )
    return place[0], place[1]


def folds(tab: Tab, k: int, name: str) -> list[str]:
    """A click on a summary opens and closes what is below; so do Enter and Space. It stays open for what is inside."""
    wrong = []
    is_open = f"{element(k)}.parentElement.open"
    if not tab.run(f"looks.shown({element(k)})"):
        return [f"{name} cannot be seen"]
    for how in ("click", "Enter", " "):
        before = tab.run(is_open)
        if how == "click":
            tab.click(*point(tab, k))
        else:
            tab.run(f"{element(k)}.focus()")
            tab.press(how)
        if tab.run(is_open) == before:
            wrong.append(f"{name}: {how!r} does not open or close it")
    tab.run(f"{is_open} = true")
    return wrong


def leads(tab: Tab, k: int, name: str) -> list[str]:
    """A link within the page leads to something that is there, and shows it."""
    target = unquote(tab.run(f"{element(k)}.getAttribute('href')"))[1:]
    if not tab.run(f"document.getElementById({target!r}) !== null"):
        return [f"{name} leads to #{target}, which is not there"]
    tab.run(f"{element(k)}.focus()")
    tab.press("Enter")
    tab.settle()
    seen = (
        f"(r => r.top < innerHeight && r.bottom > 0 || r.height === 0)(document.getElementById({target!r}).getBoundingClientRect())"
    )
    arrived = tab.comes(lambda: tab.run(f"location.hash === '#{target}' && {seen}"), SHORT_S)
    return [] if arrived else [f"{name} does not show #{target}, but {tab.run('location.hash')} at {tab.run('scrollY')}"]


def has_file(tab: Tab, k: int, url: str) -> list[str]:
    file = tab.run(f"{element(k)}.getAttribute('href')")
    page = Path(unquote(urlsplit(url).path))
    return [] if (page.parent / unquote(file)).is_file() else [f"there is no {file} beside the page"]


def scrolls(tab: Tab, k: int, name: str) -> list[str]:
    """A box with more than it shows moves by the keys of the keyboard."""
    if not tab.run(f"looks.shown({element(k)}) && looks.wider({element(k)})"):
        return []
    tab.run(f"{element(k)}.scrollIntoView({{behavior: 'instant'}}), {element(k)}.focus()")
    tab.press("ArrowRight")
    moved = tab.comes(lambda: tab.run(f"{element(k)}.scrollLeft > 0"), SHORT_S)
    return [] if moved else [f"{name} does not move by keys"]


def listeners(tab: Tab) -> list[str]:
    """Elements that wait for what no test does."""
    body = tab.call("Runtime.evaluate", expression="document.body")["result"]["objectId"]
    found = tab.call("DOMDebugger.getEventListeners", objectId=body, depth=-1, pierce=True)["listeners"]
    wrong = []
    for listener in found:
        node = tab.call("DOM.resolveNode", backendNodeId=listener["backendNodeId"])["object"]["objectId"]
        asked = "function (kinds) { return [kinds.find(kind => this.matches(kind)) || '', looks.named(this)]; }"
        kinds = [{"value": list(LISTENERS)}]
        kind, name = tab.call(
            "Runtime.callFunctionOn", objectId=node, functionDeclaration=asked, arguments=kinds, returnByValue=True
        )["result"]["value"]
        if listener["type"] not in LISTENERS.get(kind, ()):
            wrong.append(f"{name} waits for `{listener['type']}`, which no test knows")
    return wrong


def keyboard(browser: Browser, url: str) -> list[str]:
    """From control to control with Tab: all that are seen are reached in their order, and each shows that it is."""
    with browser.open(url) as tab:
        load(tab)
        tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        tab.run(KINDS)
        wanted = tab.run(
            "(window.reachable = controls.map(c => c.element).filter(e => e.tabIndex >= 0 && !e.disabled && (looks.shown(e) || e.matches('.skip')))).length"
        )
        reached, wrong = [], []
        for _ in range(wanted):
            tab.press("Tab")
            k, outlined, name = tab.run(
                "(e => [reachable.indexOf(e), (s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(e)), looks.named(e)])"
                "(document.activeElement)"
            )
            reached.append(k)
            if not outlined:
                wrong.append(f"{name} has the focus and does not show it")
        if reached != list(range(wanted)):
            missing = set(range(wanted)) - set(reached)
            names = [tab.run(f"looks.named(reachable[{k}])") for k in sorted(missing)[:5]]
            wrong.append(f"Tab reaches {len(set(reached) - {-1})} of {wanted} controls in order {reached[:12]}; not {names}")
        return wrong
