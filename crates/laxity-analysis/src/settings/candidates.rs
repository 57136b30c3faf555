//! Reservations that serve a task, the least bandwidth first.
//!
//! 1. D <= T, and the kernel takes T: (C, T, T), or (C + 1 ns, D + 1 ns, T) where D < T ([`Reservation`] says why). The demand is the
//!    task's own, but for the 1 ns, and so is the bandwidth, C/T, which every reservation needs: no other is looked for. Where C is
//!    shorter than the kernel's least budget, the budget is that, and the deadline as much later.
//! 2. T is longer than the kernel's longest period: a job in several pieces.
//! 3. D > T, which the kernel does not take as it is, or T shorter than its shortest period: d = P = p with the least Q that serves it.
//!    p = T and multiples of it have the bandwidth C/T; others can have a demand that goes better with other tasks'.

use super::{Granted, KernelRules, Reservation};
use crate::SporadicTask;

/// Multiples of T that are looked at.
const JOBS_MAX: u64 = 16;
/// Parts of T and of D that are looked at.
const PARTS_MAX: u64 = 6;
/// Shorter times are tried one by one.
pub(super) const SHORT: u64 = 32;
/// Pieces beyond the fewest.
const PIECES_MORE: u64 = 4;
/// Pieces of a job.
const PIECES_MAX: u64 = 4_096;

/// What serves the task and is taken by the kernel: none better in bandwidth, deadline and period at once than another that is
/// listed. Empty if there is nothing. The task has no jitter.
pub fn candidates(task: &SporadicTask, rules: KernelRules) -> Vec<Reservation> {
    let runtime = (task.wcet_ns + u64::from(task.deadline_rel_ns < task.period_ns)).max(rules.runtime_min_ns);
    let deadline = (task.deadline_rel_ns + (runtime - task.wcet_ns)).min(task.period_ns);
    let own = Reservation { runtime_ns: runtime, deadline_rel_ns: deadline, period_ns: task.period_ns };
    let mut found = vec![own];
    // Of times so short that 1 ns matters, all are looked at.
    let taken = (rules.period_min_ns..=rules.period_max_ns).contains(&task.period_ns);
    if task.deadline_rel_ns > task.period_ns || !taken || task.wcet_ns < SHORT {
        found.extend(in_pieces(task, rules));
        found.extend(periods(task, rules).into_iter().filter_map(|period| implicit(task, period, rules)));
    }
    found.retain(|one| one.is_accepted(rules) && one.serves(task));
    least_first(found, |one| *one, |one| Granted::of(one, task.wcet_ns, task.period_ns))
}

/// In the order of bandwidth, without those than which another is better in bandwidth, deadline and period at once. `granted` says how
/// EDF sees each.
pub(super) fn least_first<T>(
    mut found: Vec<T>,
    reservation: impl Fn(&T) -> Reservation,
    granted: impl Fn(&Reservation) -> Granted,
) -> Vec<T> {
    // Stable: of equal bandwidths, the more natural first.
    found.sort_by(|one, other| reservation(one).cmp_bandwidth(&reservation(other)));
    let is_fluid = |one: &Reservation| matches!(granted(one), Granted::Fluid(_));
    let mut kept: Vec<T> = Vec::new();
    for one in found {
        let is_better = |kept: &T| {
            let (better, one) = (reservation(kept), reservation(&one));
            is_no_worse(&better, &one) && (is_fluid(&one) || !is_fluid(&better))
        };
        if !kept.iter().any(is_better) {
            kept.push(one);
        }
    }
    kept
}

/// Whether the demand of one never exceeds that of the other, if EDF sees both alike.
fn is_no_worse(one: &Reservation, other: &Reservation) -> bool {
    one.runtime_ns <= other.runtime_ns
        && one.deadline_rel_ns >= other.deadline_rel_ns
        && one.period_ns >= other.period_ns
}

/// Long periods: several budgets for a job. The last is used up by the longest jobs, or 1 ns of it is left.
fn in_pieces(task: &SporadicTask, rules: KernelRules) -> Vec<Reservation> {
    let window = task.density_window();
    let fewest = task.period_ns.div_ceil(rules.period_max_ns);
    let mut found = Vec::new();
    for pieces in 1..=(fewest + PIECES_MORE).min(PIECES_MAX) {
        for more in [0, 1] {
            let runtime = (task.wcet_ns + more).div_ceil(pieces).max(rules.runtime_min_ns);
            let budgets = task.wcet_ns.div_ceil(runtime);
            let longest = (task.period_ns / (task.wcet_ns / runtime + 1)).min(rules.period_max_ns);
            let shortest = (window / pieces).min(rules.period_max_ns);
            for period in [longest, longest.midpoint(shortest), shortest] {
                let Some(left) = window.checked_sub((budgets - 1) * period) else { continue };
                let deadline = (left + budgets * runtime - task.wcet_ns).min(period);
                found.push(Reservation { runtime_ns: runtime, deadline_rel_ns: deadline, period_ns: period });
            }
        }
    }
    found
}

