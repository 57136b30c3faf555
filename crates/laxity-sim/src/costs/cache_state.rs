//! What caches hold while a schedule goes on: warm or cold, by working set, cache and level.
//!
//! Where [`super::CacheDelay`] charges by the distance of the last core, whatever ran since, this follows who has walked
//! what, where. Nothing is kept per line; yet for whole walks it is what caches do:
//!
//! 1. Memory comes in *segments*: what a task walks alone, and of a group's region the slices between the members' shared
//!    parts ([`laxity_model::Sharing`]); a member walks every slice up to its part.
//! 2. A job walks its segments again and again, in one order, a line at a time, while it is on a core. It has walked all of
//!    them when it leaves: a stay shorter than one walk counts as a whole one.
//! 3. Caches are fully associative and replace the line that was used least recently; an access counts in all caches of its
//!    core. In such a cache a cyclic walk finds either all of a segment or nothing: its lines are all equally long ago. So a
//!    segment is there (warm) exactly if it and what was walked since, each counted once, fit into the cache.
//! 4. The *home* of a job is the closest level that holds all that it walks, or else memory. Its WCET is for a warm home. Where a
//!    segment is not there, each of its lines takes the latency of the closest farther place that has it, minus that of the home.
//! 5. Of a segment that a job writes, a share of `writes / (reads + writes)` of the lines becomes stale in every cache that is
//!    not its core's, and has to be fetched from a cache that is, or from memory. Two writers write the same lines.
//! 6. All this is paid at once when a job starts or goes on, and counted again as walked when it leaves the core.
//!
//! Against caches simulated line by line (`tests/cache_lines.rs`): whole walks without writes cost exactly the same; with writes, in
//! total, within 1 %; in caches of 2 to 8 ways up to 10 % too much; where half of the stays are shorter than a walk, a third too
//! much.
//!
//! Not modelled: conflicts of sets, prefetching, bandwidth, exclusive (victim) caches, memory nodes (memory is the nearest),
//! and, unless it is known how long an access takes, lines that sharers take from each other *while both run* ([`super::contention`]).
//!
//! Source: lindsay2012, 4.1, 4.4.1, 5 (what is to be avoided); Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for
//! storage hierarchies", IBM Systems Journal 9(2), 1970 (reuse distance under LRU). Complexity: O(levels * segments that a cache
//! holds) for each start, resumption and departure.

use super::COST_MAX;
use super::cache_costs::LineLatencies;
use super::contention::{Contended, Contention, Sharer, Transfer};
use laxity_model::{CacheKind, Platform, Result, Sharing, TaskSet};
use std::collections::BTreeMap;

/// All lines, in parts per million.
const ALL_PPM: u64 = 1_000_000;

/// What a job pays for cold caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reloaded {
    /// How much longer the job takes, in ns, rounded up, at most [`COST_MAX`].
    pub delay_ns: u64,
    /// Lines that came from memory. All that the job walks, if no cache holds it.
    pub memory_lines: u64,
}

/// The caches of a machine, with what a set's tasks have left in them.
#[derive(Debug, Clone)]
pub struct CacheState {
    /// By task.
    walks: Vec<Walk>,
    /// Lines of each segment.
    lines: Vec<u64>,
    caches: Vec<Held>,
    /// Core by core: its caches, the closest first.
    paths: Vec<Vec<Step>>,
    memory_ps: u64,
    /// By segment: the caches that hold it.
    holders: Vec<Vec<u32>>,
    /// Present where it is known how long an access takes.
    contention: Option<Contention>,
}

#[derive(Debug, Clone, Default)]
struct Walk {
    segments: Vec<u32>,
    lines: u64,
    written_ppm: u64,
}

/// A cache on a core's way to memory.
#[derive(Debug, Clone, Copy)]
struct Step {
    cache: u32,
    line_ps: u64,
}

/// What one cache holds.
#[derive(Debug, Clone, Default)]
struct Held {
    capacity_lines: u64,
    fresh_lines: u64,
    /// The one walked last comes last.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    segment: u32,
    stale_lines: u64,
}

