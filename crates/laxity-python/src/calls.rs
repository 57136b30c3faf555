//! Commands of the program, within the process.

use crate::own::OneOfOwn;
use crate::sets::TaskSet;
use crate::watched::watched;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What a command has come to.
#[pyclass(frozen, get_all, module = "laxity._laxity")]
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

#[pymethods]
impl Called {
    #[new]
    fn new(code: u8, data: String, text: String, sets: Vec<Py<TaskSet>>) -> Self {
        Called { code, data, text, sets }
    }

    #[expect(clippy::type_complexity, reason = "the class, and what it is made of")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (u8, String, String, Vec<Py<TaskSet>>)) {
        let (py, own) = (slf.py(), slf.get());
        let sets = own.sets.iter().map(|set| set.clone_ref(py)).collect();
        (slf.get_type(), (own.code, own.data.clone(), own.text.clone(), sets))
    }
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
