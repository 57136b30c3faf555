//! What the simulated system spends on scheduling and on cold caches. Every cost is off by default.

use laxity_model::{Duration, Platform};
use rand_pcg::Pcg64;

/// A cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cost {
    /// None.
    #[default]
    Zero,
    /// Always the same.
    Constant(Duration),
}

/// A cost at a number of tasks.
pub struct Prepared(u64);

impl Cost {
    /// At `n` tasks.
    pub fn prepare(&self, _n: u32) -> Prepared {
        match self {
            Cost::Zero => Prepared(0),
            Cost::Constant(cost) => Prepared(cost.as_ns()),
        }
    }

    /// Whether it is none.
    pub fn is_zero(&self) -> bool {
        *self == Cost::Zero
    }
}

impl Prepared {
    /// The next one, in ns.
    pub fn draw(&self, _: &mut Pcg64) -> u64 {
        self.0
    }
}

/// Cache-related delay.
pub struct CacheDelay;

impl CacheDelay {
    /// In ns.
    pub fn delay(&self, _bytes: u64, _from: u32, _to: u32) -> u64 {
        0
    }
}

/// All costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Costs {
    pub release: Cost,
    pub scheduling: Cost,
    pub context_switch: Cost,
    pub ipi: Cost,
    pub tick: Cost,
    pub tick_period: Duration,
    pub release_latency: Cost,
    pub mailbox: Cost,
    pub dsp: Cost,
    pub step: Cost,
}

impl Costs {
    /// Whether all are off.
    pub fn is_zero(&self) -> bool {
        *self == Costs::default()
    }

    /// The cache model.
    pub fn cache_delay(&self, _platform: &Platform) -> Option<CacheDelay> {
        None
    }
}
