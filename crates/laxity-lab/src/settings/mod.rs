//! What `settings` does: from a task set to parameters for Linux, of which everything is proven by the tests of `analyze`.
//!
//! 1. Tasks go where the placement that was asked for puts them, or where one of several does; of few tasks all partitions are looked
//!    at. A cell takes a task only if something can be set for its tasks together (`cells`).
//! 2. SCHED_DEADLINE: the reservations of least bandwidth ([`laxity_analysis::settings`]). SCHED_FIFO: the simplest order that is proven.
//! 3. What is set is judged once more, as a set in its places: that verdict is the answer.

pub mod answer;
mod asked;
mod cells;
mod chosen;
mod limits;
pub mod measured;
mod order;
mod places;
pub mod soft;

pub use asked::Asked;
pub use limits::Limits;

use crate::analysis::answer::{VerdictAnswer, VerdictName};
use crate::analysis::both_verdicts;
use crate::charges::{Charges, Failed, PlacedSet, kernel_words};
use crate::deploy;
use crate::placing::Placed;
use cells::{Cells, Inside, judged_as};
use chosen::Chosen;
use laxity_analysis::scheduler::{Analysed, Asked as AskedTest};
use laxity_analysis::settings::Reservation;
use laxity_analysis::{Guarantee, Work};
use laxity_deploy::{DeployPlan, Scheduling};
use laxity_model::{
    Cell, CpuList, Duration, Platform, PriorityRule, Result, Scheduler, Scope, ServerSizes, TaskSet,
    cpus_named,
};
use laxity_place::Method;
use laxity_run::{Confinement, TASK_PRIORITY_MAX};
use laxity_trace::PlacementRecord;
use order::Order;
use places::Why;
use soft::SoftTasks;
use std::sync::atomic::AtomicBool;

/// What helps where no background thread is ever ready.
const WITHOUT_SERVERS: &str = "--assume-no-background leaves servers out";

/// What is asked.
pub struct Question<'a> {
    /// The tasks.
    pub set: &'a TaskSet,
    /// The machine.
    pub platform: &'a Platform,
    /// The placement that was asked for.
    pub placement: Option<Method>,
    /// What scheduling costs, and the kernel beside which it is proven.
    pub charges: &'a Charges,
    /// What the kernel admits.
    pub limits: Limits,
    /// The tasks that may miss deadlines.
    pub soft: &'a SoftTasks,
    /// Whether how long their jobs run was measured.
    pub measured: bool,
    /// Steps for each test on each cell.
    pub work_steps: u64,
    /// Ends the search.
    pub interrupt: &'static AtomicBool,
}

