//! The scheduling system calls: policies, priorities, reservations and affinity of one thread.
//!
//! `sched_setattr` has no wrapper in libc; its structure is the kernel's `struct sched_attr` (SCHED_ATTR_SIZE_VER1).

use laxity_model::{CpuList, Duration};
use serde::{Deserialize, Serialize};
use std::io;

/// What a thread asks of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// SCHED_OTHER, as every thread begins.
    Other,
    /// SCHED_OTHER with a nice value and a slice.
    Fair {
        /// Nice value, -20 to 19.
        nice: i8,
        /// CPU time to ask for at a time; zero: what the kernel gives. Linux before 6.12 does not look at it.
        slice: Duration,
    },
    /// SCHED_FIFO at a priority of 1 to 99 (99 is highest).
    Fifo {
        /// Priority.
        priority: u32,
    },
    /// SCHED_RR at a priority of 1 to 99 (99 is highest).
    RoundRobin {
        /// Priority.
        priority: u32,
    },
    /// SCHED_DEADLINE: `runtime` in every `period`, by `deadline` after each replenishment.
    Deadline {
        /// Budget.
        runtime: Duration,
        /// Relative deadline.
        deadline: Duration,
        /// Period.
        period: Duration,
    },
    /// SCHED_DEADLINE with the same parameters and SCHED_FLAG_RECLAIM: what others leave does not count as used.
    Reclaiming {
        /// Budget.
        runtime: Duration,
        /// Relative deadline.
        deadline: Duration,
        /// Period.
        period: Duration,
    },
    /// SCHED_EXT without parameters: whatever scheduler is attached.
    Foreign,
    /// SCHED_EXT with the same parameters: the attached policy's (laxity-kernel).
    Ext {
        /// Budget.
        runtime: Duration,
        /// Relative deadline.
        deadline: Duration,
        /// Period.
        period: Duration,
    },
}

/// A reservation of SCHED_DEADLINE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// Budget.
    pub runtime: Duration,
    /// Relative deadline.
    pub deadline: Duration,
    /// Period.
    pub period: Duration,
}

impl Policy {
    /// The reservation of a thread of SCHED_DEADLINE.
    pub fn reservation(self) -> Option<Reservation> {
        match self {
            Policy::Deadline { runtime, deadline, period }
            | Policy::Reclaiming { runtime, deadline, period } => {
                Some(Reservation { runtime, deadline, period })
            }
            _ => None,
        }
    }
}

#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
    util_min: u32,
    util_max: u32,
}

/// All that sched_setattr sets of a thread, as the kernel keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// The kernel's number of the policy.
    pub policy: u32,
    /// SCHED_FLAG_RESET_ON_FORK and the like.
    pub flags: u64,
    /// Of SCHED_OTHER, SCHED_BATCH and SCHED_IDLE.
    pub nice: i32,
    /// Of SCHED_FIFO and SCHED_RR.
    pub priority: u32,
    /// Of SCHED_DEADLINE, in ns; and the slice of SCHED_OTHER, if one was asked for.
    pub runtime: u64,
    /// Of SCHED_DEADLINE, in ns.
    pub deadline: u64,
    /// Of SCHED_DEADLINE, in ns.
    pub period: u64,
}

/// How thread `tid` is scheduled.
pub fn attributes(tid: i32) -> io::Result<Attributes> {
    let mut attr = SchedAttr::default();
    let size = u32::try_from(size_of::<SchedAttr>()).expect("a small structure");
    // SAFETY: the kernel writes at most `size` bytes into `attr`.
    let failed = unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut attr, size, 0u32) } != 0;
    if failed {
        return Err(io::Error::last_os_error());
    }
    let SchedAttr { policy, flags, nice, priority, runtime, deadline, period, .. } = attr;
    Ok(Attributes { policy, flags, nice, priority, runtime, deadline, period })
}

/// Has thread `tid` scheduled so.
pub fn set_attributes(tid: i32, wanted: Attributes) -> io::Result<()> {
    let Attributes { policy, flags, nice, priority, runtime, deadline, period } = wanted;
    let size = u32::try_from(size_of::<SchedAttr>()).expect("a small structure");
    let attr =
        SchedAttr { size, policy, flags, nice, priority, runtime, deadline, period, ..SchedAttr::default() };
    // SAFETY: `attr` is a valid sched_attr of the size it states and lives across the call.
    let failed = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const attr, 0u32) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

const SCHED_RR: u32 = 2;
const SCHED_DEADLINE: u32 = 6;
const SCHED_EXT: u32 = 7;
const FLAG_RESET_ON_FORK: u64 = 0x01;
const FLAG_RECLAIM: u64 = 0x02;
const FLAG_OVERRUN: u64 = 0x04;

/// Gives thread `tid` (0: the calling thread) a policy. Children of the thread fall back to SCHED_OTHER; those of one of SCHED_EXT
/// keep that policy, which without parameters means no more (SCHED_FLAG_RESET_ON_FORK resets SCHED_FIFO, SCHED_RR and SCHED_DEADLINE,
/// and nice values below 0: sched_fork in Linux's kernel/sched/core.c).
pub fn set_policy(tid: i32, policy: Policy) -> io::Result<()> {
    set_policy_with(tid, policy, FLAG_RESET_ON_FORK)
}

/// The same, and the kernel tells a thread of SCHED_DEADLINE by SIGXCPU when it has used up its budget. The thread's process must
/// have a handler for it ([`crate::overrun`]): without one it dies of it.
pub fn set_policy_with_signal(tid: i32, policy: Policy) -> io::Result<()> {
    let overrun = if policy.reservation().is_some() { FLAG_OVERRUN } else { 0 };
    set_policy_with(tid, policy, FLAG_RESET_ON_FORK | overrun)
}

