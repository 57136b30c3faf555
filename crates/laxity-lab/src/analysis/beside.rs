//! What is proven of the sets that `compare` runs, in the places where it runs them.

use super::answer::VerdictAnswer;
use super::verdicts;
use crate::case::Case;
use crate::charges::{Charges, Failed, PlacedSet, TRIAL_WORK};
use crate::schedulers::{Configuration, Scheduled as _};
use laxity_analysis::scheduler::Asked;
use laxity_analysis::{Guarantee, Work};
use laxity_model::{Platform, ServerSizes, TaskSet};
use laxity_trace::{AnalysisRecord, ProofRecord, ProofVerdict};
use std::sync::atomic::AtomicBool;

/// What is proven of a set under a configuration, or why nothing is. Nothing if no analysis knows its scheduler.
pub fn analyse_beside(
    case: &Case<'_, Configuration>,
    platform: &Platform,
    charges: &Charges,
    servers: &ServerSizes,
    interrupt: &'static AtomicBool,
) -> Option<AnalysisRecord> {
    let (set, scheduler) = (case.set, &case.scheduler.name);
    let set_index = u32::try_from(case.index).ok()?;
    let record = |[hard, soft]: [ProofRecord; 2], assumptions| AnalysisRecord {
        set: set_index,
        scheduler: scheduler.clone(),
        hard,
        soft,
        assumptions,
    };
    if let Some(linux) = case.scheduler.linux()
        && let Some(why) = linux.nothing_proven()
    {
        let nothing = [ProofVerdict::NotApplicable; 2].map(|verdict| without_test(verdict, why));
        return Some(record(nothing, Vec::new()));
    }
    let analysed = case.scheduler.analysed()?;
    let mut assumptions = Vec::new();
    let proofs = match &case.placed {
        Err(_) => [ProofVerdict::NotProven; 2].map(|verdict| without_test(verdict, "no placement")),
        Ok(placed) => {
            let charge = charges.of(analysed, platform);
            let servers = if analysed.has_servers() { servers } else { &ServerSizes::NONE };
            match PlacedSet::of(set, analysed, platform, placed, charge, servers) {
                Ok(placed) => {
                    assumptions = charges.assumptions(analysed, placed.processors_max());
                    proofs(set, &placed, charges, interrupt)
                }
                Err(Failed { assumption, .. }) => {
                    [ProofVerdict::NotApplicable; 2].map(|verdict| without_test(verdict, assumption))
                }
            }
        }
    };
    Some(record(proofs, assumptions))
}

fn proofs(
    set: &TaskSet,
    placed: &PlacedSet,
    charges: &Charges,
    interrupt: &'static AtomicBool,
) -> [ProofRecord; 2] {
    let names = placed.names(set);
    let work = Work::steps(TRIAL_WORK).unless(interrupt);
    let asked = |guarantee| Asked { work, beside: charges.beside(), ..Asked::of(guarantee) };
    let [hard, soft] = verdicts::both(placed, asked);
    [(hard, Guarantee::Hard), (soft, Guarantee::Soft)].map(|(judgement, guarantee)| {
        let answer = VerdictAnswer::of(&judgement, &names, placed, asked(guarantee));
        let proven = answer.verdict == ProofVerdict::Schedulable;
        ProofRecord {
            verdict: answer.verdict,
            reason: (!proven).then(|| answer.words()),
            refuted: answer.verdict == ProofVerdict::NotProven && answer.exact,
            proven_without: answer.proven_without.clone(),
            task: answer.task,
            test: answer.test,
        }
    })
}

fn without_test(verdict: ProofVerdict, reason: &str) -> ProofRecord {
    ProofRecord {
        verdict,
        test: None,
        task: None,
        refuted: false,
        reason: Some(reason.to_owned()),
        proven_without: None,
    }
}
