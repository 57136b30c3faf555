//! What the probes themselves cost, as the kernel counts it.

use laxity_model::{Diagnostic, Result};
use libbpf_rs::{ProgramMut, libbpf_sys};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The kernel measures the run time of BPF programs while this exists.
pub(crate) struct RunTimes {
    _enabled: OwnedFd,
}

/// Of one program since it was loaded.
pub(crate) struct OfProgram {
    /// How long it ran in all.
    pub(crate) run_ns: u64,
    /// How often.
    pub(crate) runs: u64,
    /// How often it did not run because it was running already.
    pub(crate) skipped: u64,
}

impl RunTimes {
    pub(crate) fn enable() -> Result<RunTimes> {
        // SAFETY: a system call that takes a number.
        let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
        if fd < 0 {
            let error = std::io::Error::from_raw_os_error(-fd);
            return Err(Diagnostic::environment(format!(
                "the run time of probes cannot be measured: {error}"
            ))
            .hint("leave it out, or use a kernel from 5.8 on as root"));
        }
        // SAFETY: the descriptor is new and has no other owner.
        Ok(RunTimes { _enabled: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// What the kernel has counted so far; zeros if the program is not loaded.
    pub(crate) fn of(program: &ProgramMut<'_>) -> OfProgram {
        let mut info = libbpf_sys::bpf_prog_info::default();
        let mut size = u32::try_from(size_of_val(&info)).expect("a small struct");
        let fd = program.as_fd().as_raw_fd();
        // SAFETY: `info` has the size that is given, and zeros in it ask for nothing that needs more memory.
        let failed =
            fd < 0 || unsafe { libbpf_sys::bpf_prog_get_info_by_fd(fd, &raw mut info, &raw mut size) } != 0;
        if failed {
            return OfProgram { run_ns: 0, runs: 0, skipped: 0 };
        }
        OfProgram { run_ns: info.run_time_ns, runs: info.run_cnt, skipped: info.recursion_misses }
    }
}
