//! Random small systems for the tests of the simulator.

#![allow(dead_code, reason = "every test uses its part")]

pub mod broken;
pub mod costly;

use laxity_model::{
    Arrival, BudgetMode, Cell, Demand, Duration, OnMiss, Platform, PolicyScheduler, Scope, Task, TaskSet,
};
use laxity_oracle::{Cluster, Definition, TimelineBuilder, first_difference, reference, verify};
use laxity_sim::{Background, Observer, Recording, Setup, costs::Costs, simulate};
use laxity_trace::Event;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// A task set with a number of CPUs. Instants are small numbers, so that many coincide.
pub struct Case {
    pub seed: u64,
    pub set: TaskSet,
    pub cores: u32,
    pub demand: Demand,
    pub batching: bool,
    pub budget_mode: BudgetMode,
    pub on_miss: OnMiss,
    pub duration: Duration,
    pub costs: Costs,
    pub background: Background,
}

impl Case {
    /// 1 to 12 tasks on 1 to 6 CPUs, light to overloaded, periodic and sporadic, with phases, deadlines below, at and above T.
    pub fn random(seed: u64) -> Case {
        let mut rng = Pcg64::seed_from_u64(seed);
        let cores = rng.random_range(1..=6);
        let count = rng.random_range(1..=12);
        let unit = 1_000;
        let tasks = (0..count)
            .map(|id| {
                let period = rng.random_range(2..=12u64);
                let wcet = rng.random_range(1..=period);
                let deadline = match rng.random_range(0..4) {
                    0 => rng.random_range(wcet..=period),
                    1 => rng.random_range(period..=2 * period),
                    _ => period,
                };
                let phase = if rng.random_range(0..2) == 0 { 0 } else { rng.random_range(0..=8) };
                let arrival = if rng.random_range(0..4) == 0 {
                    Arrival::Sporadic { min_interarrival: Duration::from_ns(period * unit) }
                } else {
                    Arrival::Periodic { period: Duration::from_ns(period * unit) }
                };
                Task {
                    arrival,
                    deadline_rel: Duration::from_ns(deadline * unit),
                    phase: Duration::from_ns(phase * unit),
                    priority: Some(rng.random_range(0..5)),
                    batching: rng.random_range(0..5) != 0,
                    ..Task::periodic(
                        format!("T{}", id + 1),
                        Duration::from_ns(wcet * unit),
                        Duration::from_ns(period * unit),
                    )
                }
            })
            .collect();
        let demand =
            if rng.random_range(0..2) == 0 { Demand::Wcet } else { Demand::Uniform(200_000, 1_300_000) };
        Case {
            seed,
            set: TaskSet::new("random", tasks).expect("valid"),
            cores,
            demand,
            batching: rng.random_range(0..2) == 0,
            budget_mode: BudgetMode::Off,
            on_miss: OnMiss::Continue,
            duration: Duration::from_ns(120 * unit),
            costs: Costs::default(),
            background: Background::default(),
        }
    }

    /// Nothing but defaults: one periodic task on one CPU.
    pub fn plain() -> Case {
        Case {
            seed: 1,
            set: TaskSet::new(
                "one",
                vec![Task::periodic("T1", Duration::from_ns(1000), Duration::from_ns(2000))],
            )
            .expect("valid"),
            cores: 1,
            demand: Demand::Wcet,
            batching: true,
            budget_mode: BudgetMode::Off,
            on_miss: OnMiss::Continue,
            duration: Duration::from_ns(10_000),
            costs: Costs::default(),
            background: Background::default(),
        }
    }

    /// One cell per CPU (the tasks dealt in turn), per two CPUs, or one for all.
    pub fn cells(&self, scope: Scope, platform: &Platform) -> Vec<Cell> {
        let cpus: Vec<u32> = platform.cpus().iter().collect();
        let size = match scope {
            Scope::Global => cpus.len(),
            Scope::Clustered => 2,
            Scope::Partitioned => 1,
        };
        let mut cells: Vec<Cell> =
            cpus.chunks(size).map(|cpus| Cell::new(cpus.iter().copied().collect(), Vec::new())).collect();
        let count = cells.len();
        for (id, _) in self.set.real_time() {
            cells[id % count].tasks.push(id);
        }
        cells
    }

    pub fn simulate(&self, scheduler: PolicyScheduler, cores: u32) -> Recording {
        self.simulate_with(scheduler, cores, |_| {})
    }

