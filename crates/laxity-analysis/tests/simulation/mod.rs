//! A global scheduler on integer time, written for these tests alone: one unit after the other, no shortcut.

use laxity_analysis::SporadicTask;

/// Which pending job goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The earliest absolute deadline; of equal ones the task that comes first.
    EarliestDeadlineFirst,
    /// The same, but of equal ones the task that comes last.
    EarliestDeadlineLastTask,
    /// The earliest absolute deadline, but those that have no laxity left before all others; of equal ones the task that comes first.
    ZeroLaxity,
    /// The earliest point D - C (m - 1) / m after the arrival (G-FL); of equal ones the task that comes first.
    FairLateness,
    /// The task that comes first.
    Fixed,
    /// The task of the smallest level; of equal ones what became ready first, and then the task that comes first, or last.
    Levels(Levels),
}

/// Levels of up to 16 tasks, and how equals are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    pub of: [u8; 16],
    /// A task whose next job has been released when it completes one keeps its place before its equals, as a thread under
    /// SCHED_FIFO does that does not sleep in between. Else each job takes its place when it is released.
    pub keeps_place: bool,
    pub last_first: bool,
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
    /// When it took its place among equals.
    ready: u64,
}

impl<'a> Queue<'a> {
    fn of(task: &'a SporadicTask, jobs: &'a [Job]) -> Self {
        Queue { task, jobs, at: 0, left: task.wcet_ns, ready: jobs.first().map_or(0, |first| first.release) }
    }

    fn pending(&self, now: u64) -> bool {
        self.jobs.get(self.at).is_some_and(|job| job.release <= now)
    }

    fn key(&self, rule: Rule, processors: u64, index: usize, now: u64) -> (u64, usize) {
        let deadline = self.jobs[self.at].arrival + self.task.deadline_rel_ns;
        match rule {
            Rule::EarliestDeadlineFirst => (deadline, index),
            Rule::ZeroLaxity if deadline <= now + self.left => (deadline.saturating_sub(self.left), index),
            Rule::ZeroLaxity => (deadline, index),
            Rule::EarliestDeadlineLastTask => (deadline, usize::MAX - index),
            Rule::FairLateness => (deadline * processors - self.task.wcet_ns * (processors - 1), index),
            Rule::Fixed => (0, index),
            Rule::Levels(levels) => {
                let ready = if levels.keeps_place { self.ready } else { self.jobs[self.at].release };
                let tie = if levels.last_first { usize::MAX - index } else { index };
                ((u64::from(levels.of[index]) << 32) + ready, tie)
            }
        }
    }

    /// The job in progress is done.
    fn advance(&mut self, now: u64) {
        self.at += 1;
        self.left = self.task.wcet_ns;
        if let Some(next) = self.jobs.get(self.at).filter(|next| next.release >= now) {
            self.ready = next.release;
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
    let mut queues: Vec<Queue> = tasks.iter().zip(jobs).map(|(task, jobs)| Queue::of(task, jobs)).collect();
    let mut seen = vec![Seen::default(); tasks.len()];
    for now in 0..horizon {
        let mut pending: Vec<usize> = (0..tasks.len()).filter(|&i| queues[i].pending(now)).collect();
        pending.sort_by_key(|&i| queues[i].key(rule, processors.into(), i, now));
        for &i in pending.iter().take(processors as usize) {
            queues[i].left -= 1;
            if queues[i].left == 0 {
                record(&mut seen[i], &queues[i], now + 1);
                queues[i].advance(now + 1);
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
    seen.tardiness_max = seen.tardiness_max.max(response.saturating_sub(queue.task.deadline_rel_ns));
}
