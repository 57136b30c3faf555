//! amp-rm: deferrable servers and the balance of background work over fast and slow CPUs (calandrino2007, 4 and
//! 5.1).

use laxity_model::{
    BudgetMode, Cell, Core, CpuList, DeferrableServer, Duration, Platform, Policy, PriorityRule, Speed, Task,
    TaskSet,
};
use laxity_oracle::{Cluster, Definition, Verdict, verify};
use laxity_sim::{Background, BackgroundSummary, BackgroundTask, Recording, Servers, Setup, simulate};
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// Parameters are small multiples of this, in ns.
const UNIT: u64 = 1000;

fn units(count: u64) -> Duration {
    Duration::from_ns(count * UNIT)
}

fn platform_of(speeds: &[u32]) -> Platform {
    let cores = speeds
        .iter()
        .zip(0..)
        .map(|(&speed, cpu)| Core { cpu, speed: Speed::new(speed, 1).expect("positive") });
    Platform::new("cores", cores.collect(), vec![], vec![], None).expect("valid")
}

/// A task per (C, T, CPU).
fn set_of(tasks: &[(u64, u64, usize)]) -> TaskSet {
    let task = |(id, &(wcet, period, _)): (usize, &(u64, u64, usize))| {
        Task::periodic(format!("T{}", id + 1), units(wcet), units(period))
    };
    TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("valid")
}

/// Always ready, for so many units from that unit on.
fn always(arrival: u64, lifetime: u64) -> BackgroundTask {
    BackgroundTask::always_ready(units(arrival), units(lifetime))
}

fn server_of(budget: u64, period: u64) -> DeferrableServer {
    DeferrableServer::new(units(budget), units(period)).expect("valid")
}

struct World {
    speeds: Vec<u32>,
    tasks: Vec<(u64, u64, usize)>,
    background: Vec<BackgroundTask>,
    /// (budget, period) by CPU; (0, 0): no server.
    servers: Vec<(u64, u64)>,
    /// Budgets are so many parts of a unit less one.
    less: u64,
    length: u64,
    at_ticks: bool,
    mode: BudgetMode,
}

impl World {
    fn server_of(&self, budget: u64, period: u64) -> DeferrableServer {
        let budget = Duration::from_ns((budget * UNIT).saturating_sub(self.less));
        DeferrableServer::new(budget, units(period)).expect("valid")
    }

    fn simulate(&self) -> (Recording, BackgroundSummary) {
        let platform = platform_of(&self.speeds);
        let set = set_of(&self.tasks);
        let cell = |core: usize| {
            Cell::new(
                CpuList::from_iter([u32::try_from(core).expect("small")]),
                (0..self.tasks.len()).filter(|&id| self.tasks[id].2 == core).collect(),
            )
        };
        let server = |(cpu, &(budget, period)): (u32, &(u64, u64))| {
            (period > 0).then(|| (cpu, self.server_of(budget, period)))
        };
        let servers = Servers { of: (0..).zip(&self.servers).filter_map(server).collect() };
        let background = Background { tasks: self.background.clone(), tick: units(1) };
        let setup = Setup {
            duration: units(self.length),
            grace: Duration::ZERO,
            background: &background,
            servers: &servers,
            at_ticks: self.at_ticks,
            budget_mode: self.mode,
            ..Setup::new(&set, &platform, Policy::SINGLE[0], (0..self.speeds.len()).map(cell).collect())
        };
        let mut recording = Recording::default();
        let ended = simulate(&setup, &mut recording, &AtomicBool::new(false)).expect("valid");
        (recording, ended.background)
    }

