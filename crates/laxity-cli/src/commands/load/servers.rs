//! `laxity load amp-rm`: the speeds of cores, the deferrable servers on them, and what ordinary tasks have had by them.

use crate::arguments::value;
use clap::Args;
use laxity_analysis::DoubleHit;
use laxity_kernel::{Core, OrdinaryTimes, Scheduler};
use laxity_model::{
    CpuList, DeferrableServer, Diagnostic, Duration, Platform, Policy, PolicyScheduler, Result, ServerSize,
    Speed,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// What the fastest core's speed is to the policy, which compares products of speeds and numbers of tasks.
const FASTEST: u128 = 1 << 16;
/// A server's budget comes and goes by timers: more often than this, and they are all that the machine does.
const PERIOD_MIN: Duration = Duration::from_us(100);
const MILLION: u64 = 1_000_000;

/// Deferrable servers.
#[derive(Args)]
pub struct ServerArguments {
    /// amp-rm: time in which ordinary tasks go before real-time tasks, per period: `2ms/10ms` or `20%/10ms` of each core,
    /// `2ms@slowest/10ms` for as much work as the slowest core does in 2ms; `0-1=2ms/10ms` for some CPUs. Default: none
    #[arg(long = "server", allow_hyphen_values = true, value_name = "[CPUS=]SIZE", value_parser = value::<ServerChoice>)]
    pub choices: Vec<ServerChoice>,
    /// amp-rm: speeds of the cores in the order of their numbers, as in 1,1,0.5,0.5; default: what the platform says
    #[arg(long, value_name = "SPEEDS", value_parser = value::<Speeds>)]
    pub speeds: Option<Speeds>,
    /// amp-rm: promote only what meets its deadlines even if a server uses up two budgets in a row, rather than what is late by
    /// bounded times then
    #[arg(long)]
    pub count_double_hit: bool,
}

impl ServerArguments {
    /// What `laxity promote` has proven.
    pub fn double_hit(&self) -> DoubleHit {
        if self.count_double_hit { DoubleHit::Counted } else { DoubleHit::Ignored }
    }

    fn are_given(&self) -> bool {
        !self.choices.is_empty() || self.speeds.is_some() || self.count_double_hit
    }
}

/// A size, for all cores or for some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerChoice {
    cpus: Option<CpuList>,
    size: ServerSize,
}

impl FromStr for ServerChoice {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            None => Ok(ServerChoice { cpus: None, size: text.parse()? }),
            Some((cpus, size)) => Ok(ServerChoice { cpus: Some(cpus.trim().parse()?), size: size.parse()? }),
        }
    }
}

/// Speeds of cores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speeds(Vec<Speed>);

impl FromStr for Speeds {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        text.split(',').map(|speed| speed.trim().parse()).collect::<Result<_>>().map(Speeds)
    }
}

/// What the policy is to know of every core of this machine; nothing for a policy without servers.
pub fn cores(
    arguments: &ServerArguments,
    scheduler: PolicyScheduler,
    platform: &Platform,
    share_ppm: u64,
) -> Result<Vec<Core>> {
    if scheduler.policy != Policy::AmpRm {
        if !arguments.are_given() {
            return Ok(Vec::new());
        }
        return Err(Diagnostic::usage(format!(
            "{scheduler}: --server, --speeds and --count-double-hit are for amp-rm"
        ))
        .hint("other policies leave everything else a reserve (--reserve)"));
    }
    let speeds = speeds(arguments, platform)?;
    let servers = servers(arguments, &speeds)?;
    // What is not the platform's has ordinary tasks all the same.
    let others = Platform::this_machine()?;
    let others = others.cores().iter().filter(|core| !speeds.contains_key(&core.cpu));
    let all: BTreeMap<u32, Speed> = speeds
        .iter()
        .map(|(&cpu, &speed)| (cpu, speed))
        .chain(others.map(|core| (core.cpu, core.speed)))
        .collect();
    let fastest = all.values().copied().max().unwrap_or(Speed::UNIT);
    let core = |(&cpu, &speed): (&u32, &Speed)| {
        let server = servers.get(&cpu).copied().unwrap_or(DeferrableServer::NONE);
        let core = Core { cpu, speed: scaled(speed, fastest), budget_ns: 0, period_ns: 0, share_ppm };
        with_server(core, server, share_ppm)
    };
    Ok(all.iter().map(core).collect())
}

