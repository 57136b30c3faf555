//! `laxity run` and `laxity compare`.

use super::{
    ImportArguments, PlacementArguments, PlatformArguments, PolicyArguments, run_for_real, switch, value,
    whole,
};
use clap::Args;
use laxity_lab::experiment::DemandModel;
use laxity_lab::overheads::Probes;
use laxity_lab::schedulers::Configuration;
use laxity_model::{Demand, Duration, OnMiss};
use laxity_run::BudgetMargin;
use std::path::PathBuf;

/// How a set is run.
#[derive(Args, Clone)]
pub struct RunningArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// How files of other tools are read
    #[command(flatten)]
    pub import: ImportArguments,
    /// How long each run releases jobs
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", default_value = "10s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// Runs of the same jobs per set and scheduler
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u32>(1..=10_000))]
    pub repeat: Option<u32>,
    /// Make a run again where others had more than 5 % of its CPUs, at most so often
    ///
    /// Others are threads that do not belong to the run, interrupts and a hypervisor. The quietest run is kept. Where
    /// three in a row were made again in vain, no more are.
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", default_value_t = 2, value_parser = whole::<u32>(0..=100))]
    pub repeat_disturbed: u32,
    /// How much of its WCET a job asks for
    ///
    /// `wcet`, a fraction such as 0.8, or a distribution such as uniform:0.5,1, normal:0.8,0.1 or bimodal:0.5,1.2,0.05.
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "DEMAND", default_value = "wcet", value_parser = value::<Demand>)]
    pub demand: Demand,
    /// What a demand is: cpu-time or work
    ///
    /// cpu-time: a job runs for its demand of CPU time; work: it makes the accesses that took that long in isolation,
    /// so that cold caches show as longer execution.
    #[arg(help_heading = "Workload", long, value_name = "MODEL", default_value = "cpu-time", value_parser = value::<DemandModel>)]
    pub demand_model: DemandModel,
    /// With --demand-model work: keep the speed of working sets in this file
    ///
    /// Several calls then give jobs the same work. The file is made if it is not there, and gains what it lacks.
    #[arg(help_heading = "Workload", long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// What happens to a job that misses its deadline: continue, abort or skip
    ///
    /// continue: it runs to its end; abort: it stops at its next safe point; skip: it runs to its end, and releases
    /// that pass meanwhile are not made up.
    #[arg(help_heading = "Workload", long, value_name = "RULE", default_value_t = OnMiss::default(), value_parser = value::<OnMiss>)]
    pub on_miss: OnMiss,
    /// Added to the WCET to make a SCHED_DEADLINE budget
    ///
    /// `auto` is an equal share of the free bandwidth, at most half the WCET or 500us, whichever is larger; 5%,100us is the larger of a
    /// share and a time.
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "MARGIN", default_value_t = BudgetMargin::default(), value_parser = value::<BudgetMargin>)]
    pub budget_margin: BudgetMargin,
    /// How much longer than --duration late jobs may run
    ///
    /// Without it, the longest deadline, between 50ms and 10s.
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub grace: Option<Duration>,
    /// Seed of everything random
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    /// Results directory; default: laxity-results/ and the time
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results that are in the directory already
    #[arg(help_heading = "Output", long)]
    pub force: bool,
    /// Print JSON instead of tables
    #[arg(help_heading = "Output", long)]
    pub json: bool,
    /// Background threads that want the same CPUs all the time, beside the tasks
    #[arg(help_heading = "Workload", long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0..=1_000))]
    pub busy: u32,
    /// Make the CPUs of the runs quiet while they are made, as far as this machine lets it, and put all back
    ///
    /// Frequency governor performance, no idle state with an exit latency, interrupts on other CPUs if there are any, isolated
    /// partitions for SCHED_FIFO cells of one CPU (cgroup v2). What was set and what could not be is in the manifest, and said
    /// with --verbose.
    #[arg(help_heading = "Machine", long)]
    pub quiet_machine: bool,
    /// Exit with 1 if jobs miss deadlines (compare: under the scheduler that it recommends)
    #[arg(help_heading = "Output", long)]
    pub fail_on_miss: bool,
    /// Whether the schedule is recorded and checked against the scheduler's definition: on or off
    #[arg(help_heading = "Checks", long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub record: bool,
    /// Laxity's own policies
    #[command(flatten)]
    pub policy: PolicyArguments,
    /// Which CPUs
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// Where tasks go
    #[command(flatten)]
    pub placement: PlacementArguments,
}

