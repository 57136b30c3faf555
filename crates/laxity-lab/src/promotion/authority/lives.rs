//! The lives of promoted threads: they end, have children, lose their CPU, and are put back.

use super::refusals::Bound;
use super::{Authority, Promoted};
use laxity_kernel::{Core, Enrolled, Scheduler, monotonic_ns};
use laxity_run::RememberedThread;
use laxity_sys::policy;

impl Authority {
    /// A thread leaves when it has ended, or has got another policy by other means; children become what they
    /// would have been without the promotion.
    pub(super) fn look_after(&mut self, scheduler: &Scheduler) {
        let has_left = |promoted: &&Promoted| {
            let now = RememberedThread::of(promoted.remembered.tid());
            !promoted.remembered.is_alive() || now.is_ok_and(|now| now.policy() != policy::EXT)
        };
        let left: Vec<i32> = self.promoted.iter().filter(has_left).map(Promoted::tid).collect();
        // Also the children of threads that have left.
        self.look_after_children(scheduler);
        for tid in left {
            // The other policy was not meant to change its CPUs.
            self.put_back(tid);
            self.leaves(scheduler, tid);
        }
    }

    /// A child of a promoted thread has its policy, though it is no real-time task: the kernel resets children of SCHED_FIFO, SCHED_RR
    /// and SCHED_DEADLINE only. It gets what it would have, had its parent not been promoted.
    pub(super) fn look_after_children(&self, scheduler: &Scheduler) {
        // None can be found: with the next look, or there is no scheduler any more.
        let Ok(born) = scheduler.born() else { return };
        for (child, parent) in born {
            let parent = self.promoted.iter().find(|promoted| promoted.tid() == parent);
            match parent.map_or(Ok(()), |parent| parent.remembered.pass_on(child)) {
                // Not quite there yet, or not any more; of the latter the kernel's side forgets it.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                Err(error) => self.observer.warn(&format!("warning: thread {child}, a child: {error}")),
                Ok(()) => {}
            }
            scheduler.forget_born(child);
        }
    }

    /// The scheduler goes, or has gone: every thread is as it was. If another scheduler comes,
    /// [`Authority::starts_anew`] and [`Authority::goes_on`] follow.
    pub fn put_all_back(&mut self, scheduler: &Scheduler) {
        let all: Vec<i32> = self.promoted.iter().map(Promoted::tid).collect();
        all.into_iter().for_each(|tid| self.put_back(tid));
        self.look_after_children(scheduler);
    }

    fn put_back(&mut self, tid: i32) {
        if let Err(error) = self.keeper.restore(tid) {
            self.observer.warn(&format!("warning: {}", error.message));
        }
    }

    /// It is one of the promoted no more.
    pub(super) fn leaves(&mut self, scheduler: &Scheduler, tid: i32) {
        if let Some(at) = self.promoted.iter().position(|promoted| promoted.tid() == tid) {
            let promoted = self.promoted.remove(at);
            self.admission.leave(promoted.id);
            self.admission_left(scheduler, promoted.cpu);
        }
    }

    /// The policy is going to start anew because a CPU has come or gone: servers keep their sizes, and a
    /// thread that has lost its CPU stays a background thread. `tasks` keeps those that have entered by
    /// themselves.
    pub fn starts_anew(&mut self, cores: &mut [Core], tasks: &mut Vec<Enrolled>) {
        tasks.retain(|task| !self.promoted.iter().any(|promoted| promoted.tid() == task.tid));
        let is_there = |promoted: &Promoted| cores.iter().any(|core| core.cpu == promoted.cpu);
        let (there, lost): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.promoted).into_iter().partition(is_there);
        self.promoted = there;
        for promoted in lost {
            self.stays_ordinary(&promoted, &format!("its CPU {} has gone", promoted.cpu));
        }
        for core in cores.iter_mut() {
            if let Some(known) = self.cores.get_mut(&core.cpu) {
                known.closed = self.promoted.iter().any(|promoted| promoted.cpu == core.cpu);
                *core = *known;
            }
        }
    }

    /// The policy has started anew: those that are promoted become real-time tasks again, on the same CPUs.
    pub fn goes_on(&mut self) {
        for promoted in std::mem::take(&mut self.promoted) {
            let (tid, cpu) = (promoted.tid(), promoted.cpu);
            if RememberedThread::of(tid).is_ok_and(|now| now.policy() != promoted.remembered.policy()) {
                self.stays_ordinary(&promoted, "it has got another policy meanwhile");
                continue;
            }
            match self.keep_and_bind(&promoted.remembered, cpu, promoted.task) {
                Ok(()) => self.promoted.push(promoted),
                Err(Bound::Failed(why) | Bound::Refused(why)) => self.stays_ordinary(&promoted, &why.message),
            }
        }
    }

    fn stays_ordinary(&mut self, promoted: &Promoted, why: &str) {
        self.observer.warn(&format!("thread {} is a background thread again: {why}", promoted.tid()));
        self.admission.leave(promoted.id);
        self.unsettled.insert(promoted.cpu, monotonic_ns());
    }
}
