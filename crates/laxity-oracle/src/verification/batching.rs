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

#[derive(Clone, Copy, Default)]
struct ClusterGroups {
    /// The last instant at which jobs became due, and how many there were.
    instant_ns: Option<u64>,
    interrupts_due: u64,
    /// One of the group of that instant began to run.
    begun: Option<JobName>,
    interrupts: u64,
}

pub(super) struct Batching {
    enabled: bool,
    counts_interrupts: bool,
    clusters: Vec<ClusterGroups>,
    /// By task: the last instant at which one of its jobs was released in a group.
    grouped_at: Vec<Option<u64>>,
    /// By task: whether it takes part.
    takes_part: Vec<bool>,
}

impl Batching {
    pub fn new(definition: &Definition) -> Self {
        let clusters = vec![ClusterGroups::default(); definition.clusters().len()];
        Batching {
            enabled: definition.batching(),
            counts_interrupts: definition.batching() && !definition.minds_laxity(),
            clusters,
            grouped_at: vec![None; definition.set().tasks().len()],
            takes_part: definition.set().tasks().iter().map(|task| task.batching).collect(),
        }
    }

    /// A job of the task is due now: released, or replenished.
    pub fn due(&mut self, cluster: u32, task: u32, now: u64) {
        let of = &mut self.clusters[cluster as usize];
        if !self.takes_part[task as usize] {
            of.interrupts_due += 1;
        } else if of.instant_ns != Some(now) {
            (of.instant_ns, of.begun) = (Some(now), None);
            of.interrupts_due += 1;
        }
    }

    /// A job that belongs to the group of this instant is released.
    pub fn released(&mut self, cluster: u32, name: JobName, now: u64, report: &mut Report) {
        if !self.enabled || !self.takes_part[name.task as usize] {
            return;
        }
        report.checks(Oracle::Batching);
        self.grouped_at[name.task as usize] = Some(now);
        if let Some(other) = self.clusters[cluster as usize].begun.take() {
            let sighting = Sighting { should_have_run: Some(name), ..Sighting::at(Oracle::Batching, now) };
            report.violation(sighting.of(other), |names| {
                format!(
                    "ran {other} before {name} of the same batch was released",
                    name = names.job(name),
                    other = names.job(other)
                )
            });
        }
    }

    /// A job begins to run.
    pub fn begins(&mut self, cluster: u32, name: JobName, now: u64) {
        if self.enabled && self.grouped_at[name.task as usize] == Some(now) {
            self.clusters[cluster as usize].begun = Some(name);
        }
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
