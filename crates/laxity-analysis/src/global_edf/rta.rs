//! RTA: response times under global EDF: Theorems 3 and 4 of Bertogna and Cirinei (2007), with their
//! equations 4 and 8 for W, 5 and 9 for I.
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. D <= T.
//! 3. Time is integer: arrivals, execution times and scheduling decisions are whole ns.
//!
//! With W_i the workload of task i in any window and I_i what EDF lets interfere (both in `workload`), both less by the slack of
//! task i, the response time of task k is at most the least R >= C_k for which
//!
//! `R = C_k + floor(sum over other i of min(W_i(R), I_i(D_k), R - C_k + 1) / m)`.
//!
//! Where it is at most D_k, task k has the slack D_k - R. From S = 0 on, slacks are improved until all tasks meet their deadlines,
//! or none grows. Once all are proven to, every bound is computed once more, with the slacks of all others.
//!
//! Since W_i(D_k) >= I_i(D_k), a task that meets its deadline after BCL-iterative does so here, with no less slack.
//!
//! A step is one term of one such sum. Terms that have reached I_i leave the sum and become part of its constant, and N_i and its
//! ramp are carried along as R grows, so that a term needs no division.

use super::assumptions::{CONSTRAINED, INTEGER_TIME, NO_JITTER, constrained};
use super::by_period::ByPeriod;
use super::slack::{Responses, converge};
use super::workload;
use crate::{
    Bounds, Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo,
    Theorem, Verdict, Work, papers,
};

/// The response-time analysis of Bertogna and Cirinei (2007).
#[derive(Debug, Clone, Copy, Default)]
pub struct Rta;

static INFO: TestInfo = TestInfo {
    name: "rta",
    source: Source::Papers(&[Citation {
        paper: papers::BERTOGNA_2007,
        theorem: Theorem::Numbered(
            "Theorem 3 (R), Theorem 4 and equations 4 and 8 (W), equations 5 and 9 (I)",
        ),
    }]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial: O(n) for each response time tried, O(n) of them a round",
    assumptions: &[NO_JITTER, CONSTRAINED, INTEGER_TIME],
};

impl Test for Rta {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks, work)?;
        let set = ByPeriod::of(tasks, processors);
        let mut equations = Equations::of(&set.tasks, set.processors, work);
        let mut slacks = match converge(&set.tasks, set.rooms(1), &mut equations)? {
            Ok(slacks) => slacks,
            Err(k) => return Ok(Verdict::fails_at(set.place(k))),
        };
        equations.require(tasks.len())?;
        let mut bounds = Vec::with_capacity(tasks.len());
        for (k, task) in set.tasks.iter().enumerate() {
            // All meet their deadlines with these slacks, so there is one.
            let response = equations.response(k, &slacks)?.unwrap_or(task.deadline_rel_ns);
            slacks[k] = slacks[k].max(task.deadline_rel_ns - response);
            bounds.push(response);
        }
        Ok(Verdict::Schedulable(Bounds::ResponseTimes(set.placed(&bounds))))
    }
}

/// The equations of all tasks of a set.
struct Equations<'a> {
    tasks: &'a [SporadicTask],
    processors: u64,
    work: &'a mut Work,
    /// Of the equation that is being solved.
    terms: Vec<Term>,
    reached: Vec<u64>,
}

/// What one task adds to the sum, in progress with R.
#[derive(Debug, Clone, Copy)]
struct Term {
    wcet_ns: u64,
    period_ns: u64,
    /// I_i(D_k)
    most: u64,
    /// N_i C_i
    complete: u64,
    /// The R at which N_i grows.
    next: u64,
}

impl Term {
    fn of(task: &SporadicTask, slack: u64, most: u64, response: u64) -> Term {
        let late = task.deadline_rel_ns - task.wcet_ns - slack;
        let jobs = if response + late < task.period_ns { 0 } else { (response + late) / task.period_ns };
        Term {
            wcet_ns: task.wcet_ns,
            period_ns: task.period_ns,
            most,
            complete: jobs * task.wcet_ns,
            next: (jobs + 1) * task.period_ns - late,
        }
    }

    /// For how long min(W_i(R), I_i(D_k)) grows with R from `response` on, the last R asked for.
    fn left(&self, response: u64) -> u64 {
        let ramp = self.wcet_ns.min(response + self.period_ns - self.next);
        (self.wcet_ns - ramp).min(self.most - self.complete - ramp)
    }

