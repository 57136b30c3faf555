//! The oracles: never accuse a schedule that follows its definition, and catch every mutant.

mod agreement;
mod budgets_written;
mod clean;
mod cost_windows;
mod defects;
mod definitions;
mod equals;
mod exhaustive;
mod late_written;
mod random;
mod reserve_written;
mod restricted;
mod schema;
mod texts;
mod trace_mutants;
mod written;
