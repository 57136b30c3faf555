//! Task sets of the UNC / LITMUS^RT studies: utilizations and periods drawn independently, task by task.
//!
//! 1. Every task's utilization and period are independent of each other and of the other tasks.
//! 2. Either a given number of tasks is drawn, or tasks are drawn until their exact total exceeds a cap; the
//!    task that exceeds it is dropped, or shortened so that the total is the cap.
//! 3. C = floor(u T) ns, at least 1 ns.
//! 4. With `rescale-above`, WCETs of a set whose total is above that are scaled down to it, none below 5 us: a set that every
//!    scheduler admits, for what depends on how many tasks there are and how often they come, not on how long they run.
//! 5. Exponential utilizations above 1 are drawn again, as SchedCAT does; the mean is then below the nominal
//!    one: .09995, .2313, .3435 for .10, .25, .50.
//!
//! Sources: ackelman2018, 4.2; cerqueira2014, V-A; B. Brandenburg, "Scheduling and Locking in Multiprocessor
//! Real-Time Operating Systems", 2011, chapter 4; names as in SchedCAT.

use crate::draft::{Draft, TASKS_MAX};
use crate::generator::{Description, Draw, Generator, Options};
use crate::parameter::{GRANULARITY, PERIODS_HELP, absent, defaults};
use crate::parameters::{Parametric, Reader};
use crate::periods::{PeriodSampler, Periods};
use crate::stream::{Purpose, Stream};
use crate::words::words;
use crate::{Decimal, total};
use laxity_model::{Diagnostic, Duration, LoadSum, Names, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A distribution of one task's utilization.
///
/// Written `uniform:LOW,HIGH`, `bimodal:LIGHT,HEAVY` (weights) or `exponential:MEAN`, or by name:
/// `uni-light` (.001-.1), `uni-medium` (.1-.4), `uni-heavy` (.5-.9), `bimo-light` (8:1), `bimo-medium` (6:3),
/// `bimo-heavy` (4:5), `exp-light` (.10), `exp-medium` (.25), `exp-heavy` (.50).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Utilizations {
    /// Uniform in [low, high].
    Uniform {
        /// Lowest utilization.
        low: Decimal,
        /// Highest utilization, at most 1.
        high: Decimal,
    },
    /// Uniform in [.001, .5] or in [.5, .9], chosen with these weights.
    Bimodal {
        /// Weight of [.001, .5].
        light: u32,
        /// Weight of [.5, .9].
        heavy: u32,
    },
    /// Exponential with this mean, drawn again while above 1.
    Exponential {
        /// Mean before values above 1 are drawn again; positive, at most 100.
        mean: Decimal,
    },
}

/// The task that takes the total over the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LastTask {
    /// It is not part of the set: the total is at most the cap.
    Drop,
    /// It is shortened: the total is the cap, rounded down to whole ns.
    Squeeze,
}

/// How many tasks a set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UncSize {
    /// This many.
    Tasks(u32),
    /// As many as it takes to exceed a total utilization.
    Cap {
        /// The total utilization.
        utilization: Decimal,
        /// How the task that exceeds it is treated.
        last: LastTask,
    },
}

/// Options of the generator `unc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unc {
    /// Number of tasks, or cap on their total.
    pub size: UncSize,
    /// Distribution of the utilizations.
    pub utilizations: Utilizations,
    /// Distribution of the periods.
    pub periods: Periods,
    /// Periods are multiples of this (1 ms in the studies).
    pub granularity: Duration,
    /// With a number of tasks: where their total is above this, all WCETs are scaled down to it, and none is below 5 us.
    pub rescale_above: Option<Decimal>,
}

const fn uniform(low_thousandths: u32, high_thousandths: u32) -> Utilizations {
    Utilizations::Uniform {
        low: Decimal::from_thousandths(low_thousandths),
        high: Decimal::from_thousandths(high_thousandths),
    }
}

const fn exponential(mean_thousandths: u32) -> Utilizations {
    Utilizations::Exponential { mean: Decimal::from_thousandths(mean_thousandths) }
}

