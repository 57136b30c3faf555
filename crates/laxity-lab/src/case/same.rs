//! Configurations that differ by their placements only, and come out with the same places: they are one.

use super::Case;
use laxity_model::{Cell, scheduler_of};

/// A configuration that is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Same {
    /// Its name.
    pub name: String,
    /// The name of the other, which is kept.
    pub kept: String,
}

impl Same {
    /// In words.
    pub fn words(&self) -> String {
        format!("note: {} has the places of {}, and is not made again", self.name, self.kept)
    }
}

/// As an option of results: nothing if there are none.
pub fn same_option(same: &[Same]) -> Option<(String, String)> {
    let words = || same.iter().map(|same| format!("{} as {}", same.name, same.kept)).collect::<Vec<_>>();
    (!same.is_empty()).then(|| (laxity_trace::SAME_PLACES.to_owned(), words().join(", ")))
}

/// The sets by their indices, and their cells.
type CellsBySet = Vec<(usize, Vec<Cell>)>;

/// Drops the configurations whose tasks have, in every set, the places that they have under an earlier one of the same scheduler; which
/// ones.
pub fn drop_same(cases: &mut Vec<Case<'_>>) -> Vec<Same> {
    let mut all: Vec<(String, Option<CellsBySet>)> = Vec::new();
    if cases.iter().all(|case| scheduler_of(&case.scheduler.name).1.is_none()) {
        return Vec::new();
    }
    for case in cases.iter() {
        let (set, name) = (case.index, case.scheduler.name.clone());
        let cells = case.placed.as_ref().ok().map(|placed| (set, placed.cells.clone()));
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, places)) => *places = places.take().zip(cells).map(|(of, one)| [of, vec![one]].concat()),
            None => all.push((name, cells.map(|one| vec![one]))),
        }
    }
    let mut same: Vec<Same> = Vec::new();
    for (at, (name, places)) in all.iter().enumerate() {
        let is_same = |(other, of): &&(String, Option<CellsBySet>)| {
            scheduler_of(other).0 == scheduler_of(name).0 && of.is_some() && of == places
        };
        if let Some((other, _)) = all[..at].iter().find(is_same) {
            same.push(Same { name: name.clone(), kept: other.clone() });
        }
    }
    cases.retain(|case| !same.iter().any(|same| same.name == case.scheduler.name));
    for case in cases.iter_mut() {
        let own = |one: &&Same| one.kept == case.scheduler.name;
        let notes: Vec<String> =
            same.iter().filter(own).map(|same| format!("{} has the same places", same.name)).collect();
        if let Ok(placed) = &mut case.placed {
            placed.record.notes.extend(notes);
        }
    }
    same
}
