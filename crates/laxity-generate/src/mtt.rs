//! Multi-threaded tasks (MTTs) whose members share a working set: lindsay2012, 6.1.3 and Table 6.1.
//!
//! 1. MTTs are drawn one after the other. The first whose tasks would take the exact total above the cap is discarded
//!    with all its tasks, and the set is complete: the total is "not a precise value, but instead a close upper bound".
//! 2. The number of tasks, the utilization of a task and its period are uniform in the table's ranges. Utilization and
//!    period are drawn once for an MTT or for each of its tasks, as the table says.
//! 3. Periods are multiples of the granularity. The paper does not say of what: 1 ms unless told otherwise.
//! 4. C = floor(u T) ns, at least 1 ns. D = T unless the options of all generators say otherwise (the paper: D = T).
//! 5. An MTT has one working set, of which each of its tasks walks all. Its size is uniform in whole KiB (the table's kB),
//!    or (e / 3 ms) 128 KiB of the tasks' execution time e, rounded down to whole lines of 64 B.
//! 6. With a `shared` part below 1 (8.3) each task shares that much of its working set, rounded down to lines, at least
//!    one, and the rest is its own. An MTT of one task is no group: it shares its memory with no other task.
//!
//! Tasks are named `m2.1`, `m2.2` ... and their group `m2`.
//!
//! Source: A. Lindsay, "LWFG: a cache-aware multi-core real-time scheduling algorithm", Virginia Tech, 2012; MLU and MMU
//! after J. Calandrino and J. Anderson, "On the design and implementation of a cache-aware multicore
//! real-time scheduler", ECRTS 2009.

use crate::Decimal;
use crate::draft::{Draft, Memory, TASKS_MAX};
use crate::generator::{Description, Draw, Generator, Options};
use crate::parameter::{GRANULARITY, defaults, required};
use crate::parameters::{Parametric, Reader};
use crate::periods::{PeriodSampler, PeriodShape, Periods};
use crate::stream::{Purpose, Stream};
use laxity_model::{Diagnostic, Duration, Group, LoadSum, Names, Result};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A cache line, in bytes (lindsay2012, 6.1.2).
const LINE_BYTES: u64 = 64;

const KIB: u64 = 1 << 10;

/// How often a parameter is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DrawnFor {
    /// Once: all tasks of an MTT have the same.
    Mtt,
    /// For every task.
    Task,
}

/// The size of an MTT's working set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MttWorkingSet {
    /// 128 KiB for every 3 ms of execution time.
    OfExecutionTime,
    /// Uniform in whole KiB, both ends included.
    Kib {
        /// The least.
        min: u64,
        /// The greatest.
        max: u64,
    },
}

/// A row of Table 6.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MttDistribution {
    /// Its name, in lower case.
    pub name: &'static str,
    /// Least and greatest number of tasks in an MTT.
    pub tasks: [u64; 2],
    /// Least and greatest utilization of a task.
    pub utilization: [Decimal; 2],
    /// Whether the tasks of an MTT have one utilization.
    pub utilization_for: DrawnFor,
    /// Shortest and longest period, in ms.
    pub period_ms: [u64; 2],
    /// Whether the tasks of an MTT have one period.
    pub period_for: DrawnFor,
    /// The size of an MTT's working set.
    pub working_set: MttWorkingSet,
}

const SMALL: MttWorkingSet = MttWorkingSet::Kib { min: 64, max: 512 };
const LARGE: MttWorkingSet = MttWorkingSet::Kib { min: 4_096, max: 8_192 };

/// After Calandrino and Anderson: utilizations up to `utilization_max` thousandths.
const fn borrowed(name: &'static str, utilization: [u32; 2]) -> MttDistribution {
    let [low, high] = utilization;
    MttDistribution {
        name,
        tasks: [1, 4],
        utilization: [Decimal::from_thousandths(low), Decimal::from_thousandths(high)],
        utilization_for: DrawnFor::Mtt,
        period_ms: [24, 240],
        period_for: DrawnFor::Mtt,
        working_set: MttWorkingSet::OfExecutionTime,
    }
}

const fn own(
    name: &'static str,
    utilization_for: DrawnFor,
    period_for: DrawnFor,
    working_set: MttWorkingSet,
) -> MttDistribution {
    MttDistribution {
        name,
        tasks: [1, 8],
        utilization: [Decimal::from_thousandths(100), Decimal::from_thousandths(400)],
        utilization_for,
        period_ms: [10, 250],
        period_for,
        working_set,
    }
}