impl Utilizations {
    /// The named distributions.
    pub const NAMED: &[(&'static str, Utilizations)] = &[
        ("uni-light", uniform(1, 100)),
        ("uni-medium", uniform(100, 400)),
        ("uni-heavy", uniform(500, 900)),
        ("bimo-light", Utilizations::Bimodal { light: 8, heavy: 1 }),
        ("bimo-medium", Utilizations::Bimodal { light: 6, heavy: 3 }),
        ("bimo-heavy", Utilizations::Bimodal { light: 4, heavy: 5 }),
        ("exp-light", exponential(100)),
        ("exp-medium", exponential(250)),
        ("exp-heavy", exponential(500)),
    ];

    fn check(&self) -> Result<()> {
        let bad = |why: &str, hint: &str| {
            Err(Diagnostic::usage(format!("utilizations `{self}`: {why}")).hint(hint))
        };
        match *self {
            Utilizations::Uniform { low, high }
                if low > high || high > Decimal::ONE || high == Decimal::ZERO =>
            {
                bad("the range is not within 0 to 1", "write the lower end first, as in `uniform:0.1,0.2`")
            }
            Utilizations::Bimodal { light: 0, heavy: 0 } => {
                bad("both weights are 0", "give at least one range a positive weight, as in `bimodal:8,1`")
            }
            Utilizations::Exponential { mean } if mean == Decimal::ZERO || mean > Decimal::whole(100) => {
                bad("the mean is not above 0 and at most 100", "give a mean such as `exponential:0.25`")
            }
            _ => Ok(()),
        }
    }

    /// One utilization in [0, 1].
    fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Utilizations::Uniform { low, high } => {
                low.to_f64() + (high.to_f64() - low.to_f64()) * stream.unit()
            }
            Utilizations::Bimodal { light, heavy } => {
                if stream.below(u64::from(light) + u64::from(heavy)) < u64::from(light) {
                    0.001 + 0.499 * stream.unit()
                } else {
                    0.5 + 0.4 * stream.unit()
                }
            }
            Utilizations::Exponential { mean } => loop {
                let drawn = mean.to_f64() * stream.exponential();
                if drawn <= 1.0 {
                    break drawn;
                }
            },
        }
    }
}

impl FromStr for Utilizations {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim();
        if let Some((_, named)) = Self::NAMED.iter().find(|(name, _)| *name == wanted) {
            return Ok(*named);
        }
        let bad = || {
            let names: Vec<&str> = Self::NAMED.iter().map(|(name, _)| *name).collect();
            Diagnostic::usage(format!("utilizations `{text}` are not a known distribution")).hint(format!(
                "{}, or write uniform:LOW,HIGH, bimodal:LIGHT,HEAVY (weights) or exponential:MEAN",
                Names::of("utilizations", &names).hint(text)
            ))
        };
        let (shape, arguments) = wanted.split_once(':').ok_or_else(bad)?;
        let pair = || arguments.split_once(',').ok_or_else(bad);
        let weight = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
        match shape {
            "uniform" => pair()
                .and_then(|(low, high)| Ok(Utilizations::Uniform { low: low.parse()?, high: high.parse()? })),
            "bimodal" => pair().and_then(|(light, heavy)| {
                Ok(Utilizations::Bimodal { light: weight(light)?, heavy: weight(heavy)? })
            }),
            "exponential" => Ok(Utilizations::Exponential { mean: arguments.parse()? }),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Utilizations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Utilizations::Uniform { low, high } => write!(f, "uniform:{low},{high}"),
            Utilizations::Bimodal { light, heavy } => write!(f, "bimodal:{light},{heavy}"),
            Utilizations::Exponential { mean } => write!(f, "exponential:{mean}"),
        }
    }
}

words! { LastTask, "rule for the last task": "drop" => LastTask::Drop, "squeeze" => LastTask::Squeeze }

impl Unc {
    /// Integer-millisecond periods, as in the studies.
    pub fn new(size: UncSize, utilizations: Utilizations, periods: Periods) -> Self {
        Unc { size, utilizations, periods, granularity: Duration::from_ms(1), rescale_above: None }
    }
}

