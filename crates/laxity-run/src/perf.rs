//! Per-thread event counts: software events everywhere, hardware events where there is a PMU.
//!
//! Counts are cumulative and read between jobs; differences are taken afterwards. Hardware events count user
//! mode only, so that a job's misses are its own. An event that cannot be opened, never counts, or had to
//! share its hardware counter (multiplexing) is not available; it is never reported as zero.

use crate::shared::{COUNTS, NEVER};
use perf_event_open_sys as sys;
use perf_event_open_sys::bindings as abi;
use rustix::fd::{AsFd, FromRawFd, OwnedFd};
use std::collections::BTreeMap;

laxity_model::listed_enum! {
    /// What is counted; the discriminant is the place in a job's slot.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[repr(usize)]
    pub enum Count {
        /// Context switches of the thread.
        ContextSwitches,
        /// Moves to another CPU.
        Migrations,
        /// Instructions retired.
        Instructions,
        /// CPU cycles.
        Cycles,
        /// L1 data cache read misses.
        L1dMisses,
        /// Last-level cache misses.
        LlcMisses,
    }
}

impl Count {
    /// The name of its column in the results.
    pub fn column(self) -> &'static str {
        match self {
            Count::ContextSwitches => "context_switches",
            Count::Migrations => "migrations",
            Count::Instructions => "instructions",
            Count::Cycles => "cycles",
            Count::L1dMisses => "l1d_misses",
            Count::LlcMisses => "llc_misses",
        }
    }

    fn is_hardware(self) -> bool {
        !matches!(self, Count::ContextSwitches | Count::Migrations)
    }

    fn event(self) -> (u32, u64) {
        let l1d_read_miss = u64::from(abi::PERF_COUNT_HW_CACHE_L1D)
            | u64::from(abi::PERF_COUNT_HW_CACHE_OP_READ) << 8
            | u64::from(abi::PERF_COUNT_HW_CACHE_RESULT_MISS) << 16;
        let software = abi::PERF_TYPE_SOFTWARE;
        let hardware = abi::PERF_TYPE_HARDWARE;
        match self {
            Count::ContextSwitches => (software, u64::from(abi::PERF_COUNT_SW_CONTEXT_SWITCHES)),
            Count::Migrations => (software, u64::from(abi::PERF_COUNT_SW_CPU_MIGRATIONS)),
            Count::Instructions => (hardware, u64::from(abi::PERF_COUNT_HW_INSTRUCTIONS)),
            Count::Cycles => (hardware, u64::from(abi::PERF_COUNT_HW_CPU_CYCLES)),
            Count::L1dMisses => (abi::PERF_TYPE_HW_CACHE, l1d_read_miss),
            Count::LlcMisses => (hardware, u64::from(abi::PERF_COUNT_HW_CACHE_MISSES)),
        }
    }

    /// Opens the event for the calling thread on every CPU.
    fn open(self) -> std::io::Result<OwnedFd> {
        let (kind, config) = self.event();
        let mut attr = abi::perf_event_attr {
            type_: kind,
            size: u32::try_from(size_of::<abi::perf_event_attr>()).expect("a small structure"),
            config,
            read_format: u64::from(abi::PERF_FORMAT_TOTAL_TIME_ENABLED | abi::PERF_FORMAT_TOTAL_TIME_RUNNING),
            ..abi::perf_event_attr::default()
        };
        attr.set_exclude_hv(1);
        attr.set_exclude_kernel(u64::from(self.is_hardware()));
        let flags = u64::from(abi::PERF_FLAG_FD_CLOEXEC);
        // SAFETY: `attr` is a valid perf_event_attr of the size it states.
        let fd = unsafe { sys::perf_event_open(&raw mut attr, 0, -1, -1, flags) };
        if fd < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: a new descriptor without another owner.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// The open counters of one thread.
pub struct ThreadCounters {
    fds: [Option<OwnedFd>; COUNTS],
}

impl ThreadCounters {
    /// Opens what can be opened for the calling thread.
    pub fn open() -> Self {
        ThreadCounters { fds: Count::ALL.map(|count| count.open().ok()) }
    }

    /// Cumulative counts since `open`, [`NEVER`] where there is none. Allocates nothing.
    pub fn read(&self) -> [u64; COUNTS] {
        let mut values = [NEVER; COUNTS];
        for (value, fd) in values.iter_mut().zip(&self.fds) {
            if let Some(fd) = fd {
                *value = read_count(fd);
            }
        }
        if self.fds[Count::ContextSwitches as usize].is_none() {
            values[Count::ContextSwitches as usize] = switches_by_rusage();
        }
        values
    }
}

fn read_count(fd: impl AsFd) -> u64 {
    let mut bytes = [0u8; 24];
    if !matches!(rustix::io::read(fd, &mut bytes), Ok(24)) {
        return NEVER;
    }
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let (value, enabled, running) = (word(0), word(8), word(16));
    if running < enabled { NEVER } else { value }
}

/// Voluntary and involuntary context switches of the calling thread, which every kernel counts.
fn switches_by_rusage() -> u64 {
    // SAFETY: an all-zero rusage is valid and getrusage fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    u64::try_from(usage.ru_nvcsw + usage.ru_nivcsw).unwrap_or(NEVER)
}

/// The columns that cannot be measured on this machine by this user, each with the reason.
pub fn not_available() -> BTreeMap<String, String> {
    let mut missing = BTreeMap::new();
    for count in Count::ALL {
        let reason = match count.open() {
            Err(_) if count == Count::ContextSwitches => continue,
            Err(error) => reason_for(count, &error),
            Ok(fd) if count.is_hardware() => {
                let before = read_count(&fd);
                for step in 0..10_000u64 {
                    std::hint::black_box(step);
                }
                match (count, before, read_count(&fd)) {
                    (Count::Instructions | Count::Cycles, before, after) if after <= before => {
                        "the event opens but does not count on this machine".into()
                    }
                    (_, _, NEVER) => "too few hardware counters: the event is multiplexed".into(),
                    _ => continue,
                }
            }
            Ok(_) => continue,
        };
        missing.insert(count.column().into(), reason);
    }
    // A dead PMU opens every event; only these two must have moved.
    if let Some(reason) = missing.get("instructions").or_else(|| missing.get("cycles")).cloned() {
        for count in Count::ALL.into_iter().filter(|count| count.is_hardware()) {
            missing.entry(count.column().into()).or_insert_with(|| reason.clone());
        }
    }
    missing.insert("l2_misses".into(), "perf has no portable L2 event".into());
    missing
}

fn reason_for(count: Count, error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) if count.is_hardware() => {
            "no hardware performance counters on this machine".into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "not permitted: needs CAP_PERFMON or a lower kernel.perf_event_paranoid".into()
        }
        Some(libc::ENOSYS) => "this kernel has no perf events".into(),
        Some(libc::EMFILE | libc::ENFILE) => "too many open files: raise the limit (ulimit -n)".into(),
        _ => format!("perf_event_open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_switches_of_this_thread_and_never_reports_a_missing_counter_as_zero() {
        let counters = ThreadCounters::open();
        let before = counters.read();
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let after = counters.read();
        let switches = Count::ContextSwitches as usize;
        assert!(after[switches] >= before[switches] + 5, "{before:?} {after:?}");
        let missing = not_available();
        for count in Count::ALL.into_iter().filter(|count| missing.contains_key(count.column())) {
            assert_ne!(after[count as usize], 0, "{count:?} is missing but read as zero");
        }
    }
}
