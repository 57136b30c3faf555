//! `sched_setattr` and `sched_getattr`, which neither libc nor rustix wraps, and `sched_setaffinity` for as many CPUs as Linux can
//! have.
//!
//! The structure is the kernel's `struct sched_attr` in its second version (SCHED_ATTR_SIZE_VER1, 56 bytes), which kernels that
//! know only the first one (48 bytes) take and fill as well. Some kernels refuse to fill a shorter one than their own.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

use serde::{Deserialize, Serialize};
use std::io;

/// The kernel's numbers of scheduling policies (uapi/linux/sched.h).
pub mod policy {
    /// SCHED_OTHER, as every thread begins.
    pub const OTHER: u32 = 0;
    /// SCHED_FIFO.
    pub const FIFO: u32 = 1;
    /// SCHED_RR.
    pub const RR: u32 = 2;
    /// SCHED_BATCH.
    pub const BATCH: u32 = 3;
    /// SCHED_IDLE.
    pub const IDLE: u32 = 5;
    /// SCHED_DEADLINE.
    pub const DEADLINE: u32 = 6;
    /// SCHED_EXT: the scheduler that is attached.
    pub const EXT: u32 = 7;
}

/// Flags of [`Attributes`] (uapi/linux/sched.h).
pub mod flag {
    /// SCHED_FLAG_RESET_ON_FORK: threads that the thread makes begin with SCHED_OTHER.
    pub const RESET_ON_FORK: u64 = 0x01;
    /// SCHED_FLAG_RECLAIM: what other reservations leave does not count as used.
    pub const RECLAIM: u64 = 0x02;
    /// SCHED_FLAG_DL_OVERRUN: SIGXCPU says that the budget is used up.
    pub const OVERRUN: u64 = 0x04;
}

/// All that `sched_setattr` sets of a thread here, as the kernel keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// The kernel's number of the policy: one of [`policy`].
    pub policy: u32,
    /// Any of [`flag`].
    pub flags: u64,
    /// Of SCHED_OTHER, SCHED_BATCH and SCHED_IDLE: -20 to 19.
    pub nice: i32,
    /// Of SCHED_FIFO and SCHED_RR: 1 to 99, which is the highest; else 0.
    pub priority: u32,
    /// Budget of SCHED_DEADLINE and of laxity's policies for SCHED_EXT, in ns; of SCHED_OTHER the slice, if one was asked for.
    #[serde(rename = "runtime")]
    pub runtime_ns: u64,
    /// Relative deadline of the same policies, in ns.
    #[serde(rename = "deadline")]
    pub deadline_ns: u64,
    /// Period of the same policies, in ns.
    #[serde(rename = "period")]
    pub period_ns: u64,
}

/// The kernel's `struct sched_attr`.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    /// Bytes of this structure.
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// In ns, as the two that follow.
    runtime: u64,
    deadline: u64,
    period: u64,
    /// Bounds on what the CPU's frequency is chosen by, of 1024. Neither is set here: no flag says that they hold.
    util_min: u32,
    util_max: u32,
}

#[expect(clippy::cast_possible_truncation, reason = "56")]
const SIZE: u32 = size_of::<SchedAttr>() as u32;
/// What the first version of the structure had, and what the kernel takes a size of 0 for.
pub const SIZE_MIN: usize = 48;

/// How thread `tid` (0: the calling thread) is scheduled.
///
/// # Errors
///
/// The kernel's: there is no such thread (ESRCH), or no such call (ENOSYS).
pub fn attributes(tid: i32) -> io::Result<Attributes> {
    let mut found = SchedAttr::default();
    // SAFETY: the kernel writes at most `SIZE` bytes into `found`, and any bytes are a value of it.
    check(unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut found, SIZE, 0_u32) })?;
    Ok(Attributes {
        policy: found.policy,
        flags: found.flags,
        nice: found.nice,
        priority: found.priority,
        runtime_ns: found.runtime,
        deadline_ns: found.deadline,
        period_ns: found.period,
    })
}

/// Has thread `tid` (0: the calling thread) scheduled so.
///
/// # Errors
///
/// The kernel's: not permitted (EPERM), no bandwidth left (EBUSY), no such parameters or policy (EINVAL), no such thread (ESRCH), no
/// such call (ENOSYS).
pub fn set_attributes(tid: i32, wanted: Attributes) -> io::Result<()> {
    let given = SchedAttr {
        size: SIZE,
        policy: wanted.policy,
        flags: wanted.flags,
        nice: wanted.nice,
        priority: wanted.priority,
        runtime: wanted.runtime_ns,
        deadline: wanted.deadline_ns,
        period: wanted.period_ns,
        util_min: 0,
        util_max: 0,
    };
    // SAFETY: the kernel reads `given`, which is as long as it says, and which lives across the call.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const given, 0_u32) })
}

