//! What the kernel leaves to real-time tasks: its limits on bandwidth, its servers for other threads, and its throttling of SCHED_FIFO.
//! The one place where they are read.
//!
//! 1. Since Linux 6.12 every CPU has a fair server for background threads, since 7.0 one for sched_ext, which is there while a scheduler of
//!    sched_ext is attached. Each runs its threads before SCHED_FIFO when they starve, and admission to SCHED_DEADLINE counts it.
//! 2. Before 6.12, and in groups of real-time tasks (CONFIG_RT_GROUP_SCHED), SCHED_FIFO is stopped once it has used its share.
//! 3. What cannot be read is what Linux has by default, and [`Unread`] says so.

use laxity_model::{CpuList, DeferrableServer, Duration};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

/// The first Linux with a fair server, which stands in for the throttling of SCHED_FIFO.
pub const FAIR_SERVER_SINCE: (u32, u32) = (6, 12);
/// The first Linux with a server for sched_ext.
pub const EXT_SERVER_SINCE: (u32, u32) = (7, 0);

/// What real-time tasks may use of each CPU where the kernel sets no limit: the guardian, below SCHED_DEADLINE
/// as every priority is, needs the rest to end the run.
pub(crate) const SHARE_WITHOUT_LIMIT: (u64, u64) = (95, 100);
const MILLION: u64 = 1_000_000;
/// 1 in the kernel's units of bandwidth.
const ONE_Q20: u64 = 1 << 20;

/// The kernel's limits on real-time bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelLimits {
    /// sched_rt_runtime_us; negative: no limit.
    pub rt_runtime_us: i64,
    /// sched_rt_period_us.
    pub rt_period_us: i64,
    /// sched_deadline_period_min_us.
    pub deadline_period_min_us: u64,
    /// sched_deadline_period_max_us.
    pub deadline_period_max_us: u64,
    /// The fair server of the CPU where it is largest.
    pub fair: KernelServer,
    /// The same of sched_ext's.
    pub ext: KernelServer,
    /// Whether SCHED_FIFO is stopped once it has used its share.
    pub throttles: bool,
    /// The time between two ticks, at which the kernel sees that a budget is used up, in ns.
    pub tick_ns: u64,
    /// What is a default, as it could not be read.
    pub unread: Unread,
}

/// A server of the kernel, in ns; a runtime of 0 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelServer {
    /// Its budget.
    pub runtime_ns: u64,
    /// The time in which it has that.
    pub period_ns: u64,
}

/// What could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unread {
    /// The servers, in debugfs.
    pub servers: bool,
    /// Whether there are groups of real-time tasks, in the kernel's configuration.
    pub groups: bool,
}

impl KernelServer {
    /// Linux's default.
    pub const LINUX: KernelServer = KernelServer { runtime_ns: 50_000_000, period_ns: 1_000_000_000 };

    /// As admission counts it, in units of 2^-20.
    fn q20(self) -> u64 {
        if self.runtime_ns == 0 { 0 } else { to_ratio(self.runtime_ns, self.period_ns) }
    }

    fn words(self, name: &str) -> Option<String> {
        let [runtime, period] = [self.runtime_ns, self.period_ns].map(Duration::from_ns);
        (self.runtime_ns > 0).then(|| format!("the {name} server's {runtime} in {period}"))
    }
}

/// floor(2^20 runtime / period), as the kernel's `to_ratio`.
pub(crate) fn to_ratio(runtime: u64, period: u64) -> u64 {
    u64::try_from((u128::from(runtime) << 20) / u128::from(period.max(1))).unwrap_or(u64::MAX)
}

impl Default for KernelLimits {
    /// Linux's defaults, since the version that has a fair server; the longest tick that it can have.
    fn default() -> Self {
        KernelLimits {
            rt_runtime_us: 950_000,
            rt_period_us: 1_000_000,
            deadline_period_min_us: 100,
            deadline_period_max_us: 1 << 22,
            fair: KernelServer::LINUX,
            ext: KernelServer::default(),
            throttles: false,
            tick_ns: 10_000_000,
            unread: Unread::default(),
        }
    }
}

impl KernelLimits {
    /// The limits in force on these CPUs, on all if there are none; defaults where they cannot be read.
    pub fn read(cpus: &CpuList) -> Self {
        Self::read_under(Path::new("/"), cpus)
    }

