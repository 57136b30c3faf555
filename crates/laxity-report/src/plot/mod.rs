//! The plots of a report, as SVG.

mod axis;
mod bars;
mod canvas;
mod cdf;
mod lines;
mod rows;
mod scatter;
mod style;

use crate::grid::{GridPoint, Layout};
use crate::number;
use crate::study::{
    Configuration, Evidence, Measured, Study, TaskEvidence, common_working_set, tasks_of, utilization_of,
};
pub use bars::BarsFigure;
pub(crate) use bars::bars_svg;
pub(crate) use lines::lines_svg;
pub use lines::{LinesFigure, LinesPanel, LinesScale};

use cdf::Curve;
use laxity_model::{Duration, Result, Task, TaskSet};
use laxity_trace::TaskSelection;
use rows::{MissCell, Series, Spread};
use style::{SeriesStyle, series_style};

/// Rows in charts that show tasks one by one; of larger sets the worst are shown.
pub(crate) const TASKS_SHOWN_MOST: usize = 24;

/// How the names of all maps of missed deadlines end.
pub(crate) const MISSES_STEM: &str = "-misses";

/// One plot: a vector image that stands for itself, titles and legend included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Name of its file, without the ending.
    pub stem: String,
    /// What it shows, also written in the image.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The image.
    pub svg: String,
}

/// The plots of one set: Figures 1 to 4 of lelli2012, response times, misses.
///
/// In a grid, laxity is drawn for its cells instead.
pub(crate) fn set_plots(study: &Study<'_>, set: usize, cell: &GridPoint, grid: bool) -> Result<Vec<Plot>> {
    let mut plots = vec![scatter_plot(study, set)?];
    let shown = ShownTasks::of(study, set);
    plots.extend(heat_map(study, set, &shown)?);
    if !grid {
        plots.extend(laxity_plots(study, cell)?);
    }
    plots.extend(response_plot(study, set, &shown)?);
    plots.extend(ratio_plot(study, set)?);
    Ok(plots)
}

/// The laxity plots of several sets taken together: Figures 3 and 4.
pub(crate) fn laxity_plots(study: &Study<'_>, cell: &GridPoint) -> Result<Vec<Plot>> {
    let figures = [
        ("laxity", TaskSelection::All, "all tasks"),
        ("laxity-shortest-period", TaskSelection::ShortestPeriod, "tasks with the shortest period"),
        ("laxity-longest-period", TaskSelection::LongestPeriod, "tasks with the longest period"),
    ];
    let mut plots = Vec::new();
    for (name, selection, words) in figures {
        let curves: Vec<Curve> = study
            .configurations
            .iter()
            .enumerate()
            .map(|(index, configuration)| curve(study, cell, configuration, index, selection))
            .filter(|curve| curve.jobs() > 0)
            .collect();
        if curves.is_empty() {
            continue;
        }
        let title = format!("Normalized laxity of {words}, {}", cell.label);
        let subtitle = match selection {
            TaskSelection::All => number::counted(count_of(cell, study, tasks_of), "task"),
            TaskSelection::ShortestPeriod => periods(study, cell, Iterator::min),
            TaskSelection::LongestPeriod => periods(study, cell, Iterator::max),
        };
        plots.push(Plot {
            stem: format!("{}-{name}", cell.stem),
            svg: cdf::laxity_cdf(&title, &subtitle, &curves)?,
            title,
            caption: "Cumulative distribution over jobs. The curve's height at 0 is the share of missed \
                      deadlines; the further right a curve, the more time its jobs had left. Jobs that never \
                      completed count as lower than any laxity."
                .to_owned(),
        });
    }
    Ok(plots)
}

/// Figure 5 for every pair of utilization and number of tasks that occurs with several working-set sizes.
pub(crate) fn working_set_plots(study: &Study<'_>, layout: &Layout) -> Result<Vec<Plot>> {
    let mut plots = Vec::new();
    let same =
        |a: &GridPoint, b: &GridPoint| a.tasks == b.tasks && a.utilization_per_core == b.utilization_per_core;
    for (place, first) in layout.points.iter().enumerate().filter(|_| layout.grid) {
        let cells: Vec<&GridPoint> = layout.points.iter().filter(|cell| same(cell, first)).collect();
        let seen_before = layout.points[..place].iter().any(|cell| same(cell, first));
        if cells.len() > 1 && !seen_before {
            let share = first.utilization_per_core;
            let label = format!("U/m = {share}, {} tasks", first.tasks);
            plots.extend(working_set_plot(
                study,
                &cells,
                &label,
                &format!("cell-u{share}-n{}", first.tasks),
            )?);
        }
    }
    Ok(plots)
}

