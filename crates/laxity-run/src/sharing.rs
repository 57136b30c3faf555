//! Memory that tasks of one group share (lindsay2012, 3.1.6 and 6.1.1), as the runner makes it.
//!
//! 1. As in the paper a group's tasks are threads of one process, and share its mapping of the group's region, wherever they are:
//!    each thread is confined to its cell by itself (`guardian/crews.rs`, `cpuset.rs`). The region itself is part of the memory
//!    of the run. Where the kernel confines processes only (the notes of the run say so), the processes of the cells map the
//!    same physical pages, and so the same lines of the caches; a page then has an entry in the page tables of each, but a CPU
//!    runs tasks of one cell only. (Where memory has several nodes, a region is on that of the program.)
//! 2. A member walks the first bytes of the region, and memory of its own behind them ([`laxity_model::Sharing`]).
//! 3. A random walk follows links in the lines themselves. Members whose orders differ use different words of a line; those
//!    that walk the same lines of the region and nothing else have one order. A line has room for [`LINKS`] orders.

use laxity_model::{AccessPattern, Diagnostic, Result, Sharing, TaskSet};
use serde::{Deserialize, Serialize};

/// How many random orders have a word in a line, by which they go on from it.
pub const LINKS: usize = 14;

/// Bytes of one element.
pub const LINE_BYTES: u64 = 64;

/// The part of a group's region that a task walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPart {
    /// Number of the region in its plan.
    pub region: usize,
    /// How much of it, from its beginning; the rest of the working set is the task's own.
    pub bytes: u64,
    /// Which word of each line holds its random order.
    pub link: usize,
    /// Seed of that order.
    pub seed: u64,
}

/// The regions of a set's groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Regions {
    /// Bytes of each.
    pub bytes: Vec<u64>,
    /// By task id.
    parts: Vec<Option<SharedPart>>,
}

impl Regions {
    /// One region per group that has real-time tasks. Random orders are drawn from `seed` and the order's first task.
    ///
    /// # Errors
    ///
    /// Groups whose sizes contradict each other; more different random orders of a region than a line has room for.
    pub fn of(set: &TaskSet, seed: u64) -> Result<Self> {
        let sharing = Sharing::of(set)?;
        let mut regions = Regions { bytes: Vec::new(), parts: vec![None; set.tasks().len()] };
        for group in sharing.groups() {
            let members: Vec<usize> =
                set.real_time().map(|(id, _)| id).filter(|id| group.members.contains(id)).collect();
            regions.add(set, &group.name, &members, seed)?;
        }
        Ok(regions)
    }

    fn add(&mut self, set: &TaskSet, name: &str, members: &[usize], seed: u64) -> Result<()> {
        let shared = |id: usize| set.tasks()[id].group.as_ref().map_or(0, |group| group.shared_bytes);
        let Some(bytes) = members.iter().map(|&id| shared(id)).max() else { return Ok(()) };
        let region = self.bytes.len();
        self.bytes.push(bytes);
        // The first task of every order, with its lines of the region if it walks nothing else.
        let mut orders: Vec<(usize, Option<u64>)> = Vec::new();
        for &id in members {
            let set = &set.tasks()[id].working_set;
            let lines = shared(id).div_ceil(LINE_BYTES);
            let common = (shared(id) == set.size_bytes).then_some(lines);
            let same = orders.iter().position(|(_, other)| common.is_some() && *other == common);
            let (link, first) = match (set.pattern, same) {
                (AccessPattern::Sequential, _) => (0, id),
                (AccessPattern::Random, Some(at)) => (at, orders[at].0),
                (AccessPattern::Random, None) => {
                    orders.push((id, common));
                    (orders.len() - 1, id)
                }
            };
            let seed = seed.wrapping_add(first as u64);
            self.parts[id] = Some(SharedPart { region, bytes: shared(id), link, seed });
        }
        if orders.len() <= LINKS {
            return Ok(());
        }
        Err(Diagnostic::usage(format!(
            "group `{name}`: {} of its tasks walk different parts of its memory in random orders of their own, and a cache line \
             has room for {LINKS} orders",
            orders.len()
        ))
        .hint("let tasks share all of their working sets, of one size, or walk sequentially; or make several groups"))
    }

    /// What task `id` shares.
    pub fn part_of(&self, id: usize) -> Option<SharedPart> {
        self.parts[id]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{Duration, Group, Task};

    /// Working set, group, shared part, random.
    fn set(tasks: &[(u64, &str, u64, bool)]) -> TaskSet {
        let task = |(id, &(size, group, shared_bytes, random)): (usize, &(u64, &str, u64, bool))| {
            let mut task = Task::periodic(format!("t{id}"), Duration::from_ms(1), Duration::from_ms(10));
            task.working_set.size_bytes = size;
            if random {
                task.working_set.pattern = AccessPattern::Random;
            }
            task.group = (!group.is_empty()).then(|| Group { name: group.into(), shared_bytes });
            task
        };
        TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("valid")
    }

    #[test]
    fn a_region_is_as_large_as_the_largest_shared_part() {
        let regions = Regions::of(
            &set(&[
                (100, "b", 40, false),
                (50, "", 0, false),
                (60, "a", 60, false),
                (90, "b", 40, false),
                (60, "a", 60, false),
            ]),
            0,
        )
        .expect("consistent");
        assert_eq!(regions.bytes, [40, 60]);
        let parts = [0, 1, 2, 3, 4].map(|id| regions.part_of(id).map(|part| (part.region, part.bytes)));
        assert_eq!(parts, [Some((0, 40)), None, Some((1, 60)), Some((0, 40)), Some((1, 60))]);
    }

    #[test]
    fn orders_differ_where_lines_do() {
        let whole = (4096, "g", 4096, true);
        let regions = Regions::of(
            &set(&[whole, (8192, "g", 4096, true), whole, (8192, "g", 4096, true), (2048, "g", 2048, true)]),
            7,
        )
        .expect("consistent");
        let orders = [0, 1, 2, 3, 4].map(|id| regions.part_of(id).map(|part| (part.link, part.seed)));
        assert_eq!(orders, [Some((0, 7)), Some((1, 8)), Some((0, 7)), Some((2, 10)), Some((3, 11))]);
    }

    #[test]
    fn more_random_orders_than_a_line_has_words_are_refused() {
        let tasks = |count: usize| vec![(8192, "g", 4096, true); count];
        assert!(Regions::of(&set(&tasks(LINKS)), 0).is_ok());
        let error = Regions::of(&set(&tasks(LINKS + 1)), 0).expect_err("too many");
        assert!(error.message.contains("group `g`: 15 of its tasks") && error.hint.is_some(), "{error:?}");
        let one_order = vec![(4096, "g", 4096, true); 40];
        assert!(Regions::of(&set(&one_order), 0).is_ok());
    }
}
