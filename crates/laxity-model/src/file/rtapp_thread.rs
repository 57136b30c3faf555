//! One thread of an rt-app file: its events, and the jobs that they make up.

use super::rtapp::not_negative;
use super::rtapp_json::Node;
use crate::{
    AccessPattern, Arrival, CpuList, Demand, Diagnostic, Duration, Group, Result, Task, TaskKind, WorkingSet,
};

/// What one entry of a phase makes the thread do.
enum Event {
    /// Use the CPU for this many us.
    Work(u64),
    /// Sleep for this many us.
    Sleep(u64),
    /// Wait for the next multiple of this many us.
    Timer(u64),
    /// End the job (SCHED_DEADLINE).
    Yield,
    /// Wait for another thread.
    Wait,
    /// Touch this memory, for an unknown time.
    Memory(WorkingSet, Option<String>),
    /// Something that takes no time of its own or an unknown one.
    Other,
}

/// A run of events that is repeated before the next one starts.
struct Phase {
    /// Repetitions; none given: without end.
    repeats: Option<u64>,
    events: Vec<Event>,
}

/// The parameters of a SCHED_DEADLINE reservation, in us.
struct Reservation {
    runtime: u64,
    period: u64,
    deadline: u64,
}

/// The work between two timers, and the second timer's period, in us.
struct Job {
    work: u64,
    period: u64,
}

/// A thread as the file describes it.
pub(super) struct Thread {
    name: String,
    /// How many threads of this description run.
    pub instances: usize,
    delay: u64,
    /// Repetitions of all phases; none given: without end.
    repeats: Option<u64>,
    affinity: Option<CpuList>,
    phases: Vec<Phase>,
    reservation: Option<Reservation>,
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
    pub fn read(
        name: &str,
        node: &Node,
        policy_default: Option<&str>,
        warnings: &mut Vec<String>,
    ) -> Result<Thread> {
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
        let count =
            |key: &str, default: u64| node.get(key).map_or(Ok(default), |n| not_negative(name, key, n));
        Ok(Thread {
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
            reservation: read_reservation(name, node, &phase_nodes, policy_default, warnings)?,
        })
    }

    /// The task that the thread amounts to; nothing for a thread that the file never starts.
    pub fn task(&self, warnings: &mut Vec<String>) -> Result<Option<Task>> {
        if self.instances == 0 {
            warnings.push(format!(
                "thread `{}` has `instance` 0: it is only started by a fork, and left out",
                self.name
            ));
            return Ok(None);
        }
        let timed = self.events().any(|event| matches!(event, Event::Timer(_)))
            || (self.reservation.is_some() && self.events().any(|event| matches!(event, Event::Yield)));
        let task = if timed { self.recurring(warnings)? } else { self.best_effort(warnings)? };
        let phase = time(&self.name, "delay", self.delay)?;
        let (working_set, group) = self.memory(warnings);
        Ok(Some(Task { phase, working_set, group, affinity: self.affinity.clone(), ..task }))
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.phases.iter().flat_map(|phase| &phase.events)
    }

    fn recurring(&self, warnings: &mut Vec<String>) -> Result<Task> {
        let jobs = self.jobs()?;
        let shortest = jobs.iter().map(|job| job.period).min();
        let work = jobs.iter().map(|job| job.work).max().unwrap_or(0);
        let Some(period) = shortest.filter(|&period| period > 0) else {
            return Err(context(&self.name, "a timer has no period")
                .hint("give the timer a `period` in microseconds"));
        };
        if work == 0 {
            return Err(self.idle());
        }
        if jobs.iter().any(|job| job.work != work) {
            warnings.push(format!(
                "thread `{}`: its jobs differ; every job is given the longest, {work} us",
                self.name
            ));
        }
        self.warn_blocking(warnings);
        let task =
            Task::periodic(&self.name, time(&self.name, "run", work)?, time(&self.name, "period", period)?);
        let task = match &self.reservation {
            Some(reservation) => self.with_reservation(task, work, reservation, warnings)?,
            None => task,
        };
        if jobs.iter().all(|job| job.period == period) {
            return Ok(task);
        }
        warnings.push(format!(
            "thread `{}`: its timers differ; imported as sporadic, {period} us apart",
            self.name
        ));
        Ok(Task { arrival: Arrival::Sporadic { min_interarrival: task.period() }, ..task })
    }

