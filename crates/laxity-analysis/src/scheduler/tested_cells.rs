//! A scheduler's test for placements: which tasks of a set a cell takes, asked again and again.
//!
//! A cell whose processors differ in speed is judged by no test, and takes no task.

use super::{Analysed, Asked, Judgement, Placed};
use crate::overheads::{Overheads, working_sets_of};
use crate::uniprocessor::{Ceiling, Growing, Rank};
use crate::{AnalysedCell, SporadicTask};
use laxity_model::{DeferrableServer, Speed, TaskSet, Utilization};
use std::cell::RefCell;
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

/// What a cell refuses of further tasks, whatever its test is.
pub struct RefusesAtOnce<'a> {
    /// Every task whose work per period on a processor of speed 1 is above this, if that is known: in units of 2^-64.
    pub above_q64: Option<u128>,
    /// Whether it refuses a task, by id.
    pub task: Box<dyn Fn(usize) -> bool + 'a>,
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
    /// The longest deadline of all that end within their periods.
    deadline_max_ns: u64,
    /// All do.
    all_constrained: bool,
    working_sets: Vec<u64>,
    given_priorities: Vec<u32>,
    overheads: Option<Overheads>,
    /// What is known of the tasks that a cell has accepted last, one after the other, by id.
    known: RefCell<BTreeMap<usize, (Vec<usize>, Growing)>>,
}

impl TestedCells {
    /// For a set, as if scheduling cost nothing and no task had a priority of its own.
    pub fn of(scheduler: Analysed, set: &TaskSet, cells: Vec<EmptyCell>, asked: Asked) -> Self {
        let tasks = SporadicTask::of_set(set);
        let mut numbers = vec![usize::MAX; set.tasks().len()];
        set.real_time().enumerate().for_each(|(number, (id, _))| numbers[id] = number);
        let is_constrained = |task: &&SporadicTask| task.deadline_rel_ns <= task.period_ns;
        let constrained = tasks.iter().filter(is_constrained).map(|task| task.deadline_rel_ns);
        let deadline_max_ns = constrained.max().unwrap_or(0);
        let all_constrained = tasks.iter().all(|task| is_constrained(&task));
        let slower = |speed: Speed| tasks.iter().map(|task| task.at_speed(speed)).collect();
        let speeds: BTreeSet<Speed> = cells.iter().filter_map(|cell| cell.speed).collect();
        let at_speed = speeds.into_iter().map(|speed| (speed, slower(speed))).collect();
        TestedCells {
            scheduler,
            asked,
            cells,
            at_speed,
            numbers,
            deadline_max_ns,
            all_constrained,
            working_sets: working_sets_of(set),
            given_priorities: Vec::new(),
            overheads: None,
            known: RefCell::default(),
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
        self.accepts_more(cell, ids).unwrap_or_else(|| {
            let Some((placed, inside)) = self.inside(cell, ids) else { return false };
            self.scheduler.judge_cell(&placed, &inside, self.cells[cell].server, self.asked).is_schedulable()
        })
    }

    /// The same, from what is known of the tasks before the last; nothing where the test has to be asked about all.
    fn accepts_more(&self, cell: usize, ids: &[usize]) -> Option<bool> {
        let EmptyCell { processors, server, .. } = self.cells[cell];
        let asks = self.scheduler.asks_for_completions(processors, self.asked);
        if !asks || self.overheads.is_some() || !server.is_none() {
            return None;
        }
        let (&last, before) = ids.split_last()?;
        let (placed, inside) = self.inside(cell, ids)?;
        let tasks: Vec<SporadicTask> = inside.tasks.iter().map(|&number| placed.tasks[number]).collect();
        let taken = self.scheduler.taken_before(&tasks, self.asked);
        let mut known = self.known.borrow_mut();
        let (known_ids, growing) = known.entry(cell).or_default();
        if known_ids != before || growing.others() != taken {
            if !before.is_empty() {
                return None;
            }
            known_ids.clear();
            *growing = Growing::below(taken);
        }
        let number = self.numbers[last];
        let rank = self.scheduler.place(&placed, number)?;
        let levels = |ranked: &[(Rank, SporadicTask)]| {
            let ranks: Vec<Rank> = ranked.iter().map(|(rank, _)| *rank).collect();
            self.scheduler.levels(&ranks)
        };
        let accepted = growing.take(rank, placed.tasks[number], levels)?;
        if accepted {
            known_ids.push(last);
        }
        Some(accepted)
    }

    /// What a cell with exactly these tasks, by id, refuses of further ones: only such with which [`TestedCells::accepts`] is false.
    /// Nothing where that is not known without the test.
    pub fn refuses(&self, cell: usize, ids: &[usize]) -> Option<RefusesAtOnce<'_>> {
        let EmptyCell { processors, speed, .. } = self.cells[cell];
        if !self.scheduler.asks_for_completions(processors, self.asked) {
            return None;
        }
        let (placed, inside) = self.inside(cell, ids)?;
        let ranked = |&number: &usize| Some((self.scheduler.place(&placed, number)?, placed.tasks[number]));
        let ranked = inside.tasks.iter().map(ranked).collect::<Option<Vec<_>>>()?;
        let tasks: Vec<SporadicTask> = ranked.iter().map(|(_, task)| *task).collect();
        let taken = self.scheduler.taken_before(&tasks, self.asked);
        let ceiling = Ceiling::of(&ranked, &taken, self.deadline_max_ns)?;
        let above_q64 = speed.and_then(|speed| ceiling.of_all_q64(self.deadline_max_ns, speed));
        Some(RefusesAtOnce {
            above_q64: above_q64.filter(|_| self.all_constrained),
            task: Box::new(move |id| {
                let number = self.numbers[id];
                let rank = self.scheduler.place(&placed, number);
                rank.is_some_and(|rank| ceiling.refuses(rank, &placed.tasks[number]))
            }),
        })
    }

