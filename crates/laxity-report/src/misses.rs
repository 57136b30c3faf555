//! Misses per run.

use schemars::JsonSchema;
use serde::Serialize;

/// What a configuration missed in a run on average, and how sure that is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MissesPerRun {
    /// The configuration by label; several that are the same thing on this machine.
    pub labels: Vec<String>,
    /// Jobs missed, and jobs of tasks that were refused.
    pub mean: f64,
    /// Ends of the 95 % confidence interval; nothing where noise was not measured or there is none.
    pub interval: Option<[f64; 2]>,
}
