//! What it means that a task fits into a bin.

use laxity_model::Duration;
use laxity_model::{Diagnostic, Names, Result, Task, TaskSet, Utilization};
use std::fmt;
use std::str::FromStr;

laxity_model::listed_enum! {
    /// The admission test of a bin. All are exact; each also requires that no task is denser than the bin's fastest
    /// CPU is fast.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Fit {
        /// The sum of C/T is at most the capacity. Exact for EDF on one CPU with implicit deadlines.
        Utilization,
        /// The sum of C/min(D, T) is at most the capacity (lindsay2012, 5.5). Sufficient for EDF on one CPU.
        Density,
        /// The approximate demand bound function DBF* stays within the capacity (Baruah and Fisher 2005). Sufficient
        /// for EDF on one CPU, accepts whatever `density` accepts, and only defined for single CPUs.
        DemandBound,
    }
}

/// What a user says that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fitting {
    /// `test`: what the scheduler's own schedulability test accepts, overheads included ([`crate::Acceptance`]).
    #[default]
    Test,
    /// By load, whatever schedules it. Nothing: `load`, by what the set's deadlines ask for ([`Fit::default_for`]).
    Load(Option<Fit>),
}

impl Fitting {
    /// The name of what is no load.
    const TEST: &str = "test";
    /// The name of the load that a set's deadlines ask for.
    const LOAD: &str = "load";

    /// Whether the scheduler's test decides.
    pub fn is_test(self) -> bool {
        self == Fitting::Test
    }

    /// The loads by which a set is placed, in the order in which they are tried: one that was asked for and no other. Where the test
    /// decides, a density that is too high proves nothing, and U is tried after it.
    pub fn loads(self, set: &TaskSet) -> Vec<Fit> {
        let own = Fit::default_for(set);
        match self {
            Fitting::Load(fit) => vec![fit.unwrap_or(own)],
            Fitting::Test if own == Fit::Utilization => vec![own],
            Fitting::Test => vec![own, Fit::Utilization],
        }
    }
}

impl fmt::Display for Fitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fitting::Test => f.pad(Self::TEST),
            Fitting::Load(None) => f.pad(Self::LOAD),
            Fitting::Load(Some(fit)) => fit.fmt(f),
        }
    }
}

impl FromStr for Fitting {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        let loads = Fit::ALL.into_iter().map(Some).chain([None]).map(Fitting::Load);
        let all: Vec<Fitting> = [Fitting::Test].into_iter().chain(loads).collect();
        let names: Vec<String> = all.iter().map(Fitting::to_string).collect();
        all.into_iter().find(|fitting| fitting.to_string() == wanted).ok_or_else(|| {
            Names::of("admission test", &names.iter().map(String::as_str).collect::<Vec<_>>()).unknown(text)
        })
    }
}

impl Fit {
    /// `density` if some real-time task's deadline is shorter than its period, else `utilization`, which is then
    /// the same.
    pub fn default_for(set: &TaskSet) -> Self {
        match set.real_time().any(|(_, task)| task.deadline_rel < task.period()) {
            true => Fit::Density,
            false => Fit::Utilization,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Fit::Utilization => "utilization",
            Fit::Density => "density",
            Fit::DemandBound => "dbf",
        }
    }

    /// One line for `laxity list`.
    pub fn description(self) -> &'static str {
        match self {
            Fit::Utilization => "sum of C/T at most the capacity",
            Fit::Density => {
                "sum of C/min(D,T) at most the capacity (default if a deadline is below its period)"
            }
            Fit::DemandBound => {
                "approximate demand bound within the capacity, single CPUs (Baruah and Fisher 2005)"
            }
        }
    }

    /// The time in which a task's work counts as load: T, or min(D, T).
    pub(crate) fn window(self, task: &Task) -> Duration {
        match self {
            Fit::Utilization | Fit::DemandBound => task.period(),
            Fit::Density => task.density_window(),
        }
    }

    /// What a task of so much work puts on a bin.
    pub(crate) fn load(self, task: &Task, work: Duration) -> Utilization {
        Utilization::of(work, self.window(task))
    }

    /// The word for the load that this test sums.
    pub(crate) fn load_word(self) -> &'static str {
        match self {
            Fit::Utilization | Fit::DemandBound => "utilization",
            Fit::Density => "density",
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Fit {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        Fit::ALL
            .into_iter()
            .find(|fit| fit.name() == wanted)
            .ok_or_else(|| Names::of("admission test", &Fit::ALL.map(Fit::name)).unknown(text))
    }
}
