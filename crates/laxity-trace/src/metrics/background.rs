//! Metrics of the tasks that run on the time that real-time tasks leave (calandrino2007, 5.1).

use super::statistics::ratio;
use crate::{BackgroundRecord, Host};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The background tasks of one scheduler, over all of its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundSummary {
    /// Name of the scheduler.
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// Runs with background tasks.
    pub runs: u64,
    /// Background tasks that entered the system.
    pub entered: u64,
    /// Background tasks that had run for their lifetime and left.
    pub exited: u64,
    /// Time that background tasks ran, in ns, over all CPUs.
    pub run_ns: u64,
    /// Time that background tasks were ready but did not run, in ns, over all of them.
    pub ready_ns: u64,
    /// Time of all CPUs that the runs covered, in ns.
    pub capacity_ns: u64,
    /// `run_ns` / (`run_ns` + `ready_ns`), the paper's %NRT-RT as a share; null if none was ever ready.
    pub run_share: Option<f64>,
    /// `run_ns` / `capacity_ns`: the share of all CPUs' time that background tasks had.
    pub capacity_share: Option<f64>,
}

impl BackgroundSummary {
    /// Of the records of one scheduler's runs; nothing without any. Sums beyond 2^64 ns (584 years) stay there.
    pub(super) fn of<'a>(
        scheduler: &str,
        host: Host,
        records: impl Iterator<Item = &'a BackgroundRecord>,
    ) -> Option<BackgroundSummary> {
        let mut sum = BackgroundSummary {
            scheduler: scheduler.to_owned(),
            host,
            runs: 0,
            entered: 0,
            exited: 0,
            run_ns: 0,
            ready_ns: 0,
            capacity_ns: 0,
            run_share: None,
            capacity_share: None,
        };
        for record in records {
            sum.runs += 1;
            sum.entered = sum.entered.saturating_add(record.entered);
            sum.exited = sum.exited.saturating_add(record.exited);
            sum.run_ns = sum.run_ns.saturating_add(record.run_ns);
            sum.ready_ns = sum.ready_ns.saturating_add(record.ready_ns);
            sum.capacity_ns = sum.capacity_ns.saturating_add(record.capacity_ns);
        }
        let run_ns = i128::from(sum.run_ns);
        sum.run_share = ratio(run_ns, run_ns + i128::from(sum.ready_ns));
        sum.capacity_share = ratio(run_ns, i128::from(sum.capacity_ns));
        (sum.runs > 0).then_some(sum)
    }
}
