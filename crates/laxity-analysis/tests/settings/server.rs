//! A SCHED_DEADLINE server by the rules of Linux's kernel/sched/deadline.c, in whole steps of time.

use laxity_analysis::settings::Reservation;

/// A server and where it is in its period. Times are relative to now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Server {
    pub reservation: Reservation,
    /// The budget that is left.
    pub runtime: i64,
    /// The deadline.
    pub deadline: i64,
    pub throttled: bool,
}

/// Long before now.
const PAST: i64 = -1_000_000;

impl Server {
    pub fn new(reservation: Reservation) -> Self {
        Server { reservation, runtime: 0, deadline: PAST, throttled: false }
    }

    fn of(&self) -> [i64; 3] {
        let Reservation { runtime_ns: runtime, deadline_rel_ns: deadline, period_ns: period } =
            self.reservation;
        [runtime, deadline, period].map(|value| i64::try_from(value).expect("small"))
    }

    /// dl_next_period
    fn next_period(&self) -> i64 {
        let [_, deadline, period] = self.of();
        self.deadline - deadline + period
    }

    /// dl_task_timer and replenish_dl_entity
    pub fn timer(&mut self) {
        let [runtime, _, period] = self.of();
        if self.throttled && self.next_period() <= 0 {
            self.deadline += period;
            self.runtime = runtime;
            self.throttled = false;
        }
    }

    /// enqueue_dl_entity of a thread that has slept: dl_check_constrained_dl, update_dl_entity
    pub fn wake_up(&mut self) {
        let [runtime, deadline, period] = self.of();
        if self.throttled {
            return;
        }
        let implicit = deadline == period;
        let passed = self.deadline < 0;
        if !implicit && passed && self.next_period() > 0 {
            self.throttled = true;
            self.runtime = 0;
            return;
        }
        // dl_entity_overflow
        if passed || deadline * self.runtime > self.deadline * runtime {
            if !implicit && !passed {
                self.runtime = runtime * self.deadline / deadline;
                self.throttled = self.runtime == 0;
                return;
            }
            self.deadline = deadline;
            self.runtime = runtime;
        }
    }

    /// Whether its thread may run.
    pub fn has_budget(&self) -> bool {
        !self.throttled && self.runtime > 0
    }

    /// update_curr_dl of one step
    pub fn run(&mut self) {
        self.runtime -= 1;
        self.throttled = self.runtime == 0;
    }

    /// A step of time.
    pub fn step(&mut self) {
        self.deadline -= 1;
        // What is over is as if it had always been.
        if !self.throttled && self.deadline < 0 && self.next_period() <= 0 {
            (self.deadline, self.runtime) = (PAST, 0);
        }
    }
}
