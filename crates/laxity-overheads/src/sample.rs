//! One sample of one overhead.

use laxity_kernel::rings::{Kind, NONE, Record, SampleKind};
use std::collections::BTreeMap;

laxity_model::listed_enum! {
    /// Whose scheduling a sample is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Class {
        /// SCHED_DEADLINE.
        Deadline,
        /// SCHED_FIFO and SCHED_RR.
        FixedPriority,
        /// SCHED_EXT: a policy of laxity's own.
        Ext,
        /// Everything else, and what is about no thread.
        Other,
    }
}

impl Class {
    /// Of a policy's number in the kernel.
    pub fn of(policy: u32) -> Class {
        match policy {
            1 | 2 => Class::FixedPriority,
            6 => Class::Deadline,
            7 => Class::Ext,
            _ => Class::Other,
        }
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Class::Deadline => "deadline",
            Class::FixedPriority => "fixed-priority",
            Class::Ext => "ext",
            Class::Other => "other",
        }
    }

    /// The class with this name.
    pub fn named(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// A sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// What was measured.
    pub kind: SampleKind,
    /// Of whose scheduling.
    pub class: Class,
    /// When it began, in ns of CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// How long it was, in ns.
    pub duration_ns: u64,
    /// On which CPU (of a latency: where it ended).
    pub cpu: u32,
    /// The thread, where it is known.
    pub thread: Option<u32>,
    /// Index of the task in its set, where it is known.
    pub task: Option<u32>,
    /// Number of the job, where it is known.
    pub job: Option<u32>,
    /// Interrupts that came in between.
    pub disturbing: u32,
}

/// Turns records into samples.
///
/// A scheduling around a switch is recorded in two parts; their sum is a sample of its own (cerqueira2014, IV-A), made
/// here. It begins with the first part; an interrupt in either disturbs it.
#[derive(Debug, Default)]
pub struct Sampler {
    /// By CPU, the first part of the scheduling that is under way.
    before: BTreeMap<u32, Record>,
}

impl Sampler {
    /// The samples that a record makes: none if it is an event, one, or two. To be called with the records of a CPU
    /// in the order of their writing.
    pub fn take(&mut self, record: &Record, mut each: impl FnMut(Sample)) {
        let Some(Kind::Sample(kind)) = Kind::of(record.kind) else { return };
        each(sample(kind, record));
        match kind {
            SampleKind::Schedule => _ = self.before.insert(record.cpu, *record),
            SampleKind::Schedule2 => {
                // Parts of one scheduling agree on the length of the first; a lost record makes them differ.
                let before = self.before.remove(&record.cpu);
                if let Some(before) = before.filter(|before| before.argument == record.argument2) {
                    let both = Sample {
                        duration_ns: before.argument.saturating_add(record.argument),
                        disturbing: before.disturbing.saturating_add(record.disturbing),
                        time_ns: before.time_ns,
                        ..sample(SampleKind::ScheduleBoth, record)
                    };
                    each(both);
                }
            }
            SampleKind::ReleaseLatency
            | SampleKind::Release
            | SampleKind::IpiLatency
            | SampleKind::ContextSwitch
            | SampleKind::Tick
            | SampleKind::RequestLatency
            | SampleKind::DspHandler
            | SampleKind::ScheduleKept
            | SampleKind::SchedulerTick
            | SampleKind::Replenish
            | SampleKind::ScheduleBoth
            | SampleKind::Enqueue
            | SampleKind::Dequeue
            | SampleKind::Pick
            | SampleKind::Push
            | SampleKind::Pull
            | SampleKind::SelectCpu
            | SampleKind::Kick
            | SampleKind::Empty => (),
        }
    }
}

fn sample(kind: SampleKind, record: &Record) -> Sample {
    let known = |value: u32| (value != NONE).then_some(value);
    Sample {
        kind,
        class: Class::of(record.policy),
        time_ns: record.time_ns,
        duration_ns: record.argument,
        cpu: record.cpu,
        thread: (record.pid != 0).then_some(record.pid),
        task: known(record.task),
        job: known(record.job),
        disturbing: record.disturbing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: SampleKind, cpu: u32, argument: u64, argument2: u64) -> Record {
        let kind = kind.code();
        Record { kind, cpu, argument, argument2, policy: 6, pid: 9, task: NONE, job: 3, ..Record::default() }
    }

    fn samples(records: &[Record]) -> Vec<Sample> {
        let (mut sampler, mut samples) = (Sampler::default(), Vec::new());
        records.iter().for_each(|record| sampler.take(record, |sample| samples.push(sample)));
        samples
    }

    #[test]
    fn parts_of_one_scheduling_are_added_up_cpu_by_cpu() {
        use SampleKind::{Schedule, Schedule2, ScheduleBoth};
        let made = samples(&[
            Record { time_ns: 100, disturbing: 1, ..record(Schedule, 0, 30, 0) },
            record(Schedule, 1, 50, 0),
            Record { time_ns: 140, ..record(Schedule2, 0, 7, 30) },
            record(Schedule2, 1, 8, 50),
        ]);
        let both: Vec<(u32, u64, u64, u32)> = made
            .iter()
            .filter(|sample| sample.kind == ScheduleBoth)
            .map(|sample| (sample.cpu, sample.time_ns, sample.duration_ns, sample.disturbing))
            .collect();
        assert_eq!(both, [(0, 100, 37, 1), (1, 0, 58, 0)]);
        assert_eq!(made.len(), 6);
    }

    #[test]
    fn parts_of_different_schedulings_are_not() {
        use SampleKind::{Schedule, Schedule2};
        for records in [
            vec![record(Schedule2, 0, 7, 30)],
            vec![record(Schedule, 0, 30, 0), record(Schedule2, 0, 7, 31)],
            vec![record(Schedule, 0, 30, 0), record(Schedule2, 0, 7, 30), record(Schedule2, 0, 8, 30)],
        ] {
            let both = samples(&records).iter().filter(|s| s.kind == SampleKind::ScheduleBoth).count();
            assert_eq!(both, usize::from(records.len() == 3), "{records:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_absent_and_events_are_no_samples() {
        let made = samples(&[record(SampleKind::Tick, 2, 5, 0), Record { kind: 1, ..Record::default() }]);
        let [tick] = made[..] else { panic!("{made:?}") };
        assert_eq!((tick.class, tick.thread, tick.task, tick.job), (Class::Deadline, Some(9), None, Some(3)));
        assert!(Class::ALL.into_iter().all(|class| Class::named(class.name()) == Some(class)));
    }
}
