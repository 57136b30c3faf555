//! How much of a task can interfere with another: the workloads of the tests of Bertogna, Cirinei and Lipari.
//!
//! 1. D <= T, J = 0, and no deadline has been missed before the window's end.
//! 2. Windows are `[a, a + length)`, in ns.
//! 3. The slack S of a task: every one of its jobs completes at least S before its deadline.
//!
//! Nothing overflows 64 bits for parameters and windows up to 2^60: a task's work in a window exceeds the window by less than C,
//! as C <= D <= T.

use crate::SporadicTask;

/// W(L): the most that jobs of `task` execute in any window of this length, whatever the priorities. (Of a window shorter than C it
/// says more than its length: the interference of one task is limited elsewhere.)
///
/// The first job starts as late as its slack permits, at the window's beginning, and all others as soon as they can:
/// N C + min(C, L + D - C - S - N T), N = floor((L + D - C - S) / T). RTA computes it step by step ([`super::rta`]).
#[cfg(test)]
pub(super) fn in_window(task: &SporadicTask, length: u64, slack: u64) -> u64 {
    let reach = length + (task.deadline_rel_ns - task.wcet_ns - slack);
    reach / task.period_ns * task.wcet_ns + task.wcet_ns.min(reach % task.period_ns)
}

/// The most that jobs of `task` with deadlines in the window (its end included) execute in any window of this length, which
/// ends at a deadline of the job that is interfered with: what EDF lets interfere.
///
/// It is most when a deadline of `task` is at the window's end:
/// floor(L / T) C + min(C, max(0, L mod T - S)).
pub(super) fn under_edf(task: &SporadicTask, length: u64, slack: u64) -> u64 {
    if length < task.period_ns {
        return task.wcet_ns.min(length.saturating_sub(slack));
    }
    let jobs = if length < 2 * task.period_ns { 1 } else { length / task.period_ns };
    jobs * task.wcet_ns + task.wcet_ns.min((length - jobs * task.period_ns).saturating_sub(slack))
}

/// The demand bound: the most that jobs with arrival and deadline in a window of this length need.
///
/// dbf(L) = max(0, floor((L - D) / T) + 1) C
pub(super) fn demand(task: &SporadicTask, length: u64) -> u64 {
    match length.checked_sub(task.deadline_rel_ns) {
        None => 0,
        Some(rest) if rest < task.period_ns => task.wcet_ns,
        Some(rest) => (rest / task.period_ns + 1) * task.wcet_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_a_late_job_and_early_ones() {
        let task = SporadicTask::constrained(3, 5, 10);
        // The first job runs in [2, 5) before its deadline, the next from 10: a window from 2 sees 3, then 3 more from 8.
        let work = |length| in_window(&task, length, 0);
        assert_eq!([3, 8, 9, 11, 18, 19].map(work), [3, 3, 4, 6, 6, 7]);
        // With a slack of 2 the first job runs in [0, 3): the window from 0 sees the next only after 10.
        assert_eq!([3, 8, 10, 11, 13].map(|length| in_window(&task, length, 2)), [3, 3, 3, 4, 6]);
    }

    #[test]
    fn deadlines_at_the_end_of_the_window() {
        let task = SporadicTask::constrained(3, 5, 10);
        let work = |length| under_edf(&task, length, 0);
        assert_eq!([0, 2, 3, 9, 10, 12, 13, 20].map(work), [0, 2, 3, 3, 3, 5, 6, 6]);
        assert_eq!([1, 2, 5, 12, 14].map(|length| under_edf(&task, length, 2)), [0, 0, 3, 3, 5]);
    }

    #[test]
    fn demand_steps_at_deadlines() {
        let task = SporadicTask::constrained(3, 5, 10);
        assert_eq!([0, 4, 5, 14, 15, 25].map(|length| demand(&task, length)), [0, 0, 3, 3, 6, 9]);
        let late = SporadicTask::constrained(3, 15, 10);
        assert_eq!([14, 15, 24, 25].map(|length| demand(&late, length)), [0, 3, 3, 6]);
    }

    /// The bounds against every alignment of a periodic task whose jobs run as late, or as early, as they may.
    #[test]
    fn no_alignment_exceeds_the_bounds() {
        for (wcet, deadline, period) in [(1, 1, 1), (1, 3, 4), (2, 2, 5), (2, 5, 5), (3, 4, 7), (4, 6, 6)] {
            let task = SporadicTask::constrained(wcet, deadline, period);
            for slack in 0..=deadline - wcet {
                for length in 0..3 * period {
                    let phases = || 0..period;
                    // A job that arrives at a (relative to the window) and runs in [start, start + C).
                    let overlap = |start: i64| {
                        let (from, to) =
                            (start.max(0), (start + wcet.cast_signed()).min(length.cast_signed()));
                        (to - from).max(0)
                    };
                    let arrivals = |phase: u64| {
                        (-2i64..5).map(move |job| job * period.cast_signed() + phase.cast_signed())
                    };
                    let latest = (deadline - wcet - slack).cast_signed();
                    let any = phases().map(|phase| {
                        // The job that is in progress is as late as possible, later ones are early.
                        arrivals(phase)
                            .map(|at| overlap(if at + latest < 0 || at < 0 { at + latest } else { at }))
                            .sum::<i64>()
                    });
                    let most = any.max().expect("a phase");
                    assert!(
                        most <= in_window(&task, length, slack).cast_signed(),
                        "{task:?} {slack} {length}"
                    );
                    let due = |at: i64| at + deadline.cast_signed() <= length.cast_signed();
                    let aligned = phases().map(|phase| {
                        arrivals(phase).filter(|&at| due(at)).map(|at| overlap(at + latest)).sum::<i64>()
                    });
                    let most = aligned.max().expect("a phase");
                    assert_eq!(
                        most,
                        under_edf(&task, length, slack).cast_signed(),
                        "{task:?} {slack} {length}"
                    );
                }
            }
        }
    }
}