/// The laxity around zero of cells that differ in nothing but the working set.
fn working_set_plot(
    study: &Study<'_>,
    cells: &[&GridPoint],
    label: &str,
    stem: &str,
) -> Result<Option<Plot>> {
    let mut curves = Vec::new();
    // The paper compares two schedulers; six times two curves cannot be told apart.
    let compared = compared_by_working_set(study);
    for (size_rank, cell) in cells.iter().enumerate() {
        for (index, configuration) in &compared {
            let mut curve = curve(study, cell, configuration, *index, TaskSelection::All);
            let size = cell.working_set.map_or_else(|| "mixed".to_owned(), number::bytes);
            curve.label = format!("{} {size}", configuration.label);
            curve.style = SeriesStyle { dashed: size_rank % 2 == 1, ..curve.style };
            curves.push(curve);
        }
    }
    curves.retain(|curve| curve.jobs() > 0);
    if curves.is_empty() {
        return Ok(None);
    }
    let title = format!("Laxity around the deadline by working-set size, {label}");
    let subtitle = "all tasks; the larger working set dashed";
    Ok(Some(Plot {
        stem: format!("{stem}-laxity-by-working-set"),
        svg: cdf::laxity_cdf_zoom(&title, subtitle, &curves)?,
        title,
        caption: "Cumulative distribution over jobs, as in Figure 5 of lelli2012.".to_owned(),
    }))
}

/// Clustered EDF and RM as in the paper, else global, else partitioned: the first pair that has runs.
fn compared_by_working_set<'s>(study: &'s Study<'_>) -> Vec<(usize, &'s Configuration)> {
    for pair in [["c-edf", "c-rm"], ["g-edf", "g-rm"], ["p-edf", "p-rm"]] {
        let wanted = |(_, c): &(usize, &Configuration)| pair.contains(&c.scheduler.as_str());
        let found: Vec<_> = study.configurations.iter().enumerate().filter(wanted).collect();
        let has_jobs = |m: &Measured<'_>| m.summary.counts.known() > 0;
        if found.iter().any(|(_, c)| study.runs(&study.all_sets(), c).iter().any(has_jobs)) {
            return found;
        }
    }
    study.configurations.iter().enumerate().take(2).collect()
}

fn count_of(cell: &GridPoint, study: &Study<'_>, of: impl Fn(&TaskSet) -> usize) -> u64 {
    let total = cell.sets.iter().map(|&set| of(&study.sets[set])).sum::<usize>();
    u64::try_from(total).unwrap_or(u64::MAX)
}

fn periods(
    study: &Study<'_>,
    cell: &GridPoint,
    extreme: impl Fn(std::vec::IntoIter<Duration>) -> Option<Duration>,
) -> String {
    let mut all = Vec::new();
    let mut tasks = 0;
    for &set in &cell.sets {
        let periods: Vec<Duration> = study.sets[set].real_time().map(|(_, task)| task.period()).collect();
        if let Some(period) = extreme(periods.clone().into_iter()) {
            tasks += periods.iter().filter(|&&p| p == period).count();
            all.push(period);
        }
    }
    let (Some(low), Some(high)) = (all.iter().min(), all.iter().max()) else {
        return String::new();
    };
    let tasks = number::counted(u64::try_from(tasks).unwrap_or(u64::MAX), "task");
    if low == high {
        return format!("{tasks} with T = {}", crate::study::shown(*low));
    }
    format!("{tasks} with T = {} to {}", crate::study::shown(*low), crate::study::shown(*high))
}

