//! LWFG: largest working set first, grouping tasks that share memory (lindsay2012, 5.3, Listing 1).
//!
//! Tasks are considered by non-increasing working set. The task in turn is gathered with all tasks that share memory with
//! it and have no place yet, and the group goes as a whole into the next bin in which it fits, around the circle from the
//! bin used last (cyclic-fit; the listing calls it next-fit, line 7). If there is none, the task that shares least with the one in turn
//! leaves the group, which is tried again (lines 15 to 17); a task that has left is considered in its own turn. A single task
//! that fits nowhere ends the attempt (line 18).
//!
//! What the listing leaves open, and what holds here:
//! 1. `last` is 0 at first: bins are numbered from 1 there, so that the search begins with the first bin, as next-fit does
//!    (5.2: "beginning with the first bin").
//! 2. Line 8 asks for more room than the group needs; the test of 5.5 (at most 1) and the other heuristics let a bin be
//!    filled exactly. So does this, whatever the admission test ([`crate::Fit`]).
//! 3. Lines 15 to 19 are for a group that has found no bin: a task that was removed after its group had been placed would
//!    be in no bin at all.
//! 4. Of tasks that share equally little, the one that would be considered last leaves, that is the one with
//!    the smallest working set, then with the higher id. The task in turn never leaves.
//! 5. How much two tasks share, where they do not share everything (8.3), is what [`Sharing::between`] says.
//! 6. A bin outside the affinity of a task, or too slow for it, has no room for a group with that task.
//! 7. Bins may be clusters (8.7); the room is then that of all their CPUs.
//!
//! Complexity: the listing's O(n^2 m) tests of a load against a capacity are O(n (n + m)) here at the worst
//! ([`shrink_until_placed`]), and O(n log m) where no tasks share memory, each in constant time but for sums that come closer to
//! the capacity than 2^-64 for each task. The demand bound test (`dbf`) takes
//! O(k^2) for a bin of k tasks besides.

use crate::admission::{Filling, Search};
use crate::order::Item;
use crate::packed::Packed;
use crate::packing;
use crate::{Direction, Fallback, Fit, Key, Method, Order, Overload, Placement, Request, refusal};
use laxity_model::{ByteSize, Diagnostic, LoadSum, Result, Sharing};

/// More names than this are not listed in a note.
const NAMES_LISTED_MAX: usize = 8;

/// Places by LWFG; if that fails, by the fallback (5.5), where one is given. Every task must have a bin within its
/// affinity.
pub(crate) fn place(request: &Request, fallback: Option<Fallback>) -> Result<Placement> {
    if fallback == Some(Fallback::Ilp) && request.fit() == Fit::DemandBound {
        return Err(Diagnostic::usage(
            "the ILP minimises a sum of loads, which the test `dbf` does not bound, and cannot be LWFG's fallback",
        )
        .hint("fall back to a heuristic, as in lwfg-else:bf-deadline, or use another --fit"));
    }
    let method = Method::Lwfg(fallback);
    let sharing = Sharing::of(request.set())?;
    let packed = pack(request, &sharing, Overload::Refuse);
    let Some(stuck) = packed.stuck else { return Ok(placement(request, &sharing, method, packed)) };
    let overloads = request.overload() == Overload::LeastLoaded;
    // A refusal looks for advice, which takes long: not where none is given.
    let hopeless = match fallback {
        None => true,
        Some(Fallback::Pack(packing)) => packing::pack(request, packing, Overload::Refuse).stuck.is_some(),
        Some(Fallback::Ilp) => false,
    };
    if overloads && hopeless {
        return Ok(placement(request, &sharing, method, pack(request, &sharing, Overload::LeastLoaded)));
    }
    let refused = || with_group(refusal::stuck(request, method, &packed, stuck), &sharing, stuck);
    let other = match fallback {
        None => Err(refused()),
        Some(fallback) => {
            request.clone().with_overload(Overload::Refuse).place(fallback.into()).map_err(|error| {
                error.context(format!("neither lwfg (at task `{}`) nor its fallback", stuck.task.name))
            })
        }
    };
    match (other, fallback) {
        (Ok(mut placement), Some(fallback)) => {
            placement.method = method;
            placement.notes.insert(
                0,
                format!("lwfg finds no place for task `{}`: placed by {fallback}", stuck.task.name),
            );
            placement.notes.extend(groups_note(&sharing, &placement));
            Ok(placement)
        }
        (_, _) if overloads => {
            Ok(placement(request, &sharing, method, pack(request, &sharing, Overload::LeastLoaded)))
        }
        (other, _) => other,
    }
}

/// Says of a task that fits nowhere that its group does not, either: the reason for a small task is looked for
/// there.
fn with_group(mut refused: Diagnostic, sharing: &Sharing, stuck: Item) -> Diagnostic {
    let group = sharing.group_of(stuck.id).map(|at| &sharing.groups()[at]);
    if let Some(group) = group.filter(|group| group.members.len() > 1) {
        let together = ByteSize(sharing.footprint(group.members.iter().copied()));
        refused.message += &format!(
            "; neither does its group `{}` ({} tasks that walk {together}), as a whole or any part with this task",
            group.name,
            group.members.len()
        );
    }
    refused
}

fn placement(request: &Request, sharing: &Sharing, method: Method, packed: Packed) -> Placement {
    let mut placement = Placement::new(request, method, packed.filling.assignment(), packed.overloaded);
    placement.notes.extend(groups_note(sharing, &placement));
    placement
}

