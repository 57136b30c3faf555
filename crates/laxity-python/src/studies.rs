//! Studies whose units are judged by other processes: a conductor that hands them out, and what a judge does.

use crate::error;
use crate::watched::watched;
use laxity_model::Diagnostic;
use laxity_study as study;
use laxity_study::{Changes, Tally, Told};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Hands out the units of a study, and adds up what they come to.
#[pyclass(module = "laxity")]
pub struct Conductor {
    told: Told,
    /// Gone once it is closed.
    inner: Mutex<Option<study::Conductor>>,
}

impl Conductor {
    fn lock(&self) -> MutexGuard<'_, Option<study::Conductor>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the conductor; an error once it is closed.
    fn ask<T>(&self, ask: impl FnOnce(&mut study::Conductor) -> T) -> PyResult<T> {
        self.lock().as_mut().map(ask).ok_or_else(|| PyRuntimeError::new_err("the conductor is closed"))
    }
}

#[pymethods]
impl Conductor {
    #[new]
    fn new(
        py: Python<'_>,
        file: PathBuf,
        directory: PathBuf,
        sets: Option<u64>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let open = || {
            let file = laxity_program::located(&file);
            let (told, study) = Told::read(&file, Changes { sets, seed }, laxity_program::VERSION)?;
            let inner = Mutex::new(Some(study::Conductor::open(study, &directory)?));
            Ok(Conductor { told, inner })
        };
        py.detach(open).map_err(|wrong: Diagnostic| error(py, &wrong))
    }

    /// What a judge has to know of the study, as text: the same for all of its units.
    fn told(&self) -> String {
        serde_json::to_string(&self.told).expect("serializes")
    }

    /// A unit of at most so many sets, as (number, text); None while all is out, or at the end.
    fn next(&self, sets: u64) -> PyResult<Option<(u64, String)>> {
        let unit = self.ask(|inner| inner.next(sets))?;
        Ok(unit.map(|(number, unit)| (number, serde_json::to_string(&unit).expect("serializes"))))
    }

    /// Adds what a unit has come to; False if that is known already.
    fn take(&self, py: Python<'_>, number: u64, tally: &str) -> PyResult<bool> {
        let read = serde_json::from_str::<Tally>(tally)
            .map_err(|wrong| Diagnostic::environment(format!("what came back is no tally: {wrong}")));
        let taken = py.detach(|| self.ask(|inner| inner.take(number, &read?)))?;
        taken.map_err(|wrong| error(py, &wrong))
    }

    /// A unit is not tried again: its point stays unfinished.
    fn give_up(&self, number: u64) -> PyResult<()> {
        self.ask(|inner| inner.give_up(number))
    }

    /// Where a unit is, in words, and how many sets it has.
    fn place(&self, number: u64) -> PyResult<Option<(String, u64)>> {
        self.ask(|inner| {
            let (unit, outline) = (inner.unit(number)?, &inner.study().outline);
            let value = format!("{} {}", outline.axis.variable.name(), outline.axis.text(unit.point.value));
            let family = outline.families[unit.point.family].label();
            let place = if family.is_empty() { value } else { format!("{family}, {value}") };
            Some((place, unit.sets.end - unit.sets.start))
        })
    }

    /// The study's name.
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.ask(|inner| inner.study().outline.name.clone())
    }

    /// Names of its curves.
    #[getter]
    fn curves(&self) -> PyResult<Vec<String>> {
        self.ask(|inner| match &inner.study().judging {
            study::Judging::Proofs(proofs) => proofs.curves.iter().map(|curve| curve.name.clone()).collect(),
            study::Judging::Simulations(all) => all.curves.iter().map(|curve| curve.name.clone()).collect(),
        })
    }

    /// Whether all points are finished.
    #[getter]
    fn complete(&self) -> PyResult<bool> {
        self.ask(|inner| inner.is_complete())
    }

    /// Whether nothing is out, and nothing can be handed out.
    #[getter]
    fn over(&self) -> PyResult<bool> {
        self.ask(|inner| inner.is_over())
    }

    /// Sets that are judged, and that are to be judged as far as that is known.
    #[getter]
    fn progress(&self) -> PyResult<(u64, u64)> {
        self.ask(|inner| inner.progress())
    }

    /// Lets others have the study's directory.
    fn close(&self) {
        *self.lock() = None;
    }
}

/// What units of a study come to, each as text: `told` and `units` are of a [`Conductor`].
#[pyfunction]
pub fn judge(py: Python<'_>, told: String, units: Vec<String>) -> PyResult<Vec<String>> {
    watched(py, (Vec::new(), &[]), None, move |given| {
        Told::judge_texts(&told, &units, laxity_program::VERSION, given.stop.flag())
    })
}
