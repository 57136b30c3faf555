//! Tasks that are not real-time, as in schedsim (calandrino2007, 5.1).
//!
//! Each has a lifetime, the time that it runs until it exits, and a run ratio: at the end of every timer tick a task that
//! runs goes on contending with that probability, else it blocks; a blocked one comes back with the same probability.
//!
//! A weight is not in the paper: that of the kernel's background tasks, by which `policy/virtual_time.h` divides the time
//! between those that wait in one queue. A task as in the paper has the usual one.

use laxity_model::{Diagnostic, Duration, Result};
use laxity_policy::VirtualTime;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A task that runs where no real-time task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackgroundTask {
    /// When it enters the system, blocked or not by its ratio at the next tick.
    pub arrival: Duration,
    /// How long it runs until it exits.
    pub lifetime: Duration,
    /// Probability of contending in the next tick, in ppm.
    pub run_ratio_ppm: u32,
    /// Its share of the time, relative to other background tasks that wait for the same CPUs: 1 to
    /// [`BackgroundTask::WEIGHT_MAX`].
    pub weight: u32,
}

impl BackgroundTask {
    /// The weight of a task that has none of its own; in the kernel that of nice value 0.
    pub const WEIGHT_USUAL: u32 = VirtualTime::USUAL_WEIGHT;

    /// The largest weight, as in the kernel (`CGROUP_WEIGHT_MAX`, which sched_ext scales nice values to).
    pub const WEIGHT_MAX: u32 = 10_000;

    /// Ready from its arrival on until it exits, with the usual weight.
    pub const fn always_ready(arrival: Duration, lifetime: Duration) -> BackgroundTask {
        BackgroundTask { arrival, lifetime, run_ratio_ppm: 1_000_000, weight: Self::WEIGHT_USUAL }
    }
}

/// All background tasks and the tick at which they decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    /// The tasks, by id.
    pub tasks: Vec<BackgroundTask>,
    /// Length of a timer tick.
    pub tick: Duration,
}

/// The timer tick of calandrino2007's simulations.
pub const TICK: Duration = Duration::from_ms(1);

impl Default for Background {
    fn default() -> Self {
        Background { tasks: Vec::new(), tick: TICK }
    }
}

impl Background {
    /// `count` tasks as calandrino2007 draws them: in turn with as many real-time tasks, each one to fifty ticks after the one before,
    /// so that two such gaps are between two of these ("about 5,000 timer ticks" for a hundred of each); with run ratios of 1 to
    /// 100 % of which the lower are more frequent (the product of two uniform draws, rounded up to a percent; the paper says only "a
    /// greater proportion"), and lifetimes of 1 to 1000 ticks (the paper does not say).
    pub fn random(count: usize, seed: u64) -> Background {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut arrival = 0;
        let tasks = (0..count)
            .map(|_| {
                let mut gap = || rng.random_range(1..=50u64) * TICK.as_ns();
                arrival += gap() + gap();
                let product: u32 = rng.random_range(1..=100u32) * rng.random_range(1..=100u32);
                BackgroundTask {
                    arrival: Duration::from_ns(arrival),
                    lifetime: Duration::from_ns(rng.random_range(1..=1000u64) * TICK.as_ns()),
                    run_ratio_ppm: product.div_ceil(100) * 10_000,
                    weight: BackgroundTask::WEIGHT_USUAL,
                }
            })
            .collect();
        Background { tasks, tick: TICK }
    }

    /// `count` tasks that are there from the beginning and always ready, in a simulation that ends before `horizon`.
    pub fn busy(count: usize, horizon: Duration) -> Background {
        // No core is so fast that it would come to the end of that.
        let lifetime = Duration::from_ns(horizon.as_ns().saturating_mul(1_000).max(1));
        Background { tasks: vec![BackgroundTask::always_ready(Duration::ZERO, lifetime); count], tick: TICK }
    }

    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    ///
    /// Usage errors: a tick of 0, a ratio of 0 or above 1, a lifetime of 0, a weight of 0 or above
    /// [`BackgroundTask::WEIGHT_MAX`].
    pub fn check(&self) -> Result<()> {
        if self.tick.is_zero() {
            return Err(Diagnostic::usage("the timer tick is 0; it must be positive").hint("try 1ms"));
        }
        for (id, task) in self.tasks.iter().enumerate() {
            if task.run_ratio_ppm == 0 || task.run_ratio_ppm > 1_000_000 {
                return Err(Diagnostic::usage(format!(
                    "background task {id}: run ratio {} ppm is not above 0 and at most 1 000 000",
                    task.run_ratio_ppm
                ))
                .hint("a ratio of 250 000 ppm runs in a quarter of all ticks"));
            }
            if task.lifetime.is_zero() {
                return Err(Diagnostic::usage(format!(
                    "background task {id}: lifetime is 0; it must be positive"
                ))
                .hint("give it a lifetime such as 100ms"));
            }
            if !(1..=BackgroundTask::WEIGHT_MAX).contains(&task.weight) {
                return Err(Diagnostic::usage(format!(
                    "background task {id}: weight {} is not from 1 to {}",
                    task.weight,
                    BackgroundTask::WEIGHT_MAX
                ))
                .hint(format!("{} is the usual one", BackgroundTask::WEIGHT_USUAL)));
            }
        }
        Ok(())
    }
}

/// Counts and times of the background tasks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackgroundSummary {
    /// Tasks that entered.
    pub entered: u64,
    /// Tasks that exited.
    pub exited: u64,
    /// Time that they ran.
    pub run_ns: u64,
    /// Time that they were ready but did not run.
    pub ready_ns: u64,
}

impl BackgroundSummary {
    /// %NRT-RT (calandrino2007, 5.1): run / (run + ready), in percent; nothing if there was neither.
    #[expect(clippy::cast_precision_loss, reason = "a number to show")]
    pub fn run_percentage(&self) -> Option<f64> {
        let total = self.run_ns + self.ready_ns;
        (total > 0).then(|| 100.0 * self.run_ns as f64 / total as f64)
    }
}
