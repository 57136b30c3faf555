//! `laxity study FILE --real`.

use super::conclusion::{conclude, ended};
use super::progress::watching;
use crate::arguments::{PlatformArguments, share, value, whole};
use crate::{interrupt, output, terminal};
use clap::Args;
use laxity_lab::experiment::DemandModel;
use laxity_lab::overheads::Probes;
use laxity_lab::study::described::StudyOutputs;
use laxity_lab::study::overheads::check_counted;
use laxity_lab::study::real::{Conditions, Numbering, RealResults, Runnable, run_study, run_units};
use laxity_model::{Diagnostic, Duration, Result, read_file};
use laxity_study::{Progress, Study, WorkUnit};
use std::path::{Path, PathBuf};
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
    /// Make the CPUs of the runs quiet while they are made, as far as this machine lets it, and put all back
    ///
    /// Frequency governor performance, no idle state with an exit latency, interrupts on other CPUs if there are any, isolated
    /// partitions for SCHED_FIFO cells of one CPU (cgroup v2). What was set and what could not be is in the manifest, and said
    /// with --verbose.
    #[arg(help_heading = "With --real, on this machine", long, requires = "real")]
    pub quiet_machine: bool,
    /// Only the runs of these units of work, as JSON, of jobs that ask for CPU time: how a virtual machine is told what to measure
    #[arg(long, hide = true, value_name = "FILE", requires_all = ["real", "out"])]
    pub units: Option<PathBuf>,
    /// Only where a machine counts instructions as studies take it
    #[arg(long, hide = true, requires = "units")]
    pub counted: bool,
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
        quiet_machine: asked.quiet_machine,
        ..Conditions::plain(cores.choice().resolve()?)
    };
    let study = study.for_real(asked.duration, conditions.recorded())?;
    let runnable = Runnable::of(&study).expect("only studies by simulation can be run");
    if let Some((units, out)) = asked.units.as_ref().zip(out) {
        let conditions = Conditions { demand_model: DemandModel::CpuTime, ..conditions };
        return run_some(runnable, &conditions, (units, asked.counted), out);
    }
    let default = || Path::new("laxity-results").join(format!("{}-run", study.outline.name));
    let directory = out.map_or_else(default, Path::to_owned);
    let (interrupt, progress) = (interrupt::flag()?, Progress::default());
    let computed = watching(&progress, output::quiet(), || {
        run_study(runnable, &conditions, &directory, &terminal::caller(), interrupt, &progress)
    })?;
    let results = RealResults { runnable, conditions: &conditions, computed: &computed };
    let answer = || study.answer(&computed, Some(results.answer()));
    conclude(&StudyOutputs::of(&study, &computed, Some(&results)), &directory, json, answer)?;
    Ok(ended(&computed, &directory))
}

/// In a virtual machine: the runs that it is told, and nothing else.
fn run_some(
    runnable: Runnable<'_>,
    conditions: &Conditions,
    (units, counted): (&Path, bool),
    out: &Path,
) -> Result<ExitCode> {
    let units: Vec<WorkUnit> = read_file(units, |text| {
        serde_json::from_str(text).map_err(|error| {
            Diagnostic::usage(format!("these are no units of work: {error}"))
                .hint("give a list of them as JSON")
        })
    })?;
    if counted {
        check_counted()?;
    }
    let (work, interrupt) = ((&units[..], Numbering::of_all(&units)), interrupt::flag()?);
    let all = run_units(runnable, conditions, work, out, &terminal::caller(), interrupt)?;
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(output::INTERRUPTED) })
}
