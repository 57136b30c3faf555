//! Synthetic results: what a comparison looks like, with every kind of run, from a fixed seed.

#[path = "../../../laxity-trace/tests/noise/mod.rs"]
mod noise;

use laxity_model::{CpuList, Duration, Provenance, Task, TaskSet, WorkingSet};
use laxity_trace::{
    ALONE, Counters, Host, Job, JobOutcome, Machine, PlacedBin, PlacementRecord, RESULTS_VERSION, Results,
    Run, RunStatus,
};
pub use noise::Noise;
use std::collections::BTreeMap;

pub const NAMES: [&str; 12] = [
    "imu",
    "camera-left",
    "camera-right",
    "lidar",
    "fusion",
    "planner",
    "control",
    "actuators",
    "logger",
    "telemetry",
    "watchdog",
    "diagnostics-of-everything",
];

/// Twelve tasks with U = 1.4.
pub fn set_of_twelve() -> TaskSet {
    let rows: [(u64, u64, u64); 12] = [
        (10, 800, 16),
        (33, 5_200, 256),
        (33, 5_300, 256),
        (50, 8_000, 256),
        (40, 5_500, 64),
        (100, 14_000, 64),
        (10, 900, 4),
        (20, 1_400, 4),
        (98, 9_000, 1024),
        (80, 6_000, 64),
        (25, 1_000, 4),
        (98, 12_000, 256),
    ];
    let task = |(name, (period, wcet, wss)): (&str, (u64, u64, u64))| Task {
        working_set: WorkingSet { size_bytes: wss << 10, ..WorkingSet::default() },
        ..Task::periodic(name, Duration::from_us(wcet), Duration::from_ms(period))
    };
    TaskSet::new("rover", NAMES.into_iter().zip(rows).map(task).collect()).expect("a valid set")
}

/// How jobs fare under a scheduler.
#[derive(Clone, Copy)]
pub struct Behaviour {
    pub scheduler: &'static str,
    /// Execution time relative to the WCET, in per mille.
    pub inflation: u64,
    /// Interference, in per mille of the period, for a task with a long period.
    pub interference: u64,
    /// One in so many jobs of long-period tasks is late; 0: none.
    pub late_every: u64,
    pub migrates: bool,
}

pub const SIX: [Behaviour; 6] = [
    Behaviour { scheduler: "g-edf", inflation: 930, interference: 350, late_every: 0, migrates: true },
    Behaviour { scheduler: "g-rm", inflation: 935, interference: 420, late_every: 14, migrates: true },
    Behaviour { scheduler: "c-edf", inflation: 900, interference: 340, late_every: 0, migrates: true },
    Behaviour { scheduler: "c-rm", inflation: 902, interference: 380, late_every: 60, migrates: true },
    Behaviour { scheduler: "p-edf", inflation: 880, interference: 430, late_every: 0, migrates: false },
    Behaviour { scheduler: "p-rm", inflation: 884, interference: 520, late_every: 9, migrates: false },
];

pub fn jobs_of(set: &TaskSet, b: Behaviour, duration: Duration, noise: &mut Noise) -> Vec<Job> {
    let longest = set.period_max().as_ns();
    let mut jobs = Vec::new();
    for (id, task) in set.tasks().iter().enumerate() {
        let (period, wcet) = (task.period().as_ns(), task.wcet.as_ns());
        let releases = duration.as_ns().div_ceil(period);
        for index in 0..releases {
            let release = index * period;
            let cpu_time = wcet * noise.within(b.inflation - 30, b.inflation + 20) / 1000;
            let wait = period * noise.within(0, b.interference * period / longest + 20) / 1000;
            let late = b.late_every > 0 && period * 2 > longest && noise.next().is_multiple_of(b.late_every);
            let extra = if late { task.deadline_rel.as_ns() - wcet + noise.within(1, wcet) } else { 0 };
            let response = if b.interference == 0 { cpu_time } else { cpu_time + wait + extra };
            let finish = release + response;
            let migrations = if b.migrates { u32::from(noise.next().is_multiple_of(3)) } else { 0 };
            let ended = finish <= duration.as_ns() + period;
            jobs.push(Job {
                task: u32::try_from(id).expect("few tasks"),
                index: u32::try_from(index).expect("few jobs"),
                release_ns: release,
                deadline_ns: release + task.deadline_rel.as_ns(),
                demand_ns: Some(wcet),
                warm_ns: None,
                cause: None,
                outcome: if ended { JobOutcome::Completed } else { JobOutcome::Unfinished },
                start_ns: Some(release + wait),
                finish_ns: ended.then_some(finish),
                cpu_time_ns: ended.then_some(cpu_time),
                first_cpu: Some(0),
                last_cpu: Some(migrations % 2),
                migrations: Some(migrations),
                context_switches: Some(1 + migrations + u32::from(noise.next().is_multiple_of(4))),
                counters: Counters::default(),
            });
        }
    }
    jobs
}

