//! The scheduling system calls: policies, priorities, reservations and affinity of one thread.

use laxity_model::{CpuList, Duration};
use laxity_sys::{flag, policy as number};
use serde::{Deserialize, Serialize};
use std::io;

pub use laxity_sys::{Attributes, attributes, set_attributes};

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
            Policy::Other
            | Policy::Fair { .. }
            | Policy::Fifo { .. }
            | Policy::RoundRobin { .. }
            | Policy::Foreign
            | Policy::Ext { .. } => None,
        }
    }
}

/// Gives thread `tid` (0: the calling thread) a policy. Children of the thread fall back to SCHED_OTHER; those of one of SCHED_EXT
/// keep that policy, which without parameters means no more (SCHED_FLAG_RESET_ON_FORK resets SCHED_FIFO, SCHED_RR and SCHED_DEADLINE,
/// and nice values below 0: sched_fork in Linux's kernel/sched/core.c).
pub fn set_policy(tid: i32, policy: Policy) -> io::Result<()> {
    set_policy_with(tid, policy, flag::RESET_ON_FORK)
}

/// The same, and the kernel tells a thread of SCHED_DEADLINE by SIGXCPU when it has used up its budget. The thread's process must
/// have a handler for it ([`crate::overrun`]): without one it dies of it.
pub fn set_policy_with_signal(tid: i32, policy: Policy) -> io::Result<()> {
    let overrun = if policy.reservation().is_some() { flag::OVERRUN } else { 0 };
    set_policy_with(tid, policy, flag::RESET_ON_FORK | overrun)
}

fn set_policy_with(tid: i32, policy: Policy, flags: u64) -> io::Result<()> {
    let mut wanted = Attributes { policy: number::OTHER, flags, ..Attributes::default() };
    match policy {
        Policy::Other => {}
        Policy::Fair { nice, slice } => {
            wanted.nice = nice.into();
            wanted.runtime_ns = slice.as_ns();
        }
        Policy::RoundRobin { priority } => {
            wanted.policy = number::RR;
            wanted.priority = priority;
        }
        Policy::Foreign => wanted.policy = number::EXT,
        Policy::Fifo { priority } => {
            wanted.policy = number::FIFO;
            wanted.priority = priority;
        }
        Policy::Deadline { runtime, deadline, period }
        | Policy::Reclaiming { runtime, deadline, period }
        | Policy::Ext { runtime, deadline, period } => {
            wanted.policy = if matches!(policy, Policy::Ext { .. }) { number::EXT } else { number::DEADLINE };
            if matches!(policy, Policy::Reclaiming { .. }) {
                wanted.flags |= flag::RECLAIM;
            }
            wanted.runtime_ns = runtime.as_ns();
            wanted.deadline_ns = deadline.as_ns();
            wanted.period_ns = period.as_ns();
        }
    }
    set_attributes(tid, wanted)
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
    laxity_sys::set_affinity(tid, cpus.iter())
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
