//! `laxity vm`: what comes out of a virtual machine, and that nothing of it stays behind.
//!
//! Needs QEMU, and a kernel from the network or from an earlier time; says SKIPPED where there is none.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One machine at a time on this host: they would make each other slow. Across processes too.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Turn {
    _thread: MutexGuard<'static, ()>,
    _process: File,
}

fn turn() -> Turn {
    let thread = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let file = File::create(std::env::temp_dir().join("laxity-vm-tests.lock")).expect("a lock file");
    file.lock().expect("a lock");
    Turn { _thread: thread, _process: file }
}

/// laxity with a cache that outlives the tests.
fn laxity() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laxity"));
    if std::env::var_os("LAXITY_VM_CACHE").is_none() {
        command.env("LAXITY_VM_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("laxity-vm"));
    }
    command.stdin(Stdio::null());
    command
}

/// Goes by this machine's time if nothing else is said: it boots sooner, and `sleep` takes as long as it says.
fn vm(here: &Path, options: &[&str], command: &[&str]) -> Command {
    let mut call = laxity();
    call.current_dir(here).arg("vm").args(options);
    if !options.iter().any(|option| ["--accel", "--deterministic"].contains(option)) {
        call.args(["--accel", "tcg"]);
    }
    call.arg("--").args(command);
    call
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn finished(mut command: Command) -> Output {
    command.output().expect("laxity starts")
}

/// Whether machines can be had here; why not, if not.
static MACHINES: LazyLock<Result<(), String>> = LazyLock::new(|| {
    let here = directory();
    let ended = finished(vm(here.path(), &["--exec"], &["true"]));
    match ended.status.code() {
        Some(0) => Ok(()),
        // Whatever else fails here fails again in the tests, which then say so.
        Some(3)
            if ["qemu", "fetch", "apt", "archive"].iter().any(|word| text(&ended.stderr).contains(word)) =>
        {
            Err(text(&ended.stderr))
        }
        _ => Ok(()),
    }
});

/// The turn, if there are machines; else a word on why the test is skipped.
fn machine() -> Option<Turn> {
    let turn = turn();
    match &*MACHINES {
        Ok(()) => Some(turn),
        Err(why) => {
            eprintln!("SKIPPED: no virtual machine: {}", why.lines().last().unwrap_or_default());
            None
        }
    }
}

/// A directory on a path that the machine does not have by itself.
fn directory() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("laxity vm ").tempdir().expect("directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("readable").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The set of `tests/vm`, in `here`.
fn small_set(here: &Path) {
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vm/small.toml");
    fs::copy(set, here.join("small.toml")).expect("copied");
}

/// Processes whose command line has this word, other than those that end on their own.
fn processes_with(word: &str) -> Vec<PathBuf> {
    let found = fs::read_dir("/proc").expect("readable").flatten().map(|entry| entry.path());
    found.filter(|path| fs::read(path.join("cmdline")).is_ok_and(|line| text(&line).contains(word))).collect()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < give_up, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn signal(child: &Child, number: i32) {
    let pid = i32::try_from(child.id()).expect("a process number");
    // SAFETY: a signal to a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(pid, number) }, 0);
}

/// Starts a machine and waits until its command has printed `ready`.
fn ready(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("laxity starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("UTF-8");
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn output_exit_code_and_files_come_out_as_they_are() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let other = directory();
    let at = |name: &str| here.path().join(name);
    fs::create_dir(at("in")).expect("made");
    fs::write(at("in/data"), b"a\r\nb\0\xff").expect("write");
    fs::write(at("unnamed"), "stays at home").expect("write");
    fs::write(at("changed"), "before").expect("write");
    fs::write(
        at("script.sh"),
        r#"
printf 'out\r\n\000\377' ; printf 'err\r\n' >&2
cat in/data ; test ! -e unnamed || echo 'unnamed is here' >&2
echo after >changed ; mkdir -p new/empty ; cp in/data new/copy ; ln -s copy new/link
head -c 9000000 /dev/urandom >new/large ; sha256sum new/large | cut -c 1-64 >new/sum
echo elsewhere >"$1" ; echo private >/run/tmp/x ; echo unasked >/outside
echo "$GREETING"
exit 1
"#,
    )
    .expect("write");
    let target = other.path().join("deep");
    let ended = finished(vm(
        here.path(),
        &["--exec", "--quiet", "--env", "GREETING=hello there"],
        &["sh", "script.sh", target.to_str().expect("UTF-8"), "in", "changed"],
    ));
    assert_eq!(text(&ended.stderr), "err\r\n");
    assert_eq!(ended.stdout, b"out\r\n\0\xffa\r\nb\0\xffhello there\n");
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(fs::read_to_string(at("changed")).expect("a file"), "after\n");
    assert_eq!(fs::read(at("new/link")).expect("a link"), b"a\r\nb\0\xff");
    assert!(fs::symlink_metadata(at("new/link")).expect("a link").is_symlink() && at("new/empty").is_dir());
    let sum = finished({
        let mut command = Command::new("sha256sum");
        command.arg(at("new/large"));
        command
    });
    assert_eq!(text(&sum.stdout)[..64], fs::read_to_string(at("new/sum")).expect("a file")[..64]);
    assert_eq!(fs::read_to_string(&target).expect("a file"), "elsewhere\n");
    assert_eq!(names(here.path()), ["changed", "in", "new", "script.sh", "unnamed"]);
    assert_eq!(names(other.path()), ["deep"]);
    assert!(!Path::new("/outside").exists());
}

#[test]
fn a_task_set_is_run_and_its_results_come_back() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    small_set(here.path());
    let call = [
        "run",
        "small.toml",
        "--scheduler",
        "g-edf",
        "--duration",
        "300ms",
        "--out",
        "deep/results",
        "--json",
    ];
    let ended = finished(vm(here.path(), &["--accel", "auto"], &call));
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("vm: Linux 6.18"), "{said}");
    let answer: serde_json::Value =
        serde_json::from_slice(&ended.stdout).expect("only JSON on standard output");
    assert_eq!(answer["schedulers"][0]["scheduler"], "g-edf");
    let results = names(&here.path().join("deep/results"));
    for file in ["jobs.parquet", "manifest.json", "report.html"] {
        assert!(results.iter().any(|name| name == file), "{file} in {results:?}");
    }
    assert_eq!(names(here.path()), ["deep", "small.toml"]);
    // The machine's clock is the host's.
    let manifest = fs::read_to_string(here.path().join("deep/results/manifest.json")).expect("a manifest");
    let today = laxity_trace::rfc3339(std::time::SystemTime::now());
    assert!(manifest.contains(&today[..8]), "{} in {manifest}", &today[..8]);
    // The results are part of what the command names, so that it sees that they are there.
    let again = finished(vm(here.path(), &["--quiet"], &call));
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
    assert!(text(&again.stderr).contains("deep/results"), "{}", text(&again.stderr));
}

#[test]
fn the_kernel_has_sched_ext_and_what_else_a_scheduler_needs() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let script = "ls -d /sys/kernel/sched_ext /sys/fs/bpf /sys/kernel/tracing/events/sched /sys/kernel/debug/sched; \
        grep -c cpuset /sys/fs/cgroup/cgroup.controllers; nproc; cat /proc/cmdline; ip link show lo; exit 3";
    let ended =
        finished(vm(here.path(), &["--exec", "--cpus", "3", "--append", "marked"], &["sh", "-c", script]));
    let out = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(3), "{out}{}", text(&ended.stderr));
    assert!(
        out.contains("/sys/kernel/sched_ext\n") && out.contains("/sys/kernel/tracing/events/sched\n"),
        "{out}"
    );
    assert!(out.contains("\n1\n3\n") && out.contains(" marked") && out.contains("UP"), "{out}");
}

