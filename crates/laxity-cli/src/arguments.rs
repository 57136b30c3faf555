//! Options that several commands have. They mean the same everywhere.

mod import;
mod place;
mod platform;
mod policy;
mod results;
mod running;
mod server;
mod simulate;
mod values;
mod write;

pub use import::ImportArguments;
pub use laxity_lab::case::ChangeAt;
pub use place::PlaceArguments;
pub use platform::{PlacementArguments, PlatformArguments, one_placement};
pub use policy::PolicyArguments;
pub use results::{ExcuseArguments, ReportArguments, VerifyArguments, ViewArguments};
pub use running::{CompareArguments, RunArguments, RunningArguments};
pub use server::{ServerArguments, double_hit};
pub use simulate::SimulateArguments;
pub use values::{
    count, kernel_threads, or_lelli2012, reserve_window, run_for_real, share, share_or_kernel, simulated,
    switch, threads, value, whole, worded,
};
pub use write::WriteArguments;
