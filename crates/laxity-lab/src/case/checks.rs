//! What is refused before anything is proven, simulated or run.

use laxity_model::{Diagnostic, Duration, Failure, Result, TaskSet};

/// Memory for a job: its orders and record while it runs, and its row when all results are evaluated.
pub const BYTES_PER_JOB: u128 = 400;

/// An error as the reason of a run that was not made.
pub fn reason(error: &Diagnostic) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    }
}

/// Refuses a set in which nothing has a deadline.
pub fn check_real_time(set: &TaskSet) -> Result<()> {
    if set.real_time().next().is_some() {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("task set `{}` has no real-time task", set.name()))
        .hint("give at least one task kind = \"real-time\" (the default)"))
}

/// About how many jobs the real-time tasks release in `[0, duration)`.
pub fn expected_jobs(set: &TaskSet, duration: Duration) -> u128 {
    set.real_time().map(|(_, task)| u128::from(duration.as_ns().div_ceil(task.period().as_ns()))).sum()
}

/// One set under one scheduler: its name and set, and why there is nothing to run, if so.
pub type Prospect<'a> = (&'a str, &'a TaskSet, Option<&'a Diagnostic>);

/// If nothing can be run and every reason lies in the input, there is nothing to measure or to report: an error.
pub fn check_prospects<'a>(prospects: impl Iterator<Item = Prospect<'a>>) -> Result<()> {
    let mut refusals: Vec<(Vec<&str>, &TaskSet, &Diagnostic)> = Vec::new();
    for (scheduler, set, refusal) in prospects {
        let Some(refusal) = refusal.filter(|refusal| refusal.failure == Failure::Usage) else {
            return Ok(());
        };
        match refusals.iter_mut().find(|(_, other, why)| other.name() == set.name() && *why == refusal) {
            Some((schedulers, ..)) => schedulers.push(scheduler),
            None => refusals.push((vec![scheduler], set, refusal)),
        }
    }
    let under = |(schedulers, set, why): &(Vec<&str>, &TaskSet, &Diagnostic)| {
        format!("task set `{}` under {}: {}", set.name(), schedulers.join(", "), why.message)
    };
    let mut hints: Vec<&str> = refusals.iter().filter_map(|(.., why)| why.hint.as_deref()).collect();
    hints.dedup();
    let message = refusals.iter().map(under).collect::<Vec<_>>().join("; ");
    Err(Diagnostic::usage(message).hint(hints.join("; or ")))
}
