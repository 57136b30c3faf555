//! The schedule as text, one line per event: `t=3ms cpu1 video.0 preempts audio.0`.
//!
//! 1. A line says when, on which CPU (if that has meaning), and what. Times are exact.
//! 2. A preemption and what takes the CPU at the same instant are one line. With the costs of a context switch between
//!    them they are two: `t=3ms cpu1 T1.0 is preempted`, `t=3.005ms cpu1 T2.0 starts`.
//! 3. Lines are in the order of the events.
//!
//! Memory: the events of one instant.

use super::{exact, job_name, task_name};
use laxity_model::{Result, TaskSet};
use laxity_trace::{Event, EventKind};
use std::collections::VecDeque;

/// How instants are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeUnit {
    /// Each in the largest unit that is not longer than it: `2.703979ms`.
    #[default]
    Largest,
    /// In ns, all of them.
    Nanoseconds,
    /// In µs with three decimals, all of them.
    Microseconds,
    /// In ms with six decimals, all of them.
    Milliseconds,
}

impl TimeUnit {
    fn text(self, ns: u64) -> String {
        match self {
            TimeUnit::Largest => exact(ns),
            TimeUnit::Nanoseconds => format!("{ns}ns"),
            TimeUnit::Microseconds => format!("{}.{:03}us", ns / 1_000, ns % 1_000),
            TimeUnit::Milliseconds => format!("{}.{:06}ms", ns / 1_000_000, ns % 1_000_000),
        }
    }
}

/// What to write and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// Events from here, in ns since the synchronous release.
    pub from_ns: u64,
    /// Events before this.
    pub to_ns: u64,
    /// Unit of times.
    pub unit: TimeUnit,
}

impl Default for TextOptions {
    /// Everything.
    fn default() -> Self {
        TextOptions { from_ns: 0, to_ns: u64::MAX, unit: TimeUnit::default() }
    }
}

/// The lines of a schedule, without line ends. An error of the events ends them.
pub fn lines<'a, I>(set: &'a TaskSet, events: I, options: TextOptions) -> Lines<'a, I::IntoIter>
where
    I: IntoIterator<Item = Result<Event>>,
{
    Lines {
        words: Words { set, unit: options.unit },
        events: events.into_iter(),
        options,
        next: None,
        ready: VecDeque::new(),
    }
}

/// See [`lines`].
pub struct Lines<'a, I> {
    words: Words<'a>,
    events: I,
    options: TextOptions,
    /// The first event of the next instant.
    next: Option<Event>,
    ready: VecDeque<String>,
}

impl<I: Iterator<Item = Result<Event>>> Lines<'_, I> {
    /// The events of the next instant in the window; none after the last.
    fn instant(&mut self) -> Result<Vec<Event>> {
        let mut instant: Vec<Event> = self.next.take().into_iter().collect();
        for event in self.events.by_ref() {
            let event = event?;
            if event.time_ns < self.options.from_ns {
                continue;
            }
            if instant.first().is_some_and(|first| first.time_ns != event.time_ns) {
                self.next = Some(event);
                break;
            }
            instant.push(event);
        }
        instant.retain(|event| event.time_ns < self.options.to_ns);
        Ok(instant)
    }
}

impl<I: Iterator<Item = Result<Event>>> Iterator for Lines<'_, I> {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() {
            match self.instant() {
                Ok(instant) => self.ready = self.words.lines_of(&instant),
                Err(error) => return Some(Err(error)),
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

struct Words<'a> {
    set: &'a TaskSet,
    unit: TimeUnit,
}

