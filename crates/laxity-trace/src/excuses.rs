//! How much of a real kernel's schedule the run itself excuses, and from where on that is too much for a verdict.
//!
//! An oracle accepts a deviation if the records of the same run explain it. Some of these records are written by the very
//! part that may be at fault: a host that asks a CPU to decide says when it asked, and a timer says when it was due. If that part
//! is always late, its records excuse all of it. So excuses have limits, here and nowhere else:
//!
//! 1. *The longest.* On a machine of its own Linux's timers (in softirqs), interrupts between CPUs, decisions and switches take
//!    microseconds, and some tens of them under load. A request that no CPU has heard is made good by the next tick of the CPU, 1 ms
//!    later at most where ticks are most frequent. So what takes half a tick, 500 us, cannot be told from a request that was lost.
//!    The limit holds for what the scheduler and its host are late with. A kernel thread or a thread of a higher class may have a CPU
//!    for as long as it likes: what ran there was seen, and is no promise of the host's.
//! 2. *The share.* Of the CPU time that was observed, a tenth: in it is what a policy leaves to background work by its definition
//!    (a twentieth), and as much again. A server's time does not count: its account says what it was due.
//!
//! An emulated machine of several CPUs that goes by the host's time takes milliseconds for the same: they take turns, and the host
//! takes them away ([`ExcuseLimits::EMULATED`]). Such limits still see a request that is never heard, and none that is heard 2 ms later.
//! Where instructions are counted, turns take 50 us, and unbroken policies were late by less than 200 us with two CPUs, by 14 us with one.

use laxity_model::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a verdict comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictState {
    /// The schedule is what its definition says, and not too much of it is excused.
    Clean,
    /// Nothing is violated, but more is excused than a limit allows: no verdict.
    Excused,
    /// Something happened that nothing explains.
    Violated,
}

impl VerdictState {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            VerdictState::Clean => "clean",
            VerdictState::Excused => "excused",
            VerdictState::Violated => "violated",
        }
    }
}

/// One excuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LongestExcuse {
    /// Its cause, or `budget-overrun`: what went on while a job ran beyond its budget.
    pub kind: String,
    /// How long one deviation was excused by it, in ns.
    pub ns: u64,
}

/// How much of a schedule is excused.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExcuseExtent {
    /// CPU time that was observed, in ns: of all CPUs for tasks.
    pub observed_ns: u64,
    /// Of that, how long jobs waited that should have run, or ran beyond their budgets, with an excuse. What a server was due is
    /// not in it.
    pub excused_ns: u64,
    /// That as a share of the observed time, in millionths, rounded up.
    pub share_ppm: u64,
    /// Jobs that were released.
    pub jobs: u64,
    /// Those that an excuse was needed for.
    pub jobs_excused: u64,
    /// That as a share of the jobs, in millionths, rounded up.
    pub jobs_share_ppm: u64,
    /// The longest excuse of what the scheduler and its host can be late with: not a kernel thread, a higher class, the reserve or
    /// a server, which had the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<LongestExcuse>,
}

/// `part / whole` in millionths, rounded up; 0 of nothing.
fn share_ppm(part: u64, whole: u64) -> u64 {
    let millionths = (u128::from(part) * u128::from(MILLION)).div_ceil(u128::from(whole.max(1)));
    u64::try_from(millionths).unwrap_or(u64::MAX)
}

const MILLION: u64 = 1_000_000;

/// A share in percent with two decimals, rounded up: `0.65 %`.
pub fn percent_of_ppm(ppm: u64) -> String {
    let hundredths = ppm.div_ceil(100);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

impl ExcuseExtent {
    /// With the shares. More cannot be excused than was observed.
    pub fn new(
        (excused_ns, observed_ns): (u64, u64),
        (jobs_excused, jobs): (u64, u64),
        longest: Option<LongestExcuse>,
    ) -> Self {
        let excused_ns = excused_ns.min(observed_ns);
        ExcuseExtent {
            observed_ns,
            excused_ns,
            share_ppm: share_ppm(excused_ns, observed_ns),
            jobs,
            jobs_excused,
            jobs_share_ppm: share_ppm(jobs_excused, jobs),
            longest,
        }
    }

    /// Of several schedules together.
    #[must_use]
    pub fn with(&self, other: &ExcuseExtent) -> Self {
        let sum = |of: fn(&ExcuseExtent) -> u64| of(self).saturating_add(of(other));
        let both = self.longest.iter().chain(&other.longest);
        ExcuseExtent::new(
            (sum(|one| one.excused_ns), sum(|one| one.observed_ns)),
            (sum(|one| one.jobs_excused), sum(|one| one.jobs)),
            both.max_by_key(|one| one.ns).cloned(),
        )
    }
}

/// What may be excused in a schedule that has a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcuseLimits {
    /// The longest excuse of what the scheduler and its host can be late with, in ns.
    pub longest_ns: u64,
    /// The share of the CPU time that was observed, in millionths.
    pub share_ppm: u64,
}

