//! What is proven of many task sets, as a table: no JSON is made.

use crate::sets::TaskSet;
use crate::tables::Table;
use crate::watched::watched;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use laxity_lab::analysis::answer::{Answer, VerdictAnswer, VerdictName};
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
        let answer = laxity_program::call::analysis(&words, given)?;
        match answer.interrupted {
            true => Err(Diagnostic::interrupted("not all sets were judged")),
            false => table(&answer),
        }
    })
}

fn table(answer: &Answer) -> Result<Table> {
    let (mut sets, mut schedulers) = (StringBuilder::new(), StringBuilder::new());
    let (mut hard, mut soft) = (Column::default(), Column::default());
    for one in &answer.schedulers {
        sets.append_value(&one.task_set);
        schedulers.append_value(&one.scheduler);
        hard.push(&one.hard);
        soft.push(&one.soft);
    }
    Table::of(vec![
        ("set", Arc::new(sets.finish()) as _),
        ("scheduler", Arc::new(schedulers.finish()) as _),
        ("proven_hard", Arc::new(hard.proven.finish()) as _),
        ("proven_soft", Arc::new(soft.proven.finish()) as _),
        ("test_hard", Arc::new(hard.test.finish()) as _),
        ("test_soft", Arc::new(soft.test.finish()) as _),
        ("reason_hard", Arc::new(hard.reason.finish()) as _),
        ("reason_soft", Arc::new(soft.reason.finish()) as _),
    ])
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
