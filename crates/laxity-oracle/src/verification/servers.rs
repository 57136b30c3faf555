//! Deferrable servers: when other work has a CPU by right (calandrino2007, 4.2).
//!
//! 1. How much that is in a period says [`ServerAccount`]; periods count from instant 0, or from where the size changed (`changes.rs`).
//! 2. While other work has the CPU by right, it is not there for the jobs of its cluster: one job less is entitled then
//!    (`order.rs`). Other work that stays longer lets a job wait that is entitled: a violation, from that instant on.
//! 3. That other work waits is in no trace: jobs that go before it although the server has a budget are not noticed here.
//!
//! Complexity: O(CPUs with servers) per event.

use crate::{Definition, ServerAccount};
use laxity_model::{DeferrableServer, Duration};

/// The CPU of a server.
struct Cpu {
    number: u32,
    cluster: u32,
    /// Nothing: there is no server.
    account: Option<ServerAccount>,
    /// Where its present period began, or one before it, and its length; 0: there is none.
    since_ns: u64,
    period_ns: u64,
    /// Of a period that begins now: its budget is yet to be said.
    announced_period_ns: Option<u64>,
    /// Other work has it.
    runs: bool,
    /// Up to here what it used is counted.
    counted_ns: u64,
    /// It has it by right.
    by_right: bool,
}

/// All servers of a definition.
pub(super) struct Servers {
    cpus: Vec<Cpu>,
}

/// How a period of a server begins.
pub(super) struct Begins {
    pub cluster: u32,
    /// It is not as long as the one before, or there was none.
    pub another: bool,
    /// One ends here.
    pub follows: bool,
}

/// What happens to the CPU of a cluster.
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
        let none = definition.clusters().iter().flat_map(|cluster| cluster.cpus.iter());
        let none = none.filter(|_| definition.has_changes()).map(|cpu| (cpu, DeferrableServer::NONE));
        let given = |cpu: u32| definition.servers().iter().any(|&(of, _)| of == cpu);
        let all = definition.servers().iter().copied().chain(none.filter(|&(cpu, _)| !given(cpu)));
        let cpus = all.filter_map(|(number, server)| {
            Some(Cpu {
                number,
                cluster: u32::try_from(cluster_of(number)?).ok()?,
                account: ServerAccount::new(server, 0),
                since_ns: 0,
                period_ns: server.period().as_ns(),
                announced_period_ns: None,
                runs: false,
                counted_ns: 0,
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

    /// Whether other work has the CPU by right.
    pub fn has_by_right(&self, cpu: u32) -> bool {
        self.cpus.iter().any(|of| of.number == cpu && of.by_right)
    }

    /// A period of this length begins; whether the one before ends here, if it was as long. Nothing: there is no such CPU.
    pub fn period_begins(&mut self, cpu: u32, period: u64, now: u64) -> Option<Begins> {
        let of = self.cpus.iter_mut().find(|of| of.number == cpu)?;
        of.announced_period_ns = Some(period);
        let follows = of.period_ns > 0 && now.saturating_sub(of.since_ns).is_multiple_of(of.period_ns);
        let begins = Begins { cluster: of.cluster, another: of.period_ns != period, follows };
        Some(begins)
    }

    /// And with it this budget. Nothing: no period begins, or there is no such server.
    pub fn budget_is(&mut self, cpu: u32, budget: u64, now: u64) -> Option<Option<Change>> {
        let of = self.cpus.iter_mut().find(|of| of.number == cpu)?;
        let period = of.announced_period_ns.take()?;
        let size = DeferrableServer::new(Duration::from_ns(budget), Duration::from_ns(period)).ok()?;
        of.count(now);
        (of.account, of.since_ns, of.period_ns) = (ServerAccount::new(size, now), now, period);
        Some(of.turn())
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
        let from = if self.runs { self.counted_ns } else { now };
        if let Some(account) = &mut self.account {
            account.charge(from, now);
        }
        self.counted_ns = now;
    }

    fn turn(&mut self) -> Option<Change> {
        let by_right = self.runs && self.account.as_ref().is_some_and(ServerAccount::goes_first);
        if by_right == self.by_right {
            return None;
        }
        self.by_right = by_right;
        Some(if by_right { Change::Withdrawn(self.cluster) } else { Change::GivenBack(self.cluster) })
    }

    fn next_change(&self) -> Option<u64> {
        let account = self.account.as_ref().filter(|_| self.runs)?;
        account.next_change(self.counted_ns)
    }
}
