//! The judgement on a placed set.

use super::Analysed;
use super::bounds::response;
use super::tests::{Answer, Judged, Proven, ask, tests_for};
use crate::beside::Class;
use crate::overheads::{Eaten, Inflated, Overheads, Rejected, RejectedWhy};
use crate::partitioned::each_in_one_cell;
use crate::uniprocessor::deferrable::{as_task, takes_server};
use crate::{
    AnalysedCell, Beside, Bounds, DoubleHit, FixedPriorityRta, Guarantee, Levels, Priorities, SporadicTask,
    Test, Verdict, Work,
};
use laxity_model::{DeferrableServer, PriorityRule};

/// What is judged. Everything is by the task's number in `tasks`.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    /// The tasks as given.
    pub tasks: &'a [SporadicTask],
    /// The bytes that each walks; empty if none walks any.
    pub working_sets: &'a [u64],
    /// The priority of each, the smallest number the highest, for schedulers with given priorities (`:fp`); others take none.
    pub given_priorities: &'a [u32],
    /// Which tasks share which processors: all that belong to a cell, also one that its scheduler dedicates.
    pub cells: &'a [AnalysedCell],
    /// The deferrable server of each cell, time on its processor; empty if there are none.
    pub servers: &'a [DeferrableServer],
    /// What scheduling costs; None: nothing, and the quanta of Pfair are as short as need be. Otherwise they are of a tick's period,
    /// also where nothing costs anything: so it is to be asked about a quantum.
    pub overheads: Option<&'a Overheads>,
}

/// The question.
#[derive(Clone, Copy)]
pub struct Asked {
    /// What is to be proven.
    pub guarantee: Guarantee,
    /// By this test instead of those that know the scheduler best. A hard test that accepts proves that tardiness is 0; a bound
    /// of 0 for all tardiness proves that no deadline is missed.
    pub test: Option<&'static dyn Test>,
    /// How many steps each test may take on each cell.
    pub work: Work,
    /// Beside what on Linux: it counts for SCHED_FIFO, and for SCHED_DEADLINE on one processor ([`Analysed::is_beside`]).
    pub beside: Beside,
}

/// What is known of a set under a scheduler: the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict on all cells. Numbers of tasks are those of the set; times are of the tasks as given, whatever overheads have
    /// taken. Of a hard guarantee the bounds are response times, D for a task whose test gives none, and nothing at all if no
    /// test gives any; of a soft one they are tardiness.
    pub verdict: Verdict,
    /// The tests that prove it, each once, in the order of cells; empty if nothing is proven.
    pub proven_by: Vec<&'static str>,
    /// The first cell that is not schedulable.
    pub fails_in: Option<usize>,
    /// Overheads leave no room there: the reason, which is no test's.
    pub no_room: Option<RejectedWhy>,
    /// It is not proven beside what the kernel takes, and would be without it. False where it would not be, either: then the judgement is
    /// that without.
    pub but_for_beside: bool,
}

impl Asked {
    /// By the tests that know the scheduler best, with as many steps as are enough, beside nothing.
    pub fn of(guarantee: Guarantee) -> Self {
        Asked { guarantee, test: None, work: Work::default(), beside: Beside::default() }
    }

    /// The same, beside nothing.
    #[must_use]
    pub fn alone(self) -> Self {
        Asked { beside: Beside::default(), ..self }
    }
}

/// Assumptions of analyses of schedulers, beside those of tests.
const ONE_CELL_EACH: &str = "each task is in exactly one cell";
const PRIORITIES_GIVEN: &str = "every task has a priority";
const NOT_DEDICATED: &str = "a cell has a CPU beside the one that is dedicated";
const ALIGNED: &str = "periods are multiples of the quantum (aligned)";
const OTHER_PRIORITIES: &str = "the test is for the scheduler's priorities";
const BELOW_SERVER: &str = "a deferrable server is of one CPU, whose tasks have fixed priorities";
const FREE_LAXITIES: &str =
    "scheduling costs nothing under EDZL: while it takes time laxities run out, and that makes jobs preempt";
const FREE_BELOW_SERVER: &str = "scheduling costs nothing below a deferrable server: nothing bounds how often background tasks preempt \
    others";

