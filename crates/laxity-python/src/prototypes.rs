//! Scheduling policies that are functions of Python, to be simulated.

use crate::asked::{Asked, Turn};
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
    pub turn: Arc<Turn>,
    /// What tells one version of it from another (`laxity._versions.Version`).
    pub version: Py<PyAny>,
}

#[pymethods]
impl Prototype {
    #[new]
    fn new(py: Python<'_>, scheduler: &str, policy: Py<PyAny>, version: Py<PyAny>) -> PyResult<Self> {
        let scheduler = scheduler.parse().map_err(|error: Diagnostic| crate::error(py, &error))?;
        Ok(Prototype { scheduler, policy, turn: Arc::default(), version })
    }

    /// The scheduler, as commands and curves of studies name it.
    #[getter]
    fn scheduler(&self) -> String {
        self.scheduler.to_string()
    }

    /// Pickled where its policy can be: a function or a class of a module.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, Py<PyAny>, Py<PyAny>)) {
        let (own, py) = (slf.get(), slf.py());
        (slf.get_type(), (own.scheduler.to_string(), own.policy.clone_ref(py), own.version.clone_ref(py)))
    }

    #[getter(_version)]
    fn version(&self, py: Python<'_>) -> Py<PyAny> {
        self.version.clone_ref(py)
    }

    fn __str__(&self) -> String {
        self.scheduler.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<laxity.Prototype {:?}>", self.scheduler.to_string())
    }
}

impl Prototype {
    /// What names it.
    pub fn named(&self) -> laxity_model::Prototype {
        self.scheduler.policy.prototype().expect("a prototype's scheduler")
    }

    /// What begins it in a call. What it raises goes there.
    pub fn begin(&self, py: Python<'_>, asked: Asked) -> Begin {
        let policy = self.policy.clone_ref(py);
        let asks = Asks { name: self.named().name(), turn: Arc::clone(&self.turn), asked };
        Arc::new(move |set: &TaskSet, cell: &Cell| {
            let function = asks.ask(|py| begun((py, &asks.asked), &policy, set, cell))?;
            Ok(Box::new(Begun { function, asks: asks.clone() }))
        })
    }
}

/// The function that is asked in one simulation of a cell.
fn begun(
    (py, asked): (Python<'_>, &Asked),
    policy: &Py<PyAny>,
    set: &TaskSet,
    cell: &Cell,
) -> PyResult<Py<PyAny>> {
    let task = |&task: &usize| {
        let task = &set.tasks()[task];
        (&*task.name, task.wcet.as_ns(), task.deadline_rel.as_ns(), task.period().as_ns())
    };
    let tasks: Vec<_> = cell.tasks.iter().map(task).collect();
    let cpus: Vec<u32> = cell.cpus.iter().collect();
    let begin = py.import("laxity._prototypes")?.getattr("begin")?;
    Ok(asked.call(&begin, (policy, tasks, cpus))?.unbind())
}

/// Asks a policy. What it raises is kept, and ends its simulation.
#[derive(Clone)]
struct Asks {
    name: &'static str,
    turn: Arc<Turn>,
    asked: Asked,
}

impl Asks {
    fn ask<T>(&self, function: impl FnOnce(Python<'_>) -> PyResult<T>) -> laxity_model::Result<T> {
        self.asked.ask(&self.turn, function).map_err(|error| {
            let words = format!("`prototype:{}` has raised {error}", self.name);
            self.asked.keep(error);
            Diagnostic::usage(words)
        })
    }
}

/// A policy in one simulation of a cell.
struct Begun {
    function: Py<PyAny>,
    asks: Asks,
}

impl laxity_policy::Prototype for Begun {
    fn choose(&mut self, now_ns: u64, jobs: &[PendingJob], cpus: &[u32]) -> laxity_model::Result<Choice> {
        let rows: Vec<_> = jobs
            .iter()
            .map(|job| (job.task, job.release_ns, job.deadline_abs_ns, job.used_ns, job.cpu))
            .collect();
        self.asks.ask(|py| {
            let asked = &self.asks.asked;
            let answer = asked.call(self.function.bind(py), (now_ns, rows, cpus.to_vec()))?;
            let (run, again_at_ns) = answer.extract()?;
            Ok(Choice { run, again_at_ns })
        })
    }
}
