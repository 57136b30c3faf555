//! Which tasks share memory, and how much of it (lindsay2012, 3.1.6 and 8.3).
//!
//! 1. A task is in one group at most. A group has one region of memory; each member walks the first `shared_bytes` of
//!    it, and memory of its own for the rest of its working set.
//! 2. Two members therefore share the lesser of their shared parts. lindsay2012 assumes that members share all of their
//!    working sets (3.1.6): there all parts are equal.
//! 3. A part that is said to be shared must be shared with another member: [`Sharing::of`] refuses a member that
//!    shares nothing with its group, and one that shares a part of its working set larger than any other member's. A
//!    member that shares its whole working set may be larger than the others, whose parts then lie within it.

use crate::{ByteSize, Diagnostic, Result, TaskSet};
use std::collections::BTreeMap;

/// Tasks that share memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryGroup {
    /// Its name.
    pub name: String,
    /// Ids of its tasks, ascending.
    pub members: Vec<usize>,
}

/// A set's groups, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharing {
    /// By first member.
    groups: Vec<MemoryGroup>,
    /// By task id.
    parts: Vec<Part>,
}

/// What one task walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    group: Option<usize>,
    shared_bytes: u64,
    own_bytes: u64,
}

impl Sharing {
    /// The groups of a set.
    ///
    /// # Errors
    ///
    /// Groups whose sizes contradict each other (assumption 3).
    pub fn of(set: &TaskSet) -> Result<Self> {
        let mut groups: Vec<MemoryGroup> = Vec::new();
        let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
        let mut parts = Vec::with_capacity(set.tasks().len());
        for (id, task) in set.tasks().iter().enumerate() {
            let group = task.group.as_ref().map(|group| {
                let at = *by_name.entry(&group.name).or_insert(groups.len());
                if at == groups.len() {
                    groups.push(MemoryGroup { name: group.name.clone(), members: Vec::new() });
                }
                groups[at].members.push(id);
                at
            });
            let shared_bytes = task.group.as_ref().map_or(0, |group| group.shared_bytes);
            parts.push(Part { group, shared_bytes, own_bytes: task.working_set.size_bytes - shared_bytes });
        }
        let sharing = Sharing { groups, parts };
        sharing.groups.iter().try_for_each(|group| sharing.check(set, group))?;
        Ok(sharing)
    }

    fn check(&self, set: &TaskSet, group: &MemoryGroup) -> Result<()> {
        let name = |id: usize| &set.tasks()[id].name;
        if let Some(&id) = group.members.iter().find(|&&id| self.parts[id].shared_bytes == 0) {
            return Err(Diagnostic::usage(format!(
                "task `{}` is in group `{}` but shares no memory with it (0 bytes)",
                name(id),
                group.name
            ))
            .hint("give it a `working_set` and a `shared` part above 0, or leave its group out"));
        }
        // The largest part needs a second task that reaches as far; two of the largest settle all others.
        let largest = group.members.iter().copied().max_by_key(|&id| self.parts[id].shared_bytes);
        let Some(largest) = largest.filter(|&id| self.parts[id].own_bytes > 0) else { return Ok(()) };
        let others = group.members.iter().filter(|&&id| id != largest);
        let next = others.map(|&id| self.parts[id].shared_bytes).max().unwrap_or(0);
        let Part { shared_bytes, .. } = self.parts[largest];
        if next >= shared_bytes {
            return Ok(());
        }
        let rest = match next {
            0 => "has no other task".to_owned(),
            next => format!("has no other task that shares more than {}", ByteSize(next)),
        };
        Err(Diagnostic::usage(format!(
            "task `{}` shares {} of its working set with group `{}`, which {rest}",
            name(largest),
            ByteSize(shared_bytes),
            group.name
        ))
        .hint("make `shared` the size that at least two tasks of the group share, or leave the group out"))
    }

    /// All groups, by first member.
    pub fn groups(&self) -> &[MemoryGroup] {
        &self.groups
    }

    /// The place of a task's group in [`Sharing::groups`]; nothing if it shares no memory.
    pub fn group_of(&self, task: usize) -> Option<usize> {
        self.parts[task].group
    }

