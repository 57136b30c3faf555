//! What `run`, `compare` and `simulate` come to at their end: the answer for programs, and the report in the results directory.

use crate::deploy;
use crate::observer::Observer;
use crate::overheads::{self, RunOverheads};
use laxity_deploy::DeployPlan;
use laxity_model::{Diagnostic, OutputDirectory, Result, ShownPath as _, shown_json};
use laxity_oracle::Verdict;
use laxity_report::{Beside, DeployText, MissCauses, Recommendation, Report};
use laxity_trace::{AnalysisRecord, Host, Run, RunStatus, ScheduleRecord, SchedulerSummary, Summary};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Name of the file that `--json` prints too.
const SUMMARY_FILE: &str = "summary.json";
/// Name of the file in which a person says what the results mean; shown in the report.
const READING_FILE: &str = "notes.md";
/// The files of a deployment that the page shows whole; its README names the others.
const DEPLOY_TEXTS: [&str; 2] = ["README.md", "start.sh"];
/// More deployments than this would drown a page.
const DEPLOYMENTS_MAX: usize = 4;

/// What `--json` of run, simulate, compare and report prints.
#[derive(Serialize, JsonSchema)]
pub struct Answer<'a> {
    /// The metrics: one object per scheduler and host in `schedulers`, one per run in `runs`.
    #[serde(flatten)]
    summary: &'a Summary,
    /// Which configuration to deploy, and why.
    recommendation: &'a Recommendation,
    /// What was simulated beside what was measured, and where and why the two differ.
    beside: &'a [Beside],
    /// Why deadlines were missed, by measured scheduler: one cause for each miss, as far as it was recorded.
    causes: &'a [MissCauses],
    /// What the oracles say of the simulations that they watched (`--verify`); of real runs it is in `schedules`.
    verdicts: Vec<RunVerdict<'a>>,
    /// The schedules of real kernels that were recorded, and in numbers what the oracles say of them.
    schedules: Vec<RunSchedule<'a>>,
    /// What is proven of each set under each scheduler, whatever is measured (`compare`).
    analysis: &'a [AnalysisRecord],
    /// What to set for the threads of each set under what was recommended; each is in the results, deploy/plan.json.
    what_to_set: &'a [DeployPlan],
    /// What scheduling cost in the kernel, run by run, where that was recorded.
    overheads: &'a [RunOverheads],
    /// The results directory; null if nothing was written.
    results: Option<String>,
}

/// The schedule of a real kernel.
#[derive(Serialize, JsonSchema)]
pub struct RunSchedule<'a> {
    /// Number of the run.
    run: u32,
    /// Name of its scheduler.
    scheduler: &'a str,
    /// The host that scheduled.
    host: Host,
    /// The schedule.
    schedule: &'a ScheduleRecord,
}

/// What the oracles say of a run.
#[derive(Serialize, JsonSchema)]
pub struct RunVerdict<'a> {
    /// Number of the run.
    run: u32,
    /// The verdict.
    verdict: &'a Verdict,
}

impl<'a> Answer<'a> {
    /// Of a report, with what the oracles said of simulations, by number of the run; nothing of it is written anywhere.
    pub fn of(report: &'a Report<'_>, verdicts: &'a [(u32, Verdict)]) -> Self {
        Self::in_results(report, verdicts, &[], None)
    }

    fn in_results(
        report: &'a Report<'_>,
        verdicts: &'a [(u32, Verdict)],
        overheads: &'a [RunOverheads],
        results: Option<&Path>,
    ) -> Self {
        let schedule = |run: &'a Run| {
            let schedule = run.schedule.as_ref()?;
            Some(RunSchedule { run: run.id, scheduler: &run.scheduler, host: run.host, schedule })
        };
        Answer {
            summary: report.summary(),
            recommendation: report.recommendation(),
            beside: report.beside(),
            causes: report.causes(),
            verdicts: verdicts.iter().map(|(run, verdict)| RunVerdict { run: *run, verdict }).collect(),
            analysis: report.analysis(),
            schedules: report.runs().iter().filter_map(schedule).collect(),
            what_to_set: report.plans(),
            overheads,
            results: results.map(|directory| directory.to_string_lossy().into_owned()),
        }
    }
}