/// Checked options.
#[derive(Debug, Clone)]
pub(crate) struct PreparedUnc {
    options: Unc,
    periods: PeriodSampler,
}

/// Draws tasks until their total exceeds `cap`; none if the first one alone does.
fn fill(next_task: &mut impl FnMut(usize) -> Draft, cap: Decimal, last: LastTask) -> Result<Vec<Draft>> {
    let mut load = LoadSum::new();
    let mut drafts: Vec<Draft> = Vec::new();
    loop {
        let mut draft = next_task(drafts.len());
        load.add_ratio(draft.wcet_ns, draft.period_ns);
        if load.cmp_ratio(cap.billionths(), Decimal::ONE.billionths()) == Ordering::Greater {
            load.pop();
            if last == LastTask::Squeeze && squeeze(&mut draft, &mut load, cap) {
                drafts.push(draft);
            }
            break;
        }
        drafts.push(draft);
        if drafts.len() > TASKS_MAX as usize {
            return Err(Diagnostic::usage(format!("utilization {cap} takes more than {TASKS_MAX} tasks"))
                .hint("lower the cap or draw heavier tasks"));
        }
    }
    Ok(drafts)
}

/// Gives the task the largest WCET with which the total is at most `cap`; false if that is none.
fn squeeze(draft: &mut Draft, load: &mut LoadSum, cap: Decimal) -> bool {
    // By bisection on exact comparisons; 0 fits because the load before this task does.
    let (mut fits, mut exceeds) = (0, draft.wcet_ns);
    while exceeds - fits > 1 {
        let middle = fits + (exceeds - fits) / 2;
        load.add_ratio(middle, draft.period_ns);
        match load.cmp_ratio(cap.billionths(), Decimal::ONE.billionths()) {
            Ordering::Greater => exceeds = middle,
            _ => fits = middle,
        }
        load.pop();
    }
    draft.wcet_ns = fits;
    fits > 0
}

/// No WCET of a rescaled set is shorter: SCHED_DEADLINE takes no budget below 1024 ns, and less than this ends before it can be measured.
const RESCALED_WCET_LEAST_NS: u64 = 5_000;

/// Scales all WCETs down to a total of `most`, if theirs is above it. Shares are rounded up and WCETs down: the exact total is not above
/// `most`, but for WCETs that are kept from getting shorter than the least.
fn rescale(drafts: &mut [Draft], most: Decimal) {
    let billionths = |draft: &Draft| {
        let wcet = u128::from(draft.wcet_ns) * u128::from(Decimal::ONE.billionths());
        wcet.div_ceil(u128::from(draft.period_ns))
    };
    let (total, most) = (drafts.iter().map(billionths).sum::<u128>(), u128::from(most.billionths()));
    for draft in drafts {
        if total > most {
            let scaled = u128::from(draft.wcet_ns) * most / total;
            draft.wcet_ns = u64::try_from(scaled).expect("not above the WCET");
        }
        draft.wcet_ns = draft.wcet_ns.max(RESCALED_WCET_LEAST_NS).min(draft.period_ns);
    }
}

/// What it is and takes.
pub(crate) const DESCRIPTION: Description = Description {
    name: "unc",
    summary: "independently drawn utilizations and periods, n tasks or up to a total utilization",
    source: "ackelman2018, 4.2; cerqueira2014, V-A; SchedCAT",
    parameters: &[
        absent("tasks", "number of tasks n, up to 100000; give either this or utilization"),
        absent("utilization", "draw tasks until their total exceeds this"),
        defaults("last", "drop", "with utilization: drop | squeeze the task that exceeds it"),
        defaults(
            "utilizations",
            "uni-medium",
            "distribution of a task's utilization: uni-light (.001-.1) | uni-medium (.1-.4) | uni-heavy (.5-.9) | bimo-light (8:1) | bimo-medium (6:3) | bimo-heavy (4:5) | exp-light (.10) | exp-medium (.25) | exp-heavy (.50) | uniform:LOW,HIGH | bimodal:LIGHT,HEAVY | exponential:MEAN",
        ),
        defaults("periods", "uni-moderate", PERIODS_HELP),
        GRANULARITY,
        absent(
            "rescale-above",
            "with tasks: where their total is above this, all C are scaled down to it, none below 5us",
        ),
    ],
    makes: &[],
    example: "-u 3.2 --utilizations uni-medium --deadlines implicit",
    read: |reader| Unc::read(reader).map(Generator::from),
};

