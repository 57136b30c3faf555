//! What the machine, the kernel, the user or the disk cannot do ends with exit code 3 and a reason, after
//! everything else was done; what was measured is kept and the host is as it was.

mod disk;
#[path = "../host/mod.rs"]
mod host;
#[path = "../patience/mod.rs"]
mod patience;
mod readers;

use host::{
    HostState, Running, SMALL_SET, can_run, copy_program, is_root, kill, laxity, output, real_time_threads,
    small_set, words,
};
use patience::{at_rest, real_run};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const NOBODY: &str = "65534";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(path: &Path) -> Value {
    let content = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&content).expect("JSON")
}

/// A directory for everybody, with a copy of the program that everybody may run and the small set.
struct Commons {
    directory: tempfile::TempDir,
}

impl Commons {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let mode =
            |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("mode");
        mode(directory.path(), 0o777);
        let program = directory.path().join("laxity");
        copy_program(&program);
        mode(&program, 0o755);
        let set = directory.path().join("small.toml");
        fs::write(&set, SMALL_SET).expect("write");
        mode(&set, 0o644);
        // Run-time state of a user without a session goes there.
        let home = directory.path().join("home");
        fs::create_dir(&home).expect("made");
        if is_root() {
            std::os::unix::fs::chown(&home, NOBODY.parse().ok(), None).expect("done by root");
        }
        Commons { directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs laxity as a user without privileges.
    fn unprivileged(&self, call: &[&str]) -> Output {
        let program = self.path("laxity");
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        output(
            command
                .args(call)
                .current_dir(self.directory.path())
                .env_remove("XDG_RUNTIME_DIR")
                .env("HOME", self.path("home")),
        )
    }
}

/// True if a user without privileges cannot make real-time threads here; else says why the test is skipped.
fn privileges_matter(commons: &Commons) -> bool {
    let listed = commons.unprivileged(&["list", "--json"]);
    let answer: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let all_refused =
        answer["schedulers"].as_array().expect("a list").iter().all(|s| s["runs_here"] == false);
    if !all_refused {
        eprintln!("SKIPPED: this user may make real-time threads without being root");
    }
    all_refused
}

/// Checks that all was done that needs no real run: placements, reasons, the report.
fn everything_but_the_runs(ended: &Output, out: &Path, reason: &str) {
    let said = words(ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("error: nothing could be run on this machine"), "{said}");
    assert!(said.contains(reason) && said.contains("hint: "), "{said}");
    let manifest = json(&out.join("manifest.json"));
    let runs = manifest["runs"].as_array().expect("runs");
    // Six schedulers, three times, measured and simulated, and the tasks alone.
    let (simulated, runs): (Vec<&Value>, Vec<&Value>) =
        runs.iter().partition(|run| run["host"] == "simulator");
    assert_eq!((runs.len(), simulated.len()), (19, 18));
    assert!(simulated.iter().all(|run| run["status"]["state"] == "completed"), "{simulated:#?}");
    for run in &runs {
        assert_eq!(run["status"]["state"], "not-run");
        assert!(run["status"]["reason"].as_str().is_some_and(|why| why.contains(reason)), "{run:#}");
        let placed = &run["placement"];
        assert_eq!(placed.is_null(), run["scheduler"] == "alone", "{run:#}");
    }
    let partitioned = runs.iter().find(|run| run["scheduler"] == "p-edf").expect("p-edf");
    assert!(partitioned["placement"]["bins"].as_array().is_some_and(|bins| !bins.is_empty()));
    let page = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(page.contains("</html>") && page.contains("p-edf"));
    assert!(text(&ended.stdout).contains("not run"), "the table says so");
    let summary = json(&out.join("summary.json"));
    let summaries = summary["schedulers"].as_array().expect("a list");
    let summaries: Vec<&Value> = summaries.iter().filter(|summary| summary["host"] == "linux").collect();
    assert_eq!(summaries.iter().filter(|summary| summary["scheduler"] != "alone").count(), 6);
    assert_eq!(summary["recommendation"]["scheduler"], Value::Null, "nothing was measured");
    assert!(summaries.iter().all(|summary| summary["runs"] == 0 && summary["normalized_laxity"].is_null()));
}

#[test]
fn without_root_everything_but_the_runs_is_done() {
    let _machine = host::machine();
    let commons = Commons::new();
    if !privileges_matter(&commons) {
        return;
    }
    let ended = commons.unprivileged(&["compare", "small.toml", "--out", "out"]);
    everything_but_the_runs(&ended, &commons.path("out"), "CAP_SYS_NICE");
    let listed =
        ["schedulers", "machine"].map(|part| text(&commons.unprivileged(&["list", part]).stdout)).concat();
    assert!(listed.contains("not here: not permitted: SCHED_DEADLINE needs CAP_SYS_NICE"), "{listed}");
    assert!(listed.contains("no: not permitted: real-time priorities need CAP_SYS_NICE"), "{listed}");
    let placed = commons.unprivileged(&["place", "small.toml"]);
    assert!(placed.status.success(), "{}", words(&placed));
    let again = commons.unprivileged(&["report", "out"]);
    assert!(again.status.success(), "{}", words(&again));
}

/// Of a study nothing can be placed on record without runs: it ends before it writes.
#[test]
fn without_root_no_study_is_run() {
    let _machine = host::machine();
    let commons = Commons::new();
    if !privileges_matter(&commons) {
        return;
    }
    let study = "version = 1\nkind = \"simulation\"\ntitle = \"one\"\nsets = 1\nduration = \"1s\"\n\
                 platform = { processors = 1 }\naxis = { of = \"tasks\", from = 1, to = 1, step = 1 }\n\
                 generator = { name = \"unc\" }\ncurves = [{ scheduler = \"p-edf\" }]\n";
    fs::write(commons.path("one.toml"), study).expect("write");
    let ended = commons.unprivileged(&["study", "one.toml", "--real", "--out", "out"]);
    let said = words(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("nothing of the study can be run on this machine"), "{said}");
    assert!(said.contains("CAP_SYS_NICE") && said.contains("needs root"), "{said}");
    assert!(!commons.path("out").exists() && ended.stdout.is_empty(), "{said}");
    let simulated = commons.unprivileged(&["study", "one.toml", "--out", "out"]);
    assert!(simulated.status.success(), "{}", words(&simulated));
}

/// Makes `sched_setattr` fail with ENOSYS in the process and its children, as on a kernel that lacks it.
fn without_sched_setattr(command: &mut Command) -> &mut Command {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).expect("an instruction"),
        jt,
        jf,
        k,
    };
    let call = u32::try_from(libc::SYS_sched_setattr).expect("a call number");
    let enosys = u32::try_from(libc::ENOSYS).expect("an error number");
    let mut program = [
        // The call's number is the first word of seccomp_data.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | enosys),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let filter = libc::sock_fprog {
            len: u16::try_from(program.len()).expect("a short program"),
            filter: program.as_mut_ptr(),
        };
        // SAFETY: plain numbers; the filter and its program live across the call, which copies them.
        let failed = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) != 0
        };
        if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: between fork and exec only two system calls are made.
    unsafe { command.pre_exec(install) }
}

