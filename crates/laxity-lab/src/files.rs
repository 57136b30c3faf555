//! Files as a user names them: task sets read, and what any file or results directory is and what is wrong with it.

use crate::charges::Locate;
use crate::deploy::plan_at;
use crate::observer::Observer;
use laxity_analysis::overheads::CacheDelays;
use laxity_deploy::PLAN_FILE;
use laxity_model::{
    Diagnostic, Incomplete, Platform, Result, STANDARD, Sharing, ShownPath as _, TaskSet, closest, plural,
    read_file, read_platform, read_task_set_as,
};
use laxity_sim::costs::{Costs, read_costs};
use laxity_study::{Changes, Judging, Study, read_overheads};
use laxity_trace::{Digested, MANIFEST_FILE};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// How files are found and read.
pub struct Reading<'a> {
    /// Where a file is.
    pub locate: Locate,
    /// What happens to what a file of another tool says and a task set cannot.
    pub incomplete: Incomplete,
    /// Is told what formats could not carry.
    pub observer: &'a dyn Observer,
}

impl Reading<'_> {
    /// Reads task sets. Those of one name are numbered.
    ///
    /// # Errors
    ///
    /// Those of [`Reading::set`].
    pub fn sets(&self, paths: &[PathBuf]) -> Result<Vec<TaskSet>> {
        let mut sets: Vec<TaskSet> = Vec::new();
        for path in paths {
            let set = self.set(path)?;
            let same = sets.iter().filter(|other| other.name() == set.name()).count();
            sets.push(if same > 0 {
                let name = format!("{} ({})", set.name(), path.shown());
                set.renamed(name)
            } else {
                set
            });
        }
        Ok(sets)
    }

    /// Reads a task set.
    ///
    /// # Errors
    ///
    /// A file that is none, or cannot be read; slips in what tasks share.
    pub fn set(&self, path: &Path) -> Result<TaskSet> {
        let imported = read_task_set_as(&(self.locate)(path), self.incomplete)?;
        for warning in &imported.warnings {
            self.observer.warn(&format!("warning: {}: {warning}", path.shown()));
        }
        // Also for those that do not go by what tasks share: a slip in it is no less one.
        Sharing::of(&imported.set).map_err(|error| error.context(path.shown().to_string()))?;
        Ok(imported.set)
    }

    /// What files and results directories are, or what is wrong with them.
    pub fn check(&self, files: &[PathBuf]) -> Answer {
        let files: Vec<Found> = files.iter().map(|file| look(file, self)).collect();
        Answer { version: VERSION, valid: files.iter().all(|found| found.valid), files }
    }
}

/// What a file is, or what is wrong with it.
#[derive(Serialize, JsonSchema)]
pub struct Found {
    /// As it was named.
    pub file: String,
    /// "task set", "platform" ...; null where the content does not say.
    pub kind: Option<&'static str>,
    /// Nothing is wrong with it.
    pub valid: bool,
    /// What it has, if it is valid.
    pub description: Option<String>,
    /// What is wrong with it.
    pub error: Option<String>,
    /// What would mend it.
    pub hint: Option<String>,
}

/// Version of the format.
const VERSION: u32 = 1;

/// The answer of `laxity check`.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// All files are.
    pub valid: bool,
    /// In the order in which they were named.
    pub files: Vec<Found>,
}

/// The JSON Schema of [`Answer`]; published as `schemas/check.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("check", "laxity check", VERSION)
}

/// Kinds of what laxity reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    TaskSet,
    Platform,
    Study,
    Costs,
    Overheads,
    CacheDelays,
    DeployPlan,
    Results,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::TaskSet => "task set",
            Kind::Platform => "platform",
            Kind::Study => "study",
            Kind::Costs => "costs",
            Kind::Overheads => "overheads",
            Kind::CacheDelays => "cache-related delays",
            Kind::DeployPlan => "plan of what to set",
            Kind::Results => "results directory",
        }
    }
}

