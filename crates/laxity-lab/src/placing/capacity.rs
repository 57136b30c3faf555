//! Whether a set can fit at all.

use super::Placing;
use crate::schedulers::Scheduled;
use laxity_model::{Diagnostic, Result, Scope, TaskSet};
use laxity_place::Overload;

/// Refuses a set that no scheduler of this scope could keep up with, unless overload is asked for.
pub fn check_capacity(set: &TaskSet, scheduler: &impl Scheduled, placing: &Placing<'_>) -> Result<()> {
    let (scope, dedicated) = (scheduler.scope(), scheduler.dedicates_a_core());
    let capacity = if scope == Scope::Global && dedicated {
        match placing.capacity(scope, true) {
            Ok(capacity) => capacity,
            // The simulator says which scheduler needs more cores.
            Err(_) => return Ok(()),
        }
    } else {
        placing.capacity(scope, dedicated)?
    };
    if placing.overload != Overload::Refuse || set.load().cmp_to(&capacity).is_le() {
        return Ok(());
    }
    let without = if dedicated { ", without those that run no task" } else { "" };
    Err(Diagnostic::usage(format!(
        "its utilization {} exceeds what the CPUs of platform `{}` can do: {capacity}{without}",
        set.load(),
        placing.platform.name()
    ))
    .hint("use more CPUs (--cpus N) or less load, or simulate it overloaded with --overload least-loaded"))
}