    /// Verifies a schedule of an event-exact simulation, where servers have budgets of so much less.
    fn verify(&self, recording: &Recording, less: u64) -> Verdict {
        let cluster = |core: usize| {
            let ids = (0..).zip(&self.tasks).filter(|(_, task)| task.2 == core).map(|(id, _)| id);
            Cluster::new(CpuList::from_iter([u32::try_from(core).expect("small")]), ids.collect())
        };
        let clusters = (0..self.speeds.len()).map(cluster).collect();
        let servers = (0..).zip(&self.servers).filter(|(_, server)| server.1 > 0);
        let servers = servers
            .map(|(cpu, &(budget, period))| (cpu, server_of(budget.saturating_sub(less), period)))
            .collect();
        let rule = PriorityRule::RateMonotonic;
        let definition = Definition::clustered(
            set_of(&self.tasks),
            &platform_of(&self.speeds),
            rule,
            clusters,
            units(self.length),
        );
        let definition = definition.expect("valid").with_servers(servers).with_budgets(self.mode);
        verify(&definition, &recording.events, self.length * UNIT)
    }

    /// Finish of each job that ended, in units, by (task, job).
    fn finishes(recording: &Recording) -> BTreeMap<(u32, u32), u64> {
        let ended = recording.jobs.iter().filter_map(|job| Some(((job.task, job.index), job.finish_ns?)));
        ended.map(|(job, finish)| (job, finish / UNIT)).collect()
    }
}

/// One CPU, unit by unit: which task has it is said here a second time, by the definition alone. The unit is the
/// tick of a scheduler that looks at ticks only: the task that has a CPU at a tick has it until the next one, and
/// background work goes first at a tick if less than the budget has been used in the server's period; so budgets
/// come to whole ticks, as C does on the CPU (`Admission::at_ticks`), and are not made up for in the next period.
/// Where speed is 1 and all budgets are whole, nothing ever changes between ticks, and it is the same for a
/// scheduler that looks at any time.
fn by_definition(world: &World) -> (BTreeMap<(u32, u32), u64>, u64) {
    let (budget, period) = world.servers[0];
    let budget = (budget * UNIT).saturating_sub(world.less);
    let speed = u64::from(world.speeds[0]);
    let mut left: Vec<u64> = world.background.iter().map(|task| task.lifetime.as_ns() / UNIT).collect();
    let mut pending: Vec<Vec<(u32, u64)>> = vec![vec![]; world.tasks.len()];
    let mut finishes = BTreeMap::new();
    let (mut used, mut ran) = (0, 0);
    for now in 0..world.length {
        if period > 0 && now % period == 0 {
            used = 0;
        }
        for (id, &(wcet, period, _)) in world.tasks.iter().enumerate() {
            if now % period == 0 {
                pending[id].push((u32::try_from(now / period).expect("small"), wcet.div_ceil(speed)));
            }
        }
        let ordinary = (0..left.len()).find(|&id| left[id] > 0 && world.background[id].arrival <= units(now));
        let ready = (0..world.tasks.len()).filter(|&id| !pending[id].is_empty());
        let first = ready.min_by_key(|&id| (world.tasks[id].1, id));
        match (ordinary, first) {
            (Some(other), _) if (period > 0 && used < budget) || first.is_none() => {
                left[other] -= 1;
                used += UNIT;
                ran += 1;
            }
            (_, Some(id)) => {
                pending[id][0].1 -= 1;
                if pending[id][0].1 == 0 {
                    let (job, _) = pending[id].remove(0);
                    finishes.insert((u32::try_from(id).expect("small"), job), now + 1);
                }
            }
            _ => {}
        }
    }
    (finishes, ran)
}

#[test]
fn a_server_by_hand() {
    // C = 4, T = 10, and always background work, which goes first for 2 of every 5.
    let world = World {
        speeds: vec![1],
        tasks: vec![(4, 10, 0)],
        background: vec![always(0, 1000)],
        servers: vec![(2, 5)],
        less: 0,
        length: 20,
        at_ticks: false,
        mode: BudgetMode::Off,
    };
    let (recording, background) = world.simulate();
    let seen: Vec<(u64, EventKind)> = recording
        .events
        .iter()
        .filter(|event| event.kind.begins_running() || event.kind.ends_running())
        .map(|event| (event.time_ns / UNIT, event.kind))
        .collect();
    use EventKind::{Complete, Preempt, Resume, Start};
    let expected = [(2, Start), (5, Preempt), (7, Resume), (8, Complete)];
    let again = expected.map(|(time, kind)| (time + 10, kind));
    assert_eq!(seen, [expected, again].concat());
    assert_eq!((background.run_ns, background.ready_ns), (12 * UNIT, 8 * UNIT));
}

