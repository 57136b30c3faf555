//! A set in its places, as analyses see it.
//!
//! 1. Real-time tasks only, numbered in their order; what else the set has runs behind them.
//! 2. The processors of a cell that run tasks have one speed s: C is ceil(C / s). Cells may differ.
//! 3. A task may run on every processor of its cell.
//! 4. Deferrable servers are of cells of one processor.
//!
//! Phases and times of leaving are not used: tests allow for any.

use super::costs::{Charge, running};
use crate::placing::Placed;
use laxity_analysis::scheduler::{self, Analysed, Asked, Judgement};
use laxity_analysis::{AnalysedCell, SporadicTask};
use laxity_model::{CpuList, DeferrableServer, Platform, ServerSizes, TaskSet};

/// A set in its places.
pub struct PlacedSet {
    /// Under which scheduler.
    pub scheduler: Analysed,
    /// As they are on the processors that they run on.
    pub tasks: Vec<SporadicTask>,
    working_sets: Vec<u64>,
    given_priorities: Vec<u32>,
    cells: Vec<AnalysedCell>,
    servers: Vec<DeferrableServer>,
    /// The processors of each cell.
    pub cpus: Vec<CpuList>,
    /// What scheduling costs.
    pub charge: Option<Charge>,
}

/// Why no test says anything of such a set.
pub struct Failed {
    /// What does not hold.
    pub assumption: &'static str,
    /// The number of the task in the set because of which it does not.
    pub task: Option<usize>,
    /// What can be done about it, if that is not plain.
    pub fix: Option<&'static str>,
}

const ONE_SPEED: &str = "the CPUs of a cell that run tasks have the same speed";
const NO_AFFINITY: &str = "each task may run on every CPU of its cell";
const PRIORITIES: &str = "every task has a priority";
const GIVE_PRIORITIES: &str =
    "give every task `priority = NUMBER` (1 before 2), or ask for rate- or deadline-monotonic ones: -rm, -dm";

/// What is assumed of servers.
const SERVED: &str = "background tasks come at any time and take all that their servers give, two budgets in a row where they can (the \
    double hit); scheduling costs nothing";

impl PlacedSet {
    /// That the tasks of a cell need more than its processors, if they do.
    pub fn overload(&self, cell: usize) -> Option<String> {
        let AnalysedCell { processors, tasks } = &self.cells[cell];
        let mut load = laxity_model::LoadSum::new();
        tasks.iter().for_each(|&task| load.add_ratio(self.tasks[task].wcet_ns, self.tasks[task].period_ns));
        let cpus = laxity_model::plural(u64::from(*processors), "CPU");
        let exceeds = load.exceeds(u64::from(*processors));
        exceeds.then(|| format!("utilization {load} exceeds {cpus}"))
    }

    /// The set under a scheduler, in places that were found for it, below these servers.
    pub fn of(
        set: &TaskSet,
        scheduler: Analysed,
        platform: &Platform,
        placed: &Placed,
        charge: Option<Charge>,
        sizes: &ServerSizes,
    ) -> Result<Self, Failed> {
        let mut tasks = SporadicTask::of_set(set);
        let real_time: Vec<usize> = set.real_time().map(|(id, _)| id).collect();
        let (mut cells, mut servers) = (Vec::with_capacity(placed.cells.len()), Vec::new());
        for cell in &placed.cells {
            let running = running(scheduler, &cell.cpus);
            let speed = platform.one_speed(&running).ok_or(Failed {
                assumption: ONE_SPEED,
                task: None,
                fix: None,
            })?;
            let mut numbers = Vec::with_capacity(cell.tasks.len());
            for &id in &cell.tasks {
                let affinity = set.tasks()[id].affinity.as_ref();
                if affinity.is_some_and(|allowed| !running.is_subset(allowed)) {
                    return Err(Failed { assumption: NO_AFFINITY, task: Some(id), fix: None });
                }
                let number = real_time.partition_point(|&other| other < id);
                tasks[number].wcet_ns = speed.time_for(tasks[number].wcet_ns);
                numbers.push(number);
            }
            let processors = u32::try_from(cell.cpus.len()).unwrap_or(u32::MAX);
            cells.push(AnalysedCell { processors, tasks: numbers });
            servers.push(server_of(sizes, platform, &running));
        }
        let given_priorities = given_priorities(set, scheduler)?;
        let cpus: Vec<_> = placed.cells.iter().map(|cell| cell.cpus.clone()).collect();
        let working_sets = laxity_analysis::overheads::working_sets_of(set);
        Ok(PlacedSet { scheduler, tasks, working_sets, given_priorities, cells, servers, cpus, charge })
    }

