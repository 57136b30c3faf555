//! The map of missed deadlines: a row per task (or set), a column per scheduler, the more missed the deeper the colour.

use crate::plot::{ShownTasks, TASKS_SHOWN_MOST};
use crate::study::{Configuration, Evidence, Study, TaskEvidence};
use crate::{Recommendation, number};
use laxity_trace::Counts;
use serde::Serialize;

/// The map, ready for the template.
#[derive(Serialize)]
pub(super) struct HeatView {
    caption: String,
    /// What the rows are.
    first: &'static str,
    columns: Vec<String>,
    rows: Vec<RowView>,
    /// Which rows are left out.
    note: String,
}

#[derive(Serialize)]
struct RowView {
    name: String,
    cells: Vec<CellView>,
}

#[derive(Serialize)]
struct CellView {
    /// `heat-0` to `heat-5`, or `heat-none`.
    class: &'static str,
    text: String,
    /// What the number is of, and how late the latest job was.
    words: String,
}

/// What a cell shows.
#[derive(Clone, Copy)]
struct Missed {
    counts: Counts,
    tardiness_ns_max: Option<u64>,
}

/// The map of one set by tasks. Nothing if no job missed its deadline.
pub(super) fn of_tasks(study: &Study<'_>, set: usize, recommendation: &Recommendation) -> Option<HeatView> {
    let shown = ShownTasks::of(study, set);
    let configurations = in_order(study, recommendation);
    let cell = |configuration: &Configuration, id: usize| {
        let TaskEvidence { counts, tardiness_ns_max, .. } =
            TaskEvidence::of(&study.runs(&[set], configuration), id);
        Missed { counts, tardiness_ns_max }
    };
    let rows = { shown.ids.iter().zip(&shown.names) }
        .map(|(&id, name)| (name.clone(), configurations.iter().map(|one| cell(one, id)).collect()));
    let caption = format!("Missed deadlines by task and scheduler, {}", study.sets[set].name());
    view(caption, "Task", &configurations, rows.collect(), shown.note.trim().to_owned())
}

/// The map of all sets, those with the largest share of misses if there are many. Nothing if no job missed its deadline.
pub(super) fn of_sets(study: &Study<'_>, recommendation: &Recommendation) -> Option<HeatView> {
    let configurations = in_order(study, recommendation);
    let cell = |configuration: &Configuration, set: usize| {
        let Evidence { counts, tardiness_ns_max, .. } = Evidence::of(&study.runs(&[set], configuration));
        Missed { counts, tardiness_ns_max }
    };
    let row = |set: usize| -> (String, Vec<Missed>) {
        (study.sets[set].name().to_owned(), configurations.iter().map(|one| cell(one, set)).collect())
    };
    let mut rows: Vec<(usize, (String, Vec<Missed>))> =
        study.all_sets().into_iter().map(|set| (set, row(set))).collect();
    let all = rows.len();
    let misses = |row: &[Missed]| -> u64 { row.iter().map(|cell| cell.counts.misses).sum() };
    rows.sort_by_key(|(set, (_, row))| (std::cmp::Reverse(misses(row)), *set));
    rows.truncate(TASKS_SHOWN_MOST);
    rows.sort_by_key(|(set, _)| *set);
    let note = match all > TASKS_SHOWN_MOST {
        true => format!("The {TASKS_SHOWN_MOST} sets of {all} with most misses."),
        false => String::new(),
    };
    let rows = rows.into_iter().map(|(_, row)| row).collect();
    view("Missed deadlines by set and scheduler".to_owned(), "Set", &configurations, rows, note)
}

/// Best first, as in all tables.
fn in_order<'s>(study: &'s Study<'_>, recommendation: &Recommendation) -> Vec<&'s Configuration> {
    let place = |c: &&Configuration| {
        recommendation.ranking.iter().position(|label| *label == c.label).unwrap_or(usize::MAX)
    };
    let mut configurations: Vec<&Configuration> =
        study.configurations.iter().filter(|c| study.is_shown(c)).collect();
    configurations.sort_by_key(place);
    configurations
}

fn view(
    caption: String,
    first: &'static str,
    configurations: &[&Configuration],
    rows: Vec<(String, Vec<Missed>)>,
    note: String,
) -> Option<HeatView> {
    rows.iter().flat_map(|(_, cells)| cells).find(|cell| cell.counts.misses > 0)?;
    let row =
        |(name, cells): (String, Vec<Missed>)| RowView { name, cells: cells.into_iter().map(cell).collect() };
    Some(HeatView {
        caption,
        first,
        columns: configurations.iter().map(|c| c.label.clone()).collect(),
        rows: rows.into_iter().map(row).collect(),
        note,
    })
}

fn cell(Missed { counts, tardiness_ns_max }: Missed) -> CellView {
    let Counts { jobs, misses, .. } = counts;
    let class = class(misses, jobs);
    if jobs == 0 {
        return CellView { class, text: "–".to_owned(), words: "not run".to_owned() };
    }
    let late = match tardiness_ns_max {
        Some(ns) if ns > 0 => format!(", at most {} late", number::span_ns(ns)),
        _ if misses > 0 => ", never completed".to_owned(),
        _ => String::new(),
    };
    let text = if misses == 0 { "0".to_owned() } else { number::percent(misses, jobs) };
    CellView {
        class,
        text,
        words: format!("{} of {} missed{late}", number::count(misses), number::count(jobs)),
    }
}

/// By the share of jobs missed: up to 0.5 %, 2 %, 10 %, 50 %, and beyond. One in a million does not look like none.
fn class(misses: u64, jobs: u64) -> &'static str {
    let at_most = |per_mille: u64| u128::from(misses) * 1000 <= u128::from(jobs) * u128::from(per_mille);
    match misses {
        _ if jobs == 0 => "heat-none",
        0 => "heat-0",
        _ if at_most(5) => "heat-1",
        _ if at_most(20) => "heat-2",
        _ if at_most(100) => "heat-3",
        _ if at_most(500) => "heat-4",
        _ => "heat-5",
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn the_more_missed_the_deeper_the_colour() {
        let classes = [
            (0, 0),
            (0, 9),
            (1, 1_000_000),
            (5, 1000),
            (6, 1000),
            (2, 20),
            (5, 10),
            (6, 10),
            (u64::MAX, u64::MAX),
        ];
        let found = classes.map(|(misses, jobs)| class(misses, jobs));
        let expected = ["none", "0", "1", "1", "2", "3", "4", "5", "5"].map(|level| format!("heat-{level}"));
        assert_eq!(found.to_vec(), expected);
    }
}
