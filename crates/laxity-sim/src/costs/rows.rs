//! The kernel's costs, a row each: the field of [`Costs`], the key of costs files with its sentence in the schema, and the column of
//! CSV files. All lists of costs come from here; which event pays one is the engine's.

use super::cache_file::CacheFile;
use super::given::WrittenCost;
use super::{CacheCosts, Cost};
use laxity_model::Duration;
use laxity_model::overheads::Overhead;
use schemars::JsonSchema;
use serde::Deserialize;

/// Declares the costs once, each with its name in files, its column in CSV files, what has that cost in words, and whether Linux's own
/// schedulers have it.
macro_rules! costs {
    ($($(#[$documentation:meta])* $cost:ident: $column:expr, $words:literal, $linux:literal;)*) => {
        /// All costs of a simulated system. [`Costs::default`] is a system that costs nothing.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Costs {
            $($(#[$documentation])* pub $cost: Cost,)*
            /// From one tick to the next; means nothing if ticks cost nothing.
            pub tick_period: Duration,
            /// What a job reloads after a preemption or a migration.
            pub cache: Option<CacheCosts>,
        }

        /// Costs of a simulated system. Every cost is off unless it is given. Files that are named are looked for beside this
        /// one.
        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(title = "laxity costs", rename = "costs")]
        pub(super) struct CostsFile {
            /// The schema, for editors.
            #[serde(rename = "$schema", default)]
            _schema: Option<String>,
            /// Version of this format.
            pub(super) version: u64,
            /// A CSV file with overheads in µs as functions of the number of tasks, with the header TASK-COUNT, IPI-LATENCY,
            /// SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY. What this file gives besides takes the place of a column.
            #[serde(default)]
            pub(super) overheads: Option<String>,
            $($(#[$documentation])* #[serde(default)] $cost: Option<WrittenCost>,)*
            /// From one tick to the next; 1ms if it is not given.
            #[serde(default)]
            pub(super) tick_period: Option<String>,
            /// Cache-related preemption and migration delay.
            #[serde(default)]
            pub(super) cache: Option<CacheFile>,
        }

        impl Default for Costs {
            fn default() -> Self {
                Costs { $($cost: Cost::Zero,)* tick_period: Duration::from_ms(1), cache: None }
            }
        }

        impl Costs {
            /// The names of the kernel's costs in files.
            pub const NAMES: [&str; [$($column),*].len()] = [$(stringify!($cost)),*];
            /// Their columns in CSV files, in the same order.
            pub(super) const COLUMNS: [&str; Costs::NAMES.len()] = [$($column),*];

            /// Every cost with its name in files.
            pub(super) fn named(&self) -> [(&'static str, &Cost); Costs::NAMES.len()] {
                [$((stringify!($cost), &self.$cost)),*]
            }

            /// Of every cost what has it, in words, whether it is above 0, and whether Linux's own schedulers have it.
            pub fn priced(&self) -> [(&'static str, bool, bool); Costs::NAMES.len()] {
                [$(($words, !self.$cost.is_zero(), $linux)),*]
            }

            /// Every cost, in the order of the names.
            pub(super) fn each_mut(&mut self) -> [&mut Cost; Costs::NAMES.len()] {
                [$(&mut self.$cost),*]
            }
        }

        impl CostsFile {
            /// What the file says of every cost, in the order of the names.
            pub(super) fn take_written(&mut self) -> [Option<WrittenCost>; Costs::NAMES.len()] {
                [$(self.$cost.take()),*]
            }
        }
    };
}

/// The same, in two parts: costs that are overheads of accounting, whose columns these have, so that no overhead can lack its cost; and
/// others.
macro_rules! charged {
    (
        overheads { $($(#[$documentation:meta])* $cost:ident: $overhead:ident, $words:literal, $linux:literal;)* }
        others { $($others:tt)* }
    ) => {
        costs! {
            $($(#[$documentation])* $cost: Overhead::$overhead.column(), $words, $linux;)*
            $($others)*
        }

        impl Costs {
            /// What an overhead costs.
            pub fn of_mut(&mut self, overhead: Overhead) -> &mut Cost {
                match overhead {
                    $(Overhead::$overhead => &mut self.$cost,)*
                }
            }
        }
    };
}

charged! {
    overheads {
        /// A release interrupt: its handler, until the released jobs are queued.
        release: Release, "release interrupts", true;
        /// A scheduling decision: from the entry of the scheduler until the next job is picked.
        scheduling: Schedule, "scheduling decisions", true;
        /// A context switch.
        context_switch: ContextSwitch, "context switches", true;
        /// From sending a reschedule interrupt until its handler runs.
        ipi: IpiLatency, "reschedule interrupts", true;
        /// A timer tick.
        tick: Tick, "timer ticks", true;
        /// From the nominal release until the release interrupt's handler runs.
        release_latency: ReleaseLatency, "release latency", true;
        // The field's CSV files do not have the columns of the others: what G-EDF-MP and push/pull need besides.
        /// A client's request to the dedicated scheduling processor, through its mailbox (cerqueira2014, III).
        mailbox: RequestLatency, "requests to a scheduling CPU", false;
        /// The dedicated scheduling processor's handling of one message (cerqueira2014, III).
        dsp: DspHandler, "the scheduling CPU's decisions", false;
    }
    others {
        /// One step of a push or a pull, under its locks (cerqueira2014, II-D).
        step: "STEP", "steps of pushes and pulls", true;
    }
}
