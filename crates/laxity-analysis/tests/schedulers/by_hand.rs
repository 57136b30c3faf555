//! Examples that are computed by hand.

use super::cases::Case;
use laxity_analysis::overheads::{Monotone, Overhead, Overheads};
use laxity_analysis::scheduler::{Analysed, Asked, Judgement};
use laxity_analysis::{AnalysedCell, Bounds, Guarantee, SporadicTask, Verdict};

fn case(tasks: &[SporadicTask], processors: u32) -> Case {
    Case {
        seed: 0,
        tasks: tasks.to_vec(),
        cells: vec![AnalysedCell { processors, tasks: (0..tasks.len()).rev().collect() }],
    }
}

fn judge(name: &str, case: &Case, guarantee: Guarantee, overheads: Option<&Overheads>) -> Judgement {
    let scheduler: Analysed = name.parse().expect("a scheduler");
    scheduler.judge(&case.placed(overheads), Asked::of(guarantee))
}

fn overheads(costs: &[(Overhead, u64)]) -> Overheads {
    costs.iter().fold(Overheads::none(), |all, &(kind, ns)| all.with(kind, Monotone::constant(ns)))
}

/// Interrupts in the guise of tasks are neither witness nor in the bounds.
#[test]
fn fixed_priorities_with_release_interrupts() {
    // Rate-monotonic: the second task first. Each release is a task (5, T) above both.
    let tasks = [SporadicTask::implicit(300, 1_000), SporadicTask::implicit(100, 500)];
    let releases = overheads(&[(Overhead::Release, 5)]);
    // J' = 5. Second: w = 100 + 5 + 5 = 110, R = 115. First: 300 + 100 + 10 = 410, two releases of the second from
    // 495 on: R = 415.
    let hard = judge("p-rm", &case(&tasks, 1), Guarantee::Hard, Some(&releases));
    assert_eq!(hard.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![415, 115])));
    assert_eq!(hard.proven_by, ["fp-rta"]);
    let soft = judge("p-rm", &case(&tasks, 1), Guarantee::Soft, Some(&releases));
    assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![0, 0])));
    let tight = [SporadicTask::constrained(300, 414, 1_000), tasks[1]];
    assert_eq!(
        judge("p-rm", &case(&tight, 1), Guarantee::Hard, Some(&releases)).verdict,
        Verdict::fails_at(0)
    );
    let late = judge("p-rm", &case(&tight, 1), Guarantee::Soft, Some(&releases)).verdict;
    assert_eq!(late, Verdict::Schedulable(Bounds::Tardiness(vec![1, 0])));
}

/// A handler that waits for others only delays tasks: it has no deadline.
#[test]
fn interrupts_have_no_deadlines() {
    let tasks = [SporadicTask::implicit(1, 20), SporadicTask::implicit(1, 1_000)];
    // The tick (15, 20) and both releases (3 each) end 21 after they come together.
    let costs = overheads(&[(Overhead::Tick, 15), (Overhead::Release, 1)]).with_tick_period(20);
    assert_eq!(
        judge("p-rm", &case(&tasks, 1), Guarantee::Hard, Some(&costs)).verdict,
        // J' = 1, w = 1 + 15 + 1 + 1 = 18: R = 19. Second: 1 + 1 + 15 + 1 + 1 = 19, R = 20; the first comes again at 19.
        Verdict::Schedulable(Bounds::ResponseTimes(vec![19, 20]))
    );
    let full = overheads(&[(Overhead::Tick, 21)]).with_tick_period(20);
    let judged = judge("p-rm", &case(&tasks, 1), Guarantee::Soft, Some(&full));
    assert_eq!(judged.verdict, Verdict::FAILS);
}

/// A release that is noticed late counts from its arrival.
#[test]
fn bounds_are_of_the_tasks_as_given() {
    // As many tasks as processors: R' = C' = 100 + 2 * 10 + ipi 7 = 127 and, with the release 50 late, R = 177.
    let tasks = [SporadicTask::implicit(100, 1_000); 2];
    let costs =
        overheads(&[(Overhead::Schedule, 10), (Overhead::IpiLatency, 7), (Overhead::ReleaseLatency, 50)]);
    let global = judge("edf-bh:dm", &case(&tasks, 2), Guarantee::Hard, Some(&costs));
    assert_eq!(global.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![177, 177])));
    // 3 * 10, req, dsp and rel 0, 2 * 7: 144 and 50, on two processors of three.
    let messages = judge("g-edf-mp:rm", &case(&tasks, 3), Guarantee::Hard, Some(&costs));
    assert_eq!(messages.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![194, 194])));
    // One processor of two: the second waits for the first; jitter instead of a shorter period, ipi is part of it.
    let dedicated = judge("gsn-edf-di:rm", &case(&tasks, 2), Guarantee::Hard, Some(&costs));
    assert_eq!(dedicated.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![177, 297])));
}

