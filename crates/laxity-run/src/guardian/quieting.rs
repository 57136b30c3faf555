//! A guardian that disturbs its run as little as it can, and a machine that does (`--quiet-machine`).

use super::{Guardian, online_cpus};
use crate::cpuset::Hierarchy;
use crate::memory::lock_memory;
use crate::plan::{Confinement, Plan};
use crate::quiet::Quiet;
use crate::sched;
use laxity_model::{Cell, CpuList, Result, cpus_named};
use laxity_trace::QuietRecord;
use std::path::Path;

/// Whether cells may be partitions without load balancing. SCHED_DEADLINE needs a root domain for each cell, and isolated partitions
/// share one.
pub(super) fn may_be_isolated(plan: &Plan) -> bool {
    plan.quiet && !plan.uses_deadline()
}

impl Guardian {
    /// Makes the machine quiet, if the plan says so. Its cells are cpusets already, where they are to be.
    pub(super) fn make_quiet(&mut self, plan: &Plan) -> Result<()> {
        if !plan.quiet {
            return Ok(());
        }
        let made = Quiet::make(Path::new("/"), &plan.cpus(), &online_cpus()?, &mut self.journal)?;
        let mut record = made.record.clone();
        if plan.confinement == Confinement::Cpusets
            && let Ok(hierarchy) = Hierarchy::find()
        {
            of_partitions(plan, &hierarchy.partitions(&plan.cells), &mut record);
        }
        (self.quiet, self.quieted) = (Some(made), Some(record));
        Ok(())
    }

    /// Keeps this process out of the tasks' way: its memory stays, and it runs on CPUs that no task has, if there are any. All other
    /// processes have been started by then: they do not inherit it.
    pub(super) fn keep_away(&mut self, plan: &Plan) {
        if let Err(why) = lock_memory() {
            self.notes.push(format!("the guardian may be paged out: {}", why.message));
        }
        let Ok(machine) = online_cpus() else { return };
        let rest = machine.difference(&plan.cpus());
        if rest.is_empty() {
            return;
        }
        if let Err(error) = sched::set_affinity(0, &rest) {
            let rest = cpus_named(&rest);
            self.notes.push(format!("the guardian could not go to {rest}, which no task has: {error}"));
        }
    }
}

/// Which cells are partitions without load balancing, and why others are not.
fn of_partitions(plan: &Plan, partitions: &[(&Cell, bool)], record: &mut QuietRecord) {
    let of = |wanted: &dyn Fn(&(&Cell, bool)) -> bool| -> Option<String> {
        let cells = partitions.iter().filter(|partition| wanted(partition));
        let cpus: CpuList = cells.flat_map(|(cell, _)| cell.cpus.iter()).collect();
        (!cpus.is_empty()).then(|| cpus_named(&cpus))
    };
    let one = |(cell, _): &(&Cell, bool)| cell.cpus.len() == 1;
    if let Some(cpus) = of(&|partition| partition.1) {
        record.set.push(format!("partitions without load balancing (isolated): {cpus}"));
    }
    if !may_be_isolated(plan) {
        record.not_set.extend(of(&|_| true).map(|cpus| {
            format!(
                "isolated partitions of {cpus}: SCHED_DEADLINE needs a root domain for each cell, and isolated ones share one"
            )
        }));
        return;
    }
    record.not_set.extend(of(&|partition| !one(partition)).map(|cpus| {
        format!("isolated partitions of {cpus}: cells of several CPUs, between which tasks are balanced")
    }));
    record.not_set.extend(of(&|partition| one(partition) && !partition.1).map(|cpus| {
        format!(
            "isolated partitions of {cpus}: the kernel does not take them as such; Linux 6.1 and later do"
        )
    }));
}
