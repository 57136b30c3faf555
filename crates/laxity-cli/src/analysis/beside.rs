//! What is proven of the sets that `compare` runs, in the places where it runs them.

use super::answer::VerdictAnswer;
use super::placed::{Failed, PlacedSet};
use super::{Charges, text, verdicts};
use crate::experiment::Placed;
use laxity_analysis::scheduler::{Analysed, Asked};
use laxity_analysis::{Guarantee, Work};
use laxity_model::{AnyScheduler, Platform, ServerSizes, TaskSet};
use laxity_trace::{AnalysisRecord, ProofRecord, ProofVerdict};
use std::sync::atomic::AtomicBool;

/// Steps for each test on each cell: an answer beside measurements is not worth waiting for long.
const WORK: u64 = 1 << 26;

/// What is proven of a set under a scheduler, or why nothing is. Nothing if no analysis knows the name.
pub fn analyse_beside(
    (index, set): (usize, &TaskSet),
    scheduler: &str,
    platform: &Platform,
    placed: Option<&Placed>,
    charges: &Charges,
    servers: &ServerSizes,
    interrupt: &'static AtomicBool,
) -> Option<AnalysisRecord> {
    let set_index = u32::try_from(index).ok()?;
    let record = |[hard, soft]: [ProofRecord; 2]| AnalysisRecord {
        set: set_index,
        scheduler: scheduler.to_owned(),
        hard,
        soft,
    };
    if let Ok(AnyScheduler::Linux(linux)) = scheduler.parse()
        && let Some(why) = linux.nothing_proven()
    {
        return Some(record([ProofVerdict::NotApplicable; 2].map(|verdict| without_test(verdict, why))));
    }
    let analysed: Analysed = scheduler.parse().ok()?;
    Some(record(match placed {
        None => [ProofVerdict::NotProven; 2].map(|verdict| without_test(verdict, "no placement")),
        Some(placed) => {
            let charge = charges.of(analysed, platform);
            let servers = if analysed.has_servers() { servers } else { &ServerSizes::NONE };
            match PlacedSet::of(set, analysed, platform, placed, charge, servers) {
                Ok(placed) => proofs(set, &placed, interrupt),
                Err(Failed { assumption, .. }) => {
                    [ProofVerdict::NotApplicable; 2].map(|verdict| without_test(verdict, assumption))
                }
            }
        }
    }))
}

fn proofs(set: &TaskSet, placed: &PlacedSet, interrupt: &'static AtomicBool) -> [ProofRecord; 2] {
    let names = placed.names(set);
    let asked = |guarantee| Asked { work: Work::steps(WORK).unless(interrupt), ..Asked::of(guarantee) };
    let [hard, soft] = verdicts::both(placed, asked);
    [(hard, Guarantee::Hard), (soft, Guarantee::Soft)].map(|(judgement, guarantee)| {
        let answer = VerdictAnswer::of(&judgement, &names, placed, asked(guarantee));
        let proven = answer.verdict == ProofVerdict::Schedulable;
        ProofRecord {
            verdict: answer.verdict,
            reason: (!proven).then(|| text::verdict(&answer)),
            refuted: answer.verdict == ProofVerdict::NotProven && answer.exact,
            task: answer.task,
            test: answer.test,
        }
    })
}

fn without_test(verdict: ProofVerdict, reason: &str) -> ProofRecord {
    ProofRecord { verdict, test: None, task: None, refuted: false, reason: Some(reason.to_owned()) }
}
