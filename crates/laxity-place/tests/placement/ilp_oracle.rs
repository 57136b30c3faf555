//! The ILP against every placement of up to nine tasks: affinities, speeds, and loads without a common denominator.

use crate::oracle::{cores, implicit, least_max_load};
use laxity_model::{Core, CpuList, Duration, Platform, Scope, Speed, Task, TaskSet, Utilization};
use laxity_place::{Bin, Fit, Method, Overload, Placement, Request};
use proptest::prelude::*;

/// Divides by every speed below.
const QUARTERS: u64 = 12;

fn solve(set: &TaskSet, bins: &[Bin]) -> Placement {
    let request = Request::new(set, bins.to_vec()).expect("valid").with_overload(Overload::LeastLoaded);
    let request = request.with_ilp_time_limit(Duration::from_secs(60));
    request.place(Method::Ilp).expect("overload is allowed")
}

/// Tasks of a hundredth of a CPU each unit, with the CPUs they may use as bits.
fn tasks(rows: &[(u64, u32)], cpus: u32) -> TaskSet {
    let task = |(id, &(units, affinity)): (usize, &(u64, u32))| {
        let period = Duration::from_ms([10, 20, 50, 100][id % 4]);
        let wcet = Duration::from_ns(period.as_ns() / 100 * units);
        let mut task = Task::periodic(format!("t{id}"), wcet, period);
        let allowed: CpuList = (0..cpus).filter(|cpu| affinity >> cpu & 1 == 1).collect();
        task.affinity = (!allowed.is_empty()).then_some(allowed);
        task
    };
    TaskSet::new("set", rows.iter().enumerate().map(task).collect()).expect("valid")
}

/// The least maximum load in units of 1 / (100 * QUARTERS) of the capacity.
fn least(rows: &[(u64, u32)], quarters: &[u64], filled: &mut Vec<u64>) -> u64 {
    let Some(&(units, affinity)) = rows.first() else {
        let relative = filled.iter().zip(quarters).map(|(&units, &speed)| units * 4 * QUARTERS / speed);
        return relative.max().expect("a CPU");
    };
    let all = affinity & ((1 << quarters.len()) - 1) == 0;
    let bins = (0..quarters.len()).filter(|&cpu| all || affinity >> cpu & 1 == 1);
    let with = bins.map(|cpu| {
        filled[cpu] += units;
        let found = least(&rows[1..], quarters, filled);
        filled[cpu] -= units;
        found
    });
    with.min().expect("a CPU within the affinity")
}

laxity_seeds::properties! {
    #![cases(128)]

    #[test]
    fn no_placement_is_better(
        rows in prop::collection::vec((1u64..=50, prop_oneof![3 => Just(0u32), 1 => 0u32..16]), 1..=9),
        quarters in prop::collection::vec(prop_oneof![3 => Just(4u64), 1 => 2u64..=4], 1..=4),
    ) {
        let speed = |(cpu, &quarters): (usize, &u64)| Core {
            cpu: u32::try_from(cpu).expect("few"),
            speed: Speed::new(u32::try_from(quarters).expect("few"), 4).expect("valid"),
        };
        let all = quarters.iter().enumerate().map(speed).collect();
        let platform = Platform::new("p", all, vec![], vec![], None).expect("valid");
        let bins = Bin::of_platform(&platform, Scope::Partitioned).expect("valid");
        let set = tasks(&rows, u32::try_from(quarters.len()).expect("few"));
        let optimum = least(&rows, &quarters, &mut vec![0; quarters.len()]);
        let placement = solve(&set, &bins);
        prop_assert_eq!(placement.max_load(), Utilization::ratio(optimum, 100 * QUARTERS), "{:?}", placement.notes);
        let optimality = placement.optimality.as_ref().expect("the ILP reports");
        prop_assert!(optimality.optimal && optimality.lower_bound <= placement.max_load());
        for (id, &(_, affinity)) in rows.iter().enumerate() {
            let cpu = placement.assignment[id].expect("placed");
            let all = affinity & ((1 << quarters.len()) - 1) == 0;
            prop_assert!(all || affinity >> cpu & 1 == 1, "task {id} on {cpu}");
        }
    }
}

laxity_seeds::properties! {
    #![cases(12)]

    /// The loads are rounded for the search, and its proof holds all the same.
    #[test]
    fn bounds_hold_where_loads_have_no_common_denominator(
        rows in prop::collection::vec((1u64 << 28..1 << 30, 1u64 << 30..1 << 32), 3..=7),
    ) {
        let odd: Vec<Task> = rows.iter().enumerate().map(|(id, &(wcet, period))| {
            Task::periodic(format!("t{id}"), Duration::from_ns(wcet), Duration::from_ns(period | 1))
        }).collect();
        let set = TaskSet::new("set", odd).expect("valid");
        let optimum = least_max_load(&set, &cores(3), Fit::Utilization).expect("every task fits alone");
        let placement = solve(&set, &cores(3));
        let optimality = placement.optimality.as_ref().expect("the ILP reports");
        prop_assert!(optimality.lower_bound <= optimum && optimum <= placement.max_load());
        prop_assert!(optimality.optimal);
        prop_assert!(placement.max_load() <= optimum.plus(&Utilization::ratio(1, 1_000_000)));
    }
}

/// Every CPU holds one task of .6, which leaves a third of its room unused: a bound from sums alone is far off.
#[test]
fn tasks_that_leave_no_room_are_proven_to() {
    let set = implicit(&[(60, 100), (61, 100), (62, 100), (63, 100), (50, 100)]);
    let placement = solve(&set, &cores(4));
    assert_eq!(placement.max_load(), Utilization::ratio(110, 100));
    assert!(placement.optimality.expect("the ILP reports").optimal);
}
