//! The compiled part of the Python module `laxity`: commands within the process, task sets, and tables as Arrow.
//!
//! What is friendly to a user is written in Python (`python/laxity/laxity`): keyword arguments become the words of a command line, which
//! `laxity_program` carries out on a thread of its own (`watched.rs`), so that values, checks, messages and answers are the program's.

mod asked;
mod calls;
mod options;
mod own;
mod own_tests;
mod progress;
mod prototypes;
mod set_tables;
mod sets;
mod studies;
mod tables;
mod verdicts;
mod watched;

use pyo3::prelude::*;

/// See `python/laxity/laxity`.
#[pymodule]
mod _laxity {
    #[pymodule_export]
    use super::calls::{Called, call};
    #[pymodule_export]
    use super::options::options;
    #[pymodule_export]
    use super::own_tests::OwnTest;
    #[pymodule_export]
    use super::prototypes::Prototype;
    #[pymodule_export]
    use super::sets::TaskSet;
    #[pymodule_export]
    use super::studies::{Conductor, judge};
    #[pymodule_export]
    use super::tables::{Table, read_parquet, table_of_parquet};
    #[pymodule_export]
    use super::verdicts::verdicts;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // The wheel of the program puts the files that come with it below the environment's prefix.
        let prefix: std::path::PathBuf = module.py().import("sys")?.getattr("prefix")?.extract()?;
        laxity_program::installed_below(prefix);
        module.add("VERSION", laxity_program::VERSION)?;
        module.add("SETS", laxity_program::call::SETS)?;
        module.add("ENDS_WITH_PARENT", laxity_program::ENDS_WITH_PARENT)
    }
}

/// An error of laxity's as one of Python's: `laxity.Error` and what is below it, by its exit code.
fn error(py: Python<'_>, error: &laxity_model::Diagnostic) -> PyErr {
    let made = py
        .import("laxity._errors")
        .and_then(|errors| errors.getattr("of_code"))
        .and_then(|of_code| of_code.call1((error.failure.exit_code(), &error.message, &error.hint)));
    made.map_or_else(|cannot| cannot, |value| PyErr::from_value(value))
}
