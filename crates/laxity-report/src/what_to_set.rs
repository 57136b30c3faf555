//! The table "what to set": for each thread its policy with parameters, its CPUs and its cgroup.

use crate::table::{Column, Table};
use laxity_deploy::DeployPlan;

/// The table of each plan, in their order; the name of the set is in the caption where there are several.
pub(crate) fn tables(plans: &[DeployPlan]) -> Vec<Table> {
    plans.iter().map(|plan| table(plan, plans.len() > 1)).collect()
}

fn table(plan: &DeployPlan, named: bool) -> Table {
    let of_set = if named { format!(" for {}", plan.task_set) } else { String::new() };
    let [thread, policy, parameters, cpus, cgroup] = plan.headings();
    let mut columns =
        vec![Column::text(thread), Column::text(policy), Column::number(parameters), Column::text(cpus)];
    let in_cgroups = plan.cells.iter().any(|cell| cell.cgroup.is_some());
    if in_cgroups {
        columns.push(Column::text(cgroup));
    }
    let rows = plan.rows().into_iter().map(|row| {
        let policy = match row.flags.as_str() {
            "" => row.policy.to_owned(),
            flags => format!("{}, {flags}", row.policy),
        };
        let mut fields = vec![row.thread.into(), policy.into(), row.parameters.into(), row.cpus.into()];
        if in_cgroups {
            fields.push(row.cgroup.into());
        }
        fields
    });
    Table {
        caption: format!("What to set{of_set} ({})", plan.scheduler),
        columns,
        rows: rows.collect(),
        notes: plan.warnings.clone(),
    }
}
