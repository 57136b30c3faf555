//! The density bound of EDF on one processor (Theorem 6.2 of Liu 2000); with D >= T the utilization bound
//! (Theorem 7 of Liu and Layland 1973).
//!
//! Assumptions beyond those of all tests:
//! 1. m = 1.
//! 2. A job that has arrived may be kept for up to J before it is released; its deadline counts from its arrival. The least
//!    window for its work is then D - J (Spuri 1996), and it must not be shorter than C.
//!
//! Tasks are schedulable if sum of C_i / min(D_i - J_i, T_i) <= 1, and if D_i - J_i >= T_i for all of them only then.
//!
//! Sufficient; exact where no window is shorter than a period.

use super::{window, windows_hold_jobs};
use crate::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
};
use laxity_model::LoadSum;

/// The bound of Liu and Layland, with densities for deadlines that come before the end of a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct Density;

static INFO: TestInfo = TestInfo {
    name: "density",
    source: Source::Papers(&[
        Citation {
            paper: "Liu, Layland: Scheduling algorithms for multiprogramming in a hard-real-time \
                environment, J. ACM 20(1), 1973",
            theorem: Theorem::Numbered("Theorem 7 (utilizations, D = T)"),
        },
        Citation {
            paper: "Liu: Real-Time Systems, Prentice Hall, 2000",
            theorem: Theorem::Numbered("Theorem 6.2 (densities)"),
        },
    ]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n)",
    assumptions: &["m = 1"],
};

impl Test for Density {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        windows_hold_jobs(tasks, processors, work)?;
        // U <= 1 has been checked.
        if tasks.iter().all(|task| window(task) >= task.period_ns) {
            return Ok(Verdict::SCHEDULABLE);
        }
        let mut sum = LoadSum::new();
        tasks.iter().for_each(|task| sum.add_ratio(task.wcet_ns, window(task).min(task.period_ns)));
        Ok(if !sum.exceeds(1) { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(tasks: &[SporadicTask]) -> Verdict {
        Density.judge(tasks, 1, &mut Work::default())
    }

    #[test]
    fn all_of_the_processor_and_no_more() {
        let thirds = [SporadicTask::implicit(1, 3); 3];
        assert!(judge(&thirds).is_schedulable());
        let more = [thirds[0], thirds[1], SporadicTask::implicit(334, 1000)];
        assert_eq!(judge(&more), Verdict::FAILS);
    }

    #[test]
    fn deadlines_after_the_period_do_not_count() {
        let tasks = [SporadicTask::constrained(1, 9, 2), SporadicTask::constrained(2, 4, 4)];
        assert!(judge(&tasks).is_schedulable());
    }

    #[test]
    fn deadlines_before_the_period_and_jitter_make_windows_shorter() {
        let tasks = [SporadicTask::implicit(1, 2), SporadicTask::constrained(1, 2, 4)];
        assert!(judge(&tasks).is_schedulable());
        let kept = [tasks[0], SporadicTask { jitter_ns: 1, ..tasks[1] }];
        assert_eq!(judge(&kept), Verdict::FAILS);
        assert_eq!(judge(&[SporadicTask { jitter_ns: 2, ..tasks[1] }]), Verdict::fails_at(0));
    }
}
