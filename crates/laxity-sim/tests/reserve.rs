//! The reserve: what real-time tasks leave of every CPU to background tasks (`policy/reserve.h`).

mod common;

use common::{Case, GRACE_NS, definition_of, timeline};
use laxity_model::{
    BudgetMode, Cell, CpuList, DeferrableServer, Demand, Duration, Platform, Policy, PolicyScheduler,
    PriorityRule, Reserve, Scope, Task, TaskSet,
};
use laxity_oracle::{Cluster, Definition, Oracle, Verdict, verify};
use laxity_sim::costs::Costs;
use laxity_sim::{Background, BackgroundTask, Recording, Servers, Setup, simulate};
use laxity_trace::EventKind;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::sync::atomic::AtomicBool;

/// Parameters are small multiples of this, in ns.
const UNIT: u64 = 1000;

const EDF: PriorityRule = PriorityRule::EarliestDeadlineFirst;

fn units(count: u64) -> Duration {
    Duration::from_ns(count * UNIT)
}

fn reserve_of(share: u64, window: u64) -> Reserve {
    Reserve::new(units(share), units(window)).expect("valid")
}

/// Ready from that unit on, until they have run for so many.
fn always(arrival: u64, lifetime: u64) -> BackgroundTask {
    BackgroundTask::always_ready(units(arrival), units(lifetime))
}

fn background_of(tasks: Vec<BackgroundTask>) -> Background {
    Background { tasks, tick: units(1) }
}

/// When background tasks began and stopped running, wherever that was, in units.
fn background_runs(recording: &Recording) -> Vec<(u64, EventKind)> {
    let runs = |kind| matches!(kind, EventKind::BackgroundStart | EventKind::BackgroundStop);
    let events = recording.events.iter().filter(|event| runs(event.kind));
    events.map(|event| (event.time_ns / UNIT, event.kind)).collect()
}

/// One task of C = T = 5 on one CPU, and a background task that is there from the beginning: in each window of ten it has the last
/// three, and the tasks' jobs come ever later.
#[test]
fn a_full_cpu_by_hand() {
    let set = TaskSet::new("full", vec![Task::periodic("T1", units(5), units(5))]).expect("valid");
    let case =
        Case { set, duration: units(30), background: background_of(vec![always(0, 100)]), ..Case::plain() };
    for policy in Policy::GENERAL.iter().copied().filter(|policy| !policy.dedicates_a_core()) {
        let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule: EDF };
        let setup = |setup: &mut Setup<'_>| {
            (setup.reserve, setup.grace) = (reserve_of(3, 10), Duration::ZERO);
        };
        let recording = case.simulate_with(scheduler, 1, setup);
        use EventKind::{BackgroundStart, BackgroundStop};
        let expected = [
            (7, BackgroundStart),
            (10, BackgroundStop),
            (17, BackgroundStart),
            (20, BackgroundStop),
            (27, BackgroundStart),
        ];
        let seen = background_runs(&recording);
        assert_eq!(seen[..5], expected, "{policy}");
        let jobs = timeline(&recording.events);
        let runs: Vec<(u64, u64)> = (0..4)
            .flat_map(|job| jobs[&(0, job)].clone())
            .map(|(from, to)| (from / UNIT, to / UNIT))
            .collect();
        // The second job has (5, 7), and the third what is left of the second window: its last unit is in the third one.
        assert_eq!(runs, [(0, 5), (5, 7), (10, 13), (13, 17), (20, 21), (21, 26)], "{policy}");
    }
}

/// A background task that comes when the share has been used up has the rest of the window at once; what is not used is lost.
#[test]
fn what_real_time_work_had_before_counts() {
    let set = TaskSet::new("full", vec![Task::periodic("T1", units(5), units(5))]).expect("valid");
    let tasks = vec![always(9, 100)];
    let case = Case { set, duration: units(20), background: background_of(tasks), ..Case::plain() };
    let scheduler = PolicyScheduler { policy: Policy::EdfBh, scope: Scope::Global, rule: EDF };
    let recording = case.simulate_with(scheduler, 1, |setup| {
        (setup.reserve, setup.grace) = (reserve_of(3, 10), Duration::ZERO);
    });
    use EventKind::{BackgroundStart, BackgroundStop};
    let seen = background_runs(&recording);
    assert_eq!(seen[..3], [(9, BackgroundStart), (10, BackgroundStop), (17, BackgroundStart)]);
}

/// One CPU of rate-monotonic tasks with a deferrable server and a reserve.
struct World {
    tasks: Vec<(u64, u64)>,
    background: Vec<BackgroundTask>,
    /// (budget, period); (0, 0): none.
    server: (u64, u64),
    /// (share, window)
    reserve: (u64, u64),
    policy: Policy,
    length: u64,
    at_ticks: bool,
}

