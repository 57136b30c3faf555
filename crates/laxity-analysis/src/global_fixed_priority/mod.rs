//! Global fixed priorities: bounds on response times on m processors.
//!
//! Tasks are in the order of their priorities, the highest first. A task suffers only from those before it, so each bound is
//! final when the next task is judged.

mod bertogna_cirinei;
mod guan;
mod interference;

pub use bertogna_cirinei::GlobalFixedPriorityRta;
pub use guan::GlobalFixedPriorityGuan;
