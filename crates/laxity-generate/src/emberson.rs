//! Task sets after Emberson, Stafford and Davis, and lelli2012's rescaling of them.
//!
//! 1. Utilizations are uniform on {0 <= u_i <= 1, sum u_i = U} (RandFixedSum).
//! 2. Periods are independent of them (see [`Periods`]).
//! 3. C = floor(u T) ns, at least 1 ns. The exact total never exceeds U (short of the 1 ns floor) and falls
//!    short of it by less than 1 ns / T a task.
//!
//! Source: P. Emberson, R. Stafford, R. I. Davis, WATERS 2010; rescaling: lelli2012, 5.3.

use crate::draft::{Draft, trim_to};
use crate::fixed_sum::FixedSum;
use crate::generator::{Description, Draw, Generator, Options};
use crate::parameter::{GRANULARITY, PERIODS, TASKS, UTILIZATION, absent};
use crate::parameters::{Parametric, Reader};
use crate::periods::{PeriodSampler, Periods};
use crate::stream::{Purpose, Stream};
use crate::{Decimal, total};
use laxity_model::{Diagnostic, Duration, Result};

/// Options of the generator `emberson`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emberson {
    /// Number of tasks n.
    pub tasks: u32,
    /// Total utilization U, `0 < U <= n`.
    pub utilization: Decimal,
    /// Distribution of the periods.
    pub periods: Periods,
    /// Periods are multiples of this.
    pub granularity: Duration,
    /// lelli2012's rescaling, if wanted.
    pub rescale: Option<Rescale>,
}

/// lelli2012, 5.3: every C at least `wcet_min`, every utilization at most U/m, so that a set can be
/// partitioned in a balanced way.
///
/// The paper draws for a total of m, rescales to `U - Cmin/Tmin`, and adds Cmin to every C. Taken literally
/// the total is then `U + sum(Cmin/T_i) - Cmin/Tmin`, above U for most sets (by 0.011 for 8 tasks), and a task
/// can exceed U/m by Cmin/T. What the text requires is: C at least Cmin, no task above U/m, total U. This
/// keeps the requirements: with v drawn for a total of m and `l_i = Cmin/T_i`,
///
/// `u_i = l_i + f v_i (U/m - l_i)`, where `f = (U - sum l_j) / (U - sum v_j l_j) <= 1`.
///
/// Then `l_i <= u_i <= U/m` and the u_i sum to U exactly; as Cmin goes to 0 it is the paper's `v_i U/m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rescale {
    /// Number of CPUs m; U/m is the cap of a task's utilization.
    pub cores: u32,
    /// Cmin (50 us in the paper).
    pub wcet_min: Duration,
}

impl Emberson {
    /// `tasks` tasks of total `utilization`; periods log-uniform in 10-100 ms on a grid of 1 ms.
    pub fn new(tasks: u32, utilization: Decimal) -> Self {
        let (periods, granularity) = (Periods::default(), Duration::from_ms(1));
        Emberson { tasks, utilization, periods, granularity, rescale: None }
    }

    fn check_rescale(&self, Rescale { cores, wcet_min }: Rescale) -> Result<()> {
        total::check_count("cores", cores, self.tasks)?;
        if self.utilization > Decimal::whole(cores) {
            return Err(Diagnostic::usage(format!(
                "utilization {} exceeds the {cores} CPUs that the set is rescaled for",
                self.utilization
            ))
            .hint("lower the utilization or raise the CPUs"));
        }
        // With n >= m this also keeps Cmin/T below the cap U/m of every task.
        let least =
            u128::from(wcet_min.as_ns()) * u128::from(self.tasks) * u128::from(Decimal::ONE.billionths());
        let most = u128::from(self.utilization.billionths()) * u128::from(self.periods.min.as_ns());
        if least >= most {
            return Err(Diagnostic::usage(format!(
                "{} tasks with a wcet of at least {wcet_min} and periods from {} may need more than utilization {}",
                self.tasks, self.periods.min, self.utilization
            ))
            .hint("lower the least wcet or lengthen the shortest period"));
        }
        Ok(())
    }
}

/// Checked options with RandFixedSum's table.
#[derive(Debug, Clone)]
pub(crate) struct PreparedEmberson {
    options: Emberson,
    periods: PeriodSampler,
    sums: FixedSum,
}

