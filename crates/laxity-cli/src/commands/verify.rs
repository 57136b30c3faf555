//! `laxity verify`.

use crate::arguments::VerifyArguments;
use crate::output;
use crate::views::heading;
use laxity_lab::verification::{Answer, RunAnswer};
use laxity_model::{Duration, Result, plural};
use laxity_oracle::Verdict;
use std::process::ExitCode;

pub fn verify(arguments: &VerifyArguments) -> Result<ExitCode> {
    let answer = Answer::of(&arguments.directory, arguments.run, arguments.tolerate)?;
    output::answer(arguments.json, &answer, || answer.runs.iter().map(text).collect())?;
    Ok(output::verdict(answer.clean))
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
