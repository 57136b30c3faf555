//! Pfair: proportionate fairness, by which the processors can be filled: P-fair schedules exist (Baruah,
//! Cohen, Plaxton and Varvel 1996), and PD2 finds them for sporadic tasks as well (Srinivasan and Anderson
//! 2002).
//!
//! Assumptions beyond those of all tests:
//! 1. D >= T and J = 0. Jobs complete within T of their arrivals, so a later deadline changes nothing.
//! 2. Processors are allocated in whole quanta, which begin everywhere at the same time, and jobs arrive at their boundaries. C and
//!    T are whole multiples of the quantum, whatever that is: how they are rounded to such is for the accounting of quantum-based
//!    scheduling to say (`overheads`), also where scheduling costs nothing.
//!
//! Tasks are schedulable if and only if sum of C_i / T_i <= m (and C_i is at most T_i).
//!
//! Exact in whole quanta.

use crate::{
    Bounds, Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};
use laxity_model::LoadSum;

/// The utilization bound of Pfair schedulers such as PD2.
#[derive(Debug, Clone, Copy)]
pub struct Pfair;

static INFO: TestInfo = TestInfo {
    name: "pfair",
    source: Source::Papers(&[
        Citation {
            paper: "Baruah, Cohen, Plaxton, Varvel: Proportionate progress: a notion of fairness in \
                resource allocation, Algorithmica 15, 1996",
            theorem: Theorem::Unnumbered(
                "the existence of P-fair schedules: with U <= m, every lag stays within (-1, 1) \
                (periodic)",
            ),
        },
        Citation {
            paper: "Srinivasan, Anderson: Optimal rate-based scheduling on multiprocessors, STOC 2002",
            theorem: Theorem::Unnumbered("the optimality of PD2 (sporadic)"),
        },
    ]),
    priorities: Priorities::Pfair,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Exact,
    complexity: "O(n)",
    assumptions: &["D >= T", "J = 0", "C and T are whole quanta, and jobs arrive at their boundaries"],
};

impl Test for Pfair {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        work.take(tasks.len() as u64)?;
        Verdict::unless("D >= T", tasks, |task| task.deadline_rel_ns >= task.period_ns)?;
        Verdict::unless("J = 0", tasks, |task| task.jitter_ns == 0)?;
        let mut sum = LoadSum::new();
        for task in tasks {
            sum.add_ratio(task.wcet_ns, task.period_ns);
        }
        if sum.exceeds(processors.into()) {
            return Ok(Verdict::FAILS);
        }
        Ok(Verdict::Schedulable(Bounds::ResponseTimes(tasks.iter().map(|task| task.period_ns).collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(tasks: &[SporadicTask], processors: u32) -> Verdict {
        Pfair.judge(tasks, processors, &mut Work::default())
    }

    #[test]
    fn processors_can_be_filled() {
        // No partition fits them.
        let tasks = [SporadicTask::implicit(2, 3); 3];
        assert_eq!(judge(&tasks, 2), Verdict::Schedulable(Bounds::ResponseTimes(vec![3; 3])));
        let more = [tasks[0], tasks[1], SporadicTask::implicit(3, 4)];
        assert_eq!(judge(&more, 2), Verdict::FAILS);
    }

    #[test]
    fn assumptions_that_fail_are_named() {
        let task = SporadicTask::implicit(1, 30);
        let judge_with = |other| judge(&[task, other], 2);
        assert_eq!(
            judge_with(SporadicTask { deadline_rel_ns: 29, ..task }),
            Verdict::needs("D >= T", Some(1))
        );
        assert_eq!(judge_with(SporadicTask { jitter_ns: 1, ..task }), Verdict::needs("J = 0", Some(1)));
        assert!(judge_with(SporadicTask { deadline_rel_ns: 31, ..task }).is_schedulable());
    }
}
