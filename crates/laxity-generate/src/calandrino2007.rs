//! Real-time tasks that enter one after the other, for CPUs of different speeds: calandrino2007, 5.1.
//!
//! 1. Periods are uniform in 2 to 80 ticks of 1 ms, and execution requirements in whole ticks from one to `requirement` times the
//!    period: on the slowest CPU, which may be too slow for them ("twice the task period").
//! 2. WCETs refer to a CPU of speed 1. The slowest has the speed `slowest`, so C = requirement x `slowest`, rounded down to ns.
//! 3. The paper adds a hundred of these and a hundred that are not real-time, 1 to 50 ticks after one another, which takes "about
//!    5,000 timer ticks": so the two kinds take turns, and a task enters, and releases its first job, two such gaps after the one
//!    before it. The others are drawn elsewhere (`laxity_sim::Background`).

use crate::Decimal;
use crate::draft::{Draft, TASKS_MAX};
use crate::generator::{Description, Draw, Generator, Options};
use crate::parameter::defaults;
use crate::parameters::{Parametric, Reader};
use crate::stream::{Purpose, Stream};
use laxity_model::{Diagnostic, Duration, Result};

const TICK: Duration = Duration::from_ms(1);
const PERIOD_TICKS: [u64; 2] = [2, 80];
const GAP_TICKS: [u64; 2] = [1, 50];

/// Options of the generator `calandrino2007`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calandrino2007 {
    /// Number of tasks n; 100 in the paper.
    pub tasks: u32,
    /// The most that a job takes on the slowest CPU, in periods: 2 in the paper's Fig. 3, 0.5 in its Fig. 4.
    pub requirement: Decimal,
    /// Speed of the slowest CPU, relative to one of speed 1.
    pub slowest: Decimal,
}

/// Checked options.
#[derive(Debug, Clone)]
pub(crate) struct PreparedCalandrino2007 {
    options: Calandrino2007,
}

/// A part of a whole, rounded down.
fn part(whole: u64, of_it: Decimal) -> u64 {
    let product = u128::from(whole) * u128::from(of_it.billionths()) / u128::from(Decimal::ONE.billionths());
    u64::try_from(product).expect("at most twice 80 ticks")
}

/// What it is and takes.
pub(crate) const DESCRIPTION: Description = Description {
    name: "calandrino2007",
    summary: "tasks that enter 2 to 100 ms after one another, for fast and slow CPUs; periods of 2 to 80 ms",
    source: "calandrino2007, 5.1",
    parameters: &[
        defaults("tasks", "100", "number of tasks n, up to 100000"),
        defaults(
            "requirement",
            "2",
            "the most that a job takes on the slowest CPU, in periods; whole ms, uniform from 1 ms on (2 and 0.5 in the paper)",
        ),
        defaults("slowest", "0.5", "speed of the slowest CPU; WCETs refer to speed 1"),
    ],
    makes: &[(
        "phases",
        "says when tasks enter",
        "tasks enter 2 to 100 ms after one another (calandrino2007, 5.1)",
    )],
    example: "-n 20 --requirement 0.5",
    read: |reader| Calandrino2007::read(reader).map(Generator::from),
};

impl Parametric for Calandrino2007 {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Calandrino2007 {
            tasks: reader.count("tasks")?,
            requirement: reader.value("requirement")?,
            slowest: reader.value("slowest")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        vec![
            ("tasks", self.tasks.to_string()),
            ("requirement", self.requirement.to_string()),
            ("slowest", self.slowest.to_string()),
        ]
    }
}

impl Options for Calandrino2007 {
    type Prepared = PreparedCalandrino2007;

    const DESCRIPTION: &'static Description = &DESCRIPTION;

