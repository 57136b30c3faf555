//! A scheduler's test for placements: which tasks of a set a cell takes, asked again and again.
//!
//! A cell whose processors differ in speed is judged by no test, and takes no task.

use super::{Analysed, Asked, Judgement, Placed};
use crate::overheads::{Overheads, working_sets_of};
use crate::{AnalysedCell, SporadicTask};
use laxity_model::{DeferrableServer, Speed, TaskSet, Utilization};
use std::collections::{BTreeMap, BTreeSet};

/// A cell, before it is known which tasks it has.
#[derive(Debug, Clone, Copy)]
pub struct EmptyCell {
    /// All that belong to it, also one that its scheduler dedicates.
    pub processors: u32,
    /// That of those which run tasks; nothing if they differ.
    pub speed: Option<Speed>,
    /// Its deferrable server, time on its processor.
    pub server: DeferrableServer,
}

/// The cells of a machine, and the real-time tasks that are to go there. Tasks have the ids of the set.
pub struct TestedCells {
    scheduler: Analysed,
    asked: Asked,
    cells: Vec<EmptyCell>,
    /// The tasks as they are at each speed that a cell has.
    at_speed: BTreeMap<Speed, Vec<SporadicTask>>,
    /// Among the real-time tasks, by id; of others nothing that is one.
    numbers: Vec<usize>,
    working_sets: Vec<u64>,
    given_priorities: Vec<u32>,
    overheads: Option<Overheads>,
}

impl TestedCells {
    /// For a set, as if scheduling cost nothing and no task had a priority of its own.
    pub fn of(scheduler: Analysed, set: &TaskSet, cells: Vec<EmptyCell>, asked: Asked) -> Self {
        let tasks = SporadicTask::of_set(set);
        let mut numbers = vec![usize::MAX; set.tasks().len()];
        set.real_time().enumerate().for_each(|(number, (id, _))| numbers[id] = number);
        let slower = |speed: Speed| tasks.iter().map(|task| task.at_speed(speed)).collect();
        let speeds: BTreeSet<Speed> = cells.iter().filter_map(|cell| cell.speed).collect();
        let at_speed = speeds.into_iter().map(|speed| (speed, slower(speed))).collect();
        TestedCells {
            scheduler,
            asked,
            cells,
            at_speed,
            numbers,
            working_sets: working_sets_of(set),
            given_priorities: Vec::new(),
            overheads: None,
        }
    }

    /// With the priority of every real-time task, for schedulers with given ones.
    #[must_use]
    pub fn with_priorities(self, given_priorities: Vec<u32>) -> Self {
        TestedCells { given_priorities, ..self }
    }

    /// With what scheduling costs.
    #[must_use]
    pub fn with_overheads(self, overheads: Option<Overheads>) -> Self {
        TestedCells { overheads, ..self }
    }

    /// What it is called in messages.
    pub fn name(&self) -> String {
        format!("the test of {}", self.scheduler)
    }

    /// The share of each processor beyond which no test accepts, because the kernel takes the rest; nothing where that is not known of
    /// all cells: only of those with one processor.
    pub fn room(&self) -> Option<Utilization> {
        let counts = |cell: &EmptyCell| {
            let running = self.scheduler.running(cell.processors);
            running == 1 && self.scheduler.is_beside(running)
        };
        self.cells.iter().all(counts).then(|| self.asked.beside.left_of_one())
    }

    /// Whether the test proves a cell, by its number, with exactly these tasks.
    pub fn accepts(&self, cell: usize, ids: &[usize]) -> bool {
        let EmptyCell { processors, speed, server } = self.cells[cell];
        let Some(tasks) = speed.and_then(|speed| self.at_speed.get(&speed)) else { return false };
        let cell = AnalysedCell { processors, tasks: ids.iter().map(|id| self.numbers[*id]).collect() };
        let placed = Placed {
            tasks,
            working_sets: &self.working_sets,
            given_priorities: &self.given_priorities,
            cells: &[],
            servers: &[],
            overheads: self.overheads.as_ref(),
        };
        self.scheduler.judge_cell(&placed, &cell, server, self.asked).is_schedulable()
    }

    /// The judgement on a cell without its server, as if these tasks were all, and the tasks as they are there. Nothing where its
    /// processors differ.
    pub fn judge_alone(&self, cell: usize, ids: &[usize]) -> Option<(Judgement, Vec<SporadicTask>)> {
        let EmptyCell { processors, speed, .. } = self.cells[cell];
        let all = self.at_speed.get(&speed?)?;
        let mut numbers: Vec<usize> = ids.iter().map(|id| self.numbers[*id]).collect();
        numbers.sort_unstable();
        let tasks: Vec<SporadicTask> = numbers.iter().map(|&number| all[number]).collect();
        let cells = [AnalysedCell { processors, tasks: (0..tasks.len()).collect() }];
        let given = |&number: &usize| self.given_priorities.get(number).copied();
        let given_priorities: Vec<u32> = numbers.iter().filter_map(given).collect();
        let working_sets: Vec<u64> = numbers.iter().map(|&number| self.working_sets[number]).collect();
        let placed = Placed {
            tasks: &tasks,
            working_sets: &working_sets,
            given_priorities: &given_priorities,
            cells: &cells,
            servers: &[],
            overheads: self.overheads.as_ref(),
        };
        let judgement = self.scheduler.judge(&placed, self.asked);
        Some((judgement, tasks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Guarantee;
    use laxity_model::{Duration, Task};

    #[test]
    fn a_cell_takes_what_is_proven_there_at_its_speed_and_nothing_where_speeds_differ() {
        let task = |name: &str, wcet| Task::periodic(name, Duration::from_ns(wcet), Duration::from_ns(10));
        let set = TaskSet::new("set", vec![task("half", 5), task("other", 5)]).expect("a set");
        let cell = |speed| EmptyCell { processors: 1, speed, server: DeferrableServer::NONE };
        let half = Speed::new(1, 2).expect("a speed");
        let cells = [Some(Speed::UNIT), Some(half), None].map(cell).to_vec();
        let asked = Asked::of(Guarantee::Hard);
        let tested = TestedCells::of("p-edf".parse().expect("a scheduler"), &set, cells, asked);
        assert_eq!([0, 1, 2].map(|cell| tested.accepts(cell, &[0, 1])), [true, false, false]);
        assert_eq!([0, 1, 2].map(|cell| tested.accepts(cell, &[1])), [true, true, false]);
        let (judgement, tasks) = tested.judge_alone(1, &[0]).expect("one speed");
        assert!(judgement.verdict.is_schedulable() && tasks == [SporadicTask::implicit(10, 10)]);
        assert!(tested.judge_alone(2, &[0]).is_none());
    }
}
