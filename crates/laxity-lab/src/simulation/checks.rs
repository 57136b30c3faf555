//! What is wrong with a simulation before anything is simulated.

use super::Settings;
use crate::case;
use crate::case::{BYTES_PER_JOB, CaseSettings, Cases, PlacementSettings};
use laxity_model::{Arrival, ByteSize, Diagnostic, Duration, Result, TaskSet};

/// Jobs of a task are numbered with 32 bits, and with 31 in files.
const JOBS_OF_A_TASK_MAX: u64 = 1 << 31;

/// Refuses sets and lengths that cannot be simulated.
pub fn check_sets(cases: &Cases<'_>, settings: &Settings) -> Result<()> {
    let runs = &settings.runs;
    for set in cases.sets {
        check_ticks(set, cases.settings)?;
        for (_, task) in set.real_time() {
            let jobs = runs.duration.as_ns().div_ceil(task.period().as_ns());
            if jobs >= JOBS_OF_A_TASK_MAX {
                return Err(Diagnostic::usage(format!(
                    "task set `{}`: task `{}` releases {jobs} jobs in {}; the limit is 2^31",
                    set.name(),
                    task.name,
                    runs.duration
                ))
                .hint("use a shorter --duration"));
            }
        }
    }
    check_records(cases, settings)
}

/// Refuses promises at ticks to what comes between them: a job that begins there keeps its CPU for longer than admission counts.
fn check_ticks(set: &TaskSet, settings: &CaseSettings) -> Result<()> {
    let PlacementSettings { platform, below, .. } = &settings.placement;
    let tick = below.tick;
    if tick.is_zero() || !below.promises() {
        return Ok(());
    }
    let between = |time: Duration| !time.as_ns().is_multiple_of(tick.as_ns());
    let refused = |what: String| {
        Err(Diagnostic::usage(format!("{} with --at-ticks: {what}", below.words())).hint(format!(
            "promises are proven where everything comes at ticks: round to {tick}, or leave out --at-ticks"
        )))
    };
    for (_, task) in set.real_time() {
        if !matches!(task.arrival, Arrival::Periodic { .. }) {
            return refused(format!("jobs of task `{}` come at any time", task.name));
        }
        for (what, time) in [("period", task.period()), ("phase", task.phase)] {
            if between(time) {
                return refused(format!(
                    "the {what} of task `{}`, {time}, is no multiple of a tick",
                    task.name
                ));
            }
        }
    }
    let servers = below.servers.on_cores(platform)?;
    match servers.iter().find(|(_, server)| !server.is_none() && between(server.period())) {
        None => Ok(()),
        Some((cpu, server)) => {
            refused(format!("the server of CPU {cpu}, {server}, has no period of whole ticks"))
        }
    }
}

/// About how many jobs there are to simulate.
pub fn expected_jobs(cases: &Cases<'_>, settings: &Settings) -> u128 {
    let jobs: u128 = cases.sets.iter().map(|set| case::expected_jobs(set, settings.runs.duration)).sum();
    jobs * cases.schedulers.len() as u128 * u128::from(settings.runs.repeat)
}

/// Refuses jobs that are to be kept in memory and do not fit there. What a disk takes is known when it is full: a job needs between a
/// third of a byte, where a schedule repeats itself, and 20.
fn check_records(cases: &Cases<'_>, settings: &Settings) -> Result<()> {
    let (jobs, available) = (expected_jobs(cases, settings), laxity_run::available_memory());
    let wanted = jobs * BYTES_PER_JOB;
    if !settings.jobs || available.is_none_or(|available| wanted <= u128::from(available / 4 * 3)) {
        return Ok(());
    }
    Err(Diagnostic::usage(format!(
        "{jobs} jobs need about {} of memory, but only {} are available",
        ByteSize(u64::try_from(wanted).unwrap_or(u64::MAX) >> 20 << 20),
        ByteSize(available.unwrap_or_default() >> 20 << 20)
    ))
    .hint("keep the jobs in a results directory, or use a shorter duration or several calls"))
}
