//! `laxity report`, and what `run` and `compare` say at their end.

use crate::arguments::ReportArguments;
use crate::views::{Shown, Views, heading_of, rows};
use crate::{output, overheads_text, terminal, within};
use laxity_lab::report::{Answer, Published};
use laxity_lab::verification::{chosen, without_events};
use laxity_lab::{overheads, simulation};
use laxity_model::{Diagnostic, Existing, OutputDirectory, Result, ShownPath as _};
use laxity_oracle::Verdict;
use laxity_report::timeline::Fates;
use laxity_report::{HTML_FILE, Report, TextStyle};
use laxity_trace::{Digested, Kept};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

pub fn report(arguments: &ReportArguments) -> Result<ExitCode> {
    if arguments.force && !arguments.views.writes() {
        return Err(Diagnostic::usage("--force: a report is made again without it")
            .hint("it goes with --perfetto FILE or --html FILE"));
    }
    let views = Views { asked: &arguments.views, existing: Existing::forced(arguments.force) };
    if views.any() || arguments.run.is_some() {
        return look(arguments, &views);
    }
    views.check(1)?;
    // A directory without results is told by what it lacks.
    laxity_trace::load_manifest(&arguments.directory)?;
    let _lock = OutputDirectory::open(&arguments.directory)?.lock()?;
    let Digested { results, digests, .. } = laxity_trace::load_digested(&arguments.directory)?;
    publish(&arguments.directory, Report::of_digests(&results, digests)?, &[], arguments.json, true)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the schedules of runs that kept their events.
fn look(arguments: &ReportArguments, views: &Views<'_>) -> Result<ExitCode> {
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
        return Err(without_events(&arguments.directory.shown().to_string(), ""));
    }
    views.check(shown.len())?;
    // Simulated events are those of the jobs; of a real kernel's, the table of jobs has the last word.
    let jobs = match manifest.is_simulated() {
        true => None,
        false => Some(laxity_trace::load(&arguments.directory)?),
    };
    for (run, events) in &shown {
        let set = simulation::set_of(&manifest, run)?;
        let heading = (shown.len() > 1).then(|| heading_of(run, &set));
        let cpus = rows(&manifest.machine.cpus);
        let title = format!("{} on {}, repetition {}", run.scheduler, set.name(), run.repetition + 1);
        let fates = jobs.iter().flat_map(|jobs| &jobs.runs).find(|of| of.id == run.id).and_then(Fates::of);
        let known_until_ns = run.horizon().min(run.duration).as_ns();
        views.show(&Shown { heading, title: &title, set: &set, cpus, known_until_ns, events, fates })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the answer to standard output.
pub fn print(report: &Report<'_>, verdicts: &[(u32, Verdict)], json: bool, tables: bool) -> Result<()> {
    if json {
        output::print_json(&Answer::of(report, verdicts))?;
    }
    if tables && output::wants_text(json) { print_styled(|style| report.text(style)) } else { Ok(()) }
}

/// Writes the report into the directory, with what the oracles said, and the answer to standard output.
pub fn publish<'a>(
    directory: &Path,
    report: Report<'a>,
    verdicts: &[(u32, Verdict)],
    json: bool,
    tables: bool,
) -> Result<Published<'a>> {
    let mut published = Published::of(directory, report, verdicts, &*terminal::caller().observer)?;
    if json {
        output::print_data(&published.text)?;
    }
    if tables && output::wants_text(json) {
        print_styled(|style| published.report.text(style))?;
        output::print(&overheads_text::of_runs(&published.overheads))?;
    }
    let written = std::mem::replace(&mut published.written, Ok(()));
    written.map_err(|error| error.context("the answer is above, and the report is not written"))?;
    for costs in overheads::costs_files(directory) {
        output::note(format_args!("costs of scheduling, for `laxity simulate --costs`: {}", costs.shown()));
    }
    output::note_page(&directory.join(HTML_FILE));
    Ok(published)
}

/// Text for standard output, whatever that is.
pub fn print_styled(text: impl Fn(TextStyle) -> String) -> Result<()> {
    let style = style();
    if style.color { output::print_coloured(&text(style)) } else { output::print(&text(style)) }
}

fn style() -> TextStyle {
    let terminal = std::io::stdout().is_terminal() && !within::is_within();
    TextStyle {
        width: output::columns(),
        borders: terminal,
        color: terminal && output::colors(&std::io::stdout()),
        ascii: !output::utf8(),
        verbose: output::verbose(),
    }
}
