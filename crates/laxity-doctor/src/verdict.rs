//! What a check is, and what it comes to.

use crate::evidence::{Evidence, Unseen};
use crate::host::Host;
use crate::remedy::Remedy;
use schemars::JsonSchema;
use serde::Serialize;

laxity_model::listed_enum! {
    /// How much a finding matters to real-time tasks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Severity {
        /// Tasks are refused, stopped or ended, their times are wrong, or they can be delayed by a millisecond or more.
        Severe,
        /// Tasks can be delayed by ten microseconds or more, or run slower at times.
        Moderate,
        /// Shorter delays, or a risk only for some programs.
        Minor,
    }
}

impl Severity {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Severe => "severe",
            Severity::Moderate => "moderate",
            Severity::Minor => "minor",
        }
    }
}

/// A question to a machine, and the rule by which it is answered.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name, which stays.
    pub name: &'static str,
    /// How grave its finding is.
    pub severity: Severity,
    /// The rule: what is a finding.
    pub rule: &'static str,
    /// Why that matters to real-time work.
    pub why: &'static str,
    /// Applies the rule.
    pub(crate) judge: fn(&Host) -> Judged,
}

/// What a check comes to, or why it cannot be made.
pub(crate) type Judged = Result<Verdict, Unseen>;

/// What a check comes to.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    /// Nothing is wrong.
    Fine(Vec<Evidence>),
    /// Something is.
    Found(Box<Found>),
    /// The question has no sense here; why.
    NotHere(String),
}

/// What is wrong.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// In one sentence.
    pub what: String,
    /// Where it is seen.
    pub evidence: Vec<Evidence>,
    /// What it cost while laxity looked, or costs by its settings, if that can be seen without disturbing the machine.
    pub measured: Option<String>,
    /// What ends it, and takes that back.
    pub remedy: Remedy,
}

impl Verdict {
    /// A finding whose cost is not measured.
    pub fn found(what: impl Into<String>, evidence: Vec<Evidence>, remedy: Remedy) -> Judged {
        Self::measured(what, evidence, None, remedy)
    }

    /// A finding with its cost.
    pub fn measured(
        what: impl Into<String>,
        evidence: Vec<Evidence>,
        measured: Option<String>,
        remedy: Remedy,
    ) -> Judged {
        Ok(Verdict::Found(Box::new(Found { what: what.into(), evidence, measured, remedy })))
    }

    /// Nothing is wrong.
    pub fn fine(evidence: Vec<Evidence>) -> Judged {
        Ok(Verdict::Fine(evidence))
    }

    /// The question has no sense here.
    pub fn not_here(why: impl Into<String>) -> Judged {
        Ok(Verdict::NotHere(why.into()))
    }
}
