//! The schedule as a Perfetto trace: open the file in <https://ui.perfetto.dev>, or query it with `trace_processor`.
//!
//! Tracks, in this order:
//! - **CPUs**: a track per CPU with a slice for each interval in which a job (or a background task) has it, named after
//!   the task, with the number of the job; and, where there is kernel work, a track under it (unfold the CPU) with a
//!   slice for each overhead. Arrows lead from where a job stops to where it goes on, if that is another CPU.
//! - **Tasks**: a track per task with a slice for each job from release to completion and an instant at its deadline,
//!   which says whether it was missed; under it a counter with the laxity of each job at its completion, below zero if
//!   it was late. Jobs of one task that overlap (one is late) are beside each other.
//!
//! All are in one group, named after the task set: the interface orders tracks outside of groups by their names, and
//! unfolds a group by itself only where it is the only one. All slices of a task have one correlation id and with it
//! one colour.
//!
//! Times are those of the events, in ns from the synchronous release. Slices of a track are in time order; the trace as
//! a whole is not (an interval is written when it ends, a deadline when its job does), and Perfetto sorts it. Memory:
//! one entry per live job, CPU and task.

mod messages;
mod packets;
mod tracks;

use laxity_model::{Existing, OutputFile, Result, TaskSet, cannot_write};
use laxity_trace::{Activity, Event, EventKind, Segment, SegmentBuilder};
use messages::{TYPE_COUNTER, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TrackEvent};
use packets::{Note, Packets};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tracks::Tracks;

/// Writes the schedule as a Perfetto trace. CPUs `0..cpus` get a track even if nothing runs there.
///
/// Errors: those of the events; the sink, which messages call by this path.
pub fn write<W: Write>(
    set: &TaskSet,
    cpus: u32,
    events: impl IntoIterator<Item = Result<Event>>,
    sink: W,
    path: &Path,
) -> Result<W> {
    let cannot = |error: io::Error| cannot_write(path, &error);
    let mut trace = Trace::new(set, cpus, sink).map_err(cannot)?;
    for event in events {
        trace.take(&event?).map_err(cannot)?;
    }
    trace.finish().map_err(cannot)
}

/// [`write()`] to a file.
///
/// Errors: those of the events; the file cannot be written, or is there and is not to be replaced.
pub fn write_file(
    set: &TaskSet,
    cpus: u32,
    events: impl IntoIterator<Item = Result<Event>>,
    path: &Path,
    existing: Existing,
) -> Result<()> {
    write_all(set, cpus, &mut events.into_iter(), path, existing)
}

/// Not generic, so that it is compiled here, optimized, and not with what calls it.
fn write_all(
    set: &TaskSet,
    cpus: u32,
    events: &mut dyn Iterator<Item = Result<Event>>,
    path: &Path,
    existing: Existing,
) -> Result<()> {
    let file = BufWriter::new(OutputFile::create(path, existing)?);
    let written = write(set, cpus, events, file, path)?;
    written.into_inner().map_err(|error| cannot_write(path, error.error()))?.finish()
}

/// A job that is not complete.
struct OpenJob {
    /// Its place among the jobs of its task that overlap.
    lane: usize,
    deadline_ns: Option<u64>,
    /// There was an event that said so.
    missed: bool,
}

struct Trace<'a, W: Write> {
    packets: Packets<W>,
    tracks: Tracks<'a>,
    builder: SegmentBuilder,
    open: BTreeMap<(u32, u32), OpenJob>,
    /// Where and until when jobs that are stopped ran last, and the number of the arrow that begins there.
    stopped: BTreeMap<(u32, u32), (Segment, u64)>,
    arrows: u64,
    last_ns: u64,
}

impl<'a, W: Write> Trace<'a, W> {
    fn new(set: &'a TaskSet, cpus: u32, sink: W) -> io::Result<Self> {
        let mut packets = Packets::new(sink)?;
        let tracks = Tracks::new(set, cpus, &mut packets)?;
        Ok(Trace {
            packets,
            tracks,
            builder: SegmentBuilder::new(),
            open: BTreeMap::new(),
            stopped: BTreeMap::new(),
            arrows: 0,
            last_ns: 0,
        })
    }

