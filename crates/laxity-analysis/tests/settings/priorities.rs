//! Priorities are found whenever any of the n! orders is proven.

use crate::random::{Random, small_set, tight_set};
use laxity_analysis::settings::{Searched, audsley, da_lc_accepts, levels, search_orders};
use laxity_analysis::{FixedPriorityRta, GlobalFixedPriorityGuan, SporadicTask, Test, Work};

fn accepted(test: &dyn Test, tasks: &[SporadicTask], order: &[usize], processors: u32) -> bool {
    let ordered: Vec<_> = order.iter().map(|&at| tasks[at]).collect();
    test.judge(&ordered, processors, &mut Work::default()).is_schedulable()
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..count)
                .filter(|at| !order.contains(at))
                .map(|at| [&order[..], &[at]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Schedulable below these, whatever becomes of them.
fn is_lowest(tasks: &[SporadicTask], lowest: usize, higher: &[usize]) -> bool {
    let late = |&at: &usize| SporadicTask { deadline_rel_ns: 1 << 40, ..tasks[at] };
    let all: Vec<_> = higher.iter().map(late).chain([tasks[lowest]]).collect();
    FixedPriorityRta.judge(&all, 1, &mut Work::default()).is_schedulable()
}

#[test]
fn audsleys_assignment_is_optimal_on_one_processor() {
    let (mut some, mut not_by_deadline) = (0, 0);
    for seed in laxity_seeds::seeds!(0..1_000) {
        let mut random = Random::new(seed);
        let tasks = if seed % 2 == 0 { small_set(&mut random, 1) } else { tight_set(&mut random) };
        let all = orders(tasks.len());
        let any = all.iter().any(|order| accepted(&FixedPriorityRta, &tasks, order, 1));
        let found = audsley(
            tasks.len(),
            |at| tasks[at].deadline_rel_ns,
            |lowest, higher| is_lowest(&tasks, lowest, higher),
        );
        assert_eq!(found.is_ok(), any, "seed {seed}: {tasks:?}");
        let shared = levels(tasks.len(), |lowest, higher| is_lowest(&tasks, lowest, higher));
        assert_eq!(shared.is_ok(), any, "seed {seed}: {tasks:?}");
        let Ok(order) = found else { continue };
        some += 1;
        assert!(accepted(&FixedPriorityRta, &tasks, &order, 1), "seed {seed}: {tasks:?} {order:?}");
        let mut by_deadline: Vec<usize> = (0..tasks.len()).collect();
        by_deadline.sort_by_key(|&at| tasks[at].deadline_rel_ns);
        not_by_deadline += u64::from(!accepted(&FixedPriorityRta, &tasks, &by_deadline, 1));
        let flat = shared.expect("found").concat();
        assert!(accepted(&FixedPriorityRta, &tasks, &flat, 1), "seed {seed}: any order within a level");
    }
    laxity_seeds::assert_together!(
        some > 300 && not_by_deadline > 0,
        "{some} sets, {not_by_deadline} not deadline-monotonic"
    );
}

#[test]
fn the_search_finds_an_order_for_the_global_test_whenever_there_is_one() {
    let (mut some, mut by_da_lc) = (0, 0);
    for seed in laxity_seeds::seeds!(0..1_000) {
        let mut random = Random::new(seed);
        let mut tasks = small_set(&mut random, 2);
        tasks.extend(small_set(&mut random, 1));
        tasks.truncate(5);
        tasks.iter_mut().for_each(|task| task.deadline_rel_ns = task.deadline_rel_ns.min(task.period_ns));
        let any =
            orders(tasks.len()).iter().any(|order| accepted(&GlobalFixedPriorityGuan, &tasks, order, 2));
        let all: Vec<usize> = (0..tasks.len()).collect();
        let found =
            search_orders(&all, 100_000, |order| accepted(&GlobalFixedPriorityGuan, &tasks, order, 2));
        assert_eq!(matches!(found, Searched::Found(_)), any, "seed {seed}: {tasks:?}");
        assert_ne!(found, Searched::OutOfTrials);
        some += u64::from(any);
        let order = audsley(
            tasks.len(),
            |at| tasks[at].deadline_rel_ns,
            |lowest, higher| {
                let higher: Vec<_> = higher.iter().map(|&at| tasks[at]).collect();
                da_lc_accepts(&tasks[lowest], &higher, 2)
            },
        );
        let Ok(order) = order else { continue };
        by_da_lc += 1;
        assert!(
            accepted(&GlobalFixedPriorityGuan, &tasks, &order, 2),
            "seed {seed}: DA-LC accepts more: {tasks:?}"
        );
    }
    laxity_seeds::assert_together!(some > 300 && by_da_lc > 200, "{some} sets, {by_da_lc} by DA-LC");
}
