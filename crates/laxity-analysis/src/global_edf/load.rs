//! LOAD: the largest demand per time of any interval: Corollary 2 of Baker and Baruah (2009).
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//!
//! With delta_max the largest density and mu = m - (m - 1) delta_max, tasks are schedulable if
//! LOAD <= max(mu - (ceil(mu) - 1) delta_max, (ceil(mu) - 1) - (ceil(mu) - 2) delta_max),
//! where LOAD = max over t > 0 of (sum of dbf_i(t)) / t.
//!
//! Whether LOAD is at most a bound B is decided without computing it: from the longest t at which sum of dbf_i(t) <= B t can fail,
//! downward, an evaluation at t settles all t' > sum of dbf_i(t) / B, since the demand does not fall (as in Zhang and Burns, QPA).

use super::assumptions::{NO_JITTER, without_jitter};
use super::{share, workload};
use crate::{
    Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};
use laxity_model::LoadSum;

/// The test of Baker and Baruah (2009).
#[derive(Debug, Clone, Copy, Default)]
pub struct Load;

static INFO: TestInfo = TestInfo {
    name: "load",
    source: Source::Papers(&[Citation {
        paper: "Baker, Baruah: An analysis of global EDF schedulability for arbitrary-deadline \
            sporadic task systems, Real-Time Systems 43, 2009",
        theorem: Theorem::Numbered("Corollary 2"),
    }]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial for U below the bound; n steps for each interval that is evaluated",
    assumptions: &[NO_JITTER],
};

impl Test for Load {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        without_jitter(tasks, work)?;
        if tasks.len() <= processors as usize {
            // No job ever waits.
            return Ok(Verdict::SCHEDULABLE);
        }
        let Some(bound) = Bound::of(tasks, processors) else { return Ok(Verdict::FAILS) };
        Ok(if bound.holds(tasks, work)? { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

/// A rational: at most m processors, so below 2^13 2^50, as there are fewer processors than tasks.
struct Bound {
    numerator: u64,
    denominator: u64,
}

impl Bound {
    /// Nothing if it exceeds 64 bits, which thousands of tasks do not.
    fn of(tasks: &[SporadicTask], processors: u32) -> Option<Bound> {
        let density = |task: &SporadicTask| (u128::from(task.wcet_ns), u128::from(task.density_window()));
        let most = tasks.iter().map(density).max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1)));
        let (wcet, window) = most?;
        let processors = u128::from(processors);
        // mu = mu_window / window >= 1, as no density exceeds 1.
        let mu_window = processors * window - (processors - 1) * wcet;
        let whole = mu_window.div_ceil(window);
        let first = mu_window - (whole - 1) * wcet;
        let second = if whole >= 2 { (whole - 1) * window - (whole - 2) * wcet } else { 0 };
        let numerator = u64::try_from(first.max(second)).ok()?;
        Some(Bound { numerator, denominator: u64::try_from(window).ok()? })
    }

    /// LOAD <= bound
    fn holds(&self, tasks: &[SporadicTask], work: &mut Work) -> Result<bool, OutOfWork> {
        let mut load = LoadSum::new();
        tasks.iter().for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
        // The demand per time tends to U.
        if load.cmp_ratio(self.numerator, self.denominator).is_gt() {
            return Ok(false);
        }
        let excess = share::excess_ceil(tasks);
        if excess == 0 {
            // D >= T: the demand is never above U t.
            return Ok(true);
        }
        let floor = (u128::from(self.numerator) << share::BITS) / u128::from(self.denominator);
        let rate = floor.saturating_sub(share::total_ceil(tasks));
        // dbf(t + H) <= dbf(t) + U H, less only where t is before the first deadline, and U is not above the bound: the first
        // hyperperiod shows all.
        let repeats = || share::hyperperiod(tasks);
        let mut length = share::horizon(excess, rate).or_else(repeats).ok_or(OutOfWork)?;
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        while length > 0 {
            work.take(tasks.len() as u64)?;
            // Below n 2^61, times 2^50.
            let demand: u128 = tasks.iter().map(|task| u128::from(workload::demand(task, length))).sum();
            let (needed, offered) = (demand * denominator, numerator * u128::from(length));
            if needed > offered {
                return Ok(false);
            }
            let shorter = u64::try_from(needed / numerator).map_err(|_| OutOfWork)?;
            length = shorter.min(length - 1);
        }
        Ok(true)
    }
}