/// `laxity compare`.
#[derive(Args)]
#[command(after_long_help = "\
Every task runs alone first (its reference), then the whole set under each scheduler; the same jobs are simulated, too, to show \
what is the scheduler and what is the machine. The results directory holds manifest.json, jobs.parquet (pandas, polars and \
DuckDB read it as it is), summary.json, plots, what it takes to deploy the recommended scheduler, and report.html.

Examples:
  # a task set to start from
  laxity init set.toml
  # Linux's schedulers as in lelli2012: EDF and rate-monotonic
  sudo laxity compare set.toml
  # the priorities that the tasks have (`priority` in the set) against others
  sudo laxity compare set.toml --schedulers p-fp,p-dm,p-edf
  # two of them, several sets, five runs each
  sudo laxity compare sets/*.toml --schedulers p-edf,g-edf --duration 1m \\
      --repeat 5 --out results
  # placements, too: p-rm@ilp, p-rm@ffd and so on
  sudo laxity compare set.toml --schedulers p-rm,p-edf --placement ilp,ffd,lwfg
  # jobs that make accesses instead of using up time
  sudo laxity compare set.toml --demand uniform:0.5,1 --demand-model work
  # laxity's own policies beside Linux's, with measured costs in the simulations
  sudo laxity compare set.toml --schedulers g-edf,p-edf,edf-bh,gsn-edf \\
      --costs examples/costs/measured.toml")]
#[command(mut_arg("repeat", |arg| with_default(arg, 3)))]
pub struct CompareArguments {
    /// How to run
    #[command(flatten)]
    pub running: RunningArguments,
    /// Only these schedulers, separated by commas or given several times; default: g-edf, g-rm, c-edf,
    /// c-rm, p-edf and p-rm
    ///
    /// Laxity's own (edf-bh, gsn-edf ...) need a kernel with sched_ext; where it has none they are simulated, not run.
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', value_parser = run_for_real)]
    pub schedulers: Vec<Configuration>,
    /// Do not simulate what is measured
    #[arg(help_heading = "Checks", long, conflicts_with = "costs")]
    pub no_simulation: bool,
    /// Prove with the assumption that no background thread is ever ready on these CPUs
    ///
    /// The kernel's servers for such threads are then not counted.
    #[arg(help_heading = "Machine", long, conflicts_with = "busy")]
    pub assume_no_background: bool,
    /// What the kernel costs in the simulations beside the measurements: TOML, or CSV of overheads
    ///
    /// Without it, nothing.
    #[arg(help_heading = "Checks", long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// About how long each task runs alone first; 0s skips it
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", default_value = "500ms", value_parser = value::<Duration>)]
    pub alone: Duration,
}

/// `laxity run`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  sudo laxity run set.toml --scheduler p-edf
  sudo laxity run set.toml --scheduler g-edf,g-rm --duration 30s --json
  # laxity's own policies, on a kernel with sched_ext
  sudo laxity run set.toml --scheduler edf-bh,c-gsn-edf,p-fpp:rm
  # and where the kernel has none
  laxity vm -- run set.toml --scheduler edf-bh
  # what scheduling costs in the kernel, for simulate --costs
  sudo laxity run set.toml --scheduler g-edf --record-overheads")]
#[command(mut_arg("repeat", |arg| with_default(arg, 1)))]
pub struct RunArguments {
    /// How to run
    #[command(flatten)]
    pub running: RunningArguments,
    /// The schedulers, separated by commas or given several times
    ///
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "schedulers", value_name = "NAMES", required = true, value_delimiter = ',', value_parser = run_for_real)]
    pub scheduler: Vec<Configuration>,
    /// Record what scheduling costs in the kernel: events, or functions as well
    ///
    /// `events` are releases, interrupts, scheduling, switches and ticks; `functions` also times the functions of
    /// scheduling classes, which makes the events longer. So does recording the schedule: --record off.
    #[arg(help_heading = "Checks", long = "record-overheads", value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "events", value_parser = value::<Probes>)]
    pub overheads: Option<Probes>,
}

/// `compare` repeats to know the noise, `run` does what it is told.
fn with_default(repeat: clap::Arg, default: u32) -> clap::Arg {
    let first = format!("Runs of the same jobs per set and scheduler; default: {default}");
    let more = "Schedulers take turns: every one has its first run before any has its second. What repetitions of the same jobs differ \
                by is noise.";
    repeat.long_help(format!("{first}\n\n{more}")).help(first)
}
