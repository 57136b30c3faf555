//! Tasks that are not real-time run where no real-time task does (calandrino2007, 5.1).

mod common;

use common::{Case, timeline};
use laxity_model::{Duration, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_model::{Platform, Task, TaskSet};
use laxity_sim::{Background, BackgroundTask, Recording, Setup, global_cell, simulate};
use laxity_trace::EventKind;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

const EDF_BH: PolicyScheduler = PolicyScheduler {
    policy: Policy::EdfBh,
    scope: Scope::Global,
    rule: PriorityRule::EarliestDeadlineFirst,
};

fn us(us: u64) -> Duration {
    Duration::from_ns(us * 1000)
}

#[test]
fn real_time_tasks_do_not_notice_them() {
    for seed in laxity_seeds::seeds!(0..200) {
        let mut case = Case::random(seed);
        let without = timeline(&case.simulate(EDF_BH, case.cores).events);
        case.background = Background { tasks: small(seed), tick: Duration::from_ns(700) };
        let with = case.simulate(EDF_BH, case.cores);
        assert_eq!(timeline(&with.events), without, "seed {seed}");
        on_free_cores_only(&with, seed);
    }
}

fn small(seed: u64) -> Vec<BackgroundTask> {
    let mut tasks = Background::random(6, seed).tasks;
    for task in &mut tasks {
        task.arrival = Duration::from_ns(task.arrival.as_ns() / 1000);
        task.lifetime = Duration::from_ns(task.lifetime.as_ns() / 10_000);
    }
    tasks
}

/// No CPU has two occupants, and a background task is on one CPU at a time.
fn on_free_cores_only(recording: &Recording, seed: u64) {
    let mut holder: BTreeMap<u32, String> = BTreeMap::new();
    for event in &recording.events {
        let Some(cpu) = event.cpu else { continue };
        let name =
            format!("{:?} {:?} {:?}", event.task, event.job, event.argument.filter(|_| event.task.is_none()));
        let begins = event.kind.begins_running() || event.kind == EventKind::BackgroundStart;
        if begins {
            assert!(!holder.values().any(|other| *other == name), "seed {seed}: twice: {event:?}");
            assert_eq!(holder.insert(cpu, name), None, "seed {seed}: two on one core: {event:?}");
        } else if event.kind.ends_running() || event.kind == EventKind::BackgroundStop {
            assert!(holder.remove(&cpu).is_some(), "seed {seed}: {event:?}");
        }
    }
}

/// One CPU, a real-time task that takes 2 of every 4 ms, a background task that always runs and lives for 10 ms: it gets the
/// other half, waits in the first, and exits at the first tick after 10 ms of running.
#[test]
fn lifetime_and_share_by_hand() {
    let set = TaskSet::new("half", vec![Task::periodic("T1", us(2000), us(4000))]).expect("valid");
    let platform = Platform::symmetric(1).expect("a CPU");
    let background =
        Background { tasks: vec![BackgroundTask::always_ready(Duration::ZERO, us(10_000))], tick: us(1000) };
    let cells = vec![global_cell(&set, &platform)];
    let setup = Setup {
        duration: us(40_000),
        grace: Duration::ZERO,
        background: &background,
        ..Setup::new(&set, &platform, EDF_BH, cells)
    };
    let mut recording = Recording::default();
    let ended = simulate(&setup, &mut recording, &AtomicBool::new(false)).expect("valid");
    let summary = ended.background;
    assert_eq!((summary.entered, summary.exited), (1, 1));
    assert_eq!((summary.run_ns, summary.ready_ns), (10_000_000, 10_000_000));
    assert_eq!(summary.run_percentage(), Some(50.0));
}

/// What background tasks have had of the CPUs: the time, and in how many pieces.
#[derive(Clone, Copy, Default)]
struct Had {
    ns: u64,
    pieces: u64,
}

/// The same for each of `tasks` at every instant at which one of them leaves its CPU.
fn had_over_time(recording: &Recording, tasks: usize) -> Vec<Vec<Had>> {
    let (mut had, mut since, mut over_time) = (vec![Had::default(); tasks], vec![None; tasks], Vec::new());
    for event in recording.events.iter().filter(|event| event.task.is_none()) {
        let Some(id) = event.argument.and_then(|id| usize::try_from(id).ok()) else { continue };
        match event.kind {
            EventKind::BackgroundStart => since[id] = Some(event.time_ns),
            EventKind::BackgroundStop => {
                had[id].ns += event.time_ns - since[id].take().expect("it ran");
                had[id].pieces += 1;
                over_time.push(had.clone());
            }
            _ => {}
        }
    }
    over_time
}

/// A task that takes so much of every 4 ms, and background tasks of these weights that are always ready.
fn weighted(wcet: Duration, weights: &[u32]) -> Case {
    let always = BackgroundTask::always_ready(Duration::ZERO, us(1_000_000_000));
    let tasks = weights.iter().map(|&weight| BackgroundTask { weight, ..always }).collect();
    Case {
        set: TaskSet::new("one", vec![Task::periodic("T1", wcet, us(4_000))]).expect("valid"),
        background: Background { tasks, tick: us(1_000) },
        duration: us(400_000),
        ..Case::plain()
    }
}

/// One CPU, a job that takes every fourth tick, two tasks of which one has twice the other's weight: of the other three ticks it has
/// two.
#[test]
fn shares_by_hand() {
    let case = weighted(us(1_000), &[BackgroundTask::WEIGHT_USUAL, 2 * BackgroundTask::WEIGHT_USUAL]);
    let last = had_over_time(&case.simulate(EDF_BH, 1), 2).pop().expect("they ran");
    assert_eq!([last[0].ns, last[1].ns].map(|ns| ns / 1_000_000), [100, 200]);
}

/// Two tasks that always wait or run have the CPU in proportion to their weights, but for what one slice of each comes to: the bound of
/// start-time fair queueing (Goyal, Vin, Cheng 1997, theorem 1), and what virtual times are rounded by. Jobs of a real-time task come
/// between, under one queue for all CPUs and under that of the CPU.
#[test]
fn shares_follow_weights() {
    let tick = u128::from(us(1_000).as_ns());
    for seed in laxity_seeds::seeds!(0..60) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let weights: Vec<u32> = (0..rng.random_range(2..=6))
            .map(|_| {
                let most = [3, 200, BackgroundTask::WEIGHT_MAX][rng.random_range(0..3)];
                rng.random_range(1..=most)
            })
            .collect();
        let case = weighted(Duration::from_ns(rng.random_range(1_000..=3_000_000)), &weights);
        let scheduler = if rng.random_range(0..2) == 0 {
            EDF_BH
        } else {
            PolicyScheduler {
                policy: Policy::AmpRm,
                scope: Scope::Partitioned,
                rule: PriorityRule::RateMonotonic,
            }
        };
        for had in had_over_time(&case.simulate(scheduler, 1), weights.len()) {
            for (a, b) in (0..had.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let [of_a, of_b] = [a, b].map(|id| u128::from(weights[id]));
                let apart = (u128::from(had[a].ns) * of_b).abs_diff(u128::from(had[b].ns) * of_a);
                let rounded = u128::from(had[a].pieces + had[b].pieces) * of_a * of_b
                    / u128::from(BackgroundTask::WEIGHT_USUAL);
                assert!(
                    apart <= tick * (of_a + of_b) + rounded,
                    "seed {seed}, {scheduler}: {a} had {} and {b} had {} ns of {weights:?}",
                    had[a].ns,
                    had[b].ns
                );
            }
        }
    }
}

#[test]
fn weights_out_of_range_are_refused() {
    for (weight, valid) in [(0, false), (1, true), (BackgroundTask::WEIGHT_MAX, true), (10_001, false)] {
        let case = weighted(us(1_000), &[100, weight]);
        let refused = case.background.check().err();
        assert_eq!(refused.is_none(), valid, "{weight}");
        assert!(refused.is_none_or(|error| error.message.contains("background task 1: weight")));
    }
}