    fn prepare(&self) -> Result<PreparedCalandrino2007> {
        if self.tasks == 0 || self.tasks > TASKS_MAX {
            return Err(Diagnostic::usage(format!("{} tasks: a set has 1 to {TASKS_MAX}", self.tasks))
                .hint("the paper has 100 (calandrino2007, 5.1)"));
        }
        let wrong = |why: &str| {
            Err(Diagnostic::usage(format!(
                "requirement {} periods on a CPU of speed {}: {why}",
                self.requirement, self.slowest
            ))
            .hint("the paper has 2 or 0.5 periods on a slowest CPU of speed 0.5 (calandrino2007, 5.1)"))
        };
        let [requirement, slowest, one] =
            [self.requirement, self.slowest, Decimal::ONE].map(|decimal| u128::from(decimal.billionths()));
        if slowest == 0 || slowest > one {
            return wrong("the slowest CPU has a speed above 0 and at most 1");
        }
        if requirement * u128::from(PERIOD_TICKS[0]) < one {
            return wrong("a job takes at least a tick of 1ms, half the shortest period");
        }
        if requirement * slowest > one * one {
            return wrong("a job may take more than its period on a CPU of speed 1");
        }
        Ok(PreparedCalandrino2007 { options: self.clone() })
    }
}

impl Draw for PreparedCalandrino2007 {
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>> {
        let stream = |purpose| Stream::new(seed, index, purpose);
        let [mut entries, mut periods, mut requirements] =
            [Purpose::Members, Purpose::Periods, Purpose::Utilizations].map(stream);
        let mut entry = 0;
        let draft = |id: u32| {
            let mut gap = || entries.within(GAP_TICKS[0], GAP_TICKS[1]);
            entry += gap() + gap();
            let period = periods.within(PERIOD_TICKS[0], PERIOD_TICKS[1]);
            let ticks = requirements.within(1, part(period, self.options.requirement));
            Draft {
                name: format!("t{}", id + 1),
                wcet_ns: part(ticks * TICK.as_ns(), self.options.slowest).max(1),
                period_ns: period * TICK.as_ns(),
                phase_ns: Some(entry * TICK.as_ns()),
                demand: None,
                memory: None,
            }
        };
        Ok((0..self.options.tasks).map(draft).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Parameters, Request};
    use laxity_model::Duration;

    fn request(parameters: &[(&str, &str)]) -> laxity_model::Result<Request> {
        let parameters: Parameters =
            parameters.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let request = Request::from_parameters("calandrino2007", 1, &parameters)?;
        request.prepare()?;
        Ok(request)
    }

    #[test]
    fn ranges_are_met_and_kept() {
        for (requirement, most) in [("2", 2.0), ("0.5", 0.5)] {
            let prepared = request(&[("requirement", requirement)]).expect("valid").prepare().expect("valid");
            let mut highest = 0.0_f64;
            let (mut shortest, mut longest) = (Duration::from_secs(1), Duration::ZERO);
            for index in 0..200 {
                let set = prepared.generate(index).expect("a set");
                assert_eq!(set.tasks().len(), 100);
                let mut before = Duration::ZERO;
                for task in set.tasks() {
                    // What it takes on a core of speed 1/2, in ticks.
                    let ticks = task.wcet.as_ns() * 2;
                    assert!(ticks.is_multiple_of(1_000_000) && ticks > 0, "set {index}: {task:?}");
                    highest = highest.max(ticks as f64 / task.period().as_ns() as f64);
                    shortest = shortest.min(task.period());
                    longest = longest.max(task.period());
                    let gap = task.phase.as_ns() - before.as_ns();
                    assert!((2_000_000..=100_000_000).contains(&gap) && gap.is_multiple_of(1_000_000));
                    before = task.phase;
                }
            }
            assert!(highest <= most && highest > 0.99 * most, "{highest} of {most}");
            assert_eq!((shortest, longest), (Duration::from_ms(2), Duration::from_ms(80)));
        }
    }

    #[test]
    fn what_no_core_could_do_is_refused() {
        for (name, value, why) in [
            ("tasks", "100001", "100000"),
            ("requirement", "2.5", "more than its period"),
            ("requirement", "0.4", "at least a tick"),
            ("slowest", "0", "above 0"),
            ("slowest", "1.5", "at most 1"),
        ] {
            let error = request(&[(name, value)]).expect_err(value);
            assert!(error.message.contains(why), "{name} {value}: {}", error.message);
        }
        assert!(request(&[("requirement", "1"), ("slowest", "1")]).is_ok());
    }
}
