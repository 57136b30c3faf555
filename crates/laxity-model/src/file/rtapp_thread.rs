//! One thread of an rt-app file: its phases and events, affinity and reservation.

use super::rtapp_json::Node;
use crate::{AccessPattern, CpuList, Diagnostic, Result, WorkingSet};

/// What one entry of a phase makes the thread do.
pub(super) enum Event {
    /// Use the CPU for this many us.
    Work(u64),
    /// Sleep for this many us.
    Sleep(u64),
    /// Wait until so many us after the timer's last use.
    Timer { period: u64, reference: String },
    /// End the job (SCHED_DEADLINE).
    Yield,
    /// Wait for another thread, by the event of this name.
    Wait(&'static str),
    /// Start another thread.
    Fork(String),
    /// Touch this memory, for an unknown time.
    Memory(WorkingSet, Option<String>),
    /// Something that takes an unknown time, by its name.
    Unknown(&'static str),
    /// Something that takes no time of its own.
    Other,
}

/// Why a thread makes no task.
pub(super) enum NoTask {
    /// The file is wrong.
    Wrong(Diagnostic),
    /// It works in a way that no task does: what it does, after its name.
    Cannot(String),
    /// It does no work: why, after its name.
    Idle(String),
}

impl From<Diagnostic> for NoTask {
    fn from(wrong: Diagnostic) -> Self {
        NoTask::Wrong(wrong)
    }
}

/// A run of events that is repeated before the next one starts.
pub(super) struct Phase {
    /// Repetitions; none given: without end.
    pub repeats: Option<u64>,
    pub events: Vec<Event>,
}

impl Phase {
    /// Whether it has work of known length.
    pub fn works(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Work(1..)))
    }
}

/// The parameters of a SCHED_DEADLINE reservation, in us.
pub(super) struct Reservation {
    pub runtime: u64,
    pub period: u64,
    pub deadline: u64,
}

/// A thread as the file describes it.
pub(super) struct Thread {
    pub name: String,
    /// How many threads of this description run.
    pub instances: usize,
    pub delay: u64,
    /// Repetitions of all phases; none given: without end.
    pub repeats: Option<u64>,
    pub affinity: Option<CpuList>,
    pub phases: Vec<Phase>,
    pub reservation: Option<Reservation>,
    /// As tasks have it, from SCHED_FIFO or SCHED_RR: 1 for rt-app's 99, 99 for its 1.
    pub priority: Option<u32>,
    /// What the first rt-app had instead of events, in us.
    pub exec: Option<u64>,
    pub period: Option<u64>,
    pub deadline: Option<u64>,
    /// What is left out of it.
    pub warnings: Vec<String>,
}

/// An error about one thread.
pub(super) fn context(thread: &str, message: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::usage(format!("thread `{thread}`: {message}"))
}

/// Event names, longest first where one begins with another: rt-app matches them as prefixes (`run0`).
const EVENTS: [&str; 20] = [
    "runtime", "run", "resume", "sleep", "timer", "suspend", "wait", "sync", "signal", "broad", "barrier",
    "lock", "unlock", "memrun", "mem", "iorun", "yield", "fork", "sem_post", "sem_wait",
];

/// Entries that laxity reads elsewhere, or that say only how rt-app would schedule the thread.
const PROPERTIES: [&str; 13] = [
    "loop",
    "phases",
    "instance",
    "delay",
    "cpus",
    "policy",
    "priority",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "period",
    "deadline",
    "exec",
];

impl Thread {
    /// Reads a thread object.
    pub fn read(name: &str, node: &Node, policy_default: Option<&str>) -> Result<Thread> {
        let warnings = &mut Vec::new();
        if !matches!(node, Node::Object(_)) {
            return Err(context(name, format!("is {}, not an object", node.kind()))
                .hint("describe the thread in braces"));
        }
        let phase_nodes: Vec<&Node> = match node.get("phases") {
            None => vec![node],
            Some(Node::Object(phases)) => phases.iter().map(|(_, phase)| phase).collect(),
            Some(other) => {
                return Err(context(name, format!("`phases` is {}, not an object", other.kind()))
                    .hint("name the phases: {\"phases\": {\"p1\": {...}}}"));
            }
        };
        let nested = node.get("phases").is_some();
        let phases =
            phase_nodes.iter().map(|phase| read_phase(name, phase, warnings)).collect::<Result<_>>()?;
        if nested {
            warn_unknown(name, node, warnings);
        }
        let time = |key: &str| node.get(key).map(|n| not_negative(name, key, n)).transpose();
        let count = |key: &str, default: u64| time(key).map(|given| given.unwrap_or(default));
        let policies = Policies::read(name, node, &phase_nodes, policy_default, warnings);
        let thread = Thread {
            name: name.to_owned(),
            instances: usize::try_from(count("instance", 1)?).unwrap_or(usize::MAX),
            delay: count("delay", 0)?,
            repeats: match (nested, node.get("loop")) {
                (true, Some(repeats)) => read_loop(name, repeats)?,
                (true, None) | (false, None) => None,
                // Without `phases`, `loop` belongs to the only phase.
                (false, Some(_)) => Some(1),
            },
            affinity: read_affinity(name, node, &phase_nodes, warnings)?,
            phases,
            priority: read_priority(name, node, &policies, warnings)?,
            reservation: read_reservation(name, node, &policies, warnings)?,
            exec: time("exec")?,
            period: time("period")?,
            deadline: time("deadline")?,
            warnings: std::mem::take(warnings),
        };
        Ok(thread.ended())
    }