/// The core with this server, where all else leaves real-time tasks `share_ppm` millionths.
pub fn with_server(core: Core, server: DeferrableServer, share_ppm: u64) -> Core {
    let (budget_ns, period_ns) = match server.is_none() {
        true => (0, 0),
        false => (server.budget().as_ns(), server.period().as_ns()),
    };
    Core { budget_ns, period_ns, share_ppm: share_beside(server, share_ppm), ..core }
}

/// The platform with the speeds that were given.
pub fn platform(arguments: &ServerArguments, platform: &Platform) -> Result<Platform> {
    let speeds = speeds(arguments, platform)?;
    let cores = speeds.into_iter().map(|(cpu, speed)| laxity_model::Core { cpu, speed }).collect();
    let (caches, nodes) = (platform.caches().to_vec(), platform.numa_nodes().to_vec());
    Platform::new(platform.name(), cores, caches, nodes, Some(platform.clusters().to_vec()))
}

/// Of the platform's cores.
fn speeds(arguments: &ServerArguments, platform: &Platform) -> Result<BTreeMap<u32, Speed>> {
    let Some(Speeds(given)) = &arguments.speeds else {
        return Ok(platform.cores().iter().map(|core| (core.cpu, core.speed)).collect());
    };
    if given.len() != platform.core_count() {
        return Err(Diagnostic::usage(format!(
            "--speeds: {} speeds for {} cores (CPUs {})",
            given.len(),
            platform.core_count(),
            platform.cpus()
        ))
        .hint("give one for each core that real-time tasks run on, in the order of their numbers"));
    }
    Ok(platform.cores().iter().map(|core| core.cpu).zip(given.iter().copied()).collect())
}

/// Of the platform's cores; what is said last of one counts.
fn servers(
    arguments: &ServerArguments,
    speeds: &BTreeMap<u32, Speed>,
) -> Result<BTreeMap<u32, DeferrableServer>> {
    let slowest = speeds.values().copied().min().unwrap_or(Speed::UNIT);
    let mut servers = BTreeMap::new();
    for choice in &arguments.choices {
        let foreign = choice.cpus.iter().flat_map(CpuList::iter).find(|cpu| !speeds.contains_key(cpu));
        if let Some(cpu) = foreign {
            return Err(Diagnostic::usage(format!("--server for CPU {cpu}: no real-time tasks run there"))
                .hint("choose among the policy's CPUs (--cpus, --platform)"));
        }
        for (&cpu, &speed) in speeds {
            if choice.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu)) {
                servers.insert(cpu, checked(choice.size.on(speed, slowest))?);
            }
        }
    }
    Ok(servers)
}

/// A server that the kernel's side can carry out.
///
/// # Errors
///
/// Its period is too short or too long for that.
pub fn checked(server: DeferrableServer) -> Result<DeferrableServer> {
    let longest = Duration::from_ns(laxity_kernel::PERIOD_MAX_NS);
    if !server.is_none() && (server.period() < PERIOD_MIN || server.period() > longest) {
        return Err(Diagnostic::usage(format!(
            "server {server}: the period is not between {PERIOD_MIN} and {longest}"
        ))
        .hint("the paper's is 4ms; the share is what counts, and a longer period costs fewer interrupts"));
    }
    Ok(server)
}

/// What real-time tasks may have of a core with this server, in millionths: no more than the server leaves.
pub fn share_beside(server: DeferrableServer, share_ppm: u64) -> u64 {
    if server.is_none() {
        return share_ppm;
    }
    let budget = u128::from(server.budget().as_ns()) * u128::from(MILLION);
    let taken = budget.div_ceil(u128::from(server.period().as_ns()));
    share_ppm.min(MILLION.saturating_sub(u64::try_from(taken).unwrap_or(MILLION)))
}

/// Relative to the fastest, rounded down, but no core stands still.
fn scaled(speed: Speed, fastest: Speed) -> u32 {
    let above = FASTEST * u128::from(speed.numerator()) * u128::from(fastest.denominator());
    let below = u128::from(speed.denominator()) * u128::from(fastest.numerator());
    u32::try_from(above / below).unwrap_or(u32::MAX).max(1)
}

/// For how long ordinary tasks have had a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CpuTimes {
    cpu: u32,
    #[serde(flatten)]
    times: OrdinaryTimes,
}

/// Of all CPUs; empty for a policy without servers.
pub fn times(scheduler: &Scheduler) -> Result<Vec<CpuTimes>> {
    Ok((0..).zip(scheduler.ordinary_times()?).map(|(cpu, times)| CpuTimes { cpu, times }).collect())
}

