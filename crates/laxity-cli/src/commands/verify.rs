//! `laxity verify`.

use crate::arguments::VerifyArguments;
use crate::output;
use crate::views::heading;
use laxity_lab::verification::{Answer, RunAnswer};
use laxity_model::{Duration, Result, plural};
use laxity_oracle::{ExcuseLimits, Verdict};
use std::process::ExitCode;

pub fn verify(arguments: &VerifyArguments) -> Result<ExitCode> {
    let limits = arguments.excuses.limits(ExcuseLimits::DEFAULT);
    let answer = Answer::of(&arguments.directory, arguments.run, arguments.tolerate, &limits)?;
    output::answer(arguments.json, &answer, || answer.runs.iter().map(text).collect())?;
    Ok(output::verified(answer.state))
}

/// The verdict on one run, with its evidence where that is wanted.
fn text(run: &RunAnswer) -> String {
    let RunAnswer { run: id, task_set, scheduler, repetition, verdict } = run;
    let evidence = if output::verbose() { evidence(verdict) } else { String::new() };
    format!("{}\n{verdict}\n{evidence}", heading(*id, task_set, scheduler, *repetition))
}

/// What was checked, and by what deviations are excused.
fn evidence(verdict: &Verdict) -> String {
    let mut text = String::new();
    for excuse in &verdict.excused {
        text += &format!(
            "  excused by {}: {}, longest {}\n",
            excuse.cause.name(),
            plural(excuse.count, "deviation"),
            Duration::from_ns(excuse.longest_ns)
        );
    }
    if let Some(extent) = &verdict.extent {
        let longest = extent.longest.as_ref().map_or_else(String::new, |longest| {
            format!(
                "; late for the longest: {}, {}",
                longest.kind.replace('-', " "),
                Duration::from_ns(longest.ns)
            )
        });
        text += &format!(
            "  excused: {} of {} CPU time, {} of {}{longest}\n",
            Duration::from_ns(extent.excused_ns),
            Duration::from_ns(extent.observed_ns),
            laxity_model::with_commas(extent.jobs_excused),
            plural(extent.jobs, "job")
        );
    }
    for finding in &verdict.findings {
        let violated = match finding.violations {
            0 => String::new(),
            some => format!(", {}", plural(some, "violation")),
        };
        let limited = finding.limited.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        text += &format!(
            "  {}: {}{violated}{limited}\n",
            finding.oracle.name(),
            plural(finding.checked, "check")
        );
    }
    text
}
