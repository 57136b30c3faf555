//! The command line. Options mean the same everywhere.

mod changes;
#[cfg(test)]
mod examples;
pub mod platform;
mod policy;
mod server;

pub use changes::{ChangeAt, changes};
pub use platform::{PlacementArguments, PlatformArguments, Speeds};
pub use policy::PolicyArguments;
pub use server::{ServerArguments, double_hit};

use crate::commands::list::Part;
use crate::experiment::DemandModel;
use crate::overheads::Probes;
use crate::simulation::NamedScheduler;
use crate::simulation::views::Views;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use laxity_model::{Demand, Diagnostic, Duration, Names, OnMiss, Scope};
use laxity_run::BudgetMargin;
use laxity_sim::BudgetMode;
use policy::budget;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

const ABOUT: &str = "The real-time scheduling laboratory for Linux: describe a set of recurring tasks, place it, \
run it for real under every scheduler, and get an answer.";

const AFTER: &str = "\
A first session:
  laxity list
  laxity init set.toml
  # how it would be scheduled
  laxity simulate set.toml --gantt
  # what is proven of it, for any arrivals
  laxity analyze set.toml
  # the answer, with an HTML report
  sudo laxity compare set.toml

Exit codes: 0 clean; 1 misses or a violation, where asked to judge; 2 usage or input; 3 this machine cannot do it; \
130 interrupted (what was measured is kept).";

/// The whole command line.
#[derive(Parser)]
#[command(name = "laxity", version = crate::shipped::VERSION, about = ABOUT, after_help = AFTER, max_term_width = 110)]
pub struct Cli {
    /// How much is said
    #[command(flatten)]
    pub said: Said,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// How many examples the short help has.
const SHORT_EXAMPLES: usize = 3;

impl Cli {
    /// Reads the command line; errors and calls for help end the program.
    pub fn of_the_command_line() -> Cli {
        let matches = Cli::whole_command().get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The command with a short help (`-h`) beside the long one (`--help`).
    pub fn whole_command() -> clap::Command {
        Cli::command().mut_subcommands(|command| with_short_help(command, "laxity"))
    }
}

/// The first examples of a command's long help, and where the rest is.
fn with_short_help(command: clap::Command, parent: &str) -> clap::Command {
    let name = format!("{parent} {}", command.get_name());
    let long = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let examples = long.split("Examples:\n").nth(1).unwrap_or_default();
    let mut shown = String::new();
    for line in examples.lines().take_while(|line| !line.is_empty()) {
        let begins = line.starts_with("  ") && !line.starts_with("   ");
        let is_command = begins && !line.starts_with("  #");
        let commands =
            shown.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).count();
        if is_command && commands == SHORT_EXAMPLES {
            break;
        }
        if !line.starts_with("  #") {
            shown += line;
            shown.push('\n');
        }
    }
    let more = format!("`{name} --help` says more of everything.");
    let short = if shown.is_empty() { more } else { format!("Examples:\n{shown}\n{more}") };
    command.after_help(short).mut_subcommands(|inner| with_short_help(inner, &name))
}

/// How much every command says beside its answer.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Every command")]
pub struct Said {
    /// No progress and no words on what was written; warnings and errors are said
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// More of the evidence: what is excused, what was not recorded, and why
    #[arg(short, long, global = true)]
    pub verbose: bool,
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
    /// What this machine can run, and the names of schedulers, tests, placements and the like.
    List(ListArguments),
    /// Write a commented task set to start from.
    Init(crate::commands::init::InitArguments),
    /// Say what a file is, and what is wrong with it.
    Check(crate::commands::check::CheckArguments),
    /// Print the JSON Schema of what laxity reads or writes.
    Schema(crate::commands::schema::SchemaArguments),
    /// Attach a policy to this kernel until stopped.
    Load(Box<crate::commands::load::LoadArguments>),
    /// Run a program unmodified, its SCHED_DEADLINE tasks under the attached policy.
    Exec(crate::commands::exec::ExecArguments),
    /// Make a background thread a real-time task of the loaded amp-rm.
    Promote(crate::commands::promote::PromoteArguments),
    /// Make a promoted thread a background thread again.
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
    text.parse().map_err(worded)
}

/// An error with its hint, as clap shows it.
pub fn worded(error: Diagnostic) -> String {
    match error.hint {
        Some(hint) => format!("{}\nhint: {hint}", error.message),
        None => error.message,
    }
}

/// Parses a whole number of a range: digits only.
pub fn whole<N: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> std::result::Result<N, String> + Clone {
    move |text: &str| {
        let (least, most) = (*range.start(), *range.end());
        let number = text.trim().parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| {
            let rule = match (least, most) {
                (0, u64::MAX) => "not a whole number".to_owned(),
                (least, u64::MAX) => format!("not a whole number from {least} on"),
                _ => format!("not a whole number from {least} to {most}"),
            };
            format!("{rule}\nhint: write digits only, such as {}", 12.clamp(least, most))
        })
    }
}

