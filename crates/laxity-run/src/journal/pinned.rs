//! Threads that were confined to some of the CPUs, remembered so that they can be confined again.
//!
//! Before Linux 6.2 every change of a cgroup v2 cpuset gives the threads in and below it all of its CPUs; the
//! kernel forgets what their owners had asked for by sched_setaffinity.

use crate::sched;
use laxity_model::CpuList;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;

/// The kernel's flag of threads whose CPUs cannot be changed (PF_NO_SETAFFINITY in linux/sched.h).
const NO_SETAFFINITY: u64 = 0x0400_0000;

/// A thread that may not use every CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedThread {
    tid: i32,
    /// When it started, in clock ticks since boot: tells it from a later thread of the same number.
    started: u64,
    cpus: CpuList,
}

impl PinnedThread {
    /// Every thread of the system that is confined to fewer CPUs than `machine`.
    pub fn all(machine: &CpuList) -> Vec<Self> {
        numbers("/proc")
            .flat_map(|pid| numbers(&format!("/proc/{pid}/task")))
            .filter_map(|tid| {
                let cpus = sched::affinity(tid).ok().filter(|cpus| cpus != machine)?;
                let stat = Stat::of(tid).filter(|stat| stat.flags & NO_SETAFFINITY == 0)?;
                Some(PinnedThread { tid, started: stat.started, cpus })
            })
            .collect()
    }

    /// Confines the thread again if it is still there and got more CPUs meanwhile.
    pub fn restore(&self) -> io::Result<()> {
        // A mask that is not a wider one was set on purpose.
        let widened = |now: CpuList| now != self.cpus && self.cpus.is_subset(&now);
        if !sched::affinity(self.tid).is_ok_and(widened)
            || Stat::of(self.tid).is_none_or(|stat| stat.started != self.started)
        {
            return Ok(());
        }
        sched::set_affinity(self.tid, &self.cpus).or_else(|error| match error.raw_os_error() {
            // It ended, or those CPUs went offline: nothing is left to restore.
            Some(libc::ESRCH | libc::EINVAL) => Ok(()),
            _ => Err(io::Error::new(error.kind(), format!("thread {}: {error}", self.tid))),
        })
    }
}

fn numbers(directory: &str) -> impl Iterator<Item = i32> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What /proc/TID/stat says.
pub struct Stat {
    /// The kernel's flags of the thread (PF_ in linux/sched.h).
    pub flags: u64,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

impl Stat {
    /// Of a thread, if there is one. One that has ended is none, also before its parent has collected it.
    pub fn of(tid: i32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{tid}/stat")).ok()?)
    }

    /// Fields 3, 9 and 22 of proc_pid_stat(5). The name, field 2, may hold spaces and parentheses.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        if matches!(fields.next()?, "Z" | "X" | "x") {
            return None;
        }
        Some(Stat { flags: fields.nth(5)?.parse().ok()?, started: fields.nth(12)?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiting_thread::waiting_thread;

    #[test]
    fn a_name_cannot_confuse_the_fields() {
        let text = "42 (a) 9 (b)) S 1 42 42 0 -1 67108928 0 0 0 0 0 0 0 0 -2 0 1 0 777 0 0";
        let stat = Stat::parse(text).expect("a stat line");
        assert_eq!((stat.flags & NO_SETAFFINITY, stat.started), (NO_SETAFFINITY, 777));
        assert!(Stat::parse("42 (short) S 1").is_none());
        for ended in ["Z", "X"] {
            assert!(Stat::parse(&text.replace(") S ", &format!(") {ended} "))).is_none(), "{ended}");
        }
    }

    #[test]
    fn a_widened_thread_is_confined_again() {
        let machine = sched::affinity(0).expect("our own");
        let one: CpuList = machine.lowest().into_iter().collect();
        if machine == one {
            eprintln!("SKIPPED: one CPU cannot be fewer than all");
            return;
        }
        let (_stay, tid) = waiting_thread();
        sched::set_affinity(tid, &one).expect("our own thread");
        let found = PinnedThread::all(&machine);
        let pinned = found.iter().find(|thread| thread.tid == tid).expect("it is confined");
        assert_eq!(pinned.cpus, one);
        sched::set_affinity(tid, &machine).expect("our own thread");
        pinned.restore().expect("the test's own thread");
        assert_eq!(sched::affinity(tid).expect("it stays"), one);
    }

    #[test]
    fn what_others_set_meanwhile_and_new_threads_of_the_number_are_left_alone() {
        let machine = sched::affinity(0).expect("our own");
        let (_stay, tid) = waiting_thread();
        let started = Stat::of(tid).expect("it stays").started;
        let lowest: CpuList = machine.lowest().into_iter().collect();
        let elsewhere = PinnedThread { tid, started, cpus: [8191].into_iter().collect() };
        let another = PinnedThread { tid, started: started + 1, cpus: lowest };
        for thread in [elsewhere, another] {
            thread.restore().expect("nothing to do");
            assert_eq!(sched::affinity(tid).expect("it stays"), machine);
        }
    }

    #[test]
    fn a_thread_that_ended_needs_nothing() {
        // Above the kernel's limit of 2^22.
        let gone = PinnedThread { tid: 1 << 23, started: 0, cpus: CpuList::first(1) };
        assert!(gone.restore().is_ok());
    }
}
