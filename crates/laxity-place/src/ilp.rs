//! The integer program of lelli2012, 5.4: minimise the maximum load, relative to capacity.
//!
//! minimise z subject to `sum_j x_ij = 1` for every task i, `sum_i (load_i / capacity_j) x_ij <= z` for every
//! bin j, x binary. That is the makespan problem on uniform machines with eligibility, NP-hard in the strong sense. The
//! [`search`] works on an [`instance`] in integers, which only proposes: the loads of its assignment are computed again
//! exactly, and a rounded instance rounds so that its bounds hold. It starts from the best of a few heuristics
//! ([`starts`] and three packings), and that is kept unless the proposal is truly better.
//!
//! One thread and a fixed seed, and work that is counted, not timed: unless a time limit is given, the answer is the
//! same on every machine. With a limit, an answer proven optimal before it is.

mod bounds;
mod completion;
mod instance;
mod neighbourhood;
mod search;
mod starts;
mod subsets;
mod work;

use crate::admission::{Filling, Search};
use crate::bound::max_load_at_least;
use crate::order::Item;
use crate::packing::pack;
use crate::placement::loads;
use crate::{
    Direction, Fit, Key, Method, Optimality, Order, Overload, Packing, Placement, Request, Rule, refusal,
};
use instance::Instance;
use laxity_model::{Diagnostic, Duration, LoadSum, Result, Utilization};
use search::Ended;
use std::cmp::Ordering;
use work::{Stopped, Work};

/// Ends the search even where no time limit is given, which takes a machine a hundred times slower than usual.
pub const ILP_TIME_LIMIT_DEFAULT: Duration = Duration::from_ms(10_000);

/// Sets with more task-bin pairs than this are not searched: the best heuristic's answer is kept.
pub const ILP_VARIABLES_MAX: usize = 500_000;

/// A placement is called optimal if none is better by more than this, as (numerator, denominator) of the capacity.
const OPTIMAL_WITHIN: (u64, u64) = (1, 1_000_000);

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

/// Places by ILP. Every task must have a bin within its affinity. An interruption ends the search; an error if it comes before
/// there is a placement.
pub(crate) fn place(request: &Request) -> Result<Placement> {
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
    let mut lower_bound = max_load_at_least(request, &items);
    let Some((heuristic, mut best)) = best_packing(request) else {
        return Err(Diagnostic::interrupted("no heuristic has come to an end"));
    };
    let mut notes =
        vec![format!("ilp: best heuristic is {heuristic} with a maximum load of {}", best.max_load(request))];
    if best.max_load(request) > lower_bound {
        let (found, bound, ended) = improve(request, &items, &best, &lower_bound);
        notes.push(format!("ilp: {ended}"));
        lower_bound = lower_bound.max(bound);
        if found.better_than(&best, request) {
            best = found;
        }
    }

    let max_load = best.max_load(request);
    // What was found is never below a bound, even where that is rounded.
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
    let close_enough = lower_bound.plus(&Utilization::ratio(OPTIMAL_WITHIN.0, OPTIMAL_WITHIN.1));
    placement.interrupted = request.is_interrupted();
    placement.optimality = Some(Optimality { optimal: max_load <= close_enough, lower_bound, gap });
    placement.notes.extend(notes);
    Ok(placement)
}

/// Searches from a placement: what is found, a lower bound, and how the search ended, in words.
fn improve(
    request: &Request,
    items: &[Item],
    start: &Candidate,
    lower_bound: &Utilization,
) -> (Candidate, Utilization, String) {
    let kept = |ended| (Candidate::new(request, start.assignment.clone()), lower_bound.clone(), ended);
    if request.is_interrupted() {
        return kept("interrupted, nothing was searched".into());
    }
    let limit = request.ilp_time_limit();
    if limit.is_some_and(|limit| limit.is_zero()) {
        return kept("the time limit is 0, nothing was searched".into());
    }
    let pairs = items.len().saturating_mul(request.bins().len());
    if pairs > ILP_VARIABLES_MAX {
        return kept(format!(
            "{pairs} task-CPU pairs exceed the limit of {ILP_VARIABLES_MAX}, nothing was searched"
        ));
    }
    let instance = Instance::new(request, items);
    let mut start_of: Vec<usize> = items.iter().filter_map(|item| start.assignment[item.id]).collect();
    for other in
        [Some(starts::lowest_first(&instance)), starts::differencing(&instance)].into_iter().flatten()
    {
        let level = |bin_of: &[usize]| instance.heaviest(&instance.filled(bin_of)).1;
        if level(&other) < level(&start_of) {
            start_of = other;
        }
    }
    let lower = instance.level_of(lower_bound).max(bounds::level_at_least(&instance));
    let longest = limit.unwrap_or(ILP_TIME_LIMIT_DEFAULT);
    let mut work = Work::new(request.interrupt(), std::time::Duration::from_nanos(longest.as_ns()));
    let outcome = search::search(&instance, start_of, lower, limit.is_some(), &mut work);
    let mut assignment = start.assignment.clone();
    items.iter().zip(&outcome.bin_of).for_each(|(item, &bin)| assignment[item.id] = Some(bin));
    let ended = match outcome.ended {
        Ended::Proven => "solved to optimality".into(),
        Ended::Done => "searched as long as a default search does; a time limit lets it search on".into(),
        Ended::Stopped(Stopped::Time) => format!("stopped at its time limit of {longest}"),
        Ended::Stopped(Stopped::Interrupt) => "interrupted".into(),
    };
    (Candidate::new(request, assignment), instance.load(outcome.lower), ended)
}

fn by_decreasing_load<'a>(request: &Request<'a>) -> Vec<Item<'a>> {
    let mut items = request.items();
    by_load(request).sort(&mut items);
    items
}

fn by_load(request: &Request) -> Order {
    let key = if request.fit() == Fit::Density { Key::Density } else { Key::Utilization };
    Order { key, direction: Direction::Down }
}

/// The packing with the smallest maximum load, the first of equals; overload does not stop it. Worst-fit spreads the
/// load, best-fit and first-fit find places where there is hardly any room. After an interruption it is one of those that have come
/// to an end, if any has.
fn best_packing(request: &Request) -> Option<(Packing, Candidate)> {
    let place = |rule| {
        let packing = Packing { rule, order: by_load(request) };
        let packed = pack(request, packing, Overload::LeastLoaded);
        packed.stuck.is_none().then(|| (packing, Candidate::new(request, packed.filling.assignment())))
    };
    let better = |best: (Packing, Candidate), other: (Packing, Candidate)| {
        if other.1.better_than(&best.1, request) { other } else { best }
    };
    let rules = [Rule::WorstFit, Rule::BestFit, Rule::FirstFit];
    rules.into_iter().filter_map(place).reduce(better)
}

/// The tasks that do not fit if every bin takes its tasks by decreasing load; those densest come first.
fn overloaded(request: &Request, items: &[Item], assignment: &[Option<usize>]) -> Vec<usize> {
    let mut filling = Filling::new(request, Search::Numbered);
    let mut overloaded = Vec::new();
    for item in items {
        if let Some(bin) = assignment[item.id] {
            if filling.takes(*item, &filling.load_of(*item), bin) {
                filling.put(*item, bin);
            } else {
                overloaded.push(item.id);
                filling.put_over(*item, bin);
            }
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
