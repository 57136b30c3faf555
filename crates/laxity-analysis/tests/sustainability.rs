//! Sustainability: whether a set that a test accepts stays accepted, with no worse bounds, when its parameters get better
//! (Baruah, Burns: Sustainable scheduling analysis, RTSS 2006; Baker, Baruah: Sustainable multiprocessor scheduling of sporadic task
//! systems, ECRTS 2009).
//!
//! Here of the tests of global EDF and of the bounds of tardiness; `schedules/` has those of one processor and of global fixed
//! priorities. What follows from a condition is asserted over thousands of sets:
//!
//! 1. GFB, LOAD, FF-DBF: density, demand and forced-forward demand do not grow when C falls, or T or D grow, and the capacity does
//!    not fall with another processor: `m - (m - 1) sigma` grows by `1 - sigma`.
//! 2. BAR, LA, BCL: if `sum of min(W_i, x) < m x`, fewer than m of the W_i exceed x, so that with x + 1 the left side grows by less than
//!    m: less work of task k is safe, and so is less work of the others.
//! 3. All: with fewer tasks fewer terms are summed, and every slack is at least what it was.
//!
//! What does not hold has a counterexample, found by search: therefore `laxity analyze --sensitivity` says of several processors that
//! nothing follows for what it has not tried. `LAXITY_SEEDS=9000..90000` looks at other sets.

use laxity_analysis::{Bounds, Priorities, SporadicTask, Test, TestInfo, Verdict, Work, catalogue};
use laxity_seeds::{Random, seeds};

laxity_model::listed_enum! {
    /// What gets better.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Better {
        /// One task's C, by 1.
        LessWork,
        /// One task's T, by 1; D stays.
        LongerPeriod,
        /// One task's D, by 1; T stays.
        LaterDeadline,
        /// One task's D and T, by 1.
        Slower,
        /// One task less.
        FewerTasks,
        /// One processor more.
        MoreProcessors,
    }
}

use Better::{FewerTasks, LaterDeadline, LessWork, LongerPeriod, MoreProcessors, Slower};

/// The tests of global scheduling by deadlines, also of tardiness.
fn by_deadlines() -> impl Iterator<Item = &'static str> {
    let is_one = |info: &&TestInfo| match info.priorities {
        Priorities::EarliestDeadlineFirst | Priorities::ZeroLaxity | Priorities::FairLateness => {
            !info.assumptions.contains(&"m = 1")
        }
        Priorities::Fixed | Priorities::Pfair => false,
    };
    catalogue::tests().iter().map(|test| test.info()).filter(is_one).map(|info| info.name)
}

/// (C, D, T) of each task.
type Tasks = &'static [(u64, u64, u64)];

/// A test that accepts tasks on so many processors, but not once this is better for the task with this number.
const LOST: &[(&str, Better, Tasks, u32, usize)] = &[
    // The lambda of the others no longer is as large as that of the first.
    ("bak", LessWork, &[(2, 4, 4), (3, 7, 7), (5, 11, 11)], 2, 0),
    ("bak", LongerPeriod, &[(3, 4, 5), (3, 6, 6)], 2, 1),
    ("bak", LaterDeadline, &[(10, 17, 18), (11, 20, 19)], 2, 0),
    ("bak", Slower, &[(1, 2, 2), (3, 6, 6), (1, 2, 2)], 2, 2),
    // A longer window lets more jobs of others in.
    ("bcl", Slower, &[(1, 4, 4), (1, 4, 4), (2, 4, 4), (2, 4, 4)], 2, 3),
    ("bcl-iterative", LaterDeadline, &[(1, 6, 6), (1, 1, 1), (1, 1, 6), (1, 5, 5)], 2, 2),
    ("bcl-iterative", Slower, &[(1, 2, 2), (3, 6, 6), (1, 5, 5), (1, 5, 5)], 2, 1),
    ("rta", LaterDeadline, &[(1, 1, 2), (1, 1, 1), (1, 3, 3)], 2, 0),
    ("rta", Slower, &[(1, 2, 2), (3, 6, 6), (1, 5, 5), (1, 5, 5)], 2, 1),
    // Its condition is another one where D > T.
    ("la", LaterDeadline, &[(3, 4, 4), (1, 7, 7), (6, 24, 24), (2, 2, 2)], 3, 1),
    ("gedf", LongerPeriod, &[(1, 3, 3), (2, 3, 22), (1, 2, 12), (2, 34, 21), (2, 26, 21)], 3, 0),
    ("gedf", LaterDeadline, &[(1, 1, 1), (4, 7, 12), (1, 1, 3)], 2, 2),
    ("gedf", Slower, &[(4, 11, 11), (3, 3, 17), (5, 17, 24), (1, 12, 12), (1, 3, 11)], 2, 2),
    // A longer window, as for BCL.
    ("edzl", Slower, &[(5, 12, 12), (1, 2, 2), (4, 12, 12), (1, 4, 4)], 2, 0),
];

