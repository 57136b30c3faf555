//! The periodic task program (lelli2012, 5.2): one process per cell, or for all cells over which a group of tasks is spread, and one
//! thread per task.
//!
//! 1. All memory is locked and touched before the release; a job allocates nothing and prints nothing.
//! 2. Releases are absolute: job k waits for t0 + its nominal release, or starts at once if that has passed. Under a
//!    policy of laxity's own sched_yield ends a job, and the policy releases the next one (`Pacing`); the first job is
//!    an empty one before the release, for the thread to become the policy's.
//! 3. A job ends when it has used its demand of thread CPU time, or made its number of accesses. About every 2 us there is a
//!    safe point (lindsay2012, 3.1.3): it looks at the clock, and at the words in shared memory by which the run is stopped,
//!    and this one job aborted ([`crate::abort`]).
//! 4. Where late jobs have later ones skipped, the thread says of those that they will not be when it is done with the late
//!    one; it does not sleep until their releases. (A policy that releases them gets an empty job for each.)
//! 5. The process dies with its guardian (PR_SET_PDEATHSIG), and of no SIGXCPU: that is how the kernel says that a budget is used
//!    up ([`crate::overrun`]).

use crate::abort::Alarm;
use crate::channel::Channel;
use crate::clock::{monotonic_ns, sleep_precisely, sleep_until, thread_cpu_ns};
use crate::cpuset;
use crate::memory::lock_memory;
use crate::messages::{Entry, FromWorker, OrderedTask, WorkerOrders};
use crate::overrun::{OverrunCount, count_signals};
use crate::perf::ThreadCounters;
use crate::plan::Pacing;
use crate::sched::{self, Policy};
use crate::shared::{NEVER, Shared, Slot, TaskEntry, job_end};
use crate::walk::Walk;
use laxity_model::{Diagnostic, OnMiss, Result, cpus_named};
use std::collections::HashMap;
use std::io;
use std::process::ExitCode;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, mpsc};
use std::thread::Thread;

/// Stack of a task thread; its loop needs a few hundred bytes, the standard library the rest.
const STACK_BYTES: usize = 128 * 1024;
/// By how much a release may seem to be early.
const CLOCKS_DIFFER_NS: u64 = 1_000;
/// How much CPU time may pass between two looks at the clock.
const LOOK_EVERY_NS: u64 = 2_000;

/// The whole life of a worker process, behind the guardian's connection on standard input.
pub fn worker_main(shared: Shared, guardian: u32) -> ExitCode {
    if !die_with(guardian) {
        return ExitCode::FAILURE;
    }
    raise_limits();
    if count_signals().is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(mut channel) = Channel::from_stdin() else { return ExitCode::FAILURE };
    let Ok(Some(orders)) = channel.receive::<WorkerOrders>() else { return ExitCode::FAILURE };
    let shared = Arc::new(shared);
    match start(&shared, orders) {
        Ok(started) => {
            if channel.send(&FromWorker::Ready(started.tids.clone())).is_err() {
                return ExitCode::FAILURE;
            }
            started.leave_together();
            // All of them: a thread that panicked must not end the others.
            let ends: Vec<_> = started.threads.into_iter().map(std::thread::JoinHandle::join).collect();
            if ends.iter().all(|end| end.is_ok()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            // Should the guardian be gone, the message has no receiver.
            let _ = channel.send(&FromWorker::Failed(error.into()));
            ExitCode::FAILURE
        }
    }
}

/// Asks the kernel to kill this process when its guardian ends; false if that has happened already. (Not between
/// fork and exec: a program file with capabilities would lose the request there.)
pub fn die_with(guardian: u32) -> bool {
    // SAFETY: prctl and getppid take and give numbers.
    let parent = unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::getppid()
    };
    u32::try_from(parent) == Ok(guardian)
}

/// Each task has up to six counters open, and a timer that may have a signal pending; the usual limit of 1024 files is no limit
/// of the kernel's.
fn raise_limits() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    for resource in [Resource::Nofile, Resource::Sigpending] {
        let maximum = getrlimit(resource).maximum;
        // Without it, counters that cannot be opened are reported as missing, and a timer that cannot be had as an error.
        let _ = setrlimit(resource, Rlimit { current: maximum, maximum });
    }
}

