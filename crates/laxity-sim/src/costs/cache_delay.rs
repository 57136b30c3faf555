//! Cache-related preemption and migration delay on one machine.
//!
//! For every CPU and cache level the cache is looked up once; a delay is then found in a few comparisons, without a
//! matrix of m * m entries. Memory: O(m * levels).

use super::COST_MAX;
use super::cache_costs::{CacheCosts, LineLatencies, MeasuredDelays, Reload};
use laxity_model::{Cache, CacheKind, Platform};
use std::collections::BTreeSet;

/// How far a CPU is from the caches of another (lindsay2012, 4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// It is the same CPU.
    Same,
    /// The closest cache that both share is of this level.
    Cache(u32),
    /// They share no cache.
    Memory,
    /// They share no cache and are of different memory nodes.
    RemoteMemory,
}

/// The delays of a job by its working set and the CPUs where it was stopped and goes on.
#[derive(Debug, Clone)]
pub struct CacheDelay {
    /// Levels of caches for data, ascending.
    levels: Vec<u32>,
    /// CPU by CPU, level by level: which cache, or [`NONE`].
    caches: Vec<u32>,
    /// CPU by core: which memory node, or [`NONE`].
    nodes: Vec<u32>,
    evicted_ppm: u32,
    reload: Table,
}

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
enum Table {
    Measured(MeasuredDelays),
    Lines(Lines),
}

/// Line by line.
#[derive(Debug, Clone)]
struct Lines {
    /// CPU by CPU, `levels + 2` each: from a level, from memory, from remote memory.
    by_core: Vec<PerLine>,
    /// CPU by core: where a preempted job finds its working set again, as an index into those.
    after_preemption: Vec<u32>,
}

/// Reloading to one CPU from one place.
#[derive(Debug, Clone, Copy)]
struct PerLine {
    /// What is lost at most.
    lost_bytes: u64,
    line_bytes: u32,
    line_ps: u64,
}

impl CacheDelay {
    /// Of these costs on this machine.
    pub(super) fn of(costs: &CacheCosts, platform: &Platform) -> CacheDelay {
        let levels: BTreeSet<u32> = data_caches(platform).map(|(_, cache)| cache.level).collect();
        let levels: Vec<u32> = levels.into_iter().collect();
        let index_of = |cpu: u32| platform.cores().binary_search_by_key(&cpu, |core| core.cpu).ok();
        let mut caches = vec![NONE; platform.core_count() * levels.len()];
        for (id, cache) in data_caches(platform) {
            let place = levels.binary_search(&cache.level).expect("collected above");
            for core in cache.cpus.iter().filter_map(index_of) {
                let slot = &mut caches[core * levels.len() + place];
                *slot = id.min(*slot);
            }
        }
        let mut nodes = vec![NONE; platform.core_count()];
        for node in platform.numa_nodes() {
            node.cpus.iter().filter_map(index_of).for_each(|core| nodes[core] = node.id);
        }
        let reload = match &costs.reload {
            Reload::Measured(delays) => Table::Measured(delays.clone()),
            Reload::Lines(latencies) => Table::Lines(Lines::of(latencies, platform, &levels, &caches)),
        };
        CacheDelay { levels, caches, nodes, evicted_ppm: costs.evicted_ppm, reload }
    }

    /// How far `to` is from `from`; both are indices into [`Platform::cores`].
    pub fn distance(&self, from: u32, to: u32) -> Distance {
        if from == to {
            return Distance::Same;
        }
        match self.place(from as usize, to as usize) {
            place if place < self.levels.len() => Distance::Cache(self.levels[place]),
            place if place == self.levels.len() => Distance::Memory,
            _ => Distance::RemoteMemory,
        }
    }

