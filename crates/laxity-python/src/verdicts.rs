//! What is proven of many task sets, as a table: no JSON is made.

use crate::sets::TaskSet;
use crate::tables::Table;
use crate::watched::watched;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use laxity_lab::analysis::answer::{SchedulerAnswer, VerdictAnswer, VerdictName};
use laxity_model::{Diagnostic, Result};
use pyo3::prelude::*;
use std::sync::Arc;

/// What `laxity analyze` says, with these words behind it: a row for each set under each scheduler.
#[pyfunction]
pub fn verdicts(
    py: Python<'_>,
    words: Vec<String>,
    sets: Vec<Py<TaskSet>>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let sets = sets.iter().map(|set| set.get().0.clone()).collect();
    watched(py, (sets, &[]), watch.as_ref(), move |given| {
        let mut columns = Columns::default();
        let all = laxity_program::call::verdicts(&words, given, |one| columns.push(&one))?;
        match all {
            true => columns.table(),
            false => Err(Diagnostic::interrupted("not all sets were judged")),
        }
    })
}

/// The rows until now: of a hundred thousand sets no more is kept than is in the table.
#[derive(Default)]
struct Columns {
    sets: StringBuilder,
    schedulers: StringBuilder,
    hard: Column,
    soft: Column,
}

impl Columns {
    fn push(&mut self, one: &SchedulerAnswer) {
        self.sets.append_value(&one.task_set);
        self.schedulers.append_value(&one.scheduler);
        self.hard.push(&one.hard);
        self.soft.push(&one.soft);
    }

    fn table(mut self) -> Result<Table> {
        Table::of(vec![
            ("set", Arc::new(self.sets.finish()) as _),
            ("scheduler", Arc::new(self.schedulers.finish()) as _),
            ("proven_hard", Arc::new(self.hard.proven.finish()) as _),
            ("proven_soft", Arc::new(self.soft.proven.finish()) as _),
            ("test_hard", Arc::new(self.hard.test.finish()) as _),
            ("test_soft", Arc::new(self.soft.test.finish()) as _),
            ("reason_hard", Arc::new(self.hard.reason.finish()) as _),
            ("reason_soft", Arc::new(self.soft.reason.finish()) as _),
        ])
    }
}

/// What is known of one guarantee.
#[derive(Default)]
struct Column {
    proven: BooleanBuilder,
    test: StringBuilder,
    reason: StringBuilder,
}

impl Column {
    fn push(&mut self, verdict: &VerdictAnswer) {
        self.proven.append_option(match verdict.verdict {
            VerdictName::Schedulable => Some(true),
            VerdictName::NotProven => Some(false),
            VerdictName::NotApplicable => None,
        });
        self.test.append_option(verdict.test.as_deref());
        self.reason.append_option((verdict.verdict != VerdictName::Schedulable).then(|| verdict.words()));
    }
}
