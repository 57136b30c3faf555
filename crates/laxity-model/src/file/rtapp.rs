//! Import of rt-app's JSON, in both dialects (1.0 with `"ftrace": false`, later ones with
//! `"ftrace": "none"` or a list of categories).
//!
//! How a thread becomes a task:
//! 1. A job is the work (`run`, `runtime`) between two uses of a `timer`; C is the longest job, T the timer's period. Timers of
//!    different periods give a sporadic task with the shortest of them.
//! 2. Without a timer, a job ends where the thread sleeps: a sporadic task, whose T is the shortest that work and sleep take.
//! 3. Under SCHED_DEADLINE, `dl-deadline` is D, and if `dl-period` is T, `dl-runtime` is C (the budget) and
//!    the work becomes the task's demand. A `yield` ends a job like a timer of `dl-period`.
//! 4. A thread that never pauses is background work.
//! 5. `delay` is the phase, with what comes before the first work; `loop` says when the task leaves; `cpus` is the affinity,
//!    `instance` makes as many tasks, `memrun` is the working set, and the `priority` of SCHED_FIFO and SCHED_RR the task's.
//! 6. A thread that waits for other threads and has no timer has no period, nor has one that others fork: such a file is refused,
//!    or they are left out ([`Incomplete`]). A thread without work makes no task, and no difference.
//!
//! Everything else a file says (locks, calibration ...) is reported as a warning, not guessed.

use super::rtapp_json::Node;
use super::rtapp_thread::{Event, NoTask, Thread, context};
use super::{Imported, Incomplete, limited};
use crate::task_set::TASKS_MAX;
use crate::{Diagnostic, Result, Task, TaskSet, plural};
use std::collections::{BTreeMap, BTreeSet};

/// More threads, and more of what they do, are not named in a refusal.
const NAMED_MAX: usize = 8;

/// True if the text is an rt-app file and not a laxity one.
pub(super) fn is_rtapp(text: &str) -> Result<bool> {
    let root = Node::parse(text)?;
    let tasks_by_name = matches!(root.get("tasks"), Some(Node::Object(_)));
    Ok(tasks_by_name && root.get("version").is_none())
}

impl TaskSet {
    /// Imports an rt-app file (see the rules above); `name` becomes the set's name.
    pub fn from_rtapp(text: &str, name: &str) -> Result<Imported> {
        Self::from_rtapp_as(text, name, Incomplete::Refuse)
    }

    /// The same, where it is said what happens to threads that make no task.
    pub fn from_rtapp_as(text: &str, name: &str, incomplete: Incomplete) -> Result<Imported> {
        let root = Node::parse(text)?;
        let Some(Node::Object(described)) = root.get("tasks") else {
            return Err(Diagnostic::usage("there is no `tasks` object")
                .hint("an rt-app file describes threads in `tasks`"));
        };
        let mut warnings = Vec::new();
        let policy_default = read_global(root.get("global"), &mut warnings)?;
        let read = |(name, node): &(String, Node)| Thread::read(name, node, policy_default.as_deref());
        let threads: Vec<Thread> = described.iter().map(read).collect::<Result<_>>()?;
        warn_shared_timers(&threads, &mut warnings);
        let Made { tasks, cannot, idle } = made(&threads, &mut warnings)?;
        if !cannot.is_empty() && (incomplete == Incomplete::Refuse || tasks.is_empty()) {
            return Err(refused(&cannot, incomplete));
        }
        if let (true, [first, ..]) = (tasks.is_empty(), &idle[..]) {
            return Err(Diagnostic::usage(first.clone())
                .hint("give it a `run` event in microseconds, or another thread that has one"));
        }
        // What is missing comes first: not all warnings may be shown.
        let missing =
            cannot.iter().map(|(name, why)| format!("left out with its work: thread `{name}`, which {why}"));
        let idle = idle.iter().map(|why| format!("{why}: it makes no task"));
        let mut said = BTreeSet::new();
        let once = |warning: &String| said.insert(warning.clone());
        let warnings = missing.chain(idle).chain(warnings).filter(once).collect();
        Ok(Imported { set: TaskSet::new(name, tasks)?, warnings: limited(warnings) })
    }
}

/// What threads make.
#[derive(Default)]
struct Made {
    tasks: Vec<Task>,
    /// Which make no task, though they work, and what they do.
    cannot: Vec<(String, String)>,
    /// Which do no work.
    idle: Vec<String>,
}

