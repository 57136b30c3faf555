//! Schedules of tiny sets, time unit by time unit: what tests must agree with. Nothing here is fast or clever.

use laxity_analysis::SporadicTask;

/// A job. Times count from an arbitrary 0 and may be negative.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub task: usize,
    pub arrival: i64,
    /// Between its arrival and J later.
    pub release: i64,
    pub wcet: u64,
}

/// Which job goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The task with the lowest index.
    Fixed,
    /// The job with the earliest deadline, then the task with the lowest index.
    EarliestDeadline,
}

/// The longest response time of each task's jobs, which are given in the order of their arrivals.
pub fn response_times(tasks: &[SporadicTask], jobs: &[Job], processors: usize, policy: Policy) -> Vec<u64> {
    let mut left: Vec<u64> = jobs.iter().map(|job| job.wcet).collect();
    let mut longest = vec![0; tasks.len()];
    let priority = |at: usize| {
        let job = &jobs[at];
        let first = match policy {
            Policy::Fixed => 0,
            Policy::EarliestDeadline => job.arrival + int(tasks[job.task].deadline_rel_ns),
        };
        (first, job.task, at)
    };
    let mut undone = jobs.len();
    let mut now = jobs.iter().map(|job| job.release).min().unwrap_or(0);
    while undone > 0 {
        // The first job of a task that is not done: the jobs of a task run in their order.
        let mut blocked = vec![false; tasks.len()];
        let mut ready = Vec::new();
        for (at, job) in jobs.iter().enumerate() {
            if left[at] > 0 && !std::mem::replace(&mut blocked[job.task], true) && job.release <= now {
                ready.push(at);
            }
        }
        ready.sort_by_key(|&at| priority(at));
        for &at in ready.iter().take(processors) {
            left[at] -= 1;
            if left[at] == 0 {
                undone -= 1;
                let response_time = u64::try_from(now + 1 - jobs[at].arrival).expect("it has arrived");
                let longest = &mut longest[jobs[at].task];
                *longest = response_time.max(*longest);
            }
        }
        now += 1;
    }
    longest
}

/// Jobs of which the first of every task has been kept for its whole jitter when all are released at 0, and the others follow as
/// soon as possible: `windows[i]` long for task i.
pub fn synchronous(tasks: &[SporadicTask], windows: &[u64]) -> Vec<Job> {
    let jobs = tasks.iter().zip(windows).enumerate().flat_map(|(number, (task, &window))| {
        (0..window.div_ceil(task.period_ns)).map(move |job| {
            let arrival = int(job * task.period_ns) - int(task.jitter_ns);
            Job { task: number, arrival, release: arrival.max(0), wcet: task.wcet_ns }
        })
    });
    in_order(jobs.collect())
}

/// Jobs for about `window`: with phases, delays between arrivals, jitter and execution times at random, more or less of each.
pub fn sporadic(tasks: &[SporadicTask], window: u64, random: &mut Random) -> Vec<Job> {
    let mut jobs = Vec::new();
    let (phased, delayed, kept, shorter) =
        (random.below(2) == 0, random.below(3) == 0, random.below(3), random.below(4) == 0);
    for (number, task) in tasks.iter().enumerate() {
        let mut arrival = if phased { random.below(task.period_ns) } else { 0 };
        let mut first = true;
        while arrival < window {
            let jitter = match kept {
                0 => random.below(task.jitter_ns + 1),
                1 => u64::from(first) * task.jitter_ns,
                _ => 0,
            };
            let wcet = if shorter { 1 + random.below(task.wcet_ns) } else { task.wcet_ns };
            jobs.push(Job { task: number, arrival: int(arrival), release: int(arrival + jitter), wcet });
            arrival += task.period_ns + if delayed { random.below(3) } else { 0 };
            first = false;
        }
    }
    in_order(jobs)
}

fn in_order(mut jobs: Vec<Job>) -> Vec<Job> {
    jobs.sort_by_key(|job| (job.arrival, job.task));
    jobs
}

fn int(value: u64) -> i64 {
    i64::try_from(value).expect("sets are tiny")
}

/// The least common multiple of the periods.
pub fn hyperperiod(tasks: &[SporadicTask]) -> u64 {
    let divides = |length: u64| tasks.iter().all(|task| length.is_multiple_of(task.period_ns));
    (1..).find(|&length| divides(length)).expect("periods are not 0")
}

/// U <= m, for which alone a long enough simulation says all.
pub fn fits(tasks: &[SporadicTask], processors: u64) -> bool {
    let length = hyperperiod(tasks);
    tasks.iter().map(|task| task.wcet_ns * (length / task.period_ns)).sum::<u64>() <= processors * length
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// One of several.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).expect("an index")]
    }
}
