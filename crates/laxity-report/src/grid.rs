//! What one row of a table, or one distribution, is about: a task set, or a point of a grid of generated sets.
//!
//! lelli2012 generates three sets for every total utilization, number of tasks and working-set size, and
//! reports means over the three. Results of at least [`GRID_SETS_LEAST`] sets that all say how they were
//! generated are grouped in the same way; any others are reported set by set.

use crate::number;
use crate::study::{Study, common_working_set, tasks_of, utilization_of};

/// Fewer sets than this are shown one by one.
pub(crate) const GRID_SETS_LEAST: usize = 4;

/// One or more sets that are reported as one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GridPoint {
    /// In words, for titles.
    pub(crate) label: String,
    /// For file names and anchors.
    pub(crate) stem: String,
    /// Indices of its sets.
    pub(crate) sets: Vec<usize>,
    /// U/m, of a set exactly as drawn, of a point rounded to hundredths.
    pub(crate) utilization_per_core: f64,
    /// Number of tasks.
    pub(crate) tasks: usize,
    /// The working set of all tasks in bytes, if they have the same.
    pub(crate) working_set: Option<u64>,
}

/// The rows of every table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    /// In ascending order of working set, utilization, tasks; sets one by one in their own order.
    pub(crate) points: Vec<GridPoint>,
    /// The points group generated sets.
    pub(crate) grid: bool,
}

impl Layout {
    pub(crate) fn of(study: &Study<'_>) -> Layout {
        let generated = study.sets.iter().all(|set| set.provenance().is_some());
        if generated && study.sets.len() >= GRID_SETS_LEAST {
            Layout { points: grid_points(study), grid: true }
        } else {
            Layout {
                points: study.all_sets().into_iter().map(|set| point_of_set(study, set)).collect(),
                grid: false,
            }
        }
    }

    /// The working-set sizes that occur, ascending; `None` for sets in which sizes differ.
    pub(crate) fn working_sets(&self) -> Vec<Option<u64>> {
        let mut sizes: Vec<Option<u64>> = self.points.iter().map(|point| point.working_set).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// The point of one set.
pub(crate) fn point_of_set(study: &Study<'_>, set: usize) -> GridPoint {
    let of = &study.sets[set];
    GridPoint {
        label: of.name().to_owned(),
        stem: format!("set-{set}"),
        sets: vec![set],
        utilization_per_core: per_core(study, utilization_of(of)),
        tasks: tasks_of(of),
        working_set: common_working_set(of),
    }
}

fn per_core(study: &Study<'_>, utilization: f64) -> f64 {
    utilization / number::ratio(u64::try_from(study.cores()).unwrap_or(u64::MAX), 1).max(1.0)
}

fn grid_points(study: &Study<'_>) -> Vec<GridPoint> {
    let mut points: Vec<GridPoint> = Vec::new();
    for set in study.all_sets() {
        let mut point = point_of_set(study, set);
        // Generated wcets are whole nanoseconds: a set misses its target by less than a millionth.
        point.utilization_per_core = (point.utilization_per_core * 100.0).round() / 100.0;
        let same = |other: &&mut GridPoint| {
            other.working_set == point.working_set
                && other.tasks == point.tasks
                && other.utilization_per_core == point.utilization_per_core
        };
        match points.iter_mut().find(same) {
            Some(known) => known.sets.push(set),
            None => points.push(point),
        }
    }
    let key = |point: &GridPoint| (point.working_set, point.utilization_per_core, point.tasks);
    points.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    for point in &mut points {
        (point.label, point.stem) = grid_names(point);
    }
    points
}

fn grid_names(point: &GridPoint) -> (String, String) {
    let sets = number::counted(u64::try_from(point.sets.len()).unwrap_or(u64::MAX), "set");
    let share = point.utilization_per_core;
    let (memory, memory_stem) = match point.working_set {
        Some(0) => (String::new(), String::new()),
        Some(size) => (format!(", WSS {}", number::bytes(size)), format!("-wss{size}")),
        None => (", mixed WSS".to_owned(), "-mixed".to_owned()),
    };
    (
        format!("U/m = {share}, {} tasks{memory} ({sets})", point.tasks),
        format!("point-u{share}-n{}{memory_stem}", point.tasks),
    )
}