#[test]
fn a_command_that_takes_too_long_is_ended_and_its_files_are_kept() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let script = "echo partial >file; sleep 1000";
    let ended = finished(vm(here.path(), &["--exec", "--timeout", "1s"], &["sh", "-c", script]));
    assert_eq!(ended.status.code(), Some(3));
    assert!(text(&ended.stderr).contains("longer than 1 s"), "{}", text(&ended.stderr));
    assert_eq!(fs::read_to_string(here.path().join("file")).expect("a file"), "partial\n");
}

#[test]
fn ctrl_c_interrupts_the_command_and_a_second_one_stops_the_machine() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let polite = "trap 'echo kept >kept; exit 130' INT; echo ready; while :; do sleep 0.1; done";
    let child = ready(vm(here.path(), &["--exec", "--append", "lx-polite"], &["sh", "-c", polite]));
    signal(&child, libc::SIGINT);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert_eq!(fs::read_to_string(here.path().join("kept")).expect("a file"), "kept\n");

    let stubborn = "trap '' INT TERM; echo half >half; echo ready; while :; do sleep 0.1; done";
    let child = ready(vm(here.path(), &["--exec", "--append", "lx-stubborn"], &["sh", "-c", stubborn]));
    signal(&child, libc::SIGINT);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, libc::SIGINT);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("once more stops"), "{}", text(&ended.stderr));
    assert_eq!(names(here.path()), ["kept"], "neither results of the killed machine nor temporary files");
    eventually("QEMU is left", || {
        processes_with("lx-polite").is_empty() && processes_with("lx-stubborn").is_empty()
    });
}

