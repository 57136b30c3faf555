//! Calls of laxity and what they print, for the tests of its commands. For binaries that have `host` and `patience`.

#![allow(dead_code, reason = "each test binary uses a part")]

use crate::host::{laxity, output, words};
use crate::patience::patiently;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

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

/// Runs a command whose arguments `say` adds, which makes virtual machines: one at a time, as in vm.rs. Nothing where there are
/// none, and says so.
pub fn with_machines(say: impl FnOnce(&mut Command)) -> Option<Output> {
    with_machines_watched(say, output)
}

/// The same, run by `watch`.
pub fn with_machines_watched(
    say: impl FnOnce(&mut Command),
    watch: impl FnOnce(&mut Command) -> Output,
) -> Option<Output> {
    let turn = File::create(std::env::temp_dir().join("laxity-vm-tests.lock")).expect("a lock file");
    turn.lock().expect("a lock");
    let mut command = laxity();
    if std::env::var_os("LAXITY_VM_CACHE").is_none() {
        command.env("LAXITY_VM_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("laxity-vm"));
    }
    say(&mut command);
    let ended = watch(&mut command);
    let none = ended.status.code() == Some(3)
        && ["qemu", "fetch", "apt", "archive"].iter().any(|word| words(&ended).contains(word));
    if none {
        eprintln!("SKIPPED: no virtual machine: {}", words(&ended));
        return None;
    }
    Some(ended)
}

/// All that a study leaves but for the time and the command in its manifest, and the order of its journal.
pub fn left_by_study(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in [directory.to_path_buf(), directory.join("plots")] {
        for entry in fs::read_dir(&folder).expect("a directory").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_file() && name != "points.jsonl" && name != "manifest.json" {
                files.push((name, fs::read(&path).expect("reads")));
            }
        }
    }
    files.sort();
    files
}
