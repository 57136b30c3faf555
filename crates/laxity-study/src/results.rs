//! What a study has come to: tables of its points, and what other programs read.

use crate::compute::ComputedPoints;
use crate::journal::Points;
use crate::proofs::{self, ProofsAnswer};
use crate::simulations::{self, RunAnswer, SimulationAnswer};
use crate::study::{Judging, Study};
use crate::table::Table;
use serde::Serialize;

/// What `laxity study FILE --json` prints.
#[derive(Serialize)]
#[serde(untagged)]
pub enum StudyAnswer {
    /// Of a schedulability study.
    Proofs(ProofsAnswer),
    /// Of a study by simulation, or one whose sets were run.
    Simulations(SimulationAnswer),
}

impl Study {
    /// All points as a table.
    pub fn table(&self, points: &Points) -> Table {
        match &self.judging {
            Judging::Proofs(proofs) => proofs::table((&self.outline, proofs), points),
            Judging::Simulations(simulations) => simulations::numbers((&self.outline, simulations), points),
        }
    }

    /// All histograms as a table; nothing if there are none.
    pub fn histograms(&self, points: &Points) -> Option<Table> {
        match &self.judging {
            Judging::Proofs(_) => None,
            Judging::Simulations(simulations) => {
                simulations::histograms((&self.outline, simulations), points)
            }
        }
    }

    /// For other programs; `run` says how the sets were run, if they were not simulated.
    pub fn answer(&self, computed: &ComputedPoints, run: Option<RunAnswer>) -> StudyAnswer {
        let ComputedPoints { points, complete } = computed;
        match &self.judging {
            Judging::Proofs(proofs) => {
                StudyAnswer::Proofs(ProofsAnswer::of((&self.outline, proofs), points, *complete))
            }
            Judging::Simulations(simulations) => StudyAnswer::Simulations(SimulationAnswer::of(
                (&self.outline, simulations),
                points,
                *complete,
                run,
            )),
        }
    }
}