/// How many groups are whole, and which are not; nothing if there are none.
fn groups_note(sharing: &Sharing, placement: &Placement) -> Option<String> {
    let several = sharing.groups().iter().filter(|group| group.members.len() > 1);
    let (whole, split): (Vec<_>, Vec<_>) =
        several.partition(|group| placement.bins_of(&group.members).len() <= 1);
    let total = whole.len() + split.len();
    if total == 0 {
        return None;
    }
    let names: Vec<&str> = split.iter().take(NAMES_LISTED_MAX).map(|group| group.name.as_str()).collect();
    let more = if split.len() > NAMES_LISTED_MAX { ", ..." } else { "" };
    let list = if split.is_empty() { String::new() } else { format!("; split: {}{more}", names.join(", ")) };
    Some(format!("{} of {total} groups that share memory are together{list}", whole.len()))
}

/// Listing 1.
fn pack<'a>(request: &'a Request<'a>, sharing: &Sharing, overload: Overload) -> Packed<'a> {
    let mut items = request.items();
    Order { key: Key::WorkingSet, direction: Direction::Down }.sort(&mut items);
    let mut waiting = Waiting::new(items, sharing);
    let mut packed = Packed::new(request, Search::Numbered);
    let mut next = 0;
    while let Some(head) = waiting.head() {
        let mut group = waiting.sharers(head);
        let fitting = shrink_until_placed(request, &packed.filling, &mut group, next);
        // What was not looked at may have room: an interruption decides nothing.
        if request.is_interrupted() {
            packed.stuck = Some(head);
            return packed;
        }
        let Some(bin) = fitting.or_else(|| packed.overload(head, overload)) else {
            packed.stuck = Some(head);
            return packed;
        };
        for item in group {
            waiting.remove(item.id);
            match fitting {
                Some(_) => packed.filling.put(item, bin),
                None => packed.filling.put_over(item, bin),
            }
        }
        next = bin + 1;
    }
    packed
}

/// The first bin from `next` around the circle into which the group fits, after as few of its last members as possible
/// have left; nothing if the first alone fits nowhere.
///
/// A bin that has no room for the first k has none for more: it is asked only for more than those before it take. (A scheduler's
/// test may accept more than it accepted less of; that is not looked for.)
fn shrink_until_placed<'a>(
    request: &Request<'a>,
    filling: &Filling<'a>,
    group: &mut Vec<Item<'a>>,
    next: usize,
) -> Option<usize> {
    let bins = filling.bins();
    let add = |load: &mut LoadSum, item: Item| load.add(item.work, request.fit().window(item.task));
    // Of the first `fitting + 1` members.
    let mut load = LoadSum::new();
    add(&mut load, group[0]);
    let (mut chosen, mut fitting) = (None, 0);
    for positions in [next..bins, 0..next] {
        let mut from = positions.start;
        // A bin without room for the first `fitting + 1` is passed over.
        while let Some(bin) = filling.roomy(from..positions.end, &load).next() {
            let welcome = group.iter().take_while(|&&item| request.permits(item, bin)).count();
            while fitting < welcome && filling.take_together(&group[..=fitting], &load, bin) {
                (chosen, fitting) = (Some(bin), fitting + 1);
                if fitting == group.len() {
                    return chosen;
                }
                add(&mut load, group[fitting]);
            }
            from = bin + 1;
        }
    }
    group.truncate(fitting.max(1));
    chosen
}

/// The tasks without a place, in the order in which they are considered.
struct Waiting<'a, 's> {
    items: Vec<Item<'a>>,
    sharing: &'s Sharing,
    /// Places in `items`, by group.
    of_group: Vec<Vec<usize>>,
    /// By task id.
    placed: Vec<bool>,
    first: usize,
}

impl<'a, 's> Waiting<'a, 's> {
    fn new(items: Vec<Item<'a>>, sharing: &'s Sharing) -> Self {
        let mut of_group = vec![Vec::new(); sharing.groups().len()];
        for (at, item) in items.iter().enumerate() {
            if let Some(group) = sharing.group_of(item.id) {
                of_group[group].push(at);
            }
        }
        let tasks = items.iter().map(|item| item.id + 1).max().unwrap_or(0);
        Waiting { items, sharing, of_group, placed: vec![false; tasks], first: 0 }
    }

    /// The task in turn.
    fn head(&mut self) -> Option<Item<'a>> {
        while self.items.get(self.first).is_some_and(|item| self.placed[item.id]) {
            self.first += 1;
        }
        self.items.get(self.first).copied()
    }

    /// The task and those that share memory with it, those first that share most; ties in the order of consideration.
    fn sharers(&self, head: Item<'a>) -> Vec<Item<'a>> {
        let Some(group) = self.sharing.group_of(head.id) else { return vec![head] };
        let others = self.of_group[group].iter().map(|&at| self.items[at]);
        let mut sharers: Vec<Item> =
            others.filter(|item| item.id != head.id && !self.placed[item.id]).collect();
        sharers.sort_by_cached_key(|item| std::cmp::Reverse(self.sharing.between(head.id, item.id)));
        sharers.insert(0, head);
        sharers
    }

    fn remove(&mut self, id: usize) {
        self.placed[id] = true;
    }
}
