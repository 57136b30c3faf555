//! Real tasks on Linux: SCHED_DEADLINE, SCHED_FIFO and other classes, laxity's own policies in sched_ext, exclusive cpusets, and a
//! guardian that cleans up.
//!
//! A run is three kinds of process. The *program* makes a [`plan`](plan::plan), holds the
//! [machine lock](MachineLock) and collects the jobs. The *guardian* changes the host (cpusets, policies), ends
//! the run at its time and puts everything back, whatever happens to the program. A *worker* per cell (or for several,
//! where a group is spread over them) runs the tasks as threads and dies with the guardian. All see the jobs in one shared memory.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod abort;
mod alone;
mod budget;
mod busy;
mod bystanders;
mod calibrate;
mod capability;
mod channel;
mod clock;
mod cpuset;
mod execute;
mod fault;
mod foreign;
mod guardian;
mod journal;
mod keeper;
mod limits;
mod memory;
mod messages;
mod overrun;
mod perf;
mod plan;
mod private;
mod quiet;
mod remembered_thread;
mod runtime_dir;
mod sched;
mod shared;
mod sharing;
mod started;
#[cfg(test)]
mod waiting_thread;
mod walk;
mod worker;

pub use alone::alone;
pub use budget::BudgetMargin;
pub use calibrate::{AccessRate, access_rate};
pub use capability::{Capabilities, Refusal, can_record};
pub use channel::{Channel, readable_within};
pub use cpuset::{Hierarchy, remainder};
pub use execute::{Executed, JobOrder, Progress, RunRecords, SCHEDULE, execute};
pub use guardian::{GUARDIAN_COMMAND, WORKER_COMMAND, online_cpus};
pub use keeper::{KEEPER_COMMAND, Keeper};
pub use limits::{EXT_SERVER_SINCE, FAIR_SERVER_SINCE, KernelLimits, KernelServer, Unread};
pub use memory::{available_memory, check_memory};
pub use plan::{
    AttachedCell, Attachment, Confinement, Pacing, Plan, PlanOptions, PlannedTask, PolicyOptions,
    TASK_PRIORITY_MAX, plan, plan_policy,
};
pub use remembered_thread::{RememberedThread, is_kernel_thread};
pub use runtime_dir::{MachineLock, existing_state_directory, state_directory};
pub use sched::{Attributes, Policy, Reservation, affinity, attributes, set_affinity, set_policy};
pub use sharing::SharedPart;

use std::fs::File;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::process::ExitCode;

/// Becomes a guardian, a worker, a foreign program or a keeper if the command line says so. The first thing a program must call.
///
/// The program starts itself anew in these roles; the arguments are not for people.
pub fn internal_role(arguments: &[String]) -> Option<ExitCode> {
    let shared = || -> Option<shared::Shared> {
        let fd: RawFd = arguments.get(2)?.parse().ok()?;
        // SAFETY: our parent left this descriptor open for us alone; a number that is none fails to map.
        shared::Shared::open(unsafe { OwnedFd::from_raw_fd(fd) }).ok()
    };
    match arguments.get(1)?.as_str() {
        WORKER_COMMAND => {
            let guardian = arguments.get(3)?.parse().ok()?;
            Some(shared().map_or(ExitCode::FAILURE, |shared| worker::worker_main(shared, guardian)))
        }
        busy::BUSY_COMMAND => {
            Some(busy::busy_main(arguments.get(2)?.parse().ok()?, arguments.get(3)?.parse().ok()?))
        }
        foreign::FOREIGN_COMMAND => {
            Some(foreign::foreign_main(arguments.get(2)?.parse().ok()?, Path::new(arguments.get(3)?)))
        }
        KEEPER_COMMAND => Some(keeper::keeper_main(Path::new(arguments.get(2)?))),
        GUARDIAN_COMMAND => {
            let directory = arguments.get(3)?;
            // SAFETY: as above; a number that is none fails to be written to.
            let records =
                arguments.get(4).and_then(|fd| fd.parse().ok()).map(|fd| unsafe { File::from_raw_fd(fd) });
            Some(shared().map_or(ExitCode::FAILURE, |shared| {
                guardian::guardian_main(shared, Path::new(directory), records)
            }))
        }
        _ => None,
    }
}
