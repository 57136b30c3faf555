//! Studies whose units are judged by other processes: a conductor that hands them out, and what a judge does.

use crate::error;
use crate::watched::watched;
use laxity_model::{Diagnostic, Result};
use laxity_program::call::Stop;
use laxity_study as study;
use laxity_study::{Changes, Study, Tally, WorkUnit};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A study as a judge is told of it: its text, its name, the directory of files that it names, and what was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Told {
    text: String,
    name: String,
    beside: PathBuf,
    sets: Option<u64>,
    seed: Option<u64>,
}

impl Told {
    fn read(&self) -> Result<Study> {
        let changes = Changes { sets: self.sets, seed: self.seed };
        Study::from_text_changed(&self.text, &self.name, &self.beside, changes)
    }
}

/// All that the results of a study depend on, in short: two studies with the same have the same points. The version of laxity is in it.
fn digest(study: &Study) -> String {
    let described = json!([laxity_program::VERSION, study.description()]).to_string();
    Sha256::digest(described).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hands out the units of a study, and adds up what they come to.
#[pyclass(module = "laxity")]
pub struct Conductor {
    told: Told,
    digest: String,
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
            let file = laxity_program::located(&file).into_owned();
            let text = laxity_model::read_file(&file, |text| Ok(text.to_owned()))?;
            let beside = file.parent().unwrap_or(Path::new(""));
            let beside = beside.canonicalize().unwrap_or_else(|_| beside.to_owned());
            let told = Told { text, name: laxity_model::name_of(&file), beside, sets, seed };
            let study = Arc::new(told.read().map_err(|error| error.context(file.to_string_lossy()))?);
            let digest = digest(&study);
            let inner = Mutex::new(Some(study::Conductor::open(study, &directory)?));
            Ok(Conductor { told, digest, inner })
        };
        py.detach(open).map_err(|wrong: Diagnostic| error(py, &wrong))
    }

    /// What a judge has to know of the study, as text: the same for all of its units.
    fn told(&self) -> String {
        let Told { text, name, beside, sets, seed } = &self.told;
        json!({"text": text, "name": name, "beside": beside, "sets": sets, "seed": seed, "digest": self.digest}).to_string()
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

/// The studies that this process has judged last.
static KNOWN: Mutex<Vec<(String, Arc<Study>)>> = Mutex::new(Vec::new());
/// So many are kept.
const KNOWN_MOST: usize = 4;

/// What units of a study come to, each as text: `told` and `units` are of a [`Conductor`].
#[pyfunction]
pub fn judge(py: Python<'_>, told: String, units: Vec<String>) -> PyResult<Vec<String>> {
    watched(py, (Vec::new(), &[]), None, move |given| {
        let study = known(&told)?;
        units.iter().map(|unit| judged(&study, unit, given.stop)).collect()
    })
}

fn known(told: &str) -> Result<Arc<Study>> {
    let find = |known: &[(String, Arc<Study>)]| {
        known.iter().find(|(text, _)| text == told).map(|(_, study)| Arc::clone(study))
    };
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(study) = find(&lock()) {
        return Ok(study);
    }
    let value: Value =
        serde_json::from_str(told).map_err(|wrong| Diagnostic::usage(format!("no study: {wrong}")))?;
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let read = Told {
        text: text("text"),
        name: text("name"),
        beside: text("beside").into(),
        sets: value["sets"].as_u64(),
        seed: value["seed"].as_u64(),
    };
    let study = Arc::new(read.read()?);
    if digest(&study) != text("digest") {
        return Err(Diagnostic::environment(format!(
            "the judge would not judge the same study: it has laxity {}, or other files that the study names",
            laxity_program::VERSION
        ))
        .hint("install the same laxity on all machines, and share the study's directory"));
    }
    let mut known = lock();
    known.insert(0, (told.to_owned(), Arc::clone(&study)));
    known.truncate(KNOWN_MOST);
    Ok(study)
}

fn judged(study: &Study, unit: &str, stop: Stop) -> Result<String> {
    let unit: WorkUnit =
        serde_json::from_str(unit).map_err(|wrong| Diagnostic::usage(format!("no unit of work: {wrong}")))?;
    match study.tally(&unit, stop.flag())? {
        Some(tally) => Ok(serde_json::to_string(&tally).expect("serializes")),
        None => Err(Diagnostic::interrupted("the unit is not judged")),
    }
}
