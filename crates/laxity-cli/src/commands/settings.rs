//! `laxity settings`.

mod text;

use crate::arguments::{ImportArguments, PlatformArguments, WriteArguments, value, whole};
use crate::shipped;
use crate::{interrupt, output};
use clap::Args;
use laxity_analysis::overheads::TICK_PERIOD_DEFAULT;
use laxity_lab::case;
use laxity_lab::charges::{ChargedFile, Charges};
use laxity_lab::schedulers::Choice;
use laxity_lab::settings::answer::Answer;
use laxity_lab::settings::measured::Measured;
use laxity_lab::settings::soft::{AskedSoft, soft_tasks};
use laxity_lab::settings::{Asked, Limits, Question};
use laxity_model::{Diagnostic, OutputDirectory, Result, ShownPath as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::SeqCst;

/// `laxity settings`.
#[derive(Args)]
#[command(after_long_help = "\
Says what to set for each thread, so that no job misses its deadline whatever arrives: policy, priority or runtime, deadline and \
period, and CPUs. What is set is proven by the tests of `laxity analyze`, and is what the kernel takes and admits.

SCHED_FIFO (p-fp, c-fp, g-fp): the simplest order of priorities that is proven, rate- or deadline-monotonic, else Audsley's optimal \
assignment. p-rm and p-dm keep their order. SCHED_DEADLINE (p-edf, c-edf, g-edf): the least bandwidth. Without --scheduler, the \
first of p-fp, p-edf, c-fp, c-edf, g-fp and g-edf under which all is proven.

--soft says how often a job may miss its deadline: SCHED_DEADLINE gets the least bandwidth for that, from the `demand` in the task \
set or from --measured execution times, by an upper bound on the backlog (Abeni, Buttazzo 1999). The other tasks miss nothing.

Without --platform and --cpus the limits are those of the running kernel, else Linux's defaults. What the kernel takes for starved \
background threads, and for throttling SCHED_FIFO, is counted; --assume-no-background leaves the servers out.

Exit codes: 0 proven; 1 not proven; 2 usage or input; 130 interrupted.

Examples:
  laxity settings set.toml
  laxity settings set.toml --scheduler p-edf --cpus 2
  # priorities and places for all other commands
  laxity settings set.toml --scheduler p-fp \\
      --assume-no-background --write placed.toml
  # files that set it: a script, systemd units, code for threads, and more
  laxity settings set.toml --deploy deploy
  # one frame in 100 may be late
  laxity settings examples/video-pipeline.toml --soft encode=1%
  # with what scheduling costs
  laxity settings set.toml --scheduler p-edf \\
      --overheads cerqueira2014-text/sched-deadline-m8-max")]
pub struct SettingsArguments {
    /// The task set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
    /// How files of other tools are read
    #[command(flatten)]
    pub import: ImportArguments,
    /// auto, or p-, c- or g- with edf, rm, dm or fp, such as p-edf
    #[arg(help_heading = "Schedulers", long, visible_alias = "schedulers", value_name = "NAME", default_value = "auto", value_parser = value::<Asked>)]
    pub scheduler: Asked,
    /// How tasks are placed onto CPUs and clusters; default: auto, by several heuristics and a search
    #[arg(help_heading = "Placement", long, value_name = "NAME", value_parser = value::<Choice>)]
    pub placement: Option<Choice>,
    /// The greatest probability with which jobs may miss their deadlines: P for all tasks, TASK=P for one, such as 0.01 or 1%
    #[arg(help_heading = "Deadlines", long, value_name = "[TASK=]P", value_parser = value::<AskedSoft>)]
    pub soft: Vec<AskedSoft>,
    /// How long the jobs of soft tasks run: a results directory, or a CSV file with the columns task and cpu_time; default:
    /// the demand in the task set
    #[arg(help_heading = "Deadlines", long, value_name = "PATH", requires = "soft")]
    pub measured: Option<PathBuf>,
    /// What scheduling costs: a CSV file, or a name that `laxity list overheads` has
    #[arg(help_heading = "Machine", long, value_name = "FILE", value_parser = value::<ChargedFile>)]
    pub overheads: Vec<ChargedFile>,
    /// What a preemption or a migration costs by working set, a CSV file
    #[arg(help_heading = "Machine", long, value_name = "FILE")]
    pub cache_delays: Option<PathBuf>,
    /// Assume that no other thread is ever ready on these CPUs: the kernel's servers then take nothing, and throttling comes
    /// only where the tasks alone use up what it leaves
    #[arg(help_heading = "Machine", long)]
    pub assume_no_background: bool,
    /// Steps that a test may take, the same on every machine; fewer than for `analyze`, for there are thousands of questions
    #[arg(help_heading = "Checks", long, allow_hyphen_values = true, value_name = "STEPS", default_value_t = 1 << 24, value_parser = whole::<u64>(1..=u64::MAX))]
    pub work: u64,
    /// The places
    #[command(flatten)]
    pub written: WriteArguments,
    /// Write files that set it into this directory: a script, systemd units, C, Rust and Python code and more
    #[arg(help_heading = "Output", long, value_name = "DIR")]
    pub deploy: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(help_heading = "Output", long)]
    pub json: bool,
    /// Which CPUs
    #[command(flatten)]
    pub platform: PlatformArguments,
}

