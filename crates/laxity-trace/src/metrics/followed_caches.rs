//! Metrics of simulations that follow what caches hold (lindsay2012, 6.2.1 and 6.2.2).

use super::run_summary::RunSummary;
use super::statistics::mean;
use crate::Host;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What caches did to the jobs of one scheduler: means over its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSummary {
    /// Name of the scheduler.
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// CPU time of completed jobs / what they take with warm caches.
    pub execution_inflation: Option<f64>,
    /// Instructions per cycle: that with warm caches, which the costs give, / `execution_inflation`; null if they do not.
    pub ipc: Option<f64>,
    /// Lines from beyond the last-level cache per µs of execution.
    pub llc_miss_rate_per_us: Option<f64>,
}

impl CacheSummary {
    /// The option of a manifest that says that caches were followed, and its word.
    pub const FOLLOWED: (&'static str, &'static str) = ("caches", "followed");
    /// The option of a manifest that gives the IPC of jobs with warm caches.
    pub const IPC: &'static str = "ipc";

    /// Of one scheduler's simulated runs, whose manifest has these options; nothing where caches were not followed.
    pub(super) fn of(
        (scheduler, host): (&str, Host),
        runs: &[RunSummary],
        options: &BTreeMap<String, String>,
    ) -> Option<CacheSummary> {
        let (name, word) = Self::FOLLOWED;
        if host != Host::Simulator || options.get(name).is_none_or(|said| said != word) {
            return None;
        }
        let runs = runs.iter().filter(|run| run.scheduler == scheduler && run.host == host);
        let over = |metric: &dyn Fn(&RunSummary) -> Option<f64>| mean(runs.clone().filter_map(metric));
        let warm: Option<f64> = options.get(Self::IPC).and_then(|ipc| ipc.parse().ok());
        let inflation = |run: &RunSummary| run.rates.execution_inflation.filter(|&inflation| inflation > 0.0);
        Some(CacheSummary {
            scheduler: scheduler.to_owned(),
            host,
            execution_inflation: over(&inflation),
            ipc: over(&|run| Some(warm? / inflation(run)?)),
            llc_miss_rate_per_us: over(&|run| run.rates.cache.llc_miss_rate_per_us),
        })
    }
}
