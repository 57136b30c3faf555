//! How jobs end, and late ones do: they run on, abort, or have later releases skipped, as the definition says ([`OnMiss`]).
//!
//! 1. Where late jobs abort, a job that is not done at its deadline does not progress after it, is not completed after it, and
//!    aborts only from then on, with work left. One that gets a CPU later aborts there at once.
//! 2. Where releases are skipped, one is if and only if an earlier job of its task is late then. It has a number like any other.
//! 3. Otherwise nothing aborts and nothing is skipped.
//!
//! Kernel work takes no part: a job that has a CPU and does not progress aborts when the kernel is done.
//! Complexity: O(1) per event.

use super::Verification;
use super::deadlines::End;
use super::trace_state::{Finished, Occupant, Pending, Progress, State};
use super::work::Leaves;
use crate::Oracle;
use crate::verdict::Sighting;
use laxity_model::OnMiss;

impl Verification<'_> {
    /// A piece of a job's execution that ends now: it does not reach beyond the deadline at which the job aborts.
    pub(super) fn check_piece(&mut self, occupant: Occupant, cpu: usize, progress: Progress) {
        let (task, job) = (occupant.task, occupant.job);
        let Some(deadline_abs) = self.aborts_at(task) else { return };
        self.report.checks(Oracle::Demand);
        let most = progress.rate.work(deadline_abs.saturating_sub(occupant.accounted_ns));
        if self.now_ns > deadline_abs && progress.net > most {
            let here = Some(self.trace.cpus[cpu].cpu);
            let name = self.name((task, job));
            self.report.violation(Sighting::at(Oracle::Demand, self.now_ns).on(here).of(name), |names| {
                format!(
                    "{name} ran on after its deadline, at which it should have aborted",
                    name = names.job(name)
                )
            });
        }
    }

    /// A job ends on a CPU, by an abort or because it is said to be complete.
    pub(super) fn check_end(&mut self, (task, job): (u32, u32), cpu: usize, aborted: bool) {
        let wrong = match (aborted, self.aborts_at(task)) {
            (true, None) => Some("aborts, which no job does here"),
            (true, Some(at)) if self.now_ns < at => Some("aborts before its deadline"),
            (false, Some(at)) if self.now_ns > at => {
                Some("completes after its deadline, at which it should have aborted")
            }
            _ => None,
        };
        self.report.checks(Oracle::Demand);
        if let Some(what) = wrong {
            self.is_wrong((task, job), Some(cpu), Oracle::Demand, what);
        }
    }

    /// The task's first job is over.
    #[inline(always)]
    pub(super) fn ends_job(&mut self, (task, job): (u32, u32), leaves: Leaves, argument: Option<u64>) {
        let now = self.now_ns;
        let aborted = leaves == Leaves::Aborted;
        let of = &self.trace.tasks[task as usize];
        let Some(&Pending { deadline_abs_ns: deadline_abs, missed, .. }) = of.pending.front() else { return };
        self.ended += 1;
        if argument != Some(deadline_abs) || missed || aborted || now > deadline_abs {
            let end = End { deadline_abs_ns: deadline_abs, missed, aborted, said_ns: argument };
            let name = self.name((task, job));
            self.deadlines.check_end(name, &end, now, &mut self.report);
            self.aborted += u64::from(aborted);
        }
        let of = &mut self.trace.tasks[task as usize];
        of.pending.pop_front();
        of.finished = Some(Finished { job, deadline_abs_ns: deadline_abs, at_ns: now, missed });
        of.first += 1;
        while of.pending.front().is_some_and(|next| next.complete) {
            of.pending.pop_front();
            of.first += 1;
        }
        let elsewhere = std::mem::take(&mut of.running) > 0;
        let (cluster, is_idle) = (of.cluster, of.pending.is_empty());
        if is_idle {
            (of.started, of.state) = (false, State::Idle);
        }
        self.order.is_over(cluster, task);
        if elsewhere {
            for cpu in &mut self.trace.cpus {
                cpu.occupant = cpu.occupant.filter(|o| (o.task, o.job) != (task, job));
            }
        }
        if !is_idle {
            self.serve_next(task);
        }
    }

    /// Whether a release that happens, or is skipped, should.
    pub(super) fn check_release(&mut self, (task, job): (u32, u32), skipped: bool) {
        let on_miss = self.definition.on_miss();
        let pending = &self.trace.tasks[task as usize].pending;
        // What is pending is not done; its end is not known, but later than now.
        let late =
            pending.iter().any(|one| !one.complete && on_miss.skips(self.now_ns, one.deadline_abs_ns, None));
        let wrong = match (skipped, late) {
            (true, false) if on_miss == OnMiss::Skip => Some("is skipped, though no job before it is late"),
            (true, false) => Some("is skipped, which no job is here"),
            (false, true) => Some("is released while a job before it is late"),
            _ => None,
        };
        if let Some(what) = wrong {
            self.is_wrong((task, job), None, Oracle::Periods, what);
        }
    }

    /// A release is skipped.
    pub(super) fn skipped(&mut self, (task, job): (u32, u32)) {
        if !self.check_number((task, job)) {
            return;
        }
        self.check_release((task, job), true);
        // That it is skipped, and when.
        self.report.checks_often(Oracle::Periods, 2);
        let now = self.now_ns;
        let deadline_abs = self.trace.tasks[task as usize].deadline(now);
        let name = self.name((task, job));
        self.periods.released(task, || name, now, &mut self.report);
        let of = self.trace.task(task);
        of.released += 1;
        if of.pending.is_empty() {
            of.first += 1;
        } else {
            let pending = Pending {
                release_ns: now,
                deadline_abs_ns: deadline_abs,
                demand_ns: None,
                complete: true,
                missed: false,
            };
            of.pending.push_back(|| pending);
        }
    }

    /// When the task's first job aborts, if it is not done before.
    pub(super) fn aborts_at(&self, task: u32) -> Option<u64> {
        let first = self.trace.tasks[task as usize].pending.front()?;
        self.definition.on_miss().abort_ns(first.deadline_abs_ns)
    }

    #[cold]
    fn is_wrong(&mut self, job: (u32, u32), cpu: Option<usize>, oracle: Oracle, what: &str) {
        let name = self.name(job);
        let cpu = cpu.map(|cpu| self.trace.cpus[cpu].cpu);
        self.report.violation(Sighting::at(oracle, self.now_ns).on(cpu).of(name), |names| {
            format!("{name} {what}", name = names.job(name))
        });
    }
}