/// A test that gives these bounds, and these once this is better for the task with this number: one of them is worse.
type Worse = (&'static str, Better, Tasks, u32, usize, &'static [u64], &'static [u64]);

const WORSE: &[Worse] = &[
    // A task that has more slack is taken to interfere less; one that has less work may have less slack.
    ("rta", LessWork, &[(1, 2, 2), (1, 5, 5), (2, 2, 2)], 2, 2, &[1, 2, 2], &[2, 3, 2]),
    ("rta", LongerPeriod, &[(1, 4, 4), (1, 1, 2), (1, 2, 3)], 2, 1, &[2, 1, 1], &[2, 1, 2]),
    ("rta", LaterDeadline, &[(1, 4, 4), (1, 1, 2), (1, 1, 1)], 2, 1, &[2, 1, 1], &[3, 2, 1]),
    ("rta", Slower, &[(1, 2, 2), (1, 2, 2), (1, 2, 2)], 2, 1, &[2, 2, 2], &[2, 3, 2]),
    ("rta", FewerTasks, &[(1, 2, 3), (1, 5, 6), (1, 4, 4), (1, 1, 4)], 2, 1, &[1, 2, 2, 1], &[2, 2, 1]),
    (
        "rta",
        MoreProcessors,
        &[(1, 6, 6), (1, 9, 9), (3, 4, 4), (2, 8, 8)],
        2,
        3,
        &[4, 4, 3, 4],
        &[2, 2, 4, 3],
    ),
    // Where GFB accepts, there are no bounds; RTA's are those of RTA.
    ("gedf", LessWork, &[(1, 2, 2), (2, 3, 3), (4, 11, 11), (2, 2, 2)], 3, 3, &[1, 2, 8, 2], &[1, 3, 8, 1]),
    ("gedf", LaterDeadline, &[(1, 4, 4), (1, 1, 2), (1, 1, 1)], 2, 1, &[2, 1, 1], &[3, 2, 1]),
    ("gedf", Slower, &[(1, 5, 5), (1, 3, 3), (2, 2, 2)], 2, 1, &[2, 1, 2], &[2, 2, 2]),
    (
        "gedf",
        LongerPeriod,
        &[(1, 6, 9), (1, 1, 1), (1, 7, 21), (2, 13, 17), (1, 3, 9)],
        2,
        0,
        &[3, 1, 3, 5, 1],
        &[3, 1, 3, 5, 2],
    ),
    (
        "gedf",
        FewerTasks,
        &[(1, 16, 16), (1, 14, 14), (7, 9, 9), (1, 6, 6), (1, 3, 3)],
        2,
        1,
        &[5, 5, 8, 2, 1],
        &[4, 8, 2, 2],
    ),
    // The least C is subtracted.
    ("devi-anderson", LessWork, &[(2, 2, 2), (2, 2, 2)], 3, 0, &[2, 2], &[2, 3]),
    // Less capacity is left to a task whose deadline is early for its period.
    ("compliant-vector", LongerPeriod, &[(2, 2, 4), (1, 1, 1)], 2, 0, &[2, 2], &[3, 2]),
    ("compliant-vector", LaterDeadline, &[(1, 3, 3), (5, 11, 11)], 2, 1, &[0, 0], &[0, 2]),
    ("compliant-vector-g-fl", LongerPeriod, &[(1, 1, 1), (3, 3, 3)], 2, 1, &[2, 2], &[3, 3]),
    ("compliant-vector-g-fl", MoreProcessors, &[(3, 8, 6), (1, 1, 2)], 2, 0, &[1, 0], &[1, 1]),
];

fn tasks_of(parameters: Tasks) -> Vec<SporadicTask> {
    parameters
        .iter()
        .map(|&(wcet, deadline, period)| SporadicTask::constrained(wcet, deadline, period))
        .collect()
}

/// The tasks and processors with this better for one task; nothing if it cannot be.
fn improved(
    tasks: &[SporadicTask],
    processors: u32,
    better: Better,
    at: usize,
) -> Option<(Vec<SporadicTask>, u32)> {
    let mut tasks = tasks.to_vec();
    match better {
        LessWork if tasks[at].wcet_ns == 1 => return None,
        LessWork => tasks[at].wcet_ns -= 1,
        LongerPeriod => tasks[at].period_ns += 1,
        LaterDeadline => tasks[at].deadline_rel_ns += 1,
        Slower => {
            tasks[at].deadline_rel_ns += 1;
            tasks[at].period_ns += 1;
        }
        FewerTasks => _ = tasks.remove(at),
        MoreProcessors => return Some((tasks, processors + 1)),
    }
    Some((tasks, processors))
}

/// More steps than these sets need, except where U is as good as m: then nothing is compared.
fn judge(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> Verdict {
    test.judge(tasks, processors, &mut Work::steps(100_000))
}

fn named(name: &str) -> &'static dyn Test {
    catalogue::test(name).unwrap_or_else(|| panic!("{name} is no test"))
}

fn bounds(verdict: &Verdict) -> Option<&[u64]> {
    match verdict {
        Verdict::Schedulable(Bounds::ResponseTimes(bounds) | Bounds::Tardiness(bounds)) => Some(bounds),
        _ => None,
    }
}

/// Whether a bound of the tasks that are still there is worse.
fn is_worse(before: &[u64], after: &[u64], better: Better, at: usize) -> bool {
    let removed = |&(number, _): &(usize, &u64)| better != FewerTasks || number != at;
    let still = before.iter().enumerate().filter(removed).map(|(_, bound)| bound);
    still.zip(after).any(|(before, after)| after > before)
}

/// Up to six tasks, of implicit, constrained or arbitrary deadlines.
fn random_tasks(random: &mut Random) -> Vec<SporadicTask> {
    let (count, kind) = (random.between(2, 6), random.between(0, 2));
    let longest = [6, 12, 24][usize::try_from(random.between(0, 2)).expect("small")];
    let of = |_| {
        let period = random.between(1, longest);
        let deadline = match kind {
            0 => period,
            1 => random.between(1, period),
            _ => random.between(1, 2 * period),
        };
        let most = random.between(1, deadline.min(period));
        SporadicTask::constrained(random.between(1, most), deadline, period)
    };
    (0..count).map(of).collect()
}

/// How many sets of those that the test accepts were made better in this way. Panics where it no longer accepts one, or gives it a
/// worse bound, and no counterexample says that this can be.
fn sustained(name: &str, better: Better) -> u32 {
    let (test, mut compared) = (named(name), 0);
    let may_be_lost = LOST.iter().any(|lost| (lost.0, lost.1) == (name, better));
    let may_be_worse = WORSE.iter().any(|worse| (worse.0, worse.1) == (name, better));
    for seed in seeds!(0..9_000) {
        let mut random = Random(seed);
        let processors = u32::try_from(random.between(2, 4)).expect("small");
        let tasks = random_tasks(&mut random);
        let before = judge(test, &tasks, processors);
        if !before.is_schedulable() {
            continue;
        }
        let at = usize::try_from(random.between(0, tasks.len() as u64 - 1)).expect("small");
        let Some((tasks_after, processors_after)) = improved(&tasks, processors, better, at) else {
            continue;
        };
        let after = judge(test, &tasks_after, processors_after);
        if after == Verdict::OUT_OF_WORK || matches!(after, Verdict::NotApplicable(_)) {
            continue;
        }
        let what = || {
            format!(
                "{name}, seed {seed}, {better:?} of task {at}: {tasks:?} on {processors}: {before:?}, then {after:?}"
            )
        };
        assert!(may_be_lost || after.is_schedulable(), "{}", what());
        if let (Some(before), Some(after)) = (bounds(&before), bounds(&after)) {
            assert!(may_be_worse || !is_worse(before, after, better, at), "{}", what());
        }
        compared += 1;
    }
    compared
}

#[test]
fn better_parameters_never_hurt_but_where_a_counterexample_says_so() {
    for name in by_deadlines() {
        let compared = Better::ALL.map(|better| sustained(name, better));
        println!("{name}: {compared:?} of {:?}", Better::ALL);
        // Devi and Anderson's is for D = T: D and T change together or not at all.
        let possible =
            |better: Better| name != "devi-anderson" || ![LongerPeriod, LaterDeadline].contains(&better);
        let few =
            Better::ALL.into_iter().zip(compared).find(|&(better, sets)| possible(better) && sets < 500);
        assert!(!laxity_seeds::are_usual() || few.is_none(), "{name}: {few:?}");
    }
}

#[test]
fn a_better_set_may_be_refused() {
    for &(name, better, parameters, processors, at) in LOST {
        let (test, tasks) = (named(name), tasks_of(parameters));
        assert!(judge(test, &tasks, processors).is_schedulable(), "{name}, {better:?}: {parameters:?}");
        let (tasks, processors) = improved(&tasks, processors, better, at).expect("it can be better");
        let after = judge(test, &tasks, processors);
        assert!(matches!(after, Verdict::NotProven(_)), "{name}, {better:?}: {parameters:?}: {after:?}");
    }
}

#[test]
fn a_better_set_may_have_worse_bounds() {
    for &(name, better, parameters, processors, at, before, after) in WORSE {
        let (test, tasks) = (named(name), tasks_of(parameters));
        let what = || format!("{name}, {better:?}: {parameters:?}");
        assert_eq!(bounds(&judge(test, &tasks, processors)), Some(before), "{}", what());
        let (tasks, processors) = improved(&tasks, processors, better, at).expect("it can be better");
        assert_eq!(bounds(&judge(test, &tasks, processors)), Some(after), "{}", what());
        assert!(is_worse(before, after, better, at), "{}", what());
    }
}
