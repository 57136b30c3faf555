//! Admission at run time: tasks that enter and leave CPUs of different speeds, below a deferrable server on each (calandrino2007,
//! 4.1 and 4.2).
//!
//! A task goes onto the slowest CPU that can take it: that keeps fast CPUs free for background tasks. CPUs of the
//! same speed are tried by their numbers. Tasks of a CPU have rate-monotonic priorities, ties by id unless the host
//! has another order ([`Admission::with_free_ties`]); C is at speed 1 and is rounded up to ns on every CPU. What a
//! CPU can take says
//!
//! - with the double hit ignored, as the paper has it, the plain test; and if a task has asked for a bound of its tardiness,
//!   Theorem 1 must not exceed it there ([`crate::DoubleHit::Ignored`]);
//! - with the double hit counted the exact test: no deadline is missed.
//!
//! # Until a CPU has been quiet
//!
//! Analyses are of windows that begin when nothing is pending. The time that the last job of a departed task has
//! used in such a window stays used, and if another task's job takes its place there, tasks of lower priorities
//! meet both. So a departed task counts until the CPU has been quiet: until there was an instant at which no job
//! was pending, neither of its tasks nor of those that have left ([`Admission::settle`]). It is the same with the
//! size of a server: a budget that has been used is used, and until then a new task must fit beside the old size
//! and the new one.
//!
//! A host gives a server a new budget from the next replenishment on if its period stays, and a new period when the
//! CPU is quiet. In either case the server goes by the new size from then on, and what is left of its budget is
//! cut to that. (Where periods are equal, a server of the larger budget could do at any time all that this server
//! does. With two periods it could take from both.)

mod core;
mod refused;

pub use refused::{CORES_LISTED_MAX, CoreRefused, Refused, Wanted, Why};

use crate::uniprocessor::Ceiling;
use crate::{Bounds, DoubleHit, SporadicTask, WORK_DEFAULT, Work};
use core::{ServedCore, rank};
use laxity_model::{Core, CpuList, DeferrableServer, Duration, Platform, Speed};
use std::collections::BTreeMap;

/// A task that wants to enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entrant {
    /// Its number: no two tasks have the same at a time. Of equal periods the lower goes first, unless the
    /// admission is one of [`Admission::with_free_ties`].
    pub id: u64,
    /// Its parameters, C at speed 1.
    pub task: SporadicTask,
    /// The most that its jobs may be late; None: any bound is good enough. Nothing is late if the double hit is
    /// counted.
    pub tardiness_max: Option<Duration>,
    /// The CPUs on which it may run; None: all.
    pub affinity: Option<CpuList>,
}

/// The tasks on each CPU, and the time that is reserved for background tasks.
#[derive(Debug, Clone)]
pub struct Admission {
    /// By speed, then by number.
    cores: Vec<ServedCore>,
    double_hit: DoubleHit,
    steps: u64,
}

impl Admission {
    /// The CPUs of a platform without tasks, each with its server.
    pub fn new(
        platform: &Platform,
        server: impl Fn(&Core) -> DeferrableServer,
        double_hit: DoubleHit,
    ) -> Self {
        let with_server = |core: &Core| ServedCore::new(core.cpu, core.speed, server(core));
        let mut cores: Vec<ServedCore> = platform.cores().iter().map(with_server).collect();
        cores.sort_by_key(|core| (core.speed, core.cpu));
        Admission { cores, double_hit, steps: WORK_DEFAULT }
    }

    /// Allows each test at most `steps` steps on each CPU; what needs more is refused.
    #[must_use]
    pub fn with_steps(self, steps: u64) -> Self {
        Admission { steps, ..self }
    }

    /// For a scheduler that looks at ticks only, as schedsim's does: a task that is done, or has no budget left,
    /// keeps the CPU until the next tick, so that C and budgets are as long as so many ticks on every CPU. A tick
    /// of 0 counts as none.
    #[must_use]
    pub fn at_ticks(mut self, tick: Duration) -> Self {
        self.cores.iter_mut().for_each(|core| core.tick_ns = tick.as_ns().max(1));
        self
    }

    /// For a host that does not order tasks of the same period by their ids, or changes that order while they are
    /// there (as one that uses the numbers of tasks again): each task's bound is as if all others of its period had
    /// higher priority. Only bounds of tardiness and response times differ by that, and promises about them; where
    /// D = T deadlines are met in any order.
    #[must_use]
    pub fn with_free_ties(mut self) -> Self {
        self.cores.iter_mut().for_each(|core| core.ties_by_id = false);
        self
    }

