//! BCL: the interference of each task with each other in the window of a job: Theorem 7 of Bertogna, Cirinei
//! and Lipari (2005).
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. D <= T.
//!
//! With x = D_k - C_k and, for every i other than k,
//! I_i = N_i C_i + min(C_i, max(0, D_k - N_i T_i)), N_i = floor((D_k - D_i) / T_i) + 1,
//! task k meets its deadlines if
//!
//! (a) sum of min(I_i, x) < m x, or
//! (b) sum of min(I_i, x) = m x, and 0 < I_i <= x for some i.
//!
//! This is the paper's condition on beta_i = I_i / D_k and 1 - lambda_k, multiplied by D_k: only integers are left. Where D <= T,
//! I_i equals [`super::workload::under_edf`] without slack.
//!
//! The task with the least room is judged first: a set that fails, most often fails there. It is the witness then. Tasks for which a
//! bound on all interference at once leaves room (`headroom.rs`) fulfil (a), and are not looked at.

use super::assumptions::{CONSTRAINED, NO_JITTER, constrained};
use super::by_period::ByPeriod;
use super::workload;
use crate::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
    papers,
};

/// The test of Bertogna, Cirinei and Lipari (2005).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bcl;

static INFO: TestInfo = TestInfo {
    name: "bcl",
    source: Source::Papers(&[Citation {
        paper: papers::BERTOGNA_2005,
        theorem: Theorem::Numbered("Theorem 7"),
    }]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n^2); n steps a task",
    assumptions: &[NO_JITTER, CONSTRAINED],
};

impl Test for Bcl {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks, work)?;
        let set = ByPeriod::of(tasks, processors);
        for k in set.rooms(0).suspects {
            work.take(tasks.len() as u64)?;
            if waits(&set.tasks, k, set.processors) == Waits::TooLong {
                return Ok(Verdict::fails_at(set.place(k)));
            }
        }
        Ok(Verdict::SCHEDULABLE)
    }
}

/// For how long a job of a task waits at most, by what others interfere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// For less than x: it always has some laxity.
    Shorter,
    /// For x at most, by (b): it can come to have no laxity, and meets its deadline.
    UntilNoLaxity,
    /// Perhaps for longer.
    TooLong,
}

/// The same of task k.
pub(super) fn waits(tasks: &[SporadicTask], k: usize, processors: u64) -> Waits {
    let task = &tasks[k];
    let most = task.deadline_rel_ns - task.wcet_ns;
    // Thousands of terms of at most 2^50 each.
    let room = processors * most;
    let (mut sum, mut some_fits) = (0, false);
    for other in tasks[..k].iter().chain(&tasks[k + 1..]) {
        let interference = workload::under_edf(other, task.deadline_rel_ns, 0);
        some_fits |= 0 < interference && interference <= most;
        sum += interference.min(most);
        if sum > room {
            return Waits::TooLong;
        }
    }
    match sum == room {
        false => Waits::Shorter,
        true if some_fits => Waits::UntilNoLaxity,
        true => Waits::TooLong,
    }
}
