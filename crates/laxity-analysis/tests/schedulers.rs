//! Schedulers by name: every name has an analysis, what it says without overheads is what tests say, and no schedule of a tiny set
//! breaks it. `LAXITY_SEEDS=1000..90000` looks at more.

#[path = "schedulers/below_servers.rs"]
mod below_servers;
#[path = "schedulers/by_hand.rs"]
mod by_hand;
#[path = "schedulers/cases.rs"]
mod cases;
#[path = "schedulers/overheads.rs"]
mod overheads;
#[path = "schedulers/schedules.rs"]
mod schedules;
#[path = "simulation/mod.rs"]
mod simulation;

use cases::{Case, all};
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{
    AnalysedCell, GlobalFixedPriorityRta, Guarantee, PriorityOrder, SporadicTask, Test, Verdict, Work,
    catalogue, judge_cells,
};
use laxity_model::{DeferrableServer, LinuxScheduler, Scope};
use laxity_seeds::seeds;

#[test]
fn every_name_has_an_analysis() {
    let tasks = [SporadicTask::implicit(1, 10), SporadicTask::implicit(2, 20)];
    for scheduler in all() {
        assert_eq!(scheduler.to_string().parse(), Ok(scheduler));
        let cells = [AnalysedCell { processors: 2, tasks: vec![1, 0] }];
        let case = Case { seed: 0, tasks: tasks.to_vec(), cells: cells.to_vec() };
        for guarantee in [Guarantee::Hard, Guarantee::Soft] {
            let judgement = scheduler.judge(&case.placed(None), Asked::of(guarantee));
            assert!(judgement.verdict.is_schedulable(), "{scheduler}: {judgement:?}");
            assert_eq!(judgement.proven_by.len(), 1, "{scheduler}");
            let tests = scheduler.tests(guarantee, 2, DeferrableServer::NONE);
            let priorities = scheduler.priorities(scheduler.running(2));
            assert!(tests.iter().all(|test| test.info().priorities == priorities), "{scheduler}");
        }
    }
    assert!(all().len() > 7 * 3 * 4);
}

/// However light the set and whatever test is asked: none is about it.
#[test]
fn nothing_is_proven_of_what_no_test_is_about() {
    let tasks = [SporadicTask::implicit(1, 1000), SporadicTask::implicit(1, 2000)];
    let foreign = LinuxScheduler::named("scx:scx_simple").expect("a name").expect("valid");
    let without = LinuxScheduler::without_rule().filter(|linux| linux.nothing_proven().is_some());
    for linux in without.chain([foreign]) {
        let scheduler = Analysed::from(linux.clone());
        assert!(scheduler.unproven().is_some_and(|why| why.contains("nothing is proven of")), "{linux}");
        assert_eq!(linux.to_string().parse(), Ok(scheduler));
        let cells = [AnalysedCell { processors: 2, tasks: vec![1, 0] }];
        let case = Case { seed: 0, tasks: tasks.to_vec(), cells: cells.to_vec() };
        for guarantee in [Guarantee::Hard, Guarantee::Soft] {
            assert!(scheduler.tests(guarantee, 2, DeferrableServer::NONE).is_empty());
            let every = catalogue::tests().iter().copied().map(Some);
            for test in every.chain([None]) {
                let asked = Asked { test, ..Asked::of(guarantee) };
                let placed = case.placed(None);
                for verdict in [
                    scheduler.judge(&placed, asked).verdict,
                    scheduler.judge_cell(&placed, &cells[0], DeferrableServer::NONE, asked),
                ] {
                    assert!(matches!(verdict, Verdict::NotApplicable(_)), "{scheduler}: {verdict:?}");
                }
            }
        }
    }
}

#[test]
fn names_that_are_none_are_refused_with_all_that_are() {
    for text in ["", "edf", "c-pfair", "g-fl:rm", "p-g-fl"] {
        let error = text.parse::<Analysed>().expect_err("no scheduler");
        assert!(text.ends_with(":rm") || error.hint.is_some_and(|hint| hint.contains("g-fl")), "{text}");
    }
    assert_eq!(" G-EDF ".parse::<Analysed>().map(|it| it.to_string()), Ok("g-edf".into()));
}

