//! Seeded task-set generators of the literature, and the jobs of a task.
//!
//! A [`Request`] names a generator, its options, the options common to all, and a seed; set k is a function
//! of the request and k alone, the same bytes on every machine ([`RNG_NAME`], `libm`). Every set carries its
//! provenance, from which [`regenerate`] makes it again.
//!
//! ```
//! use laxity_generate::{Emberson, Generator, Request};
//! let request = Request {
//!     generator: Generator::from(Emberson::new(20, "3.2".parse()?)),
//!     common: Default::default(),
//!     seed: 42,
//! };
//! let sets = request.prepare()?;
//! let set = sets.generate(7)?;
//! assert_eq!(laxity_generate::regenerate(set.provenance().expect("generated"))?, set);
//! # Ok::<(), laxity_model::Diagnostic>(())
//! ```

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod calandrino2007;
mod catalogue;
mod common;
mod decimal;
mod draft;
mod emberson;
mod fixed_sum;
mod generator;
pub mod lelli2012;
mod mtt;
mod parameter;
mod parameters;
mod periods;
mod request;
mod stream;
mod total;
mod unc;
mod uunifast;
mod waters;
mod weibull;
mod words;
mod workload;

pub use calandrino2007::Calandrino2007;
pub use catalogue::{GENERATORS, description};
pub use common::{Arrivals, Common, Deadlines, Phases};
pub use decimal::Decimal;
pub use emberson::{Emberson, Rescale};
pub use generator::{Description, Generator};
pub use mtt::{DrawnFor, Mtt, MttDistribution, MttWorkingSet};
pub use parameter::{COMMON_PARAMETERS, Fallback, Parameter};
pub use parameters::Parameters;
pub use periods::{PeriodShape, Periods};
pub use request::{Prepared, Request, generate, regenerate};
pub use stream::{RNG_NAME, seed_of};
pub use unc::{LastTask, Unc, UncSize, Utilizations};
pub use uunifast::UUniFast;
pub use waters::{RUNNABLE_CLASSES, Runnable, RunnableClass, Waters, WatersDemand};
pub use workload::{JobSpec, Jobs, jobs_of};
