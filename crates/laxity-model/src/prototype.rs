//! Policies that are not of `policy/`: a user has written them elsewhere, and they are simulated, not run.

use crate::{Diagnostic, PriorityRule, Result, check_name};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// What stands before the name of a prototype.
pub const PROTOTYPE: &str = "prototype";

/// Refuses what is no name for a policy or a test of a user's own. `what` says what it is to name.
///
/// # Errors
///
/// Anything but small letters, digits, `-`, `_` and `.`, or nothing.
pub fn check_own_name(what: &str, name: &str) -> Result<()> {
    check_name(what, name)?;
    let fits = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '_' | '.')
    };
    if name.is_empty() || !name.chars().all(fits) {
        return Err(Diagnostic::usage(format!(
            "{what} `{name}`: names are of small letters, digits, `-`, `_` and `.`"
        ))
        .hint("write such as least-laxity"));
    }
    Ok(())
}

/// A policy that a user has written elsewhere, such as in Python, by its name: `prototype:NAME`. One that claims to schedule by a priority
/// rule says it behind: `prototype:NAME:edf`; then schedules are checked against that order, and else against none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prototype {
    name: &'static str,
    claims: bool,
}

impl Prototype {
    /// One of this name, and whether it claims an order.
    ///
    /// # Errors
    ///
    /// What is no name: names are of lower case.
    pub fn new(name: &str, claims: bool) -> Result<Self> {
        check_own_name("prototype name", name)?;
        Ok(Prototype { name: kept(name), claims })
    }

    /// What is behind `prototype:`, and the rule that it claims, or EDF.
    pub(crate) fn read(text: &str) -> Result<(Self, PriorityRule)> {
        let (name, claim) = text.split_once(':').map_or((text, None), |(name, claim)| (name, Some(claim)));
        let rule = claim.map_or(Ok(PriorityRule::EarliestDeadlineFirst), |claim| {
            PriorityRule::ALL.into_iter().find(|rule| rule.name() == claim).ok_or_else(|| {
                Diagnostic::usage(format!("prototype `{name}`: `{claim}` is no priority rule"))
                    .hint("write `:edf`, `:rm`, `:dm` or `:fp` behind the name, or nothing where it claims no order")
            })
        })?;
        Ok((Prototype::new(name, claim.is_some())?, rule))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether it claims to schedule by the rule of its scheduler.
    pub fn claims_order(self) -> bool {
        self.claims
    }
}

impl fmt::Display for Prototype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PROTOTYPE}:{}", self.name)
    }
}

/// The name for as long as the process lives: there are as many as users write.
fn kept(name: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = known.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    known.insert(name);
    name
}