pub fn settings(arguments: &SettingsArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let set = arguments.import.read_set(&arguments.set)?;
    case::check_real_time(&set)?;
    let machine = arguments.platform.choice();
    let platform = machine.resolve_simulated()?;
    platform.check_affinities(&set)?;
    arguments.written.check(arguments.json)?;
    if let Some(directory) = &arguments.deploy {
        check_deploy(directory, arguments.written.force)?;
    }
    let kernel = machine.kernel_of(&platform, arguments.assume_no_background);
    let charges = Charges::read(
        &arguments.overheads,
        arguments.cache_delays.as_deref(),
        TICK_PERIOD_DEFAULT,
        shipped::located,
    )?
    .beside_kernel(kernel);
    let limits = Limits::of(&kernel);
    let asked = arguments.scheduler.schedulers(!arguments.soft.is_empty(), &platform)?;
    let measured = arguments.measured.as_deref().map(Measured::read).transpose()?;
    let soft = soft_tasks(&set, &arguments.soft, measured.as_ref(), limits.rules)?;
    let question = Question {
        set: &set,
        platform: &platform,
        placement: arguments.placement.and_then(Choice::named),
        charges: &charges,
        limits,
        soft: &soft,
        measured: measured.is_some(),
        work_steps: arguments.work,
        interrupt,
    };
    let (found, not) = question.first(asked)?;
    if interrupt.load(SeqCst) {
        return Ok(output::interrupted(": the schedulers that were not looked at are left out"));
    }
    let answer = Answer::of(&question, found.as_ref(), not);
    arguments.written.answer(arguments.json, &answer, || text::text(&answer))?;
    if let Some(found) = &found {
        arguments.written.write(|| found.written(&set))?;
    }
    if let (Some(found), Some(directory)) = (&found, &arguments.deploy) {
        found.write(&set, machine.is_this_machine(), directory)?;
        output::note(format_args!("wrote {}: its README.md says what each file is for", directory.shown()));
    }
    Ok(output::verdict(found.is_some()))
}

/// Refuses what is no directory, and one in which there is something, unless its files are to be replaced.
fn check_deploy(directory: &Path, force: bool) -> Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    let output = OutputDirectory::open(directory)?;
    if !force && !output.names().map_err(|error| laxity_model::cannot_write(directory, &error))?.is_empty() {
        return Err(Diagnostic::usage(format!("{} is not empty", directory.shown()))
            .hint("choose another directory, or replace the files in it with --force"));
    }
    Ok(())
}
