//! What the loader has against a request, and what it says of those that it has carried out.

use super::super::messages::{OrderOutcome, lateness};
use laxity_kernel::Core;
use laxity_model::{CpuList, Diagnostic, Duration, Result, cpus_named};
use std::collections::BTreeMap;

/// Why a thread was not bound to its CPU.
pub enum Bound {
    /// It cannot be.
    Failed(Diagnostic),
    /// There is no room.
    Refused(Diagnostic),
}

/// Why a CPU does not take promoted threads.
pub fn beside_guests(guests: &[(i32, CpuList)]) -> Diagnostic {
    let words: Vec<String> =
        guests.iter().map(|(tid, cpus)| format!("{tid} ({})", cpus_named(cpus))).collect();
    Diagnostic::usage(format!(
        "real-time tasks that have called sched_setattr themselves are there: {}; nothing is proven of what runs beside them",
        words.join(", ")
    ))
    .hint("let them run on other CPUs, or give them a policy that is not real-time and promote them")
}

/// The process that asks may not make threads real-time by itself.
pub fn not_capable() -> Diagnostic {
    Diagnostic::environment(
        "promote, demote and resize take CAP_SYS_NICE, as SCHED_DEADLINE does; that of a user namespace does not count",
    )
    .hint("run this as the user who has loaded amp-rm, outside user namespaces and containers: sudo laxity ...")
}

pub fn share_of(cores: &BTreeMap<u32, Core>, cpu: u32) -> u64 {
    cores.get(&cpu).map_or(0, |core| core.share_ppm)
}

pub fn no_thread(pid: i32, error: &std::io::Error) -> Diagnostic {
    Diagnostic::usage(format!("there is no thread {pid}: {error}"))
        .hint("give the number of a process, or of one of its threads (ps -eLo pid,tid,comm)")
}

pub fn check_times(runtime: Duration, period: Duration) -> Result<()> {
    let longest = Duration::from_ns(laxity_kernel::PERIOD_MAX_NS);
    if runtime.is_zero() || period.is_zero() || period > longest {
        return Err(Diagnostic::usage(format!("a runtime of {runtime} in a period of {period}"))
            .hint(format!("both are more than nothing, and a period is at most {longest}")));
    }
    Ok(())
}

/// The outcome as the loader prints it.
pub fn words(outcome: &OrderOutcome) -> String {
    match outcome {
        OrderOutcome::Promoted { pid, cpu, runtime, period, tardiness_ns, .. } => {
            let late = lateness(*tardiness_ns);
            format!("thread {pid} is a real-time task on CPU {cpu}, {runtime} in every {period}, {late}")
        }
        OrderOutcome::Demoted { pid, cpu, cpus } => {
            format!(
                "thread {pid} is a background thread again: it has left CPU {cpu} and may run on {}",
                cpus_named(cpus)
            )
        }
        OrderOutcome::Resized { cpu, budget, period, .. } => {
            format!("the server of CPU {cpu} is {budget}/{period}")
        }
        OrderOutcome::Refused { reason, .. } => format!("refused: {reason}"),
        OrderOutcome::Failed { reason, .. } => format!("not done: {reason}"),
    }
}
