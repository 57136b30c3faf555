//! Commands of the program, within the process.

use crate::own::OneOfOwn;
use crate::sets::TaskSet;
use crate::watched::watched;
use pyo3::prelude::*;

/// What a command has come to.
#[pyclass(frozen, get_all, module = "laxity")]
pub struct Called {
    /// Its exit code.
    code: u8,
    /// What the program prints with `--json`.
    data: String,
    /// What it prints without.
    text: String,
    /// The task sets that it has made.
    sets: Vec<Py<TaskSet>>,
}

/// Carries out a command: `words` are those behind `laxity` on a command line, and `"<sets>"` among them stands for `sets`.
/// `watch(kind, ...)` is told notes ("note", words), warnings ("warning", words) and progress ("step", number, what, unit, done,
/// total, over).
#[pyfunction]
pub fn call(
    py: Python<'_>,
    words: Vec<String>,
    sets: Vec<Py<TaskSet>>,
    own: Vec<OneOfOwn<'_>>,
    watch: Option<Bound<'_, PyAny>>,
) -> PyResult<Called> {
    let sets = sets.iter().map(|set| set.get().0.clone()).collect();
    let called =
        watched(py, (sets, &own), watch.as_ref(), move |given| laxity_program::call::call(&words, given))?;
    let sets = called.sets.into_iter().map(|set| Py::new(py, TaskSet(set))).collect::<PyResult<_>>()?;
    Ok(Called { code: called.code, data: called.data, text: called.text, sets })
}
