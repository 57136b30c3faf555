//! The tardiness bound of Devi and Anderson: Corollary 1 of their article (2008), Corollary 4.11 of Devi's
//! thesis (2006).
//!
//! 1. Deadlines are implicit (D = T), there is no jitter.
//! 2. L = ceil(U) - 1; x = max(0, (sum of the L largest C) - C_min) / (m - (sum of the L - 1 largest u)).
//! 3. A job of task i is at most x + C_i late; x is rounded up.
//! 4. With U <= 1 nothing is late: on one processor as EDF is optimal, on more by GFB, as U <= 1 <= m - (m - 1) u_max.
//!
//! The divisor is at least 2, as L <= m - 1 and u_i <= 1: every set with U <= m has a bound.

use super::{ASSUMPTIONS, covered, utilization_ceiling};
use crate::remaining::Remaining;
use crate::{
    Bounds, Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};
use std::cmp::Reverse;

/// The tardiness bound of Devi and Anderson.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviAnderson;

static INFO: TestInfo = TestInfo {
    name: "devi-anderson",
    source: Source::Papers(&[
        Citation {
            paper: "Devi, Anderson: Tardiness bounds under global EDF scheduling on a multiprocessor, \
                Real-Time Systems 38, 2008",
            theorem: Theorem::Numbered("Corollary 1"),
        },
        Citation {
            paper: "Devi: Soft real-time scheduling on multiprocessors, PhD thesis, University of North \
                Carolina at Chapel Hill, 2006",
            theorem: Theorem::Numbered("Corollary 4.11 (with ceil(U) in place of m)"),
        },
    ]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Soft,
    exactness: Exactness::Exact,
    complexity: "O(n log n)",
    assumptions: &["D = T", ASSUMPTIONS[0], ASSUMPTIONS[1]],
};

impl Test for DeviAnderson {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        work.take(tasks.len() as u64)?;
        Verdict::unless("D = T", tasks, |task| task.deadline_rel_ns == task.period_ns)?;
        covered(tasks, processors)?;
        let ceiling = utilization_ceiling(tasks, processors);
        if ceiling <= 1 {
            return Ok(Verdict::Schedulable(Bounds::Tardiness(vec![0; tasks.len()])));
        }
        let x = common_tardiness(tasks, processors, ceiling as usize - 1);
        Ok(Verdict::Schedulable(Bounds::Tardiness(tasks.iter().map(|task| x + task.wcet_ns).collect())))
    }
}

/// x, rounded up, for `largest` = L >= 1.
fn common_tardiness(tasks: &[SporadicTask], processors: u32, largest: usize) -> u64 {
    // Sums of C are at most m 2^50, as U <= m; x is at most half of that.
    let mut wcets: Vec<u64> = tasks.iter().map(|task| task.wcet_ns).collect();
    wcets.sort_unstable_by_key(|&wcet| Reverse(wcet));
    let demand = wcets.iter().take(largest).sum::<u64>() - wcets.last().copied().unwrap_or(0);
    let mut by_utilization: Vec<&SporadicTask> = tasks.iter().collect();
    let cross = |a: &SporadicTask, b: &SporadicTask| u128::from(a.wcet_ns) * u128::from(b.period_ns);
    by_utilization.sort_unstable_by(|a, b| cross(b, a).cmp(&cross(a, b)));
    let mut capacity = Remaining::of(processors);
    by_utilization[..largest - 1].iter().for_each(|task| capacity.take(task.wcet_ns, task.period_ns));
    capacity.time_for(demand, u64::MAX).expect("the divisor is at least 2")
}
