//! amp-rm: the speeds of CPUs, the deferrable servers on them, and what background tasks have had by them.

use super::Loading;
use laxity_analysis::DoubleHit;
use laxity_kernel::{BackgroundTimes, Core, Scheduler, checked_server};
use laxity_model::{DeferrableServer, Diagnostic, Platform, Result, ServerSizes, Speed};
use serde::Serialize;
use std::collections::BTreeMap;

impl Loading {
    /// What the policy is to know of every CPU of this machine; nothing for a policy without servers.
    pub(super) fn cores(&self, platform: &Platform, share_ppm: u64) -> Result<Vec<Core>> {
        if !self.policy.policy.has_servers() {
            let none =
                self.servers.is_empty() && self.speeds.is_none() && self.double_hit == DoubleHit::Ignored;
            return if none { Ok(Vec::new()) } else { Err(self.for_amp_rm()) };
        }
        let platform = self.with_speeds(platform)?;
        let servers = self.servers_on(&platform)?;
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

    fn for_amp_rm(&self) -> Diagnostic {
        Diagnostic::usage(format!(
            "{}: --server, --speeds and --count-double-hit are for amp-rm",
            self.policy
        ))
        .hint("other policies leave everything else a reserve (--reserve)")
    }

    /// The platform with the speeds that were given.
    pub(super) fn with_speeds(&self, platform: &Platform) -> Result<Platform> {
        self.speeds.as_ref().map_or_else(|| Ok(platform.clone()), |speeds| speeds.of(platform))
    }

    /// Of the platform's CPUs.
    fn servers_on(&self, platform: &Platform) -> Result<BTreeMap<u32, DeferrableServer>> {
        let servers = ServerSizes::from(self.servers.clone()).on_cores(platform)?;
        servers.into_iter().map(|(cpu, server)| Ok((cpu, checked_server(server)?))).collect()
    }
}

/// For how long background tasks have had a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CpuTimes {
    /// The CPU.
    pub cpu: u32,
    /// By what.
    #[serde(flatten)]
    pub times: BackgroundTimes,
}

impl CpuTimes {
    /// Whether they have had it at all.
    pub fn is_any(&self) -> bool {
        [self.times.server, self.times.reserve, self.times.background].iter().any(|time| !time.is_zero())
    }
}

/// Of all CPUs; empty for a policy without servers.
pub(super) fn times(scheduler: &Scheduler) -> Result<Vec<CpuTimes>> {
    Ok((0..).zip(scheduler.background_times()?).map(|(cpu, times)| CpuTimes { cpu, times }).collect())
}

pub(super) fn times_since(now: &[CpuTimes], before: &[CpuTimes]) -> Vec<CpuTimes> {
    let earlier = |at: usize| before.get(at).map(|cpu| cpu.times).unwrap_or_default();
    let since =
        |(at, now): (usize, &CpuTimes)| CpuTimes { cpu: now.cpu, times: now.times.since(&earlier(at)) };
    now.iter().enumerate().map(since).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::platforms::{PlatformChoice, Speeds};
    use laxity_model::{BudgetMode, Duration, Policy, PolicyScheduler, ServerChoice};
    use std::borrow::Cow;

    pub(in crate::loading) fn loading(policy: &str, choices: &[&str], speeds: Option<&str>) -> Loading {
        Loading {
            policy: policy.parse().expect("a policy"),
            platform: PlatformChoice {
                platform: None,
                cpus: None,
                clusters: None,
                locate: |path| Cow::Borrowed(path),
            },
            budget: BudgetMode::Throttle,
            batching: true,
            retries_max: 1,
            reserve_percent: 5,
            reserve_period: Duration::from_secs(1),
            kernel_threads: laxity_kernel::KERNEL_THREADS,
            tasks_max: 1,
            servers: choices.iter().map(|text| text.parse().expect("a choice")).collect(),
            speeds: speeds.map(|text| text.parse().expect("speeds")),
            double_hit: DoubleHit::Ignored,
            void_cgroup_limits: false,
            duration: None,
            report_every: None,
        }
    }

    fn speed(above: u32, below: u32) -> Speed {
        Speed::new(above, below).expect("positive")
    }

    #[test]
    fn sizes_are_for_all_cores_or_some_and_the_last_counts() {
        let platform = Platform::symmetric(4).expect("four");
        let choices = ["25%/4ms", "1-2=2ms@slowest/10ms", "3=0ms/4ms"];
        let loading = loading("amp-rm", &choices, Some("1,1,0.5,0.25"));
        let platform = loading.with_speeds(&platform).expect("four speeds");
        assert_eq!(
            platform.cores().iter().map(|core| core.speed).collect::<Vec<_>>(),
            [speed(1, 1), speed(1, 1), speed(1, 2), speed(1, 4)]
        );
        let servers = loading.servers_on(&platform).expect("sizes");
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
            let error = loading(policy, choices, speeds).cores(&platform, 950_000).expect_err(why);
            assert!(error.message.contains(why), "{}", error.message);
            assert!(error.hint.is_some(), "{why}");
        }
        assert_eq!(amp_rm.policy, Policy::AmpRm);
        assert!("1,0".parse::<Speeds>().is_err());
        assert!("5ms/4ms".parse::<ServerChoice>().is_err());
        assert!("x=1ms/4ms".parse::<ServerChoice>().is_err());
    }
}
