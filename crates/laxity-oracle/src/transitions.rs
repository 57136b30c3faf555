//! Which deviations from a definition are tolerated, because a real scheduler takes time.

use laxity_model::Duration;

/// Declared windows in which a schedule may differ from its definition. The default tolerates nothing.
///
/// A deviation is a job that should run and does not, from the instant at which that becomes so to the one at which it
/// ends: because the job runs, or because it should no longer. Another event that makes another job deviate begins
/// another window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transitions {
    /// A deviation at most this long is tolerated; also how late a replenishment, a throttling or a record of a missed
    /// deadline may be.
    pub bound: Duration,
    /// Whether time in which a CPU of the cluster does recorded kernel work does not count towards `bound`.
    pub kernel_work: bool,
    /// Whether the jobs that wait when a push is given up (push-pull, after its bounded number of failures) may wait until
    /// they run next: its own job, and those queued behind it.
    pub abandoned_pushes: bool,
}

impl Transitions {
    /// Tolerates nothing.
    pub const NONE: Transitions =
        Transitions { bound: Duration::ZERO, kernel_work: false, abandoned_pushes: false };
}
