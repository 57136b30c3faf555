//! The memory that a run may lock.

use laxity_model::{ByteSize, Diagnostic, Result};

/// Bytes of memory that are available now, where the kernel says so.
pub fn available_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Keeps all memory of this process, now and later, where it is.
pub fn lock_memory() -> Result<()> {
    // SAFETY: changes only how this process's pages are kept.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0 {
        return Ok(());
    }
    Err(Diagnostic::environment(format!("cannot lock memory: {}", std::io::Error::last_os_error()))
        .hint("run as root, or raise the limit on locked memory (ulimit -l)"))
}

/// Checks that all working sets fit into the memory that is free now: they are locked for the whole run. Each has
/// words for its owner.
pub fn check_memory(working_sets: &[(String, u64)]) -> Result<()> {
    let Some(available) = available_memory() else { return Ok(()) };
    let wanted: u128 = working_sets.iter().map(|(_, bytes)| u128::from(*bytes)).sum();
    if wanted <= u128::from(available / 10 * 9) {
        return Ok(());
    }
    let Some((name, bytes)) = working_sets.iter().max_by_key(|(_, bytes)| bytes) else { return Ok(()) };
    Err(Diagnostic::usage(format!(
        "the working sets need {} of memory ({name} alone {}), but only {} are available and a run locks \
         them all",
        ByteSize(u64::try_from(wanted).unwrap_or(u64::MAX)),
        ByteSize(*bytes),
        ByteSize(available >> 20 << 20)
    ))
    .hint("use smaller working sets"))
}