#[test]
fn one_processor_less_for_tasks() {
    let tasks = [SporadicTask::implicit(6, 10); 3];
    for (name, enough) in [("gsn-edf", 2), ("gsn-edf-di", 3), ("g-edf-mp", 3)] {
        assert!(judge(name, &case(&tasks, enough), Guarantee::Soft, None).verdict.is_schedulable(), "{name}");
        assert_eq!(judge(name, &case(&tasks, enough - 1), Guarantee::Soft, None).verdict, Verdict::FAILS);
    }
    let alone = judge("p-g-edf-mp", &case(&tasks, 1), Guarantee::Hard, None);
    let none_left = Verdict::needs("a cell has a CPU beside the one that is dedicated", None);
    assert_eq!((alone.verdict, alone.fails_in), (none_left, Some(0)));
}

#[test]
fn global_fixed_priorities_have_no_bound_but_that_of_deadlines_met() {
    // Dhall: two light tasks first, the heavy one ends at 13 of 12.
    let tasks = [(2, 10), (2, 10), (11, 12)].map(|(wcet, period)| SporadicTask::implicit(wcet, period));
    assert_eq!(judge("g-rm", &case(&tasks, 2), Guarantee::Hard, None).verdict, Verdict::fails_at(2));
    let soft = judge("g-rm", &case(&tasks, 2), Guarantee::Soft, None);
    assert_eq!(soft.verdict, Verdict::needs("m = 1", None));
    let lighter = [tasks[0], tasks[1], SporadicTask::implicit(5, 12)];
    let soft = judge("g-rm", &case(&lighter, 2), Guarantee::Soft, None);
    assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![0; 3])));
    assert_eq!(soft.proven_by, ["gfp-guan"]);
}

/// Each of two bounds is the smaller one for some tasks.
#[test]
fn the_least_tardiness_of_two_bounds() {
    // U = 2: L = 1, x = (6 - 2) / 2 = 2 by Devi and Anderson.
    let tasks = [(6, 8), (6, 8), (2, 4)].map(|(wcet, period)| SporadicTask::implicit(wcet, period));
    let soft = judge("g-edf", &case(&tasks, 2), Guarantee::Soft, None);
    let Verdict::Schedulable(Bounds::Tardiness(bounds)) = soft.verdict else { panic!("{soft:?}") };
    assert!(bounds.iter().zip([8, 8, 4]).all(|(&found, by_hand)| found <= by_hand), "{bounds:?}");
    assert!(bounds.iter().any(|&bound| bound > 0));
    assert_eq!(soft.proven_by[0], "devi-anderson");
}

/// One processor, D < T: U = 1 is enough for bounds under EDF, and deadlines that are met have none above 0.
#[test]
fn a_full_processor_under_edf() {
    let tasks = [SporadicTask::constrained(2, 2, 4), SporadicTask::constrained(3, 3, 6)];
    let full = case(&tasks, 1);
    // By 10, the last deadline before the busy period of 12 ends, 12 are due.
    assert_eq!(judge("p-edf", &full, Guarantee::Hard, None).verdict, Verdict::fails_at(0));
    let soft = judge("p-edf", &full, Guarantee::Soft, None);
    // Y = 0 and 1. S = 2 * 1 + 3 * 5/6 = 4.5 = s: x = 2.5 and 1.5, R = 4.5 and 5.5, rounded up after D is taken away.
    assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![3, 3])));
    assert_eq!(soft.proven_by, ["compliant-vector"]);
    let met = case(&[tasks[0], SporadicTask::constrained(2, 6, 6)], 1);
    let soft = judge("p-edf", &met, Guarantee::Soft, None);
    assert_eq!(
        (soft.verdict, soft.proven_by),
        (Verdict::Schedulable(Bounds::Tardiness(vec![0, 0])), vec!["qpa"])
    );
}

/// Jobs complete within T whatever D is; a quantum of the tick is lost to the release.
#[test]
fn pfair_fills_processors_and_ignores_deadlines() {
    let thirds = [SporadicTask::implicit(2_000_000, 3_000_000); 3];
    assert!(judge("pfair", &case(&thirds, 2), Guarantee::Hard, None).verdict.is_schedulable());
    let early = [SporadicTask { deadline_rel_ns: 2_500_000, ..thirds[0] }];
    assert_eq!(
        judge("pfair", &case(&early, 1), Guarantee::Hard, None).verdict,
        Verdict::needs("D >= T", Some(0))
    );
    let soft = judge("pfair", &case(&early, 1), Guarantee::Soft, None).verdict;
    assert_eq!(soft, Verdict::Schedulable(Bounds::Tardiness(vec![500_000])));
    let quanta = Overheads::none();
    let long = [SporadicTask::constrained(1_500_000, 9_000_000, 10_000_000); 8];
    // C' = 2 ms, T' = 9 ms: 8 * 2/9 = 1.78.
    let hard = judge("pfair", &case(&long, 2), Guarantee::Hard, Some(&quanta)).verdict;
    assert_eq!(hard, Verdict::needs("D >= T", Some(0)));
    let soft = judge("pfair", &case(&long, 2), Guarantee::Soft, Some(&quanta)).verdict;
    assert_eq!(soft, Verdict::Schedulable(Bounds::Tardiness(vec![1_000_000; 8])));
    assert_eq!(judge("pfair", &case(&long, 1), Guarantee::Soft, Some(&quanta)).verdict, Verdict::FAILS);
}

