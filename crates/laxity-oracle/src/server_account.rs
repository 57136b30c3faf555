//! What a deferrable server has left, by when other work had its CPU (calandrino2007, 4.2).

use laxity_model::DeferrableServer;

/// The account of one server: in every period, counted from the instant it began at, other work may have the CPU for the budget
/// before real-time jobs. Whenever it has the CPU, that counts, also where no job is ready. What is left at the end of a period
/// is lost. Times in ns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAccount {
    budget_ns: u64,
    period_ns: u64,
    /// Where the period begins that `used_ns` is of.
    period_start_ns: u64,
    used_ns: u64,
}

impl ServerAccount {
    /// Of a server whose periods count from `since`. `None`: there is no server.
    pub fn new(server: DeferrableServer, since: u64) -> Option<ServerAccount> {
        let (budget, period) = (server.budget().as_ns(), server.period().as_ns());
        (!server.is_none()).then_some(ServerAccount {
            budget_ns: budget,
            period_ns: period,
            period_start_ns: since,
            used_ns: 0,
        })
    }

    /// Other work has had the CPU in `[from, to)`, which does not begin before what was charged last ends.
    pub fn charge(&mut self, from: u64, to: u64) {
        let since = to.saturating_sub(self.period_start_ns);
        let period_start = self.period_start_ns + since - since % self.period_ns;
        if period_start > self.period_start_ns {
            (self.period_start_ns, self.used_ns) = (period_start, 0);
        }
        self.used_ns += to.saturating_sub(from.max(self.period_start_ns));
    }

    /// Whether there is a budget at the instant up to which it has been charged.
    pub fn goes_first(&self) -> bool {
        self.used_ns < self.budget_ns
    }

    /// When that changes if other work has the CPU from now on, which is up to where it has been charged. `None`: never.
    pub fn next_change(&self, now: u64) -> Option<u64> {
        if self.budget_ns == self.period_ns {
            return None;
        }
        let next_period = self.period_start_ns.saturating_add(self.period_ns);
        if !self.goes_first() {
            return Some(next_period);
        }
        let used_up = now.saturating_add(self.budget_ns - self.used_ns);
        // Where the period ends first, the budget of the next one follows without a break.
        Some(if used_up < next_period { used_up } else { next_period.saturating_add(self.budget_ns) })
    }

    /// Charges `[from, to)`, and says in which parts of it there was a budget.
    pub fn by_right(&mut self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        let mut at = from;
        self.charge(at, at);
        while at < to {
            let next = self.next_change(at).map_or(to, |next| next.min(to));
            if self.goes_first() {
                parts.push((at, next));
            }
            self.charge(at, next);
            at = next;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Duration;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn account(budget: u64, period: u64, since: u64) -> ServerAccount {
        let server = DeferrableServer::new(Duration::from_ns(budget), Duration::from_ns(period));
        ServerAccount::new(server.expect("a size"), since).expect("a server")
    }

    #[test]
    fn two_budgets_may_follow_each_other() {
        let mut of = account(2, 10, 3);
        assert_eq!(of.by_right(4, 5), [(4, 5)]);
        assert_eq!(of.by_right(6, 9), [(6, 7)]);
        assert_eq!(of.by_right(22, 30), [(22, 25)]);
        assert_eq!(of.by_right(30, 55), [(33, 35), (43, 45), (53, 55)]);
        assert_eq!(account(10, 10, 3).by_right(4, 100), [(4, 100)]);
        assert_eq!(ServerAccount::new(DeferrableServer::NONE, 0), None);
    }

    /// Against counting instants one by one.
    #[test]
    fn every_instant_is_as_the_definition_has_it() {
        for seed in laxity_seeds::seeds!(0..20_000) {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut draw = |below: u64| random.random_range(0..below);
            let period = 1 + draw(12);
            let (budget, since) = (draw(period + 1).max(1), draw(20));
            let mut of = account(budget, period, since);
            let mut used = std::collections::BTreeMap::new();
            let mut at = since;
            for _ in 0..6 {
                let from = at + draw(15);
                let to = from + draw(30);
                let mut expected = Vec::new();
                for instant in from..to {
                    let used = used.entry((instant - since) / period).or_insert(0);
                    expected.extend((*used < budget).then_some(instant));
                    *used += 1;
                }
                let parts = of.by_right(from, to);
                let instants: Vec<u64> = parts.iter().flat_map(|&(from, to)| from..to).collect();
                assert_eq!(instants, expected, "seed {seed}: {budget}/{period} from {since}, [{from}, {to})");
                at = to;
            }
        }
    }
}
