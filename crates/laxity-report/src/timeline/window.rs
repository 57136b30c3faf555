//! What happens in a window of a schedule: what the CPUs run, and how the jobs end.

use laxity_model::{Result, TaskSet};
use laxity_trace::{Event, EventKind, Segment, SegmentBuilder};
use std::collections::BTreeMap;

/// A deadline missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstMiss {
    /// Id of the task.
    pub task: u32,
    /// Number of the job, from 0.
    pub job: u32,
    /// The deadline, in ns since the synchronous release.
    pub deadline_ns: u64,
}

impl FirstMiss {
    /// The first deadline that the events show to be missed, if any is.
    ///
    /// Errors: those of the events.
    pub fn find(events: impl IntoIterator<Item = Result<Event>>) -> Result<Option<FirstMiss>> {
        for event in events {
            let event = event?;
            if let (Some(deadline_ns), Some(task), Some(job)) = (missed(&event), event.task, event.job) {
                return Ok(Some(FirstMiss { task, job, deadline_ns }));
            }
        }
        Ok(None)
    }
}

/// The deadline that an event shows to be missed.
fn missed(event: &Event) -> Option<u64> {
    match event.kind {
        EventKind::DeadlineMiss => Some(event.time_ns),
        EventKind::Abort => event.argument,
        EventKind::Complete => event.argument.filter(|deadline_ns| *deadline_ns < event.time_ns),
        _ => None,
    }
}

/// A window in which there is something to see and little enough to see it: as long as two of the longest periods but
/// at most 20 of the shortest, from the start or, if a deadline is missed, around the first miss.
pub fn default_window(set: &TaskSet, miss: Option<FirstMiss>) -> (u64, u64) {
    let periods = || set.tasks().iter().map(|task| task.period().as_ns().max(1));
    let (shortest, longest) = (periods().min().unwrap_or(1), periods().max().unwrap_or(1));
    let length = longest.saturating_mul(2).min(shortest.saturating_mul(20));
    let from = miss.map_or(0, |miss| miss.deadline_ns.saturating_sub(length / 4 * 3));
    // On a multiple of the shortest period, where jobs are released if they all are at first.
    let from = from / shortest * shortest;
    (from, from.saturating_add(length))
}

/// A job, as far as the window shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobSpan {
    pub(super) task: u32,
    pub(super) job: u32,
    /// Nothing if it was released before the events begin.
    pub(super) release_ns: Option<u64>,
    pub(super) deadline_ns: Option<u64>,
    /// When it was over. Nothing if it is not when the window ends.
    pub(super) complete_ns: Option<u64>,
    pub(super) missed: bool,
    /// It was over without having done its work.
    pub(super) aborted: bool,
}

/// What happens in `[from_ns, to_ns)`.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) from_ns: u64,
    /// Where it ends: earlier than asked for if there was too much in it, or if the events end before.
    pub(super) to_ns: u64,
    /// Instants before this are in the window: where it ends, or just after the last event if that is where it ends.
    pub(super) until_ns: u64,
    /// Whether it was cut short.
    pub(super) cut: bool,
    /// Time of the last event seen.
    pub(super) last_ns: u64,
    /// Clipped to the window, ordered by CPU, then start.
    pub(super) segments: Vec<Segment>,
    /// Jobs whose time from release to completion or deadline touches the window, ordered by task, then number.
    pub(super) jobs: Vec<JobSpan>,
    /// How many events contradict each other.
    pub(super) contradictions: u64,
}

/// Follows the events up to the end of the window.
struct Follower {
    from_ns: u64,
    to_ns: u64,
    builder: SegmentBuilder,
    segments: Vec<Segment>,
    open: BTreeMap<(u32, u32), JobSpan>,
    closed: Vec<JobSpan>,
}

impl Window {
    /// The jobs of a task.
    pub(super) fn jobs_of(&self, task: u32) -> &[JobSpan] {
        let from = self.jobs.partition_point(|job| job.task < task);
        let to = self.jobs.partition_point(|job| job.task <= task);
        &self.jobs[from..to]
    }

    /// What a CPU does.
    pub(super) fn segments_of(&self, cpu: u32) -> &[Segment] {
        let from = self.segments.partition_point(|segment| segment.cpu < cpu);
        let to = self.segments.partition_point(|segment| segment.cpu <= cpu);
        &self.segments[from..to]
    }

    /// Collects the window; memory grows with what is in it, not with the trace. After the last event and `known_until_ns`,
    /// nothing is known of the schedule, and the window ends. At most `segments_most` segments: the
    /// window ends where there are more.
    ///
    /// Errors: those of the events.
    pub(super) fn collect(
        events: impl IntoIterator<Item = Result<Event>>,
        (from_ns, to_ns): (u64, u64),
        known_until_ns: u64,
        segments_most: usize,
    ) -> Result<Window> {
        let mut follower = Follower {
            from_ns,
            to_ns,
            builder: SegmentBuilder::new(),
            segments: Vec::new(),
            open: BTreeMap::new(),
            closed: Vec::new(),
        };
        let (mut last_ns, mut cut, mut ended) = (0, false, true);
        for event in events {
            let event = event?;
            // One instant belongs together: the cut is between instants.
            let full = follower.segments.len() >= segments_most && event.time_ns > last_ns;
            if event.time_ns >= to_ns || full {
                (cut, ended) = (event.time_ns < to_ns, false);
                follower.to_ns = to_ns.min(event.time_ns.max(from_ns));
                last_ns = event.time_ns;
                break;
            }
            last_ns = event.time_ns;
            follower.follow(&event);
        }
        if ended {
            follower.to_ns = last_ns.max(known_until_ns).max(from_ns).min(to_ns);
        }
        let until_ns = if ended { follower.to_ns.saturating_add(1) } else { follower.to_ns };
        Ok(Window { last_ns, cut, ..follower.end(until_ns) })
    }
}

