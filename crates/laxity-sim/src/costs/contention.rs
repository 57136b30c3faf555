//! Lines that jobs of a group take from each other while they run at the same time on different cores.
//!
//! 1. A job on a core is *useful* while it does what it was asked to: not while it waits for cold caches. Then it walks a line every
//!    `access` ([`super::LineLatencies::access_ps`]), found in its home.
//! 2. While another one that writes the same segments is useful on another core, both walk at one pace: between two walks of a line
//!    the other has written it, if it writes that line at all. So a share of this job's lines is stale when it comes to them again,
//!    however many others there are: the lines that both walk, by the share that the other writes. Each of them takes the latency of
//!    the closest cache of both cores, or of memory, minus that of the home. Of several others, the mean counts.
//! 3. This is counted for the time in which both are useful, and the job is that much longer on its core after it has done its work,
//!    or goes on with it later. So both are as long as if they had been slowed down while both did their work, if nobody
//!    else came in between.
//! 4. What is not at home when a job starts or goes on is [`super::CacheState::enter`]'s, and is not counted here: for as long as it takes
//!    to walk so many lines, the job loses nothing more.
//!
//! Source: lindsay2012, 4.1.2 and 6.2.1 (observations 3 and 5: tasks of a group that run at the same time on different cores maximise
//! invalidations).

/// A member of a group as another one sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sharer {
    /// Who it is.
    pub task: usize,
    /// How many of the lines that one walks the other keeps writing, in parts per million.
    pub stale_ppm: u64,
}

/// What one line costs that another core has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    /// How much longer it takes than from home.
    pub ps: u64,
    /// Whether it comes from beyond all common caches.
    pub from_memory: bool,
}

/// What a job has lost to others since it was asked last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contended {
    /// How much longer it takes, in ns, rounded up.
    pub delay_ns: u64,
    /// Lines that came from beyond all caches that it shares with whoever wrote them, rounded down.
    pub memory_lines: u64,
}

/// A job that is going to be useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begins {
    /// On this core.
    pub core: usize,
    /// Since when.
    pub since: u64,
    /// So many of its first lines it does not find at home whatever others do.
    pub cold_lines: u64,
}

/// A job that is useful, or will be.
#[derive(Debug, Clone, Copy)]
struct Stay {
    core: usize,
    /// Since when.
    since: u64,
    /// Up to when what it loses has been counted.
    counted: u64,
}

/// Who is useful where, and what each has lost.
#[derive(Debug, Clone)]
pub(super) struct Contention {
    access_ps: u64,
    sharers: Vec<Vec<Sharer>>,
    stays: Vec<Option<Stay>>,
    /// By task, in 10^-6 ps and 10^-6 lines.
    lost: Vec<(u128, u128)>,
}

/// All lines, in parts per million.
const ALL_PPM: u128 = 1_000_000;

impl Contention {
    /// Nobody is useful yet.
    pub fn new(access_ps: u64, sharers: Vec<Vec<Sharer>>) -> Contention {
        let tasks = sharers.len();
        Contention { access_ps, sharers, stays: vec![None; tasks], lost: vec![(0, 0); tasks] }
    }

    /// A job of the task begins to be useful.
    pub fn begins(&mut self, task: usize, Begins { core, since, cold_lines }: Begins) {
        if !self.sharers[task].is_empty() {
            let cold_ns = u128::from(cold_lines) * u128::from(self.access_ps) / 1_000;
            let counted = since.saturating_add(u64::try_from(cold_ns).unwrap_or(u64::MAX));
            self.stays[task] = Some(Stay { core, since, counted });
        }
    }

    /// A job of the task is useful no longer: what it has lost to others since it was asked last.
    pub fn ends(
        &mut self,
        task: usize,
        now: u64,
        transfer: impl Fn(usize, usize, usize) -> Transfer,
    ) -> Contended {
        if self.stays[task].is_some() {
            self.count(task, now, &transfer);
            for place in 0..self.sharers[task].len() {
                self.count(self.sharers[task][place].task, now, &transfer);
            }
            self.stays[task] = None;
        }
        let (fs, lines) = std::mem::take(&mut self.lost[task]);
        let delay = fs.div_ceil(1_000 * ALL_PPM);
        Contended {
            delay_ns: u64::try_from(delay).unwrap_or(u64::MAX),
            memory_lines: u64::try_from(lines / ALL_PPM).unwrap_or(u64::MAX),
        }
    }

