//! Background threads that are always ready: other work that a machine has to do.
//!
//! They are threads of one process that dies with its guardian, on the CPUs that it is confined to.

use crate::worker::die_with;
use laxity_model::{CpuList, Diagnostic, Result};
use std::process::{Child, Command, ExitCode, Stdio};

/// The argument by which the program starts itself as such a process.
pub const BUSY_COMMAND: &str = "__busy";

/// The whole life of such a process: until it is killed.
pub fn busy_main(threads: u32, guardian: u32) -> ExitCode {
    if !die_with(guardian) {
        return ExitCode::FAILURE;
    }
    for _ in 1..threads {
        if std::thread::Builder::new().stack_size(64 << 10).spawn(spin).is_err() {
            return ExitCode::FAILURE;
        }
    }
    spin()
}

/// Computes. (Not a loop that says it waits: hypervisors and sibling threads take the CPU from such a one.)
fn spin() -> ! {
    let mut count = 0_u64;
    loop {
        count = std::hint::black_box(count.wrapping_add(1));
    }
}

/// The process; it ends when this is dropped.
pub struct Busy {
    child: Child,
}

impl Busy {
    /// Starts so many threads, at least one, on these CPUs.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or may not use these CPUs.
    pub fn start(threads: u32, cpus: &CpuList) -> Result<Busy> {
        let cannot = |error: std::io::Error| {
            Diagnostic::environment(format!("{threads} background threads cannot be started: {error}"))
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg(BUSY_COMMAND).arg(threads.to_string()).arg(std::process::id().to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let busy = Busy { child: command.spawn().map_err(cannot)? };
        let pid = i32::try_from(busy.child.id()).expect("a process id");
        crate::sched::set_affinity(pid, cpus).map_err(cannot)?;
        Ok(busy)
    }

    /// Whether it has ended, which it should not do by itself.
    pub fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It may have ended, or be a zombie by now.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