#[test]
fn a_kernel_without_sched_setattr_is_named_as_the_reason() {
    let _machine = host::machine();
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let ended = output(without_sched_setattr(laxity().args(["compare", "--out"]).arg(&out).arg(&set)));
    everything_but_the_runs(&ended, &out, "this kernel has no sched_setattr system call");
    let listed = output(without_sched_setattr(laxity().args(["list", "machine"])));
    assert!(listed.status.success());
    let listed = text(&listed.stdout);
    let told = listed.lines().any(|line| {
        line.trim_start()
            .strip_prefix("SCHED_DEADLINE")
            .is_some_and(|rest| rest.trim_start().starts_with("no: this kernel has no sched_setattr"))
    });
    assert!(told, "{listed}");
}

/// laxity confined to the first CPU it may use.
fn on_one_core(call: &[&str]) -> Command {
    let listed = output(laxity().args(["list", "--json"]));
    let answer: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let cpus = answer["machine"]["cpus"].as_str().expect("a list");
    let first = cpus.split([',', '-']).next().expect("a CPU").to_owned();
    let mut command = Command::new("taskset");
    command.args(["-c", &first]).arg(env!("CARGO_BIN_EXE_laxity")).args(call);
    command
}

#[test]
fn one_core_is_a_platform() {
    let _machine = host::machine();
    let listed = output(&mut on_one_core(&["list", "--json"]));
    let answer: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let cpus = answer["machine"]["cpus"].as_str().expect("a list");
    assert!(cpus.parse::<u32>().is_ok(), "one CPU, not {cpus}");
    let (directory, set) = small_set();
    let set = set.to_str().expect("UTF-8");
    let placed = output(&mut on_one_core(&["place", set, "--json"]));
    let answer: Value = serde_json::from_slice(&placed.stdout).expect("JSON");
    assert_eq!(answer["bins"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["bins"][0]["tasks"].as_array().map(Vec::len), Some(4));
    let heavy = directory.path().join("heavy.toml");
    let more = SMALL_SET.to_owned() + "[[tasks]]\nname = \"hog\"\nwcet = \"9ms\"\nperiod = \"20ms\"\n";
    fs::write(&heavy, more).expect("write");
    let refused = output(&mut on_one_core(&["compare", heavy.to_str().expect("UTF-8")]));
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    assert!(words(&refused).contains("utilization 1.0500 exceeds the 1 CPUs"), "{}", words(&refused));
}

#[test]
fn all_schedulers_run_on_one_core() {
    let _machine = host::machine();
    let (directory, set) = small_set();
    let out = directory.path().join("out");
    let call = ["compare", "--duration", "100ms", "--alone", "0s", "--out", out.to_str().expect("UTF-8")];
    let call = [&call[..], &[set.to_str().expect("UTF-8")]].concat();
    let before = at_rest(HostState::now);
    let Some(ended) = real_run(|| on_one_core(&call)) else { return };
    assert!(ended.status.success(), "{}", words(&ended));
    let manifest = json(&out.join("manifest.json"));
    for run in manifest["runs"].as_array().expect("runs") {
        assert_eq!(run["status"]["state"], "completed", "{run:#}");
    }
    assert_eq!(at_rest(HostState::now), before);
}

#[test]
fn no_permission_to_write_is_an_error_that_names_the_place() {
    let commons = Commons::new();
    let locked = commons.path("locked");
    fs::create_dir(&locked).expect("directory");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("mode");
    if !privileges_matter(&commons) {
        return;
    }
    let refused = commons.unprivileged(&["compare", "small.toml", "--out", "locked/out"]);
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    for name in ["locked/out", "no permission to write there", "--out DIR"] {
        assert!(words(&refused).contains(name), "{}", words(&refused));
    }
    let refused =
        commons.unprivileged(&["generate", "emberson", "-n", "4", "-u", "1", "-o", "locked/set.toml"]);
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    for name in ["locked/set.toml", "no permission to write there", "hint: "] {
        assert!(words(&refused).contains(name), "{}", words(&refused));
    }
    let unreadable = commons.path("secret.toml");
    fs::write(&unreadable, SMALL_SET).expect("write");
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000)).expect("mode");
    let refused = commons.unprivileged(&["place", "secret.toml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    assert!(words(&refused).contains("secret.toml: no permission to read it"), "{}", words(&refused));
}

/// Starts a run of a minute, once no other holds the machine.
fn start_long_run(set: &Path, out: &Path) -> Running {
    loop {
        let mut command = laxity();
        command
            .args(["run", "--scheduler", "p-rm", "--duration", "60s", "--force", "--out"])
            .arg(out)
            .arg(set);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut running = Running(command.spawn().expect("laxity starts"));
        while real_time_threads().len() <= 4 {
            if running.0.try_wait().expect("a child").is_some() {
                let mut said = String::new();
                running.0.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
                assert!(said.contains("holds this machine"), "{said}");
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        if running.0.try_wait().expect("a child").is_none() {
            return running;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

#[test]
fn a_second_run_is_told_who_holds_the_machine() {
    let _machine = host::machine();
    if !can_run(&["p-rm"]) {
        return;
    }
    let (directory, set) = small_set();
    let first = start_long_run(&set, &directory.path().join("first"));
    let holder = first.0.id();
    let out = directory.path().join("second");
    let second = output(laxity().args(["run", "--scheduler", "g-rm", "--out"]).arg(&out).arg(&set));
    kill(i32::try_from(holder).expect("a process id"), libc::SIGINT);
    first.end();
    assert_eq!(second.status.code(), Some(3), "{}", words(&second));
    let told = format!("another laxity run (process {holder}) holds this machine");
    assert!(words(&second).contains(&told) && words(&second).contains("hint: wait"), "{}", words(&second));
    assert!(!out.exists(), "the second run wrote something");
}