    /// The same where a phase that does nothing for ever is the end.
    fn ended(mut self) -> Thread {
        let nothing = |phase: &Phase| {
            let idle = |event: &Event| {
                matches!(event, Event::Work(0) | Event::Sleep(_) | Event::Timer { .. } | Event::Yield)
            };
            phase.repeats.is_none() && phase.events.iter().all(idle)
        };
        if let Some(at) = self.phases.iter().position(nothing) {
            self.phases.truncate(at + 1);
            self.phases[at].repeats = Some(1);
            self.repeats = Some(1);
        }
        self
    }

    /// All events of all phases.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.phases.iter().flat_map(|phase| &phase.events)
    }

    /// The first event that waits for another thread.
    pub fn waits(&self) -> Option<&'static str> {
        self.events().find_map(|event| match event {
            Event::Wait(name) => Some(*name),
            _ => None,
        })
    }
}

fn read_phase(thread: &str, node: &Node, warnings: &mut Vec<String>) -> Result<Phase> {
    if !matches!(node, Node::Object(_)) {
        return Err(context(thread, format!("a phase is {}, not an object", node.kind()))
            .hint("list its events in braces"));
    }
    warn_unknown(thread, node, warnings);
    let repeats = node.get("loop").map_or(Ok(Some(1)), |repeats| read_loop(thread, repeats))?;
    let events = node.entries().iter().filter_map(|(key, value)| Some((event_name(key)?, key, value)));
    let events = events
        .map(|(event, key, value)| read_event(thread, event, key, value, warnings))
        .collect::<Result<_>>()?;
    Ok(Phase { repeats, events })
}

fn event_name(key: &str) -> Option<&'static str> {
    EVENTS.into_iter().find(|event| key.starts_with(event))
}

fn read_event(
    thread: &str,
    event: &'static str,
    key: &str,
    node: &Node,
    warnings: &mut Vec<String>,
) -> Result<Event> {
    Ok(match event {
        "run" | "runtime" => Event::Work(not_negative(thread, key, node)?),
        "sleep" => Event::Sleep(not_negative(thread, key, node)?),
        "timer" => {
            let period =
                node.get("period").map_or(Ok(0), |period| not_negative(thread, "timer period", period))?;
            let reference = match node.get("ref") {
                Some(Node::Text(name)) => name.clone(),
                _ => "unknown".to_owned(),
            };
            Event::Timer { period, reference }
        }
        "yield" => Event::Yield,
        "wait" | "sync" | "suspend" | "sem_wait" | "barrier" => Event::Wait(event),
        "fork" => Event::Fork(match node {
            Node::Text(name) => name.clone(),
            other => {
                return Err(context(thread, format!("`{key}` is {}, not text", other.kind()))
                    .hint("name the thread that is started"));
            }
        }),
        "memrun" => read_memory(thread, node)?,
        _ => {
            warnings.push(format!("thread `{thread}`: the event `{key}` is not modelled"));
            if ["mem", "iorun"].contains(&event) { Event::Unknown(event) } else { Event::Other }
        }
    })
}

