//! Any scheduler that has a name: Linux's or laxity's own.

use crate::{Diagnostic, LinuxScheduler, PolicyScheduler, Result, Scope};
use std::fmt;
use std::str::FromStr;

/// Any scheduler that can be asked for: Linux's, or a policy of laxity's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnyScheduler {
    /// Linux's.
    Linux(LinuxScheduler),
    /// Laxity's own.
    Policy(PolicyScheduler),
}

impl AnyScheduler {
    /// How far jobs migrate.
    pub fn scope(&self) -> Scope {
        match self {
            AnyScheduler::Linux(scheduler) => scheduler.scope(),
            AnyScheduler::Policy(scheduler) => scheduler.scope,
        }
    }

    /// What simulates it.
    ///
    /// # Errors
    ///
    /// Why nothing does.
    pub fn model(&self) -> std::result::Result<PolicyScheduler, &'static str> {
        match self {
            AnyScheduler::Linux(scheduler) => scheduler.model().map(PolicyScheduler::from),
            AnyScheduler::Policy(scheduler) => Ok(*scheduler),
        }
    }

    /// Linux's, if it is one.
    pub fn linux(&self) -> Option<&LinuxScheduler> {
        match self {
            AnyScheduler::Linux(scheduler) => Some(scheduler),
            AnyScheduler::Policy(_) => None,
        }
    }

    /// Laxity's own, if it is one.
    pub fn policy(&self) -> Option<PolicyScheduler> {
        match self {
            AnyScheduler::Linux(_) => None,
            AnyScheduler::Policy(scheduler) => Some(*scheduler),
        }
    }

    /// Whether two are one where all scopes are the same cell: the same rule in the same structure.
    pub fn is_twin_of(&self, other: &Self) -> bool {
        match (self.model(), other.model()) {
            (Ok(one), Ok(other)) => (one.policy, one.rule) == (other.policy, other.rule),
            (Err(_), Err(_)) => {
                let global = |one: &Self| one.linux().map(|linux| linux.in_scope(Scope::Global));
                global(self) == global(other)
            }
            _ => false,
        }
    }
}

impl fmt::Display for AnyScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyScheduler::Linux(scheduler) => scheduler.fmt(f),
            AnyScheduler::Policy(scheduler) => scheduler.fmt(f),
        }
    }
}

impl FromStr for AnyScheduler {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match LinuxScheduler::named(text) {
            Some(scheduler) => scheduler.map(AnyScheduler::Linux),
            None => text.parse().map(AnyScheduler::Policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_differ_in_their_scope_only() {
        let any = |text: &str| text.parse::<AnyScheduler>().expect("a name");
        for (one, other, twins) in [
            ("c-rr", "g-rr", true),
            ("c-edf:grub", "g-edf:grub", true),
            ("c-edf", "g-edf", true),
            ("c-edf:grub", "g-edf", false),
            ("g-rr", "g-rm", false),
            ("other", "other:nice=1", false),
            ("other", "g-rr", false),
            ("scx:a", "scx:b", false),
            ("gsn-edf", "c-gsn-edf", true),
            ("gsn-edf", "edf-bh", false),
        ] {
            assert_eq!(any(one).is_twin_of(&any(other)), twins, "{one} {other}");
            assert_eq!(any(other).is_twin_of(&any(one)), twins, "{one} {other}");
        }
    }
}
