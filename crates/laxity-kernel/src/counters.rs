//! Counters of events since a scheduler was attached.

use crate::ffi;
use serde::Serialize;

/// Declares the counters once, with what they count.
macro_rules! counters {
    ($($(#[$documentation:meta])* $name:ident,)*) => {
        /// Sums over all CPUs.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
        pub struct Counters {
            $($(#[$documentation])* pub $name: u64,)*
        }

        impl Counters {
            /// Names and values, in the order of `bpf/host/setup.h`.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            /// Adds what one CPU counted.
            fn add(&mut self, cpu: &ffi::lx_counters) {
                $(self.$name += cpu.$name;)*
            }

            /// The counts since `before`.
            #[must_use]
            pub fn since(&self, before: &Counters) -> Counters {
                Counters { $($name: self.$name.saturating_sub(before.$name)),* }
            }
        }
    };
}

counters! {
    /// Release interrupts that released something.
    releases,
    /// Jobs that ended.
    completions,
    /// Budgets that ran out.
    exhaustions,
    /// CPUs asked to decide anew.
    kicks,
    /// Decisions of CPUs.
    decisions,
    /// Decisions that put a real-time task on the CPU.
    dispatches,
    /// Decisions whose task was still on its way off another CPU.
    retries,
    /// Decisions where the reserve for background work stopped real-time tasks.
    reserved,
    /// Times that background work was put on a CPU.
    background,
    /// Calls of sched_setattr that were granted.
    admitted,
    /// Calls of sched_setattr that were refused.
    refused,
    /// Tasks that left.
    departed,
    /// Times that the lock of a whole instance was taken: by each step of a policy that has no other, else where tasks enter,
    /// leave or come back.
    instance_locks,
    /// Decisions where background work went before real-time tasks by its server.
    served,
    /// Timers that the kernel did not start: the next decision or tick does what they were for.
    timer_failures,
    /// Jobs that others had kept from every CPU for too long, and that had one for a moment.
    rescued,
    /// Times that a thread of a class above took a CPU: what the policy had put there went to the others.
    withdrawals,
    /// Times that a kernel thread bound to a CPU had gone first for as long as it may, and waited.
    bounded,
}

impl Counters {
    /// From the values of a per-CPU map.
    pub(crate) fn from_cpus(values: &[ffi::lx_counters]) -> Counters {
        let mut sum = Counters::default();
        values.iter().for_each(|cpu| sum.add(cpu));
        sum
    }
}