impl Parametric for Unc {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        let size = match (reader.optional_count("tasks")?, reader.optional("utilization")?) {
            (Some(tasks), None) => UncSize::Tasks(tasks),
            (None, Some(utilization)) => UncSize::Cap { utilization, last: reader.value("last")? },
            (None, None) | (Some(_), Some(_)) => {
                return Err(Diagnostic::usage("generator `unc` needs either `tasks` or `utilization`")
                    .hint("give the number of tasks, or the total utilization at which to stop"));
            }
        };
        let rescale_above = reader.optional("rescale-above")?;
        if rescale_above.is_some() && !matches!(size, UncSize::Tasks(_)) {
            return Err(Diagnostic::usage(
                "`rescale-above` is given with `utilization`, which the total is never above",
            )
            .hint("give the number of tasks, or leave `rescale-above` out"));
        }
        Ok(Unc {
            size,
            rescale_above,
            utilizations: reader.value("utilizations")?,
            periods: reader.value("periods")?,
            granularity: reader.value("granularity")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("utilizations", self.utilizations.to_string()),
            ("periods", self.periods.to_string()),
            ("granularity", self.granularity.to_string()),
        ];
        all.extend(self.rescale_above.map(|most| ("rescale-above", most.to_string())));
        match self.size {
            UncSize::Tasks(tasks) => all.push(("tasks", tasks.to_string())),
            UncSize::Cap { utilization, last } => {
                all.push(("utilization", utilization.to_string()));
                all.push(("last", last.to_string()));
            }
        }
        all
    }
}

impl Options for Unc {
    type Prepared = PreparedUnc;

    const DESCRIPTION: &'static Description = &DESCRIPTION;

    fn prepare(&self) -> Result<PreparedUnc> {
        match self.size {
            UncSize::Tasks(tasks) => total::check_count("tasks", tasks, TASKS_MAX)?,
            UncSize::Cap { utilization, .. } if utilization == Decimal::ZERO => {
                return Err(Diagnostic::usage("utilization 0 is not positive")
                    .hint("give the cap on the total utilization, such as 3.2"));
            }
            UncSize::Cap { .. } => {}
        }
        if self.rescale_above == Some(Decimal::ZERO) {
            return Err(Diagnostic::usage("rescale-above 0 leaves nothing of any task")
                .hint("give the most that the tasks ask for together, such as 1.8"));
        }
        self.utilizations.check()?;
        Ok(PreparedUnc { options: self.clone(), periods: self.periods.sampler(self.granularity)? })
    }
}

impl Draw for PreparedUnc {
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>> {
        let mut utilizations = Stream::new(seed, index, Purpose::Utilizations);
        let mut periods = Stream::new(seed, index, Purpose::Periods);
        let mut next_task = |id: usize| {
            let utilization = self.options.utilizations.draw(&mut utilizations);
            Draft::with_utilization(id, utilization, self.periods.draw(&mut periods))
        };
        match self.options.size {
            UncSize::Tasks(tasks) => {
                let mut drafts: Vec<Draft> = (0..tasks as usize).map(next_task).collect();
                if let Some(most) = self.options.rescale_above {
                    rescale(&mut drafts, most);
                }
                Ok(drafts)
            }
            UncSize::Cap { utilization, last } => fill(&mut next_task, utilization, last)
                .map_err(|e| e.context(format!("set {index} of seed {seed}"))),
        }
    }

