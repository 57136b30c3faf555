//! GFB: the density bound: Theorem 5 of Goossens, Funk and Baruah (2003) for D = T, Theorem 4 (equation 5) of
//! Bertogna, Cirinei and Lipari (ECRTS 2005) for densities.
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//!
//! Tasks are schedulable if sum of lambda_i <= m - (m - 1) lambda_max, where lambda_i = C_i / min(D_i, T_i).

use super::assumptions::{NO_JITTER, without_jitter};
use crate::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
    papers,
};
use laxity_model::LoadSum;

/// The density bound of Goossens, Funk and Baruah.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gfb;

static INFO: TestInfo = TestInfo {
    name: "gfb",
    source: Source::Papers(&[
        Citation {
            paper: "Goossens, Funk, Baruah: Priority-driven scheduling of periodic task systems on \
                multiprocessors, Real-Time Systems 25, 2003",
            theorem: Theorem::Numbered("Theorem 5 (utilizations, D = T)"),
        },
        Citation {
            paper: papers::BERTOGNA_2005,
            theorem: Theorem::Numbered("Theorem 4 and equation 5 (densities)"),
        },
    ]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n)",
    assumptions: &[NO_JITTER],
};

impl Test for Gfb {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        without_jitter(tasks, work)?;
        let densest = |one: &SporadicTask, other: &SporadicTask| {
            let cross =
                |a: &SporadicTask, b: &SporadicTask| u128::from(a.wcet_ns) * u128::from(b.density_window());
            cross(one, other).cmp(&cross(other, one))
        };
        let Some(most) = tasks.iter().copied().max_by(densest) else { return Ok(Verdict::SCHEDULABLE) };
        // sum of lambda_i + (m - 1) lambda_max <= m
        let mut sum = LoadSum::new();
        tasks.iter().for_each(|task| sum.add_ratio(task.wcet_ns, task.density_window()));
        let Some(others) = u64::from(processors - 1).checked_mul(most.wcet_ns) else {
            // More than 2^14 processors: if they are as many as the tasks, no job ever waits.
            let enough = tasks.len() <= processors as usize;
            return Ok(if enough { Verdict::SCHEDULABLE } else { Verdict::FAILS });
        };
        sum.add_ratio(others, most.density_window());
        let fits = !sum.exceeds(processors.into());
        Ok(if fits { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TIME_MAX;

    fn accepts(parameters: &[(u64, u64)], processors: u32) -> bool {
        let tasks: Vec<_> =
            parameters.iter().map(|&(wcet, period)| SporadicTask::implicit(wcet, period)).collect();
        Gfb.judge(&tasks, processors, &mut Work::default()).is_schedulable()
    }

    #[test]
    fn a_sum_that_equals_the_bound_is_accepted() {
        // 4/10 + 8/10 = 12/10 = 2 - 8/10: floats say no.
        assert!(accepts(&[(4, 10), (8, 10)], 2));
        assert!(!accepts(&[(4_000_001, 10_000_000), (8_000_000, 10_000_000)], 2));
    }

    #[test]
    fn dhalls_effect_is_rejected() {
        // m light tasks and a heavy one.
        assert!(!accepts(&[(2, 10), (2, 10), (11, 11)], 2));
        assert!(accepts(&[(2, 10), (2, 10), (8, 11)], 3));
    }

    #[test]
    fn as_many_tasks_as_processors_where_products_do_not_fit() {
        // (m - 1) C is 2^64.
        let processors = (1 << 14) + 1;
        let mut tasks = vec![SporadicTask::implicit(TIME_MAX, TIME_MAX); 1 << 14];
        tasks.push(SporadicTask::implicit(1, TIME_MAX));
        let judge = |tasks: &[SporadicTask]| Gfb.judge(tasks, processors, &mut Work::default());
        assert_eq!(judge(&tasks), Verdict::SCHEDULABLE);
        tasks.push(SporadicTask::implicit(1, TIME_MAX));
        assert_eq!(judge(&tasks), Verdict::FAILS);
    }

    #[test]
    fn one_processor_takes_all_of_it() {
        assert!(accepts(&[(1, 3), (1, 3), (1, 3)], 1));
        assert!(!accepts(&[(1, 3), (1, 3), (2, 5)], 1));
    }
}
