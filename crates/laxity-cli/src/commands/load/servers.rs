//! `laxity load amp-rm`: the speeds of CPUs, the deferrable servers on them, and what background tasks have had by them.

use crate::arguments::{Speeds, double_hit, value};
use clap::Args;
use laxity_analysis::DoubleHit;
use laxity_kernel::{Core, OrdinaryTimes, Scheduler, checked_server};
use laxity_model::{
    DeferrableServer, Diagnostic, Platform, PolicyScheduler, Result, ServerChoice, ServerSizes, Speed,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Deferrable servers, and what else is to be known of CPUs.
#[derive(Args)]
pub struct CoreArguments {
    /// Time in which background tasks go before real-time tasks, per period: 2ms/10ms ...; default: none
    ///
    /// `2ms/10ms` or `20%/10ms` of each CPU, `2ms@slowest/10ms` for as much work as the slowest CPU does in 2ms;
    /// `0-1=2ms/10ms` for some CPUs.
    #[arg(help_heading = "Servers of amp-rm", long = "server", allow_hyphen_values = true, value_name = "[CPUS=]SIZE", value_parser = value::<ServerChoice>)]
    pub choices: Vec<ServerChoice>,
    /// Speeds of the CPUs in the order of their numbers, as in 1,1,0.5,0.5; default: the platform's
    #[arg(help_heading = "Servers of amp-rm", long, value_name = "SPEEDS", value_parser = value::<Speeds>)]
    pub speeds: Option<Speeds>,
    /// Promote only what meets its deadlines even if a server uses up two budgets in a row
    ///
    /// Without it, what is late by bounded times is promoted, too.
    #[arg(help_heading = "Servers of amp-rm", long)]
    pub count_double_hit: bool,
}

impl CoreArguments {
    /// What `laxity promote` has proven.
    pub fn double_hit(&self) -> DoubleHit {
        double_hit(self.count_double_hit)
    }

    fn are_given(&self) -> bool {
        !self.choices.is_empty() || self.speeds.is_some() || self.count_double_hit
    }
}

/// What the policy is to know of every CPU of this machine; nothing for a policy without servers.
pub fn cores(
    arguments: &CoreArguments,
    scheduler: PolicyScheduler,
    platform: &Platform,
    share_ppm: u64,
) -> Result<Vec<Core>> {
    if !scheduler.policy.has_servers() {
        if !arguments.are_given() {
            return Ok(Vec::new());
        }
        return Err(Diagnostic::usage(format!(
            "{scheduler}: --server, --speeds and --count-double-hit are for amp-rm"
        ))
        .hint("other policies leave everything else a reserve (--reserve)"));
    }
    let platform = self::platform(arguments, platform)?;
    let servers = servers(arguments, &platform)?;
    // What is not the platform's has background tasks all the same; where both have a core, the platform's speed counts.
    let machine = Platform::this_machine()?;
    let all: BTreeMap<u32, Speed> =
        machine.cores().iter().chain(platform.cores()).map(|core| (core.cpu, core.speed)).collect();
    let fastest = all.values().copied().max().unwrap_or(Speed::UNIT);
    let core = |(&cpu, &speed): (&u32, &Speed)| {
        let server = servers.get(&cpu).copied().unwrap_or(DeferrableServer::NONE);
        Core::new(cpu, speed, fastest, share_ppm).with_server(server, share_ppm)
    };
    Ok(all.iter().map(core).collect())
}

/// The platform with the speeds that were given.
pub fn platform(arguments: &CoreArguments, platform: &Platform) -> Result<Platform> {
    let Some(Speeds(given)) = &arguments.speeds else { return Ok(platform.clone()) };
    if given.len() != platform.core_count() {
        return Err(Diagnostic::usage(format!(
            "--speeds: {} speeds for {} CPUs (CPUs {})",
            given.len(),
            platform.core_count(),
            platform.cpus()
        ))
        .hint("give one for each CPU that real-time tasks run on, in the order of their numbers"));
    }
    let with_speed =
        |(core, &speed): (&laxity_model::Core, &Speed)| laxity_model::Core { cpu: core.cpu, speed };
    let cores = platform.cores().iter().zip(given).map(with_speed).collect();
    let (caches, nodes) = (platform.caches().to_vec(), platform.numa_nodes().to_vec());
    Platform::new(platform.name(), cores, caches, nodes, Some(platform.clusters().to_vec()))
}

/// Of the platform's CPUs.
fn servers(arguments: &CoreArguments, platform: &Platform) -> Result<BTreeMap<u32, DeferrableServer>> {
    let servers = ServerSizes::from(arguments.choices.clone()).on_cores(platform)?;
    servers.into_iter().map(|(cpu, server)| Ok((cpu, checked_server(server)?))).collect()
}

/// For how long background tasks have had a CPU.
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

/// A line for every CPU that background tasks have had.
pub fn lines(times: &[CpuTimes]) -> String {
    let mut text = String::new();
    for CpuTimes { cpu, times } in times.iter().filter(|cpu| has_any(&cpu.times)) {
        let OrdinaryTimes { server, reserve, background, .. } = times;
        writeln!(
            text,
            "            CPU {cpu}: background tasks had it for {server} by the server, {reserve} by the reserve, {background} \
             otherwise"
        )
        .expect("into a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Policy;

    fn arguments(choices: &[&str], speeds: Option<&str>) -> CoreArguments {
        CoreArguments {
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
        let platform = super::platform(&arguments, &platform).expect("four speeds");
        assert_eq!(
            platform.cores().iter().map(|core| core.speed).collect::<Vec<_>>(),
            [speed(1, 1), speed(1, 1), speed(1, 2), speed(1, 4)]
        );
        let servers = servers(&arguments, &platform).expect("sizes");
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
            (&[][..], Some("1,1,1"), "amp-rm", "3 speeds for 2 CPUs"),
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
}