    /// Tasks as they are in a cell; nothing where its processors differ.
    fn inside(&self, cell: usize, ids: &[usize]) -> Option<(Placed<'_>, AnalysedCell)> {
        let EmptyCell { processors, speed, .. } = self.cells[cell];
        let placed = Placed {
            tasks: self.at_speed.get(&speed?)?,
            working_sets: &self.working_sets,
            given_priorities: &self.given_priorities,
            cells: &[],
            servers: &[],
            overheads: self.overheads.as_ref(),
        };
        Some((placed, AnalysedCell { processors, tasks: ids.iter().map(|id| self.numbers[*id]).collect() }))
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
    use crate::{Beside, Guarantee, Taken};
    use laxity_model::{Duration, Task};
    use laxity_seeds::seeds;

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

    /// Tasks one by one, as a placement asks, with what Linux takes and without: what is known of those before changes no answer.
    #[test]
    fn what_is_known_of_a_cell_changes_no_answer() {
        let (mut asked_at_all, mut refused_at_once) = (0, 0);
        for seed in seeds!(0..200) {
            let mut state = seed;
            let mut below = |bound: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % bound
            };
            let tasks = (0..120).map(|number| {
                let period = 1000 + below(9000);
                let wcet = 1 + below(period / if seed % 3 == 0 { 60 } else { 8 });
                let given = u32::try_from(1 + below(30)).expect("small");
                let deadline =
                    Duration::from_ns(if seed % 2 == 0 { period } else { wcet + below(period - wcet) });
                let times = (Duration::from_ns(wcet), Duration::from_ns(period));
                let task = Task::periodic(format!("t{number}"), times.0, times.1);
                Task { deadline_rel: deadline.max(times.0), priority: Some(given), ..task }
            });
            let set = TaskSet::new("set", tasks.collect()).expect("a set");
            let given: Vec<u32> = set.tasks().iter().map(|task| task.priority.unwrap_or(1)).collect();
            let slow =
                [Speed::UNIT, Speed::new(2, 3).expect("a speed")][usize::try_from(seed % 2).expect("small")];
            let cell = EmptyCell { processors: 1, speed: Some(slow), server: DeferrableServer::NONE };
            let taken = Taken { runtime_ns: 90, period_ns: 1900 };
            let beside = Beside {
                servers: [taken, if seed % 3 == 0 { taken } else { Taken::default() }],
                throttled: taken,
                tick_ns: 1,
                alone: seed % 5 == 0,
            };
            let asked = Asked {
                beside: if seed % 4 == 0 { Beside::default() } else { beside },
                ..Asked::of(Guarantee::Hard)
            };
            let name =
                ["p-rm", "p-dm", "p-fp", "p-edf", "fpp", "amp-rm"][usize::try_from(seed % 6).expect("small")];
            let of = |cells| {
                TestedCells::of(name.parse().expect(name), &set, cells, asked).with_priorities(given.clone())
            };
            let (growing, each) = (of(vec![cell]), of(vec![cell]));
            let mut placed = Vec::new();
            for id in 0..set.tasks().len() {
                let refuses = growing.refuses(0, &placed);
                placed.push(id);
                // The other forgets what it knows of the tasks before.
                let (accepted, expected) = (growing.accepts(0, &placed), {
                    each.known.take();
                    each.accepts(0, &placed)
                });
                assert_eq!(accepted, expected, "{name}, task {id} of seed {seed} with {placed:?}");
                if refuses.is_some_and(|refuses| (refuses.task)(id)) {
                    assert!(!expected, "{name}, task {id} of seed {seed} with {placed:?}");
                    refused_at_once += 1;
                }
                asked_at_all += 1;
                if !accepted {
                    placed.pop();
                }
            }
        }
        assert!(refused_at_once > asked_at_all / 9, "{refused_at_once} of {asked_at_all}");
    }
}
