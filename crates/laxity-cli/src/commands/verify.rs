//! `laxity verify`.

use crate::arguments::VerifyArguments;
use crate::output;
use crate::views::{chosen, heading, verdict_text};
use laxity_lab::experiment::verify_again;
use laxity_lab::simulation::{set_of, verifiable};
use laxity_model::{Diagnostic, Duration, Result, ShownPath as _, plural};
use laxity_oracle::{Verdict, Verification};
use laxity_trace::{Kept, Manifest, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// The version of what `--json` prints (`schemas/verification.schema.json`).
const VERSION: u32 = 1;

/// What `laxity verify --json` prints.
#[derive(Serialize, JsonSchema)]
struct Answer {
    /// Version of this format.
    version: u32,
    /// Whether every run is what its scheduler's definition says.
    clean: bool,
    /// The runs that have events, in order.
    runs: Vec<RunAnswer>,
}

/// One run.
#[derive(Serialize, JsonSchema)]
struct RunAnswer {
    /// Its number.
    run: u32,
    /// Name of its task set.
    task_set: String,
    /// Name of its scheduler.
    scheduler: String,
    /// Repetition, from 0.
    repetition: u32,
    /// What the oracles say.
    verdict: Verdict,
}

pub fn verify(arguments: &VerifyArguments) -> Result<ExitCode> {
    let manifest = laxity_trace::load_manifest(&arguments.directory)?;
    let kept = Kept::of(&arguments.directory)?;
    let wanted = chosen(&manifest, arguments.run)?;
    let mut runs = Vec::new();
    let mut text = String::new();
    for run in wanted {
        let verdict = match verify_again(&kept, &manifest, run)? {
            Some(verdict) => verdict,
            None => match simulated(&kept, arguments, &manifest, run)? {
                Some(verdict) => verdict,
                None => continue,
            },
        };
        let set = set_of(&manifest, run)?;
        text += &verdict_text(&heading(run, &set), &verdict);
        if output::verbose() {
            text += &evidence(&verdict);
        }
        runs.push(RunAnswer {
            run: run.id,
            task_set: set.name().to_owned(),
            scheduler: run.scheduler.clone(),
            repetition: run.repetition,
            verdict,
        });
    }
    if runs.is_empty() {
        return Err(nothing_to_verify(arguments));
    }
    let clean = runs.iter().all(|run| run.verdict.clean);
    match arguments.json {
        true => output::print_json(&Answer { version: VERSION, clean, runs })?,
        false => output::print(&text)?,
    }
    Ok(output::verdict(clean))
}

/// What was checked, and by what deviations are excused.
fn evidence(verdict: &Verdict) -> String {
    let mut text = String::new();
    for excuse in &verdict.excused {
        text += &format!(
            "  excused by {}: {}, longest {}\n",
            excuse.cause.name(),
            plural(excuse.count, "deviation"),
            Duration::from_ns(excuse.longest_ns)
        );
    }
    for finding in &verdict.findings {
        let violated = match finding.violations {
            0 => String::new(),
            some => format!(", {}", plural(some, "violation")),
        };
        let limited = finding.limited.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        text += &format!(
            "  {}: {}{violated}{limited}\n",
            finding.oracle.name(),
            plural(finding.checked, "check")
        );
    }
    text
}

/// The verdict on a simulation; nothing if the run is none, or has no events.
fn simulated(
    kept: &Kept,
    arguments: &VerifyArguments,
    manifest: &Manifest,
    run: &Run,
) -> Result<Option<Verdict>> {
    let Some(verifiable) = verifiable(kept, manifest, run, arguments.tolerate)? else {
        return Ok(None);
    };
    let mut verification = Verification::new(&verifiable.definition);
    for event in verifiable.events.events() {
        verification.event(&event?);
    }
    Ok(Some(verification.finish(verifiable.end_ns)))
}

fn nothing_to_verify(arguments: &VerifyArguments) -> Diagnostic {
    let which = match arguments.run {
        Some(run) => format!("run {run} of {}", arguments.directory.shown()),
        None => arguments.directory.shown().to_string(),
    };
    Diagnostic::usage(format!("{which} has no events to verify"))
        .hint("simulate with `laxity simulate SET --events --out DIR`, or run where schedules can be recorded: the notes of a run say what is missing")
}

/// The JSON Schema of [`Answer`]; published as `schemas/verification.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("verification", "laxity verification", VERSION)
}
