//! `laxity simulate`.

use super::{check_length, report, unique};
use crate::arguments::{SimulateArguments, or_lelli2012, threads};
use crate::terminal;
use crate::views::{Shown, Views, heading_of, open, rows};
use crate::{interrupt, output, shipped, within};
use laxity_lab::case::{CaseSettings, Cases, Purpose, RunSettings};
use laxity_lab::charges::Charges;
use laxity_lab::report::all_clean;
use laxity_lab::schedulers::{Configuration, Scheduled};
use laxity_lab::simulation::{self, Finished, Mechanics, Settings};
use laxity_model::{Diagnostic, Existing, Reserve, Result, TaskSet};
use laxity_report::Report;
use laxity_sim::TICK;
use laxity_trace::Run;
use std::path::Path;
use std::process::ExitCode;

pub fn simulate(arguments: &SimulateArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let sets = arguments.import.read_sets(&arguments.sets)?;
    let views = Views { asked: &arguments.views, existing: Existing::forced(arguments.force) };
    if arguments.force && arguments.out.is_none() && !arguments.views.writes() {
        return Err(Diagnostic::usage("--force: nothing is written that could replace something")
            .hint("it goes with --out DIR, --perfetto FILE or --html FILE"));
    }
    let (schedulers, mut of_cases) = of_cases(arguments)?;
    let mut settings = settings(arguments)?;
    let kernel = arguments.platform.choice().kernel_of(of_cases.platform(), false);
    of_cases.charges = Charges::of_costs(arguments.costs.as_deref(), shipped::located)?.beside_kernel(kernel);
    let cases = Cases::of(&sets, &schedulers, &of_cases, Purpose::Simulation, interrupt)?;
    let runs = cases.count() * settings.runs.repeat as usize;
    views.check(runs)?;
    // Events that are only looked at go as soon as the program ends.
    let scratch = (views.any() && !settings.events).then(scratch).transpose()?;
    settings.scratch = scratch.as_ref().map(|folder| folder.path().to_owned());
    let cpus = rows(&of_cases.platform().cpus());
    let mut show = |run: &Run, set: &TaskSet, events: Option<&Path>| match events.filter(|_| views.any()) {
        None => Ok(()),
        Some(path) => {
            let heading = (runs > 1).then(|| heading_of(run, set));
            let title = format!("{} on {}", run.scheduler, set.name());
            let known_until_ns = run.horizon().min(run.duration).as_ns();
            let events = &open(path)?;
            views.show(&Shown { heading, title: &title, set, cpus, known_until_ns, events, fates: None })?;
            match settings.scratch.is_some() {
                // Of thousands of runs, one after the other is on the disk.
                true => std::fs::remove_file(path).map_err(|error| laxity_model::cannot_write(path, &error)),
                false => Ok(()),
            }
        }
    };
    let mut finished = simulation::simulate(&cases, &settings, &mut show)?;
    let clean = publish(&mut finished, arguments, &sets)?;
    if finished.interrupted {
        return Ok(output::interrupted(": what was simulated until then is in the answer"));
    }
    let verified = finished.verdicts.iter().all(|(_, verdict)| verdict.clean);
    Ok(output::verdict(verified && (clean || !arguments.fail_on_miss)))
}

fn scratch() -> Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("laxity-").tempdir().map_err(|error| {
        Diagnostic::environment(format!("cannot make a temporary directory: {error}"))
            .hint("set TMPDIR to a directory with space, or keep the events with --events --out DIR")
    })
}

/// The schedulers, and what cases have in common.
fn of_cases(arguments: &SimulateArguments) -> Result<(Vec<Configuration>, CaseSettings)> {
    check_length(arguments.duration, arguments.grace)?;
    let others = arguments.background > 0 || arguments.busy > 0 || !arguments.changes.is_empty();
    let machine = arguments.platform.choice();
    let platform = machine.resolve_simulated()?;
    let placements = &arguments.placement.placement;
    let asked = or_lelli2012(&arguments.scheduler);
    let schedulers = unique(asked.iter().flat_map(|scheduler| scheduler.placed_by(placements, &platform)));
    let refused_run = schedulers.iter().any(Scheduled::has_servers);
    if let Some(size) = arguments.below.sizes.first().filter(|_| !others && !refused_run) {
        return Err(Diagnostic::usage(format!(
            "--server {size}: there are no background tasks for which it would be"
        ))
        .hint("add some: --busy N, or --background N"));
    }
    if arguments.reserve > 0 && !others && !refused_run {
        return Err(Diagnostic::usage(format!(
            "--reserve {}: there are no background tasks for which it would be",
            arguments.reserve
        ))
        .hint("add some: --busy N, or --background N"));
    }
    if let Some(period) = arguments.reserve_period.filter(|_| arguments.reserve == 0) {
        return Err(Diagnostic::usage(format!(
            "--reserve-period {period} is of a reserve, and there is none"
        ))
        .hint("give --reserve, as in --reserve 5, or leave --reserve-period out"));
    }
    let mut below = arguments.below.below();
    if below.promises() && !refused_run {
        return Err(Diagnostic::usage(format!(
            "{}: none of the schedulers admits tasks below servers",
            below.words()
        ))
        .hint("amp-rm does: --scheduler amp-rm"));
    }
    if arguments.at_ticks {
        below.tick = TICK;
    }
    let of_cases = CaseSettings {
        demand: arguments.demand,
        changes: arguments.changes.clone(),
        ..CaseSettings::placed(arguments.placement.settings(platform, below)?)
    };
    Ok((schedulers, of_cases))
}

