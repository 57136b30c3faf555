//! The laboratory: a task set under a scheduler on a platform is placed, proven, simulated or run, and what came out is handed back.
//!
//! Nothing here prints, parses a command line or draws a terminal: notes and progress go to an [`Observer`]. Each of the back ends has
//! `Settings` and gives an answer of its own; [`outcome`] makes one kind of value of all of them ([`prove`], [`simulate`], [`measure`]):
//!
//! 1. [`analysis`]: what is proven, and why not;
//! 2. [`simulation`]: every job under laxity's own policies, by the policies' own source;
//! 3. [`experiment`]: runs on this machine, what was recorded of them, and what is proven and simulated of the same cases beside it.
//!
//! [`schedulers`] reads names, [`placing`] has tasks in cells, [`charges`] what scheduling and the kernel cost a proof, and [`places`]
//! finds where tasks go; a [`case::Case`] is a set under a scheduler in its places, which all three start from. [`settings`] asks for
//! parameters instead of verdicts, [`deploy`] makes files of what was chosen and reads a machine back, [`study`] measures and shows
//! studies, [`overheads`] records what scheduling costs, [`loading`] has a policy schedule the machine until it is stopped, and
//! [`promotion`] is the authority of a loaded amp-rm. [`platforms`] and [`files`] read what a user names; [`report`] and
//! [`verification`] answer from a results directory.

pub mod analysis;
pub mod case;
pub mod catalogue;
pub mod charges;
pub mod deploy;
pub mod experiment;
pub mod files;
mod in_order;
pub mod loading;
mod observer;
pub mod outcome;
pub mod overheads;
pub mod place;
pub mod places;
pub mod placing;
pub mod platforms;
pub mod promotion;
pub mod report;
mod roles;
pub mod schedulers;
pub mod settings;
pub mod simulation;
pub mod study;
pub mod verification;

pub use observer::{Caller, Observer, Silent, Step, Steps, check_interrupt, is_over, watched};
pub use outcome::{Outcome, measure, prove, simulate};
pub use roles::internal_role;
