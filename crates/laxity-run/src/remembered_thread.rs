//! How a thread is scheduled and where it may run, remembered so that it can be put back.

use crate::journal::Stat;
use crate::sched::{self, Attributes};
use laxity_model::CpuList;
use laxity_sys::{flag, policy};
use serde::{Deserialize, Serialize};
use std::io;

/// The kernel's flag of its own threads (PF_KTHREAD in linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Those whose threads have a slice.
const ORDINARY: [u32; 4] = [policy::OTHER, policy::BATCH, policy::IDLE, policy::EXT];

/// A thread as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedThread {
    tid: i32,
    /// When it started, in clock ticks since boot: tells it from a later thread of the same number.
    started: u64,
    attributes: Attributes,
    cpus: CpuList,
}

impl RememberedThread {
    /// Of a thread, now.
    ///
    /// # Errors
    ///
    /// There is none, or it has ended and its parent has not collected it (`ESRCH`), or another error of the kernel.
    pub fn of(tid: i32) -> io::Result<Self> {
        let gone = || io::Error::from_raw_os_error(libc::ESRCH);
        // The kernel takes 0 for the caller.
        if tid <= 0 {
            return Err(gone());
        }
        let started = Stat::of(tid).ok_or_else(gone)?.started;
        let mut attributes = sched::attributes(tid)?;
        // The kernel reports the default slice where none was asked for; put back, it would be one that was.
        if ORDINARY.contains(&attributes.policy) && attributes.runtime_ns == sched::attributes(0)?.runtime_ns
        {
            attributes.runtime_ns = 0;
        }
        if is_fixed_priority(attributes.policy) {
            // It has one for other times, which the kernel does not report with these.
            attributes.nice = rustix::process::getpriority_process(pid_of(tid))?;
        }
        Ok(RememberedThread { tid, started, attributes, cpus: sched::affinity(tid)? })
    }

    /// The thread.
    pub fn tid(&self) -> i32 {
        self.tid
    }

    /// Where it may run.
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// The kernel's number of its policy.
    pub fn policy(&self) -> u32 {
        self.attributes.policy
    }

    /// Whether the thread is still there, and has not ended.
    pub fn is_alive(&self) -> bool {
        Stat::of(self.tid).is_some_and(|stat| stat.started == self.started)
    }

    /// Gives the thread back its policy, nice value and priority, then its CPUs. One that has ended needs nothing.
    ///
    /// # Errors
    ///
    /// An error of the kernel, that of the policy first; the CPUs are put back all the same.
    pub fn restore(&self) -> io::Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        let policy = give(self.tid, self.attributes);
        let cpus = sched::set_affinity(self.tid, &self.cpus);
        policy.and(cpus).or_else(|error| match error.raw_os_error() {
            Some(libc::ESRCH) => Ok(()),
            _ => Err(io::Error::new(error.kind(), format!("thread {}: {error}", self.tid))),
        })
    }

    /// Gives a child the policy, nice value and CPUs that it would have, had its parent not been promoted. The
    /// parent has created it since it got SCHED_EXT and SCHED_FLAG_RESET_ON_FORK (`sched::set_policy`). A child
    /// that has got another policy meanwhile keeps that.
    ///
    /// # Errors
    ///
    /// There is no such thread, not yet or not any more (`ESRCH`), or another error of the kernel.
    pub fn pass_on(&self, child: i32) -> io::Result<()> {
        let now = sched::attributes(child)?;
        if now.policy != policy::EXT {
            return Ok(());
        }
        give(child, inherited(self.attributes, now.nice))
    }
}

/// What a child has of a parent, itself having this nice value.
fn inherited(parent: Attributes, nice: i32) -> Attributes {
    let resets = parent.flags & flag::RESET_ON_FORK != 0;
    if resets && is_fixed_priority(parent.policy) {
        return Attributes::default();
    }
    let of_parent = if resets { parent.nice.max(0) } else { parent.nice };
    // While it is promoted, its parent's is 0; another one is of its own choice.
    let nice = if nice == 0 { of_parent } else { nice };
    Attributes { nice, flags: parent.flags & !flag::RESET_ON_FORK, ..parent }
}

fn is_fixed_priority(of: u32) -> bool {
    [policy::FIFO, policy::RR].contains(&of)
}

fn pid_of(tid: i32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(tid)
}

/// All that `RememberedThread::of` has found.
fn give(tid: i32, attributes: Attributes) -> io::Result<()> {
    sched::set_attributes(tid, attributes)?;
    if is_fixed_priority(attributes.policy) {
        rustix::process::setpriority_process(pid_of(tid), attributes.nice)?;
    }
    Ok(())
}