    /// Counts what a task loses to those who are useful up to now. `transfer` is of a task's line from one core to another.
    fn count(&mut self, task: usize, now: u64, transfer: &impl Fn(usize, usize, usize) -> Transfer) {
        let Some(stay) = self.stays[task] else { return };
        let (mut first, mut others, mut ps, mut lines) = (now, 0u128, 0u128, 0u128);
        for sharer in &self.sharers[task] {
            let Some(other) = self.stays[sharer.task].filter(|other| other.since < now) else { continue };
            let Transfer { ps: each, from_memory } = transfer(task, other.core, stay.core);
            first = first.min(other.since);
            others += 1;
            ps += u128::from(sharer.stale_ppm) * u128::from(each);
            lines += u128::from(sharer.stale_ppm) * u128::from(from_memory);
        }
        let from = first.max(stay.counted);
        if others > 0 && from < now {
            // An access every `access_ps`.
            let span_ps = u128::from(now - from) * 1_000;
            let divisor = u128::from(self.access_ps) * others;
            self.lost[task].0 += span_ps.saturating_mul(ps) / divisor;
            self.lost[task].1 += span_ps.saturating_mul(lines) / divisor;
        }
        if let Some(stay) = &mut self.stays[task] {
            stay.counted = stay.counted.max(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Tasks that all share all of their lines with each other and write them.
    fn all_with_all(tasks: usize) -> Contention {
        let others = |task: usize| {
            (0..tasks)
                .filter(|&other| other != task)
                .map(|task| Sharer { task, stale_ppm: 1_000_000 })
                .collect()
        };
        Contention::new(10_000, (0..tasks).map(others).collect())
    }

    /// A job with warm caches.
    fn on(core: usize, since: u64) -> Begins {
        Begins { core, since, cold_lines: 0 }
    }

    /// A line that another core has written takes 20 ns more: twice an access.
    fn twice(_: usize, from: usize, to: usize) -> Transfer {
        assert_ne!(from, to);
        Transfer { ps: 20_000, from_memory: true }
    }

    /// Work of 10 ms each from these instants: when each has done its work and then what it has lost.
    fn ends(begins: &[u64]) -> Vec<u64> {
        let mut contention = all_with_all(begins.len());
        for (task, &begin) in begins.iter().enumerate() {
            contention.begins(task, on(task, begin * MS));
        }
        let mut order: Vec<usize> = (0..begins.len()).collect();
        order.sort_by_key(|&task| begins[task]);
        let mut ends = vec![0; begins.len()];
        for task in order {
            let done = (begins[task] + 10) * MS;
            let lost = contention.ends(task, done, twice);
            assert_eq!(lost.memory_lines, lost.delay_ns / 20, "a line for every 20 ns");
            ends[task] = (done + lost.delay_ns) / MS;
        }
        ends
    }

    #[test]
    fn ends_are_those_of_jobs_that_are_slowed_down() {
        // Three times as long while both work.
        assert_eq!(ends(&[0]), [10]);
        assert_eq!(ends(&[0, 0]), [30, 30]);
        // 5 ms alone, then 5 ms of work in 15; the other is alone for its last 5 ms.
        assert_eq!(ends(&[0, 5]), [20, 25]);
        assert_eq!(ends(&[0, 10]), [10, 20]);
        // A third one makes no line staler than it is.
        assert_eq!(ends(&[0, 0, 0]), [30, 30, 30]);
        // The one in the middle is never alone.
        assert_eq!(ends(&[0, 5, 10]), [20, 35, 30]);
    }

    #[test]
    fn what_is_lost_is_said_once() {
        let mut contention = all_with_all(2);
        contention.begins(0, on(0, 0));
        contention.begins(1, on(1, 0));
        assert_eq!(contention.ends(0, 4 * MS, twice).delay_ns, 8 * MS);
        assert_eq!(contention.ends(0, 9 * MS, twice), Contended::default());
        contention.begins(0, on(0, 6 * MS));
        // 4 ms before the first left, 3 ms since it is back.
        assert_eq!(contention.ends(1, 9 * MS, twice).delay_ns, 14 * MS);
        assert_eq!(contention.ends(0, 20 * MS, twice).delay_ns, 6 * MS);
    }

    #[test]
    fn lines_that_are_cold_anyway_are_not_lost_to_others() {
        let mut contention = all_with_all(2);
        // 300000 lines of 10 ns; the other, warm, loses from the beginning.
        contention.begins(0, Begins { core: 0, since: 0, cold_lines: 300_000 });
        contention.begins(1, on(1, 0));
        assert_eq!(contention.ends(0, 10 * MS, twice).delay_ns, 14 * MS);
        assert_eq!(contention.ends(1, 10 * MS, twice).delay_ns, 20 * MS);
        // Left before it has walked them.
        contention.begins(0, Begins { core: 0, since: 20 * MS, cold_lines: 300_000 });
        contention.begins(1, on(1, 20 * MS));
        assert_eq!(contention.ends(0, 22 * MS, twice), Contended::default());
    }

    #[test]
    fn only_lines_that_the_other_writes_are_lost() {
        let sharers =
            vec![vec![Sharer { task: 1, stale_ppm: 250_000 }], vec![Sharer { task: 0, stale_ppm: 0 }]];
        let mut contention = Contention::new(10_000, sharers);
        contention.begins(0, on(0, 0));
        contention.begins(1, on(1, 0));
        assert_eq!(contention.ends(0, 10 * MS, twice).delay_ns, 5 * MS);
        assert_eq!(contention.ends(1, 10 * MS, twice), Contended::default());
    }

    #[test]
    fn the_mean_is_of_those_who_have_begun() {
        let sharer = |task, stale_ppm| Sharer { task, stale_ppm };
        let sharers = vec![vec![sharer(1, 1_000_000), sharer(2, 0)], vec![sharer(0, 0)], vec![sharer(0, 0)]];
        let lost = |begin_of_third: u64| {
            let mut contention = Contention::new(10_000, sharers.clone());
            for (task, since) in [(0, 0), (1, 0), (2, begin_of_third)] {
                contention.begins(task, on(task, since));
            }
            contention.ends(0, 10 * MS, twice).delay_ns / MS
        };
        assert_eq!((lost(3 * MS), lost(10 * MS)), (10, 20), "the third takes no lines, and has not begun");
    }
}
