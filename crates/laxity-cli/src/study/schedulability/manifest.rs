//! What a study's results come from.

use laxity_study::{Conducted, Study};
use serde_json::{Value, json};
use std::time::SystemTime;

/// The version of this format.
const VERSION: u32 = 1;

/// Command, version, study and time, as JSON.
pub fn manifest(study: &Study, conducted: &Conducted) -> Value {
    let command: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    json!({
        "version": VERSION,
        "kind": "schedulability-study",
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "notes": study.notes,
        "command": command,
        "laxity": env!("CARGO_PKG_VERSION"),
        "rng": laxity_generate::RNG_NAME,
        "written": laxity_trace::rfc3339(SystemTime::now()),
        "complete": conducted.complete,
        "points": conducted.points.len(),
        "study": study.description(),
    })
}