fn set_policy_with(tid: i32, policy: Policy, flags: u64) -> io::Result<()> {
    let size = u32::try_from(size_of::<SchedAttr>()).expect("a small structure");
    let mut attr = SchedAttr { size, flags, ..SchedAttr::default() };
    match policy {
        Policy::Other => {}
        Policy::Fair { nice, slice } => {
            attr.nice = nice.into();
            attr.runtime = slice.as_ns();
        }
        Policy::RoundRobin { priority } => {
            attr.policy = SCHED_RR;
            attr.priority = priority;
        }
        Policy::Foreign => attr.policy = SCHED_EXT,
        Policy::Fifo { priority } => {
            attr.policy = u32::try_from(libc::SCHED_FIFO).expect("a policy number");
            attr.priority = priority;
        }
        Policy::Deadline { runtime, deadline, period }
        | Policy::Reclaiming { runtime, deadline, period }
        | Policy::Ext { runtime, deadline, period } => {
            attr.policy = if matches!(policy, Policy::Ext { .. }) { SCHED_EXT } else { SCHED_DEADLINE };
            if matches!(policy, Policy::Reclaiming { .. }) {
                attr.flags |= FLAG_RECLAIM;
            }
            attr.runtime = runtime.as_ns();
            attr.deadline = deadline.as_ns();
            attr.period = period.as_ns();
        }
    }
    // SAFETY: `attr` is a valid sched_attr of the size it states and lives across the call.
    let failed = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const attr, 0u32) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes a thread out of SCHED_DEADLINE so that its bandwidth is given back now, not at its 0-lag time: the kernel
/// takes a smaller reservation over at once, and the smallest counts as nothing (2^20 C/T, rounded down).
pub fn leave_deadline(tid: i32) {
    let period = Duration::from_secs(4);
    let least = Policy::Deadline { runtime: Duration::from_ns(1024), deadline: period, period };
    // Refused if the thread is gone, or where such a period is too long: then it is as if this had not been tried.
    let _ = set_policy(tid, least).and_then(|()| set_policy(tid, Policy::Other));
}

/// The CPUs on which thread `tid` (0: the calling thread) may run.
pub fn affinity(tid: i32) -> io::Result<CpuList> {
    let mut words = [0u64; CPU_WORDS];
    // SAFETY: the kernel writes at most the given number of bytes into `words`.
    let written =
        unsafe { libc::syscall(libc::SYS_sched_getaffinity, tid, size_of_val(&words), words.as_mut_ptr()) };
    if written < 0 {
        return Err(io::Error::last_os_error());
    }
    let cpus_of = |(word, bits): (u32, u64)| {
        (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
    };
    Ok((0..).zip(words).flat_map(cpus_of).collect())
}

/// Confines thread `tid` (0: the calling thread) to `cpus`.
pub fn set_affinity(tid: i32, cpus: &CpuList) -> io::Result<()> {
    let mut words = [0u64; CPU_WORDS];
    for cpu in cpus.iter() {
        let word = words.get_mut(cpu as usize / 64).ok_or(io::ErrorKind::InvalidInput)?;
        *word |= 1 << (cpu % 64);
    }
    // SAFETY: the kernel reads the given number of bytes from `words`.
    let failed =
        unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid, size_of_val(&words), words.as_ptr()) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

const CPU_WORDS: usize = 8192 / 64;

/// The kernel's own words for an error that a scheduling call came back with.
pub fn explain(error: &io::Error, policy: Policy) -> String {
    let deadline = policy.reservation().is_some();
    match policy {
        Policy::Ext { .. } => return explain_ext(error),
        Policy::Fair { .. } | Policy::Foreign if error.raw_os_error() == Some(libc::EPERM) => {
            return "not permitted: it needs CAP_SYS_NICE".into();
        }
        _ => {}
    }
    match error.raw_os_error() {
        Some(libc::EPERM) if deadline => "not permitted: SCHED_DEADLINE needs CAP_SYS_NICE and an affinity that \
            covers the task's whole root domain"
            .into(),
        Some(libc::EPERM) => {
            "not permitted: real-time priorities need CAP_SYS_NICE and, with CONFIG_RT_GROUP_SCHED, a cgroup \
            with a real-time budget (cpu.rt_runtime_us)"
                .into()
        }
        Some(libc::EBUSY) => "admission control refused it: the CPUs of its root domain have no bandwidth left".into(),
        Some(libc::EINVAL) if deadline => {
            "the kernel refuses these parameters (it needs 1024 ns <= runtime <= deadline <= period and a period \
            between sched_deadline_period_min_us and _max_us)"
                .into()
        }
        Some(libc::ENOSYS) => "this kernel has no sched_setattr system call".into(),
        _ => error.to_string(),
    }
}

/// The same for an attached policy, whose answers are those of `bpf/host/interface.h`.
fn explain_ext(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) => {
            "not permitted: it needs CAP_SYS_NICE and an affinity that covers the CPUs of its cell".into()
        }
        Some(libc::EBUSY) => {
            "admission refused it: its cell has no bandwidth, or no room for a task, left".into()
        }
        Some(libc::EINVAL) => {
            "refused: these are not the parameters of a task (1024 ns <= runtime <= deadline <= period <= \
            4.19 s), or the kernel has no SCHED_EXT"
                .into()
        }
        _ => error.to_string(),
    }
}
