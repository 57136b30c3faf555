//! What is proven of the sets that `compare` runs, in the places where it runs them.

use super::answer::VerdictAnswer;
use super::verdicts;
use crate::case::{Case, CaseSettings};
use crate::charges::{Failed, PlacedSet};
use crate::schedulers::Scheduled as _;
use laxity_analysis::Guarantee;
use laxity_model::{Platform, TaskSet};
use laxity_trace::{AnalysisRecord, ProofRecord, ProofVerdict};
use std::sync::atomic::AtomicBool;

/// What is proven of a case on its machine as demands see it, or why nothing is. Nothing if no analysis knows its scheduler.
pub fn analyse_beside(
    case: &Case<'_>,
    platform: &Platform,
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
            let of_case = case.settings;
            let charge = of_case.charges.of(analysed, platform);
            match PlacedSet::of(set, analysed, platform, placed, charge, of_case.servers(&analysed)) {
                Ok(placed) => {
                    assumptions = of_case.charges.assumptions(analysed, placed.processors_max());
                    proofs(set, &placed, of_case, interrupt)
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
    of_case: &CaseSettings,
    interrupt: &'static AtomicBool,
) -> [ProofRecord; 2] {
    let names = placed.names(set);
    let asked = |guarantee| of_case.asked_in_trials(guarantee, interrupt);
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
