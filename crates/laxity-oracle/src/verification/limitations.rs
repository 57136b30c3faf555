//! What oracles do not check, and why.

use crate::{BudgetRule, Definition, Oracle};

/// Why an oracle checks less than it could.
pub(super) fn limitation(definition: &Definition, oracle: Oracle) -> Option<String> {
    let transitions = definition.transitions();
    let text = match oracle {
        Oracle::Budgets if definition.budgets() == BudgetRule::OFF => "budgets are not enforced",
        Oracle::Budgets if definition.budgets() == BudgetRule::Followed => {
            "the scheduler's own accounts are followed, not checked"
        }
        Oracle::Batching if !definition.batching() => "releases are not batched",
        Oracle::Batching if definition.minds_laxity() => {
            "release interrupts are not counted: timers of laxities are some"
        }
        Oracle::Demand if definition.job_source().is_none() => "what jobs were asked to do is not known",
        Oracle::Periods if definition.job_source().is_none() => {
            "sporadic releases are known to a minimum only"
        }
        Oracle::GlobalInvariant | Oracle::WorkConservation if definition.has_free_order() => {
            "a prototype that claims no order may run any ready job, and leave CPUs idle"
        }
        Oracle::GlobalInvariant | Oracle::WorkConservation => {
            let mut parts = Vec::new();
            if definition.minds_laxity() && !definition.has_exact_laxities() {
                let where_it_is = match definition.reserve() {
                    None => "where scheduling takes time",
                    Some(_) => "where CPUs give way to other work",
                };
                parts.push(format!(
                    "what goes first is not checked: {where_it_is}, when laxities run out does not show"
                ));
            }
            if definition.reserve().is_some() {
                parts
                    .push("which job waits for a CPU that gives way to other work is not checked".to_owned());
            }
            if !transitions.bound.is_zero() {
                parts.push(format!("deviations up to {} are tolerated", transitions.bound));
            }
            if transitions.kernel.is_some() {
                parts.push("time that kernel work for the waiting job explains does not count".to_owned());
            }
            if transitions.abandoned_pushes {
                parts.push("jobs may wait after an abandoned push".to_owned());
            }
            return (!parts.is_empty()).then(|| parts.join("; "));
        }
        Oracle::WellFormed
        | Oracle::OneCpu
        | Oracle::Affinity
        | Oracle::Sequence
        | Oracle::Budgets
        | Oracle::Demand
        | Oracle::Periods
        | Oracle::Deadlines
        | Oracle::Batching => return None,
    };
    Some(text.to_owned())
}
