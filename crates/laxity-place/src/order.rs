//! The order in which tasks are considered.

use laxity_model::{Duration, Task};
use std::cmp::Ordering;

/// A row per key: its name on the command line, the direction meant when none is written, and what goes before what. Everything else
/// (names that are read, `laxity list`, what a placement is compared with) comes from here.
macro_rules! keys {
    ($($(#[$documentation:meta])* $key:ident: $name:literal, $direction:ident, $compare:expr;)*) => {
        /// The attribute that tasks are ordered by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Key {
            $($(#[$documentation])* $key,)*
        }

        impl Key {
            /// All keys.
            pub const ALL: [Key; [$($name),*].len()] = [$(Key::$key),*];

            /// The name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Key::$key => $name,)*
                }
            }

            /// The direction meant when none is written: largest load or working set first, shortest time first.
            pub fn default_direction(self) -> Direction {
                match self {
                    $(Key::$key => Direction::$direction,)*
                }
            }

            fn compare(self, a: &Item<'_>, b: &Item<'_>) -> Ordering {
                let compare: fn(&Item<'_>, &Item<'_>) -> Ordering = match self {
                    $(Key::$key => $compare,)*
                };
                compare(a, b)
            }
        }
    };
}

keys! {
    /// As in the file.
    Given: "given", Up, |a, b| a.id.cmp(&b.id);
    /// Work per period.
    Utilization: "utilization", Down, |a, b| by_work_per(Task::period, a, b);
    /// Work per min(D, T).
    Density: "density", Down, |a, b| by_work_per(Task::density_window, a, b);
    /// Relative deadline.
    Deadline: "deadline", Up, |a, b| a.task.deadline_rel.cmp(&b.task.deadline_rel);
    /// Period or least time between arrivals.
    Period: "period", Up, |a, b| a.task.period().cmp(&b.task.period());
    /// Size of the working set.
    WorkingSet: "wss", Down, |a, b| a.task.working_set.size_bytes.cmp(&b.task.working_set.size_bytes);
}

/// a.work / a.window against b.work / b.window.
fn by_work_per(window: fn(&Task) -> Duration, a: &Item<'_>, b: &Item<'_>) -> Ordering {
    let left = u128::from(a.work.as_ns()) * u128::from(window(b.task).as_ns());
    left.cmp(&(u128::from(b.work.as_ns()) * u128::from(window(a.task).as_ns())))
}

/// Smallest or largest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Non-decreasing.
    Up,
    /// Non-increasing.
    Down,
}

/// A key and a direction. Tasks with equal keys are considered by ascending id in either direction (except that
/// `given:down` is the file's order backwards).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Order {
    /// The attribute.
    pub key: Key,
    /// Smallest or largest first.
    pub direction: Direction,
}

/// A task as the orders see it: its work may differ from its WCET.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    pub id: usize,
    pub task: &'a Task,
    pub work: Duration,
}

impl Direction {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }
}

impl Order {
    /// As in the file.
    pub const GIVEN: Order = Order { key: Key::Given, direction: Direction::Up };

    pub(crate) fn sort(self, items: &mut [Item]) {
        items.sort_by(|a, b| {
            let by_key = self.key.compare(a, b);
            let directed = if self.direction == Direction::Down { by_key.reverse() } else { by_key };
            directed.then(a.id.cmp(&b.id))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(tasks: &[Task], key: Key, direction: Direction) -> Vec<usize> {
        let item = |(id, task)| Item { id, task, work: Task::clone(task).wcet };
        let mut items: Vec<Item> = tasks.iter().enumerate().map(item).collect();
        Order { key, direction }.sort(&mut items);
        items.iter().map(|item| item.id).collect()
    }

    fn task(wcet_ms: u64, deadline_ms: u64, period_ms: u64, wss: u64) -> Task {
        let mut task = Task::periodic("t", Duration::from_ms(wcet_ms), Duration::from_ms(period_ms));
        task.deadline_rel = Duration::from_ms(deadline_ms);
        task.working_set.size_bytes = wss;
        task
    }

    #[test]
    fn every_key_orders_and_ties_go_by_id() {
        let tasks = [task(1, 10, 10, 5), task(2, 4, 20, 7), task(6, 30, 30, 7), task(3, 30, 30, 1)];
        // utilizations .1 .1 .2 .1; densities .1 .5 .2 .1
        assert_eq!(order(&tasks, Key::Utilization, Direction::Down), [2, 0, 1, 3]);
        assert_eq!(order(&tasks, Key::Utilization, Direction::Up), [0, 1, 3, 2]);
        assert_eq!(order(&tasks, Key::Density, Direction::Down), [1, 2, 0, 3]);
        assert_eq!(order(&tasks, Key::Deadline, Direction::Up), [1, 0, 2, 3]);
        assert_eq!(order(&tasks, Key::Period, Direction::Down), [2, 3, 1, 0]);
        assert_eq!(order(&tasks, Key::WorkingSet, Direction::Down), [1, 2, 0, 3]);
        assert_eq!(order(&tasks, Key::Given, Direction::Down), [3, 2, 1, 0]);
    }

    #[test]
    fn utilizations_too_close_for_floats_are_told_apart() {
        let ns = Duration::from_ns;
        let big = 1 << 60;
        let tasks =
            [Task::periodic("smaller", ns(big - 1), ns(big)), Task::periodic("larger", ns(big), ns(big + 1))];
        assert_eq!(order(&tasks, Key::Utilization, Direction::Down), [1, 0]);
    }
}
