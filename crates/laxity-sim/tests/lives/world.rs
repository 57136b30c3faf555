//! A system with changes, in units of time.

use laxity_analysis::DoubleHit;
use laxity_model::{
    BudgetMode, Cell, Core, CpuList, DeferrableServer, Duration, Platform, Policy, PolicyScheduler,
    PriorityRule, Reserve, Speed, Task, TaskKind, TaskSet,
};
use laxity_oracle::{Cluster, Definition, Verdict, verify};
use laxity_sim::{
    Background, BackgroundTask, Change, Changed, Changes, Promise, Recording, Servers, Setup, What, simulate,
};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// Parameters are small multiples of this, in ns.
pub const UNIT: u64 = 1000;

pub fn units(count: u64) -> Duration {
    Duration::from_ns(count * UNIT)
}

pub fn server_of(budget: u64, period: u64) -> DeferrableServer {
    if period == 0 {
        return DeferrableServer::NONE;
    }
    DeferrableServer::new(units(budget), units(period)).expect("valid")
}

/// What a task has beside its parameters.
#[derive(Debug, Clone, Default)]
pub struct Own {
    pub phase: u64,
    pub leave: Option<u64>,
    /// Its affinity.
    pub cores: Option<Vec<u32>>,
}

/// What is simulated. A task that a change lets enter is absent at first; any other task without a CPU is in the
/// background.
#[derive(Debug, Clone)]
pub struct World {
    /// Numerator and denominator, by CPU.
    pub speeds: Vec<(u32, u32)>,
    /// (C, T, CPU).
    pub tasks: Vec<(u64, u64, Option<u32>)>,
    /// By task; those behind the last have nothing of their own.
    pub own: Vec<Own>,
    /// Background tasks that are always ready.
    pub busy: usize,
    /// Others: when they come, and for how long they run.
    pub bursts: Vec<(u64, u64)>,
    /// (budget, period) by CPU; (0, 0): no server.
    pub servers: Vec<(u64, u64)>,
    /// (share, window) of what real-time tasks leave of every CPU; (0, 0): nothing.
    pub reserve: (u64, u64),
    pub changes: Vec<(u64, What)>,
    /// Whether the double hit counts, and how late a job may be, in units.
    pub promise: Option<(bool, Option<u64>)>,
    pub length: u64,
    /// For how much longer.
    pub grace: u64,
    pub mode: BudgetMode,
}

impl Default for World {
    fn default() -> Self {
        World {
            speeds: vec![(1, 1)],
            tasks: vec![],
            own: vec![],
            busy: 0,
            bursts: vec![],
            servers: vec![],
            reserve: (0, 0),
            changes: vec![],
            promise: None,
            length: 100,
            grace: 0,
            mode: BudgetMode::Off,
        }
    }
}

/// What a simulation shows.
pub struct Seen {
    pub recording: Recording,
    pub changed: Vec<Changed>,
}

impl World {
    pub fn platform(&self) -> Platform {
        let core = |(&(above, below), cpu): (&(u32, u32), u32)| Core {
            cpu,
            speed: Speed::new(above, below).expect("positive"),
        };
        Platform::new("cores", self.speeds.iter().zip(0..).map(core).collect(), vec![], vec![], None)
            .expect("valid")
    }

    pub fn own(&self, task: usize) -> Own {
        self.own.get(task).cloned().unwrap_or_default()
    }

    pub fn set(&self) -> TaskSet {
        let task = |(id, &(wcet, period, _)): (usize, &(u64, u64, Option<u32>))| {
            let own = self.own(id);
            Task {
                phase: units(own.phase),
                leave: own.leave.map(units),
                affinity: own.cores.map(CpuList::from_iter),
                ..Task::periodic(format!("T{}", id + 1), units(wcet), units(period))
            }
        };
        TaskSet::new("set", self.tasks.iter().enumerate().map(task).collect()).expect("valid")
    }

    fn reserve(&self) -> Reserve {
        let (share, window) = self.reserve;
        Reserve::new(units(share), units(window.max(1))).expect("valid")
    }

