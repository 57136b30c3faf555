"""Rules about the text of sources that no compiler keeps. What may be otherwise is in tests/tidy/exceptions, each with its reason.

metric   nothing outside laxity-trace divides one count by another to show the ratio: a metric is computed there
zero     what there is none of is absent, and not 0.0
unit     an integer field that holds a time says its unit (`_ns`, `_us`, `_ps`; `_at`: an instant in ns; `_parts`: of a ns, as work is
         counted), and one that is named like a time and is none says what it counts (`_ticks`, `_steps`, `_units`, `_lines`);
         in C, so does every `u64`: member, parameter or local (`now` is the present instant, `vtime` is virtual time)
width    no comment of Rust, Python or shell, and no line of C, has more than 140 columns, but for rows of tables; the rest of Rust is
         rustfmt's
name     no file, function, type or module is called util, misc, helper or manager, nor whatever, whoever, really or telling
"""

import pathlib
import re

import layers

# Crates that take metrics and show them; what others divide are costs, draws and proofs.
SHOWS = ("laxity-study", "laxity-report", "laxity-lab", "laxity-cli", "laxity-overheads")
RATIO = re.compile(r"\bas f64\b[^;\n]*[^/]/[^/]|[^/]/ [^;\n/]*\bas f64\b")
ZERO = re.compile(r"unwrap_or\(0\.0\)|map_or\(0\.0|return 0\.0;|[{] 0\.0 [}]|=> 0\.0,")
TIMES = (
    "period|deadline|release|budget|wcet|runtime|start|finish|time|instant|duration|span|delay|response|tardiness|laxity|jitter|phase"
    "|latency|interval|horizon|now|slack|timeout|used|gap|age|grace|end|begin|since|until|from|to|elapsed|demand|work|busy"
)
TIME = re.compile(rf"(^|_)({TIMES})s?(_|$)")
UNIT = re.compile(r"_(ns|us|ms|s|ps|at|q32|q64|ppm|days|hz|ticks|steps|units|parts|lines?)(_(min|max))?$|_of_work$")
# What is a time in C besides; which `u64`s are declared, in a list, too; and whose names are the kernel's.
TIME_IN_C = re.compile(rf"(^|_)({TIMES.replace('|now|', '|')}|due|had|left|ready|sent|window|replenished|armed|lateness|slice|resized)s?(_|$)")
UNIT_IN_C = re.compile(UNIT.pattern + "|_vtime$|_address$")
DECLARED = re.compile(r"\bu64 ((?:\*?\w+(?: = [^,;()]*(?:\([^()]*\)[^,;()]*)*)?, )*\*?\w+)(?= ?[;,)=\[]| LX_)")
C_SOURCES = ("policy/", "bpf/", "crates/laxity-conformance/")
NAMES_OF_THE_KERNEL = ("bpf/kernel/types.h", "bpf/kernel/sched_ext.h")
STRUCT = re.compile(r"^(?:pub(?:\([^)]*\))? )?struct \w+[^;{\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(\w+): (?:Option<|Vec<|\[)?(?:u64|i64|u128|i128)\b", re.MULTILINE)
NAME = re.compile(r"\b(?:fn|struct|enum|trait|mod|type) \w*(?:[Hh]elper|[Mm]anager|[Mm]isc(?:_|\b)|[Uu]tils?(?:_|\b)|[Ww]hatever|[Ww]hoever|[Rr]eally|[Tt]elling)\w*")
COMMENT = re.compile(r"^\s*//[^\n]*", re.MULTILINE)
WIDTH_MAX = 140
COMMENTS = {".rs": "//", ".py": "#", ".sh": "#", ".bash": "#", ".guest": "#"}
RULES = ("metric", "zero", "unit", "name")
EXCEPTIONS = pathlib.Path(__file__).resolve().parent / "exceptions"


def without_tests(text):
    """Code that is no test and no comment."""
    return COMMENT.sub("", layers.TESTS.sub("", text))


def untimed(text):
    """Fields that hold times and do not say in which unit."""
    fields = [name for struct in STRUCT.finditer(text) for name in FIELD.findall(struct.group(1))]
    return [name for name in fields if TIME.search(name) and not UNIT.search(name)]