/// The same with the bytes of a `struct sched_attr` of any version, and the flags of the call itself, none of which is defined yet.
///
/// # Errors
///
/// Those of [`set_attributes`]; EINVAL where the bytes are fewer than they say that they are, or than the structure ever had.
pub fn set_attributes_of_bytes(tid: i32, given: &[u8], flags: u32) -> io::Result<()> {
    let said = given.first_chunk().map_or(0, |&size| u32::from_ne_bytes(size));
    if given.len() < SIZE_MIN || usize::try_from(said).map_or(true, |said| said > given.len()) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: the kernel reads as many bytes as the first four say, or `SIZE_MIN` where they say 0. So many there are.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, tid, given.as_ptr(), flags) })
}

fn check(answer: libc::c_long) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Confines a thread (0: the calling one) to these CPUs.
///
/// # Errors
///
/// What the kernel says, and of a CPU number that it cannot have.
pub fn set_affinity(tid: i32, cpus: impl IntoIterator<Item = u32>) -> io::Result<()> {
    // Linux's own limit (NR_CPUS) on x86-64.
    const CPU_WORDS: usize = 8192 / 64;
    let mut words = [0u64; CPU_WORDS];
    for cpu in cpus {
        let word = words.get_mut(cpu as usize / 64).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (cpu % 64);
    }
    // SAFETY: the kernel reads the given number of bytes from `words`.
    let failed =
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid, size_of_val(&words), words.as_ptr()) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_the_kernels() {
        assert_eq!((size_of::<SchedAttr>(), std::mem::offset_of!(SchedAttr, period)), (56, 40));
        assert_eq!(std::mem::offset_of!(SchedAttr, util_min), SIZE_MIN);
        let known =
            [libc::SCHED_OTHER, libc::SCHED_FIFO, libc::SCHED_RR, libc::SCHED_BATCH, libc::SCHED_IDLE];
        let ours = [policy::OTHER, policy::FIFO, policy::RR, policy::BATCH, policy::IDLE];
        assert_eq!(known.map(|policy| u32::try_from(policy).expect("small")), ours);
        assert_eq!(u32::try_from(libc::SCHED_DEADLINE), Ok(policy::DEADLINE));
        let known = [libc::SCHED_FLAG_RESET_ON_FORK, libc::SCHED_FLAG_RECLAIM, libc::SCHED_FLAG_DL_OVERRUN];
        let ours = [flag::RESET_ON_FORK, flag::RECLAIM, flag::OVERRUN];
        assert_eq!(known.map(|flag| u64::try_from(flag).expect("small")), ours);
    }

    /// In a thread of its own, which others are not affected by.
    fn alone<T: Send + 'static>(test: fn() -> T) -> T {
        std::thread::spawn(test).join().expect("the test ends")
    }

    #[test]
    fn what_is_set_is_what_is_found() {
        alone(|| {
            let wanted = Attributes { policy: policy::BATCH, nice: 3, ..Attributes::default() };
            set_attributes(0, wanted).expect("less is always permitted");
            let found = attributes(0).expect("this thread");
            assert_eq!((found.policy, found.nice, found.priority), (policy::BATCH, 3, 0));
            // SAFETY: takes no arguments.
            let tid = unsafe { libc::gettid() };
            assert_eq!(attributes(tid).ok(), Some(found));
        });
    }

    #[test]
    fn bytes_are_never_fewer_than_they_say() {
        alone(|| {
            let mut first = [0_u8; SIZE_MIN];
            first[4] = 3;
            set_attributes_of_bytes(0, &first, 0).expect("a size of 0 is that of the first version");
            assert_eq!(attributes(0).expect("this thread").policy, policy::BATCH);
            let refused = |given: &[u8]| {
                set_attributes_of_bytes(0, given, 0).err().and_then(|error| error.raw_os_error())
            };
            first[..4].copy_from_slice(&49_u32.to_ne_bytes());
            assert_eq!(refused(&first), Some(libc::EINVAL));
            assert_eq!(refused(&first[..47]), Some(libc::EINVAL));
            assert_eq!(refused(&[]), Some(libc::EINVAL));
            first[..4].copy_from_slice(&48_u32.to_ne_bytes());
            assert_eq!(refused(&first), None);
        });
    }

    #[test]
    fn no_thread_is_an_error() {
        let gone = |error: io::Error| error.raw_os_error() == Some(libc::ESRCH);
        assert!(attributes(i32::MAX).is_err_and(gone));
        assert!(set_attributes(i32::MAX, Attributes::default()).is_err_and(gone));
    }

    #[test]
    fn the_journals_words_stay() {
        let text = r#"{"policy":6,"flags":1,"nice":0,"priority":0,"runtime":1,"deadline":2,"period":3}"#;
        let read: Attributes = serde_json::from_str(text).expect("reads");
        assert_eq!((read.runtime_ns, read.deadline_ns, read.period_ns), (1, 2, 3));
        assert_eq!(serde_json::to_string(&read).expect("writes"), text);
    }
}