/// What a scheduler's tests say of a whole placement, without the module that is tested.
fn raw(scheduler: Analysed, case: &Case) -> Verdict {
    let (name, count) = (scheduler.to_string(), case.tasks.len());
    let order: Vec<usize> = match name.split_once('-').expect("a scope").1 {
        "rm" => PriorityOrder::RateMonotonic.of(&case.tasks),
        "dm" => PriorityOrder::DeadlineMonotonic.of(&case.tasks),
        _ => (0..count).collect(),
    };
    let fixed = !name.ends_with("edf");
    let tasks: Vec<_> = order.iter().map(|&at| case.tasks[at]).collect();
    let renamed = |cell: &AnalysedCell| AnalysedCell {
        processors: cell.processors,
        tasks: match fixed {
            true => (0..order.len()).filter(|&at| cell.tasks.contains(&order[at])).collect(),
            false => cell.tasks.clone(),
        },
    };
    let cells: Vec<_> = case.cells.iter().map(renamed).collect();
    let test_of = |cell: &AnalysedCell| -> &dyn Test {
        let name = match (fixed, cell.processors) {
            (true, 1) => "fp-rta",
            (true, _) => "gfp-guan",
            (false, 1) => "qpa",
            (false, _) => "gedf",
        };
        catalogue::test(name).expect("a test")
    };
    judge_cells(&tasks, &cells, test_of, &mut Work::default())
}

#[test]
fn without_overheads_it_is_the_raw_test() {
    let (mut accepted, mut others) = (0, 0);
    for seed in seeds!(0..3_000) {
        for (name, scope) in [
            ("p-edf", Scope::Partitioned),
            ("p-rm", Scope::Partitioned),
            ("p-dm", Scope::Partitioned),
            ("c-edf", Scope::Clustered),
            ("c-rm", Scope::Clustered),
            ("c-dm", Scope::Clustered),
            ("g-edf", Scope::Global),
            ("g-rm", Scope::Global),
            ("g-dm", Scope::Global),
        ] {
            let case = Case::of(seed, scope, false);
            let scheduler: Analysed = name.parse().expect("a scheduler");
            let found = scheduler.judge(&case.placed(None), Asked::of(Guarantee::Hard)).verdict;
            let expected = raw(scheduler, &case);
            assert_eq!(found.is_schedulable(), expected.is_schedulable(), "{name} {case:?}");
            accepted += u32::from(found.is_schedulable());
            others += u32::from(!found.is_schedulable());
        }
    }
    laxity_seeds::assert_together!(accepted > 100 && others > 100, "{accepted} {others}");
}

#[test]
fn what_the_older_analysis_of_global_fixed_priorities_accepts_is_accepted() {
    let scheduler: Analysed = "g-rm".parse().expect("a scheduler");
    let mut both = 0;
    for seed in seeds!(0..6_000) {
        let case = Case::of(seed, Scope::Global, false);
        let sorted = PriorityOrder::RateMonotonic.sorted(&case.tasks);
        let processors = case.cells[0].processors;
        let older = GlobalFixedPriorityRta.judge(&sorted, processors, &mut Work::default()).is_schedulable();
        let found = scheduler.judge(&case.placed(None), Asked::of(Guarantee::Hard)).verdict.is_schedulable();
        assert!(found || !older, "{case:?}");
        both += u32::from(older);
    }
    laxity_seeds::assert_together!(both > 100);
}

#[test]
fn a_chosen_test_judges_alone() {
    let case = Case {
        seed: 0,
        tasks: vec![SporadicTask::implicit(4, 10), SporadicTask::implicit(8, 10)],
        cells: vec![AnalysedCell { processors: 2, tasks: vec![0, 1] }],
    };
    let ask = |name: &str, test: &str, guarantee| {
        let asked = Asked { test: Some(catalogue::test(test).expect("a test")), ..Asked::of(guarantee) };
        name.parse::<Analysed>().expect("a scheduler").judge(&case.placed(None), asked)
    };
    let gfb = ask("g-edf", "gfb", Guarantee::Hard);
    assert_eq!((gfb.verdict, gfb.proven_by), (Verdict::SCHEDULABLE, vec!["gfb"]));
    assert!(ask("g-edf", "gfb", Guarantee::Soft).verdict.is_schedulable());
    assert_eq!(ask("g-edf", "qpa", Guarantee::Hard).verdict, Verdict::needs("m = 1", None));
    let wrong = Verdict::needs("the test is for the scheduler's priorities", None);
    assert_eq!(ask("g-rm", "gfb", Guarantee::Hard).verdict, wrong);
    assert_eq!(ask("g-fl", "compliant-vector", Guarantee::Soft).verdict, wrong);
    // Bounds of tardiness that are not 0 prove nothing hard.
    assert_eq!(ask("g-edf", "devi-anderson", Guarantee::Hard).verdict, Verdict::fails_at(0));
}
