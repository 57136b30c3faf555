//! What a test says.

use crate::{OutOfWork, SporadicTask};

/// The answer of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Proven.
    Schedulable(Bounds),
    /// Not proven.
    NotProven(NotProven),
    /// The test says nothing about such tasks.
    NotApplicable(NotApplicable),
}

impl Verdict {
    /// Proven, without bounds.
    pub const SCHEDULABLE: Verdict = Verdict::Schedulable(Bounds::None);

    /// Not proven, because of this task.
    pub fn fails_at(task: usize) -> Self {
        Verdict::NotProven(NotProven { task: Some(task), out_of_work: false })
    }

    /// Not proven, because of all tasks together.
    pub const FAILS: Verdict = Verdict::NotProven(NotProven { task: None, out_of_work: false });

    /// Not proven within the permitted number of steps.
    pub const OUT_OF_WORK: Verdict = Verdict::NotProven(NotProven { task: None, out_of_work: true });

    /// An assumption does not hold, because of a task if there is one that breaks it.
    pub fn needs(assumption: &'static str, task: Option<usize>) -> Self {
        Verdict::NotApplicable(NotApplicable { assumption, task })
    }

    /// An assumption on every task, as what a test begins with: the verdict that names the first task that breaks it, if one does.
    pub(crate) fn unless(
        assumption: &'static str,
        tasks: &[SporadicTask],
        holds: impl Fn(&SporadicTask) -> bool,
    ) -> Result<(), Verdict> {
        match tasks.iter().position(|task| !holds(task)) {
            None => Ok(()),
            broken => Err(Verdict::needs(assumption, broken)),
        }
    }

    /// The same of tasks that have other numbers; bounds stay in their order.
    #[must_use]
    pub(crate) fn with_numbers(mut self, number: impl Fn(usize) -> Option<usize>) -> Self {
        let (Verdict::NotProven(NotProven { task, .. }) | Verdict::NotApplicable(NotApplicable { task, .. })) =
            &mut self
        else {
            return self;
        };
        *task = task.and_then(number);
        self
    }

    /// Whether it is proven.
    pub fn is_schedulable(&self) -> bool {
        matches!(self, Verdict::Schedulable(_))
    }
}

impl From<OutOfWork> for Verdict {
    fn from(_: OutOfWork) -> Self {
        Verdict::OUT_OF_WORK
    }
}

/// What a test proves about each task, in ns, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    /// Nothing beyond the verdict.
    None,
    /// From a job's arrival to its completion.
    ResponseTimes(Vec<u64>),
    /// From a job's deadline to its completion.
    Tardiness(Vec<u64>),
}

/// Why a test proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotProven {
    /// The first task whose condition fails, where conditions are per task.
    pub task: Option<usize>,
    /// It has taken all steps that it was given.
    pub out_of_work: bool,
}

/// Why a test cannot judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotApplicable {
    /// The assumption that fails, such as `D <= T`.
    pub assumption: &'static str,
    /// The first task that breaks it.
    pub task: Option<usize>,
}
