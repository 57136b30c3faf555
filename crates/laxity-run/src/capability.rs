//! What this machine, this kernel and this user can run, found out by trying.

use crate::cpuset::Hierarchy;
use crate::guardian::online_cpus;
use crate::perf;
use crate::sched::{self, Policy};
use laxity_model::{Duration, PriorityRule, Scheduler, Scope};
use std::collections::BTreeMap;

/// The answers; each `Err` says why not and what would help.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// SCHED_FIFO.
    pub fifo: Result<(), String>,
    /// SCHED_DEADLINE.
    pub deadline: Result<(), String>,
    /// Exclusive cpusets.
    pub cpusets: Result<Hierarchy, String>,
    /// Job columns that cannot be measured.
    pub not_measured: BTreeMap<String, String>,
}

impl Capabilities {
    /// Tries. Changes nothing that outlives the call.
    pub fn probe() -> Self {
        // Tiny, and gone from the kernel's account a millisecond later.
        let deadline = Policy::Deadline {
            runtime: Duration::from_us(10),
            deadline: Duration::from_ms(1),
            period: Duration::from_ms(1),
        };
        Capabilities {
            fifo: try_policy(Policy::Fifo { priority: 1 }),
            deadline: try_policy(deadline),
            cpusets: Hierarchy::find().map_err(|error| error.message).and_then(writable),
            not_measured: perf::not_available(),
        }
    }

    /// Whether a scheduler can run here: over the whole machine, or confined to cells.
    pub fn scheduler(&self, scheduler: Scheduler, whole_machine: bool) -> Result<(), String> {
        match scheduler.rule {
            PriorityRule::EarliestDeadlineFirst => self.deadline.clone()?,
            _ => self.fifo.clone()?,
        }
        // SCHED_FIFO can be confined by affinity masks instead.
        let needs_cpusets = scheduler.rule == PriorityRule::EarliestDeadlineFirst
            && !(whole_machine && scheduler.scope != Scope::Partitioned);
        if needs_cpusets {
            self.cpusets.clone()?;
        }
        Ok(())
    }
}

fn try_policy(policy: Policy) -> Result<(), String> {
    let tried = std::thread::spawn(move || {
        // SCHED_DEADLINE wants a whole root domain; started on fewer CPUs we can still make one of our own. Where
        // that is not permitted, the trial says so.
        let _ = online_cpus().map(|cpus| sched::set_affinity(0, &cpus));
        sched::set_policy(0, policy)
    });
    tried.join().expect("the trial does not panic").map_err(|error| sched::explain(&error, policy))
}

fn writable(hierarchy: Hierarchy) -> Result<Hierarchy, String> {
    let (Hierarchy::V1(path) | Hierarchy::V2(path)) = &hierarchy;
    match rustix::fs::access(path, rustix::fs::Access::WRITE_OK) {
        Ok(()) => Ok(hierarchy),
        Err(error) => Err(format!("{} is not writable: {error}", path.display())),
    }
}