#[test]
fn a_reader_that_leaves_ends_the_command_as_in_a_pipe() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let mut child = ready(vm(here.path(), &["--exec"], &["sh", "-c", "echo ready; exec yes"]));
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(128 + libc::SIGPIPE), "{}", text(&ended.stderr));
}

#[test]
fn a_killed_laxity_leaves_no_machine() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let mut child =
        ready(vm(here.path(), &["--exec", "--append", "lx-orphan"], &["sh", "-c", "echo ready; sleep 1000"]));
    assert!(!processes_with("lx-orphan").is_empty());
    signal(&child, libc::SIGKILL);
    assert_eq!(child.wait().expect("it ends").signal(), Some(libc::SIGKILL));
    eventually("QEMU is left", || processes_with("lx-orphan").is_empty());
    assert!(names(here.path()).is_empty());
}

#[test]
fn a_kernel_that_panics_is_reported() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let script = "echo lost >file; echo c >/proc/sysrq-trigger; sleep 1000";
    let ended = finished(vm(here.path(), &["--exec"], &["sh", "-c", script]));
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("its kernel panicked") && said.contains("sysrq triggered crash"), "{said}");
    assert!(said.contains("\n  | "), "its console: {said}");
    assert!(names(here.path()).is_empty());
}

#[test]
fn a_machine_that_does_not_start_in_time_is_given_up() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    let ended = finished(vm(here.path(), &["--boot-timeout", "100ms", "--accel", "tcg"], &["list"]));
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(
        said.contains("trying again (3 of 3)") && said.contains("--boot-timeout gives it more time"),
        "{said}"
    );
}

#[test]
fn counted_instructions_are_a_clock_of_their_own() {
    let Some(_turn) = machine() else { return };
    let here = directory();
    // Ten seconds of idleness take none.
    let script = "date +%Y-%m-%d; a=$(cut -d. -f1 /proc/uptime); sleep 10; b=$(cut -d. -f1 /proc/uptime); echo $((b - a))";
    let ended =
        finished(vm(here.path(), &["--exec", "--deterministic", "--cpus", "1"], &["sh", "-c", script]));
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let out = text(&ended.stdout);
    assert!(out == "2026-01-01\n10\n" || out == "2026-01-01\n11\n", "{out}");
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_started() {
    let here = directory();
    fs::write(here.path().join("file"), "not a kernel").expect("write");
    File::create(here.path().join("huge")).and_then(|file| file.set_len(1 << 40)).expect("sparse");
    let refused = |options: &[&str], command: &[&str], code: i32, words: &str| {
        let mut call = vm(here.path(), options, command);
        let ended = finished(std::mem::replace(&mut call, laxity()));
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{options:?} {command:?}: {said}");
        assert!(said.contains(words), "{words} in {said}");
        assert!(ended.stdout.is_empty());
    };
    if finished(vm(here.path(), &["--kernel", "file"], &["list"])).status.code() == Some(3) {
        eprintln!("SKIPPED: QEMU is not here");
        return;
    }
    refused(&["--kernel", "file"], &["list"], 2, "file is not a kernel");
    refused(&["--kernel", "missing"], &["list"], 2, "cannot read the kernel missing");
    refused(&["--with", "missing"], &["list"], 2, "--with");
    refused(&["--memory", "16M"], &["list"], 2, "does not boot");
    refused(&["--memory", "4000G"], &["list"], 3, "of memory");
    refused(&["--cpus", "0"], &["list"], 2, "--cpus");
    refused(&[], &[], 2, "COMMAND");
    if let Some(_turn) = machine() {
        refused(&["--exec"], &["no-such-program"], 2, "no-such-program");
        refused(&[], &["report", "huge"], 2, "does not fit");
    }
}

#[test]
fn kernels_are_listed_with_what_is_known_of_them() {
    let Some(_turn) = machine() else { return };
    let listed = finished({
        let mut command = laxity();
        command.args(["vm", "--kernels", "--offline", "--json"]);
        command
    });
    assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(answer["version"], 1);
    let kernels = answer["kernels"].as_array().expect("a list");
    let good = kernels.iter().find(|kernel| kernel["passes"] == true).expect("the one that the tests boot");
    assert!(good["release"].as_str().is_some_and(|release| release.ends_with("-cloud-amd64")), "{good}");
    assert!(good["path"].as_str().is_some_and(|path| Path::new(path).is_file()));
    let elsewhere = directory();
    let nothing = finished({
        let mut command = vm(elsewhere.path(), &["--offline"], &["list"]);
        command.env("LAXITY_VM_CACHE", elsewhere.path().join("cache"));
        command
    });
    assert_eq!(nothing.status.code(), Some(3));
    assert!(text(&nothing.stderr).contains("--offline"), "{}", text(&nothing.stderr));
}
