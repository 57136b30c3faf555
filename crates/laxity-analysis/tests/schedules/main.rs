//! Tests against schedules of tiny sets, and against each other.

mod global_fixed_priority;
mod simulation;
mod uniprocessor;
