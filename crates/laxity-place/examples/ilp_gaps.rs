//! How good the ILP's answers are, and how long they take: `cargo run --release -p laxity-place --example ilp_gaps --
//! CORES TIME|default SET...`. One line of CSV per set; tests/placement-peers makes the table of results/placement-solver
//! from them. Reading the set is not timed.

use laxity_model::{Duration, Platform, Result, Scope, read_task_set};
use laxity_place::{Bin, Method, Overload, Request};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cores, limit, sets @ ..] = &arguments[..] else {
        eprintln!("usage: ilp_gaps CORES TIME|default SET...");
        std::process::exit(2);
    };
    let cores = cores.parse().expect("a number of cores");
    let limit: Option<Duration> = (limit != "default").then(|| limit.parse()).transpose()?;
    let bins = Bin::of_platform(&Platform::symmetric(cores)?, Scope::Partitioned)?;
    println!("set,tasks,cores,limit,seconds,max_load,lower_bound,gap,optimal");
    for path in sets {
        let set = read_task_set(Path::new(path))?.set;
        let started = Instant::now();
        let request = Request::new(&set, bins.clone())?.with_overload(Overload::LeastLoaded);
        let placement = request.with_ilp_time_limit(limit).place(Method::Ilp)?;
        let seconds = started.elapsed().as_secs_f64();
        let optimality = placement.optimality.as_ref().expect("the ILP says how good it is");
        println!(
            "{path},{},{cores},{},{seconds:.4},{:.9},{:.9},{:.3e},{}",
            set.tasks().len(),
            limit.map_or("default".into(), |limit| limit.to_string()),
            placement.max_load().to_f64(),
            optimality.lower_bound.to_f64(),
            optimality.gap,
            optimality.optimal
        );
    }
    Ok(())
}
