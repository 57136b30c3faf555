//! What the sets of a point have come to, as exact sums: neither the order of the sets nor how they were divided into units of work
//! shows.

use crate::metric::{Measure, Metric, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fractions of utilization are kept in units of 2^-32.
const ONE_Q32: u64 = 1 << 32;

/// What a metric is of one set, in the units in which it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Whether it holds.
    Holds(bool),
    /// A number, where it is known.
    Number(Option<i64>),
    /// Jobs by class.
    Histogram(Vec<u64>),
}

/// One set under one series.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeriesResult {
    /// A value for every metric; nothing if the set could not be placed, or run.
    pub values: Option<Vec<Value>>,
    /// Why something is not known.
    pub gaps: Gaps,
}

/// One set under the series that were asked about, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetResult {
    /// Number of tasks.
    pub tasks: u64,
    /// U in units of 2^-32, each task's rounded down.
    pub utilization_q32: u64,
    /// By series.
    pub series: Vec<SeriesResult>,
}

/// What is not known of the sets of a point under a series that is run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gaps {
    /// How many sets were not run, by reason.
    pub not_run: BTreeMap<String, u64>,
    /// How many sets were run without that a metric became known, by its name and the reason.
    pub not_measured: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Sums of one metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// Of the sets of which it holds.
    Sets(SetCount),
    /// Of numbers.
    Number(Moments),
    /// Of jobs by class.
    Histogram(Vec<u64>),
}

/// Sets of which something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SetCount {
    /// How many.
    pub sets: u64,
    /// The sum of their U, in units of 2^-32.
    pub utilization_q32: u64,
}

/// Sums of numbers, in the units in which they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moments {
    #[serde(flatten)]
    sums: laxity_trace::Moments,
    least: i64,
    most: i64,
}

/// The sets of a point under one series.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SeriesTally {
    /// Sets.
    pub sets: u64,
    /// The sum of their numbers of tasks.
    pub tasks: u64,
    /// The sum of their U, in units of 2^-32.
    pub utilization_q32: u64,
    /// Sets that could be placed, or run: of these are the metrics.
    pub placed: u64,
    /// By metric.
    pub metrics: Vec<Kept>,
    /// Why something is not known.
    #[serde(default, skip_serializing_if = "Gaps::is_empty")]
    pub gaps: Gaps,
}

/// The sets of a point, by series. Sums of the same point can be merged, whatever sets and series each is of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// In the study's order.
    pub series: Vec<SeriesTally>,
}

