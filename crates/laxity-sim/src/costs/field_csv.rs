//! Costs from the CSV files that the field's tools exchange ([`laxity_model::overheads`] has the formats).

use super::Distribution;
use super::cache_costs::MeasuredDelays;
use laxity_model::overheads::{cache_delays_from_csv, samples_from_csv};
use laxity_model::{Duration, Result};

/// Cache-related delays as functions of the working set's size.
pub(super) fn cache_delays(text: &str) -> Result<MeasuredDelays> {
    let delays = cache_delays_from_csv(text)?;
    Ok(MeasuredDelays { levels: delays.levels.into_iter().collect(), memory: delays.memory })
}

/// Measured values of one cost.
pub(super) fn samples(text: &str) -> Result<Distribution> {
    Distribution::empirical(samples_from_csv(text)?.into_iter().map(Duration::from_ns))
}

#[cfg(test)]
mod tests {
    use super::super::{Cost, Costs};
    use super::*;

    const OVERHEADS: &str = "\
# measured on nothing
TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY
10, 1.5, 2.0004, 3, 4, 5, 6
30, 2.5, 2, 3, 4, .5, 7.25
";

    #[test]
    fn reads_the_fields_overheads() {
        let costs = Costs::from_csv(OVERHEADS).expect("valid");
        let at = |cost: &Cost| [10, 20, 30].map(|n| cost.mean_ns(n));
        assert_eq!(at(&costs.ipi), [1_500, 2_000, 2_500]);
        assert_eq!(at(&costs.scheduling), [2_001; 3], "rounded up, then never less for more tasks");
        assert_eq!(at(&costs.tick), [5_000; 3]);
        assert_eq!(at(&costs.release_latency), [6_000, 6_625, 7_250]);
        assert_eq!((at(&costs.release), at(&costs.context_switch)), ([3_000; 3], [4_000; 3]));
        assert!(
            costs.mailbox.is_zero() && costs.dsp.is_zero() && costs.step.is_zero() && costs.cache.is_none()
        );
        assert_eq!(costs.notes(30), [""; 0]);
        assert!(costs.notes(31)[0].contains("up to 30 tasks; for 31"), "{:?}", costs.notes(31));
    }

    #[test]
    fn reads_the_fields_cache_delays() {
        let delays = cache_delays("WSS,MEM,L1,L2,L3\n4,10,1,2,3\n64,100,10,20,30\n").expect("valid");
        let at = |level, kib: u64| delays.delay(level, kib << 10);
        assert_eq!(
            [None, Some(1), Some(2), Some(3)].map(|level| at(level, 64)),
            [100_000, 10_000, 20_000, 30_000]
        );
        assert_eq!(at(Some(3), 34), 16_500);
        assert_eq!(at(Some(4), 4), 10_000, "farther than what was measured: memory");
        let few = cache_delays("WSS,MEM,L2\n4,10,2\n").expect("valid");
        assert_eq!([Some(1), Some(2), Some(3)].map(|level| few.delay(level, 99)), [2_000, 2_000, 10_000]);
    }

    #[test]
    fn reads_samples_in_either_unit() {
        assert_eq!(samples("us\n1.5\n2\n"), samples("ns\n1500\n2000\n"));
        assert!(samples("ms\n1\n").expect_err("unit").message.contains("`ms`"));
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        let wrong = |text: &str| Costs::from_csv(text).expect_err(text).to_string();
        for (text, part) in [
            ("", "no values"),
            ("TASK-COUNT,CXS\n", "no values"),
            ("TASK-COUNT,CSX\n1,2\n", "`CSX` is not known"),
            ("TASK-COUNT,CXS,CXS\n1,2,3\n", "twice"),
            ("CXS\n2\n", "no column `TASK-COUNT`"),
            ("TASK-COUNT,CXS\n1\n", "line 2: 1 field where the header has 2"),
            ("TASK-COUNT,CXS\n1,-2\n", "line 2, CXS: `-2`"),
            ("TASK-COUNT,CXS\n1,2us\n", "`2us`"),
            ("TASK-COUNT,CXS\n1,1e3\n", "`1e3`"),
            ("TASK-COUNT,CXS\n1,nan\n", "`nan`"),
            ("TASK-COUNT,CXS\n1,\n", "CXS: `` is not"),
            ("TASK-COUNT,CXS\n1,2\n1,3\n", "line 3, TASK-COUNT: `1` is there twice"),
            ("TASK-COUNT,CXS\n1.5,2\n", "`1.5`"),
            ("TASK-COUNT,CXS\n1,1000000001\n", "limit"),
            ("TASK-COUNT,CXS\n1,99999999999999999999\n", "too large"),
        ] {
            let message = wrong(text);
            assert!(message.contains(part) && message.contains("hint:"), "{text}: {message}");
        }
        assert!(cache_delays("WSS,L1\n1,2\n").expect_err("no MEM").message.contains("`MEM`"));
    }
}
