//! The ILP against brute force, its own bounds and its time limit.

use crate::oracle::{assignments, cores, implicit, least_max_load, max_load, set};
use laxity_model::{Core, CpuList, Duration, Platform, Scope, Speed, Task, TaskSet, Utilization};
use laxity_place::{Bin, Fit, Method, Overload, Placement, Request};
use proptest::prelude::*;

fn solve(set: &TaskSet, bins: &[Bin]) -> Placement {
    let request = Request::new(set, bins.to_vec()).expect("valid").with_overload(Overload::LeastLoaded);
    request.place(Method::Ilp).expect("overload is allowed")
}

fn assignment(placement: &Placement) -> Vec<usize> {
    placement.assignment.iter().map(|bin| bin.expect("placed")).collect()
}

/// n tasks of unrelated periods whose utilizations have this mean, from a fixed linear congruence.
fn large(n: u64, percent: u64) -> TaskSet {
    let mut state = 12_345u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let task = |id: u64| {
        let period = 10_000_000 + draw(90_000_000);
        let wcet = (period / 1_000) * (1 + draw(20 * percent));
        Task::periodic(format!("t{id}"), Duration::from_ns(wcet), Duration::from_ns(period))
    };
    TaskSet::new("large", (0..n).map(task).collect()).expect("valid")
}

#[test]
fn balances_where_every_heuristic_fails() {
    // .5 .5 .4 .4 .3 .3 .3 .3 on 3 cores: 3.0 in all, so every core must be exactly full
    let set = implicit(&[(5, 10), (5, 10), (4, 10), (4, 10), (3, 10), (3, 10), (3, 10), (3, 10)]);
    let placement = Request::new(&set, cores(3)).expect("valid").place(Method::Ilp).expect("it fits exactly");
    assert_eq!(placement.max_load(), Utilization::whole(1));
    let optimality = placement.optimality.expect("the ILP reports");
    assert!(optimality.optimal && optimality.gap == 0.0);
    assert_eq!(optimality.lower_bound, Utilization::whole(1));
}

#[test]
fn a_set_that_cannot_fit_is_refused_with_a_proof() {
    let set = implicit(&[(6, 10), (6, 10), (6, 10)]);
    let error = Request::new(&set, cores(2)).expect("valid").place(Method::Ilp).expect_err("1.2 on one CPU");
    assert_eq!(
        error.message,
        "task `t2` (utilization 0.6000) does not fit: every placement found fills some CPU or cluster to \
         1.2000 of its capacity, and at most 1.0000 is allowed; no placement stays below 1.2000"
    );
    assert!(error.hint.expect("a hint").contains("--overload least-loaded"));
    let placement = solve(&set, &cores(2));
    assert_eq!(placement.overloaded.len(), 1);
}

#[test]
fn no_time_keeps_the_best_heuristic() {
    let set = large(60, 8);
    let request = Request::new(&set, cores(7)).expect("valid").with_overload(Overload::LeastLoaded);
    let packings = ["ffd", "bfd", "wfd"].map(|name| name.parse().expect("a method"));
    let heuristics = packings.map(|packing| request.place(packing).expect("overload allowed")).into_iter();
    let best = heuristics.map(|placement| placement.max_load()).min().expect("some");
    for limit in [Duration::ZERO, Duration::from_ns(1), Duration::from_ms(1)] {
        let placement =
            request.clone().with_ilp_time_limit(limit).place(Method::Ilp).expect("overload allowed");
        assert!(placement.max_load() <= best);
        let optimality = placement.optimality.as_ref().expect("the ILP reports");
        assert!(optimality.lower_bound <= placement.max_load() && optimality.gap < 0.5);
    }
}

#[test]
fn the_papers_largest_set_gets_a_placement_and_a_gap_in_two_seconds() {
    let set = large(192, 18);
    let request = Request::new(&set, cores(48)).expect("valid").with_overload(Overload::LeastLoaded);
    let request = request.with_ilp_time_limit(Duration::from_ms(2_000));
    let placement = request.place(Method::Ilp).expect("overload allowed");
    assert!(placement.assignment.iter().all(Option::is_some));
    let optimality = placement.optimality.as_ref().expect("the ILP reports");
    assert!((0.0..0.5).contains(&optimality.gap), "{:?}", placement.notes);
    let wfd = request.place("wfd".parse().expect("a method")).expect("overload allowed");
    assert!(placement.max_load() <= wfd.max_load());
}

