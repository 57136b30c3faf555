//! Where tasks were judged, as a table.

use crate::tables::{fitted, table};
use comfy_table::ColumnConstraint;
use laxity_lab::analysis::answer::SchedulerAnswer;
use laxity_lab::placing::FitAnswer;
use laxity_model::shown;

/// The places of all schedulers that have any; those with the same ones together.
pub fn places_table(schedulers: &[SchedulerAnswer], width: u16) -> Option<String> {
    let mut groups: Vec<(Vec<&str>, &SchedulerAnswer)> = Vec::new();
    for one in schedulers.iter().filter(|one| one.fit.is_some()) {
        let alike = |other: &SchedulerAnswer| by(other) == by(one) && cells(other) == cells(one);
        match groups.iter_mut().find(|(_, other)| alike(other)) {
            Some((names, _)) => names.push(&one.scheduler),
            None => groups.push((vec![&one.scheduler], one)),
        }
    }
    if groups.is_empty() {
        return None;
    }
    let mut table = table(Some(width));
    table.set_header(["Places under", "by", "CPUs", "tasks"]);
    for (names, one) in groups {
        let mut lead = [names.join(", "), by(one)];
        for (cpus, tasks) in cells(one) {
            let [names, by] = std::mem::take(&mut lead);
            table.add_row([names, by, cpus.to_owned(), shown(&tasks.join(" ")).to_string()]);
        }
    }
    for column in [0, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    Some(fitted(table))
}

fn by(one: &SchedulerAnswer) -> String {
    let method = one.placement.as_deref().unwrap_or_default();
    let fit = one.fit.map_or("load", FitAnswer::word);
    format!("{method}, {}", fit.trim_start_matches("the "))
}

fn cells(one: &SchedulerAnswer) -> Vec<(&str, &[String])> {
    one.cells.iter().map(|cell| (cell.cpus.as_str(), &cell.tasks[..])).collect()
}
