//! What a run was to be.

use crate::scenario::Settings;
use laxity_kernel::RunningServer;

/// What is to be known of a run, to judge its records.
pub(crate) struct Terms {
    pub settings: Settings,
    /// When it has begun.
    pub t0_ns: u64,
    pub servers: Vec<RunningServer>,
}
