//! A SCHED_DEADLINE reservation, what the kernel takes, and which tasks it serves.
//!
//! Linux (kernel/sched/deadline.c) serves a thread by a constant bandwidth server (Abeni, Buttazzo: Integrating multimedia applications
//! in hard real-time systems, RTSS 1998) that is throttled when its budget Q is used up, until its next period:
//!
//! 1. A thread that wakes up at t after its deadline gets the deadline t + d and a budget of Q. Where d < P and t is before its next
//!    period, it waits for that.
//! 2. One that wakes up before its deadline e with a budget q keeps both if q/(e - t) <= Q/P; else, where d = P, it gets t + P and Q.
//! 3. One that has used up its budget waits for the next period, P after the last; it then has the budget Q and a deadline P later.
//!
//! 4. A thread that uses up its budget and sleeps has the next one at its next period, and a deadline d after that (`dl_task_timer`).
//! 5. One that wakes up before its deadline e with q/(e - t) > Q/d keeps e where d < P, with a budget of no more than (e - t) Q/d
//!    (Abeni, Lipari, Lelli: Constant bandwidth server revisited, SIGBED Review 11(4), 2015).
//!
//! 4 and 5 together: a job with d < P that used up its budget of exactly C shortens the budget of a job that comes a little later than
//! P after it. So with d < P a budget is to be longer than what a job needs, by 1 ns, and a deadline may be as much later.
//!
//! A reservation is granted if all of them are schedulable under EDF as sporadic tasks (Q, d, P): each has its budget by its deadline.

use crate::SporadicTask;
use std::cmp::Ordering;

/// What the kernel asks of each reservation by itself (`__checkparam_dl`). Times are ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelRules {
    /// The least budget.
    pub runtime_min_ns: u64,
    /// The least period: sched_deadline_period_min_us.
    pub period_min_ns: u64,
    /// The longest period: sched_deadline_period_max_us.
    pub period_max_ns: u64,
}

impl Default for KernelRules {
    /// Linux's: budgets of 2^10 ns or more, periods of 100 us to 2^22 us.
    fn default() -> Self {
        KernelRules { runtime_min_ns: 1 << 10, period_min_ns: 100_000, period_max_ns: (1 << 22) * 1_000 }
    }
}

/// Runtime Q, deadline d and period P of SCHED_DEADLINE, in ns, each at most [`crate::TIME_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reservation {
    /// Q: the budget.
    pub runtime_ns: u64,
    /// d: when the budget has been given at the latest, from the beginning of a period.
    pub deadline_rel_ns: u64,
    /// P: when there is a budget again.
    pub period_ns: u64,
}

/// Jobs after which a bound is taken instead of the exact response time.
const JOBS_MAX: u64 = 4_096;

impl Reservation {
    /// Whether the kernel takes it, whatever else there is.
    pub fn is_accepted(&self, rules: KernelRules) -> bool {
        self.runtime_ns >= rules.runtime_min_ns
            && self.runtime_ns <= self.deadline_rel_ns
            && self.deadline_rel_ns <= self.period_ns
            && (rules.period_min_ns..=rules.period_max_ns).contains(&self.period_ns)
    }

    /// As the kernel's admission counts it: floor(2^20 Q / P) (`to_ratio`).
    pub fn bandwidth_q20(&self) -> u64 {
        u64::try_from((u128::from(self.runtime_ns) << 20) / u128::from(self.period_ns)).unwrap_or(u64::MAX)
    }

    /// Q/P against that of another, exactly.
    pub fn cmp_bandwidth(&self, other: &Reservation) -> Ordering {
        let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
        product(self.runtime_ns, other.period_ns).cmp(&product(other.runtime_ns, self.period_ns))
    }

    /// What EDF has to grant: a sporadic task.
    pub fn as_task(&self) -> SporadicTask {
        SporadicTask::constrained(self.runtime_ns, self.deadline_rel_ns, self.period_ns)
    }

    /// Whether every job of the task completes by its deadline if the reservation is granted. The task has no jitter, and its jobs do
    /// not suspend themselves. Sufficient.
    ///
    /// What a job does not use of its budget comes off the time by which it has completed: at no time is more of a budget left than
    /// there is time to its deadline, for the scheduler does not know that the job ends.
    ///
    /// With d < P: a job takes k = ceil(C/Q) budgets, and has completed (k - 1) P + d - (k Q - C) after its arrival. The next arrives
    /// (floor(C/Q) + 1) P later or more. If the last budget was not used up, its deadline and its period are over by then; if it was, so
    /// is the period after it, for which the server was set (4). So the next finds a server as the first did.
    ///
    /// With d = P: `response_bound` says it.
    pub fn serves(&self, task: &SporadicTask) -> bool {
        if self.runtime_ns == 0
            || self.runtime_ns > self.deadline_rel_ns
            || self.deadline_rel_ns > self.period_ns
        {
            return false;
        }
        let [q, d, p] = [self.runtime_ns, self.deadline_rel_ns, self.period_ns].map(u128::from);
        let [c, t] = [task.wcet_ns, task.period_ns].map(u128::from);
        let completed = if self.deadline_rel_ns < self.period_ns {
            if (c / q + 1) * p > t {
                return false;
            }
            let budgets = c.div_ceil(q);
            (budgets - 1) * p + d - (budgets * q - c)
        } else {
            if q * t < c * p {
                return false;
            }
            self.response_bound(task)
        };
        completed <= u128::from(task.deadline_rel_ns)
    }

