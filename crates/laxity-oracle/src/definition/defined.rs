//! What a run's scheduler is defined to do, by its name.

use laxity_model::{
    AnyScheduler, Diagnostic, LinuxScheduler, PolicyScheduler, PriorityRule, Result, Scheduler, Scope,
    scheduler_of,
};
use laxity_trace::{Host, Run};

/// What the name of a run's scheduler says.
pub struct Defined {
    pub scope: Scope,
    pub rule: PriorityRule,
    pub dedicates_a_core: bool,
    /// All are equals.
    pub takes_turns: bool,
    /// One without laxity goes first.
    pub minds_laxity: bool,
    /// A prototype that does not say by what it goes.
    pub claims_no_order: bool,
    /// Tasks share the priorities that Linux has.
    pub by_the_kernel: bool,
}

impl Defined {
    pub fn of(run: &Run) -> Result<Self> {
        let name = scheduler_of(&run.scheduler).0;
        let any: AnyScheduler = name.parse()?;
        let linux = match &any {
            AnyScheduler::Linux(linux) => Some(linux),
            AnyScheduler::Policy(_) => None,
        };
        if let Some(why) = linux.and_then(LinuxScheduler::undefined) {
            return Err(Diagnostic::usage(format!(
                "run {} under `{}` is not verified: {why}",
                run.id, run.scheduler
            ))
            .hint("verify a run under another scheduler"));
        }
        let rule = linux.and_then(LinuxScheduler::rule).or(any.policy().map(|policy| policy.rule));
        Ok(Defined {
            scope: any.scope(),
            rule: rule.unwrap_or(PriorityRule::Given),
            dedicates_a_core: any.model().is_ok_and(|model: PolicyScheduler| model.policy.dedicates_a_core()),
            takes_turns: rule.is_none(),
            minds_laxity: any.policy().is_some_and(|own| own.policy.minds_laxity()),
            claims_no_order: any
                .policy()
                .and_then(|own| own.policy.prototype())
                .is_some_and(|prototype| !prototype.claims_order()),
            by_the_kernel: run.host == Host::Linux && name.parse::<Scheduler>().is_ok(),
        })
    }
}
