//! `laxity load`: a policy schedules this machine until it is stopped.

pub mod servers;

use crate::arguments::{switch, value, whole, worded};
use crate::terminal;
use crate::{interrupt, output};
use clap::Args;
use laxity_kernel::{Counters, Enrolled, Exit, Options, PolicyCpus, Reserve, Scheduler as Attached, Support};
use laxity_lab::experiment::elsewhere;
use laxity_lab::promotion::{Authority, Reserved};
use laxity_model::{
    BudgetMode, CpuList, Diagnostic, Duration, Names, Platform, Policy, PolicyScheduler, PriorityRule,
    Result, Scheduler, Scope, cpus_named,
};
use laxity_run::Refusal;
use serde::Serialize;
use servers::{CoreArguments, CpuTimes};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration as Span, Instant};

/// How often it is looked whether the scheduler still is one.
const LOOK_EVERY: Span = Span::from_millis(50);
/// Restarts within this time of the start before are counted.
const CALM: Span = Span::from_secs(10);
/// More of them in a row mean that something is wrong.
const RESTARTS_MAX: u32 = 20;

/// Attach a policy to this kernel until stopped.
///
/// From then on it schedules the whole machine: kernel threads first; threads that have asked for it (`sched_setattr` with
/// policy SCHED_EXT, 7, and runtime, deadline and period, as for SCHED_DEADLINE) by the policy; everything else shares what
/// is left by virtual time, at least the reserve. It ends with Ctrl-C, and in any case with this process; the kernel's own
/// scheduler then goes on with all tasks.
#[derive(Args)]
#[command(after_long_help = "\
A thread asks once, and needs CAP_SYS_NICE; sched_yield or blocking ends a job, and the next is released a period later. More \
than the CPUs less the reserve is refused (EBUSY). `laxity exec` has an unmodified SCHED_DEADLINE program ask. When a CPU comes \
or goes the policy starts anew with its tasks, and where too few are left for it, it waits until they are back.

Exit codes: 0 stopped, or --duration is over; 2 usage or input; 3 the kernel takes no such scheduler, has another one, or has \
ended this one (the reason is said); 130 interrupted before --duration was over.

Examples:
  # all CPUs, a line every second
  sudo laxity load fpp --stats
  sudo laxity load c-gsn-edf --cpus 0-7 --clusters '0-3;4-7'
  sudo laxity load p-edf-bh:rm --reserve 10 --duration 1m
  # meanwhile, in another terminal
  sudo laxity exec -- cyclicdeadline -t 2 -D 10 -i 10000
  sudo laxity load amp-rm --server 25%/4ms --server 0-1=1ms/10ms \\
      --speeds 1,1,0.5,0.5")]
pub struct LoadArguments {
    #[arg(value_name = "POLICY", value_parser = policy, help = policies(), long_help = format!("{}\n\n{NAMES}", policies()))]
    pub policy: PolicyScheduler,
    #[command(flatten)]
    pub platform: crate::arguments::platform::PlatformArguments,
    /// What happens to a job that has used up its runtime: off, throttle or postpone
    #[arg(help_heading = "Schedulers", long, value_name = "MODE", default_value = "throttle", value_parser = value::<BudgetMode>)]
    pub budget: BudgetMode,
    /// Whether jobs of one release instant are released together: on or off
    #[arg(help_heading = "Schedulers", long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub batching: bool,
    /// What real-time tasks leave of every CPU to everything else, in percent; also what is not admitted
    #[arg(help_heading = "Machine", long, value_name = "PERCENT", default_value_t = 5, value_parser = whole::<u8>(0..=90))]
    pub reserve: u8,
    /// The time within which the reserve is granted
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", default_value = "1s", value_parser = reserve_period)]
    pub reserve_period: Duration,
    /// Real-time tasks that a cell has room for
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1024, value_parser = whole::<u32>(1..=u64::from(laxity_kernel::TASKS_MAX)))]
    pub tasks: u32,
    /// push-pull: failures after which a push is given up
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = laxity_sim::RETRIES_MAX, value_parser = whole::<u32>(1..=u64::from(u32::MAX)))]
    pub retries: u32,
    #[command(flatten)]
    pub servers: CoreArguments,
    /// Stop after this time
    #[arg(help_heading = "Output", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub duration: Option<Duration>,
    /// Print what happened, this often
    #[arg(help_heading = "Output", long, value_name = "TIME", num_args = 0..=1, default_missing_value = "1s", value_parser = value::<Duration>)]
    pub stats: Option<Duration>,
    /// Statistics as one JSON object per line, with the sums at the end
    #[arg(help_heading = "Output", long)]
    pub json: bool,
}

