//! Files of rt-app with threads that make no task: refused by every command, or read without them.

use crate::calls::{text, utf8};
use crate::host::words;
use crate::{Desk, examples, patiently};
use serde_json::json;

#[test]
fn threads_are_left_out_where_that_is_asked_for() {
    let file = examples().join("imports/rtapp-waits.json");
    let desk = Desk::with(&[]);
    let said = "left out with its work: thread `out`, which waits for other threads (`suspend`)";
    for call in [
        &["check"][..],
        &["place", "--cpus", "2"],
        &["analyze", "--cpus", "2", "--schedulers", "p-edf"],
        &["simulate", "--cpus", "2", "--schedulers", "p-edf", "--duration", "1s", "-q"],
    ] {
        let ended = |more: &[&str]| {
            patiently(|| {
                let mut command = crate::host::laxity();
                command.current_dir(desk.path()).args(call).arg(utf8(&file)).args(more);
                command
            })
        };
        let refused = ended(&[]);
        assert_eq!(refused.status.code(), Some(2), "{call:?}: {}", words(&refused));
        let why = words(&refused);
        assert!(
            why.contains("thread `out`: waits for other threads") && why.contains("--leave-out-threads"),
            "{why}"
        );
        assert!(refused.stdout.is_empty(), "{}", text(&refused.stdout));
        let without = ended(&["--leave-out-threads"]);
        assert_eq!(without.status.code(), Some(0), "{call:?}: {}", words(&without));
        assert!(words(&without).contains(said), "{}", words(&without));
    }
    let one = desk.first(&[utf8(&file), "--cpus", "2", "--schedulers", "p-edf", "--leave-out-threads"]);
    assert_eq!(one["cells"][0]["tasks"], json!(["display"]));
}
