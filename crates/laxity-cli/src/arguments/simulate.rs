//! `laxity simulate`.

use super::{
    ChangeAt, ImportArguments, PlacementArguments, PlatformArguments, ServerArguments, ViewArguments,
    reserve_window, simulated, switch, value, whole,
};
use clap::Args;
use laxity_lab::schedulers::Configuration;
use laxity_model::{BudgetMode, Demand, Duration, Interference, OnMiss};
use std::path::PathBuf;

/// `laxity simulate`.
#[derive(Args)]
#[command(after_long_help = "\
Needs no root and no particular kernel. The schedulers are laxity's own policies (`laxity list schedulers`), global as they are, \
clustered with c- and partitioned with p- before the name, with fixed priorities by :rm, :dm or :fp behind it. The names of \
Linux's schedulers (g-edf, p-rm ...) are simulated as Linux's structure, push and pull. Without a name, they are the six that \
`compare` runs.

Without --out nothing is written, and memory does not grow with the length of the simulation.

Examples:
  # what `compare` would run, side by side
  laxity simulate set.toml --cpus 4
  laxity simulate set.toml --scheduler p-rm --gantt
  laxity simulate set.toml --schedulers edf-bh,gsn-edf,p-fpp:rm --cpus 64
  laxity simulate sets/*.toml --scheduler g-edf --json \\
      --costs examples/costs/measured.toml
  # amp-rm: background work first for 2 ms in 10 ms, and a task that comes later
  laxity simulate set.toml --scheduler amp-rm --server 2ms/10ms --busy 1 \\
      --at 100ms=demote:logging --at 200ms=promote:logging
  # every event is kept and checked against the scheduler's definition
  laxity simulate set.toml --scheduler g-edf --verify --events --out results
  laxity verify results")]
pub struct SimulateArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// How files of other tools are read
    #[command(flatten)]
    pub import: ImportArguments,
    /// The schedulers, separated by commas or given several times; default: those of compare: g-edf, g-rm,
    /// c-edf, c-rm, p-edf and p-rm
    ///
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "schedulers", value_name = "NAMES", value_delimiter = ',', value_parser = simulated)]
    pub scheduler: Vec<Configuration>,
    /// How long jobs are released
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", default_value = "10s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// How much longer than --duration late jobs may run
    ///
    /// Without it, the longest deadline, between 50ms and 10s.
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub grace: Option<Duration>,
    /// Simulations per set and scheduler, each with a seed, and so with jobs, of its own
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=10_000))]
    pub repeat: u32,
    /// Seed of everything random
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    /// How much of its WCET a job asks for
    ///
    /// `wcet`, a fraction such as 0.8, or a distribution such as uniform:0.5,1, normal:0.8,0.1 or bimodal:0.5,1.2,0.05.
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "DEMAND", default_value = "wcet", value_parser = value::<Demand>)]
    pub demand: Demand,
    /// What happens to a job that exceeds its WCET: off, throttle or postpone
    ///
    /// off: nothing; throttle: it waits for the next period; postpone: its deadline moves by a period. Jobs exceed their WCET
    /// only if --demand says so. What runs in the kernel is throttled (`laxity run --budget`).
    #[arg(help_heading = "Schedulers", long, value_name = "MODE", default_value = "off", value_parser = value::<BudgetMode>)]
    pub budget: BudgetMode,
    /// What happens to a job that misses its deadline: continue, abort or skip
    ///
    /// continue: it runs to its end; abort: it stops there, or as soon as it gets a CPU after it; skip: it runs to its
    /// end, and releases that pass meanwhile are not made up.
    #[arg(help_heading = "Workload", long, value_name = "RULE", default_value_t = OnMiss::default(), value_parser = value::<OnMiss>)]
    pub on_miss: OnMiss,
    /// Whether jobs of one release instant are released together: on or off
    #[arg(help_heading = "Schedulers", long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub batching: bool,
    /// push-pull: failures after which a push is given up
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = laxity_sim::RETRIES_MAX, value_parser = whole::<u32>(1..=u64::from(u32::MAX)))]
    pub retries: u32,
    /// Interleave operations on different CPUs at their locks and messages, as this seed draws
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "SEED", value_parser = whole::<u64>(0..=u64::MAX))]
    pub interleave: Option<u64>,
    /// What the kernel costs: TOML, or CSV of overheads; default: nothing
    #[arg(help_heading = "Machine", long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Background tasks with random lifetimes and run ratios, on the time that real-time tasks leave
    ///
    /// As in calandrino2007, 5.1.
    #[arg(help_heading = "Workload", long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0..=10_000))]
    pub background: u32,
    /// Background tasks that want the same CPUs all the time, beside the tasks
    #[arg(help_heading = "Workload", long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0..=1_000))]
    pub busy: u32,
    /// What real-time tasks leave of every CPU to background tasks, in percent; default: nothing
    ///
    /// As `laxity load` has it: in each --reserve-period real-time tasks have a CPU for the rest at most while background tasks wait.
    #[arg(help_heading = "Machine", long, value_name = "PERCENT", default_value_t = 0, hide_default_value = true, value_parser = whole::<u8>(0..=90))]
    pub reserve: u8,
    /// The time within which the reserve is granted; default: 1s
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", value_parser = reserve_window)]
    pub reserve_period: Option<Duration>,
    /// What takes a CPU from the scheduler, and when: CPU@FROM+LENGTH[/PERIOD]; may be given several times
    ///
    /// As in 1@10ms+2ms, once, or 1@10ms+2ms/50ms, again every 50 ms: an interrupt that lasts, or a thread of a class above. No task
    /// runs on the CPU then; the scheduler is told, as `laxity load` tells it. Times are of the simulation. No proof counts it.
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "WHEN", value_parser = value::<Interference>)]
    pub interference: Vec<Interference>,
    /// What real-time tasks are below
    #[command(flatten)]
    pub below: ServerArguments,
    /// What changes, and when: 200ms=enter:TASK and the like; may be given several times
    ///
    /// Before --duration: TIME=enter:TASK (not there before), promote:TASK, demote:TASK, leave:TASK (it releases no
    /// more jobs), resize:CPU:SIZE. Times are of the simulation.
    #[arg(help_heading = "Servers of amp-rm", long = "at", allow_hyphen_values = true, value_name = "TIME=ACTION", conflicts_with = "at_ticks", value_parser = value::<ChangeAt>)]
    pub changes: Vec<ChangeAt>,
    /// The scheduler looks at ticks of 1 ms only, as in schedsim
    ///
    /// A task that is done keeps its CPU until the next tick.
    #[arg(help_heading = "Schedulers", long, conflicts_with = "verify")]
    pub at_ticks: bool,
    /// Keep manifest, jobs and report in this directory
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results that are in the directory already, and the files of --perfetto and --html
    #[arg(help_heading = "Output", long)]
    pub force: bool,
    /// Keep the events, too (events/run-N.parquet)
    #[arg(help_heading = "Output", long, requires = "out")]
    pub events: bool,
    /// Let the oracles check every schedule
    ///
    /// Exit with 1 if one is not what its scheduler's definition says.
    #[arg(help_heading = "Checks", long)]
    pub verify: bool,
    /// How long a schedule may differ from its definition beside what --costs explain; default: not at all
    #[arg(help_heading = "Checks", long, allow_hyphen_values = true, value_name = "TIME", requires = "verify", value_parser = value::<Duration>)]
    pub tolerate: Option<Duration>,
    /// What to look at
    #[command(flatten)]
    pub views: ViewArguments,
    /// Print JSON instead of tables
    #[arg(help_heading = "Output", long, conflicts_with_all = ["text", "gantt"])]
    pub json: bool,
    /// Threads that simulate; default: one per CPU of this machine
    ///
    /// They do not change the results.
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u16>(1..=u64::from(u16::MAX)))]
    pub threads: Option<u16>,
    /// Exit with 1 if jobs miss deadlines
    #[arg(help_heading = "Output", long)]
    pub fail_on_miss: bool,
    /// Which CPUs
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// Where tasks go
    #[command(flatten)]
    pub placement: PlacementArguments,
}
