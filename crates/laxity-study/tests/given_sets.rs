//! Sets from files and from a command, and tests of one's own: a study takes them beside its own.

use laxity_analysis::{
    Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Verdict, Work,
};
use laxity_study::{ACCEPTED, ComputedPoints, NEVER, Own, Point, Progress, Study, compute};
use std::fs;
use std::path::Path;
use std::process::Command;

const FILES: &str = r#"
version = 1
title = "from files"
sets = 2
[platform]
processors = 1
[axis]
of = "utilization"
from = 0.5
to = 1
step = 0.5
[generator]
name = "files"
directory = "sets/{kind}/{utilization}"
[matrix]
kind = ["whole", "short"]
[[curves]]
scheduler = "p-edf"
[[curves]]
scheduler = "p-fpp:fp"
"#;

/// Two sets for U = 0.5 and 1, of tasks (5 ms, 10 ms); those that are short have half their periods as deadlines.
fn sets(directory: &Path) {
    for (kind, deadline) in [("whole", 10), ("short", 5)] {
        for (u, tasks) in [("0.5", 1), ("1", 2)] {
            let folder = directory.join("sets").join(kind).join(u);
            fs::create_dir_all(&folder).expect("makes");
            for number in [2, 1] {
                let task = |task: u32| {
                    format!(
                        "[[tasks]]\nname = \"t{task}\"\nwcet = \"5ms\"\nperiod = \"10ms\"\n\
                         deadline = \"{deadline}ms\"\npriority = {task}\n"
                    )
                };
                let tasks: String = (0..tasks).map(task).collect();
                let text = format!("version = 1\nname = \"s{number}\"\n{tasks}");
                fs::write(folder.join(format!("{number}.toml")), text).expect("writes");
            }
            fs::write(folder.join("README"), "no set").expect("writes");
        }
    }
}

fn computed(study: &Study) -> ComputedPoints {
    let directory = tempfile::tempdir().expect("a directory");
    compute(study, directory.path(), 2, &NEVER, &Progress::default()).expect("no error")
}

/// Accepted sets of a series by family and value.
fn accepted(done: &ComputedPoints, series: usize) -> Vec<u64> {
    done.points.values().map(|tally| tally.series[series].count(ACCEPTED)).collect()
}

#[test]
fn sets_are_those_of_the_files() {
    let directory = tempfile::tempdir().expect("a directory");
    sets(directory.path());
    let study = Study::from_text(FILES, "files", directory.path()).expect("a study");
    let done = computed(&study);
    // 10 ms of work do not end within 5 ms.
    let families: Vec<String> = study.outline.families.iter().map(|family| family.label()).collect();
    assert_eq!(families, ["whole", "short"]);
    assert_eq!(accepted(&done, 0), [2, 2, 2, 0]);
    assert_eq!(accepted(&done, 1), [2, 2, 2, 0], "priorities are given");
    let sampler = study.sampler(Point { family: 0, value: 1_000_000_000 }, &NEVER).expect("prepares");
    assert!(sampler.tasks(2).expect_err("two files").hint.is_some());
    // Another file is another study.
    let before = study.description();
    let again = Study::from_text(FILES, "files", directory.path()).expect("a study");
    assert_eq!(again.description(), before);
    let file = directory.path().join("sets/whole/1/2.toml");
    let text = fs::read_to_string(&file).expect("reads").replace("5ms\"\nperiod", "4ms\"\nperiod");
    fs::write(&file, text).expect("writes");
    let other = Study::from_text(FILES, "files", directory.path()).expect("a study");
    assert_ne!(other.description(), before);
}

const COMMAND: &str = r#"
version = 1
title = "from a command"
sets = 3
[platform]
processors = 2
[axis]
of = "tasks"
from = 1
to = 4
step = 1
[generator]
name = "command"
run = "./draw {seed} {tasks} {index}"
[[curves]]
scheduler = "g-edf"
"#;

/// A program that prints n tasks (5 ms, 10 ms), as TOML or JSON, and says on a line of its own what it was asked for.
const DRAW: &str = r#"#!/bin/sh
echo "$1 $2 $3" >> asked
if [ "$3" = 1 ]; then
    printf '{"version": 1, "tasks": ['
    for n in $(seq "$2"); do [ "$n" = 1 ] || printf ', '; printf '{"name": "t%s", "wcet": "5ms", "period": "10ms"}' "$n"; done
    echo ']}'
    exit
fi
echo 'version = 1'
for n in $(seq "$2"); do printf '[[tasks]]\nname = "t%s"\nwcet = "5ms"\nperiod = "10ms"\n' "$n"; done
"#;

/// Writes the program by another process: a child that another test starts meanwhile would inherit a file that this process has open for
/// writing, and until that child is another program, this one could not be started (ETXTBSY).
fn program(directory: &Path, text: &str) {
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" >draw && chmod 755 draw", "sh", text])
        .current_dir(directory)
        .status();
    assert!(written.is_ok_and(|status| status.success()), "sh writes a program");
}

