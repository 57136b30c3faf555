//! What would make a set fit: the largest factor for all execution times with which it is proven.
//!
//! 1. Where tasks share one cell, they stay in it. Otherwise they are placed anew with each factor, as an analysis of the set with
//!    such execution times places them: longer ones can have better places, above all where a heuristic fills the first CPU first.
//! 2. The factor is found by bisection, and C is rounded up to whole ns: the answer is proven, and one step of the resolution more is
//!    not. Where the tests are known to be monotonic and places cannot change, nothing above it is; nor where one step more is beyond
//!    the CPUs, whatever decides.
//! 3. A factor with which C > D makes no set: so it is not proven where tasks are placed anew, for a soft guarantee either.
//!
//! Each trial may take a number of steps, fewer than a verdict, and the integer program as many as it takes without a time limit: the
//! same on every machine.

use super::answer::LargestScaling;
use super::sensitivity::{Trial, anew, asked, trial};
use super::{Judge, verdicts};
use crate::case::PlacementSettings;
use crate::charges::PlacedSet;
use laxity_analysis::Guarantee;
use laxity_analysis::scheduler::Analysed;
use laxity_model::{Duration, LoadSum, Platform, Speed, Task, TaskSet, Utilization};

/// The factor is a multiple of 1/1000.
const RESOLUTION: u64 = 1_000;

/// Factors beyond this are as good as none.
const FACTOR_MAX: u64 = 1 << 20;

/// With the tasks in the one cell that they share; nothing if it was interrupted.
pub fn in_one_cell(placed: &PlacedSet, judge: &Judge<'_>) -> Option<LargestScaling> {
    let mut tasks = placed.tasks.clone();
    let found = largest(judge, false, |factor| {
        for (scaled, task) in tasks.iter_mut().zip(&placed.tasks) {
            scaled.wcet_ns = times(task.wcet_ns, factor);
        }
        trial(placed, &tasks, judge)
    });
    let nothing_above = verdicts::is_monotonic(placed, asked(judge)) && !found.out_of_work;
    (!judge.is_interrupted()).then_some(LargestScaling { nothing_above, ..found })
}

/// With the tasks placed anew for each factor; nothing if it was interrupted.
pub fn placed_anew(set: &TaskSet, scheduler: Analysed, judge: &Judge<'_>) -> Option<LargestScaling> {
    let placement = PlacementSettings { ilp_time_limit: None, ..judge.of_case.placement.clone() };
    let found = largest(judge, true, |factor| {
        if judge.is_interrupted() {
            return Trial::Not;
        }
        let Some(set) = scaled(set, factor) else { return Trial::Not };
        anew(&set, scheduler, &placement, judge).unwrap_or(Trial::Not)
    });
    let nothing_above = is_beyond(set, found.numerator + 1, judge.of_case.platform(), judge.guarantee);
    (!judge.is_interrupted()).then_some(LargestScaling { nothing_above, ..found })
}

fn largest(judge: &Judge<'_>, placed_anew: bool, mut at: impl FnMut(u64) -> Trial) -> LargestScaling {
    let mut out_of_work = false;
    let numerator = bisected(&mut |factor| {
        let found = at(factor);
        out_of_work |= found == Trial::OutOfWork;
        found == Trial::Proven
    });
    LargestScaling {
        guarantee: judge.guarantee.into(),
        numerator,
        denominator: RESOLUTION,
        placed_anew,
        nothing_above: false,
        out_of_work,
    }
}

fn times(wcet: u64, factor: u64) -> u64 {
    let wcet = (u128::from(wcet) * u128::from(factor)).div_ceil(RESOLUTION.into());
    u64::try_from(wcet).unwrap_or(u64::MAX)
}

/// The set with such execution times, if it is one.
fn scaled(set: &TaskSet, factor: u64) -> Option<TaskSet> {
    let mut tasks: Vec<Task> = set.tasks().to_vec();
    for (id, task) in set.real_time() {
        tasks[id].wcet = Duration::from_ns(times(task.wcet.as_ns(), factor));
    }
    TaskSet::new(set.name(), tasks).ok()
}

/// Whether no scheduler can guarantee it on these cores: a task is too long for the fastest of them, or all are more than there is.
fn is_beyond(set: &TaskSet, factor: u64, platform: &Platform, guarantee: Guarantee) -> bool {
    let fastest = platform.cores().iter().map(|core| core.speed).max().unwrap_or(Speed::UNIT);
    let mut load = LoadSum::new();
    for (_, task) in set.real_time() {
        let wcet = times(task.wcet.as_ns(), factor);
        let window = match guarantee {
            Guarantee::Hard => task.density_window(),
            Guarantee::Soft => task.period(),
        };
        if fastest.time_for(wcet) > window.as_ns() {
            return true;
        }
        load.add_ratio(wcet, task.period().as_ns());
    }
    let speed = |core: &laxity_model::Core| {
        Utilization::ratio(core.speed.numerator().into(), core.speed.denominator().into())
    };
    let capacity = platform.cores().iter().fold(Utilization::zero(), |sum, core| sum.plus(&speed(core)));
    load.cmp_to(&capacity).is_gt()
}

/// A factor that is proven while the next is not: 0 if the first is not.
fn bisected(proven: &mut impl FnMut(u64) -> bool) -> u64 {
    let most = FACTOR_MAX * RESOLUTION;
    let (mut good, mut bad) = if proven(RESOLUTION) {
        let mut good = RESOLUTION;
        while good < most && proven(2 * good) {
            good *= 2;
        }
        if good >= most {
            return good;
        }
        (good, 2 * good)
    } else {
        (0, RESOLUTION)
    };
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if proven(middle) { good = middle } else { bad = middle }
    }
    good
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_ends_between_what_is_proven_and_what_is_not() {
        for last in [0, 1, 17, 999, 1_000, 1_001, 1_999, 2_000, 123_456] {
            let mut trials = 0;
            let mut proven = |factor: u64| {
                trials += 1;
                factor <= last
            };
            assert_eq!(bisected(&mut proven), last);
            assert!(trials < 40);
        }
        assert_eq!(bisected(&mut |_| true), FACTOR_MAX * RESOLUTION);
        // Not monotonic: still an edge.
        let found = bisected(&mut |factor| factor < 1_500 || factor == 1_700);
        assert!(found == 1_499 || found == 1_700);
    }
}
