//! Where tasks go: by the placement that was asked for, or by several, and at last by all partitions of few tasks.

use super::Question;
use super::cells::Cells;
use crate::case::reason;
use crate::places::{SEARCH, TASKS_MAX, search};
use crate::placing::Placing;
use laxity_analysis::settings::Partition;
use laxity_model::{Result, Scope};
use laxity_place::{Bin, Fit, Method, Overload, Request};

/// Tried in this order.
const METHODS: [&str; 3] = ["wfd", "ffd", "bf-deadline"];
/// Questions of that search.
const TRIALS: u64 = 20_000;

/// The tasks of each cell, by id.
pub struct Places {
    pub tasks: Vec<Vec<usize>>,
    pub method: String,
}

/// Why nothing is set.
#[derive(Default)]
pub struct Why {
    /// Name of the task that it fails for, if it is one.
    pub task: Option<String>,
    /// In words, without the task.
    pub reason: String,
    /// The reason says that only what is counted of the kernel is in the way.
    pub is_kernel: bool,
}

impl Why {
    /// Of all tasks together.
    pub fn of_all(reason: impl Into<String>) -> Self {
        Why { reason: reason.into(), ..Why::default() }
    }
}

/// Places in which something can be set for all tasks; in words, why there are none.
pub fn find(
    question: &Question<'_>,
    cells: &Cells<'_>,
    scope: Scope,
) -> Result<std::result::Result<Places, Why>> {
    let ids: Vec<usize> = question.set.real_time().map(|(id, _)| id).collect();
    if scope == Scope::Global {
        return Ok(Ok(Places { tasks: vec![ids], method: "one queue for all CPUs".into() }));
    }
    if let Some(method) = question.placement {
        return by_method(question, cells, scope, method);
    }
    let mut best: Option<(u128, Places)> = None;
    let mut why = None;
    let methods = METHODS.iter().filter_map(|name| name.parse::<Method>().ok());
    for method in [Method::Ilp].into_iter().chain(methods) {
        match by_method(question, cells, scope, method)? {
            Ok(places) => {
                let cost = cost(cells, &places);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, places));
                }
                if cost <= cells.least_cost() {
                    break;
                }
            }
            Err(reason) => why = Some(reason),
        }
    }
    if best.as_ref().is_none_or(|(cost, _)| *cost > cells.least_cost()) && ids.len() <= TASKS_MAX {
        match exhaustive(question, cells) {
            Ok(places) if best.as_ref().is_none_or(|(least, _)| cost(cells, &places) < *least) => {
                return Ok(Ok(places));
            }
            Ok(_) => {}
            Err(reason) => why = Some(reason),
        }
    }
    Ok(best.map(|(_, places)| places).ok_or_else(|| why.unwrap_or_default()))
}

fn cost(cells: &Cells<'_>, places: &Places) -> u128 {
    let of = |(cell, ids): (usize, &Vec<usize>)| {
        if ids.is_empty() {
            0
        } else {
            cells.choose(cell, ids).map_or(u128::MAX >> 16, |chosen| cells.cost(&chosen))
        }
    };
    places.tasks.iter().enumerate().map(of).sum()
}

fn by_method(
    question: &Question<'_>,
    cells: &Cells<'_>,
    scope: Scope,
    method: Method,
) -> Result<std::result::Result<Places, Why>> {
    let placing = Placing {
        platform: question.platform,
        method,
        fit: None,
        overload: Overload::Refuse,
        ilp_time_limit: None,
        interrupt: question.interrupt,
    };
    let (_, bins): (_, Vec<Bin>) = placing.bins(scope, false)?;
    let set = question.with_least_demand(cells)?;
    let request = Request::new(&set, bins)?.with_interrupt(question.interrupt);
    // The ILP knows loads only.
    let request = match method.may_solve() {
        true => request.with_fit(Fit::Utilization)?,
        false => request.with_acceptance(cells),
    };
    let placement = match request.place(method) {
        Ok(placement) => placement,
        Err(error) => return Ok(Err(Why::of_all(reason(&error)))),
    };
    let method = match method.may_solve() {
        true => format!("{method} (utilization)"),
        false => method.to_string(),
    };
    let places = Places { tasks: placement.tasks_by_bin(), method };
    let refused = places
        .tasks
        .iter()
        .enumerate()
        .find(|(cell, ids)| !ids.is_empty() && cells.choose(*cell, ids).is_none());
    Ok(match refused {
        None => Ok(places),
        Some((cell, ids)) => Err(question.refused(cells, cell, ids)),
    })
}

fn exhaustive(question: &Question<'_>, cells: &Cells<'_>) -> std::result::Result<Places, Why> {
    let cost = |cell: usize, of: &[usize]| cells.choose(cell, of).map(|chosen| cells.cost(&chosen));
    match search(question.set, &cells.cells, (TRIALS, cells.least_cost()), cost) {
        Ok(tasks) => Ok(Places { tasks, method: SEARCH.into() }),
        Err(Partition::OutOfTrials) => Err(Why::of_all(NOT_FOUND)),
        Err(_) => Err(Why::of_all(NOWHERE)),
    }
}

const NOWHERE: &str = "no partition of the tasks onto the CPUs is both proven and admitted: all were tried";
const NOT_FOUND: &str = "no partition of the tasks onto the CPUs was found that is both proven and admitted";