#[test]
fn sets_are_those_that_a_command_prints() {
    let directory = tempfile::tempdir().expect("a directory");
    program(directory.path(), DRAW);
    let study = Study::from_text(COMMAND, "command", directory.path()).expect("a study");
    let done = computed(&study);
    // Two CPUs are full with four tasks of 1/2: proven up to three.
    assert_eq!(accepted(&done, 0), [3, 3, 3, 0]);
    let asked = fs::read_to_string(directory.path().join("asked")).expect("was asked");
    let mut seeds: Vec<&str> = asked.lines().filter_map(|line| line.split(' ').next()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!((asked.lines().count(), seeds.len()), (12, 12), "a seed for each set: {asked}");
    assert_eq!(computed(&study), done, "the same seeds again");
}

#[test]
fn what_gives_no_sets_is_refused_with_a_way_out() {
    let directory = tempfile::tempdir().expect("a directory");
    sets(directory.path());
    for (base, from, to, part) in [
        (FILES, "directory = \"sets/{kind}/{utilization}\"", "", "generator `files` has no `directory`"),
        (FILES, "{kind}", "{sort}", "placeholder `sort` is not known"),
        (FILES, "{kind}", "whole", "`kind` stands nowhere in `directory`"),
        (FILES, "/{utilization}", "", "gives the same sets at every point"),
        (FILES, "sets/{kind}", "none/{kind}", "cannot read this directory of task sets"),
        (FILES, "sets = 2", "sets = 3", "has 2 task sets, and the study asks for 3"),
        (COMMAND, "{seed} {tasks} {index}", "{tasks}", "prints the same set every time"),
        (COMMAND, "{seed} {tasks} {index}", "{seed}", "gives the same sets at every point"),
        (COMMAND, "run = \"./draw {seed} {tasks} {index}\"", "", "generator `command` has no `run`"),
    ] {
        let text = base.replace(from, to);
        assert_ne!(text, base, "{from}");
        let error = Study::from_text(&text, "test", directory.path()).expect_err(part);
        assert!(error.message.contains(part), "{part}: {error}");
        assert!(error.hint.is_some() && error.failure.exit_code() == 2, "{error}");
    }
    let ended = |text: &str| {
        program(directory.path(), text);
        let study = Study::from_text(COMMAND, "command", directory.path()).expect("a study");
        let sampler = study.sampler(Point { family: 0, value: 1 }, &NEVER).expect("prepares");
        sampler.tasks(0).expect_err("no set")
    };
    for (text, part) in [
        (
            "#!/bin/sh\necho one >&2\necho 'no such thing' >&2\nexit 4\n",
            "it ended with an error: no such thing",
        ),
        ("#!/bin/sh\necho 'version = 2'\n", "what it prints: "),
        ("#!/bin/sh\nprintf '\\377'\n", "it prints no text"),
        ("#!/nonexistent/shell\n", "cannot start"),
        (
            "#!/bin/sh\nprintf 'version = 1\\n[[tasks]]\\nname = \"t\"\\nkind = \"best-effort\"\\nwcet = \"1ms\"\\nperiod = \"2ms\"\\n'\n",
            "`t` is no real-time task",
        ),
    ] {
        let error = ended(text);
        assert!(error.message.contains(part) && error.message.contains("./draw "), "{part}: {error}");
        assert!(error.hint.is_some() && error.failure.exit_code() == 2, "{error}");
    }
}

/// Accepts sets of at most two tasks, whatever they are.
struct AtMostTwo;

static AT_MOST_TWO: TestInfo = TestInfo {
    name: "at-most-two",
    source: Source::Tests(&["at-most-two"]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(1)",
    assumptions: &[],
};

impl Test for AtMostTwo {
    fn info(&self) -> &'static TestInfo {
        &AT_MOST_TWO
    }

    fn verdict(&self, tasks: &[SporadicTask], _: u32, _: &mut Work) -> Result<Verdict, Verdict> {
        Ok(if tasks.len() <= 2 { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

/// Accepts nothing, under a name of the catalogue.
struct Gfb;

static GFB: TestInfo = TestInfo {
    name: "gfb",
    source: Source::Tests(&["at-most-two"]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(1)",
    assumptions: &[],
};

impl Test for Gfb {
    fn info(&self) -> &'static TestInfo {
        &GFB
    }

    fn verdict(&self, _: &[SporadicTask], _: u32, _: &mut Work) -> Result<Verdict, Verdict> {
        Ok(Verdict::FAILS)
    }
}

#[test]
fn a_test_of_ones_own_judges_beside_the_others() {
    let text = r#"
        version = 1
        title = "own"
        sets = 4
        [platform]
        processors = 4
        [axis]
        of = "tasks"
        from = 1
        to = 4
        step = 1
        [generator]
        name = "unc"
        utilizations = "uniform:0.1,0.2"
        [[curves]]
        name = "own"
        scheduler = "g-edf"
        tests = ["at-most-two"]
        [[curves]]
        name = "either"
        scheduler = "g-edf"
        tests = ["at-most-two", "gfb"]
    "#;
    let study =
        Study::from_text_with(text, "own", Path::new(""), &Own::tests(&[&AtMostTwo])).expect("a study");
    let done = computed(&study);
    assert_eq!((accepted(&done, 0), accepted(&done, 1)), (vec![4, 4, 0, 0], vec![4, 4, 4, 4]));
    let error = Study::from_text(text, "own", Path::new("")).expect_err("a test that is not given");
    assert!(error.message.contains("test `at-most-two` is not known"), "{error}");
    let error = Study::from_text_with(text, "own", Path::new(""), &Own::tests(&[&AtMostTwo, &Gfb]))
        .expect_err("a name twice");
    assert!(error.message.contains("`gfb` is one of the catalogue") && error.hint.is_some(), "{error}");
}
