//! The laboratory: a task set under a scheduler on a platform is placed, proven, simulated or run, and what came out is handed back.
//!
//! Nothing here prints, parses a command line or draws a terminal: notes and progress go to an [`Observer`]. [`case::Cases`] are made and
//! checked once: sets under schedulers, with machine, placement, costs, demand and changes ([`case::CaseSettings`]). Each back end takes
//! them with `Settings` that are its alone, and gives an answer of its own; [`outcome`] makes one kind of value of all of them ([`prove`],
//! [`simulate`], [`measure`]):
//!
//! 1. [`analysis`]: what is proven, and why not;
//! 2. [`simulation`]: every job under laxity's own policies, by the policies' own source;
//! 3. [`experiment`]: runs on this machine, what was recorded of them, and what is proven and simulated of the same cases beside it.
//!
//! ```
//! use laxity_lab::case::{CaseSettings, Cases, Purpose};
//! use laxity_lab::{Caller, Silent, analysis, prove, simulate, simulation};
//! use laxity_model::{Duration, Platform, Task, TaskSet};
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! static NEVER: AtomicBool = AtomicBool::new(false);
//! let task = |name: &str, wcet, period| {
//!     Task::periodic(name, Duration::from_ms(wcet), Duration::from_ms(period))
//! };
//! let sets = [TaskSet::new("robot", vec![task("camera", 6, 10), task("lidar", 11, 20)])?];
//! let (schedulers, settings) = (["p-rm".parse()?], CaseSettings::plain(Platform::symmetric(2)?));
//! let cases = Cases::of(&sets, &schedulers, &settings, Purpose::Simulation, &NEVER)?;
//! let proven = prove(&cases, &analysis::Settings::default())?;
//! let caller = Caller { observer: Arc::new(Silent), version: "1".into(), command: vec![] };
//! let simulated = simulate(&cases, &simulation::Settings::plain(Duration::from_secs(1), caller))?;
//! assert_eq!(proven[0].metrics["proven_hard"].as_u64(), Some(1));
//! let bound = proven[0].tasks[1].metrics["response_bound_ns"].as_u64();
//! assert!(simulated[0].tasks[1].metrics["response_ns.max"].as_u64() <= bound);
//! # Ok::<(), laxity_model::Diagnostic>(())
//! ```
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
