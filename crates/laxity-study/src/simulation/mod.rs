//! Studies by simulation: many random task sets, placed and simulated in several ways, against what varies.

mod answer;
mod by_test;
mod counted;
mod curve;
mod file;
mod metric;
mod mixed;
mod real;
mod sampler;
mod study;
mod table;
mod tally;

pub use answer::{RunAnswer, SimulationAnswer, simulation_answer_schema};
pub use counted::Counted;
pub use curve::SimulatedCurve;
pub use file::{SIMULATION_STUDY_VERSION, simulation_study_schema};
pub(crate) use file::{SimulationFile, is_simulation};
pub use metric::{METRICS, Measure, Metric, Simulated, Unit};
pub use real::{Gaps, METRICS_OF_RUNS, RunSet, RunSets, RunTally};
pub use sampler::SimulationSampler;
pub use study::SimulationStudy;
pub use tally::{CurveTally, Kept, Moments, SimulatedSet, SimulationTally};
