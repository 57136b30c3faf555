//! Many CPUs of different speeds, with admission: no admitted task is later than was promised, whatever tasks come
//! and go and however servers are resized.

use super::by_definition::own_of;
use super::masks::{some_cores, strays};
use super::world::{Own, UNIT, World, server_of};
use laxity_model::BudgetMode;
use laxity_seeds::seeds;
use laxity_sim::{ChangeOutcome, What};
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

fn world_of(rng: &mut Pcg64) -> World {
    let cores = rng.random_range(1..=3);
    let speeds = (0..cores).map(|_| (rng.random_range(1..=3), rng.random_range(1..=2))).collect();
    let size = |rng: &mut Pcg64| {
        let period = rng.random_range(3..=12);
        (rng.random_range(1..=period / 2 + 1), period)
    };
    let servers = (0..cores).map(|_| if rng.random_range(0..4) == 0 { (0, 0) } else { size(rng) }).collect();
    let count = rng.random_range(2..=5 * cores);
    let tasks = (0..count)
        .map(|_| {
            let period = rng.random_range(4..=24);
            (rng.random_range(1..=period / 2), period, None)
        })
        .collect();
    // Tasks that are there all the time are late more often.
    let plain = rng.random_range(0..3) > 0;
    let mut changes: Vec<(u64, What)> = Vec::new();
    for task in 0..count {
        // The others are in the background at first.
        if plain || rng.random_range(0..6) > 0 {
            changes.push((rng.random_range(0..40), What::Enter { task, cpu: None }));
        }
    }
    for _ in 0..rng.random_range(0..=3 * count) {
        let task = rng.random_range(0..count);
        let what = match rng.random_range(0..8) {
            0..=2 => What::Demote { task },
            3..=4 => What::Promote { task, cpu: None },
            5 => What::Leave { task },
            _ => {
                let (budget, period) = size(rng);
                What::Resize {
                    cpu: rng.random_range(0..u32::try_from(cores).expect("few")),
                    server: server_of(budget, period),
                }
            }
        };
        let at = rng.random_range(40..220);
        changes.push((at, what));
        if matches!(what, What::Demote { .. }) && rng.random_range(0..2) == 0 {
            // Into a place that is not quiet yet.
            changes.push((at, What::Promote { task: rng.random_range(0..count), cpu: None }));
        }
    }
    changes.sort_by_key(|&(at, _)| at);
    let counted = rng.random_range(0..3) == 0;
    let late = (!counted).then(|| rng.random_range(0..=10));
    World {
        speeds,
        tasks,
        own: (0..if plain { 0 } else { count })
            .map(|_| Own { cores: some_cores(rng, cores), ..own_of(rng) })
            .collect(),
        busy: usize::from(rng.random_range(0..4) == 0),
        // Work that arrives late in a server's period may have two budgets.
        bursts: (0..rng.random_range(4..=30))
            .map(|_| (rng.random_range(0..240), rng.random_range(1..=10)))
            .collect(),
        servers,
        reserve: (0, 0),
        changes,
        promise: Some((counted, late)),
        length: 220,
        grace: 400,
        mode: [BudgetMode::Off, BudgetMode::Throttle][rng.random_range(0..2)],
    }
}

/// By task: when it was a real-time task, and its first real-time job of that time.
fn real_time_spans(events: &[Event], end: u64) -> BTreeMap<u32, Vec<(u64, u64, u32)>> {
    let mut spans: BTreeMap<u32, Vec<(u64, u64, u32)>> = BTreeMap::new();
    for event in events {
        let (Some(task), Some(job)) = (event.task, event.job) else { continue };
        match event.kind {
            EventKind::Promote => spans.entry(task).or_default().push((event.time_ns, end, job)),
            EventKind::Demote => {
                spans.get_mut(&task).and_then(|of| of.last_mut()).expect("it was promoted").1 = event.time_ns;
            }
            _ => {}
        }
    }
    spans
}

/// What the lives show.
#[derive(Debug, Default)]
struct Count {
    entered: u32,
    refused: u32,
    again: u32,
    demoted: u32,
    left: u32,
    resized: u32,
    resize_refused: u32,
    jobs: u32,
    late: u32,
    ordinary_jobs: u32,
}

impl Count {
    fn count(&mut self, world: &World, changed: &laxity_sim::Changed) {
        let (at, what) = world.changes[changed.number];
        match (&changed.outcome, what) {
            (ChangeOutcome::RealTime { .. }, _) => {
                self.entered += 1;
                self.again += u32::from(changed.at_ns > at * UNIT);
            }
            (ChangeOutcome::Refused(_), What::Resize { .. }) => self.resize_refused += 1,
            (ChangeOutcome::Refused(_), _) => self.refused += 1,
            (ChangeOutcome::Ordinary, _) => self.demoted += 1,
            (ChangeOutcome::Left, _) => self.left += 1,
            (ChangeOutcome::Resized { .. }, _) => self.resized += 1,
        }
    }
}

#[test]
fn no_task_is_later_than_promised_while_tasks_come_and_go() {
    let mut count = Count::default();
    for seed in seeds!(0..4000) {
        let again = format!("LAXITY_SEEDS={seed}..{}", seed + 1);
        let world = world_of(&mut Pcg64::seed_from_u64(seed));
        let seen = world.simulate();
        seen.changed.iter().for_each(|changed| count.count(&world, changed));
        assert_eq!(seen.changed.len(), world.changes.len(), "{again}: everything has an outcome");
        let verdict = world.verify(&seen.recording, 0);
        assert!(verdict.clean, "{again}: {world:?}\n{verdict}");
        assert_eq!(strays(&world, &seen.recording.events), 0, "{again}: {world:?}");
        let end = (world.length + world.grace) * UNIT;
        let spans = real_time_spans(&seen.recording.events, end);
        let allowed = world.promise.and_then(|(_, late)| late).unwrap_or(0) * UNIT;
        for job in &seen.recording.jobs {
            assert!(job.first_cpu.is_some() || job.finish_ns.is_none(), "{again}");
            let finish = job.finish_ns.unwrap_or(end);
            let of_task = spans.get(&job.task).map_or(&[][..], Vec::as_slice);
            let real_time = of_task.iter().any(|&(from, to, _)| {
                from <= job.release_ns && (finish <= to || job.deadline_ns + allowed < to)
            });
            if !real_time {
                count.ordinary_jobs += 1;
                continue;
            }
            let late = finish.saturating_sub(job.deadline_ns);
            assert!(
                late <= allowed,
                "{again}: T{}.{} is {late} ns late, and may be {allowed}\n{world:?}\n{:?}",
                job.task + 1,
                job.index,
                seen.changed
            );
            count.jobs += 1;
            count.late += u32::from(late > 0);
        }
    }
    println!("{count:?}");
    // Background work seldom has two budgets in a row just when it hurts: `below_servers.rs` makes it.
    let shown = [count.entered, count.refused, count.again, count.demoted, count.left, count.resized];
    let shows = shown.into_iter().chain([count.resize_refused, 10 * count.late]).all(|count| count >= 100);
    assert!(shows || !laxity_seeds::are_usual(), "lives that show little: {count:?}");
}
