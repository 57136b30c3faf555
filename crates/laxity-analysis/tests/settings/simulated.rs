//! Hard parameters miss no deadline: 10^6 simulated jobs under Linux's rules, with reservations and with priorities.

use crate::random::{Random, larger_set, tight_set};
use crate::server::Server;
use laxity_analysis::settings::{
    CERTAIN, DemandLaw, Granted, KernelRules, Reservation, SoftTask, are_granted, audsley, candidates, choose,
};
use laxity_analysis::{FixedPriorityRta, SporadicTask, Test as _, Work};
use std::collections::VecDeque;

const JOBS: u64 = 1_000_000;
const STEPS: u64 = 20_000;

/// Arrivals of a task and its pending jobs.
struct Stream {
    task: SporadicTask,
    next: u64,
    /// Arrival, and what is left.
    jobs: VecDeque<(u64, u64)>,
    /// What jobs ask for, each as often as another; nothing: up to the WCET, as `arrive` says.
    demands: Vec<u64>,
}

impl Stream {
    fn new(task: SporadicTask) -> Self {
        Stream { task, next: 0, jobs: VecDeque::new(), demands: Vec::new() }
    }

    /// Whether a job arrives where none was pending; counts arrivals. Most come as early and ask for as much as they can.
    fn arrive(&mut self, now: u64, random: &mut Random, jobs: &mut u64) -> bool {
        if now < self.next {
            return false;
        }
        let delay = if random.below(4) == 0 { random.below(self.task.period_ns) } else { 0 };
        let demand = match self.demands.len() as u64 {
            0 if random.below(4) == 0 => 1 + random.below(self.task.wcet_ns),
            0 => self.task.wcet_ns,
            count => self.demands[usize::try_from(random.below(count)).expect("few")],
        };
        self.next = now + self.task.period_ns + delay;
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
        self.jobs.front().is_some_and(|&(arrival, _)| now - arrival >= self.task.deadline_rel_ns)
    }
}