impl World {
    fn random(seed: u64) -> World {
        let mut rng = Pcg64::seed_from_u64(seed);
        let tasks = (0..rng.random_range(1..=4)).map(|_| {
            let period = rng.random_range(2..=12);
            (rng.random_range(1..=period.min(8)), period)
        });
        let tasks = tasks.collect();
        let background = (0..rng.random_range(1..=3))
            .map(|_| always(rng.random_range(0..40), rng.random_range(1..30)))
            .collect();
        let policy = if rng.random_range(0..2) == 0 { Policy::AmpRm } else { Policy::Fpp };
        let window = rng.random_range(2..=12);
        let period = if rng.random_range(0..2) == 0 { 0 } else { rng.random_range(2..=8) };
        World {
            tasks,
            background,
            server: (rng.random_range(0..=period), period),
            reserve: (rng.random_range(1..=window), window),
            policy,
            length: 120,
            at_ticks: seed.is_multiple_of(4),
        }
    }

    fn set(&self) -> TaskSet {
        let task = |(id, &(wcet, period)): (usize, &(u64, u64))| {
            Task::periodic(format!("T{}", id + 1), units(wcet), units(period))
        };
        TaskSet::new("set", self.tasks.iter().enumerate().map(task).collect()).expect("valid")
    }

    fn simulate(&self) -> Recording {
        let platform = Platform::symmetric(1).expect("a CPU");
        let set = self.set();
        let cells = vec![Cell::new(CpuList::from_iter([0]), (0..self.tasks.len()).collect())];
        let scheduler = match self.policy {
            Policy::AmpRm => Policy::SINGLE[0],
            policy => {
                PolicyScheduler { policy, scope: Scope::Partitioned, rule: PriorityRule::RateMonotonic }
            }
        };
        let server = |(budget, period)| DeferrableServer::new(units(budget), units(period)).expect("valid");
        let servers = Some(self.server).filter(|server| server.1 > 0).map(|size| (0, server(size)));
        let background = background_of(self.background.clone());
        let servers = Servers { of: servers.into_iter().collect() };
        let setup = Setup {
            duration: units(self.length),
            grace: Duration::ZERO,
            background: &background,
            servers: &servers,
            reserve: reserve_of(self.reserve.0, self.reserve.1),
            at_ticks: self.at_ticks,
            ..Setup::new(&set, &platform, scheduler, cells)
        };
        let mut recording = Recording::default();
        simulate(&setup, &mut recording, &AtomicBool::new(false)).expect("valid");
        recording
    }

    /// Says it a second time, unit by unit: which work has the CPU is decided at each by the words of `claims.h` alone. As all times are
    /// whole units, a scheduler that looks at any time does the same as one that looks at ticks. The finish of each job, and when
    /// background work ran.
    fn by_definition(&self) -> (Vec<(u32, u32, u64)>, Vec<u64>) {
        let mut left: Vec<u64> = self.background.iter().map(|task| task.lifetime.as_ns() / UNIT).collect();
        let mut pending: Vec<Vec<(u32, u64)>> = vec![vec![]; self.tasks.len()];
        let (mut finishes, mut ran) = (Vec::new(), Vec::new());
        let (mut budget_used, mut share_used) = (0, 0);
        for now in 0..self.length {
            if self.server.1 > 0 && now.is_multiple_of(self.server.1) {
                budget_used = 0;
            }
            if now.is_multiple_of(self.reserve.1) {
                share_used = 0;
            }
            for (id, &(wcet, period)) in self.tasks.iter().enumerate() {
                if now.is_multiple_of(period) {
                    pending[id].push((u32::try_from(now / period).expect("small"), wcet));
                }
            }
            let there = |&id: &usize| left[id] > 0 && self.background[id].arrival <= units(now);
            let other = (0..left.len()).find(there);
            let ready = (0..self.tasks.len()).filter(|&id| !pending[id].is_empty());
            let first = ready.min_by_key(|&id| (self.tasks[id].1, id));
            let by_server = self.server.1 > 0 && budget_used < self.server.0;
            let by_reserve = share_used >= self.reserve.1 - self.reserve.0;
            match (other, first) {
                (Some(other), _) if by_server || by_reserve || first.is_none() => {
                    left[other] -= 1;
                    budget_used += 1;
                    ran.push(now);
                }
                (_, Some(id)) => {
                    share_used += 1;
                    pending[id][0].1 -= 1;
                    if pending[id][0].1 == 0 {
                        let (job, _) = pending[id].remove(0);
                        finishes.push((u32::try_from(id).expect("small"), job, now + 1));
                    }
                }
                _ => {}
            }
        }
        finishes.sort_unstable();
        (finishes, ran)
    }

