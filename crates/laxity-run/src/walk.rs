//! What a job does with its CPU time: it walks its working set, one access per cache line
//! (lelli2012, 5.2: 64-byte elements, 4 reads to 1 write, sequentially or randomly; lindsay2012, 6.1.2: strides of 64 bytes).
//!
//! A working set is the first part of a region that tasks share, memory of the task's own, or the one and then the other. Others
//! may read and write a region at the same time: all accesses are atomic, and relaxed, which costs no more than plain ones.

use crate::sharing::{LINE_BYTES, LINKS, SharedPart};
use laxity_model::{AccessPattern, WorkingSet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::ops::Deref;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// One element of the walked array: a cache line.
#[repr(C, align(64))]
pub struct Line {
    /// Where random walks go next: a number of lines of the walk.
    next: [AtomicU32; LINKS],
    /// What is read.
    pub read: AtomicU32,
    /// What is written.
    pub written: AtomicU32,
}

/// A prefaulted working set and the place where its walker stands.
pub struct Walk<'a> {
    /// The lines that it shares; they come first.
    shared: &'a [Line],
    own: OwnLines,
    pattern: AccessPattern,
    reads: u32,
    cycle: u32,
    link: usize,
    position: usize,
    turn: u32,
}

impl<'a> Walk<'a> {
    /// Maps and touches the memory. A working set of no bytes walks a single line. The random order is one
    /// cycle through all lines (Sattolo), drawn from `seed`.
    pub fn new(set: &WorkingSet, seed: u64) -> io::Result<Self> {
        let lines = set.size_bytes.div_ceil(LINE_BYTES).max(1);
        Self::over(&[], OwnLines::map(lines)?, set, 0, seed)
    }

    /// The same, of which `part` is the beginning of `region`, which others share.
    pub fn sharing(set: &WorkingSet, part: &SharedPart, region: &'a [Line]) -> io::Result<Self> {
        let lines = usize::try_from(part.bytes.div_ceil(LINE_BYTES)).ok();
        let shared = lines.and_then(|lines| region.get(..lines)).ok_or(io::ErrorKind::InvalidInput)?;
        let own = OwnLines::map(set.size_bytes.saturating_sub(part.bytes).div_ceil(LINE_BYTES))?;
        Self::over(shared, own, set, part.link, part.seed)
    }

    fn over(shared: &'a [Line], own: OwnLines, set: &WorkingSet, link: usize, seed: u64) -> io::Result<Self> {
        let cycle = set.reads + set.writes;
        let walk =
            Walk { shared, own, pattern: set.pattern, reads: set.reads, cycle, link, position: 0, turn: 0 };
        let count = u32::try_from(walk.count()).ok().filter(|&count| count > 0);
        walk.link(count.ok_or(io::ErrorKind::OutOfMemory)?, seed);
        Ok(walk)
    }

    /// Lines of the working set.
    fn count(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// Line number `at`: those of the region come first.
    #[inline(always)]
    fn line(&self, at: usize) -> &Line {
        match self.shared.get(at) {
            Some(line) => line,
            None => &self.own[at - self.shared.len()],
        }
    }

    /// Touches all lines, and links them. Other tasks that do so in a region at the same time write the same, or
    /// other words.
    fn link(&self, count: u32, seed: u64) {
        let mut order: Vec<u32> = (0..count).collect();
        if self.pattern == AccessPattern::Random {
            let mut rng = Pcg64::seed_from_u64(seed);
            for last in (1..order.len()).rev() {
                let other = rng.random_range(0..last as u64);
                order.swap(last, usize::try_from(other).expect("an index"));
            }
        }
        for (at, &number) in order.iter().enumerate() {
            let line = self.line(number as usize);
            line.read.store(number, Relaxed);
            if self.pattern == AccessPattern::Random {
                line.next[self.link].store(order[(at + 1) % order.len()], Relaxed);
            }
        }
    }

    /// Makes `accesses` accesses from where the last call ended. Allocates nothing.
    pub fn go(&mut self, accesses: u64) {
        let (mut position, mut turn) = (self.position, self.turn);
        let (reads, cycle, random) = (self.reads, self.cycle, self.pattern == AccessPattern::Random);
        let count = self.count();
        for _ in 0..accesses {
            let line = self.line(position);
            if turn < reads {
                std::hint::black_box(line.read.load(Relaxed));
            } else {
                line.written.store(turn, Relaxed);
            }
            position = if random {
                line.next[self.link].load(Relaxed) as usize
            } else if position + 1 == count {
                0
            } else {
                position + 1
            };
            turn = if turn + 1 == cycle { 0 } else { turn + 1 };
        }
        self.position = position;
        self.turn = turn;
    }
}

/// Lines of this value alone.
struct OwnLines {
    lines: *mut Line,
    count: usize,
}

// SAFETY: the mapping belongs to this value alone, and its lines are atomics.
unsafe impl Send for OwnLines {}

impl OwnLines {
    fn map(count: u64) -> io::Result<Self> {
        let count = usize::try_from(count).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if count == 0 {
            return Ok(OwnLines { lines: std::ptr::NonNull::dangling().as_ptr(), count });
        }
        let bytes = count.checked_mul(size_of::<Line>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a fresh anonymous mapping; no address is asked for.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )?
        };
        Ok(OwnLines { lines: base.cast(), count })
    }
}

