//! What a generator decides about a task before the options common to all generators are applied.

use crate::Decimal;
use laxity_model::{Demand, Group, LoadSum};
use std::cmp::Ordering;

/// The most tasks a generated set may have: as many as any set.
pub(crate) const TASKS_MAX: u32 = 100_000;
const _: () = assert!(TASKS_MAX as usize == laxity_model::TASKS_MAX);

/// C and T of a task to be, in ns; `1 <= wcet <= period`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) wcet_ns: u64,
    pub(crate) period_ns: u64,
    /// When it enters, where the generator says so instead of the option `phases`.
    pub(crate) phase_ns: Option<u64>,
    pub(crate) demand: Option<Demand>,
    /// What it walks, where the generator says so instead of the option `wss`.
    pub(crate) memory: Option<Memory>,
}

/// The memory of a task to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Working set.
    pub(crate) size_bytes: u64,
    /// The group that shares it, and how much of it is shared.
    pub(crate) group: Option<Group>,
}

impl Draft {
    /// Task number `id` with C = floor(u T), but at least 1 ns. Rounding down keeps C <= T for u <= 1 and the
    /// set's total at or below the sum of the u.
    pub(crate) fn with_utilization(id: usize, utilization: f64, period: u64) -> Self {
        let wcet = crate::stream::floor_u64(utilization * period as f64).clamp(1, period);
        Draft {
            name: format!("t{}", id + 1),
            wcet_ns: wcet,
            period_ns: period,
            phase_ns: None,
            demand: None,
            memory: None,
        }
    }
}

/// Nanoseconds that [`trim_to`] takes off, at most, for each task.
const TRIM_NS_PER_TASK: usize = 64;

/// Takes nanoseconds off the largest WCETs until the exact total is at most `total`.
///
/// Only the floor of 1 ns a task and the last bit of a double can have lifted the total, so this rarely does
/// anything; but a set for U = m must not come out infeasible by one bit. It is bounded, because more than
/// that is not rounding and must show.
pub(crate) fn trim_to(drafts: &mut [Draft], total: Decimal) {
    for _ in 0..TRIM_NS_PER_TASK * drafts.len() {
        let mut load = LoadSum::new();
        drafts.iter().for_each(|draft| load.add_ratio(draft.wcet_ns, draft.period_ns));
        if load.cmp_ratio(total.billionths(), Decimal::ONE.billionths()) != Ordering::Greater {
            return;
        }
        if let Some(largest) = drafts.iter_mut().max_by_key(|draft| draft.wcet_ns) {
            largest.wcet_ns = (largest.wcet_ns - 1).max(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_stops_at_the_exact_total() {
        let draft = |wcet, period| Draft {
            name: String::new(),
            wcet_ns: wcet,
            period_ns: period,
            phase_ns: None,
            demand: None,
            memory: None,
        };
        let mut drafts = [draft(6, 10), draft(9, 10)];
        trim_to(&mut drafts, "1.2".parse().expect("decimal"));
        assert_eq!(drafts.map(|draft| draft.wcet_ns), [6, 6]);
        let mut exact = [draft(4, 10), draft(8, 10)];
        trim_to(&mut exact, "1.2".parse().expect("decimal"));
        assert_eq!(exact.map(|draft| draft.wcet_ns), [4, 8]);
        let mut tiny = [draft(1, 2), draft(1, 2)];
        trim_to(&mut tiny, "0.5".parse().expect("decimal"));
        assert_eq!(tiny.map(|draft| draft.wcet_ns), [1, 1]);
    }

    #[test]
    fn wcets_are_rounded_down_into_1_to_t() {
        let wcet = |utilization, period| Draft::with_utilization(0, utilization, period).wcet_ns;
        assert_eq!(wcet(0.299_999_999, 1_000), 299);
        assert_eq!(wcet(0.0, 1_000), 1);
        assert_eq!(wcet(1.0, 1_000), 1_000);
        assert_eq!(wcet(1.0 + f64::EPSILON, 1_000_000_000_000_000), 1_000_000_000_000_000);
    }
}
