//! What would make a set fit: the fewest processors on which it is proven, and the largest factor for all execution times.
//!
//! Tests need not be monotonic: more processors or shorter execution times may take a proof away. So
//!
//! 1. processors are tried from the fewest on, and the answer is the first number on which the set is proven;
//! 2. the factor is found by bisection, with the tasks in their places and C rounded up to whole ns: the answer is proven, and one
//!    step of the resolution more is not. Where the tests are known to be monotonic, nothing above it is.
//!
//! Each trial may take a number of steps, fewer than a verdict: the same on every machine.

use super::admission::{Wanted, by_test};
use super::answer::{FewestProcessors, LargestScaling};
use super::placed::PlacedSet;
use super::places::by_admission;
use super::{Settings, verdicts};
use crate::experiment::{Below, Placed};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{DoubleHit, Guarantee, NotProven, SporadicTask, Verdict, Work};
use laxity_model::{CpuList, Platform, Scope, Speed, TaskSet};
use laxity_place::Fitting;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Steps for each test on each cell in a trial, if a verdict may not take fewer.
pub const TRIAL_WORK: u64 = 1 << 26;

/// The factor is a multiple of 1/1000.
const RESOLUTION: u64 = 1_000;

/// Factors beyond this are as good as none.
const FACTOR_MAX: u64 = 1 << 20;

/// A trial.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trial {
    Proven,
    Not,
    OutOfWork,
}

fn asked(settings: &Settings) -> Asked {
    Asked { work: Work::steps(settings.work.min(TRIAL_WORK)), ..settings.asked(settings.guarantee) }
}

fn trial(placed: &PlacedSet, tasks: &[SporadicTask], settings: &Settings) -> Trial {
    match placed.judge_with(tasks, asked(settings)).verdict {
        Verdict::Schedulable(_) => Trial::Proven,
        Verdict::NotProven(NotProven { out_of_work: true, .. }) => Trial::OutOfWork,
        _ => Trial::Not,
    }
}

/// The largest factor for all C with which the set is proven, in its places.
pub fn scaling(placed: &PlacedSet, settings: &Settings) -> LargestScaling {
    let (mut scaled, mut out_of_work) = (placed.tasks.clone(), false);
    let mut proven_at = |factor: u64| {
        for (scaled, task) in scaled.iter_mut().zip(&placed.tasks) {
            let wcet = (u128::from(task.wcet) * u128::from(factor)).div_ceil(RESOLUTION.into());
            scaled.wcet = u64::try_from(wcet).unwrap_or(u64::MAX);
        }
        let found = trial(placed, &scaled, settings);
        out_of_work |= found == Trial::OutOfWork;
        found == Trial::Proven
    };
    let factor = bisected(&mut proven_at);
    LargestScaling {
        guarantee: settings.guarantee.into(),
        numerator: factor,
        denominator: RESOLUTION,
        nothing_above: verdicts::is_monotonic(placed, asked(settings)) && !out_of_work,
        out_of_work,
    }
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

/// The fewest identical processors on which a set is proven, placed anew on each number of them.
pub fn fewest_processors(
    set: &TaskSet,
    scheduler: Analysed,
    settings: &Settings,
    interrupt: &AtomicBool,
) -> FewestProcessors {
    let mut answer = FewestProcessors::new(settings.guarantee.into());
    let cell = match cell_size(scheduler, settings) {
        _ if set.real_time().any(|(_, task)| task.affinity.is_some()) => {
            return answer.because("tasks name the cores that they may run on");
        }
        Ok(cell) => cell,
        Err(why) => return answer.because(why),
    };
    let dedicated = u32::from(scheduler.dedicates_a_processor());
    for count in counts(set, cell, dedicated) {
        if interrupt.load(SeqCst) {
            return answer.because("interrupted");
        }
        answer.tried_to = count;
        match on(count, cell, set, scheduler, settings, interrupt) {
            Ok(Trial::Proven) => {
                answer.processors = Some(count);
                return answer;
            }
            Ok(found) => answer.out_of_work |= found == Trial::OutOfWork,
            Err(why) => return answer.because(why),
        }
    }
    answer.because("not with a processor for each task either")
}

/// Processors in each cell: none if one cell has them all.
fn cell_size(scheduler: Analysed, settings: &Settings) -> Result<Option<u32>, &'static str> {
    let platform = &settings.platform;
    if platform.cores().iter().any(|core| core.speed != Speed::UNIT) {
        return Err("cores have other speeds than 1");
    }
    if !settings.below.servers.is_of_all_cores() {
        return Err("servers differ from core to core");
    }
    match scheduler.scope() {
        Scope::Global => Ok(None),
        Scope::Partitioned => Ok(Some(1)),
        Scope::Clustered => {
            let mut sizes = platform.clusters().iter().map(CpuList::len);
            let first = sizes.next().unwrap_or(0);
            let same = sizes.all(|size| size == first);
            let size = u32::try_from(first).ok().filter(|_| same);
            size.map(Some).ok_or("clusters have different sizes")
        }
    }
}

