//! The schedules of a results directory, checked by the oracles once more.

use crate::experiment::verify_again;
use crate::simulation::{set_of, verifiable};
use laxity_model::{Diagnostic, Duration, Result, ShownPath as _};
use laxity_oracle::{ExcuseLimits, Verdict, VerdictState, Verification};
use laxity_trace::{Kept, Manifest, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// The version of what `--json` prints (`schemas/verification.schema.json`).
const VERSION: u32 = 1;

/// What `laxity verify --json` prints.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// Violated if a run is; else excused, no verdict, if too much is in a run; else clean.
    pub state: VerdictState,
    /// Whether every run is clean: what its scheduler's definition says, and not too much of it excused.
    pub clean: bool,
    /// The runs that have events, in order.
    pub runs: Vec<RunAnswer>,
}

/// One run.
#[derive(Serialize, JsonSchema)]
pub struct RunAnswer {
    /// Its number.
    pub run: u32,
    /// Name of its task set.
    pub task_set: String,
    /// Name of its scheduler.
    pub scheduler: String,
    /// Repetition, from 0.
    pub repetition: u32,
    /// What the oracles say.
    pub verdict: Verdict,
}

impl Answer {
    /// Of all runs, or of one. `tolerate` is how long a simulated schedule may differ beside what its costs explain, unless the
    /// simulation has said so; `limits` is what may be excused in the schedule of a real kernel.
    ///
    /// # Errors
    ///
    /// Results that cannot be read, no such run, or no run that has events.
    pub fn of(
        directory: &Path,
        run: Option<u32>,
        tolerate: Option<Duration>,
        limits: &ExcuseLimits,
    ) -> Result<Answer> {
        let manifest = laxity_trace::load_manifest(directory)?;
        let kept = Kept::of(directory)?;
        let mut runs = Vec::new();
        for run in chosen(&manifest, run)? {
            let verdict = match verify_again(&kept, &manifest, run)? {
                None => simulated(&kept, &manifest, run, tolerate)?,
                Some(recorded) => Some(recorded.judged_by(limits)),
            };
            let Some(verdict) = verdict else { continue };
            runs.push(RunAnswer {
                run: run.id,
                task_set: set_of(&manifest, run)?.name().to_owned(),
                scheduler: run.scheduler.clone(),
                repetition: run.repetition,
                verdict,
            });
        }
        if runs.is_empty() {
            let of = run.map_or_else(String::new, |run| format!("run {run} of "));
            return Err(without_events(&format!("{of}{}", directory.shown()), " to verify"));
        }
        let states = runs.iter().map(|run| run.verdict.state);
        let state = states.max().unwrap_or(VerdictState::Clean);
        Ok(Answer { version: VERSION, state, clean: state == VerdictState::Clean, runs })
    }
}

/// The verdict on a simulation; nothing if the run is none, or has no events.
fn simulated(
    kept: &Kept,
    manifest: &Manifest,
    run: &Run,
    tolerate: Option<Duration>,
) -> Result<Option<Verdict>> {
    let Some(verifiable) = verifiable(kept, manifest, run, tolerate)? else { return Ok(None) };
    let mut verification = Verification::new(&verifiable.definition);
    for event in verifiable.events.events() {
        verification.event(&event?);
    }
    Ok(Some(verification.finish(verifiable.end_ns)))
}

/// The runs of a manifest, or the one asked for.
///
/// # Errors
///
/// There is no such run.
pub fn chosen(manifest: &Manifest, wanted: Option<u32>) -> Result<Vec<&Run>> {
    let Some(wanted) = wanted else { return Ok(manifest.runs.iter().collect()) };
    let found: Vec<&Run> = manifest.runs.iter().filter(|run| run.id == wanted).collect();
    if found.is_empty() {
        return Err(Diagnostic::usage(format!(
            "--run {wanted}: the results have runs 0 to {}",
            manifest.runs.len().saturating_sub(1)
        ))
        .hint("`summary.json` lists them"));
    }
    Ok(found)
}

/// There are no events, for what they are wanted for.
pub fn without_events(what: &str, purpose: &str) -> Diagnostic {
    Diagnostic::usage(format!("{what} has no events{purpose}"))
        .hint("simulate with `laxity simulate SET --events --out DIR`, or run where schedules can be recorded: the notes of a run say what is missing")
}

/// The JSON Schema of [`Answer`]; published as `schemas/verification.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("verification", "laxity verification", VERSION)
}