    fn take(&mut self, event: &Event) -> io::Result<()> {
        self.last_ns = event.time_ns;
        let stops = matches!(event.kind, EventKind::Preempt | EventKind::Block | EventKind::Throttle);
        if let Some(segment) = self.builder.push(event) {
            self.segment(segment, stops)?;
        }
        let (Some(task), Some(job)) = (event.task, event.job) else { return Ok(()) };
        match event.kind {
            EventKind::Release => self.release(event, task, job),
            EventKind::DeadlineMiss => self.miss(event, task, job),
            EventKind::Complete => self.complete(event, task, job),
            EventKind::Abort => self.abort(event, task, job),
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> io::Result<W> {
        let builder = std::mem::take(&mut self.builder);
        for segment in builder.finish(self.last_ns) {
            self.segment(segment, false)?;
        }
        for ((task, job), open) in std::mem::take(&mut self.open) {
            self.end_job(self.last_ns, (task, job), &open, None)?;
        }
        self.packets.finish()
    }

    /// Both ends of a slice on the track of a CPU.
    fn segment(&mut self, segment: Segment, stops: bool) -> io::Result<()> {
        let packets = &mut self.packets;
        let track = match segment.activity {
            Activity::Kernel(_) => self.tracks.kernel(segment.cpu, packets)?,
            Activity::Job { .. } | Activity::Background { .. } | Activity::Taken => {
                self.tracks.cpu(segment.cpu, packets)?
            }
        };
        let (correlation_iid, name, key) = match segment.activity {
            Activity::Job { task, job } => {
                let correlation = self.tracks.correlation(task, packets)?;
                (Some(correlation), self.tracks.name(task, packets)?, Some((task, job)))
            }
            Activity::Background { task } => (None, packets.name(&format!("background task {task}"))?, None),
            Activity::Taken => (None, packets.name("taken from the scheduler")?, None),
            Activity::Kernel(kind) => (None, packets.name(kind.name())?, None),
        };
        let mut begin = TrackEvent {
            kind: Some(TYPE_SLICE_BEGIN),
            name_iid: Some(name),
            correlation_iid,
            track_uuid: Some(track),
            debug_annotation: key.map(|(_, job)| Note::Job.unsigned(u64::from(job))),
            ..TrackEvent::default()
        };
        let mut end =
            TrackEvent { kind: Some(TYPE_SLICE_END), track_uuid: Some(track), ..TrackEvent::default() };
        if let Some(key) = key {
            // Never back in time, which only contradicting events would need.
            let elsewhere = |last: &Segment| last.cpu != segment.cpu && last.to_ns <= segment.from_ns;
            let arrow = self.stopped.remove(&key).filter(|(last, _)| elsewhere(last));
            begin.terminating_flow_id = arrow.map(|(_, arrow)| arrow);
            if stops {
                self.arrows += 1;
                end.flow_id = Some(self.arrows);
                self.stopped.insert(key, (segment, self.arrows));
            }
        }
        self.packets.event(segment.from_ns, begin)?;
        self.packets.event(segment.to_ns, end)
    }

    fn release(&mut self, event: &Event, task: u32, job: u32) -> io::Result<()> {
        // A job that is released twice has only its later release.
        if let Some(before) = self.open.remove(&(task, job)) {
            self.end_job(event.time_ns, (task, job), &before, None)?;
        }
        let taken = |lane: usize| {
            let mut others = self.open.range((task, 0)..=(task, u32::MAX));
            others.any(|(_, other)| other.lane == lane)
        };
        let lane = (0..).find(|lane| !taken(*lane)).unwrap_or(0);
        self.open.insert((task, job), OpenJob { lane, deadline_ns: event.argument, missed: false });
        let track = self.tracks.task(task, lane, &mut self.packets)?;
        let begin = TrackEvent {
            kind: Some(TYPE_SLICE_BEGIN),
            name_iid: Some(self.tracks.name(task, &mut self.packets)?),
            correlation_iid: Some(self.tracks.correlation(task, &mut self.packets)?),
            track_uuid: Some(track),
            debug_annotation: Some(Note::Job.unsigned(u64::from(job))),
            ..TrackEvent::default()
        };
        self.packets.event(event.time_ns, begin)
    }

    fn miss(&mut self, event: &Event, task: u32, job: u32) -> io::Result<()> {
        let open = self.open.get_mut(&(task, job));
        let lane = open.map_or(0, |open| {
            open.missed = true;
            open.lane
        });
        self.instant(event.time_ns, (task, job), lane, "deadline miss")
    }

    fn instant(&mut self, time_ns: u64, (task, job): (u32, u32), lane: usize, name: &str) -> io::Result<()> {
        let track = self.tracks.task(task, lane, &mut self.packets)?;
        let name = self.packets.name(name)?;
        let event = TrackEvent {
            kind: Some(TYPE_INSTANT),
            name_iid: Some(name),
            track_uuid: Some(track),
            debug_annotation: Some(Note::Job.unsigned(u64::from(job))),
            ..TrackEvent::default()
        };
        self.packets.event(time_ns, event)
    }

    fn complete(&mut self, event: &Event, task: u32, job: u32) -> io::Result<()> {
        self.stopped.remove(&(task, job));
        let Some(open) = self.open.remove(&(task, job)) else { return Ok(()) };
        let deadline_ns = event.argument.or(open.deadline_ns);
        let laxity = deadline_ns.map(|deadline_ns| i128::from(deadline_ns) - i128::from(event.time_ns));
        let laxity = laxity.and_then(|laxity| i64::try_from(laxity).ok());
        self.end_job(event.time_ns, (task, job), &open, laxity)?;
        let Some(laxity) = laxity else { return Ok(()) };
        let track = self.tracks.laxity(task, &mut self.packets)?;
        let counter = TrackEvent {
            kind: Some(TYPE_COUNTER),
            track_uuid: Some(track),
            counter_value: Some(laxity),
            ..TrackEvent::default()
        };
        self.packets.event(event.time_ns, counter)
    }

    /// A job that did not do its work has no laxity.
    fn abort(&mut self, event: &Event, task: u32, job: u32) -> io::Result<()> {
        self.stopped.remove(&(task, job));
        let Some(open) = self.open.remove(&(task, job)) else { return Ok(()) };
        self.end_job(event.time_ns, (task, job), &open, None)?;
        self.instant(event.time_ns, (task, job), open.lane, "aborted")
    }

    fn end_job(
        &mut self,
        time_ns: u64,
        (task, job): (u32, u32),
        open: &OpenJob,
        laxity: Option<i64>,
    ) -> io::Result<()> {
        let track = self.tracks.task(task, open.lane, &mut self.packets)?;
        let end = TrackEvent {
            kind: Some(TYPE_SLICE_END),
            track_uuid: Some(track),
            debug_annotation: laxity.map(|laxity| Note::Laxity.signed(laxity)),
            ..TrackEvent::default()
        };
        self.packets.event(time_ns, end)?;
        match open.deadline_ns.filter(|_| !open.missed) {
            Some(deadline_ns) => self.instant(deadline_ns, (task, job), open.lane, "deadline"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
