//! `laxity load`: policies schedule tasks of other programs, in a virtual machine that counts instructions instead of time.
//!
//! The task is `tests/vm/periodic.c`, which knows nothing of laxity. Says SKIPPED where there is no machine or no compiler.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What runs here; `tests/vm/load.guest` takes any of them.
const POLICIES: [&str; 2] = ["edf-bh", "g-edf-mp"];

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vm").join(name)
}

/// The periodic task as a program that needs no libraries.
fn periodic(directory: &Path) -> Result<PathBuf, String> {
    let program = directory.join("periodic");
    let compiled = Command::new("cc")
        .args(["-O2", "-static", "-o"])
        .arg(&program)
        .arg(beside("periodic.c"))
        .output()
        .map_err(|error| format!("no C compiler: {error}"))?;
    if compiled.status.success() {
        Ok(program)
    } else {
        Err(format!("no static C library: {}", String::from_utf8_lossy(&compiled.stderr)))
    }
}

/// The words of the machine's standard output that begin with a policy's name.
fn lines_of<'a>(output: &'a str, policy: &str) -> Vec<&'a str> {
    let own = format!("{policy} ");
    output.lines().filter_map(|line| line.strip_prefix(own.as_str())).collect()
}

/// The number behind a word.
fn number(line: &str, word: &str) -> u64 {
    let mut words = line.split_whitespace();
    words.find(|found| *found == word).unwrap_or_else(|| panic!("no `{word}` in `{line}`"));
    words.next().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no number in `{line}`"))
}

/// A program releases its jobs once a period, and misses next to nothing.
fn is_periodic(line: &str) {
    let (jobs, periods) = (number(line, "jobs"), number(line, "periods"));
    assert!(periods + 1 >= jobs && periods <= jobs + 2, "one job a period: {line}");
    assert!(number(line, "missed") <= 2, "{line}");
}

#[test]
fn the_same_program_runs_under_our_policies_and_under_sched_deadline() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = match periodic(directory.path()) {
        Ok(program) => program,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let one_machine = File::create(std::env::temp_dir().join("laxity-vm-tests.lock")).expect("a lock file");
    one_machine.lock().expect("a lock");
    let laxity = env!("CARGO_BIN_EXE_laxity");
    let mut call = Command::new(laxity);
    if std::env::var_os("LAXITY_VM_CACHE").is_none() {
        call.env("LAXITY_VM_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("laxity-vm"));
    }
    std::fs::copy(beside("load.guest"), directory.path().join("load.guest")).expect("copied");
    call.args([
        "vm",
        "--deterministic",
        "--cpus",
        "2",
        "--timeout",
        "5m",
        "--boot-timeout",
        "2m",
        "--with",
        laxity,
    ])
    .args(["--exec", "--", "sh", "load.guest"])
    .arg(laxity)
    .arg(&program)
    .args(POLICIES)
    .current_dir(directory.path())
    .stdin(Stdio::null());
    let ended = call.output().expect("laxity starts");
    let (output, words) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    // No QEMU, no kernel, or a host that is too slow for it.
    if ended.status.code() == Some(3) {
        return eprintln!("SKIPPED: no virtual machine: {}", words.lines().last().unwrap_or_default());
    }
    assert!(output.contains("DONE"), "{output}\n{words}");
    for policy in POLICIES {
        let lines = lines_of(&output, policy);
        assert_eq!(lines.len(), 5, "{output}\n{words}");
        is_periodic(lines[0]);
        is_periodic(lines[1]);
        let refused: u64 =
            lines[2].strip_prefix("too much: ").and_then(|n| n.parse().ok()).expect("a number");
        // Those before may be dead, and not quite gone.
        assert!((1..=3).contains(&refused), "EBUSY when it is full: {output}");
        assert!(lines[3].contains("refused 22"), "EINVAL for no task: {output}");
        assert!(lines[4].contains("disabled"), "the kernel's own scheduler goes on: {output}");
    }
    is_periodic(lines_of(&output, "SCHED_DEADLINE").first().expect("a line"));
}