    fn verify(&self, recording: &Recording, reserve: Option<Reserve>) -> Verdict {
        let tasks = (0..u32::try_from(self.tasks.len()).expect("few")).collect();
        let clusters = vec![Cluster::new(CpuList::from_iter([0]), tasks)];
        let platform = Platform::symmetric(1).expect("a CPU");
        let rule = PriorityRule::RateMonotonic;
        let definition = Definition::clustered(self.set(), &platform, rule, clusters, units(self.length));
        let server = DeferrableServer::new(units(self.server.0), units(self.server.1.max(1))).expect("valid");
        let definition = definition.expect("valid").with_servers(vec![(0, server)]);
        let definition = definition.with_reserve(reserve.unwrap_or_default(), self.policy == Policy::AmpRm);
        verify(&definition, &recording.events, self.length * UNIT)
    }
}

/// In which units background work ran.
fn units_of_background(recording: &Recording, length: u64) -> Vec<u64> {
    let mut runs = Vec::new();
    let mut since = None;
    for (at, kind) in background_runs(recording) {
        match kind {
            EventKind::BackgroundStart => since = Some(at),
            _ => runs.extend(since.take().map(|since| since..at)),
        }
    }
    runs.extend(since.map(|since| since..length));
    runs.into_iter().flatten().collect()
}

#[test]
fn one_cpu_is_as_defined() {
    let (mut matters, mut early, mut late, mut without) = (0, 0, 0, 0);
    for seed in laxity_seeds::seeds!(0..6000) {
        let world = World::random(seed);
        let recording = world.simulate();
        let (finishes, ran) = world.by_definition();
        let ended =
            recording.jobs.iter().filter_map(|job| Some((job.task, job.index, job.finish_ns? / UNIT)));
        let mut seen: Vec<(u32, u32, u64)> = ended.collect();
        seen.sort_unstable();
        assert_eq!(seen, finishes, "seed {seed}");
        assert_eq!(units_of_background(&recording, world.length), ran, "seed {seed}");
        if world.at_ticks {
            continue;
        }
        let (share, window) = world.reserve;
        let verdict = world.verify(&recording, Some(reserve_of(share, window)));
        assert!(verdict.clean, "seed {seed}: {verdict}");
        let of = |share_ns: u64| Reserve::new(Duration::from_ns(share_ns), units(window)).expect("valid");
        // Background work has the CPU for a nanosecond too long, or jobs do.
        early += u64::from(!world.verify(&recording, Some(of(share * UNIT - 1))).clean);
        let more = (share < window).then(|| world.verify(&recording, Some(of(share * UNIT + 1))));
        late += u64::from(more.is_some_and(|verdict| !verdict.clean));
        without += u64::from(!world.verify(&recording, None).clean);
        matters += 1;
    }
    laxity_seeds::assert_together!(
        early > matters / 4 && late > matters / 4 && without > matters / 4,
        "of {matters}: {early} {late} {without}"
    );
}

/// A random case with background tasks, and a reserve of so many parts of a unit.
fn random(seed: u64) -> (Case, Reserve) {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x7265_7365_7276_6500);
    let mut case = Case::random(seed);
    let count = rng.random_range(1..=case.cores + 2);
    let task = |_| BackgroundTask {
        arrival: Duration::from_ns(rng.random_range(0..40_000)),
        lifetime: Duration::from_ns(rng.random_range(500..60_000)),
        run_ratio_ppm: [1_000_000, 1_000_000, 700_000, 300_000][rng.random_range(0..4)],
        weight: BackgroundTask::WEIGHT_USUAL,
    };
    let tasks = (0..count).map(task).collect();
    case.background = Background { tasks, tick: Duration::from_ns(rng.random_range(300..=3_000)) };
    case.budget_mode = match rng.random_range(0..4) {
        0 => BudgetMode::Throttle,
        1 => BudgetMode::Postpone,
        _ => BudgetMode::Off,
    };
    if case.budget_mode != BudgetMode::Off {
        case.demand = Demand::Uniform(300_000, 1_500_000);
    }
    let window = rng.random_range(1_000..30_000);
    let share = rng.random_range(1..=window * 9 / 10);
    (case, Reserve::new(Duration::from_ns(share), Duration::from_ns(window)).expect("valid"))
}

fn verdict(case: &Case, scheduler: PolicyScheduler, recording: &Recording, reserve: Reserve) -> Verdict {
    let cores = case.cores + u32::from(scheduler.policy.dedicates_a_core());
    let definition = definition_of(case, scheduler, cores).with_reserve(reserve, false);
    verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS)
}