    fn refuse_empty(&self, seed: u64, index: u64) -> Option<Diagnostic> {
        let refused = match self.options.size {
            UncSize::Tasks(_) => Diagnostic::usage("the set has no tasks"),
            UncSize::Cap { utilization, .. } => Diagnostic::usage(format!(
                "the first task alone exceeds utilization {utilization}: the set is empty"
            )),
        };

        Some(
            refused
                .hint("raise the cap, draw lighter tasks, or squeeze the last task")
                .context(format!("set {index} of seed {seed}")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(text: &str) -> (f64, f64, f64, f64) {
        let utilizations: Utilizations = text.parse().expect("named");
        let mut stream = Stream::new(21, 0, Purpose::Utilizations);
        let count = 400_000;
        let drawn: Vec<f64> = (0..count).map(|_| utilizations.draw(&mut stream)).collect();
        let mean = drawn.iter().sum::<f64>() / f64::from(count);
        let sd = (drawn.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / f64::from(count)).sqrt();
        let [low, high] = [f64::min, f64::max].map(|pick| drawn.iter().copied().reduce(pick).expect("drawn"));
        (mean, sd / f64::from(count).sqrt(), low, high)
    }

    /// Means as published; for the exponentials m - 1/(e^(1/m) - 1), the mean of one truncated at 1.
    #[test]
    fn the_nine_distributions_have_their_means_and_ranges() {
        for (name, mean, low, high) in [
            ("uni-light", 0.0505, 0.001, 0.1),
            ("uni-medium", 0.25, 0.1, 0.4),
            ("uni-heavy", 0.7, 0.5, 0.9),
            ("bimo-light", (8.0 * 0.2505 + 0.7) / 9.0, 0.001, 0.9),
            ("bimo-medium", (6.0 * 0.2505 + 3.0 * 0.7) / 9.0, 0.001, 0.9),
            ("bimo-heavy", (4.0 * 0.2505 + 5.0 * 0.7) / 9.0, 0.001, 0.9),
            ("exp-light", 0.1 - 1.0 / (10f64.exp() - 1.0), 0.0, 1.0),
            ("exp-medium", 0.25 - 1.0 / (4f64.exp() - 1.0), 0.0, 1.0),
            ("exp-heavy", 0.5 - 1.0 / (2f64.exp() - 1.0), 0.0, 1.0),
            ("uniform:0.1,0.2", 0.15, 0.1, 0.2),
        ] {
            let (drawn_mean, sigma, drawn_low, drawn_high) = moments(name);
            assert!((drawn_mean - mean).abs() < 5.0 * sigma, "{name}: {drawn_mean} is not {mean}");
            assert!(drawn_low >= low && drawn_low < low + 0.001, "{name}: lowest {drawn_low}");
            assert!(drawn_high <= high && drawn_high > high - 0.02, "{name}: highest {drawn_high}");
        }
        let published = [("bimo-light", 0.3004), ("bimo-medium", 0.4003), ("bimo-heavy", 0.5002)];
        let redrawn = [("exp-light", 0.09995), ("exp-medium", 0.2313), ("exp-heavy", 0.3435)];
        for (name, mean) in published.into_iter().chain(redrawn) {
            let (drawn_mean, sigma, ..) = moments(name);
            assert!((drawn_mean - mean).abs() < 5.0 * sigma + 0.00006, "{name}: {drawn_mean} is not {mean}");
        }
    }

    #[test]
    fn names_and_arguments_read_and_write() {
        for &(name, utilizations) in Utilizations::NAMED {
            assert_eq!(name.parse(), Ok(utilizations));
            assert_eq!(utilizations.to_string().parse(), Ok(utilizations));
        }
        for text in ["", "uni", "uniform:0.1", "bimodal:0.5,1", "exponential:", "exponential:-1", "gamma:1"] {
            assert!(text.parse::<Utilizations>().is_err(), "{text}");
        }
        for text in [
            "uniform:0.2,0.1",
            "uniform:0.5,1.1",
            "uniform:0,0",
            "bimodal:0,0",
            "exponential:0",
            "exponential:101",
        ] {
            assert!(text.parse::<Utilizations>().expect("reads").check().is_err(), "{text}");
        }
    }
}
