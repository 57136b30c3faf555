//! What is counted of proofs: the only place where these metrics are listed.

use super::SetOutcome;
use crate::metric::{Measure, Metric, Unknown};
use crate::tally::Value;

/// The metrics of schedulability studies.
pub static METRICS_OF_SCHEDULABILITY: &[Metric] = &[
    Metric {
        name: "accepted",
        title: "proven schedulable",
        description: "sets that a test proves; weighted: by their utilization (Bastoni, Brandenburg, Anderson 2010, 6.3)",
        measure: Measure::Sets(|outcome| outcome == SetOutcome::Accepted),
        unknown: Unknown::NotOfRuns,
    },
    Metric {
        name: "out-of-work",
        title: "out of work",
        description: "sets for which the permitted steps of a test were not enough; they are not accepted",
        measure: Measure::Sets(|outcome| outcome == SetOutcome::OutOfWork),
        unknown: Unknown::NotOfRuns,
    },
    Metric {
        name: "not-applicable",
        title: "not applicable",
        description: "sets to which no test applies; they are not accepted",
        measure: Measure::Sets(|outcome| outcome == SetOutcome::NotApplicable),
        unknown: Unknown::NotOfRuns,
    },
];

/// Which of the metrics counts the sets that are proven.
pub const ACCEPTED: usize = 0;
/// Which of them counts those for which the steps were not enough.
pub const OUT_OF_WORK: usize = 1;
/// Which of them counts those to which no test applies.
pub const NOT_APPLICABLE: usize = 2;

/// What is kept of a verdict, by metric.
pub(super) fn values_of(outcome: SetOutcome) -> Vec<Value> {
    let value = |metric: &Metric| match metric.measure {
        Measure::Sets(holds) => Value::Holds(holds(outcome)),
        Measure::Number(..) | Measure::Histogram(_) => unreachable!("`{}` is of simulations", metric.name),
    };
    METRICS_OF_SCHEDULABILITY.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_where_its_number_says() {
        for (at, name) in
            [(ACCEPTED, "accepted"), (OUT_OF_WORK, "out-of-work"), (NOT_APPLICABLE, "not-applicable")]
        {
            assert_eq!(METRICS_OF_SCHEDULABILITY[at].name, name);
        }
    }
}