impl Analysed {
    /// Judges a placed set. Panics if there are working sets, but not one for each task, or servers, but not one for each cell.
    ///
    /// Cells are judged in their order, up to the first that is not schedulable; what one needs of steps, others have as well.
    pub fn judge(self, set: &Placed<'_>, asked: Asked) -> Judgement {
        if let Some(needed) = self.unproven() {
            return Judgement::not(Verdict::needs(needed, None), None, None);
        }
        let with = self.judge_once(set, asked);
        let counts = |cell: &AnalysedCell| self.is_beside(self.running(cell.processors));
        if with.verdict.is_schedulable() || asked.beside.is_nothing() || !set.cells.iter().any(counts) {
            return with;
        }
        let without = self.judge_once(set, asked.alone());
        match without.verdict.is_schedulable() {
            true => Judgement { but_for_beside: true, ..with },
            false => without,
        }
    }

    fn judge_once(self, set: &Placed<'_>, asked: Asked) -> Judgement {
        if let Err(task) = each_in_one_cell(set.tasks.len(), set.cells) {
            return Judgement::not(Verdict::needs(ONE_CELL_EACH, task), None, None);
        }
        let mut whole = Whole::new(set.tasks, asked.guarantee);
        for (place, cell) in set.cells.iter().enumerate().filter(|(_, cell)| !cell.tasks.is_empty()) {
            let server = if set.servers.is_empty() { DeferrableServer::NONE } else { set.servers[place] };
            let Some(inside) = Inside::of(self, set, cell, server) else {
                return Judgement::not(Verdict::needs(PRIORITIES_GIVEN, None), Some(place), None);
            };
            match inside.judge(set.overheads, asked) {
                Ok((proven, eaten)) => whole.add(&inside, proven, &eaten),
                Err((verdict, no_room)) => return Judgement::not(verdict, Some(place), no_room),
            }
        }
        whole.judgement()
    }

    /// Judges one cell with its server and its tasks, wherever the others are: what a placement asks before it puts a task there.
    /// Without tasks it is schedulable. There are no bounds, and numbers of tasks are those of the set, whose cells and servers are
    /// not looked at.
    ///
    /// A set is schedulable in its cells if each of them is.
    pub fn judge_cell(
        self,
        set: &Placed<'_>,
        cell: &AnalysedCell,
        server: DeferrableServer,
        asked: Asked,
    ) -> Verdict {
        if let Some(needed) = self.unproven() {
            return Verdict::needs(needed, None);
        }
        if cell.tasks.is_empty() {
            return Verdict::SCHEDULABLE;
        }
        let Some(inside) = Inside::of(self, set, cell, server) else {
            return Verdict::needs(PRIORITIES_GIVEN, None);
        };
        match inside.judge(set.overheads, asked) {
            Ok(_) => Verdict::SCHEDULABLE,
            Err((verdict, _)) => verdict,
        }
    }

    /// Whether a cell of so many processors is judged by `fp-rta`, which asks each task of one processor under fixed priorities for a
    /// time by which it has completed.
    pub(super) fn asks_for_completions(self, processors: u32, asked: Asked) -> bool {
        let running = self.running(processors);
        let is_own = |test: &&dyn Test| test.info().name == FixedPriorityRta.info().name;
        running == 1
            && self.unproven().is_none()
            && self.priorities(running) == Priorities::Fixed
            && asked.guarantee == Guarantee::Hard
            && asked.test.as_ref().is_none_or(is_own)
    }

    /// What the kernel takes of a cell of one processor before these tasks, all that it has.
    pub(super) fn taken_before(self, tasks: &[SporadicTask], asked: Asked) -> Vec<SporadicTask> {
        let taken = |class| asked.beside.as_used_by(tasks).tasks(class);
        self.class(1).map(taken).unwrap_or_default()
    }

    /// Where a task is among priorities; nothing if it has none.
    pub(super) fn place(self, set: &Placed<'_>, number: usize) -> Option<(u64, usize)> {
        Some((self.rank(set, number)?, number))
    }

