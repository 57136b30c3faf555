//! `laxity load`: a policy schedules this machine until it is stopped.

use crate::arguments::{
    PlatformArguments, double_hit, kernel_threads, reserve_window, switch, value, whole, worded,
};
use crate::{interrupt, output, terminal};
use clap::Args;
use laxity_lab::loading::{Loading, Report};
use laxity_lab::platforms::Speeds;
use laxity_model::{
    BudgetMode, Diagnostic, Duration, Names, Policy, PolicyScheduler, Result, Scheduler, ServerChoice, one_of,
};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Attach a policy to this kernel until stopped.
///
/// From then on it schedules the whole machine: kernel threads first; threads that have asked for it (`sched_setattr` with
/// policy SCHED_EXT, 7, and runtime, deadline and period, as for SCHED_DEADLINE) by the policy; everything else shares what
/// is left by virtual time, at least the reserve. CPU limits of cgroups have no effect meanwhile. It ends with Ctrl-C, and in any
/// case with this process; the kernel's own scheduler then goes on with all tasks.
#[derive(Args)]
#[command(after_long_help = "\
A thread asks once, and needs CAP_SYS_NICE; sched_yield or blocking ends a job, and the next is released a period later. More \
than the CPUs less the reserve is refused (EBUSY). `laxity exec` has an unmodified SCHED_DEADLINE program ask. When a CPU comes \
or goes the policy starts anew with its tasks, and where too few are left for it, it waits until they are back.

Exit codes: 0 stopped, or --duration is over; 2 usage or input; 3 the kernel takes no such scheduler, has another one, or has \
ended this one (the reason is said), or cgroups have CPU limits; 130 interrupted before --duration was over.

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
    pub platform: PlatformArguments,
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
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", default_value = "1s", value_parser = reserve_window)]
    pub reserve_period: Duration,
    /// How long kernel threads of a CPU may go before its real-time tasks, in each 10ms; 10ms: without a bound
    ///
    /// Those that can run on that CPU only: its soft interrupts, its work queues. What is beyond waits for the next 10 ms, or until
    /// no real-time task wants the CPU; all other kernel threads are background work.
    #[arg(help_heading = "Machine", long, allow_hyphen_values = true, value_name = "TIME", default_value = "500us", value_parser = kernel_threads)]
    pub kernel_threads: Duration,
    /// Load it although cgroups of this machine have CPU limits, which have no effect meanwhile
    ///
    /// Without it, a machine with such cgroups is refused, and they are named. cpu.max, cpu.weight and cpu.idle (cgroup v1:
    /// cpu.cfs_quota_us, cpu.shares) count, where they are not the defaults and the cgroup has a process in it or below it.
    #[arg(help_heading = "Machine", long)]
    pub void_cgroup_limits: bool,
    /// Real-time tasks that a cell has room for
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1024, value_parser = whole::<u32>(1..=u64::from(laxity_kernel::TASKS_MAX)))]
    pub tasks: u32,
    /// push-pull: failures after which a push is given up
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = laxity_sim::RETRIES_MAX, value_parser = whole::<u32>(1..=u64::from(u32::MAX)))]
    pub retries: u32,
    /// Time in which background tasks go before real-time tasks, per period: 2ms/10ms ...; default: none
    ///
    /// `2ms/10ms` or `20%/10ms` of each CPU, `2ms@slowest/10ms` for as much work as the slowest CPU does in 2ms;
    /// `0-1=2ms/10ms` for some CPUs.
    #[arg(help_heading = "Servers of amp-rm", long, allow_hyphen_values = true, value_name = "[CPUS=]SIZE", value_parser = value::<ServerChoice>)]
    pub server: Vec<ServerChoice>,
    /// Speeds of the CPUs in the order of their numbers, as in 1,1,0.5,0.5; default: the platform's
    #[arg(help_heading = "Servers of amp-rm", long, value_name = "SPEEDS", value_parser = value::<Speeds>)]
    pub speeds: Option<Speeds>,
    /// Promote only what meets its deadlines even if a server uses up two budgets in a row
    ///
    /// Without it, what is late by bounded times is promoted, too.
    #[arg(help_heading = "Servers of amp-rm", long)]
    pub count_double_hit: bool,
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

/// Which names there are: Linux's own schedulers are there already.
fn policies() -> String {
    format!("The policy: {}", one_of(Policy::all().map(Policy::name)))
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
        Err(_) => text.parse().and_then(PolicyScheduler::run_for_real).map_err(|error: Diagnostic| {
            let unknown = error.message.ends_with("is not known") && !text.contains(':');
            let own: Vec<&str> = Policy::all().map(Policy::name).collect();
            worded(if unknown { Names::of("policy", &own).unknown(text) } else { error })
        }),
    }
}

pub fn load(arguments: &LoadArguments) -> Result<ExitCode> {
    let stop = interrupt::flag()?;
    let loading = Loading {
        policy: arguments.policy,
        platform: arguments.platform.choice(),
        budget: arguments.budget,
        batching: arguments.batching,
        retries_max: arguments.retries,
        reserve_percent: arguments.reserve,
        reserve_period: arguments.reserve_period,
        kernel_threads: arguments.kernel_threads,
        tasks_max: arguments.tasks,
        servers: arguments.server.clone(),
        speeds: arguments.speeds.clone(),
        double_hit: double_hit(arguments.count_double_hit),
        void_cgroup_limits: arguments.void_cgroup_limits,
        duration: arguments.duration,
        report_every: arguments.stats,
    };
    let mut print = |report: &Report| match arguments.json {
        true => {
            output::print(&(serde_json::to_string(report).map_err(|error| output::no_json(&error))? + "\n"))
        }
        false => output::print(&text(report)),
    };
    loading.run(&terminal::caller(), stop, &mut print)?;
    Ok(match stop.load(Ordering::SeqCst) && arguments.duration.is_some() {
        true => ExitCode::from(output::INTERRUPTED),
        false => ExitCode::SUCCESS,
    })
}

/// What was counted, and a line for every CPU that background tasks have had.
fn text(report: &Report) -> String {
    let Report { seconds, counters, .. } = report;
    let counted = counters.named().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counted.map(|(name, count)| format!("{count} {name}")).collect();
    let what = if report.total { "in all" } else { "since then" };
    let mut text = format!("{seconds:9.1} s, {what}: {}\n", counts.join(", "));
    for one in report.ordinary.iter().filter(|one| one.is_any()) {
        let _ = writeln!(
            text,
            "            CPU {}: background tasks had it for {} by the server, {} by the reserve, {} otherwise",
            one.cpu, one.times.server, one.times.reserve, one.times.background
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, FromArgMatches as _, Parser};

    #[derive(Parser)]
    struct Call {
        #[command(flatten)]
        load: LoadArguments,
    }

    /// What files to deploy, refusals and plans name is an option here, and not the default.
    #[test]
    fn the_option_that_gives_up_limits_of_cgroups_is_the_one_that_is_named_elsewhere() {
        let asked = |words: &[&str]| {
            let matches = Call::command().try_get_matches_from(words).expect("it is taken");
            Call::from_arg_matches(&matches).expect("valid").load.void_cgroup_limits
        };
        assert!(asked(&["load", "edf-bh", laxity_deploy::VOID_CGROUP_LIMITS]));
        assert!(!asked(&["load", "edf-bh"]));
    }
}
