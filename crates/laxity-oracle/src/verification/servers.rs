//! Deferrable servers: when other work has a CPU by right (calandrino2007, 4.2).
//!
//! 1. In every period, counted from instant 0, other work may have the CPU for the budget before real-time jobs. Whenever it has the
//!    CPU, that counts, also where no job is ready. What is left at the end of a period is lost.
//! 2. While other work has the CPU by right, it is not there for the jobs of its cluster: who is entitled is then one less
//!    (`order.rs`). Other work that stays longer lets a job wait that is entitled: a violation, from that instant on.
//! 3. That other work waits is in no trace: jobs that go before it although the server has a budget are not noticed here.
//!
//! Complexity: O(CPUs with servers) per event.

use crate::Definition;

/// The CPU of a server.
struct Cpu {
    number: u32,
    cluster: u32,
    budget: u64,
    period: u64,
    /// Other work has it.
    runs: bool,
    /// Up to here what it used is counted.
    counted: u64,
    /// Where the period begins that `used` is of.
    period_start: u64,
    used: u64,
    /// It has it by right.
    by_right: bool,
}

/// All servers of a definition.
pub(super) struct Servers {
    cpus: Vec<Cpu>,
}

/// What becomes of the CPU of a cluster.
pub(super) enum Change {
    /// It is not there for jobs.
    Withdrawn(u32),
    /// It is again.
    GivenBack(u32),
}

impl Servers {
    pub fn new(definition: &Definition) -> Option<Servers> {
        let cluster_of =
            |cpu: u32| definition.clusters().iter().position(|cluster| cluster.cpus.contains(cpu));
        let cpus = definition.servers().iter().filter(|(_, server)| !server.is_none()).filter_map(
            |&(number, server)| {
                Some(Cpu {
                    number,
                    cluster: u32::try_from(cluster_of(number)?).ok()?,
                    budget: server.budget().as_ns(),
                    period: server.period().as_ns(),
                    runs: false,
                    counted: 0,
                    period_start: 0,
                    used: 0,
                    by_right: false,
                })
            },
        );
        let cpus: Vec<Cpu> = cpus.collect();
        (!cpus.is_empty()).then_some(Servers { cpus })
    }

    /// Other work gets the CPU, or loses it.
    pub fn other_work(&mut self, cpu: u32, runs: bool, now: u64) -> Option<Change> {
        let of = self.cpus.iter_mut().find(|of| of.number == cpu)?;
        of.count(now);
        of.runs = runs;
        of.turn()
    }

    /// The next instant at which a right comes or goes by itself.
    pub fn next_change(&self) -> Option<u64> {
        self.cpus.iter().filter_map(Cpu::next_change).min()
    }

    /// A right that comes or goes at `now`.
    pub fn change(&mut self, now: u64) -> Option<Change> {
        self.cpus.iter_mut().find_map(|of| {
            of.count(now);
            of.turn()
        })
    }
}

impl Cpu {
    fn count(&mut self, now: u64) {
        let period_start = now - now % self.period;
        if period_start > self.period_start {
            (self.period_start, self.used) = (period_start, 0);
        }
        if self.runs {
            self.used += now - self.counted.max(self.period_start);
        }
        self.counted = now;
    }

    fn turn(&mut self) -> Option<Change> {
        let by_right = self.runs && self.used < self.budget;
        if by_right == self.by_right {
            return None;
        }
        self.by_right = by_right;
        Some(if by_right { Change::Withdrawn(self.cluster) } else { Change::GivenBack(self.cluster) })
    }

    fn next_change(&self) -> Option<u64> {
        if !self.runs || self.budget == self.period {
            return None;
        }
        let used_up = self.counted.saturating_add(self.budget - self.used.min(self.budget));
        let next_period = self.period_start.saturating_add(self.period);
        // Where the period ends first, the budget of the next one follows without a break.
        let follows = next_period.saturating_add(self.budget);
        Some(match self.by_right {
            true if used_up < next_period => used_up,
            true => follows,
            false => next_period,
        })
    }
}
