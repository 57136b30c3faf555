//! Automotive task sets after the WATERS 2015 benchmark: runnables, summed into one task or more a period.
//!
//! 1. A runnable's period follows the benchmark's shares; angle-synchronous runnables (15 %) are left out, so
//!    the shares are divided by .85.
//! 2. Its average execution time (ACET) follows a Weibull distribution that starts at the table's minimum,
//!    has the table's average as its mean, and is cut at the maximum where 1/1000 of the uncut distribution
//!    lies beyond. The benchmark publishes minimum, average and maximum and names the Weibull; where to cut
//!    it is our choice. The mean is that of the cut distribution, exactly.
//! 3. Its BCET and WCET are the ACET times factors that are uniform in the table's ranges.
//! 4. Times of a runnable are rounded to the nearest ns. A task's WCET is the sum of its runnables', rounded
//!    down when it is scaled to a total utilization.
//! 5. The runnables of one period go into tasks in the order drawn, each into the current task if the task
//!    stays within a utilization limit, else into the next (next-fit).
//!
//! Source: S. Kramer, D. Ziegenbein, A. Hamann, "Real world automotive benchmarks for free", WATERS 2015,
//! tables III, IV and V.

use crate::Decimal;
use crate::draft::{Draft, TASKS_MAX, trim_to};
use crate::generator::{Description, Draw, Generator, Options};
use crate::parameter::{absent, defaults};
use crate::parameters::{Parametric, Reader};
use crate::stream::{Purpose, Stream, floor_u64};
use crate::total::check_count;
use crate::weibull::CutWeibull;
use crate::words::words;
use laxity_model::{Demand, Diagnostic, Duration, Result};

/// The most runnables a set may have.
const RUNNABLES_MAX: u32 = 1_000_000;

/// The runnables of one period in the benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunnableClass {
    /// Period in ms.
    pub period_ms: u64,
    /// Share of all runnables in percent, angle-synchronous ones included.
    pub share_percent: u32,
    /// Least, mean and greatest ACET in us.
    pub acet_us: [f64; 3],
    /// Range of BCET/ACET.
    pub bcet_factor: [f64; 2],
    /// Range of WCET/ACET.
    pub wcet_factor: [f64; 2],
}

const fn class(
    period_ms: u64,
    share_percent: u32,
    acet_us: [f64; 3],
    bcet_factor: [f64; 2],
    wcet_factor: [f64; 2],
) -> RunnableClass {
    RunnableClass { period_ms, share_percent, acet_us, bcet_factor, wcet_factor }
}

/// The benchmark's table without its angle-synchronous row; the shares add up to 85 %.
pub const RUNNABLE_CLASSES: [RunnableClass; 9] = [
    class(1, 3, [0.34, 5.00, 30.11], [0.19, 0.92], [1.30, 29.11]),
    class(2, 2, [0.32, 4.20, 40.69], [0.12, 0.89], [1.54, 19.04]),
    class(5, 2, [0.36, 11.04, 83.38], [0.17, 0.94], [1.13, 18.44]),
    class(10, 25, [0.21, 10.09, 309.87], [0.05, 0.99], [1.06, 30.03]),
    class(20, 25, [0.25, 8.74, 291.42], [0.11, 0.98], [1.06, 15.61]),
    class(50, 3, [0.29, 17.56, 92.98], [0.32, 0.95], [1.13, 7.76]),
    class(100, 20, [0.21, 10.53, 420.43], [0.09, 0.99], [1.02, 8.88]),
    class(200, 1, [0.22, 2.56, 21.95], [0.45, 0.98], [1.03, 4.90]),
    class(1000, 4, [0.37, 0.43, 0.46], [0.68, 0.80], [1.84, 4.75]),
];

/// What the jobs of a task ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WatersDemand {
    /// The demand that the run asks for: the WCET if it asks for none.
    #[default]
    Run,
    /// The sum of the ACETs, as the task's own demand.
    Acet,
}

/// Options of the generator `waters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waters {
    /// Number of runnables; about 100 load one CPU at their WCETs.
    pub runnables: u32,
    /// Total utilization to which all WCETs are scaled; none: as drawn.
    pub utilization: Option<Decimal>,
    /// Runnables of one period share a task up to this utilization. A single runnable above it gets a task
    /// of its own.
    pub task_utilization_max: Decimal,
    /// What the jobs ask for.
    pub demand: WatersDemand,
}

