"""Pages broken on purpose: every check has to see what it is for."""

from pathlib import Path

import controls
import looks
import schedule
from devtools import Browser

# What is broken, by which text takes which place, and what has to be said of it.
BROKEN = {
    "an error on the console": ("</main>", "<script>console.error('broken')</script></main>", "on the console: broken"),
    "an exception": ("</main>", "<script>nothing.at.all()</script></main>", "exception: ReferenceError"),
    "an image from elsewhere": ("</main>", "<img alt='' src='https://laxity.example/x.png'></main>", "asks for https://laxity.example"),
    "a style from elsewhere": ("</head>", "<link rel='stylesheet' href='https://laxity.example/x.css'></head>", "asks for https"),
    "a button without a name": ("</main>", "<button type='button'></button></main>", "axe: button-name"),
    "a control that no test knows": ("</main>", "<button type='button'>more</button></main>", "a control that no test knows"),
    "a listener that no test knows": (
        "</main>", "<p id='odd'>odd</p><script>document.getElementById('odd').addEventListener('click', () => {})</script></main>",
        "waits for `click`",
    ),
    "a link to nothing": ("</main>", "<p><a href='#nowhere'>on</a></p></main>", "which is not there"),
    "no language": ('<html lang="en"', "<html", "the page has no language"),
    "a table without heads": ("</main>", "<table aria-label='t'><tr><td>1</td></tr></table></main>", "lacks heads with a scope"),
    "a table that is cut": (
        "</main>", "<div style='overflow-x: hidden'><p style='width: 1400px; max-width: none; text-align: right'>far away</p></div></main>", "is cut by",
    ),
    "a page wider than the screen": ("</main>", "<p style='width: 2000px; max-width: none'>wide</p></main>", "wider than the screen"),
    "no sign of scrolling": ("</style>", ".scroll { background: none !important }</style>", "no shadow says that there is more"),
    "names that scroll away": ("</style>", "th { position: static !important }</style>", "the names of its rows go away"),
    "grey on grey": ("</main>", "<p style='color: #999; background: #bbb'>pale</p></main>", "has a contrast of"),
    "tiny words": ("</main>", "<p style='font-size: 8px'>tiny</p></main>", "is written in 8.0 px"),
    "white in the dark": ("</style>", "body { background: #fff !important; color: #000 !important }</style>", "where the reader wants dark"),
    "words that move": ("</style>", "@keyframes k { to { color: red } } h1 { animation: k 9s infinite }</style>", "it moves"),
    "gliding": ("</style>", "html { scroll-behavior: smooth !important }</style>", "it glides"),
    "a focus that is not seen": ("</style>", ":focus-visible { outline: none !important }</style>", "and does not show it"),
    "a trap for the keyboard": (
        "</main>", "<script>document.addEventListener('keydown', e => { if (e.key === 'Tab') e.preventDefault(); })</script></main>", "Tab reaches",
    ),
    "parts that stay closed on paper": (
        "</style>", "@media print { details::details-content { content-visibility: hidden !important; height: 0 !important; overflow: hidden } }</style>",
        "is closed on paper",
    ),
    "a table too wide for paper": ("</style>", "@media print { table { min-width: 1500px } }</style>", "is cut at the right edge of the paper"),
    "endless paper": ("</style>", "@media print { p { break-after: page } }</style>", "pages of paper"),
}
# The same of schedules: text of the script, what takes its place, what has to be said.
BROKEN_SCHEDULES = {
    "zoom in that zooms out": ('"Zoom in", () => zoom(0.5)', '"Zoom in", () => zoom(2)', "`Zoom in` leads from"),
    "a key that does nothing": ("Home: showStart,", "", "`Home` leads from"),
    "a next miss that stays": ("current + 1 : everything", "current : everything", "does not show miss 2"),
    "misses that are not drawn": ("for (let k = after(jobs.lateUntil, view.from);", "for (let k = jobs.late.length;", "is not to be seen"),
    "a link to elsewhere": ("Math.floor(view.from) + \"ns&to=\"", "Math.floor(view.from * 2) + \"ns&to=\"", "the link to"),
    "no drag": ("if (others.length === 0) return pan(", "if (others.length === 0) return (", "dragging to the left"),
    "no words": ("tip.hidden = text === \"\";", "tip.hidden = true;", "the pointer on a CPU says ''"),
    "always light": ('matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw)', "name", "not drawn again"),
}


# Which check sees which kind; the others are not asked, for the sake of time.
ASKED = {
    "axe": lambda b, u, r: looks.wide(b, u, False, r), "dark": lambda b, u, r: looks.wide(b, u, True, r),
    "no shadow": lambda b, u, r: looks.narrow(b, u), "names of its rows": lambda b, u, r: looks.narrow(b, u),
    "paper": lambda b, u, r: looks.paper(b, u), "no test knows": lambda b, u, r: controls.check(b, u),
    "waits for": lambda b, u, r: controls.check(b, u), "not there": lambda b, u, r: controls.check(b, u),
    "it moves": lambda b, u, r: looks.still(b, u), "it glides": lambda b, u, r: looks.still(b, u),
    "show it": lambda b, u, r: controls.keyboard(b, u), "Tab": lambda b, u, r: controls.keyboard(b, u),
}


def check(browser: Browser, page: Path, plot_page: Path, rules: str) -> list[str]:
    """What was broken and not seen. `page` has a wide table, `plot_page` schedules with misses."""
    wrong = []
    for what, (text, instead, said) in BROKEN.items():
        ask = next((ask for part, ask in ASKED.items() if part in said), lambda b, u, r: looks.wide(b, u, False, r))
        wrong += unseen(page, what, text, instead, said, lambda url: ask(browser, url, rules))
    for what, (text, instead, said) in BROKEN_SCHEDULES.items():
        wrong += unseen(plot_page, what, text, instead, said, lambda url: schedule.check(browser, url))
    return wrong


def unseen(page: Path, what: str, text: str, instead: str, said: str, ask) -> list[str]:
    whole = page.read_text()
    if text not in whole:
        return [f"cannot break {what}: {page.name} has no `{text}`"]
    broken = page.with_name("broken.html")
    broken.write_text(whole.replace(text, instead))
    found = ask(f"file://{broken}")
    return [] if any(said in line for line in found) else [f"{what} was not seen; only: {found[:5]}"]
