//! What should temper the trust in a recommendation.

use super::candidate::Candidate;
use super::words::{percent_of_period, same_thing};
use crate::analysis::{self, Guarantee};
use crate::disturbed;
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
    caveats.extend(overloaded(study, sets));
    caveats.extend(missed_or_not(study, winner, all));
    caveats.extend(why_missed(winner));
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
    if winner.repetitions_least() < 2 {
        caveats.push("One repetition: how much results vary from run to run is not known.".to_owned());
    }
    if winner.configuration.host == Host::Simulator {
        caveats.push("Simulated: costs that the model leaves out are not in these numbers.".to_owned());
    }
    caveats.extend(measurement_caveats(study, sets, winner, all));
    caveats
}

/// Sets that no scheduler can serve, whatever the speeds of the CPUs: none is faster than 1.
fn overloaded(study: &Study<'_>, sets: &[usize]) -> Option<String> {
    let cpus = u64::try_from(study.cores()).unwrap_or(u64::MAX);
    let too_much = |&&index: &&usize| study.sets[index].load().exceeds(cpus);
    let index = *sets.iter().find(too_much)?;
    let set = &study.sets[index];
    Some(format!(
        "Task set `{}` is overloaded: at their WCETs its tasks need {} CPUs, and there are {cpus}. No scheduler meets all their \
         deadlines.",
        laxity_model::shown(set.name()),
        number::significant(crate::study::utilization_of(set))
    ))
}

/// What its misses, or that it has none, do not show.
fn missed_or_not(study: &Study<'_>, winner: &Candidate<'_>, all: &[Candidate<'_>]) -> Option<String> {
    let counts = winner.evidence.counts;
    if counts.misses > 0 {
        return (all.len() > 1).then(|| misses_of_best(winner, all));
    }
    if counts.jobs == 0 {
        return None;
    }
    let jobs = number::counted(counts.jobs, "job");
    let proof = proof(study, winner);
    Some(match winner.configuration.host {
        Host::Simulator => {
            format!("A simulation is no proof: no miss in {jobs} shows one course of events; {proof}.")
        }
        // 3/n below is no bound.
        _ if counts.jobs <= 3 => {
            format!("A measurement is no proof, and {jobs} without a miss bounds no miss rate; {proof}.")
        }
        // With no miss in n independent jobs, miss probabilities above 3/n are refuted at 95 % ("rule of three").
        _ => format!(
            "A measurement is no proof. No miss in {jobs} bounds the miss rate at {} % with 95 % confidence, if jobs \
             were independent; {proof}.",
            number::significant(300.0 / number::ratio(counts.jobs, 1)),
        ),
    })
}

/// Why it missed, and what would have helped.
fn why_missed(winner: &Candidate<'_>) -> Option<String> {
    let causes = winner.causes.as_ref().filter(|causes| !causes.causes.is_empty())?;
    let remedy = causes.remedy().map(|remedy| format!(" {remedy}")).unwrap_or_default();
    Some(format!("Why it missed: {}.{remedy}", causes.list()))
}

/// Why the best of several is one that missed deadlines.
fn misses_of_best(winner: &Candidate<'_>, all: &[Candidate<'_>]) -> String {
    let clean = |candidate: &&Candidate<'_>| candidate.served_all();
    let others: Vec<&Candidate<'_>> = all.iter().filter(clean).collect();
    if winner.missed_within_noise() {
        return "Its misses are no more than this machine's noise: a schedule without them is shown for the same jobs. \
                Longer runs on the target say how often its noise makes jobs late."
            .to_owned();
    }
    let others = match &others[..] {
        [] => "No configuration that ran to its end met every deadline of every task",
        clean if clean.iter().all(|candidate| candidate.objection.is_some()) => {
            "Those that met every deadline here miss some by themselves"
        }
        _ => "That others met every deadline here can be chance",
    };
    format!("{others}: this is the least bad one, not a safe one.")
}

/// What analysis says of the winner.
fn proof(study: &Study<'_>, winner: &Candidate<'_>) -> &'static str {
    match winner.guarantee {
        None if analysis::left_out(study).is_some() => {
            "no analysis can show that none can occur, because jobs may ask for more than their WCETs"
        }
        None => "only a schedulability analysis can show that none can occur",
        Some(Guarantee::Hard) => {
            "the analysis proves that none can occur, as long as jobs keep to their WCETs and scheduling costs what was assumed \
             (`laxity analyze --overheads`)"
        }
        Some(_) if winner.objection.is_some() => "for other arrivals, some occur",
        Some(_) => "no test could prove that none can occur (`laxity analyze` says where they fail)",
    }
}

/// What the machine and the runs themselves say.
fn measurement_caveats(
    study: &Study<'_>,
    sets: &[usize],
    winner: &Candidate<'_>,
    all: &[Candidate<'_>],
) -> Vec<String> {
    let mut caveats: Vec<String> = same_thing(all).into_iter().collect();
    caveats.extend(disturbed::caveat(study, winner.configuration));
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
