//! What the sources of a crate describe, against the list that has to have all of it.

use std::collections::BTreeSet;
use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// Asserts that these are the names of all that the `src` of a crate describes, where descriptions begin with `opening`, each once.
///
/// # Panics
///
/// One is not listed, or twice; the folder is no part of the checkout.
pub fn assert_all_listed<'a>(of_crate: &str, opening: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    let listed: BTreeSet<String> = names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(
        listed,
        names_in_sources(&Path::new(of_crate).join("src"), opening),
        "the list, and what is described"
    );
    assert_eq!(listed.len(), names.len(), "no two have the same name");
}

/// The names behind `opening`, up to the next quotation mark, in the Rust files of a folder and those below it: of descriptions that
/// begin with it.
fn names_in_sources(folder: &Path, opening: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in read_dir(folder).expect("part of the checkout") {
        let path = entry.expect("part of the checkout").path();
        if path.is_dir() {
            found.extend(names_in_sources(&path, opening));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = read_to_string(&path).expect("source");
            let names = text.split(opening).skip(1).filter_map(|rest| rest.split('"').next());
            found.extend(names.map(str::to_owned));
        }
    }
    found
}
