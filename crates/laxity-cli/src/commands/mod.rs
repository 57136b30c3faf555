//! One file per command.

pub mod analyze;
pub mod check;
pub mod compare;
pub mod deployed;
pub mod diff;
pub mod doctor;
pub mod exec;
pub mod generate;
pub mod init;
pub mod list;
pub mod load;
pub mod overheads;
pub mod place;
pub mod promote;
pub mod report;
pub mod run;
pub mod schema;
pub mod settings;
pub mod shell;
pub mod simulate;
pub mod study;
pub mod verify;
pub mod vm;

use crate::arguments::RunningArguments;
use crate::{output, terminal};
use laxity_lab::case::{CaseSettings, RunSettings, TestSettings};
use laxity_lab::charges::{Charges, Kernel};
use laxity_lab::experiment;
use laxity_lab::experiment::{DemandModel, Finished, Settings};
use laxity_lab::placing::BelowServers;
use laxity_lab::schedulers::{Configuration, Scheduled};
use laxity_model::{Diagnostic, Duration, Platform, Result, ShownPath as _, cpus_named};
use laxity_report::Report;
use laxity_trace::{Existing, RunStatus};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

/// Refuses lengths that are slips of the unit.
fn check_length(duration: Duration, grace: Option<Duration>) -> Result<()> {
    if duration.is_zero() {
        return Err(Diagnostic::usage("--duration 0ns: a run must release jobs for some time")
            .hint("try --duration 10s"));
    }
    for (option, span) in [("--duration", duration), ("--grace", grace.unwrap_or_default())] {
        if span > experiment::RUN_LONGEST {
            return Err(Diagnostic::usage(format!(
                "{option} {span}: a run takes at most {} (a year)",
                experiment::RUN_LONGEST
            ))
            .hint("check the unit: ns, us, ms, s, m (minutes) or h"));
        }
    }
    Ok(())
}

/// Each once, in the order in which they were asked for.
fn unique<T: PartialEq>(asked: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut unique: Vec<T> = Vec::new();
    asked.into_iter().for_each(|one| {
        if !unique.contains(&one) {
            unique.push(one);
        }
    });
    unique
}

/// The schedulers of `run` and `compare`, and what their cases have in common.
fn of_cases(
    arguments: &RunningArguments,
    schedulers: &[Configuration],
) -> Result<(Vec<Configuration>, CaseSettings)> {
    check_length(arguments.duration, arguments.grace)?;
    if arguments.calibration.is_some() && arguments.demand_model != DemandModel::Work {
        return Err(Diagnostic::usage("--calibration: with --demand-model cpu-time nothing is calibrated")
            .hint("add --demand-model work, or leave --calibration out"));
    }
    let platform = arguments.platform.choice().resolve()?;
    if arguments.platform.platform.is_some() {
        let here = laxity_model::Platform::this_machine()?.cpus();
        if !platform.cpus().is_subset(&here) {
            return Err(Diagnostic::usage(format!(
                "platform `{}` has {} but this machine lets laxity use {}",
                platform.name(),
                cpus_named(platform.cpus()),
                cpus_named(here)
            ))
            .hint("a real run needs real CPUs; leave --platform out, or place onto this platform with `laxity place`"));
        }
    }
    let placement = &arguments.placement;
    let by = |scheduler: &Configuration| scheduler.placed_by(&placement.placement, &platform);
    let schedulers: Vec<Configuration> = unique(schedulers.iter().flat_map(by));
    let below = below(arguments, &schedulers, &platform)?;
    let kernel = Kernel::running(&platform.cpus(), false);
    let of_cases = CaseSettings {
        placement: placement.settings(platform, below)?,
        charges: Charges::default().beside_kernel(kernel),
        demand: arguments.demand,
        changes: Vec::new(),
        tests: TestSettings::default(),
    };
    Ok((schedulers, of_cases))
}

/// How `run` and `compare` run them; each of the two has a name and a number of repetitions of its own.
fn settings(arguments: &RunningArguments, (name, repeat): (&str, u32)) -> Settings {
    let stamp: String = laxity_trace::rfc3339(SystemTime::now()).replace(':', "-");
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| Path::new("laxity-results").join(format!("{name}-{stamp}")));
    Settings {
        runs: RunSettings {
            duration: arguments.duration,
            grace: arguments.grace,
            repeat: arguments.repeat.unwrap_or(repeat),
            seed: arguments.seed,
            existing: Existing::forced(arguments.force),
            caller: terminal::caller(),
        },
        simulate: None,
        analyse: false,
        repeat_disturbed: arguments.repeat_disturbed,
        overheads: None,
        alone: None,
        demand_model: arguments.demand_model,
        calibration: arguments.calibration.clone(),
        on_miss: arguments.on_miss,
        busy: arguments.busy,
        quiet_machine: arguments.quiet_machine,
        budget_margin: arguments.budget_margin,
        budget_mode: arguments.policy.budget,
        batching: arguments.policy.batching,
        retries_max: arguments.policy.retries,
        record: arguments.record,
        out,
    }
}

/// The servers for background threads and what is promised below them, which one of the schedulers has to know.
fn below(
    arguments: &RunningArguments,
    schedulers: &[Configuration],
    platform: &Platform,
) -> Result<BelowServers> {
    let below = arguments.policy.below.below();
    below.servers.check(platform)?;
    if !below.any() || schedulers.iter().any(Scheduled::has_servers) {
        return Ok(below);
    }
    let names: Vec<&str> = schedulers.iter().map(|scheduler| scheduler.name.as_str()).collect();
    Err(Diagnostic::usage(format!(
        "{}: {} has no servers for background threads",
        below.words(),
        names.join(", ")
    ))
    .hint("they are amp-rm's: --scheduler amp-rm"))
}

/// Publishes the results and turns them into an exit code.
fn conclude(
    finished: &Finished<'_>,
    arguments: &RunningArguments,
    clean: impl Fn(&Report<'_>) -> bool,
) -> Result<ExitCode> {
    let evaluated = Report::of(&finished.results)?;
    if let Some(best) = evaluated.deployable() {
        finished.deployment.write(finished.directory.path(), best)?;
    }
    let published = report::publish(finished.directory.path(), evaluated, &[], arguments.json, true)?;
    if finished.interrupted {
        return Ok(output::interrupted(format_args!(
            ": what was measured until then is in {}",
            finished.directory.path().shown()
        )));
    }
    if !published.anything_ran() {
        return Err(nothing_ran(finished));
    }
    if let Some(reason) = published.cut_short() {
        return Err(Diagnostic::environment(format!("a run ended before its time: {reason}"))
            .hint("what was measured until then is in the results directory"));
    }
    Ok(output::verdict(!arguments.fail_on_miss || clean(&published.report)))
}

/// The reasons why no run was made, each once.
fn nothing_ran(finished: &Finished<'_>) -> Diagnostic {
    let mut reasons: Vec<&str> = Vec::new();
    for run in &finished.results.runs {
        if let RunStatus::NotRun { reason } = &run.status
            && !reasons.contains(&reason.as_str())
        {
            reasons.push(reason);
        }
    }
    // What was tried says itself why it failed; what was refused before lacks something here.
    let way_out = match finished.deployment.could_run() {
        true => "the reasons say what to change",
        false => laxity_lab::experiment::what_runs_here(),
    };
    Diagnostic::environment(format!("nothing could be run on this machine: {}", reasons.join("; ")))
        .hint(format!("{way_out}. All else is in the results directory"))
}
