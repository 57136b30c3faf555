//! What libbpf says: kept, and shown where something went wrong.

use libbpf_rs::{PrintLevel, set_print};
use std::sync::Mutex;

static SAID: Mutex<String> = Mutex::new(String::new());

fn keep(_level: PrintLevel, message: String) {
    SAID.lock().expect("nothing panics while it is held").push_str(&message);
}

/// Keeps what libbpf says from now on.
pub(crate) fn listen() {
    set_print(Some((PrintLevel::Warn, keep)));
}

/// The last lines of what libbpf has said since the last call.
pub(crate) fn last_lines(count: usize) -> String {
    let text = std::mem::take(&mut *SAID.lock().expect("nothing panics while it is held"));
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
