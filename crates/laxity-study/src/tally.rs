//! The verdicts on the sets of a point, as sums.

use crate::engine::Sums;
use serde::{Deserialize, Serialize};

/// Fractions of utilization are kept in units of 2^-32.
const ONE_Q32: u64 = 1 << 32;

/// What a curve says of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetOutcome {
    /// Proven.
    Accepted,
    /// Not proven.
    Rejected,
    /// Not proven within the permitted number of steps.
    OutOfWork,
    /// No test applies to such a set.
    NotApplicable,
}

/// A set that was judged under all series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Number of tasks.
    pub tasks: u64,
    /// U in units of 2^-32, each task's rounded down.
    pub utilization_q32: u64,
    /// One for each series, in the study's order.
    pub outcomes: Vec<SetOutcome>,
}

/// Counts of one series at one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Count {
    /// Sets that were proven.
    pub accepted: u64,
    /// Sets for which the permitted number of steps was not enough; they are not accepted.
    pub out_of_work: u64,
    /// Sets to which no test applies; they are not accepted.
    pub not_applicable: u64,
    /// The sum of U of the accepted sets, in units of 2^-32.
    pub accepted_q32: u64,
}

/// All sets of a point: sums, which do not depend on the order in which sets were judged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Sets.
    pub sets: u64,
    /// The sum of their numbers of tasks.
    pub tasks: u64,
    /// The sum of their U, in units of 2^-32.
    pub utilization_q32: u64,
    /// One for each series, in the study's order.
    pub counts: Vec<Count>,
}

impl Tally {
    /// Of no sets yet, under so many series.
    pub fn new(series: usize) -> Self {
        Tally { counts: vec![Count::default(); series], ..Tally::default() }
    }

    /// The mean of U.
    pub fn mean_utilization(&self) -> f64 {
        share(self.utilization_q32, self.sets.saturating_mul(ONE_Q32))
    }

    /// The mean of the number of tasks.
    pub fn mean_tasks(&self) -> f64 {
        share(self.tasks, self.sets)
    }

    /// The share of sets that a series accepts.
    pub fn acceptance(&self, series: usize) -> f64 {
        share(self.counts[series].accepted, self.sets)
    }

    /// The share of the sets' utilization that a series accepts; nothing if they have none.
    pub fn weighted(&self, series: usize) -> Option<f64> {
        (self.utilization_q32 > 0).then(|| share(self.counts[series].accepted_q32, self.utilization_q32))
    }
}

impl Sums for Tally {
    type Set = Judged;

    fn none_like(set: &Judged) -> Self {
        Tally::new(set.outcomes.len())
    }

    fn add(&mut self, set: &Judged) {
        self.sets += 1;
        self.tasks += set.tasks;
        self.utilization_q32 += set.utilization_q32;
        for (count, outcome) in self.counts.iter_mut().zip(&set.outcomes) {
            match outcome {
                SetOutcome::Accepted => {
                    count.accepted += 1;
                    count.accepted_q32 += set.utilization_q32;
                }
                SetOutcome::Rejected => {}
                SetOutcome::OutOfWork => count.out_of_work += 1,
                SetOutcome::NotApplicable => count.not_applicable += 1,
            }
        }
    }

    fn merge(&mut self, other: &Tally) {
        self.sets += other.sets;
        self.tasks += other.tasks;
        self.utilization_q32 += other.utilization_q32;
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            count.accepted += more.accepted;
            count.out_of_work += more.out_of_work;
            count.not_applicable += more.not_applicable;
            count.accepted_q32 += more.accepted_q32;
        }
    }

    fn sets(&self) -> u64 {
        self.sets
    }
}

/// To be shown: the counts decide.
#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Weighted schedulability: of the utilization of all sets of these points, the share that a series accepts (Bastoni,
/// Brandenburg, Anderson, OSPERT 2010, 6.3: the sum of U over accepted sets by the sum over all). Nothing if it is 0.
pub fn weighted_schedulability<'t>(points: impl Iterator<Item = &'t Tally>, series: usize) -> Option<f64> {
    let (accepted, all) = points.fold((0_u128, 0_u128), |(accepted, all), tally| {
        (accepted + u128::from(tally.counts[series].accepted_q32), all + u128::from(tally.utilization_q32))
    });
    #[expect(clippy::cast_precision_loss, reason = "to be shown")]
    let ratio = || accepted as f64 / all as f64;
    (all > 0).then(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(utilization_halves: u64, outcomes: [SetOutcome; 2]) -> Judged {
        Judged { tasks: 3, utilization_q32: utilization_halves << 31, outcomes: outcomes.to_vec() }
    }

    #[test]
    fn sums_do_not_depend_on_order() {
        use SetOutcome::{Accepted, NotApplicable, OutOfWork, Rejected};
        let sets = [
            judged(1, [Accepted, Rejected]),
            judged(3, [Accepted, OutOfWork]),
            judged(4, [Rejected, NotApplicable]),
        ];
        let mut forward = Tally::new(2);
        sets.iter().for_each(|set| forward.add(set));
        let (mut first, mut rest) = (Tally::new(2), Tally::new(2));
        first.add(&sets[2]);
        sets[..2].iter().for_each(|set| rest.add(set));
        first.merge(&rest);
        assert_eq!(forward, first);
        assert_eq!((forward.sets, forward.tasks), (3, 9));
        assert!((forward.mean_utilization() - 4.0 / 3.0).abs() < 1e-12);
        assert!((forward.acceptance(0) - 2.0 / 3.0).abs() < 1e-12);
        // (1/2 + 3/2) of (1/2 + 3/2 + 2)
        assert_eq!(forward.weighted(0), Some(0.5));
        let second = forward.counts[1];
        assert_eq!((second.accepted, second.out_of_work, second.not_applicable), (0, 1, 1));
    }

    #[test]
    fn weighted_schedulability_is_over_all_points() {
        let mut light = Tally::new(2);
        light.add(&judged(2, [SetOutcome::Accepted, SetOutcome::Rejected]));
        let mut heavy = Tally::new(2);
        heavy.add(&judged(6, [SetOutcome::Rejected, SetOutcome::Rejected]));
        assert_eq!(weighted_schedulability([&light, &heavy].into_iter(), 0), Some(0.25));
        assert_eq!(weighted_schedulability([&light, &heavy].into_iter(), 1), Some(0.0));
        assert_eq!(weighted_schedulability([&Tally::new(2)].into_iter(), 0), None);
        assert_eq!(Tally::new(2).weighted(0), None);
    }
}