#[test]
fn fair_lateness_is_hard_where_nothing_is_late() {
    let light = [SporadicTask::implicit(1, 100), SporadicTask::implicit(1, 50)];
    let hard = judge("g-fl", &case(&light, 2), Guarantee::Hard, None);
    assert_eq!(hard.proven_by, ["compliant-vector-g-fl"]);
    // One processor: EDF.
    assert_eq!(judge("g-fl", &case(&light, 1), Guarantee::Hard, None).proven_by, ["qpa"]);
    let heavy = [SporadicTask::implicit(6, 8); 2];
    let soft = judge("g-fl", &case(&[heavy[0], heavy[1], heavy[0]], 3), Guarantee::Soft, None);
    assert!(soft.verdict.is_schedulable());
}

#[test]
fn given_priorities_and_their_absence() {
    // By the numbers 3, 1, 4: the second task first.
    let tasks = [SporadicTask::implicit(1, 10), SporadicTask::implicit(2, 20), SporadicTask::implicit(3, 30)];
    let fp = judge("p-edf-bh:fp", &case(&tasks, 1), Guarantee::Hard, None);
    assert_eq!(fp.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![3, 2, 6])));
    let scheduler: Analysed = "p-edf-bh:fp".parse().expect("a scheduler");
    let without = case(&tasks, 1);
    let placed = laxity_analysis::scheduler::Placed { given_priorities: &[], ..without.placed(None) };
    let verdict = scheduler.judge(&placed, Asked::of(Guarantee::Hard)).verdict;
    assert_eq!(verdict, Verdict::needs("every task has a priority", None));
}

/// Q = 1000, Q_eff = 1000 - 300 - 100 - 50 = 550 for two tasks, 600 where another processor handles releases: C = 580 takes two quanta
/// or one. T = D = 5000 lose Q + ev + rel = 1350, and ceil(Q 2/3) = 667 on three processors whose quanta are staggered, and are
/// rounded down to quanta.
#[test]
fn quanta_are_as_the_name_of_pfair_says() {
    let tasks = [SporadicTask::implicit(580, 5_000); 2];
    let costs =
        overheads(&[(Overhead::Schedule, 100), (Overhead::Release, 50), (Overhead::ReleaseLatency, 300)])
            .with_tick_period(1_000);
    let case = case(&tasks, 3);
    for (name, quanta, lost) in [
        ("pfair", 2, 2_000),
        ("pfair:dedicated", 1, 2_000),
        ("pfair:staggered", 2, 3_000),
        ("pfair:staggered:dedicated", 1, 3_000),
        ("pfair:aligned", 2, 0),
        ("pfair:aligned:staggered", 2, 1_000),
        ("pfair:aligned:staggered:dedicated", 1, 1_000),
    ] {
        let scheduler: Analysed = name.parse().expect("a scheduler");
        assert_eq!(scheduler.to_string(), name);
        let eaten = scheduler.eaten(&case.placed(Some(&costs)), Guarantee::Hard).expect("there is room");
        let seen: Vec<_> =
            eaten.iter().map(|eaten| (eaten.wcet_ns, eaten.period_ns, eaten.deadline_rel_ns)).collect();
        assert_eq!(seen, [(quanta * 1_000 - 580, lost, lost); 2], "{name}");
        let hard = judge(name, &case, Guarantee::Hard, Some(&costs));
        assert!(hard.verdict.is_schedulable(), "{name}: {:?}", hard.verdict);
    }
}

/// What is assumed of arrivals is looked at where there are quanta: where scheduling costs something.
#[test]
fn aligned_needs_periods_of_whole_quanta() {
    let tasks = [SporadicTask::implicit(1, 5_000), SporadicTask::implicit(1, 5_500)];
    let costs = overheads(&[(Overhead::Schedule, 100)]).with_tick_period(1_000);
    let aligned = |costs| judge("pfair:aligned", &case(&tasks, 2), Guarantee::Soft, costs).verdict;
    assert_eq!(
        aligned(Some(&costs)),
        Verdict::needs("periods are multiples of the quantum (aligned)", Some(1))
    );
    assert!(aligned(None).is_schedulable());
    assert!(judge("pfair", &case(&tasks, 2), Guarantee::Soft, Some(&costs)).verdict.is_schedulable());
}

/// U = 2.4: three processors are enough, two are not.
#[test]
fn a_processor_that_handles_interrupts_runs_no_task() {
    let tasks = [SporadicTask::implicit(8, 10); 3];
    let on_three = |name| judge(name, &case(&tasks, 3), Guarantee::Hard, None).verdict;
    assert!(on_three("pfair").is_schedulable());
    assert_eq!(on_three("pfair:dedicated"), Verdict::FAILS);
    let alone = judge("pfair:dedicated", &case(&tasks[..1], 1), Guarantee::Hard, None).verdict;
    assert!(matches!(alone, Verdict::NotApplicable(_)), "{alone:?}");
}
