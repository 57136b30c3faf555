//! Batching: jobs of one release instant are released together, before any decision is made about one of them.
//!
//! 1. Checked only if the definition says that releases are batched. A group is the jobs of one cluster and one instant
//!    whose predecessors were complete before that instant: jobs that arrive behind another one are not released by a
//!    timer but when that one completes.
//! 2. What shows in a trace: no job of a group begins to run between the releases of two of its jobs; and the cluster
//!    handles at most one release interrupt (`release-overhead`) per instant at which jobs were released or replenished.
//! 3. A task that does not take part has every job released by itself: one more interrupt each, and no group.
//! 4. Where laxities matter, their timers are release interrupts, too, and do not show: there interrupts are not counted.
//!
//! Complexity: O(1) per event.
//! Source: ackelman2018, 5.1 (release queue with batching).

use crate::verdict::{Report, Sighting};
use crate::{Definition, JobName, Oracle};

/// A job that has begun to run, and the deadline by which it is scheduled.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub job: (u32, u32),
    pub deadline_abs_ns: u64,
}

/// What is known of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskGroups {
    takes_part: bool,
    /// The last instant at which one of its jobs was released in a group.
    grouped_at: Option<u64>,
}

impl TaskGroups {
    pub fn new(takes_part: bool) -> Self {
        TaskGroups { takes_part, grouped_at: None }
    }
}

#[derive(Clone, Copy, Default)]
struct ClusterGroups {
    /// The last instant at which jobs became due, and how many there were.
    instant_ns: Option<u64>,
    interrupts_due: u64,
    /// One of the group of that instant began to run.
    begun: Option<Begun>,
    interrupts: u64,
}

pub(super) struct Batching {
    enabled: bool,
    counts_interrupts: bool,
    clusters: Vec<ClusterGroups>,
}

impl Batching {
    pub fn new(definition: &Definition) -> Self {
        let clusters = vec![ClusterGroups::default(); definition.clusters().len()];
        Batching {
            enabled: definition.batching(),
            counts_interrupts: definition.batching() && !definition.minds_laxity(),
            clusters,
        }
    }

    /// A job of the task is due now: released, or replenished.
    #[inline(always)]
    pub fn due(&mut self, cluster: u32, task: &TaskGroups, now: u64) {
        let of = &mut self.clusters[cluster as usize];
        if !task.takes_part {
            of.interrupts_due += 1;
        } else if of.instant_ns != Some(now) {
            (of.instant_ns, of.begun) = (Some(now), None);
            of.interrupts_due += 1;
        }
    }

    /// A job of the task that belongs to the group of this instant is released. One of the group that has begun to run before.
    #[inline(always)]
    pub fn released(
        &mut self,
        cluster: u32,
        task: &mut TaskGroups,
        now: u64,
        report: &mut Report,
    ) -> Option<Begun> {
        if !self.enabled || !task.takes_part {
            return None;
        }
        report.checks(Oracle::Batching);
        task.grouped_at = Some(now);
        self.clusters[cluster as usize].begun.take()
    }

    /// A job has begun to run before another one of its group was released.
    #[cold]
    pub fn torn(other: JobName, name: JobName, now: u64, report: &mut Report) {
        let sighting = Sighting { should_have_run: Some(name), ..Sighting::at(Oracle::Batching, now) };
        report.violation(sighting.of(other), |names| {
            format!(
                "ran {other} before {name} of the same batch was released",
                name = names.job(name),
                other = names.job(other)
            )
        });
    }

    /// Whether a job of the task was released in a group now.
    #[inline(always)]
    pub fn is_grouped(&self, task: &TaskGroups, now: u64) -> bool {
        self.enabled && task.grouped_at == Some(now)
    }

    /// A job that was begins to run.
    #[inline(always)]
    pub fn begins(&mut self, cluster: u32, begun: Begun) {
        self.clusters[cluster as usize].begun = Some(begun);
    }

    /// A release interrupt is handled.
    pub fn interrupt(&mut self, cluster: u32, cpu: u32, now: u64, report: &mut Report) {
        if !self.counts_interrupts {
            return;
        }
        report.checks(Oracle::Batching);
        let of = &mut self.clusters[cluster as usize];
        of.interrupts += 1;
        if of.interrupts > of.interrupts_due {
            // Counted once: from here on the balance is kept from this instant.
            of.interrupts = of.interrupts_due;
            report.violation(Sighting::at(Oracle::Batching, now).on(Some(cpu)), |_| {
                "handles more release interrupts than there were release instants".to_owned()
            });
        }
    }
}
