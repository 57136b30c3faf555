//! Scheduling policies that are functions of Python, to be simulated.

use crate::raised::Raised;
use laxity_model::{Cell, Diagnostic, PolicyScheduler, TaskSet};
use laxity_policy::{Choice, PendingJob};
use laxity_sim::Begin;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// A policy of Python's (`laxity.prototype`).
#[pyclass(frozen, module = "laxity")]
pub struct Prototype {
    pub scheduler: PolicyScheduler,
    policy: Py<PyAny>,
    /// What tells one version of it from another.
    pub version: String,
}

#[pymethods]
impl Prototype {
    #[new]
    fn new(py: Python<'_>, scheduler: &str, policy: Py<PyAny>, version: String) -> PyResult<Self> {
        let scheduler = scheduler.parse().map_err(|error: Diagnostic| crate::error(py, &error))?;
        Ok(Prototype { scheduler, policy, version })
    }

    /// The scheduler, as commands and curves of studies name it.
    #[getter]
    fn scheduler(&self) -> String {
        self.scheduler.to_string()
    }

    /// Pickled where its policy can be: a function or a class of a module.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, Py<PyAny>, String)) {
        let (own, py) = (slf.get(), slf.py());
        (slf.get_type(), (own.scheduler.to_string(), own.policy.clone_ref(py), own.version.clone()))
    }

    fn __str__(&self) -> String {
        self.scheduler.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<laxity.Prototype {:?}>", self.scheduler.to_string())
    }
}

impl Prototype {
    /// What begins it in a call. What it raises goes there.
    pub fn begin(&self, py: Python<'_>, raised: Raised) -> Begin {
        let (policy, name) = (self.policy.clone_ref(py), self.scheduler.to_string());
        Arc::new(move |set: &TaskSet, cell: &Cell| {
            let begun = Python::attach(|py| begun(py, &policy, set, cell));
            let raise = Raise { name: name.clone(), raised: raised.clone() };
            Ok(Box::new(Begun { ask: raise.unless(begun)?, raise }))
        })
    }
}

/// The function that is asked in one simulation of a cell.
fn begun(py: Python<'_>, policy: &Py<PyAny>, set: &TaskSet, cell: &Cell) -> PyResult<Py<PyAny>> {
    let task = |&task: &usize| {
        let task = &set.tasks()[task];
        (&*task.name, task.wcet.as_ns(), task.deadline_rel.as_ns(), task.period().as_ns())
    };
    let tasks: Vec<_> = cell.tasks.iter().map(task).collect();
    let cpus: Vec<u32> = cell.cpus.iter().collect();
    Ok(py.import("laxity._prototypes")?.getattr("begin")?.call1((policy, tasks, cpus))?.unbind())
}

/// Keeps what a policy has raised, and ends its simulation.
struct Raise {
    name: String,
    raised: Raised,
}

impl Raise {
    fn unless<T>(&self, answer: PyResult<T>) -> laxity_model::Result<T> {
        answer.map_err(|error| {
            let words = format!("`{}` has raised {error}", self.name);
            self.raised.keep(error);
            Diagnostic::usage(words)
        })
    }
}

/// A policy in one simulation of a cell.
struct Begun {
    ask: Py<PyAny>,
    raise: Raise,
}

impl laxity_policy::Prototype for Begun {
    fn choose(&mut self, now_ns: u64, jobs: &[PendingJob], cpus: &[u32]) -> laxity_model::Result<Choice> {
        let rows: Vec<_> = jobs
            .iter()
            .map(|job| (job.task, job.release_ns, job.deadline_abs_ns, job.used_ns, job.cpu))
            .collect();
        let answer = Python::attach(|py| {
            let answer = self.ask.call1(py, (now_ns, rows, cpus.to_vec()))?;
            let (run, again_at_ns) = answer.extract(py)?;
            Ok(Choice { run, again_at_ns })
        });
        self.raise.unless(answer)
    }
}