    /// Judges the set.
    pub fn judge(&self, asked: Asked) -> Judgement {
        self.judge_with(&self.tasks, asked)
    }

    /// Judges other tasks in the same places.
    pub fn judge_with(&self, tasks: &[SporadicTask], asked: Asked) -> Judgement {
        self.scheduler.judge(&self.as_placed(tasks), asked)
    }

    /// For the analysis.
    pub fn as_placed<'a>(&'a self, tasks: &'a [SporadicTask]) -> scheduler::Placed<'a> {
        scheduler::Placed {
            tasks,
            working_sets: &self.working_sets,
            given_priorities: &self.given_priorities,
            cells: &self.cells,
            servers: &self.servers,
            overheads: self.charge.as_ref().map(|charge| &charge.overheads),
        }
    }

    /// Of each cell that has tasks: its processors, those that are dedicated among them, and its server.
    pub fn shapes(&self) -> impl Iterator<Item = (u32, DeferrableServer)> {
        let with_tasks = |cell: &(&AnalysedCell, &DeferrableServer)| !cell.0.tasks.is_empty();
        let shape = |(cell, &server): (&AnalysedCell, &DeferrableServer)| (cell.processors, server);
        self.cells.iter().zip(&self.servers).filter(with_tasks).map(shape)
    }

    /// The most processors that run tasks of a cell.
    pub fn processors_max(&self) -> u32 {
        self.shapes().map(|(processors, _)| self.scheduler.running(processors)).max().unwrap_or(1)
    }

    /// The server of each cell.
    pub fn servers(&self) -> &[DeferrableServer] {
        &self.servers
    }

    /// Whether there are any.
    pub fn is_served(&self) -> bool {
        self.servers.iter().any(|server| !server.is_none())
    }

    /// The names of the tasks, by their numbers.
    pub fn names<'a>(&self, set: &'a TaskSet) -> Vec<&'a str> {
        set.real_time().map(|(_, task)| task.name.as_str()).collect()
    }

    /// What the user should know of servers and costs.
    pub fn notes(&self) -> Vec<String> {
        if self.is_served() {
            return vec![SERVED.into()];
        }
        let most = self.cells.iter().map(|cell| cell.tasks.len()).max().unwrap_or(0);
        self.charge.as_ref().map_or(Vec::new(), |charge| charge.notes(self.scheduler, most))
    }
}

/// The server of a cell, by the first of the processors that run its tasks.
pub fn server_of(sizes: &ServerSizes, platform: &Platform, running: &CpuList) -> DeferrableServer {
    running.iter().next().map_or(DeferrableServer::NONE, |cpu| sizes.on(platform, cpu))
}

/// Priorities as given, where the scheduler goes by them.
pub fn given_priorities(set: &TaskSet, scheduler: Analysed) -> Result<Vec<u32>, Failed> {
    if !scheduler.goes_by_given_priorities() {
        return Ok(Vec::new());
    }
    let given = |(id, task): (usize, &laxity_model::Task)| {
        task.priority.ok_or(Failed { assumption: PRIORITIES, task: Some(id), fix: Some(GIVE_PRIORITIES) })
    };
    set.real_time().map(given).collect()
}
