//! How fast jobs of a group walk while others of it walk the same lines on other CPUs.
//!
//! A walk of L lines in which each access takes, on average, t comes by each of its lines once in L t, its *period* P. With `access`
//! the time of an access that finds its line at home, on the CPU where the job is ([`AccessTime`]):
//!
//! 1. A line that another one, o, writes is stale when x comes to it again if o has come by in between. It has with a chance of
//!    min(1, P_x / P_o): always, if o comes by at least as often.
//! 2. Of several others each may have, independently: the chance that none has is the product of the chances that each has not.
//! 3. A stale line takes X longer than one at home: what it takes from the closest cache of both CPUs, or from
//!    memory, minus what it takes from home, whatever the CPU's speed. Of several writers, each is the last in
//!    proportion to how often it comes by.
//! 4. So t_x = access + the sum of (share of x's lines) (chance) X over lines with the same writers. The t of all are found together, from
//!    equal ones on, for each is faster or slower by what the others are: at most [`ROUNDS`] times, or until none changes by a
//!    millionth.
//!
//! Two that write all that they share lose equally much, whatever else they walk: each line changes hands as often as the longer
//! walk comes by.

use super::quotient;
use laxity_model::Speed;

/// How often paces are made to agree at most.
const ROUNDS: u32 = 32;

/// All, in parts per million.
const ALL_PPM: u64 = 1_000_000;

/// The pace of a job that loses nothing: the time of an access, in 10^-9 of that of an access at home.
pub(super) const UNIT_PPB: u64 = 1_000_000_000;

/// Beyond this, in 10^-9, no access is slower: a line of 1 ms every ps.
const SLOWEST_PPB: u128 = 1_000_000_000 * UNIT_PPB as u128;

/// How long an access takes on a CPU where it finds its line at home: the work for a line and loading it from there, both at the
/// CPU's speed. In ps, `ps / parts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessTime {
    ps: u128,
    parts: u128,
}

impl AccessTime {
    /// On a CPU of this speed, if it takes `access_ps` at speed 1.
    pub fn at(speed: Speed, access_ps: u64) -> AccessTime {
        AccessTime {
            ps: u128::from(access_ps) * u128::from(speed.denominator()),
            parts: u128::from(speed.numerator()),
        }
    }

    /// How long so many take, in ps, rounded down.
    pub fn of_lines(self, lines: u64) -> u128 {
        quotient(u128::from(lines) * self.ps, self.parts)
    }

    /// How many there are in a time in ps, of those `ppm` parts per million, in 10^-6, rounded down.
    pub fn lines_in(self, ps: u128, ppm: u64) -> u128 {
        quotient((ps * u128::from(ppm)).saturating_mul(self.parts), self.ps)
    }

    /// In 10^-15 s, to compare periods.
    fn fs(self) -> u128 {
        (self.ps * 1_000 / self.parts).max(1)
    }
}

/// Lines of a task that the same others write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exposed {
    /// How many, of all that the task walks, in parts per million.
    pub ppm: u64,
    /// The tasks that write them.
    pub writers: Vec<usize>,
}

/// What a task walks, as others see it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Walker {
    /// How many lines: at least 1 if anything is exposed.
    pub lines: u64,
    /// What others write of it.
    pub exposed: Vec<Exposed>,
}

/// What one line costs that another CPU has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transfer {
    /// How much longer it takes than from home, in ps.
    pub ps: u64,
    /// Whether it comes from beyond all common caches.
    pub from_memory: bool,
}

/// How fast a job walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    /// How long an access takes: at least [`UNIT_PPB`].
    pub ppb: u64,
    /// How many of its accesses are to stale lines from beyond all common caches, in parts per million.
    pub memory_ppm: u64,
}

impl Pace {
    /// That of a job that loses nothing.
    pub const ALONE: Pace = Pace { ppb: UNIT_PPB, memory_ppm: 0 };
}

/// Lines of a present task that the same other present tasks write.
struct Taken {
    ppm: u128,
    /// By each: how often it comes by is to be found; what a line of it costs.
    writers: Vec<(usize, Transfer)>,
}