/// Parses a number of things that there is one of at least.
pub fn count(text: &str) -> std::result::Result<u32, String> {
    whole(1..=u64::from(u32::MAX))(text)
}

/// How a set is run.
#[derive(Args, Clone)]
pub struct RunningArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// How long each run releases jobs
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", default_value = "10s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// Runs per set and scheduler
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=10_000))]
    pub repeat: u32,
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
    /// `auto` is an equal share of the free bandwidth, at most half the WCET or 500us; 5%,100us is the larger of a
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
    /// Background threads that want the same cores all the time, beside the tasks
    #[arg(help_heading = "Workload", long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0..=1_000))]
    pub busy: u32,
    /// Exit with 1 if jobs miss deadlines (compare: under the scheduler that it recommends)
    #[arg(help_heading = "Output", long)]
    pub fail_on_miss: bool,
    /// Whether the schedule is recorded and checked against the scheduler's definition: on or off
    #[arg(help_heading = "Checks", long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
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
#[command(after_long_help = "\
Every task runs alone first (its reference), then the whole set under each scheduler; the same jobs are simulated, too, to show \
what is the scheduler and what is the machine. The results directory holds manifest.json, jobs.parquet (pandas, polars and \
DuckDB read it as it is), summary.json, plots, what it takes to deploy the recommended scheduler, and report.html.

