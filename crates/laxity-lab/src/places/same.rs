//! Configurations that differ by their placements only, and come out with the same places: they are one.

use crate::placing::Placed;
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

/// A set under a configuration.
pub trait Configured {
    /// Index of the set.
    fn set(&self) -> usize;
    /// Name of the configuration.
    fn configuration(&self) -> &str;
    /// Where the tasks of the set go, if they do.
    fn placed(&mut self) -> Option<&mut Placed>;
}

/// The sets by their indices, and their cells.
type CellsBySet = Vec<(usize, Vec<Cell>)>;

/// Drops the configurations whose tasks have, in every set, the places that they have under an earlier one of the same scheduler; which
/// ones.
pub fn drop_same(parts: &mut Vec<impl Configured>) -> Vec<Same> {
    let mut all: Vec<(String, Option<CellsBySet>)> = Vec::new();
    if parts.iter().all(|part| scheduler_of(part.configuration()).1.is_none()) {
        return Vec::new();
    }
    for part in parts.iter_mut() {
        let (set, name) = (part.set(), part.configuration().to_owned());
        let cells = part.placed().map(|placed| (set, placed.cells.clone()));
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
    parts.retain(|part| !same.iter().any(|same| same.name == part.configuration()));
    for part in parts.iter_mut() {
        let own = |one: &&Same| one.kept == part.configuration();
        let notes: Vec<String> =
            same.iter().filter(own).map(|same| format!("{} has the same places", same.name)).collect();
        if let Some(placed) = part.placed() {
            placed.record.notes.extend(notes);
        }
    }
    same
}