#[test]
fn one_core_is_as_defined() {
    let mut first = 0;
    for seed in laxity_seeds::seeds!(0..4000) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let count = rng.random_range(1..=4);
        let tasks = (0..count)
            .map(|_| {
                let period = rng.random_range(2..=12);
                (rng.random_range(1..=period.min(5)), period, 0)
            })
            .collect();
        let period = rng.random_range(0..=8);
        let world = World {
            speeds: vec![1],
            tasks,
            background: (0..rng.random_range(1..=3))
                .map(|_| always(rng.random_range(0..40), rng.random_range(1..30)))
                .collect(),
            servers: vec![(rng.random_range(0..=period), period)],
            less: 0,
            length: 120,
            at_ticks: seed % 2 == 0,
            mode: BudgetMode::Off,
        };
        let (recording, background) = world.simulate();
        let (finishes, ran) = by_definition(&world);
        let seen = World::finishes(&recording);
        assert_eq!(seen, finishes, "seed {seed}");
        assert_eq!(background.run_ns, ran * UNIT, "seed {seed}");
        if !world.at_ticks {
            let verdict = world.verify(&recording, 0);
            assert!(verdict.clean, "seed {seed}: {verdict}");
        }
        let without = World { servers: vec![(0, 0)], ..world };
        first += u64::from(World::finishes(&without.simulate().0) != seen);
    }
    laxity_seeds::assert_together!(first > 1000, "servers matter: {first}");
}

#[test]
fn at_ticks_everything_comes_to_whole_ticks() {
    let (mut fractions, mut several) = (0, 0);
    for seed in laxity_seeds::seeds!(0..4000) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let tasks = (0..rng.random_range(1..=4))
            .map(|_| {
                let period = rng.random_range(2..=12);
                (rng.random_range(1..=period.min(8)), period, 0)
            })
            .collect();
        let period = rng.random_range(1..=8);
        let world = World {
            speeds: vec![rng.random_range(1..=8)],
            tasks,
            background: (0..rng.random_range(1..=3))
                .map(|_| always(rng.random_range(0..40), rng.random_range(1..60)))
                .collect(),
            servers: vec![(rng.random_range(0..=period), period)],
            less: rng.random_range(0..UNIT),
            length: 120,
            at_ticks: true,
            mode: BudgetMode::Off,
        };
        let (recording, background) = world.simulate();
        let (finishes, ran) = by_definition(&world);
        assert_eq!(World::finishes(&recording), finishes, "seed {seed}");
        assert_eq!(background.run_ns, ran * UNIT, "seed {seed}");
        assert!(recording.events.iter().all(|event| event.time_ns % UNIT == 0), "seed {seed}");
        let exact = World { at_ticks: false, ..world };
        fractions += u32::from(exact.less > 0 && exact.servers[0].0 > 0);
        several += u32::from(World::finishes(&exact.simulate().0) != finishes);
    }
    laxity_seeds::assert_together!(
        fractions > 2000 && several > 1000,
        "ticks matter: {fractions}, {several}"
    );
}

#[test]
fn at_ticks_a_job_keeps_its_core_until_the_next_tick() {
    // 3 units of work take one and a half on a core twice as fast.
    for (at_ticks, finish) in [(false, 3 * UNIT / 2), (true, 2 * UNIT)] {
        let world = World {
            speeds: vec![2],
            tasks: vec![(3, 10, 0)],
            background: vec![always(20, 1)],
            servers: vec![(0, 0)],
            less: 0,
            length: 10,
            at_ticks,
            mode: BudgetMode::Throttle,
        };
        let (recording, _) = world.simulate();
        assert_eq!(recording.jobs[0].finish_ns, Some(finish), "at ticks: {at_ticks}");
    }
}

