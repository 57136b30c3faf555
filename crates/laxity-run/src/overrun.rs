//! The overrun signal of SCHED_DEADLINE: how often a thread has used up its budget, as the kernel tells it.
//!
//! 1. A thread with SCHED_FLAG_DL_OVERRUN gets SIGXCPU after its budget is used up (`update_curr_dl_se` in kernel/sched/deadline.c).
//!    Without a handler the signal ends the process, so a worker has one before its threads are admitted.
//! 2. The kernel remembers that the budget was used up, and signals at the next tick that finds the thread on its CPU
//!    (`check_dl_overrun` in kernel/time/posix-cpu-timers.c). A budget that is used up again before such a tick is not told again,
//!    nor is one after which the thread does not run at a tick any more. So there are at most as many signals as budgets that
//!    were used up, and as many where each budget is longer than a tick; then the last one may be missing.
//! 3. The signal is one of the process. The kernel gives it to the thread that it is about unless that has it blocked, and the
//!    threads of tasks are the only ones that have not. Two that are pending at the same time would be one.
//! 4. A signal is counted in the memory of the thread's task. The handler does nothing else.

use std::cell::Cell;
use std::io;
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

thread_local! {
    /// Where this thread's task counts. Without destructor, so that a signal handler may look at it.
    static COUNTS_AT: Cell<*const AtomicU64> = const { Cell::new(null()) };
}

/// Has SIGXCPU counted in this process. The calling thread blocks it, and so does each that it starts until it has an
/// [`OverrunCount`].
///
/// # Errors
///
/// The kernel refuses a handler; it does not.
pub fn count_signals() -> io::Result<()> {
    // SAFETY: zeros are a valid sigaction; the handler only adds to memory that its own thread has named. All live across the
    // calls.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = at_overrun as extern "C" fn(_) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXCPU, &raw const action, null_mut()) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { mask(libc::SIG_BLOCK) }
}

/// Counts the overruns of the thread that has made it.
pub struct OverrunCount<'a> {
    _at: &'a AtomicU64,
}

impl<'a> OverrunCount<'a> {
    /// The calling thread's are counted in `at` from now on.
    ///
    /// # Errors
    ///
    /// The kernel refuses a signal mask; it does not.
    pub fn new(at: &'a AtomicU64) -> io::Result<Self> {
        COUNTS_AT.with(|place| place.set(at));
        mask(libc::SIG_UNBLOCK).map(|()| OverrunCount { _at: at })
    }
}

impl Drop for OverrunCount<'_> {
    fn drop(&mut self) {
        // A signal that comes after this is for another thread to handle, or for none.
        let _ = mask(libc::SIG_BLOCK);
        COUNTS_AT.with(|place| place.set(null()));
    }
}

fn mask(how: libc::c_int) -> io::Result<()> {
    // SAFETY: zeros are an empty set, to which a valid signal is added; it lives across the call.
    let failed = unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut signals, libc::SIGXCPU);
        libc::pthread_sigmask(how, &raw const signals, null_mut())
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(failed)) }
}

extern "C" fn at_overrun(_: libc::c_int) {
    COUNTS_AT.with(|place| {
        // SAFETY: nothing, or the memory that an `OverrunCount` of this thread has borrowed.
        if let Some(count) = unsafe { place.get().as_ref() } {
            count.fetch_add(1, Relaxed);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal_this_thread() {
        // SAFETY: a signal that this process handles.
        let failed = unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGXCPU) };
        assert_eq!(failed, 0);
    }

    /// Each thread counts its own, also one that was told before it counts; and no signal ends the process.
    #[test]
    fn signals_are_counted_by_the_thread_that_gets_them() {
        let counts: [AtomicU64; 3] = Default::default();
        std::thread::scope(|scope| {
            for (count, times) in counts.iter().zip(1..) {
                scope.spawn(move || {
                    count_signals().expect("a handler");
                    {
                        let _counting = OverrunCount::new(count).expect("a mask");
                        (0..times).for_each(|_| signal_this_thread());
                    }
                    // It waits, blocked.
                    signal_this_thread();
                });
            }
        });
        assert_eq!(counts.map(AtomicU64::into_inner), [1, 2, 3]);
    }
}
