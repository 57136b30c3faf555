//! The command line. Options mean the same everywhere.

mod changes;
pub mod platform;
mod policy;
mod server;

pub use changes::{ChangeAt, changes};
pub use platform::{PlacementArguments, PlatformArguments, Speeds};
pub use policy::PolicyArguments;
pub use server::{ServerArguments, double_hit};

use crate::experiment::DemandModel;
use crate::overheads::Probes;
use crate::simulation::NamedScheduler;
use crate::simulation::views::Views;
use clap::{Args, Parser, Subcommand};
use laxity_model::{Demand, Diagnostic, Duration, OnMiss, Scope};
use laxity_run::BudgetMargin;
use laxity_sim::BudgetMode;
use policy::budget;
use std::path::PathBuf;
use std::str::FromStr;

const ABOUT: &str = "The real-time scheduling laboratory for Linux: describe a set of recurring tasks, place it, \
run it for real under every scheduler, and get an answer.";

const AFTER: &str = "\
A first session:
  laxity list                                   what this machine can run
  laxity generate emberson -n 6 -u 1.2 --wss 16KiB -o set.toml
  laxity simulate set.toml --gantt              how it would be scheduled
  laxity analyze set.toml                       what is proven of it, for any arrivals
  sudo laxity compare set.toml                  the answer, with an HTML report

Exit codes: 0 clean; 1 misses or a violation, where asked to judge; 2 usage or input; 3 this machine cannot do it;
130 interrupted (what was measured is kept).";

/// The whole command line.
#[derive(Parser)]
#[command(name = "laxity", version = crate::shipped::VERSION, about = ABOUT, after_help = AFTER, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What laxity can do.
#[derive(Subcommand)]
pub enum Command {
    /// Run a task set under every scheduler and say which one to deploy, with the evidence.
    Compare(CompareArguments),
    /// Run a task set under given schedulers on this machine, real threads.
    Run(RunArguments),
    /// Say what is proven of a task set under given schedulers, with overheads.
    Analyze(Box<crate::commands::analyze::AnalyzeArguments>),
    /// Simulate a task set under given schedulers on any number of cores.
    Simulate(SimulateArguments),
    /// Check that simulated schedules are what their schedulers' definitions say.
    Verify(VerifyArguments),
    /// Place tasks onto cores or clusters.
    Place(PlaceArguments),
    /// Make task sets with the generators of the literature.
    Generate(crate::commands::generate::GenerateArguments),
    /// Make the report of a results directory again.
    Report(ReportArguments),
    /// Schedulers, tests, generators, placements, and what this machine can run.
    List(ListArguments),
    /// Attach a policy to this kernel until stopped.
    Load(Box<crate::commands::load::LoadArguments>),
    /// Run a program unmodified, its SCHED_DEADLINE tasks under the attached policy.
    Exec(crate::commands::exec::ExecArguments),
    /// Make an ordinary thread a real-time task of the loaded amp-rm.
    Promote(crate::commands::promote::PromoteArguments),
    /// Make a promoted thread ordinary again.
    Demote(crate::commands::promote::DemoteArguments),
    /// Give the deferrable server of a core of the loaded amp-rm another size.
    Resize(crate::commands::promote::ResizeArguments),
    /// Record what scheduling costs on this machine, whatever runs.
    Overheads(crate::commands::overheads::OverheadsArguments),
    /// Sweeps over task sets and machines.
    Study(crate::commands::study::StudyArguments),
    /// Do any of this inside a virtual machine whose kernel has sched_ext.
    Vm(crate::commands::vm::VmArguments),
    /// Print what a shell completes commands and options by.
    Completions(crate::commands::shell::CompletionsArguments),
    /// Write the manual pages.
    #[command(name = "__man", hide = true)]
    Man(crate::commands::shell::ManArguments),
}

/// Parses an option value, keeping the hint.
pub fn value<T: FromStr<Err = Diagnostic>>(text: &str) -> std::result::Result<T, String> {
    text.parse().map_err(|error: Diagnostic| match error.hint {
        Some(hint) => format!("{}\nhint: {hint}", error.message),
        None => error.message,
    })
}

