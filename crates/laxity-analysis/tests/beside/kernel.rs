//! Linux's server and its throttling, one unit of time after the other, as `kernel/sched/deadline.c` and `rt.c` have them. What depends on
//! threads, ticks and versions of the kernel is chosen by an adversary.

/// Runtime and period.
pub type Taken = (u64, u64);

/// How the kernel treats a thread that wakes up too late for what is left of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WakeUp {
    /// A new period, of which the server waits for the end.
    Original,
    /// The budget is cut.
    Revised,
}

/// What does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub server: Taken,
    /// Runtime of SCHED_FIFO, and its period.
    pub throttling: Option<Taken>,
    /// Use of a budget beyond its end that may be seen late.
    pub tick: u64,
    /// No thread but the tasks is ever ready.
    pub alone: bool,
    pub wake_up: WakeUp,
}

/// What an adversary decides in a unit of time.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Ordinary threads are ready.
    pub ready: bool,
    /// A tick comes, and the kernel sees what is used up.
    pub tick: bool,
    /// The timer of a server that was served while it waited fires without being forwarded.
    pub fires: bool,
    /// Other SCHED_FIFO threads, of lower priority, are ready.
    pub hog: bool,
}

impl Choice {
    pub fn of(bits: u32) -> Self {
        let bit = |at: u32| bits >> at & 1 > 0;
        Choice { ready: bit(0), tick: bit(1), fires: bit(2), hog: bit(3) }
    }

    /// Those that make a difference.
    pub fn all(kernel: &Kernel) -> Vec<Self> {
        let differs = |choice: &Choice| {
            (kernel.tick > 0 || !choice.tick)
                && (kernel.throttling.is_some() && !kernel.alone || !choice.hog)
                && (kernel.server.0 > 0 || !choice.fires && !choice.ready)
        };
        (0..16).map(Choice::of).filter(differs).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Mode {
    /// `ran`: it was running, and does not defer.
    Stopped {
        ran: bool,
    },
    /// For so long at the least.
    Waiting {
        timer: i64,
    },
    Running,
    Replenishing,
}

/// The state of one CPU. Times are from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cpu {
    mode: Mode,
    budget: i64,
    deadline: i64,
    /// Time until SCHED_FIFO has its next period, what it has used of this one, and whether it is stopped.
    left: u64,
    used: u64,
    stopped: bool,
    /// By how much a budget has been exceeded.
    late: u64,
}

/// What runs in a unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    Server,
    /// The tasks, or what has a lower priority.
    Fifo,
    /// Ordinary threads, if any, or nothing.
    Rest,
}

impl Cpu {
    /// All states in which nothing has happened yet.
    pub fn starts(kernel: &Kernel) -> Vec<Cpu> {
        let lefts = 1..=kernel.throttling.map_or(1, |(_, period)| period);
        let cpu = |left| Cpu {
            mode: Mode::Stopped { ran: false },
            budget: 0,
            deadline: -1,
            left,
            used: 0,
            stopped: false,
            late: 0,
        };
        lefts.map(cpu).collect()
    }

    /// What happens at the beginning of a unit: timers, and threads that become ready or not.
    pub fn begin(&mut self, kernel: &Kernel, choice: Choice) {
        let (q, p) = (kernel.server.0.cast_signed(), kernel.server.1.cast_signed());
        if q == 0 {
            return;
        }
        if self.mode == Mode::Replenishing && self.deadline <= 0 {
            self.replenish(q, p);
        }
        if let Mode::Waiting { timer } = self.mode
            && timer <= 0
            && (choice.fires || self.deadline - self.budget <= 0)
        {
            (self.mode, self.budget, self.deadline) = (Mode::Running, q, p);
        }
        match self.mode {
            Mode::Stopped { ran } if choice.ready => self.start(kernel, ran),
            Mode::Running if !choice.ready => self.mode = Mode::Stopped { ran: true },
            _ => {}
        }
    }

    fn replenish(&mut self, q: i64, p: i64) {
        self.mode = Mode::Running;
        while self.budget <= 0 {
            self.budget += q;
            self.deadline += p;
        }
    }

    fn wait(&mut self, q: i64, p: i64) {
        (self.mode, self.budget, self.deadline) = (Mode::Waiting { timer: p - q }, q, p);
    }

    /// `update_dl_entity`.
    fn start(&mut self, kernel: &Kernel, ran: bool) {
        let (q, p) = (kernel.server.0.cast_signed(), kernel.server.1.cast_signed());
        if self.deadline < 0 || self.budget * p > q * self.deadline {
            if ran && self.deadline >= 0 && kernel.wake_up == WakeUp::Revised {
                self.budget = q * self.deadline / p;
                self.mode = if self.budget > 0 { Mode::Running } else { Mode::Replenishing };
                if self.mode == Mode::Replenishing && self.deadline <= 0 {
                    self.replenish(q, p);
                }
            } else {
                self.wait(q, p);
            }
        } else if ran {
            self.mode = Mode::Running;
        } else {
            self.mode = Mode::Waiting { timer: self.deadline - self.budget };
        }
    }

    /// Whether the server runs now, before everything else.
    pub fn serves(&self, choice: Choice) -> bool {
        self.mode == Mode::Running && choice.ready
    }

    /// Whether SCHED_FIFO may run.
    pub fn may_run(&self) -> bool {
        !self.stopped
    }

    /// A unit of time in which this runs.
    pub fn pass(&mut self, kernel: &Kernel, choice: Choice, runs: Runs) {
        let (q, p) = (kernel.server.0.cast_signed(), kernel.server.1.cast_signed());
        self.deadline = (self.deadline - 1).max(-1);
        if let Mode::Waiting { timer } = &mut self.mode {
            *timer = (*timer - 1).max(0);
        }
        match (runs, self.mode) {
            (Runs::Server, _) => {
                self.budget -= 1;
                if self.budget <= 0 && self.seen(kernel, choice) {
                    self.mode = Mode::Replenishing;
                    if self.deadline <= 0 {
                        self.replenish(q, p);
                    }
                }
            }
            (Runs::Rest, Mode::Waiting { .. } | Mode::Replenishing) if q > 0 => {
                self.budget -= 1;
                if self.budget <= 0 {
                    self.wait(q, p);
                }
            }
            _ => {}
        }
        self.throttle(kernel, choice, runs);
    }

    /// Whether the kernel sees now that something is used up. If not, one unit more is used.
    fn seen(&mut self, kernel: &Kernel, choice: Choice) -> bool {
        let seen = choice.tick || self.late >= kernel.tick;
        self.late = if seen { 0 } else { self.late + 1 };
        seen
    }

    fn throttle(&mut self, kernel: &Kernel, choice: Choice, runs: Runs) {
        let Some((runtime, period)) = kernel.throttling else { return };
        if runs == Runs::Fifo {
            self.used += 1;
            if self.used >= runtime && self.seen(kernel, choice) {
                self.stopped = true;
            }
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = period;
            self.used -= self.used.min(runtime);
            self.stopped &= self.used >= runtime;
        }
    }
}