impl Deref for OwnLines {
    type Target = [Line];

    #[inline(always)]
    fn deref(&self) -> &[Line] {
        // SAFETY: the mapping holds `count` zero-initialised lines of atomics for as long as the value lives; without lines
        // the pointer is aligned, and nothing is read.
        unsafe { std::slice::from_raw_parts(self.lines, self.count) }
    }
}

impl Drop for OwnLines {
    fn drop(&mut self) {
        if self.count == 0 {
            return;
        }
        // SAFETY: the mapping was made with this base and length and nothing borrows from it any more.
        let unmapped = unsafe { rustix::mm::munmap(self.lines.cast(), self.count * size_of::<Line>()) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::Shared;

    fn set(lines: u64, pattern: AccessPattern) -> WorkingSet {
        WorkingSet { size_bytes: lines * LINE_BYTES, pattern, ..WorkingSet::default() }
    }

    fn part(lines: u64, link: usize) -> SharedPart {
        SharedPart { region: 0, bytes: lines * LINE_BYTES, link, seed: 7 + link as u64 }
    }

    /// Walks one round, from line 0 back to it, and sees every line once.
    fn one_round(walk: &mut Walk<'_>) {
        let count = walk.count();
        let mut seen = vec![false; count];
        for _ in 0..count {
            assert!(!std::mem::replace(&mut seen[walk.position], true), "line {} twice", walk.position);
            walk.go(1);
        }
        assert_eq!(walk.position, 0);
    }

    #[test]
    fn both_orders_visit_every_line_once_per_round() {
        for pattern in [AccessPattern::Sequential, AccessPattern::Random] {
            one_round(&mut Walk::new(&set(101, pattern), 7).expect("memory"));
        }
    }

    #[test]
    fn one_access_in_five_writes() {
        let mut walk = Walk::new(&set(10, AccessPattern::Sequential), 7).expect("memory");
        walk.go(10);
        let written: Vec<bool> = walk.own.iter().map(|line| line.written.load(Relaxed) != 0).collect();
        let every_fifth: Vec<bool> = (0..10).map(|line| line % 5 == 4).collect();
        assert_eq!(written, every_fifth);
    }

    #[test]
    fn no_working_set_is_one_line() {
        let mut walk = Walk::new(&set(0, AccessPattern::Sequential), 7).expect("memory");
        walk.go(1000);
        assert_eq!((walk.count(), walk.position), (1, 0));
    }

    /// Walks of one region have their own orders, whatever the others' are, and however much memory of their own follows.
    #[test]
    fn members_of_a_group_walk_their_lines_each_in_its_order() {
        let memory = Shared::create(&[], &[100 * LINE_BYTES]).expect("memory");
        let theirs = Shared::open(memory.fd().try_clone_to_owned().expect("descriptor")).expect("mapping");
        let random = AccessPattern::Random;
        let parts = [(100, 100, 0), (130, 100, 1), (40, 40, 2), (77, 64, 3)];
        let mut walks: Vec<Walk<'_>> = parts
            .iter()
            .map(|&(lines, shared, link)| {
                let region = if link % 2 == 0 { memory.region(0) } else { theirs.region(0) };
                Walk::sharing(&set(lines, random), &part(shared, link), region).expect("memory")
            })
            .collect();
        walks.push(
            Walk::sharing(&set(130, AccessPattern::Sequential), &part(100, 0), memory.region(0))
                .expect("memory"),
        );
        walks.iter_mut().for_each(one_round);
        // All orders are there still.
        walks.iter_mut().for_each(one_round);
        let (a, b) = (&walks[0], &walks[1]);
        let orders_differ =
            (0..100).any(|at| a.line(at).next[0].load(Relaxed) != b.line(at).next[1].load(Relaxed));
        assert!(orders_differ);
    }

    #[test]
    fn what_one_process_writes_the_other_reads_except_own_lines() {
        let ours = Shared::create(&[], &[10 * LINE_BYTES]).expect("memory");
        let theirs = Shared::open(ours.fd().try_clone_to_owned().expect("descriptor")).expect("mapping");
        assert_ne!(ours.region(0).as_ptr(), theirs.region(0).as_ptr(), "two mappings, as of two processes");
        let sequential = AccessPattern::Sequential;
        let mut one = Walk::sharing(&set(20, sequential), &part(10, 0), ours.region(0)).expect("memory");
        let other = Walk::sharing(&set(20, sequential), &part(10, 0), theirs.region(0)).expect("memory");
        one.go(20);
        let written = |walk: &Walk<'_>| -> Vec<usize> {
            (0..20).filter(|&at| walk.line(at).written.load(Relaxed) != 0).collect()
        };
        assert_eq!(written(&one), [4, 9, 14, 19]);
        assert_eq!(written(&other), [4, 9], "those of the region");
    }

    #[test]
    fn a_part_beyond_the_region_is_refused() {
        let memory = Shared::create(&[], &[10 * LINE_BYTES]).expect("memory");
        let too_much = Walk::sharing(&set(200, AccessPattern::Sequential), &part(100, 0), memory.region(0));
        assert!(too_much.is_err());
    }
}
