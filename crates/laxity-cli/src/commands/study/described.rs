//! `laxity study FILE`.

use super::changes::{ChangesArguments, directory_of};
use super::conclusion::{conclude, ended};
use super::engine::{engine, study_on};
use super::progress::watching;
use super::real::{RealArguments, run_for_real};
use super::shards::judged;
use super::slurm::write_job;
use crate::arguments::{threads, value, whole};
use crate::{interrupt, output, shipped};
use clap::Args;
use laxity_lab::study::described::StudyOutputs;
use laxity_model::{Diagnostic, Result, listed};
use laxity_study::{METRICS, METRICS_OF_RUNS, Progress, Shard, compute, compute_shard};
use std::path::PathBuf;
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

With --shard a study is judged in parts, each by a process of its own, on one machine or on many; `laxity study merge` adds them up to \
the same points.

`overheads` and `schedules` are studies of their own, and `merge` is a command: a FILE with such a name is written with its directory, \
./overheads.

Exit codes: 0 the study is complete; 2 usage or input; 3 this machine cannot do it; 130 interrupted (finished points are kept).

Examples:
  # soft real-time schedulability on 64 CPUs
  laxity study studies/cerqueira2014-fig8a.toml
  # with a tenth of the task sets
  laxity study studies/ackelman2018.toml --sets 100 -o quick
  # half of the sets here, the other half elsewhere, and all together
  laxity study studies/cerqueira2014-fig8a.toml --shard 1/2 -o fig8a
  laxity study studies/cerqueira2014-fig8a.toml --shard 2/2 -o fig8a
  laxity study merge studies/cerqueira2014-fig8a.toml -o fig8a
  # on all machines of a Dask cluster
  laxity study studies/cerqueira2014-fig8a.toml --on dask=tcp://head:8786
  # on a cluster: writes fig8a/slurm/submit
  laxity study studies/cerqueira2014-fig8a.toml --slurm -o fig8a
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
    #[command(flatten)]
    pub changes: ChangesArguments,
    /// Judge only this part of all sets, such as 3/10, and keep what it comes to; `study merge` adds all parts up
    ///
    /// Parts can be judged in any order, at the same time, on machines that know nothing of each other. Each is kept in the study's
    /// directory, in shards/3-of-10, and goes on where it was interrupted. Where the axis is refined, parts judge further sets after each
    /// merge.
    #[arg(help_heading = "Workload", long, value_name = "I/N", value_parser = value::<Shard>, conflicts_with = "real")]
    pub shard: Option<Shard>,
    /// Judge on an engine for many machines: dask or hyperqueue, with =ADDRESS where it is not a cluster of this machine
    ///
    /// dask=ADDRESS: a scheduler of Dask, such as dask=tcp://head:8786, whose workers have the Python module laxity of this version.
    /// hyperqueue=DIR: the directory of a HyperQueue server, whose workers have this program at the same path and see the study's
    /// directory. Files that the study names have to be there on all machines. It goes on where it was interrupted, and comes to the
    /// same points as with threads. Needs the Python module: pip install 'laxity[dask]' or 'laxity[hyperqueue]'.
    #[arg(help_heading = "Workload", long, value_name = "ENGINE", value_parser = engine, conflicts_with_all = ["real", "shard", "slurm", "threads"])]
    pub on: Option<String>,
    /// Write an array job of Slurm that judges the study in shards and merges them, and say how to submit it
    ///
    /// The script is DIR/slurm/submit. Each element of the array takes one CPU and about as many minutes as --minutes says, which
    /// is estimated here from a few sets. Where the axis is refined, the job that merges estimates and submits the next array. A script
    /// that is there is kept as it is.
    #[arg(help_heading = "Workload", long, conflicts_with_all = ["real", "shard", "threads"])]
    pub slurm: bool,
    /// With --slurm: about how long an element of the array takes
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", requires = "slurm", default_value_t = 10, value_parser = whole::<u64>(1..=10_000))]
    pub minutes: u64,
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
    let study = arguments.changes.read(file)?;
    if arguments.real.real {
        return run_for_real(study, &arguments.real, (arguments.out.as_deref(), arguments.json));
    }
    let directory = directory_of(&study, arguments.out.as_deref());
    if let Some(engine) = &arguments.on {
        return study_on(engine, (file, &arguments.changes, &directory), arguments.json);
    }
    let threads = threads(arguments.threads);
    let interrupt = interrupt::flag()?;
    let progress = Progress::default();
    if arguments.slurm {
        return write_job(&study, (file, &arguments.changes, &directory), arguments.minutes, arguments.json);
    }
    if let Some(shard) = arguments.shard {
        let computed = watching(&progress, output::quiet(), || {
            compute_shard(&study, (shard, shipped::VERSION), &directory, threads, interrupt, &progress)
        })?;
        return judged(shard, &computed, (file, &arguments.changes, &directory), arguments.json);
    }
    let computed =
        watching(&progress, output::quiet(), || compute(&study, &directory, threads, interrupt, &progress))?;
    let answer = || study.answer(&computed, None);
    conclude(&StudyOutputs::of(&study, &computed, None), &directory, arguments.json, answer)?;
    Ok(ended(&computed, &directory))
}
