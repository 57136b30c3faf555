//! `laxity study FILE --real`.

use super::described::{DescribedArguments, ended, shown};
use crate::arguments::{PlatformArguments, share, value, whole};
use crate::study::real::{Conditions, RealResults, run_study};
use crate::study::simulated::StudyOutputs;
use crate::{interrupt, output};
use clap::Args;
use laxity_model::{Diagnostic, Duration, Result};
use laxity_study::{SimulationAnswer, SimulationStudy};
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
}

impl RealArguments {
    /// Refuses to run what is only judged.
    ///
    /// # Errors
    ///
    /// It is to be run.
    pub fn check_simulated(&self) -> Result<()> {
        if !self.real {
            return Ok(());
        }
        Err(Diagnostic::usage("--real: the sets of a schedulability study are judged, not run")
            .hint("leave out --real, or name a study by simulation (kind = \"simulation\")"))
    }
}

/// Runs the sets of a study.
pub fn run_for_real(study: SimulationStudy, arguments: &DescribedArguments) -> Result<ExitCode> {
    let asked = &arguments.real;
    let study = study.for_real(asked.duration)?;
    let cores =
        PlatformArguments { platform: None, cpus: asked.cpus.clone(), clusters: asked.clusters.clone() };
    let conditions = Conditions::new(cores.resolve()?, asked.repeat, asked.limit);
    let default = || Path::new("laxity-results").join(format!("{}-run", study.name));
    let directory = arguments.out.clone().unwrap_or_else(default);
    let interrupt = interrupt::flag()?;
    let conducted = run_study(&study, &conditions, &directory, output::quiet(), interrupt)?;
    let results = RealResults { study: &study, conditions: &conditions, conducted: &conducted };
    let sums = results.sums();
    let told = StudyOutputs::of_runs(&results, &sums);
    told.write(&directory)?;
    let answer = || SimulationAnswer::of_runs(&study, &conducted, results.answer());
    shown(arguments, || told.terminal(), answer)?;
    Ok(ended(&conducted, &directory))
}
