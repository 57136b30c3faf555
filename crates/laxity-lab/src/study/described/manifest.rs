//! What a study that a file describes comes from.

use crate::observer::Caller;
use laxity_study::{ComputedPoints, Study};
use serde_json::{Value, json};
use std::time::SystemTime;

/// The version of this format.
const VERSION: u32 = 1;

/// Command, version, study and time, as JSON; `kind` is what kind of study it is.
pub(super) fn manifest(kind: &str, study: &Study, computed: &ComputedPoints, caller: &Caller) -> Value {
    let outline = &study.outline;
    json!({
        "version": VERSION,
        "kind": kind,
        "name": outline.name,
        "title": outline.title,
        "source": outline.source,
        "notes": outline.notes,
        "command": caller.command,
        "laxity": caller.version,
        "rng": laxity_generate::RNG_NAME,
        "written": laxity_trace::rfc3339(SystemTime::now()),
        "complete": computed.complete,
        "points": computed.points.len(),
        "study": study.description(),
    })
}
