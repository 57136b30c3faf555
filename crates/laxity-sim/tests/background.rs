//! Tasks that are not real-time run where no real-time task does (calandrino2007, 5.1).

mod common;

use common::{Case, timeline};
use laxity_model::{Duration, Policy, PolicyScheduler, PriorityRule, Scope};
use laxity_model::{Platform, Task, TaskSet};
use laxity_sim::{Background, BackgroundTask, Recording, Setup, global_cell, simulate};
use laxity_trace::EventKind;
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
    let background = Background {
        tasks: vec![BackgroundTask {
            arrival: Duration::ZERO,
            lifetime: us(10_000),
            run_ratio_ppm: 1_000_000,
        }],
        tick: us(1000),
    };
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