/// Keys at the top of documents, and what has them; each of [`Costs::NAMES`] is one besides.
const KEYS: &[(&str, Kind)] = &[
    ("threads", Kind::DeployPlan),
    ("confinement", Kind::DeployPlan),
    ("tasks", Kind::TaskSet),
    ("provenance", Kind::TaskSet),
    ("cores", Kind::Platform),
    ("clusters", Kind::Platform),
    ("caches", Kind::Platform),
    ("numa", Kind::Platform),
    ("curves", Kind::Study),
    ("axis", Kind::Study),
    ("generator", Kind::Study),
    ("sets", Kind::Study),
    ("overheads", Kind::Costs),
    ("cache", Kind::Costs),
];

fn look(path: &Path, reading: &Reading<'_>) -> Found {
    let file = path.to_string_lossy().into_owned();
    let path = &*(reading.locate)(path);
    let kind = kind_of(path);
    let described = kind.clone().and_then(|kind| described(path, kind, reading));
    let kind = kind.ok().map(Kind::name);
    match described {
        Ok(description) => {
            Found { file, kind, valid: true, description: Some(description), error: None, hint: None }
        }
        Err(error) => Found {
            file,
            kind,
            valid: false,
            description: None,
            error: Some(error.message),
            hint: error.hint,
        },
    }
}

fn kind_of(path: &Path) -> Result<Kind> {
    if path == Path::new(STANDARD) {
        return Ok(Kind::TaskSet);
    }
    if path.is_dir() {
        let has = |name| path.join(name).exists();
        return match (has(MANIFEST_FILE), has(PLAN_FILE)) {
            (true, _) => Ok(Kind::Results),
            (false, true) => Ok(Kind::DeployPlan),
            (false, false) => {
                let what = format!("{}: neither {MANIFEST_FILE} nor {PLAN_FILE} is in it", path.shown());
                Err(Diagnostic::usage(what).hint(
                    "name a directory that `laxity run`, `compare` or `simulate --out` made, or a file",
                ))
            }
        };
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("xml") => Ok(Kind::TaskSet),
        Some("csv") => read_file(path, kind_of_csv),
        Some("parquet") => {
            Err(Diagnostic::usage(format!("{}: a table, not something laxity is given", path.shown()))
                .hint("name the results directory that it is in; pandas, polars and DuckDB read the table"))
        }
        extension => read_file(path, |text| match (document(text), extension) {
            (Some(document), _) => kind_of_document(&document),
            // The reader of task sets says where it breaks.
            (None, Some("toml" | "json")) => Ok(Kind::TaskSet),
            (None, _) => Err(Diagnostic::usage("it is neither TOML nor JSON")
                .hint("laxity reads .toml, .json, .csv and .xml files, and results directories")),
        }),
    }
}

/// What TOML or JSON says; nothing of other text.
fn document(text: &str) -> Option<Value> {
    let json = || serde_json::from_str(text).ok();
    match text.trim_start().starts_with(['{', '/']) {
        true => json(),
        false => toml_value(text).or_else(json),
    }
}

fn kind_of_csv(text: &str) -> Result<Kind> {
    let header =
        text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    let titles = || header.split(',').map(str::trim);
    // Also without their units, which the reader of task sets asks for.
    let of_a_set = |title: &str| title == "name" || title.starts_with("wcet") || title.starts_with("period");
    if ["ns", "us", "ms", "s"].contains(&header.trim()) {
        return Err(Diagnostic::usage("samples of a cost")
            .hint("check the costs file that names it, as examples/costs/measured.toml does"));
    }
    Ok(match (titles().any(of_a_set), titles().any(|title| title == "WSS")) {
        (true, _) => Kind::TaskSet,
        (_, true) => Kind::CacheDelays,
        _ => Kind::Overheads,
    })
}