impl Default for ExcuseLimits {
    fn default() -> Self {
        ExcuseLimits::DEFAULT
    }
}

impl ExcuseLimits {
    /// Of a kernel on a machine of its own: 500 us and a tenth.
    pub const DEFAULT: ExcuseLimits = ExcuseLimits { longest_ns: 500_000, share_ppm: 100_000 };
    /// Of an emulated machine: 50 ms, two and a half times what an unbroken policy was seen to need with two CPUs in QEMU without KVM
    /// (19.3 ms), and half of the time. What is decided can be judged under it, how long that takes cannot.
    pub const EMULATED: ExcuseLimits = ExcuseLimits { longest_ns: 50_000_000, share_ppm: 500_000 };

    /// What a schedule comes to that has so many violations, of which so much is excused.
    pub fn state(&self, violations: u64, extent: &ExcuseExtent) -> VerdictState {
        match (violations, self.exceeded(extent)) {
            (0, None) => VerdictState::Clean,
            (0, Some(_)) => VerdictState::Excused,
            _ => VerdictState::Violated,
        }
    }

    /// Which limit is exceeded, and by what, in words; nothing if none is.
    pub fn exceeded(&self, extent: &ExcuseExtent) -> Option<String> {
        let longest = extent.longest.as_ref().filter(|longest| longest.ns > self.longest_ns);
        if let Some(LongestExcuse { kind, ns }) = longest {
            return Some(format!(
                "{} for {}, of which {} may be excused",
                kind.replace('-', " "),
                Duration::from_ns(*ns),
                Duration::from_ns(self.longest_ns)
            ));
        }
        // Exactly, not by the share that is rounded.
        let excused = u128::from(extent.excused_ns) * u128::from(MILLION);
        let most = u128::from(extent.observed_ns) * u128::from(self.share_ppm);
        (excused > most).then(|| {
            format!(
                "{} of the CPU time, of which {} may be excused",
                percent_of_ppm(extent.share_ppm),
                percent_of_ppm(self.share_ppm)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(excused_ns: u64, longest_ns: u64) -> ExcuseExtent {
        let longest = LongestExcuse { kind: "release-latency".to_owned(), ns: longest_ns };
        ExcuseExtent::new((excused_ns, 3_000_000_001), (2, 3), Some(longest))
    }

    #[test]
    fn a_limit_is_what_may_still_be_excused() {
        let limits = ExcuseLimits::DEFAULT;
        let share_most = 300_000_000;
        for (excused_ns, longest_ns, state) in [
            (0, 0, VerdictState::Clean),
            (share_most, 500_000, VerdictState::Clean),
            (share_most + 1, 500_000, VerdictState::Excused),
            (share_most, 500_001, VerdictState::Excused),
        ] {
            let extent = extent(excused_ns, longest_ns);
            assert_eq!(limits.state(0, &extent), state, "{extent:?}");
            assert_eq!(limits.state(1, &extent), VerdictState::Violated);
        }
        let late = limits.exceeded(&extent(1, 2_000_000)).expect("too much");
        assert_eq!(late, "release latency for 2ms, of which 500us may be excused");
        let much = limits.exceeded(&extent(600_000_000, 1)).expect("too much");
        assert_eq!(much, "20.00 % of the CPU time, of which 10.00 % may be excused");
    }

    #[test]
    fn shares_are_rounded_up_and_of_nothing_they_are_0() {
        let extent = extent(1, 1);
        assert_eq!((extent.share_ppm, extent.jobs_share_ppm), (1, 666_667));
        assert_eq!(ExcuseExtent::new((5, 0), (0, 0), None), ExcuseExtent::default());
        assert_eq!([0, 1, 6_450, 1_000_000].map(percent_of_ppm), ["0.00 %", "0.01 %", "0.65 %", "100.00 %"]);
    }

    #[test]
    fn several_schedules_are_one() {
        let both = extent(10, 7).with(&extent(20, 9));
        assert_eq!((both.observed_ns, both.excused_ns), (6_000_000_002, 30));
        assert_eq!((both.jobs, both.jobs_excused), (6, 4));
        assert_eq!(both.longest.map(|longest| longest.ns), Some(9));
    }
}
