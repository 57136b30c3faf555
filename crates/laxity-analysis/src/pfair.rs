//! Pfair: proportionate fairness, by which the processors can be filled.
//!
//! Assumptions beyond those of all tests:
//! 1. D >= T and J = 0. Jobs complete within T of their arrivals, so a later deadline changes nothing.
//! 2. Processors are allocated in whole quanta, which begin everywhere at the same time, and jobs arrive at their boundaries. A
//!    quantum is not shared: C counts in whole quanta, rounded up. T is whole quanta already: how a period is rounded, and what
//!    of a quantum overheads leave, is for the accounting of quantum-based scheduling to say. With a quantum of 1 ns, the
//!    default, the parameters are taken as they are: as whole multiples of whichever quantum it is.
//!
//! Tasks are schedulable if and only if sum of ceil(C_i / Q) Q / T_i <= m (and C_i rounded up is at most T_i).
//!
//! Exact in whole quanta.

use crate::{
    Bounds, Exactness, Guarantee, OutOfWork, Priorities, SporadicTask, Test, TestInfo, Verdict, Work,
};
use laxity_model::LoadSum;

/// The utilization bound of Pfair schedulers such as PD2.
#[derive(Debug, Clone, Copy)]
pub struct Pfair {
    /// Q in ns, not 0.
    pub quantum: u64,
}

impl Default for Pfair {
    fn default() -> Self {
        Pfair { quantum: 1 }
    }
}

static INFO: TestInfo = TestInfo {
    name: "pfair",
    source: "Baruah, Cohen, Plaxton, Varvel: Proportionate progress: a notion of fairness in resource allocation, Algorithmica \
        15, 1996 (periodic); Srinivasan, Anderson: Optimal rate-based scheduling on multiprocessors, STOC 2002 (PD2, sporadic)",
    priorities: Priorities::Pfair,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Exact,
    complexity: "O(n)",
    assumptions: &["D >= T", "J = 0", "T is whole quanta, and jobs arrive at their boundaries"],
};

impl Test for Pfair {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(
        &self,
        tasks: &[SporadicTask],
        processors: u32,
        work: &mut Work,
    ) -> Result<Verdict, OutOfWork> {
        work.take(tasks.len() as u64)?;
        let first = |fails: &dyn Fn(&SporadicTask) -> bool| tasks.iter().position(fails);
        if let Some(at) = first(&|task| task.deadline < task.period) {
            return Ok(Verdict::needs("D >= T", Some(at)));
        }
        if let Some(at) = first(&|task| task.jitter > 0) {
            return Ok(Verdict::needs("J = 0", Some(at)));
        }
        if let Some(at) = first(&|task| !task.period.is_multiple_of(self.quantum)) {
            return Ok(Verdict::needs("T is whole quanta", Some(at)));
        }
        // C <= T and T is whole quanta, so C is at most T when it has been rounded up.
        let mut sum = LoadSum::new();
        for task in tasks {
            sum.add_ratio(task.wcet.next_multiple_of(self.quantum), task.period);
        }
        if sum.cmp_ratio(processors.into(), 1).is_gt() {
            return Ok(Verdict::FAILS);
        }
        Ok(Verdict::Schedulable(Bounds::ResponseTimes(tasks.iter().map(|task| task.period).collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(tasks: &[SporadicTask], processors: u32, quantum: u64) -> Verdict {
        Pfair { quantum }.judge(tasks, processors, &mut Work::default())
    }

    #[test]
    fn processors_can_be_filled() {
        // No partition fits them.
        let tasks = [SporadicTask::implicit(2, 3); 3];
        assert_eq!(judge(&tasks, 2, 1), Verdict::Schedulable(Bounds::ResponseTimes(vec![3; 3])));
        let more = [tasks[0], tasks[1], SporadicTask::implicit(3, 4)];
        assert_eq!(judge(&more, 2, 1), Verdict::FAILS);
    }

    #[test]
    fn work_counts_in_whole_quanta() {
        let tasks = [SporadicTask::implicit(15, 30); 4];
        assert!(judge(&tasks, 2, 1).is_schedulable());
        assert!(judge(&tasks, 2, 15).is_schedulable());
        assert_eq!(judge(&tasks, 2, 10), Verdict::FAILS);
        assert!(judge(&tasks, 3, 10).is_schedulable());
    }

    #[test]
    fn assumptions_that_fail_are_named() {
        let task = SporadicTask::implicit(1, 30);
        let judge_with = |other| judge(&[task, other], 2, 10);
        assert_eq!(judge_with(SporadicTask { deadline: 29, ..task }), Verdict::needs("D >= T", Some(1)));
        assert_eq!(judge_with(SporadicTask { jitter: 1, ..task }), Verdict::needs("J = 0", Some(1)));
        assert_eq!(judge_with(SporadicTask::implicit(1, 25)), Verdict::needs("T is whole quanta", Some(1)));
        assert!(judge_with(SporadicTask { deadline: 31, ..task }).is_schedulable());
    }
}