/// One runnable: a function that a task calls in each of its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runnable {
    /// Place of its class in [`RUNNABLE_CLASSES`].
    pub class: usize,
    /// Best-case execution time.
    pub bcet: Duration,
    /// Average execution time.
    pub acet: Duration,
    /// Worst-case execution time.
    pub wcet: Duration,
}

impl Waters {
    /// `runnables` runnables, unscaled, in as few tasks as hold them.
    pub fn new(runnables: u32) -> Self {
        Waters { runnables, utilization: None, task_utilization_max: Decimal::ONE, demand: WatersDemand::Run }
    }

    /// The runnables of set `index` of `seed`, in the order drawn and before any scaling.
    pub fn runnables(&self, seed: u64, index: u64) -> Result<Vec<Runnable>> {
        Ok(self.prepare()?.runnables(seed, index))
    }
}

/// Checked options with the fitted distributions.
#[derive(Debug, Clone)]
pub(crate) struct PreparedWaters {
    options: Waters,
    acets: [CutWeibull; 9],
}

/// A task in the making: runnables of one class.
struct Bin {
    class: usize,
    /// Sum of the scaled WCETs in ns.
    wcet_ns: f64,
    /// Sum of the unscaled WCETs and ACETs in ns.
    unscaled: (u64, u64),
}

impl PreparedWaters {
    fn runnables(&self, seed: u64, index: u64) -> Vec<Runnable> {
        let mut stream = Stream::new(seed, index, Purpose::Runnables);
        (0..self.options.runnables).map(|_| self.runnable(&mut stream)).collect()
    }

    fn runnable(&self, stream: &mut Stream) -> Runnable {
        let shares: u32 = RUNNABLE_CLASSES.iter().map(|class| class.share_percent).sum();
        let mut ticket = stream.below(u64::from(shares));
        let mut class = 0;
        while ticket >= u64::from(RUNNABLE_CLASSES[class].share_percent) {
            ticket -= u64::from(RUNNABLE_CLASSES[class].share_percent);
            class += 1;
        }
        let RunnableClass { bcet_factor, wcet_factor, .. } = RUNNABLE_CLASSES[class];
        let acet_ns = 1e3 * self.acets[class].quantile(stream.unit());
        let mut times = |[low, high]: [f64; 2]| acet_ns * (low + (high - low) * stream.unit());
        let rounded = |ns: f64| Duration::from_ns(floor_u64(ns + 0.5).max(1));
        let (bcet, wcet) = (rounded(times(bcet_factor)), rounded(times(wcet_factor)));
        Runnable { class, bcet, acet: rounded(acet_ns), wcet }
    }

    fn tasks(&self, runnables: &[Runnable]) -> Result<Vec<Draft>> {
        let drawn: f64 = runnables.iter().map(utilization_of).sum();
        let scale = self.options.utilization.map_or(1.0, |total| total.to_f64() / drawn);
        let mut drafts = Vec::new();
        for (class, row) in RUNNABLE_CLASSES.iter().enumerate() {
            let period_ns = Duration::from_ms(row.period_ms).as_ns();
            let limit_ns = self.options.task_utilization_max.to_f64() * period_ns as f64;
            let of_class = runnables.iter().filter(|runnable| runnable.class == class);
            for (part, bin) in packed(class, of_class, scale, limit_ns).iter().enumerate() {
                drafts.push(self.draft(bin, part, period_ns, scale)?);
            }
        }
        Ok(drafts)
    }

    fn draft(&self, bin: &Bin, part: usize, period_ns: u64, scale: f64) -> Result<Draft> {
        let period_ms = RUNNABLE_CLASSES[bin.class].period_ms;
        let name = format!("{period_ms}ms-{}", part + 1);
        let wcet =
            if self.options.utilization.is_none() { bin.unscaled.0 } else { floor_u64(bin.wcet_ns).max(1) };
        if wcet > period_ns {
            return Err(Diagnostic::usage(format!(
                "scaled by {scale:.2}, task `{name}` is one runnable with a wcet of {}, above its period",
                Duration::from_ns(wcet)
            ))
            .hint("ask for more runnables or a lower utilization"));
        }
        let demand = match self.options.demand {
            WatersDemand::Run => None,
            WatersDemand::Acet => Some(Demand::Fraction(share_ppm(bin.unscaled.1, bin.unscaled.0))),
        };
        Ok(Draft { name, wcet_ns: wcet, period_ns, phase_ns: None, demand, memory: None })
    }
}