    pub fn simulate_with(
        &self,
        scheduler: PolicyScheduler,
        cores: u32,
        change: impl FnOnce(&mut Setup<'_>),
    ) -> Recording {
        let platform = Platform::symmetric(cores).expect("cores");
        self.simulate_on(scheduler, &platform, change)
    }

    pub fn simulate_on(
        &self,
        scheduler: PolicyScheduler,
        platform: &Platform,
        change: impl FnOnce(&mut Setup<'_>),
    ) -> Recording {
        let mut recording = Recording::default();
        self.simulate_to(scheduler, platform, change, &mut recording);
        recording
    }

    pub fn simulate_to(
        &self,
        scheduler: PolicyScheduler,
        platform: &Platform,
        change: impl FnOnce(&mut Setup<'_>),
        observer: &mut impl Observer,
    ) {
        let mut setup = Setup {
            duration: self.duration,
            grace: Duration::from_ns(GRACE_NS),
            seed: self.seed,
            demand: self.demand,
            budget_mode: self.budget_mode,
            on_miss: self.on_miss,
            batching: self.batching,
            costs: &self.costs,
            background: &self.background,
            ..Setup::new(&self.set, platform, scheduler, self.cells(scheduler.scope, platform))
        };
        change(&mut setup);
        simulate(&setup, observer, &AtomicBool::new(false)).expect("a valid setup");
    }

    pub fn describe(&self) -> String {
        format!(
            "{} CPUs, batching {}, demand {}:\n{}",
            self.cores,
            self.batching,
            self.demand,
            self.set.to_toml()
        )
    }
}

/// When each job ran, wherever that was: adjoining intervals are one.
pub fn timeline(events: &[Event]) -> BTreeMap<(u32, u32), Vec<(u64, u64)>> {
    let mut running: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut runs: BTreeMap<(u32, u32), Vec<(u64, u64)>> = BTreeMap::new();
    for event in events {
        let (Some(task), Some(job)) = (event.task, event.job) else { continue };
        if event.kind.begins_running() {
            assert!(running.insert((task, job), event.time_ns).is_none(), "a job on two CPUs: {event:?}");
        } else if event.kind.ends_running() {
            let from = running.remove(&(task, job)).expect("it ran");
            let runs = runs.entry((task, job)).or_default();
            match runs.last_mut() {
                Some(last) if last.1 == from => last.1 = event.time_ns,
                _ if from == event.time_ns => {}
                _ => runs.push((from, event.time_ns)),
            }
        }
    }
    runs
}

/// How long after the last release a simulation goes on.
pub const GRACE_NS: u64 = 200_000;

/// What a case claims to be under a scheduler.
pub fn definition_of(case: &Case, scheduler: PolicyScheduler, cores: u32) -> Definition {
    definition_on(case, scheduler, &Platform::symmetric(cores).expect("cores"))
}

/// The same on any platform.
pub fn definition_on(case: &Case, scheduler: PolicyScheduler, platform: &Platform) -> Definition {
    let clusters = case
        .cells(scheduler.scope, platform)
        .into_iter()
        .map(|cell| {
            let dedicated = cell.cpus.iter().last().filter(|_| scheduler.policy.dedicates_a_core());
            let tasks = cell.tasks.iter().map(|&task| u32::try_from(task).expect("few")).collect();
            Cluster { cpus: cell.cpus, dedicated: dedicated.into_iter().collect(), tasks }
        })
        .collect();
    let definition =
        Definition::clustered(case.set.clone(), platform, scheduler.rule, clusters, case.duration)
            .expect("a valid definition");
    let definition = if scheduler.policy.minds_laxity() { definition.with_laxities() } else { definition };
    let is_free = scheduler.policy.prototype().is_some_and(|prototype| !prototype.claims_order());
    let definition = if is_free { definition.with_free_order() } else { definition };
    definition
        .with_budgets(case.budget_mode)
        .with_batching(case.batching)
        .with_on_miss(case.on_miss)
        .with_jobs(case.seed, case.demand)
}

/// Simulates: the oracles find nothing, and the schedule is that of the reference scheduler.
pub fn check(case: &Case, scheduler: PolicyScheduler, cores: u32) -> Recording {
    let definition = definition_of(case, scheduler, cores);
    let recording = case.simulate(scheduler, cores);
    let horizon = case.duration.as_ns() + GRACE_NS;
    let context = || format!("seed {}, {scheduler}, {:?}: {}", case.seed, case.budget_mode, case.describe());
    let verdict = verify(&definition, &recording.events, horizon);
    assert!(verdict.clean, "{verdict}\n{}", context());
    let expected = reference(&definition, &definition.jobs(), horizon).expect("a schedule");
    let found = TimelineBuilder::of(&recording.events, horizon).expect("well-formed");
    let difference = first_difference(&expected.timeline, &found);
    assert!(difference.is_none(), "{difference:?}\n{}", context());
    recording
}
