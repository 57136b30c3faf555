//! What caches hold while a schedule goes on: warm or cold, by working set, cache and level.
//!
//! Where [`super::CacheDelay`] charges by the distance of the last CPU, whatever ran since, this follows which
//! task has walked what, where. Nothing is kept per line; yet for whole walks it is what caches do:
//!
//! 1. Memory comes in *segments*: what a task walks alone, and of a group's region the slices between the members' shared
//!    parts ([`laxity_model::Sharing`]); a member walks every slice up to its part.
//! 2. A job walks its segments again and again, in one order, a line at a time, while it is on a CPU; it goes on where its task
//!    stopped. Where it is known how long an access takes, it walks as many lines in a stay as it has time for; else it has walked all
//!    of them when it leaves, however short the stay was.
//! 3. Caches are fully associative and replace the line that was used least recently; an access counts in all caches of its
//!    CPU. In such a cache a cyclic walk finds either all of what was walked in one go or nothing: its lines are all equally long
//!    ago. So that is there (warm) exactly if it and what was walked since, each counted once, fit into the cache.
//! 4. The *home* of a job is the closest level that holds all that it walks, or else memory. Its WCET is for a warm home. Where
//!    lines are not there, each takes the latency of the closest farther place that has it, minus that of the home. Where the home
//!    is memory, every line that is walked comes from there.
//! 5. Of the lines that a job writes, a share of `writes / (reads + writes)` becomes stale in every cache that is
//!    not its CPU's, and has to be fetched from a cache that is, or from memory. Two writers write the same lines.
//! 6. All this is paid at once when a job starts or goes on, for as many lines as it still has to walk, and counted again as walked
//!    when it leaves the CPU. It takes as long on a CPU of any speed, which counts for the work alone, with loading from home. A job that
//!    leaves within its first walk has paid and loaded as large a share as of that walk and its delay has passed; the rest of the delay
//!    counts towards what it pays when it goes on.
//!
//! So no more lines come from memory than are walked. Against caches simulated line by line (`tests/cache_lines.rs`): whole walks
//! without writes cost exactly the same; with writes, in total, within 1 %; in caches of 2 to 8 ways up to 10 % too much;
//! where half of the stays end within a walk, 1 % if that is known when they begin, and 6 % if they are cut short.
//!
//! Not modelled: conflicts of sets, prefetching, bandwidth, exclusive (victim) caches, memory nodes (memory is the nearest),
//! and, unless it is known how long an access takes, lines that sharers take from each other *while both run*
//! (`contention.rs`, which says how far that is off).
//!
//! Source: lindsay2012, 4.1, 4.4.1, 5 (what is to be avoided); Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for
//! storage hierarchies", IBM Systems Journal 9(2), 1970 (reuse distance under LRU). Complexity: O(levels * segments that a cache
//! holds) for each start, resumption and departure.

use super::COST_MAX;
use super::cache_costs::LineLatencies;
use super::contention::{Begins, Contention, Rested};
use super::held::{ALL_PPM, Held, Range};
use super::pace::{AccessTime, Exposed, Transfer, Walker};
use laxity_model::{CacheKind, Platform, Result, Sharing, TaskSet};
use std::collections::BTreeMap;

/// What a job pays for cold caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reloaded {
    /// How much longer the job takes, in ns, rounded up, at most [`COST_MAX`].
    pub delay_ns: u64,
    /// For how many lines: those of one walk, or fewer if the job walks fewer.
    pub lines: u64,
    /// How many of them are not in the home.
    pub cold_lines: u64,
}

/// The caches of a machine, with what a set's tasks have left in them.
#[derive(Debug, Clone)]
pub struct CacheState {
    /// By task.
    walks: Vec<Walk>,
    /// Lines of each segment.
    lines: Vec<u64>,
    caches: Vec<Held>,
    /// CPU by core: its caches, the closest first.
    paths: Vec<Vec<Step>>,
    memory_ps: u64,
    /// By segment: the caches that hold some of it, and perhaps some that no longer do.
    holders: Vec<Vec<u32>>,
    /// By task: its stay on a CPU, or its last one.
    stays: Vec<Stay>,
    /// The ranges of the walk that is looked at.
    ranges: Vec<Range>,
    /// Present where it is known how long an access takes.
    contention: Option<Box<Contention>>,
}

