//! What every test is.

use crate::{Levels, Source, SporadicTask, Verdict, equals};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

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

    /// Judges `tasks` on `processors`.
    fn judge(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Verdict {
        if let Some(verdict) = crate::sporadic::settled(tasks, processors, self.info().guarantee) {
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
        equals::by_orders(self, tasks, levels, processors, work)
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
        if let Some(verdict) = crate::sporadic::settled(tasks, processors, self.info().guarantee) {
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

/// How many steps a test may take: the same on every machine. What a step is, a test's complexity says.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    left: u64,
    interrupt: Option<&'static AtomicBool>,
}

/// A test has taken all its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfWork;

/// Enough for every test on hundreds of tasks as studies have them, and at most some seconds.
pub const WORK_DEFAULT: u64 = 1 << 32;

impl Default for Work {
    fn default() -> Self {
        Self::steps(WORK_DEFAULT)
    }
}

impl Work {
    /// At most so many steps.
    pub fn steps(left: u64) -> Self {
        Work { left, interrupt: None }
    }

    /// None at all once this is true. A verdict that comes after that means nothing.
    #[must_use]
    pub fn unless(self, interrupt: &'static AtomicBool) -> Self {
        Work { interrupt: Some(interrupt), ..self }
    }

    /// Takes some.
    ///
    /// # Errors
    ///
    /// There are not as many left, or it was interrupted.
    pub fn take(&mut self, steps: u64) -> Result<(), OutOfWork> {
        if self.interrupt.is_some_and(|interrupt| interrupt.load(Relaxed)) {
            return Err(OutOfWork);
        }
        self.left = self.left.checked_sub(steps).ok_or(OutOfWork)?;
        Ok(())
    }
}