impl CacheState {
    /// Empty caches. Lines have the size that the platform's first data cache says, else that of the latencies.
    ///
    /// # Errors
    ///
    /// Groups whose sizes contradict each other.
    pub fn new(latencies: &LineLatencies, platform: &Platform, set: &TaskSet) -> Result<CacheState> {
        let data: Vec<_> =
            platform.caches().iter().filter(|cache| cache.kind != CacheKind::Instruction).collect();
        let known = data.iter().find_map(|cache| cache.line_bytes.filter(|&bytes| bytes > 0));
        let line_bytes = u64::from(known.unwrap_or(latencies.line_bytes));
        let (walks, lines) = walks(&Sharing::of(set)?, set, line_bytes);
        let path = |cpu: u32| {
            let mut path: Vec<(u32, Step)> = (0..)
                .zip(&data)
                .filter(|(_, cache)| cache.cpus.contains(cpu))
                .map(|(id, cache)| (cache.level, Step { cache: id, line_ps: latencies.level(cache.level) }))
                .collect();
            path.sort_by_key(|&(level, _)| level);
            path.into_iter().map(|(_, step)| step).collect()
        };
        let held = |capacity_lines| Held { capacity_lines, ..Held::default() };
        let contention =
            latencies.access_ps.map(|access_ps| Contention::new(access_ps, sharers(&walks, &lines)));
        Ok(CacheState {
            holders: vec![Vec::new(); lines.len()],
            contention,
            walks,
            lines,
            caches: data.iter().map(|cache| held(cache.size_bytes / line_bytes)).collect(),
            paths: platform.cores().iter().map(|core| path(core.cpu)).collect(),
            memory_ps: latencies.memory_ps,
        })
    }

    /// A job of the task starts or goes on on a core, an index into [`Platform::cores`]: what that costs.
    pub fn enter(&mut self, task: usize, core: usize) -> Reloaded {
        let home = self.home(task, core);
        let home_ps = home.map_or(self.memory_ps, |step| step.line_ps);
        let (mut ps, mut memory_lines) = (0u128, 0u64);
        for place in 0..self.walks[task].segments.len() {
            let segment = self.walks[task].segments[place];
            let mut missing = self.lines[segment as usize];
            // A cache closer than the home may have what a farther one, which others use too, has lost.
            for step in &self.paths[core] {
                let left = missing.min(self.missing(step.cache, segment));
                ps += u128::from(missing - left) * u128::from(step.line_ps.saturating_sub(home_ps));
                missing = left;
            }
            ps += u128::from(missing) * u128::from(self.memory_ps - home_ps);
            memory_lines += missing;
            self.touch(segment, core);
        }
        self.write(task, core);
        if home.is_none() {
            memory_lines = self.walks[task].lines;
        }
        let delay = u64::try_from(ps.div_ceil(1_000)).unwrap_or(u64::MAX);
        Reloaded { delay_ns: delay.min(COST_MAX.as_ns()), memory_lines }
    }

    /// A job of the task leaves the core: what it walked there is the latest that was walked.
    pub fn leave(&mut self, task: usize, core: usize) {
        for place in 0..self.walks[task].segments.len() {
            self.touch(self.walks[task].segments[place], core);
        }
        self.write(task, core);
    }

    /// A job of the task that has started or gone on on a core does what it was asked to from `since` on.
    pub fn works(&mut self, task: usize, core: usize, since: u64) {
        if let Some(contention) = &mut self.contention {
            contention.begins(task, core, since);
        }
    }

    /// A job of the task does what it was asked to no longer: it has done it, or leaves its core. What it has lost to others
    /// that ran at the same time, since this was asked last.
    pub fn rests(&mut self, task: usize, now: u64) -> Contended {
        let Some(mut contention) = self.contention.take() else { return Contended::default() };
        let lost = contention.ends(task, now, |task, from, to| self.transfer(task, from, to));
        self.contention = Some(contention);
        Contended { delay_ns: lost.delay_ns.min(COST_MAX.as_ns()), ..lost }
    }

    /// What a line of a task costs that another core has written, instead of one from home.
    fn transfer(&self, task: usize, from: usize, to: usize) -> Transfer {
        let is_common = |step: &&Step| self.paths[from].iter().any(|other| other.cache == step.cache);
        let common = self.paths[to].iter().find(is_common);
        let home_ps = self.home(task, to).map_or(self.memory_ps, |step| step.line_ps);
        let ps = common.map_or(self.memory_ps, |step| step.line_ps);
        Transfer { ps: ps.saturating_sub(home_ps), from_memory: common.is_none() }
    }

    /// The closest cache of the core that holds all that the task's jobs walk.
    fn home(&self, task: usize, core: usize) -> Option<Step> {
        let holds = |step: &&Step| self.caches[step.cache as usize].capacity_lines >= self.walks[task].lines;
        self.paths[core].iter().find(holds).copied()
    }

    /// How many lines of a segment a cache does not have.
    fn missing(&self, cache: u32, segment: u32) -> u64 {
        let entry = self.caches[cache as usize].entries.iter().find(|entry| entry.segment == segment);
        entry.map_or(self.lines[segment as usize], |entry| entry.stale_lines)
    }

