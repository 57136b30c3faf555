//! Caches and the CPUs that share them.

use crate::{ByteSize, CpuList, Diagnostic, Result};

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache and the CPUs that share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// 1, 2, 3 ...
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Capacity.
    pub size_bytes: u64,
    /// Line size, where known.
    pub line_bytes: Option<u32>,
    /// Associativity, where known.
    pub ways: Option<u32>,
    /// The CPUs that share it.
    pub cpus: CpuList,
}

/// The farthest level that a cache may have. Machines have up to 4.
const LEVEL_MAX: u32 = 8;

impl Cache {
    /// Rejects impossible caches: level 0 or above 8, no CPUs, size 0, a line size that is no power of two, a size
    /// that is no multiple of the line size, or ways that do not divide the lines. A cache may be smaller than a
    /// closer one (per CPU, a slice of an L3 can be).
    ///
    /// # Errors
    ///
    /// The first of these.
    pub fn validate(&self) -> Result<()> {
        if self.level == 0 {
            return Err(Diagnostic::usage("level is 0").hint("number cache levels from 1"));
        }
        if self.level > LEVEL_MAX {
            return Err(Diagnostic::usage(format!("level is {}, above {LEVEL_MAX}", self.level))
                .hint("number cache levels from 1, the closest to the CPU"));
        }
        if self.cpus.is_empty() {
            return Err(Diagnostic::usage("cpus is empty: no CPU uses this cache")
                .hint("list the CPUs that share the cache, or leave it out"));
        }
        if self.size_bytes == 0 {
            return Err(Diagnostic::usage("size is 0").hint("leave the cache out, or give its size"));
        }
        if self.ways == Some(0) {
            return Err(Diagnostic::usage("ways is 0").hint("leave `ways` out where it is not known"));
        }
        let Some(line) = self.line_bytes else { return Ok(()) };
        if !line.is_power_of_two() {
            return Err(Diagnostic::usage(format!("line {line} is not a power of two"))
                .hint("give the line size in bytes, such as 64"));
        }
        if !self.size_bytes.is_multiple_of(u64::from(line)) {
            return Err(Diagnostic::usage(format!(
                "size {} is not a multiple of its line of {line} bytes",
                ByteSize(self.size_bytes)
            ))
            .hint("give sizes in KiB or MiB, and the line size in bytes"));
        }
        let lines = self.size_bytes / u64::from(line);
        match self.ways {
            Some(ways) if u64::from(ways) > lines => {
                Err(Diagnostic::usage(format!("{ways} ways are more than the cache's {lines} lines"))
                    .hint("give at most as many ways as the cache has lines, or leave `ways` out"))
            }
            Some(ways) if !lines.is_multiple_of(u64::from(ways)) => Err(Diagnostic::usage(format!(
                "the cache's {lines} lines are no whole number of sets of {ways} ways"
            ))
            .hint("give ways that divide the lines, or leave `ways` out")),
            _ => Ok(()),
        }
    }

    /// The CPUs that have the closer of both caches but not the farther one, although other CPUs of the closer
    /// cache have both. All CPUs of a cache must share the same farther caches.
    pub fn astray(&self, other: &Cache) -> CpuList {
        let (closer, farther) = if self.level < other.level { (self, other) } else { (other, self) };
        match closer.level < farther.level && !closer.cpus.intersection(&farther.cpus).is_empty() {
            true => closer.cpus.difference(&farther.cpus),
            false => CpuList::default(),
        }
    }

    /// The CPUs that would have both caches although they are of one level and hold the same: data, instructions.
    pub fn clash(&self, other: &Cache) -> CpuList {
        let either_holds_both = [self.kind, other.kind].contains(&CacheKind::Unified);
        match self.level == other.level && (self.kind == other.kind || either_holds_both) {
            true => self.cpus.intersection(&other.cpus),
            false => CpuList::default(),
        }
    }
}
