//! Calls of laxity and what they print, for the tests of its commands. For binaries that have `host` and `patience`.

#![allow(dead_code, reason = "each test binary uses a part")]

use crate::host::{laxity, words};
use crate::patience::patiently;
use serde_json::Value;
use std::fs;
use std::path::Path;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must succeed; what it prints.
pub fn prints(call: &[&str]) -> String {
    let ended = patiently(|| {
        let mut command = laxity();
        command.args(call);
        command
    });
    assert!(ended.status.success(), "laxity {}\n{}", call.join(" "), words(&ended));
    text(&ended.stdout)
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub fn json_file(path: &Path) -> Value {
    json(&fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

pub fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
