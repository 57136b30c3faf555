//! Global EDF, hard: no test dominates all others, so a set is schedulable if any accepts it.

#[cfg(test)]
mod alone;
mod any;
mod assumptions;
mod bak;
mod bar;
mod bcl;
mod bcl_iterative;
mod busy_interval;
#[cfg(test)]
mod by_hand;
mod by_period;
mod ff_dbf;
mod gfb;
mod headroom;
mod la;
mod load;
mod ramps;
#[cfg(test)]
mod reference;
mod rta;
mod share;
mod slack;
#[cfg(test)]
mod testing;
mod workload;
mod zero_laxity;

pub use any::AnyGlobalEdf;
pub use bak::Bak;
pub use bar::Bar;
pub use bcl::Bcl;
pub use bcl_iterative::BclIterative;
pub use ff_dbf::FfDbf;
pub use gfb::Gfb;
pub use la::La;
pub use load::Load;
pub use rta::Rta;
pub use zero_laxity::ZeroLaxity;
