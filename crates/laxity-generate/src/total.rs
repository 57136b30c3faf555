//! The one rule of generators that are given a number of tasks and a total utilization.

use crate::Decimal;
use crate::draft::TASKS_MAX;
use laxity_model::{Diagnostic, Result};

/// Checks `1 <= tasks <= TASKS_MAX` and `0 < utilization <= tasks`.
pub(crate) fn check(tasks: u32, utilization: Decimal) -> Result<()> {
    check_count("tasks", tasks, TASKS_MAX)?;
    if utilization == Decimal::ZERO {
        return Err(Diagnostic::usage("utilization 0 is not positive")
            .hint("give the total utilization of the set, such as 3.2"));
    }
    if utilization > Decimal::whole(tasks) {
        return Err(Diagnostic::usage(format!(
            "{tasks} tasks cannot have the total utilization {utilization}: no task may exceed 1"
        ))
        .hint(format!("ask for at least {} tasks or a lower utilization", utilization.to_f64().ceil())));
    }
    Ok(())
}

/// Checks `1 <= count <= max`.
pub(crate) fn check_count(what: &str, count: u32, max: u32) -> Result<()> {
    if (1..=max).contains(&count) {
        return Ok(());
    }
    Err(Diagnostic::usage(format!("{what} {count} is not within 1 to {max}"))
        .hint(format!("ask for 1 to {max} {what}")))
}