    /// min(W_i(R), I_i(D_k)), for R no less than before.
    fn at(&mut self, response: u64) -> u64 {
        if response >= self.next {
            // Most often it is one job: a comparison costs less than a division. R can also leap over any number of them.
            let over = response - self.next;
            let jobs = if over < self.period_ns { 1 } else { over / self.period_ns + 1 };
            self.next += jobs * self.period_ns;
            self.complete += jobs * self.wcet_ns;
        }
        (self.complete + self.wcet_ns.min(response + self.period_ns - self.next)).min(self.most)
    }
}

/// How fast the sum grows at least from some R on.
struct Growth {
    /// So many terms grow with R,
    terms: u64,
    /// for at least so long.
    lasts: u64,
}

impl Default for Growth {
    fn default() -> Self {
        Growth { terms: 0, lasts: u64::MAX }
    }
}

impl Growth {
    fn add(&mut self, lasts: u64) {
        if lasts > 0 {
            self.terms += 1;
            self.lasts = self.lasts.min(lasts);
        }
    }

    /// By how much R has to grow at least until the sum, now `missing` above m (R - C_k + 1), is below it.
    fn ruled_out(&self, missing: u64, processors: u64) -> u64 {
        if self.terms == 0 {
            return missing / processors + 1;
        }
        let until = if self.terms < processors { missing / (processors - self.terms) + 1 } else { u64::MAX };
        if until <= self.lasts { until } else { self.lasts + 1 }
    }
}

impl<'a> Equations<'a> {
    fn of(tasks: &'a [SporadicTask], processors: u64, work: &'a mut Work) -> Self {
        Equations { tasks, processors, work, terms: Vec::new(), reached: Vec::new() }
    }

    fn set_up(&mut self, k: usize, slacks: &[u64]) {
        let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, .. } = self.tasks[k];
        self.terms.clear();
        for (i, (other, &slack)) in self.tasks.iter().zip(slacks).enumerate() {
            let most = if i == k { 0 } else { workload::under_edf(other, deadline, slack) };
            if most > 0 {
                self.terms.push(Term::of(other, slack, most, wcet));
            }
        }
    }

    /// The least R - C_k that is not ruled out by the m largest terms at `response`: while m terms reach R - C_k + 1, the
    /// sum is at least m (R - C_k + 1), and R does not solve the equation.
    fn least_delay(&mut self, response: u64) -> u64 {
        let Ok(rank) = usize::try_from(self.processors) else { return 0 };
        if self.terms.len() < rank {
            return 0;
        }
        self.reached.clear();
        self.reached.extend(self.terms.iter_mut().map(|term| term.at(response)));
        *self.reached.select_nth_unstable_by(rank - 1, |a, b| b.cmp(a)).1
    }
}

impl Responses for Equations<'_> {
    fn response(&mut self, k: usize, slacks: &[u64]) -> Result<Option<u64>, OutOfWork> {
        let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, .. } = self.tasks[k];
        self.set_up(k, slacks);
        self.work.take(2 * self.tasks.len() as u64)?;
        let mut response = wcet + self.least_delay(wcet);
        // Of the terms that have reached I_i: thousands of terms below 2^51 each.
        let mut constant = 0u64;
        while response <= deadline {
            self.work.take(self.terms.len() as u64 + 1)?;
            let cap = response - wcet + 1;
            let mut sum = constant;
            let mut growth = Growth::default();
            self.terms.retain_mut(|term| {
                let reached = term.at(response);
                sum += reached.min(cap);
                if reached >= cap {
                    growth.add(reached - cap);
                } else if reached == term.most {
                    constant += reached;
                    return false;
                } else {
                    growth.add(term.left(response));
                }
                true
            });
            // Below m times the cap there is a solution, this one.
            let room = self.processors * cap;
            if sum < room {
                return Ok(Some(response));
            }
            response += growth.ruled_out(sum - room, self.processors).max(sum / self.processors - cap + 1);
        }
        Ok(None)
    }

    fn require(&self, responses: usize) -> Result<(), OutOfWork> {
        self.work.requires(responses, 2 * self.tasks.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_of, random_tasks};
    use super::*;

    #[test]
    fn terms_that_leap_are_the_workload_there() {
        for seed in laxity_seeds::seeds!(0..3_000) {
            let mut random = random_of(seed);
            let task = random_tasks(&mut random, 1, 9)[0];
            let slack = random.between(0, task.deadline_rel_ns - task.wcet_ns);
            let most = random.between(1, 60);
            let mut response = random.between(1, 20);
            let mut term = Term::of(&task, slack, most, response);
            for _ in 0..6 {
                let expected = workload::in_window(&task, response, slack).min(most);
                assert_eq!(
                    term.at(response),
                    expected,
                    "seed {seed}: {task:?}, slack {slack}, R = {response}"
                );
                response += random.between(0, 3 * task.period_ns);
            }
        }
    }
}
