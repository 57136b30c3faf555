//! What every test is.

use crate::{Levels, Source, SporadicTask, TIME_MAX, Verdict, Work, equals};
use laxity_model::LoadSum;

/// A schedulability test.
pub trait Test: Sync {
    /// What there is to know about it.
    fn info(&self) -> &'static TestInfo;

    /// Judges `tasks` on `processors`. Under fixed priorities tasks are in the order of their priorities, the highest first.
    ///
    /// What holds for all tests has been checked by then ([`Test::judge`]): there is a task and a processor, no parameter
    /// exceeds its range, C <= D (if deadlines are hard), C <= T and U <= m.
    ///
    /// # Errors
    ///
    /// The verdict that ends it early: an assumption that does not hold, or no steps left.
    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict>;

    /// Whether so many steps can suffice to accept `tasks`; false only if [`Test::verdict`] is sure not to.
    fn can_accept(&self, _tasks: &[SporadicTask], _processors: u32, _work: Work) -> bool {
        true
    }

    /// Judges `tasks` on `processors`.
    fn judge(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Verdict {
        if let Some(verdict) = settled(tasks, processors, self.info().guarantee) {
            return verdict;
        }
        self.verdict(tasks, processors, work).unwrap_or_else(|early| early)
    }

    /// The same where tasks share priorities, by a test for fixed priorities, and whatever decides among equals. A failure proves
    /// nothing, however exact the test is.
    fn verdict_among_equals(
        &self,
        tasks: &[SporadicTask],
        levels: Levels<'_>,
        processors: u32,
        work: &mut Work,
    ) -> Result<Verdict, Verdict> {
        equals::by_orders(tasks, levels, processors, |tasks| self.verdict(tasks, processors, work))
    }

    /// Judges `tasks`, which are at such levels of priority, on `processors`.
    fn judge_among_equals(
        &self,
        tasks: &[SporadicTask],
        levels: Levels<'_>,
        processors: u32,
        work: &mut Work,
    ) -> Verdict {
        if levels.are_distinct() {
            return self.judge(tasks, processors, work);
        }
        if let Some(verdict) = settled(tasks, processors, self.info().guarantee) {
            return verdict;
        }
        self.verdict_among_equals(tasks, levels, processors, work).unwrap_or_else(|early| early)
    }
}

/// The description of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestInfo {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it is published: the papers and what of them, or the tests that it is made of.
    pub source: Source,
    /// The priorities that it is for.
    pub priorities: Priorities,
    /// What it proves.
    pub guarantee: Guarantee,
    /// What a failure means.
    pub exactness: Exactness,
    /// Steps for n tasks on m processors.
    pub complexity: &'static str,
    /// What must hold beyond the assumptions of all tests (see the crate), numbered from 1.
    pub assumptions: &'static [&'static str],
}

/// Which pending job runs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priorities {
    /// The job with the earliest deadline; ties by any rule.
    EarliestDeadlineFirst,
    /// The same, but a job that waits and has no laxity left goes before all that have some (EDZL); ties by any rule.
    ZeroLaxity,
    /// The job with the earliest point D - C (m - 1)/m after its arrival (G-FL); ties by any rule.
    FairLateness,
    /// The job of the task that comes first in the order given.
    Fixed,
    /// Quantum by quantum, as PD2 does (Pfair).
    Pfair,
}

/// What is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Guarantee {
    /// No deadline is missed.
    Hard,
    /// Tardiness is bounded.
    Soft,
}

/// How much a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exactness {
    /// A set that is not accepted is not schedulable.
    Exact,
    /// A set that is not accepted may be schedulable.
    Sufficient,
    /// A set that is accepted may not be schedulable.
    Necessary,
}

/// What every test would say of tasks for which no schedule exists, or that are no tasks; nothing if it takes a test.
/// A deadline that cannot be met matters only where it has to be.
pub(crate) fn settled(tasks: &[SporadicTask], processors: u32, guarantee: Guarantee) -> Option<Verdict> {
    if tasks.is_empty() {
        return Some(Verdict::SCHEDULABLE);
    }
    if processors == 0 {
        return Some(Verdict::FAILS);
    }
    let parameters = |task: &SporadicTask| [task.wcet_ns, task.deadline_rel_ns, task.period_ns];
    let no_task = |task: &SporadicTask| {
        parameters(task).into_iter().any(|value| value == 0 || value > TIME_MAX) || task.jitter_ns > TIME_MAX
    };
    if let Some(at) = tasks.iter().position(no_task) {
        return Some(Verdict::needs("0 < C, D, T and C, D, T, J <= 2^50 ns", Some(at)));
    }
    let window = |task: &SporadicTask| match guarantee {
        Guarantee::Hard => task.density_window(),
        Guarantee::Soft => task.period_ns,
    };
    if let Some(at) = tasks.iter().position(|task| task.wcet_ns > window(task)) {
        return Some(Verdict::fails_at(at));
    }
    let mut load = LoadSum::new();
    tasks.iter().for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
    load.exceeds(processors.into()).then_some(Verdict::FAILS)
}
