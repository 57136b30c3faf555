//! DA-LC: deadline analysis of global fixed priorities with limited carry-in, a test for which Audsley's assignment is optimal.
//!
//! Davis, Burns: Improved priority assignment for global fixed priority pre-emptive scheduling in multiprocessor real-time systems,
//! Real-Time Systems 47, 2011, equation (19): the task k is schedulable below the tasks hp if
//!
//! ```text
//! D_k >= C_k + floor((sum over hp of I_i^NC + sum of the m - 1 greatest of I_i^CI - I_i^NC) / m)
//! I_i^X = min(W_i^X, D_k - C_k + 1)
//! W_i^NC = N C_i + min(C_i, D_k - N T_i),              N = floor(D_k / T_i)
//! W_i^CI = N C_i + min(C_i, D_k + D_i - C_i - N T_i),  N = floor((D_k + D_i - C_i) / T_i)
//! ```
//!
//! It serves to find an order, and proves nothing here: what is found is judged by a test that accepts all that it accepts
//! ([`crate::GlobalFixedPriorityGuan`]).

use crate::SporadicTask;

/// Whether the task is schedulable below these on so many processors, at least one. False where a deadline is after a period.
pub fn da_lc_accepts(task: &SporadicTask, higher: &[SporadicTask], processors: u32) -> bool {
    let constrained =
        |it: &SporadicTask| it.wcet_ns <= it.deadline_rel_ns && it.deadline_rel_ns <= it.period_ns;
    if !constrained(task) || !higher.iter().all(constrained) {
        return false;
    }
    let most = u128::from(task.deadline_rel_ns - task.wcet_ns + 1);
    let work = |of: &SporadicTask, window: u64| {
        let full = window / of.period_ns;
        u128::from(full) * u128::from(of.wcet_ns) + u128::from(of.wcet_ns.min(window - full * of.period_ns))
    };
    let mut extra = Vec::with_capacity(higher.len());
    let mut sum = 0;
    for of in higher {
        let without = work(of, task.deadline_rel_ns).min(most);
        let with = work(of, task.deadline_rel_ns + of.deadline_rel_ns - of.wcet_ns).min(most);
        sum += without;
        extra.push(with.saturating_sub(without));
    }
    extra.sort_unstable_by(|one, other| other.cmp(one));
    sum += extra.iter().take(processors.saturating_sub(1) as usize).sum::<u128>();
    u128::from(task.wcet_ns) + sum / u128::from(processors.max(1)) <= u128::from(task.deadline_rel_ns)
}
