//! A global scheduler on integer time, written for these tests alone: one unit after the other, no shortcut.

use laxity_analysis::SporadicTask;

/// Which pending job goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The earliest absolute deadline; of equal ones the task that comes first.
    EarliestDeadlineFirst,
    /// The same, but of equal ones the task that comes last.
    EarliestDeadlineLastTask,
    /// The earliest point D - C (m - 1) / m after the arrival (G-FL); of equal ones the task that comes first.
    FairLateness,
    /// The task that comes first.
    Fixed,
}

/// A job: when it arrives, and when the scheduler learns of it.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub arrival: u64,
    pub release: u64,
}

/// What was seen of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    pub response_max: u64,
    pub tardiness_max: u64,
}

struct Queue<'a> {
    task: &'a SporadicTask,
    jobs: &'a [Job],
    /// The job in progress, or the next.
    at: usize,
    left: u64,
}

impl Queue<'_> {
    fn pending(&self, now: u64) -> bool {
        self.jobs.get(self.at).is_some_and(|job| job.release <= now)
    }

    fn key(&self, rule: Rule, processors: u64, index: usize) -> (u64, usize) {
        let deadline = self.jobs[self.at].arrival + self.task.deadline;
        match rule {
            Rule::EarliestDeadlineFirst => (deadline, index),
            Rule::EarliestDeadlineLastTask => (deadline, usize::MAX - index),
            Rule::FairLateness => (deadline * processors - self.task.wcet * (processors - 1), index),
            Rule::Fixed => (0, index),
        }
    }
}

/// Schedules the jobs of each task, in order of release, on `processors`; each executes for its C. All that have been released are
/// followed to their completion, or to `horizon`, at which they count as they stand.
pub fn simulate(
    tasks: &[SporadicTask],
    jobs: &[Vec<Job>],
    processors: u32,
    rule: Rule,
    horizon: u64,
) -> Vec<Seen> {
    let mut queues: Vec<Queue> =
        tasks.iter().zip(jobs).map(|(task, jobs)| Queue { task, jobs, at: 0, left: task.wcet }).collect();
    let mut seen = vec![Seen::default(); tasks.len()];
    for now in 0..horizon {
        let mut pending: Vec<usize> = (0..tasks.len()).filter(|&i| queues[i].pending(now)).collect();
        pending.sort_by_key(|&i| queues[i].key(rule, processors.into(), i));
        for &i in pending.iter().take(processors as usize) {
            queues[i].left -= 1;
            if queues[i].left == 0 {
                record(&mut seen[i], &queues[i], now + 1);
                queues[i].at += 1;
                queues[i].left = queues[i].task.wcet;
            }
        }
    }
    for (i, queue) in queues.iter().enumerate() {
        if queue.pending(horizon) {
            record(&mut seen[i], queue, horizon + 1);
        }
    }
    seen
}

fn record(seen: &mut Seen, queue: &Queue, completion: u64) {
    let job = queue.jobs[queue.at];
    let response = completion - job.arrival;
    seen.response_max = seen.response_max.max(response);
    seen.tardiness_max = seen.tardiness_max.max(response.saturating_sub(queue.task.deadline));
}