fn rescaled(numbers: &mut [f64], periods: &[u64], total: f64, Rescale { cores, wcet_min }: Rescale) {
    let cap = total / f64::from(cores);
    let floors: Vec<f64> = periods.iter().map(|&period| wcet_min.as_ns() as f64 / period as f64).collect();
    let floor_sum: f64 = floors.iter().sum();
    let weighted_sum: f64 = floors.iter().zip(numbers.iter()).map(|(floor, v)| floor * v).sum();
    let shrink = (total - floor_sum) / (total - weighted_sum);
    for (number, floor) in numbers.iter_mut().zip(floors) {
        *number = floor + shrink * *number * (cap - floor);
    }
}

/// Cmin of lelli2012, 5.3.
const RESCALE_WCET_MIN: Duration = Duration::from_us(50);

/// What it is and takes.
pub(crate) const DESCRIPTION: Description = Description {
    name: "emberson",
    summary: "n tasks of total utilization U, uniform over all such sets (RandFixedSum)",
    source: "Emberson, Stafford and Davis, WATERS 2010; rescaling: lelli2012, 5.3",
    parameters: &[
        TASKS,
        UTILIZATION,
        PERIODS,
        GRANULARITY,
        absent(
            "rescale-cores",
            "rescale for m CPUs as in lelli2012: no task above U/m, every C at least rescale-wcet-min",
        ),
        absent("rescale-wcet-min", "least C of a rescaled set; 50us unless given"),
    ],
    makes: &[],
    example: "-n 8 -u 1.6 -o generated.toml",
    read: |reader| Emberson::read(reader).map(Generator::from),
};

impl Parametric for Emberson {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        let wcet_min = reader.optional("rescale-wcet-min")?;
        let rescale = match (reader.optional_count("rescale-cores")?, wcet_min) {
            (Some(cores), wcet_min) => {
                Some(Rescale { cores, wcet_min: wcet_min.unwrap_or(RESCALE_WCET_MIN) })
            }
            (None, None) => None,
            (None, Some(_)) => {
                return Err(Diagnostic::usage("`rescale-wcet-min` is given without `rescale-cores`")
                    .hint("give the number of CPUs to rescale for"));
            }
        };
        Ok(Emberson {
            tasks: reader.count("tasks")?,
            utilization: reader.value("utilization")?,
            periods: reader.value("periods")?,
            granularity: reader.value("granularity")?,
            rescale,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("tasks", self.tasks.to_string()),
            ("utilization", self.utilization.to_string()),
            ("periods", self.periods.to_string()),
            ("granularity", self.granularity.to_string()),
        ];
        if let Some(Rescale { cores, wcet_min }) = self.rescale {
            all.push(("rescale-cores", cores.to_string()));
            all.push(("rescale-wcet-min", wcet_min.to_string()));
        }
        all
    }
}

impl Options for Emberson {
    type Prepared = PreparedEmberson;

    const DESCRIPTION: &'static Description = &DESCRIPTION;

    fn prepare(&self) -> Result<PreparedEmberson> {
        total::check(self.tasks, self.utilization)?;
        let periods = self.periods.sampler(self.granularity)?;
        if let Some(rescale) = self.rescale {
            self.check_rescale(rescale)?;
        }
        let drawn_total = self.rescale.map_or(self.utilization, |rescale| Decimal::whole(rescale.cores));
        let sums = FixedSum::new(self.tasks as usize, drawn_total.to_f64());
        Ok(PreparedEmberson { options: self.clone(), periods, sums })
    }
}

impl Draw for PreparedEmberson {
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>> {
        let mut utilizations = self.sums.draw(&mut Stream::new(seed, index, Purpose::Utilizations));
        let mut stream = Stream::new(seed, index, Purpose::Periods);
        let periods: Vec<u64> = utilizations.iter().map(|_| self.periods.draw(&mut stream)).collect();
        let wcet_min = self.options.rescale.map_or(1, |rescale| {
            rescaled(&mut utilizations, &periods, self.options.utilization.to_f64(), rescale);
            rescale.wcet_min.as_ns()
        });
        let tasks = utilizations.iter().zip(&periods).enumerate();
        let mut drafts: Vec<Draft> =
            tasks.map(|(id, (&u, &period))| Draft::with_utilization(id, u, period)).collect();
        // floor(u T) may be Cmin - 1 where u T is Cmin
        drafts.iter_mut().for_each(|draft| draft.wcet_ns = draft.wcet_ns.max(wcet_min));
        trim_to(&mut drafts, self.options.utilization);
        Ok(drafts)
    }
}
