//! When jobs arrive: synchronously, at random, or so that they are in the way.

use super::simulation::Job;
use super::{Random, SporadicTask};

/// A way to let jobs arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// All at 0, then every period; the first is held back by the whole jitter, the others by none of it.
    Synchronous,
    /// Periodic from a random time on.
    Offset,
    /// At least a period apart, sometimes more, with random jitter.
    Sporadic,
    /// Periodic, so that every task has a deadline at the same time.
    AlignedDeadlines,
    /// One task's job arrives after those of all others, which have just arrived as late or early as a random choice has it.
    Bursts,
}

pub const ALL: [Arrivals; 5] = [
    Arrivals::Synchronous,
    Arrivals::Offset,
    Arrivals::Sporadic,
    Arrivals::AlignedDeadlines,
    Arrivals::Bursts,
];

/// The jobs of all tasks that arrive before `end`.
pub fn jobs(arrivals: Arrivals, tasks: &[SporadicTask], end: u64, random: &mut Random) -> Vec<Vec<Job>> {
    let latest = tasks.iter().map(|task| task.deadline_rel_ns).max().unwrap_or(0);
    let common = 2 * latest + random.below(20);
    tasks.iter().map(|task| task_jobs(arrivals, task, common, end, random)).collect()
}

fn task_jobs(
    arrivals: Arrivals,
    task: &SporadicTask,
    common: u64,
    end: u64,
    random: &mut Random,
) -> Vec<Job> {
    let mut arrival = match arrivals {
        Arrivals::Synchronous => 0,
        Arrivals::Offset | Arrivals::Sporadic => random.below(2 * task.period_ns),
        Arrivals::AlignedDeadlines => (common - task.deadline_rel_ns) % task.period_ns,
        Arrivals::Bursts => common.saturating_sub(random.below(task.period_ns)) % task.period_ns,
    };
    let mut jobs = Vec::new();
    let mut released = 0;
    while arrival < end {
        let jitter = match arrivals {
            Arrivals::Synchronous if jobs.is_empty() => task.jitter_ns,
            Arrivals::Sporadic | Arrivals::Bursts => random.below(task.jitter_ns + 1),
            _ => 0,
        };
        // Jobs of a task are released in their order.
        released = released.max(arrival + jitter);
        jobs.push(Job { arrival, release: released });
        let more = match arrivals {
            Arrivals::Sporadic if random.below(3) == 0 => random.below(task.period_ns + 1),
            Arrivals::Bursts if random.below(8) == 0 => random.below(3),
            _ => 0,
        };
        arrival += task.period_ns + more;
    }
    jobs
}