fn read_memory(thread: &str, node: &Node) -> Result<Event> {
    let text = |key: &str| match node.get(key) {
        Some(Node::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let (reads, writes) = match text("type") {
        Some("chase" | "read") => (1, 0),
        Some("write") => (0, 1),
        _ => {
            return Err(context(thread, "a memrun event has no known `type`")
                .hint("use \"chase\", \"read\" or \"write\""));
        }
    };
    let size_bytes = node.get("size").map_or(Ok(0), |size| not_negative(thread, "memrun size", size))?;
    let random = text("type") == Some("chase") && text("pattern") != Some("sequential");
    let pattern = if random { AccessPattern::Random } else { AccessPattern::Sequential };
    Ok(Event::Memory(WorkingSet { size_bytes, reads, writes, pattern }, text("ref").map(str::to_owned)))
}

/// A loop count; -1 is without end.
fn read_loop(thread: &str, node: &Node) -> Result<Option<u64>> {
    if *node == Node::Integer(-1) { Ok(None) } else { not_negative(thread, "loop", node).map(Some) }
}

fn warn_unknown(thread: &str, node: &Node, warnings: &mut Vec<String>) {
    for (key, _) in node.entries() {
        if event_name(key).is_none() && !PROPERTIES.contains(&key.as_str()) {
            warnings
                .push(format!("thread `{thread}`: `{key}` has no counterpart in a task set and is left out"));
        }
    }
}

/// The CPUs that all phases have in common; phases that move the thread around have no counterpart.
fn read_affinity(
    thread: &str,
    node: &Node,
    phases: &[&Node],
    warnings: &mut Vec<String>,
) -> Result<Option<CpuList>> {
    let cpus = |node: &Node| node.get("cpus").map(|list| read_cpus(thread, list)).transpose();
    let whole = cpus(node)?;
    let mut each = phases.iter().map(|phase| Ok(cpus(phase)?.or_else(|| whole.clone())));
    let Some(first) = each.next().transpose()? else { return Ok(whole) };
    for other in each {
        if other? != first {
            warnings.push(format!(
                "thread `{thread}`: its phases have different `cpus`; the affinity is left out"
            ));
            return Ok(None);
        }
    }
    Ok(first)
}

fn read_cpus(thread: &str, node: &Node) -> Result<CpuList> {
    let Node::List(list) = node else {
        return Err(
            context(thread, format!("`cpus` is {}, not a list", node.kind())).hint("write \"cpus\": [0, 1]")
        );
    };
    let numbers = list
        .iter()
        .map(|cpu| Ok(not_negative(thread, "cpus", cpu)?.to_string()))
        .collect::<Result<Vec<_>>>()?;
    numbers.join(",").parse().map_err(|e: Diagnostic| e.context(format!("thread `{thread}`")))
}

/// By which policy the thread is scheduled.
struct Policies {
    /// Its own, or the file's.
    of_thread: Option<Node>,
    /// Its phases change it, or the priority.
    changed: bool,
}

impl Policies {
    fn read(
        thread: &str,
        node: &Node,
        phases: &[&Node],
        policy_default: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Policies {
        let policy = |node: &Node| node.get("policy").cloned();
        let of_thread = policy(node).or_else(|| policy_default.map(|name| Node::Text(name.into())));
        let changed = phases.iter().any(|phase| {
            policy(phase).is_some_and(|policy| Some(policy) != of_thread)
                || phase.get("priority").is_some_and(|priority| Some(priority) != node.get("priority"))
        });
        if changed {
            warnings.push(format!(
                "thread `{thread}`: its phases change the policy or the priority; both are left out"
            ));
        }
        Policies { of_thread, changed }
    }

    fn is(&self, name: &str) -> bool {
        !self.changed && matches!(&self.of_thread, Some(Node::Text(policy)) if policy == name)
    }
}

/// The priority under SCHED_FIFO and SCHED_RR, 10 if none is given; elsewhere it is a nice value, which has no counterpart.
fn read_priority(
    thread: &str,
    node: &Node,
    policies: &Policies,
    warnings: &mut Vec<String>,
) -> Result<Option<u32>> {
    let given = node.get("priority");
    if !policies.is("SCHED_FIFO") && !policies.is("SCHED_RR") {
        if given.is_some_and(|given| !policies.changed && *given != Node::Integer(0)) {
            warnings.push(format!(
                "thread `{thread}`: its `priority` is a nice value, which a task has not; it is left out"
            ));
        }
        return Ok(None);
    }
    let wrong = |what: String| {
        context(thread, format!("`priority` is {what}, but its policy has those from 1 to 99"))
            .hint("write an integer from 1 (the lowest) to 99")
    };
    match given {
        None => Ok(Some(90)),
        Some(Node::Integer(priority)) => match u32::try_from(*priority) {
            Ok(priority @ 1..=99) => Ok(Some(100 - priority)),
            _ => Err(wrong(priority.to_string())),
        },
        Some(other) => Err(wrong(other.kind().to_owned())),
    }
}

/// The reservation, if the thread runs under SCHED_DEADLINE and its phases do not change it.
fn read_reservation(
    thread: &str,
    node: &Node,
    policies: &Policies,
    warnings: &mut Vec<String>,
) -> Result<Option<Reservation>> {
    if !policies.is("SCHED_DEADLINE") {
        return Ok(None);
    }
    let number = |key: &str| node.get(key).map(|value| not_negative(thread, key, value)).transpose();
    if ["period", "deadline"].iter().any(|key| node.get(key).is_some()) {
        warnings.push(format!(
            "thread `{thread}`: `period` and `deadline` are read as us (rt-app 1.0 read them as ns)"
        ));
    }
    let runtime = number("dl-runtime")?.unwrap_or(0);
    let period = number("dl-period")?.or(number("period")?).unwrap_or(runtime);
    let deadline = number("dl-deadline")?.or(number("deadline")?).unwrap_or(period);
    Ok((period > 0).then_some(Reservation { runtime, period, deadline }))
}

/// An integer of microseconds (or a count) that must not be negative.
fn not_negative(owner: &str, key: &str, node: &Node) -> Result<u64> {
    match node {
        Node::Integer(value) => u64::try_from(*value).map_err(|_| {
            context(owner, format!("`{key}` is {value}; it must not be negative"))
                .hint("write microseconds from 0 up")
        }),
        other => Err(context(owner, format!("`{key}` is {}, not an integer", other.kind()))
            .hint("rt-app's times are whole microseconds")),
    }
}
