//! Whether a set can fit at all.

use super::Placing;
use laxity_model::{Diagnostic, PolicyScheduler, Result, TaskSet};
use laxity_place::Overload;

/// Refuses a set that no scheduler of this scope could keep up with, unless overload is asked for.
pub fn check_capacity(set: &TaskSet, policy: PolicyScheduler, placing: &Placing<'_>) -> Result<()> {
    let capacity = if policy.scope == laxity_model::Scope::Global && policy.policy.dedicates_a_core() {
        match placing.capacity(policy.scope, true) {
            Ok(capacity) => capacity,
            // The simulator says which scheduler needs more cores.
            Err(_) => return Ok(()),
        }
    } else {
        placing.capacity(policy.scope, policy.policy.dedicates_a_core())?
    };
    if placing.overload != Overload::Refuse || set.utilization() <= capacity {
        return Ok(());
    }
    let without = if policy.policy.dedicates_a_core() { ", without those that run no task" } else { "" };
    Err(Diagnostic::usage(format!(
        "its utilization {} exceeds what the CPUs of platform `{}` can do: {capacity}{without}",
        set.utilization(),
        placing.platform.name()
    ))
    .hint("use more CPUs (--cpus N) or less load, or simulate it overloaded with --overload least-loaded"))
}
