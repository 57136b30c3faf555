//! Callbacks of sched_ext as a page to be read and compared: chapter by chapter of a story, task by task, in their order. What a virtual
//! machine has recorded and what the model of the kernel (`laxity-scx`) has called go through the same.
//!
//! - Ticks are left out. A CPU's `dispatch` has no task: a task that comes onto a CPU which has not called it since another ran there is
//!   `running without dispatch`.
//! - A task that stops, can still run, and runs on within 2 ms on the same CPU is taken to have run on if what ran there meanwhile was
//!   nothing of the story's: an interrupt's kernel thread.
//! - A flag is shown where it says why: `WAKEUP`, `RESTORE`, `REENQ`, `LAST`; `SLEEP`, `SAVE`, `SCHED_CHANGE`; `EXEC`, `FORK`, `TTWU`.
//! - `exit_task`, and `disable` just before it, come when the kernel gives up the task's record, some time after its end: they are in the
//!   chapter of what came before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A callback of the kernel's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// Since the story's begin.
    pub at_ns: u64,
    pub cpu: u32,
    /// Empty: of no task, or of one that is not in the story.
    pub task: String,
    pub callback: &'static str,
    /// Flags, or whether the task can still run.
    pub argument: u64,
}

const PAUSE_NS: u64 = 2_000_000;
const ENDS_TOGETHER_NS: u64 = 1_000_000;

/// When each chapter begins, in ns, and its words.
pub fn chapters(story: &str) -> Vec<(u64, String)> {
    let chapter = |line: &str| {
        let (ms, words) = line.strip_prefix('[')?.split_once("] ")?;
        Some((ms.parse::<u64>().ok()? * 1_000_000, words.to_owned()))
    };
    story.lines().filter_map(chapter).collect()
}

/// The page: what is after the last chapter's begin is left out.
pub fn page(called: &[Called], story: &str) -> String {
    let chapters = chapters(story);
    let chapter_of = |at_ns: u64| chapters.iter().rposition(|(begin_ns, _)| *begin_ns <= at_ns);
    let mut by_chapter: BTreeMap<(usize, &str), Vec<String>> = BTreeMap::new();
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cpus: BTreeMap<&str, u32> = BTreeMap::new();
    let mut is_changed: BTreeSet<&str> = BTreeSet::new();
    let called = folded(&with_dispatches(called));
    for (place, (one, dispatched)) in called.iter().enumerate().filter(|(_, (one, _))| !one.task.is_empty()) {
        let Some(mut chapter) = chapter_of(one.at_ns).filter(|&chapter| chapter + 1 < chapters.len()) else {
            continue;
        };
        if let (true, Some(&last)) = (is_of_the_end(&called, place), before.get(one.task.as_str())) {
            chapter = last;
        }
        before.insert(&one.task, chapter);
        let mut words = worded(one);
        // `running` ends what a change of a running task begins.
        match one.callback {
            "quiescent" => drop(is_changed.insert(&one.task)),
            "enqueue" | "select_cpu" => drop(is_changed.remove(one.task.as_str())),
            _ => {}
        }
        if one.callback == "running" {
            if cpus.insert(&one.task, one.cpu) != Some(one.cpu) {
                write!(words, " on {}", one.cpu).expect("into a string");
            }
            if !dispatched && !is_changed.contains(one.task.as_str()) {
                words += " without dispatch";
            }
        }
        by_chapter.entry((chapter, &one.task)).or_default().push(words);
    }
    let mut page = String::new();
    for (number, (begin_ns, words)) in chapters.iter().enumerate() {
        writeln!(page, "[{}] {words}", begin_ns / 1_000_000).expect("into a string");
        for ((_, task), callbacks) in by_chapter.range((number, "")..(number + 1, "")) {
            for (line, words) in lines(callbacks).iter().enumerate() {
                writeln!(page, "{:10}{words}", if line == 0 { task } else { "" }).expect("into a string");
            }
        }
    }
    page
}

