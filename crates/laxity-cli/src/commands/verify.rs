//! `laxity verify`.

use super::simulate::{heading, verdict_text};
use crate::arguments::VerifyArguments;
use crate::output;
use crate::simulation::{set_of, verifiable};
use laxity_model::{Diagnostic, Result};
use laxity_oracle::{Verdict, Verification};
use laxity_trace::{Manifest, Run};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Answer {
    version: u32,
    clean: bool,
    runs: Vec<RunAnswer>,
}

#[derive(Serialize)]
struct RunAnswer {
    run: u32,
    task_set: String,
    scheduler: String,
    repetition: u32,
    verdict: Verdict,
}

pub fn verify(arguments: &VerifyArguments) -> Result<ExitCode> {
    let manifest = laxity_trace::load_manifest(&arguments.directory)?;
    let wanted = chosen(&manifest, arguments.run)?;
    let mut runs = Vec::new();
    let mut text = String::new();
    for run in wanted {
        let Some(verifiable) = verifiable(&arguments.directory, &manifest, run, arguments.tolerate)? else {
            continue;
        };
        let mut verification = Verification::new(&verifiable.definition);
        for event in verifiable.events.events() {
            verification.event(&event?);
        }
        let verdict = verification.finish(verifiable.end_ns);
        let set = set_of(&manifest, run)?;
        text += &verdict_text(&heading(run, &set), &verdict);
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
        true => output::print_json(&Answer { version: 1, clean, runs })?,
        false => output::print(&text)?,
    }
    Ok(output::verdict(clean))
}

/// The runs of a manifest, or the one asked for.
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

fn nothing_to_verify(arguments: &VerifyArguments) -> Diagnostic {
    let which = match arguments.run {
        Some(run) => format!("run {run} of {}", arguments.directory.display()),
        None => arguments.directory.display().to_string(),
    };
    Diagnostic::environment(format!("{which} has no events of a simulation to verify"))
        .hint("simulate with `laxity simulate SET --events --out DIR`, or check at once with --verify")
}