/// The threads of a worker, each waiting for its release.
struct Started {
    /// Task positions with the thread ids.
    tids: Vec<(usize, i32)>,
    threads: Vec<std::thread::JoinHandle<()>>,
    /// Thread ids and their policies.
    members: Vec<(i32, Policy)>,
    end: Arc<End>,
}

impl Started {
    /// Takes all threads out of their scheduling classes when all are through with their jobs. Not before: a thread
    /// that leaves while others have jobs to do disturbs the schedule. (It goes on in that system call as a thread
    /// of SCHED_OTHER; and a CPU whose thread was no more of SCHED_DEADLINE when it gave way fetches none of the
    /// jobs that wait on others.) And not with its end: the kernel would give a SCHED_DEADLINE thread's bandwidth
    /// back only later, and possibly from the root domain of another time, which then lacks it.
    fn leave_together(&self) {
        while self.end.at_work.load(Acquire) > 0 {
            std::thread::park();
        }
        for &(tid, policy) in &self.members {
            match policy.reservation() {
                Some(_) => sched::leave_deadline(tid),
                None => drop(sched::set_policy(tid, Policy::Other)),
            }
        }
        self.end.left.store(true, Release);
        self.threads.iter().for_each(|thread| thread.thread().unpark());
    }
}

/// What the threads of a worker know of each other at the end. No lock: its holder may have no budget left, and the
/// others would wait for its next period.
struct End {
    /// Threads that are not through with their jobs.
    at_work: AtomicUsize,
    /// All have left their scheduling classes.
    left: AtomicBool,
    /// Waits for both.
    worker: Thread,
}

/// A thread that has jobs to do; it is through when that is dropped.
struct AtWork(Arc<End>);

impl AtWork {
    /// Is through, and sleeps until it has left its scheduling class.
    fn wait_to_leave(self) {
        let end = Arc::clone(&self.0);
        drop(self);
        while !end.left.load(Acquire) {
            std::thread::park();
        }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        if self.0.at_work.fetch_sub(1, AcqRel) == 1 {
            self.0.worker.unpark();
        }
    }
}

fn start(shared: &Arc<Shared>, orders: WorkerOrders) -> Result<Started> {
    lock_memory()?;
    let (sender, receiver) = mpsc::channel();
    let expected = orders.tasks.len();
    let policies: HashMap<usize, Policy> =
        orders.tasks.iter().map(|ordered| (ordered.position, ordered.task.policy)).collect();
    let at_work = AtomicUsize::new(expected);
    let end = Arc::new(End { at_work, left: AtomicBool::new(false), worker: std::thread::current() });
    let mut threads = Vec::new();
    let on_miss = orders.on_miss;
    for ordered in orders.tasks {
        let (shared, sender) = (Arc::clone(shared), sender.clone());
        let at_work = AtWork(Arc::clone(&end));
        let name = ordered.task.name.clone();
        let body = move || prepare_and_run(&shared, &ordered, on_miss, &sender, at_work);
        let spawned =
            std::thread::Builder::new().stack_size(STACK_BYTES).name("laxity-task".into()).spawn(body);
        threads.push(spawned.map_err(|error| {
            Diagnostic::environment(format!("task `{name}`: cannot start its thread: {error}"))
                .hint("raise the limits on processes and memory (ulimit -u, ulimit -l), or use fewer tasks")
        })?);
    }
    // A thread keeps its sender to the end of the run: count the answers, do not wait for hang-up.
    let tids = receiver.iter().take(expected).collect::<Result<Vec<_>>>()?;
    let members = tids.iter().map(|&(position, tid)| (tid, policies[&position])).collect();
    Ok(Started { tids, threads, members, end })
}

/// The thread's whole work.
fn prepare_and_run(
    shared: &Shared,
    ordered: &OrderedTask,
    on_miss: OnMiss,
    ready: &mpsc::Sender<Result<(usize, i32)>>,
    at_work: AtWork,
) {
    let mut body = match prepare(shared, ordered, on_miss) {
        Ok(body) => body,
        Err(error) => {
            let about = format!("task `{}`", ordered.task.name);
            let _ = ready.send(Err(error.context(about)));
            return;
        }
    };
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    if ready.send(Ok((ordered.position, tid))).is_ok()
        && let Some(t0_ns) = shared.wait_for_release()
    {
        body.run(t0_ns);
    }
    // What the thread does from here on, giving its memory back too, is no job of the task's.
    at_work.wait_to_leave();
}