/// WCET / period of an unscaled runnable.
fn utilization_of(runnable: &Runnable) -> f64 {
    runnable.wcet.as_ns() as f64
        / Duration::from_ms(RUNNABLE_CLASSES[runnable.class].period_ms).as_ns() as f64
}

/// Next-fit of a class's runnables into tasks of at most `limit_ns`.
fn packed<'a>(
    class: usize,
    runnables: impl Iterator<Item = &'a Runnable>,
    scale: f64,
    limit_ns: f64,
) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    for runnable in runnables {
        let (wcet, acet) = (runnable.wcet.as_ns(), runnable.acet.as_ns());
        let wcet_ns = scale * wcet as f64;
        match bins.last_mut() {
            Some(bin) if bin.wcet_ns + wcet_ns <= limit_ns => {
                bin.wcet_ns += wcet_ns;
                bin.unscaled = (bin.unscaled.0 + wcet, bin.unscaled.1 + acet);
            }
            _ => bins.push(Bin { class, wcet_ns, unscaled: (wcet, acet) }),
        }
    }
    bins
}

/// `part / whole` in ppm, rounded up, at least 1.
fn share_ppm(part: u64, whole: u64) -> u32 {
    let ppm = (u128::from(part) * 1_000_000).div_ceil(u128::from(whole));
    u32::try_from(ppm).unwrap_or(u32::MAX).max(1)
}

words! { WatersDemand, "demand of jobs": "run" => WatersDemand::Run, "acet" => WatersDemand::Acet }

/// What it is and takes.
pub(crate) const DESCRIPTION: Description = Description {
    name: "waters",
    summary: "automotive runnables with measured execution times, summed into tasks by period",
    source: "Kramer, Ziegenbein and Hamann, WATERS 2015",
    parameters: &[
        defaults("runnables", "100", "number of runnables; about 100 load one CPU at their WCETs"),
        absent("utilization", "scale all WCETs to this total; left as drawn unless given"),
        defaults("task-utilization-max", "1", "runnables of one period share a task up to this utilization"),
        defaults("demand", "run", "demand of jobs: run (as the run says) | acet (average execution time)"),
    ],
    makes: &[],
    example: "--runnables 300 --demand acet -o engine.toml",
    read: |reader| Waters::read(reader).map(Generator::from),
};

impl Parametric for Waters {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Waters {
            runnables: reader.count("runnables")?,
            utilization: reader.optional("utilization")?,
            task_utilization_max: reader.value("task-utilization-max")?,
            demand: reader.value("demand")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("runnables", self.runnables.to_string()),
            ("task-utilization-max", self.task_utilization_max.to_string()),
            ("demand", self.demand.to_string()),
        ];
        all.extend(self.utilization.map(|utilization| ("utilization", utilization.to_string())));
        all
    }
}

impl Options for Waters {
    type Prepared = PreparedWaters;

    const DESCRIPTION: &'static Description = &DESCRIPTION;

    fn prepare(&self) -> Result<PreparedWaters> {
        check_count("runnables", self.runnables, RUNNABLES_MAX)?;
        if self.utilization == Some(Decimal::ZERO) {
            return Err(Diagnostic::usage("utilization 0 is not positive")
                .hint("give the total utilization of the set, or none to keep the WCETs as drawn"));
        }
        if self.task_utilization_max == Decimal::ZERO || self.task_utilization_max > Decimal::ONE {
            return Err(Diagnostic::usage(format!(
                "task utilization limit {} is not above 0 and at most 1",
                self.task_utilization_max
            ))
            .hint("give the utilization up to which runnables share a task, such as 0.5"));
        }
        let acets = RUNNABLE_CLASSES.map(|class| CutWeibull::with_mean(class.acet_us));
        Ok(PreparedWaters { options: self.clone(), acets })
    }
}

impl Draw for PreparedWaters {
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>> {
        let runnables = self.runnables(seed, index);
        let set = format!("set {index} of seed {seed}");
        let mut drafts = self.tasks(&runnables).map_err(|e| e.context(&set))?;
        if drafts.len() > TASKS_MAX as usize {
            return Err(Diagnostic::usage(format!(
                "{set}: {} tasks; the limit is {TASKS_MAX}",
                drafts.len()
            ))
            .hint("ask for fewer runnables or a higher task utilization limit"));
        }
        if let Some(total) = self.options.utilization {
            trim_to(&mut drafts, total);
        }
        Ok(drafts)
    }
}