fn curve(
    study: &Study<'_>,
    cell: &GridPoint,
    configuration: &Configuration,
    index: usize,
    selection: TaskSelection,
) -> Curve {
    let mut laxities = Vec::new();
    let mut unfinished = 0;
    for m in study.runs(&cell.sets, configuration) {
        let Some(set) = usize::try_from(m.run.set).ok().and_then(|set| study.sets.get(set)) else { continue };
        laxities.extend(m.laxities.iter().flat_map(|laxities| laxities.normalized(set, selection)));
        let selected = selection.tasks(set);
        let of_selection = |id: u32| usize::try_from(id).is_ok_and(|id| selected.contains(&id));
        let tasks = m.summary.tasks.iter().filter(|task| of_selection(task.task));
        unfinished += tasks.map(|task| task.counts.unfinished + task.counts.aborted).sum::<u64>();
    }
    Curve::new(
        configuration.label.clone(),
        series_style(&configuration.scheduler, index),
        laxities,
        unfinished,
    )
}

fn stem(set: usize) -> String {
    format!("set-{set}")
}

fn scatter_plot(study: &Study<'_>, index: usize) -> Result<Plot> {
    let set = &study.sets[index];
    let title = format!("Task set {}", set.name());
    let subtitle = format!(
        "{}, U = {}",
        number::counted(u64::try_from(tasks_of(set)).unwrap_or(u64::MAX), "task"),
        number::significant(utilization_of(set))
    );
    Ok(Plot {
        stem: format!("{}-tasks", stem(index)),
        svg: scatter::task_set_scatter(&title, &subtitle, set)?,
        title,
        caption: "Every task by its period and the share of a CPU that it asks for.".to_owned(),
    })
}

/// The tasks that charts with a row per task show, in id order.
pub(crate) struct ShownTasks {
    pub(crate) ids: Vec<usize>,
    pub(crate) names: Vec<String>,
    /// Which those are, if they are not all.
    pub(crate) note: String,
}

impl ShownTasks {
    /// All, or of a large set those with the worst response times relative to their deadlines.
    pub(crate) fn of(study: &Study<'_>, set: usize) -> ShownTasks {
        let tasks: Vec<(usize, &Task)> = study.sets[set].real_time().collect();
        let mut ids: Vec<usize> = tasks.iter().map(|(id, _)| *id).collect();
        let mut note = String::new();
        if ids.len() > TASKS_SHOWN_MOST {
            note = format!(
                " The {TASKS_SHOWN_MOST} tasks of {} that came closest to their deadlines or missed most.",
                ids.len()
            );
            let mut badness: Vec<(f64, usize)> =
                ids.iter().map(|&id| (worst_of(study, set, id), id)).collect();
            badness.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ids = badness.into_iter().take(TASKS_SHOWN_MOST).map(|(_, id)| id).collect();
            ids.sort_unstable();
        }
        let names = ids.iter().map(|&id| study.sets[set].tasks()[id].name.clone()).collect();
        ShownTasks { ids, names, note }
    }
}

fn worst_of(study: &Study<'_>, set: usize, id: usize) -> f64 {
    let deadline = number::ratio(study.sets[set].tasks()[id].deadline_rel.as_ns(), 1);
    let of = |configuration| {
        let task = TaskEvidence::of(&study.runs(&[set], configuration), id);
        let late = task.response_ns_max.map_or(0.0, |ns| number::ratio(ns, 1) / deadline);
        late + number::ratio(task.counts.misses, task.counts.jobs)
    };
    study.configurations.iter().map(of).fold(0.0, f64::max)
}

fn series<T>(
    study: &Study<'_>,
    set: usize,
    ids: &[usize],
    value: impl Fn(&TaskEvidence, usize) -> Option<T>,
) -> Vec<Series<T>> {
    let of = |(index, configuration): (usize, &Configuration)| {
        let runs = study.runs(&[set], configuration);
        Series {
            label: configuration.label.clone(),
            style: series_style(&configuration.scheduler, index),
            values: ids.iter().map(|&id| value(&TaskEvidence::of(&runs, id), id)).collect(),
        }
    };
    study.configurations.iter().enumerate().map(of).collect()
}

