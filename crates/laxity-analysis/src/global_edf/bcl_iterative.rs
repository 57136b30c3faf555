//! BCL-iterative: the interference in the window of a job, less by the slack of those that interfere:
//! equations 14 to 18 of Bertogna, Cirinei and Lipari (2009).
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. D <= T.
//! 3. Time is integer: arrivals, execution times and scheduling decisions are whole ns.
//!
//! With x = D_k - C_k and I_i = floor(D_k / T_i) C_i + min(C_i, max(0, D_k mod T_i - S_i)), task k has at least the slack
//! S_k = x - floor(sum over other i of min(I_i, x + 1) / m), if that is not negative. From S = 0 on, slacks are improved until no
//! task's is negative, or none grows. There is no limit to the rounds but the work.
//!
//! Time is integer, hence x + 1: interference of x + 1 units is the least that makes a job late.

use super::assumptions::{CONSTRAINED, INTEGER_TIME, NO_JITTER, constrained};
use super::by_period::ByPeriod;
use super::slack::{Responses, converge};
use super::workload;
use crate::{
    Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};

/// The iterative test of Bertogna, Cirinei and Lipari (2009).
#[derive(Debug, Clone, Copy, Default)]
pub struct BclIterative;

static INFO: TestInfo = TestInfo {
    name: "bcl-iterative",
    source: Source::Papers(&[Citation {
        paper: "Bertogna, Cirinei, Lipari: Schedulability analysis of global scheduling algorithms \
            on multiprocessor platforms, IEEE TPDS 20(4), 2009",
        theorem: Theorem::Numbered("equations 14-18"),
    }]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n^2) a round, pseudo-polynomially many rounds, rarely more than a few; n steps a task",
    assumptions: &[NO_JITTER, CONSTRAINED, INTEGER_TIME],
};

impl Test for BclIterative {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks, work)?;
        let set = ByPeriod::of(tasks, processors);
        let mut windows = Windows { tasks: &set.tasks, processors: set.processors, work };
        Ok(match converge(&set.tasks, set.rooms(1), &mut windows)? {
            Ok(_) => Verdict::SCHEDULABLE,
            Err(k) => Verdict::fails_at(set.place(k)),
        })
    }
}

struct Windows<'a> {
    tasks: &'a [SporadicTask],
    processors: u64,
    work: &'a mut Work,
}

impl Responses for Windows<'_> {
    fn response(&mut self, k: usize, slacks: &[u64]) -> Result<Option<u64>, OutOfWork> {
        self.work.take(self.tasks.len() as u64)?;
        let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, .. } = self.tasks[k];
        let cap = deadline - wcet + 1;
        // Thousands of terms of at most 2^50 each.
        let room = self.processors * cap;
        let mut sum = 0;
        for others in [0..k, k + 1..self.tasks.len()] {
            for (other, &slack) in self.tasks[others.clone()].iter().zip(&slacks[others]) {
                sum += workload::under_edf(other, deadline, slack).min(cap);
                if sum >= room {
                    return Ok(None);
                }
            }
        }
        Ok(Some(wcet + sum / self.processors))
    }

    fn require(&self, responses: usize) -> Result<(), OutOfWork> {
        self.work.requires(responses, self.tasks.len() as u64)
    }
}
