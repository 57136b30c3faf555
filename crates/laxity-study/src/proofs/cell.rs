//! The verdict of a series on cells and their tasks.

use super::{Curve, Series, SetOutcome};
use laxity_analysis::scheduler::{Asked, Placed};
use laxity_analysis::{AnalysedCell, DeviAnderson, Guarantee, NotProven, SporadicTask, Test, Verdict, Work};
use laxity_model::{DeferrableServer, Scope};

/// What a series judges a set by.
pub(super) struct Judge<'a> {
    pub(super) curve: &'a Curve,
    pub(super) series: &'a Series,
    pub(super) tasks: &'a [SporadicTask],
    pub(super) working_sets: &'a [u64],
    /// Priorities as given; none unless all tasks have one.
    pub(super) given_priorities: &'a [u32],
    /// What a test may take on a cell.
    pub(super) work: Work,
}

impl Judge<'_> {
    /// Of a set in its places: the first cell that is not accepted decides.
    pub(super) fn cells(&self, cells: &[AnalysedCell]) -> SetOutcome {
        let mut outcomes = cells.iter().map(|cell| self.cell(cell));
        outcomes.find(|&outcome| outcome != SetOutcome::Accepted).unwrap_or(SetOutcome::Accepted)
    }

    /// Of a cell: any test that accepts is enough. Where it is only asked whether tardiness is bounded, the cheapest test comes
    /// first.
    pub(super) fn cell(&self, cell: &AnalysedCell) -> SetOutcome {
        let tests = &self.series.tests;
        if !tests.is_empty() {
            return self.by_any(tests, cell);
        }
        let scheduler = self.curve.scheduler;
        let is_edf = scheduler.priorities(2) == DeviAnderson.info().priorities;
        let bounded =
            self.series.guarantee == Guarantee::Soft && is_edf && scheduler.scope() == Scope::Global;
        if bounded && self.by(Some(&DeviAnderson), cell) == SetOutcome::Accepted {
            return SetOutcome::Accepted;
        }
        self.by(None, cell)
    }

    fn by_any(&self, tests: &[&'static dyn Test], cell: &AnalysedCell) -> SetOutcome {
        let mut best = SetOutcome::NotApplicable;
        for &test in tests {
            best = match (best, self.by(Some(test), cell)) {
                (_, SetOutcome::Accepted) => return SetOutcome::Accepted,
                (SetOutcome::OutOfWork, _) | (_, SetOutcome::OutOfWork) => SetOutcome::OutOfWork,
                (SetOutcome::Rejected, _) | (_, SetOutcome::Rejected) => SetOutcome::Rejected,
                (SetOutcome::Accepted | SetOutcome::NotApplicable, SetOutcome::NotApplicable) => best,
            };
        }
        best
    }

    fn by(&self, test: Option<&'static dyn Test>, cell: &AnalysedCell) -> SetOutcome {
        let placed = Placed {
            tasks: self.tasks,
            working_sets: self.working_sets,
            given_priorities: self.given_priorities,
            cells: &[],
            servers: &[],
            overheads: self.series.overheads.as_ref().map(|costing| &costing.overheads),
        };
        let asked = Asked { test, work: self.work, ..Asked::of(self.series.guarantee) };
        match self.curve.scheduler.judge_cell(&placed, cell, DeferrableServer::NONE, asked) {
            Verdict::Schedulable(_) => SetOutcome::Accepted,
            Verdict::NotProven(NotProven { out_of_work: true, .. }) => SetOutcome::OutOfWork,
            Verdict::NotProven(_) => SetOutcome::Rejected,
            Verdict::NotApplicable(_) => SetOutcome::NotApplicable,
        }
    }
}