/// What is set under a scheduler, and its proof.
pub struct Found {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// How the tasks were placed.
    pub placement: String,
    /// The cells that the tasks are in.
    pub cells: Vec<FoundCell>,
    /// By the task's number among the real-time tasks.
    pub settings: Vec<Setting>,
    /// The proof.
    pub verdict: VerdictAnswer,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// CPUs, and what is set there.
pub struct FoundCell {
    /// The CPUs.
    pub cpus: CpuList,
    /// Ids of the tasks.
    pub tasks: Vec<usize>,
    /// By what priorities were assigned.
    pub order: Option<Order>,
    /// What admission counts, in units of 2^-20; of SCHED_FIFO, the sum of C/T, rounded down.
    pub bandwidth_q20: u64,
}

/// What is set for a task.
#[derive(Clone)]
pub struct Setting {
    /// Its id.
    pub task: usize,
    /// The CPUs of its cell.
    pub cpus: CpuList,
    /// Its parameters.
    pub parameters: Parameters,
    /// A bound on its response times, in ns; nothing of one whose jobs may be late.
    pub response_ns: Option<u64>,
    /// An upper bound on the probability that a job misses its deadline, in units of 2^-62: 0 of all that are proven.
    pub miss: u64,
}

/// For `sched_setattr`.
#[derive(Clone, Copy)]
pub enum Parameters {
    /// SCHED_FIFO: the level, 0 the highest.
    Level(usize),
    /// SCHED_DEADLINE.
    Reservation(Reservation),
}

/// Why nothing is set.
pub struct NotFound {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// The task that it fails for, if it is one.
    pub task: Option<String>,
    /// In words.
    pub reason: String,
}

impl Found {
    /// What is found, as one plan for the threads of a machine.
    pub fn deployed(&self, set: &TaskSet, host: &deploy::Host<'_>) -> DeployPlan {
        let cell = |cell: &FoundCell| Cell::new(cell.cpus.clone(), cell.tasks.clone());
        let cells: Vec<Cell> = self.cells.iter().map(cell).collect();
        let confinement = match &cells[..] {
            [one] if one.cpus == *host.machine => Confinement::WholeMachine,
            _ if self.scheduler.rule == PriorityRule::EarliestDeadlineFirst => Confinement::Cpusets,
            _ => Confinement::AffinityMasks,
        };
        let asked = |setting: &Setting| deploy::Asked {
            id: setting.task,
            flags: vec![laxity_deploy::Flag::ResetOnFork],
            scheduling: match setting.parameters {
                Parameters::Level(level) => Scheduling::Fifo {
                    priority: TASK_PRIORITY_MAX.saturating_sub(u32::try_from(level).unwrap_or(u32::MAX)),
                },
                Parameters::Reservation(Reservation {
                    runtime_ns: runtime,
                    deadline_rel_ns: deadline,
                    period_ns: period,
                }) => Scheduling::Deadline(laxity_deploy::Reservation {
                    runtime_ns: runtime,
                    deadline_ns: deadline,
                    period_ns: period,
                }),
            },
            cpus: setting.cpus.clone(),
            cell: cells.iter().position(|cell| cell.tasks.contains(&setting.task)).unwrap_or_default(),
        };
        let description = self.scheduler.description();
        let named = deploy::Named { name: self.scheduler.name(), description: &description };
        let threads = self.settings.iter().map(asked).collect();
        DeployPlan {
            notes: self.notes.clone(),
            ..deploy::assembled(set, named, &cells, confinement, threads, host)
        }
    }
}

impl Question<'_> {
    fn asked(&self) -> AskedTest {
        let work = Work::steps(self.work_steps).unless(self.interrupt);
        AskedTest { work, beside: self.charges.beside(), ..AskedTest::of(Guarantee::Hard) }
    }

    /// What can be set under a scheduler.
    ///
    /// # Errors
    ///
    /// The scheduler cannot have cells on this platform.
    pub fn answer(&self, scheduler: Scheduler) -> Result<std::result::Result<Found, NotFound>> {
        let counted = self.counted(scheduler);
        let not = |Why { task, reason, is_kernel }: Why| {
            let reason = match (is_kernel, self.charges.has_servers()) {
                (false, _) => reason + &counted,
                // It names what was counted.
                (true, false) => reason,
                (true, true) => format!("{reason} ({WITHOUT_SERVERS})"),
            };
            NotFound { scheduler, task, reason }
        };
        let charge = self.charges.of(Analysed::Linux(scheduler), self.platform);
        let overheads = charge.as_ref().map(|charge| &charge.overheads);
        let one_cell = self.platform.cells(scheduler.scope).len() == 1;
        let scope = if one_cell { Scope::Global } else { scheduler.scope };
        let cells = self.platform.cells(scope);
        let cells = Cells::of(self, scheduler, cells, (overheads, self.asked()));
        if let Some(why) = self.without_reservation(&cells) {
            return Ok(Err(not(why)));
        }
        let placed = match places::find(self, &cells, scope)? {
            Ok(placed) => placed,
            Err(why) => return Ok(Err(not(why))),
        };
        Ok(self.proven(&cells, &placed).map_err(not))
    }

