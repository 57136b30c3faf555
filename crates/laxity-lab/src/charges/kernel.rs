//! The kernel beside which proofs hold: what it takes, in numbers and words.
//!
//! 1. On this machine it is the running kernel; what cannot be read of it, and any other machine, has Linux's defaults.
//! 2. Servers of background threads are counted unless the user says that there are no such threads. Throttling always is.

use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Beside, Taken};
use laxity_model::{CpuList, Duration, PriorityRule};
use laxity_run::{KernelLimits, KernelServer};

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// Its limits, servers and throttling.
    pub limits: KernelLimits,
    /// Where they come from: this kernel's, or Linux's defaults.
    pub origin: &'static str,
    /// No background thread is ever ready (`--assume-no-background`).
    pub no_background: bool,
}

impl Kernel {
    /// The running kernel, on these CPUs.
    pub fn running(cpus: &CpuList, no_background: bool) -> Self {
        Kernel { limits: KernelLimits::read(cpus), origin: "this kernel's", no_background }
    }

    /// Of a machine that is described.
    pub fn linux(no_background: bool) -> Self {
        Kernel { limits: KernelLimits::default(), origin: "Linux's defaults", no_background }
    }

    /// What it takes.
    pub fn beside(&self) -> Beside {
        let taken = |(runtime, period)| Taken { runtime_ns: runtime, period_ns: period };
        let server = |server: KernelServer| match self.no_background {
            true => Taken::default(),
            false => taken((server.runtime_ns, server.period_ns)),
        };
        Beside {
            servers: [server(self.limits.fair), server(self.limits.ext)],
            throttled: self.limits.throttled_ns().map_or(Taken::default(), taken),
            tick_ns: self.limits.tick_ns,
            alone: self.no_background,
        }
    }

    /// What a proof assumes of it under a scheduler of Linux, in cells of at most so many processors that run tasks.
    pub fn assumptions(&self, scheduler: Analysed, processors: u32) -> Vec<String> {
        let mut all = Vec::new();
        let is_fifo = match scheduler {
            Analysed::Linux(linux) => linux.rule != PriorityRule::EarliestDeadlineFirst,
            Analysed::Reclaiming(_) => {
                all.push(
                    "no job needs more than its budget, and no budget is more of a CPU than the kernel grants real-time tasks \
                     (`run` and `compare` refuse it): reclaiming then takes nothing from others"
                        .into(),
                );
                false
            }
            Analysed::Policy(_) | Analysed::Pfair(_) | Analysed::FairLateness | Analysed::Unproven(_) => {
                return Vec::new();
            }
        };
        let servers = self.limits.servers_words();
        let origin = if self.limits.unread.servers { "Linux's defaults" } else { self.origin };
        if servers.is_empty() {
            all.push(format!("the kernel has no server for background threads on these CPUs ({origin})"));
        } else if self.no_background {
            all.push(format!(
                "no background thread is ever ready on these CPUs (--assume-no-background): {servers} ({origin}) are not taken"
            ));
        } else if !scheduler.is_beside(processors) {
            all.push(format!(
                "no background thread starves on these CPUs: {servers} ({origin}) are not counted where SCHED_DEADLINE has several"
            ));
        } else {
            let how = match (is_fifo, processors) {
                (false, _) => "with a deadline a period later",
                (true, 1) => "before SCHED_FIFO, two budgets in a row",
                (true, _) => {
                    "before SCHED_FIFO, two budgets in a row; all CPUs of the cell stand still meanwhile"
                }
            };
            all.push(format!(
                "starved background threads have {servers} of each CPU ({origin}), {how}; each budget is up to a tick ({}) longer",
                Duration::from_ns(self.limits.tick_ns)
            ));
        }
        let throttled = self.beside().throttled;
        if is_fifo && throttled.runtime_ns > 0 {
            all.push(format!(
                "SCHED_FIFO is stopped for {} that it has used up ({origin})",
                words_of(throttled)
            ));
        }
        if self.limits.unread.servers && !self.no_background {
            all.push(
                "the kernel's servers are Linux's: debugfs (/sys/kernel/debug/sched) cannot be read".into(),
            );
        }
        if is_fifo && self.limits.unread.groups && throttled.runtime_ns > 0 {
            all.push("the kernel has groups of real-time tasks: its configuration cannot be read".into());
        }
        all
    }
}

fn words_of(taken: Taken) -> String {
    let [runtime, period] = [taken.runtime_ns, taken.period_ns].map(Duration::from_ns);
    format!("{runtime} of every {period}")
}

/// Without what it would be proven: all that was counted.
pub fn words(beside: &Beside, scheduler: Analysed) -> String {
    let is_fifo = !scheduler.has_reservations();
    let [fair, ext] = beside.servers;
    let counted = [
        ("the fair server", fair),
        ("the sched_ext server", ext),
        ("real-time throttling", if is_fifo { beside.throttled } else { Taken::default() }),
    ];
    let words = counted.into_iter().filter(|(_, taken)| taken.runtime_ns > 0);
    words.map(|(name, taken)| format!("{name} ({})", words_of(taken))).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assumed(kernel: Kernel, scheduler: &str, processors: u32) -> String {
        kernel.assumptions(scheduler.parse().expect("a scheduler"), processors).join("; ")
    }

    #[test]
    fn what_is_counted_and_what_is_assumed_is_said() {
        let linux = Kernel::linux(false);
        assert_eq!(linux.beside().servers[0], Taken { runtime_ns: 50_000_000, period_ns: 1_000_000_000 });
        assert!(
            assumed(linux, "p-rm", 1)
                .contains("the fair server's 50ms in 1s of each CPU (Linux's defaults), before SCHED_FIFO")
        );
        assert!(assumed(linux, "g-fp", 2).contains("all CPUs of the cell stand still"));
        assert!(assumed(linux, "p-edf", 1).contains("with a deadline a period later"));
        assert!(assumed(linux, "g-edf", 2).contains("not counted where SCHED_DEADLINE has several"));
        assert!(assumed(linux, "p-edf:grub", 1).contains("than the kernel grants real-time tasks"));
        assert!(assumed(linux, "p-edf:grub", 1).contains("with a deadline a period later"));
        assert_eq!(assumed(linux, "edf-bh", 2), "");
        let alone = Kernel::linux(true);
        assert!(alone.beside().is_nothing());
        assert!(assumed(alone, "p-rm", 1).contains("--assume-no-background"));
    }

    #[test]
    fn throttling_is_counted_whether_there_are_background_threads_or_not() {
        let mut kernel = Kernel::linux(true);
        kernel.limits.throttles = true;
        assert_eq!(kernel.beside().throttled, Taken { runtime_ns: 50_000_000, period_ns: 1_000_000_000 });
        assert!(assumed(kernel, "p-rm", 1).contains("SCHED_FIFO is stopped for 50ms of every 1s"));
        assert!(!assumed(kernel, "p-edf", 1).contains("stopped"));
        let scheduler = "p-rm".parse().expect("a scheduler");
        assert_eq!(words(&kernel.beside(), scheduler), "real-time throttling (50ms of every 1s)");
    }
}
