//! The integer program of lelli2012, 5.4: minimise the maximum load, relative to capacity.
//!
//! minimise z subject to `sum_j x_ij = 1` for every task i, `sum_i (load_i / capacity_j) x_ij <= z` for every
//! bin j, x binary. The solver (HiGHS) works in floats within a tolerance of 10^-6 or better, so it only proposes:
//! the proposal is rounded to an assignment whose loads are computed again exactly. The solver starts from the best
//! heuristic's placement, improved by [`exchange`], and that is kept unless the proposal is truly better. One
//! thread and a fixed seed: an answer found before the time limit is the same on every run.

mod exchange;
mod model;
mod symmetry;
mod watch;

use crate::admission::Filling;
use crate::bound::max_load_at_least;
use crate::order::Item;
use crate::packing::pack;
use crate::placement::loads;
use crate::{Direction, Fit, Key, Method, Optimality, Order, Overload, Packing, Placement, Request, refusal};
use laxity_model::{Diagnostic, Duration, LoadSum, Result, Utilization};
use num_rational::BigRational;
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// Time limit of the ILP unless told otherwise. lelli2012 used 960 s.
pub const ILP_TIME_LIMIT_DEFAULT: Duration = Duration::from_ms(10_000);

/// Sets with more task-bin pairs than this are not given to the solver: the best heuristic's answer is kept.
pub const ILP_VARIABLES_MAX: usize = 500_000;

/// What the solver's float results may be off by, with its feasibility tolerances at 10^-9 and its gap at half of
/// this: taken off its bounds.
const SOLVER_TOLERANCE: f64 = 1e-6;

/// How far the solver has come. Loads are relative to capacity and rounded: to show, not to decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Seconds since the solver started.
    pub elapsed_s: f64,
    /// The smallest maximum load found.
    pub best: f64,
    /// No placement is below this.
    pub lower_bound: f64,
}

/// An assignment and its exact loads.
struct Candidate {
    assignment: Vec<Option<usize>>,
    loads: Vec<LoadSum>,
    heaviest: usize,
}

impl Candidate {
    fn new(request: &Request, assignment: Vec<Option<usize>>) -> Self {
        let loads = loads(request, &assignment);
        let heaviest = request.capacities().heaviest(&loads);
        Candidate { assignment, loads, heaviest }
    }

    fn better_than(&self, other: &Candidate, request: &Request) -> bool {
        let mine = (self.heaviest, &self.loads[self.heaviest]);
        let theirs = (other.heaviest, &other.loads[other.heaviest]);
        request.capacities().compare_relative(mine, theirs) == Ordering::Less
    }

    fn max_load(&self, request: &Request) -> Utilization {
        self.loads[self.heaviest].exact().over(request.bins()[self.heaviest].capacity())
    }
}

/// Places by ILP. Every task must have a bin within its affinity.
pub(crate) fn place(
    request: &Request,
    watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Placement> {
    if request.fit() == Fit::DemandBound {
        return Err(Diagnostic::usage(
            "the ILP minimises a sum of loads, which the test `dbf` does not bound",
        )
        .hint("use --fit utilization or --fit density with the ILP, or a heuristic with --fit dbf"));
    }
    if let Some(acceptance) = request.acceptance() {
        return Err(Diagnostic::usage(format!(
            "the ILP minimises a sum of loads, which {} does not bound",
            acceptance.name()
        ))
        .hint("use a heuristic such as ffd or wfd, or let the ILP place by utilization or density"));
    }
    let items = by_decreasing_load(request);
    let (start_packing, start) = best_packing(request);
    let mut lower_bound = max_load_at_least(request, &items);
    let heuristic_load = start.max_load(request);
    let mut notes =
        vec![format!("ilp: best heuristic is {start_packing} with a maximum load of {heuristic_load}")];

    let mut best = start;
    let mut start_load = heuristic_load;
    if start_load > lower_bound {
        let exchanged = Candidate::new(request, exchange::improve(request, &items, &best.assignment));
        if exchanged.better_than(&best, request) {
            start_load = exchanged.max_load(request);
            notes.push(format!("ilp: exchanging tasks lowers it to {start_load}"));
            best = exchanged;
        }
    }
    let mut proven = start_load <= lower_bound;
    if !proven {
        let outcome = model::solve(request, &items, &best.assignment, (&start_load, &lower_bound), watch);
        notes.push(format!("ilp: {}", outcome.ended));
        if let Some(found) = outcome.assignment.map(|assignment| Candidate::new(request, assignment))
            && found.better_than(&best, request)
        {
            best = found;
        }
        let bound = outcome.lower_bound.and_then(|bound| BigRational::from_float(bound - SOLVER_TOLERANCE));
        lower_bound = bound.map(Utilization::from).into_iter().fold(lower_bound, Utilization::max);
        proven = outcome.optimal;
    }

    let max_load = best.max_load(request);
    // The solver's bound may exceed the truth by its tolerance; what was found is never below a bound.
    lower_bound = lower_bound.min(max_load.clone());
    let gap = relative_gap(&max_load, &lower_bound);
    notes.push(format!("ilp: maximum load {max_load}, lower bound {lower_bound}, gap {:.3} %", gap * 100.0));
    let overloaded = overloaded(request, &items, &best.assignment);
    if let (Some(&first), Overload::Refuse) = (overloaded.first(), request.overload()) {
        let item =
            Item { id: first, ..*items.iter().find(|item| item.id == first).expect("a task of the set") };
        return Err(refusal::ilp(request, item, &max_load, &lower_bound));
    }
    let mut placement = Placement::new(request, Method::Ilp, best.assignment, overloaded);
    placement.optimality = Some(Optimality { optimal: proven || max_load == lower_bound, lower_bound, gap });
    placement.notes.extend(notes);
    Ok(placement)
}

fn by_decreasing_load<'a>(request: &Request<'a>) -> Vec<Item<'a>> {
    let key = if request.fit() == Fit::Density { Key::Density } else { Key::Utilization };
    let mut items = request.items();
    Order { key, direction: Direction::Down }.sort(&mut items);
    items
}

/// The heuristic with the smallest maximum load, the first of equals; overload does not stop it.
fn best_packing(request: &Request) -> (Packing, Candidate) {
    let place = |packing| {
        let packed = pack(request, packing, Overload::LeastLoaded);
        (packing, Candidate::new(request, packed.filling.assignment()))
    };
    let better = |best: (Packing, Candidate), other: (Packing, Candidate)| {
        if other.1.better_than(&best.1, request) { other } else { best }
    };
    Packing::all().into_iter().map(place).reduce(better).expect("there are heuristics")
}

/// The tasks that do not fit if every bin takes its tasks by decreasing load; those densest come first.
fn overloaded(request: &Request, items: &[Item], assignment: &[Option<usize>]) -> Vec<usize> {
    let mut filling = Filling::new(request);
    let mut overloaded = Vec::new();
    for item in items {
        if let Some(bin) = assignment[item.id] {
            if !filling.fits(*item, bin) {
                overloaded.push(item.id);
            }
            filling.put(*item, bin);
        }
    }
    overloaded
}

fn relative_gap(max_load: &Utilization, lower_bound: &Utilization) -> f64 {
    if max_load <= lower_bound {
        return 0.0;
    }
    let missing = Utilization::from(max_load.as_rational() - lower_bound.as_rational());
    missing.over(max_load).to_f64()
}