/// Parses a number of things that there is one of at least.
pub fn count(text: &str) -> std::result::Result<u32, String> {
    text.parse().ok().filter(|&count| count > 0).ok_or_else(|| {
        format!("not a whole number from 1 to {}\nhint: write digits only, such as 12", u32::MAX)
    })
}

/// How a set is run.
#[derive(Args, Clone)]
pub struct RunningArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// How long each run releases jobs
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", default_value = "10s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// Runs per set and scheduler
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// How much of its WCET a job asks for: `wcet`, a fraction such as 0.8, or a distribution such as uniform:0.5,1
    #[arg(long, allow_hyphen_values = true, value_name = "DEMAND", default_value = "wcet", value_parser = value::<Demand>)]
    pub demand: Demand,
    /// cpu-time: a job runs for its demand of CPU time; work: for the accesses that took that long in isolation
    #[arg(long, value_name = "MODEL", default_value = "cpu-time", value_parser = value::<DemandModel>)]
    pub demand_model: DemandModel,
    /// With --demand-model work: a file that keeps how fast working sets are walked alone, so that several calls give jobs the same work; made if it is not there
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// What becomes of a job that misses its deadline: continue (it runs to its end), abort (it stops at its next safe point) or skip (it runs to its end; releases that pass meanwhile are not made up)
    #[arg(long, value_name = "RULE", default_value_t = OnMiss::default(), value_parser = value::<OnMiss>)]
    pub on_miss: OnMiss,
    /// Added to the WCET to make a SCHED_DEADLINE budget: `auto` (an equal share of the free bandwidth, at most half the WCET or 500us), or the larger of a share and a time as in 5%,100us
    #[arg(long, allow_hyphen_values = true, value_name = "MARGIN", default_value_t = BudgetMargin::default(), value_parser = value::<BudgetMargin>)]
    pub budget_margin: BudgetMargin,
    /// How much longer than --duration late jobs may run; default: the longest deadline, between 50ms and 10s
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub grace: Option<Duration>,
    /// Seed of everything random
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Results directory; default: laxity-results/ and the time
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results that are in the directory already
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// How many ordinary threads want the same cores all the time, beside the tasks
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub busy: u32,
    /// Exit with 1 if jobs miss deadlines (compare: under the scheduler it recommends)
    #[arg(long)]
    pub fail_on_miss: bool,
    /// Whether the schedule is recorded and checked against the scheduler's definition: on or off
    #[arg(long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub record: bool,
    /// Laxity's own policies
    #[command(flatten)]
    pub policy: PolicyArguments,
    /// Which cores
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// Where tasks go
    #[command(flatten)]
    pub placement: PlacementArguments,
}

/// `laxity compare`.
#[derive(Args)]
#[command(after_help = "\
Every task runs alone first (its reference), then the whole set under each scheduler; the same jobs are simulated, \
too, to show what is the scheduler and what is the machine. The results directory \
holds manifest.json, jobs.parquet (pandas, polars and DuckDB read it as it is), summary.json, plots, what it \
takes to deploy the recommended scheduler, and report.html.

