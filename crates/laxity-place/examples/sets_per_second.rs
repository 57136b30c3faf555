//! Task sets placed per second by every named heuristic: `cargo run --release -p laxity-place --example
//! sets_per_second`. Sets have n tasks at 70 % of n/8 cores and periods of unrelated nanoseconds.

use laxity_model::{Duration, Platform, Scope, Task, TaskSet};
use laxity_place::{Bin, Method, Overload, Request};
use std::hint::black_box;
use std::time::Instant;

fn set(n: u64, seed: u64) -> TaskSet {
    let mut state = seed;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let task = |id: u64| {
        let period = 1_000_000 + draw(999_000_000);
        // mean utilization 0.7 / 8
        let wcet = 1 + period / 10_000 * draw(1_750);
        Task::periodic(format!("t{id}"), Duration::from_ns(wcet), Duration::from_ns(period))
    };
    TaskSet::new("set", (0..n).map(task).collect()).expect("a valid set")
}

fn main() {
    println!("n,m,placement,sets_per_second,overloaded_sets");
    for n in [100u64, 200, 500, 1_000] {
        let cores = u32::try_from(n / 8).expect("small");
        let platform = Platform::symmetric(cores).expect("a platform");
        let bins = Bin::of_platform(&platform, Scope::Partitioned).expect("bins");
        let sets: Vec<TaskSet> = (0..20_000 / n).map(|seed| set(n, seed)).collect();
        for method in Method::named().into_iter().filter(|method| *method != Method::Ilp) {
            let started = Instant::now();
            let mut overloaded = 0;
            for set in &sets {
                let request = Request::new(set, bins.clone()).expect("a request");
                let placement =
                    request.with_overload(Overload::LeastLoaded).place(method).expect("a placement");
                overloaded += usize::from(!black_box(placement).overloaded.is_empty());
            }
            #[expect(clippy::cast_precision_loss, reason = "a small count, to show")]
            let rate = sets.len() as f64 / started.elapsed().as_secs_f64();
            println!("{n},{cores},{method},{rate:.0},{overloaded}");
        }
    }
}
