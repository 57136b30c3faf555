//! Sets that one test of the union accepts and no other, found by a search: without that test, the union would lose them.
//!
//! Two tests of the union add no set to it where D <= T, only speed: FF-DBF accepts what GFB does, RTA what BCL-iterative does. Of them
//! the name of the first that accepts is tested.

use super::any::{ARBITRARY, CONSTRAINED};
use super::{AnyGlobalEdf, BclIterative, FfDbf, Gfb, Rta};
use crate::{SporadicTask, Test, Work};

/// C, D, T, and how many such tasks.
type Group = (u64, u64, u64, usize);

fn tasks(groups: &[Group]) -> Vec<SporadicTask> {
    let group = |&(wcet, deadline, period, count): &Group| {
        std::iter::repeat_n(SporadicTask::constrained(wcet, deadline, period), count)
    };
    groups.iter().flat_map(group).collect()
}

fn accepts(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> bool {
    test.judge(tasks, processors, &mut Work::default()).is_schedulable()
}

fn first(tasks: &[SporadicTask], processors: u32) -> Option<&'static str> {
    AnyGlobalEdf.first_to_accept(tasks, processors, Work::default()).1.map(|info| info.name)
}

/// `name` accepts, nothing else of `union` does, and the union says so.
fn only(name: &str, union: &[&dyn Test], groups: &[Group], processors: u32) {
    let tasks = tasks(groups);
    let accepting: Vec<&str> = union
        .iter()
        .filter(|test| accepts(**test, &tasks, processors))
        .map(|test| test.info().name)
        .collect();
    assert_eq!(accepting, [name], "{groups:?} on {processors}");
    assert_eq!(first(&tasks, processors), Some(name), "{groups:?} on {processors}");
}

#[test]
fn constrained_deadlines() {
    let examples: [(&str, &[Group], u32); 5] = [
        ("bak", &[(12, 28, 37, 3), (16, 35, 42, 3)], 4),
        ("rta", &[(1, 2, 4, 1), (4, 11, 33, 1), (5, 6, 12, 1)], 2),
        ("bar", &[(1, 1, 2, 1), (1, 2, 2, 2)], 2),
        ("load", &[(4, 9, 31, 3), (8, 18, 38, 2)], 3),
        ("ff-dbf", &[(2, 4, 4, 1), (11, 16, 112, 1), (12, 32, 64, 1)], 2),
    ];
    for (name, groups, processors) in examples {
        only(name, CONSTRAINED, groups, processors);
    }
}

#[test]
fn arbitrary_deadlines() {
    let examples: [(&str, &[Group], u32); 4] = [
        ("gfb", &[(1, 13, 8, 1), (5, 13, 8, 2)], 2),
        ("bak", &[(20, 40, 56, 1), (10, 28, 60, 3), (1, 2_000, 1_000, 1)], 2),
        ("load", &[(5, 65, 24, 1), (8, 70, 27, 1), (1, 2, 4, 3)], 3),
        ("la", &[(2, 3, 6, 1), (1, 6, 4, 1), (1, 1, 2, 1)], 2),
    ];
    for (name, groups, processors) in examples {
        only(name, ARBITRARY, groups, processors);
    }
}

#[test]
fn what_is_there_for_its_speed_comes_first() {
    // GFB: 0.5 + 3 0.5 = 2 = 3 - 2 0.5.
    let halves = tasks(&[(1, 2, 2, 4)]);
    assert!(accepts(&Gfb, &halves, 3) && accepts(&FfDbf, &halves, 3));
    assert_eq!(first(&halves, 3), Some("gfb"));
    let pair = tasks(&[(2, 6, 6, 1), (1, 1, 2, 2)]);
    assert!(accepts(&BclIterative, &pair, 2) && accepts(&Rta, &pair, 2));
    assert_eq!(first(&pair, 2), Some("bcl-iterative"));
}
