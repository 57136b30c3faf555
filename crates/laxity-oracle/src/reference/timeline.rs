//! When each job ran, whatever the CPU: what two schedulers that follow the same definition have in common.

use laxity_model::{Diagnostic, Duration, Result};
use laxity_trace::Event;
use std::collections::BTreeMap;
use std::fmt;

/// The intervals `[from, to)` in which each job (task, number) ran: in order, not empty, merged where they touch.
pub type Timeline = BTreeMap<(u32, u32), Vec<(u64, u64)>>;

/// Makes a [`Timeline`] from events, one at a time.
#[derive(Debug, Default)]
pub struct TimelineBuilder {
    running: BTreeMap<u32, (u32, u32, u64)>,
    timeline: Timeline,
}

impl TimelineBuilder {
    /// A builder that has seen no event.
    pub fn new() -> Self {
        Self::default()
    }

    /// The timeline of all of them, which end at `end`.
    ///
    /// # Errors
    ///
    /// See [`TimelineBuilder::event`].
    pub fn of(events: &[Event], end: u64) -> Result<Timeline> {
        let mut builder = Self::new();
        events.iter().try_for_each(|event| builder.event(event))?;
        Ok(builder.finish(end))
    }

    /// Takes the next event.
    ///
    /// # Errors
    ///
    /// A trace that is not well-formed: a job that begins where another one runs, or ends where it does not run.
    pub fn event(&mut self, event: &Event) -> Result<()> {
        if !event.kind.begins_running() && !event.kind.ends_running() {
            return Ok(());
        }
        let bad = || {
            let time = Duration::from_ns(event.time_ns);
            Diagnostic::usage(format!(
                "the trace is not well-formed: {} at {time} is impossible",
                event.kind.name()
            ))
            .hint("`laxity verify` says what is wrong with it")
        };
        let (Some(cpu), Some(task), Some(job)) = (event.cpu, event.task, event.job) else {
            return Err(bad());
        };
        if event.kind.begins_running() {
            return match self.running.insert(cpu, (task, job, event.time_ns)) {
                None => Ok(()),
                Some(_) => Err(bad()),
            };
        }
        match self.running.remove(&cpu) {
            Some((known, number, from)) if (known, number) == (task, job) => {
                self.add(task, job, from, event.time_ns);
                Ok(())
            }
            _ => Err(bad()),
        }
    }

    /// The timeline; what still runs, runs until `end`.
    pub fn finish(mut self, end: u64) -> Timeline {
        for (task, job, from) in std::mem::take(&mut self.running).into_values() {
            self.add(task, job, from, end);
        }
        self.timeline
    }

    fn add(&mut self, task: u32, job: u32, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let intervals = self.timeline.entry((task, job)).or_default();
        match intervals.last_mut() {
            Some((_, end)) if *end == from => *end = to,
            _ => intervals.push((from, to)),
        }
    }
}

/// Where two timelines differ first. Written `job 5 of task 1 ran from 12ms in the first, but not in the second`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// From when on, in ns.
    pub at_ns: u64,
    /// Id of the task.
    pub task: u32,
    /// Number of the job.
    pub job: u32,
    /// Whether the job runs then in the first timeline, and not in the second; or the other way round.
    pub in_first: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (yes, no) = if self.in_first { ("first", "second") } else { ("second", "first") };
        let at = Duration::from_ns(self.at_ns);
        write!(f, "job {} of task {} ran from {at} in the {yes}, but not in the {no}", self.job, self.task)
    }
}

/// The first instant at which a job runs in one timeline and not in the other; the lowest task and job among several.
pub fn first_difference(first: &Timeline, second: &Timeline) -> Option<Difference> {
    let none = Vec::new();
    first
        .keys()
        .chain(second.keys())
        .filter_map(|&(task, job)| {
            let a = first.get(&(task, job)).unwrap_or(&none);
            let b = second.get(&(task, job)).unwrap_or(&none);
            let (at_ns, in_first) = first_change(a, b)?;
            Some(Difference { at_ns, task, job, in_first })
        })
        .min_by_key(|difference| (difference.at_ns, difference.task, difference.job))
}

/// Where two lists of intervals differ first, and whether the first list covers that instant.
fn first_change(a: &[(u64, u64)], b: &[(u64, u64)]) -> Option<(u64, bool)> {
    let edges = |list: &[(u64, u64)]| list.iter().flat_map(|&(from, to)| [from, to]).collect::<Vec<_>>();
    let (a, b) = (edges(a), edges(b));
    let same = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let a_next = a.get(same).copied().unwrap_or(u64::MAX);
    let b_next = b.get(same).copied().unwrap_or(u64::MAX);
    if a_next == b_next {
        return None;
    }
    // After an even number of edges a job does not run: the list that has the next edge begins to run, and vice versa.
    let stopped = same % 2 == 0;
    Some((a_next.min(b_next), (a_next < b_next) == stopped))
}