    /// Lets a task onto the slowest CPU that can take it, whose number it returns.
    ///
    /// # Errors
    ///
    /// Why no CPU can take it.
    pub fn enter(&mut self, entrant: Entrant) -> Result<u32, Refused> {
        let all: Vec<u32> = self.cores.iter().map(|core| core.cpu).collect();
        self.enter_one_of(&all, entrant)
    }

    /// Lets a task onto this CPU.
    ///
    /// # Errors
    ///
    /// Why it cannot take it. There may be no such CPU.
    pub fn enter_core(&mut self, cpu: u32, entrant: Entrant) -> Result<u32, Refused> {
        self.enter_one_of(&[cpu], entrant)
    }

    fn enter_one_of(&mut self, cpus: &[u32], entrant: Entrant) -> Result<u32, Refused> {
        let mut refused = Refused::new(Wanted::Enter(entrant.id));
        if let Some(cpu) = self.core_of(entrant.id) {
            refused.add(cpu, None, Why::Present);
            return Err(refused);
        }
        for &cpu in cpus {
            let (double_hit, work) = (self.double_hit, Work::steps(self.steps));
            let Some(core) = self.core_mut(cpu) else {
                refused.add(cpu, None, Why::NoCore);
                continue;
            };
            match core.takes(&entrant, double_hit, work) {
                Ok(()) => {
                    core.put(entrant);
                    return Ok(cpu);
                }
                Err(why) => refused.add(cpu, Some(core.speed), why),
            }
            refused.unsettled |= core.is_unsettled();
        }
        Err(refused)
    }

    /// A task leaves: it releases no more jobs. It is counted until its CPU settles. Returns where it was.
    pub fn leave(&mut self, id: u64) -> Option<u32> {
        self.cores.iter_mut().find_map(|core| core.leave(id).then_some(core.cpu))
    }

    /// Gives a CPU's server another size. What it was is counted until the CPU settles.
    ///
    /// # Errors
    ///
    /// Which task would break by how much, and the largest budget per period that breaks none.
    pub fn resize(&mut self, cpu: u32, server: DeferrableServer) -> Result<(), Refused> {
        let mut refused = Refused::new(Wanted::Resize(cpu, server));
        let (double_hit, work) = (self.double_hit, Work::steps(self.steps));
        let Some(core) = self.core_mut(cpu) else {
            refused.add(cpu, None, Why::NoCore);
            return Err(refused);
        };
        let Err(why) = core.bears(server, double_hit, work) else {
            core.resize(server);
            return Ok(());
        };
        refused.add(cpu, Some(core.speed), why);
        refused.unsettled = core.is_unsettled();
        refused.largest_budget = self.largest_budget(cpu, server.period());
        Err(refused)
    }