    /// The longest response time of the task with d = P and Q/P >= C/T.
    ///
    /// Let s be when the server last had its deadline and its budget anew (rule 1 or 2). The n-th job since s arrives at
    /// s + (n - 1) T or later, and by its completion at most n C has been used since s, of budgets of Q that are given by s + P,
    /// s + 2P ...: with b = ceil(n C/Q) it has completed by s + b P, less what it leaves of the last budget. So the response time is at
    /// most
    ///
    /// ```text
    /// max over n >= 1 of b P - (b Q - n C) - (n - 1) T.
    /// ```
    ///
    /// The budgets follow each other without a gap: a job that arrives where no other is pending finds the virtual time
    /// s + (work since s) P/Q in the past, or now, as Q/P >= C/T; so it keeps the deadline only where that is no later than the
    /// budget of the same period has it, and gets a new one otherwise.
    fn response_bound(&self, task: &SporadicTask) -> u128 {
        let [q, p] = [self.runtime_ns, self.period_ns].map(u128::from);
        let [c, t] = [task.wcet_ns, task.period_ns].map(u128::from);
        let mut longest = 0;
        for job in 1..=u128::from(JOBS_MAX) {
            let before = (job - 1) * t;
            let budgets = (job * c).div_ceil(q);
            longest = longest.max((budgets * p - (budgets * q - job * c)).saturating_sub(before));
            // b <= (n C + Q - 1)/Q, and C P/Q <= T: no later job exceeds this.
            let later = (((job + 1) * c * p + (q - 1) * p) / q).saturating_sub(before + t);
            if later <= longest || ((job * c).is_multiple_of(q) && job * c / q * p == job * t) {
                return longest;
            }
        }
        longest.max(p + t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservation(runtime: u64, deadline: u64, period: u64) -> Reservation {
        Reservation { runtime_ns: runtime, deadline_rel_ns: deadline, period_ns: period }
    }

    #[test]
    fn what_the_kernel_takes() {
        let rules = KernelRules::default();
        let taken = |runtime, deadline, period| reservation(runtime, deadline, period).is_accepted(rules);
        assert!(taken(1_024, 1_024, 100_000));
        assert!(!taken(1_023, 2_000, 100_000), "2^10 ns at the least");
        assert!(!taken(2_000, 1_999, 100_000));
        assert!(!taken(2_000, 100_001, 100_000));
        assert!(!taken(2_000, 99_999, 99_999), "sched_deadline_period_min_us");
        assert!(taken(2_000, 4_194_304_000, 4_194_304_000));
        assert!(!taken(2_000, 4_194_304_001, 4_194_304_001));
        assert_eq!(reservation(1, 2, 2).bandwidth_q20(), 1 << 19);
        assert_eq!(reservation(950_000, 1_000_000, 1_000_000).bandwidth_q20(), 996_147, "as in the kernel");
    }

    #[test]
    fn a_task_is_served_by_its_own_parameters() {
        for (wcet, deadline, period) in [(1, 1, 9), (2, 5, 9), (3, 9, 9)] {
            let task = SporadicTask::constrained(wcet, deadline, period);
            let more = u64::from(deadline < period);
            assert!(reservation(wcet + more, deadline + more, period).serves(&task));
            assert!(!reservation(wcet + more, deadline + more + 1, period + 1).serves(&task));
            assert!(!reservation(wcet, deadline, period).serves(&task) || more == 0, "used up to the last");
        }
    }

    #[test]
    fn jobs_share_a_budget_where_deadlines_are_late() {
        // T = 4: three halves of C in 6. The second job of a period waits for the next: 12 - 4, less the 2 that it leaves.
        let late = |deadline| SporadicTask::constrained(2, deadline, 4);
        assert!(reservation(3, 6, 6).serves(&late(6)));
        assert!(!reservation(3, 6, 6).serves(&late(5)));
        assert!(reservation(4, 8, 8).serves(&late(8)));
        // Pieces: 3 by 6, so that 4 take 12.
        let long = SporadicTask::constrained(4, 12, 12);
        assert!(reservation(2, 6, 6).serves(&long));
        assert!(!reservation(2, 6, 7).serves(&long), "the second piece comes by 13");
        assert!(
            reservation(3, 5, 6).serves(&SporadicTask::constrained(4, 9, 12)),
            "6 + 5, less 2 of the second"
        );
        assert!(!reservation(3, 5, 6).serves(&SporadicTask::constrained(4, 8, 12)));
    }
}
