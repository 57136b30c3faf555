//! The tasks of one cell, and whether the scheduler's own test accepts them with priorities or reservations, overheads included, and the
//! kernel admits these.

use super::Question;
use super::limits::Limits;
use laxity_analysis::overheads::{Overheads, working_sets_of};
use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::settings::{Granted, Reservation, are_granted, candidates};
use laxity_analysis::{AnalysedCell, SporadicTask};
use laxity_model::{CpuList, DeferrableServer, FIFO_LEVELS, LoadSum, PriorityRule, Scheduler, Speed};
use std::collections::BTreeMap;

/// The cells of a scheduler, and the tasks that go there.
pub struct Cells<'a> {
    pub scheduler: Scheduler,
    pub limits: Limits,
    pub overheads: Option<&'a Overheads>,
    pub asked: Asked,
    /// The CPUs of each cell, and their speed; nothing if they differ.
    pub cells: Vec<(CpuList, Option<Speed>)>,
    /// On a CPU of speed 1.
    pub tasks: Vec<SporadicTask>,
    /// Among the real-time tasks, by id.
    pub numbers: BTreeMap<usize, usize>,
    pub working_sets: Vec<u64>,
    /// Of each task, on a CPU of speed 1.
    pub candidates: Vec<Vec<Reservation>>,
    /// The longest that a job of each task asks for, on a CPU of speed 1.
    pub most: Vec<u64>,
    /// Whether a task may miss deadlines.
    pub soft: Vec<bool>,
}

impl<'a> Cells<'a> {
    pub fn of(
        question: &Question<'_>,
        scheduler: Scheduler,
        cells: Vec<CpuList>,
        (overheads, asked): (Option<&'a Overheads>, Asked),
    ) -> Self {
        let (set, limits) = (question.set, question.limits);
        let tasks = SporadicTask::of_set(set);
        let with_speed = |cpus: CpuList| (cpus.clone(), question.platform.one_speed(&cpus));
        let soft: Vec<_> = set.real_time().map(|(id, _)| question.soft.get(&id)).collect();
        let of_task = |(task, soft): (&SporadicTask, &Option<&super::soft::Soft>)| match soft {
            Some(soft) => soft.reservations.iter().map(|one| one.reservation).collect(),
            None => candidates(task, limits.rules),
        };
        let most = |(task, soft): (&SporadicTask, &Option<&super::soft::Soft>)| {
            soft.map_or(task.wcet_ns, |soft| soft.most)
        };
        Cells {
            scheduler,
            limits,
            overheads,
            asked,
            cells: cells.into_iter().map(with_speed).collect(),
            candidates: tasks.iter().zip(&soft).map(of_task).collect(),
            most: tasks.iter().zip(&soft).map(most).collect(),
            soft: soft.iter().map(Option::is_some).collect(),
            tasks,
            numbers: set.real_time().enumerate().map(|(number, (id, _))| (id, number)).collect(),
            working_sets: working_sets_of(set),
        }
    }
}

/// Some tasks on the CPUs of a cell.
pub struct Inside<'a> {
    pub cells: &'a Cells<'a>,
    pub processors: u32,
    pub speed: Speed,
    /// The tasks' numbers.
    pub numbers: Vec<usize>,
}