/// Goes to the task's cell and gets all that its jobs need.
fn prepare<'a>(shared: &'a Shared, ordered: &OrderedTask, on_miss: OnMiss) -> Result<TaskBody<'a>> {
    let OrderedTask { position, task, entry } = ordered;
    if let Some(entry) = entry {
        enter(entry)?;
    }
    let walk = match &task.shared {
        None => Walk::new(&task.working_set(), task.seed),
        Some(part) => Walk::sharing(&task.working_set(), part, shared.region(part.region)),
    };
    let walk = walk.map_err(|error| {
        let size = task.size_bytes;
        Diagnostic::environment(format!("cannot have its working set of {size} bytes: {error}"))
            .hint("use smaller working sets, or more memory")
    })?;
    TaskBody::new(shared, *position, walk, task.pacing, on_miss).map_err(|error| {
        Diagnostic::environment(format!("cannot have a timer for its deadlines: {error}"))
            .hint("raise the limit on pending signals (ulimit -i), or use fewer tasks, or another --on-miss")
    })
}

/// Takes the calling thread to its cell.
fn enter(entry: &Entry) -> Result<()> {
    match entry {
        // 0: the thread that writes it.
        Entry::Cgroup(file) => cpuset::write(file, "0"),
        Entry::Cpus(cpus) => sched::set_affinity(0, cpus).map_err(|error| {
            Diagnostic::environment(format!("cannot be confined to {}: {error}", cpus_named(cpus)))
                .hint("use CPUs that are online and that this process may use")
        }),
    }
}

struct TaskBody<'a> {
    shared: &'a Shared,
    entry: &'a TaskEntry,
    slots: &'a [Slot],
    walk: Walk<'a>,
    counters: ThreadCounters,
    alarm: Alarm<'a>,
    _overruns: OverrunCount<'a>,
    accesses_per_look: u64,
    pacing: Pacing,
    on_miss: OnMiss,
}

/// Why a job is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// It has done its work.
    Done,
    /// It was told to stop: it has missed its deadline.
    Aborted,
    /// The run is.
    Stopped,
}

impl<'a> TaskBody<'a> {
    /// For the calling thread.
    fn new(
        shared: &'a Shared,
        position: usize,
        mut walk: Walk<'a>,
        pacing: Pacing,
        on_miss: OnMiss,
    ) -> io::Result<Self> {
        let slots = shared.jobs_of(position);
        // Take the page faults of the records now.
        slots.iter().for_each(|slot| slot.start_ns.store(NEVER, Relaxed));
        let accesses_per_look = accesses_within(&mut walk, LOOK_EVERY_NS);
        let entry = &shared.tasks()[position];
        sleep_precisely();
        let counters = ThreadCounters::open();
        let alarm = Alarm::new(&entry.abort, on_miss)?;
        let overruns = OverrunCount::new(&entry.overruns)?;
        Ok(TaskBody {
            shared,
            entry,
            slots,
            walk,
            counters,
            alarm,
            _overruns: overruns,
            accesses_per_look,
            pacing,
            on_miss,
        })
    }

    fn run(&mut self, t0_ns: u64) {
        store_all(&self.entry.baseline, self.counters.read());
        for ((index, slot), number) in self.slots.iter().enumerate().zip(1..) {
            self.wait_for(index, t0_ns + slot.release_ns.load(Relaxed));
            if self.shared.stopped() {
                return;
            }
            if slot.end.load(Relaxed) == job_end::SKIPPED {
                continue;
            }
            if !self.job(number, slot, t0_ns) {
                return;
            }
            if self.on_miss == OnMiss::Skip {
                skip_after(self.on_miss, slot, &self.slots[index + 1..]);
            }
        }
    }

    /// Ends the job before this one and waits for its release.
    fn wait_for(&self, index: usize, release_ns: u64) {
        let released = match self.pacing {
            Pacing::Sleep => false,
            Pacing::FirstReleased => index == 0,
            Pacing::Released => true,
        };
        if released {
            // Returns with the CPU of the next job. It cannot fail.
            std::thread::yield_now();
            let now = monotonic_ns();
            if now >= release_ns || self.shared.stopped() {
                return;
            }
            // The clocks of two CPUs may differ by a little.
            if release_ns - now > CLOCKS_DIFFER_NS {
                self.entry.early.fetch_add(1, Relaxed);
                self.entry.early_most_ns.fetch_max(release_ns - now, Relaxed);
            }
        }
        sleep_until(release_ns);
    }

