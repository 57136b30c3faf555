//! The clock of everything that the kernel records.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC in ns.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).expect("a time since boot");
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}
