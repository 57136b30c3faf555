//! How many events per second are verified: global EDF, utilization 0.9 per CPU.
//!
//! `cargo run --release -p laxity-oracle --example verification_speed`

use laxity_model::{Demand, Duration, Platform, PriorityRule, Task, TaskSet};
use laxity_oracle::{BudgetRule, Definition, reference, verify};
use std::time::Instant;

fn main() {
    for (cpus, tasks) in [(1, 4), (4, 20), (16, 100), (64, 400)] {
        let task = |id: u64| {
            let period = 10_000 + 977 * (id * 37 % 91);
            let wcet = period * 9 * u64::from(cpus) / (10 * tasks);
            Task::periodic(format!("t{id}"), Duration::from_us(wcet), Duration::from_us(period))
        };
        let set = TaskSet::new("speed", (0..tasks).map(task).collect()).expect("valid");
        let platform = Platform::symmetric(cpus).expect("valid");
        let duration = Duration::from_ms(40_000 / u64::from(cpus) / u64::from(cpus).min(16));
        let rule = PriorityRule::EarliestDeadlineFirst;
        let definition = Definition::global(set, &platform, rule, duration).expect("valid");
        for budget_mode in [BudgetRule::OFF, BudgetRule::THROTTLE] {
            let definition = definition.clone().with_jobs(1, Demand::Wcet).with_budgets(budget_mode);
            let end = duration.as_ns();
            let events = reference(&definition, &definition.jobs(), end).expect("possible").events;
            let (begin, mut seen) = (Instant::now(), 0);
            while begin.elapsed().as_millis() < 500 {
                let verdict = verify(&definition, &events, end);
                assert!(verdict.clean, "{verdict}");
                seen += events.len();
            }
            #[expect(clippy::cast_precision_loss, reason = "for display")]
            let rate = seen as f64 / begin.elapsed().as_secs_f64() / 1e6;
            println!(
                "m={cpus:2} n={tasks:3} budgets {budget_mode:?}: {:7} events, {rate:.1} M events/s",
                events.len()
            );
        }
    }
}