/// Whether the thread is one of the kernel's own.
pub fn is_kernel_thread(tid: i32) -> bool {
    Stat::of(tid).is_some_and(|stat| stat.flags & KERNEL_THREAD != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waiting_thread::waiting_thread;

    #[test]
    fn a_thread_gets_back_what_it_had() {
        let machine = sched::affinity(0).expect("our own");
        let (_stay, tid) = waiting_thread();
        let batch = Attributes { policy: 3, nice: 5, ..Attributes::default() };
        sched::set_attributes(tid, batch).expect("less is always permitted");
        let before = RememberedThread::of(tid).expect("it is there");
        assert_eq!((before.policy(), before.cpus(), before.tid()), (3, &machine, tid));
        let lowest: CpuList = machine.lowest().into_iter().collect();
        sched::set_affinity(tid, &lowest).expect("our own thread");
        sched::set_attributes(tid, Attributes { nice: 7, ..Attributes::default() }).expect("less");
        assert_ne!(RememberedThread::of(tid).expect("it is there"), before);
        match before.restore() {
            Ok(()) => assert_eq!(RememberedThread::of(tid).expect("it is there"), before),
            // A lower nice value takes privilege; the CPUs are back.
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                assert_eq!(sched::affinity(tid).expect("it is there"), machine);
            }
        }
    }

    #[test]
    fn one_that_was_confined_is_confined_again() {
        let machine = sched::affinity(0).expect("our own");
        let lowest: CpuList = machine.lowest().into_iter().collect();
        if machine == lowest {
            eprintln!("SKIPPED: one CPU cannot be fewer than all");
            return;
        }
        let (_stay, tid) = waiting_thread();
        let batch = Attributes { policy: 3, ..Attributes::default() };
        sched::set_attributes(tid, batch).expect("less is always permitted");
        sched::set_affinity(tid, &lowest).expect("our own thread");
        let before = RememberedThread::of(tid).expect("it is there");
        sched::set_affinity(tid, &machine).expect("our own thread");
        sched::set_attributes(tid, Attributes::default()).expect("as much");
        before.restore().expect("as much");
        assert_eq!(RememberedThread::of(tid).expect("it is there"), before);
        assert_eq!(before.cpus(), &lowest);
    }

    #[test]
    fn one_that_has_ended_or_another_of_its_number_is_left_alone() {
        let (_stay, tid) = waiting_thread();
        let remembered = RememberedThread::of(tid).expect("it is there");
        let another = RememberedThread {
            started: remembered.started + 1,
            cpus: CpuList::first(1),
            ..remembered.clone()
        };
        assert!(!another.is_alive());
        another.restore().expect("nothing to do");
        assert_eq!(RememberedThread::of(tid).expect("it is there"), remembered);
        // Above the kernel's limit of 2^22.
        for none in [1 << 23, 0, -1] {
            assert_eq!(RememberedThread::of(none).expect_err("none").raw_os_error(), Some(libc::ESRCH));
        }
    }

    #[test]
    fn a_thread_that_has_ended_but_is_not_collected_is_none() {
        let stdio = std::process::Stdio::piped;
        let mut child =
            std::process::Command::new("cat").stdin(stdio()).stdout(stdio()).spawn().expect("a program");
        let tid = i32::try_from(child.id()).expect("a number");
        let remembered = RememberedThread::of(tid).expect("it is there");
        drop(child.stdin.take());
        // Its output ends when it does, or a little before.
        std::io::Read::read_to_end(&mut child.stdout.take().expect("piped"), &mut Vec::new()).expect("read");
        let state = || std::fs::read_to_string(format!("/proc/{tid}/stat")).expect("not yet taken note of");
        while !state().contains(") Z ") {
            std::thread::yield_now();
        }
        assert!(!remembered.is_alive());
        assert_eq!(RememberedThread::of(tid).expect_err("it has ended").raw_os_error(), Some(libc::ESRCH));
        remembered.restore().expect("nothing to do");
        child.wait().expect("the test's own child");
    }

    #[test]
    fn a_child_has_what_its_parent_would_have_passed_on() {
        let of = |policy, nice, flags| Attributes { policy, nice, flags, ..Attributes::default() };
        let fifo = Attributes { priority: 4, ..of(policy::FIFO, 5, 0) };
        let reset = flag::RESET_ON_FORK;
        for (parent, nice, child) in [
            (of(0, 0, 0), 0, of(0, 0, 0)),
            (of(3, 5, 0), 0, of(3, 5, 0)),
            // Of its own.
            (of(0, 5, 0), 7, of(0, 7, 0)),
            // As it is while it is promoted, and as fork leaves it.
            (of(0, -5, 0), 0, of(0, -5, 0)),
            (of(3, -5, reset), 0, of(3, 0, 0)),
            (of(3, 5, reset), 0, of(3, 5, 0)),
            (fifo, 0, fifo),
            (Attributes { flags: reset, ..fifo }, 0, of(0, 0, 0)),
        ] {
            assert_eq!(inherited(parent, nice), child, "{parent:?}");
        }
        // A thread without the policy of a promoted one is left alone.
        let (_stay, tid) = waiting_thread();
        let before = RememberedThread::of(tid).expect("it is there");
        let parent = RememberedThread { attributes: of(3, 9, 0), ..before.clone() };
        parent.pass_on(tid).expect("nothing to do");
        assert_eq!(RememberedThread::of(tid).expect("it is there"), before);
        assert_eq!(parent.pass_on(1 << 23).expect_err("none").raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn the_kernels_threads_are_known() {
        assert!(!is_kernel_thread(rustix::process::getpid().as_raw_nonzero().get()));
        // In a container number 2 is another process.
        if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
            assert!(is_kernel_thread(2));
        }
    }
}
