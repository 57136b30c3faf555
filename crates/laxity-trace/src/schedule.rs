//! What is kept of a schedule that a real kernel has made: how it was recorded, and what the oracles said of it.
//!
//! The events are in `events/run-N.parquet`, what the kernel was at in `activities/run-N.parquet`; this is the rest, part of
//! the run's record in the manifest.

use crate::{BudgetRecord, ExcuseExtent, ExcuseLimits, VerdictState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Intervals of one kind that were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SpanRecord {
    /// How many.
    pub count: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// All together, in ns.
    pub total_ns: u64,
}

/// A rule that was violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleRecord {
    /// Name of the oracle.
    pub rule: String,
    /// How often, for how long at most and in all: what nothing explains; 0 ns for instants.
    #[serde(flatten)]
    pub violations: SpanRecord,
}

/// What the oracles said of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct VerificationRecord {
    /// Instants at which it was checked that the right jobs run.
    pub instants: u64,
    /// Deviations that something measured in this very run explains.
    pub excused: SpanRecord,
    /// By cause: what it explains of them.
    pub causes: BTreeMap<String, SpanRecord>,
    /// Budgets that were enforced late, each while the run's own records show that it was about to happen; nothing in results
    /// of versions that did not judge them one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overruns: Option<SpanRecord>,
    /// What the verdict came to under the limits that hold by default (`ExcuseLimits::DEFAULT`); nothing in results of versions that
    /// had no limits, nor the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<VerdictState>,
    /// How much is excused: of the time, of the jobs, and the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ExcuseExtent>,
    /// The rules that were violated; none if the schedule is what its scheduler's definition says.
    pub violated: Vec<RuleRecord>,
    /// The first violations, in words.
    pub violations: Vec<String>,
}

impl VerificationRecord {
    /// Violations of all rules.
    pub fn violations_count(&self) -> u64 {
        self.violated.iter().map(|rule| rule.violations.count).sum()
    }

    /// Whether nothing is violated, and too much is excused for a verdict.
    pub fn is_excused(&self) -> bool {
        self.state == Some(VerdictState::Excused)
    }

    /// What the verdict comes to under other limits; nothing where it is not known how much is excused, and nothing is violated.
    pub fn state_under(&self, limits: &ExcuseLimits) -> Option<VerdictState> {
        match (self.violations_count(), &self.extent) {
            (0, extent) => extent.as_ref().map(|extent| limits.state(0, extent)),
            _ => Some(VerdictState::Violated),
        }
    }

    /// The cause of the longest excuse.
    pub fn longest_cause(&self) -> Option<(&str, SpanRecord)> {
        let longest = self.causes.iter().max_by_key(|(_, span)| span.longest_ns);
        longest.map(|(cause, span)| (cause.as_str(), *span))
    }
}

/// A schedule that was recorded while the tasks ran.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleRecord {
    /// Where it ends, in ns since the synchronous release: at the end of the run, or before the first record that was lost.
    pub end_ns: u64,
    /// Records that were taken.
    pub records: u64,
    /// Records that found no place.
    pub lost: u64,
    /// CPU time that taking the records has used, in ns.
    pub recorder_cpu_ns: u64,
    /// Decisions of CPUs that were seen.
    pub decisions: u64,
    /// The task set as the kernel was told it: budgets for WCETs.
    pub task_set: serde_json::Value,
    /// Ids of the tasks whose jobs arrive when their threads wake up, and not at least a period apart.
    pub free_arrivals: Vec<u32>,
    /// What a used-up budget leads to: off, throttle, postpone, or kernel where the kernel's own accounts are followed.
    pub budgets: String,
    /// Whether jobs of one instant are released together.
    pub batching: bool,
    /// The longest that a decision may be on its way, in ns: a timer, its handler, an interrupt and a decision, each as long as
    /// it ever was in this run.
    #[serde(alias = "enforcement_late_ns")]
    pub longest_way_ns: u64,
    /// What was measured of the ways by which decisions travel, by name.
    pub windows: BTreeMap<String, SpanRecord>,
    /// What the oracles said.
    pub verification: VerificationRecord,
    /// What a reader should know: records that contradict each other, tasks without jobs.
    pub notes: Vec<String>,
    /// Whether the causes of misses were looked for: `cause` of `jobs.parquet` has them. False in results of before that.
    #[serde(default)]
    pub causes: bool,
    /// The budgets of SCHED_DEADLINE that were used up, task by task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets_used_up: Vec<BudgetRecord>,
}