    /// The limits of the machine whose files are under `root`.
    pub fn read_under(root: &Path, cpus: &CpuList) -> Self {
        fn sysctl<T: FromStr>(root: &Path, name: &str, default: T) -> T {
            number(&root.join("proc/sys/kernel").join(name)).unwrap_or(default)
        }
        let default = Self::default();
        let release = text(&root.join("proc/sys/kernel/osrelease"));
        let version = release.as_deref().and_then(version).unwrap_or(FAIR_SERVER_SINCE);
        let config = release.as_deref().and_then(|release| config(root, release.trim()));
        let (fair, fair_is_read) = servers(root, "fair_server", version >= FAIR_SERVER_SINCE, cpus);
        let attached =
            text(&root.join("sys/kernel/sched_ext/state")).is_some_and(|it| it.trim() == "enabled");
        let (ext, ext_is_read) = servers(root, "ext_server", attached && version >= EXT_SERVER_SINCE, cpus);
        let groups = config.as_deref().map(|config| has_groups(root, config));
        KernelLimits {
            rt_runtime_us: sysctl(root, "sched_rt_runtime_us", default.rt_runtime_us),
            rt_period_us: sysctl(root, "sched_rt_period_us", default.rt_period_us),
            deadline_period_min_us: sysctl(
                root,
                "sched_deadline_period_min_us",
                default.deadline_period_min_us,
            ),
            deadline_period_max_us: sysctl(
                root,
                "sched_deadline_period_max_us",
                default.deadline_period_max_us,
            ),
            fair,
            ext,
            throttles: version < FAIR_SERVER_SINCE || groups.unwrap_or(true),
            tick_ns: config.as_deref().and_then(tick).unwrap_or(default.tick_ns),
            unread: Unread {
                servers: !fair_is_read || !ext_is_read,
                groups: groups.is_none() && version >= FAIR_SERVER_SINCE,
            },
        }
    }

    /// The share of each CPU that real-time tasks may use, as (numerator, denominator); none: no limit.
    pub fn share(self) -> Option<(u64, u64)> {
        let (runtime, period) = self.runtime_and_period()?;
        (runtime < period).then_some((runtime, period))
    }

    fn runtime_and_period(self) -> Option<(u64, u64)> {
        let runtime = u64::try_from(self.rt_runtime_us).ok()?;
        let period = u64::try_from(self.rt_period_us).ok().filter(|&period| period > 0)?;
        Some((runtime.min(period), period))
    }

    /// Whether admission to SCHED_DEADLINE is controlled.
    pub fn is_limited(self) -> bool {
        self.runtime_and_period().is_some()
    }

    /// What the kernel's servers take of each CPU of SCHED_DEADLINE's limit, in units of 2^-20.
    pub fn servers_q20(self) -> u64 {
        self.fair.q20().saturating_add(self.ext.q20())
    }

    /// The servers in words; nothing if there are none.
    pub fn servers_words(self) -> String {
        [self.fair.words("fair"), self.ext.words("sched_ext")]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" and ")
    }

    /// What SCHED_DEADLINE admits of each CPU, in units of 2^-20: the limit less the servers. What laxity leaves of a CPU without a limit.
    pub fn admitted_q20(self) -> u64 {
        let without = to_ratio(SHARE_WITHOUT_LIMIT.0, SHARE_WITHOUT_LIMIT.1);
        match self.runtime_and_period() {
            None => without,
            Some((runtime, period)) => {
                let most = if runtime < period { ONE_Q20 } else { without };
                to_ratio(runtime, period).saturating_sub(self.servers_q20()).min(most)
            }
        }
    }

    /// For how long SCHED_FIFO is stopped in a period in which it has used the rest, and the period, in ns; none: it is not.
    ///
    /// The root group of a kernel with groups of real-time tasks keeps what it was booted with, whatever is written later: with them it
    /// is taken to be Linux's default at least.
    pub fn throttled_ns(self) -> Option<(u64, u64)> {
        let (runtime, period) = self.runtime_and_period().filter(|_| self.throttles)?;
        let (runtime, period) = if runtime < period { (runtime, period) } else { (950_000, 1_000_000) };
        Some(((period - runtime).saturating_mul(1_000), period.saturating_mul(1_000)))
    }

    /// What laxity's own policies admit real-time tasks for, of each CPU, in millionths, rounded down.
    pub(crate) fn share_ppm(self) -> u64 {
        let (runtime, period) = self.share().unwrap_or(SHARE_WITHOUT_LIMIT);
        let ppm = u128::from(runtime) * u128::from(MILLION) / u128::from(period);
        u64::try_from(ppm).unwrap_or(MILLION)
    }

    /// The limits for real-time tasks beside a server for background tasks.
    #[must_use]
    pub fn beside(self, server: DeferrableServer) -> Self {
        let share = laxity_kernel::share_beside(server, self.share_ppm());
        let (rt_runtime_us, rt_period_us) = (share.cast_signed(), MILLION.cast_signed());
        KernelLimits { rt_runtime_us, rt_period_us, ..self }
    }
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn number<T: FromStr>(path: &Path) -> Option<T> {
    text(path)?.trim().parse().ok()
}

