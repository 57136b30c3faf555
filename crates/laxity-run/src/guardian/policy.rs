//! The guardian's hold on a policy in the kernel.

use crate::plan::Attachment;
use laxity_kernel::schedule::Recording;
use laxity_kernel::{Exit, Options, RunningServer, Scheduler};
use laxity_model::{Diagnostic, Duration, PolicyScheduler, PriorityRule, Reserve, Result};
use std::collections::BTreeMap;

/// A policy that schedules this machine until this is dropped.
pub(super) struct Attached {
    scheduler: Scheduler,
}

impl Attached {
    pub(super) fn attach(attachment: &Attachment) -> Result<Self> {
        let attached = Attached { scheduler: Scheduler::attach(&options(attachment)?)? };
        match attached.scheduler.wait_until_enabled()? {
            None => Ok(attached),
            Some(exit) => Err(Diagnostic::environment(format!("before anything ran, {}", words(&exit)))
                .hint("`dmesg` may say more; try again")),
        }
    }

    /// Says when the first job of a thread that is about to come arrives, as CLOCK_MONOTONIC, and whether its releases may be
    /// batched.
    pub(super) fn announce(&self, tid: i32, release_ns: u64, batching: bool) -> Result<()> {
        let tid = u32::try_from(tid).expect("a thread id");
        if !batching {
            self.scheduler.release_alone(tid)?;
        }
        self.scheduler.set_first_release(tid, release_ns)
    }

    /// What a reader of results should know of how it was attached.
    pub(super) fn notes(&self) -> Vec<String> {
        self.scheduler.notes().to_vec()
    }

    /// Before its recording ends: see [`Scheduler::note_pending`]. Without it the end of the schedule has fewer excuses.
    pub(super) fn note_pending(&self) {
        let _ = self.scheduler.note_pending();
    }

    /// Begins to record what it does.
    pub(super) fn record(&self) -> Result<Recording> {
        Ok(Recording::start(self.scheduler.rings()?, self.scheduler.trace_switch()?))
    }

    /// Why the kernel has ended it, if it has.
    pub(super) fn thrown_out(&self) -> Option<String> {
        self.scheduler.exited().map(|exit| words(&exit))
    }

    /// The deferrable servers of its CPUs.
    pub(super) fn servers(&self) -> Vec<RunningServer> {
        self.scheduler.servers().to_vec()
    }

    /// Gives the machine back to the kernel's own scheduler; what was counted until now.
    pub(super) fn detach(self) -> BTreeMap<String, u64> {
        let Ok(counters) = self.scheduler.counters() else { return BTreeMap::new() };
        let mut counts: BTreeMap<String, u64> =
            counters.named().map(|(name, count)| (name.to_owned(), count)).collect();
        for times in self.scheduler.background_times().unwrap_or_default() {
            let by = [
                ("ordinary_by_server_ns", times.server),
                ("ordinary_by_reserve_ns", times.reserve),
                ("ordinary_in_background_ns", times.background),
            ];
            for (name, time) in by {
                *counts.entry(name.to_owned()).or_default() += time.as_ns();
            }
        }
        counts
    }
}

fn words(exit: &Exit) -> String {
    let more = if exit.message.is_empty() { String::new() } else { format!(": {}", exit.message) };
    let why = if exit.wants_restart() { "a CPU came or went" } else { "the kernel threw the policy out" };
    format!("{why}: {}{more}", exit.reason)
}

fn options(attachment: &Attachment) -> Result<Options> {
    let (runtime_ns, period_ns) = attachment.share_ns;
    let cell = |cell: &crate::plan::AttachedCell| laxity_kernel::PolicyCpus {
        cpus: cell.cpus.clone(),
        sockets: cell.sockets.clone(),
    };
    let scheduler = attachment.policy.parse::<PolicyScheduler>()?;
    let left = Duration::from_ns(period_ns.saturating_sub(runtime_ns));
    Ok(Options {
        policy: scheduler.policy,
        by_period: scheduler.rule == PriorityRule::RateMonotonic,
        fixed_priorities: attachment.fixed_priorities,
        cells: attachment.cells.iter().map(cell).collect(),
        budget: attachment.budget,
        batching: attachment.batching,
        retries_max: attachment.retries_max,
        tasks: attachment.tasks,
        share_ppm: share_ppm(runtime_ns, period_ns)?,
        reserve: Reserve::new(left, Duration::from_ns(period_ns))?,
        kernel_threads: laxity_kernel::KERNEL_THREADS,
        cores: attachment.cores.clone(),
    })
}

/// runtime / period in millionths, rounded down.
fn share_ppm(runtime_ns: u64, period_ns: u64) -> Result<u64> {
    let ppm = u128::from(runtime_ns) * 1_000_000 / u128::from(period_ns.max(1));
    u64::try_from(ppm).map_err(|_| Diagnostic::usage("a share of real-time tasks above every CPU"))
}
