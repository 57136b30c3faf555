//! What one processor under fixed priorities refuses of one more task, whatever its sound test is: a question of a few
//! multiplications.
//!
//! The task of lowest priority meets its deadline only if W(t) <= t for some t in (0, D] (Lehoczky, Sha, Ding 1989; W as in
//! `releases`). A further task requests ceil(t / T) C >= t U, so
//!
//! 1. above the lowest task n it must have U <= max over t <= D_n of (t - W(t)) / t;
//! 2. as the lowest it must have W(t) + C <= t for some t <= D; with D <= T, C >= t U: U <= max over t <= D of (t - W(t)) / t.
//!
//! What overheads add only makes W larger. Nothing is said of tasks whose deadlines exceed their periods.

use super::releases::Releases;
use crate::SporadicTask;
use laxity_model::Speed;
use std::cmp::Ordering;

/// So many releases are looked at; a window that has more is not bounded.
const RELEASES_MAX: usize = 1024;

/// A place among priorities, the smallest the highest, no two alike: the number by which tasks are ordered, and the task's own.
pub type Rank = (u64, usize);

/// The largest share of a processor that a further task may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceiling {
    /// That of the lowest task.
    lowest: Rank,
    above_lowest: Share,
    as_lowest: Share,
    /// `as_lowest` is of tasks with deadlines up to this.
    deadline_max_ns: u64,
}

/// part / whole, the whole not 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    const NOTHING: Share = Share { part: 0, whole: 1 };

    fn cmp(self, other: Share) -> Ordering {
        let product = |one: u64, two: u64| u128::from(one) * u128::from(two);
        product(self.part, other.whole).cmp(&product(other.part, self.whole))
    }

    fn left_of(time: u64, requested: u128) -> Self {
        let left = u128::from(time).saturating_sub(requested);
        Share { part: u64::try_from(left).unwrap_or(0), whole: time.max(1) }
    }
}

impl Ceiling {
    /// Of tasks with their ranks, below others that have none. Further tasks have deadlines of at most `deadline_max_ns`. Nothing if
    /// there is no task, one has a deadline after its period, or windows have too many releases.
    pub(crate) fn of(
        ranked: &[(Rank, SporadicTask)],
        others: &[SporadicTask],
        deadline_max_ns: u64,
    ) -> Option<Self> {
        let (lowest, last) = ranked.iter().max_by_key(|(rank, _)| *rank)?;
        if ranked.iter().any(|(_, task)| task.deadline_rel_ns > task.period_ns) {
            return None;
        }
        let mut releases = Releases::of(ranked.iter().map(|(_, task)| task).chain(others));
        let mut largest = Share::NOTHING;
        let mut until = |end| {
            let mut show = |time, requested| {
                let share = Share::left_of(time, requested);
                if share.cmp(largest) == Ordering::Greater {
                    largest = share;
                }
            };
            releases.until(end, RELEASES_MAX, &mut show).then_some(largest)
        };
        let above_lowest = until(last.deadline_rel_ns)?;
        let (as_lowest, deadline_max_ns) = match until(deadline_max_ns.max(last.deadline_rel_ns)) {
            Some(longer) => (longer, deadline_max_ns),
            None => (above_lowest, last.deadline_rel_ns),
        };
        Some(Ceiling { lowest: *lowest, above_lowest, as_lowest, deadline_max_ns })
    }

    /// Above this every further task is refused whose deadline ends within its period and is at most `deadline_max_ns`: C at speed 1
    /// per period, on a processor of this speed, in units of 2^-64. Nothing if windows have too many releases.
    pub fn of_all_q64(&self, deadline_max_ns: u64, speed: Speed) -> Option<u128> {
        let Share { part, whole } = self.as_lowest;
        let share = (u128::from(part) << 64).div_ceil(u128::from(whole));
        let at_speed = share * u128::from(speed.numerator()) / u128::from(speed.denominator()) + 1;
        (self.deadline_max_ns >= deadline_max_ns).then_some(at_speed)
    }

    /// True if no sound test accepts a further task, as it is on this processor. It is not known of the others.
    pub fn refuses(&self, rank: Rank, task: &SporadicTask) -> bool {
        let asked = Share { part: task.wcet_ns, whole: task.period_ns };
        let room = match rank.cmp(&self.lowest) {
            Ordering::Less => self.above_lowest,
            Ordering::Greater if task.deadline_rel_ns <= task.period_ns.min(self.deadline_max_ns) => {
                self.as_lowest
            }
            Ordering::Greater | Ordering::Equal => return false,
        };
        asked.cmp(room) == Ordering::Greater
    }
}
