//! What it costs a job to go on where its working set is not.
//!
//! Cache distance is "the best-case memory access latency from B to a word of memory that resides in A's L1 cache"
//! (lindsay2012, 4.4): it is given by the closest cache that both CPUs share, else by memory. Two ways to say what a
//! distance costs ([`Reload`]):
//!
//! - [`MeasuredDelays`]: measured delays by working-set size, one function per closest shared level; the CSV that the
//!   field exchanges (`WSS, MEM, L1, L2, L3`).
//! - [`LineLatencies`]: what it takes to load one line from each level. The delay is then
//!   `lines(min(W, lost)) * latency(s)`, with W the working set, s the closest level that still has it, and `lost` the
//!   capacity of what is closer to the CPU than s.
//!
//! Assumptions, where delays go by distance (where caches are [`CacheCosts::tracked`], see [`super::CacheState`]):
//!
//! 1. After a migration, the caches that the two CPUs do not share hold nothing of the working set, and the closest
//!    shared one holds all that fits. What does not fit into the caches that were left would have missed anyway: it
//!    costs nothing extra. Latencies are not reduced by what a hit would have cost. Both make the delay an upper one
//!    for accesses one after the other; a prefetcher makes it shorter.
//! 2. After a preemption on the same CPU, the jobs that ran in between have evicted a share
//!    ([`CacheCosts::evicted_ppm`],
//!    all of it by default) of the caches that this core (with its SMT siblings) has for itself. With latencies, the
//!    rest comes from the first level shared with another CPU; with measured delays, their L1 column has it all.
//! 3. A machine of which no caches are described shares nothing: everything comes from memory, and all of the working
//!    set is lost. A level without a cost of its own takes that of the next farther one that has it (for L1: nothing).
//! 4. The delay is paid at once, when the job goes on, and is added to what it has to execute. A job that resumes pays
//!    in full even if nothing ran in between; the jobs in between pay nothing for sharing a cache with it.

use super::PiecewiseLinear;
use laxity_generate::Decimal;
use laxity_model::{Diagnostic, Result};
use std::collections::BTreeMap;

/// All of it, in parts per million.
const WHOLE_PPM: u32 = 1_000_000;

/// Latencies of a line up to this much, in ps: 1 ms.
const LATENCY_PS_MAX: u64 = 1_000_000_000;

/// The costs of cold caches.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheCosts {
    /// What a distance costs.
    pub reload: Reload,
    /// The share of a CPU's own caches that is evicted while a job is preempted, in parts per million.
    pub evicted_ppm: u32,
    /// Whether the simulator follows what each cache holds ([`super::CacheState`]), instead of going by distance.
    pub tracked: bool,
    /// Instructions per cycle of a job with warm caches, to say how many there are of others: above 0.
    pub ipc: Option<Decimal>,
}

/// What it costs to reload a working set from a level of the memory hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub enum Reload {
    /// By measurements of whole working sets.
    Measured(MeasuredDelays),
    /// By the latency of a line.
    Lines(LineLatencies),
}

/// Measured delays as functions of the working set's size in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredDelays {
    /// By the closest shared cache level; level 1 is also that of a preemption.
    pub levels: BTreeMap<u32, PiecewiseLinear>,
    /// No shared cache.
    pub memory: PiecewiseLinear,
}

/// How long it takes to load one cache line, in ps (10^-12 s), which is exact for fractions of ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLatencies {
    /// Size of a line where the platform does not say.
    pub line_bytes: u32,
    /// From a cache of this level.
    pub levels_ps: BTreeMap<u32, u64>,
    /// From memory, of the own node where nodes are known.
    pub memory_ps: u64,
    /// From another node's memory or caches; nothing given: as from memory.
    pub remote_memory_ps: Option<u64>,
    /// How long a job with warm caches works for each line that it walks, in ps, with loading it. None: no lines
    /// are taken from a job while it runs ([`super::CacheState`]), and how many lines jobs walk is not known.
    pub access_ps: Option<u64>,
}

impl CacheCosts {
    /// After a preemption, nothing is left of what a CPU has for itself.
    pub fn new(reload: Reload) -> CacheCosts {
        CacheCosts { reload, evicted_ppm: WHOLE_PPM, tracked: false, ipc: None }
    }

