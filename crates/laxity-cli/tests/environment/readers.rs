//! Output that cannot be written, and readers of it that leave.

use crate::host::{self, HostState, can_run, laxity, output, real_time_threads, small_set, words};
use crate::patience::{at_rest, patiently};
use crate::{json, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let (_directory, set) = small_set();
    let set = set.to_str().expect("UTF-8");
    for call in [
        &["generate", "emberson", "-n", "4", "-u", "1"][..],
        &["simulate", set, "--cpus", "2", "--duration", "1s"],
        &["simulate", set, "--cpus", "2", "--duration", "1s", "--text"],
        &["simulate", set, "--cpus", "2", "--duration", "1s", "--gantt", "--verify"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = laxity();
        command.args(call).stdout(full).stderr(Stdio::piped());
        let ended = command.spawn().and_then(std::process::Child::wait_with_output).expect("laxity runs");
        assert_eq!(ended.status.code(), Some(3), "{call:?}: {}", words(&ended));
        assert!(words(&ended).contains("cannot write to standard output"), "{call:?}: {}", words(&ended));
    }
}

#[test]
fn readers_that_leave_early_do_not_fail_a_simulation() {
    let (_directory, set) = small_set();
    for redirection in ["| head -1", ">&- 2>&-", "2>/dev/full", "2>&-"] {
        let line = format!(
            "\"$0\" simulate \"$1\" --cpus 2 --duration 20s --text {redirection}; exit ${{PIPESTATUS[0]}}"
        );
        let ended = output(Command::new("bash").args(["-c", &line, env!("CARGO_BIN_EXE_laxity")]).arg(&set));
        assert_eq!(ended.status.code(), Some(0), "{redirection}: {}", words(&ended));
    }
}

/// A short run whose output goes where `redirection` of a shell says.
fn redirected(redirection: &str, out: &Path, set: &Path) -> Command {
    let mut command = Command::new("bash");
    let script = format!("set -o pipefail; \"$0\" \"$@\" {redirection}");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_laxity")]);
    command
        .args(["run", "--scheduler", "p-rm,g-rm", "--duration", "100ms", "--force", "--out"])
        .arg(out)
        .arg(set);
    command
}

#[test]
fn readers_that_leave_early_do_not_stop_a_run() {
    let _machine = host::machine();
    if !can_run(&["p-rm"]) {
        return;
    }
    let before = at_rest(HostState::now);
    for redirection in
        ["| head -c 1", "2>&-", ">&- 2>&-", "2>/dev/full", "2> >(head -c 1 >/dev/null)", "2>&1 | head -c 1"]
    {
        let (directory, set) = small_set();
        let out = directory.path().join("out");
        // The second redirection hides the words by which a held machine is known.
        let ended = patiently(|| {
            at_rest(|| ());
            redirected(redirection, &out, &set)
        });
        assert_eq!(ended.status.code(), Some(0), "{redirection}: {}", words(&ended));
        let manifest = json(&out.join("manifest.json"));
        for run in manifest["runs"].as_array().expect("runs") {
            assert_eq!(run["status"]["state"], "completed", "{redirection}: {run:#}");
        }
        assert!(out.join("report.html").exists());
        assert!(real_time_threads().is_empty(), "{redirection}: {:?}", real_time_threads());
    }
    assert_eq!(at_rest(HostState::now), before);
}

#[test]
fn a_list_can_be_cut_short() {
    let cut = output(Command::new("bash").args([
        "-c",
        "set -o pipefail; \"$0\" list | head -1",
        env!("CARGO_BIN_EXE_laxity"),
    ]));
    assert!(cut.status.success() && cut.stderr.is_empty(), "{}", words(&cut));
    assert_eq!(text(&cut.stdout).lines().count(), 1);
}
