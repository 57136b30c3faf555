//! The integer program as HiGHS sees it.

use super::symmetry::Classes;
use super::watch::Watched;
use super::{ILP_VARIABLES_MAX, Progress};
use crate::Request;
use crate::order::Item;
use highs::{ColProblem, HighsModelStatus, HighsSolutionStatus, Model, Sense, SolvedModel};
use laxity_model::Utilization;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

/// A placement this close to the bound is as good as the best: half of what [`crate::Optimality`] promises, the
/// other half being the solver's rounding.
const MIP_GAP: f64 = 5e-7;

/// What the solver says. Nothing here has been verified.
pub(crate) struct Outcome {
    /// By task id.
    pub assignment: Option<Vec<Option<usize>>>,
    pub lower_bound: Option<f64>,
    /// The solver claims optimality within its tolerances.
    pub optimal: bool,
    /// How it ended, in words.
    pub ended: String,
}

/// The binary variables: for every task by position, the bins it may go into, and the first one's column.
struct Variables {
    allowed: Vec<Vec<usize>>,
    first_column: Vec<usize>,
    columns: usize,
}

/// Solves from the placement `start`. `known` are its maximum load and the proven lower bound.
pub(crate) fn solve(
    request: &Request,
    items: &[Item],
    start: &[Option<usize>],
    known: (&Utilization, &Utilization),
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Outcome {
    let nothing = |ended: String| Outcome { assignment: None, lower_bound: None, optimal: false, ended };
    if request.ilp_time_limit().is_zero() {
        return nothing("the time limit is 0, the solver was not asked".into());
    }
    let pairs = items.len().saturating_mul(request.bins().len());
    if pairs > ILP_VARIABLES_MAX {
        return nothing(format!(
            "{pairs} task-core pairs exceed the limit of {ILP_VARIABLES_MAX}, the solver was not asked"
        ));
    }
    let classes = Classes::new(request, items);
    let variables = Variables::new(classes.allowed());
    let mut model = build(request, items, &variables, known.1.to_f64());
    if let Err(option) = configure(&mut model, request) {
        return nothing(format!("the solver refused its option {option}"));
    }
    let chosen: Vec<usize> = items.iter().filter_map(|item| start[item.id]).collect();
    let hint = variables.values(&classes.representative(&chosen), known.0.to_f64());
    // A start that the solver cannot use costs time, not correctness: the placement is kept here anyway.
    let _ = model.try_set_solution(Some(&hint), None, None, None);
    let mut watched = Watched::new(watch, (known.0.to_f64(), known.1.to_f64()));
    match watched.solve(model) {
        Err(status) => nothing(format!("the solver failed with status {status:?}")),
        Ok(solved) => read(&solved, request, items, &variables),
    }
}

impl Variables {
    fn new(allowed: Vec<Vec<usize>>) -> Self {
        let mut columns = 1; // column 0 is z
        let first_column = allowed
            .iter()
            .map(|bins| {
                let first = columns;
                columns += bins.len();
                first
            })
            .collect();
        Variables { allowed, first_column, columns }
    }

    /// Column values of a placement given by position.
    fn values(&self, chosen: &[usize], max_load: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.columns];
        values[0] = max_load;
        for (position, bin) in chosen.iter().enumerate() {
            if let Some(index) = self.allowed[position].iter().position(|b| b == bin) {
                values[self.first_column[position] + index] = 1.0;
            }
        }
        values
    }

    /// The bin with the largest value for the task at a position.
    fn chosen(&self, position: usize, values: &[f64]) -> usize {
        let bins = &self.allowed[position];
        let value = |index: usize| values[self.first_column[position] + index];
        let best =
            (1..bins.len()).fold(0, |best, index| if value(index) > value(best) { index } else { best });
        bins[best]
    }
}

fn build(request: &Request, items: &[Item], variables: &Variables, lower_bound: f64) -> Model {
    let mut problem = ColProblem::new();
    let placed: Vec<_> = items.iter().map(|_| problem.add_row(1..=1)).collect();
    let filled: Vec<_> = request.bins().iter().map(|_| problem.add_row(..=0)).collect();
    let to_max = filled.iter().map(|&row| (row, -1.0));
    problem.add_column(1.0, lower_bound.., to_max.collect::<Vec<_>>());
    for (position, &item) in items.iter().enumerate() {
        let load = request.load(item);
        for &bin in &variables.allowed[position] {
            let relative = load.over(request.bins()[bin].capacity()).to_f64();
            problem.add_integer_column(0.0, 0..=1, [(placed[position], 1.0), (filled[bin], relative)]);
        }
    }
    problem.optimise(Sense::Minimise)
}

/// Quiet, one thread, a fixed seed, tight tolerances and the time limit.
fn configure(model: &mut Model, request: &Request) -> Result<(), &'static str> {
    model.make_quiet();
    model.set_threads(NonZeroU32::MIN);
    model.try_set_option("random_seed", 0).map_err(|_| "random_seed")?;
    let tolerances = [
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", MIP_GAP),
        ("mip_feasibility_tolerance", 1e-9),
        ("primal_feasibility_tolerance", 1e-9),
    ];
    for (option, value) in tolerances {
        model.try_set_option(option, value).map_err(|_| option)?;
    }
    model.try_set_option("time_limit", request.ilp_time_limit().as_secs_f64()).map_err(|_| "time_limit")
}

fn read(solved: &SolvedModel, request: &Request, items: &[Item], variables: &Variables) -> Outcome {
    let status = solved.status();
    let lower_bound = solved.double_info_value(c"mip_dual_bound").ok().filter(|bound| bound.is_finite());
    let assignment = (solved.primal_solution_status() == HighsSolutionStatus::Feasible).then(|| {
        let solution = solved.get_solution();
        let mut assignment = vec![None; request.set().tasks().len()];
        for (position, item) in items.iter().enumerate() {
            assignment[item.id] = Some(variables.chosen(position, solution.columns()));
        }
        assignment
    });
    let ended = match status {
        HighsModelStatus::Optimal => "solved to optimality".into(),
        HighsModelStatus::ReachedTimeLimit => {
            format!("stopped at its time limit of {}", request.ilp_time_limit())
        }
        HighsModelStatus::ReachedInterrupt => "stopped on request".into(),
        other => format!("ended with status {other:?}"),
    };
    let optimal = status == HighsModelStatus::Optimal && assignment.is_some();
    Outcome { assignment, lower_bound, optimal, ended }
}