impl MttDistribution {
    /// Table 6.1.
    pub const ALL: [MttDistribution; 8] = [
        borrowed("mlu", [10, 100]),
        borrowed("mmu", [100, 400]),
        own("mwl", DrawnFor::Mtt, DrawnFor::Mtt, SMALL),
        own("mwh", DrawnFor::Mtt, DrawnFor::Mtt, LARGE),
        own("mwlp", DrawnFor::Task, DrawnFor::Mtt, SMALL),
        own("mwhp", DrawnFor::Task, DrawnFor::Mtt, LARGE),
        own("mwlu", DrawnFor::Mtt, DrawnFor::Task, SMALL),
        own("mwhu", DrawnFor::Mtt, DrawnFor::Task, LARGE),
    ];
}

impl FromStr for MttDistribution {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .find(|one| one.name == wanted)
            .ok_or_else(|| Names::of("MTT distribution", &Self::ALL.map(|one| one.name)).unknown(text))
    }
}

impl fmt::Display for MttDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// Options of the generator `mtt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mtt {
    /// Which row of Table 6.1.
    pub distribution: MttDistribution,
    /// The cap on the total utilization; 6, 12 ... 48 in the paper.
    pub utilization: Decimal,
    /// Periods are multiples of this; it must divide both ends of the distribution's range.
    pub granularity: Duration,
    /// How much of its working set a task shares with its MTT, in (0, 1].
    pub shared: Decimal,
}

impl Mtt {
    /// Whole working sets are shared, periods in whole milliseconds.
    pub fn new(distribution: MttDistribution, utilization: Decimal) -> Self {
        Mtt { distribution, utilization, granularity: Duration::from_ms(1), shared: Decimal::ONE }
    }
}

/// Checked options.
#[derive(Debug, Clone)]
pub(crate) struct PreparedMtt {
    options: Mtt,
    periods: PeriodSampler,
}

/// The streams of one set.
struct Streams {
    tasks: Stream,
    utilizations: Stream,
    periods: Stream,
    sizes: Stream,
}

impl PreparedMtt {
    fn mtt(&self, number: u64, streams: &mut Streams) -> Vec<Draft> {
        let row = &self.options.distribution;
        let [least, most] = row.tasks;
        let count = streams.tasks.within(least, most);
        let [low, high] = row.utilization.map(Decimal::to_f64);
        let mut times: Vec<(u64, u64)> = Vec::new();
        let (mut utilization, mut period) = (0.0, 0);
        for place in 0..count {
            if place == 0 || row.utilization_for == DrawnFor::Task {
                utilization = low + (high - low) * streams.utilizations.unit();
            }
            if place == 0 || row.period_for == DrawnFor::Task {
                period = self.periods.draw(&mut streams.periods);
            }
            let Draft { wcet_ns: wcet, .. } = Draft::with_utilization(0, utilization, period);
            times.push((wcet, period));
        }
        let size = match row.working_set {
            MttWorkingSet::Kib { min, max } => KIB * streams.sizes.within(min, max),
            MttWorkingSet::OfExecutionTime => of_execution_time(times[0].0),
        };
        let memory = self.memory(number, count, size);
        let draft = |(place, (wcet, period)): (u64, (u64, u64))| Draft {
            name: format!("m{number}.{place}"),
            wcet_ns: wcet,
            period_ns: period,
            demand: None,
            phase_ns: None,
            memory: Some(memory.clone()),
        };
        (1..).zip(times).map(draft).collect()
    }

    /// What each task of an MTT of `count` tasks walks.
    fn memory(&self, number: u64, count: u64, size_bytes: u64) -> Memory {
        let shared = self.options.shared.floor_of(size_bytes).expect("a part of a u64");
        let shared_bytes = if shared == size_bytes { shared } else { lines(shared) };
        let group = (count > 1).then(|| Group { name: format!("m{number}"), shared_bytes });
        Memory { size_bytes, group }
    }
}

/// 128 KiB for every 3 ms, in whole lines.
fn of_execution_time(wcet_ns: u64) -> u64 {
    let bytes = u128::from(wcet_ns) * u128::from(128 * KIB) / 3_000_000;
    lines(u64::try_from(bytes).expect("a period of at most 240 ms"))
}

/// Rounded down to whole lines, at least one.
fn lines(bytes: u64) -> u64 {
    (bytes / LINE_BYTES).max(1) * LINE_BYTES
}

