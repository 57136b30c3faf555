//! How a job is told to stop (lindsay2012, 3.1.3): a word in shared memory, and what sets it at the deadline.
//!
//! 1. The word of a task ([`crate::shared::TaskEntry::abort`]) is the number of the job that is to stop, from 1. A
//!    job looks at it at its safe points. Any process that maps the memory may set it; as it names the job, one that
//!    is set late stops no other.
//! 2. In the paper the kernel sets it. Here a timer of the job's own thread does (timer_create, SIGEV_THREAD_ID): its
//!    interrupt comes at the deadline whatever runs on the CPUs, and the thread that gets its signal handles it
//!    before it executes anything more of the job. No other thread needs a CPU for that: a process that watched, and
//!    even the guardian, would come after all tasks of SCHED_DEADLINE, and so too late just where jobs are late. A
//!    job that has no CPU at its deadline finds the word set when it gets one.
//! 3. The timer is set from the start of a job to its end, so that it wakes no thread that waits for a release. That takes two
//!    system calls per job, under `--on-miss abort` only, which are no part of the job's CPU time.
//! 4. On PREEMPT_RT such timers expire in a thread of the kernel, which comes after the tasks: 7.3 tells a thread of SCHED_FIFO
//!    nothing for as long as it has its CPU, where 6.18 without PREEMPT_RT takes 8 us. There a thread sets its word itself, by
//!    the clock, at the safe points of its job.

use laxity_kernel::is_preempt_rt;
use laxity_model::OnMiss;
use std::cell::Cell;
use std::io;
use std::ptr::{null, null_mut};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::clock::{monotonic_ns, timespec};

/// No job.
const NONE: u64 = 0;

thread_local! {
    /// The word of this thread's task, and the number of the job that it is executing. Without destructor, so that a signal
    /// handler may look at it.
    static AT_WORK: (Cell<*const AtomicU64>, AtomicU64) = const { (Cell::new(null()), AtomicU64::new(NONE)) };
}

/// Tells the jobs of the thread that has made it when to stop.
pub struct Alarm<'a> {
    word: &'a AtomicU64,
    setter: Setter,
}

/// What sets the word at the deadline of a job.
enum Setter {
    /// Nothing.
    None,
    /// A timer of this thread.
    Timer(libc::timer_t),
    /// The thread, from this instant on.
    Clock(u64),
}

impl<'a> Alarm<'a> {
    /// For the calling thread, whose task has this word.
    ///
    /// # Errors
    ///
    /// The kernel has no timer left for this user.
    pub fn new(word: &'a AtomicU64, on_miss: OnMiss) -> io::Result<Self> {
        let setter = match on_miss {
            OnMiss::Continue | OnMiss::Skip => Setter::None,
            OnMiss::Abort if is_preempt_rt() => Setter::Clock(u64::MAX),
            OnMiss::Abort => Setter::Timer(timer_of_this_thread()?),
        };
        AT_WORK.with(|(place, _)| place.set(word));
        Ok(Alarm { word, setter })
    }

    /// Job number `job` begins; it is to stop at `deadline_ns` of CLOCK_MONOTONIC, if the rule says so.
    pub fn set(&mut self, job: u64, deadline_ns: u64) {
        AT_WORK.with(|(_, at_work)| at_work.store(job, Relaxed));
        match &mut self.setter {
            Setter::None => {}
            Setter::Timer(timer) => set_timer(*timer, deadline_ns.max(1)),
            Setter::Clock(at_ns) => *at_ns = deadline_ns,
        }
    }

    /// Whether job number `job` is to stop.
    #[inline]
    pub fn told(&self, job: u64) -> bool {
        if let Setter::Clock(at_ns) = self.setter
            && monotonic_ns() >= at_ns
        {
            self.word.store(job, Relaxed);
        }
        self.word.load(Relaxed) == job
    }

    /// The job is over: its deadline no longer matters. No signal comes after this.
    pub fn clear(&mut self) {
        if let Setter::Timer(timer) = self.setter {
            set_timer(timer, 0);
        }
        AT_WORK.with(|(_, at_work)| at_work.store(NONE, Relaxed));
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if let Setter::Timer(timer) = self.setter {
            // SAFETY: this value made the timer, and it is not used after this.
            unsafe { libc::timer_delete(timer) };
        }
        AT_WORK.with(|(place, _)| place.set(null()));
    }
}

/// A timer whose signal this thread gets, and handles.
fn timer_of_this_thread() -> io::Result<libc::timer_t> {
    let signal = libc::SIGRTMIN();
    handle(signal)?;
    // SAFETY: zeros are a valid sigevent.
    let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = signal;
    event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
    let mut timer = null_mut();
    // SAFETY: both structures live across the call.
    let failed = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(timer) }
}

/// Has `at_deadline` called for the signal, and this thread take it, whatever our parent has blocked.
fn handle(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: zeros are a valid sigaction and an empty set, to which a valid signal is added; `at_deadline` does nothing but
    // look at its arguments and at memory of its own thread. All live across the calls.
    let failed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = at_deadline as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut signals, signal);
        libc::sigaction(signal, &raw const action, null_mut()) != 0
            || libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals, null_mut()) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The signal handler, in the thread whose timer has expired: its job is to stop.
