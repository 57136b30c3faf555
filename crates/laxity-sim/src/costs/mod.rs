//! What the simulated system spends on scheduling and on cold caches. Every cost is off by default.
//!
//! 1. A [`Cost`] is a constant, a monotone piecewise-linear function of n, the number of tasks of the scheduler that
//!    has it (as overheads enter the field's schedulability tests), or a distribution.
//! 2. Costs are whole nanoseconds, at most [`COST_MAX`] each. Whatever is not whole is rounded up, which is safe:
//!    more overhead never makes the simulated system look better than the described one by more than that rounding.
//!    Only draws from distributions are rounded to nearest.
//! 3. A constant or a function of n draws nothing: it costs no random numbers, and the schedule does not depend on
//!    the seed through it. Distributions draw from the generator that they are given, by `libm` and integers alone,
//!    so that a seed gives the same costs on every machine.
//! 4. Cache-related preemption and migration delay follows from the working set and the cache distance
//!    (lindsay2012, 4.4): see [`CacheCosts`]; or from what the caches hold: see [`CacheState`].
//!
//! Which event pays what is the engine's; here are only the amounts.

mod cache_costs;
mod cache_delay;
mod cache_file;
mod cache_state;
mod contention;
mod cost;
mod distribution;
mod field_csv;
mod file;
mod given;
mod held;
mod pace;
mod quotient;
mod rows;
mod written;

pub use cache_costs::{CacheCosts, LineLatencies, MeasuredDelays, Reload};
pub use cache_delay::{CacheDelay, Distance};
pub use cache_state::{CacheState, Reloaded};
pub use contention::{Begins, Rested};
pub use cost::{Cost, PiecewiseLinear, Prepared};
pub use distribution::Distribution;
pub use file::{COSTS_VERSION, costs_schema, read_costs};
pub use rows::Costs;

pub(crate) use quotient::{quotient, quotient_up};

use laxity_model::{Diagnostic, Duration, Platform, Result, TaskSet};

/// The largest cost that a file may give, and the largest that a function or distribution of it may come to. Far
/// above any overhead, and far below where sums of instants and costs could overflow.
pub const COST_MAX: Duration = Duration::from_secs(1_000);

/// Refuses a cost that is too large.
fn checked(cost: Duration) -> Result<Duration> {
    if cost <= COST_MAX {
        return Ok(cost);
    }
    Err(Diagnostic::usage(format!("the cost {cost} is more than {COST_MAX}, the limit"))
        .hint("costs are the kernel's overheads: nanoseconds to milliseconds"))
}

impl Costs {
    /// Nothing costs anything, whatever the number of tasks.
    pub fn is_zero(&self) -> bool {
        self.named().iter().all(|(_, cost)| cost.is_zero())
            && self.cache.as_ref().is_none_or(CacheCosts::is_zero)
    }

    /// Whether the kernel's own work takes no time; cold caches may cost something all the same.
    pub fn kernel_is_zero(&self) -> bool {
        self.named().iter().all(|(_, cost)| cost.is_zero())
    }

    /// Whether cold caches cost something.
    pub fn has_cold_caches(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| !cache.is_zero())
    }

    /// Delays by working set and CPUs on this machine; nothing if cold caches cost nothing, or are followed.
    pub fn cache_delay(&self, platform: &Platform) -> Option<CacheDelay> {
        let by_distance = |cache: &&CacheCosts| !cache.is_zero() && !cache.tracked;
        self.cache.as_ref().filter(by_distance).map(|cache| CacheDelay::of(cache, platform))
    }

    /// The empty caches of this machine, where they are followed and cost something.
    ///
    /// # Errors
    ///
    /// Groups of the set whose sizes contradict each other.
    pub fn cache_state(&self, platform: &Platform, set: &TaskSet) -> Result<Option<CacheState>> {
        match self.cache.as_ref().filter(|cache| !cache.is_zero() && cache.tracked) {
            Some(CacheCosts { reload: Reload::Lines(latencies), .. }) => {
                CacheState::new(latencies, platform, set).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Refuses costs that leave no time for anything else under a scheduler of `n` tasks.
    ///
    /// # Errors
    ///
    /// The tick takes its whole period.
    pub fn check(&self, n: u32) -> Result<()> {
        let mean_ns = self.tick.mean_ns(n);
        if mean_ns < self.tick_period.as_ns() {
            return Ok(());
        }
        Err(Diagnostic::usage(format!(
            "with {n} tasks a tick costs {} on average but comes every {}: nothing else would run",
            Duration::from_ns(mean_ns),
            self.tick_period
        ))
        .hint("lower `tick` or raise `tick_period` in the costs file"))
    }

    /// What a reader of results should know: functions of n that were not measured up to `n` tasks.
    pub fn notes(&self, n: u32) -> Vec<String> {
        let beyond = |(name, cost): (&str, &Cost)| match cost {
            Cost::PiecewiseLinear(function) if u64::from(n) > function.last_x() => Some(format!(
                "{name} is given up to {} tasks; for {n} it is extrapolated linearly",
                function.last_x()
            )),
            Cost::Zero | Cost::Constant(_) | Cost::PiecewiseLinear(_) | Cost::Distribution(_) => None,
        };
        self.named().into_iter().filter_map(beyond).collect()
    }
}
