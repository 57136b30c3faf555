//! What else a machine did while a run was made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What else the CPUs of a run did while it was made. The more, the less its misses say of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// The load average of the machine over the minute before the run.
    pub load_average: f64,
    /// CPU time that its CPUs had, in ns: their number times the time that the run took, from its first process to its
    /// last.
    pub capacity_ns: u64,
    /// CPU time that threads which are not the run's used, and interrupts, in ns. The run's own threads count as if they
    /// had all run on its CPUs.
    pub others_ns: u64,
    /// CPU time that a hypervisor gave to others, in ns.
    pub stolen_ns: u64,
    /// How often the run was made, as it was disturbed; this is the least disturbed one.
    pub attempts: u32,
}

impl Disturbance {
    /// A run is disturbed where others had more than this share of its CPUs.
    pub const SHARE_MOST: f64 = 0.05;

    /// What others and the hypervisor had, in ns.
    pub fn taken_ns(&self) -> u64 {
        self.others_ns.saturating_add(self.stolen_ns)
    }

    /// The same as a share of the CPU time of the CPUs; nothing if they had none.
    #[expect(clippy::cast_precision_loss, reason = "times of a run, to show and to compare with a bound")]
    pub fn share(&self) -> Option<f64> {
        (self.capacity_ns > 0).then(|| self.taken_ns() as f64 / self.capacity_ns as f64)
    }

    /// Whether that is known and more than [`Self::SHARE_MOST`].
    pub fn is_disturbed(&self) -> bool {
        self.share().is_some_and(|share| share > Self::SHARE_MOST)
    }
}
