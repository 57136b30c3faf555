//! What would make a set fit: the fewest processors on which it is proven, and, beside this, the largest factor (`scaling`).
//!
//! Tests need not be monotonic: more processors may take a proof away. So processors are tried from the fewest on, and the answer
//! is the first number on which the set is proven.
//!
//! Each trial may take a number of steps, fewer than a verdict: the same on every machine.

use super::Judge;
use super::answer::FewestProcessors;
use crate::case::{PlacementSettings, by_admission, wanted};
use crate::charges::PlacedSet;
use crate::places::Finder;
use crate::placing::{BelowServers, Placed};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{DoubleHit, Guarantee, NotProven, SporadicTask, Verdict};
use laxity_model::{CpuList, Platform, Scope, Speed, TaskSet};

/// What a trial has shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// It is proven.
    Proven,
    /// It is not.
    Not,
    /// A test took all its steps.
    OutOfWork,
}

/// What is asked in a trial.
pub fn asked(judge: &Judge<'_>) -> Asked {
    judge.of_case.asked_in_trials(judge.guarantee, judge.interrupt)
}

/// Of tasks in places.
pub fn trial(placed: &PlacedSet, tasks: &[SporadicTask], judge: &Judge<'_>) -> Trial {
    match placed.judge_with(tasks, asked(judge)).verdict {
        Verdict::Schedulable(_) => Trial::Proven,
        Verdict::NotProven(NotProven { out_of_work: true, .. }) => Trial::OutOfWork,
        _ => Trial::Not,
    }
}

/// The fewest identical processors on which a set is proven, placed anew on each number of them.
pub fn fewest_processors(set: &TaskSet, scheduler: Analysed, judge: &Judge<'_>) -> FewestProcessors {
    let mut answer = FewestProcessors::new(judge.guarantee.into());
    let cell = match cell_size(scheduler, judge) {
        _ if set.real_time().any(|(_, task)| task.affinity.is_some()) => {
            return answer.because("tasks name the CPUs that they may run on");
        }
        Ok(cell) => cell,
        Err(why) => return answer.because(why),
    };
    let dedicated = u32::from(scheduler.dedicates_a_processor());
    for count in counts(set, cell, dedicated) {
        let found = on(count, cell, set, scheduler, judge);
        if judge.is_interrupted() {
            return answer.because("interrupted");
        }
        answer.tried_to = count;
        match found {
            Ok(Trial::Proven) => {
                answer.processors = Some(count);
                return answer;
            }
            Ok(found) => answer.out_of_work |= found == Trial::OutOfWork,
            Err(why) => return answer.because(why),
        }
    }
    answer.because("not with a CPU for each task either")
}

/// Processors in each cell: none if one cell has them all.
fn cell_size(scheduler: Analysed, judge: &Judge<'_>) -> Result<Option<u32>, &'static str> {
    let PlacementSettings { platform, below, .. } = &judge.of_case.placement;
    if platform.cores().iter().any(|core| core.speed != Speed::UNIT) {
        return Err("CPUs have other speeds than 1");
    }
    if !below.servers.is_of_all_cores() {
        return Err("servers differ from CPU to CPU");
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
    let enough = move |k: &u32| !load.exceeds(running(*k).into());
    let last = (0..).find(|&k| running(k) >= tasks || useful == 0).unwrap_or(0);
    (0..=last).filter(enough).map(move |k| first.saturating_add(k.saturating_mul(step)))
}

/// On so many processors of speed 1.
fn on(
    count: u32,
    cell: Option<u32>,
    set: &TaskSet,
    scheduler: Analysed,
    judge: &Judge<'_>,
) -> Result<Trial, &'static str> {
    let platform = platform(count, cell).ok_or("no such platform")?;
    // As many as a hard admission needs, where that is what is to be proven.
    let double_hit = match judge.guarantee {
        Guarantee::Hard => DoubleHit::Counted,
        Guarantee::Soft => judge.of_case.placement.below.double_hit,
    };
    let below = BelowServers { double_hit, ..judge.of_case.placement.below.clone() };
    anew(set, scheduler, &PlacementSettings { platform, below, ..judge.of_case.placement.clone() }, judge)
}

/// Of a set that is placed as an analysis places it, by other judge.
///
/// # Errors
///
/// What no test covers.
pub fn anew(
    set: &TaskSet,
    scheduler: Analysed,
    placement: &PlacementSettings,
    judge: &Judge<'_>,
) -> Result<Trial, &'static str> {
    let guarantees = &[judge.guarantee];
    let finder = Finder { guarantees, ..judge.of_case.finder(placement, &scheduler, judge.interrupt) };
    if let Some(admitted) = by_admission(set, &scheduler, placement, judge.interrupt) {
        let Ok(placed) = admitted else { return Ok(Trial::Not) };
        return judged(set, scheduler, &placement.platform, &placed, judge);
    }
    let name = scheduler.to_string();
    let wanted = wanted(set, &scheduler, &name, &placement.platform);
    match finder.find(wanted, finder.by_load(set, wanted.scope, wanted.dedicated)) {
        Ok(placed) => judged(set, scheduler, &placement.platform, &placed, judge),
        Err(_) => Ok(Trial::Not),
    }
}

fn judged(
    set: &TaskSet,
    scheduler: Analysed,
    platform: &Platform,
    placed: &Placed,
    judge: &Judge<'_>,
) -> Result<Trial, &'static str> {
    // The processors are more or fewer of those that there are, and as near to each other.
    let charge = judge.of_case.charges.of(scheduler, judge.of_case.platform());
    let seen = PlacedSet::of(set, scheduler, platform, placed, charge, judge.of_case.servers(&scheduler));
    let seen = seen.map_err(|failed| failed.assumption)?;
    Ok(trial(&seen, &seen.tasks, judge))
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
