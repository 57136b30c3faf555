//! How many jobs the simulator does in a second of CPU time: global EDF, n = 5m tasks, U = 0.8m, log-uniform periods of
//! 10 to 100 ms, synchronous, no costs (the peers' measurement in `facts/generators-simulators-tools.md`).

use laxity_generate::{Parameters, Request};
use laxity_model::{Demand, Duration, Platform, PolicyScheduler, TaskSet};
use laxity_sim::{Background, BudgetMode, Observer, RETRIES_MAX, Setup, costs::Costs, global_cell, simulate};
use laxity_trace::{Event, Job};
use std::sync::atomic::AtomicBool;

#[derive(Default)]
struct Count {
    jobs: u64,
    late: u64,
}

impl Observer for Count {
    const EVENTS: bool = false;
    #[inline]
    fn job(&mut self, job: &Job) {
        self.jobs += 1;
        self.late += u64::from(job.finish_ns.is_some_and(|finish| finish > job.deadline_ns));
    }
    fn event(&mut self, _: Event) {}
}

fn main() {
    let schedulers: Vec<String> = std::env::args().skip(1).collect();
    let schedulers = if schedulers.is_empty() { vec!["edf-bh".to_owned()] } else { schedulers };
    for name in &schedulers {
        for m in [4u32, 16, 64] {
            let set = set(m);
            let platform = Platform::symmetric(m).expect("cores");
            let scheduler: PolicyScheduler = name.parse().expect("scheduler");
            let seconds = 4_000 / u64::from(m);
            let mut best = f64::MAX;
            let mut count = Count::default();
            for _ in 0..3 {
                count = Count::default();
                let (costs, background) = (Costs::default(), Background::default());
                let setup = Setup {
                    set: &set,
                    platform: &platform,
                    scheduler,
                    cells: vec![global_cell(&set, &platform)],
                    duration: Duration::from_secs(seconds),
                    grace: Duration::from_ms(100),
                    seed: 1,
                    demand: Demand::Wcet,
                    budget_mode: BudgetMode::Off,
                    batching: true,
                    retries_max: RETRIES_MAX,
                    interleaving: None,
                    costs: &costs,
                    background: &background,
                    table: None,
                };
                let start = std::time::Instant::now();
                simulate(&setup, &mut count, &AtomicBool::new(false)).expect("simulates");
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!(
                "{name:12} m={m:3} {} jobs {} late  {:.2} M jobs/s  {:.0} ns/job",
                count.jobs,
                count.late,
                count.jobs as f64 / best / 1e6,
                best * 1e9 / count.jobs as f64
            );
        }
    }
}

fn set(m: u32) -> TaskSet {
    let parameters: Parameters = [
        ("tasks", (5 * m).to_string()),
        ("utilization", format!("{}.{}", 8 * m / 10, 8 * m % 10)),
        ("periods", "log-uniform:10ms,100ms".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let request = Request::from_parameters("emberson", 7, &parameters).expect("request");
    request.prepare().expect("prepared").generate(0).expect("set")
}