/// Numbers of processors to try: from those that U needs to those that give every task one of its own.
fn counts(set: &TaskSet, cell: Option<u32>, dedicated: u32) -> impl Iterator<Item = u32> {
    let load = set.load();
    let tasks = u32::try_from(set.real_time().count()).unwrap_or(u32::MAX);
    // One cell grows by one, several by one more cell.
    let (first, step, useful) = match cell {
        None => (1 + dedicated, 1, 1),
        Some(size) => (size, size, size - dedicated.min(size)),
    };
    let running = move |k: u32| if cell.is_none() { 1 + k } else { (k + 1).saturating_mul(useful) };
    let enough = move |k: &u32| load.cmp_ratio(running(*k).into(), 1).is_le();
    let last = (0..).find(|&k| running(k) >= tasks || useful == 0).unwrap_or(0);
    (0..=last).filter(enough).map(move |k| first.saturating_add(k.saturating_mul(step)))
}

/// On so many processors of speed 1.
fn on(
    count: u32,
    cell: Option<u32>,
    set: &TaskSet,
    scheduler: Analysed,
    settings: &Settings,
    interrupt: &AtomicBool,
) -> Result<Trial, &'static str> {
    let platform = platform(count, cell).ok_or("no such platform")?;
    let wanted = Wanted::of(set, scheduler, &platform);
    let fit = match settings.fit {
        Fitting::Load(fit) => Some(fit),
        Fitting::Test => None,
    };
    let placing = settings.placing(&platform, fit, interrupt);
    // As many as a hard admission needs, where that is what is to be proven.
    let double_hit = match settings.guarantee {
        Guarantee::Hard => DoubleHit::Counted,
        Guarantee::Soft => settings.below.double_hit,
    };
    let below = Below { double_hit, ..settings.below.clone() };
    if let Some(admitted) = by_admission(set, scheduler, &placing, settings, &below) {
        let Ok(placed) = admitted else { return Ok(Trial::Not) };
        return judged(set, scheduler, &platform, &placed, settings);
    }
    if settings.fit == Fitting::Test
        && !settings.placement.may_solve()
        && wanted.scope != Scope::Global
        && by_test(wanted, settings.placement, &placing, settings, settings.guarantee).is_some()
    {
        return Ok(Trial::Proven);
    }
    let Ok(placed) = placing.place(set, wanted.scope, scheduler.dedicates_a_processor(), None) else {
        return Ok(Trial::Not);
    };
    judged(set, scheduler, &platform, &placed, settings)
}

fn judged(
    set: &TaskSet,
    scheduler: Analysed,
    platform: &Platform,
    placed: &Placed,
    settings: &Settings,
) -> Result<Trial, &'static str> {
    // The processors are more or fewer of those that there are, and as near to each other.
    let charge = settings.charges.of(scheduler, &settings.platform);
    let seen = PlacedSet::of(set, scheduler, platform, placed, charge, &settings.below.servers);
    let seen = seen.map_err(|failed| failed.assumption)?;
    Ok(trial(&seen, &seen.tasks, settings))
}

fn platform(count: u32, cell: Option<u32>) -> Option<Platform> {
    let platform = Platform::symmetric(count).ok()?;
    let Some(size) = cell else { return Some(platform) };
    let cluster = |first: u32| (first..first + size).collect::<CpuList>();
    platform.with_clusters((0..count / size).map(|at| cluster(at * size)).collect()).ok()
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

    #[test]
    fn processors_that_can_be_enough() {
        let task = |name: &str, c: u64, t: u64| {
            laxity_model::Task::periodic(
                name,
                laxity_model::Duration::from_us(c),
                laxity_model::Duration::from_us(t),
            )
        };
        let tasks: Vec<_> = (0..5).map(|at| task(&format!("t{at}"), 3, 5)).collect();
        let set = TaskSet::new("s", tasks).expect("a set");
        let numbers = |cell, dedicated| counts(&set, cell, dedicated).collect::<Vec<_>>();
        // U = 3.
        assert_eq!(numbers(None, 0), [3, 4, 5]);
        assert_eq!(numbers(None, 1), [4, 5, 6]);
        assert_eq!(numbers(Some(1), 0), [3, 4, 5]);
        assert_eq!(numbers(Some(2), 0), [4, 6]);
        assert_eq!(numbers(Some(2), 1), [6, 8, 10]);
    }
}
