//! What is known of one set under one series, before metrics are computed.

use laxity_generate::Decimal;
use laxity_sim::BackgroundSummary;
use laxity_trace::{Efficiency, HardwareCounts, RunSummary, TardinessHistogram};
use std::collections::BTreeMap;

/// What the tests of a series say of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOutcome {
    /// Proven.
    Accepted,
    /// Not proven.
    Rejected,
    /// Not proven within the permitted number of steps.
    OutOfWork,
    /// No test applies to such a set.
    NotApplicable,
}

/// One set, placed and simulated under one curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The metrics of the run.
    pub summary: RunSummary,
    /// Its jobs by tardiness.
    pub tardiness: TardinessHistogram,
    /// How efficiently its jobs ran.
    pub efficiency: Efficiency,
    /// How long an access takes with warm caches, in ps, where the costs say so.
    pub access_ps: Option<u64>,
    /// Counts and times of the background tasks.
    pub ordinary: BackgroundSummary,
    /// How many real-time tasks were admitted, and how many asked.
    pub admitted: (u64, u64),
    /// The IPC of jobs with warm caches; 1 where the costs do not say.
    pub base_ipc: Decimal,
    /// What was counted of its jobs, where it was run and not simulated.
    pub counted: HardwareCounts,
    /// Where it was run: the execution-time inflation of the same set in the same repetition under the first curve.
    pub inflation_of_first: Option<f64>,
    /// What the oracles found in its schedule, where it was run and that was recorded.
    pub judged: Option<Judged>,
    /// The mean length of what scheduling did, in ns, by kind of overhead, where it was run and that was recorded.
    pub overheads_ns: BTreeMap<String, f64>,
}

/// What the oracles found in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// Instants at which it was judged.
    pub checked: u64,
    /// Deviations from the definition that something measured in the same run explains.
    pub excused: u64,
    /// Those that nothing explains.
    pub violations: u64,
    /// What of the CPU time that was observed is excused, in millionths, where that is known.
    pub excused_ppm: Option<u64>,
    /// Whether it has no verdict: nothing is violated, and too much is excused.
    pub is_excused: bool,
}