    /// With what each cache holds followed through the schedule.
    ///
    /// # Errors
    ///
    /// Measured delays, which are not of lines, or a share that is evicted, which then follows.
    pub fn tracking(self) -> Result<CacheCosts> {
        if matches!(self.reload, Reload::Measured(_)) {
            return Err(Diagnostic::usage(
                "`tracked` caches need the latencies of a line, not measured delays",
            )
            .hint("give `memory` and the levels (l2, l3) instead of `cpmd`, or leave `tracked` out"));
        }
        if self.evicted_ppm != WHOLE_PPM {
            return Err(Diagnostic::usage("`evicted` is given although caches are `tracked`")
                .hint("leave `evicted` out: what is evicted follows from the jobs that ran"));
        }
        Ok(CacheCosts { tracked: true, ..self })
    }

    /// Another share of what is evicted by a preemption.
    ///
    /// # Errors
    ///
    /// More than all of it.
    pub fn evicting(self, ppm: u32) -> Result<CacheCosts> {
        if ppm > WHOLE_PPM {
            return Err(Diagnostic::usage(format!("a preemption cannot evict {ppm} ppm of a cache"))
                .hint("write a share from 0 to 1"));
        }
        Ok(CacheCosts { evicted_ppm: ppm, ..self })
    }

    /// How long an access takes with warm caches, in ps, where that is given.
    pub fn access_ps(&self) -> Option<u64> {
        match &self.reload {
            Reload::Lines(latencies) => latencies.access_ps,
            Reload::Measured(_) => None,
        }
    }

    /// Whether they never cost anything.
    pub fn is_zero(&self) -> bool {
        match &self.reload {
            Reload::Measured(delays) => {
                delays.memory.is_zero() && delays.levels.values().all(PiecewiseLinear::is_zero)
            }
            Reload::Lines(latencies) => latencies.remote_memory() == 0,
        }
    }
}

impl MeasuredDelays {
    /// The delay of `wss_bytes` whose closest copy is in a cache of `level`, or beyond all caches.
    pub(super) fn delay(&self, level: Option<u32>, wss_bytes: u64) -> u64 {
        let of_level = level.and_then(|level| self.levels.range(level..).next());
        of_level.map_or(&self.memory, |(_, function)| function).at(wss_bytes)
    }
}

impl LineLatencies {
    /// Latencies by level.
    ///
    /// # Errors
    ///
    /// A line that is no power of two, a latency above 1 ms, or one of a farther place that is below that of a closer one.
    pub fn new(
        line_bytes: u32,
        levels_ps: BTreeMap<u32, u64>,
        memory_ps: u64,
        remote_memory_ps: Option<u64>,
    ) -> Result<LineLatencies> {
        if !line_bytes.is_power_of_two() {
            return Err(Diagnostic::usage(format!(
                "a cache line of {line_bytes} bytes, which is not a power of two"
            ))
            .hint("64 bytes are usual"));
        }
        let places = levels_ps.iter().map(|(level, &ps)| (format!("L{level}"), ps));
        let places = places.chain([("memory".to_owned(), memory_ps)]);
        let places: Vec<(String, u64)> =
            places.chain(remote_memory_ps.map(|ps| ("remote_memory".to_owned(), ps))).collect();
        if let Some((place, _)) = places.iter().find(|&&(_, ps)| ps > LATENCY_PS_MAX) {
            return Err(Diagnostic::usage(format!("a line takes more than 1ms from {place}, the limit"))
                .hint("give the time of one line: nanoseconds"));
        }
        if let Some(pair) = places.windows(2).find(|pair| pair[0].1 > pair[1].1) {
            return Err(Diagnostic::usage(format!(
                "a line takes longer from {} than from {}, which is farther",
                pair[0].0, pair[1].0
            ))
            .hint("latencies grow from l1 to remote_memory"));
        }
        Ok(LineLatencies { line_bytes, levels_ps, memory_ps, remote_memory_ps, access_ps: None })
    }

    /// With a time of one access, in ps.
    ///
    /// # Errors
    ///
    /// No time, or more than 1 ms.
    pub fn accessing(self, access_ps: u64) -> Result<LineLatencies> {
        if access_ps == 0 || access_ps > LATENCY_PS_MAX {
            return Err(Diagnostic::usage("an access takes no time, or more than 1ms")
                .hint("give how long a job works for each line that it walks: \"10ns\""));
        }
        Ok(LineLatencies { access_ps: Some(access_ps), ..self })
    }

    pub(super) fn level(&self, level: u32) -> u64 {
        match self.levels_ps.get(&level) {
            Some(&ps) => ps,
            None if level <= 1 => 0,
            None => self.levels_ps.range(level..).next().map_or(self.memory_ps, |(_, &ps)| ps),
        }
    }

    pub(super) fn remote_memory(&self) -> u64 {
        self.remote_memory_ps.unwrap_or(self.memory_ps)
    }
}