/// Linux's own schedulers are there already.
/// Which names there are.
fn policies() -> String {
    let mut names: Vec<&str> = Policy::all().map(Policy::name).collect();
    let last = names.pop().expect("there are policies");
    format!("The policy: {} or {last}", names.join(", "))
}

const NAMES: &str = "`c-` or `p-` before it: a scheduler per cluster or per CPU; `:rm` or `:dm` behind it: fixed priorities. \
    amp-rm: a rate-monotonic scheduler per CPU, with deferrable servers for everything else.";

fn policy(text: &str) -> std::result::Result<PolicyScheduler, String> {
    match text.parse::<Scheduler>() {
        Ok(linux) => Err(format!(
            "`{text}` is the kernel's own {}: there is nothing to attach\nhint: push-pull is the structure of SCHED_DEADLINE \
             as a policy; g-edf among the schedulers of `laxity run` is the kernel's",
            linux.linux_policy()
        )),
        Err(_) => text.parse().map_err(|error: Diagnostic| {
            let unknown = error.message.ends_with("is not known") && !text.contains(':');
            let own: Vec<&str> = Policy::all().map(Policy::name).collect();
            worded(if unknown { Names::of("policy", &own).unknown(text) } else { error })
        }),
    }
}

/// Shorter than a tick, and the reserve is none; longer than the kernel's patience, and it throws the scheduler out.
fn reserve_period(text: &str) -> std::result::Result<Duration, String> {
    let period: Duration = value(text)?;
    if period < Duration::from_ms(10) || period > Duration::from_secs(10) {
        return Err(format!(
            "{text} is not between 10ms and 10s\nhint: the kernel's own for SCHED_FIFO is 1s"
        ));
    }
    Ok(period)
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line {
    policy: String,
    seconds: f64,
    /// Whether these are the sums since the beginning rather than since the line before.
    total: bool,
    #[serde(flatten)]
    counters: Counters,
    /// amp-rm: for how long background tasks have had each CPU.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ordinary: Vec<CpuTimes>,
}

pub fn load(arguments: &LoadArguments) -> Result<ExitCode> {
    let stop = interrupt::flag()?;
    let mut tasks: Vec<Enrolled> = Vec::new();
    let mut restarts = 0;
    let mut first = None;
    let mut options = options(arguments)?;
    if let Support::No { reason, hint } = laxity_kernel::support() {
        let hint = elsewhere::hint(&Refusal { reason: reason.clone(), hint }, std::env::args().skip(1));
        return Err(Diagnostic::environment(reason).hint(hint));
    }
    let mut authority = None;
    loop {
        let scheduler = Attached::attach(&options)?;
        if authority.is_none() && options.policy.has_servers() {
            authority = Some(open_authority(arguments, &options)?);
        }
        // The verifier may take seconds; they are none of the schedule's.
        let started = Instant::now();
        let begin = *first.get_or_insert(started);
        announce(arguments, &options);
        if !scheduler.hears_all() {
            output::say(
                "note: the kernel has no active security module `bpf` (lsm= on its command line): of many tasks that ask to \
                 be admitted at the same time, some may not be heard",
            );
        }
        ask_again(&tasks);
        if let Some(authority) = &mut authority {
            authority.goes_on();
        }
        let end = watch(arguments, &scheduler, &mut authority, begin, stop)?;
        if let Some(authority) = &mut authority {
            authority.put_all_back(&scheduler);
        }
        report(arguments, begin, &Sums::of(&scheduler)?, true)?;
        let Some(exit) = end else {
            drop(scheduler);
            return Ok(stopped(arguments, stop));
        };
        if !exit.wants_restart() {
            return Err(thrown_out(arguments, &exit));
        }
        tasks = scheduler.roster()?;
        drop(scheduler);
        restarts = if started.elapsed() < CALM { restarts + 1 } else { 1 };
        if restarts > RESTARTS_MAX {
            return Err(thrown_out(arguments, &exit));
        }
        output::say(format!(
            "{}: {}: starting anew with {} tasks",
            arguments.policy,
            words(&exit),
            tasks.len()
        ));
        match options_of_what_is_left(arguments, begin, stop) {
            Some(left) => options = left,
            None => return Ok(stopped(arguments, stop)),
        }
        if let Some(authority) = &mut authority {
            authority.starts_anew(&mut options.cores, &mut tasks);
        }
    }
}

/// Opens what decides on promotions while amp-rm is attached.
fn open_authority(arguments: &LoadArguments, options: &Options) -> Result<Authority> {
    let platform = servers::platform(&arguments.servers, &arguments.platform.resolve()?)?;
    let reserved = Reserved { share_ppm: options.share_ppm };
    let observer = terminal::caller().observer;
    Authority::open(&platform, &options.cores, reserved, arguments.servers.double_hit(), observer)
}

fn stopped(arguments: &LoadArguments, stop: &AtomicBool) -> ExitCode {
    output::say(format!("{}: stopped; the kernel's own scheduler goes on", arguments.policy));
    match stop.load(Ordering::SeqCst) && arguments.duration.is_some() {
        true => ExitCode::from(output::INTERRUPTED),
        false => ExitCode::SUCCESS,
    }
}

/// After a CPU has come or gone: what the policy is to have now. If too little is left for it, it waits until enough is back,
/// and its tasks go on under the kernel's own scheduler; nothing if it is to stop first.
fn options_of_what_is_left(arguments: &LoadArguments, begin: Instant, stop: &AtomicBool) -> Option<Options> {
    let mut told = false;
    loop {
        match options(arguments) {
            Ok(options) => return Some(options),
            Err(why) if !told => {
                told = true;
                output::say(format!("{}: waits for its CPUs: {}", arguments.policy, why.message));
            }
            Err(_) => {}
        }
        if interrupt::is_over(begin, arguments.duration, stop) {
            return None;
        }
        sleep(LOOK_EVERY);
    }
}

/// Until it is to stop: `None`; or until the kernel ends it: how.
fn watch(
    arguments: &LoadArguments,
    scheduler: &Attached,
    authority: &mut Option<Authority>,
    begin: Instant,
    stop: &AtomicBool,
) -> Result<Option<Exit>> {
    let mut before = Sums::default();
    let mut reported = Instant::now();
    loop {
        if let Some(exit) = scheduler.exited() {
            return Ok(Some(exit));
        }
        if interrupt::is_over(begin, arguments.duration, stop) {
            return Ok(None);
        }
        if arguments.stats.is_some_and(|every| reported.elapsed() >= Span::from_nanos(every.as_ns())) {
            reported = Instant::now();
            let now = Sums::of(scheduler)?;
            report(arguments, begin, &now.since(&before), false)?;
            before = now;
        }
        match authority {
            Some(authority) => authority.serve(scheduler, LOOK_EVERY),
            None => sleep(LOOK_EVERY),
        }
    }
}

/// What happened, in all or since the line before.
#[derive(Default)]
struct Sums {
    counters: Counters,
    ordinary: Vec<CpuTimes>,
}

impl Sums {
    fn of(scheduler: &Attached) -> Result<Sums> {
        Ok(Sums { counters: scheduler.counters()?, ordinary: servers::times(scheduler)? })
    }

    fn since(&self, before: &Sums) -> Sums {
        Sums {
            counters: self.counters.since(&before.counters),
            ordinary: servers::times_since(&self.ordinary, &before.ordinary),
        }
    }
}

fn report(arguments: &LoadArguments, begin: Instant, sums: &Sums, total: bool) -> Result<()> {
    let Sums { counters, ordinary } = sums;
    let seconds = begin.elapsed().as_secs_f64();
    if arguments.json {
        let policy = arguments.policy.to_string();
        let line = Line { policy, seconds, total, counters: *counters, ordinary: ordinary.clone() };
        let text = serde_json::to_string(&line)
            .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
        return output::print(&(text + "\n"));
    }
    if arguments.stats.is_none() && !total {
        return Ok(());
    }
    let counts: Vec<String> = counters
        .named()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let what = if total { "in all" } else { "since then" };
    output::print(&format!("{seconds:9.1} s, {what}: {}\n{}", counts.join(", "), servers::lines(ordinary)))
}

fn announce(arguments: &LoadArguments, options: &Options) {
    let cells: Vec<String> =
        options.cells.iter().map(|cell| cell.cpus.iter().copied().collect::<CpuList>().to_string()).collect();
    output::say(format!(
        "{}: schedules this machine; real-time tasks on {}, {} % for all else (Ctrl-C ends it)",
        arguments.policy,
        cpus_named(cells.join(" | ")),
        arguments.reserve
    ));
}

/// Tasks of a scheduler that a CPU's coming or going has ended.
fn ask_again(tasks: &[Enrolled]) {
    for task in tasks {
        if let Err(error) = task.ask() {
            output::say(format!("thread {} is not one of the scheduler's any more: {error}", task.tid));
        }
    }
}

fn words(exit: &Exit) -> String {
    if exit.message.is_empty() { exit.reason.clone() } else { format!("{} ({})", exit.reason, exit.message) }
}

fn thrown_out(arguments: &LoadArguments, exit: &Exit) -> Diagnostic {
    Diagnostic::environment(format!("the kernel has ended {}: {}", arguments.policy, words(exit)))
        .hint("all tasks go on under the kernel's own scheduler; `dmesg` may say more")
}

fn options(arguments: &LoadArguments) -> Result<Options> {
    let platform = arguments.platform.resolve()?;
    let scheduler = arguments.policy;
    let (period_ns, share) = (arguments.reserve_period.as_ns(), 100 - u64::from(arguments.reserve));
    let cells = cells(&platform, scheduler.scope);
    let least = if scheduler.policy.dedicates_a_core() { 2 } else { 1 };
    if let Some(small) = cells.iter().find(|cell| cell.cpus.len() < least) {
        return Err(Diagnostic::usage(format!(
            "{scheduler}: a cell has CPU {} only, and one CPU of each is dedicated to scheduling",
            small.cpus[0]
        ))
        .hint("use larger cells (--clusters), or another policy"));
    }
    let cores = servers::cores(&arguments.servers, scheduler, &platform, share * 10_000)?;
    Ok(Options {
        policy: scheduler.policy,
        fixed_priorities: scheduler.rule != PriorityRule::EarliestDeadlineFirst,
        by_period: scheduler.rule == PriorityRule::RateMonotonic,
        cells,
        budget: arguments.budget,
        batching: arguments.batching,
        retries_max: arguments.retries,
        tasks: arguments.tasks,
        share_ppm: share * 10_000,
        reserve: Reserve { period_ns, runtime_ns: period_ns / 100 * share },
        cores,
    })
}

/// One scheduler each.
fn cells(platform: &Platform, scope: Scope) -> Vec<PolicyCpus> {
    let of = |cpus: &CpuList| {
        let socket = |cpu: u32| {
            let at = platform.numa_nodes().iter().position(|node| node.cpus.contains(cpu));
            at.map_or(0, |at| u32::try_from(at).expect("few nodes"))
        };
        PolicyCpus { cpus: cpus.iter().collect(), sockets: cpus.iter().map(socket).collect() }
    };
    platform.cells(scope).iter().map(of).collect()
}
