//! Affinity: jobs run only on CPUs of their cluster, within their task's affinity, and never on a dedicated CPU; those of background tasks
//! on any CPU within their task's affinity. Where a cluster dedicates a CPU, that one handles all its release interrupts, unless
//! something above the scheduler has it when a job becomes ready: another one does its work then.
//!
//! Complexity: O(1) per event, O(log m) for a task with an affinity.

use super::Verification;
use super::trace_state::CpuTrace;
use crate::Oracle;
use crate::verdict::Sighting;

impl Verification<'_> {
    /// A job of the task begins to run on a CPU.
    pub(super) fn check_affinity(&mut self, task: u32, job: u32, cpu: usize) {
        let (of, on) = (&self.trace.tasks[task as usize], &self.trace.cpus[cpu]);
        let why = if on.cluster != of.cluster {
            "which is in another cluster"
        } else if on.dedicated {
            "which is dedicated and runs no task"
        } else if on.taken {
            "which something above the scheduler has"
        } else if of.affinity.as_ref().is_some_and(|affinity| !affinity.contains(on.cpu)) {
            "which is outside its affinity"
        } else {
            return;
        };
        let here = on.cpu;
        let name = self.name((task, job));
        let sighting = Sighting::at(Oracle::Affinity, self.now_ns).on(Some(here)).of(name);
        self.report
            .violation(sighting, |names| format!("ran {name} on cpu{here}, {why}", name = names.job(name)));
    }

    /// A job of a task that is in the background begins to run on a CPU.
    pub(super) fn check_affinity_of_ordinary(&mut self, job: (u32, u32), cpu: u32) {
        self.report.checks(Oracle::Affinity);
        let of = &self.trace.tasks[job.0 as usize];
        if of.affinity.as_ref().is_none_or(|affinity| affinity.contains(cpu)) {
            return;
        }
        let name = self.name(job);
        let sighting = Sighting::at(Oracle::Affinity, self.now_ns).on(Some(cpu)).of(name);
        self.report.violation(sighting, |names| {
            format!(
                "ran {name}, of a background task, on cpu{cpu}, which is outside its affinity",
                name = names.job(name)
            )
        });
    }

    /// A release interrupt is handled on a CPU.
    pub(super) fn check_release_master(&mut self, cpu: usize) {
        let on = &self.trace.cpus[cpu];
        let dedicated = &self.definition.clusters()[on.cluster as usize].dedicated;
        if dedicated.is_empty() {
            return;
        }
        self.report.checks(Oracle::Affinity);
        if !on.dedicated && !self.dedicated_is_taken(on.cluster) {
            let here = on.cpu;
            let sighting = Sighting::at(Oracle::Affinity, self.now_ns).on(Some(here));
            self.report.violation(sighting, |_| {
                format!(
                    "handled a release on cpu{here}, which is for tasks: cpu{dedicated} is dedicated to that"
                )
            });
        }
    }

    /// Whether something above the scheduler has, or has just had, the CPU that handles the cluster's releases.
    fn dedicated_is_taken(&self, cluster: u32) -> bool {
        let Some(measured) = &self.order.measured else { return false };
        let is_it = |of: &CpuTrace| of.cluster == cluster && of.dedicated;
        self.trace.cpus.iter().enumerate().any(|(cpu, of)| is_it(of) && measured.is_or_was_taken(cpu))
    }
}