fn placement(set: &TaskSet, bins: &[&str], method: &str, notes: &[&str]) -> PlacementRecord {
    let mut placed: Vec<PlacedBin> = bins
        .iter()
        .map(|cpus| PlacedBin { cpus: cpus.parse().expect("CPUs"), tasks: vec![], load: String::new() })
        .collect();
    let mut loads = vec![0.0; bins.len()];
    for (id, task) in set.tasks().iter().enumerate() {
        let bin = id % bins.len();
        placed[bin].tasks.push(task.name.clone());
        loads[bin] += task.utilization().to_f64();
    }
    placed.iter_mut().zip(loads).for_each(|(bin, load)| bin.load = format!("{load:.4}"));
    PlacementRecord {
        method: method.into(),
        bins: placed,
        ordinary: vec![],
        notes: notes.iter().map(|&n| n.to_owned()).collect(),
    }
}

pub fn counters_missing() -> BTreeMap<String, String> {
    let reason = "the machine has no performance counters (perf_event_open: no such device)";
    ["l1d_misses", "l2_misses", "llc_misses"].map(|c| (c.to_owned(), reason.to_owned())).into()
}

pub fn run(set: u32, scheduler: &str, repetition: u32, duration: Duration, jobs: Vec<Job>) -> Run {
    Run {
        set,
        repetition,
        not_measured: counters_missing(),
        jobs,
        ..Run::new(scheduler, Host::Linux, duration, RunStatus::Completed)
    }
}