#[test]
fn reservations_miss_nothing() {
    let (mut jobs, mut seed, mut bundled) = (0, 0, 0);
    while jobs < JOBS {
        seed += 1;
        let mut random = Random::new(seed);
        let tasks = if seed % 2 == 0 { larger_set(&mut random) } else { tight_set(&mut random) };
        let rules = KernelRules { runtime_min_ns: 2, period_min_ns: 12, period_max_ns: 80 };
        let lists: Vec<_> = tasks.iter().map(|task| candidates(task, rules)).collect();
        let granted = choose(&lists, 1_000, |of| {
            let of = of.iter().zip(&tasks).map(|(one, task)| Granted::of(one, task.wcet_ns, task.period_ns));
            are_granted(&of.collect::<Vec<_>>(), 1, &mut Work::default())
        });
        let Some(granted) = granted else { continue };
        bundled += granted.iter().zip(&tasks).filter(|(one, task)| one.period_ns != task.period_ns).count();
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
            |at| tasks[at].deadline_rel_ns,
            |lowest, higher| {
                let mut all: Vec<_> =
                    higher.iter().map(|&at| SporadicTask { deadline_rel_ns: 1 << 40, ..tasks[at] }).collect();
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

/// Demands of which most are much less than the WCET.
fn soft_demands(random: &mut Random, wcet: u64) -> Vec<u64> {
    let short = 1 + wcet / 4;
    (0..16).map(|at| if at < 12 { 1 + random.below(short) } else { 1 + random.below(wcet) }).collect()
}

/// A server, its jobs, and what is known of its misses.
struct Served {
    server: Server,
    stream: Stream,
    /// Nothing: it must not miss.
    bound: Option<u64>,
    released: u64,
    missed: u64,
}

/// A soft task with the demands that its jobs are drawn from; nothing of a hard one.
type Soft = Option<(SoftTask, Vec<u64>)>;

/// Reservations for a set in which every other task is soft, with the bound on its misses.
fn granted(tasks: &[SporadicTask], random: &mut Random) -> Option<Vec<Served>> {
    let rules = KernelRules { runtime_min_ns: 2, period_min_ns: 8, period_max_ns: 120 };
    let target = CERTAIN / [10, 20, 50, 100][usize::try_from(random.below(4)).expect("few")];
    let soft: Vec<Soft> = tasks
        .iter()
        .enumerate()
        .map(|(at, &task)| {
            let demands = soft_demands(random, task.wcet_ns);
            let mut counts = std::collections::BTreeMap::new();
            demands.iter().for_each(|&demand| *counts.entry(demand).or_insert(0) += 1);
            (at % 2 == 0).then(|| (SoftTask { task, law: DemandLaw::of_counts(&counts) }, demands))
        })
        .collect();
    let lists: Vec<Vec<Reservation>> = tasks
        .iter()
        .zip(&soft)
        .map(|(task, soft)| match soft {
            Some((soft, _)) => soft.candidates(target, rules).iter().map(|one| one.reservation).collect(),
            None => candidates(task, rules),
        })
        .collect();
    let most = |at: usize| soft[at].as_ref().map_or(tasks[at].wcet_ns, |(soft, _)| soft.law.most());
    let chosen = choose(&lists, 1_000, |of| {
        let granted = |(at, one): (usize, &Reservation)| Granted::of(one, most(at), tasks[at].period_ns);
        let all: Vec<_> = of.iter().enumerate().map(granted).collect();
        are_granted(&all, 1, &mut Work::default())
    })?;
    let served = |(at, (reservation, soft)): (usize, (Reservation, Soft))| {
        let mut stream = Stream::new(tasks[at]);
        let bound = soft.as_ref().map(|(soft, _)| soft.miss_bound(&reservation)).filter(|&bound| bound > 0);
        stream.demands = soft.map(|soft| soft.1).unwrap_or_default();
        Served { server: Server::new(reservation), stream, bound, released: 0, missed: 0 }
    };
    Some(chosen.into_iter().zip(soft).enumerate().map(served).collect())
}

#[test]
fn soft_tasks_miss_no_more_than_their_bound_and_hard_ones_nothing() {
    let (mut jobs, mut seed, mut soft_missed, mut allowed) = (0, 0, 0, 0.0);
    while jobs < JOBS {
        seed += 1;
        let mut random = Random::new(seed);
        let tasks = tight_set(&mut random);
        let Some(mut served) = granted(&tasks, &mut random) else { continue };
        for now in 0..STEPS {
            for one in &mut served {
                one.server.timer();
                if one.stream.arrive(now, &mut random, &mut one.released) {
                    one.server.wake_up();
                }
                // The step at which a job that is pending becomes late.
                let deadline = one.stream.task.deadline_rel_ns;
                one.missed += one.stream.jobs.iter().filter(|job| job.0 + deadline == now).count() as u64;
            }
            if let Some(late) = served.iter().find(|one| one.bound.is_none() && one.missed > 0) {
                let all: Vec<_> = served.iter().map(|one| (one.stream.task, one.server, one.bound)).collect();
                panic!("seed {seed}, at {now}: {:?} of {all:#?}", late.stream.task);
            }
            let is_ready = |one: &Served| !one.stream.jobs.is_empty() && one.server.has_budget();
            if let Some(first) =
                served.iter_mut().filter(|one| is_ready(one)).min_by_key(|one| one.server.deadline)
            {
                first.server.run();
                first.stream.run();
            }
            served.iter_mut().for_each(|one| one.server.step());
        }
        for one in &served {
            jobs += one.released;
            let Some(bound) = one.bound else { continue };
            let (missed, released) = (count(one.missed), count(one.released));
            let expected = released * count(bound) / count(CERTAIN);
            // Misses come in groups: five deviations of groups of ten.
            let more = 5.0 * (10.0 * expected.max(1.0)).sqrt();
            assert!(missed <= expected + more, "seed {seed}: {missed} misses, {expected} at most expected");
            soft_missed += one.missed;
            allowed += expected;
        }
    }
    let missed = count(soft_missed);
    assert!(missed <= allowed, "{missed} misses of all tasks, {allowed} allowed");
    assert!(missed > allowed / 20.0, "{missed} misses, {allowed} allowed: the bound says nothing");
}

fn count(number: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "statistics")]
    let count = number as f64;
    count
}
