//! `laxity report`, and what `run` and `compare` say at their end.

use crate::arguments::ReportArguments;
use crate::output;
use laxity_model::{Diagnostic, Result};
use laxity_report::{DeployText, Recommendation, Report, TextStyle};
use laxity_trace::{Results, RunStatus, SchedulerSummary, Summary};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Name of the directory of files to deploy with.
pub const DEPLOY_DIRECTORY: &str = "deploy";
/// Name of the file that `--json` prints too.
pub const SUMMARY_FILE: &str = "summary.json";
/// Name of the file in which a person says what the results mean; shown in the report.
const READING_FILE: &str = "notes.md";
/// More deployment files than this would drown a page.
const DEPLOY_TEXTS_MAX: usize = 4;

/// What `--json` of run, compare and report prints.
#[derive(Serialize, JsonSchema)]
pub struct Answer<'a> {
    /// The metrics: one object per scheduler in `schedulers`, one per run in `runs`.
    #[serde(flatten)]
    summary: &'a Summary,
    /// Which configuration to deploy, and why.
    recommendation: &'a Recommendation,
    /// The results directory.
    results: String,
}

pub fn report(arguments: &ReportArguments) -> Result<std::process::ExitCode> {
    let results = laxity_trace::load(&arguments.directory)?;
    publish(&arguments.directory, &results, arguments.json, true)?;
    Ok(std::process::ExitCode::SUCCESS)
}

/// What the publication found.
pub struct Verdict {
    /// The recommended scheduler misses nothing.
    pub recommended_is_clean: bool,
    /// Every run was made, to its end, and missed nothing.
    pub all_clean: bool,
    /// Why a run ended before its time, if one did.
    pub cut_short: Option<String>,
    /// At least one run was made.
    pub anything_ran: bool,
}

/// Writes the report into the directory and the answer to standard output.
pub fn publish(directory: &Path, results: &Results, json: bool, tables: bool) -> Result<Verdict> {
    let report = Report::of(results)?.with_deploy(deploy_texts(directory));
    let report = match std::fs::read_to_string(directory.join(READING_FILE)) {
        Ok(reading) => report.with_reading(reading),
        Err(_) => report,
    };
    let answer = Answer {
        summary: report.summary(),
        recommendation: report.recommendation(),
        results: directory.display().to_string(),
    };
    let text = serde_json::to_string_pretty(&answer)
        .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
    output::write_file(&directory.join(SUMMARY_FILE), &(text.clone() + "\n"))?;
    report.write(directory)?;
    if json {
        output::print(&(text + "\n"))?;
    } else if tables {
        output::print(&report.text(style()))?;
    }
    let page = directory.join(laxity_report::HTML_FILE);
    output::say(format_args!("report: {}", page.canonicalize().unwrap_or(page).display()));
    Ok(Verdict {
        recommended_is_clean: report.recommendation().misses_nothing,
        all_clean: report.summary().schedulers.iter().all(is_clean),
        cut_short: results.runs.iter().find_map(|run| match &run.status {
            RunStatus::Interrupted { reason, .. } => Some(reason.clone()),
            _ => None,
        }),
        anything_ran: results.runs.iter().any(|run| !matches!(run.status, RunStatus::NotRun { .. })),
    })
}

fn is_clean(scheduler: &SchedulerSummary) -> bool {
    scheduler.counts.misses == 0 && scheduler.runs_not_made == 0 && scheduler.runs_interrupted == 0
}

fn style() -> TextStyle {
    if !std::io::stdout().is_terminal() {
        return TextStyle::default();
    }
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).map(|size| size.ws_col);
    TextStyle {
        width: columns.ok().filter(|&width| width > 0),
        color: std::env::var_os("NO_COLOR").is_none(),
    }
}

/// The deployment files of a results directory, by name.
fn deploy_texts(directory: &Path) -> Vec<DeployText> {
    let Ok(entries) = std::fs::read_dir(directory.join(DEPLOY_DIRECTORY)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let text = |path: PathBuf| {
        let title = path.file_name()?.to_str()?.to_owned();
        let scheduler = laxity_model::Scheduler::ALL.iter().find(|s| title.contains(&format!("-{s}.")))?;
        Some(DeployText {
            scheduler: scheduler.name().to_owned(),
            title,
            text: std::fs::read_to_string(&path).ok()?,
        })
    };
    paths.into_iter().filter_map(text).take(DEPLOY_TEXTS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// After a deliberate change: `LAXITY_BLESS=1 cargo test -p laxity answer_schema`.
    #[test]
    fn the_published_answer_schema_is_that_of_the_code() {
        let mut schema = schemars::schema_for!(Answer<'_>);
        schema.insert("$id".into(), "https://laxity-rt.github.io/schemas/answer.schema.json".into());
        schema.insert("title".into(), "laxity answer".into());
        let mut schema = schema.to_value();
        schema["properties"]["version"] =
            json!({ "description": "Version of this format.", "const": laxity_trace::SUMMARY_VERSION });
        let text = serde_json::to_string_pretty(&schema).expect("serializes") + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/answer.schema.json");
        if std::env::var_os("LAXITY_BLESS").is_some() {
            std::fs::write(&path, &text).expect("writes the schema");
        }
        let published = std::fs::read_to_string(&path).expect("the schema is published");
        assert!(published == text, "answer.schema.json differs from the code; LAXITY_BLESS=1 rewrites it");
    }
}
