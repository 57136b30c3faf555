//! The reservation of least bandwidth for a given probability of a miss.

use super::{CERTAIN, DemandLaw, Waiting};
use crate::SporadicTask;
use crate::settings::{Granted, KernelRules, Reservation, SHORT, candidates, least_first};

/// A task that may miss deadlines, and how long its jobs run. Jobs arrive T or more apart, without jitter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftTask {
    /// D and T; C is the WCET, which the law may exceed.
    pub task: SporadicTask,
    /// Demand of its jobs.
    pub law: DemandLaw,
}

/// A reservation with an upper bound on the probability that a job misses its deadline, in units of 2^-62.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoftReservation {
    /// Q, d and P.
    pub reservation: Reservation,
    /// 0 for one that serves every job.
    pub miss: u64,
}

/// Demand is counted in such parts of the longest.
const GRANULES: u64 = 2048;
/// T and D in so many parts.
const PARTS: [u64; 9] = [1, 2, 3, 4, 5, 6, 8, 12, 16];
/// Sweeps that improve a bound, at the most.
const SWEEPS: u32 = 400;
/// A sweep that improves the bound by less than this part of it is the last.
const IMPROVED: u64 = 1 << 12;
/// What is left aside of the probability of a miss: this part of it.
const NEGLIGIBLE: u32 = 10;

/// What comes off the backlog with each job, and up to where a job meets its deadline, in ns of work.
#[derive(Debug, Clone, Copy)]
struct Pace {
    drift: u64,
    threshold: u64,
}

impl SoftTask {
    /// Reservations with d = P with which a job misses its deadline with a probability of at most `target`, in units of 2^-62, and those
    /// that serve every job; the least bandwidth first, none better in bandwidth, deadline and period at once than another.
    pub fn candidates(&self, target: u64, rules: KernelRules) -> Vec<SoftReservation> {
        let mut found: Vec<SoftReservation> = Vec::new();
        if self.law.most() <= self.task.wcet_ns {
            let served = candidates(&self.task, rules).into_iter();
            found.extend(served.map(|reservation| SoftReservation { reservation, miss: 0 }));
        }
        let counted = Counted::of(&self.law, self.granule());
        for period in self.periods(rules) {
            let best = found.iter().min_by(|one, other| one.reservation.cmp_bandwidth(&other.reservation));
            found.extend(self.least(&counted, period, best.map(|best| best.reservation), (target, rules)));
        }
        found.retain(|one| one.reservation.is_accepted(rules));
        least_first(
            found,
            |one| one.reservation,
            |one| Granted::of(one, self.law.most(), self.task.period_ns),
        )
    }

    /// An upper bound on the probability that a job misses its deadline, in units of 2^-62; of one that serves every job, 0.
    pub fn miss_bound(&self, one: &Reservation) -> u64 {
        if self.law.most() <= self.task.wcet_ns && one.serves(&self.task) {
            return 0;
        }
        let counted = Counted::of(&self.law, self.granule());
        let bounds = self.paces(one).into_iter().flatten();
        bounds.filter_map(|pace| counted.miss(pace, 0)).min().unwrap_or(CERTAIN)
    }

    /// A granule of demand in ns.
    fn granule(&self) -> u64 {
        self.law.most().div_ceil(GRANULES)
    }

    /// Of a reservation with d = P, in phase and as a fluid (the module says why).
    fn paces(&self, one: &Reservation) -> [Option<Pace>; 2] {
        if one.deadline_rel_ns < one.period_ns {
            return [None; 2];
        }
        let (q, p) = (one.runtime_ns, one.period_ns);
        let [deadline, interarrival] = [self.task.deadline_rel_ns, self.task.period_ns];
        let budgets = deadline / p;
        let more = (deadline - budgets * p).saturating_sub(p - q);
        let in_phase =
            Pace { drift: (interarrival / p).saturating_mul(q), threshold: budgets.saturating_mul(q) + more };
        let times =
            |time: u64| u64::try_from(u128::from(time) * u128::from(q) / u128::from(p)).unwrap_or(u64::MAX);
        let fluid = |time: u64| Pace { drift: times(interarrival), threshold: times(time) };
        [Some(in_phase), (deadline + q).checked_sub(p).map(fluid)]
    }

