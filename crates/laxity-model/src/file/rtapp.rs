//! Import of rt-app's JSON, in both dialects (1.0 with `"ftrace": false`, later ones with
//! `"ftrace": "none"` or a list of categories).
//!
//! How a thread becomes a task:
//! 1. A job is the work (`run`, `runtime`) between two uses of a `timer`; C is the longest job, T the timer's
//!    period. Timers of different periods give a sporadic task with the shortest of them.
//! 2. Under SCHED_DEADLINE, `dl-deadline` is D, and if `dl-period` is T, `dl-runtime` is C (the budget) and
//!    the work becomes the task's demand. A `yield` ends a job like a timer of `dl-period`.
//! 3. A thread with neither timer nor `yield` is background work if it only runs and sleeps, and refused if
//!    it waits for other threads: it has no period of its own.
//! 4. `delay` is the phase, `cpus` the affinity, `instance` makes as many tasks, `memrun` is the working set.
//!
//! Everything else a file says (priorities, locks, calibration ...) is reported as a warning, not guessed.

use super::rtapp_json::Node;
use super::rtapp_thread::{Thread, context};
use super::{Imported, limited};
use crate::task_set::TASKS_MAX;
use crate::{Diagnostic, Result, Task, TaskSet};

/// True if the text is an rt-app file and not a laxity one.
pub(super) fn is_rtapp(text: &str) -> Result<bool> {
    let root = Node::parse(text)?;
    let tasks_by_name = matches!(root.get("tasks"), Some(Node::Object(_)));
    Ok(tasks_by_name && root.get("version").is_none())
}

impl TaskSet {
    /// Imports an rt-app file (see the rules above); `name` becomes the set's name.
    pub fn from_rtapp(text: &str, name: &str) -> Result<Imported> {
        let root = Node::parse(text)?;
        let Some(Node::Object(threads)) = root.get("tasks") else {
            return Err(Diagnostic::usage("there is no `tasks` object")
                .hint("an rt-app file describes threads in `tasks`"));
        };
        let mut warnings = Vec::new();
        let policy_default = read_global(root.get("global"), &mut warnings)?;
        let mut tasks: Vec<Task> = Vec::new();
        for (thread_name, description) in threads {
            let thread = Thread::read(thread_name, description, policy_default.as_deref(), &mut warnings)?;
            if thread.instances > TASKS_MAX - tasks.len() {
                return Err(Diagnostic::usage(format!("more than {TASKS_MAX} threads, the limit"))
                    .hint("lower the `instance` numbers"));
            }
            if let Some(task) = thread.task(&mut warnings)? {
                let names = instance_names(thread_name, thread.instances);
                tasks.extend(names.map(|name| Task { name, ..task.clone() }));
            }
        }
        Ok(Imported { set: TaskSet::new(name, tasks)?, warnings: limited(warnings) })
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

/// An integer of microseconds (or a count) that must not be negative.
pub(super) fn not_negative(owner: &str, key: &str, node: &Node) -> Result<u64> {
    match node {
        Node::Integer(value) => u64::try_from(*value).map_err(|_| {
            context(owner, format!("`{key}` is {value}; it must not be negative"))
                .hint("write microseconds from 0 up")
        }),
        other => Err(context(owner, format!("`{key}` is {}, not an integer", other.kind()))
            .hint("rt-app's times are whole microseconds")),
    }
}
