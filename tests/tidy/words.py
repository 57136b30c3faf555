"""Rules that every page keeps: widths, lengths and words; and the words of sources."""

import re
from pathlib import Path

WIDTH_MAX = 120
CHANGE_WIDTH_MAX = 110
README_LINES_MAX = 150
PARAGRAPH_WORDS_MAX = 120
GENERATED = "<!-- Written by"
# One vocabulary: work that is not real-time is background work.
STALE = re.compile(r"\bordinary (tasks?|threads?|work|ones?)\b", re.IGNORECASE)
# Tasks, CPUs and tools are things.
PERSONS = re.compile(r"\b(whoever|nobody|somebody|everybody|what bec[ao]mes? of|what c[ao]mes? of|best-effort)\b", re.IGNORECASE)

# A logical processor is a CPU. Names stay (`cores`, four-cores), physical cores that SMT siblings share, and what papers say of their
# machines.
CORES = re.compile(r"(?<![\w\-.{])cores?(?![\w\-(}]|\s*=)", re.IGNORECASE)
PHYSICAL = re.compile(r"physical core|\bSMT\b|siblings?\b|hyper|(in|and in) papers|shares its core|2007|2012|2014|2018", re.IGNORECASE)


def prose(text: str) -> list[str]:
    """The lines of a page with those of fenced blocks and comments emptied."""
    lines, fence = [], None
    for line in text.splitlines():
        found = re.match(r"^\s*(```+)", line)
        if fence is None and found:
            fence = found[1]
            lines.append("")
        elif fence is not None:
            fence = None if line.strip() == fence else fence
            lines.append("")
        else:
            lines.append("" if line.startswith("<!--") and line.endswith("-->") else line)
    return lines


def long_paragraphs(path: Path) -> list[str]:
    """Paragraphs that are too long to read. A list item or a row of a table is a paragraph of its own."""
    wrong, words, begin = [], 0, 0
    for number, line in enumerate([*prose(path.read_text()), ""], 1):
        starts = re.match(r"^\s*([-*|:]|\d+\.|#)", line)
        if not line.strip() or starts:
            if words > PARAGRAPH_WORDS_MAX:
                wrong.append(f"{path}:{begin}: a paragraph of {words} words (at most {PARAGRAPH_WORDS_MAX})")
            words, begin = 0, number
        begin = begin if words else number
        words += 0 if line.startswith("|") else len(line.split())
    return wrong


def persons(path: Path, lines: list[str], is_prose: bool = True) -> list[str]:
    """Words that make persons of things, or that have another one in the glossary."""
    wrong = []
    for number, line in enumerate(lines, 1):
        words = re.sub(r"`[^`]*`", "", line)
        if person := PERSONS.search(words):
            wrong.append(f"{path}:{number}: `{person[0]}`: say which thing it is")
        if stale := STALE.search(words):
            wrong.append(f"{path}:{number}: `{stale[0]}`: say `background`")
        if is_prose and not PHYSICAL.search(words) and (core := CORES.search(words)):
            wrong.append(f"{path}:{number}: `{core[0]}`: say `CPU`")
    return wrong


def persons_in_sources(repository: Path) -> list[str]:
    """The same in the messages, help texts and comments of the program."""
    patterns = ("crates/*/src/**/*.rs", "crates/*/bpf/*.[ch]", "policy/**/*.[ch]", "bpf/**/*.[ch]")
    sources = sorted(path for pattern in patterns for path in repository.glob(pattern))
    wrong = []
    for path in sources:
        # Names of code stay, such as NOBODY.
        lines = [re.sub(r"\b[A-Z_]+\b", "", line) for line in path.read_text().splitlines()]
        wrong += persons(path.relative_to(repository), lines, is_prose=False)
    return wrong


def broken_rules(path: Path) -> list[str]:
    """What is wrong with a page."""
    text = path.read_text()
    lines = text.splitlines()
    if text.startswith(GENERATED):
        # Their widths are those of schemas and sources; their words, also within blocks, are read as all others.
        return persons(path, lines)
    wrong = long_paragraphs(path)
    if path.name == "README.md" and len(lines) > README_LINES_MAX:
        wrong.append(f"{path}: {len(lines)} lines, at most {README_LINES_MAX}")
    for number, line in enumerate(prose(text), 1):
        limit = CHANGE_WIDTH_MAX if path.name == "CHANGELOG.md" else WIDTH_MAX
        if len(line) > limit and not line.startswith("|"):
            wrong.append(f"{path}:{number}: {len(line)} columns, at most {limit}")
    return wrong + persons(path, prose(text))


def faults(repository: Path) -> list[str]:
    """What is wrong with the pages for readers, and with the words of sources."""
    names = ("README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
    pages = [repository / name for name in names] + sorted((repository / "docs").rglob("*.md"))
    wrong = [fault for page in pages for fault in broken_rules(page)]
    return [fault.removeprefix(f"{repository}/") for fault in wrong] + persons_in_sources(repository)
