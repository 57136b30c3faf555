//! Places one large set by one method: `cargo run --release -p laxity-place --example large_sets -- METHOD TASKS CORES [FIT]`.
//! Under `valgrind --tool=callgrind` it counts the instructions that a method takes. The set fills 70 % of the cores on average;
//! periods are 1 to 1,000 ms in steps of 1 ms.

use laxity_model::{Duration, Platform, Result, Scope, Task, TaskSet};
use laxity_place::{Bin, Fit, Method, Overload, Request};

fn set(tasks: u64, cores: u64) -> TaskSet {
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let task = |id: u64| {
        let period = 1_000_000 * (1 + draw(1_000));
        // In millionths: 0.7 cores / tasks on average.
        let wcet = 1 + period * (1 + draw(1_400_000 * cores / tasks)) / 1_000_000;
        Task::periodic(format!("t{id}"), Duration::from_ns(wcet.min(period)), Duration::from_ns(period))
    };
    TaskSet::new("large", (0..tasks).map(task).collect()).expect("a valid set")
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [method, tasks, cores, rest @ ..] = words.as_slice() else { panic!("METHOD TASKS CORES [FIT]") };
    let (tasks, cores): (u64, u32) = (tasks.parse().expect("tasks"), cores.parse().expect("cores"));
    let (method, set): (Method, TaskSet) = (method.parse()?, set(tasks, cores.into()));
    let fit = rest.first().map_or(Ok(Fit::Utilization), |fit| fit.parse())?;
    let bins = Bin::of_platform(&Platform::symmetric(cores)?, Scope::Partitioned)?;
    let request = Request::new(&set, bins)?.with_fit(fit)?.with_overload(Overload::LeastLoaded);
    let placement = request.place(method)?;
    let overloaded = placement.overloaded.len();
    println!("{method}: maximum load {}, {overloaded} did not fit", placement.max_load());
    Ok(())
}
