//! The memory that a run's processes share: what each job is to do, and what became of it.
//!
//! One memfd, laid out as a header, one entry per task and one slot per job. The supervising process fills
//! in releases and demands; task threads store what happened; whoever outlives the others still has every
//! job that was recorded. All fields are atomics, so that no process can make another's reads undefined.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Not yet, or not at all.
pub const NEVER: u64 = u64::MAX;

/// What a thread says of a job, in [`Slot::end`].
pub mod job_end {
    /// Nothing: it has not ended.
    pub const NONE: u64 = 0;
    /// It has done its work.
    pub const COMPLETED: u64 = 1;
    /// It was not done at its deadline, and stopped.
    pub const ABORTED: u64 = 2;
    /// Its release passed while an earlier job was late: there will be no such job.
    pub const SKIPPED: u64 = 3;
}

/// Words for the whole run.
#[repr(C)]
pub struct Header {
    /// 0 until the synchronous release is set, then 1; a futex.
    pub go: AtomicU32,
    /// 1 once every task must stop at its next look.
    pub stop: AtomicU32,
    /// CLOCK_MONOTONIC of the synchronous release.
    pub t0_ns: AtomicU64,
    /// Number of tasks.
    task_count: AtomicU64,
    /// Number of job slots.
    slot_count: AtomicU64,
}

/// Words for one task.
#[repr(C)]
#[derive(Default)]
pub struct TaskEntry {
    /// Index of its first slot.
    first_slot: AtomicU64,
    /// Number of its slots.
    slot_count: AtomicU64,
    /// Jobs that have started.
    pub started: AtomicU64,
    /// Jobs that have ended.
    pub finished: AtomicU64,
    /// Finished jobs that missed their deadline, aborted ones among them.
    pub missed: AtomicU64,
    /// Jobs that a policy released before their time.
    pub early: AtomicU64,
    /// By how many ns the earliest of them.
    pub early_most_ns: AtomicU64,
    /// Cumulative counts when the first job was about to be released.
    pub baseline: [AtomicU64; COUNTS],
}

/// Number of cumulative counts kept per job (see [`crate::perf::Count`]).
pub const COUNTS: usize = 6;

/// One job: its orders and its record. Instants are ns since the synchronous release.
#[repr(C)]
#[derive(Default)]
pub struct Slot {
    /// Nominal release.
    pub release_ns: AtomicU64,
    /// Absolute deadline.
    pub deadline_ns: AtomicU64,
    /// CPU time to use.
    pub demand_ns: AtomicU64,
    /// Accesses to make instead, if not [`NEVER`].
    pub accesses: AtomicU64,
    /// What became of it ([`job_end`]).
    pub end: AtomicU64,
    /// Start of execution.
    pub start_ns: AtomicU64,
    /// End of execution, by completion or by abort.
    pub finish_ns: AtomicU64,
    /// CPU time used.
    pub cpu_time_ns: AtomicU64,
    /// CPU at the start (high half) and at the end (low half).
    pub cpus: AtomicU64,
    /// Cumulative counts at the end, [`NEVER`] where there is no counter.
    pub counts: [AtomicU64; COUNTS],
}

/// A mapping of the shared memory.
pub struct Shared {
    fd: OwnedFd,
    base: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping lives as long as the value and is only reached through atomics.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    /// Creates the memory for tasks with the given numbers of jobs.
    pub fn create(jobs_per_task: &[usize]) -> io::Result<Self> {
        let slots: usize = jobs_per_task.iter().sum();
        let bytes = layout_bytes(jobs_per_task.len(), slots);
        let fd = rustix::fs::memfd_create("laxity-run", MemfdFlags::CLOEXEC)?;
        rustix::fs::fallocate(&fd, rustix::fs::FallocateFlags::empty(), 0, bytes as u64)?;
        let shared = Self::map(fd, bytes)?;
        shared.header().task_count.store(jobs_per_task.len() as u64, Relaxed);
        shared.header().slot_count.store(slots as u64, Relaxed);
        let mut first = 0;
        for (task, &count) in shared.tasks().iter().zip(jobs_per_task) {
            task.first_slot.store(first, Relaxed);
            task.slot_count.store(count as u64, Relaxed);
            first += count as u64;
        }
        for slot in shared.slots() {
            for word in [&slot.accesses, &slot.start_ns, &slot.finish_ns, &slot.cpu_time_ns, &slot.cpus] {
                word.store(NEVER, Relaxed);
            }
            slot.end.store(job_end::NONE, Relaxed);
            slot.counts.iter().for_each(|count| count.store(NEVER, Relaxed));
        }
        Ok(shared)
    }