    /// The largest budget that a server of this period could be given with the tasks that are counted now, 0 if
    /// there is room for none; None if there is no such CPU, or if the period is 0.
    ///
    /// What a server can do it can do with a larger budget, too: no test accepts more of it and refuses less.
    pub fn largest_budget(&self, cpu: u32, period: Duration) -> Option<Duration> {
        let core = self.core(cpu)?;
        let fits = |budget: u64| {
            let server = DeferrableServer::new(Duration::from_ns(budget), period).ok();
            server.is_some_and(|server| core.bears(server, self.double_hit, Work::steps(self.steps)).is_ok())
        };
        if period.is_zero() || !fits(0) {
            return (!period.is_zero()).then_some(Duration::ZERO);
        }
        // The largest that fits is in [low, high].
        let (mut low, mut high) = (0, period.as_ns());
        while low < high {
            let middle = high - (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        Some(Duration::from_ns(low))
    }

    /// The CPU is quiet: none of its jobs is pending, nor one of those that have left, and its server has no more budget than by
    /// its present size. Departed tasks and earlier sizes of the server no longer count.
    pub fn settle(&mut self, cpu: u32) {
        if let Some(core) = self.core_mut(cpu) {
            core.settle();
        }
    }

    /// Whether something is counted on a CPU that is no longer there.
    pub fn is_unsettled(&self, cpu: u32) -> bool {
        self.core(cpu).is_some_and(ServedCore::is_unsettled)
    }

    /// The tasks that are on a CPU and have not left, the highest priority first.
    pub fn tasks_of(&self, cpu: u32) -> &[Entrant] {
        self.core(cpu).map_or(&[], ServedCore::tasks)
    }

    /// How late the tasks can be that are on a CPU and have not left, by their ids, the highest priority first: by
    /// Theorem 1, or not at all if the double hit is counted. Departed tasks and larger sizes that still count are
    /// included.
    ///
    /// # Errors
    ///
    /// There is no such CPU, or the test has taken all its steps.
    pub fn tardiness_of(&self, cpu: u32) -> Result<Vec<(u64, Duration)>, Why> {
        let core = self.core(cpu).ok_or(Why::NoCore)?;
        let late = core.tardiness(self.double_hit, Work::steps(self.steps))?;
        Ok(late.into_iter().map(|(id, late)| (id, Duration::from_ns(late))).collect())
    }

    /// The size that a CPU's server has been given last.
    pub fn server_of(&self, cpu: u32) -> Option<DeferrableServer> {
        self.core(cpu).map(ServedCore::server)
    }

    /// Where a task is, also one that has left and still counts.
    fn core_of(&self, id: u64) -> Option<u32> {
        self.cores.iter().find(|core| core.counts(id)).map(|core| core.cpu)
    }

    fn core(&self, cpu: u32) -> Option<&ServedCore> {
        self.cores.iter().find(|core| core.cpu == cpu)
    }

    fn core_mut(&mut self, cpu: u32) -> Option<&mut ServedCore> {
        self.cores.iter_mut().find(|core| core.cpu == cpu)
    }
}

/// What is proven of exactly these tasks on a CPU of this speed: their response times if the double hit is
/// counted, else how late they can be, in the order given. Affinities are ignored. A tick is that of
/// [`Admission::at_ticks`].
///
/// # Errors
///
/// Which promise would not hold.
pub fn judge_core(
    speed: Speed,
    (server, tick): (DeferrableServer, Duration),
    tasks: &[Entrant],
    double_hit: DoubleHit,
    work: Work,
) -> Result<Bounds, Why> {
    let core = core_with(speed, (server, tick), tasks);
    let in_order = |by_priority: Vec<u64>| {
        let bound_of: BTreeMap<u64, u64> = core.tasks().iter().map(|task| task.id).zip(by_priority).collect();
        tasks.iter().filter_map(|task| bound_of.get(&task.id).copied()).collect()
    };
    Ok(match core.bears(server, double_hit, work)? {
        Bounds::ResponseTimes(bounds) => Bounds::ResponseTimes(in_order(bounds)),
        Bounds::Tardiness(bounds) => Bounds::Tardiness(in_order(bounds)),
        Bounds::None => Bounds::None,
    })
}

/// Why none of these cores takes a task beside the tasks that are there, in the order given; nothing if one does. Each comes with its
/// server and a tick, that of [`Admission::at_ticks`]. `steps` as for [`Admission::with_steps`].
pub fn refused_by_all(
    cores: impl Iterator<Item = (Core, (DeferrableServer, Duration), Vec<Entrant>)>,
    entrant: &Entrant,
    double_hit: DoubleHit,
    steps: u64,
) -> Option<Refused> {
    let mut refused = Refused::new(Wanted::Enter(entrant.id));
    for (Core { cpu, speed }, below, tasks) in cores {
        let mut core = core_with(speed, below, &tasks);
        core.cpu = cpu;
        refused.add(cpu, Some(speed), core.takes(entrant, double_hit, Work::steps(steps)).err()?);
    }
    Some(refused)
}

/// What such a core refuses of further tasks at least, whether the double hit is counted or not: asked with a task in a moment.
/// Deadlines are at most `deadline_max_ns`. Nothing where that is not known.
pub fn refused_by_core(
    speed: Speed,
    (server, tick): (DeferrableServer, Duration),
    tasks: &[Entrant],
    deadline_max_ns: u64,
) -> Option<RefusedByCore> {
    let core = core_with(speed, (server, tick), tasks);
    let ceiling = core.ceiling(deadline_max_ns)?;
    Some(RefusedByCore { above_q64: ceiling.of_all_q64(deadline_max_ns, speed), ceiling, core })
}

/// What a core refuses of further tasks.
#[derive(Debug, Clone)]
pub struct RefusedByCore {
    /// Every task with D <= T whose C per T at speed 1 is above this, if that is known: in units of 2^-64.
    pub above_q64: Option<u128>,
    ceiling: Ceiling,
    core: ServedCore,
}

impl RefusedByCore {
    /// Whether [`judge_core`] would refuse a task beside the others. It is not known of those of which this is false.
    pub fn refuses(&self, entrant: &Entrant) -> bool {
        self.ceiling.refuses(rank(entrant), &self.core.at_speed(&entrant.task))
    }
}

fn core_with(speed: Speed, (server, tick): (DeferrableServer, Duration), tasks: &[Entrant]) -> ServedCore {
    let mut core = ServedCore::new(0, speed, server);
    core.tick_ns = tick.as_ns().max(1);
    tasks.iter().for_each(|task| core.put(task.clone()));
    core
}
