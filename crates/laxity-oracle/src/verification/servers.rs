//! Deferrable servers: when other work has a CPU by right (calandrino2007, 4.2).
//!
//! 1. How much that is in a period says [`ServerAccount`]; periods count from instant 0.
//! 2. While other work has the CPU by right, it is not there for the jobs of its cluster: who is entitled is then one less
//!    (`order.rs`). Other work that stays longer lets a job wait that is entitled: a violation, from that instant on.
//! 3. That other work waits is in no trace: jobs that go before it although the server has a budget are not noticed here.
//!
//! Complexity: O(CPUs with servers) per event.

use crate::{Definition, ServerAccount};

/// The CPU of a server.
struct Cpu {
    number: u32,
    cluster: u32,
    account: ServerAccount,
    /// Other work has it.
    runs: bool,
    /// Up to here what it used is counted.
    counted: u64,
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
        let cpus = definition.servers().iter().filter_map(|&(number, server)| {
            Some(Cpu {
                number,
                cluster: u32::try_from(cluster_of(number)?).ok()?,
                account: ServerAccount::new(server, 0)?,
                runs: false,
                counted: 0,
                by_right: false,
            })
        });
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
        let from = if self.runs { self.counted } else { now };
        self.account.charge(from, now);
        self.counted = now;
    }

    fn turn(&mut self) -> Option<Change> {
        let by_right = self.runs && self.account.goes_first();
        if by_right == self.by_right {
            return None;
        }
        self.by_right = by_right;
        Some(if by_right { Change::Withdrawn(self.cluster) } else { Change::GivenBack(self.cluster) })
    }

    fn next_change(&self) -> Option<u64> {
        if self.runs { self.account.next_change(self.counted) } else { None }
    }
}
