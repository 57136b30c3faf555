//! Random systems: tasks in cells, and what scheduling costs.

use crate::observed::{Row, Shape, columns, observed};
use laxity_analysis::overheads::{Displacements, Monotone, Overhead, Overheads};
use laxity_analysis::scheduler::{Analysed, Asked, Judgement, Placed};
use laxity_analysis::{AnalysedCell, Guarantee, SporadicTask};
use laxity_model::{
    Arrival, Cell, CpuList, Duration, Platform, Policy, PolicyScheduler, PriorityRule, Scope, Task, TaskSet,
};
use laxity_sim::costs::{CacheCosts, Cost, Costs, MeasuredDelays, PiecewiseLinear, Reload};
use laxity_sim::{Setup, simulate};
use laxity_trace::Job;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

const US: u64 = 1_000;
/// From one tick to the next.
const TICK_PERIOD: u64 = 100 * US;
/// So many are the most tasks that a system has.
const TASKS_MAX: u64 = 13;
/// Execution times are shares of those drawn, in these parts.
const PARTS: u64 = 1 << 10;
/// The share up to which execution times are raised.
const SHARE_MAX: u64 = 4 * PARTS;

fn ns(ns: u64) -> Duration {
    Duration::from_ns(ns)
}

/// Every policy in every scope, by deadlines and by fixed priorities of one kind.
pub fn schedulers(seed: u64) -> Vec<PolicyScheduler> {
    use PriorityRule::{DeadlineMonotonic, EarliestDeadlineFirst, Given, RateMonotonic};
    let fixed = [DeadlineMonotonic, RateMonotonic, Given][usize::try_from(seed % 3).expect("small")];
    let mut all = Vec::new();
    for &policy in Policy::GENERAL {
        for scope in [Scope::Global, Scope::Clustered, Scope::Partitioned] {
            let of = |rule| PolicyScheduler { policy, scope, rule };
            all.extend([EarliestDeadlineFirst, fixed].map(of));
        }
    }
    all
}

/// What accounting is told of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// What is observed under them.
    Observed,
    /// The costs themselves, without what is waited for.
    Costs,
}

/// How jobs arrive in a simulation.
#[derive(Debug, Clone, Copy)]
pub enum Arrivals {
    /// All at once, periodically.
    Synchronous,
    /// All just before a tick.
    WithTicks,
    /// Periodically from any instant on.
    Offset,
    /// At least a period apart.
    Sporadic,
    /// Periodically from instants on that are a few us apart, so that kernel work meets kernel work.
    Close,
}

pub const ARRIVALS: [Arrivals; 5] =
    [Arrivals::Synchronous, Arrivals::WithTicks, Arrivals::Offset, Arrivals::Sporadic, Arrivals::Close];

/// Tasks in cells under a scheduler, with costs.
pub struct Case {
    pub scheduler: PolicyScheduler,
    pub set: TaskSet,
    cells: Vec<AnalysedCell>,
    cpus: Vec<CpuList>,
    platform: Platform,
    costs: Costs,
    overheads: Overheads,
}

impl Case {
    pub fn of(seed: u64, scheduler: PolicyScheduler, told: Told) -> Case {
        let mut rng = Pcg64::seed_from_u64(seed);
        let running: u32 = rng.random_range(1..=4);
        let dedicated = scheduler.policy.dedicates_a_core();
        let sizes: Vec<u32> = match scheduler.scope {
            Scope::Global => vec![running],
            Scope::Partitioned => vec![1; usize::try_from(running).expect("small")],
            Scope::Clustered => vec![2, 1],
        };
        let sizes: Vec<u32> = sizes.into_iter().map(|size| size + u32::from(dedicated)).collect();
        let set = TaskSet::new("random", tasks(&mut rng, running)).expect("valid");
        let (mut cells, mut cpus, mut next) = (Vec::new(), Vec::new(), 0);
        for &processors in &sizes {
            cells.push(AnalysedCell { processors, tasks: Vec::new() });
            cpus.push((next..next + processors).collect());
            next += processors;
        }
        for id in 0..set.tasks().len() {
            let cell = rng.random_range(0..cells.len());
            cells[cell].tasks.push(id);
        }
        let cores = sizes.into_iter().max().expect("a cell").into();
        let (costs, overheads) =
            costs(&mut rng, Shape { cores, dedicated, messages: scheduler.policy == Policy::GEdfMp }, told);
        let platform = Platform::symmetric(next).expect("cores");
        Case { scheduler, set, cells, cpus, platform, costs, overheads }
    }

    /// With or without what displaced jobs pay.
    pub fn with_displacements(self, displacements: Displacements) -> Case {
        Case { overheads: self.overheads.with_displacements(displacements), ..self }
    }

    /// What is proven of the set with other execution times.
    pub fn judge(&self, set: &TaskSet, guarantee: Guarantee) -> Judgement {
        let given: Vec<u32> = set.tasks().iter().filter_map(|task| task.priority).collect();
        let working_sets = laxity_analysis::overheads::working_sets_of(set);
        let placed = Placed {
            tasks: &SporadicTask::of_set(set),
            working_sets: &working_sets,
            given_priorities: &given,
            cells: &self.cells,
            servers: &[],
            overheads: Some(&self.overheads),
        };
        Analysed::from(self.scheduler).judge(&placed, Asked::of(guarantee))
    }

