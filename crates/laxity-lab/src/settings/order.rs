//! Orders of priorities, the simplest first: rate-monotonic, deadline-monotonic, Audsley's.

use super::cells::Inside;
use laxity_analysis::settings::{Searched, audsley, da_lc_accepts, levels, search_orders};
use laxity_analysis::{SporadicTask, TIME_MAX};
use laxity_model::{FIFO_LEVELS, PriorityRule};

/// All orders of so many tasks are looked at where no assignment is optimal.
const SEARCHED_MAX: usize = 8;
/// Questions of that search.
const TRIALS: u64 = 20_000;

/// By what priorities are assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    RateMonotonic,
    DeadlineMonotonic,
    /// D - C.
    LaxityMonotonic,
    Audsley,
    /// The first of all orders that is accepted.
    Searched,
}

impl Order {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Order::RateMonotonic => "rate-monotonic",
            Order::DeadlineMonotonic => "deadline-monotonic",
            Order::LaxityMonotonic => "by D - C",
            Order::Audsley => "Audsley's optimal assignment",
            Order::Searched => "found among all orders",
        }
    }
}

/// An order that is accepted, and the level of each task: 0 is the highest.
pub fn order_of(inside: &Inside<'_>) -> Option<(Order, Vec<usize>)> {
    if inside.shares_levels() {
        return shared(inside);
    }
    let tasks: Vec<SporadicTask> = (0..inside.numbers.len()).map(|at| inside.task(at)).collect();
    let sorted = |value: &dyn Fn(&SporadicTask) -> u64| {
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by_key(|&at| (value(&tasks[at]), inside.numbers[at]));
        order
    };
    let accepted =
        |order: &[usize]| inside.judge(&order.iter().map(|&at| (at, tasks[at])).collect::<Vec<_>>());
    let rate = (Order::RateMonotonic, sorted(&|task| task.period_ns));
    let deadline = (Order::DeadlineMonotonic, sorted(&|task| task.deadline_rel_ns));
    let simple = match inside.cells.scheduler.rule {
        PriorityRule::RateMonotonic => vec![rate],
        PriorityRule::DeadlineMonotonic => vec![deadline],
        PriorityRule::EarliestDeadlineFirst | PriorityRule::Given => vec![
            rate,
            deadline,
            (Order::LaxityMonotonic, sorted(&|task| task.deadline_rel_ns.saturating_sub(task.wcet_ns))),
        ],
    };
    let found = simple.into_iter().find(|(_, order)| accepted(order));
    let found = found.or_else(|| {
        let any = inside.cells.scheduler.rule == PriorityRule::Given;
        any.then(|| assigned(inside, &tasks, &accepted)).flatten()
    });
    found.map(|(order, ranked)| (order, levels_of(&ranked)))
}

/// Audsley's, where the simple orders are not proven.
fn assigned(
    inside: &Inside<'_>,
    tasks: &[SporadicTask],
    accepted: &dyn Fn(&[usize]) -> bool,
) -> Option<(Order, Vec<usize>)> {
    let prefers_low = |at: usize| tasks[at].deadline_rel_ns;
    if inside.processors == 1 {
        let constrained = tasks.iter().all(|task| task.deadline_rel_ns <= task.period_ns);
        if constrained && inside.cells.overheads.is_none() {
            // Deadline-monotonic priorities are optimal (Leung, Whitehead 1982).
            return None;
        }
        let order = audsley(tasks.len(), prefers_low, |at, higher| is_lowest(inside, at, higher)).ok()?;
        return accepted(&order).then_some((Order::Audsley, order));
    }
    let order = audsley(tasks.len(), prefers_low, |at, higher| {
        let higher: Vec<_> = higher.iter().map(|&at| tasks[at]).collect();
        da_lc_accepts(&tasks[at], &higher, inside.processors)
    });
    if let Some(order) = order.ok().filter(|order| accepted(order)) {
        return Some((Order::Audsley, order));
    }
    if tasks.len() > SEARCHED_MAX {
        return None;
    }
    let mut all: Vec<usize> = (0..tasks.len()).collect();
    all.sort_by_key(|&at| prefers_low(at));
    match search_orders(&all, TRIALS, accepted) {
        Searched::Found(order) => Some((Order::Searched, order)),
        Searched::None | Searched::OutOfTrials => None,
    }
}

/// Whether a task meets its deadlines below others, whatever becomes of them.
fn is_lowest(inside: &Inside<'_>, at: usize, higher: &[usize]) -> bool {
    let late = |&at: &usize| (at, SporadicTask { deadline_rel_ns: TIME_MAX, ..inside.task(at) });
    let mut order: Vec<_> = higher.iter().map(late).collect();
    order.push((at, inside.task(at)));
    inside.judge(&order)
}

/// More tasks than priorities, on one CPU.
fn shared(inside: &Inside<'_>) -> Option<(Order, Vec<usize>)> {
    if inside.processors > 1 {
        return None;
    }
    let found = levels(inside.numbers.len(), |at, higher| is_lowest(inside, at, higher)).ok()?;
    if found.len() > FIFO_LEVELS {
        return None;
    }
    let mut level_of = vec![0; inside.numbers.len()];
    for (level, tasks) in found.iter().enumerate() {
        tasks.iter().for_each(|&at| level_of[at] = level);
    }
    Some((Order::Audsley, level_of))
}

fn levels_of(order: &[usize]) -> Vec<usize> {
    let mut levels = vec![0; order.len()];
    order.iter().enumerate().for_each(|(rank, &at)| levels[at] = rank);
    levels
}