    /// How many bytes two tasks share; a task shares its whole working set with itself.
    pub fn between(&self, one: usize, other: usize) -> u64 {
        let (a, b) = (self.parts[one], self.parts[other]);
        match (a.group, b.group) {
            _ if one == other => a.shared_bytes + a.own_bytes,
            (Some(mine), Some(theirs)) if mine == theirs => a.shared_bytes.min(b.shared_bytes),
            _ => 0,
        }
    }

    /// How many bytes some tasks walk together: what they share counts once.
    pub fn footprint(&self, tasks: impl IntoIterator<Item = usize>) -> u64 {
        let mut shared: BTreeMap<usize, u64> = BTreeMap::new();
        let mut total = 0;
        for Part { group, shared_bytes, own_bytes } in tasks.into_iter().map(|task| self.parts[task]) {
            total += own_bytes;
            if let Some(group) = group {
                let widest = shared.entry(group).or_default();
                *widest = shared_bytes.max(*widest);
            }
        }
        total + shared.into_values().sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, Group, Task};

    /// Working set, group and shared part of each task, in bytes.
    fn set(tasks: &[(u64, &str, u64)]) -> TaskSet {
        let task = |(id, &(size, group, shared_bytes)): (usize, &(u64, &str, u64))| {
            let mut task = Task::periodic(format!("t{id}"), Duration::from_ms(1), Duration::from_ms(10));
            task.working_set.size_bytes = size;
            task.group = (!group.is_empty()).then(|| Group { name: group.into(), shared_bytes });
            task
        };
        TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("valid")
    }

    fn message(tasks: &[(u64, &str, u64)]) -> String {
        let error = Sharing::of(&set(tasks)).expect_err("must be refused");
        assert!(error.hint.is_some());
        error.message
    }

    #[test]
    fn members_share_the_lesser_of_their_parts() {
        let set =
            set(&[(100, "b", 40), (50, "", 0), (60, "a", 60), (90, "b", 30), (40, "b", 40), (60, "a", 60)]);
        let sharing = Sharing::of(&set).expect("consistent");
        let groups: Vec<_> = sharing.groups().iter().map(|g| (g.name.as_str(), g.members.clone())).collect();
        assert_eq!(groups, [("b", vec![0, 3, 4]), ("a", vec![2, 5])]);
        assert_eq!((sharing.group_of(1), sharing.group_of(5)), (None, Some(1)));
        assert_eq!((sharing.between(0, 3), sharing.between(4, 0), sharing.between(2, 5)), (30, 40, 60));
        assert_eq!((sharing.between(0, 2), sharing.between(1, 1), sharing.between(0, 0)), (0, 50, 100));
        // own 60 + 60 + 0, and 40 of the region
        assert_eq!(sharing.footprint([0, 3, 4]), 160);
        assert_eq!(sharing.footprint([3]), 90);
        assert_eq!(sharing.footprint([1, 2, 5]), 110);
        assert_eq!(sharing.footprint([]), 0);
    }

    #[test]
    fn a_part_that_no_other_member_shares_is_refused() {
        assert_eq!(
            message(&[(100, "g", 0), (50, "g", 50)]),
            "task `t0` is in group `g` but shares no memory with it (0 bytes)"
        );
        assert_eq!(
            message(&[(4096, "g", 2048), (1024, "g", 1024)]),
            "task `t0` shares 2KiB of its working set with group `g`, which has no other task that shares more than 1KiB"
        );
        assert_eq!(
            message(&[(4096, "g", 2048)]),
            "task `t0` shares 2KiB of its working set with group `g`, which has no other task"
        );
    }

    #[test]
    fn a_whole_working_set_may_hold_the_others() {
        for tasks in [
            &[(4096, "g", 4096), (1024, "g", 1024)][..],
            &[(4096, "g", 4096), (2048, "g", 1024)],
            &[(1, "g", 1)],
        ] {
            assert!(Sharing::of(&set(tasks)).is_ok(), "{tasks:?}");
        }
        let sharing = Sharing::of(&set(&[(4096, "g", 4096), (2048, "g", 1024)])).expect("consistent");
        assert_eq!((sharing.between(0, 1), sharing.footprint([0, 1])), (1024, 4096 + 1024));
    }
}
