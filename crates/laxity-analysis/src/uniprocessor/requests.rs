//! What tasks request in a window that grows.
//!
//! rbf(w) = sum of ceil((w + J_j) / T_j) C_j: the work that is released in `[0, w)` if every task releases a job at 0 that has
//! been kept for J_j, and the others as soon as possible (Audsley et al. 1993, equations 5 and 6).
//!
//! A window only grows while its fixed point is looked for. So each task remembers when its next job comes that is not in the
//! sum: most passes are one comparison per task, and a division is needed only where jobs are added.

use super::WINDOW_MAX;
use crate::{OutOfWork, SporadicTask, Work};

/// Tasks and the work that they request in a window.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    tasks: Vec<Requested>,
    /// The sum of all jobs that have been counted.
    requested: u64,
}

#[derive(Debug, Clone, Copy)]
struct Requested {
    wcet_ns: u64,
    period_ns: u64,
    /// When the first job is released that has not been counted: it counts in windows that are longer.
    next: u64,
}

impl Requests {
    /// Adds a task with its jobs in `[0, window)`, the window not empty.
    pub fn push(&mut self, task: &SporadicTask, window: u64) {
        let jobs = (window + task.jitter_ns).div_ceil(task.period_ns);
        // jobs > J / T, so that the difference is positive
        let next = jobs * task.period_ns - task.jitter_ns;
        self.tasks.push(Requested { wcet_ns: task.wcet_ns, period_ns: task.period_ns, next });
        self.requested += jobs * task.wcet_ns;
    }

    /// Becomes a copy of `other` without allocating anew.
    pub fn copy(&mut self, other: &Requests) {
        self.tasks.clone_from(&other.tasks);
        self.requested = other.requested;
    }

    /// The least w with own + rbf(w) <= w, or nothing if it exceeds `limit`. What has been counted must not exceed rbf(w);
    /// afterwards it equals it.
    ///
    /// Each pass takes a step per task. Within a pass a longer window counts at once: the right side is monotonic, so that every
    /// order of updates ends in the same least fixed point.
    pub fn least_window(&mut self, own: u64, limit: u64, work: &mut Work) -> Result<Option<u64>, OutOfWork> {
        if limit > WINDOW_MAX {
            return Err(OutOfWork);
        }
        let mut window = own + self.requested;
        loop {
            if window > limit {
                return Ok(None);
            }
            work.take(self.tasks.len() as u64 + 1)?;
            let before = window;
            for task in &mut self.tasks {
                if task.next < window {
                    let jobs = (window - task.next - 1) / task.period_ns + 1;
                    task.next += jobs * task.period_ns;
                    self.requested += jobs * task.wcet_ns;
                    window = own + self.requested;
                    if window > limit {
                        return Ok(None);
                    }
                }
            }
            if window == before {
                return Ok(Some(window));
            }
        }
    }
}
