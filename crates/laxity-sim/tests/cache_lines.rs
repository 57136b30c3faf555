//! What the simulator says of caches against caches that are simulated line by line.

use laxity_model::{Cache, CacheKind, Core, CpuList, Duration, Group, Platform, Speed, Task, TaskSet};
use laxity_sim::costs::{CacheState, LineLatencies};
use std::collections::BTreeMap;

const LINE: u64 = 64;

/// Numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    fn index(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).expect("an index")
    }
}

/// A line: the group's region or a task's own memory, and where in it.
type Line = (u32, u64);

/// One cache, line by line: sets of so many ways, each replacing the line used least recently.
struct LineCache {
    sets: Vec<Vec<Line>>,
    ways: usize,
}

impl LineCache {
    fn set(&mut self, line: Line) -> &mut Vec<Line> {
        // Every region begins somewhere else, as physical pages do.
        let place = line.1 + u64::from(line.0) * 7_919;
        let count = self.sets.len() as u64;
        &mut self.sets[usize::try_from(place % count).expect("an index")]
    }

    /// Whether the line was there; it is now, as the one used last.
    fn access(&mut self, line: Line) -> bool {
        let ways = self.ways;
        let set = self.set(line);
        let found = set.iter().position(|&held| held == line);
        match found {
            Some(at) => drop(set.remove(at)),
            None if set.len() == ways => drop(set.remove(0)),
            None => {}
        }
        set.push(line);
        found.is_some()
    }

    fn invalidate(&mut self, line: Line) {
        self.set(line).retain(|&held| held != line);
    }
}

/// A machine and what its tasks walk.
struct Machine {
    caches: Vec<LineCache>,
    /// CPU by core: cache and latency, the closest first.
    paths: Vec<Vec<(usize, u64)>>,
    memory_ps: u64,
    capacity: Vec<u64>,
    /// Task by task: lines in the order of the walk, and whether each is written.
    walks: Vec<Vec<(Line, bool)>>,
    /// Task by task: how many lines it has walked.
    walked: Vec<usize>,
}

impl Machine {
    /// Walks `count` lines from where the task stopped; the cost over a warm home, and the lines from memory.
    fn walk(&mut self, task: usize, core: usize, count: usize) -> (u64, u64) {
        let lines = self.walks[task].len() as u64;
        let path = self.paths[core].clone();
        let home = path.iter().find(|&&(cache, _)| self.capacity[cache] >= lines);
        let home_ps = home.map_or(self.memory_ps, |&(_, ps)| ps);
        let (mut ps, mut from_memory) = (0, 0);
        for _ in 0..count {
            let (line, written) = self.walks[task][self.walked[task] % self.walks[task].len()];
            self.walked[task] += 1;
            let mut found = None;
            for &(cache, line_ps) in &path {
                if self.caches[cache].access(line) && found.is_none() {
                    found = Some(line_ps);
                }
            }
            ps += found.unwrap_or(self.memory_ps).saturating_sub(home_ps);
            // What a cache closer than the home finds is luck of the moment; a home in memory means a miss each.
            let misses = found.is_none() || home.is_none();
            from_memory += u64::from(misses);
            if written {
                for other in 0..self.caches.len() {
                    if path.iter().all(|&(cache, _)| cache != other) {
                        self.caches[other].invalidate(line);
                    }
                }
            }
        }
        (ps, from_memory)
    }
}

/// Four CPUs with an L1 each, two L2 and, sometimes, one L3; sizes of a few lines.
struct Case {
    platform: Platform,
    set: TaskSet,
    latencies: LineLatencies,
}