/// By the keys at its top, also misspelt ones.
fn kind_of_document(document: &Value) -> Result<Kind> {
    if let Some(sets) = document.as_array() {
        return Err(Diagnostic::usage(format!("it is an array of {}", plural(sets.len(), "entry")))
            .hint("a file has one task set: `laxity generate ... -o DIRECTORY` writes one file for each"));
    }
    let keys: Vec<&str> =
        document.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default();
    if keys.iter().any(|key| WRITTEN_KEYS.contains(key)) {
        return Err(Diagnostic::usage("laxity has written this file itself")
            .hint("name the results directory that it is in"));
    }
    let of_costs = Costs::NAMES.map(|name| (name, Kind::Costs));
    let all: Vec<(&str, Kind)> = KEYS.iter().copied().chain(of_costs).collect();
    let known: Vec<&str> = all.iter().map(|(key, _)| *key).collect();
    let of = |key: &str| all.iter().find(|(known, _)| *known == key).map(|(_, kind)| *kind);
    let found = keys.iter().find_map(|key| of(key));
    let near =
        || keys.iter().filter(|key| !COMMON_KEYS.contains(key)).find_map(|key| of(closest(key, &known)?));
    if let Some(kind) = found.or_else(near) {
        return Ok(kind);
    }
    match keys.iter().all(|key| COMMON_KEYS.contains(key)) {
        true => Ok(Kind::TaskSet),
        false => Err(Diagnostic::usage(format!(
            "its fields are of no kind of file that laxity reads: {}",
            keys.join(", ")
        ))
        .hint(
            "a task set has `tasks`, a platform `cores`, a study `curves`, costs `release` or `overheads`",
        )),
    }
}

/// Keys at the top of manifests and answers.
const WRITTEN_KEYS: [&str; 7] =
    ["laxity_version", "recommendation", "runs", "findings", "not_proven", "max_load", "configurations"];

/// Keys that documents of several kinds have.
const COMMON_KEYS: [&str; 6] = ["version", "name", "$schema", "title", "source", "kind"];

fn toml_value(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

fn described(path: &Path, kind: Kind, reading: &Reading<'_>) -> Result<String> {
    match kind {
        Kind::TaskSet => Ok(of_set(&reading.set(path)?)),
        Kind::Platform => Ok(of_platform(&read_platform(path)?)),
        Kind::Study => of_study(path),
        Kind::Costs => read_costs(path).map(|costs| match costs.is_zero() {
            true => "everything is free".to_owned(),
            false => "for simulate --costs and compare --costs".to_owned(),
        }),
        Kind::Overheads => {
            read_overheads(path, "")?;
            Ok("for analyze --overheads, simulate --costs and studies".to_owned())
        }
        Kind::CacheDelays => {
            read_file(path, CacheDelays::from_csv)?;
            Ok("for analyze --cache-delays".to_owned())
        }
        Kind::DeployPlan => {
            let plan = plan_at(path)?;
            Ok(format!(
                "`{}` under {}, {}",
                plan.task_set,
                plan.scheduler,
                plural(plan.threads.len(), "thread")
            ))
        }
        Kind::Results => of_results(path),
    }
}

fn of_set(set: &TaskSet) -> String {
    let background = set.tasks().len() - set.real_time().count();
    let beside = match background {
        0 => String::new(),
        some => format!(" ({some} in the background)"),
    };
    format!(
        "`{}`, {}{beside}, utilization {:.3}",
        set.name(),
        plural(set.tasks().len(), "task"),
        set.load().nearest_f64()
    )
}

fn of_platform(platform: &Platform) -> String {
    format!(
        "`{}`, {}, {}",
        platform.name(),
        plural(platform.core_count(), "CPU"),
        plural(platform.clusters().len(), "cluster")
    )
}

fn of_study(path: &Path) -> Result<String> {
    let study = Study::read(path, Changes::default())?;
    let how = match study.judging {
        Judging::Proofs(_) => "of schedulability",
        Judging::Simulations(_) => "by simulation",
    };
    let (curves, sets) = (plural(study.curves(), "curve"), plural(study.outline.sets, "set"));
    Ok(format!("{how}, `{}`, {curves}, {sets} at every point", study.outline.name))
}

fn of_results(path: &Path) -> Result<String> {
    let Digested { results, jobs, .. } = laxity_trace::load_digested(path)?;
    Ok(format!(
        "{}, {}, made by `{}`",
        plural(results.runs.len(), "run"),
        plural(jobs, "job"),
        results.command.join(" ")
    ))
}
