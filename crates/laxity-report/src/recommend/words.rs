//! Sentences on a configuration.

use super::candidate::Candidate;
use super::criteria::{FAILED_RATIO, twins};
use super::decision::{Decision, Step, all_groups};
use crate::analysis::why_nothing_is_proven;
use crate::number;
use laxity_model::listed;

/// Where more than this share of the jobs of a run must be missed to be no noise, runs are short.
const MANY_OF_RUN: f64 = 0.1;

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
        Some(ns) if ns > 0 && counts.unfinished + counts.aborted > 0 => {
            format!(", those that completed by at most {}", number::span_ns(ns))
        }
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
    let on_average = before_or_after(mean.mean);
    Some(match least < 0.0 {
        false => format!(
            "Margin: jobs finish {on_average} their deadlines on average; the closest call left {}.",
            percent_of_period(least)
        ),
        true => format!(
            "{}: jobs finish {on_average} their deadlines on average; the latest finished {} its own.",
            if mean.mean < 0.0 { "Lateness" } else { "Margin" },
            before_or_after(least)
        ),
    })
}

/// `20 % of a period before` or `after`.
fn before_or_after(laxity: f64) -> String {
    let side = if laxity < 0.0 { "after" } else { "before" };
    format!("{} of a period {side}", percent_of_period(laxity.abs()))
}

pub(super) fn percent_of_period(laxity: f64) -> String {
    format!("{} %", number::significant(laxity * 100.0))
}

/// What would make the runner-up win, by what set it apart from the winner, and what would have helped against its misses.
pub(super) fn needed(candidates: &[Candidate<'_>], decision: &Decision, second: usize) -> String {
    let apart = set_apart(candidates, decision, second);
    match candidates[second].causes.as_ref().and_then(crate::causes::MissCauses::remedy) {
        Some(remedy) => format!("{apart} {remedy}"),
        None => apart,
    }
}

fn set_apart(candidates: &[Candidate<'_>], decision: &Decision, second: usize) -> String {
    let winner = decision.winner;
    let label = |index: usize| &candidates[index].configuration.label;
    let (first, other) = (label(winner), label(second));
    match decision.dropped.iter().find(|(index, _)| *index == second).map(|(_, step)| step) {
        Some(Step::Objections) => {
            format!("{other} would win only if neither the analysis nor the simulation showed misses.")
        }
        Some(Step::Misses) => {
            let missed = candidates[second].missed();
            format!("{other} would win if it met every deadline: it missed {}.", &missed[other.len() + 1..])
        }
        Some(Step::Worse(criterion)) => {
            let show = |index: usize| (criterion.show)((criterion.value)(&[&candidates[index]]));
            format!(
                "{other} would win with a better {}: it has {}, {first} has {}.",
                criterion.name,
                show(second),
                show(winner)
            )
        }
        Some(Step::Proven)
            if let Some(why) = why_nothing_is_proven(&candidates[second].configuration.scheduler) =>
        {
            format!("{other} would win {} ({why}).", or_more_misses(candidates, decision, second))
        }
        Some(Step::Proven) => format!(
            "{other} would win if as much were proven of it (`laxity analyze` says where the tests fail), {}.",
            or_more_misses(candidates, decision, second)
        ),
        None => format!("{other} would win {}.", or_more_misses(candidates, decision, second)),
    }
}

/// By how much the winner would have to miss more than the runner-up.
fn or_more_misses(candidates: &[Candidate<'_>], decision: &Decision, second: usize) -> String {
    let (first, other) = (&candidates[decision.winner], &candidates[second]);
    let name = &first.configuration.label;
    if first.is_exact() {
        return format!("if {name} missed deadlines that it meets");
    }
    if twins(first, other) {
        return format!("under no circumstances: it is {name} by another name");
    }
    let groups = decision.peers(candidates);
    let of = |wanted: &Candidate<'_>| {
        groups.iter().position(|group| group.iter().any(|one| one.is(wanted))).unwrap_or(0)
    };
    let more = FAILED_RATIO.failures_told_apart(&groups, of(other), of(first)).ceil();
    let jobs = first.jobs_per_run();
    let helps = match more > jobs * MANY_OF_RUN {
        true => "runs are short: with longer ones (--duration) a smaller share is noise",
        false => "with so many repetitions (--repeat) fewer are noise",
    };
    let than = &other.configuration.label;
    format!("if {name} missed {more:.0} more of the {jobs:.0} jobs in each run than {than} does; {helps}")
}

/// That configurations which are the same thing differ as little as noise does.
pub(super) fn same_thing(candidates: &[Candidate<'_>]) -> Option<String> {
    let groups = all_groups(candidates);
    let words = groups.iter().filter(|group| group.len() > 1).map(|group| {
        let labels = listed(group.iter().map(|one| one.configuration.label.clone()));
        let missed = group.iter().map(|one| number::count(one.evidence.counts.misses));
        format!("{labels} ({} jobs missed)", listed(missed))
    });
    let words = listed(words);
    let differ = |group: &Vec<&Candidate<'_>>| {
        group.iter().any(|one| one.evidence.counts.misses != group[0].evidence.counts.misses)
    };
    let noise = match groups.iter().any(differ) {
        true => " What differs between them is noise.",
        false => "",
    };
    (!words.is_empty())
        .then(|| format!("With one cluster these are the same thing and count as one: {words}.{noise}"))
}