    /// Takes budget and deadline from the reservation if it has the task's period.
    fn with_reservation(
        &self,
        task: Task,
        work: u64,
        reservation: &Reservation,
        warnings: &mut Vec<String>,
    ) -> Result<Task> {
        if time(&self.name, "dl-period", reservation.period)? != task.period() {
            warnings.push(format!(
                "thread `{}`: dl-period {} us is not the timer's period; the reservation is left out",
                self.name, reservation.period
            ));
            return Ok(task);
        }
        let deadline_rel = time(&self.name, "dl-deadline", reservation.deadline)?;
        if reservation.runtime == 0 || reservation.runtime == work {
            return Ok(Task { deadline_rel, ..task });
        }
        let wcet = time(&self.name, "dl-runtime", reservation.runtime)?;
        Ok(Task {
            deadline_rel,
            wcet,
            demand: Some(self.demand(work, reservation.runtime, warnings)?),
            ..task
        })
    }

    /// The work as a share of the budget, rounded up to one ppm.
    fn demand(&self, work: u64, budget: u64, warnings: &mut Vec<String>) -> Result<Demand> {
        let ppm = (u128::from(work) * 1_000_000).div_ceil(u128::from(budget));
        if work > budget {
            warnings.push(format!(
                "thread `{}`: jobs run {work} us, more than their budget {budget} us",
                self.name
            ));
        }
        let shares = ppm / 1_000_000;
        let text = format!("{shares}.{:06}", ppm % 1_000_000);
        text.parse().map_err(|e: Diagnostic| e.context(format!("thread `{}`: work {work} us", self.name)))
    }

    /// A thread that runs and sleeps at its own pace.
    fn best_effort(&self, warnings: &mut Vec<String>) -> Result<Task> {
        if self.events().any(|event| matches!(event, Event::Wait)) {
            return Err(context(&self.name, "waits for other threads and has no timer, so it has no period")
                .hint("give it a timer with the period of the thread that wakes it, or remove it"));
        }
        let (mut work, mut sleep) = (0u64, 0u64);
        for phase in &self.phases {
            for event in &phase.events {
                let (total, us) = match event {
                    Event::Work(us) => (&mut work, us),
                    Event::Sleep(us) => (&mut sleep, us),
                    _ => continue,
                };
                let repeated = us.checked_mul(phase.repeats.unwrap_or(1));
                *total = repeated.and_then(|us| total.checked_add(us)).ok_or_else(|| self.too_long())?;
            }
            if phase.repeats.is_none() {
                break;
            }
        }
        if work == 0 {
            return Err(self.idle());
        }
        let cycle = work.checked_add(sleep).ok_or_else(|| self.too_long())?;
        warnings.push(format!(
            "thread `{}` has no timer, so no period: imported as best-effort work, {work} us in every {cycle} us",
            self.name
        ));
        let task =
            Task::periodic(&self.name, time(&self.name, "run", work)?, time(&self.name, "sleep", cycle)?);
        Ok(Task { kind: TaskKind::BestEffort, ..task })
    }

