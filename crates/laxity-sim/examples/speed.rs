//! One measurement of the simulator's speed, for profilers and for comparisons with other simulators:
//!
//! ```text
//! speed SCHEDULER CORES JOBS [REPETITIONS] [metrics]   jobs and the CPU time they took, a line per repetition
//! speed --export CORES FILE                            the task set: a line "wcet period deadline" in ns per task
//! ```
//!
//! `cargo bench -p laxity-sim` prints the whole table.

#[path = "../benches/workload/mod.rs"]
mod workload;

use laxity_model::PolicyScheduler;
use std::io::Write;
use workload::{CountJobs, Metrics, duration_for, measure, set};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--export", cores, file] => export(cores.parse().expect("a number of cores"), file),
        [scheduler, cores, jobs, rest @ ..] => {
            let repetitions = rest.first().map_or(1, |n| n.parse().expect("a number of repetitions"));
            let metrics = rest.get(1) == Some(&"metrics");
            repeat(
                scheduler.parse().expect("a scheduler"),
                cores.parse().expect("a number of cores"),
                jobs.parse().expect("a number of jobs"),
                repetitions,
                metrics,
            );
        }
        _ => {
            eprintln!(
                "usage: speed SCHEDULER CORES JOBS [REPETITIONS] [metrics] | speed --export CORES FILE"
            );
            std::process::exit(2);
        }
    }
}

fn repeat(scheduler: PolicyScheduler, m: u32, jobs: u64, repetitions: u32, metrics: bool) {
    let set = set(m);
    let duration = duration_for(&set, jobs);
    for _ in 0..repetitions {
        let (jobs, late, ns) = if metrics {
            let mut observer = Metrics::new(&set, duration);
            let ns = measure(&set, m, scheduler, duration, &mut observer);
            (observer.jobs, None, ns)
        } else {
            let mut observer = CountJobs::default();
            let ns = measure(&set, m, scheduler, duration, &mut observer);
            (observer.jobs, Some((observer.late, observer.tardiness_ns, observer.tardiness_ns_max)), ns)
        };
        let late = late.map_or("-".to_owned(), |(late, total, max)| {
            format!("{late} tardiness_ns={total} tardiness_ns_max={max}")
        });
        println!("{scheduler} m={m} duration_ns={} jobs={jobs} late={late} cpu_ns={ns}", duration.as_ns());
    }
}

fn export(m: u32, file: &str) {
    let mut out = std::fs::File::create(file).expect("a file that can be written");
    for (_, task) in set(m).real_time() {
        let (wcet, period, deadline) = (task.wcet.as_ns(), task.period().as_ns(), task.deadline_rel.as_ns());
        writeln!(out, "{wcet} {period} {deadline}").expect("the file can be written");
    }
}