/// The paces of tasks that walk at the same time, each on a CPU with an access time. `transfer` is of a line of the first task, from the
/// second.
pub(super) fn paces(
    walkers: &[Walker],
    present: &[usize],
    access: impl Fn(usize) -> AccessTime,
    transfer: impl Fn(usize, usize) -> Transfer,
) -> Vec<Pace> {
    let mut paces = vec![Pace::ALONE; present.len()];
    if present.len() < 2 {
        return paces;
    }
    let taken_of = |exposed: &Exposed, task: usize| Taken {
        ppm: exposed.ppm.into(),
        writers: (0..present.len())
            .filter(|&other| exposed.writers.contains(&present[other]))
            .map(|other| (other, transfer(task, present[other])))
            .collect(),
    };
    let taken: Vec<Vec<Taken>> = present
        .iter()
        .map(|&task| walkers[task].exposed.iter().map(|exposed| taken_of(exposed, task)).collect())
        .collect();
    for _ in 0..ROUNDS {
        let period = |(&task, pace): (&usize, &Pace)| {
            (u128::from(walkers[task].lines) * u128::from(pace.ppb)).saturating_mul(access(task).fs())
        };
        let periods: Vec<u128> = present.iter().zip(&paces).map(period).collect();
        let next: Vec<Pace> = taken
            .iter()
            .zip(present.iter().zip(&periods))
            .map(|(taken, (&task, &period))| pace(taken, period, &periods, access(task)))
            .collect();
        let settled = paces.iter().zip(&next).all(|(old, new)| {
            old.ppb.abs_diff(new.ppb) <= old.ppb / 1_000_000 && old.memory_ppm.abs_diff(new.memory_ppm) <= 1
        });
        paces = next;
        if settled {
            break;
        }
    }
    paces
}

