//! Global EDF, hard: no test dominates all others, so a set is schedulable if any accepts it.

mod gfb;

pub use gfb::Gfb;
