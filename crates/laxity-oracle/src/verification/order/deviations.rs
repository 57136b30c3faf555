//! Deviations that are over: what of them is explained, and what is a violation.

use super::{Deviation, Ended, Order, Waited};
use crate::Oracle;
use crate::definition::task_id;
use crate::verdict::{Report, Sighting};
use crate::verification::measured::{Account, Release};
use crate::verification::rank::Rank;
use crate::verification::trace_state::TraceState;
use crate::verification::windows::Windows;
use laxity_model::Duration;

/// Whether this is the task's first job, and it has not run.
fn is_unbegun(trace: &TraceState, task: u32, job: u32) -> bool {
    let of = &trace.tasks[task as usize];
    of.first == job && !of.started
}

impl Order {
    /// The task's job deviates no longer.
    pub(super) fn end(&mut self, trace: &TraceState, task: u32, now: u64, report: &mut Report) {
        let cluster = trace.tasks[task as usize].cluster;
        let (key, own) = self.rank(task);
        let free_ties = self.clusters.get(cluster as usize).is_some_and(|of| of.free_ties);
        let rank = (key, if free_ties { 0 } else { own });
        let order = &mut self.tasks[task as usize];
        let Some(deviation) = order.deviation.take() else { return };
        let abandoned = self.transitions.abandoned_pushes && order.abandoned;
        if self.measured.is_some() {
            self.end_measured(trace, (cluster, task, rank), *deviation, now, report);
            return;
        }
        let Some(windows) = &self.windows else {
            let unexplained = now - deviation.since_ns;
            self.judge(&Deviation { unexplained_ns: unexplained, ..*deviation }, now, abandoned, report);
            return;
        };
        self.clusters[cluster as usize].deviating.retain(|&other| other != task);
        let waiting = windows.waiting(task, rank, free_ties);
        self.ended.push_back(Ended { deviation: *deviation, cluster, to_ns: now, abandoned, waiting });
    }

    /// Accounts for a deviation and judges it.
    fn end_measured(
        &mut self,
        trace: &TraceState,
        (cluster, task, rank): (u32, u32, Rank),
        deviation: Deviation,
        now: u64,
        report: &mut Report,
    ) {
        let Some(measured) = &mut self.measured else { return };
        let account = measured.account(cluster, (task, rank), (deviation.since_ns, now));
        let deviating = &mut self.clusters[cluster as usize].deviating;
        deviating.retain(|&other| other != task);
        let since = deviating.iter().filter_map(|&other| self.tasks[other as usize].deviation.as_ref());
        let oldest = since.map(|other| other.since_ns).min().unwrap_or(now);
        measured.forget(cluster, oldest);
        let Account { unexplained, explained } = account;
        let job = deviation.waited.job;
        let deviation = Deviation { unexplained_ns: unexplained, ..deviation };
        let waited = Waited { deviation, to_ns: now, explained };
        let earlier = self.tasks[task as usize].unbegun.first();
        if earlier.is_some_and(|earlier| earlier.deviation.waited.job != job) || !is_unbegun(trace, task, job)
        {
            self.judge_unbegun(task, report);
        }
        if is_unbegun(trace, task, job) {
            self.tasks[task as usize].unbegun.push(waited);
        } else {
            self.judge_waited(&waited, report);
        }
    }

    /// Judges a deviation of a real kernel.
    fn judge_waited(&self, waited: &Waited, report: &mut Report) {
        let Waited { deviation, to_ns, explained } = waited;
        if deviation.unexplained_ns <= self.transitions.bound.as_ns() {
            report.excuse((deviation.waited.task, deviation.waited.job), explained);
        }
        self.judge(deviation, *to_ns, false, report);
    }

    /// Judges those deviations of a job that were before it began.
    fn judge_unbegun(&mut self, task: u32, report: &mut Report) {
        for waited in std::mem::take(&mut self.tasks[task as usize].unbegun) {
            self.judge_waited(&waited, report);
        }
    }

    /// The trace is over. A job that should have run and never began is one violation, however often others went before it
    /// meanwhile: nothing released it, or it did not get a CPU (assumption 7).
    fn finish_unbegun(&mut self, trace: &TraceState, task: u32, end: u64, report: &mut Report) {
        let Some(&Waited { deviation: first, .. }) = self.tasks[task as usize].unbegun.first() else {
            return;
        };
        let pending = trace.tasks[task as usize].pending.front();
        let release_ns = pending.map(|pending| pending.release_ns);
        let release_ns = release_ns.filter(|_| is_unbegun(trace, task, first.waited.job));
        let (Some(release_ns), Some(measured)) = (release_ns, &self.measured) else {
            return self.judge_unbegun(task, report);
        };
        let period = trace.definition.set().tasks()[task as usize].period().as_ns();
        let waits = &self.tasks[task as usize].unbegun;
        let unexplained: u64 = waits.iter().map(|one| one.deviation.unexplained_ns).sum();
        let lost = match measured.release(task, release_ns, end) {
            Release::Handled => false,
            Release::Overdue => end - release_ns > period,
            Release::Lost => unexplained > 0,
        };
        if !lost && (waits.len() == 1 || unexplained <= self.transitions.bound.as_ns()) {
            return self.judge_unbegun(task, report);
        }
        let all = waits.iter().map(|one| one.to_ns - one.deviation.since_ns).sum();
        let waited_ns = if lost { all } else { unexplained };
        let sighting = Sighting {
            oracle: if lost { Oracle::Periods } else { first.oracle },
            from_ns: if lost { release_ns } else { first.since_ns },
            to_ns: end,
            cpu: first.cpu,
            ran: None,
            should_have_run: Some(first.waited),
            unexplained_ns: Some(waited_ns),
        };
        self.tasks[task as usize].unbegun.clear();
        report.violation(sighting, |names| {
            let (job, due) = (names.job(first.waited), Duration::from_ns(release_ns));
            let waited = Duration::from_ns(waited_ns);
            match lost {
                true => format!(
                    "{job} was never released: it was due at {due}, no timer went off for it, and it should have run for {waited} \
                     since"
                ),
                false => format!("{job} never began, released at {due}, although it should have run for {waited} since"),
            }
        });
    }