    /// Walks the events as the thread would, until every kind of job has occurred once.
    fn jobs(&self) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        let mut work = 0u64;
        let passes = if self.repeats == Some(1) { 1 } else { 2 };
        for phase in (0..passes).flat_map(|_| &self.phases) {
            let ends_jobs = phase.events.iter().any(|event| self.job_end(event).is_some());
            // What the second round of a phase with a timer does, all later ones do.
            let rounds = if ends_jobs { phase.repeats.unwrap_or(2).min(2) } else { 1 };
            let times = if ends_jobs { 1 } else { phase.repeats.ok_or_else(|| self.endless())? };
            for event in (0..rounds).flat_map(|_| &phase.events) {
                if let Some(period) = self.job_end(event) {
                    jobs.push(Job { work: std::mem::take(&mut work), period });
                } else if let Event::Work(us) = event {
                    let more = us.checked_mul(times);
                    work = more.and_then(|more| work.checked_add(more)).ok_or_else(|| self.too_long())?;
                }
            }
            if phase.repeats.is_none() {
                break;
            }
        }
        Ok(jobs)
    }

    /// The period of the timer that the event is, if it ends a job.
    fn job_end(&self, event: &Event) -> Option<u64> {
        match (event, &self.reservation) {
            (Event::Timer(period), _) => Some(*period),
            (Event::Yield, Some(reservation)) => Some(reservation.period),
            _ => None,
        }
    }

    fn memory(&self, warnings: &mut Vec<String>) -> (WorkingSet, Option<Group>) {
        let mut uses: Vec<(&WorkingSet, &Option<String>)> = Vec::new();
        for event in self.events() {
            if let Event::Memory(working_set, reference) = event
                && !uses.contains(&(working_set, reference))
            {
                uses.push((working_set, reference));
            }
        }
        let Some((working_set, reference)) = uses.iter().copied().max_by_key(|(set, _)| set.size_bytes)
        else {
            return (WorkingSet::default(), None);
        };
        let largest =
            if uses.len() > 1 { "; of several buffers, the largest is the working set" } else { "" };
        warnings
            .push(format!("thread `{}`: the time of memrun events is not in the wcet{largest}", self.name));
        let named = reference.as_ref().filter(|name| !name.is_empty());
        let group = named.map(|name| Group { name: name.clone(), shared_bytes: working_set.size_bytes });
        (*working_set, group)
    }

    fn warn_blocking(&self, warnings: &mut Vec<String>) {
        if self.events().any(|event| matches!(event, Event::Wait | Event::Sleep(_))) {
            warnings
                .push(format!("thread `{}`: waits and sleeps within its jobs are not modelled", self.name));
        }
    }

    fn idle(&self) -> Diagnostic {
        context(&self.name, "has no `run` or `runtime` event, so its wcet would be 0")
            .hint("give it a `run` event in microseconds, or remove it")
    }

    fn endless(&self) -> Diagnostic {
        context(&self.name, "a phase without a timer loops for ever before a phase that has one")
            .hint("give that phase a timer or a finite `loop`")
    }

    fn too_long(&self) -> Diagnostic {
        context(&self.name, "its events last longer than 2^64 us")
            .hint("lower the times or the `loop` numbers")
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
    event: &str,
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
            Event::Timer(period)
        }
        "yield" => Event::Yield,
        "wait" | "sync" | "suspend" | "sem_wait" | "barrier" => Event::Wait,
        "memrun" => read_memory(thread, node)?,
        _ => {
            warnings.push(format!("thread `{thread}`: the event `{key}` is not modelled"));
            Event::Other
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

/// The reservation, if the thread runs under SCHED_DEADLINE and its phases do not change it.
fn read_reservation(
    thread: &str,
    node: &Node,
    phases: &[&Node],
    policy_default: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Option<Reservation>> {
    let policy = |node: &Node| node.get("policy").cloned();
    let deadline_class = Node::Text("SCHED_DEADLINE".into());
    let of_thread = policy(node).or_else(|| policy_default.map(|name| Node::Text(name.into())));
    let changed = phases.iter().filter_map(|phase| policy(phase)).any(|policy| Some(policy) != of_thread);
    if changed {
        warnings.push(format!("thread `{thread}`: its phases change the policy; policies are left out"));
    }
    if changed || of_thread != Some(deadline_class) {
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

fn time(thread: &str, what: &str, us: u64) -> Result<Duration> {
    us.checked_mul(1_000).map(Duration::from_ns).ok_or_else(|| {
        context(thread, format!("{what} of {us} us is longer than 2^64 ns (584 years)"))
            .hint("rt-app's times are microseconds")
    })
}
