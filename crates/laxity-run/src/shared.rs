//! The memory that a run's processes share: what each job is to do, and what it did.
//!
//! One memfd, laid out as a header, one entry per task, one slot per job, and the memory of the groups
//! ([`crate::sharing`]), which begins on a page of its own. The supervising process fills in releases and demands;
//! task threads store what happened; a process that outlives the others still has every job that was recorded. All
//! fields are atomics, so that no process can make another's reads undefined.

use crate::walk::Line;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Pages are no larger where laxity runs, but for huge ones.
const PAGE_BYTES: usize = 4096;

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
    /// Number of regions.
    region_count: AtomicU64,
}

/// Where a group's memory is.
#[repr(C)]
struct RegionEntry {
    /// In lines, from the beginning of all regions.
    first_line: AtomicU64,
    /// Number of its lines.
    line_count: AtomicU64,
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
    /// The number of the job, from 1, that is to stop at its next safe point ([`crate::abort`]).
    pub abort: AtomicU64,
    /// How often the kernel has told the thread that its budget is used up ([`crate::overrun`]).
    pub overruns: AtomicU64,
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
    /// How it ended ([`job_end`]).
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
    /// Creates the memory for tasks with the given numbers of jobs, and for regions of so many bytes.
    pub fn create(jobs_per_task: &[usize], regions: &[u64]) -> io::Result<Self> {
        let slots: usize = jobs_per_task.iter().sum();
        let lines = lines_of(regions)?;
        let layout = Layout { tasks: jobs_per_task.len(), slots, regions: regions.len() };
        let all_lines = lines.iter().try_fold(0_usize, |sum, lines| sum.checked_add(*lines));
        let bytes = all_lines.and_then(|lines| layout.with_lines(lines)).ok_or(io::ErrorKind::OutOfMemory)?;
        let fd = rustix::fs::memfd_create("laxity-run", MemfdFlags::CLOEXEC)?;
        rustix::fs::fallocate(&fd, rustix::fs::FallocateFlags::empty(), 0, bytes as u64)?;
        let shared = Self::map(fd, bytes)?;
        shared.header().task_count.store(jobs_per_task.len() as u64, Relaxed);
        shared.header().slot_count.store(slots as u64, Relaxed);
        shared.header().region_count.store(regions.len() as u64, Relaxed);
        let mut first_line = 0;
        for (entry, lines) in shared.regions().iter().zip(lines) {
            entry.first_line.store(first_line, Relaxed);
            entry.line_count.store(lines as u64, Relaxed);
            first_line += lines as u64;
        }
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
        if shared.layout().regions_at() > bytes {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let end = |region: &RegionEntry| {
            let (first, lines) = (region.first_line.load(Relaxed), region.line_count.load(Relaxed));
            usize::try_from(first.checked_add(lines)?).ok()
        };
        let ends = shared.regions().iter().map(end).collect::<Option<Vec<usize>>>();
        let last = ends.and_then(|ends| shared.layout().with_lines(ends.into_iter().max().unwrap_or(0)));
        if last.is_none_or(|last| last > bytes) {
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

    fn layout(&self) -> Layout {
        let count = |word: &AtomicU64| usize::try_from(word.load(Relaxed)).unwrap_or(usize::MAX / 1024);
        let header = self.header();
        Layout {
            tasks: count(&header.task_count),
            slots: count(&header.slot_count),
            regions: count(&header.region_count),
        }
    }

    /// One entry per task.
    pub fn tasks(&self) -> &[TaskEntry] {
        // SAFETY: `create` and `open` made sure that the entries lie inside the mapping; zero or any other
        // bytes are valid atomics, and 8-byte alignment follows from the page-aligned base.
        unsafe {
            std::slice::from_raw_parts(
                self.base.add(size_of::<Header>()).cast::<TaskEntry>(),
                self.layout().tasks,
            )
        }
    }

    fn slots(&self) -> &[Slot] {
        let layout = self.layout();
        // SAFETY: as for `tasks`.
        unsafe { std::slice::from_raw_parts(self.base.add(layout.slots_at()).cast::<Slot>(), layout.slots) }
    }

    fn regions(&self) -> &[RegionEntry] {
        let layout = self.layout();
        let at = layout.entries_at();
        // SAFETY: as for `tasks`.
        unsafe { std::slice::from_raw_parts(self.base.add(at).cast::<RegionEntry>(), layout.regions) }
    }

    /// The lines of region number `region`: the same memory in every mapping.
    pub fn region(&self, region: usize) -> &[Line] {
        let entry = &self.regions()[region];
        let word = |word: &AtomicU64| usize::try_from(word.load(Relaxed)).expect("fits the mapping");
        let at = self.layout().regions_at() + word(&entry.first_line) * size_of::<Line>();
        // SAFETY: as for `tasks`; regions begin on a page, so that lines are aligned.
        unsafe { std::slice::from_raw_parts(self.base.add(at).cast::<Line>(), word(&entry.line_count)) }
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

/// Every region begins on a page of its own, as memory that a task has alone does.
fn lines_of(regions: &[u64]) -> io::Result<Vec<usize>> {
    let lines = |bytes: &u64| {
        let bytes = usize::try_from(*bytes).ok()?.checked_next_multiple_of(PAGE_BYTES)?;
        Some(bytes / size_of::<Line>())
    };
    regions.iter().map(lines).collect::<Option<_>>().ok_or(io::ErrorKind::OutOfMemory.into())
}

/// How many there are of what, and where it is.
#[derive(Clone, Copy)]
struct Layout {
    tasks: usize,
    slots: usize,
    regions: usize,
}

impl Layout {
    fn slots_at(self) -> usize {
        size_of::<Header>().saturating_add(self.tasks.saturating_mul(size_of::<TaskEntry>()))
    }

    /// Where the entries of the regions are.
    fn entries_at(self) -> usize {
        self.slots_at().saturating_add(self.slots.saturating_mul(size_of::<Slot>()))
    }

    /// Where the regions begin: on a page.
    fn regions_at(self) -> usize {
        let end = self.entries_at().saturating_add(self.regions.saturating_mul(size_of::<RegionEntry>()));
        end.checked_next_multiple_of(PAGE_BYTES).unwrap_or(usize::MAX)
    }

    /// Bytes of all, with so many lines of regions.
    fn with_lines(self, lines: usize) -> Option<usize> {
        lines.checked_mul(size_of::<Line>())?.checked_add(self.regions_at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_mapping_sees_the_first_ones_jobs() {
        let ours = Shared::create(&[3, 0, 2], &[]).expect("memory");
        ours.jobs_of(2)[1].finish_ns.store(77, Relaxed);
        ours.jobs_of(0)[2].release_ns.store(5, Relaxed);
        let theirs = Shared::open(ours.fd().try_clone_to_owned().expect("descriptor")).expect("mapping");
        assert_eq!(theirs.tasks().len(), 3);
        assert_eq!([0, 1, 2].map(|task| theirs.jobs_of(task).len()), [3, 0, 2]);
        assert_eq!(theirs.jobs_of(2)[1].finish_ns.load(Relaxed), 77);
        assert_eq!(theirs.jobs_of(0)[2].release_ns.load(Relaxed), 5);
        assert_eq!(theirs.jobs_of(0)[0].start_ns.load(Relaxed), NEVER);
    }

    /// However many processes map them.
    #[test]
    fn regions_are_apart_and_there_once() {
        let bytes = [100, 10_000, 1 << 20];
        let ours = Shared::create(&[2, 1], &bytes).expect("memory");
        let theirs = Shared::open(ours.fd().try_clone_to_owned().expect("descriptor")).expect("mapping");
        for (region, (bytes, mark)) in bytes.iter().zip(1..).enumerate() {
            assert!(ours.region(region).len() as u64 * 64 >= *bytes);
            assert!(ours.region(region).as_ptr().addr().is_multiple_of(PAGE_BYTES));
            ours.region(region).iter().for_each(|line| line.written.store(mark, Relaxed));
        }
        let marks = |region: usize| -> Vec<u32> {
            let mut marks: Vec<u32> =
                theirs.region(region).iter().map(|line| line.written.load(Relaxed)).collect();
            marks.dedup();
            marks
        };
        assert_eq!([0, 1, 2].map(marks), [vec![1], vec![2], vec![3]]);
        assert_eq!(theirs.jobs_of(1)[0].end.load(Relaxed), job_end::NONE);
        // Memory of the file itself: one page of records, and 1, 3 and 256 of regions.
        let kept = rustix::fs::fstat(ours.fd()).expect("a file").st_blocks * 512;
        assert_eq!(kept, (1 + 1 + 3 + 256) * 4096);
    }

    #[test]
    fn a_region_beyond_the_file_is_refused() {
        let shared = Shared::create(&[], &[4096]).expect("memory");
        shared.regions()[0].line_count.store(65, Relaxed);
        assert!(Shared::open(shared.fd().try_clone_to_owned().expect("descriptor")).is_err());
        shared.regions()[0].first_line.store(u64::MAX, Relaxed);
        assert!(Shared::open(shared.fd().try_clone_to_owned().expect("descriptor")).is_err());
    }

    #[test]
    fn a_file_that_is_too_small_is_refused() {
        let fd = rustix::fs::memfd_create("short", MemfdFlags::CLOEXEC).expect("memory");
        assert!(Shared::open(fd).is_err());
    }

    #[test]
    fn stop_opens_the_gate_without_a_release() {
        let shared = Shared::create(&[1], &[]).expect("memory");
        shared.stop();
        assert_eq!(shared.wait_for_release(), None);
        let shared = Shared::create(&[1], &[]).expect("memory");
        shared.release_at(9);
        assert_eq!(shared.wait_for_release(), Some(9));
    }
}
