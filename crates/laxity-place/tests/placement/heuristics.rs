//! The packing heuristics against hand-made examples and brute force.

use crate::oracle::{assignments, bin_holds, cores, feasible, implicit, set};
use laxity_model::{Core, CpuList, Duration, Platform, Scope, Speed, Task, TaskKind, TaskSet, Utilization};
use laxity_place::{Bin, Fit, Method, Overload, Packing, Request};
use proptest::prelude::*;

fn method(name: &str) -> Method {
    name.parse().expect("a method")
}

fn placed(set: &TaskSet, bins: &[Bin], name: &str) -> Vec<usize> {
    let request = Request::new(set, bins.to_vec()).expect("valid request");
    let placement = request.place(method(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    placement.assignment.into_iter().map(|bin| bin.expect("placed")).collect()
}

/// Utilizations .6 .5 .4 .3 .2 .1 .1: the shape of lindsay2012's Figure 5.1 (whose numbers are only drawn).
fn seven() -> TaskSet {
    implicit(&[(60, 100), (50, 100), (40, 100), (30, 100), (20, 100), (10, 100), (10, 100)])
}

#[test]
fn rules_place_by_their_definitions() {
    let (set, bins) = (seven(), cores(4));
    // ff: .6+.4 | .5+.3+.2 | .1+.1
    assert_eq!(placed(&set, &bins, "ffd"), [0, 1, 0, 1, 1, 2, 2]);
    // bf: .6 | .6 .5 | .6+.4 | .5+.3 | .5+.3+.2 | then both full cores are out
    assert_eq!(placed(&set, &bins, "bfd"), [0, 1, 0, 1, 1, 2, 2]);
    // wf: .6 | .5 | .4 | .3 | .3+.2 | .4+.1 | then .5 on cores 1, 2, 3: the first
    assert_eq!(placed(&set, &bins, "wfd"), [0, 1, 2, 3, 3, 2, 1]);
    // nf: .6 | .5+.4 | .3+.2+.1+.1
    assert_eq!(placed(&set, &bins, "nfd"), [0, 1, 1, 2, 2, 2, 2]);
    // cf: around the circle, every core has room each time
    assert_eq!(placed(&set, &bins, "cf:utilization"), [0, 1, 2, 3, 0, 1, 2]);
}

#[test]
fn best_fit_differs_from_first_fit() {
    // .5 on 0, .7 does not fit with it: 1; .3 goes to the fuller core under best-fit
    let set = implicit(&[(5, 10), (7, 10), (3, 10)]);
    assert_eq!(placed(&set, &cores(2), "ff"), [0, 1, 0]);
    assert_eq!(placed(&set, &cores(2), "bf"), [0, 1, 1]);
}

#[test]
fn next_fit_keeps_its_core_and_never_looks_back() {
    // .3+.3 on 0; .9 takes 1; .1 fits beside it; .8 takes 2, and .2 goes beside it though 0 has .4 left
    let set = implicit(&[(3, 10), (3, 10), (9, 10), (1, 10), (8, 10), (2, 10)]);
    assert_eq!(placed(&set, &cores(3), "nf"), [0, 0, 1, 1, 2, 2]);
    // Then .4 would fit on 0.
    let more = implicit(&[(3, 10), (3, 10), (9, 10), (1, 10), (8, 10), (2, 10), (4, 10)]);
    let request = Request::new(&more, cores(3)).expect("valid");
    let error = request.place(method("nf")).expect_err("it does not look back");
    assert!(
        error
            .message
            .contains("CPU 2 has 0.0000 left, and next-fit does not go back to what comes before CPU 2"),
        "{error}"
    );
    assert!(error.hint.as_ref().is_some_and(|hint| hint.contains("--placement ffd does fit")), "{error:?}");
    // What fits nowhere ahead is overload, though .1 fits beside .9; it goes to the least loaded, and core 2 stays open.
    let overloaded = implicit(&[(9, 10), (9, 10), (5, 10), (6, 10), (1, 10)]);
    let request = Request::new(&overloaded, cores(3)).expect("valid").with_overload(Overload::LeastLoaded);
    let placement = request.place(method("nf")).expect("overload is allowed");
    assert_eq!(placement.assignment, [0, 1, 2, 2, 0].map(Some));
    assert_eq!(placement.overloaded, [3, 4]);
}

#[test]
fn cyclic_fit_starts_after_the_last_and_goes_around() {
    // after core 1 took .9, core 0 is next; .8 does not fit on it (.3), and core 1 is full: back to core 2
    let set = implicit(&[(3, 10), (9, 10), (1, 10), (8, 10), (6, 10)]);
    assert_eq!(placed(&set, &cores(3), "cf"), [0, 1, 2, 2, 0]);
}

#[test]
fn slowest_fit_keeps_fast_cores_free() {
    let cores = (0..).zip(["1", "1/4", "1/2", "1/2"]);
    let cores = cores.map(|(cpu, speed)| Core { cpu, speed: speed.parse().expect("a speed") }).collect();
    let platform = Platform::new("amp", cores, Vec::new(), Vec::new(), None).expect("valid");
    let bins = Bin::of_platform(&platform, Scope::Partitioned).expect("valid");
    // .2 of .25 | .1 on the first of speed 1/2 | .45 does not fit beside it: the other | .75 is too dense for all but 0 | .05 of .25
    let set = implicit(&[(4, 20), (2, 20), (9, 20), (15, 20), (1, 20)]);
    assert_eq!(placed(&set, &bins, "slowest-fit"), [1, 2, 3, 0, 1]);
}

#[test]
fn baruah_fisher_goes_by_deadline() {
    let set = set(&[(4, 40, 40), (5, 10, 10), (10, 20, 40), (6, 15, 20)]);
    // deadlines 10, 15, 20, 40; densities .5, .4, .5, .1
    assert_eq!(placed(&set, &cores(2), "bf-deadline"), [0, 0, 1, 0]);
}

#[test]
fn three_thirds_fill_a_core_exactly() {
    let set = implicit(&[(1, 3), (1, 3), (1, 3)]);
    for packing in Packing::all() {
        assert_eq!(placed(&set, &cores(1), &packing.to_string()), [0, 0, 0], "{packing}");
    }
    // In floats 0.1 * 10 falls short of 1 and 6 * (1/6) + ... may exceed it; one nanosecond more must not fit.
    let ns = Duration::from_ns;
    let third = |id: u64, wcet| Task::periodic(format!("t{id}"), ns(wcet), ns(3_000_000_000));
    let tasks = vec![third(0, 1_000_000_000), third(1, 1_000_000_000), third(2, 1_000_000_001)];
    let over = TaskSet::new("over", tasks).expect("valid");
    let request = Request::new(&over, cores(1)).expect("valid");
    let error = request.place(method("ffd")).expect_err("one nanosecond too much");
    assert!(error.message.contains("1/3000000000"), "{}", error.message);
}

#[test]
fn a_failure_names_the_task_the_room_and_a_way_that_works() {
    // ffd: .4+.4 | .3+.3+.3 and .3 is left; wfd: .4+.3+.3 twice
    let set = implicit(&[(4, 10), (4, 10), (3, 10), (3, 10), (3, 10), (3, 10)]);
    let request = Request::new(&set, cores(2)).expect("valid");
    let error = request.place(method("ffd")).expect_err("ffd fails");
    assert_eq!(
        error.message,
        "task `t5` (utilization 0.3000) fits on no CPU or cluster under ffd: \
         CPU 0 has 0.2000, CPU 1 has 0.1000 left"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("--placement wfd does fit; or place it all the same with --overload least-loaded")
    );
    assert!(request.place(method("wfd")).is_ok());
}

#[test]
fn a_hopeless_set_is_told_so() {
    let set = implicit(&[(6, 10), (6, 10), (9, 10)]);
    let request = Request::new(&set, cores(2)).expect("valid");
    let hint = request.place(method("wfd")).expect_err("2.1 on 2").hint.expect("a hint");
    assert!(hint.contains("needs 2.1000 and there is only 2.0000"), "{hint}");
    // .6 .6 .6 is below 2 and still fits nowhere (lindsay2012, 2.2)
    let set = implicit(&[(6, 10), (6, 10), (6, 10)]);
    let request = Request::new(&set, cores(2)).expect("valid");
    let hint = request.place(method("wfd")).expect_err("three of .6").hint.expect("a hint");
    assert!(hint.contains("no heuristic tried fits either"), "{hint}");
}

#[test]
fn the_hint_offers_the_demand_bound_where_densities_are_too_coarse() {
    let set = set(&[(2, 4, 10), (5, 9, 10)]);
    let request = Request::new(&set, cores(1)).expect("valid");
    assert_eq!(request.fit(), Fit::Density);
    let hint = request.place(method("ffd")).expect_err("densities above 1").hint.expect("a hint");
    assert!(hint.contains("--placement bf-deadline --fit dbf"), "{hint}");
    let request = request.with_fit(Fit::DemandBound).expect("single CPUs");
    assert!(request.place(method("bf-deadline")).is_ok());
}

#[test]
fn overload_goes_to_the_least_loaded_core() {
    let set = implicit(&[(6, 10), (5, 10), (6, 10), (5, 10)]);
    let request = Request::new(&set, cores(2)).expect("valid").with_overload(Overload::LeastLoaded);
    let placement = request.place(method("ff")).expect("overload is allowed");
    // .6 | .5 | .6 fits nowhere: core 1 | .5 fits nowhere: core 0
    assert_eq!(placement.assignment, [Some(0), Some(1), Some(1), Some(0)]);
    assert_eq!(placement.overloaded, [2, 3]);
    assert_eq!(placement.max_load(), Utilization::ratio(11, 10));
    assert!(placement.notes[0].contains("2 of 4 tasks did not fit"), "{:?}", placement.notes);
    let request = Request::new(&set, cores(1)).expect("valid").with_overload(Overload::LeastLoaded);
    let backwards = request.place(method("ff:given:down")).expect("overload is allowed");
    assert_eq!(backwards.overloaded, [0, 1, 2]);
}

#[test]
fn least_loaded_means_relative_to_the_speed_of_the_core() {
    let bins = Bin::of_platform(&big_little(), Scope::Partitioned).expect("valid");
    let set = implicit(&[(90, 100), (80, 100), (45, 100), (30, 100)]);
    let request = Request::new(&set, bins).expect("valid").with_overload(Overload::LeastLoaded);
    let placement = request.place(method("ff")).expect("overload is allowed");
    // .45 of 1/2 is more than .8 of 1
    assert_eq!(placement.assignment, [Some(1), Some(2), Some(0), Some(2)]);
    assert_eq!(
        (placement.overloaded.as_slice(), placement.max_load()),
        (&[3][..], Utilization::ratio(11, 10))
    );
}

#[test]
fn affinity_is_honoured_and_best_effort_tasks_stay_out() {
    let mut tasks = implicit(&[(1, 10), (1, 10), (1, 10)]).tasks().to_vec();
    tasks[0].affinity = Some("1".parse().expect("valid list"));
    tasks[1].kind = TaskKind::BestEffort;
    let set = TaskSet::new("set", tasks.clone()).expect("valid");
    let request = Request::new(&set, cores(2)).expect("valid");
    let placement = request.place(method("ffd")).expect("fits");
    assert_eq!(placement.assignment, [Some(1), None, Some(0)]);
    assert_eq!((placement.tasks_of(1), placement.bin_of(1)), (vec![0], None));

    tasks[0].affinity = Some("0-1".parse().expect("valid list"));
    let set = TaskSet::new("set", tasks).expect("valid");
    let platform = Platform::symmetric(4).expect("valid");
    let clusters: Vec<CpuList> = ["0,2", "1,3"].map(|list| list.parse().expect("valid list")).to_vec();
    let bins = clusters.into_iter().map(|cpus| Bin::new(&platform, cpus).expect("valid")).collect();
    let request = Request::new(&set, bins).expect("valid").with_overload(Overload::LeastLoaded);
    let error = request.place(method("ffd")).expect_err("no cluster within 0-1");
    assert!(error.message.contains("no partition or cluster lies within them: there are CPUs 0,2, CPUs 1,3"));
}

fn big_little() -> Platform {
    let speed = |cpu| if cpu == 0 { Speed::new(1, 2).expect("valid") } else { Speed::UNIT };
    let cores = (0..3).map(|cpu| Core { cpu, speed: speed(cpu) }).collect();
    let clusters = ["0", "1-2"].map(|list| list.parse().expect("valid list"));
    Platform::new("big.LITTLE", cores, vec![], vec![], Some(clusters.to_vec())).expect("valid")
}

#[test]
fn slow_cores_hold_less_and_no_task_faster_than_they_are() {
    let bins = Bin::of_platform(&big_little(), Scope::Partitioned).expect("valid");
    let set = implicit(&[(6, 10), (5, 10), (5, 10)]);
    assert_eq!(placed(&set, &bins, "ff"), [1, 0, 2]);
    // worst-fit counts capacity left: .5 on core 0 against 1 on the others
    assert_eq!(placed(&set, &bins, "wf"), [1, 2, 0]);
    // best-fit: core 0 has the least left
    assert_eq!(placed(&set, &bins, "bf"), [1, 0, 2]);
}

#[test]
fn a_cluster_holds_as_much_as_its_cores_but_no_task_denser_than_one() {
    let bins = Bin::of_platform(&big_little(), Scope::Clustered).expect("valid");
    let set = set(&[(9, 10, 10), (6, 10, 10), (4, 10, 10), (5, 10, 10)]);
    assert_eq!(placed(&set, &bins, "ff"), [1, 1, 0, 1]);
    let dense = crate::oracle::set(&[(9, 10, 10)]);
    let request = Request::new(&dense, bins).expect("valid");
    let budget = |_: usize, task: &Task| task.wcet.checked_mul(2).expect("small");
    let error = request.with_work(budget).place(method("ff")).expect_err("18 ms in 10 ms");
    assert!(error.message.contains("needs 18ms of work within 10ms"), "{}", error.message);
}

#[test]
fn the_capacity_limit_and_the_callers_work_count() {
    let set = implicit(&[(50, 100), (45, 100)]);
    let request = Request::new(&set, cores(1)).expect("valid");
    let limited = request.clone().with_capacity_limit(Utilization::ratio(95, 100)).expect("valid");
    assert!(limited.place(method("ffd")).is_ok());
    let budget = |_: usize, task: &Task| task.wcet + Duration::from_ns(1);
    let error = limited.with_work(budget).place(method("ffd")).expect_err("above 95 %");
    assert!(error.message.contains("only 0.9500 of each capacity"), "{}", error.message);
    assert!(request.clone().with_work(budget).place(method("ffd")).is_ok());
    for limit in [Utilization::zero(), Utilization::ratio(101, 100)] {
        assert!(request.clone().with_capacity_limit(limit).is_err());
    }
}

#[test]
fn bad_requests_are_refused() {
    let set = implicit(&[(1, 10)]);
    assert!(Request::new(&set, vec![]).is_err());
    let twice = [cores(2), cores(1)].concat();
    assert!(Request::new(&set, twice).expect_err("overlap").message.contains("overlap"));
    let all = Bin::of_platform(&Platform::symmetric(2).expect("valid"), Scope::Global).expect("valid");
    let request = Request::new(&set, all).expect("valid");
    assert!(request.with_fit(Fit::DemandBound).is_err());
}

fn small_set() -> impl Strategy<Value = TaskSet> {
    // Periods and deadlines on a coarse grid so that sums often meet the capacity exactly.
    let task = (1u64..=6, 0u64..=2, prop::sample::select(vec![6u64, 8, 12]), 0u32..8);
    prop::collection::vec(task, 1..=6).prop_map(|rows| {
        let times: Vec<_> = rows.iter().map(|&(c, cut, t, _)| (c, (t - cut).max(c), t)).collect();
        let mut tasks = set(&times).tasks().to_vec();
        for (task, &(.., affinity)) in tasks.iter_mut().zip(&rows) {
            // one task in eight is bound to CPU 0
            task.affinity = (affinity == 0).then(|| CpuList::first(1));
        }
        TaskSet::new("set", tasks).expect("valid")
    })
}

fn some_bins() -> impl Strategy<Value = Vec<Bin>> {
    let slow = Bin::of_platform(&big_little(), Scope::Partitioned).expect("valid");
    prop_oneof![Just(cores(1)), Just(cores(2)), Just(cores(3)), Just(slow)]
}

laxity_seeds::properties! {
    #![cases(64)]

    /// Success means feasible by brute force; failure of a rule that tries every bin means that no bin holds the
    /// failed task beside those placed before it.
    #[test]
    fn verdicts_agree_with_brute_force(set in small_set(), bins in some_bins(), fit in prop::sample::select(Fit::ALL.to_vec())) {
        let request = Request::new(&set, bins.clone()).expect("valid").with_fit(fit).expect("single CPUs");
        let anything = assignments(&set, &bins).iter().any(|assignment| feasible(&set, &bins, fit, assignment));
        for packing in Packing::all() {
            match request.place(Method::Pack(packing)) {
                Ok(placement) => {
                    let assignment: Vec<usize> = placement.assignment.iter().map(|b| b.expect("placed")).collect();
                    prop_assert!(feasible(&set, &bins, fit, &assignment), "{packing}: {assignment:?}");
                    prop_assert!(placement.max_load() <= Utilization::whole(1) && placement.overloaded.is_empty());
                }
                Err(error) if !anything => prop_assert!(error.hint.is_some()),
                Err(error) => {
                    // Verify the advice: what the hint names must be feasible.
                    let hint = error.hint.expect("a hint");
                    if let Some(name) = hint.strip_prefix("--placement ").and_then(|h| h.split(' ').next()) {
                        let other = if hint.contains("--fit dbf") {
                            request.clone().with_fit(Fit::DemandBound).expect("single CPUs")
                        } else {
                            request.clone()
                        };
                        prop_assert!(other.place(method(name)).is_ok(), "{hint}");
                    }
                }
            }
        }
    }

    /// Every step of every rule, replayed by definition from the order alone.
    #[test]
    fn every_choice_follows_the_rule(set in small_set(), bins in some_bins(), fit in prop::sample::select(Fit::ALL.to_vec())) {
        let request = Request::new(&set, bins.clone()).expect("valid").with_fit(fit).expect("single CPUs")
            .with_overload(Overload::LeastLoaded);
        for name in ["ff", "bf", "wf", "nf", "cf", "sf"] {
            let Ok(placement) = request.place(method(name)) else { continue };
            let mut held: Vec<Vec<&Task>> = vec![Vec::new(); bins.len()];
            let (mut next, mut current) = (0, 0);
            for (id, task) in set.tasks().iter().enumerate() {
                let bin = placement.assignment[id].expect("placed");
                let fits = |b: usize| bin_holds(&[held[b].as_slice(), &[task]].concat(), &bins[b], fit);
                let left = |b: usize| -> Utilization {
                    let load = held[b].iter().fold(Utilization::zero(), |sum, t| {
                        sum.plus(&if fit == Fit::Density { t.density() } else { t.utilization() })
                    });
                    (bins[b].capacity().as_rational() - load.as_rational()).into()
                };
                let fitting: Vec<usize> = (0..bins.len()).filter(|&b| fits(b)).collect();
                let expected = match name {
                    "ff" => fitting.first().copied(),
                    "nf" => fitting.iter().copied().find(|&b| b >= current),
                    "cf" => (next..next + bins.len()).map(|b| b % bins.len()).find(|b| fitting.contains(b)),
                    "bf" => fitting.iter().copied().min_by_key(|&b| left(b)),
                    "sf" => fitting.iter().copied().min_by_key(|&b| (bins[b].fastest(), b)),
                    _ => fitting.iter().copied().min_by_key(|&b| std::cmp::Reverse(left(b))),
                };
                match expected {
                    Some(expected) => prop_assert_eq!(bin, expected, "{} task {}", name, id),
                    None => prop_assert!(placement.overloaded.contains(&id)),
                }
                held[bin].push(task);
                (next, current) = (bin + 1, expected.unwrap_or(current));
            }
        }
    }

    /// Next-fit by its definition (Johnson 1973; Coffman, Garey, Johnson 1984), looked up in all assignments there are: a task goes
    /// where the one before it went if it fits there, never to a bin before that, and past a bin only if it does not fit.
    #[test]
    fn next_fit_is_the_one_assignment_of_its_definition(set in small_set(), bins in some_bins(), fit in prop::sample::select(Fit::ALL.to_vec())) {
        let holds = |assignment: &Vec<usize>| {
            let fits = |id: usize, bin: usize| {
                let before = set.tasks()[..id].iter().zip(assignment).filter(|(_, b)| **b == bin).map(|(task, _)| task);
                bin_holds(&before.chain([&set.tasks()[id]]).collect::<Vec<_>>(), &bins[bin], fit)
            };
            (0..set.tasks().len()).all(|id| {
                let before = if id == 0 { 0 } else { assignment[id - 1] };
                fits(id, assignment[id]) && assignment[id] >= before && (before..assignment[id]).all(|bin| !fits(id, bin))
            })
        };
        let defined: Vec<Vec<usize>> = assignments(&set, &bins).into_iter().filter(holds).collect();
        let request = Request::new(&set, bins.clone()).expect("valid").with_fit(fit).expect("single CPUs");
        let found = request.place(method("nf")).ok();
        let found = found.map(|placement| placement.assignment.iter().map(|bin| bin.expect("placed")).collect::<Vec<_>>());
        prop_assert!(defined.len() <= 1);
        prop_assert_eq!(found, defined.into_iter().next());
    }

    /// The file's order matters only for ties: with distinct keys a shuffled set gives the same placement.
    #[test]
    fn shuffling_distinct_tasks_changes_nothing(periods in prop::collection::btree_set(3u64..60, 2..9), seed in any::<u64>()) {
        let rows: Vec<(u64, u64)> = periods.into_iter().map(|period| (2, period)).collect();
        let set = implicit(&rows);
        let mut tasks = set.tasks().to_vec();
        let length = tasks.len();
        for i in 1..length {
            let step = usize::try_from(seed.rotate_left(u32::try_from(i).expect("small")) % 97).expect("small");
            tasks.swap(i, step % (i + 1));
        }
        let shuffled = TaskSet::new("shuffled", tasks).expect("valid");
        for packing in Packing::all().into_iter().filter(|p| {
            matches!(p.order.key, laxity_place::Key::Utilization | laxity_place::Key::Density | laxity_place::Key::Period | laxity_place::Key::Deadline)
        }) {
            let by_name = |set: &TaskSet| -> Vec<(String, Option<usize>)> {
                let request = Request::new(set, cores(3)).expect("valid").with_overload(Overload::LeastLoaded);
                let placement = request.place(Method::Pack(packing)).expect("overload is allowed");
                let mut rows: Vec<_> = set.tasks().iter().map(|t| t.name.clone()).zip(placement.assignment).collect();
                rows.sort();
                rows
            };
            prop_assert_eq!(by_name(&set), by_name(&shuffled), "{}", packing);
        }
    }

    /// Whatever density accepts, DBF* accepts in the same order of tasks (Baruah and Fisher 2005).
    #[test]
    fn the_demand_bound_accepts_what_density_accepts_on_one_core(set in small_set()) {
        let request = Request::new(&set, cores(1)).expect("valid");
        let density = request.clone().with_fit(Fit::Density).expect("valid");
        let demand = request.with_fit(Fit::DemandBound).expect("valid");
        if density.place(method("bf-deadline")).is_ok() {
            prop_assert!(demand.place(method("bf-deadline")).is_ok());
        }
    }
}