impl Tally {
    /// Of no sets yet, under so many series with these metrics.
    pub fn of_none(series: usize, metrics: &[&'static Metric]) -> Tally {
        let metrics = metrics.iter().map(|metric| Kept::none(metric)).collect();
        Tally { series: vec![SeriesTally { metrics, ..SeriesTally::default() }; series] }
    }

    /// Adds a set: its results are those of the series from number `first` on.
    pub fn add(&mut self, first: usize, set: &SetResult) {
        for (own, result) in self.series[first..].iter_mut().zip(&set.series) {
            own.sets += 1;
            own.tasks += set.tasks;
            own.utilization_q32 = own.utilization_q32.saturating_add(set.utilization_q32);
            own.gaps.merge(&result.gaps);
            let Some(values) = &result.values else { continue };
            own.placed += 1;
            own.metrics.iter_mut().zip(values).for_each(|(kept, value)| kept.add(value, set.utilization_q32));
        }
    }

    /// Adds other sets of the same point, or the same sets under other series.
    pub fn merge(&mut self, other: &Tally) {
        self.series.iter_mut().zip(&other.series).for_each(|(own, more)| own.merge(more));
    }

    /// Whether it is of so many sets under every series, with these metrics.
    pub fn is_whole(&self, series: usize, sets: u64, metrics: &[&'static Metric]) -> bool {
        let fits = |own: &SeriesTally| {
            own.metrics.len() == metrics.len()
                && own.metrics.iter().zip(metrics).all(|(kept, metric)| kept.fits(metric) && kept.is_of(own))
        };
        self.series.len() == series
            && self.series.iter().all(|own| own.sets == sets && own.placed <= sets && fits(own))
    }
}

impl SeriesTally {
    fn merge(&mut self, other: &SeriesTally) {
        self.sets += other.sets;
        self.tasks += other.tasks;
        self.utilization_q32 = self.utilization_q32.saturating_add(other.utilization_q32);
        self.placed += other.placed;
        self.metrics.iter_mut().zip(&other.metrics).for_each(|(own, more)| own.merge(more));
        self.gaps.merge(&other.gaps);
    }

    /// The mean of the number of tasks; nothing of no sets.
    pub fn mean_tasks(&self) -> Option<f64> {
        share(self.tasks, self.sets)
    }

    /// The mean of U; nothing of no sets.
    pub fn mean_utilization(&self) -> Option<f64> {
        share(self.utilization_q32, self.sets.saturating_mul(ONE_Q32))
    }

    /// How many sets metric number `metric` holds of; none if it is of another kind.
    pub fn count(&self, metric: usize) -> u64 {
        self.holding(metric).sets
    }

    /// The share of sets that metric number `metric` holds of; nothing of no sets.
    pub fn share(&self, metric: usize) -> Option<f64> {
        share(self.count(metric), self.sets)
    }

    /// The share of the sets' utilization that metric number `metric` holds of; nothing if they have none.
    pub fn weighted(&self, metric: usize) -> Option<f64> {
        share(self.holding(metric).utilization_q32, self.utilization_q32)
    }

    /// The sums of metric number `metric`, if it is a number.
    pub fn moments(&self, metric: usize) -> Option<&Moments> {
        match &self.metrics[metric] {
            Kept::Number(moments) => Some(moments),
            Kept::Sets(_) | Kept::Histogram(_) => None,
        }
    }

    /// The jobs by class of metric number `metric`, if it is a histogram.
    pub fn histogram(&self, metric: usize) -> Option<&[u64]> {
        match &self.metrics[metric] {
            Kept::Histogram(jobs) => Some(jobs),
            Kept::Sets(_) | Kept::Number(_) => None,
        }
    }

    fn holding(&self, metric: usize) -> SetCount {
        match &self.metrics[metric] {
            Kept::Sets(count) => *count,
            Kept::Number(_) | Kept::Histogram(_) => SetCount::default(),
        }
    }
}

/// Weighted schedulability: of the utilization of all sets of these points, the share that metric number `metric` holds of (Bastoni,
/// Brandenburg, Anderson, OSPERT 2010, 6.3: the sum of U over accepted sets by the sum over all). Nothing if it is 0.
pub fn weighted_schedulability<'t>(
    points: impl Iterator<Item = &'t SeriesTally>,
    metric: usize,
) -> Option<f64> {
    let (held, all) = points.fold((0_u128, 0_u128), |(held, all), own| {
        (held + u128::from(own.holding(metric).utilization_q32), all + u128::from(own.utilization_q32))
    });
    #[expect(clippy::cast_precision_loss, reason = "to be shown")]
    let ratio = || held as f64 / all as f64;
    (all > 0).then(ratio)
}

/// To be shown: the sums decide.
#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Kept {
    /// Of no sets.
    pub fn none(metric: &Metric) -> Kept {
        match metric.measure {
            Measure::Sets(_) => Kept::Sets(SetCount::default()),
            Measure::Number(..) => Kept::Number(Moments::default()),
            Measure::Histogram(_) => Kept::Histogram(vec![0; Metric::classes().len()]),
        }
    }

    /// Whether it is of this metric.
    fn fits(&self, metric: &Metric) -> bool {
        match (self, Kept::none(metric)) {
            (Kept::Sets(_), Kept::Sets(_)) | (Kept::Number(_), Kept::Number(_)) => true,
            (Kept::Histogram(own), Kept::Histogram(other)) => own.len() == other.len(),
            (Kept::Sets(_) | Kept::Number(_) | Kept::Histogram(_), _) => false,
        }
    }

    /// Whether it can be of these sets.
    fn is_of(&self, sets: &SeriesTally) -> bool {
        match self {
            Kept::Sets(count) => count.sets <= sets.placed && count.utilization_q32 <= sets.utilization_q32,
            Kept::Number(moments) => moments.count() <= sets.placed && moments.least <= moments.most,
            Kept::Histogram(_) => true,
        }
    }

