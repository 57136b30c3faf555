//! Memory that cannot be had: at every limit an answer or one error with exit code 3; no abort, no backtrace, nothing half-written.

mod host;

use host::{laxity, output, words};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SET: &str = r#"{"version":1,"name":"alder","tasks":[{"name":"a","wcet":"1ms","period":"4ms"},
    {"name":"b","wcet":"2ms","period":"7ms"}]}"#;

/// The program with an address space of so many kB.
fn limited(kilobytes: u64, directory: &Path, arguments: &[&str]) -> Output {
    let program = laxity();
    let mut command = Command::new("sh");
    command.current_dir(directory).env("LC_ALL", "C.UTF-8").env("RUST_BACKTRACE", "1");
    command
        .args(["-c", &format!("ulimit -v {kilobytes}; exec \"$@\""), "sh"])
        .arg(program.get_program())
        .args(arguments);
    output(&mut command)
}

/// Limits from one at which the program cannot even be loaded up to one that is enough: which of them were refused in words.
fn at_every_limit(arguments: &[&str], mut check: impl FnMut(&Path, &Output)) {
    let here = tempfile::tempdir().expect("a directory");
    fs::write(here.path().join("set.json"), SET).expect("written");
    let mut refused = 0;
    let mut kilobytes = 12_000;
    while kilobytes < 4_000_000 {
        kilobytes += kilobytes / 50;
        let ended = limited(kilobytes, here.path(), arguments);
        let said = words(&ended);
        // 127 and signals of the loader: the program was never there.
        let loaded =
            !said.contains("error while loading shared libraries") && ended.status.code() != Some(127);
        if loaded && ended.status.code().is_some() {
            assert!(matches!(ended.status.code(), Some(0 | 3)), "{kilobytes} kB: {:?}: {said}", ended.status);
            if ended.status.code() == Some(3) {
                refused += 1;
                assert!(said.contains("error: ") && said.contains("\nhint: "), "{kilobytes} kB: {said}");
            }
        }
        for word in ["panicked", "memory allocation of", "stack backtrace"] {
            assert!(!said.contains(word), "{kilobytes} kB: {said}");
        }
        check(here.path(), &ended);
        if ended.status.success() {
            assert!(refused > 0, "{kilobytes} kB are enough, and no limit below was refused in words");
            return;
        }
    }
    panic!("no limit was enough");
}

#[test]
fn a_simulation_is_whole_or_refused() {
    let call = [
        "simulate",
        "set.json",
        "--cpus",
        "1",
        "--duration",
        "20s",
        "--threads",
        "4",
        "--events",
        "--out",
        "out",
        "--force",
        "-q",
    ];
    at_every_limit(&call, |here, ended| {
        let out = here.join("out");
        if out.join("SHA256SUMS").exists() {
            laxity_trace::load(&out).expect("what is finished is whole");
        }
        assert!(!ended.status.success() || out.join("report.html").exists());
        // The next begins anew.
        let _ = fs::remove_dir_all(&out);
        let _ = fs::remove_dir_all(here.join(".out.draft"));
    });
}

#[test]
fn generated_sets_are_whole_or_refused() {
    let call = ["generate", "emberson", "-n", "2000", "-u", "1", "--count", "8", "-o", "sets", "--force"];
    at_every_limit(&call, |here, _| {
        let Ok(files) = fs::read_dir(here.join("sets")) else { return };
        for file in files.flatten().filter(|file| !file.file_name().to_string_lossy().starts_with('.')) {
            laxity_model::read_task_set(&file.path()).expect("what has its name is whole");
        }
    });
}
