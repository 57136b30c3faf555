//! What the kernel takes and admits.

use laxity_analysis::settings::KernelRules;
use laxity_run::KernelLimits;
use std::fs;
use std::path::Path;

/// As `to_ratio` counts the bandwidth of a default server: 50 ms in 1 s.
const SERVER_RUNTIME: u64 = 50_000_000;
const SERVER_PERIOD: u64 = 1_000_000_000;
/// Since this version each CPU has a server for background threads, which admission counts.
const SERVERS_SINCE: (u32, u32) = (6, 12);

/// A kernel's limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// On each reservation.
    pub rules: KernelRules,
    /// The share of each CPU that real-time threads may use; nothing: all of it.
    pub share: Option<(u64, u64)>,
    /// What the kernel's own servers take of each CPU, in units of 2^-20.
    pub servers_q20: u64,
    /// Whose they are.
    pub whose: &'static str,
}

impl Limits {
    /// Linux's defaults, since the version that has servers.
    pub fn of_linux() -> Self {
        Self::of(KernelLimits::default(), default_server(), "Linux's defaults")
    }

    /// Those of the kernel that is running.
    pub fn of_this_kernel() -> Self {
        Self::of(KernelLimits::read(), servers(), "this kernel's")
    }

    fn of(limits: KernelLimits, servers_q20: u64, whose: &'static str) -> Self {
        let rules = KernelRules {
            period_min: limits.deadline_period_min_us.saturating_mul(1_000),
            period_max: limits.deadline_period_max_us.saturating_mul(1_000),
            ..KernelRules::default()
        };
        Limits { rules, share: limits.share(), servers_q20, whose }
    }

    /// What the kernel leaves of each CPU to real-time threads, in units of 2^-20, as it rounds it.
    pub fn share_q20(&self) -> u64 {
        let (runtime, period) = self.share.unwrap_or((1, 1));
        ratio(runtime, period)
    }

    /// What SCHED_DEADLINE admits of each CPU, in units of 2^-20: the same less the kernel's servers.
    pub fn deadline_q20(&self) -> u64 {
        self.share_q20().saturating_sub(self.servers_q20)
    }
}

fn default_server() -> u64 {
    ratio(SERVER_RUNTIME, SERVER_PERIOD)
}

fn ratio(runtime: u64, period: u64) -> u64 {
    u64::try_from((u128::from(runtime) << 20) / u128::from(period.max(1))).unwrap_or(u64::MAX)
}

/// The bandwidth of the servers of the CPU that has most; the default where a kernel has servers and does not tell.
fn servers() -> u64 {
    let of = |kind: &str| {
        let cpus = fs::read_dir(Path::new("/sys/kernel/debug/sched").join(kind)).ok()?;
        let value = |path: &Path, name| fs::read_to_string(path.join(name)).ok()?.trim().parse::<u64>().ok();
        let server = |path: &Path| Some(ratio(value(path, "runtime")?, value(path, "period")?));
        cpus.flatten().filter_map(|cpu| server(&cpu.path())).max()
    };
    match of("fair_server") {
        Some(fair) => fair + of("ext_server").unwrap_or(0),
        None if has_servers() => default_server(),
        None => 0,
    }
}

fn has_servers() -> bool {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= SERVERS_SINCE,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_kernels_less_its_servers() {
        let limits = Limits::of_linux();
        assert_eq!(limits.deadline_q20(), 996_147 - 52_428, "0.95 and 0.05 as to_ratio rounds them");
        let without = Limits { share: None, servers_q20: 0, ..limits };
        assert_eq!(without.deadline_q20(), 1 << 20);
    }
}
