//! The outcomes of the sets of a point that were simulated: exact sums, so that the order of the sets never
//! matters.

use super::metric::{Measure, Metric, Unit};
use crate::engine::Sums;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is known of one set under one curve: nothing if it could not be placed, else a value for every metric.
pub type CurveSet = Option<Vec<Value>>;

/// A set that was simulated under all curves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedSet {
    /// Number of tasks.
    pub tasks: u64,
    /// By curve.
    pub curves: Vec<CurveSet>,
    /// Sums of no sets, by metric.
    pub none: Arc<Vec<Kept>>,
}

/// What a metric is of one set, in the units in which it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number, where it is known.
    Number(Option<i64>),
    /// Jobs by class.
    Histogram(Vec<u64>),
}

/// Sums of one metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kept {
    /// Of numbers.
    Number(Moments),
    /// Of jobs by class.
    Histogram(Vec<u64>),
}

/// Sums of numbers, in the units in which they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moments {
    #[serde(flatten)]
    sums: laxity_trace::Moments,
    least: i64,
    most: i64,
}

impl Moments {
    fn add(&mut self, number: i64) {
        (self.least, self.most) = match self.count() {
            0 => (number, number),
            _ => (self.least.min(number), self.most.max(number)),
        };
        self.sums.add_signed(number);
    }

    fn merge(&mut self, other: &Moments) {
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

impl Value {
    /// What a metric is of a set.
    pub(super) fn of(metric: &Metric, simulated: &super::Simulated) -> Value {
        match metric.measure {
            Measure::Number(unit, of) => Value::Number(of(simulated).map(|number| unit.kept(number))),
            Measure::Histogram(of) => Value::Histogram(of(simulated)),
        }
    }
}

impl Kept {
    /// Of no sets.
    pub(super) fn none(metric: &Metric) -> Kept {
        match metric.measure {
            Measure::Number(..) => Kept::Number(Moments::default()),
            Measure::Histogram(_) => Kept::Histogram(vec![0; Metric::classes().len()]),
        }
    }

    /// Whether it is of this metric.
    pub(super) fn fits(&self, metric: &Metric) -> bool {
        match (self, Kept::none(metric)) {
            (Kept::Number(_), Kept::Number(_)) => true,
            (Kept::Histogram(own), Kept::Histogram(other)) => own.len() == other.len(),
            _ => false,
        }
    }

    fn add(&mut self, value: &Value) {
        match (self, value) {
            (Kept::Number(moments), Value::Number(number)) => {
                number.iter().for_each(|&number| moments.add(number));
            }
            (Kept::Histogram(own), Value::Histogram(more)) => add_each(own, more),
            _ => unreachable!("a metric is one or the other"),
        }
    }

    fn merge(&mut self, other: &Kept) {
        match (self, other) {
            (Kept::Number(own), Kept::Number(more)) => own.merge(more),
            (Kept::Histogram(own), Kept::Histogram(more)) => add_each(own, more),
            _ => unreachable!("a metric is one or the other"),
        }
    }
}

fn add_each(own: &mut [u64], more: &[u64]) {
    own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
}

/// The outcomes of the sets of a point under one curve.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CurveTally {
    /// Sets that could be placed: of these are the metrics.
    pub placed: u64,
    /// By metric.
    pub metrics: Vec<Kept>,
}

/// All sets of a point.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SimulationTally {
    /// Sets.
    pub sets: u64,
    /// The sum of their numbers of tasks.
    pub tasks: u64,
    /// By curve.
    pub curves: Vec<CurveTally>,
}

impl SimulationTally {
    /// The mean of the number of tasks.
    #[expect(clippy::cast_precision_loss, reason = "to be shown")]
    pub fn mean_tasks(&self) -> f64 {
        if self.sets == 0 { 0.0 } else { self.tasks as f64 / self.sets as f64 }
    }
}

impl Sums for SimulationTally {
    type Set = SimulatedSet;

    fn none_like(set: &SimulatedSet) -> Self {
        let curve = CurveTally { placed: 0, metrics: set.none.to_vec() };
        SimulationTally { curves: vec![curve; set.curves.len()], ..SimulationTally::default() }
    }

    fn add(&mut self, set: &SimulatedSet) {
        self.sets += 1;
        self.tasks += set.tasks;
        for (curve, values) in self.curves.iter_mut().zip(&set.curves) {
            let Some(values) = values else { continue };
            curve.placed += 1;
            curve.metrics.iter_mut().zip(values).for_each(|(kept, value)| kept.add(value));
        }
    }

    fn merge(&mut self, other: &SimulationTally) {
        self.sets += other.sets;
        self.tasks += other.tasks;
        for (curve, more) in self.curves.iter_mut().zip(&other.curves) {
            curve.placed += more.placed;
            curve.metrics.iter_mut().zip(&more.metrics).for_each(|(kept, more)| kept.merge(more));
        }
    }

    fn sets(&self) -> u64 {
        self.sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    proptest! {
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
