//! Studies of many random task sets that a file describes, against the number of tasks, their total utilization or
//! the number of processors: how many are proven schedulable under each scheduler ([`Study`]), or how they fare
//! when they are placed and simulated ([`SimulationStudy`]).
//!
//! A file ([`Described::read`]) says families of task sets, an axis, and curves: schedulers with overheads and tests, or
//! placements with schedulers and costs. [`conduct`] draws the sets and judges them on all CPUs, keeps every finished point in a
//! [`Journal`], and goes on where it was; [`Table`] is the result.
//!
//! 1. Set k of a point is a function of the study's seed, the family, the point and k. All curves judge the same sets.
//! 2. A point's [`Tally`] or [`SimulationTally`] is exact sums over its sets: neither threads nor interruptions show in results.
//! 3. Verdicts are exact and bounded by steps, never by time ([`laxity_analysis::Work`]); sets for which the steps were not enough
//!    are counted apart ([`Count::out_of_work`]).
//! 4. Where the axis is refined, further points follow from the counts alone ([`Refinement`]).
//! 5. Tasks are placed by their parameters as given, before overheads enter them.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod answer;
mod axis;
mod conduct;
mod curve;
mod engine;
mod family;
mod file;
mod journal;
mod judge;
mod points_table;
mod profiles;
mod quantity;
mod refinement;
mod simulation;
mod study;
mod table;
mod tally;

pub use answer::{Answer, answer_schema};
pub use axis::{Axis, Variable};
pub use conduct::{Conducted, Planned, Progress, conduct};
pub use curve::{Costing, Curve, Series, guarantee_name};
pub use engine::{Control, Sampler, Sums, judge_points};
pub use family::Family;
pub use file::{STUDY_VERSION, study_schema};
pub use journal::{DESCRIPTION_FILE, Journal, POINTS_FILE, Point, Points};
pub use judge::PointSampler;
pub use profiles::{PROFILES, Profile, read_overheads};
pub use quantity::Quantity;
pub use refinement::{DEPTH_MOST, Refinement};
pub use simulation::{
    Counted, CurveTally, Gaps, Kept, METRICS, METRICS_OF_RUNS, Measure, Metric, Moments, RunAnswer, RunSet,
    RunSets, RunTally, SIMULATION_STUDY_VERSION, Simulated, SimulatedCurve, SimulatedSet, SimulationAnswer,
    SimulationSampler, SimulationStudy, SimulationTally, Unit, simulation_answer_schema,
    simulation_study_schema,
};
pub use study::{Changes, Described, Study};
pub use table::{POINTS_VERSION, Table};
pub use tally::{Count, Judged, SetOutcome, Tally, weighted_schedulability};
