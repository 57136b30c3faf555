//! What Linux takes of a processor before the tasks of SCHED_FIFO and SCHED_DEADLINE: its servers for other threads, and the
//! throttling of SCHED_FIFO. (`kernel/sched/deadline.c` and `rt.c`, read in 6.12.117, 6.18 and 7.x.)
//!
//! **Server.** A server (Q, P) is a deferred constant bandwidth server of one processor. It waits until its threads starve, and then
//! runs them with a full budget Q before every SCHED_FIFO thread, and with the deadline P later among those of SCHED_DEADLINE.
//!
//! ```text
//!            start                zero laxity: d - q               budget used up
//!   stopped --------> waiting -------------------------> running ------------------> replenishing
//!      ^                 ^  (q: Q; d: P later)            ^   |                          |   |
//!      +-----------------|--------------------------------|---+  no thread is ready      |   |
//!                        |                                +------------------------------+   |  at d: q + Q, d + P
//!                        +-------------------------------------------------------------------+  its threads ran without it
//! ```
//!
//! 1. Each budget is Q or less. The kernel sees at a tick that it is used up: so it is up to Q' = Q + tick.
//! 2. A budget that follows another at its deadline is there P after the one before.
//! 3. One that follows after waiting is there P - Q or more after the end of the service before: what is waiting has a deadline P after
//!    now, and becomes ready no earlier than Q before it.
//! 4. A thread that wakes up before the deadline d finds a budget q <= Q (d - t) / P (either rule for wake-ups sees to it), so that the
//!    service of a budget ends by its deadline.
//!
//! *In a window of length w the server runs for at most Q' ceil((w + P - Q') / P).* Let n budgets be served in the window, for
//! c_1, ..., c_n. By 2 to 4 the second comes c_1 or more after the window's beginning, and every other P - (Q' - c_i) or more after the one
//! before. So the service is at most w - (n - 2)(P - Q'), and at most n Q'. With k budgets by the bound, w <= Q' + (k - 1) P; for n <= k
//! the second is enough, and n > k gives w - (n - 2)(P - Q') <= Q' + (k - 1) P - (k - 1)(P - Q') = k Q'.
//!
//! That is what a task with C = Q', T = P and the release jitter P - Q' requests: two budgets in a row, as of a deferrable server. The
//! deferral itself helps nothing, since waiting may end at any time: threads that sleep and wake up keep what is left of the budget, so
//! that a short starvation at the end of a period is enough for a full one.
//!
//! Under EDF on one processor the server is a sporadic task (Q', P, P): this is what a constant bandwidth server is among others.
//!
//! **Throttling.** SCHED_FIFO threads of a processor that have run for R in a period of P are stopped until its end. Periods follow each
//! other: every stop *ends* P after the one before. Use beyond R that is seen at the next tick is taken off the next period, so a
//! stop is at most B' = P - R + tick. It is what a task with C = B', T = P and no jitter requests: the window in which most is lost
//! begins with a stop.
//!
//! **Several processors.** Each has its own server and its own periods. Linux does not push a thread that a server has stopped, so
//! that one of high priority can wait while another processor runs one of lower priority. Here all processors of the cell stand still
//! whenever one of them stops; while none does, priorities are global. In a window of length w that is at most the sum of the m bounds
//! above, and grows by no more than the window does ([`Beside::stopped`]). A job that is not done w after the beginning of its window has
//! then waited for others for w - C - stopped(w) or more, on all processors at once.

use crate::{SporadicTask, TIME_MAX};
use laxity_model::Utilization;

/// Some time in every period, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Taken {
    /// How long.
    pub runtime_ns: u64,
    /// Of what; 0 with a runtime of 0 only.
    pub period_ns: u64,
}

/// What the kernel takes of every processor. [`Beside::default`]: nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Beside {
    /// The budgets of the servers: of background threads, and of sched_ext.
    pub servers: [Taken; 2],
    /// For how long SCHED_FIFO is stopped at the end of a period in which it has used the rest.
    pub throttled: Taken,
    /// By how much later the kernel sees that a budget is used up, in ns.
    pub tick_ns: u64,
    /// No other thread than the tasks is ever ready: none starves, and none of SCHED_FIFO uses up what throttling leaves.
    pub alone: bool,
}

/// The scheduling class of the threads from which the kernel takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_DEADLINE.
    Deadline,
}

impl Taken {
    fn is_nothing(self) -> bool {
        self.runtime_ns == 0
    }

    /// Runtime, a tick included, and period; all of the time if it is as much.
    fn with_tick(self, tick: u64) -> (u64, u64) {
        let period = self.period_ns.clamp(1, TIME_MAX);
        (self.runtime_ns.saturating_add(tick).min(period), period)
    }

    /// As a task; a deferred one can have two budgets in a row.
    pub(crate) fn as_task(self, tick: u64, deferred: bool) -> Option<SporadicTask> {
        let (wcet, period) = self.with_tick(tick);
        let jitter = if deferred { period - wcet } else { 0 };
        (!self.is_nothing()).then_some(SporadicTask {
            wcet_ns: wcet,
            deadline_rel_ns: period,
            period_ns: period,
            jitter_ns: jitter,
        })
    }
}

impl Beside {
    /// Whether it takes nothing.
    pub fn is_nothing(&self) -> bool {
        self.throttled.is_nothing() && self.servers.iter().all(|server| server.is_nothing())
    }