Examples:
  # a task set to start from
  laxity init set.toml
  # Linux's six schedulers
  sudo laxity compare set.toml
  # two of them, several sets, three runs each
  sudo laxity compare sets/*.toml --schedulers p-edf,g-edf --duration 1m \\
      --repeat 3 --out results
  # jobs that make accesses instead of using up time
  sudo laxity compare set.toml --demand uniform:0.5,1 --demand-model work
  # laxity's own policies beside Linux's, with measured costs in the simulations
  sudo laxity compare set.toml --schedulers g-edf,p-edf,edf-bh,gsn-edf \\
      --costs examples/costs/measured.toml")]
pub struct CompareArguments {
    /// How to run
    #[command(flatten)]
    pub running: RunningArguments,
    /// Only these schedulers, separated by commas or given several times; default: all of Linux's
    ///
    /// Laxity's own (edf-bh, gsn-edf ...) need a kernel with sched_ext; where it has none they are simulated, not run.
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', value_parser = value::<NamedScheduler>)]
    pub schedulers: Vec<NamedScheduler>,
    /// Do not simulate what is measured
    #[arg(help_heading = "Checks", long, conflicts_with = "costs")]
    pub no_simulation: bool,
    /// What the kernel costs in the simulations beside the measurements: TOML, or CSV of overheads
    ///
    /// Without it, nothing.
    #[arg(help_heading = "Checks", long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// About how long each task runs alone first; 0s skips it
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", default_value = "500ms", value_parser = value::<Duration>)]
    pub alone: Duration,
}

/// `laxity simulate`.
#[derive(Args)]
#[command(after_long_help = "\
Needs no root and no particular kernel. The schedulers are laxity's own policies (`laxity list schedulers`), global as they are, \
clustered with c- and partitioned with p- before the name, with fixed priorities by :rm, :dm or :fp behind it. The names of \
Linux's schedulers (g-edf, p-rm ...) are simulated as Linux's structure, push and pull.

Without --out nothing is written, and memory does not grow with the length of the simulation.

Examples:
  laxity simulate set.toml --gantt
  laxity simulate set.toml --schedulers edf-bh,gsn-edf,p-fpp:rm --cpus 64
  laxity simulate sets/*.toml --scheduler g-edf --json \\
      --costs examples/costs/measured.toml
  # amp-rm: background work first for 2 ms in 10 ms, and a task that comes later
  laxity simulate set.toml --scheduler amp-rm --server 2ms/10ms --busy 1 \\
      --at 100ms=demote:logging --at 200ms=promote:logging
  # every event is kept and checked against the scheduler's definition
  laxity simulate set.toml --verify --events --out results
  laxity verify results")]
pub struct SimulateArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// The schedulers, separated by commas or given several times
    ///
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "schedulers", value_name = "NAMES", value_delimiter = ',', default_value = "edf-bh", value_parser = value::<NamedScheduler>)]
    pub scheduler: Vec<NamedScheduler>,
    /// How long jobs are released
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", default_value = "10s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// How much longer than --duration late jobs may run
    ///
    /// Without it, the longest deadline, between 50ms and 10s.
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub grace: Option<Duration>,
    /// Simulations per set and scheduler, each with a seed of its own
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
    /// off: nothing; throttle: it waits for the next period; postpone: its deadline moves by a period.
    #[arg(help_heading = "Schedulers", long, value_name = "MODE", default_value = "off", value_parser = budget)]
    pub budget: BudgetMode,
    /// What happens to a job that misses its deadline: continue, abort or skip
    ///
    /// continue: it runs to its end; abort: it stops there, or as soon as it gets a core after it; skip: it runs to its
    /// end, and releases that pass meanwhile are not made up.
    #[arg(help_heading = "Workload", long, value_name = "RULE", default_value_t = OnMiss::default(), value_parser = value::<OnMiss>)]
    pub on_miss: OnMiss,
    /// Whether jobs of one release instant are released together: on or off
    #[arg(help_heading = "Schedulers", long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub batching: bool,
    /// push-pull: failures after which a push is given up
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = laxity_sim::RETRIES_MAX, value_parser = whole::<u32>(1..=u64::from(u32::MAX)))]
    pub retries: u32,
    /// Interleave operations on different cores at their locks and messages, as this seed draws
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
    /// Background tasks that want the same cores all the time, beside the tasks
    #[arg(help_heading = "Workload", long, value_name = "N", default_value_t = 0, value_parser = whole::<u32>(0..=1_000))]
    pub busy: u32,
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
    /// A task that is done keeps its core until the next tick.
    #[arg(help_heading = "Schedulers", long, conflicts_with = "verify")]
    pub at_ticks: bool,
    /// Keep manifest, jobs and report in this directory
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace results that are in the directory already, and the file of --perfetto
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
    /// Threads that simulate; default: one per core of this machine
    ///
    /// They do not change the results.
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u16>(1..=u64::from(u16::MAX)))]
    pub threads: Option<u16>,
    /// Exit with 1 if jobs miss deadlines
    #[arg(help_heading = "Output", long)]
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
        "yes" | "true" | "1" => Err(format!("`{text}` is neither on nor off\nhint: did you mean `on`?")),
        "no" | "false" | "0" => Err(format!("`{text}` is neither on nor off\nhint: did you mean `off`?")),
        _ => Err(format!("`{text}` is neither on nor off\nhint: choose on or off")),
    }
}

/// How to look at schedules.
#[derive(Args, Clone)]
pub struct ViewArguments {
    /// Print the schedule, a line per event, instead of tables
    #[arg(help_heading = "Output", long)]
    pub text: bool,
    /// Draw a part of the schedule in the terminal: around the first miss, or from the start
    #[arg(help_heading = "Output", long)]
    pub gantt: bool,
    /// Where the part that --gantt or --text shows begins
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub from: Option<Duration>,
    /// Where it ends
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub to: Option<Duration>,
    /// Write the schedule for Perfetto (ui.perfetto.dev)
    #[arg(help_heading = "Output", long, value_name = "FILE")]
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
            replace: false,
        }
    }
}

/// `laxity verify`.
#[derive(Args)]
#[command(after_long_help = "\
Every event of a run goes through independent checks (oracles): no CPU runs two jobs, the right jobs run at every instant, \
budgets, demands, releases and deadlines are right. They know the scheduler's definition (scope, rule, budgets), nothing of how \
it is made. In the schedule of a real kernel (laxity run, laxity compare), whatever was measured in that run excuses what it \
explains: kernel threads, interrupts on their way, decisions under way.

Exit codes: 0 clean, 1 violated, 3 no events to verify.

Examples:
  laxity simulate set.toml --scheduler gsn-edf --events --out verified
  laxity verify verified
  laxity verify verified --run 0 --json")]
pub struct VerifyArguments {
    /// A results directory with events
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Only this run
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u32>(0..=u64::from(u32::MAX)))]
    pub run: Option<u32>,
    /// How long a schedule may differ from its definition beside what its costs explain; default: what the simulation
    /// said
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub tolerate: Option<Duration>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
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
  sudo laxity run set.toml --scheduler g-edf --overheads")]
pub struct RunArguments {
    /// How to run
    #[command(flatten)]
    pub running: RunningArguments,
    /// The schedulers, separated by commas or given several times
    ///
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "schedulers", value_name = "NAMES", required = true, value_delimiter = ',', value_parser = value::<NamedScheduler>)]
    pub scheduler: Vec<NamedScheduler>,
    /// Record what scheduling costs in the kernel: events, or functions as well
    ///
    /// `events` are releases, interrupts, scheduling, switches and ticks; `functions` also times the functions of
    /// scheduling classes, which makes the events longer. So does recording the schedule: --record off.
    #[arg(help_heading = "Checks", long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "events", value_parser = value::<Probes>)]
    pub overheads: Option<Probes>,
}

/// `laxity place`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  # onto the cores of this machine, optimally
  laxity place set.toml
  # by a heuristic, onto four identical cores
  laxity place set.toml --placement wfd --cpus 4
  # tasks that share memory (`group`) on one core; by ffd where lwfg finds none
  laxity place set.toml --placement lwfg --cpus 4
  laxity place set.toml --placement lwfg-else:ffd --cpus 4
  laxity place set.toml --onto clusters --placement ff:density:down --json
  # below servers for background work, with a bound on tardiness
  laxity place set.toml --platform big-little --placement slowest-fit \\
      --server 10%/2ms --tardiness-bound 5ms")]
pub struct PlaceArguments {
    /// The task set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
    /// What tasks are placed onto: cores or clusters
    #[arg(help_heading = "Placement", long, value_name = "BINS", default_value = "cores", value_parser = onto)]
    pub onto: Scope,
    /// What fits: utilization, density or dbf; default: density where a deadline is below its period
    #[arg(help_heading = "Placement", long, value_name = "TEST", value_parser = value::<laxity_place::Fit>)]
    pub fit: Option<laxity_place::Fit>,
    /// Fill each core only up to this share, such as 0.95
    #[arg(help_heading = "Placement", long, allow_hyphen_values = true, value_name = "SHARE", default_value = "1", value_parser = share)]
    pub limit: (u64, u64),
    /// Print JSON instead of a table
    #[arg(help_heading = "Output", long)]
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
        _ => Err(worded(Names::of("kind of bin", &["cores", "clusters"]).unknown(text))),
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
#[command(after_long_help = "\
Writes report.html, summary.json, summary.md and plots/ of the directory again. A file notes.md in it, in which you say what \
the results mean, becomes part of the report. Works on the results of an interrupted run too.

With --text, --gantt or --perfetto, the schedule of a run that kept its events instead: `laxity run` and `laxity compare` do \
where the kernel lets them, `laxity simulate` with --events.

Examples:
  laxity simulate set.toml --schedulers g-edf,p-rm --events --out reported
  laxity report reported
  laxity report reported --run 1 --gantt --from 30ms --to 80ms
  laxity report reported --run 1 --perfetto trace.perfetto
  laxity report reported --json > answer.json")]
pub struct ReportArguments {
    /// The results directory, finished or not
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Print JSON instead of tables
    #[arg(long, conflicts_with_all = ["text", "gantt", "perfetto"])]
    pub json: bool,
    /// Replace the file of --perfetto if it is there already
    #[arg(long, requires = "perfetto")]
    pub force: bool,
    /// Show the schedule of this run only
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u32>(0..=u64::from(u32::MAX)))]
    pub run: Option<u32>,
    /// What to look at
    #[command(flatten)]
    pub views: ViewArguments,
}

/// `laxity list`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  laxity list
  laxity list schedulers
  laxity list tests --json
  # this machine, for --platform elsewhere
  laxity list --platform > server.toml")]
pub struct ListArguments {
    /// schedulers, tests, generators, placements, platforms, overheads, metrics or machine; without it, an overview
    #[arg(value_name = "WHAT", conflicts_with = "platform", value_parser = value::<Part>)]
    pub what: Option<Part>,
    /// Write this machine's platform as TOML instead
    #[arg(long)]
    pub platform: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
}
