//! A scheduler that is run, or at least tried.

use super::NamedScheduler;
use super::{Choice, configurations, taken_apart};
use laxity_analysis::scheduler::Analysed;
use laxity_model::{
    AnyScheduler, Diagnostic, LinuxScheduler, Platform, Policy, PolicyScheduler, Result, Scheduler, Scope,
    scheduler_of,
};
use std::fmt;
use std::str::FromStr;

/// A scheduler under the name by which the user asked for it. Unlike a [`NamedScheduler`] it need not have a model that simulates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedScheduler {
    /// In results.
    pub name: String,
    /// What it is.
    pub scheduler: AnyScheduler,
    /// The placement in its name, such as `p-rm@ffd`.
    pub placement: Option<Choice>,
}

impl TriedScheduler {
    /// One of Linux.
    pub fn linux(&self) -> Option<&LinuxScheduler> {
        self.scheduler.linux()
    }

    /// One of laxity's own.
    pub fn policy(&self) -> Option<PolicyScheduler> {
        self.scheduler.policy()
    }

    /// As analyses know it, if they do.
    pub fn analysed(&self) -> Option<Analysed> {
        scheduler_of(&self.name).0.parse().ok()
    }

    /// A configuration for each of these placements, where there is anything to place and it has none of its own.
    pub fn placed_by(&self, placements: &[Choice], platform: &Platform) -> Vec<TriedScheduler> {
        let of = |(name, placement)| TriedScheduler { name, placement, ..self.clone() };
        configurations(&self.name, (self.scope(), self.placement), placements, platform).map(of).collect()
    }

    /// How far jobs migrate.
    pub fn scope(&self) -> Scope {
        self.scheduler.scope()
    }

    /// What simulates it, or why nothing does.
    pub fn model(&self) -> std::result::Result<PolicyScheduler, &'static str> {
        self.scheduler.model()
    }

    /// Whether its CPUs can have deferrable servers for background tasks.
    pub fn has_servers(&self) -> bool {
        self.policy().is_some_and(|own| own.policy.has_servers())
    }

    /// Whether the last CPU of each of its cells runs no task.
    pub fn dedicates_a_core(&self) -> bool {
        self.policy().map(|own| own.policy).is_some_and(Policy::dedicates_a_core)
    }
}

impl From<AnyScheduler> for TriedScheduler {
    fn from(scheduler: AnyScheduler) -> Self {
        TriedScheduler { name: scheduler.to_string(), scheduler, placement: None }
    }
}

impl From<Scheduler> for TriedScheduler {
    fn from(scheduler: Scheduler) -> Self {
        AnyScheduler::Linux(scheduler.into()).into()
    }
}

impl From<NamedScheduler> for TriedScheduler {
    fn from(named: NamedScheduler) -> Self {
        TriedScheduler { scheduler: named.any(), name: named.name, placement: named.placement }
    }
}

impl FromStr for TriedScheduler {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        if let (scheduler, Some(placement)) = scheduler_of(text.trim()) {
            let scheduler: TriedScheduler = scheduler.parse()?;
            let (name, choice) = taken_apart((&scheduler.name, placement), scheduler.scope())?;
            return Ok(TriedScheduler { name, placement: Some(choice), ..scheduler });
        }
        match text.parse::<AnyScheduler>() {
            Ok(scheduler) => Ok(scheduler.into()),
            Err(unknown) => Err(analysed_only(text).unwrap_or(unknown)),
        }
    }
}

/// What is said of a scheduler that has tests and nothing else.
fn analysed_only(text: &str) -> Option<Diagnostic> {
    let analysed: Analysed = text.parse().ok()?;
    Some(
        Diagnostic::usage(format!(
            "scheduler `{analysed}` can only be analysed: laxity has tests for it and no policy"
        ))
        .hint("`laxity analyze` takes it; `laxity list schedulers` has the others"),
    )
}

impl fmt::Display for TriedScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_name_that_was_asked_for() {
        for (asked, name, model) in [
            (" P-RM ", "p-rm", Some("p-push-pull:rm")),
            ("push-pull", "push-pull", Some("push-pull")),
            ("amp-rm", "amp-rm", Some("amp-rm")),
            ("G-RR", "g-rr", None),
            ("other:nice=3", "other:nice=3", None),
            ("p-edf:GRUB", "p-edf:grub", None),
        ] {
            let tried: TriedScheduler = asked.parse().expect("a scheduler");
            assert_eq!(tried.name, name);
            assert_eq!(tried.model().ok().map(|model| model.to_string()).as_deref(), model);
            if let Ok(named) = asked.parse::<NamedScheduler>() {
                assert_eq!(TriedScheduler::from(named), tried);
            } else {
                assert_eq!(model, None);
            }
        }
    }
}
