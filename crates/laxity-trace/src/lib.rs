//! Jobs, metrics and the results directory: one implementation for every producer of jobs.
//!
//! A producer (the runner, the simulator) makes a [`Run`] full of [`Job`]s; [`ResultsDirectory`] keeps it,
//! [`load`] gives it back, and [`Summary`] turns it into the metrics that every table, plot and `--json` shows.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod activities_file;
mod analysis;
mod column_writer;
mod damage;
mod directory;
mod disturbance;
mod event;
mod events_file;
mod excuses;
mod job;
mod jobs_file;
mod machine;
mod machine_files;
mod metrics;
mod miss_cause;
mod results;
mod row_group;
mod schedule;
mod schema;
mod segments;
mod timestamp;
mod tuning;
mod whole_file;

pub use activities_file::KernelActivity;
pub use analysis::{AnalysisRecord, NOT_ANALYSED, ProofRecord, ProofVerdict, SAME_PLACES};
pub use damage::without_panic;
pub use directory::{
    ACTIVITIES_DIRECTORY, DEPLOY_ENDINGS, DEPLOY_FOLDERS, Digested, EVENTS_DIRECTORY, EndedJobsFile,
    EventsFile, FinishedResults, JOBS_FILE, JobsFile, Kept, MANIFEST_FILE, ResultsDirectory, SUMS_FILE,
    create_events, create_jobs, events_path, load, load_digested, load_manifest, open_events,
    runs_with_events, write_activities,
};
pub use disturbance::Disturbance;
pub use event::{Event, EventKind};
pub use events_file::{EVENTS_VERSION, Events, EventsReader, EventsWriter};
pub use excuses::{ExcuseExtent, ExcuseLimits, LongestExcuse, VerdictState, percent_of_ppm};
pub use job::{Counters, Job, JobOutcome};
pub use jobs_file::{JOBS_VERSION, JobsReader, JobsWriter, RunColumns};
/// What to do with results that are in a directory already.
pub use laxity_model::Existing;
pub use machine::EMULATED;
pub use metrics::{
    BackgroundSummary, CacheSummary, CdfPoint, Counts, Efficiency, ExecutionTimes, HardwareCounts, Laxities,
    METRICS_OF_EVERY_RUN, MissRates, Moments, Rates, ResponseTimes, RunDigest, RunMetric, RunSummary,
    SUMMARY_VERSION, Sample, SchedulerSummary, SchedulerTardiness, Summary, SummaryBuilder, Tallies,
    Tardiness, TardinessHistogram, TaskSelection, TaskSummary, TaskTardiness, UnknownTask, mean,
    nearest_rank, relative_ipc, thin_cdf,
};
pub use miss_cause::{BudgetRecord, MissCause};
pub use results::{
    ALONE, BackgroundRecord, Host, Machine, Manifest, NOT_SIMULATED, NOT_VERIFIED, OverrunRecord, PlacedBin,
    PlacementRecord, QuietRecord, RESULTS_VERSION, Results, Run, RunStatus,
};
pub use schedule::{RuleRecord, ScheduleRecord, SpanRecord, VerificationRecord};
pub use schema::{manifest_schema, summary_schema};
pub use segments::{Activity, Segment, SegmentBuilder, Segments, segments};
pub use timestamp::rfc3339;
pub use tuning::{IdleState, IrqAffinity, Partition, Tuning, irq_affinities, ranges};
