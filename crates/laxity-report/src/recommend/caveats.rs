//! What should temper the trust in a recommendation.

use super::candidate::Candidate;
use super::words::percent_of_period;
use crate::analysis;
use crate::number;
use crate::study::Study;
use laxity_trace::{EMULATED, Host};

/// Fewer jobs of a task than this are few.
const TASK_JOBS_FEW: u64 = 1000;
/// A closest call below this share of the period is close.
const LAXITY_CLOSE: f64 = 0.05;
/// Notes of the winner's runs that are repeated among the caveats.
const NOTES_MOST: usize = 4;

/// Of the best of `all`.
pub(super) fn caveats(
    study: &Study<'_>,
    sets: &[usize],
    winner: &Candidate<'_>,
    all: &[Candidate<'_>],
) -> Vec<String> {
    let mut caveats = Vec::new();
    let counts = winner.evidence.counts;
    if let Some(objection) = &winner.objection {
        caveats.push(format!("It misses deadlines by itself ({}).", objection.shown.join("; ")));
    }
    caveats.extend(missed_or_not(study, sets, winner, all));
    if counts.ordinary > 0 {
        caveats.push(format!(
            "{} of tasks that were refused or demoted ran in the background, without any guarantee; no other count has them.",
            number::counted(counts.ordinary, "job")
        ));
    }
    if let Some(least) = winner.evidence.laxity_min.filter(|&least| (0.0..LAXITY_CLOSE).contains(&least)) {
        caveats.push(format!(
            "Its closest call left only {} of a period: a little more load could make it miss.",
            percent_of_period(least)
        ));
    }
    if let Some((task, jobs)) = winner.tasks_jobs_least.as_ref().filter(|(_, jobs)| *jobs < TASK_JOBS_FEW) {
        caveats.push(format!("Few jobs: task `{task}` ran only {}.", number::counted(*jobs, "job")));
    }
    if winner.repetitions_least < 2 {
        caveats.push("One repetition: how much results vary from run to run is not known.".to_owned());
    }
    if winner.configuration.host == Host::Simulator {
        caveats.push("Simulated: costs that the model leaves out are not in these numbers.".to_owned());
    }
    caveats.extend(measurement_caveats(study, sets, winner));
    caveats
}

/// What its misses, or that it has none, do not show.
fn missed_or_not(
    study: &Study<'_>,
    sets: &[usize],
    winner: &Candidate<'_>,
    all: &[Candidate<'_>],
) -> Option<String> {
    let counts = winner.evidence.counts;
    if counts.misses > 0 {
        let others = match all.iter().any(Candidate::served_all) {
            true => "Those that met every deadline here miss some by themselves",
            false => "No configuration that ran to its end met every deadline of every task",
        };
        return (all.len() > 1).then(|| format!("{others}: this is the least bad one, not a safe one."));
    }
    if counts.jobs == 0 {
        return None;
    }
    let jobs = number::counted(counts.jobs, "job");
    let proof = proof(study, sets, winner);
    Some(match winner.configuration.host {
        Host::Simulator => {
            format!("A simulation is no proof: no miss in {jobs} shows one course of events; {proof}.")
        }
        // With no miss in n independent jobs, miss probabilities above 3/n are refuted at 95 % ("rule of three").
        _ => format!(
            "A measurement is no proof. No miss in {jobs} bounds the miss rate at {} % with 95 % confidence, if jobs \
             were independent; {proof}.",
            number::significant(300.0 / number::ratio(counts.jobs, 1)),
        ),
    })
}

/// What analysis says of the winner.
fn proof(study: &Study<'_>, sets: &[usize], winner: &Candidate<'_>) -> &'static str {
    match analysis::is_proven_hard(study, sets, &winner.configuration.scheduler) {
        None if analysis::left_out(study).is_some() => {
            "no analysis can show that none can occur, because jobs may ask for more than their WCETs"
        }
        None => "only a schedulability analysis can show that none can occur",
        Some(true) => {
            "the analysis proves that none can occur, as long as jobs keep to their WCETs and scheduling costs what was assumed \
             (`laxity analyze --overheads`)"
        }
        Some(false) if winner.objection.is_some() => "for other arrivals, some occur",
        Some(false) => "no test could prove that none can occur (`laxity analyze` says where they fail)",
    }
}

/// What the machine and the runs themselves say.
fn measurement_caveats(study: &Study<'_>, sets: &[usize], winner: &Candidate<'_>) -> Vec<String> {
    let mut caveats = Vec::new();
    if winner.evidence.migration_rate.is_none() {
        caveats.push("Migrations were not measured, so ties were decided without them.".to_owned());
    }
    let of_scope = |name: &str| study.configurations.iter().any(|c| c.scheduler.starts_with(name));
    if study.one_cluster() && of_scope("c-") && of_scope("g-") {
        caveats.push(
            "This machine has one cluster: clustered and global scheduling are the same here, and differences \
             between them are noise."
                .to_owned(),
        );
    }
    if let Some(kind) = study.results.machine.facts.get("virtualization")
        && !matches!(kind.as_str(), "none" | "unknown" | "")
    {
        let kind = if kind.starts_with("virtual machine") {
            kind.clone()
        } else {
            format!("virtual machine ({kind})")
        };
        caveats.push(match kind.contains(EMULATED) {
            true => format!(
                "Measured in an emulated {kind}: times there say little. A processor runs the same jobs many times faster, \
                 so misses here are no misses there, and margins here are no margins there."
            ),
            false => format!("Measured in a {kind}: its host can take the CPU away at any time."),
        });
    }
    let mut notes: Vec<String> = Vec::new();
    for run in study.runs(sets, winner.configuration) {
        for note in &run.summary.notes {
            let note = format!("{}: {}.", winner.configuration.label, note.trim_end_matches('.'));
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    if notes.len() > NOTES_MOST {
        let more = notes.len() - NOTES_MOST;
        notes.truncate(NOTES_MOST);
        notes.push(format!("{more} further notes on its runs are in the section on method."));
    }
    caveats.extend(notes);
    caveats
}