    /// What overheads take of every task, as they are counted for a guarantee. A task that is in no cell loses nothing. Servers are
    /// not looked at.
    ///
    /// # Errors
    ///
    /// They leave no room; the task has its number in the set.
    pub fn eaten(self, set: &Placed<'_>, guarantee: Guarantee) -> Result<Vec<Eaten>, Rejected> {
        let mut all = vec![Eaten::default(); set.tasks.len()];
        for cell in set.cells {
            let numbers = cell.tasks.clone();
            let inside = Inside::by_number(self, set, cell, DeferrableServer::NONE, numbers);
            let inflated = inside.inflate(set.overheads, guarantee)?;
            inside.numbers.iter().zip(inflated.eaten).for_each(|(&number, eaten)| all[number] = eaten);
        }
        Ok(all)
    }

    /// The tests that are asked about a cell of so many processors with such a server, in their order.
    pub fn tests(
        self,
        guarantee: Guarantee,
        processors: u32,
        server: DeferrableServer,
    ) -> &'static [&'static dyn Test] {
        if self.unproven().is_some() {
            return &[];
        }
        let running = self.running(processors);
        tests_for(self.priorities(running), self.proven_as(guarantee), running, server)
    }

    /// Whether what the kernel takes is counted in cells of so many processors that run tasks. It is not
    ///
    /// - under SCHED_DEADLINE on several: a server stays on its processor, and no test here knows of that;
    /// - under laxity's own policies, which are of sched_ext: servers run what the policy has chosen;
    /// - under what Linux does not have.
    pub fn is_beside(self, processors: u32) -> bool {
        self.class(processors).is_some()
    }

    fn class(self, processors: u32) -> Option<Class> {
        match self {
            Analysed::Linux(scheduler) if scheduler.rule != PriorityRule::EarliestDeadlineFirst => {
                Some(Class::Fifo)
            }
            Analysed::Linux(_) | Analysed::Reclaiming(_) => (processors == 1).then_some(Class::Deadline),
            Analysed::Policy(_) | Analysed::Pfair(_) | Analysed::FairLateness | Analysed::Unproven(_) => None,
        }
    }

    /// The value by which a task is ordered under fixed priorities; nothing if it has none.
    fn rank(self, set: &Placed<'_>, number: usize) -> Option<u64> {
        match self.rule() {
            Some(PriorityRule::RateMonotonic) => Some(set.tasks[number].period_ns),
            Some(PriorityRule::DeadlineMonotonic) => Some(set.tasks[number].deadline_rel_ns),
            Some(PriorityRule::Given) => set.given_priorities.get(number).map(|&given| given.into()),
            Some(PriorityRule::EarliestDeadlineFirst) => Some(0),
            None => match self {
                // Their jobs go by points in time or by quanta: tasks have no order.
                Analysed::Pfair(_) | Analysed::FairLateness | Analysed::Unproven(_) => Some(0),
                Analysed::Linux(_) | Analysed::Policy(_) | Analysed::Reclaiming(_) => {
                    unreachable!("they have a rule")
                }
            },
        }
    }

    /// How many of a cell's tasks, which are in the order of priorities, are at each level of SCHED_FIFO. Nothing if no two share
    /// one: under EDF, and under laxity's own policies, where the first of two equals goes first.
    fn shared_levels(self, ranked: &[(u64, usize)]) -> Vec<usize> {
        let Some(levels) = self.levels(ranked) else { return Vec::new() };
        let sizes: Vec<usize> = levels.chunk_by(|one, other| one == other).map(<[usize]>::len).collect();
        if sizes.len() == ranked.len() { Vec::new() } else { sizes }
    }

    /// The level of SCHED_FIFO of each; nothing where tasks have none.
    pub(super) fn levels(self, ranked: &[(u64, usize)]) -> Option<Vec<usize>> {
        let rule = match self {
            Analysed::Linux(scheduler) if scheduler.rule != PriorityRule::EarliestDeadlineFirst => {
                scheduler.rule
            }
            Analysed::Linux(_)
            | Analysed::Policy(_)
            | Analysed::Reclaiming(_)
            | Analysed::Pfair(_)
            | Analysed::FairLateness
            | Analysed::Unproven(_) => return None,
        };
        Some(rule.fifo_levels(ranked))
    }

    /// Whether tasks of a cell share a priority, and which of them goes first is not known: a failure then proves nothing. False if
    /// a task has no priority.
    pub fn shares_levels(self, set: &Placed<'_>) -> bool {
        set.cells.iter().any(|cell| {
            let ranked: Option<Vec<_>> = cell.tasks.iter().map(|&number| self.place(set, number)).collect();
            ranked.is_some_and(|mut ranked| {
                ranked.sort_unstable();
                !self.shared_levels(&ranked).is_empty()
            })
        })
    }
}

