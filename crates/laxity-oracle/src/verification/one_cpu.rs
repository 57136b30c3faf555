//! One CPU per job, one job per CPU: at every instant.
//!
//! 1. A job that is stopped on one CPU and goes on on another at the same instant runs on one.
//!
//! Complexity: O(1) per event; O(m) per violation.

use super::Verification;
use super::trace_state::State;
use crate::Oracle;
use crate::verdict::Sighting;

impl Verification<'_> {
    /// A job that runs already begins to run on a CPU.
    pub(super) fn check_one_cpu(&mut self, (task, job): (u32, u32), cpu: usize) {
        let name = self.name((task, job));
        let runs = |occupant: super::Occupant| (occupant.task, occupant.job) == (task, job);
        let elsewhere =
            self.trace.cpus.iter().find(|other| other.occupant.is_some_and(runs)).map(|other| other.cpu);
        let here = self.trace.cpus[cpu].cpu;
        self.report.violation(Sighting::at(Oracle::OneCpu, self.now_ns).on(Some(here)).of(name), |names| {
            match elsewhere {
                Some(other) => format!("ran {name}, which runs on cpu{other}", name = names.job(name)),
                None => format!("ran {name}, which runs already", name = names.job(name)),
            }
        });
    }

    /// A job begins to run on a CPU, which must be free: what still runs there is taken to have stopped.
    pub(super) fn vacate(&mut self, cpu: usize, job: (u32, u32)) {
        let Some((occupant, progress)) = self.trace.progress(cpu, self.now_ns) else { return };
        let (name, other) = (self.name(job), self.name((occupant.task, occupant.job)));
        let here = self.trace.cpus[cpu].cpu;
        self.report.violation(Sighting::at(Oracle::OneCpu, self.now_ns).on(Some(here)).of(name), |names| {
            format!("ran {name} while it ran {other}", name = names.job(name), other = names.job(other))
        });
        self.account(occupant, cpu, progress);
        self.trace.cpus[cpu].occupant = None;
        if !occupant.stray {
            let of = self.trace.task(occupant.task);
            of.running = of.running.saturating_sub(1);
            if of.running == 0 && of.state == State::Running {
                of.state = State::Ready;
            }
            self.order.runs(of.cluster, occupant.task);
        }
    }
}
