//! PD2, quantum by quantum, on integers: what `pfair` says that a scheduler can do.
//!
//! Anderson, Srinivasan: Mixed Pfair/ERfair scheduling of asynchronous periodic tasks, Journal of Computer and System Sciences 68,
//! 2004; sporadic arrivals as in Srinivasan, Anderson: Optimal rate-based scheduling on multiprocessors, STOC 2002. A job of weight
//! w = e/p is a sequence of subtasks of one quantum each. Of subtask i = 1, 2, ... of a job that arrives at a:
//!
//! 1. Pseudo-release r = a + floor((i - 1)/w), pseudo-deadline d = a + ceil(i/w): it is to run in `[r, d)`.
//! 2. b = 1 if its window overlaps the next one's: i/w is no whole number.
//! 3. Group deadline of heavy tasks (w >= 1/2): the first time t >= d by which a cascade of windows of length 2 ends: t is the
//!    pseudo-deadline of a subtask with b = 0, or t + 1 that of one whose window is 3 quanta long. Light tasks have none: 0.
//!
//! The subtask with the earlier d goes first; then b = 1 before b = 0; then, with b = 1, the later group deadline.
//! Other ties are arbitrary: both orders of the tasks are tried.

/// A task of whole quanta: e every p, 0 < e <= p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    pub e: u64,
    pub p: u64,
}

/// PD2, or what is left of it without one of its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    Pd2,
    WithoutGroupDeadlines,
    /// By pseudo-deadlines alone, as EPDF does.
    WithoutBits,
    /// Later pseudo-releases go first where PD2 knows an order.
    Reversed,
}

/// How jobs arrive.
pub trait Arrivals {
    /// How much later than possible the next job of the task comes.
    fn delay(&mut self, task: usize) -> u64;
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The first subtask that ran too late: its task and pseudo-deadline.
    pub missed: Option<(usize, u64)>,
    /// The longest response of each task's jobs that ended.
    pub responses: Vec<u64>,
    /// Quanta in which a processor had nothing to run.
    pub idle: u64,
}

impl Weight {
    fn pseudo_release(self, subtask: u64) -> u64 {
        (subtask - 1) * self.p / self.e
    }

    fn pseudo_deadline(self, subtask: u64) -> u64 {
        (subtask * self.p).div_ceil(self.e)
    }

    fn bit(self, subtask: u64) -> bool {
        !(subtask * self.p).is_multiple_of(self.e)
    }

    /// After the job's arrival; by the definition, one subtask after the other.
    pub fn group_deadline(self, subtask: u64) -> u64 {
        if 2 * self.e < self.p {
            return 0;
        }
        let mut at = subtask;
        loop {
            let (deadline, release) = (self.pseudo_deadline(at), self.pseudo_release(at));
            if deadline - release == 3 && at > subtask {
                return deadline - 1;
            }
            if !self.bit(at) {
                return deadline;
            }
            at += 1;
        }
    }
}

/// A task's present job, and how far it is.
struct Progress {
    weight: Weight,
    arrival: u64,
    /// The next subtask, from 1.
    subtask: u64,
}

impl Progress {
    fn is_eligible(&self, now: u64) -> bool {
        self.arrival + self.weight.pseudo_release(self.subtask) <= now
    }

    fn deadline(&self) -> u64 {
        self.arrival + self.weight.pseudo_deadline(self.subtask)
    }

    /// The smallest goes first.
    fn key(&self, rules: Rules) -> (u64, u64, u64) {
        let bit = self.weight.bit(self.subtask);
        let group = if bit { self.arrival + self.weight.group_deadline(self.subtask) } else { 0 };
        let first = |yes: bool| u64::from(!yes);
        match rules {
            Rules::Pd2 => (self.deadline(), first(bit), u64::MAX - group),
            Rules::WithoutGroupDeadlines => (self.deadline(), first(bit), 0),
            Rules::WithoutBits => (self.deadline(), 0, 0),
            Rules::Reversed => (self.deadline(), first(!bit), group),
        }
    }
}

/// Schedules `quanta` quanta. Among equals the task that comes first goes first, or the last.
pub fn schedule(
    weights: &[Weight],
    processors: usize,
    quanta: u64,
    rules: Rules,
    last_first: bool,
    arrivals: &mut impl Arrivals,
) -> Seen {
    let begin = |(task, &weight): (usize, &Weight), arrivals: &mut _| {
        let arrival = Arrivals::delay(arrivals, task);
        Progress { weight, arrival, subtask: 1 }
    };
    let mut tasks: Vec<Progress> = weights.iter().enumerate().map(|it| begin(it, arrivals)).collect();
    let mut seen = Seen { missed: None, responses: vec![0; weights.len()], idle: 0 };
    for now in 0..quanta {
        let eligible = tasks.iter().enumerate().filter(|(_, task)| task.is_eligible(now));
        let order = |at: usize| if last_first { weights.len() - at } else { at };
        let mut queue: Vec<_> = eligible.map(|(at, task)| (task.key(rules), order(at), at)).collect();
        queue.sort_unstable();
        seen.idle += processors.saturating_sub(queue.len()) as u64;
        for &(_, _, at) in queue.iter().take(processors) {
            let task = &mut tasks[at];
            if now >= task.deadline() {
                seen.missed = seen.missed.or(Some((at, task.deadline())));
            }
            task.subtask += 1;
            if task.subtask > task.weight.e {
                let longest = &mut seen.responses[at];
                *longest = (now + 1 - task.arrival).max(*longest);
                task.arrival += task.weight.p + arrivals.delay(at);
                task.subtask = 1;
            }
        }
    }
    let late = tasks.iter().position(|task| task.deadline() <= quanta);
    seen.missed = seen.missed.or(late.map(|at| (at, tasks[at].deadline())));
    seen
}