    /// Maps memory that another process created.
    pub fn open(fd: OwnedFd) -> io::Result<Self> {
        let bytes =
            usize::try_from(rustix::fs::fstat(&fd)?.st_size).map_err(|_| io::ErrorKind::InvalidData)?;
        if bytes < size_of::<Header>() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let shared = Self::map(fd, bytes)?;
        if layout_bytes(shared.task_count(), shared.slot_count()) > bytes {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(shared)
    }

    fn map(fd: OwnedFd, bytes: usize) -> io::Result<Self> {
        // SAFETY: a fresh mapping of a file of `bytes` bytes; no address is asked for.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                &fd,
                0,
            )?
        };
        Ok(Shared { fd, base: base.cast(), bytes })
    }

    /// The descriptor to hand to another process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Words for the whole run.
    pub fn header(&self) -> &Header {
        // SAFETY: the mapping starts with a header of atomics, page-aligned.
        unsafe { &*self.base.cast::<Header>() }
    }

    fn task_count(&self) -> usize {
        usize::try_from(self.header().task_count.load(Relaxed)).unwrap_or(usize::MAX / 1024)
    }

    fn slot_count(&self) -> usize {
        usize::try_from(self.header().slot_count.load(Relaxed)).unwrap_or(usize::MAX / 1024)
    }

    /// One entry per task.
    pub fn tasks(&self) -> &[TaskEntry] {
        // SAFETY: `create` and `open` made sure that the entries lie inside the mapping; zero or any other
        // bytes are valid atomics, and 8-byte alignment follows from the page-aligned base.
        unsafe {
            std::slice::from_raw_parts(
                self.base.add(size_of::<Header>()).cast::<TaskEntry>(),
                self.task_count(),
            )
        }
    }

    fn slots(&self) -> &[Slot] {
        let offset = size_of::<Header>() + self.task_count() * size_of::<TaskEntry>();
        // SAFETY: as for `tasks`.
        unsafe { std::slice::from_raw_parts(self.base.add(offset).cast::<Slot>(), self.slot_count()) }
    }

    /// The job slots of task number `task`.
    pub fn jobs_of(&self, task: usize) -> &[Slot] {
        let entry = &self.tasks()[task];
        let first = usize::try_from(entry.first_slot.load(Relaxed)).expect("fits the mapping");
        let count = usize::try_from(entry.slot_count.load(Relaxed)).expect("fits the mapping");
        &self.slots()[first..first + count]
    }

    /// Sets the synchronous release and wakes every waiting thread.
    pub fn release_at(&self, t0_ns: u64) {
        self.header().t0_ns.store(t0_ns, Relaxed);
        self.open_gate();
    }

    /// Tells every task to stop, also those that still wait for the release.
    pub fn stop(&self) {
        self.header().stop.store(1, Release);
        self.open_gate();
    }

    fn open_gate(&self) {
        self.header().go.store(1, Release);
        // SAFETY: the futex word lies in the mapping.
        unsafe {
            libc::syscall(libc::SYS_futex, &raw const self.header().go, libc::FUTEX_WAKE, i32::MAX);
        }
    }

    /// Blocks until the synchronous release is set; returns it, or nothing if the run was stopped before.
    pub fn wait_for_release(&self) -> Option<u64> {
        while self.header().go.load(Acquire) == 0 {
            // SAFETY: the futex word lies in the mapping; the null pointer means no timeout.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    &raw const self.header().go,
                    libc::FUTEX_WAIT,
                    0u32,
                    std::ptr::null::<libc::timespec>(),
                );
            }
        }
        (!self.stopped()).then(|| self.header().t0_ns.load(Relaxed))
    }

    /// True once every task must stop.
    pub fn stopped(&self) -> bool {
        self.header().stop.load(Acquire) != 0
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this base and length and nothing borrows from it any more.
        let unmapped = unsafe { rustix::mm::munmap(self.base.cast(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

fn layout_bytes(tasks: usize, slots: usize) -> usize {
    let tasks = tasks.saturating_mul(size_of::<TaskEntry>());
    let slots = slots.saturating_mul(size_of::<Slot>());
    size_of::<Header>().saturating_add(tasks).saturating_add(slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_mapping_sees_the_first_ones_jobs() {
        let ours = Shared::create(&[3, 0, 2]).expect("memory");
        ours.jobs_of(2)[1].finish_ns.store(77, Relaxed);
        ours.jobs_of(0)[2].release_ns.store(5, Relaxed);
        let theirs = Shared::open(ours.fd().try_clone_to_owned().expect("descriptor")).expect("mapping");
        assert_eq!(theirs.tasks().len(), 3);
        assert_eq!([0, 1, 2].map(|task| theirs.jobs_of(task).len()), [3, 0, 2]);
        assert_eq!(theirs.jobs_of(2)[1].finish_ns.load(Relaxed), 77);
        assert_eq!(theirs.jobs_of(0)[2].release_ns.load(Relaxed), 5);
        assert_eq!(theirs.jobs_of(0)[0].start_ns.load(Relaxed), NEVER);
    }

    #[test]
    fn a_file_that_is_too_small_is_refused() {
        let fd = rustix::fs::memfd_create("short", MemfdFlags::CLOEXEC).expect("memory");
        assert!(Shared::open(fd).is_err());
    }

    #[test]
    fn stop_opens_the_gate_without_a_release() {
        let shared = Shared::create(&[1]).expect("memory");
        shared.stop();
        assert_eq!(shared.wait_for_release(), None);
        let shared = Shared::create(&[1]).expect("memory");
        shared.release_at(9);
        assert_eq!(shared.wait_for_release(), Some(9));
    }
}