    /// The set with the longest execution times of which something is proven, as far as a bisection finds them: where bounds are
    /// closest to what happens. Nothing if nothing is proven of the shortest.
    pub fn longest(&self, guarantee: Guarantee) -> Option<(TaskSet, Judgement)> {
        let (mut low, mut high, mut found) = (0, SHARE_MAX, None);
        while high - low > 1 {
            let share = (low + high) / 2;
            let set = scaled(&self.set, share);
            let judgement = self.judge(&set, guarantee);
            if judgement.verdict.is_schedulable() {
                (low, found) = (share, Some((set, judgement)));
            } else {
                high = share;
            }
        }
        found
    }

    /// The jobs of the set in a simulation.
    pub fn simulate(&self, set: &TaskSet, arrivals: Arrivals, batching: bool, seed: u64) -> Vec<Job> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let arriving = set.tasks().iter().map(|task| arriving(task, arrivals, &mut rng)).collect();
        let set = TaskSet::new("arriving", arriving).expect("valid");
        let both = self.cells.iter().zip(&self.cpus);
        let cells = both.map(|(cell, cpus)| Cell::new(cpus.clone(), cell.tasks.clone()));
        let setup = Setup {
            duration: ns(8_000 * US),
            grace: ns(30_000 * US),
            seed,
            batching,
            costs: &self.costs,
            ..Setup::new(&set, &self.platform, self.scheduler, cells.collect())
        };
        let mut jobs = Vec::new();
        simulate(&setup, &mut jobs, &AtomicBool::new(false)).expect("a valid setup");
        jobs
    }
}

fn arriving(task: &Task, arrivals: Arrivals, rng: &mut Pcg64) -> Task {
    let period = task.period();
    let phase = match arrivals {
        Arrivals::Synchronous => 0,
        Arrivals::WithTicks => TICK_PERIOD - US,
        Arrivals::Offset | Arrivals::Sporadic => rng.random_range(0..period.as_ns()),
        Arrivals::Close => rng.random_range(0..10 * US),
    };
    let arrival = match arrivals {
        Arrivals::Sporadic => Arrival::Sporadic { min_interarrival: period },
        _ => Arrival::Periodic { period },
    };
    Task { phase: ns(phase), arrival, ..task.clone() }
}

fn tasks(rng: &mut Pcg64, running: u32) -> Vec<Task> {
    let most = if rng.random_range(0..4) == 0 { 1 } else { 3 * running + 1 };
    let count = rng.random_range(1..=most);
    let of = |id| {
        let period = rng.random_range(200..=800u64) * US;
        let deadline = match rng.random_range(0..4) {
            0 => rng.random_range(period / 2..=period),
            1 => rng.random_range(period..=2 * period),
            _ => period,
        };
        let wcet = rng.random_range(1..=period.min(deadline) / 2);
        let mut task = Task {
            deadline_rel: ns(deadline),
            priority: Some(rng.random_range(0..9)),
            ..Task::periodic(format!("T{}", id + 1), ns(wcet), ns(period))
        };
        task.working_set.size_bytes = 1024 * rng.random_range(0..=64u64);
        task
    };
    (0..count).map(of).collect()
}

/// With a share of the execution times, in [`PARTS`].
fn scaled(set: &TaskSet, share: u64) -> TaskSet {
    let scaled = |task: &Task| {
        let most = task.deadline_rel.min(task.period()).as_ns();
        let wcet = (task.wcet.as_ns() * share / PARTS).clamp(1, most);
        Task { wcet: ns(wcet), ..task.clone() }
    };
    TaskSet::new("scaled", set.tasks().iter().map(scaled).collect()).expect("valid")
}

/// Costs that grow with the number of tasks, from next to nothing to some us, and what accounting is to be told of them.
fn costs(rng: &mut Pcg64, shape: Shape, told: Told) -> (Costs, Overheads) {
    let most = [200, 800, 2_500][rng.random_range(0..3)];
    // Some are next to nothing, so that what is charged for one does not hide what is forgotten of another.
    let most_of: Row = Overhead::ALL.map(|_| if rng.random_range(0..2) == 0 { most } else { 2 });
    let mut draw = || -> Row { most_of.map(|most| rng.random_range(1..=most)) };
    let (few, many) = (draw(), draw());
    let functions: [PiecewiseLinear; Overhead::ALL.len()] = std::array::from_fn(|column| {
        PiecewiseLinear::through([(1, few[column]), (TASKS_MAX, many[column])]).expect("two points")
    });
    let by_tasks = |n: u64| functions.each_ref().map(|function| function.at(n));
    // Bytes to ns.
    let memory = [(1_024, rng.random_range(1..=most)), (65_536, rng.random_range(1..=2 * most))];
    let row = |n: u64| match told {
        Told::Observed => observed(by_tasks(n), n, shape),
        Told::Costs => by_tasks(n),
    };
    let overheads = columns(row, TASKS_MAX)
        .with_tick_period(TICK_PERIOD)
        .with_cache(vec![Monotone::through(memory).expect("two points")]);
    let memory = PiecewiseLinear::through(memory).expect("two points");
    let reload = Reload::Measured(MeasuredDelays { levels: BTreeMap::new(), memory });
    // Accounting has no column for a step: SCHEDULE as observed has all steps of a decision.
    let mut costs =
        Costs { tick_period: ns(TICK_PERIOD), cache: Some(CacheCosts::new(reload)), ..Costs::default() };
    for (overhead, function) in Overhead::ALL.into_iter().zip(functions) {
        *costs.of_mut(overhead) = Cost::PiecewiseLinear(function);
    }
    (costs, overheads)
}