    fn add(&mut self, value: &Value, utilization_q32: u64) {
        match (self, value) {
            (Kept::Sets(count), Value::Holds(true)) => {
                count.merge(SetCount { sets: 1, utilization_q32 });
            }
            (Kept::Sets(_), Value::Holds(false)) => {}
            (Kept::Number(moments), Value::Number(number)) => {
                number.iter().for_each(|&number| moments.add(number));
            }
            (Kept::Histogram(own), Value::Histogram(more)) => add_each(own, more),
            (Kept::Sets(_) | Kept::Number(_) | Kept::Histogram(_), _) => {
                unreachable!("a metric is of one kind")
            }
        }
    }

    fn merge(&mut self, other: &Kept) {
        match (self, other) {
            (Kept::Sets(own), Kept::Sets(more)) => own.merge(*more),
            (Kept::Number(own), Kept::Number(more)) => own.merge(more),
            (Kept::Histogram(own), Kept::Histogram(more)) => add_each(own, more),
            (Kept::Sets(_) | Kept::Number(_) | Kept::Histogram(_), _) => {
                unreachable!("a metric is of one kind")
            }
        }
    }
}

fn add_each(own: &mut [u64], more: &[u64]) {
    own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
}

impl SetCount {
    fn merge(&mut self, other: SetCount) {
        self.sets += other.sets;
        self.utilization_q32 = self.utilization_q32.saturating_add(other.utilization_q32);
    }
}

impl Moments {
    pub(crate) fn add(&mut self, number: i64) {
        (self.least, self.most) = match self.count() {
            0 => (number, number),
            _ => (self.least.min(number), self.most.max(number)),
        };
        self.sums.add_signed(number);
    }

    pub(crate) fn merge(&mut self, other: &Moments) {
        if other.count() == 0 {
            return;
        }
        (self.least, self.most) = match self.count() {
            0 => (other.least, other.most),
            _ => (self.least.min(other.least), self.most.max(other.most)),
        };
        self.sums.merge(&other.sums);
    }

    /// How many numbers.
    pub fn count(&self) -> u64 {
        self.sums.count()
    }

    /// The mean, to be shown; nothing of no numbers.
    pub fn mean(&self, unit: Unit) -> Option<f64> {
        Some(self.sums.mean()? / unit.resolution())
    }

    /// The sample standard deviation, to be shown; nothing of less than two numbers.
    pub fn sd(&self, unit: Unit) -> Option<f64> {
        Some(self.sums.sd()? / unit.resolution())
    }

    /// The least and the greatest number, to be shown; nothing of no numbers.
    #[expect(clippy::cast_precision_loss, reason = "to be shown")]
    pub fn range(&self, unit: Unit) -> Option<(f64, f64)> {
        let shown = |number: i64| number as f64 / unit.resolution();
        (self.count() > 0).then(|| (shown(self.least), shown(self.most)))
    }
}

impl Gaps {
    /// Whether all is known.
    pub fn is_empty(&self) -> bool {
        self.not_run.is_empty() && self.not_measured.is_empty()
    }

    fn merge(&mut self, other: &Gaps) {
        add_counts(&mut self.not_run, &other.not_run);
        for (metric, reasons) in &other.not_measured {
            add_counts(self.not_measured.entry(metric.clone()).or_default(), reasons);
        }
    }

    /// The reason of most sets why they were not run.
    pub fn why_not_run(&self) -> Option<&str> {
        most(&self.not_run)
    }

    /// The reason of most sets why a metric is not known.
    pub fn why_not_measured(&self, metric: &str) -> Option<&str> {
        most(self.not_measured.get(metric)?)
    }
}

fn add_counts(own: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (reason, count) in more {
        *own.entry(reason.clone()).or_default() += count;
    }
}

