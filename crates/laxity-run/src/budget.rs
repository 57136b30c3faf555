//! SCHED_DEADLINE budgets: the WCET plus a margin for what the kernel charges beyond a job's own work.
//!
//! The kernel charges wake-ups, time keeping and, in a virtual machine, stolen time to the budget, and
//! throttles a task that exceeds it until its next period. Without a margin every job that uses its whole WCET
//! is throttled; with a small one, a single disturbance is paid back over many periods, in each of which the
//! task is late. By default the cell's free bandwidth is therefore given to its tasks in equal shares.

use crate::limits::KernelLimits;
use laxity_model::{Cell, Diagnostic, Duration, Result, Task, TaskSet};
use std::fmt;
use std::str::FromStr;

/// What SCHED_DEADLINE budgets get on top of the WCET.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BudgetMargin {
    /// An equal share of the cell's free bandwidth, at most half the WCET or 500 us, whichever is larger.
    #[default]
    Auto,
    /// The larger of a share of the WCET, in ppm, and a fixed time.
    Fixed {
        /// Share of the WCET, in ppm.
        share_ppm: u32,
        /// Least margin.
        least: Duration,
    },
}

/// Largest automatic margin of tasks with short WCETs.
const AUTO_MOST: Duration = Duration::from_us(500);
/// The share of each CPU that is left alone of what the kernel admits.
const RESERVE_PERCENT: u128 = 1;

/// The period of a task's reservation: T, or less if D < T.
///
/// A task with D < T that blocks until its next release is throttled by the kernel if it wakes up between its last
/// deadline and its next period, and the kernel counts that period from the last wake-up. One late wake-up would
/// therefore delay every later job. A reservation that is an eighth shorter lets the task catch up.
pub fn reserved_period(task: &Task) -> Duration {
    let period = task.period();
    if task.deadline_rel >= period {
        return period;
    }
    Duration::from_ns(period.as_ns() - period.as_ns() / 8).max(task.deadline_rel)
}

/// The budgets of a cell's tasks, in their order: at least the WCET, at most the deadline.
pub fn budgets(set: &TaskSet, cell: &Cell, limits: KernelLimits, margin: BudgetMargin) -> Vec<Duration> {
    let cpus = cell.cpus.len();
    budgets_within(set, &Supply { tasks: &cell.tasks, cpus, period: &reserved_period }, limits, margin)
}

/// What tasks share: CPUs, for reservations of these periods.
pub struct Supply<'a> {
    /// Ids of the tasks.
    pub tasks: &'a [usize],
    /// CPUs that tasks run on.
    pub cpus: usize,
    /// The period of a task's reservation.
    pub period: &'a dyn Fn(&Task) -> Duration,
}

/// The budgets of tasks, in their order: at least the WCET, at most the deadline.
pub fn budgets_within(
    set: &TaskSet,
    supply: &Supply<'_>,
    limits: KernelLimits,
    margin: BudgetMargin,
) -> Vec<Duration> {
    let free_q32 = free_bandwidth_q32(set, supply, limits) / (supply.tasks.len().max(1) as u128);
    let budget = |&id: &usize| {
        let task = &set.tasks()[id];
        let extra = match margin {
            BudgetMargin::Auto => {
                let share = (u128::from((supply.period)(task).as_ns()) * free_q32) >> 32;
                nanoseconds(share).min(AUTO_MOST.max(Duration::from_ns(task.wcet.as_ns() / 2)))
            }
            BudgetMargin::Fixed { share_ppm, least } => {
                let share = (u128::from(task.wcet.as_ns()) * u128::from(share_ppm)).div_ceil(1_000_000);
                nanoseconds(share).max(least)
            }
        };
        task.wcet.checked_add(extra).map_or(task.deadline_rel, |budget| budget.min(task.deadline_rel))
    };
    supply.tasks.iter().map(budget).collect()
}

fn nanoseconds(ns: u128) -> Duration {
    Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX))
}

/// What the tasks leave of their CPUs below the kernel's limit, times 2^32, rounded down.
fn free_bandwidth_q32(set: &TaskSet, supply: &Supply<'_>, limits: KernelLimits) -> u128 {
    let per_cpu = u128::from(limits.admitted_q20()) << 12;
    let usable = per_cpu.saturating_sub((RESERVE_PERCENT << 32) / 100) * supply.cpus as u128;
    let used = supply.tasks.iter().map(|&id| {
        let task = &set.tasks()[id];
        (u128::from(task.wcet.as_ns()) << 32).div_ceil(u128::from((supply.period)(task).as_ns()))
    });
    usable.saturating_sub(used.sum())
}