    fn changes(&self) -> Changes {
        let change = |&(at, what): &(u64, What)| Change { at: units(at), what };
        let promise = |(counted, late): (bool, Option<u64>)| Promise {
            double_hit: if counted { DoubleHit::Counted } else { DoubleHit::Ignored },
            tardiness_max: late.map(units),
        };
        Changes {
            list: self.changes.iter().map(change).collect(),
            admission: self.promise.map(promise),
            ..Changes::default()
        }
    }

    fn with_setup<R>(&self, scheduler: PolicyScheduler, act: impl FnOnce(&Setup<'_>) -> R) -> R {
        let (platform, set, changes) = (self.platform(), self.set(), self.changes());
        let always = BackgroundTask::always_ready(Duration::ZERO, units(1_000_000));
        let burst =
            |&(arrival, lifetime): &(u64, u64)| BackgroundTask::always_ready(units(arrival), units(lifetime));
        let tasks = (0..self.busy).map(|_| always).chain(self.bursts.iter().map(burst)).collect();
        let background = Background { tasks, tick: units(1) };
        let servers = (0..).zip(&self.servers).filter(|(_, server)| server.1 > 0);
        let servers = Servers { of: servers.map(|(cpu, &(b, p))| (cpu, server_of(b, p))).collect() };
        let of_core = |cpu: u32| {
            Cell::new(
                CpuList::from_iter([cpu]),
                (0..self.tasks.len()).filter(|&id| self.tasks[id].2 == Some(cpu)).collect(),
            )
        };
        let ordinary = |&id: &usize| self.tasks[id].2.is_none() && !changes.lets_enter(id);
        let cores = u32::try_from(self.speeds.len()).expect("few");
        let setup = Setup {
            duration: units(self.length),
            grace: units(self.grace),
            background: &background,
            servers: &servers,
            reserve: self.reserve(),
            ordinary: (0..self.tasks.len()).filter(ordinary).collect(),
            changes: &changes,
            budget_mode: self.mode,
            ..Setup::new(&set, &platform, scheduler, (0..cores).map(of_core).collect())
        };
        act(&setup)
    }

    pub fn simulate(&self) -> Seen {
        self.with_setup(Policy::SINGLE[0], |setup| {
            let mut recording = Recording::default();
            let ended = simulate(setup, &mut recording, &AtomicBool::new(false)).expect("valid");
            Seen { recording, changed: ended.changes }
        })
    }

    /// Why it cannot be simulated.
    pub fn refused(&self, scheduler: PolicyScheduler) -> String {
        self.with_setup(scheduler, |setup| setup.check().expect_err("refused").to_string())
    }

    /// What the verifier says, with servers that had budgets of so much less at first.
    pub fn verify(&self, recording: &Recording, less: u64) -> Verdict {
        let mut tasks = self.set().tasks().to_vec();
        for (task, &(_, _, core)) in tasks.iter_mut().zip(&self.tasks) {
            if core.is_none() {
                task.kind = TaskKind::BestEffort;
            }
        }
        let cluster = |core: u32| {
            let ids = (0..).zip(&self.tasks).filter(|(_, task)| task.2 == Some(core)).map(|(id, _)| id);
            Cluster::new(CpuList::from_iter([core]), ids.collect())
        };
        let clusters = (0..u32::try_from(self.speeds.len()).expect("few")).map(cluster).collect();
        let servers = (0..).zip(&self.servers).filter(|(_, server)| server.1 > 0);
        let servers = servers.map(|(cpu, &(b, p))| (cpu, server_of(b.saturating_sub(less), p))).collect();
        let set = TaskSet::new("set", tasks).expect("valid");
        let rule = PriorityRule::RateMonotonic;
        let definition = Definition::clustered(set, &self.platform(), rule, clusters, units(self.length));
        let definition =
            definition.expect("valid").with_servers(servers).with_budgets(self.mode).with_changes();
        let definition =
            definition.with_jobs(1, laxity_model::Demand::Wcet).with_reserve(self.reserve(), true);
        verify(&definition, &recording.events, (self.length + self.grace) * UNIT)
    }

    /// Finish of each job that ended, in units, by (task, job).
    pub fn finishes(recording: &Recording) -> BTreeMap<(u32, u32), u64> {
        let ended = recording.jobs.iter().filter_map(|job| Some(((job.task, job.index), job.finish_ns?)));
        ended.map(|(job, finish)| (job, finish / UNIT)).collect()
    }
}
