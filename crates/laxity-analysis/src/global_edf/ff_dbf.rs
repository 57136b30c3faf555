//! FF-DBF: the forced-forward demand at some speed sigma: equation 6 of Baruah, Bonifaci,
//! Marchetti-Spaccamela and Stiller (2010).
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//! 2. D <= T.
//!
//! Tasks are schedulable if for some sigma >= delta_max (the largest density) and all t >= 0
//! sum of ff-dbf_i(t, sigma) <= (m - (m - 1) sigma) t, where with q = floor(t / T) and r = t mod T
//!
//! (a) ff-dbf(t, sigma) = q C + C                        if r >= D,
//! (b) ff-dbf(t, sigma) = q C + C - (D - r) sigma        if D > r >= D - C / sigma,
//! (c) ff-dbf(t, sigma) = q C                            otherwise.
//!
//! The paper tries sigma in steps. Here sigma follows from the condition: at each t the excess G of the left side over the right is
//! convex in sigma, a sum of maxima of linear functions. If G > 0 at a sigma below which none is left, no sigma where G does not fall
//! can help, and where it falls, none before the root of its tangent: that is the next sigma, rounded up to a multiple of 2^-32.
//! At a fixed sigma the left side does not fall with t, so that an evaluation at t settles all t' above the left side divided by
//! m - (m - 1) sigma. Between two deadlines (t = q T + D) it is convex, where (c) turns into (b), so that the excess is largest
//! at one of them: an evaluation at t also settles all t' after the last deadline before t.
//!
//! At sigma = delta_max, ff-dbf_i(t) <= delta_i t: what GFB accepts is accepted at once. If all deadlines are implicit,
//! ff-dbf_i reaches u_i t at every T_i, so the condition is GFB's.

use super::assumptions::{CONSTRAINED, NO_JITTER, constrained};
use super::{Gfb, share};
use crate::{
    Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};
use laxity_model::LoadSum;

/// The test of Baruah, Bonifaci, Marchetti-Spaccamela and Stiller (2010).
#[derive(Debug, Clone, Copy, Default)]
pub struct FfDbf;

static INFO: TestInfo = TestInfo {
    name: "ff-dbf",
    source: Source::Papers(&[Citation {
        paper: "Baruah, Bonifaci, Marchetti-Spaccamela, Stiller: Improved multiprocessor global \
            schedulability analysis, Real-Time Systems 46, 2010",
        theorem: Theorem::Numbered("equation 6"),
    }]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial for U below m - (m - 1) delta_max; n steps for each t that is evaluated",
    assumptions: &[NO_JITTER, CONSTRAINED],
};

/// Fractional bits of sigma.
const BITS: u32 = 32;

impl Test for FfDbf {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        constrained(tasks, work)?;
        if tasks.len() <= processors as usize {
            // No job ever waits.
            return Ok(Verdict::SCHEDULABLE);
        }
        let gfb = Gfb.verdict(tasks, processors, work)?;
        if gfb.is_schedulable() || tasks.iter().all(|task| task.deadline_rel_ns == task.period_ns) {
            return Ok(gfb);
        }
        let condition = Condition {
            tasks,
            processors: processors.into(),
            load: share::total_ceil(tasks),
            excess_ns: share::excess_ceil(tasks),
        };
        Ok(if condition.some_speed_holds(work)? { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

struct Condition<'a> {
    tasks: &'a [SporadicTask],
    /// Fewer than there are tasks.
    processors: i128,
    /// At least U, in units of 2^-60.
    load: u128,
    /// At least sum of u (T - D), in ns: ff-dbf_i(t) <= u_i t + u_i (T_i - D_i).
    excess_ns: u128,
}

/// The left side at a time and a speed: `constant` minus sigma times `slope`, in ns.
struct Demand {
    constant: i128,
    slope: i128,
}

impl Condition<'_> {
    fn some_speed_holds(&self, work: &mut Work) -> Result<bool, OutOfWork> {
        let densities = self
            .tasks
            .iter()
            .map(|task| (u128::from(task.wcet_ns) << BITS).div_ceil(task.deadline_rel_ns.into()));
        let mut speed = densities.max().unwrap_or(0).cast_signed();
        while let Some(faster) = self.least_speed_from(speed, work)? {
            if faster == speed {
                return Ok(true);
            }
            speed = faster;
        }
        Ok(false)
    }

    /// The same speed if the condition holds at it, a higher one below which it does not, or nothing if there is none.
    fn least_speed_from(&self, speed: i128, work: &mut Work) -> Result<Option<i128>, OutOfWork> {
        // Times are below 2^60, there are thousands of tasks, speeds are below 2^33: nothing here reaches 2^110.
        let rate = (self.processors << BITS) - (self.processors - 1) * speed;
        let Some(mut time) = self.last_time(rate)? else { return Ok(None) };
        while time > 0 {
            work.take(self.tasks.len() as u64)?;
            let (demand, before) = self.demand(time, speed);
            let needed = (demand.constant << BITS) - speed * demand.slope;
            let missing = needed - rate * time;
            if missing > 0 {
                let falls = demand.slope - (self.processors - 1) * time;
                // Rounded up.
                return Ok((falls > 0).then(|| speed + (missing + falls - 1) / falls));
            }
            time = (needed / rate).min(before);
        }
        Ok(Some(speed))
    }

    /// The last t that matters if the right side grows by `rate` (in units of 2^-32); nothing if it grows less than the left.
    fn last_time(&self, rate: i128) -> Result<Option<i128>, OutOfWork> {
        let Ok(rate) = u64::try_from(rate) else { return Ok(None) };
        let wide = u128::from(rate) << (share::BITS - BITS);
        let bounded = share::horizon(self.excess_ns, wide.saturating_sub(self.load));
        if let Some(time) = bounded {
            return Ok(Some(time.into()));
        }
        let mut load = LoadSum::new();
        self.tasks.iter().for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
        if load.cmp_ratio(rate, 1 << BITS).is_gt() {
            return Ok(None);
        }
        // The left side of t + H is that of t plus U H.
        let repeats = share::hyperperiod(self.tasks).ok_or(OutOfWork)?;
        Ok(Some(repeats.into()))
    }

    /// The left side, and the last deadline before `time`; 0 if there is none, where the left side is 0.
    fn demand(&self, time: i128, speed: i128) -> (Demand, i128) {
        let mut sum = Demand { constant: 0, slope: 0 };
        let mut before = 0;
        // Below 2^60: divisions of 64 bits take a fraction of those of 128.
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        for task in self.tasks {
            let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, .. } = *task;
            let (jobs, rest) = (time / period, time % period);
            sum.constant += i128::from(jobs) * i128::from(wcet);
            // Of the job that arrives at jobs T, of the one before, or, if that is due just now, of the one before that.
            let later = if rest > deadline { 0 } else { 1 + u64::from(rest == 0 && deadline == period) };
            before = before.max((jobs * period + deadline).saturating_sub(later * period));
            if rest >= deadline {
                sum.constant += i128::from(wcet);
            } else if i128::from(deadline - rest) * speed <= i128::from(wcet) << BITS {
                sum.constant += i128::from(wcet);
                sum.slope += i128::from(deadline - rest);
            }
        }
        (sum, before.into())
    }
}