#[derive(Debug, Clone, Default)]
struct Walk {
    segments: Vec<u32>,
    lines: u64,
    written_ppm: u64,
}

/// A cache on a CPU's way to memory.
#[derive(Debug, Clone, Copy)]
struct Step {
    cache: u32,
    line_ps: u64,
}

/// A stay of a task's job on a CPU.
#[derive(Debug, Clone, Default)]
struct Stay {
    /// Where in its walk it began.
    from_line: u64,
    /// For how many lines it paid.
    lines: u64,
    /// How many of them came from memory; all that are walked, if nothing holds them.
    memory_lines: u64,
    is_homeless: bool,
    /// How many of them were missing in each cache of the CPU.
    missing: Vec<u64>,
    /// How many it walked: as many as it paid for, until it is said.
    walked: u64,
}

impl CacheState {
    /// Empty caches. Lines have the least size that a data cache of the platform says, or else that of the latencies: where others have
    /// larger lines, each part of such a line counts as one that is loaded, which is too much.
    ///
    /// # Errors
    ///
    /// Groups whose sizes contradict each other.
    pub fn new(latencies: &LineLatencies, platform: &Platform, set: &TaskSet) -> Result<CacheState> {
        let data: Vec<_> =
            platform.caches().iter().filter(|cache| cache.kind != CacheKind::Instruction).collect();
        let known = data.iter().filter_map(|cache| cache.line_bytes.filter(|&bytes| bytes > 0)).min();
        let line_bytes = u64::from(known.unwrap_or(latencies.line_bytes));
        let sharing = Sharing::of(set)?;
        let (walks, lines) = walks(&sharing, set, line_bytes);
        let path = |cpu: u32| {
            let mut path: Vec<(u32, Step)> = (0..)
                .zip(&data)
                .filter(|(_, cache)| cache.cpus.contains(cpu))
                .map(|(id, cache)| (cache.level, Step { cache: id, line_ps: latencies.level(cache.level) }))
                .collect();
            path.sort_by_key(|&(level, _)| level);
            path.into_iter().map(|(_, step)| step).collect()
        };
        let groups = sharing.groups().iter().map(|group| group.members.clone());
        let contention = latencies.access_ps.map(|access_ps| {
            let accesses = platform.cores().iter().map(|core| AccessTime::at(core.speed, access_ps));
            Box::new(contention(accesses.collect(), groups.collect(), &walks, &lines))
        });
        Ok(CacheState {
            holders: vec![Vec::new(); lines.len()],
            contention,
            stays: vec![Stay::default(); walks.len()],
            ranges: Vec::new(),
            walks,
            lines,
            caches: data.iter().map(|cache| Held::new(cache.size_bytes / line_bytes)).collect(),
            paths: platform.cores().iter().map(|core| path(core.cpu)).collect(),
            memory_ps: latencies.memory_ps,
        })
    }

    /// A job of the task starts or goes on on a CPU, an index into [`Platform::cores`], and walks at most `most`
    /// lines there, if that is known. Returns what that costs, for at most one walk.
    pub fn enter(&mut self, task: usize, core: usize, most: Option<u64>) -> Reloaded {
        let home = self.home(task, core);
        let home_ps = home.map_or(self.memory_ps, |step| step.line_ps);
        let whole = self.walks[task].lines;
        let stay = &mut self.stays[task];
        stay.from_line = if whole > 0 { (stay.from_line + stay.walked) % whole } else { 0 };
        stay.lines = most.unwrap_or(whole).min(whole);
        stay.walked = stay.lines;
        stay.is_homeless = home.is_none();
        stay.missing.clear();
        stay.missing.resize(self.paths[core].len(), 0);
        let (from, lines) = (stay.from_line, stay.lines);
        let (mut ps, mut memory_lines, mut cold_lines) = (0u128, 0, 0);
        self.ranges_of(task, from, lines);
        for place in 0..self.ranges.len() {
            let range = self.ranges[place];
            let mut missing = range.len();
            // A cache closer than the home may have what a farther one, which others use too, has lost.
            for (step, lost) in self.paths[core].iter().zip(&mut self.stays[task].missing) {
                let here = walk(&mut self.holders, &mut self.caches, step.cache, range);
                let left = missing.min(here);
                ps += u128::from(missing - left) * u128::from(step.line_ps.saturating_sub(home_ps));
                missing = left;
                *lost += here;
                if home.is_some_and(|home| home.cache == step.cache) {
                    cold_lines += left;
                }
            }
            ps += u128::from(missing) * u128::from(self.memory_ps - home_ps);
            memory_lines += missing;
        }
        self.write(task, core);
        self.stays[task].memory_lines = memory_lines;
        let delay = u64::try_from(ps.div_ceil(1_000)).unwrap_or(u64::MAX);
        Reloaded { delay_ns: delay.min(COST_MAX.as_ns()), lines, cold_lines }
    }

