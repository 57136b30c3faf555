//! Options that every generator has: deadlines, phases, arrivals and memory.
//!
//! Each draws from a stream of its own, so that none changes what another draws.

use crate::Decimal;
use crate::draft::Draft;
use crate::stream::{Purpose, Stream};
use crate::words::words;
use laxity_model::{
    AccessPattern, Arrival, ByteSize, Diagnostic, Duration, Result, Task, WorkingSet, closest,
};
use std::fmt;
use std::str::FromStr;

/// The largest D/T.
const DEADLINE_FACTOR_MAX: Decimal = Decimal::whole(100);

/// How relative deadlines are chosen; C <= D always holds. All bounds are rounded down to whole ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Deadlines {
    /// D = T. Written `implicit`.
    #[default]
    Implicit,
    /// D uniform in [C + x (T - C), T], x in [0, 1]. Written `constrained:X`.
    Constrained(Decimal),
    /// D = max(C, f T), 0 < f <= 100. Written `factor:F`.
    Factor(Decimal),
    /// D uniform in [C, f T], 1 <= f <= 100. Written `arbitrary:F`.
    Arbitrary(Decimal),
}

/// How the first releases are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Phases {
    /// All tasks arrive together. Written `none`.
    #[default]
    None,
    /// Uniform in [0, T), in ns. Written `uniform`.
    Uniform,
}

/// How jobs follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Arrivals {
    /// Exactly T apart. Written `periodic`.
    #[default]
    Periodic,
    /// At least T apart. Written `sporadic`.
    Sporadic,
}

/// The options common to all generators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    /// Relative deadlines.
    pub deadlines: Deadlines,
    /// First releases.
    pub phases: Phases,
    /// Periodic or sporadic.
    pub arrivals: Arrivals,
    /// Sizes of working sets: each task draws one of them, all equally likely. Must not be empty.
    pub wss: Vec<ByteSize>,
    /// Reads to writes.
    pub read_write: (u32, u32),
    /// Order in which a job walks its working set.
    pub access: AccessPattern,
}

impl Default for Common {
    /// Implicit deadlines, synchronous, periodic, no memory; 4 reads to 1 write, sequentially.
    fn default() -> Self {
        let WorkingSet { size_bytes, reads, writes, pattern } = WorkingSet::default();
        Common {
            deadlines: Deadlines::Implicit,
            phases: Phases::None,
            arrivals: Arrivals::Periodic,
            wss: vec![ByteSize(size_bytes)],
            read_write: (reads, writes),
            access: pattern,
        }
    }
}

impl Common {
    pub(crate) fn check(&self) -> Result<()> {
        self.deadlines.check()?;
        if self.wss.is_empty() {
            return Err(Diagnostic::usage("the list of working set sizes is empty")
                .hint("give at least one size, such as \"16KiB\" or \"0B\""));
        }
        if self.read_write == (0, 0) {
            return Err(
                Diagnostic::usage("the read:write ratio is 0:0").hint("write the ratio as in \"4:1\"")
            );
        }
        Ok(())
    }

    /// Completes the drafts of set `index` of `seed`. The options must have been checked.
    pub(crate) fn complete(&self, drafts: Vec<Draft>, seed: u64, index: u64) -> Vec<Task> {
        let stream = |purpose| Stream::new(seed, index, purpose);
        let mut deadlines = stream(Purpose::Deadlines);
        let mut phases = stream(Purpose::Phases);
        let mut sizes = stream(Purpose::WorkingSets);
        let complete_one = |draft: Draft| {
            let period = Duration::from_ns(draft.period_ns);
            let (reads, writes) = self.read_write;
            let chosen =
                usize::try_from(sizes.below(self.wss.len() as u64)).expect("an index below a length");
            let (size_bytes, group) = match draft.memory.clone() {
                Some(memory) => (memory.size_bytes, memory.group),
                None => (self.wss[chosen].0, None),
            };
            let working_set = WorkingSet { size_bytes, reads, writes, pattern: self.access };
            Task {
                arrival: match self.arrivals {
                    Arrivals::Periodic => Arrival::Periodic { period },
                    Arrivals::Sporadic => Arrival::Sporadic { min_interarrival: period },
                },
                deadline_rel: Duration::from_ns(self.deadlines.draw(&draft, &mut deadlines)),
                phase: match (draft.phase_ns, self.phases) {
                    (Some(entry), _) => Duration::from_ns(entry),
                    (None, Phases::None) => Duration::ZERO,
                    (None, Phases::Uniform) => Duration::from_ns(phases.below(draft.period_ns)),
                },
                working_set,
                group,
                demand: draft.demand,
                ..Task::periodic(draft.name, Duration::from_ns(draft.wcet_ns), period)
            }
        };
        drafts.into_iter().map(complete_one).collect()
    }
}

impl Deadlines {
    fn check(self) -> Result<()> {
        let bad = |rule: &str| {
            Err(Diagnostic::usage(format!("deadlines `{self}`: the number is not {rule}")).hint(Self::FORMS))
        };
        match self {
            Deadlines::Constrained(x) if x > Decimal::ONE => bad("at most 1"),
            Deadlines::Factor(f) if f == Decimal::ZERO || f > DEADLINE_FACTOR_MAX => {
                bad("above 0 and at most 100")
            }
            Deadlines::Arbitrary(f) if f < Decimal::ONE || f > DEADLINE_FACTOR_MAX => bad("within 1 to 100"),
            _ => Ok(()),
        }
    }

    const FORMS: &'static str = "write `implicit`, `constrained:X` (uniform in [C + X(T-C), T]), `factor:F` (F times T), or `arbitrary:F` (uniform in [C, F times T])";

    /// D in ns.
    fn draw(self, &Draft { wcet_ns: wcet, period_ns: period, .. }: &Draft, stream: &mut Stream) -> u64 {
        let share = |factor: Decimal, ns: u64| factor.floor_of(ns).expect("periods and factors are bounded");
        match self {
            Deadlines::Implicit => period,
            Deadlines::Constrained(x) => stream.within(wcet + share(x, period - wcet), period),
            Deadlines::Factor(f) => share(f, period).max(wcet),
            Deadlines::Arbitrary(f) => stream.within(wcet, share(f, period)),
        }
    }
}

impl FromStr for Deadlines {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, number) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        match (kind, number) {
            ("implicit", "") => Ok(Deadlines::Implicit),
            ("constrained", x) => Ok(Deadlines::Constrained(x.parse()?)),
            ("factor", f) => Ok(Deadlines::Factor(f.parse()?)),
            ("arbitrary", f) => Ok(Deadlines::Arbitrary(f.parse()?)),
            _ => {
                let kinds = ["implicit", "constrained", "factor", "arbitrary"];
                let meant = closest(kind, &kinds).filter(|near| *near != kind);
                let meant = meant.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                Err(Diagnostic::usage(format!("deadlines `{text}` are not known"))
                    .hint(format!("{meant}{}", Self::FORMS)))
            }
        }
    }
}

impl fmt::Display for Deadlines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deadlines::Implicit => write!(f, "implicit"),
            Deadlines::Constrained(x) => write!(f, "constrained:{x}"),
            Deadlines::Factor(factor) => write!(f, "factor:{factor}"),
            Deadlines::Arbitrary(factor) => write!(f, "arbitrary:{factor}"),
        }
    }
}

words! { Phases, "phase": "none" => Phases::None, "uniform" => Phases::Uniform }
words! { Arrivals, "kind of arrivals": "periodic" => Arrivals::Periodic, "sporadic" => Arrivals::Sporadic }
