//! What is proven about a task set, beside what was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The option in a manifest that says which task sets were not analysed although that was wanted, and why.
pub const NOT_ANALYSED: &str = "not-analysed";

/// The option in a manifest with the configurations that have the places of another, and are not there.
pub const SAME_PLACES: &str = "same-places";

/// What schedulability tests say of a task set under a scheduler, for any arrivals, on any host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnalysisRecord {
    /// Index of the task set in the manifest.
    pub set: u32,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Whether no deadline can be missed.
    pub hard: ProofRecord,
    /// Whether tardiness is bounded.
    pub soft: ProofRecord,
    /// What is assumed of the kernel.
    #[serde(default)]
    pub assumptions: Vec<String>,
}

/// A verdict of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProofRecord {
    /// What is known.
    pub verdict: ProofVerdict,
    /// The tests that prove it; nothing if it is not proven.
    pub test: Option<String>,
    /// The task for which it is not proven, where tests name one.
    #[serde(default)]
    pub task: Option<String>,
    /// Whether not-proven means that it is not so for some arrivals: the tests are exact.
    #[serde(default)]
    pub refuted: bool,
    /// Why it is not proven, or not applicable, where that can be said.
    pub reason: Option<String>,
    /// What the kernel takes, without which it would be proven; nothing otherwise.
    #[serde(default)]
    pub proven_without: Option<String>,
}

/// What is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProofVerdict {
    /// Proven.
    Schedulable,
    /// Not proven.
    NotProven,
    /// No test covers such tasks.
    NotApplicable,
}

impl AnalysisRecord {
    /// The stronger of the two guarantees that is proven.
    pub fn proven(&self) -> Option<(&'static str, &ProofRecord)> {
        let is_proven = |(_, proof): &(&str, &ProofRecord)| proof.verdict == ProofVerdict::Schedulable;
        [("hard", &self.hard), ("soft", &self.soft)].into_iter().find(is_proven)
    }
}
