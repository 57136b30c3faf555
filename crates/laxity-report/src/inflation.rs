//! How much longer jobs took than the same work alone.

use crate::number;
use crate::study::{Configuration, Study, TaskEvidence, shown};
use crate::table::{Column, Field, Table, Tone};

/// One row per task of a set, one column per configuration. Nothing where demands are CPU time: it says nothing there.
pub(crate) fn table(study: &Study<'_>, set: usize) -> Option<Table> {
    let of = |configuration: &&Configuration| !study.runs(&[set], configuration).is_empty();
    let configurations: Vec<&Configuration> = study.configurations.iter().filter(of).collect();
    if !study.demand_is_work() || configurations.is_empty() {
        return None;
    }
    let mut columns = vec![Column::text("Task"), Column::text("Group"), Column::number("Alone")];
    columns.extend(configurations.iter().map(|configuration| Column::number(&configuration.label)));
    let factor = |value: Option<f64>| match value {
        Some(value) => Field::from(number::significant(value)),
        None => Field::toned(number::NOT_AVAILABLE, Tone::Faint),
    };
    let row = |(id, task): (usize, &laxity_model::Task)| -> Vec<Field> {
        let group = task.group.as_ref().map_or("", |group| group.name.as_str());
        let mut row = vec![task.name.as_str().into(), group.into(), shown(task.wcet).into()];
        row.extend(configurations.iter().map(|configuration| {
            factor(TaskEvidence::of(&study.runs(&[set], configuration), id).execution_inflation)
        }));
        row
    };
    let mut rows: Vec<Vec<Field>> = study.sets[set].real_time().map(row).collect();
    let mut all = vec![Field::toned("all", Tone::Strong), "".into(), "".into()];
    all.extend(configurations.iter().map(|configuration| {
        let runs = study.runs(&[set], configuration);
        let of_runs: Vec<f64> = runs.iter().filter_map(|m| m.summary.rates.execution_inflation).collect();
        factor(laxity_trace::Sample::of(&of_runs).map(|sample| sample.mean))
    }));
    rows.push(all);
    Some(Table {
        caption: format!("Execution-time inflation of {}", study.sets[set].name()),
        columns,
        rows,
        notes: vec![
            "CPU time by the time that the same accesses took alone, in a warm cache; means over runs. Beyond 1 is what \
             preemptions, migrations and shared caches cost, and on a virtual machine what its host took."
                .to_owned(),
        ],
    })
}