impl Words<'_> {
    /// The lines of one instant.
    fn lines_of(&self, instant: &[Event]) -> VecDeque<String> {
        let mut displaced: Vec<Option<&Event>> = vec![None; instant.len()];
        let mut merged = vec![false; instant.len()];
        for (place, event) in instant.iter().enumerate().filter(|(_, event)| event.kind == EventKind::Preempt)
        {
            let later = instant.iter().enumerate().skip(place + 1);
            let next = later.filter(|(_, other)| other.cpu == event.cpu && event.cpu.is_some());
            let next = { next }.find(|(_, other)| other.kind.begins_running() || other.kind.ends_running());
            if let Some((taker, _)) = next.filter(|(_, other)| other.kind.begins_running()) {
                (displaced[taker], merged[place]) = (Some(event), true);
            }
        }
        let shown = instant.iter().zip(displaced).zip(merged).filter(|(_, merged)| !merged);
        shown.map(|((event, displaced), _)| self.line(event, displaced)).collect()
    }

    fn line(&self, event: &Event, displaced: Option<&Event>) -> String {
        let cpu = event.cpu.map(|cpu| format!(" cpu{cpu}")).unwrap_or_default();
        let what = self.what(event, displaced);
        format!("t={}{cpu} {what}", self.unit.text(event.time_ns))
    }

    /// The job, or the task of an event without a job, or nothing.
    fn job_of(&self, event: &Event) -> String {
        match (event.task, event.job) {
            (Some(task), Some(job)) => job_name(self.set, task, job),
            (Some(task), None) => task_name(self.set, task),
            _ => String::new(),
        }
    }

    fn span(&self, event: &Event) -> String {
        event.argument.map(|ns| format!(" {}", exact(ns))).unwrap_or_default()
    }

    fn what(&self, event: &Event, displaced: Option<&Event>) -> String {
        let job = self.job_of(event);
        let instant = |label: &str| match event.argument {
            Some(ns) => format!(", {label}{}", self.unit.text(ns)),
            None => String::new(),
        };
        let cpu = |word: &str| other_cpu(event).map(|cpu| format!(" {word} cpu{cpu}")).unwrap_or_default();
        // Kernel work is for a job, or for none in particular.
        let for_job = if job.is_empty() { String::new() } else { format!(" for {job}") };
        let pushed = if job.is_empty() { "a job" } else { &job };
        match event.kind {
            EventKind::Start | EventKind::Resume | EventKind::Migrate => self.begins(event, &job, displaced),
            EventKind::Release => format!("{job} is released{}", instant("deadline ")),
            EventKind::Preempt => format!("{job} is preempted"),
            EventKind::Block => format!("{job} blocks"),
            EventKind::Wake => format!("{job} wakes up"),
            EventKind::Complete => format!("{job} completes{}", lateness(event)),
            EventKind::Throttle => format!("{job} is throttled: its budget is used up"),
            EventKind::Replenish => format!("{job} has a new budget{}", instant("deadline now ")),
            EventKind::Postpone => format!("{job} has used up its budget{}", instant("deadline now ")),
            EventKind::DeadlineMiss => format!("{job} misses its deadline"),
            EventKind::Enter => format!("{job} enters the system"),
            EventKind::Leave => format!("{job} leaves the system"),
            EventKind::Ipi => format!("is interrupted{}{for_job}", cpu("by")),
            EventKind::ReleaseOverhead => format!("handles a release{for_job}:{}", self.span(event)),
            EventKind::SchedulingOverhead => format!("schedules{for_job}:{}", self.span(event)),
            EventKind::SwitchOverhead => {
                format!("switches context{}:{}", for_job.replace(" for ", " to "), self.span(event))
            }
            EventKind::TickOverhead => format!("handles a tick:{}", self.span(event)),
            EventKind::DspOverhead => format!("handles a message{for_job}:{}", self.span(event)),
            EventKind::LockWait => format!("waits for a lock{for_job}:{}", self.span(event)),
            EventKind::CacheDelay => format!("{job} runs longer with cold caches:{}", self.span(event)),
            EventKind::DspMessage => format!("takes a message{}{for_job}", cpu("from")),
            EventKind::StaleMessage => format!("drops a message overtaken by events{for_job}"),
            EventKind::LinkSwap => format!(
                "swaps{}{}",
                if job.is_empty() { String::new() } else { format!(" {job}") },
                cpu("with")
            ),
            EventKind::Push => format!("pushes {pushed}{}", cpu("to")),
            EventKind::PushFailed => format!("pushes {pushed}{} in vain and tries again", cpu("to")),
            EventKind::PushAbandoned => format!("gives up pushing {pushed}"),
            EventKind::Pull => format!("pulls {pushed}{}", cpu("from")),
            EventKind::PullFailed => format!("pulls {pushed}{} in vain", cpu("from")),
            EventKind::BackgroundStart if event.task.is_some() => format!("{job} runs as a background task"),
            EventKind::BackgroundStop if event.task.is_some() => {
                format!("{job}, of a background task, stops")
            }
            EventKind::BackgroundWait if event.task.is_some() => {
                format!("{job}, of a background task, waits")
            }
            EventKind::BackgroundWait => format!("{} waits", background(event)),
            EventKind::BackgroundStart => format!("{} starts", background(event)),
            EventKind::BackgroundStop => format!("{} stops", background(event)),
            EventKind::Promote => format!("{job} and what follows it are real-time"),
            EventKind::Demote => format!("{job} and what follows it are background work"),
            EventKind::ServerPeriod => format!("the server begins a period of{}", self.span(event)),
            EventKind::ServerBudget => format!("the server's budget is{}", self.span(event)),
            EventKind::Withdraw => "is taken by what is above the scheduler".to_owned(),
            EventKind::Restore => "is there again".to_owned(),
            EventKind::Abort => format!("{job} is aborted"),
            EventKind::Skip => format!("{job} is skipped"),
        }
    }

    fn begins(&self, event: &Event, job: &str, displaced: Option<&Event>) -> String {
        let origin = other_cpu(event).map(|cpu| format!(" from cpu{cpu}")).unwrap_or_default();
        let displaced = displaced.map(|job| self.job_of(job));
        match (event.kind, displaced) {
            (EventKind::Migrate, None) => format!("{job} migrates{origin}"),
            (EventKind::Migrate, Some(displaced)) => {
                format!("{job} migrates{origin} and preempts {displaced}")
            }
            (EventKind::Resume, None) => format!("{job} resumes"),
            (EventKind::Resume, Some(displaced)) => format!("{job} resumes and preempts {displaced}"),
            (_, None) => format!("{job} starts{}", started_elsewhere(event)),
            (_, Some(displaced)) => format!("{job} preempts {displaced}{}", started_elsewhere(event)),
        }
    }
}

