//! EDZL: which tasks can come to have no laxity, and which less than none: after Cirinei and Baker (2007), with BCL's condition
//! (`bcl.rs`) for both questions. The paper could not be looked up here: why it holds is said below.
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. D <= T.
//!
//! Before a first deadline is missed there is an instant at which more than m jobs have no laxity left, and one of them soon has less.
//! A job of task k has waited for at least D_k - C_k when it has none, and longer when it has less; all processors executed others
//! then. What task i executes while it waits is at most I_i (`workload::under_edf`), also if a job of it has a later deadline and no
//! laxity left: by as much as that is later, less of it is before the deadline of task k, and by no more is there more of the job that
//! came before the window. So with x = D_k - C_k
//!
//! (a) task k can have no laxity only if the sum over i other than k of min(I_i, x) >= m x,
//! (b) it can have less than none only if BCL does not accept it.
//!
//! BCL answers both of a task at once ([`bcl::Waits`]), and of tasks with room both are false.
//!
//! The set is schedulable unless (a) holds for more than m tasks, and (b) for one. What global EDF is proven to meet, EDZL meets:
//! the two decide the same there.

use super::assumptions::{CONSTRAINED, NO_JITTER, constrained};
use super::bcl::{self, Waits};
use super::by_period::ByPeriod;
use crate::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
    papers,
};

/// The test after Cirinei and Baker (2007).
#[derive(Debug, Clone, Copy, Default)]
pub struct ZeroLaxity;

static INFO: TestInfo = TestInfo {
    name: "edzl",
    source: Source::Proof {
        file: "zero_laxity.rs",
        what: "conditions (a) and (b)",
        after: &[
            Citation {
                paper: "Cirinei, Baker: EDZL scheduling analysis, ECRTS 2007",
                theorem: Theorem::Unnumbered("that m + 1 tasks have no laxity before one misses"),
            },
            Citation {
                paper: papers::BERTOGNA_2005,
                theorem: Theorem::Numbered("Theorem 7 (the condition that (b) is)"),
            },
        ],
    },
    priorities: Priorities::ZeroLaxity,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n^2); n steps a task",
    assumptions: &[NO_JITTER, CONSTRAINED],
};

impl Test for ZeroLaxity {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks, work)?;
        let set = ByPeriod::of(tasks, processors);
        let (mut none_left, mut misses) = (0, Vec::new());
        let suspects = set.rooms(0).suspects;
        work.requires(suspects.len(), tasks.len() as u64)?;
        for k in suspects {
            work.take(tasks.len() as u64)?;
            let waits = bcl::waits(&set.tasks, k, set.processors);
            none_left += u64::from(waits != Waits::Shorter);
            if waits == Waits::TooLong {
                misses.push(set.place(k));
            }
        }
        Ok(match misses.into_iter().min() {
            Some(k) if none_left > set.processors => Verdict::fails_at(k),
            _ => Verdict::SCHEDULABLE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnyGlobalEdf, Bcl};

    fn accepts(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> bool {
        test.judge(tasks, processors, &mut Work::default()).is_schedulable()
    }

    /// The effect of Dhall: two light tasks and one that needs all of a processor.
    #[test]
    fn it_accepts_what_no_test_of_global_edf_can() {
        let light = SporadicTask::implicit(1, 10);
        let tasks = [light, light, SporadicTask::implicit(11, 11)];
        assert!(accepts(&ZeroLaxity, &tasks, 2));
        assert!(!accepts(&AnyGlobalEdf, &tasks, 2));
    }

    /// By hand: x = 1 for all, and each other task interferes with 3, at most 1: 2 >= 2 for three tasks, more than m = 2.
    #[test]
    fn three_tasks_that_all_can_have_no_laxity_on_two_processors() {
        let tasks = [SporadicTask::implicit(3, 4); 3];
        assert!((0..3).all(|k| bcl::waits(&tasks, k, 2) != Waits::Shorter));
        assert!(!accepts(&ZeroLaxity, &tasks, 2));
        assert!(accepts(&ZeroLaxity, &tasks, 3));
    }

    #[test]
    fn it_accepts_all_that_bcl_does() {
        for wcet in 1..=6 {
            for deadline in wcet..=8 {
                for third in 1..=8 {
                    let tasks = [
                        SporadicTask::constrained(wcet, deadline, 8),
                        SporadicTask::implicit(2, 5),
                        SporadicTask::implicit(third, 9),
                    ];
                    assert!(!accepts(&Bcl, &tasks, 2) || accepts(&ZeroLaxity, &tasks, 2), "{tasks:?}");
                }
            }
        }
    }
}
