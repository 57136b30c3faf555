//! What is wrong with an experiment before anything is measured or written.

use super::Settings;
use super::work::check_jobs;
use crate::case::{BYTES_PER_JOB, Cases, expected_jobs};
use laxity_model::{ByteSize, Diagnostic, Duration, Result, Sharing, Task, TaskSet, plural};
use laxity_place::Overload;
use std::collections::BTreeMap;

/// How to find out why nothing runs here, as a hint; root is not told to be root.
pub fn what_runs_here() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "`laxity list` shows what this machine can run"
    } else {
        "real-time scheduling needs root; `laxity list` shows what this machine can run"
    }
}

/// The longest time a run may be asked to take; longer ones are slips of the unit.
pub const RUN_LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Refuses periods so long that running every task alone would not end.
fn check_alone(set: &TaskSet, settings: &Settings) -> Result<()> {
    let Some(span) = settings.alone else { return Ok(()) };
    let alone = alone_duration(set, span).map_err(|e| e.context(format!("task set `{}`", set.name())))?;
    if alone <= RUN_LONGEST {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("task set `{}`: running every task alone takes {alone}", set.name()))
        .hint("shorten the periods, or skip it with --alone 0s"))
}

/// How long it takes to run every task alone.
pub fn alone_duration(set: &TaskSet, span: Duration) -> Result<Duration> {
    let order =
        |_, _| laxity_run::JobOrder { release: Duration::ZERO, demand: Duration::ZERO, accesses: None };
    laxity_run::alone(set, 0, span, 0, order).map(|(plan, _)| plan.duration)
}

/// Refuses sets that no scheduler could keep up with on this platform, unless overload is asked for.
pub fn check_load(cases: &Cases<'_>, settings: &Settings) -> Result<()> {
    let placement = &cases.settings.placement;
    let cores = placement.platform.core_count();
    for set in cases.sets {
        let above = set.load().exceeds(cores as u64);
        if above && placement.overload == Overload::Refuse {
            return Err(Diagnostic::usage(format!(
                "task set `{}`: its utilization {} exceeds the {cores} CPUs used ({})",
                set.name(),
                set.load(),
                placement.platform.cpus()
            ))
            .hint("use more CPUs or less load, or run it overloaded with --overload least-loaded"));
        }
        check_jobs(set, settings.runs.duration)?;
        check_alone(set, settings)?;
        working_sets(set)
            .and_then(|working_sets| laxity_run::check_memory(&working_sets))
            .map_err(|e| e.context(format!("task set `{}`", set.name())))?;
    }
    check_records(cases, settings)
}

/// How many bytes the working set of each task needs, by its name; what a group shares is there once.
fn working_sets(set: &TaskSet) -> Result<Vec<(String, u64)>> {
    let sharing = Sharing::of(set)?;
    let own = |(id, task): (usize, &Task)| {
        let shared = task.group.as_ref().map_or(0, |group| group.shared_bytes);
        (sharing.group_of(id), format!("task `{}`", task.name), task.working_set.size_bytes - shared, shared)
    };
    let mut needs = Vec::new();
    let mut groups: BTreeMap<usize, u64> = BTreeMap::new();
    for (group, name, own_bytes, shared) in set.real_time().map(own) {
        needs.push((name, own_bytes));
        if let Some(group) = group {
            let widest = groups.entry(group).or_default();
            *widest = shared.max(*widest);
        }
    }
    let of_group =
        |(group, bytes): (usize, u64)| (format!("group `{}`", sharing.groups()[group].name), bytes);
    Ok(needs.into_iter().chain(groups.into_iter().map(of_group)).collect())
}

/// Refuses experiments whose jobs do not fit into memory.
fn check_records(cases: &Cases<'_>, settings: &Settings) -> Result<()> {
    let jobs: u128 = cases.sets.iter().map(|set| expected_jobs(set, settings.runs.duration)).sum();
    let hosts = 1 + u128::from(settings.simulate.is_some());
    let runs = u128::from(settings.runs.repeat) * cases.schedulers.len() as u128 * hosts;
    let (wanted, available) = (jobs * runs * BYTES_PER_JOB, laxity_run::available_memory());
    if available.is_none_or(|available| wanted <= u128::from(available / 4 * 3)) {
        return Ok(());
    }
    Err(Diagnostic::usage(format!(
        "{} in {} of every set need about {} of memory for their records, but only {} are available",
        plural(jobs * runs, "job"),
        plural(runs, "run"),
        ByteSize(u64::try_from(wanted).unwrap_or(u64::MAX) >> 20 << 20),
        ByteSize(available.unwrap_or_default() >> 20 << 20)
    ))
    .hint("use a shorter --duration, fewer schedulers or repetitions, or several calls"))
}
