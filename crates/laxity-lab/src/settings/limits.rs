//! What the kernel takes and admits.

use crate::charges::Kernel;
use laxity_analysis::settings::KernelRules;
use laxity_run::KernelLimits;

/// A kernel's limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// On each reservation.
    pub rules: KernelRules,
    /// As it has them.
    kernel: KernelLimits,
    /// Where they come from: this kernel's, or Linux's defaults.
    pub origin: &'static str,
}

impl Limits {
    /// Those of a kernel.
    pub fn of(kernel: &Kernel) -> Self {
        let limits = kernel.limits;
        let rules = KernelRules {
            period_min_ns: limits.deadline_period_min_us.saturating_mul(1_000),
            period_max_ns: limits.deadline_period_max_us.saturating_mul(1_000),
            ..KernelRules::default()
        };
        Limits { rules, kernel: limits, origin: kernel.origin }
    }

    /// The share of each CPU after which the kernel stops SCHED_FIFO; nothing: it does not.
    pub fn fifo_share(&self) -> Option<(u64, u64)> {
        self.kernel.throttled_ns().map(|(stopped, period)| (period - stopped, period))
    }

    /// The same in units of 2^-20, rounded down.
    pub fn fifo_q20(&self) -> u64 {
        let (runtime, period) = self.fifo_share().unwrap_or((1, 1));
        u64::try_from((u128::from(runtime) << 20) / u128::from(period)).unwrap_or(u64::MAX)
    }

    /// What SCHED_DEADLINE admits of each CPU, in units of 2^-20: sched_rt_runtime_us less the kernel's servers.
    pub fn deadline_q20(&self) -> u64 {
        self.kernel.admitted_q20()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_kernels_less_its_servers() {
        let limits = Limits::of(&Kernel::linux(false));
        assert_eq!(limits.deadline_q20(), 996_147 - 52_428, "0.95 and 0.05 as to_ratio rounds them");
        assert_eq!((limits.fifo_share(), limits.fifo_q20()), (None, 1 << 20));
        let mut kernel = Kernel::linux(true);
        kernel.limits.throttles = true;
        let limits = Limits::of(&kernel);
        assert_eq!(
            (limits.deadline_q20(), limits.fifo_q20()),
            (943_719, 996_147),
            "admission asks for no background"
        );
    }
}