/// A cell's tasks, in the order of priorities where they are fixed, else in that of the set.
struct Inside {
    scheduler: Analysed,
    /// Those that run tasks.
    processors: u32,
    /// What goes before the tasks.
    server: DeferrableServer,
    numbers: Vec<usize>,
    /// How many tasks each level of priority has, where some share one; else nothing.
    levels: Vec<usize>,
    tasks: Vec<SporadicTask>,
    working_sets: Vec<u64>,
}

impl Inside {
    /// Nothing if a task has no priority.
    fn of(
        scheduler: Analysed,
        set: &Placed<'_>,
        cell: &AnalysedCell,
        server: DeferrableServer,
    ) -> Option<Inside> {
        let mut ranked = Vec::with_capacity(cell.tasks.len());
        for &number in &cell.tasks {
            ranked.push(scheduler.place(set, number)?);
        }
        ranked.sort_unstable();
        let levels = scheduler.shared_levels(&ranked);
        let numbers = ranked.into_iter().map(|(_, number)| number).collect();
        Some(Inside { levels, ..Inside::by_number(scheduler, set, cell, server, numbers) })
    }

    fn by_number(
        scheduler: Analysed,
        set: &Placed<'_>,
        cell: &AnalysedCell,
        server: DeferrableServer,
        numbers: Vec<usize>,
    ) -> Inside {
        let bytes = |&number: &usize| if set.working_sets.is_empty() { 0 } else { set.working_sets[number] };
        Inside {
            scheduler,
            processors: scheduler.running(cell.processors),
            tasks: numbers.iter().map(|&number| set.tasks[number]).collect(),
            working_sets: numbers.iter().map(bytes).collect(),
            server,
            numbers,
            levels: Vec::new(),
        }
    }

    /// Tasks that are refused have their numbers in the set.
    fn inflate(&self, overheads: Option<&Overheads>, guarantee: Guarantee) -> Result<Inflated, Rejected> {
        self.scheduler
            .inflate(&self.tasks, &self.working_sets, self.processors, guarantee, overheads)
            .map_err(|why| Rejected { task: why.task.map(|at| self.numbers[at]), ..why })
    }

    fn judge(
        &self,
        overheads: Option<&Overheads>,
        asked: Asked,
    ) -> Result<(Proven, Vec<Eaten>), (Verdict, Option<RejectedWhy>)> {
        if self.processors == 0 {
            return Err((Verdict::needs(NOT_DEDICATED, None), None));
        }
        let priorities = self.scheduler.priorities(self.processors);
        if let Some(needed) = self.server_needs(priorities, overheads) {
            return Err((Verdict::needs(needed, None), None));
        }
        if priorities == Priorities::ZeroLaxity && overheads.is_some() {
            return Err((Verdict::needs(FREE_LAXITIES, None), None));
        }
        let tests: &[&'static dyn Test] = match &asked.test {
            None => {
                let guarantee = self.scheduler.proven_as(asked.guarantee);
                tests_for(priorities, guarantee, self.processors, self.server)
            }
            Some(test) if test.info().priorities == priorities => std::slice::from_ref(test),
            Some(_) => return Err((Verdict::needs(OTHER_PRIORITIES, None), None)),
        };
        if let Some((needed, at)) = self.scheduler.unlike_edf(&self.tasks, tests) {
            return Err((Verdict::needs(needed, at.map(|at| self.numbers[at])), None));
        }
        if let Some(at) = self.scheduler.not_aligned(&self.tasks, overheads) {
            return Err((Verdict::needs(ALIGNED, Some(self.numbers[at])), None));
        }
        let inflated = self.inflate(overheads, asked.guarantee).map_err(|why| {
            let no_room = Some(why.reason).filter(|&reason| reason != RejectedWhy::NoTask);
            (why.into(), no_room)
        })?;
        let kernel = match asked.guarantee {
            Guarantee::Hard => asked.beside.as_used_by(&inflated.tasks),
            Guarantee::Soft => asked.beside,
        };
        let (above, beside) = self.beside(kernel);
        let mut tasks = inflated.tasks;
        self.scheduler.sleep_between_jobs(&mut tasks[inflated.interrupts..]);
        tasks.splice(..0, self.server_for(tests).into_iter().chain(above));
        let others = tasks.len() - self.tasks.len();
        // Interrupts, a server and what the kernel takes are above all, each at a level of its own.
        let sizes = [vec![1; others], self.levels.clone()].concat();
        let levels = (!self.levels.is_empty()).then(|| Levels::new(&sizes));
        let cell = Judged { tasks: &tasks, levels, processors: self.processors, beside };
        match ask(tests, asked.guarantee, cell, asked.work) {
            Answer::Proven(mut proven) => {
                proven.completions.drain(..others);
                Ok((proven, inflated.eaten))
            }
            Answer::Not(verdict) => Err((self.numbered(verdict, others), None)),
        }
    }