pub fn results(task_sets: &[TaskSet], mut runs: Vec<Run>, cores: u32) -> Results {
    (0u32..).zip(&mut runs).for_each(|(id, run)| run.id = id);
    Results {
        version: RESULTS_VERSION,
        laxity_version: "0.1.0".into(),
        command: ["laxity", "compare", "rover.toml", "--duration", "10s", "--repeat", "3", "--seed", "42"]
            .map(str::to_owned)
            .into(),
        created: "2026-11-21T03:00:00Z".into(),
        seed: 42,
        platform: None,
        machine: Machine {
            host_name: "bench-1".into(),
            cpu_model: "Example CPU 3000 @ 2.60 GHz".into(),
            kernel: "6.18.0".into(),
            cpus: CpuList::first(cores),
            clusters: vec![CpuList::first(cores)],
            caches: vec![
                "L1d 48 KiB per core".into(),
                "L2 2 MiB per core".into(),
                "L3 105 MiB shared by 0-1".into(),
            ],
            memory_bytes: Some(8 << 30),
            facts: [("virtualization", "kvm"), ("governor", "none"), ("clock_source", "kvm-clock")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .into(),
            tuning: None,
        },
        task_sets: task_sets.iter().map(TaskSet::to_json_value).collect(),
        options: [("demand", "0.9"), ("demand_model", "cpu-time"), ("budget_margin", "5%")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into(),
        background: vec![],
        analysis: vec![],
        runs,
    }
}

/// Twelve tasks, six schedulers, three repetitions: g-rm was interrupted once, c-rm could not run.
pub fn rover() -> Results {
    let set = set_of_twelve();
    let duration = Duration::from_secs(10);
    let mut noise = Noise(42);
    let alone =
        Behaviour { scheduler: ALONE, inflation: 870, interference: 0, late_every: 0, migrates: false };
    let mut runs = vec![run(0, ALONE, 0, duration, jobs_of(&set, alone, duration, &mut noise))];
    for b in SIX {
        for repetition in 0..3 {
            let mut run = run(0, b.scheduler, repetition, duration, vec![]);
            run.placement = Some(match &b.scheduler[..1] {
                "p" => placement(&set, &["0", "1"], "ilp", &["optimal (gap 0 %) in 0.03 s"]),
                _ => placement(&set, &["0-1"], "one bin", &[]),
            });
            if b.scheduler.ends_with("edf") {
                run.notes.push("budgets are 5 % above the WCET".into());
            }
            match (b.scheduler, repetition) {
                ("c-rm", _) => {
                    let reason = "this machine has one cluster: c-rm would be the same as g-rm".to_owned();
                    run.status = RunStatus::NotRun { reason };
                }
                ("g-rm", 2) => {
                    let ran = Duration::from_ms(4_200);
                    run.status =
                        RunStatus::Interrupted { reason: "interrupted by the user (SIGINT)".into(), ran };
                    run.jobs = jobs_of(&set, b, ran, &mut noise);
                }
                _ => run.jobs = jobs_of(&set, b, duration, &mut noise),
            }
            runs.push(run);
        }
    }
    results(&[set], runs, 2)
}

/// A generated set of `n` tasks with U = `per_mille`/1000.
pub fn generated(name: &str, n: u64, per_mille: u64, wss: u64, index: u64) -> TaskSet {
    let mut noise = Noise(index * 1000 + n * 7 + per_mille);
    let mut left = per_mille * 1_000;
    let mut tasks = Vec::new();
    for k in 0..n {
        let share = if k + 1 == n { left } else { left / (n - k) };
        left -= share;
        let period = Duration::from_us(noise.within(10, 100) * 1000);
        let wcet = Duration::from_ns(period.as_ns() / 1_000_000 * share);
        let working_set = WorkingSet { size_bytes: wss, ..WorkingSet::default() };
        tasks.push(Task { working_set, ..Task::periodic(format!("t{k}"), wcet, period) });
    }
    let parameters = [("tasks", n.to_string()), ("utilization", per_mille.to_string())];
    TaskSet::new(name, tasks).expect("a valid set").with_provenance(Provenance {
        generator: "emberson".into(),
        rng: "pcg64".into(),
        seed: 1,
        index,
        parameters: parameters.map(|(k, v)| (k.to_owned(), v)).into(),
    })
}

/// The paper's grid on two cores: U/m .6 .7 .8, 4 6 8 tasks, 16 and 256 KiB, `sets` sets each.
pub fn grid(sets: u64, duration: Duration) -> Results {
    let (mut task_sets, mut runs) = (Vec::new(), Vec::new());
    let mut noise = Noise(7);
    for wss in [16u64 << 10, 256 << 10] {
        for per_core in [600u64, 700, 800] {
            for n in [4u64, 6, 8] {
                for index in 0..sets {
                    let name = format!("u{per_core}-n{n}-w{}-{index}", wss >> 10);
                    let set = generated(&name, n, per_core * 2, wss, index);
                    let at = u32::try_from(task_sets.len()).expect("few sets");
                    let alone = Behaviour {
                        scheduler: ALONE,
                        inflation: 870,
                        interference: 0,
                        late_every: 0,
                        migrates: false,
                    };
                    let mut alone = run(at, ALONE, 0, duration, jobs_of(&set, alone, duration, &mut noise));
                    for job in &mut alone.jobs {
                        job.counters.l1d_misses = job.cpu_time_ns.map(|ns| ns * wss / 4_000_000_000);
                        job.counters.l2_misses = job.cpu_time_ns.map(|ns| ns / 8_000);
                    }
                    runs.push(alone);
                    for mut b in SIX {
                        b.inflation += if wss > 100_000 { 60 } else { 0 };
                        b.interference = b.interference * per_core / 700 * n / 6;
                        b.late_every = if per_core == 800 { b.late_every } else { b.late_every * 50 };
                        runs.push(run(at, b.scheduler, 0, duration, jobs_of(&set, b, duration, &mut noise)));
                    }
                    task_sets.push(set);
                }
            }
        }
    }
    results(&task_sets, runs, 2)
}