/// What runs on each CPU after each instant: a background task (true) or a job.
fn occupants(events: &[Event]) -> Vec<(u64, BTreeMap<u32, bool>)> {
    let mut on: BTreeMap<u32, bool> = BTreeMap::new();
    let mut after = Vec::new();
    for instant in events.chunk_by(|a, b| a.time_ns == b.time_ns) {
        for event in instant {
            let Some(cpu) = event.cpu else { continue };
            if event.kind.begins_running() || event.kind == EventKind::BackgroundStart {
                assert!(
                    on.insert(cpu, event.kind == EventKind::BackgroundStart).is_none(),
                    "two at once: {event:?}"
                );
            } else if event.kind.ends_running() || event.kind == EventKind::BackgroundStop {
                assert!(on.remove(&cpu).is_some(), "{event:?}");
            }
        }
        after.push((instant[0].time_ns, on.clone()));
    }
    after
}

/// On many cores: no real-time task migrates, budgets hold in every period, no CPU idles while a background task waits, and none
/// while one runs on a slower CPU.
#[test]
fn many_cores() {
    let mut caught = 0;
    for seed in laxity_seeds::seeds!(0..600) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let cores = rng.random_range(2..=5);
        let speeds: Vec<u32> = (0..cores).map(|_| rng.random_range(1..=3)).collect();
        let tasks: Vec<(u64, u64, usize)> = (0..rng.random_range(1..=6))
            .map(|_| (rng.random_range(1..=4), rng.random_range(4..=12), rng.random_range(0..cores)))
            .collect();
        let count = rng.random_range(1..=8);
        let world = World {
            background: (0..count).map(|_| always(0, 100_000)).collect(),
            servers: (0..cores).map(|_| (rng.random_range(0..=4), rng.random_range(4..=8))).collect(),
            less: 0,
            length: 100,
            at_ticks: seed % 2 == 0,
            mode: [BudgetMode::Off, BudgetMode::Throttle][usize::from(seed % 3 == 0)],
            speeds,
            tasks,
        };
        let (recording, _) = world.simulate();
        if !world.at_ticks {
            let verdict = world.verify(&recording, 0);
            assert!(verdict.clean, "seed {seed}: {verdict}");
            caught += u64::from(!world.verify(&recording, 1).clean);
        }
        assert!(recording.jobs.iter().all(|job| job.migrations.unwrap_or(0) == 0), "seed {seed}");
        for (time, on) in occupants(&recording.events) {
            let running: BTreeSet<u32> =
                on.iter().filter(|&(_, &background)| background).map(|(&cpu, _)| cpu).collect();
            let idle = (0..u32::try_from(cores).expect("small")).filter(|cpu| !on.contains_key(cpu));
            let fastest_idle = idle.map(|cpu| world.speeds[cpu as usize]).max();
            if let Some(idle) = fastest_idle
                && time + UNIT < 100 * UNIT
            {
                assert!(
                    running.len() == count,
                    "seed {seed}: a CPU idles at {time} and {running:?} run of {count}"
                );
                let slowest = running.iter().map(|&cpu| world.speeds[cpu as usize]).min();
                assert!(slowest >= Some(idle), "seed {seed}: at {time} a faster CPU idles: {on:?}");
            }
        }
    }
    laxity_seeds::assert_together!(caught > 100, "background work that stays too long is noticed: {caught}");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refused = |servers: &[u32], scheduler: &str| {
        let platform = platform_of(&[1, 1]);
        let set = set_of(&[(1, 10, 0)]);
        let servers = Servers { of: servers.iter().map(|&cpu| (cpu, server_of(1, 10))).collect() };
        let cells = vec![Cell::new(CpuList::from_iter([0]), vec![0])];
        let setup = Setup {
            servers: &servers,
            ..Setup::new(&set, &platform, scheduler.parse().expect("known"), cells)
        };
        setup.check().expect_err("refused").to_string()
    };
    assert!(refused(&[7], "amp-rm").contains("CPU 7"));
    assert!(refused(&[0, 0], "amp-rm").contains("after one of CPU 0"));
    assert!(refused(&[0], "edf-bh").contains("migrates"));
}