    /// Judges a deviation whose unexplained time is known.
    fn judge(&self, deviation: &Deviation, to: u64, abandoned: bool, report: &mut Report) {
        let &Deviation { since_ns: since, unexplained_ns: unexplained, oracle, cpu, ran, waited, .. } =
            deviation;
        let length = to - since;
        if length == 0 {
            return;
        }
        if abandoned || unexplained <= self.transitions.bound.as_ns() {
            let tolerated = &mut report.tolerated;
            tolerated.count += 1;
            tolerated.total_ns = tolerated.total_ns.saturating_add(length);
            if abandoned {
                tolerated.abandoned_pushes += 1;
            } else {
                tolerated.longest_ns = tolerated.longest_ns.max(length);
            }
            return;
        }
        let waited_for = self.measured.is_some().then_some(unexplained);
        let should_have_run = Some(waited);
        let sighting = Sighting {
            oracle,
            from_ns: since,
            to_ns: to,
            cpu,
            ran,
            should_have_run,
            unexplained_ns: waited_for,
        };
        report.violation(sighting, |names| {
            let what = match ran {
                Some(ran) => format!(
                    "ran {ran} while {waited} waited",
                    ran = names.job(ran),
                    waited = names.job(waited)
                ),
                None if cpu.is_some() => {
                    format!("was idle while {waited} waited", waited = names.job(waited))
                }
                None => format!("{waited} waited", waited = names.job(waited)),
            };
            match waited_for {
                Some(ns) if ns < length => {
                    format!("{what}, {} of it without a reason", Duration::from_ns(ns))
                }
                _ => what,
            }
        });
    }

    /// Judges the deviations that ended so long ago that all is known that could explain them.
    pub(super) fn judge_ended(&mut self, now: u64, report: &mut Report) {
        let Some(windows) = &mut self.windows else { return };
        windows.instant_is_over();
        let hindsight = windows.hindsight();
        while self.ended.front().is_some_and(|ended| now - ended.to_ns > hindsight) {
            let Some(ended) = self.ended.pop_front() else { break };
            self.judge_one(ended, u64::MAX, report);
        }
        while let Some(cluster) = self.windows.as_mut().and_then(Windows::crowded) {
            self.forget(cluster, now);
        }
    }

    /// Judges a deviation; from `known` on, what is not explained may be.
    fn judge_one(&mut self, ended: Ended, known: u64, report: &mut Report) {
        let Ended { mut deviation, cluster, to_ns: to, abandoned, waiting } = ended;
        if let Some(windows) = &mut self.windows {
            let (from, to) = (deviation.judged_ns, to.min(known));
            deviation.unexplained_ns += windows.pieces(cluster).unexplained(&waiting, from, to);
        }
        self.judge(&deviation, to, abandoned, report);
    }

    /// Forgets what explains no deviation any more. Where one lasts very long, its past is judged first.
    fn forget(&mut self, cluster: u32, now: u64) {
        let Some(windows) = &mut self.windows else { return };
        if !windows.pieces(cluster).are_many() {
            return;
        }
        let known = now.saturating_sub(windows.hindsight());
        let mut oldest = known;
        for ended in self.ended.iter().filter(|ended| ended.cluster == cluster) {
            oldest = oldest.min(ended.deviation.judged_ns);
        }
        let of = &self.clusters[cluster as usize];
        for &task in &of.deviating {
            let order = &mut self.tasks[task as usize];
            let waiting = windows.waiting(task, (order.key, task), of.free_ties);
            if let Some(deviation) = order.deviation.as_mut().filter(|deviation| deviation.judged_ns < known)
            {
                deviation.unexplained_ns +=
                    windows.pieces(cluster).unexplained(&waiting, deviation.judged_ns, known);
                deviation.judged_ns = known;
            }
        }
        windows.pieces(cluster).forget(oldest);
    }

    /// The trace is over: what deviates until now has deviated until the end.
    pub fn finish(&mut self, trace: &TraceState, end: u64, report: &mut Report) {
        for task in 0..self.tasks.len() {
            if self.tasks[task].deviation.is_some() {
                self.end(trace, task_id(task), end, report);
            }
            self.finish_unbegun(trace, task_id(task), end, report);
        }
        let hindsight = self.transitions.kernel.map_or(0, |kernel| kernel.hindsight());
        while let Some(ended) = self.ended.pop_front() {
            self.judge_one(ended, end.saturating_sub(hindsight), report);
        }
    }
}