/// What it is and takes.
pub(crate) const DESCRIPTION: Description = Description {
    name: "mtt",
    summary: "multi-threaded tasks whose members share a working set, up to a total utilization",
    source: "lindsay2012, 6.1.3 and Table 6.1 (whose tasks increment, which writes every line: --read-write 0:1)",
    parameters: &[
        required(
            "distribution",
            "tasks per MTT, their utilization and period, and the MTT's working set: mlu (1-4, .01-.1, 24-240ms, 128KiB per 3ms) | mmu (1-4, .1-.4, 24-240ms, 128KiB per 3ms) | mwl (1-8, .1-.4, 10-250ms, 64-512KiB) | mwh (the same, 4-8MiB) | mwlp mwhp (utilization drawn for each task) | mwlu mwhu (period drawn for each task)",
        ),
        required(
            "utilization",
            "draw MTTs until their total exceeds this; the last is dropped (6 ... 48 in the paper)",
        ),
        GRANULARITY,
        defaults(
            "shared",
            "1",
            "share of its working set that each task shares with its MTT, above 0 and at most 1; the rest is its own",
        ),
    ],
    makes: &[(
        "wss",
        "draws the working sets itself",
        "the distribution says how large working sets are (lindsay2012, Table 6.1)",
    )],
    example: "--distribution mmu -u 6 --access random",
    read: |reader| Mtt::read(reader).map(Generator::from),
};

impl Parametric for Mtt {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Mtt {
            distribution: reader.value("distribution")?,
            utilization: reader.value("utilization")?,
            granularity: reader.value("granularity")?,
            shared: reader.value("shared")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        vec![
            ("distribution", self.distribution.to_string()),
            ("utilization", self.utilization.to_string()),
            ("granularity", self.granularity.to_string()),
            ("shared", self.shared.to_string()),
        ]
    }
}

impl Options for Mtt {
    type Prepared = PreparedMtt;

    const DESCRIPTION: &'static Description = &DESCRIPTION;

    fn prepare(&self) -> Result<PreparedMtt> {
        if self.utilization == Decimal::ZERO {
            return Err(Diagnostic::usage("utilization 0 is not positive")
                .hint("give the cap on the total utilization, such as 24"));
        }
        if self.shared == Decimal::ZERO || self.shared > Decimal::ONE {
            return Err(Diagnostic::usage(format!(
                "shared part {} is not above 0 and at most 1",
                self.shared
            ))
            .hint("give the share of each working set that an MTT shares, such as 0.5"));
        }
        let [min, max] = self.distribution.period_ms.map(Duration::from_ms);
        let periods = Periods { shape: PeriodShape::Uniform, min, max };
        Ok(PreparedMtt { options: self.clone(), periods: periods.sampler(self.granularity)? })
    }
}

impl Draw for PreparedMtt {
    fn draw(&self, seed: u64, index: u64) -> Result<Vec<Draft>> {
        let stream = |purpose| Stream::new(seed, index, purpose);
        let mut streams = Streams {
            tasks: stream(Purpose::Members),
            utilizations: stream(Purpose::Utilizations),
            periods: stream(Purpose::Periods),
            sizes: stream(Purpose::WorkingSets),
        };
        let cap = self.options.utilization;
        let mut load = LoadSum::new();
        let mut drafts: Vec<Draft> = Vec::new();
        for number in 1u64.. {
            let mtt = self.mtt(number, &mut streams);
            mtt.iter().for_each(|draft| load.add_ratio(draft.wcet_ns, draft.period_ns));
            if load.cmp_ratio(cap.billionths(), Decimal::ONE.billionths()) == Ordering::Greater {
                break;
            }
            drafts.extend(mtt);
            if drafts.len() > TASKS_MAX as usize {
                return Err(Diagnostic::usage(format!(
                    "utilization {cap} takes more than {TASKS_MAX} tasks"
                ))
                .hint("lower the cap or choose a distribution of heavier tasks")
                .context(format!("set {index} of seed {seed}")));
            }
        }
        Ok(drafts)
    }

    fn refuse_empty(&self, seed: u64, index: u64) -> Option<Diagnostic> {
        let Mtt { utilization, distribution, .. } = &self.options;

        Some(Diagnostic::usage(format!(
            "the first multi-threaded task of {distribution} alone exceeds utilization {utilization}: the set is empty"
        ))
        .hint("raise the cap, or choose a distribution of lighter tasks such as mlu")
        .context(format!("set {index} of seed {seed}")))
    }
}
