//! The total order of jobs.

/// What goes before what: by an absolute deadline in ns or a priority, the smallest first, then by the task's id.
pub(super) type Rank = (u64, u32);
