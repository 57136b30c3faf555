//! What threads know of their jobs.

/// What a thread knows of a job of its. Instants are ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTimes {
    /// Its nominal release.
    pub release_ns: u64,
    /// Its deadline.
    pub deadline_ns: u64,
    /// When it began.
    pub start_ns: Option<u64>,
    /// When it had done its work.
    pub finish_ns: Option<u64>,
}

/// The jobs of a thread, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadJobs {
    /// Its id.
    pub tid: u32,
    /// Its relative deadline in ns, if SCHED_DEADLINE schedules it.
    pub deadline_rel_ns: Option<u64>,
    /// The jobs, numbered from 0.
    pub jobs: Vec<JobTimes>,
}