    /// How much longer a job of `wss_bytes` needs CPU `next`, in ns, if it was stopped on CPU `last` and goes on
    /// there; both are indices into [`Platform::cores`]. Rounded up, at most [`COST_MAX`].
    pub fn delay(&self, wss_bytes: u64, last: u32, next: u32) -> u64 {
        if wss_bytes == 0 {
            return 0;
        }
        let (from, to) = (last as usize, next as usize);
        if from == to {
            let all = match &self.reload {
                Table::Measured(delays) => delays.delay(Some(1), wss_bytes),
                Table::Lines(lines) => lines.delay(wss_bytes, to, lines.after_preemption[to] as usize),
            };
            // At most 10^12 ns times 10^6.
            return (all * u64::from(self.evicted_ppm)).div_ceil(1_000_000);
        }
        let place = self.place(from, to);
        match &self.reload {
            Table::Measured(delays) => delays.delay(self.levels.get(place).copied(), wss_bytes),
            Table::Lines(lines) => lines.delay(wss_bytes, to, place),
        }
    }

    /// The closest place where `to` finds what is in the caches of another core: a level, memory, or remote memory.
    fn place(&self, from: usize, to: usize) -> usize {
        let count = self.levels.len();
        let (of_from, of_to) = (&self.caches[from * count..][..count], &self.caches[to * count..][..count]);
        let shared = of_from.iter().zip(of_to).position(|(a, b)| a == b && *a != NONE);
        let remote = self.nodes[from] != self.nodes[to] && self.nodes[from] != NONE && self.nodes[to] != NONE;
        shared.unwrap_or(count + usize::from(remote))
    }
}

/// The caches that hold data, with a number for each.
fn data_caches(platform: &Platform) -> impl Iterator<Item = (u32, &Cache)> {
    (0..).zip(platform.caches()).filter(|(_, cache)| cache.kind != CacheKind::Instruction)
}

impl Lines {
    /// `caches` has the caches of each CPU, level by level.
    fn of(latencies: &LineLatencies, platform: &Platform, levels: &[u32], caches: &[u32]) -> Lines {
        let all: Vec<&Cache> = platform.caches().iter().collect();
        let mut lines = Lines { by_core: Vec::new(), after_preemption: Vec::new() };
        for core in 0..platform.core_count() {
            let own = caches[core * levels.len()..][..levels.len()].iter();
            let own: Vec<Option<&Cache>> = own.map(|&id| all.get(id as usize).copied()).collect();
            lines.add_core(latencies, levels, &own);
        }
        lines
    }

    fn add_core(&mut self, latencies: &LineLatencies, levels: &[u32], own: &[Option<&Cache>]) {
        let sharers = |cache: &Cache| cache.cpus.len();
        // SMT siblings share the first level: what only they share is the core's own.
        let siblings = own.iter().flatten().find(|cache| cache.level == 1).map_or(1, |cache| sharers(cache));
        let shared = |cache: &&Cache| cache.level > 1 && sharers(cache) > siblings;
        let after_preemption = own.iter().position(|cache| cache.as_ref().is_some_and(shared));
        self.after_preemption
            .push(u32::try_from(after_preemption.unwrap_or(levels.len())).expect("few levels"));

        let line_bytes = own.iter().flatten().find_map(|cache| cache.line_bytes.filter(|&bytes| bytes > 0));
        let line_bytes = line_bytes.unwrap_or(latencies.line_bytes);
        let mut closer: Option<u64> = None;
        for (&level, cache) in levels.iter().zip(own) {
            let capacity = cache.map_or(u64::MAX, |cache| cache.size_bytes);
            let lost_bytes = closer.unwrap_or(capacity);
            self.by_core.push(PerLine { lost_bytes, line_bytes, line_ps: latencies.level(level) });
            closer = closer.max(cache.map(|cache| cache.size_bytes));
        }
        let lost_bytes = closer.unwrap_or(u64::MAX);
        for line_ps in [latencies.memory_ps, latencies.remote_memory()] {
            self.by_core.push(PerLine { lost_bytes, line_bytes, line_ps });
        }
    }

    fn delay(&self, wss_bytes: u64, to: usize, place: usize) -> u64 {
        let places = self.by_core.len() / self.after_preemption.len();
        let PerLine { lost_bytes, line_bytes, line_ps } = self.by_core[to * places + place];
        let lines = wss_bytes.min(lost_bytes).div_ceil(line_bytes.into());
        // What does not fit 64 bits of ps is half a year.
        let ps = lines.saturating_mul(line_ps);
        ps.div_ceil(1_000).min(COST_MAX.as_ns())
    }
}