    /// The set with the least that its soft tasks need, for placements that go by loads.
    fn with_least_demand(&self, cells: &Cells<'_>) -> Result<TaskSet> {
        if self.soft.is_empty() {
            return Ok(self.set.clone());
        }
        let mut tasks = self.set.tasks().to_vec();
        for id in self.soft.keys() {
            let Some(least) = cells.candidates[cells.numbers[id]].first() else { continue };
            let task = &mut tasks[*id];
            let needed = u128::from(task.period().as_ns()) * u128::from(least.runtime_ns);
            let needed = needed.div_ceil(u128::from(least.period_ns));
            task.wcet = Duration::from_ns(u64::try_from(needed).unwrap_or(u64::MAX));
        }
        TaskSet::new(self.set.name(), tasks)
    }

    /// Words for what was counted of the kernel, behind the reason why nothing is proven.
    fn counted(&self, scheduler: Scheduler) -> String {
        let (beside, analysed) = (self.charges.beside(), Analysed::Linux(scheduler));
        let words = kernel_words(&beside, analysed);
        let alone = if self.charges.has_servers() { format!("; {WITHOUT_SERVERS}") } else { String::new() };
        let is_fifo = scheduler.rule != PriorityRule::EarliestDeadlineFirst;
        if is_fifo && !words.is_empty() { format!(" (beside {words}{alone})") } else { String::new() }
    }

    /// A task for which the kernel takes nothing.
    fn without_reservation(&self, cells: &Cells<'_>) -> Option<Why> {
        if cells.scheduler.rule != PriorityRule::EarliestDeadlineFirst {
            return None;
        }
        let number = cells.candidates.iter().position(Vec::is_empty)?;
        let (id, task) = self.set.real_time().nth(number)?;
        let rules = self.limits.rules;
        let often = self.soft.get(&id).map_or(String::new(), |soft| {
            format!(" with a probability of a miss of {} at the most", soft.tolerated)
        });
        let reason = format!(
            "SCHED_DEADLINE takes nothing that serves C {}, D {}, T {}{often}: budgets are {} or more, periods {} to {}",
            task.wcet,
            task.deadline_rel,
            task.period(),
            Duration::from_ns(rules.runtime_min_ns),
            Duration::from_ns(rules.period_min_ns),
            Duration::from_ns(rules.period_max_ns)
        );
        Some(Why { task: Some(task.name.clone()), reason, is_kernel: false })
    }

    /// What is set in these places, judged as a whole.
    fn proven(&self, cells: &Cells<'_>, placed: &places::Places) -> std::result::Result<Found, Why> {
        let mut tasks = self.set.tasks().to_vec();
        let mut found = Vec::new();
        let mut settings: Vec<Option<Setting>> = vec![None; cells.tasks.len()];
        for (cell, ids) in placed.tasks.iter().enumerate().filter(|(_, ids)| !ids.is_empty()) {
            let (cpus, Some(speed)) = &cells.cells[cell] else { continue };
            let numbers: Vec<usize> = ids.iter().map(|id| cells.numbers[id]).collect();
            let processors = u32::try_from(cpus.len()).unwrap_or(u32::MAX);
            let inside = Inside { cells, processors, speed: *speed, numbers };
            let chosen = cells.choose(cell, ids).ok_or_else(|| self.refused(cells, cell, ids))?;
            let (order, parameters) = parameters(&inside, &chosen);
            for (at, &id) in ids.iter().enumerate() {
                match &chosen {
                    Chosen::Reservations(of) => {
                        let Reservation { runtime_ns: runtime, deadline_rel_ns: deadline, period_ns: period } =
                            of[at];
                        tasks[id] = laxity_model::Task {
                            deadline_rel: Duration::from_ns(deadline),
                            arrival: laxity_model::Arrival::Sporadic {
                                min_interarrival: Duration::from_ns(period),
                            },
                            wcet: Duration::from_ns(runtime),
                            ..tasks[id].clone()
                        };
                    }
                    Chosen::Levels(_, levels) => tasks[id].priority = u32::try_from(levels[at] + 1).ok(),
                }
                let miss = match &chosen {
                    Chosen::Reservations(of) => self.soft.get(&id).map_or(0, |soft| soft.miss(&of[at])),
                    Chosen::Levels(..) => 0,
                };
                let (cpus, parameters) = (cpus.clone(), parameters[at]);
                let setting = Setting { task: id, cpus, parameters, response_ns: None, miss };
                settings[inside.numbers[at]] = Some(setting);
            }
            let bandwidth_q20 = bandwidth(&inside, &parameters);
            found.push(FoundCell { cpus: cpus.clone(), tasks: ids.clone(), order, bandwidth_q20 });
        }
        let mut settings: Vec<Setting> = settings.into_iter().flatten().collect();
        let (verdict, mut notes) = self.judged(cells, judged_as(cells.scheduler), tasks, &found)?;
        notes.extend(self.soft.values().filter_map(|soft| soft.note.clone()));
        self.bound(&verdict, &mut settings);
        Ok(Found {
            scheduler: cells.scheduler,
            placement: placed.method.clone(),
            cells: found,
            settings,
            verdict,
            notes,
        })
    }

