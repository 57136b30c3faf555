//! What the kernel did, as a schedule that the oracles understand: from the records of a host (`bpf/host/trace.h`) to
//! [`laxity_trace::Event`]s, and to the intervals in which the kernel was at something ([`laxity_oracle::Activity`]).
//!
//! 1. [`Recording`] drains the rings while the tasks run, and knows until when nothing is missing. It keeps a record of 64
//!    bytes each: about 10 for every job, so 10 000 jobs per second take 6.4 MB per second.
//! 2. [`convert()`] makes a [`Schedule`] of them. Time counts from the [`Origin`]; what was before is dropped. Tasks are known
//!    by their thread ids and get their ids of the task set. A job before the first one that counts (a thread that enters
//!    waits for the synchronous release that way) is dropped.
//! 3. Of the kernel's own classes [`observe`] records what threads do; [`with_jobs`] puts the jobs in, as the threads know them.
//! 4. [`verify`] puts it before the oracles. Nothing but an interval of the run itself excuses a deviation.

mod charges;
mod clocks;
mod convert;
mod cpus;
mod jobs;
mod observer;
mod recording;
mod tasks;
#[cfg(test)]
mod tests;
mod thread_jobs;
mod thread_replay;
mod windows;

pub use charges::Charges;
pub use convert::{Origin, Schedule, convert};
pub use jobs::with_jobs;
pub use observer::{Observer, Watched, observe};
pub use recording::{Recorded, Recording, Unseen};
pub use tasks::Member;
pub use thread_jobs::{JobTimes, ThreadJobs};
pub use windows::{MeasuredWindows, Span};

use laxity_model::{Arrival, Duration};
use laxity_oracle::{Activity, Definition, Verdict, verify_measured};
use laxity_trace::{Event, EventKind};

/// The releases that the host has not made known because their predecessors are not over when the schedule ends, and the
/// misses of those jobs.
fn with_those_behind(definition: &Definition, seen: &[Event], end_ns: u64) -> Vec<Event> {
    let mut added = Vec::new();
    let tasks = definition.set().tasks();
    let mut last: Vec<Option<(Event, bool)>> = vec![None; tasks.len()];
    for event in seen {
        let Some(of) = event.task.and_then(|task| last.get_mut(task as usize)) else { continue };
        match event.kind {
            EventKind::Release => *of = Some((*event, false)),
            EventKind::Complete if of.is_some_and(|(release, _)| release.job == event.job) => {
                *of = of.map(|(release, _)| (release, true));
            }
            EventKind::Leave => *of = None,
            _ => {}
        }
    }
    let end = end_ns.min(definition.duration().as_ns());
    for (task, last) in tasks.iter().zip(last) {
        let Some((mut event, false)) = last else { continue };
        if !matches!(task.arrival, Arrival::Periodic { .. }) {
            continue;
        }
        loop {
            event.time_ns = event.time_ns.saturating_add(task.period().as_ns());
            if event.time_ns >= end {
                break;
            }
            let deadline_abs = event.time_ns.saturating_add(task.deadline_rel.as_ns());
            event.job = event.job.map(|job| job + 1);
            event.argument = Some(deadline_abs);
            added.push(event);
            if deadline_abs < end_ns {
                let kind = EventKind::DeadlineMiss;
                added.push(Event { time_ns: deadline_abs, kind, argument: None, ..event });
            }
        }
    }
    added.sort_by_key(place_of);
    merged(seen, &added)
}

fn place_of(event: &Event) -> (u64, u8) {
    (event.time_ns, tasks::class_of(event.kind))
}

/// Those that were seen stay in their order: what a budget's end was seen late for has its place before others of its kind.
fn merged(seen: &[Event], added: &[Event]) -> Vec<Event> {
    let mut events = Vec::with_capacity(seen.len() + added.len());
    let mut added = added.iter().peekable();
    for event in seen {
        while let Some(first) = added.next_if(|first| place_of(first) < place_of(event)) {
            events.push(*first);
        }
        events.push(*event);
    }
    events.extend(added);
    events
}

/// Checks a schedule against what it claims to be. The definition's releases should end where the schedule does
/// ([`Schedule::end_ns`]); what it says of transitions should be nothing.
pub fn verify(definition: &Definition, schedule: &Schedule) -> Verdict {
    let late = Duration::from_ns(schedule.windows.longest_way_ns());
    verify_kept(definition, &schedule.events, &schedule.activities, late, schedule.end_ns)
}

/// The same for a schedule that was kept: its events, its activities, the longest that a decision may be on its way
/// ([`MeasuredWindows::longest_way_ns`]), and where it ends.
pub fn verify_kept(
    definition: &Definition,
    events: &[Event],
    activities: &[Activity],
    late: Duration,
    end_ns: u64,
) -> Verdict {
    verify_measured(definition, &with_those_behind(definition, events, end_ns), activities, late, end_ns)
}