/// The other CPU that the event is about. Records of kernels write `u32::MAX` where there is none, and older results
/// have kept that.
fn other_cpu(event: &Event) -> Option<u64> {
    event.argument.filter(|&cpu| cpu < u64::from(u32::MAX))
}

/// Background tasks are not of the task set: they have numbers of their own.
fn background(event: &Event) -> String {
    event.argument.map_or_else(|| "a background task".to_owned(), |id| format!("background task {id}"))
}

fn started_elsewhere(event: &Event) -> String {
    other_cpu(event).map(|cpu| format!(", its task ran last on cpu{cpu}")).unwrap_or_default()
}

/// How a job that is complete stands to its deadline.
fn lateness(event: &Event) -> String {
    let Some(deadline_ns) = event.argument else { return String::new() };
    match deadline_ns.checked_sub(event.time_ns) {
        Some(laxity) => format!(", laxity {}", exact(laxity)),
        None => format!(", {} late", exact(event.time_ns - deadline_ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::sample;
    use std::collections::BTreeSet;

    fn text(options: TextOptions) -> String {
        let set = sample::set();
        let events = sample::events_of_every_kind().into_iter().map(Ok);
        let lines: Result<Vec<String>> = lines(&set, events, options).collect();
        lines.expect("no error").join("\n") + "\n"
    }

    #[test]
    fn golden() {
        let shown: BTreeSet<EventKind> =
            sample::events_of_every_kind().iter().map(|event| event.kind).collect();
        assert_eq!(shown.len(), EventKind::ALL.len(), "the sample lacks a kind of event");
        sample::golden("schedule.txt", &text(TextOptions::default()));
    }

    #[test]
    fn a_window_is_half_open_and_units_are_exact() {
        let options = TextOptions { from_ns: 5_000_000, to_ns: 5_500_000, unit: TimeUnit::Milliseconds };
        let expected = "t=5.000000ms T1.1 is released, deadline 10.000000ms\n\
            t=5.000000ms cpu0 T1.1 preempts T3.0\n\
            t=5.000000ms cpu1 drops a message overtaken by events\n";
        assert_eq!(text(options), expected);
        let options = TextOptions { from_ns: 90_000, to_ns: 90_001, unit: TimeUnit::Microseconds };
        assert_eq!(text(options), "t=90.000us cpu1 T2.0 starts\n");
        assert_eq!(
            text(TextOptions { unit: TimeUnit::Nanoseconds, ..options }),
            "t=90000ns cpu1 T2.0 starts\n"
        );
    }

    #[test]
    fn an_error_of_the_events_ends_the_lines() {
        let set = sample::set();
        let broken = Err(laxity_model::Diagnostic::usage("damaged"));
        let events = sample::events().into_iter().take(3).map(Ok).chain([broken]);
        let lines: Vec<Result<String>> = lines(&set, events, TextOptions::default()).collect();
        assert!(lines.last().is_some_and(Result::is_err));
        assert!(lines.len() <= 4);
    }
}
