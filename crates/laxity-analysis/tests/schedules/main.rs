//! Tests against schedules of tiny sets, and against each other.

mod simulation;
mod uniprocessor;
