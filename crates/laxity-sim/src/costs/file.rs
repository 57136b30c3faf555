//! Costs from files: laxity's own TOML, and the field's CSV of overheads.

use super::rows::CostsFile;
use super::{Cost, Costs};
use laxity_model::overheads::overheads_from_csv;
use laxity_model::{Diagnostic, DocumentKind, Duration, Result, STANDARD, read_file};
use serde_json::Value;
use std::path::Path;

/// The version of costs files that this library reads.
pub const COSTS_VERSION: u64 = 1;

const KIND: DocumentKind = DocumentKind {
    what: "costs",
    schema: "schemas/costs.schema.json",
    version: COSTS_VERSION,
    entries: None,
};

/// Reads costs: TOML or JSON, or the field's CSV of overheads where the name ends in `.csv`.
///
/// # Errors
///
/// What is wrong in the file or a file that it names, with its place, the rule and the fix; no such file, or one that
/// cannot be read.
pub fn read_costs(path: &Path) -> Result<Costs> {
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    // What has no name's ending: only TOML has a `=`.
    let looks_like_csv =
        |text: &str| path == Path::new(STANDARD) && text.contains("TASK-COUNT") && !text.contains('=');
    read_file(path, |text| {
        if is_csv || looks_like_csv(text) {
            return Costs::from_csv(text);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        match text.trim_start().starts_with('{') {
            true => KIND.from_json::<CostsFile>(text)?.read(folder),
            false => Costs::from_toml(text, folder),
        }
    })
}

impl Costs {
    /// Reads the field's CSV of overheads: `TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY`,
    /// in µs. What has no column costs nothing; `MAILBOX`, `DSP` and `STEP` are read as well.
    ///
    /// # Errors
    ///
    /// What is wrong, by line and column.
    pub fn from_csv(text: &str) -> Result<Costs> {
        let mut costs = Costs::default();
        let functions = overheads_from_csv(text, Costs::COLUMNS)?;
        for (cost, function) in costs.each_mut().into_iter().zip(functions) {
            if let Some(function) = function {
                *cost = Cost::PiecewiseLinear(function);
            }
        }
        Ok(costs)
    }

    /// Reads costs in TOML. Files that it names are looked for in `folder`.
    ///
    /// # Errors
    ///
    /// What is wrong, by the name of the cost; see [`read_costs`].
    pub fn from_toml(text: &str, folder: &Path) -> Result<Costs> {
        KIND.from_toml::<CostsFile>(text)?.read(folder)
    }
}

impl CostsFile {
    fn read(mut self, folder: &Path) -> Result<Costs> {
        KIND.check_version(self.version)?;
        let mut costs = match &self.overheads {
            Some(name) => {
                read_file(&folder.join(name), Costs::from_csv).map_err(|e| e.context("overheads"))?
            }
            None => Costs::default(),
        };
        for ((name, written), cost) in Costs::NAMES.into_iter().zip(self.take_written()).zip(costs.each_mut())
        {
            if let Some(written) = written {
                *cost = written.read(folder).map_err(|e| e.context(name))?;
            }
        }
        if let Some(text) = &self.tick_period {
            costs.tick_period = tick_period(text).map_err(|e| e.context("tick_period"))?;
        }
        costs.cache =
            self.cache.map(|cache| cache.read(folder).map_err(|e| e.context("cache"))).transpose()?;
        Ok(costs)
    }
}

fn tick_period(text: &str) -> Result<Duration> {
    let period: Duration = text.parse()?;
    if period.is_zero() {
        return Err(Diagnostic::usage("ticks cannot come every 0ns")
            .hint("write a period such as \"1ms\", or no `tick` for a system without"));
    }
    Ok(period)
}

/// The JSON Schema (draft 2020-12) of costs files; published as `schemas/costs.schema.json`.
pub fn costs_schema() -> Value {
    laxity_model::read_schema::<CostsFile>("costs", COSTS_VERSION)
}
