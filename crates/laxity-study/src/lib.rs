//! Studies of many random task sets that a file describes, against the number of tasks, their total utilization or
//! the number of processors: how many are proven schedulable under each scheduler, or how they fare when they are placed and simulated, or
//! run.
//!
//! A file ([`Study::read`]) says families of task sets, an axis, and curves; its kind is how sets are judged ([`Judging`]): what becomes
//! of a set. All else is the same for all kinds: [`compute`] draws the sets and judges them on all CPUs, keeps every finished point in
//! a [`Journal`], and goes on where it was; a [`Table`] is the result.
//!
//! 1. Set k of a point is a function of the study's seed, the family, the point and k. All curves judge the same sets.
//! 2. A point's [`Tally`] is exact sums over its sets: neither threads nor interruptions show in results.
//! 3. A [`WorkUnit`] is some sets of a point under some series. [`Study::tally`] is a function of study and unit alone, which any process
//!    can call; the sums of units add up to those of the study in any order.
//!    A [`Conductor`] hands units out to judges anywhere and adds up what they come to.
//!    Processes that know nothing of each other judge a [`Shard`] of all sets each ([`compute_shard`]), and [`merge`] adds them up.
//! 4. Verdicts are exact and bounded by steps, never by time ([`laxity_analysis::Work`]); sets for which the steps were not enough
//!    are counted apart ([`OUT_OF_WORK`]).
//! 5. Where the axis is refined, further points follow from the counts alone ([`Refinement`]).
//! 6. Tasks are placed by their parameters as given, before overheads enter them.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod axis;
mod compute;
mod conductor;
mod engine;
mod estimate;
mod family;
mod file;
mod journal;
mod merge;
mod metric;
mod outcomes;
mod outline;
mod own;
mod profiles;
mod proofs;
mod quantity;
mod refinement;
mod results;
mod runs;
mod sampler;
mod sets;
mod shard;
mod simulations;
mod study;
mod table;
mod tally;
mod told;

pub use axis::{Axis, Variable, WrittenGrid};
pub use compute::{ComputedPoints, Planned, Progress, compute, compute_shard, next_round};
pub use conductor::Conductor;
pub use engine::{Control, judge_points, tally_of};
pub use estimate::time_estimate;
pub use family::Family;
pub use file::{AdmissionWord, STUDY_VERSION, StudyKind, study_schema};
pub use journal::{DESCRIPTION_FILE, Journal, POINTS_FILE, Point, Points};
pub use merge::merge;
pub use metric::{Measure, Metric, Unit};
pub use outcomes::{Judged, SetOutcome, Simulated};
pub use outline::{Changes, Outline};
pub use own::Own;
pub use profiles::{PROFILES, Profile, read_overheads};
pub use proofs::{
    ACCEPTED, Costing, Curve, METRICS_OF_SCHEDULABILITY, NOT_APPLICABLE, OUT_OF_WORK, OwnTests, ProofSampler,
    Proofs, ProofsAnswer, Series, guarantee_name, proofs_answer_schema,
};
pub use quantity::Quantity;
pub use refinement::{DEPTH_MOST, Refinement};
pub use results::StudyAnswer;
pub use runs::{
    METRICS_OF_RUNS, MadeRun, Recorded, Runs, curves_in_words_of_runs, result_of_nothing, result_of_runs,
    seed_of_jobs,
};
pub use sampler::{NEVER, Sampler};
pub use shard::{SHARDS_MOST, Shard, shard_directory};
pub use simulations::{
    METRICS, Mixed, RunAnswer, SimulatedCurve, SimulationAnswer, SimulationSampler, Simulations,
    simulation_answer_schema,
};
pub use study::{Judging, PointSampler, Study, WorkUnit};
pub use table::{POINTS_VERSION, Table};
pub use tally::{
    Gaps, Kept, Moments, SeriesResult, SeriesTally, SetCount, SetResult, Tally, Value,
    weighted_schedulability,
};
pub use told::Told;
