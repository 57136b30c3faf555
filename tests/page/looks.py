"""What a page looks like: in light and dark, on a wide and on a narrow screen, on paper; and what is in it for those who do
not see it. Every check gives what is wrong, a line each."""

import re
from pathlib import Path

from devtools import Browser, Tab

HERE = Path(__file__).parent
LOOKS = (HERE / "looks.js").read_text()
NARROW = {"width": 390, "height": 844}
# A4 less margins of 12 mm, in pixels of CSS.
PAPER = {"width": 703, "height": 1032}
# What paper adds to the length of a page: tables that do not break, images that go to the next page.
PAGES_EXTRA = 1.6


def load(tab: Tab) -> None:
    tab.run(LOOKS)


def axe(tab: Tab, rules: str) -> list[str]:
    """Rules of accessibility that the page breaks, as axe-core finds them."""
    tab.run(rules)
    found = tab.run(
        "axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.help + ': ' +"
        " v.nodes.slice(0, 3).map(n => n.target.join(' ')).join('; ')))"
    )
    return [f"axe: {line}" for line in found]


def opened(tab: Tab) -> list[str]:
    return tab.complaints()


def wide(browser: Browser, url: str, dark: bool, rules: str) -> list[str]:
    """On a desktop: no complaint, AA contrast, nothing cut, accessible."""
    with browser.open(url, dark=dark) as tab:
        load(tab)
        scroll_through(tab)
        wrong = tab.complaints() + tab.run("looks.structure()")
        wrong += tab.run("looks.poorContrast()") + tab.run("looks.poorCanvasContrast()") + tab.run("looks.clipped()")
        if tab.run("document.scrollingElement.scrollWidth > innerWidth"):
            wrong.append("the page is wider than the screen")
        canvases = tab.run("getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", canvases)[:3]))
        if (brightness < 384) != dark:
            wrong.append(f"the page is {canvases} where the reader wants {'dark' if dark else 'light'}")
        for details in (False, True):
            if details:
                tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
                wrong += tab.run("looks.poorContrast()") + tab.run("looks.clipped()")
            wrong += axe(tab, rules)
        return sorted(set(wrong))


def still(browser: Browser, url: str) -> list[str]:
    """Nothing moves by itself, and nothing glides where the reader does not want it."""
    with browser.open(url) as tab:
        wrong = tab.run("document.getAnimations().map(a => 'it moves: ' + a.effect.target.outerHTML.slice(0, 80))")
        if tab.run("getComputedStyle(document.documentElement).scrollBehavior") != "auto":
            wrong.append("it glides where no motion is wanted")
        wrong += tab.run(
            "[...document.querySelectorAll('*')].filter(e => getComputedStyle(e).transitionDuration.split(', ').some(d => d !== '0s'))"
            ".slice(0, 3).map(e => 'it changes slowly: ' + e.outerHTML.slice(0, 80))"
        )
        return wrong


def scroll_through(tab: Tab) -> None:
    """Past everything: what is made when it is first seen is made."""
    tab.run(
        "(async () => { for (let y = 0; y < document.scrollingElement.scrollHeight; y += innerHeight / 2) { scrollTo({top: y,"
        " behavior: 'instant'}); await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0))); }"
        " scrollTo({top: 0, behavior: 'instant'}); })()"
    )


def narrow(browser: Browser, url: str) -> list[str]:
    """On a phone: what is wider than the screen scrolls in a box of its own, which says so."""
    with browser.open(url, **NARROW) as tab:
        load(tab)
        tab.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        scroll_through(tab)
        wrong = tab.complaints() + tab.run("looks.clipped()")
        if tab.run("document.scrollingElement.scrollWidth > innerWidth"):
            wrong.append(f"the page is {tab.run('document.scrollingElement.scrollWidth')} px wide on a screen of 390")
        boxes = tab.run("(window.boxes = looks.scrolling()).length")
        for k in range(boxes):
            wrong += scroll_box(tab, k)
        return sorted(set(wrong))


