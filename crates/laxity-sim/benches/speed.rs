//! How many jobs the simulator does in a second of CPU time: every policy, every kind of observer, 1 to 1024 cores.
//!
//! ```text
//! cargo bench -p laxity-sim [-- JOBS [REPETITIONS]]
//! ```
//!
//! The workload is that of `workload/mod.rs`, without costs. Measurements of one table take turns, so that a busy
//! machine disturbs all of them alike; a row shows the best and the median.

mod workload;

use laxity_model::{Duration, Policy, PolicyScheduler, PriorityRule, Scope, TaskSet};
use laxity_sim::Observer;
use laxity_trace::{Event, EventsFile, Job};
use std::path::PathBuf;
use workload::{CountEvents, CountJobs, Metrics, cpu_time_ns, duration_for, measure, set};

/// What watches the simulation.
#[derive(Clone, Copy)]
enum Watching {
    /// Next to nothing.
    Jobs,
    /// All metrics.
    Metrics,
    /// Events are made and counted.
    Events,
    /// Metrics, and every event in a Parquet file.
    Trace,
}

impl Watching {
    const ALL: [Watching; 4] = [Watching::Jobs, Watching::Metrics, Watching::Events, Watching::Trace];

    fn name(self) -> &'static str {
        match self {
            Watching::Jobs => "jobs and tardiness",
            Watching::Metrics => "metrics",
            Watching::Events => "count of events",
            Watching::Trace => "metrics, binary trace",
        }
    }
}

/// One row of a table.
struct Row {
    policy: Policy,
    m: u32,
    watching: Watching,
    set: TaskSet,
    /// CPU ns per job, per repetition.
    costs: Vec<f64>,
    jobs: u64,
    note: String,
}

impl Row {
    fn new(policy: Policy, m: u32, watching: Watching) -> Row {
        Row { policy, m, watching, set: set(m), costs: Vec::new(), jobs: 0, note: String::new() }
    }

    fn measure(&mut self, jobs: u64) {
        let duration = duration_for(&self.set, jobs);
        let ns = match self.watching {
            Watching::Jobs => {
                let mut observer = CountJobs::default();
                let ns = self.run(duration, &mut observer);
                let worst = observer.tardiness_ns_max;
                (self.jobs, self.note) =
                    (observer.jobs, format!("{} late, at most {worst} ns", observer.late));
                ns
            }
            Watching::Metrics => {
                let mut observer = Metrics::new(&self.set, duration);
                let ns = self.run(duration, &mut observer);
                self.jobs = observer.jobs;
                ns
            }
            Watching::Events => {
                let mut observer = CountEvents::default();
                let ns = self.run(duration, &mut observer);
                (self.jobs, self.note) = (observer.jobs, per_job(observer.events, observer.jobs, "events"));
                ns
            }
            Watching::Trace => self.trace(duration),
        };
        #[expect(clippy::cast_precision_loss, reason = "only shown")]
        self.costs.push(ns as f64 / self.jobs as f64);
    }

    fn run(&self, duration: Duration, observer: &mut impl Observer) -> u64 {
        let scheduler = PolicyScheduler {
            policy: self.policy,
            scope: Scope::Global,
            rule: PriorityRule::EarliestDeadlineFirst,
        };
        measure(&self.set, self.m, scheduler, duration, observer)
    }

    /// The file's encoding, which ends after the simulation, counts as well.
    fn trace(&mut self, duration: Duration) -> u64 {
        let path = trace_path();
        let before = cpu_time_ns();
        let file = EventsFile::create(&path, 0).expect("a place for temporary files");
        let mut observer = Trace { metrics: Metrics::new(&self.set, duration), file, events: 0 };
        self.run(duration, &mut observer);
        observer.file.finish().expect("the trace can be written");
        let ns = cpu_time_ns() - before;
        let bytes = std::fs::metadata(&path).expect("it was written").len();
        std::fs::remove_file(&path).expect("ours");
        self.jobs = observer.metrics.jobs;
        self.note = format!(
            "{}, {}",
            per_job(observer.events, self.jobs, "events"),
            per_job(bytes, self.jobs, "bytes")
        );
        ns
    }

    fn show(&mut self) {
        self.costs.sort_by(f64::total_cmp);
        let (best, median) = (self.costs[0], self.costs[self.costs.len() / 2]);
        println!(
            "{:11} {:5} {:22} {:6.2} M/s {:6.0} ns/job   median {:6.0} ns/job   {} jobs  {}",
            self.policy.name(),
            self.m,
            self.watching.name(),
            1e3 / best,
            best,
            median,
            self.jobs,
            self.note
        );
    }
}

/// Metrics and a trace, as `laxity simulate` writes it.
struct Trace {
    metrics: Metrics,
    file: EventsFile,
    events: u64,
}

impl Observer for Trace {
    const EVENTS: bool = true;

    fn job(&mut self, job: &Job) {
        self.metrics.job(job);
    }

    fn event(&mut self, event: Event) {
        self.events += 1;
        self.file.write(&event).expect("the trace can be written");
    }
}

fn trace_path() -> PathBuf {
    std::env::temp_dir().join(format!("laxity-speed-{}.parquet", std::process::id()))
}

fn per_job(count: u64, jobs: u64, what: &str) -> String {
    #[expect(clippy::cast_precision_loss, reason = "only shown")]
    let each = count as f64 / jobs as f64;
    format!("{each:.2} {what}/job")
}

fn table(title: &str, mut rows: Vec<Row>, jobs: u64, repetitions: u64) {
    println!("\n{title}");
    for _ in 0..repetitions {
        rows.iter_mut().for_each(|row| row.measure(jobs));
    }
    rows.iter_mut().for_each(Row::show);
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let jobs = numbers.next().unwrap_or(500_000).max(1);
    let repetitions = numbers.next().unwrap_or(5).max(1);
    println!("scheduler   cores observer");
    let policies = Policy::GENERAL
        .iter()
        .copied()
        .flat_map(|policy| [4, 16, 64].map(|m| Row::new(policy, m, Watching::Jobs)));
    table("policies", policies.collect(), jobs, repetitions);
    let watching = Watching::ALL
        .into_iter()
        .flat_map(|watching| [4, 16, 64].map(|m| Row::new(Policy::EdfBh, m, watching)));
    table("observers", watching.collect(), jobs, repetitions);
    let sizes = [1, 4, 16, 64, 256, 1024].map(|m| Row::new(Policy::EdfBh, m, Watching::Jobs));
    table("cores, at 5 tasks per core", sizes.into(), jobs, repetitions);
}