fn made(threads: &[Thread], warnings: &mut Vec<String>) -> Result<Made> {
    let mut forked: BTreeMap<&str, &str> = BTreeMap::new();
    for thread in threads {
        let forks = thread.events().filter_map(|event| match event {
            Event::Fork(name) => Some(name.as_str()),
            _ => None,
        });
        forked.extend(forks.map(|name| (name, thread.name.as_str())));
    }
    let mut made = Made::default();
    for thread in threads {
        let said = |why: &str| context(&thread.name, why).message;
        if thread.instances > TASKS_MAX - made.tasks.len() {
            return Err(Diagnostic::usage(format!("more than {TASKS_MAX} threads, the limit"))
                .hint("lower the `instance` numbers"));
        }
        if let Some(by) = forked.get(thread.name.as_str()) {
            let why = format!("is started by `fork` of thread `{by}`, at no known times");
            made.cannot.push((thread.name.clone(), why));
            continue;
        }
        if thread.instances == 0 {
            made.idle.push(said("has `instance` 0 and is never started"));
            continue;
        }
        let mut own = thread.warnings.clone();
        match thread.task(&mut own) {
            Ok(task) => {
                let names = instance_names(&thread.name, thread.instances);
                made.tasks.extend(names.map(|name| Task { name, ..task.clone() }));
                warnings.extend(own);
            }
            Err(NoTask::Wrong(wrong)) => return Err(wrong),
            Err(NoTask::Cannot(why)) => made.cannot.push((thread.name.clone(), why)),
            Err(NoTask::Idle(why)) => made.idle.push(said(&why)),
        }
    }
    Ok(made)
}

/// Threads that make no task, by what they do, and what to do about them.
fn refused(cannot: &[(String, String)], incomplete: Incomplete) -> Diagnostic {
    let mut by_why: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in cannot {
        match by_why.iter_mut().find(|(other, _)| other == why) {
            Some((_, names)) => names.push(name),
            None => by_why.push((why, vec![name])),
        }
    }
    let all = |(why, names): &(&str, Vec<&str>)| match names[..] {
        [name] => format!("thread `{name}`: {why}"),
        _ => {
            let named = names.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect::<Vec<_>>();
            let more = match names.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("threads {}{more}: each {why}", named.join(", "))
        }
    };
    let whys: Vec<String> = by_why.iter().take(NAMED_MAX).map(all).collect();
    let others = by_why.iter().skip(NAMED_MAX).map(|(_, names)| names.len()).sum::<usize>();
    let more = if others > 0 { format!("; and {}", plural(others, "more thread")) } else { String::new() };
    let named = whys.join("; ");
    let hint = "give each a timer with the period of what starts it, or remove it";
    Diagnostic::usage(format!("{named}{more}")).hint(match incomplete {
        Incomplete::Refuse => format!("{hint}; --leave-out-threads goes on without them and their work"),
        Incomplete::LeaveOut => format!("{hint}; no other thread makes a task"),
    })
}

/// A timer that is not `unique` is one for all threads that name it: each use moves it for all.
fn warn_shared_timers(threads: &[Thread], warnings: &mut Vec<String>) {
    let mut users: BTreeMap<&str, usize> = BTreeMap::new();
    let timers = |thread: &Thread| -> BTreeSet<String> {
        let reference = |event: &Event| match event {
            Event::Timer { reference, .. } if !reference.starts_with("unique") => Some(reference.clone()),
            _ => None,
        };
        thread.events().filter_map(reference).collect()
    };
    let named: Vec<BTreeSet<String>> = threads.iter().map(timers).collect();
    for (thread, names) in threads.iter().zip(&named) {
        for name in names {
            let users = users.entry(name).or_default();
            *users = users.saturating_add(thread.instances);
        }
    }
    for (name, _) in users.iter().filter(|(_, users)| **users > 1) {
        warnings.push(format!(
            "timer `{name}` is one for several threads, each of which delays the others; periods are taken as they are written"
        ));
    }
}

fn instance_names(thread: &str, instances: usize) -> impl Iterator<Item = String> {
    (0..instances).map(move |i| if instances == 1 { thread.to_owned() } else { format!("{thread}-{i}") })
}

/// Checks the `global` object and returns the default policy.
fn read_global(global: Option<&Node>, warnings: &mut Vec<String>) -> Result<Option<String>> {
    let Some(global) = global else { return Ok(None) };
    let wrong = |key: &str, node: &Node, wanted: &str| {
        Err(Diagnostic::usage(format!("global: `{key}` is {}, not {wanted}", node.kind()))
            .hint("see the rt-app tutorial, \"global object\""))
    };
    if !matches!(global, Node::Object(_)) {
        return wrong("global", global, "an object");
    }
    match global.get("ftrace") {
        None | Some(Node::Bool(_) | Node::Text(_) | Node::List(_)) => {}
        Some(other) => return wrong("ftrace", other, "true, false, \"none\" or categories"),
    }
    if global.get("duration").is_some_and(|duration| *duration != Node::Integer(-1)) {
        warnings.push("global: `duration` belongs to a run, not to a task set; give it as --duration".into());
    }
    match global.get("default_policy") {
        None => Ok(None),
        Some(Node::Text(policy)) => Ok(Some(policy.clone())),
        Some(other) => wrong("default_policy", other, "text"),
    }
}