extern "C" fn at_deadline(_: libc::c_int, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel says with every signal what it is about.
    if unsafe { (*about).si_code } != libc::SI_TIMER {
        return;
    }
    AT_WORK.with(|(place, at_work)| {
        // SAFETY: nothing, or the word of an alarm, which takes it back before the word's memory can go.
        if let Some(word) = unsafe { place.get().as_ref() } {
            word.store(at_work.load(Relaxed), Relaxed);
        }
    });
}

/// Has a timer expire once at an instant of its clock, or (0) not at all. Where it has expired on another CPU, the kernel waits
/// until its signal is pending, which is handled before this returns.
fn set_timer(timer: libc::timer_t, at_ns: u64) {
    let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let once = libc::itimerspec { it_interval: never, it_value: timespec(at_ns) };
    // SAFETY: a timer of this process; `once` lives across the call.
    let failed = unsafe { libc::timer_settime(timer, libc::TIMER_ABSTIME, &raw const once, null_mut()) };
    assert_eq!(failed, 0, "timer_settime: {}", io::Error::last_os_error());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::sleep_until;

    const SOON_NS: u64 = 20_000_000;
    /// Longer than a test may take.
    const NEVER_NS: u64 = 1_000_000_000_000_000;

    fn spin_until(condition: impl Fn() -> bool) {
        let give_up = monotonic_ns() + 60_000_000_000;
        while !condition() {
            assert!(monotonic_ns() < give_up, "not within a minute");
        }
    }

    /// By the timer and by the clock: at the deadline and not before, this job and no other.
    #[test]
    fn the_word_is_set_at_the_deadline_with_the_number_of_the_job() {
        for by_clock in [false, true] {
            let word = AtomicU64::new(NONE);
            let mut alarm = Alarm::new(&word, OnMiss::Abort).expect("a timer");
            if by_clock {
                alarm.setter = Setter::Clock(u64::MAX);
            }
            for job in 1..4 {
                let deadline_ns = monotonic_ns() + SOON_NS;
                alarm.set(job, deadline_ns);
                spin_until(|| {
                    let told = alarm.told(job);
                    assert!(!told || monotonic_ns() >= deadline_ns, "job {job} was told before its deadline");
                    told
                });
                assert_eq!(word.load(Relaxed), job, "no other one is meant");
                alarm.clear();
            }
        }
    }

    /// A deadline that passed before the job could begin.
    #[test]
    fn a_deadline_that_has_passed_is_heard_of_as_well() {
        let word = AtomicU64::new(NONE);
        let mut alarm = Alarm::new(&word, OnMiss::Abort).expect("a timer");
        for deadline_ns in [0, 1, monotonic_ns()] {
            word.store(NONE, Relaxed);
            alarm.set(7, deadline_ns);
            spin_until(|| alarm.told(7));
            alarm.clear();
        }
    }

    #[test]
    fn nothing_comes_of_a_deadline_after_the_jobs_end() {
        let word = AtomicU64::new(NONE);
        let mut alarm = Alarm::new(&word, OnMiss::Abort).expect("a timer");
        for job in 1..2_000 {
            // Some expire at the very end of the job.
            alarm.set(job, monotonic_ns() + job);
            alarm.clear();
            let told = word.load(Relaxed);
            assert!(told <= job);
            sleep_until(monotonic_ns() + 2_000);
            assert_eq!(word.load(Relaxed), told, "job {job}: a signal after its end");
        }
        let mut sleeping = Alarm::new(&word, OnMiss::Continue).expect("no timer");
        sleeping.set(1, 1);
        assert!(!sleeping.told(1));
    }

    /// Every thread has its own.
    #[test]
    fn a_timer_tells_its_own_thread_only() {
        let words = [AtomicU64::new(NONE), AtomicU64::new(NONE)];
        std::thread::scope(|scope| {
            for (word, deadline_ns) in words.iter().zip([NEVER_NS, monotonic_ns() + SOON_NS]) {
                let words = &words;
                scope.spawn(move || {
                    let mut alarm = Alarm::new(word, OnMiss::Abort).expect("a timer");
                    alarm.set(5, deadline_ns);
                    spin_until(|| words[1].load(Relaxed) == 5);
                    alarm.clear();
                });
            }
        });
        assert_eq!(words[0].load(Relaxed), NONE);
    }

    /// A signal that is no timer's says nothing.
    #[test]
    fn a_signal_from_another_process_stops_no_job() {
        let word = AtomicU64::new(NONE);
        let mut alarm = Alarm::new(&word, OnMiss::Abort).expect("a timer");
        alarm.set(3, NEVER_NS);
        // SAFETY: a signal that this process handles, to this thread.
        let sent = unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGRTMIN()) };
        assert_eq!((sent, word.load(Relaxed)), (0, NONE));
    }
}
