//! A scheduler under the name by which the user asked for it.

use laxity_model::{AnyScheduler, Diagnostic, PolicyScheduler, Result, Scheduler};
use std::fmt;
use std::str::FromStr;

/// A scheduler that can be simulated. Names of Linux's schedulers stay: `g-edf` is reported as `g-edf`, not as the
/// push-pull that simulates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedScheduler {
    /// In results.
    pub name: String,
    /// What is simulated.
    pub scheduler: PolicyScheduler,
}

impl NamedScheduler {
    /// Linux's own scheduler of this name, if it is one: what can run for real.
    pub fn linux(&self) -> Option<Scheduler> {
        self.name.parse().ok()
    }

    /// What it is, whether or not it is simulated.
    pub fn any(&self) -> AnyScheduler {
        self.linux().map_or(AnyScheduler::Policy(self.scheduler), |linux| AnyScheduler::Linux(linux.into()))
    }
}

impl From<Scheduler> for NamedScheduler {
    fn from(linux: Scheduler) -> Self {
        NamedScheduler { name: linux.name().to_owned(), scheduler: linux.into() }
    }
}

impl FromStr for NamedScheduler {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(linux) = text.parse::<Scheduler>() {
            return Ok(linux.into());
        }
        let scheduler: PolicyScheduler = text.parse()?;
        Ok(NamedScheduler { name: scheduler.to_string(), scheduler })
    }
}

impl fmt::Display for NamedScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_name_that_was_asked_for() {
        for (asked, name, policy) in [
            ("g-edf", "g-edf", "push-pull"),
            (" P-RM ", "p-rm", "p-push-pull:rm"),
            ("push-pull", "push-pull", "push-pull"),
            ("c-fpp:dm", "c-fpp:dm", "c-fpp:dm"),
            ("g-edf-mp", "g-edf-mp", "g-edf-mp"),
        ] {
            let named: NamedScheduler = asked.parse().expect("a scheduler");
            assert_eq!((named.name.as_str(), named.scheduler.to_string().as_str()), (name, policy));
            assert_eq!(named.linux().is_some(), ["g-edf", "p-rm"].contains(&name), "{name}");
        }
        assert!("edf".parse::<NamedScheduler>().is_err());
    }
}