pub fn times_since(now: &[CpuTimes], before: &[CpuTimes]) -> Vec<CpuTimes> {
    let earlier = |at: usize| before.get(at).map(|cpu| cpu.times).unwrap_or_default();
    let since =
        |(at, now): (usize, &CpuTimes)| CpuTimes { cpu: now.cpu, times: now.times.since(&earlier(at)) };
    now.iter().enumerate().map(since).collect()
}

fn has_any(times: &OrdinaryTimes) -> bool {
    [times.server, times.reserve, times.background].iter().any(|time| !time.is_zero())
}

/// A line for every CPU that ordinary tasks have had.
pub fn lines(times: &[CpuTimes]) -> String {
    let mut text = String::new();
    for CpuTimes { cpu, times } in times.iter().filter(|cpu| has_any(&cpu.times)) {
        let OrdinaryTimes { server, reserve, background, .. } = times;
        writeln!(
            text,
            "            CPU {cpu}: ordinary tasks had it for {server} by the server, {reserve} by the reserve, {background} \
             in the background"
        )
        .expect("into a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(choices: &[&str], speeds: Option<&str>) -> ServerArguments {
        ServerArguments {
            choices: choices.iter().map(|text| text.parse().expect("a choice")).collect(),
            speeds: speeds.map(|text| text.parse().expect("speeds")),
            count_double_hit: false,
        }
    }

    fn speed(above: u32, below: u32) -> Speed {
        Speed::new(above, below).expect("positive")
    }

    #[test]
    fn sizes_are_for_all_cores_or_some_and_the_last_counts() {
        let platform = Platform::symmetric(4).expect("four");
        let arguments = arguments(&["25%/4ms", "1-2=2ms@slowest/10ms", "3=0ms/4ms"], Some("1,1,0.5,0.25"));
        let speeds = speeds(&arguments, &platform).expect("four speeds");
        assert_eq!(
            speeds.into_values().collect::<Vec<_>>(),
            [speed(1, 1), speed(1, 1), speed(1, 2), speed(1, 4)]
        );
        let speeds = super::speeds(&arguments, &platform).expect("four speeds");
        let servers = servers(&arguments, &speeds).expect("sizes");
        let texts: Vec<String> = servers.values().map(ToString::to_string).collect();
        assert_eq!(texts, ["1ms/4ms", "500us/10ms", "1ms/10ms", "0ns/4ms"]);
    }

    #[test]
    fn refuses_what_is_no_core_or_no_size() {
        let platform = Platform::symmetric(2).expect("two");
        let amp_rm: PolicyScheduler = "amp-rm".parse().expect("a policy");
        for (choices, speeds, policy, why) in [
            (&["1ms/4ms"][..], None, "edf-bh", "are for amp-rm"),
            (&[][..], Some("1,1"), "fpp", "are for amp-rm"),
            (&["7=1ms/4ms"][..], None, "amp-rm", "CPU 7"),
            (&["1us/50us"][..], None, "amp-rm", "period"),
            (&["1ms/5s"][..], None, "amp-rm", "period"),
            (&[][..], Some("1,1,1"), "amp-rm", "3 speeds for 2 cores"),
        ] {
            let arguments = arguments(choices, speeds);
            let scheduler = policy.parse().expect("a policy");
            let error = cores(&arguments, scheduler, &platform, 950_000).expect_err(why);
            assert!(error.message.contains(why), "{}", error.message);
            assert!(error.hint.is_some(), "{why}");
        }
        assert_eq!(amp_rm.policy, Policy::AmpRm);
        assert!("1,0".parse::<Speeds>().is_err());
        assert!("5ms/4ms".parse::<ServerChoice>().is_err());
        assert!("x=1ms/4ms".parse::<ServerChoice>().is_err());
    }

    #[test]
    fn real_time_tasks_may_have_what_the_server_leaves() {
        let server = |text: &str| text.parse::<ServerSize>().expect("a size").on(Speed::UNIT, Speed::UNIT);
        assert_eq!(share_beside(DeferrableServer::NONE, 950_000), 950_000);
        assert_eq!(share_beside(server("25%/4ms"), 950_000), 750_000);
        assert_eq!(share_beside(server("1ms/3ms"), 950_000), 666_666);
        assert_eq!(share_beside(server("1%/1ms"), 950_000), 950_000);
        assert_eq!(share_beside(server("100%/1ms"), 950_000), 0);
    }

    #[test]
    fn speeds_are_relative_to_the_fastest() {
        assert_eq!(scaled(speed(1, 2), speed(1, 2)), 65536);
        assert_eq!(scaled(speed(1, 2), speed(2, 1)), 16384);
        assert_eq!(scaled(speed(1, u32::MAX), speed(u32::MAX, 1)), 1);
    }
}
