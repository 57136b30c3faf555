//! The discrete-event simulator: the schedulers of `policy/` on any platform, with modelled costs.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod background;
mod changes;
pub mod costs;
mod engine;
mod observer;
mod prototypes;
mod servers;
mod setup;

pub use background::{Background, BackgroundSummary, BackgroundTask, TICK};
pub use changes::{Change, ChangeOutcome, Changed, Changes, PATIENCE, Promise, What};
pub use engine::{Ended, simulate};
pub use observer::{Observer, Recording};
pub use prototypes::{Begin, Prototypes};
pub use servers::Servers;
pub use setup::{RETRIES_MAX, Setup, global_cell};