impl fmt::Display for BudgetMargin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetMargin::Auto => f.pad("auto"),
            BudgetMargin::Fixed { share_ppm, least } => {
                write!(f, "{}%,{least}", f64::from(*share_ppm) / 10_000.0)
            }
        }
    }
}

impl FromStr for BudgetMargin {
    type Err = Diagnostic;

    /// `auto`, `5%,100us`, `5%` or `100us`.
    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "auto" {
            return Ok(BudgetMargin::Auto);
        }
        let hint = "write `auto`, or as in `5%,100us`: the larger of the two is added to every WCET";
        let (mut share_ppm, mut least) = (0, Duration::ZERO);
        for part in text.split(',') {
            match part.trim().strip_suffix('%') {
                Some(percent) => {
                    let share: f64 = percent.trim().parse().unwrap_or(f64::NAN);
                    if !(0.0..=100.0).contains(&share) {
                        let message = format!("budget margin `{text}`: `{part}` is not between 0% and 100%");
                        return Err(Diagnostic::usage(message).hint(hint));
                    }
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "between 0 and 1e6"
                    )]
                    let ppm = (share * 10_000.0).round() as u32;
                    share_ppm = ppm;
                }
                None => {
                    least = part.parse().map_err(|error: Diagnostic| {
                        error.context(format!("budget margin `{text}`")).hint(hint)
                    })?;
                }
            }
        }
        Ok(BudgetMargin::Fixed { share_ppm, least })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::CpuList;

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    fn budgets_of(tasks: &[(u64, u64)], cpus: u32, margin: BudgetMargin) -> Vec<u64> {
        let task = |(id, &(wcet, period)): (usize, &(u64, u64))| {
            Task::periodic(format!("t{id}"), Duration::from_us(wcet), Duration::from_us(period))
        };
        let set = TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("valid");
        let cell = Cell::new(CpuList::first(cpus), (0..tasks.len()).collect());
        let budgets = budgets(&set, &cell, KernelLimits::default(), margin);
        budgets.into_iter().map(|budget| budget.as_ns() / 1_000).collect()
    }

    #[test]
    fn a_fixed_margin_is_the_larger_of_share_and_time() {
        let margin = BudgetMargin::Fixed { share_ppm: 50_000, least: Duration::from_us(100) };
        assert_eq!(budgets_of(&[(10_000, 100_000), (1_000, 100_000)], 1, margin), [10_500, 1_100]);
        assert_eq!(budgets_of(&[(10_000, 10_000)], 1, margin), [10_000], "never beyond the deadline");
    }

    #[test]
    fn free_bandwidth_is_shared_equally_up_to_the_most() {
        // 0.90 - 0.01 - 0.8 = 0.09 free for two tasks: 0.045 of 100 ms and, capped, half of 40 ms or less.
        assert_eq!(
            budgets_of(&[(40_000, 100_000), (40_000, 100_000)], 1, BudgetMargin::Auto),
            [44_500, 44_500]
        );
        // Much is free: 500 us for the short one, half its WCET for the long one.
        assert_eq!(budgets_of(&[(300, 10_000), (8_000, 100_000)], 2, BudgetMargin::Auto), [800, 12_000]);
        // Nothing is free.
        assert_eq!(budgets_of(&[(92_000, 100_000)], 1, BudgetMargin::Auto), [92_000]);
    }

    #[test]
    fn a_constrained_deadline_shortens_the_reserved_period() {
        let task = |deadline_ms| Task { deadline_rel: ms(deadline_ms), ..Task::periodic("a", ms(1), ms(80)) };
        assert_eq!(
            [80, 75, 20].map(|deadline_ms| reserved_period(&task(deadline_ms))),
            [ms(80), ms(75), ms(70)]
        );
    }

    #[test]
    fn reads_what_it_writes_and_refuses_the_rest() {
        for text in ["auto", "5%,100us", "2.5%,0ns"] {
            assert_eq!(text.parse::<BudgetMargin>().expect(text).to_string(), text);
        }
        assert_eq!("100us".parse(), Ok(BudgetMargin::Fixed { share_ppm: 0, least: Duration::from_us(100) }));
        assert_eq!(ms(1), Duration::from_us(1000));
        for text in ["200%", "-1%", "much", "5%,100"] {
            let error = text.parse::<BudgetMargin>().expect_err(text);
            assert!(error.hint.is_some_and(|hint| hint.contains("auto")), "{text}");
        }
    }
}