/// The pace of one whose period is `mine`, given those of all.
fn pace(taken: &[Taken], mine: u128, periods: &[u128], access: AccessTime) -> Pace {
    let all_ppm = u128::from(ALL_PPM);
    let (mut slower, mut memory_ppm) = (0u128, 0u128);
    for Taken { ppm, writers } in taken {
        let (mut none_ppb, mut often, mut ps, mut memory) = (u128::from(UNIT_PPB), 0u128, 0u128, 0u128);
        for &(other, Transfer { ps: each, from_memory }) in writers {
            // How often it comes by in my period, in parts per million.
            let comes = quotient(mine.saturating_mul(all_ppm), periods[other].max(1));
            none_ppb = quotient(none_ppb * all_ppm.saturating_sub(comes), all_ppm);
            often += comes;
            ps = ps.saturating_add(comes.saturating_mul(u128::from(each)));
            memory += if from_memory { comes } else { 0 };
        }
        if often == 0 {
            continue;
        }
        let stale_ppm = quotient(ppm * (u128::from(UNIT_PPB) - none_ppb), UNIT_PPB.into());
        // In 10^-9 of an access: 1000 times parts per million.
        let longer = (stale_ppm * 1_000).saturating_mul(ps).saturating_mul(access.parts);
        slower += quotient(longer, often.saturating_mul(access.ps));
        memory_ppm += quotient(stale_ppm * memory, often);
    }
    let ppb = (u128::from(UNIT_PPB) + slower).min(SLOWEST_PPB);
    Pace {
        ppb: u64::try_from(ppb).expect("at most the slowest"),
        memory_ppm: u64::try_from(memory_ppm).unwrap_or(ALL_PPM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks that walk so many lines, of which all write the first `shared`.
    fn sharers(lines: &[u64], shared: u64) -> Vec<Walker> {
        let others = |me: usize| (0..lines.len()).filter(|&other| other != me).collect();
        let walker = |(me, &lines): (usize, &u64)| Walker {
            lines,
            exposed: vec![Exposed { ppm: shared * ALL_PPM / lines, writers: others(me) }],
        };
        lines.iter().enumerate().map(walker).collect()
    }

    /// A stale line takes thrice as much longer as an access at home takes.
    fn thrice(_: usize, _: usize) -> Transfer {
        Transfer { ps: 30_000, from_memory: true }
    }

    /// An access of 10 ns at speed 1, on a CPU of another speed.
    fn ten_ns(above: u32, below: u32) -> AccessTime {
        AccessTime::at(Speed::new(above, below).expect("a fraction"), 10_000)
    }

    /// In hundredths of an access at home.
    fn found(walkers: &[Walker], present: &[usize]) -> Vec<u64> {
        paces(walkers, present, |_| ten_ns(1, 1), thrice).iter().map(|pace| pace.ppb / 10_000_000).collect()
    }

    #[test]
    fn writers_of_the_same_lines_lose_equally_much() {
        assert_eq!(found(&sharers(&[100], 100), &[0]), [100]);
        assert_eq!(found(&sharers(&[100, 100], 100), &[0, 1]), [400, 400]);
        assert_eq!(found(&sharers(&[100, 100, 100], 100), &[0, 1, 2]), [400; 3]);
        // Half of the lines, every time; then a tenth of the times, and all times of a tenth of the lines.
        assert_eq!(found(&sharers(&[200, 200], 100), &[0, 1]), [250, 250]);
        assert_eq!(found(&sharers(&[100, 1_000], 100), &[0, 1]), [130, 130]);
        // The long ones find a tenth of their lines stale always, so t' = 1.3; of the short one's visits one of two has come by:
        // t = 1 + 3 (1 - (1 - t / 13)^2), which 1.755 solves.
        assert_eq!(found(&sharers(&[100, 1_000, 1_000], 100), &[0, 1, 2]), [175, 130, 130]);
    }

    #[test]
    fn a_slower_walk_is_passed_more_often() {
        // The second reads what the first writes: it is slowed down as if the other came by more often.
        let mut walkers = sharers(&[1_000, 100], 100);
        walkers[0].exposed.clear();
        // t = 1 + 3 (t / 10)
        assert_eq!(found(&walkers, &[0, 1]), [100, 142]);
        // t = 1 + 3 (t / 2) has no solution: always.
        walkers[0].lines = 200;
        assert_eq!(found(&walkers, &[0, 1]), [100, 400]);
    }

    #[test]
    fn a_transfer_takes_as_long_on_a_slow_core() {
        let of = |accesses: [AccessTime; 2], lines: [u64; 2]| {
            let paces = paces(&sharers(&lines, 100), &[0, 1], |task| accesses[task], thrice);
            [0, 1].map(|task| paces[task].ppb / 10_000_000)
        };
        let (slow, fast) = (ten_ns(1, 4), ten_ns(2, 1));
        // 30 ns more than 40, and than 5.
        assert_eq!(of([slow, slow], [100, 100]), [175, 175]);
        assert_eq!(of([fast, fast], [100, 100]), [700, 700]);
        // The slow one finds every line stale, for the fast one comes by more often; that one finds t' / 70 of them stale,
        // with t' = 5 + 30 t' / 70: 8.75 ns.
        assert_eq!(of([slow, fast], [100, 100]), [175, 175]);
        // A walk of 900 lines takes 5 + 30 / 9 a line, 7.5 us in all, and finds what it shares always stale; the short one does as
        // often as t in 75 of t = 40 + 30 t / 75.
        assert_eq!(of([slow, fast], [100, 900]), [166, 166]);
        assert_eq!((slow.of_lines(3), ten_ns(3, 1).of_lines(1)), (120_000, 3_333));
        assert_eq!(
            (slow.lines_in(100_000, ALL_PPM), ten_ns(3, 1).lines_in(10_000, 500_000)),
            (2_500_000, 1_500_000)
        );
    }

    #[test]
    fn lines_come_from_the_walker_that_comes_by_more_often() {
        let mut walkers = sharers(&[100, 100, 400], 100);
        walkers[1].exposed.clear();
        walkers[2].exposed.clear();
        let near = |_: usize, other: usize| Transfer {
            ps: if other == 1 { 10_000 } else { 60_000 },
            from_memory: other == 2,
        };
        // Always; from the second in 4 of 5 cases: 1 + (4 * 1 + 1 * 6) / 5.
        let found = paces(&walkers, &[0, 1, 2], |_| ten_ns(1, 1), near);
        assert_eq!(found[0], Pace { ppb: 3 * UNIT_PPB, memory_ppm: 200_000 });
        assert_eq!(found[1..], [Pace::ALONE; 2]);
    }
}
