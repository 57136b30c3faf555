//! What a job does with its CPU time: it walks its working set, one access per cache line
//! (lelli2012, 5.2: 64-byte elements, 4 reads to 1 write, sequentially or randomly).

use laxity_model::{AccessPattern, WorkingSet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rustix::mm::{MapFlags, ProtFlags};
use std::io;

/// One element of the walked array: a cache line.
#[repr(C, align(64))]
struct Line {
    next: u32,
    payload: [u32; 15],
}

/// Bytes of one element.
pub const LINE_BYTES: u64 = 64;

/// A private, prefaulted working set and the place where its walker stands.
pub struct Walk {
    lines: *mut Line,
    count: usize,
    pattern: AccessPattern,
    reads: u32,
    cycle: u32,
    position: u32,
    turn: u32,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl Send for Walk {}

impl Walk {
    /// Maps and touches the memory. A working set of no bytes walks a single line. The random order is one
    /// cycle through all lines (Sattolo), drawn from `seed`.
    pub fn new(set: &WorkingSet, seed: u64) -> io::Result<Self> {
        let count = usize::try_from(set.size_bytes.div_ceil(LINE_BYTES).max(1))
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        if u32::try_from(count).is_err() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // SAFETY: a fresh anonymous mapping; no address is asked for.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                count * size_of::<Line>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )?
        };
        let cycle = set.reads + set.writes;
        let mut walk = Walk {
            lines: base.cast(),
            count,
            pattern: set.pattern,
            reads: set.reads,
            cycle,
            position: 0,
            turn: 0,
        };
        walk.link(seed);
        Ok(walk)
    }

    fn link(&mut self, seed: u64) {
        let mut order: Vec<u32> = (0..u32::try_from(self.count).expect("checked in new")).collect();
        if self.pattern == AccessPattern::Random {
            let mut rng = Pcg64::seed_from_u64(seed);
            for last in (1..order.len()).rev() {
                let other = rng.random_range(0..last as u64);
                order.swap(last, usize::try_from(other).expect("an index"));
            }
        }
        let lines = self.lines();
        for (at, &line) in order.iter().enumerate() {
            lines[line as usize].next = order[(at + 1) % order.len()];
            lines[line as usize].payload[0] = line;
        }
    }

    fn lines(&mut self) -> &mut [Line] {
        // SAFETY: the mapping holds `count` zero-initialised lines and is borrowed mutably through self.
        unsafe { std::slice::from_raw_parts_mut(self.lines, self.count) }
    }

    /// Makes `accesses` accesses from where the last call ended. Allocates nothing.
    pub fn go(&mut self, accesses: u64) {
        let (mut position, mut turn) = (self.position as usize, self.turn);
        let (reads, cycle, random) = (self.reads, self.cycle, self.pattern == AccessPattern::Random);
        let count = self.count;
        let lines = self.lines.cast_const();
        for _ in 0..accesses {
            // SAFETY: `position` is below `count`: it starts so, wraps in the sequential walk, and otherwise
            // comes from `next`, which `link` filled with indices. Volatile, so that no access is dropped.
            let next = unsafe {
                let line = lines.add(position).cast_mut();
                if turn < reads {
                    std::hint::black_box((&raw const (*line).payload[0]).read_volatile());
                } else {
                    (&raw mut (*line).payload[1]).write_volatile(turn);
                }
                if random {
                    (&raw const (*line).next).read_volatile() as usize
                } else if position + 1 == count {
                    0
                } else {
                    position + 1
                }
            };
            position = next;
            turn = if turn + 1 == cycle { 0 } else { turn + 1 };
        }
        self.position = u32::try_from(position).expect("an index");
        self.turn = turn;
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this base and length and nothing borrows from it any more.
        let unmapped = unsafe { rustix::mm::munmap(self.lines.cast(), self.count * size_of::<Line>()) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(lines: u64, pattern: AccessPattern) -> Walk {
        let set = WorkingSet { size_bytes: lines * LINE_BYTES, pattern, ..WorkingSet::default() };
        Walk::new(&set, 7).expect("memory")
    }

    #[test]
    fn both_orders_visit_every_line_once_per_round() {
        for pattern in [AccessPattern::Sequential, AccessPattern::Random] {
            let mut walk = walk(101, pattern);
            let mut seen = [false; 101];
            for _ in 0..101 {
                let at = walk.position as usize;
                assert!(!std::mem::replace(&mut seen[at], true), "{pattern:?} visits line {at} twice");
                walk.go(1);
            }
            assert_eq!(walk.position, 0);
        }
    }

    #[test]
    fn one_access_in_five_writes() {
        let mut walk = walk(10, AccessPattern::Sequential);
        walk.go(10);
        let written: Vec<bool> = walk.lines().iter().map(|line| line.payload[1] != 0).collect();
        let every_fifth: Vec<bool> = (0..10).map(|line| line % 5 == 4).collect();
        assert_eq!(written, every_fifth);
    }

    #[test]
    fn no_working_set_is_one_line() {
        let mut walk = walk(0, AccessPattern::Sequential);
        walk.go(1000);
        assert_eq!((walk.count, walk.position), (1, 0));
    }
}
