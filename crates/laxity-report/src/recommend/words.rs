//! Sentences on a configuration.

use super::candidate::Candidate;
use super::decision::{Decision, Step};
use crate::number;

pub(super) fn missed(candidate: &Candidate<'_>) -> String {
    let counts = candidate.evidence.counts;
    format!(
        "{} {} of {}",
        candidate.configuration.label,
        number::count(counts.misses),
        number::counted(counts.jobs, "job")
    ) + &match counts.ordinary {
        0 => String::new(),
        some => format!(" and refused {} more", number::count(some)),
    }
}

pub(super) fn what_it_missed(winner: &Candidate<'_>) -> String {
    let counts = winner.evidence.counts;
    let jobs = number::counted(counts.jobs, "job");
    let runs = number::counted(u64::try_from(winner.evidence.runs).unwrap_or(0), "run");
    let ordinary = match counts.ordinary {
        0 => String::new(),
        some => format!("; {} more were of tasks that ran in the background", number::count(some)),
    };
    if counts.misses == 0 {
        return format!("{} met every deadline: {jobs} in {runs}{ordinary}.", winner.configuration.label);
    }
    let tardiness = match winner.evidence.tardiness_ns_max {
        Some(ns) if ns > 0 => format!(", by at most {}", number::span_ns(ns)),
        _ => String::new(),
    };
    let ends = [
        (counts.unfinished, "of them never completed"),
        (counts.aborted, "of them were aborted at their deadlines"),
        (counts.skipped, "more were not released, because an earlier one was late"),
    ];
    let ends = ends.iter().filter(|(count, _)| *count > 0);
    let ends: String = ends.map(|&(count, what)| format!("; {} {what}", number::count(count))).collect();
    format!(
        "{} missed {} of {jobs} ({}) in {runs}{tardiness}{ends}{ordinary}.",
        winner.configuration.label,
        number::count(counts.misses),
        number::percent(counts.misses, counts.jobs)
    )
}

pub(super) fn margins(winner: &Candidate<'_>) -> Option<String> {
    let (mean, least) = (winner.evidence.laxity?, winner.evidence.laxity_min?);
    Some(format!(
        "Margin: jobs finish with {} of their period left on average; the closest call was {}.",
        percent_of_period(mean.mean),
        percent_of_period(least)
    ))
}

pub(super) fn percent_of_period(laxity: f64) -> String {
    format!("{} %", number::significant(laxity * 100.0))
}

/// What would make the runner-up win.
pub(super) fn needed(
    candidates: &[Candidate<'_>],
    winner: usize,
    second: usize,
    tardiness_floor: f64,
) -> String {
    let label = |index: usize| &candidates[index].configuration.label;
    let (first, other) = (label(winner), label(second));
    match Decision::among(candidates, &[winner, second], tardiness_floor).steps.first() {
        Some(Step::Objections) => {
            format!("{other} would win only if neither the analysis nor the simulation showed misses.")
        }
        Some(Step::Misses) => {
            let missed = missed(&candidates[second]);
            format!("{other} would win if it met every deadline: it missed {}.", &missed[other.len() + 1..])
        }
        Some(Step::Worse(criterion)) => {
            let show = |index: usize| (criterion.show)((criterion.value)(&candidates[index]));
            format!(
                "{other} would win with a better {}: it has {}, {first} has {}.",
                criterion.name,
                show(second),
                show(winner)
            )
        }
        None => format!(
            "{other} is equal to {first} within the noise of these runs: one miss of {first} that {other} does not have \
             would make it win."
        ),
    }
}
