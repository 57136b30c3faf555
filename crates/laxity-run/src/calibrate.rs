//! How many accesses to a working set fit into a time: the `work` demand model's unit, measured in isolation.
//!
//! The median of several rounds over a warm working set is taken: in the run, what a job needs beyond it is what
//! preemption, migration and sharing cost. (The fastest round would be one that no job can keep up with on a
//! machine whose speed varies.)

use crate::clock::thread_cpu_ns;
use crate::sched::{Policy, set_policy};
use crate::shared::Shared;
use crate::sharing::LINE_BYTES;
use crate::sharing::SharedPart;
use crate::walk::Walk;
use laxity_model::{Diagnostic, Duration, Result, WorkingSet};

/// Accesses per time, as measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessRate {
    accesses: u64,
    span: Duration,
}

impl AccessRate {
    /// So many accesses in so much time; nothing if there are none, or in no time.
    pub fn of(accesses: u64, span: Duration) -> Option<Self> {
        (accesses > 0 && !span.is_zero()).then_some(AccessRate { accesses, span })
    }

    /// Accesses that were made.
    pub fn accesses(self) -> u64 {
        self.accesses
    }

    /// CPU time that they took.
    pub fn span(self) -> Duration {
        self.span
    }

    /// The number of accesses that take `demand`, at least one.
    pub fn accesses_in(self, demand: Duration) -> u64 {
        let accesses = u128::from(demand.as_ns()) * u128::from(self.accesses) / u128::from(self.span.as_ns());
        u64::try_from(accesses).unwrap_or(u64::MAX - 1).max(1)
    }

    fn picoseconds_per_access(self) -> u128 {
        u128::from(self.span.as_ns()) * 1_000 / u128::from(self.accesses)
    }

    /// Nanoseconds per access, to show.
    #[expect(clippy::cast_precision_loss, reason = "for display only")]
    pub fn ns_per_access(self) -> f64 {
        self.span.as_ns() as f64 / self.accesses as f64
    }
}

const ROUNDS: usize = 15;
/// How long a round lasts at least: long against the clock's resolution, short against a user's patience.
const ROUND_NS: u64 = 2_000_000;
const PASS_ACCESSES_MIN: u64 = 4_096;

/// Measures the rate of a working set in a thread of its own, at real-time priority where that is permitted. The first
/// `shared_bytes` of it are memory of the kind that groups share, but no other task has it.
///
/// # Errors
///
/// There is no memory for it.
pub fn access_rate(set: &WorkingSet, shared_bytes: u64, seed: u64) -> Result<AccessRate> {
    let set = *set;
    let measured = std::thread::spawn(move || {
        // Without the permission the rate is measured all the same, with more noise.
        let _ = set_policy(0, Policy::Fifo { priority: 1 });
        let part = SharedPart { region: 0, bytes: shared_bytes, link: 0, seed };
        let memory = Shared::create(&[], &[shared_bytes])?;
        let mut walk = match shared_bytes {
            0 => Walk::new(&set, seed)?,
            _ => Walk::sharing(&set, &part, memory.region(0))?,
        };
        let lines = set.size_bytes.div_ceil(LINE_BYTES).max(1);
        let pass = lines.max(PASS_ACCESSES_MIN);
        walk.go(pass);
        let mut rounds: Vec<AccessRate> = (0..ROUNDS).map(|_| round(&mut walk, pass)).collect();
        rounds.sort_by_key(|rate| rate.picoseconds_per_access());
        Ok(rounds[ROUNDS / 2])
    });
    measured.join().expect("the measurement does not panic").map_err(|error: std::io::Error| {
        Diagnostic::environment(format!("cannot have a working set of {} bytes: {error}", set.size_bytes))
            .hint("use a smaller working set")
    })
}

fn round(walk: &mut Walk<'_>, pass: u64) -> AccessRate {
    let before = thread_cpu_ns();
    let mut accesses = 0;
    loop {
        walk.go(pass);
        accesses += pass;
        let took = thread_cpu_ns() - before;
        if took >= ROUND_NS {
            return AccessRate { accesses, span: Duration::from_ns(took) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_scale_with_the_demand_and_never_vanish() {
        let rate = AccessRate { accesses: 1000, span: Duration::from_us(2) };
        assert_eq!(rate.accesses_in(Duration::from_ms(1)), 500_000);
        assert_eq!(rate.accesses_in(Duration::from_ns(1)), 1);
    }

    #[test]
    fn a_warm_working_set_has_a_rate() {
        let set = WorkingSet { size_bytes: 16 << 10, ..WorkingSet::default() };
        let rate = access_rate(&set, 8 << 10, 1).expect("memory");
        assert!(rate.accesses_in(Duration::from_ms(1)) > 100, "{rate:?}");
    }
}
