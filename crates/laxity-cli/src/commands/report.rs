//! `laxity report`, and what `run` and `compare` say at their end.

use crate::arguments::ReportArguments;
use crate::output;
use crate::terminal;
use crate::views::{Shown, Views, chosen, heading, rows};
use laxity_deploy::DeployPlan;
use laxity_lab::overheads::{self, RunOverheads};
use laxity_lab::{deploy, simulation};
use laxity_model::{Diagnostic, OutputDirectory, Result, ShownPath as _, shown_json};
use laxity_oracle::Verdict;
use laxity_report::timeline::Fates;
use laxity_report::{Beside, DeployText, MissCauses, Recommendation, Report, TextStyle};
use laxity_trace::{AnalysisRecord, Host, Kept, Run, RunStatus, ScheduleRecord, SchedulerSummary, Summary};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Name of the file that `--json` prints too.
pub const SUMMARY_FILE: &str = "summary.json";
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
    fn of(
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

    fn text(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
        Ok(shown_json(&text).into_owned() + "\n")
    }
}

pub fn report(arguments: &ReportArguments) -> Result<ExitCode> {
    if arguments.force && !arguments.views.writes() {
        return Err(Diagnostic::usage("--force: a report is made again without it")
            .hint("it goes with --perfetto FILE or --html FILE"));
    }
    let views = Views { replace: arguments.force, ..Views::from(&arguments.views) };
    if views.any() || arguments.run.is_some() {
        return look(arguments, &views);
    }
    views.check(1)?;
    // A directory without results is told by what it lacks.
    laxity_trace::load_manifest(&arguments.directory)?;
    let _lock = OutputDirectory::open(&arguments.directory)?.lock()?;
    let results = laxity_trace::load(&arguments.directory)?;
    publish(&arguments.directory, Report::of(&results)?, &[], arguments.json, true)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the schedules of runs that kept their events.
fn look(arguments: &ReportArguments, views: &Views) -> Result<ExitCode> {
    if !views.any() {
        return Err(Diagnostic::usage("--run says which schedule is shown, but not how")
            .hint("add --text, --gantt, --html FILE or --perfetto FILE"));
    }
    let manifest = laxity_trace::load_manifest(&arguments.directory)?;
    let kept = Kept::of(&arguments.directory)?;
    let mut shown = Vec::new();
    for run in chosen(&manifest, arguments.run)? {
        if let Some(events) = kept.open_events(run.id)? {
            shown.push((run, events));
        }
    }
    if shown.is_empty() {
        return Err(Diagnostic::usage(format!("{} has no events", arguments.directory.shown()))
            .hint("simulate with `laxity simulate SET --events --out DIR`, or run where schedules can be recorded: the notes of a run say what is missing"));
    }
    views.check(shown.len())?;
    let jobs = laxity_trace::load(&arguments.directory)?;
    for (run, events) in &shown {
        let set = simulation::set_of(&manifest, run)?;
        let heading = (shown.len() > 1).then(|| heading(run, &set));
        let cpus = rows(&manifest.machine.cpus);
        let title = format!("{} on {}, repetition {}", run.scheduler, set.name(), run.repetition + 1);
        let fates = jobs.runs.iter().find(|of| of.id == run.id).and_then(Fates::of);
        let known_until_ns = run.horizon().min(run.duration).as_ns();
        views.show(&Shown { heading, title: &title, set: &set, cpus, known_until_ns, events, fates })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the answer to standard output.
pub fn print(report: &Report<'_>, verdicts: &[(u32, Verdict)], json: bool, tables: bool) -> Result<()> {
    if json {
        output::print_data(&Answer::of(report, verdicts, &[], None).text()?)
    } else if tables {
        print_text(report)
    } else {
        Ok(())
    }
}

/// What the publication found.
pub struct Found {
    /// The recommended scheduler misses nothing.
    pub recommended_is_clean: bool,
    /// Every run was made, to its end, and missed nothing.
    pub all_clean: bool,
    /// Why a run ended before its time, if one did.
    pub cut_short: Option<String>,
    /// At least one run was made.
    pub anything_ran: bool,
}

/// Writes the report into the directory, with what the oracles said, and the answer to standard output.
pub fn publish(
    directory: &Path,
    report: Report<'_>,
    verdicts: &[(u32, Verdict)],
    json: bool,
    tables: bool,
) -> Result<Found> {
    let plans = deploy::plans_in(directory).unwrap_or_else(|error| {
        output::say(format_args!("warning: what to set is not shown: {}", error.message));
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
    let text = Answer::of(&report, verdicts, &overheads, Some(directory)).text()?;
    let phase = terminal::caller().observer.begin("writing the report ...", "");
    let written = OutputDirectory::open(directory)
        .and_then(|output| output.write(SUMMARY_FILE, text.as_bytes()).and_then(|()| report.write(&output)));
    phase.end(None);
    // The answer does not need the disk.
    if json {
        output::print_data(&text)?;
    } else if tables {
        print_text(&report)?;
        output::print(&overheads::text(&overheads))?;
    }
    written.map_err(|error| error.context("the answer is above, and the report is not written"))?;
    for costs in overheads::costs_files(directory) {
        output::note(format_args!("costs of scheduling, for `laxity simulate --costs`: {}", costs.shown()));
    }
    let page = directory.join(laxity_report::HTML_FILE);
    output::note(format_args!("report: {}", page.canonicalize().unwrap_or(page).shown()));
    let real_runs = || report.summary().runs.iter().filter(|run| run.host != Host::Simulator);
    Ok(Found {
        recommended_is_clean: report.recommendation().misses_nothing,
        all_clean: all_clean(report.summary()),
        cut_short: real_runs().find_map(|run| match &run.status {
            RunStatus::Interrupted { reason, .. } => Some(reason.clone()),
            _ => None,
        }),
        anything_ran: real_runs().any(|run| !matches!(run.status, RunStatus::NotRun { .. })),
    })
}

/// Every run was made, to its end, and missed nothing. Simulations beside measurements do not count.
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

/// The tables, in colours where the terminal wants them.
fn print_text(report: &Report<'_>) -> Result<()> {
    print_styled(|style| report.text(style))
}

/// Text for standard output, whatever that is.
pub fn print_styled(text: impl Fn(TextStyle) -> String) -> Result<()> {
    let style = style();
    if style.color { output::print_coloured(&text(style)) } else { output::print(&text(style)) }
}

fn style() -> TextStyle {
    let terminal = std::io::stdout().is_terminal();
    TextStyle {
        width: output::columns(),
        borders: terminal,
        color: output::colors(&std::io::stdout()),
        ascii: !output::utf8(),
        verbose: output::verbose(),
    }
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