/// Major and minor number.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The largest server of a kind, and whether that is known: the default if these files cannot be read.
fn servers(root: &Path, kind: &str, expected: bool, cpus: &CpuList) -> (KernelServer, bool) {
    if !expected {
        return (KernelServer::default(), true);
    }
    let directory = root.join("sys/kernel/debug/sched").join(kind);
    let listed = || -> Option<Vec<PathBuf>> {
        Some(std::fs::read_dir(&directory).ok()?.flatten().map(|entry| entry.path()).collect())
    };
    let of_cpus: Vec<PathBuf> = match cpus.is_empty() {
        true => listed().unwrap_or_default(),
        false => cpus.iter().map(|cpu| directory.join(format!("cpu{cpu}"))).collect(),
    };
    let server = |cpu: &PathBuf| {
        let runtime_ns = number(&cpu.join("runtime"))?;
        Some(KernelServer { runtime_ns, period_ns: number(&cpu.join("period"))? })
    };
    let read: Option<Vec<KernelServer>> = of_cpus.iter().map(server).collect();
    match read.filter(|read| !read.is_empty()) {
        None => (KernelServer::LINUX, false),
        Some(read) => (largest(&read), true),
    }
}

/// The largest budget in the shortest period of those that have one.
fn largest(servers: &[KernelServer]) -> KernelServer {
    let there = || servers.iter().filter(|server| server.runtime_ns > 0);
    KernelServer {
        runtime_ns: there().map(|server| server.runtime_ns).max().unwrap_or(0),
        period_ns: there().map(|server| server.period_ns).min().unwrap_or(0),
    }
}

/// The kernel's build options: where distributions put them, else what the kernel itself keeps.
fn config(root: &Path, release: &str) -> Option<String> {
    let places =
        [root.join(format!("boot/config-{release}")), root.join(format!("lib/modules/{release}/config"))];
    let kept = || {
        let packed = std::fs::File::open(root.join("proc/config.gz")).ok()?;
        let unpacked = Command::new("gzip").arg("-dc").stdin(packed).stderr(Stdio::null()).output().ok()?;
        unpacked.status.success().then(|| String::from_utf8_lossy(&unpacked.stdout).into_owned())
    };
    places.iter().find_map(|file| text(file)).or_else(kept).filter(|text| text.contains("CONFIG_"))
}

fn option<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config.lines().find_map(|line| line.strip_prefix("CONFIG_")?.strip_prefix(name)?.strip_prefix('='))
}

/// Whether real-time tasks have groups.
fn has_groups(root: &Path, config: &str) -> bool {
    if option(config, "RT_GROUP_SCHED") != Some("y") {
        return false;
    }
    let booted = text(&root.join("proc/cmdline")).unwrap_or_default();
    let word = booted.split_whitespace().rev().find_map(|word| word.strip_prefix("rt_group_sched="));
    match word {
        Some(value) => !matches!(value, "0" | "n" | "N" | "off"),
        None => option(config, "RT_GROUP_SCHED_DEFAULT_DISABLED") != Some("y"),
    }
}