    /// The same where no other thread than the tasks is ever ready.
    #[must_use]
    pub fn alone(self) -> Self {
        Beside { servers: [Taken::default(); 2], alone: true, ..self }
    }

    /// The same without throttling, where it never comes: tasks that meet their deadlines use no more of a period than is theirs, and
    /// no other thread of SCHED_FIFO uses any.
    ///
    /// Before the first stop every job is done by its deadline, as it would be without throttling. So what the tasks use in a period
    /// P is of jobs that were released in it or at most D before it, the sum of C ceil((P + D + J) / T); while that is P - B or less,
    /// there is no first stop.
    pub(crate) fn as_used_by(self, tasks: &[SporadicTask]) -> Self {
        let Taken { runtime_ns: runtime, period_ns: period } = self.throttled;
        let jobs = |task: &SporadicTask| {
            let window = u128::from(period) + u128::from(task.deadline_rel_ns) + u128::from(task.jitter_ns);
            window.div_ceil(u128::from(task.period_ns.max(1))) * u128::from(task.wcet_ns)
        };
        let used = tasks.iter().map(jobs).sum::<u128>();
        match self.alone && used <= u128::from(period.saturating_sub(runtime)) {
            true => Beside { throttled: Taken::default(), ..self },
            false => self,
        }
    }

    /// What the servers leave of one processor: tasks that use more miss deadlines, by any amount.
    pub(crate) fn left_of_one(&self) -> Utilization {
        let servers = self.servers.iter().filter_map(|server| server.as_task(self.tick_ns, false));
        let shares = servers.map(|server| Utilization::ratio(server.wcet_ns, server.period_ns));
        let taken = shares.fold(Utilization::zero(), |sum, share| sum.plus(&share));
        Utilization::from(Utilization::whole(1).as_rational() - taken.as_rational())
    }

    /// On one processor: tasks of higher priority than all others, which need not be done by any deadline, under EDF further tasks.
    pub(crate) fn tasks(&self, class: Class) -> Vec<SporadicTask> {
        let is_fifo = class == Class::Fifo;
        let servers = self.servers.iter().filter_map(|server| server.as_task(self.tick_ns, is_fifo));
        let tasks = servers.chain(self.throttled.as_task(self.tick_ns, false).filter(|_| is_fifo));
        match class {
            Class::Deadline => tasks.collect(),
            // The second server may take its budget after the first, and later than its period.
            Class::Fifo => tasks.map(|task| SporadicTask { deadline_rel_ns: TIME_MAX, ..task }).collect(),
        }
    }

    /// For how long all of several processors stand still in a window, at the most.
    pub(crate) fn stopped(&self, processors: u32, window: u64) -> u64 {
        let of_each = self.tasks(Class::Fifo).into_iter().map(
            |SporadicTask { wcet_ns: wcet, period_ns: period, jitter_ns: jitter, .. }| {
                // Below 2^83: one after the other, and from then on at most all the time.
                let once = u128::from(wcet) * u128::from(processors);
                let ahead = u128::from(window + jitter);
                ahead / u128::from(period) * once + once.min(ahead % u128::from(period))
            },
        );
        u64::try_from(of_each.sum::<u128>().min(window.into())).unwrap_or(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Beside = Beside {
        servers: [Taken { runtime_ns: 50, period_ns: 1_000 }, Taken { runtime_ns: 0, period_ns: 0 }],
        throttled: Taken { runtime_ns: 0, period_ns: 0 },
        tick_ns: 4,
        alone: false,
    };

    #[test]
    fn a_server_is_a_task_with_the_jitter_of_two_budgets_in_a_row() {
        let fifo = SporadicTask { wcet_ns: 54, deadline_rel_ns: TIME_MAX, period_ns: 1_000, jitter_ns: 946 };
        assert_eq!(LINUX.tasks(Class::Fifo), [fifo]);
        assert_eq!(LINUX.tasks(Class::Deadline), [SporadicTask::implicit(54, 1_000)]);
        assert!(Beside::default().is_nothing() && Beside::default().tasks(Class::Fifo).is_empty());
    }

    #[test]
    fn throttling_stops_what_is_not_deadline_and_takes_all_at_the_most() {
        let throttled = Taken { runtime_ns: 50, period_ns: 1_000 };
        let both = Beside { throttled, ..LINUX };
        assert_eq!(both.tasks(Class::Fifo)[1], SporadicTask::constrained(54, TIME_MAX, 1_000));
        assert_eq!(both.tasks(Class::Deadline).len(), 1);
        let all = Beside { throttled: Taken { runtime_ns: 1_000, period_ns: 1_000 }, ..Beside::default() };
        assert_eq!(all.tasks(Class::Fifo), [SporadicTask::constrained(1_000, TIME_MAX, 1_000)]);
    }

    #[test]
    fn several_processors_stand_still_one_after_the_other() {
        // 2 * 54 from the first budgets, as much from the second: up to there all the time.
        let stopped = |window| LINUX.stopped(2, window);
        assert_eq!([stopped(1), stopped(54), stopped(100), stopped(162)], [1, 54, 100, 162]);
        assert_eq!([stopped(200), stopped(216), stopped(1_054), stopped(1_100)], [200, 216, 216, 262]);
        assert_eq!(LINUX.stopped(1, 200), 108);
        assert_eq!(Beside::default().stopped(4, 1_000), 0);
        assert_eq!(LINUX.stopped(u32::MAX, TIME_MAX), TIME_MAX);
    }
}
