//! A case: a task set under a scheduler on a machine, in its places, with what scheduling costs, what jobs ask for and what changes. It is
//! made and checked once; `analysis` proves it, `simulation` simulates it, and `experiment` runs it. Besides: what simulations and runs
//! are both told, what is refused before, what manifests say, and reasons in words.

mod cases;
mod changes;
mod checks;
mod placement;
mod proof_places;
mod runs;
mod same;
mod settings;

pub use cases::{Cases, Purpose};
pub use changes::{ChangeAt, changes};
pub use checks::{BYTES_PER_JOB, check_prospects, check_real_time, expected_jobs, reason};
pub use placement::PlacementSettings;
pub use proof_places::{by_admission, wanted};
pub use runs::RunSettings;
pub use same::{Same, drop_same, same_option};
pub use settings::{CaseSettings, TestSettings, WORK_STEPS_DEFAULT};

use crate::placing::Placed;
use crate::schedulers::Configuration;
use laxity_model::{Result, TaskSet};

/// A task set under a scheduler, in its places.
#[derive(Clone)]
pub struct Case<'a, S = Configuration> {
    /// Index of the set among those that were asked for.
    pub index: usize,
    /// The set.
    pub set: &'a TaskSet,
    /// The scheduler.
    pub scheduler: &'a S,
    /// Machine, costs, demand and changes.
    pub settings: &'a CaseSettings,
    /// Where its tasks go, or why they go nowhere.
    pub placed: Result<Placed>,
}