    /// The verdict of `analyze` on tasks in cells, under a scheduler.
    fn judged(
        &self,
        cells: &Cells<'_>,
        judge: Scheduler,
        tasks: Vec<laxity_model::Task>,
        found: &[FoundCell],
    ) -> std::result::Result<(VerdictAnswer, Vec<String>), Why> {
        let set =
            TaskSet::new(self.set.name(), tasks).map_err(|error| Why::of_all(crate::case::reason(&error)))?;
        let cell = |one: &FoundCell| Cell::new(one.cpus.clone(), one.tasks.clone());
        let record = PlacementRecord { method: String::new(), bins: vec![], ordinary: vec![], notes: vec![] };
        let cells_of = found.iter().map(cell).collect();
        let placed = Placed { cells: cells_of, record, ordinary: Vec::new(), fit: None, placement: None };
        let judge = Analysed::Linux(judge);
        let charge = self.charges.of(Analysed::Linux(cells.scheduler), self.platform);
        let placed = PlacedSet::of(&set, judge, self.platform, &placed, charge, &ServerSizes::NONE).map_err(
            |Failed { assumption, task, .. }| Why {
                task: task.map(|id| set.tasks()[id].name.clone()),
                ..Why::of_all(format!("analysis assumes that {assumption}"))
            },
        )?;
        let names = placed.names(&set);
        let [hard, _] = both_verdicts(&placed, |guarantee| AskedTest { guarantee, ..self.asked() });
        let mut answer = VerdictAnswer::of(&hard, &names, &placed, self.asked());
        if answer.verdict != VerdictName::Schedulable {
            let task = answer.task.take();
            return Err(Why { task, is_kernel: answer.proven_without.is_some(), reason: answer.words() });
        }
        Ok((answer, placed.notes()))
    }

    /// Response times: those of the proof, and the deadline of a task whose reservation is not its own.
    fn bound(&self, verdict: &VerdictAnswer, settings: &mut [Setting]) {
        let bounds = verdict.bounds.iter().flat_map(|bounds| &bounds.tasks);
        for (setting, bound) in settings.iter_mut().zip(bounds) {
            let task = &self.set.tasks()[setting.task];
            let own = match setting.parameters {
                Parameters::Level(_) => true,
                Parameters::Reservation(one) => one.period_ns == task.period().as_ns(),
            };
            let deadline = task.deadline_rel.as_ns();
            let longest = if own { bound.ns.min(deadline) } else { deadline };
            setting.response_ns = (setting.miss == 0).then_some(longest);
        }
    }

