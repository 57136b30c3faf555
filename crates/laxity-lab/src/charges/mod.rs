//! What proofs count besides the tasks: what scheduling costs, and what the kernel takes; and a placed set as a test is asked about it.

mod costs;
mod kernel;
mod placed_set;

pub use costs::{Charge, ChargedFile, Charges, Locate, running};
pub use kernel::{Kernel, words as kernel_words};
pub use placed_set::{Failed, PlacedSet, given_priorities, server_of};

/// Steps for each test on each cell in a trial, if a verdict may not take fewer.
pub const TRIAL_WORK: u64 = 1 << 26;
