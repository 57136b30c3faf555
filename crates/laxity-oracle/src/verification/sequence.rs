//! Sequential jobs: a task's jobs run one after the other, in the order of their releases.
//!
//! 1. Job k + 1 does not run before job k is complete, nor job k after that.
//! 2. A job that runs before its release is for the periods to report; it is then taken to have been released.
//!
//! Complexity: O(1) per event.

use super::Verification;
use super::trace_state::State;
use crate::Oracle;
use crate::verdict::Sighting;
use laxity_model::Duration;

impl Verification<'_> {
    /// Whether the job is its task's first one that is not complete.
    pub(super) fn check_sequence(&mut self, (task, job): (u32, u32), cpu: usize) -> bool {
        let of = &self.trace.tasks[task as usize];
        if of.first == job && of.state != State::Idle {
            return true;
        }
        let (first, released) = (of.first, of.released);
        let here = self.trace.cpus[cpu].cpu;
        if job >= released {
            let due = self.periods.due(task).filter(|_| job == released);
            let name = crate::JobName { task, job, deadline_ns: None, priority: None };
            self.report.violation(
                Sighting::at(Oracle::Periods, self.now_ns).on(Some(here)).of(name),
                |names| match due {
                    Some(at) => {
                        format!(
                            "ran {name}, which is released at {}, if at all",
                            Duration::from_ns(at),
                            name = names.job(name)
                        )
                    }
                    None => format!("ran {name}, which is not released", name = names.job(name)),
                },
            );
            if job == released {
                self.make_up_job((task, job));
            }
            return first == job && job == released;
        }
        let name = self.name((task, job));
        if job < first {
            self.impossible((task, job), Some(cpu), "runs, but it is complete");
            return false;
        }
        let before = self.name((task, first));
        let sighting = Sighting::at(Oracle::Sequence, self.now_ns).on(Some(here)).of(name);
        self.report.violation(Sighting { should_have_run: Some(before), ..sighting }, |names| {
            format!(
                "ran {name} before {before} was complete",
                name = names.job(name),
                before = names.job(before)
            )
        });
        false
    }
}
