//! What a study that a file describes comes from.

use laxity_study::{Conducted, Planned};
use serde_json::{Value, json};
use std::time::SystemTime;

/// The version of this format.
const VERSION: u32 = 1;

/// What the file says in words.
pub struct Headings<'a> {
    /// What kind of study it is: that of its manifest.
    pub kind: &'static str,
    /// Its name.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Where it comes from.
    pub source: Option<&'a str>,
    /// What a reader must know.
    pub notes: &'a [String],
}

/// Command, version, study and time, as JSON.
pub fn manifest<P: Planned>(headings: &Headings<'_>, study: &P, conducted: &Conducted<P::Sums>) -> Value {
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    json!({
        "version": VERSION,
        "kind": headings.kind,
        "name": headings.name,
        "title": headings.title,
        "source": headings.source,
        "notes": headings.notes,
        "command": command,
        "laxity": crate::shipped::VERSION,
        "rng": laxity_generate::RNG_NAME,
        "written": laxity_trace::rfc3339(SystemTime::now()),
        "complete": conducted.complete,
        "points": conducted.points.len(),
        "study": study.description(),
    })
}
