//! `laxity study FILE --real`.

use super::conclusion::{conclude, ended};
use super::progress::watching;
use crate::arguments::{PlatformArguments, share, value, whole};
use crate::{interrupt, output, terminal};
use clap::Args;
use laxity_lab::overheads::Probes;
use laxity_lab::study::described::StudyOutputs;
use laxity_lab::study::real::{Conditions, RealResults, Runnable, run_study};
use laxity_model::{Duration, Result};
use laxity_study::{Progress, Study};
use std::path::Path;
use std::process::ExitCode;

/// What a study that is run takes.
#[derive(Args)]
pub struct RealArguments {
    /// Run the sets of a study by simulation on this machine, instead of simulating them
    #[arg(help_heading = "With --real, on this machine", long, conflicts_with = "threads")]
    pub real: bool,
    /// How long each run releases jobs, instead of what the file says
    #[arg(help_heading = "With --real, on this machine", long, allow_hyphen_values = true, value_name = "TIME", requires = "real", value_parser = value::<Duration>)]
    pub duration: Option<Duration>,
    /// Runs of every set under every curve
    #[arg(help_heading = "With --real, on this machine", long, allow_hyphen_values = true, value_name = "N", requires = "real", default_value_t = 1, value_parser = whole::<u32>(1..=1_000))]
    pub repeat: u32,
    /// Use only these CPUs: a number of them, or a list such as 0-3,8
    #[arg(help_heading = "With --real, on this machine", long, value_name = "N|LIST", requires = "real")]
    pub cpus: Option<String>,
    /// Place only up to this share of each CPU, such as 0.88
    ///
    /// SCHED_DEADLINE admits 95 % of a CPU, of which kernels since 6.12 keep 5 % for background work, and budgets take
    /// a margin.
    #[arg(help_heading = "With --real, on this machine", long, allow_hyphen_values = true, value_name = "SHARE", requires = "real", value_parser = share)]
    pub limit: Option<(u64, u64)>,
    /// Clusters: llc, each, all, or lists as in `0-3;4-7`
    #[arg(help_heading = "With --real, on this machine", long, value_name = "CLUSTERS", requires = "real")]
    pub clusters: Option<String>,
    /// Record every schedule and check it against its scheduler's definition
    ///
    /// Adds how often schedules were violated, and how often what deviates is excused by something measured in the same run. Takes
    /// CPU time of the runs.
    #[arg(help_heading = "With --real, on this machine", long, requires = "real")]
    pub record: bool,
    /// Record what scheduling costs in the kernel: events, or functions as well
    ///
    /// Adds the mean lengths of releases, scheduling decisions, switches, latencies and ticks. Takes CPU time of the runs, and as much
    /// of what is recorded with --record.
    #[arg(help_heading = "With --real, on this machine", long = "record-overheads", value_name = "WHAT", requires = "real", num_args = 0..=1, require_equals = true, default_missing_value = "events", value_parser = value::<Probes>)]
    pub overheads: Option<Probes>,
}

/// Runs the sets of a study, into this directory if it is named, and answers in JSON or a table.
pub fn run_for_real(
    study: Study,
    asked: &RealArguments,
    (out, json): (Option<&Path>, bool),
) -> Result<ExitCode> {
    let (cpus, clusters) = (asked.cpus.clone(), asked.clusters.clone());
    let cores = PlatformArguments { platform: None, cpus, clusters };
    let conditions = Conditions {
        repeat: asked.repeat,
        limit: asked.limit,
        record: asked.record,
        overheads: asked.overheads,
        ..Conditions::plain(cores.choice().resolve()?)
    };
    let study = study.for_real(asked.duration, conditions.recorded())?;
    let runnable = Runnable::of(&study).expect("only studies by simulation can be run");
    let default = || Path::new("laxity-results").join(format!("{}-run", study.outline.name));
    let directory = out.map_or_else(default, Path::to_owned);
    let (interrupt, progress) = (interrupt::flag()?, Progress::default());
    let conducted = watching(&progress, output::quiet(), || {
        run_study(runnable, &conditions, &directory, &terminal::caller(), interrupt, &progress)
    })?;
    let results = RealResults { runnable, conditions: &conditions, conducted: &conducted };
    let answer = || study.answer(&conducted, Some(results.answer()));
    conclude(&StudyOutputs::of(&study, &conducted, Some(&results)), &directory, json, answer)?;
    Ok(ended(&conducted, &directory))
}
