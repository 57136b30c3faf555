//! The two clocks of a run.

use std::io;

/// Lets the calling thread's sleeps end as precisely as the kernel can: by default threads of SCHED_OTHER sleep up to
/// 50 us longer.
pub fn sleep_precisely() {
    // SAFETY: prctl takes numbers. It cannot fail with a positive slack; if it did, sleeps would only be longer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64) };
}

/// CLOCK_MONOTONIC in ns.
pub use laxity_kernel::monotonic_ns;

/// CPU time that the calling thread has used, in ns.
pub fn thread_cpu_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec to write to.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    assert_eq!(failed, 0, "clock_gettime cannot fail for this clock");
    let part = |value: i64| u64::try_from(value).expect("a time since the thread began");
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// An instant as the kernel has it.
pub fn timespec(instant_ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(instant_ns / 1_000_000_000).expect("an instant"),
        tv_nsec: i64::try_from(instant_ns % 1_000_000_000).expect("below 10^9"),
    }
}

/// Sleeps until CLOCK_MONOTONIC reaches `instant_ns`; returns at once if it has.
pub fn sleep_until(instant_ns: u64) {
    let until = timespec(instant_ns);
    loop {
        // SAFETY: `until` is a valid timespec; with an absolute time no remainder is written.
        let error = unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &raw const until,
                std::ptr::null_mut(),
            )
        };
        match error {
            libc::EINTR => {}
            0 => return,
            other => panic!("clock_nanosleep: {}", io::Error::from_raw_os_error(other)),
        }
    }
}