/// `unit`: sizes of caches are multiples of so many lines.
fn case(draw: &mut Draw, writes: bool, unit: u64) -> Case {
    let cpus = |list: &str| -> CpuList { list.parse().expect("valid list") };
    let below_four = u32::try_from(draw.0 % 4).expect("small");
    let l1 = unit * (1 + draw.below(12));
    let l2 = l1 + unit * draw.below(24);
    let l3 = l2 + unit * draw.below(40);
    let cache = |level, lines: u64, list: &str| Cache {
        level,
        kind: CacheKind::Unified,
        size_bytes: lines * LINE,
        line_bytes: Some(64),
        ways: None,
        cpus: cpus(list),
    };
    let mut caches: Vec<Cache> = ["0", "1", "2", "3"].map(|list| cache(1, l1, list)).into();
    caches.extend(["0-1", "2-3"].map(|list| cache(2, l2, list)));
    if draw.below(2) == 0 {
        caches.push(cache(3, l3, "0-3"));
    }
    // What a line costs does not depend on the core's speed.
    let speed = |cpu: u32| Speed::new(1 + (cpu + below_four) % 4, 3).expect("a fraction");
    let cores = (0..4).map(|cpu| Core { cpu, speed: speed(cpu) }).collect();
    let platform = Platform::new("p", cores, caches, vec![], None).expect("valid");
    let parts: Vec<u64> = (0..2).map(|_| unit * (1 + draw.below(6))).collect();
    let whole = draw.below(2) == 0;
    let tasks = (0..2 + draw.below(5)).map(|id| {
        let mut task = Task::periodic(format!("t{id}"), Duration::from_ms(1), Duration::from_ms(10));
        let mut lines = 1 + draw.below(20 * unit);
        let group = draw.index(3);
        if let Some(&part) = parts.get(group) {
            // All of it, or a part that others reach as well.
            let shared = if whole { lines } else { part };
            lines = lines.max(shared);
            task.group = Some(Group { name: format!("g{group}"), shared_bytes: shared * LINE });
        }
        task.working_set.size_bytes = lines * LINE;
        let ratios = if writes { &[(1, 0), (0, 1), (1, 1), (3, 1)][..] } else { &[(1, 0)] };
        (task.working_set.reads, task.working_set.writes) = ratios[draw.index(ratios.len())];
        task
    });
    let mut tasks: Vec<Task> = tasks.collect();
    for group in ["g0", "g1"] {
        let member = |task: &&mut Task| task.group.as_ref().is_some_and(|mine| mine.name == group);
        if tasks.iter_mut().filter(member).count() == 1 {
            tasks.iter_mut().filter(member).for_each(|task| task.group = None);
        }
    }
    let set = TaskSet::new("set", tasks).expect("valid");
    let levels = BTreeMap::from([(1, 1_000), (2, 4_000), (3, 30_000)]);
    let latencies = LineLatencies::new(64, levels, 100_000, None).expect("valid");
    Case { platform, set, latencies }
}

fn machine(case: &Case, ways: Option<usize>) -> Machine {
    let lines = |cache: &Cache| usize::try_from(cache.size_bytes / LINE).expect("small");
    let cache = |cache: &Cache| {
        let ways = ways.unwrap_or(lines(cache)).min(lines(cache));
        LineCache { sets: vec![Vec::new(); (lines(cache) / ways).max(1)], ways }
    };
    let caches = case.platform.caches();
    let path = |cpu: u32| {
        let on_path = caches.iter().enumerate().filter(|(_, cache)| cache.cpus.contains(cpu));
        on_path.map(|(id, cache)| (id, [1_000, 4_000, 30_000][cache.level as usize - 1])).collect()
    };
    let parts = |name: &str| -> Vec<u64> {
        let group = |task: &Task| task.group.clone().filter(|group| group.name == name);
        let mut parts: Vec<u64> =
            case.set.tasks().iter().filter_map(group).map(|group| group.shared_bytes / LINE).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    };
    let walk = |(id, task): (usize, &Task)| {
        let (reads, writes) = (u64::from(task.working_set.reads), u64::from(task.working_set.writes));
        // Of each slice, the first lines are those that are written.
        let slice = |region: u32, from: u64, to: u64| {
            let written = ((to - from) * writes).div_ceil(reads + writes);
            (from..to).map(move |line| ((region, line), line - from < written)).collect::<Vec<_>>()
        };
        let mut lines = Vec::new();
        let mut shared = 0;
        if let Some(group) = &task.group {
            for end in parts(&group.name).into_iter().filter(|&end| end <= group.shared_bytes / LINE) {
                lines.extend(slice(if group.name == "g0" { 1 } else { 2 }, shared, end));
                shared = end;
            }
        }
        lines.extend(slice(
            10 + u32::try_from(id).expect("few"),
            0,
            task.working_set.size_bytes / LINE - shared,
        ));
        lines
    };
    Machine {
        caches: caches.iter().map(cache).collect(),
        capacity: caches.iter().map(|cache| cache.size_bytes / LINE).collect(),
        paths: (0..4).map(path).collect(),
        memory_ps: 100_000,
        walks: case.set.tasks().iter().enumerate().map(walk).collect(),
        walked: vec![0; case.set.tasks().len()],
    }
}

/// How long jobs stay on a CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stays {
    /// For one walk when they enter and one when they leave.
    Whole,
    /// Half of them for less than a walk, which is known when they enter.
    Short,
    /// Half of them for less than a walk, because they are stopped.
    Cut,
}

/// Jobs enter and leave CPUs in a random order, one at a time on each; what is paid is compared at every entry.
fn schedule(case: &Case, draw: &mut Draw, mut each: impl FnMut(bool, usize, usize)) {
    let mut running: [Option<usize>; 4] = [None; 4];
    for _ in 0..60 {
        let core = draw.index(4);
        match running[core].take() {
            Some(task) => each(false, task, core),
            None => {
                let task = draw.index(case.set.tasks().len());
                if !running.contains(&Some(task)) {
                    each(true, task, core);
                    running[core] = Some(task);
                }
            }
        }
    }
}

