//! The tables of a report: at a glance, misses by task, lelli2012's Tables 3 and 4.

use crate::analysis;
use crate::grid::{GridPoint, Layout};
use crate::number::{self, NOT_AVAILABLE};
use crate::recommend::Recommendation;
use crate::study::{Configuration, Evidence, Study, TaskEvidence, by_reason, shown};
use crate::table::{Column, Field, Table, Tone};
use laxity_model::{AnyScheduler, Scope, scheduler_of};
use laxity_trace::{Counts, Sample, TaskSummary};
use std::collections::BTreeMap;

/// Tasks named per scheduler in the table of tasks that miss.
pub(crate) const WORST_TASKS_MOST: usize = 5;

fn sample(value: Option<Sample>) -> String {
    value.map_or_else(|| NOT_AVAILABLE.to_owned(), |s| number::mean_sd(s.mean, s.sd))
}

fn measured(value: Option<f64>, show: impl Fn(f64) -> String) -> Field {
    value.map_or_else(|| Field::toned(NOT_AVAILABLE, Tone::Faint), |v| show(v).into())
}

fn u64_of(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// One row per configuration, best first: what an answer needs.
pub(crate) fn glance(study: &Study<'_>, sets: &[usize], recommendation: &Recommendation) -> Table {
    let place = |c: &Configuration| {
        recommendation.ranking.iter().position(|label| *label == c.label).unwrap_or(usize::MAX)
    };
    let mut configurations: Vec<&Configuration> = study.configurations.iter().collect();
    configurations.sort_by_key(|c| place(c));
    let analysed = analysis::present(study);
    let mut incomplete = Vec::new();
    let mut rows = Vec::new();
    let apart = Apart::of(study.summary.runs.iter().map(|run| run.counts));
    for configuration in configurations {
        let runs = study.runs(sets, configuration);
        if runs.is_empty() {
            continue;
        }
        let evidence = Evidence::of(&runs);
        let best = recommendation.label.as_deref() == Some(&configuration.label);
        let mut row = glance_row(configuration, &evidence, best, runs.len(), &apart);
        if analysed {
            row.push(analysis::field(study, sets, &configuration.scheduler));
        }
        rows.push(row);
        let mark = if evidence.runs > 0 { "† " } else { "" };
        let why = |why: &String| (format!("{mark}{}", configuration.label), why.clone());
        incomplete.extend(evidence.incomplete.iter().map(why));
    }
    let together = by_reason(incomplete).into_iter();
    let mut notes: Vec<String> = together.map(|(labels, why)| format!("{labels}: {why}.")).collect();
    notes.extend(not_measured(study, sets));
    notes.extend(analysed.then(|| analysis::NOTE.to_owned()));
    notes.extend(analysis::beside_kernel(study, sets));
    notes.extend(analysis::nothing_proven(study));
    notes.extend(analysis::left_out(study).map(|why| format!("Analysis: {why}.")));
    let measured = GLANCE.iter().map(|(title, _)| Column::number(title));
    let mut columns: Vec<Column> =
        [Column::text("Scheduler"), Column::number("Runs")].into_iter().chain(measured).collect();
    columns.splice(APART_AFTER..APART_AFTER, apart.columns());
    columns.extend(analysed.then(|| Column::text(analysis::COLUMN)));
    Table { caption: "Schedulers at a glance, best first".to_owned(), columns, rows, notes }
}

/// What stands in a column.
type FieldOf = fn(&Evidence) -> Field;

/// What the glance has of every scheduler behind its name and its runs: titles, and fields where something ran.
const GLANCE: &[(&str, FieldOf)] = &[
    ("Jobs", |e| number::count(e.counts.jobs).into()),
    ("Missed", |e| Field::toned(number::count(e.counts.misses), missed_tone(e))),
    ("Share", |e| Field::toned(number::percent(e.counts.misses, e.counts.jobs), missed_tone(e))),
    ("Max. tardiness", |e| tardiness(e.tardiness_ns_max)),
    ("Norm. laxity", |e| sample(e.laxity).into()),
    ("Closest call", |e| {
        measured(e.laxity_min, |least| format!("{} % of T", number::significant(least * 100.0)))
    }),
    ("Exp. U/m", |e| sample(e.utilization_per_core).into()),
    ("Switches/task", |e| sample(e.context_switch_rate).into()),
    ("Migr./task", |e| sample(e.migration_rate).into()),
];

fn missed_tone(e: &Evidence) -> Tone {
    if e.counts.misses == 0 { Tone::Good } else { Tone::Bad }
}

/// Where the glance has the columns of [`Apart`]: behind the share of misses.
const APART_AFTER: usize = 5;

/// Jobs that were aborted, releases that were skipped and jobs of tasks in the background: columns that are there if there were any.
struct Apart {
    aborted: bool,
    skipped: bool,
    ordinary: bool,
}

impl Apart {
    fn of(counts: impl Iterator<Item = Counts>) -> Self {
        let all: Counts = counts.sum();
        Apart { aborted: all.aborted > 0, skipped: all.skipped > 0, ordinary: all.ordinary > 0 }
    }

    fn columns(&self) -> Vec<Column> {
        let named = [(self.aborted, "Aborted"), (self.skipped, "Skipped"), (self.ordinary, "Background")];
        named.into_iter().filter(|(there, _)| *there).map(|(_, name)| Column::number(name)).collect()
    }

    fn fields(&self, counts: &Counts) -> Vec<Field> {
        let counted = [
            (self.aborted, counts.aborted),
            (self.skipped, counts.skipped),
            (self.ordinary, counts.ordinary),
        ];
        counted.into_iter().filter(|(there, _)| *there).map(|(_, n)| number::count(n).into()).collect()
    }
}

fn glance_row(
    configuration: &Configuration,
    e: &Evidence,
    best: bool,
    asked: usize,
    apart: &Apart,
) -> Vec<Field> {
    let name = Field::toned(configuration.label.clone(), if best { Tone::Strong } else { Tone::Plain });
    let runs = if e.complete() {
        number::count(u64_of(e.runs)).into()
    } else {
        let reason = if e.runs == 0 { "not run".to_owned() } else { format!("{} of {asked} †", e.runs) };
        Field::toned(reason, Tone::Faint)
    };
    let mut row = vec![name, runs];
    if e.runs == 0 {
        let rest = GLANCE.len() + apart.columns().len();
        row.extend(std::iter::repeat_n(Field::toned("–", Tone::Faint), rest));
        return row;
    }
    row.extend(GLANCE.iter().map(|(_, of)| of(e)));
    row.splice(APART_AFTER..APART_AFTER, apart.fields(&e.counts));
    row
}

fn tardiness(ns: Option<u64>) -> Field {
    match ns {
        None => Field::toned(NOT_AVAILABLE, Tone::Faint),
        Some(0) => "0".into(),
        Some(ns) => number::span_ns(ns).into(),
    }
}

/// Why columns of the glance are not available.
fn not_measured(study: &Study<'_>, sets: &[usize]) -> Vec<String> {
    let mut by_reason: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for configuration in &study.configurations {
        for run in study.runs(sets, configuration) {
            let made = !matches!(run.run.status, laxity_trace::RunStatus::NotRun { .. });
            let shown = [
                "normalized_laxity",
                "measured_utilization_per_core",
                "migration_rate",
                "context_switch_rate",
            ];
            for metric in shown.iter().filter(|_| made) {
                if let Some(reason) = run.summary.not_measured.get(*metric) {
                    let labels = by_reason.entry((metric.replace('_', " "), reason.clone())).or_default();
                    if !labels.contains(&configuration.label.as_str()) {
                        labels.push(&configuration.label);
                    }
                }
            }
        }
    }
    let sentence = |((metric, reason), labels): ((String, String), Vec<&str>)| {
        format!("No {metric} for {}: {reason}.", labels.join(", "))
    };
    by_reason.into_iter().map(sentence).collect()
}

/// The tasks that miss most under each scheduler, at most so many of each. Nothing if there are no misses.
pub(crate) fn worst_tasks(study: &Study<'_>, sets: &[usize], most: usize) -> Option<Table> {
    let mut rows = Vec::new();
    let mut left_out = 0;
    let apart = Apart::of(study.summary.runs.iter().map(|run| run.counts));
    for configuration in &study.configurations {
        let mut missing = Vec::new();
        for &set in sets {
            let runs = study.runs(&[set], configuration);
            for (id, _) in study.sets[set].real_time() {
                let task = TaskEvidence::of(&runs, id);
                if task.counts.misses > 0 {
                    missing.push((set, id, task));
                }
            }
        }
        let share = |t: &TaskEvidence| number::ratio(t.counts.misses, t.counts.jobs);
        missing.sort_by(|a, b| share(&b.2).total_cmp(&share(&a.2)).then((a.0, a.1).cmp(&(b.0, b.1))));
        left_out += missing.len().saturating_sub(most);
        for (set, id, task) in missing.into_iter().take(most) {
            let mut row = worst_row(study, configuration, set, id, &task, sets.len() > 1);
            row.extend(apart.fields(&task.counts));
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return None;
    }
    let notes = if left_out == 0 {
        vec![]
    } else {
        vec![format!(
            "At most {most} tasks per scheduler, those with the largest share of misses; others that miss: {}.",
            number::count(u64_of(left_out))
        )]
    };
    let mut columns = vec![
        Column::text("Scheduler"),
        Column::text("Task"),
        Column::number("Period"),
        Column::number("Deadline"),
        Column::number("C/T"),
        Column::number("Jobs"),
        Column::number("Missed"),
        Column::number("Share"),
        Column::number("Max. tardiness"),
        Column::number("Never ended"),
    ];
    columns.extend(apart.columns());
    let caption = "Misses by task: the tasks with the largest share of missed jobs".to_owned();
    Some(Table { caption, columns, rows, notes })
}

/// What stands in place of [`worst_tasks`] when there is nothing to show.
pub(crate) fn no_misses(study: &Study<'_>) -> &'static str {
    match (study.anything_ran(), study.anything_was_run()) {
        (true, _) => "No job missed its deadline under any scheduler.",
        (false, true) => "No job ended.",
        (false, false) => "Nothing was run.",
    }
}

fn worst_row(
    study: &Study<'_>,
    configuration: &Configuration,
    set: usize,
    id: usize,
    evidence: &TaskEvidence,
    several_sets: bool,
) -> Vec<Field> {
    let task = &study.sets[set].tasks()[id];
    let name =
        if several_sets { format!("{} / {}", study.sets[set].name(), task.name) } else { task.name.clone() };
    let counts = evidence.counts;
    vec![
        configuration.label.as_str().into(),
        name.into(),
        shown(task.period()).into(),
        shown(task.deadline_rel).into(),
        number::significant(crate::study::task_utilization(task)).into(),
        number::count(counts.jobs).into(),
        Field::toned(number::count(counts.misses), Tone::Bad),
        Field::toned(number::percent(counts.misses, counts.jobs), Tone::Bad),
        tardiness(evidence.tardiness_ns_max),
        number::count(counts.unfinished).into(),
    ]
}

/// lelli2012, Table 4: one table per scope (global, clustered, partitioned, others) and working-set size.
pub(crate) fn table_4(study: &Study<'_>, layout: &Layout) -> Vec<Table> {
    let sizes = layout.working_sets();
    let mut tables = Vec::new();
    for size in &sizes {
        // Sets one by one stand in one table; only a grid is split by working set, as in the paper.
        let cells: Vec<&GridPoint> =
            layout.points.iter().filter(|c| !layout.grid || c.working_set == *size).collect();
        let heading = match size {
            Some(0) => String::new(),
            Some(size) if layout.grid => format!(", WSS {}", number::bytes(*size)),
            _ => String::new(),
        };
        for (words, members) in by_scope(study) {
            tables.extend(scope_table(study, layout.grid, &cells, &members, &format!("{words}{heading}")));
        }
        if !layout.grid {
            break;
        }
    }
    tables
}

/// Columns that fit next to each other on a page.
const PAGE_COLUMNS_MAX: usize = 19;

/// [`table_4`] for a page: where many schedulers would stand side by side, all tables have them in rows.
pub(crate) fn table_4_on_page(study: &Study<'_>, layout: &Layout) -> Vec<Table> {
    let tables = table_4(study, layout);
    match tables.iter().any(|table| table.columns.len() > PAGE_COLUMNS_MAX) {
        true => stacked(tables),
        false => tables,
    }
}

/// The tables with their schedulers in rows.
pub(crate) fn stacked(tables: Vec<Table>) -> Vec<Table> {
    tables.into_iter().map(|table| table.stacked("Scheduler").unwrap_or(table)).collect()
}

fn by_scope<'s>(study: &'s Study<'_>) -> Vec<(&'static str, Vec<&'s Configuration>)> {
    let scope =
        |c: &Configuration| scheduler_of(&c.scheduler).0.parse::<AnyScheduler>().ok().map(|s| s.scope());
    let groups = [
        ("Global scheduling", Some(Scope::Global)),
        ("Clustered scheduling", Some(Scope::Clustered)),
        ("Partitioned scheduling", Some(Scope::Partitioned)),
        ("Other schedulers", None),
    ];
    let shown = || study.configurations.iter().filter(|c| study.is_shown(c));
    let members = |wanted| shown().filter(|&c| scope(c) == wanted).collect::<Vec<_>>();
    groups
        .into_iter()
        .map(|(words, wanted)| (words, members(wanted)))
        .filter(|(_, m)| !m.is_empty())
        .collect()
}

/// A metric of Table 4.
type Metric = (&'static str, fn(&Evidence) -> Option<Sample>);

const TABLE_4_METRICS: &[Metric] = &[
    ("Norm. Laxity", |e| e.laxity),
    ("Exp. U", |e| e.utilization_per_core),
    ("Cont. Switch Rate", |e| e.context_switch_rate),
    ("Migr. Rate", |e| e.migration_rate),
];

fn scope_table(
    study: &Study<'_>,
    grid: bool,
    cells: &[&GridPoint],
    members: &[&Configuration],
    caption: &str,
) -> Option<Table> {
    let evidence = |cell: &GridPoint| -> Vec<Evidence> {
        members.iter().map(|configuration| Evidence::of(&study.runs(&cell.sets, configuration))).collect()
    };
    let mut columns = if grid { vec![] } else { vec![Column::text("Set")] };
    columns.extend([Column::number("U/m"), Column::number("#")]);
    for (metric, _) in TABLE_4_METRICS {
        columns.extend(members.iter().map(|c| Column::grouped(metric, &c.label)));
    }
    let (mut rows, mut incomplete, mut any) = (Vec::new(), false, false);
    for cell in cells {
        let evidence = evidence(cell);
        let mut row: Vec<Field> = if grid { vec![] } else { vec![cell.label.as_str().into()] };
        row.push(number::significant(cell.utilization_per_core).into());
        row.push(cell.tasks.to_string().into());
        for (_, metric) in TABLE_4_METRICS {
            for e in &evidence {
                let mark = if e.incomplete.is_empty() || e.runs == 0 { "" } else { " †" };
                incomplete |= !mark.is_empty();
                any |= e.runs > 0;
                row.push(match metric(e) {
                    Some(value) => format!("{}{mark}", sample(Some(value))).into(),
                    None => Field::toned(NOT_AVAILABLE, Tone::Faint),
                });
            }
        }
        rows.push(row);
    }
    let note = "† not all runs that were asked for ran to their end.".to_owned();
    any.then(|| Table {
        caption: caption.to_owned(),
        columns,
        rows,
        notes: if incomplete { vec![note] } else { vec![] },
    })
}

const CACHE_METRICS: &[(&str, &str)] = &[
    ("L1D misses / µs", "l1d_miss_rate_per_us"),
    ("L2 misses / µs", "l2_miss_rate_per_us"),
    ("LLC misses / µs", "llc_miss_rate_per_us"),
];

/// lelli2012, Table 3, task by task: what each task of a set needs when it runs alone.
pub(crate) fn alone(study: &Study<'_>, set: usize) -> Option<Table> {
    let runs = study.alone(set);
    if runs.is_empty() {
        return None;
    }
    let task_row = |(id, task): (usize, &laxity_model::Task)| -> Vec<Field> {
        let e = TaskEvidence::of(&runs, id);
        let summaries = runs.iter().flat_map(|m| &m.summary.tasks);
        let own = |t: &&TaskSummary| usize::try_from(t.task).is_ok_and(|task| task == id);
        let longest = summaries.filter(own).filter_map(|t| t.execution_ns).map(|e| e.max).max();
        let wcet = number::ratio(task.wcet.as_ns(), 1);
        vec![
            task.name.as_str().into(),
            shown(task.wcet).into(),
            shown(task.period()).into(),
            measured(e.execution_ns.map(|s| s.mean), number::span),
            measured(longest.map(|ns| number::ratio(ns, 1)), number::span),
            measured(e.execution_ns.map(|s| s.mean / wcet), number::significant),
            measured(e.l1d_miss_rate, number::significant),
            measured(e.l2_miss_rate, number::significant),
            measured(e.llc_miss_rate, number::significant),
        ]
    };
    let rows = study.sets[set].real_time().map(task_row).collect();
    let mut columns = vec![
        Column::text("Task"),
        Column::number("C"),
        Column::number("T"),
        Column::number("Mean CPU time"),
        Column::number("Max. CPU time"),
        Column::number("Mean / C"),
    ];
    columns.extend(CACHE_METRICS.iter().map(|(label, _)| Column::number(label)));
    let mut notes = cache_reasons(runs.iter().map(|m| &m.summary.not_measured));
    notes.extend(Evidence::of(&runs).incomplete);
    Some(Table {
        caption: format!("Each task of {} running alone (Table 3)", study.sets[set].name()),
        columns,
        rows,
        notes,
    })
}

/// lelli2012, Table 3 as printed: cache misses alone, by utilization and working-set size. Only for a grid.
pub(crate) fn alone_grid(study: &Study<'_>, layout: &Layout) -> Option<Table> {
    let mut notes: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for cell in layout.points.iter().filter(|_| layout.grid) {
        let runs: Vec<_> = cell.sets.iter().flat_map(|&set| study.alone(set)).collect();
        if runs.is_empty() {
            continue;
        }
        for note in cache_reasons(runs.iter().map(|m| &m.summary.not_measured)) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let rates = runs.iter().map(|m| m.summary.rates);
        let mean = |of: fn(&laxity_trace::Rates) -> Option<f64>| {
            Sample::of(&rates.clone().filter_map(|r| of(&r)).collect::<Vec<_>>()).map(|sample| sample.mean)
        };
        rows.push(vec![
            cell.working_set.map_or_else(|| "mixed".to_owned(), number::bytes).into(),
            number::significant(cell.utilization_per_core).into(),
            cell.tasks.to_string().into(),
            measured(mean(|r| r.measured_utilization_per_core), number::significant),
            measured(mean(|r| r.cache.l1d_miss_rate_per_us), number::significant),
            measured(mean(|r| r.cache.l2_miss_rate_per_us), number::significant),
            measured(mean(|r| r.cache.llc_miss_rate_per_us), number::significant),
        ]);
    }
    if rows.is_empty() {
        return None;
    }
    let mut columns = vec![
        Column::number("WSS"),
        Column::number("U/m"),
        Column::number("#"),
        Column::number("Exp. U/m alone"),
    ];
    columns.extend(CACHE_METRICS.iter().map(|(label, _)| Column::number(label)));
    Some(Table { caption: "Tasks running alone (Table 3)".to_owned(), columns, rows, notes })
}

fn cache_reasons<'r>(runs: impl Iterator<Item = &'r BTreeMap<String, String>>) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for not_measured in runs {
        for &(label, metric) in CACHE_METRICS {
            if let Some(reason) = not_measured.get(metric) {
                let labels = by_reason.entry(reason).or_default();
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
        }
    }
    by_reason
        .into_iter()
        .map(|(reason, labels)| format!("Not available: {} ({reason}).", labels.join(", ")))
        .collect()
}
