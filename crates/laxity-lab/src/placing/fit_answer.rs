//! What was placed together, as answers say it.

use laxity_place::Fit;
use schemars::JsonSchema;
use serde::Serialize;

/// What may be placed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FitAnswer {
    /// What amp-rm's admission accepts.
    Admission,
    /// What the scheduler's hard test accepts.
    HardTest,
    /// What its soft test accepts: no placement passed the hard one.
    SoftTest,
    /// What its utilization allows.
    Utilization,
    /// What its density allows.
    Density,
    /// What its approximate demand bound function allows.
    Dbf,
}

impl FitAnswer {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FitAnswer::Admission => "admission",
            FitAnswer::HardTest => "hard-test",
            FitAnswer::SoftTest => "soft-test",
            FitAnswer::Utilization | FitAnswer::Density | FitAnswer::Dbf => self.word(),
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            FitAnswer::Admission => "admission",
            FitAnswer::HardTest => "the hard test",
            FitAnswer::SoftTest => "the soft test",
            FitAnswer::Utilization => "utilization",
            FitAnswer::Density => "density",
            FitAnswer::Dbf => "dbf",
        }
    }
}

impl From<Fit> for FitAnswer {
    fn from(fit: Fit) -> Self {
        match fit {
            Fit::Utilization => FitAnswer::Utilization,
            Fit::Density => FitAnswer::Density,
            Fit::DemandBound => FitAnswer::Dbf,
        }
    }
}
