//! Placement by the test: a task goes into a cell only if a test of the series accepts the cell with it.
//!
//! 1. Overheads are those of as many tasks as the cell then has.
//! 2. A set that is placed is accepted: each cell was judged when its last task came. One that is not placed may have another
//!    placement; packing is a heuristic.
//! 3. Why a set is not placed: what was said of the task that fits nowhere. A test that was out of steps makes the answer unknown;
//!    nothing that applies in any cell makes it not applicable.

use super::SetOutcome;
use super::cell::Judge;
use laxity_analysis::AnalysedCell;
use laxity_model::{Result, TaskSet};
use laxity_place::{Acceptance, Bin, Request};
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

/// The test of a series, asked for tasks one by one.
struct Admission<'a> {
    judge: &'a Judge<'a>,
    processors: u32,
    /// The task that was asked for last, and the best that was said of it. Tasks come one after the other.
    last: Cell<Option<(usize, SetOutcome)>>,
}

impl Judge<'_> {
    /// Places and judges at the same time, onto cells of so many processors.
    ///
    /// # Errors
    ///
    /// Bins that make no request.
    pub(super) fn placing(
        &self,
        set: &TaskSet,
        bins: Vec<Bin>,
        processors: u32,
        stop: &AtomicBool,
    ) -> Result<SetOutcome> {
        let admission = Admission { judge: self, processors, last: Cell::new(None) };
        let request = Request::new(set, bins)?.with_acceptance(&admission).with_interrupt(stop);
        let placed = request.find(self.curve.placement);
        Ok(match placed {
            Some(_) => SetOutcome::Accepted,
            None => admission.why(),
        })
    }
}

impl Admission<'_> {
    fn why(&self) -> SetOutcome {
        match self.last.get() {
            Some((_, outcome)) if outcome != SetOutcome::Accepted => outcome,
            // It did not fit by U anywhere: no test was asked about it.
            _ => SetOutcome::Rejected,
        }
    }
}

impl Acceptance for Admission<'_> {
    fn name(&self) -> String {
        format!("the test of {}", self.judge.curve.scheduler)
    }

    fn accepts(&self, _: usize, tasks: &[usize]) -> bool {
        let Some(&task) = tasks.last() else { return true };
        let found = self.judge.cell(&AnalysedCell { processors: self.processors, tasks: tasks.to_vec() });
        let before = self.last.get().filter(|&(asked, _)| asked == task).map(|(_, outcome)| outcome);
        let worth = |outcome| match outcome {
            SetOutcome::NotApplicable => 0,
            SetOutcome::Rejected => 1,
            SetOutcome::OutOfWork => 2,
            SetOutcome::Accepted => 3,
        };
        let best = before.filter(|&before| worth(before) >= worth(found)).unwrap_or(found);
        self.last.set(Some((task, best)));
        found == SetOutcome::Accepted
    }
}