impl Inside<'_> {
    /// A task as it is on these CPUs.
    pub fn task(&self, at: usize) -> SporadicTask {
        self.cells.tasks[self.numbers[at]].at_speed(self.speed)
    }

    /// Judges some of the tasks, by place, with these parameters and, under fixed priorities, in this order.
    pub fn judge(&self, order: &[(usize, SporadicTask)]) -> bool {
        // Numbered among themselves: of all tasks, these are few.
        let ranks = order.iter().zip(0..).map(|(&(at, task), rank)| (self.numbers[at], rank, task));
        let mut some: Vec<(usize, u32, SporadicTask)> = ranks.collect();
        some.sort_unstable_by_key(|&(number, ..)| number);
        let tasks: Vec<SporadicTask> = some.iter().map(|&(.., task)| task).collect();
        let priorities: Vec<u32> = some.iter().map(|&(_, rank, _)| rank).collect();
        let working_sets = self.working_sets(some.iter().map(|&(number, ..)| number));
        let cell = AnalysedCell { processors: self.processors, tasks: (0..tasks.len()).collect() };
        let placed = Placed {
            tasks: &tasks,
            working_sets: &working_sets,
            given_priorities: &priorities,
            cells: &[],
            servers: &[],
            overheads: self.cells.overheads,
        };
        self.judged_as().judge_cell(&placed, &cell, DeferrableServer::NONE, self.cells.asked).is_schedulable()
    }

    /// Fixed priorities are given ones, whatever they are chosen by.
    fn judged_as(&self) -> Analysed {
        Analysed::Linux(judged_as(self.cells.scheduler))
    }

    /// What tasks with these numbers walk; nothing if none walks any.
    fn working_sets(&self, numbers: impl Iterator<Item = usize>) -> Vec<u64> {
        let all = &self.cells.working_sets;
        numbers.filter_map(|number| all.get(number).copied()).collect()
    }

    /// Whether EDF would meet the deadlines of the tasks as they are: on one CPU no reservations do what that cannot.
    pub fn may_be_granted(&self) -> bool {
        let tasks: Vec<_> = (0..self.numbers.len()).map(|at| (at, self.task(at))).collect();
        let late = tasks.iter().any(|(_, task)| task.deadline_rel_ns > task.period_ns);
        let soft = self.numbers.iter().any(|&number| self.cells.soft[number]);
        self.processors > 1 || soft || !late || self.judge(&tasks)
    }

    /// Whether EDF grants these reservations, and the kernel admits them with what overheads add.
    pub fn grants(&self, reservations: &[Reservation]) -> bool {
        let served: Vec<_> =
            reservations.iter().map(|one| one.as_task().at_speed(self.speed)).enumerate().collect();
        if !self.judge(&served) {
            return false;
        }
        let Some(set) = self.with_overheads(&served) else { return false };
        if !self.are_granted_overlapping(&set) {
            return false;
        }
        let admitted: u64 = set.iter().map(Reservation::bandwidth_q20).sum();
        let rules = self.cells.limits.rules;
        set.iter().all(|one| one.is_accepted(rules))
            && admitted <= self.cells.limits.deadline_q20().saturating_mul(self.processors.into())
    }

    /// Whether EDF grants reservations of which some have budgets for one job that overlap those for the next: these ask for more than
    /// the sporadic tasks that the tests know. Overheads are part of the reservations.
    fn are_granted_overlapping(&self, reservations: &[Reservation]) -> bool {
        let all: Vec<Granted> =
            reservations.iter().enumerate().map(|(at, one)| self.granted(at, one)).collect();
        if !all.iter().any(|one| matches!(one, Granted::Fluid(_))) {
            return true;
        }
        are_granted(&all, self.processors, &mut self.cells.asked.work.clone())
    }

    /// A reservation of these CPUs, as EDF sees it.
    fn granted(&self, at: usize, one: &Reservation) -> Granted {
        let number = self.numbers[at];
        let demand = self.speed.time_for(self.cells.most[number]);
        Granted::of(one, demand, self.cells.tasks[number].period_ns)
    }

    /// Reservations as they are asked of the kernel: budgets include what overheads take, deadlines are as early as they make them.
    pub fn with_overheads(&self, served: &[(usize, SporadicTask)]) -> Option<Vec<Reservation>> {
        // By place, for of all tasks these are few.
        let mut tasks: Vec<SporadicTask> =
            self.numbers.iter().map(|&number| self.cells.tasks[number]).collect();
        served.iter().for_each(|&(at, task)| tasks[at] = task);
        let cell = AnalysedCell { processors: self.processors, tasks: (0..tasks.len()).collect() };
        let placed = Placed {
            tasks: &tasks,
            working_sets: &self.working_sets(self.numbers.iter().copied()),
            given_priorities: &[],
            cells: std::slice::from_ref(&cell),
            servers: &[],
            overheads: self.cells.overheads,
        };
        let eaten = self.judged_as().eaten(&placed, self.cells.asked.guarantee).ok()?;
        let asked = |&(at, task): &(usize, SporadicTask)| {
            let eaten = &eaten[at];
            let one = Reservation {
                runtime_ns: (task.wcet_ns + eaten.wcet_ns).max(self.cells.limits.rules.runtime_min_ns),
                deadline_rel_ns: task.deadline_rel_ns - eaten.deadline_rel_ns,
                period_ns: task.period_ns,
            };
            // Where budgets overlap, a deadline before the period would hold back the next job.
            match self.granted(at, &one) {
                Granted::Sporadic(_) => one,
                Granted::Fluid(one) => one,
            }
        };
        Some(served.iter().map(asked).collect())
    }

    /// What a task needs of a CPU at the least, in units of 2^-20, rounded down.
    pub fn least_bandwidth_q20(&self, at: usize) -> u64 {
        let number = self.numbers[at];
        match self.cells.candidates[number].first().filter(|_| self.cells.soft[number]) {
            Some(one) => {
                Reservation { runtime_ns: self.speed.time_for(one.runtime_ns), ..*one }.bandwidth_q20()
            }
            None => {
                let task = self.task(at);
                Reservation {
                    runtime_ns: task.wcet_ns,
                    deadline_rel_ns: task.period_ns,
                    period_ns: task.period_ns,
                }
                .bandwidth_q20()
            }
        }
    }

    /// Whether there is room for the tasks in what the kernel leaves to real-time threads.
    pub fn is_within_share(&self) -> bool {
        let Some((runtime, period)) = self.cells.limits.fifo_share() else { return true };
        let mut load = LoadSum::new();
        (0..self.numbers.len())
            .map(|at| self.task(at))
            .for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
        load.cmp_ratio(runtime.saturating_mul(self.processors.into()), period).is_le()
    }

    /// Whether more tasks are here than priorities.
    pub fn shares_levels(&self) -> bool {
        self.numbers.len() > FIFO_LEVELS
    }
}

/// The scheduler that judges what is set.
pub fn judged_as(scheduler: Scheduler) -> Scheduler {
    match scheduler.rule {
        PriorityRule::EarliestDeadlineFirst => scheduler,
        PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => {
            Scheduler { rule: PriorityRule::Given, ..scheduler }
        }
    }
}
