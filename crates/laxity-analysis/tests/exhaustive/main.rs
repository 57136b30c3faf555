//! Every test of the catalogue against every set of up to three tasks with small parameters, on one processor and on two: simulated
//! periodically with all offsets, until the schedule repeats.
//!
//! Periodic arrivals are some of those that sporadic tasks may have. What misses is not schedulable, and no test may accept it; what
//! never misses may still be too much for sporadic arrivals, except on one processor, where the synchronous ones are the worst.

mod periodic;

use laxity_analysis::{
    Bounds, Exactness, Guarantee, Levels, Priorities, SporadicTask, Test, Verdict, Work, catalogue,
};
use periodic::{Order, TASKS_MAX, longest_responses};

/// T is at most this.
const PERIOD_MAX: u64 = 4;

/// A set with what happens to it at worst.
struct Known {
    tasks: Vec<SporadicTask>,
    /// Of each task; nothing if some grow for ever.
    responses: Option<[u64; TASKS_MAX]>,
}

impl Known {
    fn meets_deadlines(&self) -> bool {
        self.responses
            .is_some_and(|seen| self.tasks.iter().zip(seen).all(|(task, seen)| seen <= task.deadline_rel_ns))
    }
}

/// All tasks with C <= min(D, T), T <= 4, and D <= T or D <= 2 T.
fn all_tasks(arbitrary: bool) -> Vec<SporadicTask> {
    let of = |period: u64| {
        let latest = if arbitrary { 2 * period } else { period };
        let with = move |wcet| {
            (wcet..=latest).map(move |deadline| SporadicTask::constrained(wcet, deadline, period))
        };
        (1..=period).flat_map(with)
    };
    (1..=PERIOD_MAX).flat_map(of).collect()
}

/// All sets of one to three of them: in every order, or in one.
fn all_sets(tasks: &[SporadicTask], ordered: bool) -> Vec<Vec<SporadicTask>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut longest: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..TASKS_MAX {
        let from = |set: &Vec<usize>| if ordered { 0 } else { set.last().copied().unwrap_or(0) };
        let extended = |set: &Vec<usize>| {
            let set = set.clone();
            (from(&set)..tasks.len()).map(move |next| [&set[..], &[next]].concat())
        };
        longest = longest.iter().flat_map(extended).collect();
        sets.extend_from_slice(&longest);
    }
    sets.into_iter().map(|set| set.into_iter().map(|at| tasks[at]).collect()).collect()
}

/// U <= m.
fn fits(tasks: &[SporadicTask], processors: u64) -> bool {
    // 1, 2, 3 and 4 divide 12.
    tasks.iter().map(|task| task.wcet_ns * (12 / task.period_ns)).sum::<u64>() <= 12 * processors
}

/// All offsets below the periods of which one is 0: others are the same, later.
fn all_offsets(tasks: &[SporadicTask]) -> Vec<[u64; TASKS_MAX]> {
    let below = |at: usize| tasks.get(at).map_or(1, |task| task.period_ns);
    let mut all = Vec::new();
    for one in 0..below(0) {
        for two in 0..below(1) {
            all.extend((0..below(2)).map(|three| [one, two, three]));
        }
    }
    all.retain(|offsets| offsets[..tasks.len()].contains(&0));
    all
}

/// Each task at a level of its own.
const DISTINCT: [u64; TASKS_MAX] = [0, 1, 2];

fn worst(
    tasks: &[SporadicTask],
    processors: u64,
    priorities: Priorities,
    levels: [u64; TASKS_MAX],
) -> Option<[u64; TASKS_MAX]> {
    let no_equals = priorities == Priorities::Fixed && levels == DISTINCT;
    let orders: &[bool] = if no_equals { &[false] } else { &[false, true] };
    let mut worst = [0; TASKS_MAX];
    for offsets in all_offsets(tasks) {
        for &last_first in orders {
            let order = Order { priorities, last_first, levels };
            let seen = longest_responses(tasks, offsets, processors, order)?;
            worst.iter_mut().zip(seen).for_each(|(worst, seen)| *worst = seen.max(*worst));
        }
    }
    Some(worst)
}

/// All sets that fit, with what happens to them.
fn known(processors: u64, priorities: Priorities) -> Vec<Known> {
    let ordered = priorities == Priorities::Fixed;
    let mut sets = all_sets(&all_tasks(!ordered), ordered);
    if ordered && processors == 1 {
        // In every order there are many. Tests know what D > T means on one processor: there are pairs of such tasks.
        let is_late = |set: &Vec<SporadicTask>| set.iter().any(|task| task.deadline_rel_ns > task.period_ns);
        let late = all_sets(&all_tasks(true), true).into_iter().filter(is_late);
        sets.extend(late.filter(|set| set.len() < TASKS_MAX));
    }
    let of = |tasks: Vec<SporadicTask>| Known {
        responses: worst(&tasks, processors, priorities, DISTINCT),
        tasks,
    };
    sets.into_iter().filter(|tasks| fits(tasks, processors)).map(of).collect()
}

/// What the verdict promises but does not happen.
fn broken(test: &dyn Test, verdict: &Verdict, known: &Known) -> bool {
    let Verdict::Schedulable(bounds) = verdict else { return false };
    let Some(seen) = known.responses else { return true };
    let late = |response: u64, task: &SporadicTask| response.saturating_sub(task.deadline_rel_ns);
    let pairs = || known.tasks.iter().zip(seen);
    let misses = test.info().guarantee == Guarantee::Hard && !known.meets_deadlines();
    misses
        || match bounds {
            Bounds::None => false,
            Bounds::ResponseTimes(bounds) => pairs().zip(bounds).any(|((_, seen), &bound)| seen > bound),
            Bounds::Tardiness(bounds) => {
                pairs().zip(bounds).any(|((task, seen), &bound)| late(seen, task) > bound)
            }
        }
}

