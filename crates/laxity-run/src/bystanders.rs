//! What else the cores of a run do while it is made: other threads, interrupts, a hypervisor.
//!
//! `/proc/stat` has the idle time of each CPU, exact where ticks stop, and the time that a hypervisor took; both in ticks
//! of user space, of 10 ms. What is left of the elapsed time is busy, and what the run itself used of it is known to
//! `getrusage`: its processes are all children that have been waited for when it ends.

use crate::clock::monotonic_ns;
use laxity_model::CpuList;
use laxity_trace::Disturbance;
use std::fs;

/// The begin of what is watched.
pub(crate) struct Bystanders {
    cpus: CpuList,
    load_average: f64,
    begun_ns: u64,
    /// Idle and stolen time of the CPUs.
    before: Times,
    own_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Times {
    idle_ns: u64,
    stolen_ns: u64,
}

impl Bystanders {
    /// From now on; nothing where the kernel does not say what is needed.
    pub(crate) fn watch(cpus: &CpuList) -> Option<Self> {
        let load = fs::read_to_string("/proc/loadavg").ok()?;
        Some(Bystanders {
            cpus: cpus.clone(),
            load_average: load.split_whitespace().next()?.parse().ok()?,
            begun_ns: monotonic_ns(),
            before: Times::now(cpus)?,
            own_ns: own_ns(),
        })
    }

    /// Until now.
    pub(crate) fn end(self) -> Option<Disturbance> {
        let after = Times::now(&self.cpus)?;
        let cores = u64::try_from(self.cpus.iter().count()).ok()?;
        let capacity_ns = (monotonic_ns() - self.begun_ns).saturating_mul(cores);
        let since = |before: u64, after: u64| after.saturating_sub(before);
        let stolen_ns = since(self.before.stolen_ns, after.stolen_ns);
        let idle_ns = since(self.before.idle_ns, after.idle_ns);
        let own_ns = since(self.own_ns, own_ns());
        Some(Disturbance {
            load_average: self.load_average,
            capacity_ns,
            others_ns: [idle_ns, stolen_ns, own_ns].into_iter().fold(capacity_ns, u64::saturating_sub),
            stolen_ns,
            attempts: 1,
        })
    }
}

impl Times {
    fn now(cpus: &CpuList) -> Option<Times> {
        Self::of(&fs::read_to_string("/proc/stat").ok()?, cpus, rustix::param::clock_ticks_per_second())
    }

    /// Of the text of `/proc/stat`; nothing if it lacks one of the CPUs.
    fn of(stat: &str, cpus: &CpuList, ticks_per_second: u64) -> Option<Times> {
        let tick_ns = 1_000_000_000 / ticks_per_second.max(1);
        let mut sum = Times::default();
        for cpu in cpus.iter() {
            let line = stat.lines().find_map(|line| line.strip_prefix(&format!("cpu{cpu} ")))?;
            let ticks: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
            // user nice system idle iowait irq softirq steal; proc_stat(5).
            let &[_, _, _, idle, waiting, _, _, stolen, ..] = &ticks[..] else { return None };
            sum.idle_ns += (idle + waiting) * tick_ns;
            sum.stolen_ns += stolen * tick_ns;
        }
        Some(sum)
    }
}

/// CPU time of this process, and of all below it that have been waited for.
fn own_ns() -> u64 {
    let of = |processes: libc::c_int| {
        // SAFETY: an all-zero rusage is valid and getrusage fills it in.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(processes, &raw mut usage);
            usage
        };
        let ns = |time: libc::timeval| {
            let [seconds, micros] = [time.tv_sec, time.tv_usec].map(|part| u64::try_from(part).unwrap_or(0));
            seconds * 1_000_000_000 + micros * 1_000
        };
        ns(usage.ru_utime) + ns(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  10 20 30 400 5 6 7 8 0 0\ncpu0 1 2 3 100 4 5 6 7 0 0\ncpu1 9 18 27 300 1 1 1 1 0 0\n\
                        cpu10 0 0 0 7 0 0 0 0 0 0\nintr 5\n";

    fn cpus(text: &str) -> CpuList {
        text.parse().expect("CPUs")
    }

    #[test]
    fn idle_and_stolen_time_are_those_of_the_cores_asked_for() {
        let of = |list: &str| Times::of(STAT, &cpus(list), 100);
        let ticks = |idle: u64, stolen: u64| {
            Some(Times { idle_ns: idle * 10_000_000, stolen_ns: stolen * 10_000_000 })
        };
        assert_eq!(of("0"), ticks(104, 7));
        assert_eq!(of("1"), ticks(301, 1));
        assert_eq!(of("0-1"), ticks(405, 8));
        assert_eq!(of("10"), ticks(7, 0));
        assert_eq!(of("2"), None);
        assert_eq!(Times::of("cpu0 1 2 3\n", &cpus("0"), 100), None, "an old kernel without stolen time");
    }

    #[test]
    fn what_this_process_does_itself_is_no_disturbance() {
        let here = laxity_model::Platform::this_machine().expect("a machine").cpus();
        let watched = Bystanders::watch(&here).expect("Linux has /proc");
        let (begun_ns, used_ns) = (own_ns(), 100_000_000);
        while own_ns() - begun_ns < used_ns {}
        let seen = watched.end().expect("Linux has /proc");
        assert!(seen.others_ns + seen.stolen_ns + used_ns <= seen.capacity_ns, "{seen:?}");
    }
}