/// The first of those that there are most of.
fn most(reasons: &BTreeMap<String, u64>) -> Option<&str> {
    let most = reasons.values().max()?;
    reasons.iter().find(|(_, count)| *count == most).map(|(reason, _)| reason.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Unknown;
    use proptest::prelude::*;

    fn moments(numbers: &[i64]) -> Moments {
        let mut moments = Moments::default();
        numbers.iter().for_each(|&number| moments.add(number));
        moments
    }

    #[test]
    fn mean_and_standard_deviation_by_hand() {
        let ratio = moments(&[500_000_000, 1_000_000_000, 600_000_000]);
        assert!((ratio.mean(Unit::Ratio).expect("three") - 0.7).abs() < 1e-12);
        // ((0.2)^2 + (0.3)^2 + (0.1)^2) / 2 = 0.07
        assert!((ratio.sd(Unit::Ratio).expect("three") - 0.07_f64.sqrt()).abs() < 1e-12);
        assert_eq!(ratio.range(Unit::Ratio), Some((0.5, 1.0)));
        let one = moments(&[7]);
        assert_eq!((one.mean(Unit::Nanoseconds), one.sd(Unit::Nanoseconds)), (Some(7.0), None));
        assert_eq!(
            (Moments::default().mean(Unit::Number), Moments::default().range(Unit::Number)),
            (None, None)
        );
        // Floats of squares would lose it all: the mean is 10^15 times the standard deviation.
        let far = [999_999_999_999_998, 999_999_999_999_999, 1_000_000_000_000_000];
        assert_eq!(moments(&far).sd(Unit::Nanoseconds), Some(1.0));
    }

    const HOLDS: Metric = Metric {
        name: "holds",
        title: "holds",
        description: "holds",
        measure: Measure::Sets(|_| true),
        unknown: Unknown::NotOfRuns,
    };

    /// Two series of one metric: of which of them it holds.
    fn judged(utilization_halves: u64, holds: [bool; 2]) -> SetResult {
        let result = |holds| SeriesResult { values: Some(vec![Value::Holds(holds)]), gaps: Gaps::default() };
        SetResult { tasks: 3, utilization_q32: utilization_halves << 31, series: holds.map(result).to_vec() }
    }

    fn none() -> Tally {
        static METRIC: Metric = HOLDS;
        Tally::of_none(2, &[&METRIC])
    }

    #[test]
    fn shares_are_of_sets_and_of_their_utilization() {
        let sets = [judged(1, [true, false]), judged(3, [true, false]), judged(4, [false, false])];
        let mut tally = none();
        sets.iter().for_each(|set| tally.add(0, set));
        let first = &tally.series[0];
        assert_eq!((first.sets, first.tasks, first.count(0)), (3, 9, 2));
        assert!((first.mean_utilization().expect("sets") - 4.0 / 3.0).abs() < 1e-12);
        assert!((first.share(0).expect("sets") - 2.0 / 3.0).abs() < 1e-12);
        // (1/2 + 3/2) of (1/2 + 3/2 + 2)
        assert_eq!(first.weighted(0), Some(0.5));
        assert_eq!((tally.series[1].count(0), tally.series[1].weighted(0)), (0, Some(0.0)));
        // Of no sets nothing is known: no share is 0.
        let nothing = &none().series[0];
        assert_eq!((nothing.share(0), nothing.weighted(0), nothing.mean_tasks()), (None, None, None));
        assert_eq!(nothing.mean_utilization(), None);
    }

    #[test]
    fn weighted_schedulability_is_over_all_points() {
        let (mut light, mut heavy) = (none(), none());
        light.add(0, &judged(2, [true, false]));
        heavy.add(0, &judged(6, [false, false]));
        let weighted = |series: usize| {
            weighted_schedulability([&light, &heavy].map(|tally| &tally.series[series]).into_iter(), 0)
        };
        assert_eq!((weighted(0), weighted(1)), (Some(0.25), Some(0.0)));
        assert_eq!(weighted_schedulability([&none().series[0]].into_iter(), 0), None);
    }

    laxity_seeds::properties! {
        #[test]
        fn sums_do_not_depend_on_order_and_survive_the_journal(
            numbers in proptest::collection::vec(-1_000_000_000_000_000_i64..=1_000_000_000_000_000, 0..40),
            cut in 0usize..40,
        ) {
            let whole = moments(&numbers);
            let (first, rest) = numbers.split_at(cut.min(numbers.len()));
            let mut merged = moments(rest);
            merged.merge(&moments(first));
            prop_assert_eq!(merged, whole);
            let text = serde_json::to_string(&Kept::Number(whole)).expect("serializes");
            prop_assert_eq!(serde_json::from_str::<Kept>(&text).expect("reads"), Kept::Number(whole));
            if let (Some(mean), Some(sd)) = (whole.mean(Unit::Nanoseconds), whole.sd(Unit::Nanoseconds)) {
                let squares: f64 = numbers.iter().map(|&number| (number as f64 - mean).powi(2)).sum();
                let expected = (squares / (numbers.len() - 1) as f64).sqrt();
                prop_assert!((sd - expected).abs() <= 1e-9 * expected.max(1.0), "{} {}", sd, expected);
            }
        }
    }
}
