//! The table "what to set": for each thread its policy with parameters, its CPUs and its cgroup.

use crate::table::{Column, Table};
use laxity_deploy::{DeployPlan, Row};
use std::collections::BTreeSet;

/// The table of each plan, in their order; the name of the set is in the caption where there are several.
pub(crate) fn tables(plans: &[DeployPlan]) -> Vec<Table> {
    plans.iter().map(|plan| table(plan, plans.len() > 1)).collect()
}

/// [`tables`] for a page, where they stand beside another: what the names of all cgroups begin with is said below.
pub(crate) fn tables_on_page(plans: &[DeployPlan]) -> Vec<Table> {
    { tables(plans).into_iter().zip(plans) }.map(|(table, plan)| shortened(table, plan)).collect()
}

fn shortened(mut table: Table, plan: &DeployPlan) -> Table {
    let rows = plan.rows();
    let names: BTreeSet<&str> =
        rows.iter().map(|row| row.cgroup.as_str()).filter(|name| !name.is_empty()).collect();
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return table };
    let same = first.chars().zip(last.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    // The number of a cell stays whole.
    let Some(end) = first[..same].rfind('-').filter(|&end| end >= LONG) else { return table };
    let of =
        |row: &Row| if row.cgroup.is_empty() { String::new() } else { format!("…{}", &row.cgroup[end..]) };
    for (fields, row) in table.rows.iter_mut().zip(&rows) {
        if let Some(field) = fields.last_mut() {
            *field = of(row).into();
        }
    }
    table.notes.push(format!("cgroups: `…` is `{}`.", &first[..end]));
    table
}

/// What is shorter than this is as well written out.
const LONG: usize = 6;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(cgroups: &[Option<&str>]) -> DeployPlan {
        let cell =
            |cgroup: &Option<&str>| serde_json::json!({ "cpus": "0", "memory_nodes": "", "cgroup": cgroup });
        let thread = |(cell, _): (usize, &Option<&str>)| {
            serde_json::json!({
                "task": format!("t{cell}"), "comm": format!("t{cell}"), "policy": "SCHED_FIFO", "priority": 40, "flags": [],
                "cpus": "0", "cell": cell, "why": []
            })
        };
        let plan = serde_json::json!({
            "version": 1, "task_set": "set", "scheduler": "p-rm", "description": "", "machine_cpus": "0-1",
            "confinement": { "by": "affinity-masks" }, "attached": null, "warnings": [], "notes": [],
            "cells": cgroups.iter().map(cell).collect::<Vec<_>>(),
            "threads": cgroups.iter().enumerate().map(thread).collect::<Vec<_>>(),
        });
        DeployPlan::from_json(&plan.to_string()).expect("a plan")
    }

    fn last_fields(cgroups: &[Option<&str>]) -> (Vec<String>, usize) {
        let table = tables_on_page(&[plan(cgroups)]).remove(0);
        let last =
            table.rows.iter().map(|row| row.last().map(|field| field.text.clone()).unwrap_or_default());
        (last.collect(), table.notes.len())
    }

    #[test]
    fn a_page_says_once_what_all_cgroups_begin_with() {
        let long = [Some("/sys/fs/cgroup/laxity-robot-1"), Some("/sys/fs/cgroup/laxity-robot-10"), None];
        assert_eq!(last_fields(&long), (vec!["…-1".into(), "…-10".into(), String::new()], 1));
        let one = [Some("/sys/fs/cgroup/laxity-robot-0")];
        assert_eq!(last_fields(&one), (vec!["…-0".into()], 1));
        let unlike = [Some("/sys/fs/cgroup/a-0"), Some("/sys/fs/cgroup/b-0")];
        assert_eq!(last_fields(&unlike), (vec!["a-0".into(), "b-0".into()], 0));
        assert_eq!(last_fields(&[None]), (vec!["0".into()], 0), "the last column is that of CPUs");
    }
}