/// Periods for reservations with d = P: multiples of T first.
fn periods(task: &SporadicTask, rules: KernelRules) -> Vec<u64> {
    let [deadline, period] = [task.deadline_rel_ns, task.period_ns];
    let mut all: Vec<u64> = (1..=(deadline / period).min(JOBS_MAX)).map(|jobs| jobs * period).collect();
    all.push(deadline);
    all.push(deadline.saturating_sub(period));
    for parts in 2..=PARTS_MAX {
        all.push(deadline / parts);
        all.extend((1..=parts * 3).map(|times| period * times / parts));
    }
    all.extend([rules.period_min_ns, rules.period_max_ns]);
    let fewest = period.div_ceil(rules.period_max_ns);
    all.extend((fewest..=fewest + PIECES_MORE).map(|pieces| period / pieces));
    // Short times have few whole ns to choose from.
    if task.wcet_ns < SHORT {
        all.extend(1..=SHORT);
    }
    let range = rules.period_min_ns.max(1)..=rules.period_max_ns;
    all.retain(|period| range.contains(period));
    all
}

/// The least budget with which d = P = `period` serves the task.
fn implicit(task: &SporadicTask, period: u64, rules: KernelRules) -> Option<Reservation> {
    let with = |runtime| Reservation { runtime_ns: runtime, deadline_rel_ns: period, period_ns: period };
    let least = (u128::from(task.wcet_ns) * u128::from(period)).div_ceil(u128::from(task.period_ns));
    let mut least = u64::try_from(least).ok()?.max(rules.runtime_min_ns);
    if least > period || !with(period).serves(task) {
        return None;
    }
    // The bandwidth C/T itself, whose response time is exact; a little more may only have a bound.
    if with(least).serves(task) {
        return Some(with(least));
    }
    let mut most = period;
    while least < most {
        let middle = least.midpoint(most);
        if with(middle).serves(task) { most = middle } else { least = middle + 1 }
    }
    Some(with(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn of(wcet: u64, deadline: u64, period: u64) -> Vec<Reservation> {
        candidates(&SporadicTask::constrained(wcet, deadline, period), KernelRules::default())
    }

    #[test]
    fn a_constrained_task_is_its_own_reservation() {
        let own = Reservation { runtime_ns: MS + 1, deadline_rel_ns: 3 * MS + 1, period_ns: 10 * MS };
        assert_eq!(of(MS, 3 * MS, 10 * MS), [own]);
        assert_eq!(of(100, 3 * MS, 10 * MS)[0].runtime_ns, 1_024);
        let short = Reservation { runtime_ns: 1_024, deadline_rel_ns: 1_924, period_ns: 10 * MS };
        assert_eq!(of(100, 1_000, 10 * MS), [short], "1024 ns by 1924 ns are 100 ns by 1000 ns");
        let often = Reservation { runtime_ns: 60_000, deadline_rel_ns: 100_000, period_ns: 100_000 };
        assert_eq!(of(10_000, 50_000, 50_000)[0], often, "the kernel takes no period of 50 us");
    }

    #[test]
    fn late_deadlines_let_jobs_share_periods() {
        let found = of(10_000, 100_000, 50_000);
        assert_eq!(
            found[0],
            Reservation { runtime_ns: 20_000, deadline_rel_ns: 100_000, period_ns: 100_000 }
        );
        let found = of(MS, 30 * MS, 10 * MS);
        assert_eq!(found[0], Reservation { runtime_ns: MS, deadline_rel_ns: 10 * MS, period_ns: 10 * MS });
        assert!(found.contains(&Reservation {
            runtime_ns: 3 * MS,
            deadline_rel_ns: 30 * MS,
            period_ns: 30 * MS
        }));
    }

    #[test]
    fn long_periods_are_served_in_pieces() {
        let found = of(1_000 * MS, 10_000 * MS, 10_000 * MS);
        assert_eq!(
            found[0],
            Reservation { runtime_ns: 250 * MS, deadline_rel_ns: 2_500 * MS, period_ns: 2_500 * MS }
        );
    }
}