impl Follower {
    fn follow(&mut self, event: &Event) {
        let segment = self.builder.push(event);
        self.segments.extend(segment.and_then(|segment| segment.within(self.from_ns, self.to_ns)));
        let (Some(task), Some(job)) = (event.task, event.job) else { return };
        let unknown = JobSpan {
            task,
            job,
            release_ns: None,
            deadline_ns: None,
            complete_ns: None,
            missed: false,
            aborted: false,
        };
        let known = self.open.entry((task, job));
        match event.kind {
            EventKind::Release => {
                let span = known.or_insert(unknown);
                (span.release_ns, span.deadline_ns) = (Some(event.time_ns), event.argument);
            }
            EventKind::DeadlineMiss => {
                let span = known.or_insert(unknown);
                (span.missed, span.deadline_ns) = (true, span.deadline_ns.or(Some(event.time_ns)));
            }
            EventKind::Complete | EventKind::Abort => {
                let mut span = *known.or_insert(unknown);
                self.open.remove(&(task, job));
                span.deadline_ns = event.argument.or(span.deadline_ns);
                span.complete_ns = Some(event.time_ns);
                span.aborted = event.kind == EventKind::Abort;
                span.missed |= missed(event).is_some();
                if span.touches(self.from_ns, self.to_ns) {
                    self.closed.push(span);
                }
            }
            _ => {}
        }
    }

    fn end(mut self, until_ns: u64) -> Window {
        let (from_ns, to_ns) = (self.from_ns, self.to_ns);
        let contradictions = self.builder.contradictions();
        self.segments.extend(self.builder.finish(to_ns));
        // Clipped again: the window may have become shorter.
        let clipped = self.segments.into_iter().filter_map(|segment| segment.within(from_ns, to_ns));
        let mut segments: Vec<Segment> = clipped.collect();
        // They come in the order of their ends: of each CPU almost sorted. Few keys, then long runs, are soon sorted.
        segments.sort_by_key(|segment| segment.cpu);
        segments.sort_by_key(|segment| (segment.cpu, segment.from_ns, segment.to_ns, segment.activity));
        let mut jobs = self.closed;
        jobs.extend(self.open.into_values().filter(|span| span.touches(from_ns, until_ns)));
        jobs.sort_by_key(|span| (span.task, span.job));
        Window { from_ns, to_ns, until_ns, segments, jobs, contradictions, ..Window::default() }
    }
}

impl JobSpan {
    /// Whether its release, deadline, completion or anything between them is in the window.
    fn touches(&self, from_ns: u64, until_ns: u64) -> bool {
        let last = match (self.complete_ns, self.deadline_ns) {
            (Some(complete), Some(deadline)) => complete.max(deadline),
            (Some(complete), None) => complete,
            (None, _) => u64::MAX,
        };
        self.release_ns.unwrap_or(0) < until_ns && last >= from_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::sample;

    #[test]
    fn the_default_window_is_around_the_first_miss() {
        let set = sample::set();
        let miss = FirstMiss::find(sample::events().into_iter().map(Ok)).expect("no error").expect("a miss");
        assert_eq!(miss, FirstMiss { task: 2, job: 0, deadline_ns: 12_000_000 });
        // 20 periods of 5 ms are less than two of 100 ms.
        assert_eq!(default_window(&set, None), (0, 100_000_000));
        assert_eq!(default_window(&set, Some(miss)), (0, 100_000_000));
        let late = FirstMiss { deadline_ns: 1_002_000_000, ..miss };
        assert_eq!(default_window(&set, Some(late)), (925_000_000, 1_025_000_000));
    }

    #[test]
    fn a_window_without_segments_keeps_jobs_and_ends_with_the_events() {
        let window = Window::collect(sample::events().into_iter().map(Ok), (13_500_000, 90_000_000), 0, 10);
        let window = window.expect("no error");
        assert_eq!((window.from_ns, window.to_ns, window.cut), (13_500_000, 14_000_000, false));
        let jobs: Vec<(u32, u32)> = window.jobs.iter().map(|job| (job.task, job.job)).collect();
        // T1.2 is complete, but its deadline is still to come; so is that of T3.1, which runs.
        assert_eq!(jobs, [(0, 2), (2, 1)]);
        let segments: Vec<(u64, u64)> = window.segments.iter().map(|s| (s.from_ns, s.to_ns)).collect();
        assert_eq!(segments, [(13_500_000, 14_000_000)]);
    }
}