fn settings(arguments: &SimulateArguments) -> Result<Settings> {
    Ok(Settings {
        runs: RunSettings {
            duration: arguments.duration,
            grace: arguments.grace,
            repeat: arguments.repeat,
            seed: arguments.seed,
            existing: Existing::forced(arguments.force),
            caller: terminal::caller(),
        },
        mechanics: Mechanics {
            budget_mode: arguments.budget,
            on_miss: arguments.on_miss,
            batching: arguments.batching,
            retries_max: arguments.retries,
            interleaving: arguments.interleave,
            costs: shipped::costs(arguments.costs.as_deref())?,
            costs_file: arguments.costs.clone(),
            background: arguments.background as usize,
            busy: arguments.busy as usize,
            reserve: Reserve::percent(
                arguments.reserve,
                arguments.reserve_period.unwrap_or(Reserve::WINDOW),
            )?,
            interference: arguments.interference.clone(),
            at_ticks: arguments.at_ticks,
            prototypes: within::own().prototypes,
        },
        out: arguments.out.clone(),
        jobs: false,
        events: arguments.events,
        scratch: None,
        verify: arguments.verify,
        tolerate: arguments.tolerate,
        threads: threads(arguments.threads),
    })
}

/// Writes the report if it is wanted and the answer to standard output. Whether nothing was missed.
fn publish(finished: &mut Finished, arguments: &SimulateArguments, sets: &[TaskSet]) -> Result<bool> {
    let tables = !arguments.views.text;
    let clean = match &finished.directory {
        Some(directory) => {
            let digests = std::mem::take(&mut finished.digests);
            let published = report::publish(
                directory.path(),
                Report::of_digests(&finished.manifest, digests)?,
                &finished.verdicts,
                arguments.json,
                tables,
            )?;
            all_clean(published.report.summary())
        }
        None => {
            let report = Report::of_summary(&finished.manifest, finished.summary.clone())?;
            report::print(&report, &finished.verdicts, arguments.json, tables)?;
            all_clean(report.summary())
        }
    };
    if output::wants_text(arguments.json) {
        below_servers(finished, sets, tables)?;
        verdicts(finished, sets, tables)?;
    }
    Ok(clean)
}

/// Says which tasks run as background tasks, and what has changed: where there is anything to say.
fn below_servers(finished: &Finished, sets: &[TaskSet], tables: bool) -> Result<()> {
    let mut text = String::new();
    for run in &finished.manifest.runs {
        let placed = run.placement.iter().filter(|placement| !placement.ordinary.is_empty());
        let refused = placed.flat_map(|placement| placement.notes.iter().cloned());
        let changes = run.notes.iter().filter(|note| note.starts_with("at ")).cloned();
        let lines: Vec<String> = refused.chain(changes).collect();
        if !lines.is_empty() {
            text += &format!("{}\n  {}\n", heading_of(run, &sets[run.set as usize]), lines.join("\n  "));
        }
    }
    match (text.is_empty(), tables) {
        (true, _) => Ok(()),
        (false, true) => output::print(&text),
        (false, false) => {
            output::say_lines(text.trim_end());
            Ok(())
        }
    }
}

/// What the oracles say, in words: data, unless the schedule has standard output for itself.
fn verdicts(finished: &Finished, sets: &[TaskSet], tables: bool) -> Result<()> {
    let mut text = String::new();
    for (id, verdict) in &finished.verdicts {
        let run = finished.manifest.runs.iter().find(|run| run.id == *id);
        let what = run.map_or_else(String::new, |run| heading_of(run, &sets[run.set as usize]));
        text += &format!("{what}\n{verdict}\n");
    }
    if tables {
        output::print(&text)
    } else {
        output::say_lines(text.trim_end());
        Ok(())
    }
}