/// By default the work is counted, not the time.
#[test]
fn the_default_is_near_the_optimum_and_always_the_same() {
    for (n, percent, bins) in
        [(12, 12, 3), (40, 12, 8), (80, 12, 16), (96, 10, 16), (192, 12, 16), (384, 8, 64)]
    {
        let set = large(n, percent);
        let placement = solve(&set, &cores(bins));
        let optimality = placement.optimality.as_ref().expect("the ILP reports");
        assert!(optimality.gap <= 2e-3, "{n} tasks on {bins} cores: {:?}", placement.notes);
        assert!(optimality.lower_bound <= placement.max_load());
        assert_eq!(
            assignment(&placement),
            assignment(&solve(&set, &cores(bins))),
            "{n} tasks on {bins} CPUs"
        );
    }
}

#[test]
fn the_demand_bound_is_not_the_ilps() {
    let set = implicit(&[(1, 10)]);
    let request =
        Request::new(&set, cores(1)).expect("valid").with_fit(Fit::DemandBound).expect("single CPU");
    assert!(request.place(Method::Ilp).is_err());
}

fn small_set() -> impl Strategy<Value = TaskSet> {
    let task = (1u64..=10, 0u64..=3, prop::sample::select(vec![10u64, 20, 25, 40]), 0u32..10);
    prop::collection::vec(task, 1..=7).prop_map(|rows| {
        let times: Vec<_> = rows.iter().map(|&(c, cut, t, _)| (c, (t - cut).max(c), t)).collect();
        let mut tasks = set(&times).tasks().to_vec();
        for (task, &(.., affinity)) in tasks.iter_mut().zip(&rows) {
            task.affinity = (affinity == 0).then(|| CpuList::first(1));
        }
        TaskSet::new("set", tasks).expect("valid")
    })
}

fn some_bins() -> impl Strategy<Value = Vec<Bin>> {
    let speed = |cpu| if cpu == 1 { Speed::new(3, 4).expect("valid") } else { Speed::UNIT };
    let cores_of = |count: u32| (0..count).map(|cpu| Core { cpu, speed: speed(cpu) }).collect();
    let uneven = Platform::new("uneven", cores_of(3), vec![], vec![], None).expect("valid");
    let clusters = ["0", "1-2"].map(|list| list.parse().expect("valid list")).to_vec();
    let clustered = uneven.clone().with_clusters(clusters).expect("valid");
    let uneven = Bin::of_platform(&uneven, Scope::Partitioned).expect("valid");
    let clustered = Bin::of_platform(&clustered, Scope::Clustered).expect("valid");
    prop_oneof![Just(cores(2)), Just(cores(3)), Just(uneven), Just(clustered)]
}

laxity_seeds::properties! {
    #![cases(96)]

    #[test]
    fn the_maximum_load_is_the_least_there_is(set in small_set(), bins in some_bins()) {
        let fit = Fit::default_for(&set);
        let Some(optimum) = least_max_load(&set, &bins, fit) else {
            // some task is too dense for every bin it may use
            let error = Request::new(&set, bins).expect("valid").place(Method::Ilp).expect_err("too dense");
            prop_assert!(error.message.contains("of work within"), "{}", error.message);
            return Ok(());
        };
        let placement = solve(&set, &bins);
        let found = assignment(&placement);
        prop_assert!(assignments(&set, &bins).contains(&found), "affinity or speed broken: {found:?}");
        prop_assert_eq!(max_load(&set, &bins, fit, &found), optimum.clone());
        prop_assert_eq!(placement.max_load(), optimum.clone());
        let optimality = placement.optimality.as_ref().expect("the ILP reports");
        prop_assert!(optimality.optimal && optimality.lower_bound <= optimum && optimality.gap < 1e-4);
        prop_assert_eq!(placement.overloaded.is_empty(), optimum <= Utilization::whole(1));
        let refused = Request::new(&set, bins.clone()).expect("valid").place(Method::Ilp);
        prop_assert_eq!(refused.is_ok(), optimum <= Utilization::whole(1));
        prop_assert_eq!(assignment(&solve(&set, &bins)), found, "not deterministic");
    }

    #[test]
    fn bounds_from_the_tasks_alone_hold(set in small_set(), bins in some_bins()) {
        let fit = Fit::default_for(&set);
        if let Some(optimum) = least_max_load(&set, &bins, fit) {
            let request = Request::new(&set, bins).expect("valid").with_overload(Overload::LeastLoaded);
            let placement = request.with_ilp_time_limit(Duration::ZERO).place(Method::Ilp).expect("a placement");
            let optimality = placement.optimality.as_ref().expect("the ILP reports");
            prop_assert!(optimality.lower_bound <= optimum && optimum <= placement.max_load());
            prop_assert!(!optimality.optimal || placement.max_load() == optimum);
        }
    }
}
