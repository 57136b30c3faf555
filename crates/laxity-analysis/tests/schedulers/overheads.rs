//! Overheads by scheduler: more of them never help.

use super::cases::{Case, Random, all};
use laxity_analysis::overheads::{Eaten, Monotone, Overhead, Overheads, RejectedWhy};
use laxity_analysis::scheduler::Asked;
use laxity_analysis::{Bounds, Guarantee, SporadicTask, Verdict};
use laxity_seeds::seeds;

const SCALE: u64 = 1_000;

/// The same set with room for overheads between its whole numbers.
fn scaled(case: &Case) -> Case {
    let task = |task: &SporadicTask| {
        SporadicTask::constrained(
            task.wcet_ns * SCALE / 2,
            task.deadline_rel_ns * SCALE,
            task.period_ns * SCALE,
        )
    };
    Case { tasks: case.tasks.iter().map(task).collect(), ..case.clone() }
}

fn with(costs: &[u64]) -> Overheads {
    let kinds = Overhead::ALL.into_iter().zip(costs);
    let all = kinds.fold(Overheads::none().with_tick_period(SCALE), |overheads, (kind, &ns)| {
        overheads.with(kind, Monotone::constant(ns))
    });
    all.with_cache(vec![Monotone::constant(costs[8])])
}

#[test]
fn more_overhead_never_makes_a_set_schedulable() {
    let (mut lost, all) = (0, all());
    for seed in seeds!(0..150) {
        for &scheduler in &all {
            let case = scaled(&Case::of(seed, scheduler.scope(), scheduler.dedicates_a_processor()));
            let mut random = Random(seed ^ 0x00c0_ffee);
            let most = random.between(1, 60);
            let costs: Vec<u64> = (0..9).map(|_| random.below(most)).collect();
            let grown = usize::try_from(random.below(9)).expect("small");
            let mut more = costs.clone();
            more[grown] += random.between(1, 40);
            for guarantee in [Guarantee::Hard, Guarantee::Soft] {
                let proven = |overheads: Option<&Overheads>| {
                    scheduler.judge(&case.placed(overheads), Asked::of(guarantee)).verdict.is_schedulable()
                };
                let [free, some, all] =
                    [proven(None), proven(Some(&with(&costs))), proven(Some(&with(&more)))];
                assert!(free >= some && some >= all, "{scheduler} {guarantee:?} {costs:?} {grown} {case:?}");
                lost += u32::from(free && !all);
            }
        }
    }
    laxity_seeds::assert_together!(lost > 100, "overheads cost something: {lost}");
}

#[test]
fn what_is_eaten_is_what_the_accounting_says() {
    let case = Case {
        seed: 0,
        tasks: vec![
            SporadicTask::implicit(40_000, 400_000),
            SporadicTask::constrained(60_000, 300_000, 400_000),
        ],
        cells: vec![laxity_analysis::AnalysedCell { processors: 3, tasks: vec![1, 0] }],
    };
    let overheads = Overheads::none()
        .with(Overhead::ReleaseLatency, Monotone::constant(4_000))
        .with(Overhead::Schedule, Monotone::constant(3_000));
    let eaten = |name: &str| {
        let scheduler: laxity_analysis::scheduler::Analysed = name.parse().expect("a scheduler");
        let hard = scheduler.eaten(&case.placed(Some(&overheads)), Guarantee::Hard);
        assert_eq!(hard, scheduler.eaten(&case.placed(Some(&overheads)), Guarantee::Soft), "{name}");
        hard.expect("room")
    };
    // 2 ev beside 2 (sch + cxs): c_pre counts ev as it comes with interrupts, of which there are none.
    let job_level = |wcet| Eaten { wcet_ns: wcet, deadline_rel_ns: 4_000, period_ns: 4_000, jitter_ns: 0 };
    // Linux pushes what a release displaces, for 6 us each time: one release of the other task comes before the later deadline, and two
    // while a job of the second task is pending. The cell has task 1 before task 0.
    assert_eq!(eaten("g-edf"), [job_level(12_000), job_level(6_000)]);
    assert_eq!(eaten("gsn-edf-di"), [job_level(6_000); 2]);
    assert_eq!(eaten("g-edf-mp"), [job_level(9_000); 2]);
    assert_eq!(eaten("g-edf-mp:dm"), [job_level(9_000); 2]);
    assert_eq!(eaten("g-rm"), [job_level(18_000), job_level(6_000)]);
}

#[test]
fn no_room_is_a_reason_of_its_own() {
    let case = Case {
        seed: 0,
        tasks: vec![SporadicTask::implicit(10, 1_000), SporadicTask::constrained(10, 20, 1_000)],
        cells: vec![
            laxity_analysis::AnalysedCell { processors: 1, tasks: vec![0] },
            laxity_analysis::AnalysedCell { processors: 1, tasks: vec![1] },
        ],
    };
    let overheads = Overheads::none().with(Overhead::Schedule, Monotone::constant(6));
    for name in ["p-edf", "p-rm"] {
        let scheduler: laxity_analysis::scheduler::Analysed = name.parse().expect("a scheduler");
        let hard = scheduler.judge(&case.placed(Some(&overheads)), Asked::of(Guarantee::Hard));
        assert_eq!(hard.verdict, Verdict::fails_at(1), "{name}");
        assert_eq!((hard.no_room, hard.fails_in), (Some(RejectedWhy::Overrun), Some(1)), "{name}");
        // 10 + 2 * 6 = 22 after the release at the latest: 2 late, and there is room for that.
        let soft = scheduler.judge(&case.placed(Some(&overheads)), Asked::of(Guarantee::Soft));
        assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![0, 2])), "{name}");
    }
}