    /// Periods that are looked at, the longest first.
    fn periods(&self, rules: KernelRules) -> Vec<u64> {
        let [deadline, period] = [self.task.deadline_rel_ns, self.task.period_ns];
        let mut all: Vec<u64> = PARTS.iter().flat_map(|parts| [period / parts, deadline / parts]).collect();
        all.push(rules.period_min_ns);
        all.push(rules.period_max_ns);
        // Of times so short that 1 ns matters, all are looked at.
        if self.law.most() < SHORT {
            all.extend(1..=SHORT);
        }
        all.retain(|period| (rules.period_min_ns.max(1)..=rules.period_max_ns).contains(period));
        all.sort_unstable_by(|one, other| other.cmp(one));
        all.dedup();
        all
    }

    /// The least budget for a period, if it is less bandwidth than the best so far.
    fn least(
        &self,
        counted: &Counted,
        period: u64,
        best: Option<Reservation>,
        (target, rules): (u64, KernelRules),
    ) -> Option<SoftReservation> {
        let jobs = u128::from(self.task.period_ns / period).max(1);
        let granule = u128::from(counted.granule);
        // Budgets whose drift is whole granules.
        let budget = |granules: u64| {
            let least = (u128::from(granules) * granule).div_ceil(jobs);
            Some(u64::try_from(least).ok()?.max(rules.runtime_min_ns)).filter(|&budget| budget <= period)
        };
        let with = |runtime| Reservation { runtime_ns: runtime, deadline_rel_ns: period, period_ns: period };
        let meets = |granules: u64| {
            let reservation = with(budget(granules)?);
            let miss = self.meets(counted, &reservation, target)?;
            Some(SoftReservation { reservation, miss })
        };
        let limit = best.map_or(u128::from(period), |best| {
            (u128::from(best.runtime_ns) * u128::from(period)).div_ceil(u128::from(best.period_ns)) - 1
        });
        let mut most = u64::try_from(limit * jobs / granule).ok()?;
        let mut found = meets(most)?;
        let mut less = 0;
        while most - less > 1 {
            let middle = less.midpoint(most);
            match meets(middle) {
                Some(one) => (most, found) = (middle, one),
                None => less = middle,
            }
        }
        Some(found)
    }

    /// A bound on the probability of a miss that is at most `target`.
    fn meets(&self, counted: &Counted, one: &Reservation, target: u64) -> Option<u64> {
        self.paces(one).into_iter().flatten().find_map(|pace| {
            // A job that finds nothing before it.
            let alone = self.law.at_least(pace.threshold.saturating_add(1));
            if alone > target { None } else { counted.miss(pace, target).filter(|&miss| miss <= target) }
        })
    }
}

/// A law in granules.
struct Counted {
    granule: u64,
    weights: Vec<u64>,
}

impl Counted {
    fn of(law: &DemandLaw, granule: u64) -> Self {
        Counted { granule, weights: law.in_granules(granule) }
    }

    /// A bound on the probability that the backlog is above the threshold: the first that is found to be at most `enough`, else the
    /// last that is worth its time.
    fn miss(&self, pace: Pace, enough: u64) -> Option<u64> {
        let [drift, threshold] =
            [pace.drift, pace.threshold].map(|time| usize::try_from(time / self.granule).ok());
        let (drift, threshold) = (drift?, threshold?);
        let negligible = if enough == 0 { 1 << 20 } else { enough >> NEGLIGIBLE };
        let mut waiting = Waiting::new(&self.weights, drift, negligible)?;
        let mut miss = waiting.above(threshold);
        for _ in 0..SWEEPS {
            if miss <= enough {
                break;
            }
            waiting.improve();
            let better = waiting.above(threshold);
            let gained = miss - better.min(miss);
            miss = miss.min(better);
            if gained < miss / IMPROVED {
                break;
            }
        }
        Some(miss)
    }
}
