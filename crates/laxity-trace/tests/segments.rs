//! Segments: by hand, and what holds for any events.

mod schedule;

use laxity_trace::{Activity, Event, EventKind, Segment, SegmentBuilder, segments};
use proptest::prelude::*;
use schedule::{Imperfections, MS, global_edf, set_of};
use std::collections::BTreeMap;

fn event(time_ns: u64, kind: EventKind, cpu: u32, task: u32, argument: Option<u64>) -> Event {
    Event { time_ns, kind, cpu: Some(cpu), task: Some(task), job: Some(0), argument }
}

fn segments_of(events: &[Event], end_ns: u64) -> Vec<Segment> {
    segments(events.iter().copied().map(Ok), end_ns).collect::<Result<_, _>>().expect("no error")
}

fn lines(segments: &[Segment]) -> Vec<String> {
    let line = |s: &Segment| format!("cpu{} [{}, {}) {:?}", s.cpu, s.from_ns, s.to_ns, s.activity);
    segments.iter().map(line).collect()
}

#[test]
fn a_preempted_and_migrated_job_has_three_segments() {
    let events = [
        event(0, EventKind::Start, 0, 0, None),
        event(0, EventKind::SwitchOverhead, 0, 0, Some(2)),
        // The second overhead of the same instant comes after the first.
        event(0, EventKind::TickOverhead, 0, 0, Some(1)),
        event(4, EventKind::Preempt, 0, 0, None),
        event(4, EventKind::Start, 0, 1, None),
        event(5, EventKind::Migrate, 1, 0, Some(0)),
        event(5, EventKind::LockWait, 1, 0, Some(0)),
        event(7, EventKind::Complete, 1, 0, Some(10)),
        event(8, EventKind::BackgroundStart, 1, 9, Some(2)),
        event(9, EventKind::BackgroundStop, 1, 9, Some(2)),
    ];
    let expected = [
        "cpu0 [0, 2) Kernel(SwitchOverhead)",
        "cpu0 [2, 3) Kernel(TickOverhead)",
        "cpu0 [0, 4) Job { task: 0, job: 0 }",
        "cpu1 [5, 7) Job { task: 0, job: 0 }",
        "cpu1 [8, 9) Background { task: 2 }",
        "cpu0 [4, 12) Job { task: 1, job: 0 }",
    ];
    assert_eq!(lines(&segments_of(&events, 12)), expected);
    // An end before the last event does not cut it off.
    assert_eq!(segments_of(&events, 0).last().map(|segment| segment.to_ns), Some(9));
}

#[test]
fn contradictions_are_counted_and_the_later_event_wins() {
    let mut builder = SegmentBuilder::new();
    let mut out = Vec::new();
    for event in [
        event(0, EventKind::Start, 0, 0, None),
        event(3, EventKind::Start, 0, 1, None),
        event(4, EventKind::Complete, 0, 0, None),
        event(6, EventKind::Complete, 0, 1, None),
    ] {
        out.extend(builder.push(&event));
    }
    assert_eq!(lines(&out), ["cpu0 [0, 3) Job { task: 0, job: 0 }", "cpu0 [3, 6) Job { task: 1, job: 0 }"]);
    assert_eq!(builder.contradictions(), 2);
    assert_eq!(builder.first_contradiction().map(|event| event.time_ns), Some(3));
    assert_eq!(builder.finish(10).count(), 0);
}

/// A recording begins while a thread of the background has the CPU: that it ends is the first that is seen of it.
#[test]
fn a_background_thread_that_ran_before_contradicts_nothing() {
    let mut builder = SegmentBuilder::new();
    let mut out = Vec::new();
    for (time, kind, cpu) in [
        (2, EventKind::BackgroundStop, 0),
        (2, EventKind::Start, 0),
        (3, EventKind::Complete, 0),
        (4, EventKind::BackgroundStop, 0),
        (5, EventKind::Complete, 1),
        (6, EventKind::BackgroundStop, 1),
    ] {
        out.extend(builder.push(&event(time, kind, cpu, 0, Some(7))));
    }
    assert_eq!(lines(&out), ["cpu0 [2, 3) Job { task: 0, job: 0 }"]);
    assert_eq!(builder.contradictions(), 3, "the ends at 4, 5 and 6");
    assert_eq!(builder.first_contradiction().map(|event| event.time_ns), Some(4));
}

#[test]
fn clipping_keeps_what_is_inside() {
    let segment = Segment { cpu: 0, from_ns: 3, to_ns: 9, activity: Activity::Background { task: 0 } };
    assert_eq!(segment.within(0, 5).map(Segment::length_ns), Some(2));
    assert_eq!(segment.within(5, 20).map(Segment::length_ns), Some(4));
    assert_eq!(segment.within(9, 20), None);
    assert_eq!(segment.within(0, 3), None);
}

/// In a schedule without contradictions the segments of a job add up to the work it did.
#[test]
fn jobs_get_the_time_they_need() {
    for seed in laxity_seeds::seeds!(0..300) {
        let set = set_of(&[(2 * MS, 5 * MS), (3 * MS, 7 * MS), (4 * MS, 11 * MS), (5 * MS, 13 * MS)]);
        let events = global_edf(&set, 2, 200 * MS, Imperfections { seed: Some(seed), switch_ns: 0 });
        let mut builder = SegmentBuilder::new();
        let mut out: Vec<Segment> = events.iter().filter_map(|event| builder.push(event)).collect();
        assert_eq!(builder.contradictions(), 0, "seed {seed}");
        out.extend(builder.finish(200 * MS));
        let mut work: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for segment in &out {
            let Activity::Job { task, job } = segment.activity else { panic!("seed {seed}: no overheads") };
            *work.entry((task, job)).or_default() += segment.length_ns();
        }
        for done in events.iter().filter(|event| event.kind == EventKind::Complete) {
            let (task, job) = (done.task.expect("a task"), done.job.expect("a job"));
            let wcet = set.tasks()[usize::try_from(task).expect("small")].wcet.as_ns();
            let got = work[&(task, job)];
            assert!(got > wcet / 2 && got <= wcet, "seed {seed}: T{task}.{job} ran {got} of {wcet}");
        }
    }
}

laxity_seeds::properties! {
    /// Whatever the events: no segment is empty, none of one layer of a CPU overlaps another, and they are in order.
    #[test]
    fn segments_never_overlap(
        rows in proptest::collection::vec((0u64..40, 0..EventKind::ALL.len(), 0u32..3, 0u32..3, proptest::option::of(0u64..9)), 0..200)
    ) {
        let mut events: Vec<Event> = rows
            .into_iter()
            .map(|(time_ns, kind, cpu, task, argument)| event(time_ns, EventKind::ALL[kind], cpu, task, argument))
            .collect();
        events.sort_by_key(|event| event.time_ns);
        let mut until: BTreeMap<(u32, bool), u64> = BTreeMap::new();
        for segment in segments_of(&events, 40) {
            prop_assert!(segment.from_ns < segment.to_ns);
            let layer = (segment.cpu, matches!(segment.activity, Activity::Kernel(_)));
            let before = until.insert(layer, segment.to_ns).unwrap_or(0);
            prop_assert!(before <= segment.from_ns, "{segment:?} begins before {before}");
        }
    }
}