fn heat_map(study: &Study<'_>, set: usize, shown: &ShownTasks) -> Result<Option<Plot>> {
    let columns = series(study, set, &shown.ids, |task, _| {
        let TaskEvidence { counts, tardiness_ns_max, .. } = task;
        (counts.jobs > 0).then_some(MissCell {
            jobs: counts.jobs,
            misses: counts.misses,
            tardiness_ns_max: *tardiness_ns_max,
        })
    });
    let any = columns.iter().flat_map(|c| c.values.iter().flatten()).any(|cell| cell.misses > 0);
    if !any {
        return Ok(None);
    }
    let title = format!("Missed deadlines by task and scheduler, {}", study.sets[set].name());
    let subtitle = "share of the task's jobs that missed, and its maximum tardiness, over all repetitions";
    Ok(Some(Plot {
        stem: stem(set) + MISSES_STEM,
        svg: rows::miss_heat_map(&title, subtitle, &shown.names, &columns)?,
        title,
        caption: format!("Colour is on a logarithmic scale from 0.1 % to 100 %.{}", shown.note),
    }))
}

fn response_plot(study: &Study<'_>, set: usize, shown: &ShownTasks) -> Result<Option<Plot>> {
    let series = series(study, set, &shown.ids, |task, id| {
        let deadline = number::ratio(study.sets[set].tasks()[id].deadline_rel.as_ns(), 1);
        Some(Spread {
            median: task.response_ns_median? / deadline,
            p99: task.response_ns_p99? / deadline,
            max: number::ratio(task.response_ns_max?, 1) / deadline,
        })
    });
    let series: Vec<Series<Spread>> =
        series.into_iter().filter(|s| s.values.iter().any(Option::is_some)).collect();
    if series.is_empty() {
        return Ok(None);
    }
    let title = format!("Response time against deadline, {}", study.sets[set].name());
    let subtitle = "tick: median; thick: to the 99th percentile; thin: to the maximum (marker)";
    Ok(Some(Plot {
        stem: format!("{}-response", stem(set)),
        svg: rows::response_chart(&title, subtitle, &shown.names, &series)?,
        title,
        caption: format!(
            "The vertical line at 1 is the deadline. Medians and percentiles are means over repetitions, the \
             maximum is over all of them; jobs that never completed are not in it.{}",
            shown.note
        ),
    }))
}

/// Figure 2. The reference is partitioned EDF, as in the paper; without it, the tasks running alone.
///
/// Only for demands that are work: where a job asks for CPU time, its CPU time says nothing of what it was delayed by.
fn ratio_plot(study: &Study<'_>, set: usize) -> Result<Option<Plot>> {
    if !study.demand_is_work() {
        return Ok(None);
    }
    let partitioned = study.configurations.iter().find(|c| c.scheduler == "p-edf");
    let with_runs = |runs: &Vec<_>| Evidence::of(runs).counts.completed > 0;
    let partitioned = partitioned.filter(|c| with_runs(&study.runs(&[set], c)));
    let (reference, words) = match partitioned {
        Some(configuration) => (study.runs(&[set], configuration), "p-edf"),
        None => (study.alone(set), "running alone"),
    };
    let ids: Vec<usize> = study.sets[set].real_time().map(|(id, _)| id).collect();
    let base: Vec<Option<f64>> =
        ids.iter().map(|&id| TaskEvidence::of(&reference, id).execution_ns.map(|e| e.mean)).collect();
    let mut series = series(study, set, &ids, |task, id| {
        let place = ids.iter().position(|&other| other == id)?;
        base[place].filter(|&ns| ns > 0.0).and_then(|ns| Some(task.execution_ns?.mean / ns))
    });
    series.retain(|s| partitioned.is_none_or(|c| c.label != s.label) && s.values.iter().any(Option::is_some));
    if series.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = ids.iter().map(|&id| study.sets[set].tasks()[id].name.clone()).collect();
    let title = format!("Execution time relative to {words}, {}", study.sets[set].name());
    let subtitle = match common_working_set(&study.sets[set]) {
        Some(0) | None => "mean CPU time of a job, per task".to_owned(),
        Some(size) => format!("mean CPU time of a job, per task; working set {}", number::bytes(size)),
    };
    let x_title = format!("mean CPU time of a job / the same with {words}");
    Ok(Some(Plot {
        stem: format!("{}-execution-ratio", stem(set)),
        svg: rows::ratio_chart(&title, &subtitle, &x_title, &names, &series)?,
        title,
        caption:
            "Right of the line at 1, jobs of the task take longer: what migrations, cold caches and shared \
                  memory cost."
                .to_owned(),
    }))
}
