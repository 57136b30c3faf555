//! Task sets.

use crate::error;
use crate::tables::{Source, Table};
use laxity_model as model;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::Value;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// A set of recurring tasks, which is never changed. Iterating it gives its tasks.
///
/// `TaskSet(tasks, name="tasks")` takes `laxity.Task` or dicts with the keys of laxity's files. Sets with the same name and tasks are
/// equal, and have the same hash.
#[pyclass(frozen, eq, hash, module = "laxity", weakref)]
#[derive(Clone)]
pub struct TaskSet(pub model::TaskSet);

/// Where a set comes from makes no other set of it.
impl PartialEq for TaskSet {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name() && self.0.tasks() == other.0.tasks()
    }
}

impl Eq for TaskSet {}

impl Hash for TaskSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
        for task in self.0.tasks() {
            (&task.name, task.wcet, task.arrival, task.deadline_rel).hash(state);
        }
    }
}

#[pymethods]
impl TaskSet {
    #[new]
    #[pyo3(signature = (tasks, name = "tasks"))]
    fn new(py: Python<'_>, tasks: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let document = py.import("laxity._tasks")?.getattr("document")?.call1((tasks, name))?;
        // As a value: what is wrong in it has no line and column that its user has seen.
        let document: Value = serde_json::from_str(&document.extract::<String>()?).expect("Python wrote it");
        model::TaskSet::from_json_value(&document, name).map(TaskSet).map_err(|wrong| error(py, &wrong))
    }

    /// The set that a text in laxity's JSON describes.
    #[staticmethod]
    #[pyo3(signature = (json, name = "tasks"))]
    fn of_json(py: Python<'_>, json: &str, name: &str) -> PyResult<Self> {
        model::TaskSet::from_json(json, name).map(TaskSet).map_err(|wrong| error(py, &wrong))
    }

    /// The set that a text in laxity's TOML describes.
    #[staticmethod]
    #[pyo3(signature = (toml, name = "tasks"))]
    fn of_toml(py: Python<'_>, toml: &str, name: &str) -> PyResult<Self> {
        model::TaskSet::from_toml(toml, name).map(TaskSet).map_err(|wrong| error(py, &wrong))
    }

    /// The sets of files, as commands read them; those of one name are numbered.
    #[staticmethod]
    fn of_files(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        leave_out_threads: bool,
        watch: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Self>> {
        let sets = crate::watched::watched(py, (Vec::new(), &[]), watch.as_ref(), move |given| {
            laxity_program::call::read_sets(&paths, leave_out_threads, given)
        })?;
        Ok(sets.into_iter().map(TaskSet).collect())
    }

    /// The sets of a table: a row for each task.
    #[staticmethod]
    #[pyo3(signature = (table, name = "tasks"))]
    fn of_table(py: Python<'_>, table: Source, name: &str) -> PyResult<Vec<Self>> {
        let sets = py.detach(|| table.sets(name)).map_err(|wrong| error(py, &wrong))?;
        Ok(sets.into_iter().map(TaskSet).collect())
    }

    /// A table with a row for each task of a set, or of several.
    #[staticmethod]
    fn to_table(py: Python<'_>, sets: &Bound<'_, PyAny>) -> PyResult<Table> {
        let sets = py.import("laxity._call")?.getattr("sets_of")?.call1((sets,))?;
        let sets: Vec<Py<TaskSet>> = sets.extract()?;
        Table::of_sets(sets.iter().map(|set| &set.get().0)).map_err(|wrong| error(py, &wrong))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Sum of C/T.
    #[getter]
    fn utilization(&self) -> f64 {
        self.0.utilization().to_f64()
    }

    /// In laxity's JSON.
    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// In laxity's TOML.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// Its tasks, as `laxity.Task`.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("laxity._tasks")?.getattr("tasks_of")?.call1((self.0.to_json(),))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tasks(py)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.tasks(py)?.get_item(index)
    }

    fn __len__(&self) -> usize {
        self.0.tasks().len()
    }

    fn __repr__(&self) -> String {
        let tasks = model::plural(self.0.tasks().len(), "task");
        format!("<laxity.TaskSet {:?}: {tasks}, utilization {:.4}>", self.0.name(), self.utilization())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let row = |task: &model::Task| {
            let sporadic = matches!(task.arrival, model::Arrival::Sporadic { .. });
            let times = [task.wcet, task.period(), task.deadline_rel, task.phase].map(model::Duration::as_ns);
            (task.name.clone(), times[0], times[1], times[2], times[3], sporadic)
        };
        let rows: Vec<_> = self.0.tasks().iter().map(row).collect();
        py.import("laxity._tasks")?.getattr("table_html")?.call1((self.0.name(), rows))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let set = &slf.get().0;
        let of_json = slf.py().get_type::<TaskSet>().getattr("of_json")?;
        Ok((of_json, (set.to_json(), set.name().to_owned())))
    }
}
