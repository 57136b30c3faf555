//! How long the metrics take per job: `cargo run --release -p laxity-trace --example tally_speed`.
//!
//! Prints ns of CPU time per completed job, the best of several repetitions. No assertion is made: the numbers depend on
//! the machine.

use laxity_model::{Duration, Task, TaskSet};
use laxity_trace::{Counters, Host, Job, JobOutcome, Run, RunStatus, RunSummary, Tallies};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

const HORIZON: Duration = Duration::from_secs(1_000_000);
const REPETITIONS: u32 = 7;

fn main() {
    println!(
        "{:>6} {:>10} {:>14} {:>14} {:>16}",
        "tasks", "jobs", "add ns/job", "summary ns/job", "of(run) ns/job"
    );
    for (tasks, jobs) in
        [(20, 100_000), (20, 10_000_000), (320, 100_000), (320, 10_000_000), (1000, 10_000_000)]
    {
        let set = task_set(tasks);
        let add = best(jobs, || {
            black_box(tallies(&set, tasks, jobs));
        });
        let run = run_of((0..jobs.min(1_000_000)).map(|k| job(k % tasks, k / tasks, noise(k))).collect());
        let tallied = tallies(&set, tasks, jobs);
        let summary = best(jobs, || {
            black_box(RunSummary::of_tallies(&run, &set, 4, &tallied));
        });
        let whole = best(jobs.min(1_000_000), || {
            black_box(RunSummary::of(black_box(&run), &set, 4).expect("its own jobs"));
        });
        println!("{tasks:>6} {jobs:>10} {add:>14.1} {summary:>14.1} {whole:>16.1}");
    }
}

/// Jobs that are made on the way, as a simulator does; making them counts.
fn tallies(set: &TaskSet, tasks: u32, jobs: u32) -> Tallies {
    let mut tallies = Tallies::new(set, HORIZON.as_ns());
    let (mut task, mut index) = (0, 0);
    for k in 0..jobs {
        tallies.add(&job(task, index, noise(k))).expect("a task of the set");
        task += 1;
        if task == tasks {
            (task, index) = (0, index + 1);
        }
    }
    tallies
}

fn task_set(tasks: u32) -> TaskSet {
    let task = |id| Task::periodic(format!("t{id}"), Duration::from_ms(1), Duration::from_ms(10));
    TaskSet::new("speed", (0..tasks).map(task).collect()).expect("a valid set")
}

/// A job of 10 ms periods that responds within 1 to 9 ms.
#[inline]
fn job(task: u32, index: u32, noise: u32) -> Job {
    let release_ns = u64::from(index) * 10_000_000;
    let response_ns = 1_000_000 + u64::from(noise >> 9);
    Job {
        task,
        index,
        release_ns,
        deadline_ns: release_ns + 10_000_000,
        demand_ns: Some(1_000_000),
        warm_ns: None,
        cause: None,
        outcome: JobOutcome::Completed,
        start_ns: Some(release_ns),
        finish_ns: Some(release_ns + response_ns),
        cpu_time_ns: Some(1_000_000),
        first_cpu: Some(0),
        last_cpu: Some(noise & 3),
        migrations: Some(noise & 1),
        context_switches: Some(1 + (noise & 1)),
        counters: Counters::default(),
    }
}

/// A cheap bijection of 32 bits: neither sorted nor constant.
#[inline]
fn noise(k: u32) -> u32 {
    let k = (k ^ (k >> 16)).wrapping_mul(0x85eb_ca6b);
    (k ^ (k >> 13)).wrapping_mul(0xc2b2_ae35)
}

fn run_of(jobs: Vec<Job>) -> Run {
    Run { jobs, ..Run::new("g-edf", Host::Simulator, HORIZON, RunStatus::Completed) }
}

fn best(jobs: u32, mut measured: impl FnMut()) -> f64 {
    let once = |measured: &mut dyn FnMut()| {
        let start = cpu_time_s();
        measured();
        cpu_time_s() - start
    };
    let shortest = (0..REPETITIONS).map(|_| once(&mut measured)).fold(f64::INFINITY, f64::min);
    shortest * 1e9 / f64::from(jobs)
}

fn cpu_time_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