    /// The task's job has walked so many lines in its stay, if that is known. Returns how many of them came from
    /// memory.
    pub fn settle(&mut self, task: usize, walked: Option<u64>) -> u64 {
        let stay = &mut self.stays[task];
        stay.walked = walked.unwrap_or(stay.lines);
        if stay.is_homeless {
            return stay.walked;
        }
        let walked = stay.walked.min(stay.lines);
        let loaded = u128::from(stay.memory_lines) * u128::from(walked) / u128::from(stay.lines.max(1));
        u64::try_from(loaded).expect("a part of its lines")
    }

    /// A job of the task leaves the core: what it walked there is the latest that was walked.
    pub fn leave(&mut self, task: usize, core: usize) {
        let Stay { from_line: from, lines, walked, .. } = self.stays[task];
        let whole = self.walks[task].lines;
        if walked < lines {
            self.ranges_of(task, (from + walked) % whole, lines - walked);
            let missing = &self.stays[task].missing;
            for (step, &missing) in self.paths[core].iter().zip(missing) {
                let held = &mut self.caches[step.cache as usize];
                self.ranges.iter().for_each(|&range| held.not_loaded(range, (missing, lines)));
            }
        }
        let last = walked.min(whole);
        let from = if whole > 0 { (from + (walked - last)) % whole } else { 0 };
        self.ranges_of(task, from, last);
        for &range in &self.ranges {
            for step in &self.paths[core] {
                walk(&mut self.holders, &mut self.caches, step.cache, range);
            }
        }
        self.write(task, core);
    }

    /// A job of the task that has started or gone on on a CPU does what it was asked to from a time on that is not
    /// past, and finds some of its first lines elsewhere, whatever other jobs walk them meanwhile.
    pub fn works(&mut self, task: usize, begins: Begins) {
        if let Some(contention) = &mut self.contention {
            contention.begins(task, begins);
        }
    }

    /// When the task's job will have done what it was asked to, if others take lines from it as they do `now`;
    /// nothing if none can.
    pub fn works_until(&mut self, task: usize, now: u64) -> Option<u64> {
        self.contending(|state, contention| {
            contention.until(task, now, |task, from, to| state.transfer(task, from, to))
        })
    }

    /// A job of the task does what it was asked to no longer: it has done it, or leaves its CPU. Returns what is
    /// left of its work and the lines it lost; nothing if no other job can have taken lines from it, or if that was
    /// returned before.
    pub fn rests(&mut self, task: usize, now: u64) -> Option<Rested> {
        self.contending(|state, contention| {
            contention.ends(task, now, |task, from, to| state.transfer(task, from, to))
        })
    }

    /// The tasks whose jobs work at present and share lines with the task, to be added to others.
    pub fn sharers_at_work(&self, task: usize, sharers: &mut Vec<usize>) {
        if let Some(contention) = &self.contention {
            sharers.extend(contention.others(task));
        }
    }

    /// Asks which jobs take lines from which, where that is known.
    fn contending<T>(&mut self, ask: impl FnOnce(&CacheState, &mut Contention) -> Option<T>) -> Option<T> {
        let mut contention = self.contention.take()?;
        let answer = ask(self, &mut contention);
        self.contention = Some(contention);
        answer
    }