/// Total delay (ps), lines from memory and lines walked, by the model and line by line; asserts equality at each entry if `exact`.
fn compare(seed: u64, writes: bool, ways: Option<usize>, stays: Stays, exact: bool) -> [u64; 6] {
    let mut draw = Draw(seed);
    let case = case(&mut draw, writes, ways.map_or(1, |ways| ways as u64));
    let mut state = CacheState::new(&case.latencies, &case.platform, &case.set).expect("consistent");
    let mut machine = machine(&case, ways);
    let mut stay = Draw(seed ^ 0x5eed);
    let mut totals = [0; 6];
    // By task: the lines that are walked when it leaves.
    let mut left = vec![0; machine.walks.len()];
    schedule(&case, &mut draw, |enters, task, core| {
        let all = machine.walks[task].len();
        if !enters {
            machine.walk(task, core, left[task]);
            state.leave(task, core);
            return;
        }
        let count = if stays != Stays::Whole && stay.below(2) == 0 { stay.index(all) } else { all };
        // A task that walks all does so again before it leaves.
        left[task] = if count == all { all } else { 0 };
        let (ps, lines) = machine.walk(task, core, count);
        let most = if stays == Stays::Short { Some(count as u64) } else { None };
        let paid = state.enter(task, core, most);
        let from_memory = state.settle(task, Some(count as u64));
        // Its share of the delay has passed.
        let delay_ps = paid.delay_ns * 1_000 * count as u64 / paid.lines.max(1);
        assert!(from_memory <= count as u64 && paid.cold_lines <= paid.lines, "seed {seed}, task {task}");
        if exact {
            assert_eq!(
                (paid.delay_ns, from_memory),
                (ps.div_ceil(1_000), lines),
                "seed {seed}, task {task} on {core}, {count} of {all}"
            );
        }
        let found = [delay_ps, ps, from_memory, lines, count as u64, all as u64];
        totals.iter_mut().zip(found).for_each(|(total, more)| *total += more);
    });
    totals
}

#[test]
fn whole_walks_cost_what_they_cost_line_by_line() {
    let (mut paid, seeds) = (0, 3_000);
    for seed in laxity_seeds::seeds!(0..seeds) {
        paid += compare(seed, false, None, Stays::Whole, true)[0];
    }
    laxity_seeds::assert_together!(
        paid / seeds > 1_000_000,
        "there must be something to pay: {paid} ps in {seeds} sets"
    );
}

/// Totals over many sets, always the same ones, for no single one has to be near: delay and lines from memory by the model, in thousandths
/// of those line by line.
fn thousandths(writes: bool, ways: Option<usize>, stays: Stays) -> (u64, u64) {
    let mut totals = [0u64; 6];
    for seed in 0..2_000 {
        let found = compare(seed, writes, ways, stays, false);
        totals.iter_mut().zip(found).for_each(|(total, more)| *total += more);
    }
    let [delay, exact_delay, lines, exact_lines, walked, whole] = totals;
    assert!(lines <= walked && (stays == Stays::Whole || walked < whole * 4 / 5), "{totals:?}");
    (delay * 1_000 / exact_delay, lines * 1_000 / exact_lines)
}

/// Lines that others wrote leave holes, into which later ones go, and a task that stops within a walk leaves some
/// of what a sharer, elsewhere in that walk, finds: over whole sets it comes out the same.
#[test]
fn with_writes_or_short_stays_totals_are_within_one_per_cent() {
    for (writes, stays) in [(true, Stays::Whole), (false, Stays::Short), (true, Stays::Short)] {
        let (delay, lines) = thousandths(writes, None, stays);
        println!("writes {writes}: {delay} {lines}");
        let right = 990..=1_010;
        assert!(right.contains(&delay) && right.contains(&lines), "writes {writes}: {delay} {lines}");
    }
}

/// With few lines in a set, a set may keep what the whole cache would have lost.
#[test]
fn of_caches_with_sets_it_says_up_to_a_tenth_too_much() {
    for ways in [2, 4, 8] {
        let (delay, lines) = thousandths(false, Some(ways), Stays::Whole);
        assert!((1_000..=1_100).contains(&delay), "{ways} ways: delay {delay}");
        assert!((1_000..=1_100).contains(&lines), "{ways} ways: lines {lines}");
    }
}

/// Half of the stays end somewhere within a walk, unknown when they began.
#[test]
fn stays_that_are_cut_short_cost_their_share() {
    for writes in [false, true] {
        let (delay, lines) = thousandths(writes, None, Stays::Cut);
        assert!(
            (940..=1_060).contains(&delay) && (940..=1_060).contains(&lines),
            "{writes}: {delay} {lines}"
        );
    }
}