    /// Why nothing can be set for these tasks together: what there is of the CPUs, or what the tests say of the tasks as they are, by
    /// EDF or with deadline-monotonic priorities.
    fn refused(&self, cells: &Cells<'_>, cell: usize, ids: &[usize]) -> Why {
        let (cpus, Some(speed)) = &cells.cells[cell] else {
            let cpus = &cells.cells[cell].0;
            return Why::of_all(format!(
                "CPUs {cpus} differ in speed: no test says anything of them together"
            ));
        };
        let processors = u32::try_from(cpus.len()).unwrap_or(u32::MAX);
        let inside = Inside {
            cells,
            processors,
            speed: *speed,
            numbers: ids.iter().map(|id| cells.numbers[id]).collect(),
        };
        let edf = cells.scheduler.rule == PriorityRule::EarliestDeadlineFirst;
        let limit = if edf { self.limits.deadline_q20() } else { self.limits.fifo_q20() };
        let limit = limit.saturating_mul(processors.into());
        let needed: u64 = (0..ids.len()).map(|at| inside.least_bandwidth_q20(at)).sum();
        if needed > limit {
            let limit_words =
                if edf { "that the kernel admits" } else { "that the kernel leaves to real-time threads" };
            let share = |q20| laxity_model::Utilization::ratio(q20, 1 << 20);
            return Why::of_all(format!(
                "{}: {:.4} is needed, of {:.4} {limit_words}",
                cpus_named(cpus),
                share(needed),
                share(limit)
            ));
        }
        let rule = if edf { PriorityRule::EarliestDeadlineFirst } else { PriorityRule::DeadlineMonotonic };
        let as_they_are = Scheduler { rule, ..cells.scheduler };
        let one = FoundCell { cpus: cpus.clone(), tasks: ids.to_vec(), order: None, bandwidth_q20: 0 };
        match self.judged(cells, as_they_are, self.set.tasks().to_vec(), &[one]) {
            Err(why) => why,
            Ok(_) => Why::of_all(format!(
                "{}: the tasks are proven under {as_they_are}, but not the reservations that SCHED_DEADLINE needs for them: \
                 budgets of at least the kernel's least runtime and, where D < T, 1 ns more than the WCET",
                cpus_named(cpus)
            )),
        }
    }
}

/// The order of priorities, and the parameters of each task.
fn parameters(inside: &Inside<'_>, chosen: &Chosen) -> (Option<Order>, Vec<Parameters>) {
    match chosen {
        Chosen::Levels(order, levels) => {
            (Some(*order), levels.iter().map(|&level| Parameters::Level(level)).collect())
        }
        Chosen::Reservations(of) => {
            let served: Vec<_> =
                of.iter().map(|one| one.as_task().at_speed(inside.speed)).enumerate().collect();
            let with = inside.with_overheads(&served).unwrap_or_else(|| of.clone());
            (None, with.into_iter().map(Parameters::Reservation).collect())
        }
    }
}

fn bandwidth(inside: &Inside<'_>, parameters: &[Parameters]) -> u64 {
    let of = |(at, parameters): (usize, &Parameters)| match parameters {
        Parameters::Reservation(one) => one.bandwidth_q20(),
        Parameters::Level(_) => inside.least_bandwidth_q20(at),
    };
    parameters.iter().enumerate().map(of).sum()
}

impl Found {
    /// The task set with its places, and priorities where they are set: 1 is the highest.
    ///
    /// # Errors
    ///
    /// None that the set itself has not had.
    pub fn written(&self, set: &TaskSet) -> Result<TaskSet> {
        let mut tasks = set.tasks().to_vec();
        for setting in &self.settings {
            let task = &mut tasks[setting.task];
            if let Parameters::Level(level) = setting.parameters {
                task.priority = u32::try_from(level + 1).ok();
            }
            if self.scheduler.scope != Scope::Global {
                task.affinity = Some(setting.cpus.clone());
            }
        }
        set.with_tasks(tasks)
    }
}