def untimed_in_c(text):
    """`u64`s of a source in C that hold times and do not say in which unit."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    names = [part.split(" = ")[0].lstrip("*") for listed in DECLARED.findall(text) for part in listed.split(", ")]
    return [name for name in names if TIME_IN_C.search(name) and not UNIT_IN_C.search(name)]


def found(crate, text):
    """What each rule finds in a source of a crate."""
    text = without_tests(text)
    return {
        "metric": RATIO.findall(text) if crate in SHOWS else [],
        "zero": ZERO.findall(text),
        "unit": untimed(text),
        "name": NAME.findall(text),
    }


def comment_of(file):
    """What comments of a file begin with; nothing of C, whose every line counts; none where the rule of widths is for other files."""
    if file.suffix in (".c", ".h"):
        return ""
    if file.suffix in COMMENTS or file.suffix:
        return COMMENTS.get(file.suffix)
    with file.open("rb") as opened:
        return "#" if opened.read(2) == b"#!" else None


def too_wide(text, comment):
    """Numbers of the lines that are too wide."""
    row = re.compile(rf"{comment}[!/]?\s*\|" if comment else r"\* \|")
    lines = ((number, line.strip(), line) for number, line in enumerate(text.split("\n"), 1) if len(line) > WIDTH_MAX)
    return [number for number, bare, line in lines if bare.startswith(comment) and not row.match(bare)]


def wide(files, root):
    """A fault per line that is too wide."""
    for file in files:
        comment = comment_of(file)
        if comment is not None and file.is_file():
            for number in too_wide(file.read_text(encoding="utf-8"), comment):
                yield f"{file.relative_to(root)}:{number}: more than {WIDTH_MAX} columns"


def seen():
    """Every rule finds what it is for, and nothing else in what is right."""
    wrong = "struct Job {\n    pub finish: Option<u64>,\n}\nfn helper() -> f64 { met as f64 / all as f64 }\nfn none() { x.unwrap_or(0.0) }\n"
    right = "struct Job {\n    finish_ns: u64,\n    kicked_at: u64,\n    jobs: u64,\n}\n/// as f64 / all\nfn shown() -> Option<f64> { run.rate() }\n"
    assert all(len(found("laxity-study", wrong)[rule]) == 1 for rule in RULES), found("laxity-study", wrong)
    assert not any(found("laxity-study", right).values()), found("laxity-study", right)
    assert not found("laxity-trace", wrong)["metric"]
    assert untimed_in_c("u64 left, /* of it */ due_at;\nvoid f(u64 *release, u32 to, u64 now)\nu64 a = g(x), end = 1;") == ["left", "release", "end"]
    long = "x" * WIDTH_MAX
    assert too_wide(f"//! | {long}\n    // {long}\nlet a = {long};\n", "//") == [2]
    assert too_wide(f"# | {long}\n# {long}\na = {long}\n", "#") == [2]
    assert too_wide(f"\tint {long};\n/* */\n", "") == [1]


def excepted():
    """How often a rule may be broken in a file, or in a crate whose name ends with /: RULE PATH NUMBER REASON a line."""
    lines = [line.split(maxsplit=3) for line in EXCEPTIONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {(rule, path): int(number) for rule, path, number, _reason in lines}


def production(files, root):
    """(path in the repository, file) of sources of crates, tests aside."""
    for file in files:
        path = file.relative_to(root)
        inside = path.parts[2:]
        if path.parts[0] == "crates" and file.suffix == ".rs" and inside[0] == "src" and "tests" not in inside and file.stem != "tests":
            yield str(path), file


def in_c(files, root):
    """(path in the repository, file) of sources in C of policies, their host in the kernel, and what holds both against each other."""
    for file in files:
        path = str(file.relative_to(root))
        if path.startswith(C_SOURCES) and file.suffix in (".c", ".h") and path not in NAMES_OF_THE_KERNEL:
            yield path, file


def faults(files, root):
    """A fault per rule and file that breaks it more often, or less, than tests/tidy/exceptions says."""
    seen()
    yield from wide(files, root)
    allowed, counts, examples = excepted(), {}, {}
    sources = [(path, found(path.split("/")[1], file.read_text(encoding="utf-8"))) for path, file in production(files, root)]
    sources += [(path, {"unit": untimed_in_c(file.read_text(encoding="utf-8"))}) for path, file in in_c(files, root)]
    for path, breaks in sources:
        for rule, what in breaks.items():
            crate = "/".join(path.split("/")[:2]) + "/"
            key = (rule, crate if (rule, crate) in allowed else path)
            if what:
                counts[key] = counts.get(key, 0) + len(what)
                examples.setdefault(key, what)
    for rule, path in sorted(set(counts) | set(allowed)):
        count, may = counts.get((rule, path), 0), allowed.get((rule, path), 0)
        if count > may:
            yield f"{path}: {count} times against the rule `{rule}` of tests/tidy/sources.py, not {may}: {', '.join(map(str.strip, examples[rule, path]))}"
        if count < may:
            yield f"tests/tidy/exceptions: {path} breaks the rule `{rule}` {count} times, not {may}: say so"