    /// What the kernel takes: on one processor as tasks before the others, on several as it is. Switching to its servers costs nothing.
    fn beside(&self, beside: Beside) -> (Vec<SporadicTask>, Beside) {
        match self.scheduler.class(self.processors) {
            None => (Vec::new(), Beside::default()),
            Some(class) if self.processors == 1 => (beside.tasks(class), Beside::default()),
            Some(_) => (Vec::new(), beside),
        }
    }

    /// What must hold of a cell with a server and does not.
    fn server_needs(&self, priorities: Priorities, overheads: Option<&Overheads>) -> Option<&'static str> {
        match overheads {
            _ if self.server.is_none() => None,
            _ if priorities != Priorities::Fixed || self.processors != 1 => Some(BELOW_SERVER),
            Some(_) => Some(FREE_BELOW_SERVER),
            None => None,
        }
    }

    /// The server as tests see it, before all tasks whatever its period: as it is where they know servers, otherwise as a task that
    /// asks for as much.
    fn server_for(&self, tests: &[&'static dyn Test]) -> Option<SporadicTask> {
        let known = tests.iter().all(|&test| takes_server(test));
        as_task(self.server, if known { DoubleHit::Ignored } else { DoubleHit::Counted })
    }

    /// With the numbers of the set. Interrupts and a server, which come first, are no tasks of it.
    fn numbered(&self, verdict: Verdict, others: usize) -> Verdict {
        verdict.with_numbers(|at| Some(self.numbers[at.checked_sub(others)?]))
    }
}

/// What has been proven of some cells.
struct Whole<'a> {
    tasks: &'a [SporadicTask],
    guarantee: Guarantee,
    bounds: Vec<u64>,
    bounded: bool,
    proven_by: Vec<&'static str>,
}

impl<'a> Whole<'a> {
    fn new(tasks: &'a [SporadicTask], guarantee: Guarantee) -> Self {
        let bounds = vec![0; tasks.len()];
        Whole { tasks, guarantee, bounds, bounded: false, proven_by: Vec::new() }
    }

    fn add(&mut self, inside: &Inside, proven: Proven, eaten: &[Eaten]) {
        for ((&number, completion), eaten) in inside.numbers.iter().zip(proven.completions).zip(eaten) {
            let (response, deadline) = (response(completion, eaten), self.tasks[number].deadline_rel_ns);
            self.bounds[number] = match self.guarantee {
                Guarantee::Hard => response.min(deadline),
                Guarantee::Soft => response.saturating_sub(deadline),
            };
        }
        self.bounded |= proven.bounded;
        for name in proven.by {
            if !self.proven_by.contains(&name) {
                self.proven_by.push(name);
            }
        }
    }

    fn judgement(self) -> Judgement {
        let bounds = match self.guarantee {
            Guarantee::Soft => Bounds::Tardiness(self.bounds),
            Guarantee::Hard if self.bounded => Bounds::ResponseTimes(self.bounds),
            Guarantee::Hard => Bounds::None,
        };
        let verdict = Verdict::Schedulable(bounds);
        Judgement { verdict, proven_by: self.proven_by, fails_in: None, no_room: None, but_for_beside: false }
    }
}

impl Judgement {
    fn not(verdict: Verdict, fails_in: Option<usize>, no_room: Option<RejectedWhy>) -> Self {
        Judgement { verdict, proven_by: Vec::new(), fails_in, no_room, but_for_beside: false }
    }
}
