//! Why a set cannot be placed, and what to do about it.

use crate::order::Item;
use crate::packed::Packed;
use crate::packing::pack;
use crate::reason::{BINS_LISTED_MAX, above, reason, too_dense};
use crate::{Fallback, Fit, Method, Overload, Packing, Request};
use laxity_model::{Diagnostic, LoadSum, Utilization, cpus_named};

/// More admission tests than this are not spent on finding a heuristic to recommend.
const TESTS_FOR_HINT_MAX: usize = 4_000_000;

/// The same where each is a test from outside.
const ACCEPTANCES_FOR_HINT_MAX: usize = 4_000;

const OVERLOAD_HINT: &str = "or place it all the same with --overload least-loaded";

/// The task's affinity covers no bin.
pub(crate) fn outside_affinity(request: &Request, item: Item) -> Diagnostic {
    let affinity = item.task.affinity.clone().unwrap_or_default();
    Diagnostic::usage(format!(
        "task `{}` may run only on {}, but no partition or cluster lies within them: there are {}",
        item.task.name,
        cpus_named(affinity),
        bin_names(request)
    ))
    .hint("widen the task's affinity to a whole partition or cluster, or choose other clusters")
}

/// A heuristic could not place a task. Advice takes time: an interruption ends it, and then nothing is said.
pub(crate) fn stuck<'a>(
    request: &'a Request<'a>,
    method: Method,
    packed: &Packed<'a>,
    item: Item<'a>,
) -> Diagnostic {
    if request.is_interrupted() {
        return Diagnostic::interrupted("nothing is known of what fits");
    }
    let reason = reason(request, method, packed, (item, false));
    if too_dense(request, item).is_some() {
        return reason;
    }
    with_way_out(reason, &way_out(request, method))
}

/// What a test says, with its own advice first.
fn with_way_out(said: Diagnostic, way_out: &str) -> Diagnostic {
    let hint = said.hint.iter().map(String::as_str).chain([way_out]).collect::<Vec<_>>().join("; ");
    said.hint(hint)
}

/// The ILP's best placement exceeds a capacity. `lower_bound` is the proven least maximum load.
pub(crate) fn ilp(
    request: &Request,
    item: Item,
    max_load: &Utilization,
    lower_bound: &Utilization,
) -> Diagnostic {
    if let Some(slow) = too_dense(request, item) {
        return slow;
    }
    let limit = request.capacity_limit();
    let what = format!(
        "task `{}` ({} {}) does not fit: every placement found fills some CPU or cluster to {} of its capacity, \
         and at most {limit} is allowed",
        item.task.name,
        request.fit().load_word(),
        request.load(item),
        above(max_load, limit),
    );
    if lower_bound > limit {
        return Diagnostic::usage(format!("{what}; no placement stays below {lower_bound}"))
            .hint(format!("use more CPUs or reduce the load, {OVERLOAD_HINT}"));
    }
    Diagnostic::usage(format!("{what}; {lower_bound} has not been ruled out"))
        .hint(format!("give the ILP more time, use more CPUs, {OVERLOAD_HINT}"))
}

/// The best advice that can be verified: another method that works, or that there is none.
fn way_out(request: &Request, failed: Method) -> String {
    let (needed, exceeds) = whole_set(request);
    let others = if exceeds { None } else { other_heuristic(request, failed) };
    if let Some(advice) = others.or_else(|| other_test(request)) {
        return format!("{advice} does fit; {OVERLOAD_HINT}");
    }
    if exceeds {
        let capacity = request.capacities().total();
        return format!(
            "the whole set needs {needed:.4} and there is only {capacity}: \
             use more CPUs or reduce the load, {OVERLOAD_HINT}"
        );
    }
    if request.acceptance().is_some() {
        return format!("no heuristic tried fits either; use more CPUs or reduce the load, {OVERLOAD_HINT}");
    }
    match request.fit() {
        Fit::DemandBound => format!("no heuristic tried fits either; use more CPUs, {OVERLOAD_HINT}"),
        Fit::Utilization | Fit::Density => format!(
            "no heuristic tried fits either; try --placement {} or more CPUs, {OVERLOAD_HINT}",
            Method::Ilp
        ),
    }
}

/// The sum of all loads, to show, and whether it exceeds the sum of all capacities, exactly.
fn whole_set(request: &Request) -> (f64, bool) {
    let mut total = LoadSum::new();
    request.items().iter().for_each(|item| total.add(item.work, request.fit().window(item.task)));
    let capacity = request.capacities().total();
    (total.to_f64(), total.cmp_to(&capacity).is_gt())
}

/// How many heuristics may be tried for the sake of a hint.
fn affordable(request: &Request) -> usize {
    let tests = request.items().len().saturating_mul(request.bins().len());
    let most = if request.acceptance().is_some() { ACCEPTANCES_FOR_HINT_MAX } else { TESTS_FOR_HINT_MAX };
    most / tests.max(1)
}

fn fits(request: &Request, packing: Packing) -> bool {
    pack(request, packing, Overload::Refuse).stuck.is_none()
}

/// Another heuristic under which the set fits; where LWFG has failed, as its fallback.
fn other_heuristic(request: &Request, failed: Method) -> Option<String> {
    let mut others = Packing::all()
        .into_iter()
        .filter(|&packing| Method::Pack(packing) != failed)
        .take(affordable(request))
        .take_while(|_| !request.is_interrupted());
    others.find(|&packing| fits(request, packing)).map(|packing| match failed {
        Method::Lwfg(_) => format!("--placement {}", Method::Lwfg(Some(Fallback::Pack(packing)))),
        Method::Pack(_) | Method::Ilp => format!("--placement {packing}"),
    })
}

/// A more accurate admission test under which the set fits.
fn other_test(request: &Request) -> Option<String> {
    if request.fit() != Fit::Density || affordable(request) == 0 {
        return None;
    }
    let by_demand = request.clone().with_fit(Fit::DemandBound).ok()?;
    let bf_deadline: Packing = "bf-deadline".parse().ok()?;
    fits(&by_demand, bf_deadline).then(|| format!("--placement {bf_deadline} --fit {}", Fit::DemandBound))
}

fn bin_names(request: &Request) -> String {
    let names: Vec<String> = request.bins().iter().map(ToString::to_string).collect();
    match names.len() {
        0..=BINS_LISTED_MAX => names.join(", "),
        count => format!("{}, ... {count} in all", names[..BINS_LISTED_MAX].join(", ")),
    }
}