#[test]
fn under_every_policy_the_schedule_is_what_its_definition_says() {
    let (mut checked, mut early, mut late) = (0, 0, 0);
    for seed in laxity_seeds::seeds!(0..400) {
        let (case, reserve) = random(seed);
        for &policy in Policy::GENERAL {
            let dedicated = u32::from(policy.dedicates_a_core());
            let scopes = [Scope::Global, Scope::Partitioned];
            let scope = scopes[usize::from(seed % 2 == 1 && dedicated == 0)];
            let rule = [EDF, PriorityRule::Given][usize::from(seed % 3 == 0 && !policy.minds_laxity())];
            let scheduler = PolicyScheduler { policy, scope, rule };
            let cores = case.cores + dedicated;
            let recording = case.simulate_with(scheduler, cores, |setup| setup.reserve = reserve);
            let found = verdict(&case, scheduler, &recording, reserve);
            assert!(found.clean, "seed {seed}, {scheduler}, {reserve}: {found}\n{}", case.describe());
            let other = |share: u64| Reserve::new(Duration::from_ns(share), reserve.window()).expect("valid");
            let share = reserve.share().as_ns();
            early += u64::from(!verdict(&case, scheduler, &recording, other(share - 1)).clean);
            late += u64::from(!verdict(&case, scheduler, &recording, other(share + 1)).clean);
            checked += 1;
        }
    }
    laxity_seeds::assert_together!(early > checked / 8 && late > checked / 8, "{checked}: {early} {late}");
}

/// Where no background work is, and where the window is never full, the reserve changes nothing.
#[test]
fn it_only_counts_while_something_waits() {
    for seed in laxity_seeds::seeds!(0..200) {
        let (mut case, reserve) = random(seed);
        let scheduler = PolicyScheduler { policy: Policy::GsnEdf, scope: Scope::Global, rule: EDF };
        let tasks = std::mem::take(&mut case.background.tasks);
        let alone = case.simulate(scheduler, case.cores);
        let with = case.simulate_with(scheduler, case.cores, |setup| setup.reserve = reserve);
        assert_eq!(with.events, alone.events, "seed {seed}");
        case.background.tasks = tasks;
        let without = case.simulate(scheduler, case.cores);
        // Of a window this long real-time tasks never have all but that.
        let unreached = Reserve::new(units(1), Duration::from_secs(10)).expect("valid");
        let mut recording = case.simulate_with(scheduler, case.cores, |setup| setup.reserve = unreached);
        recording.events.retain(|event| event.kind != EventKind::BackgroundWait);
        assert_eq!(recording.events, without.events, "seed {seed}");
    }
}

#[test]
fn an_overrun_is_named() {
    let set = TaskSet::new("full", vec![Task::periodic("T1", units(5), units(5))]).expect("valid");
    let case =
        Case { set, duration: units(20), background: background_of(vec![always(0, 100)]), ..Case::plain() };
    let scheduler = PolicyScheduler { policy: Policy::EdfBh, scope: Scope::Global, rule: EDF };
    let recording = case.simulate_with(scheduler, 1, |setup| setup.reserve = reserve_of(3, 10));
    let found = verdict(&case, scheduler, &recording, reserve_of(4, 10));
    let first = &found.violations[0];
    assert_eq!((first.oracle, first.from_ns, first.to_ns), (Oracle::GlobalInvariant, 6_000, 7_000));
    assert!(first.text.contains("T1.1") && first.text.contains("beyond its share while other work waited"));
    let found = verdict(&case, scheduler, &recording, reserve_of(2, 10));
    let first = &found.violations[0];
    assert_eq!((first.oracle, first.from_ns, first.to_ns), (Oracle::WorkConservation, 7_000, 10_000));
}

#[test]
fn kernel_work_beside_it_is_refused() {
    let case = Case::plain();
    let platform = Platform::symmetric(1).expect("a CPU");
    let scheduler = PolicyScheduler { policy: Policy::EdfBh, scope: Scope::Global, rule: EDF };
    let costs = Costs { scheduling: "1us".parse().expect("a cost"), ..Costs::default() };
    let plain = Setup::new(&case.set, &platform, scheduler, case.cells(Scope::Global, &platform));
    let reserve = reserve_of(1, 10);
    for setup in [
        Setup { reserve, interleaving: Some(1), ..plain.clone() },
        Setup { reserve, costs: &costs, ..plain.clone() },
    ] {
        let refused = setup.check().expect_err("refused");
        assert!(refused.message.contains("a reserve of 1us/10us"), "{refused}");
        assert!(refused.hint.is_some());
    }
    assert!(Setup { reserve, ..plain }.check().is_ok());
}
