//! Budgets that were used up, and the least margin that would have sufficed.
//!
//! A budget of the WCET plus a margin is used up by no job that is charged for at most that. What a job was charged for is
//! what the kernel's accounts say; where they are not recorded, its time on CPUs, which is at least as much. The margin is
//! one of these jobs: with another one, jobs may find other disturbances.

use super::Evidence;
use super::history::{Histories, History, Piece};
use laxity_trace::{BudgetRecord, EventKind};
use std::collections::BTreeMap;

/// Margins are rounded up to this.
const STEP_NS: u64 = 1_000;

/// What a job was charged for, in ns.
pub(super) fn charged(evidence: &Evidence<'_>, history: &History) -> u64 {
    let of = |piece: &Piece| {
        (evidence.charged_ns)(history.task, (piece.from_ns, piece.to_ns))
            .unwrap_or(piece.to_ns - piece.from_ns)
    };
    history.pieces.iter().map(of).sum()
}

/// The tasks that were throttled.
pub(super) fn used_up(evidence: &Evidence<'_>, histories: &Histories) -> Vec<BudgetRecord> {
    let mut throttles: BTreeMap<u32, u64> = BTreeMap::new();
    let used_up = evidence.events.iter().filter(|event| event.kind == EventKind::Throttle);
    used_up.filter_map(|event| event.task).for_each(|task| *throttles.entry(task).or_default() += 1);
    let record = |(task, throttles): (u32, u64)| {
        let of = |all: &[u64]| all.get(task as usize).copied();
        let wcet_ns = of(evidence.wcets_ns)?;
        let budget_ns = evidence.budgets_ns.get(task as usize).copied().flatten()?;
        let own = histories.all.iter().filter(|history| history.task == task);
        let charged_most_ns = own.map(|history| charged(evidence, history)).max()?;
        // Something must be left of it: what is used up exactly is used up.
        let margin_ns = charged_most_ns.saturating_sub(wcet_ns).saturating_add(1).next_multiple_of(STEP_NS);
        let (budget_ns, refused) = (budget_ns, None);
        Some(BudgetRecord { task, wcet_ns, budget_ns, throttles, charged_most_ns, margin_ns, refused })
    };
    throttles.into_iter().filter_map(record).collect()
}
