//! Schedules of periodic tasks with offsets, unit by unit, until they repeat.

use laxity_analysis::{Priorities, SporadicTask};

/// Sets have no more tasks than this.
pub const TASKS_MAX: usize = 3;

/// Which task goes first, and which of equals.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    pub priorities: Priorities,
    /// Of equals the task that comes last, not first.
    pub last_first: bool,
    /// Under fixed priorities: the level of each task, of which equals run in the order in which they arrive.
    pub levels: [u64; TASKS_MAX],
}

/// A backlog that no set with bounded responses has here.
const ENDLESS: u64 = 200;

struct Schedule<'a> {
    tasks: &'a [SporadicTask],
    offsets: [u64; TASKS_MAX],
    processors: u64,
    order: Order,
    /// Work of jobs that have arrived and not ended.
    pending: [u64; TASKS_MAX],
    /// Jobs that have ended.
    ended: [u64; TASKS_MAX],
    longest: [u64; TASKS_MAX],
}

impl Schedule<'_> {
    /// When the first job that has not ended arrived.
    fn arrival(&self, task: usize) -> u64 {
        self.offsets[task] + self.ended[task] * self.tasks[task].period_ns
    }

    fn key(&self, task: usize, now: u64) -> (u64, usize) {
        let (parameters, arrival) = (&self.tasks[task], self.arrival(task));
        let value = match self.order.priorities {
            Priorities::EarliestDeadlineFirst => arrival + parameters.deadline_rel_ns,
            Priorities::ZeroLaxity => {
                // Of the first job that has not ended.
                let left = (self.pending[task] - 1) % parameters.wcet_ns + 1;
                let deadline = arrival + parameters.deadline_rel_ns;
                if deadline <= now + left { deadline.saturating_sub(left) } else { deadline }
            }
            Priorities::FairLateness => {
                (arrival + parameters.deadline_rel_ns) * self.processors
                    - parameters.wcet_ns * (self.processors - 1)
            }
            Priorities::Fixed => (self.order.levels[task] << 32) + arrival,
            Priorities::Pfair => unreachable!("subtasks have priorities, not jobs"),
        };
        (value, if self.order.last_first { TASKS_MAX - task } else { task })
    }

    fn unit(&mut self, now: u64) {
        for (at, task) in self.tasks.iter().enumerate() {
            if now >= self.offsets[at] && (now - self.offsets[at]).is_multiple_of(task.period_ns) {
                self.pending[at] += task.wcet_ns;
            }
        }
        let mut run = [false; TASKS_MAX];
        for _ in 0..self.processors {
            let waiting = (0..self.tasks.len()).filter(|&at| self.pending[at] > 0 && !run[at]);
            let Some(first) = waiting.min_by_key(|&at| self.key(at, now)) else { break };
            run[first] = true;
        }
        for at in (0..self.tasks.len()).filter(|&at| run[at]) {
            self.pending[at] -= 1;
            // Jobs of a task run one after the other: what is left of the first is the rest of whole jobs.
            if self.pending[at].is_multiple_of(self.tasks[at].wcet_ns) {
                self.longest[at] = self.longest[at].max(now + 1 - self.arrival(at));
                self.ended[at] += 1;
            }
        }
    }
}

/// The longest response of each task; nothing if there is none. What is pending when all offsets and periods are as they were
/// determines what follows, so that the schedule repeats once that does.
pub fn longest_responses(
    tasks: &[SporadicTask],
    offsets: [u64; TASKS_MAX],
    processors: u64,
    order: Order,
) -> Option<[u64; TASKS_MAX]> {
    let hyperperiod =
        (1..).find(|length: &u64| tasks.iter().all(|task| length.is_multiple_of(task.period_ns)))?;
    let last_offset = *offsets.iter().max()?;
    let none = [0; TASKS_MAX];
    let mut schedule =
        Schedule { tasks, offsets, processors, order, pending: none, ended: none, longest: none };
    let mut before: Vec<[u64; TASKS_MAX]> = Vec::new();
    for now in 0.. {
        if now > last_offset && now.is_multiple_of(hyperperiod) {
            if before.contains(&schedule.pending) {
                break;
            }
            if schedule.pending.iter().any(|&pending| pending > ENDLESS) {
                return None;
            }
            before.push(schedule.pending);
        }
        schedule.unit(now);
    }
    Some(schedule.longest)
}