fn tick(config: &str) -> Option<u64> {
    let hertz: u64 = option(config, "HZ")?.trim().parse().ok()?;
    (hertz > 0).then(|| 1_000_000_000_u64.div_ceil(hertz))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A machine of files.
    fn read(files: &[(&str, &str)], cpus: &str) -> KernelLimits {
        let root = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        KernelLimits::read_under(root.path(), &cpus.parse().expect("CPUs"))
    }

    const RELEASE: (&str, &str) = ("proc/sys/kernel/osrelease", "6.18.1\n");
    const CONFIG: (&str, &str) =
        ("boot/config-6.18.1", "CONFIG_HZ=250\n# CONFIG_RT_GROUP_SCHED is not set\n");
    const GROUPS: (&str, &str) = ("boot/config-6.18.1", "CONFIG_HZ=1000\nCONFIG_RT_GROUP_SCHED=y\n");

    #[test]
    fn servers_of_the_cpus_that_were_asked_about() {
        let files = [
            RELEASE,
            CONFIG,
            ("sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n"),
            ("sys/kernel/debug/sched/fair_server/cpu0/period", "1000000000\n"),
            ("sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\n"),
            ("sys/kernel/debug/sched/fair_server/cpu1/period", "1000000000\n"),
        ];
        let (all, second) = (read(&files, ""), read(&files, "1"));
        assert_eq!((all.fair, all.unread, all.tick_ns), (KernelServer::LINUX, Unread::default(), 4_000_000));
        assert_eq!((second.fair.runtime_ns, second.servers_words().as_str()), (0, ""));
        assert_eq!((all.admitted_q20(), second.admitted_q20()), (996_147 - 52_428, 996_147));
        assert_eq!((all.throttled_ns(), second.ext), (None, KernelServer::default()));
    }

    #[test]
    fn what_cannot_be_read_is_taken_to_be_there_and_said() {
        let unread = read(&[RELEASE], "0");
        assert_eq!(unread.fair, KernelServer::LINUX);
        assert_eq!(unread.unread, Unread { servers: true, groups: true });
        assert_eq!(unread.throttled_ns(), Some((50_000_000, 1_000_000_000)));
        let nothing = read(&[], "0");
        assert_eq!((nothing.fair, nothing.throttles), (KernelServer::LINUX, true));
    }

    #[test]
    fn older_kernels_throttle_and_have_no_server() {
        let older = read(&[("proc/sys/kernel/osrelease", "6.1.0-45-amd64\n")], "0");
        assert_eq!((older.fair, older.throttles), (KernelServer::default(), true));
        assert_eq!((older.admitted_q20(), older.unread), (996_147, Unread::default()));
    }

    #[test]
    fn groups_throttle_beside_the_server_unless_that_is_off() {
        let runtime = |us| ("proc/sys/kernel/sched_rt_runtime_us", us);
        let groups = read(&[RELEASE, GROUPS], "0");
        assert_eq!(
            (groups.throttled_ns(), groups.fair),
            (Some((50_000_000, 1_000_000_000)), KernelServer::LINUX)
        );
        let all = read(&[RELEASE, GROUPS, runtime("1000000\n")], "0");
        assert_eq!(all.throttled_ns(), Some((50_000_000, 1_000_000_000)), "the root group keeps its own");
        assert_eq!(all.admitted_q20(), 996_147, "95 %, as much as without the servers");
        let off = read(&[RELEASE, GROUPS, runtime("-1\n")], "0");
        assert_eq!((off.throttled_ns(), off.is_limited(), off.admitted_q20()), (None, false, 996_147));
        let disabled = read(&[RELEASE, GROUPS, ("proc/cmdline", "quiet rt_group_sched=0\n")], "0");
        assert_eq!(disabled.throttled_ns(), None);
    }

    #[test]
    fn the_server_of_sched_ext_counts_while_a_scheduler_is_attached() {
        let at = |state| {
            let release = ("proc/sys/kernel/osrelease", "7.3.0\n");
            read(&[release, ("sys/kernel/sched_ext/state", state)], "0")
        };
        assert_eq!(at("disabled\n").ext, KernelServer::default());
        assert_eq!(
            at("enabled\n").servers_words(),
            "the fair server's 50ms in 1s and the sched_ext server's 50ms in 1s"
        );
        assert_eq!(at("enabled\n").admitted_q20(), 996_147 - 2 * 52_428);
    }
}
