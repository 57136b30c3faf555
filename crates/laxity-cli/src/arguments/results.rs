//! `laxity verify` and `laxity report`: what is done with results.

use super::{share, value, whole};
use clap::Args;
use laxity_model::Duration;
use laxity_oracle::ExcuseLimits;
use std::path::PathBuf;

/// How to look at schedules.
#[derive(Args, Clone)]
pub struct ViewArguments {
    /// Print the schedule, a line per event, instead of tables
    #[arg(help_heading = "Output", long)]
    pub text: bool,
    /// Draw a part of the schedule in the terminal: around the first miss, or from the start
    #[arg(help_heading = "Output", long)]
    pub gantt: bool,
    /// Where the part that --gantt, --text or --html shows begins
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub from: Option<Duration>,
    /// Where it ends
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub to: Option<Duration>,
    /// Write the schedule for Perfetto (ui.perfetto.dev)
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write the schedule as a page to zoom in, which a browser opens without a network
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl ViewArguments {
    /// Whether a file is written.
    pub fn writes(&self) -> bool {
        self.perfetto.is_some() || self.html.is_some()
    }
}

/// `laxity verify`.
#[derive(Args)]
#[command(after_long_help = "\
Every event of a run goes through independent checks (oracles): no CPU runs two jobs, the right jobs run at every instant, \
budgets, demands, releases and deadlines are right. They know the scheduler's definition (scope, rule, budgets), nothing of how \
it is made. In the schedule of a real kernel (laxity run, laxity compare), whatever was measured in that run excuses what it \
explains: kernel threads, interrupts on their way, decisions under way. If more is excused than --excuse-limit and \
--excuse-share allow, there is no verdict: a schedule that is wrong would look the same.

Exit codes: 0 clean; 1 violated; 2 usage, input, or no events to verify; 3 this machine cannot do it; 4 no verdict, too much is \
excused.

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
    /// How much of a real kernel's schedule may be excused
    #[command(flatten)]
    pub excuses: ExcuseArguments,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// How much of a real kernel's schedule may be excused.
#[derive(Args, Clone, Copy)]
pub struct ExcuseArguments {
    /// For how long a real scheduler may be late with one thing; what is more is no verdict
    ///
    /// A timer, an interrupt on its way, a decision, a switch. Without it 500us, half a tick: a request that was lost is made good by
    /// the next one. Emulated machines need more, such as 50ms.
    #[arg(help_heading = "Excuses of real schedules", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub excuse_limit: Option<Duration>,
    /// What share of the observed CPU time may be excused; what is more is no verdict
    ///
    /// Without it 0.1.
    #[arg(help_heading = "Excuses of real schedules", long, allow_hyphen_values = true, value_name = "SHARE", value_parser = share)]
    pub excuse_share: Option<(u64, u64)>,
}

impl ExcuseArguments {
    /// What was asked for, and the rest as in `default`.
    pub fn limits(self, default: ExcuseLimits) -> ExcuseLimits {
        let ppm = |(of, scale): (u64, u64)| u64::try_from(u128::from(of) * 1_000_000 / u128::from(scale));
        ExcuseLimits {
            longest_ns: self.excuse_limit.map_or(default.longest_ns, Duration::as_ns),
            share_ppm: self.excuse_share.map_or(default.share_ppm, |share| ppm(share).unwrap_or(u64::MAX)),
        }
    }
}

/// `laxity report`.
#[derive(Args)]
#[command(after_long_help = "\
Writes report.html, summary.json, summary.md and plots/ of the directory again. A file notes.md in it, in which you say what \
the results mean, becomes part of the report. Works on the results of an interrupted run too.

With --text, --gantt, --html or --perfetto, the schedule of a run that kept its events instead: `laxity run` and `laxity \
compare` do where the kernel lets them, `laxity simulate` with --events.

Examples:
  laxity simulate set.toml --schedulers g-edf,p-rm --events --out reported
  laxity report reported
  laxity report reported --run 1 --gantt --from 30ms --to 80ms
  laxity report reported --run 1 --perfetto trace.perfetto
  laxity report reported --run 1 --html schedule.html
  laxity report reported --json > answer.json")]
pub struct ReportArguments {
    /// The results directory, finished or not
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Print JSON instead of tables
    #[arg(help_heading = "Output", long, conflicts_with_all = ["text", "gantt", "perfetto", "html"])]
    pub json: bool,
    /// Replace the file of --perfetto or --html if it is there already
    #[arg(help_heading = "Output", long)]
    pub force: bool,
    /// Show the schedule of this run only
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u32>(0..=u64::from(u32::MAX)))]
    pub run: Option<u32>,
    /// What to look at
    #[command(flatten)]
    pub views: ViewArguments,
}