/// Judges all sets, and says how many are schedulable, and how many of them are accepted.
fn compare(test: &dyn Test, processors: u32, all: &[Known]) -> Option<(usize, usize)> {
    let (mut judged, mut schedulable, mut accepted) = (0, 0, 0);
    for known in all {
        let verdict = test.judge(&known.tasks, processors, &mut Work::default());
        if matches!(verdict, Verdict::NotApplicable(_)) {
            continue;
        }
        judged += 1;
        let wrong = broken(test, &verdict, known);
        let Known { tasks, responses } = known;
        assert!(!wrong, "{} on {processors}: {tasks:?}: {verdict:?}, but {responses:?}", test.info().name);
        let is_soft = test.info().guarantee == Guarantee::Soft;
        schedulable += usize::from(if is_soft { responses.is_some() } else { known.meets_deadlines() });
        accepted += usize::from(verdict.is_schedulable());
    }
    (judged > 0).then_some((schedulable, accepted))
}

#[test]
fn no_test_promises_what_does_not_happen() {
    use Priorities::{EarliestDeadlineFirst, FairLateness, Fixed, ZeroLaxity};
    for priorities in [EarliestDeadlineFirst, ZeroLaxity, FairLateness, Fixed] {
        for processors in [1, 2] {
            let all = known(processors.into(), priorities);
            let meet = all.iter().filter(|known| known.meets_deadlines()).count();
            println!(
                "{priorities:?} on {processors}: {} sets fit, {meet} of them meet all deadlines",
                all.len()
            );
            // Or every promise would be kept.
            assert!(0 < meet && meet < all.len());
            let tests = catalogue::tests().iter().filter(|test| test.info().priorities == priorities);
            for test in tests {
                let Some((schedulable, accepted)) = compare(*test, processors, &all) else { continue };
                println!("  {}: {accepted} of {schedulable}", test.info().name);
                assert!(accepted > 0, "{} on {processors}", test.info().name);
                if processors == 1 && test.info().exactness == Exactness::Exact {
                    assert_eq!(accepted, schedulable, "{}", test.info().name);
                }
            }
        }
    }
}

/// Tasks that share priorities of SCHED_FIFO: where equals run in the order in which they arrive, no test promises more than happens.
#[test]
fn no_test_promises_equals_what_does_not_happen() {
    for processors in [1, 2] {
        for (sizes, levels) in
            [(&[2][..], [0, 0, 0]), (&[3], [0, 0, 0]), (&[1, 2], [0, 1, 1]), (&[2, 1], [0, 0, 1])]
        {
            let count = sizes.iter().sum::<usize>();
            let sets = all_sets(&all_tasks(false), true).into_iter().filter(|set| set.len() == count);
            let of = |tasks: Vec<SporadicTask>| {
                let responses = worst(&tasks, processors.into(), Priorities::Fixed, levels);
                Known { responses, tasks }
            };
            let all: Vec<Known> = sets.filter(|tasks| fits(tasks, processors.into())).map(of).collect();
            let fixed = |test: &&&dyn Test| test.info().priorities == Priorities::Fixed;
            let mut accepted_by = 0;
            for test in catalogue::tests().iter().filter(fixed) {
                let mut accepted = 0;
                for known in &all {
                    let levels = Levels::new(sizes);
                    let verdict =
                        test.judge_among_equals(&known.tasks, levels, processors, &mut Work::default());
                    let Known { tasks, responses } = known;
                    let name = test.info().name;
                    assert!(
                        !broken(*test, &verdict, known),
                        "{name} on {processors}, levels of {sizes:?}: {tasks:?}: {verdict:?}, but {responses:?}"
                    );
                    accepted += usize::from(verdict.is_schedulable());
                }
                accepted_by += usize::from(accepted > 0);
                println!("{} on {processors}, {sizes:?}: {accepted} of {}", test.info().name, all.len());
            }
            assert!(accepted_by > 0);
        }
    }
}

/// By hand: the third task misses if it comes with the others, whose deadlines are as early, and does not if it comes when they end.
#[test]
fn offsets_matter() {
    let tasks = [2, 2, 1].map(|wcet| SporadicTask::constrained(wcet, 2, 3));
    let order = Order { priorities: Priorities::EarliestDeadlineFirst, last_first: false, levels: DISTINCT };
    assert_eq!(longest_responses(&tasks, [0, 0, 0], 2, order), Some([2, 2, 3]));
    assert_eq!(longest_responses(&tasks, [0, 0, 2], 2, order), Some([2, 2, 1]));
    // The other order of equals: the second waits for the third, and the first is alone from 1 on.
    let last = Order { last_first: true, ..order };
    assert_eq!(longest_responses(&tasks, [0, 0, 0], 2, last), Some([3, 2, 1]));
    // More work than there is time for grows for ever.
    let full = [SporadicTask::constrained(1, 1, 1); 3];
    let fixed = Order { priorities: Priorities::Fixed, last_first: false, levels: DISTINCT };
    assert_eq!(longest_responses(&full, [0; 3], 2, fixed), None);
}
