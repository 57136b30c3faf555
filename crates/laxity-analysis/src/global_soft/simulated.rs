//! A small simulation of global EDF-like scheduling in steps of 1, written without anything that it is to check.

use super::PriorityPoints;
use crate::SporadicTask;

/// When the jobs of each task arrive, ascending.
pub(super) type Arrivals = Vec<Vec<u64>>;

/// Pseudo-random numbers: splitmix64.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `least` to `most`, both included.
    pub(super) fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }
}

/// All tasks at 0, then as early as they may.
pub(super) fn synchronous(tasks: &[SporadicTask], end: u64) -> Arrivals {
    tasks.iter().map(|task| (0..).map(|k| k * task.period_ns).take_while(|&at| at < end).collect()).collect()
}

/// Mostly as early as they may, from anywhere in the first period.
pub(super) fn sporadic(tasks: &[SporadicTask], end: u64, random: &mut Random) -> Arrivals {
    let mut of = |task: &SporadicTask| {
        let (mut at, mut arrivals) = (random.within(0, task.period_ns), Vec::new());
        while at < end {
            arrivals.push(at);
            let late = if random.within(0, 7) == 0 { random.within(0, task.period_ns) } else { 0 };
            at += task.period_ns + late;
        }
        arrivals
    };
    tasks.iter().map(&mut of).collect()
}

/// Of each task, by how much its latest job is late.
pub(super) fn tardiness(
    tasks: &[SporadicTask],
    processors: u32,
    points: PriorityPoints,
    arrivals: &Arrivals,
) -> Vec<u64> {
    let m = u64::from(processors);
    // m times the absolute priority point, and so much that it is positive.
    let shift = tasks.iter().map(|task| task.wcet_ns).max().unwrap_or(0);
    let priority = |place: usize, arrival: u64| {
        let task = &tasks[place];
        match points {
            PriorityPoints::Deadline => m * (arrival + task.deadline_rel_ns + shift),
            PriorityPoints::FairLateness => {
                m * (arrival + task.deadline_rel_ns + shift) - (m - 1) * task.wcet_ns
            }
        }
    };
    let mut next = vec![0; tasks.len()];
    let mut left: Vec<u64> = tasks.iter().map(|task| task.wcet_ns).collect();
    let mut late = vec![0; tasks.len()];
    let mut now = 0;
    while next.iter().zip(arrivals).any(|(&next, of)| next < of.len()) {
        // The first job of each task that has not completed, if it has arrived: jobs are sequential.
        let arrived = |&place: &usize| arrivals[place].get(next[place]).is_some_and(|&at| at <= now);
        let mut pending: Vec<usize> = (0..tasks.len()).filter(arrived).collect();
        pending.sort_by_key(|&place| (priority(place, arrivals[place][next[place]]), place));
        now += 1;
        for &place in pending.iter().take(processors as usize) {
            left[place] -= 1;
            if left[place] == 0 {
                let deadline_abs = arrivals[place][next[place]] + tasks[place].deadline_rel_ns;
                late[place] = late[place].max(now.saturating_sub(deadline_abs));
                left[place] = tasks[place].wcet_ns;
                next[place] += 1;
            }
        }
    }
    late
}
