//! CPUs that something above the scheduler takes ([`Definition::with_interference`](crate::Definition::with_interference)).
//!
//! 1. The trace says when a CPU is taken and when it is there again: exactly when the definition does, or neither is believed.
//! 2. While a CPU is taken no job runs there, and its cluster has one CPU less: the min(m, r) jobs of highest priority run on the m that
//!    are there.
//!
//! Complexity: O(intervals of the definition) per event.

use super::Verification;
use crate::Oracle;
use crate::verdict::Sighting;
use laxity_model::{Duration, Interference};
use laxity_trace::{Event, EventKind};

impl Verification<'_> {
    /// A CPU is taken, or is there again.
    pub(super) fn interferes(&mut self, event: &Event) {
        let now = self.now_ns;
        let takes = event.kind == EventKind::Withdraw;
        let changes = |one: &Interference| if takes { one.begins_at(now) } else { one.ends_at(now) };
        let said = event.cpu.is_some_and(|cpu| self.interference_of(cpu).any(changes));
        let Some(index) = event.cpu.and_then(|cpu| self.trace.cpu_index(cpu)) else {
            // Said of a CPU without tasks, or of none.
            if !said {
                self.incomplete(event);
            }
            return;
        };
        let of = &mut self.trace.cpus[index];
        let (cpu, cluster) = (of.cpu, of.cluster);
        if !said || of.dedicated || of.taken == takes {
            let sighting = Sighting::at(Oracle::WellFormed, now).on(Some(cpu));
            let what = if takes { "is taken" } else { "is there again" };
            self.report.violation(sighting, |_| format!("cpu{cpu} {what}, which it is not, or not now"));
            return;
        }
        of.taken = takes;
        of.withdrawals += u64::from(takes);
        if !takes {
            self.order.give_back(cluster);
            return;
        }
        let runs = of.occupant;
        self.order.withdraw(cluster);
        if let Some(occupant) = runs {
            self.report.checks(Oracle::Affinity);
            self.check_affinity(occupant.task, occupant.job, index);
        }
    }

    fn interference_of(&self, cpu: u32) -> impl Iterator<Item = &Interference> {
        self.definition.interference().iter().filter(move |one| one.cpu() == cpu)
    }

    /// The trace is over: what it has not said of its CPUs.
    pub(super) fn finish_interference(&mut self, end: u64) {
        for index in 0..self.trace.cpus.len() {
            let of = &self.trace.cpus[index];
            let (cpu, seen) = (of.cpu, of.withdrawals);
            let times: u64 = self.interference_of(cpu).map(|one| one.begins_before(end)).sum();
            let stays =
                of.taken && !self.interference_of(cpu).any(|one| one.takes_at(end) || one.ends_at(end));
            let sighting = Sighting::at(Oracle::WellFormed, end).on(Some(cpu));
            if seen < times {
                self.report.violation(sighting, |_| {
                    format!("cpu{cpu} is taken {times} times, and the trace says so {seen} times")
                });
            } else if stays {
                let end = Duration::from_ns(end);
                self.report.violation(sighting, |_| {
                    format!("cpu{cpu} is there at t={end}, which the trace does not say")
                });
            }
        }
    }
}