/// An answer as JSON, with a line break at its end.
///
/// # Errors
///
/// A number or a key that JSON has no word for.
pub fn json_text(answer: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(answer)
        .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
    Ok(shown_json(&text).into_owned() + "\n")
}

/// A report with all that its results directory has for it.
pub struct Published<'a> {
    /// The report.
    pub report: Report<'a>,
    /// What scheduling cost, run by run.
    pub overheads: Vec<RunOverheads>,
    /// The answer as JSON.
    pub text: String,
    /// Whether the report is in the directory: the answer does not need the disk.
    pub written: Result<()>,
}

impl<'a> Published<'a> {
    /// Adds to a report what else its directory has, and writes it there with the answer, in which is what the oracles said of
    /// simulations.
    ///
    /// # Errors
    ///
    /// Files of the directory that cannot be read.
    pub fn of(
        directory: &Path,
        report: Report<'a>,
        verdicts: &[(u32, Verdict)],
        observer: &dyn Observer,
    ) -> Result<Self> {
        let plans = deploy::plans_in(directory).unwrap_or_else(|error| {
            observer.warn(&format!("warning: what to set is not shown: {}", error.message));
            Vec::new()
        });
        let texts = deploy_texts(directory, &plans);
        let report = report.with_deploy(texts).with_plans(plans.into_iter().map(|(_, plan)| plan).collect());
        let report = match laxity_trace::runs_with_events(directory)?.is_empty() {
            true => report,
            false => report.with_schedules(directory)?,
        };
        let report = match std::fs::read_to_string(directory.join(READING_FILE)) {
            Ok(reading) => report.with_reading(reading),
            Err(_) => report,
        };
        let overheads = overheads::read(directory)?;
        let text = json_text(&Answer::in_results(&report, verdicts, &overheads, Some(directory)))?;
        let phase = observer.begin("writing the report ...", "");
        let written = OutputDirectory::open(directory).and_then(|output| {
            output.write(SUMMARY_FILE, text.as_bytes()).and_then(|()| report.write(&output))
        });
        phase.end(None);
        Ok(Published { report, overheads, text, written })
    }

    /// Why a real run ended before its time, if one did.
    pub fn cut_short(&self) -> Option<&str> {
        self.report.summary().runs.iter().filter(|run| run.host != Host::Simulator).find_map(|run| match &run
            .status
        {
            RunStatus::Interrupted { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
    }

    /// Whether a real run was made at all.
    pub fn anything_ran(&self) -> bool {
        let made = |status: &RunStatus| !matches!(status, RunStatus::NotRun { .. });
        self.report.summary().runs.iter().any(|run| run.host != Host::Simulator && made(&run.status))
    }
}

/// Whether every run was made, to its end, and missed nothing. Simulations beside measurements do not count.
pub fn all_clean(summary: &Summary) -> bool {
    let measured = |scheduler: &&SchedulerSummary| scheduler.host != Host::Simulator;
    match summary.schedulers.iter().any(|scheduler| measured(&scheduler)) {
        true => summary.schedulers.iter().filter(measured).all(is_clean),
        false => summary.schedulers.iter().all(is_clean),
    }
}

fn is_clean(scheduler: &SchedulerSummary) -> bool {
    scheduler.counts.misses == 0 && scheduler.runs_not_made == 0 && scheduler.runs_interrupted == 0
}

/// The files of each deployment that are shown whole.
fn deploy_texts(directory: &Path, plans: &[(PathBuf, DeployPlan)]) -> Vec<DeployText> {
    let mut texts = Vec::new();
    for (path, plan) in plans.iter().take(DEPLOYMENTS_MAX) {
        let folder = path.parent().unwrap_or(directory);
        for name in DEPLOY_TEXTS {
            let file = folder.join(name);
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let title = file.strip_prefix(directory).unwrap_or(&file).shown().to_string();
            texts.push(DeployText { scheduler: plan.scheduler.clone(), title, text });
        }
    }
    texts
}

/// The JSON Schema of [`Answer`]; published as `schemas/answer.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer<'_>>("answer", "laxity answer", laxity_trace::SUMMARY_VERSION)
}
