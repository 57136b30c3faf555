//! Hard parameters miss no deadline: 10^6 simulated jobs under Linux's rules, with reservations and with priorities.

use crate::random::{Random, larger_set};
use crate::server::Server;
use laxity_analysis::settings::{KernelRules, audsley, candidates, choose};
use laxity_analysis::{FixedPriorityRta, Qpa, SporadicTask, Test as _, Work};
use std::collections::VecDeque;

const JOBS: u64 = 1_000_000;
const STEPS: u64 = 20_000;

/// Arrivals of a task and its pending jobs.
struct Stream {
    task: SporadicTask,
    next: u64,
    /// Arrival, and what is left.
    jobs: VecDeque<(u64, u64)>,
}

impl Stream {
    fn new(task: SporadicTask) -> Self {
        Stream { task, next: 0, jobs: VecDeque::new() }
    }

    /// Whether a job arrives where none was pending; counts arrivals. Most come as early and ask for as much as they can.
    fn arrive(&mut self, now: u64, random: &mut Random, jobs: &mut u64) -> bool {
        if now < self.next {
            return false;
        }
        let delay = if random.below(4) == 0 { random.below(self.task.period) } else { 0 };
        let demand = if random.below(4) == 0 { 1 + random.below(self.task.wcet) } else { self.task.wcet };
        self.next = now + self.task.period + delay;
        self.jobs.push_back((now, demand));
        *jobs += 1;
        self.jobs.len() == 1
    }

    fn run(&mut self) {
        let job = self.jobs.front_mut().expect("a job runs");
        job.1 -= 1;
        if job.1 == 0 {
            self.jobs.pop_front();
        }
    }

    fn is_late(&self, now: u64) -> bool {
        self.jobs.front().is_some_and(|&(arrival, _)| now - arrival >= self.task.deadline)
    }
}

#[test]
fn reservations_miss_nothing() {
    let (mut jobs, mut seed, mut bundled) = (0, 0, 0);
    while jobs < JOBS {
        seed += 1;
        let mut random = Random::new(seed);
        let tasks = larger_set(&mut random);
        let rules = KernelRules { runtime_min: 2, period_min: 12, period_max: 80 };
        let lists: Vec<_> = tasks.iter().map(|task| candidates(task, rules)).collect();
        let granted = choose(&lists, 1_000, |of| {
            let tasks: Vec<_> = of.iter().map(laxity_analysis::settings::Reservation::as_task).collect();
            Qpa.judge(&tasks, 1, &mut Work::default()).is_schedulable()
        });
        let Some(granted) = granted else { continue };
        bundled += granted.iter().zip(&tasks).filter(|(one, task)| one.period != task.period).count();
        let mut servers: Vec<_> = granted.into_iter().map(Server::new).collect();
        let mut streams: Vec<_> = tasks.into_iter().map(Stream::new).collect();
        for now in 0..STEPS {
            for (server, stream) in servers.iter_mut().zip(&mut streams) {
                server.timer();
                if stream.arrive(now, &mut random, &mut jobs) {
                    server.wake_up();
                }
                assert!(
                    !stream.is_late(now),
                    "seed {seed}, at {now}: {:?} by {:?}",
                    stream.task,
                    server.reservation
                );
            }
            let ready =
                (0..servers.len()).filter(|&at| !streams[at].jobs.is_empty() && servers[at].has_budget());
            if let Some(first) = ready.min_by_key(|&at| servers[at].deadline) {
                servers[first].run();
                streams[first].run();
            }
            servers.iter_mut().for_each(Server::step);
        }
    }
    assert!(bundled > 100, "{bundled} reservations have another period than their tasks");
}

#[test]
fn priorities_miss_nothing() {
    let (mut jobs, mut seed) = (0, 0);
    while jobs < JOBS {
        seed += 1;
        let mut random = Random::new(seed);
        let tasks = larger_set(&mut random);
        let order = audsley(
            tasks.len(),
            |at| tasks[at].deadline,
            |lowest, higher| {
                let mut all: Vec<_> =
                    higher.iter().map(|&at| SporadicTask { deadline: 1 << 40, ..tasks[at] }).collect();
                all.push(tasks[lowest]);
                FixedPriorityRta.judge(&all, 1, &mut Work::default()).is_schedulable()
            },
        );
        let Ok(order) = order else { continue };
        let mut streams: Vec<_> = order.iter().map(|&at| Stream::new(tasks[at])).collect();
        for now in 0..STEPS {
            for stream in &mut streams {
                stream.arrive(now, &mut random, &mut jobs);
                assert!(!stream.is_late(now), "seed {seed}, at {now}: {:?}", stream.task);
            }
            if let Some(first) = streams.iter_mut().find(|stream| !stream.jobs.is_empty()) {
                first.run();
            }
        }
    }
}
