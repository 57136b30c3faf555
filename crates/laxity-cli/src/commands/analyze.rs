//! `laxity analyze`.

mod places_table;
pub mod text;

use super::unique;
use crate::arguments::{
    ImportArguments, PlacementArguments, PlatformArguments, ServerArguments, WriteArguments, kernel_threads,
    one_placement, threads, value, whole, worded,
};
use crate::{interrupt, output, shipped, terminal};
use clap::Args;
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Guarantee, Taken};
use laxity_lab::Steps;
use laxity_lab::analysis::answer::{Answer, GuaranteeAnswer, SchedulerAnswer, VERSION, VerdictName};
use laxity_lab::analysis::{Settings, prove_each, test_name, written};
use laxity_lab::case::{CaseSettings, Cases, Purpose, TestSettings, WORK_STEPS_DEFAULT};
use laxity_lab::charges::{ChargedFile, Charges};
use laxity_lab::placing::BelowServers;
use laxity_lab::schedulers::Configuration;
use laxity_model::{
    Demand, Diagnostic, Duration, Names, Platform, Result, Scheduler, ShownPath as _, TaskSet,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering::SeqCst;

/// `laxity analyze`.
#[derive(Args)]
#[command(
    mut_arg("placement", one_placement),
    after_long_help = "\
Says what is proven of a set, for any arrivals and without running it: that no deadline is missed (hard), or that tardiness is \
bounded (soft), with response times or tardiness for each task. Tests are sufficient unless they are called exact; not proven \
then means that nothing is known. Names are those of simulate, and pfair and g-fl, which have tests only. `laxity list tests` has \
the tests with their sources.

pfair gives CPUs away in whole quanta (--tick), whatever scheduling costs: jobs arrive at any time and wait for the next, quanta \
begin together on all CPUs, and every CPU handles release interrupts. pfair:aligned has jobs arrive at multiples of the quantum, pfair:staggered spreads the quanta over \
the CPUs, pfair:dedicated leaves interrupts to the last CPU; they combine, as in pfair:staggered:dedicated.

--overheads takes CSV files in the columns of the field (TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, \
RELEASE-LATENCY; in us), such as overheads/*-max.csv of `laxity run --record-overheads`. They are as observed, waiting for locks and for \
other kernel work included: simulate --costs adds that itself. Without, scheduling costs nothing.

Linux's schedulers are proven as Linux has them: its fair server runs starved background threads before SCHED_FIFO, by default \
for up to 50 ms in a row twice, and as a reservation among those of SCHED_DEADLINE; kernels before 6.12, or with groups of real-time tasks, \
stop SCHED_FIFO that uses more than its share. These are the running kernel's without --platform and --cpus, else Linux's defaults. \
--assume-no-background leaves the servers out. On several CPUs SCHED_DEADLINE is proven beside no server. Policies of laxity's own \
and what only analyses know have none. Under these policies kernel threads that can run on one CPU only go before the tasks there, for as long as \
load --kernel-threads lets them: --kernel-threads counts that, as an interrupt on every CPU.

--server is for amp-rm (calandrino2007): background tasks go before real-time tasks while the deferrable server of their CPU \
has a budget. Hard counts that a server can use up two budgets in a row (ds-rta, exact); soft does not, and its bounds are those \
of Theorem 1 (ds-tardiness). It is what place --server and the admission of a loaded amp-rm say of the same CPUs, and its tasks \
are judged where these put them, unless --placement ilp or --fit are asked for. With --overheads nothing is said: nothing bounds \
how often background tasks preempt others.

Partitioned and clustered schedulers are judged where run, compare, simulate and place put their tasks: by the least load (ilp); \
where that is not proven, by a heuristic or a search that puts a task onto CPUs only if the scheduler's own test accepts what is \
there with it, overheads included. --placement names one; --fit load goes by load alone. --write writes the places into a task set, which \
every command then keeps to: those of the only partitioned or clustered scheduler, or of the only one of them that is proven.

Exit codes: 0 proven for every set under every scheduler asked for; 1 not proven; 2 usage or input; 130 interrupted.

Examples:
  laxity analyze set.toml --cpus 4
  laxity analyze set.toml --schedulers p-rm --placement ffd --cpus 4
  # with what scheduling costs, as `laxity list overheads` has it
  laxity analyze set.toml --schedulers g-edf-mp \\
      --overheads cerqueira2014-text/g-edf-mp-max
  # a task set with the places in which it is proven
  laxity analyze set.toml --scheduler p-rm --cpus 4 --write placed.toml
  # the priorities that the tasks have, and deadline-monotonic ones
  laxity analyze set.toml --schedulers p-fp,p-dm
  laxity analyze set.toml --schedulers p-edf,g-edf \\
      --overheads g-edf=cerqueira2014-text/sched-deadline-m8-max
  laxity analyze set.toml --schedulers pfair,pfair:staggered:dedicated
  laxity analyze set.toml --scheduler amp-rm --platform big-little \\
      --placement slowest-fit --server 20%/10ms
  # how many CPUs would do
  laxity analyze set.toml --schedulers g-edf --sensitivity --guarantee soft"
)]
#[command(mut_arg("force", |force| force.requires("write")))]
pub struct AnalyzeArguments {
    /// Task sets: TOML, JSON, CSV, rt-app JSON or SimSo XML
    #[arg(value_name = "SET", required = true)]
    pub sets: Vec<PathBuf>,
    /// How files of other tools are read
    #[command(flatten)]
    pub import: ImportArguments,
    /// The schedulers, separated by commas or given several times; default: g-edf, g-rm, c-edf, c-rm,
    /// p-edf and p-rm
    ///
    /// `laxity list schedulers` has all names.
    #[arg(help_heading = "Schedulers", long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', value_parser = analysed)]
    pub schedulers: Vec<Analysed>,
    /// What is to be proven, for the exit code and --sensitivity: hard or soft
    #[arg(help_heading = "Checks", long, value_name = "GUARANTEE", default_value = "hard", value_parser = guarantee)]
    pub guarantee: Guarantee,
    /// What scheduling costs: a CSV file, or a name that `laxity list overheads` has
    ///
    /// With SCHEDULER= before it, of this one. May be given several times.
    #[arg(help_heading = "Machine", long, value_name = "[SCHEDULER=]FILE", value_parser = value::<ChargedFile>)]
    pub overheads: Vec<ChargedFile>,
    /// What a preemption or a migration costs by working set, a CSV file
    ///
    /// Its columns are WSS, MEM, L1, L2, L3; in KiB and us.
    #[arg(help_heading = "Machine", long, value_name = "FILE")]
    pub cache_delays: Option<PathBuf>,
    /// Assume that no other thread is ever ready on these CPUs: the kernel's servers then take nothing, and throttling comes
    /// only where the tasks alone use up what it leaves
    #[arg(help_heading = "Machine", long)]
    pub assume_no_background: bool,
    /// Count kernel threads that go before the tasks of laxity's own policies for so long, in each 10ms of each CPU
    ///
    /// Of `load --kernel-threads`, whose default is 500us. Two such times may follow each other.
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", value_parser = kernel_threads)]
    pub kernel_threads: Option<Duration>,
    /// The quantum of pfair; also how often a tick comes, where --overheads say what it costs
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", default_value = "1ms", value_parser = value::<Duration>)]
    pub tick: Duration,
    /// What amp-rm's tasks are below
    #[command(flatten)]
    pub below: ServerArguments,
    /// Ask this test only (`laxity list tests`)
    #[arg(help_heading = "Checks", long, value_name = "NAME", value_parser = one_test)]
    pub test: Option<&'static str>,
    /// Say what would make it fit: the fewest CPUs, and the largest factor for all execution times
    ///
    /// Tasks are placed anew for each number of CPUs and for each factor.
    #[arg(help_heading = "Checks", long)]
    pub sensitivity: bool,
    /// Steps that a test may take, the same on every machine
    #[arg(help_heading = "Checks", long, allow_hyphen_values = true, value_name = "STEPS", default_value_t = WORK_STEPS_DEFAULT, value_parser = whole::<u64>(1..=u64::MAX))]
    pub work: u64,
    /// Print JSON instead of tables
    #[arg(help_heading = "Output", long)]
    pub json: bool,
    /// The places
    #[command(flatten)]
    pub written: WriteArguments,
    /// Threads that judge; default: one per CPU of this machine
    ///
    /// They do not change the answer.
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "N", value_parser = whole::<u16>(1..=u64::from(u16::MAX)))]
    pub threads: Option<u16>,
    /// Which CPUs
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// Where tasks go
    #[command(flatten)]
    pub placement: PlacementArguments,
}

fn guarantee(text: &str) -> std::result::Result<Guarantee, String> {
    match text {
        "hard" => Ok(Guarantee::Hard),
        "soft" => Ok(Guarantee::Soft),
        _ => Err(worded(Names::of("guarantee", &["hard", "soft"]).unknown(text))),
    }
}

/// Configurations have their placement in their names elsewhere; here all are judged by one placement.
fn analysed(text: &str) -> std::result::Result<Analysed, String> {
    match text.split_once('@') {
        Some((name, placement)) if text.parse::<Configuration>().is_ok() => Err(worded(
            Diagnostic::usage(format!(
                "`{text}` has a placement in its name: that is of simulate, run and compare"
            ))
            .hint(format!("here it is --schedulers {name} --placement {placement}")),
        )),
        _ => value::<Analysed>(text),
    }
}

fn one_test(text: &str) -> std::result::Result<&'static str, String> {
    test_name(text).map_err(worded)
}

/// What is proven, and of which sets.
fn proven(arguments: &AnalyzeArguments) -> Result<(Answer, Vec<TaskSet>)> {
    let mut schedulers = Vec::new();
    let (answer, sets) = proven_each(arguments, |one| schedulers.push(one))?;
    Ok((Answer { schedulers, ..answer }, sets))
}

/// What is proven, each set under each scheduler by itself as soon as it is known; the answer that comes back has none of them.
pub fn proven_each(
    arguments: &AnalyzeArguments,
    mut keep: impl FnMut(SchedulerAnswer),
) -> Result<(Answer, Vec<TaskSet>)> {
    let interrupt = interrupt::flag()?;
    let sets = arguments.import.read_sets(&arguments.sets)?;
    check_write(arguments, &sets)?;
    let (schedulers, of_cases) = of_cases(arguments)?;
    let cases = Cases::of(&sets, &schedulers, &of_cases, Purpose::Proof, interrupt)?;
    let settings = Settings {
        guarantee: arguments.guarantee,
        sensitivity: arguments.sensitivity,
        threads: threads(arguments.threads),
    };
    let caller = terminal::caller();
    let step = Steps::new(1, &*caller.observer).begin_counting("analysing", "schedulers");
    let show = |done: usize, all: usize| step.show(done as u64, all as u64, "");
    let mut count = 0;
    prove_each(&cases, &settings, show, |one| {
        count += 1;
        keep(one);
    })?;
    step.end(None);
    let answer = Answer {
        version: VERSION,
        platform: of_cases.platform().name().to_owned(),
        cores: of_cases.platform().core_count(),
        guarantee: settings.guarantee.into(),
        interrupted: count < cases.count() || interrupt.load(SeqCst),
        schedulers: Vec::new(),
    };
    Ok((answer, sets))
}

pub fn analyze(arguments: &AnalyzeArguments) -> Result<ExitCode> {
    let (answer, sets) = proven(arguments)?;
    arguments.written.answer(arguments.json, &answer, || text::text(&answer, &sets))?;
    if answer.interrupted {
        return Ok(output::interrupted(": what was analysed until then is in the answer"));
    }
    if arguments.written.write.is_some() {
        let chosen = written::chosen(&answer)?;
        arguments.written.write(|| written::placed(&sets[0], chosen))?;
        let proven = chosen.verdict(answer.guarantee).verdict == VerdictName::Schedulable;
        let not = if proven { "" } else { ", which are not proven" };
        output::note(format_args!("these are the places of {}{not}", chosen.scheduler));
    }
    Ok(output::verdict(all_proven(&answer, answer.guarantee)))
}

/// Refuses what cannot be written before anything is judged.
fn check_write(arguments: &AnalyzeArguments, sets: &[TaskSet]) -> Result<()> {
    let Some(path) = &arguments.written.write else { return Ok(()) };
    if sets.len() != 1 {
        return Err(Diagnostic::usage(format!(
            "--write {}: a file has one task set, but there are {}",
            path.shown(),
            sets.len()
        ))
        .hint("analyse one set at a time"));
    }
    arguments.written.check(arguments.json)
}

fn all_proven(answer: &Answer, guarantee: GuaranteeAnswer) -> bool {
    answer.schedulers.iter().all(|one| one.verdict(guarantee).verdict == VerdictName::Schedulable)
}

/// The schedulers, and what cases have in common.
fn of_cases(arguments: &AnalyzeArguments) -> Result<(Vec<Analysed>, CaseSettings)> {
    if arguments.tick.is_zero() {
        return Err(Diagnostic::usage("--tick 0ns: a tick comes every so often").hint("try --tick 1ms"));
    }
    let tick_period = arguments.tick.as_ns();
    let charges = Charges::read(
        &arguments.overheads,
        arguments.cache_delays.as_deref(),
        tick_period,
        shipped::located,
    )?;
    let machine = arguments.platform.choice();
    let platform = machine.resolve_simulated()?;
    let period_ns = laxity_kernel::KERNEL_THREADS_WINDOW.as_ns();
    let threads = arguments.kernel_threads.map(|time| Taken { runtime_ns: time.as_ns(), period_ns });
    let charges = threads.into_iter().fold(charges, Charges::with_kernel_threads);
    let charges = charges.beside_kernel(machine.kernel_of(&platform, arguments.assume_no_background));
    let schedulers = match arguments.schedulers.is_empty() {
        true => Scheduler::LELLI2012.map(Analysed::from).to_vec(),
        false => unique(arguments.schedulers.iter().copied()),
    };
    arguments.overheads.iter().try_for_each(|file| file.check(&schedulers))?;
    let below = arguments.below.below();
    check_servers(&below, &schedulers, &platform)?;
    arguments.placement.only_choice("analyze")?;
    let of_cases = CaseSettings {
        placement: arguments.placement.settings(platform, below)?,
        charges,
        demand: Demand::Wcet,
        changes: Vec::new(),
        tests: TestSettings { only: arguments.test, work_steps: arguments.work },
    };
    Ok((schedulers, of_cases))
}

/// Refuses servers where there are none, and of CPUs that are not there.
fn check_servers(below: &BelowServers, schedulers: &[Analysed], platform: &Platform) -> Result<()> {
    match schedulers.iter().find(|scheduler| below.any() && !scheduler.has_servers()) {
        None => below.servers.check(platform),
        Some(without) => {
            Err(Diagnostic::usage(format!("{}: {without} has no deferrable servers", below.words()))
                .hint("analyse amp-rm below servers (--scheduler amp-rm), and others in a call of their own"))
        }
    }
}
