//! What had which CPU when: intervals from events.
//!
//! 1. Segments are half-open intervals `[from, to)`, none of them empty.
//! 2. A CPU has two layers: what has the CPU (a job, a background task or what is above the scheduler), and the kernel work
//!    that takes its time (`Event`, rule 3). The segments of one layer of one CPU never overlap, whatever the events say,
//!    and come in order.
//! 3. An overhead begins at its event, or where the one before on its CPU ends: a CPU does one thing after the other.
//! 4. Events that contradict each other (a job starts where another one runs; one stops that did not run) are counted,
//!    and the segments follow the later event. An exact check of a schedule is the work of the oracles.
//!
//! Memory: one entry per CPU. Time: O(log m) per event.

use crate::{Event, EventKind};
use std::collections::{BTreeMap, VecDeque};

/// What a CPU does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// It runs a job.
    Job {
        /// Id of the task.
        task: u32,
        /// Number of the job in its task, from 0.
        job: u32,
    },
    /// It runs a background task.
    Background {
        /// Id of the task.
        task: u32,
    },
    /// Something above the scheduler has it.
    Taken,
    /// Kernel work of this kind takes the time of what has the CPU.
    Kernel(EventKind),
}

/// A CPU does one thing in `[from_ns, to_ns)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The CPU.
    pub cpu: u32,
    /// Start, in ns since the synchronous release.
    pub from_ns: u64,
    /// End, later than the start.
    pub to_ns: u64,
    /// What it does.
    pub activity: Activity,
}

impl Segment {
    /// The part of the segment in `[from_ns, to_ns)`, if there is one.
    pub fn within(self, from_ns: u64, to_ns: u64) -> Option<Segment> {
        let clipped = Segment { from_ns: self.from_ns.max(from_ns), to_ns: self.to_ns.min(to_ns), ..self };
        (clipped.from_ns < clipped.to_ns).then_some(clipped)
    }

    /// Its length in ns.
    pub fn length_ns(self) -> u64 {
        self.to_ns - self.from_ns
    }
}

#[derive(Debug, Default)]
struct Cpu {
    running: Option<(u64, Activity)>,
    /// Something has begun or ended here.
    seen: bool,
    kernel_until_ns: u64,
}

impl Cpu {
    /// Ends what runs at `now`, if anything does.
    fn stop(&mut self, cpu: u32, now: u64) -> Option<Segment> {
        let (from_ns, activity) = self.running.take()?;
        (from_ns < now).then_some(Segment { cpu, from_ns, to_ns: now, activity })
    }
}

/// Makes segments from events, one event at a time.
#[derive(Debug, Default)]
pub struct SegmentBuilder {
    cpus: BTreeMap<u32, Cpu>,
    contradictions: u64,
    first: Option<Event>,
}

impl SegmentBuilder {
    /// Nothing runs anywhere.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event in time order; gives the segment that it ends, or the overhead that it is.
    pub fn push(&mut self, event: &Event) -> Option<Segment> {
        let id = event.cpu?;
        let begins = begins(event);
        let ends = ends(event);
        if begins.is_none() && ends.is_none() && !event.kind.is_overhead() {
            return None;
        }
        let cpu = self.cpus.entry(id).or_default();
        if event.kind.is_overhead() {
            let from_ns = event.time_ns.max(cpu.kernel_until_ns);
            let to_ns = from_ns.saturating_add(event.argument.unwrap_or(0));
            cpu.kernel_until_ns = to_ns;
            let activity = Activity::Kernel(event.kind);
            return (from_ns < to_ns).then_some(Segment { cpu: id, from_ns, to_ns, activity });
        }
        let contradicts = match (begins, ends) {
            (Some(_), _) => cpu.running.is_some(),
            (_, ends) => cpu.running.map(|(_, activity)| activity) != ends,
        };
        // A background thread may have the CPU since before the first event, such as the one that releases the first jobs.
        let ran_before = !cpu.seen && event.kind == EventKind::BackgroundStop;
        cpu.seen = true;
        if contradicts && !ran_before {
            self.contradictions += 1;
            self.first.get_or_insert(*event);
        }
        // What ends without having run leaves the one that runs alone.
        if contradicts && begins.is_none() {
            return None;
        }
        let ended = cpu.stop(id, event.time_ns);
        cpu.running = begins.map(|activity| (event.time_ns, activity));
        ended
    }

    /// Ends what still runs at `end_ns`, CPU by CPU.
    pub fn finish(self, end_ns: u64) -> impl Iterator<Item = Segment> {
        self.cpus.into_iter().filter_map(move |(id, mut cpu)| cpu.stop(id, end_ns))
    }

    /// How many events contradicted those before.
    pub fn contradictions(&self) -> u64 {
        self.contradictions
    }

    /// The first event that contradicted those before.
    pub fn first_contradiction(&self) -> Option<&Event> {
        self.first.as_ref()
    }
}

fn job(event: &Event) -> Option<Activity> {
    Some(Activity::Job { task: event.task?, job: event.job? })
}

/// A background task, or one of the set, which has no number among them.
fn background(event: &Event) -> Option<Activity> {
    let id = event.argument.and_then(|id| u32::try_from(id).ok());
    id.map(|task| Activity::Background { task }).or_else(|| job(event))
}

/// What begins to have the event's CPU.
fn begins(event: &Event) -> Option<Activity> {
    match event.kind {
        EventKind::BackgroundStart => background(event),
        EventKind::Withdraw => Some(Activity::Taken),
        kind if kind.begins_running() => job(event),
        _ => None,
    }
}

/// What ceases to have the event's CPU.
fn ends(event: &Event) -> Option<Activity> {
    match event.kind {
        EventKind::BackgroundStop => background(event),
        EventKind::Restore => Some(Activity::Taken),
        kind if kind.ends_running() => job(event),
        _ => None,
    }
}

/// The segments of a stream of events, each when it ends; what still runs after the last event ends at `end_ns`, or
/// at the last event if that is later. An error of the events ends them.
pub fn segments<I>(events: I, end_ns: u64) -> Segments<I::IntoIter>
where
    I: IntoIterator<Item = laxity_model::Result<Event>>,
{
    Segments {
        events: events.into_iter(),
        builder: Some(SegmentBuilder::new()),
        end_ns,
        rest: VecDeque::new(),
    }
}

/// See [`segments`].
pub struct Segments<I> {
    events: I,
    builder: Option<SegmentBuilder>,
    end_ns: u64,
    rest: VecDeque<Segment>,
}

impl<I: Iterator<Item = laxity_model::Result<Event>>> Iterator for Segments<I> {
    type Item = laxity_model::Result<Segment>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(builder) = &mut self.builder {
            match self.events.next() {
                Some(Ok(event)) => {
                    self.end_ns = self.end_ns.max(event.time_ns);
                    if let Some(segment) = builder.push(&event) {
                        return Some(Ok(segment));
                    }
                }
                Some(Err(error)) => {
                    self.builder = None;
                    return Some(Err(error));
                }
                None => self.rest = self.builder.take()?.finish(self.end_ns).collect(),
            }
        }
        self.rest.pop_front().map(Ok)
    }
}