    /// All of a segment is walked on a core.
    fn touch(&mut self, segment: u32, core: usize) {
        for step in &self.paths[core] {
            let held = &mut self.caches[step.cache as usize];
            match held.entries.iter().rposition(|entry| entry.segment == segment) {
                Some(at) => {
                    held.fresh_lines += held.entries.remove(at).stale_lines;
                }
                None => {
                    held.fresh_lines += self.lines[segment as usize];
                    self.holders[segment as usize].push(step.cache);
                }
            }
            held.entries.push(Entry { segment, stale_lines: 0 });
            held.make_room(step.cache, &self.lines, &mut self.holders);
        }
    }

    /// What a task has written becomes stale where its core does not look.
    fn write(&mut self, task: usize, core: usize) {
        let Walk { segments, written_ppm, .. } = &self.walks[task];
        if *written_ppm == 0 {
            return;
        }
        let path = &self.paths[core];
        for &segment in segments {
            let written = (self.lines[segment as usize] * written_ppm).div_ceil(ALL_PPM);
            for &cache in &self.holders[segment as usize] {
                if path.iter().any(|step| step.cache == cache) {
                    continue;
                }
                let held = &mut self.caches[cache as usize];
                let entry = held.entries.iter_mut().find(|entry| entry.segment == segment);
                let entry = entry.expect("a holder holds it");
                let more = written.saturating_sub(entry.stale_lines);
                entry.stale_lines += more;
                held.fresh_lines -= more;
            }
        }
    }
}

impl Held {
    /// What was walked longest ago goes until the rest fits.
    fn make_room(&mut self, cache: u32, lines: &[u64], holders: &mut [Vec<u32>]) {
        let mut gone = 0;
        while self.fresh_lines > self.capacity_lines {
            let Entry { segment, stale_lines } = self.entries[gone];
            self.fresh_lines -= lines[segment as usize] - stale_lines;
            holders[segment as usize].retain(|&holder| holder != cache);
            gone += 1;
        }
        self.entries.drain(..gone);
    }
}

/// Who keeps writing what each task walks.
fn sharers(walks: &[Walk], lines: &[u64]) -> Vec<Vec<Sharer>> {
    let mut walkers: Vec<Vec<usize>> = vec![Vec::new(); lines.len()];
    for (task, walk) in walks.iter().enumerate() {
        walk.segments.iter().for_each(|&segment| walkers[segment as usize].push(task));
    }
    let of_task = |task: usize| {
        let mut common: BTreeMap<usize, u64> = BTreeMap::new();
        for &segment in &walks[task].segments {
            for &other in walkers[segment as usize].iter().filter(|&&other| other != task) {
                *common.entry(other).or_default() += lines[segment as usize];
            }
        }
        let sharer = |(other, lines): (usize, u64)| Sharer {
            task: other,
            stale_ppm: part_ppm(lines, walks[task].lines, walks[other].written_ppm),
        };
        common.into_iter().map(sharer).collect()
    };
    (0..walks.len()).map(of_task).collect()
}

/// `lines` of `all`, times `written_ppm`, rounded up.
fn part_ppm(lines: u64, all: u64, written_ppm: u64) -> u64 {
    let ppm = (u128::from(lines) * u128::from(written_ppm)).div_ceil(u128::from(all.max(1)));
    u64::try_from(ppm).unwrap_or(ALL_PPM)
}

/// What each task walks, and the lines of each segment.
fn walks(sharing: &Sharing, set: &TaskSet, line_bytes: u64) -> (Vec<Walk>, Vec<u64>) {
    let mut lines: Vec<u64> = Vec::new();
    let mut walks: Vec<Walk> = vec![Walk::default(); set.tasks().len()];
    let mut add = |walks: &mut Vec<Walk>, walkers: &[usize], bytes: u64| {
        let count = bytes.div_ceil(line_bytes);
        if count == 0 {
            return;
        }
        let segment = u32::try_from(lines.len()).expect("at most two segments a task");
        for &task in walkers {
            walks[task].segments.push(segment);
            walks[task].lines += count;
        }
        lines.push(count);
    };
    for group in sharing.groups() {
        let part = |task: usize| set.tasks()[task].group.as_ref().map_or(0, |group| group.shared_bytes);
        let mut parts: Vec<u64> = group.members.iter().map(|&task| part(task)).collect();
        parts.sort_unstable();
        parts.dedup();
        let mut begin = 0;
        for end in parts {
            let walkers: Vec<usize> =
                group.members.iter().copied().filter(|&task| part(task) >= end).collect();
            add(&mut walks, &walkers, end - begin);
            begin = end;
        }
    }
    for (id, task) in set.tasks().iter().enumerate() {
        let shared = task.group.as_ref().map_or(0, |group| group.shared_bytes);
        add(&mut walks, &[id], task.working_set.size_bytes - shared);
        let (reads, writes) = (u64::from(task.working_set.reads), u64::from(task.working_set.writes));
        walks[id].written_ppm = (writes * ALL_PPM).div_ceil(reads + writes);
    }
    (walks, lines)
}