def scroll_box(tab: Tab, k: int) -> list[str]:
    """A box that scrolls sideways: there is a sign of it, and the names of the rows stay."""
    wrong = []
    name = tab.run(f"looks.named(boxes[{k}])")
    area = tab.run(
        f"(b => {{ b.scrollIntoView({{block: 'start', behavior: 'instant'}}); const r = b.getBoundingClientRect(); return {{x: r.right - 16,"
        f" y: r.top + scrollY, width: 16, height: Math.min(r.height, 300)}}; }})(boxes[{k}])"
    )
    if tab.run(f"boxes[{k}].tagName") != "PRE":
        with_sign = tab.picture(area)
        tab.run(f"boxes[{k}].style.background = 'none'")
        if tab.picture(area) == with_sign:
            wrong.append(f"{name}: no shadow says that there is more")
        tab.run(f"boxes[{k}].style.background = ''")
        if "scroll" not in tab.run(f"(s => s.display === 'none' ? '' : s.content)(getComputedStyle(boxes[{k}], '::before'))"):
            wrong.append(f"{name}: no word says that there is more")
    moved = tab.run(
        f"(b => {{ const head = b.querySelector('tbody th'); if (!head) return 0; b.scrollLeft = 1e6;"
        f" const by = head.getBoundingClientRect().left - b.getBoundingClientRect().left; b.scrollLeft = 0; return by; }})(boxes[{k}])"
    )
    if abs(moved) > 2:
        wrong.append(f"{name}: the names of its rows go away when it scrolls")
    return wrong


def paper(browser: Browser, url: str) -> list[str]:
    """Printed: everything is open, nothing cut, no bar or box to scroll, and no more pages than its length."""
    with browser.open(url, **PAPER, print=True, dark=True) as tab:
        load(tab)
        wrong = tab.run("looks.beyondPaper()")
        wrong = [f"{name} is cut at the right edge of the paper" for name in wrong]
        closed = tab.run(
            "[...document.querySelectorAll('details')].filter(d => getComputedStyle(d).display !== 'none' && [...d.children].some(c =>"
            " c.tagName !== 'SUMMARY' && c.textContent.trim() && getComputedStyle(c).display !== 'none' &&"
            " !(c.checkVisibility() && c.getBoundingClientRect().height > 2))).map(looks.named)"
        )
        wrong += [f"{name} is closed on paper" for name in closed]
        if tab.run("getComputedStyle(document.body).backgroundColor") not in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"):
            wrong.append("paper is not white")
        length = tab.run("document.scrollingElement.scrollHeight")
        files = tab.run("[...document.querySelectorAll('details.on-screen')].filter(looks.shown).length")
        if files:
            wrong.append("files are printed")
    with browser.open(url) as tab:
        # As the browser's own menu does: with the events before and after.
        pdf = tab.pdf()
        pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
        most = 2 + PAGES_EXTRA * length / PAPER["height"]
        if not 1 <= pages <= most:
            wrong.append(f"it takes {pages} pages of paper, at most {most:.0f} for its length")
        wrong += tab.complaints()
    return sorted(set(wrong))


def first_screen(browser: Browser, url: str, wanted: list[str]) -> list[str]:
    """The parts that are to be seen before anything is touched, whole."""
    with browser.open(url) as tab:
        wrong = []
        for selector in wanted:
            bottom = tab.run(f"(e => e ? e.getBoundingClientRect().bottom : -1)(document.querySelector({selector!r}))")
            if bottom < 0:
                wrong.append(f"there is no {selector}")
            elif bottom > 800:
                wrong.append(f"{selector} ends at {bottom:.0f} px, below a first screen of 800")
            elif tab.run(f"(b => b && b.scrollWidth > b.clientWidth + 1)(document.querySelector({selector!r}).closest('.scroll'))"):
                wrong.append(f"{selector} is wider than its place on a first screen of 1280")
        return wrong


def pictures(browser: Browser, url: str, directory: Path, name: str) -> None:
    """Pictures to look at."""
    views = {"first": {}, "wide": {}, "dark": {"dark": True}, "narrow": NARROW, "narrow-dark": {**NARROW, "dark": True}}
    for view, options in views.items():
        with browser.open(url, **options) as tab:
            scroll_through(tab)
            tab.settle()
            (directory / f"{name}-{view}.png").write_bytes(tab.picture(whole=view != "first"))
    with browser.open(url) as tab:
        (directory / f"{name}.pdf").write_bytes(tab.pdf())