Examples:
  laxity compare set.toml
  laxity compare sets/*.toml --schedulers p-edf,g-edf --duration 60s --repeat 3 --out results
  laxity compare set.toml --demand uniform:0.5,1 --demand-model work
  laxity compare set.toml --schedulers g-edf,p-edf,edf-bh,gsn-edf --costs examples/costs/measured.toml")]
pub struct CompareArguments {
    /// How to run
    #[command(flatten)]
    pub running: RunningArguments,
    /// Only these schedulers, separated by commas; default: all of Linux's. Laxity's own (edf-bh, gsn-edf ...) need a kernel with sched_ext; where it has none they are simulated, not run
    #[arg(long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', value_parser = value::<NamedScheduler>)]
    pub schedulers: Vec<NamedScheduler>,
    /// Do not simulate what is measured
    #[arg(long, conflicts_with = "costs")]
    pub no_simulation: bool,
    /// What the kernel costs in the simulations beside the measurements: a TOML file, or a CSV file of overheads; default: nothing
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// About how long each task runs alone first; 0s skips it
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", default_value = "500ms", value_parser = value::<Duration>)]
    pub alone: Duration,
}

/// `laxity simulate`.
#[derive(Args)]
#[command(after_help = "\
Needs no root and no particular kernel. The schedulers are laxity's own policies (`laxity list`), global as they are, \
clustered with c- and partitioned with p- before the name, with fixed priorities by :rm, :dm or :fp behind it. The \
names of Linux's schedulers (g-edf, p-rm ...) are simulated as Linux's structure, push and pull.

Without --out nothing is written, and memory does not grow with the length of the simulation.

Examples:
  laxity simulate set.toml --gantt
  laxity simulate set.toml --schedulers edf-bh,gsn-edf,p-fpp:rm --cpus 64 --duration 60s
  laxity simulate sets/*.toml --scheduler g-edf --costs examples/costs/measured.toml --json
  laxity simulate set.toml --scheduler amp-rm --server 2ms/10ms --busy 1 --at 100ms=demote:T3 --at 200ms=promote:T3
  laxity simulate set.toml --verify --events --out results     then: laxity verify results")]
pub struct SimulateArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// The schedulers, separated by commas or given several times
    #[arg(long, visible_alias = "schedulers", value_name = "NAMES", value_delimiter = ',', default_value = "edf-bh", value_parser = value::<NamedScheduler>)]
    pub scheduler: Vec<NamedScheduler>,
    /// How long jobs are released
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", default_value = "10s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// How much longer than --duration late jobs may run; default: the longest deadline, between 50ms and 10s
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub grace: Option<Duration>,
    /// Simulations per set and scheduler, each with a seed of its own
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Seed of everything random
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How much of its WCET a job asks for: `wcet`, a fraction such as 0.8, or a distribution such as uniform:0.5,1
    #[arg(long, allow_hyphen_values = true, value_name = "DEMAND", default_value = "wcet", value_parser = value::<Demand>)]
    pub demand: Demand,
    /// What happens to a job that exceeds its WCET: off (nothing), throttle (it waits for the next period), postpone (its deadline moves by a period)
    #[arg(long, value_name = "MODE", default_value = "off", value_parser = budget)]
    pub budget: BudgetMode,
    /// What becomes of a job that misses its deadline: continue (it runs to its end), abort (it stops there, or as soon as it gets a core after it) or skip (it runs to its end; releases that pass meanwhile are not made up)
    #[arg(long, value_name = "RULE", default_value_t = OnMiss::default(), value_parser = value::<OnMiss>)]
    pub on_miss: OnMiss,
    /// Whether jobs of one release instant are released together: on or off
    #[arg(long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub batching: bool,
    /// push-pull: after how many failures a push is given up
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = laxity_sim::RETRIES_MAX, value_parser = clap::value_parser!(u32).range(1..))]
    pub retries: u32,
    /// Let operations on different cores interleave at the granularity of their locks and messages, as this seed draws
    #[arg(long, allow_hyphen_values = true, value_name = "SEED")]
    pub interleave: Option<u64>,
    /// What the kernel costs: a TOML file, or a CSV file of overheads; default: nothing
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Tasks that are not real-time, with random lifetimes and run ratios, on the time that real-time tasks leave (calandrino2007, 5.1)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub background: u32,
    /// How many ordinary tasks want the same cores all the time, beside the tasks
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub busy: u32,
    /// What real-time tasks are below
    #[command(flatten)]
    pub below: ServerArguments,
    /// amp-rm: what changes, and when, before --duration: 200ms=enter:TASK (not there before), promote:TASK, demote:TASK, leave:TASK (it releases no more
    /// jobs), resize:CPU:SIZE. May be given several times
    #[arg(long = "at", allow_hyphen_values = true, value_name = "TIME=ACTION", conflicts_with = "at_ticks", value_parser = value::<ChangeAt>)]
    pub changes: Vec<ChangeAt>,
    /// The scheduler looks at ticks of 1 ms only, as in schedsim: who is done keeps the core until the next one
    #[arg(long, conflicts_with = "verify")]
    pub at_ticks: bool,
    /// Keep manifest, jobs and report in this directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results that are in the directory already
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Keep the events, too (events/run-N.parquet)
    #[arg(long, requires = "out")]
    pub events: bool,
    /// Let the oracles check every schedule; exit with 1 if one is not what its scheduler's definition says
    #[arg(long)]
    pub verify: bool,
    /// How long a schedule may differ from its definition beside what --costs explain; default: not at all
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", requires = "verify", value_parser = value::<Duration>)]
    pub tolerate: Option<Duration>,
    /// What to look at
    #[command(flatten)]
    pub views: ViewArguments,
    /// Print JSON instead of tables
    #[arg(long, conflicts_with_all = ["text", "gantt"])]
    pub json: bool,
    /// Threads that simulate; default: one per core of this machine. They do not change the results
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Exit with 1 if jobs miss deadlines
    #[arg(long)]
    pub fail_on_miss: bool,
    /// Which cores
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// Where tasks go
    #[command(flatten)]
    pub placement: PlacementArguments,
}

/// `on` or `off`.
pub fn switch(text: &str) -> std::result::Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off\nhint: choose on or off")),
    }
}

/// How to look at schedules.
#[derive(Args, Clone)]
pub struct ViewArguments {
    /// Print the schedule, a line per event, instead of tables
    #[arg(long)]
    pub text: bool,
    /// Draw a part of the schedule in the terminal: around the first miss, or from the start
    #[arg(long)]
    pub gantt: bool,
    /// Where the part that --gantt or --text shows begins
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub from: Option<Duration>,
    /// Where it ends
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub to: Option<Duration>,
    /// Write the schedule for Perfetto (ui.perfetto.dev)
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
}

impl From<&ViewArguments> for Views {
    fn from(arguments: &ViewArguments) -> Self {
        Views {
            text: arguments.text,
            gantt: arguments.gantt,
            from: arguments.from,
            to: arguments.to,
            perfetto: arguments.perfetto.clone(),
        }
    }
}

/// `laxity verify`.
#[derive(Args)]
#[command(after_help = "\
Every event of a run goes through independent checks (oracles): no CPU runs two jobs, the right jobs run at every \
instant, budgets, demands, releases and deadlines are right. They know the scheduler's definition (scope, rule, \
budgets), nothing of how it is made. In the schedule of a real kernel (laxity run, laxity compare), whatever was \
measured in that run excuses what it explains: kernel threads, interrupts on their way, decisions under way.

Exit codes: 0 clean, 1 violated, 3 no events to verify.

Examples:
  laxity simulate set.toml --scheduler gsn-edf --events --out results
  laxity verify results
  laxity verify results --run 0 --json")]
pub struct VerifyArguments {
    /// A results directory with events
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Only this run
    #[arg(long, allow_hyphen_values = true, value_name = "N")]
    pub run: Option<u32>,
    /// How long a schedule may differ from its definition beside what its costs explain; default: what the simulation said
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub tolerate: Option<Duration>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `laxity run`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laxity run set.toml --scheduler p-edf
  laxity run set.toml --scheduler g-edf,g-rm --duration 30s --json
  laxity run set.toml --scheduler edf-bh,c-gsn-edf,p-fpp:rm     laxity's own, on a kernel with sched_ext
  laxity vm -- run set.toml --scheduler edf-bh                  and where there is none
  laxity run set.toml --scheduler g-edf --overheads             what it costs in the kernel, for simulate --costs")]
pub struct RunArguments {
    /// How to run
    #[command(flatten)]
    pub running: RunningArguments,
    /// The schedulers, separated by commas
    #[arg(long, visible_alias = "schedulers", value_name = "NAMES", required = true, value_delimiter = ',', value_parser = value::<NamedScheduler>)]
    pub scheduler: Vec<NamedScheduler>,
    /// Record what scheduling costs in the kernel: `events` (releases, interrupts, scheduling, switches, ticks), or `functions` to time the functions of scheduling classes as well, which makes the events longer. So does recording the schedule: --record off
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "events", value_parser = value::<Probes>)]
    pub overheads: Option<Probes>,
}

/// `laxity place`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laxity place set.toml                              onto the cores of this machine, optimally
  laxity place set.toml --placement wfd --cpus 4 --platform server.toml
  laxity place set.toml --placement lwfg             tasks that share memory (`group`) on one core
  laxity place set.toml --placement lwfg-else:ffd    and by ffd, if lwfg finds no place for a task
  laxity place set.toml --onto clusters --placement ff:density:down --json
  laxity place set.toml --platform amp.toml --placement slowest-fit --server 20%/10ms --tardiness-bound 5ms")]
pub struct PlaceArguments {
    /// The task set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
    /// What tasks are placed onto: cores or clusters
    #[arg(long, value_name = "BINS", default_value = "cores", value_parser = onto)]
    pub onto: Scope,
    /// What fits: utilization, density or dbf; default: density where a deadline is below its period
    #[arg(long, value_name = "TEST", value_parser = value::<laxity_place::Fit>)]
    pub fit: Option<laxity_place::Fit>,
    /// Fill each core only up to this share, such as 0.95
    #[arg(long, allow_hyphen_values = true, value_name = "SHARE", default_value = "1", value_parser = share)]
    pub limit: (u64, u64),
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Which cores
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// How
    #[command(flatten)]
    pub placement: PlacementArguments,
    /// What goes before them
    #[command(flatten)]
    pub below: ServerArguments,
}

fn onto(text: &str) -> std::result::Result<Scope, String> {
    match text {
        "cores" => Ok(Scope::Partitioned),
        "clusters" => Ok(Scope::Clustered),
        _ => Err(format!("`{text}` is neither cores nor clusters\nhint: choose cores or clusters")),
    }
}

/// A decimal in (0, 1] as an exact fraction.
pub fn share(text: &str) -> std::result::Result<(u64, u64), String> {
    let bad = || format!("`{text}` is not a share above 0 and at most 1, such as 0.95");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let scale = u32::try_from(fraction.len()).ok().and_then(|n| 10u64.checked_pow(n)).ok_or_else(bad)?;
    let plain = digits.chars().all(|c| c.is_ascii_digit());
    let value = digits.parse::<u64>().ok().filter(|&value| plain && value > 0 && value <= scale);
    value.map(|value| (value, scale)).ok_or_else(bad)
}

/// `laxity report`.
#[derive(Args)]
#[command(after_help = "\
Writes report.html, summary.json, summary.md and plots/ of the directory again. A file notes.md in it, in which you \
say what the results mean, becomes part of the report. Works on the results of an interrupted run too.

With --text, --gantt or --perfetto, the schedule of a run that kept its events instead: `laxity run` and `laxity \
compare` do where the kernel lets them, `laxity simulate` with --events.

Examples:
  laxity report laxity-results/compare-2026-01-31T12-00-00Z
  laxity report results --run 2 --gantt --from 30ms --to 80ms
  laxity report results --json > answer.json")]
pub struct ReportArguments {
    /// The results directory, finished or not
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Print JSON instead of tables
    #[arg(long, conflicts_with_all = ["text", "gantt", "perfetto"])]
    pub json: bool,
    /// Show the schedule of this run only
    #[arg(long, allow_hyphen_values = true, value_name = "N")]
    pub run: Option<u32>,
    /// What to look at
    #[command(flatten)]
    pub views: ViewArguments,
}

/// `laxity list`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laxity list
  laxity list --json                                the same for programs
  laxity list --platform > server.toml              this machine, for --platform elsewhere")]
pub struct ListArguments {
    /// Write this machine's platform as TOML instead
    #[arg(long)]
    pub platform: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
}
