//! `laxity study FILE`.

use super::conclusion::{conclude, ended};
use super::progress::watching;
use super::real::{RealArguments, run_for_real};
use crate::arguments::{threads, whole};
use crate::{interrupt, output, shipped};
use clap::Args;
use laxity_lab::study::described::StudyOutputs;
use laxity_model::{Diagnostic, Names, Result, STANDARD, ShownPath as _, listed};
use laxity_study::{Changes, METRICS, METRICS_OF_RUNS, Progress, Study, compute};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the help of `laxity study` ends with, after the metrics.
const AFTER: &str = "\
FILE describes a study in TOML or JSON (`laxity schema study`): how task sets are drawn, what varies, and curves. In a schedulability study (n, U or m varies) \
curves are schedulers with the overheads and the tests by which every set is judged. In a study by \
simulation (kind = \"simulation\"; also the ratio of what jobs ask for and their WCET varies) they are placements with schedulers and \
costs, under which every set is simulated, or with --real really run: the same sets, placed onto \
this machine's CPUs, jobs of fixed work, one curve after the other. The papers' are in studies/. The directory gets a page with figures (report.html, plots/), all points as Parquet and \
CSV (points.parquet, points.csv) and what they come from (manifest.json). Points that are finished are kept: called again with \
the same directory it goes on where it was interrupted, and the same seed gives the same points with any number of threads.

`overheads` and `schedules` are studies of their own: a FILE with such a name is written with its directory, ./overheads.

Exit codes: 0 the study is complete; 2 usage or input; 3 this machine cannot do it; 130 interrupted (finished points are kept).

Examples:
  # soft real-time schedulability on 64 CPUs
  laxity study studies/cerqueira2014-fig8a.toml
  # with a tenth of the task sets
  laxity study studies/ackelman2018.toml --sets 100 -o quick
  # what placements do to caches, simulated on 48 CPUs
  laxity study studies/lindsay2012.toml
  # the same on two CPUs of this machine, really run
  sudo laxity study studies/lindsay2012-two-cores.toml --real
  # what scheduling costs on this machine
  sudo laxity study overheads -o overheads
  # whether this kernel's schedules are as defined
  sudo laxity study schedules -o schedules";

/// `laxity study FILE`.
#[derive(Args)]
pub struct DescribedArguments {
    /// The study: TOML or JSON; - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<PathBuf>,
    /// Task sets at every point, instead of those that the file says
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u64>(1..=1_000_000))]
    pub sets: Option<u64>,
    /// Seed of everything random, instead of the file's
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Threads; default: one per CPU. Results do not depend on it
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u16>(1..=1_024))]
    pub threads: Option<u16>,
    /// The study's directory; default: laxity-results/ and the study's name
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(help_heading = "Output", long)]
    pub json: bool,
    /// On this machine
    #[command(flatten)]
    pub real: RealArguments,
}

/// What the help of `laxity study` ends with.
pub fn after() -> String {
    let names = |metrics: &[laxity_study::Metric]| listed(metrics.iter().map(|metric| metric.name));
    format!(
        "{AFTER}\n\nMetrics of studies by simulation: {}. With --real, instead of these or besides: {}. `laxity list metrics` says \
         what each is.\n",
        names(METRICS),
        names(METRICS_OF_RUNS)
    )
}

pub fn described(arguments: &DescribedArguments) -> Result<ExitCode> {
    let Some(file) = &arguments.file else {
        return Err(
            Diagnostic::usage("no study is named").hint("name its file; `laxity study --help` has examples")
        );
    };
    let study = read(file, Changes { sets: arguments.sets, seed: arguments.seed })?;
    if arguments.real.real {
        return run_for_real(study, &arguments.real, (arguments.out.as_deref(), arguments.json));
    }
    let default = || Path::new("laxity-results").join(&study.outline.name);
    let directory = arguments.out.clone().unwrap_or_else(default);
    let threads = threads(arguments.threads);
    let interrupt = interrupt::flag()?;
    let progress = Progress::default();
    let computed =
        watching(&progress, output::quiet(), || compute(&study, &directory, threads, interrupt, &progress))?;
    let answer = || study.answer(&computed, None);
    conclude(&StudyOutputs::of(&study, &computed, None), &directory, arguments.json, answer)?;
    Ok(ended(&computed, &directory))
}

/// A word that is no file may be meant for another study.
fn read(file: &Path, changes: Changes) -> Result<Study> {
    let is_word = file.extension().is_none() && file.components().count() == 1;
    if is_word && !file.exists() && file != Path::new(STANDARD) {
        let word = file.to_string_lossy();
        let names = Names::of("study", &["overheads", "schedules"]);
        return Err(Diagnostic::usage(format!("{}: neither a file nor a study", file.shown()))
            .hint(format!("{}, or name a study's file", names.hint(&word))));
    }
    Study::read(&shipped::located(file), changes)
}