/// A line ends where the task has the CPU, or sleeps.
fn lines(callbacks: &[String]) -> Vec<String> {
    let mut lines = vec![String::new()];
    for words in callbacks {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(words);
        if words.starts_with("running") || words == "quiescent SLEEP" {
            lines.push(String::new());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Whether it is the task's last callback, or the one just before that.
fn is_of_the_end(called: &[(Called, bool)], place: usize) -> bool {
    let one = &called[place].0;
    let mut next = called[place + 1..].iter().map(|(next, _)| next).filter(|next| next.task == one.task);
    let ends = |next: &Called| next.callback == "exit_task" && next.at_ns - one.at_ns < ENDS_TOGETHER_NS;
    one.callback == "exit_task" || (one.callback == "disable" && next.next().is_some_and(ends))
}

fn worded(one: &Called) -> String {
    let of = |flags: &[(u32, &str)]| {
        let named =
            flags.iter().filter(|(bit, _)| one.argument >> bit & 1 == 1).map(|(_, name)| format!(" {name}"));
        one.callback.to_owned() + &named.collect::<String>()
    };
    match one.callback {
        "select_cpu" => of(&[(1, "EXEC"), (2, "FORK"), (3, "TTWU")]),
        "enqueue" => of(&[(0, "WAKEUP"), (1, "RESTORE"), (40, "REENQ"), (41, "LAST")]),
        "dequeue" | "quiescent" => of(&[(0, "SLEEP"), (1, "SAVE"), (33, "SCHED_CHANGE")]),
        "stopping" => of(&[(0, "runnable")]),
        other => other.to_owned(),
    }
}

/// Each with whether the CPU has called `dispatch` since a task ran there.
fn with_dispatches(called: &[Called]) -> Vec<(Called, bool)> {
    let mut asked: BTreeMap<u32, bool> = BTreeMap::new();
    let mut with = Vec::new();
    for one in called {
        let asked = asked.entry(one.cpu).or_default();
        match one.callback {
            "tick" => {}
            "dispatch" => *asked = true,
            "running" => with.push((one.clone(), std::mem::take(asked))),
            _ => with.push((one.clone(), false)),
        }
    }
    with
}

/// Without what kernel threads cause that run for a moment.
fn folded(called: &[(Called, bool)]) -> Vec<(Called, bool)> {
    let mut is_left_out = vec![false; called.len()];
    for (place, (stops, _)) in called.iter().enumerate() {
        if stops.task.is_empty() || stops.callback != "stopping" || stops.argument & 1 == 0 {
            continue;
        }
        let (mut own, mut has_foreign) = (vec![place], false);
        for (at, (next, _)) in called.iter().enumerate().skip(place + 1) {
            if next.at_ns - stops.at_ns > PAUSE_NS || (next.cpu != stops.cpu && next.task == stops.task) {
                break;
            }
            if next.cpu != stops.cpu {
                continue;
            }
            if next.task.is_empty() {
                has_foreign |= matches!(next.callback, "running" | "cpu_release");
            } else if next.task == stops.task && matches!(next.callback, "enqueue" | "dequeue") {
                own.push(at);
            } else if next.task == stops.task && next.callback == "running" && has_foreign {
                own.push(at);
                own.iter().for_each(|&at| is_left_out[at] = true);
                break;
            } else if next.task == stops.task || next.callback == "running" {
                break;
            }
        }
    }
    called
        .iter()
        .zip(is_left_out)
        .filter(|(_, is_left_out)| !is_left_out)
        .map(|(one, _)| one.clone())
        .collect()
}

/// Chapters that differ, side by side; `None`: the pages are the same. Lines of the first page that begin with `#` say where it is from.
pub fn differences(expected: &str, found: &str, titles: (&str, &str)) -> Option<String> {
    let split = |page: &str| {
        let mut chapters: Vec<Vec<String>> = Vec::new();
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            if line.starts_with('[') || chapters.is_empty() {
                chapters.push(Vec::new());
            }
            chapters.last_mut().expect("there is one").push(line.to_owned());
        }
        chapters
    };
    let (expected, found) = (split(expected), split(found));
    let none = Vec::new();
    let mut said = String::new();
    for number in 0..expected.len().max(found.len()) {
        let (left, right) = (expected.get(number).unwrap_or(&none), found.get(number).unwrap_or(&none));
        if left == right {
            continue;
        }
        let width = left.iter().map(String::len).max().unwrap_or(0).max(titles.0.len());
        writeln!(said, "  {:width$} | {}", titles.0, titles.1).expect("into a string");
        for line in 0..left.len().max(right.len()) {
            let of = |lines: &[String]| lines.get(line).cloned().unwrap_or_default();
            let (left, right) = (of(left), of(right));
            let mark = if left == right { ' ' } else { '!' };
            writeln!(said, "{mark} {left:width$} | {right}").expect("into a string");
        }
    }
    (!said.is_empty()).then_some(said)
}
