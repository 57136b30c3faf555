//! Why a task goes nowhere, in words.

use crate::order::Item;
use crate::packed::Packed;
use crate::{Fit, Method, Others, Packing, Request, Rule};
use laxity_model::{Diagnostic, Utilization};

/// More bins than this are summarised in a message.
pub(crate) const BINS_LISTED_MAX: usize = 8;

/// Why a task is left out, if another could have a place.
pub(crate) fn left_out<'a>(
    request: &'a Request<'a>,
    packing: Packing,
    packed: &Packed<'a>,
    item: Item<'a>,
) -> Diagnostic {
    let whole = *request.capacity_limit() == Utilization::whole(1);
    let by_all = whole && packing.rule != Rule::NextFit;
    reason(request, Method::Pack(packing), packed, (item, by_all))
}

/// What the test says, or which bin has how much room.
pub(crate) fn reason<'a>(
    request: &'a Request<'a>,
    method: Method,
    packed: &Packed<'a>,
    (item, refused_by_all): (Item<'a>, bool),
) -> Diagnostic {
    let others = Others { tasks_in: &|bin| packed.filling.tasks_in(bin), refused_by_all };
    let said = request.acceptance().and_then(|test| test.refusal(item.id, &others));
    if let Some(reason) = said.or_else(|| too_dense(request, item)) {
        return reason;
    }
    let task = &item.task.name;
    let (load, word) = (request.load(item), request.fit().load_word());
    let rooms = rooms(request, packed, item);
    let why = match (request.fit(), request.acceptance()) {
        (_, Some(acceptance)) => format!(" or {} does not accept it there", acceptance.name()),
        (Fit::DemandBound, None) => {
            " or the linear bound of demand (sufficient) would be exceeded at a deadline".to_owned()
        }
        (Fit::Utilization | Fit::Density, None) => String::new(),
    };
    Diagnostic::usage(format!(
        "task `{task}` ({word} {load}) fits on no CPU or cluster under {method}: {}{why}{}{}",
        rooms_text(request, &rooms, &load),
        limit_text(request),
        left_text(request, packed.left),
    ))
}

/// No CPU is fast enough for the task alone.
pub(crate) fn too_dense(request: &Request, item: Item) -> Option<Diagnostic> {
    if (0..request.bins().len()).any(|bin| request.permits(item, bin)) {
        return None;
    }
    let fastest = request.candidates(item).into_iter().map(|bin| request.bins()[bin].fastest()).max()?;
    Some(
        Diagnostic::usage(format!(
            "task `{}` needs {} of work within {}, more than a CPU of speed {fastest} can do",
            item.task.name,
            item.work,
            request.window(item)
        ))
        .hint("shorten its work, lengthen its deadline or period, or give it a faster CPU"),
    )
}

/// The capacity left in every bin the task may go into, but for those that the rule has left for good.
fn rooms<'a>(request: &'a Request<'a>, packed: &Packed<'a>, item: Item) -> Vec<(usize, Utilization)> {
    let left = |bin: usize| {
        let (numerator, denominator) = request.capacities().of(bin);
        let capacity = Utilization::ratio(numerator, denominator);
        Utilization::from(capacity.as_rational() - packed.filling.load(bin).exact().as_rational())
    };
    let open = |bin: &usize| *bin >= packed.left;
    request.candidates(item).into_iter().filter(open).map(|bin| (bin, left(bin))).collect()
}

fn rooms_text(request: &Request, rooms: &[(usize, Utilization)], load: &Utilization) -> String {
    let show =
        |(bin, room): &(usize, Utilization)| format!("{} has {}", request.bins()[*bin], below(room, load));
    if rooms.is_empty() {
        return "it may use none of those that are open".into();
    }
    if rooms.len() <= BINS_LISTED_MAX {
        return format!("{} left", rooms.iter().map(show).collect::<Vec<_>>().join(", "));
    }
    let largest = rooms.iter().reduce(|best, room| if room.1 > best.1 { room } else { best });
    largest.map_or_else(String::new, |room| format!("the most room is left where {}", show(room)))
}

/// A number that looks like `other` to four decimals, but is smaller, is shown with the difference.
fn below(value: &Utilization, other: &Utilization) -> String {
    difference(value, other).map_or_else(|| value.to_string(), |by| format!("{value} (short by {by})"))
}

pub(crate) fn above(value: &Utilization, other: &Utilization) -> String {
    difference(other, value).map_or_else(|| value.to_string(), |by| format!("{value} (more by {by})"))
}

fn difference(smaller: &Utilization, larger: &Utilization) -> Option<String> {
    if smaller >= larger || smaller.to_string() != larger.to_string() {
        return None;
    }
    let exact = larger.as_rational() - smaller.as_rational();
    let text = exact.to_string();
    Some(if text.len() <= 24 { text } else { format!("{:.1e}", Utilization::from(exact).to_f64()) })
}

/// Bins that are not looked at, though they may have room.
fn left_text(request: &Request, left: usize) -> String {
    match left {
        0 => String::new(),
        _ => format!(", and next-fit does not go back to what comes before {}", request.bins()[left]),
    }
}

fn limit_text(request: &Request) -> String {
    match request.capacity_limit() {
        limit if *limit == Utilization::whole(1) => String::new(),
        limit => format!(" (only {limit} of each capacity may be used)"),
    }
}