    /// Executes one job; false if the run was stopped before its end.
    fn job(&mut self, number: u64, slot: &Slot, t0_ns: u64) -> bool {
        let first_cpu = current_cpu();
        slot.start_ns.store(monotonic_ns().saturating_sub(t0_ns), Relaxed);
        self.entry.started.fetch_add(1, Release);
        self.alarm.set(number, t0_ns.saturating_add(slot.deadline_ns.load(Relaxed)));
        let cpu_before = thread_cpu_ns();
        let over = match slot.accesses.load(Relaxed) {
            NEVER => self.use_cpu_time(cpu_before.saturating_add(slot.demand_ns.load(Relaxed)), number),
            accesses => self.make_accesses(accesses, number),
        };
        let finish_ns = monotonic_ns().saturating_sub(t0_ns);
        slot.cpu_time_ns.store(thread_cpu_ns() - cpu_before, Relaxed);
        self.alarm.clear();
        slot.cpus.store(first_cpu << 32 | current_cpu(), Relaxed);
        if over == Over::Stopped {
            return false;
        }
        slot.finish_ns.store(finish_ns, Relaxed);
        store_all(&slot.counts, self.counters.read());
        let aborted = over == Over::Aborted;
        slot.end.store(if aborted { job_end::ABORTED } else { job_end::COMPLETED }, Release);
        if aborted || finish_ns > slot.deadline_ns.load(Relaxed) {
            self.entry.missed.fetch_add(1, Relaxed);
        }
        self.entry.finished.fetch_add(1, Release);
        true
    }

    fn use_cpu_time(&mut self, until_ns: u64, number: u64) -> Over {
        while thread_cpu_ns() < until_ns {
            if let Some(over) = self.safe_point(number) {
                return over;
            }
            self.walk.go(self.accesses_per_look);
        }
        self.done_unless_told(number)
    }

    fn make_accesses(&mut self, accesses: u64, number: u64) -> Over {
        let mut left = accesses;
        while left > 0 {
            if let Some(over) = self.safe_point(number) {
                return over;
            }
            let now = left.min(self.accesses_per_look);
            self.walk.go(now);
            left -= now;
        }
        self.done_unless_told(number)
    }

    /// The outcome of job number `number`, whose work is done by now. A hypervisor that takes the CPU away lets CPU time pass
    /// all the same: of all the time that a job has asked for, the deadline too may have passed between two safe points.
    fn done_unless_told(&self, number: u64) -> Over {
        if self.alarm.told(number) { Over::Aborted } else { Over::Done }
    }

    /// Whether job number `number`, which is not done, ends here.
    #[inline]
    fn safe_point(&self, number: u64) -> Option<Over> {
        if self.shared.stopped() {
            return Some(Over::Stopped);
        }
        self.alarm.told(number).then_some(Over::Aborted)
    }
}

/// Says of the jobs after one that ended which of them will not be, because their releases passed while it was late.
fn skip_after(on_miss: OnMiss, ended: &Slot, later: &[Slot]) {
    let (deadline_ns, finish_ns) = (ended.deadline_ns.load(Relaxed), ended.finish_ns.load(Relaxed));
    for slot in later {
        let release_ns = slot.release_ns.load(Relaxed);
        if release_ns >= finish_ns {
            return;
        }
        if on_miss.skips(release_ns, deadline_ns, Some(finish_ns)) {
            slot.end.store(job_end::SKIPPED, Release);
        }
    }
}

fn store_all(to: &[AtomicU64], from: impl IntoIterator<Item = u64>) {
    to.iter().zip(from).for_each(|(word, value)| word.store(value, Relaxed));
}

fn current_cpu() -> u64 {
    // SAFETY: takes no arguments; -1 (no vDSO, no system call) cannot happen on a kernel with sched_setattr.
    u64::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(u64::from(u32::MAX))
}

/// About how many accesses fit into `span_ns`, from a short trial with a warm working set.
fn accesses_within(walk: &mut Walk<'_>, span_ns: u64) -> u64 {
    const TRIAL: u64 = 4_096;
    walk.go(TRIAL);
    let before = thread_cpu_ns();
    walk.go(TRIAL);
    let took = (thread_cpu_ns() - before).max(1);
    (TRIAL * span_ns / took).clamp(8, TRIAL)
}

#[cfg(test)]
mod tests;
