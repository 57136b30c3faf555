//! Whether a task may become one of an instance (`policy/admission.h`).

use crate::{TaskParameters, ffi};

/// Why a task is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Its parameters are not 1024 ns <= budget <= deadline <= period <= 2^42 ns.
    Parameters,
    /// There is not so much bandwidth left.
    Bandwidth,
}

/// The share of a CPU that a task has, in units of 2^-20, rounded up. Times in ns, at most 2^42; the period is positive.
pub fn bandwidth(budget_ns: u64, period_ns: u64) -> u64 {
    // SAFETY: arithmetic only; a period of 0 is not divided by.
    unsafe { ffi::lx_policy_bandwidth(budget_ns, period_ns.max(1)) }
}

/// What has been admitted to an instance.
#[derive(Debug, Clone, Copy)]
pub struct Admission(ffi::lx_admission);

impl Admission {
    /// Nothing yet. Tasks may have `limit` of each of `cpus` CPUs, in units of 2^-20.
    pub fn new(limit: u64, cpus: u32) -> Admission {
        Admission(ffi::lx_admission { limit: limit.min(1 << 20), total: 0, cpus, reserved: 0 })
    }

    /// The sum of the bandwidths of the tasks that are there, in units of 2^-20.
    pub fn total(&self) -> u64 {
        self.0.total
    }

    /// The task takes the place of one of bandwidth `before`; 0 if it is new. Returns its bandwidth.
    ///
    /// # Errors
    ///
    /// Why it may not; nothing has changed then.
    pub fn admit(&mut self, before: u64, task: &TaskParameters) -> Result<u64, Refused> {
        let (runtime, deadline_rel, period) = (task.budget_ns, task.deadline_rel_ns, task.period_ns);
        // SAFETY: reads what it is given.
        match unsafe { ffi::lx_policy_admits(&raw const self.0, before, runtime, deadline_rel, period) } {
            ffi::lx_admission_result_LX_ADMITTED => {}
            ffi::lx_admission_result_LX_REFUSED_PARAMETERS => return Err(Refused::Parameters),
            _ => return Err(Refused::Bandwidth),
        }
        let after = bandwidth(runtime, period);
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_admission_replace(&raw mut self.0, before, after) };
        Ok(after)
    }

    /// A task of this bandwidth leaves.
    pub fn leave(&mut self, bandwidth: u64) {
        // SAFETY: writes what it is given.
        unsafe { ffi::lx_policy_admission_replace(&raw mut self.0, bandwidth, 0) };
    }
}