    /// What a line of a task costs that another CPU has written, instead of one from home.
    fn transfer(&self, task: usize, from: usize, to: usize) -> Transfer {
        let is_common = |step: &&Step| self.paths[from].iter().any(|other| other.cache == step.cache);
        let common = self.paths[to].iter().find(is_common);
        let home_ps = self.home(task, to).map_or(self.memory_ps, |step| step.line_ps);
        let ps = common.map_or(self.memory_ps, |step| step.line_ps);
        // Where the home is memory, the line has been counted.
        let from_memory = common.is_none() && self.home(task, to).is_some();
        Transfer { ps: ps.saturating_sub(home_ps), from_memory }
    }

    /// The closest cache of the CPU that holds all that the task's jobs walk.
    fn home(&self, task: usize, core: usize) -> Option<Step> {
        let holds = |step: &&Step| self.caches[step.cache as usize].capacity_lines >= self.walks[task].lines;
        self.paths[core].iter().find(holds).copied()
    }

    /// The ranges of so many lines, one walk at most, from a place in a task's walk on.
    fn ranges_of(&mut self, task: usize, from: u64, count: u64) {
        self.ranges.clear();
        let Walk { segments, lines: whole, .. } = &self.walks[task];
        let (mut at, mut left) = (from, count.min(*whole));
        while left > 0 {
            let mut base = 0;
            for &segment in segments {
                let end = base + self.lines[segment as usize];
                if at < end && left > 0 {
                    let taken = left.min(end - at);
                    self.ranges.push(Range { segment, from_line: at - base, to_line: at - base + taken });
                    (at, left) = (at + taken, left - taken);
                }
                base = end;
            }
            at = 0;
        }
    }

    /// What a task has written of its ranges becomes stale where its CPU does not look.
    fn write(&mut self, task: usize, core: usize) {
        let ppm = self.walks[task].written_ppm;
        if ppm == 0 {
            return;
        }
        let path = &self.paths[core];
        for &range in &self.ranges {
            self.holders[range.segment as usize].retain(|&cache| {
                let looks = path.iter().any(|step| step.cache == cache);
                looks || self.caches[cache as usize].written_elsewhere(range, ppm)
            });
        }
    }
}

/// All of a range is walked in a cache; how many of its lines were not there.
fn walk(holders: &mut [Vec<u32>], caches: &mut [Held], cache: u32, range: Range) -> u64 {
    let held = &mut caches[cache as usize];
    let holders = &mut holders[range.segment as usize];
    if held.fits(range) && !holders.contains(&cache) {
        holders.push(cache);
    }
    held.walk(range)
}

/// Which tasks share lines and write them. Of a segment, each writes the first lines, as many as it writes at all.
fn contention(
    accesses: Vec<AccessTime>,
    groups: Vec<Vec<usize>>,
    walks: &[Walk],
    lines: &[u64],
) -> Contention {
    let mut walkers_of: Vec<Vec<usize>> = vec![Vec::new(); lines.len()];
    for (task, walk) in walks.iter().enumerate() {
        walk.segments.iter().for_each(|&segment| walkers_of[segment as usize].push(task));
    }
    let of_task = |task: usize| {
        let mut exposed: BTreeMap<Vec<usize>, u128> = BTreeMap::new();
        for &segment in &walks[task].segments {
            let of_segment = &walkers_of[segment as usize];
            let others: Vec<usize> = of_segment.iter().copied().filter(|&other| other != task).collect();
            let mut shares: Vec<u64> = others.iter().map(|&other| walks[other].written_ppm).collect();
            shares.sort_unstable();
            shares.dedup();
            let mut below = 0;
            for share in shares.into_iter().filter(|&share| share > 0) {
                let writers = others.iter().copied().filter(|&other| walks[other].written_ppm >= share);
                let written = u128::from(lines[segment as usize]) * u128::from(share - below);
                *exposed.entry(writers.collect()).or_default() += written;
                below = share;
            }
        }
        let all = u128::from(walks[task].lines.max(1));
        let exposed = exposed.into_iter().map(|(writers, written)| {
            let ppm = u64::try_from(written.div_ceil(all)).unwrap_or(ALL_PPM);
            Exposed { ppm, writers }
        });
        Walker { lines: walks[task].lines, exposed: exposed.collect() }
    };
    Contention::new(accesses, (0..walks.len()).map(of_task).collect(), groups)
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
