//! What is deployed is what was planned: each form is started here for real and read back, and the host is as it was afterwards.
//!
//! The tests of cells change cpusets, and hold the machine lock meanwhile.

mod host;
#[path = "../../laxity-deploy/tests/plans/mod.rs"]
mod plans;

use host::{HostState, is_root, kill, laxity, machine, output, wait_until, words};
use laxity_deploy::{CellPlan, CgroupVersion, Confinement, DeployPlan, Scheduling, files};
use laxity_model::CpuList;
use laxity_run::{Hierarchy, MachineLock};
use plans::{reservation, thread};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Real-time scheduling and the script need root.
fn can_deploy() -> bool {
    if !is_root() {
        eprintln!("SKIPPED: real-time scheduling needs root");
        return false;
    }
    match ["chrt", "taskset", "flock", "setsid"]
        .iter()
        .find(|tool| Command::new(tool).arg("--version").output().is_err())
    {
        Some(tool) => {
            eprintln!("SKIPPED: there is no {tool}");
            false
        }
        None => true,
    }
}

/// The machine lock, or nothing if a laxity of another person keeps it.
fn lock() -> Option<MachineLock> {
    let give_up = Instant::now() + Duration::from_secs(120);
    loop {
        match MachineLock::acquire() {
            Ok(lock) => return Some(lock),
            Err(_) if Instant::now() < give_up => std::thread::sleep(Duration::from_millis(100)),
            Err(error) => {
                eprintln!("SKIPPED: {error}");
                return None;
            }
        }
    }
}

fn machine_cpus() -> CpuList {
    laxity_run::online_cpus().expect("CPUs")
}

/// A plan, its files, and a program for its tasks, whose path has what shells treat in their own ways.
struct Place {
    directory: tempfile::TempDir,
    plan: DeployPlan,
}

impl Place {
    fn of(plan: DeployPlan) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        plans::write(&files(&plan), directory.path());
        let place = Place { directory, plan };
        let folder = place.path("it's a $HOME \"place\"");
        fs::create_dir(&folder).expect("made");
        fs::write(place.program(), "#!/bin/sh\nexec sleep 600\n").expect("written");
        assert!(Command::new("chmod").arg("+x").arg(place.program()).status().expect("chmod").success());
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn program(&self) -> PathBuf {
        self.path("it's a $HOME \"place\"").join("the program")
    }

    /// The script, with a program for each task; its programs must not keep the pipes of the test open.
    fn script(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.arg(self.path("start.sh")).args(words).stdin(Stdio::null());
        for (number, thread) in (1..).zip(&self.plan.threads) {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
            let variable: String = thread.task.chars().map(plain).collect();
            command.env(format!("TASK_{number}_{variable}"), self.program());
        }
        command
    }

    fn call(&self, words: &[&str]) -> Output {
        self.ended(self.script(words))
    }

    fn ended(&self, mut command: Command) -> Output {
        let (out, err) = (self.path("stdout"), self.path("stderr"));
        let file = |path: &Path| fs::File::create(path).expect("a file");
        let status = command.stdout(file(&out)).stderr(file(&err)).status().expect("a shell");
        let read = |path: &Path| fs::read(path).expect("readable");
        Output { status, stdout: read(&out), stderr: read(&err) }
    }

    fn deployed(&self, more: &[&str]) -> Output {
        output(laxity().arg("deployed").arg(self.path("plan.json")).args(more))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Of a test that failed in between.
        for verb in ["stop", "release"] {
            let _ = self.call(&[verb]);
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &words(output)
}

fn answer(output: &Output) -> Value {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(output)));
    let schema =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/deployed.schema.json"));
    let schema: Value = serde_json::from_str(&schema.expect("published")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema").validate(&answer).expect("as published");
    answer
}

/// A partition per CPU, in this machine's own cpusets.
fn partitioned(name: &str, scheduling: impl Fn(u32) -> Scheduling) -> Option<DeployPlan> {
    let (version, base) = match Hierarchy::find() {
        Ok(Hierarchy::V1(base)) => (CgroupVersion::V1, base),
        Ok(Hierarchy::V2(base)) => (CgroupVersion::V2, base),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
    };
    let base = base.to_string_lossy().trim_end_matches('/').to_owned();
    let machine = machine_cpus();
    let lowest = machine.lowest().expect("a CPU");
    let cell = |(at, cpu): (usize, u32)| CellPlan {
        cpus: [cpu].into_iter().collect(),
        memory_nodes: CpuList::default(),
        cgroup: Some(match version {
            CgroupVersion::V2 if cpu == lowest => base.clone(),
            _ => format!("{base}/laxity-deploy-{name}-{at}"),
        }),
    };
    let cells: Vec<CellPlan> = machine.iter().enumerate().map(cell).collect();
    let threads = machine.iter().enumerate().flat_map(|(at, cpu)| {
        [0, 1].map(|which| thread(&format!("task {which} on {cpu}"), scheduling(which), &cpu.to_string(), at))
    });
    let mut plan = plans::plan(Confinement::Cpusets { version, base: base.clone() }, &[], threads.collect());
    Some(DeployPlan {
        task_set: name.to_owned(),
        cells,
        machine_cpus: machine,
        ..std::mem::replace(&mut plan, plans::fifo())
    })
}

fn budgets(which: u32) -> Scheduling {
    Scheduling::Deadline(reservation(1_000, 10_000 + u64::from(which), 100_000))
}

#[test]
fn the_script_starts_reads_back_and_puts_back() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let fifo = |which: u32| Scheduling::Fifo { priority: 10 + which };
    for (name, scheduling) in
        [("deploy-test-fifo", &fifo as &dyn Fn(u32) -> Scheduling), ("deploy-test-edf", &budgets)]
    {
        let Some(plan) = partitioned(name, scheduling) else { return };
        let place = Place::of(plan);
        let before = HostState::now();
        let started = place.call(&["start"]);
        assert!(started.status.success(), "{}", text(&started));
        let during = HostState::now();
        assert!(during != before, "cells are there");
        let read = place.deployed(&["--json"]);
        assert!(read.status.success(), "{}", text(&read));
        let answer = answer(&read);
        let threads = answer["threads"].as_array().expect("a list");
        assert_eq!(threads.len(), place.plan.threads.len());
        assert!(threads.iter().all(|thread| thread["found"][0]["by"] == "script"), "{answer}");
        // A second start says so and changes nothing.
        let again = place.call(&["start"]);
        assert_eq!(again.status.code(), Some(1), "{}", text(&again));
        assert!(text(&again).contains("already running"), "{}", text(&again));
        assert!(HostState::now() == during && place.deployed(&[]).status.success());
        let status = place.call(&["status"]);
        assert!(status.status.success(), "{}", text(&status));
        assert_eq!(
            text(&status).matches(place.plan.threads[0].scheduling.policy()).count(),
            threads.len(),
            "{}",
            text(&status)
        );
        // What is changed is seen.
        let pid = threads[0]["found"][0]["pid"].to_string();
        assert!(Command::new("chrt").args(["--other", "--pid", "0", &pid]).status().expect("chrt").success());
        let changed = place.deployed(&["--json"]);
        assert_eq!(changed.status.code(), Some(1), "{}", text(&changed));
        assert!(text(&changed).contains("\"SCHED_OTHER\""), "{}", text(&changed));
        let stopped = place.call(&["stop"]);
        assert!(stopped.status.success(), "{}", text(&stopped));
        assert_eq!(HostState::now(), before);
        assert_eq!(place.call(&["stop"]).status.code(), Some(1), "nothing is left to stop");
        let missing = place.deployed(&[]);
        assert_eq!(missing.status.code(), Some(1));
        assert!(
            text(&missing).contains("0 of 4 threads") && text(&missing).contains("missing"),
            "{}",
            text(&missing)
        );
    }
}

/// What the kernel refuses ends a start: the thread and the reason are said, and nothing is left.
#[test]
fn a_start_that_fails_says_which_thread_and_puts_back() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    // The second thread of each CPU asks for more than there is.
    let much =
        |which: u32| Scheduling::Deadline(reservation(u64::from(which) * 90_000 + 9_000, 100_000, 100_000));
    let Some(plan) = partitioned("deploy-test-much", much) else { return };
    let place = Place::of(plan);
    let before = HostState::now();
    let started = place.call(&["start"]);
    assert_eq!(started.status.code(), Some(3), "{}", text(&started));
    let said = text(&started);
    assert!(said.contains("task 2 (task 1 on 0)") && said.contains("Device or resource busy"), "{said}");
    assert_eq!(HostState::now(), before);
    assert!(!Path::new("/run/laxity-deploy/deploy-test-much").exists());
    // A program that is not there, and one that ends at once.
    let Some(plan) = partitioned("deploy-test-gone", budgets) else { return };
    let place = Place::of(plan);
    let mut gone = place.script(&["start"]);
    gone.env("TASK_3_TASK_0_ON_1", "/no such/program");
    let gone = place.ended(gone);
    assert_eq!(gone.status.code(), Some(2), "{}", text(&gone));
    assert!(
        text(&gone).contains("task 3 (task 0 on 1): there is no program /no such/program"),
        "{}",
        text(&gone)
    );
    let mut ends = place.script(&["start"]);
    ends.env("TASK_3_TASK_0_ON_1", "/bin/false");
    let ends = place.ended(ends);
    assert_eq!(ends.status.code(), Some(3), "{}", text(&ends));
    assert!(
        text(&ends).contains("task 3 (task 0 on 1): it ended at once, with exit code 1"),
        "{}",
        text(&ends)
    );
    assert_eq!(HostState::now(), before);
}

#[test]
fn a_start_that_is_ended_puts_back_and_one_that_is_killed_is_put_back_by_the_next() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let Some(plan) = partitioned("deploy-test-ended", budgets) else { return };
    let place = Place::of(plan);
    let before = HostState::now();
    let begin = || -> Child {
        let mut command = place.script(&["start"]);
        let file = || fs::File::create(place.path("out")).expect("a file");
        let child = command.stdout(file()).stderr(file()).spawn().expect("a shell");
        wait_until("a cell is there", || HostState::now() != before);
        child
    };
    for (signal, code) in [(libc::SIGTERM, 143), (libc::SIGINT, 130), (libc::SIGHUP, 129)] {
        let mut child = begin();
        kill(i32::try_from(child.id()).expect("a pid"), signal);
        let status = child.wait().expect("a child");
        let said = fs::read_to_string(place.path("out")).expect("readable");
        // It may have been done before the signal came.
        if status.success() {
            assert!(place.call(&["stop"]).status.success());
        } else {
            assert_eq!(status.code(), Some(code), "{said}");
        }
        assert_eq!(HostState::now(), before, "signal {signal}: {said}");
    }
    let mut child = begin();
    kill(i32::try_from(child.id()).expect("a pid"), libc::SIGKILL);
    let _ = child.wait();
    assert!(HostState::now() != before);
    let stopped = place.call(&["stop"]);
    assert!(stopped.status.success(), "{}", text(&stopped));
    assert_eq!(HostState::now(), before);
}

/// Three programs of one process each, whose threads set themselves; each says that it is done by a line.
fn programs(place: &Place) -> Vec<(&'static str, Command)> {
    let names: Vec<String> = place.plan.threads.iter().map(|thread| format!("{:?}", thread.task)).collect();
    let (list, count) = (names.join(", "), names.len());
    let c = format!(
        "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n#include \"laxity_apply.h\"\n\
         static const char *const names[] = {{ {list} }};\n\
         static void *thread(void *name)\n{{\n\tif (laxity_apply(name) != 0)\n\t\tprintf(\"failed: %s\\n\", laxity_apply_error());\n\
         \telse\n\t\tputs(\"done\");\n\tfflush(stdout);\n\tfor (;;)\n\t\tpause();\n\treturn NULL;\n}}\n\
         int main(void)\n{{\n\tpthread_t made;\n\tfor (int at = 0; at < {count}; at++)\n\
         \t\tpthread_create(&made, NULL, thread, (void *)names[at]);\n\tfor (;;)\n\t\tpause();\n}}\n"
    );
    let rust = format!(
        "mod laxity_apply;\nfn main() {{\n    for name in [{list}] {{\n        std::thread::spawn(move || {{\n            match \
         laxity_apply::apply(name) {{\n                Ok(()) => println!(\"done\"),\n                Err(error) => \
         println!(\"failed: {{error}}\"),\n            }}\n            loop {{ std::thread::park(); }}\n        }});\n    }}\n    loop \
         {{ std::thread::park(); }}\n}}\n"
    );
    let python = format!(
        "import sys, threading\nimport laxity_apply\n\ndef thread(name):\n    try:\n        laxity_apply.apply(name)\n        \
         print('done\\n', end='', flush=True)\n    except (OSError, KeyError) as error:\n        print('failed:', error, flush=True)\n    \
         threading.Event().wait()\n\nfor name in [{list}]:\n    threading.Thread(target=thread, args=(name,)).start()\n"
    );
    let mut programs = Vec::new();
    let mut compiled =
        |language: &'static str, source: &str, text: String, compiler: &str, words: &[&str]| {
            let folder = place.path(language);
            fs::write(folder.join(source), text).expect("written");
            match Command::new(compiler).args(words).current_dir(&folder).output() {
                Ok(made) => {
                    assert!(made.status.success(), "{}", text_of(&made));
                    programs.push((language, Command::new(folder.join("program"))));
                }
                Err(error) => eprintln!("SKIPPED: {compiler}: {error}"),
            }
        };
    compiled(
        "c",
        "main.c",
        c,
        "cc",
        &["-Wall", "-Werror", "-pthread", "-o", "program", "main.c", "laxity_apply.c"],
    );
    compiled("rust", "main.rs", rust, "rustc", &["--edition", "2021", "-o", "program", "main.rs"]);
    fs::write(place.path("python/main.py"), python).expect("written");
    let mut command = Command::new("python3");
    command.arg("-B").arg(place.path("python/main.py"));
    match Command::new("python3").arg("--version").output() {
        Ok(_) => programs.push(("python", command)),
        Err(error) => eprintln!("SKIPPED: python3: {error}"),
    }
    programs
}

fn text_of(output: &Output) -> String {
    text(output)
}

/// Started programs end with the test.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts each program, and has its threads read back.
fn threads_are_as_planned(place: &Place) {
    for (language, mut command) in programs(place) {
        let out = place.path("said");
        let file = fs::File::create(&out).expect("a file");
        let child = Ends(command.stdin(Stdio::null()).stdout(file).spawn().expect("a program"));
        let said = || fs::read_to_string(&out).expect("readable");
        wait_until(language, || said().lines().count() == place.plan.threads.len());
        assert_eq!(said(), "done\n".repeat(place.plan.threads.len()), "{language}");
        let pid = child.0.id().to_string();
        let read = place.deployed(&["--json", "--process", &pid]);
        assert!(read.status.success(), "{language}: {}", text(&read));
        let answer = answer(&read);
        for thread in answer["threads"].as_array().expect("a list") {
            assert_eq!(
                (&thread["state"], &thread["found"][0]["by"]),
                (&"as-planned".into(), &"name".into()),
                "{language}: {answer}"
            );
            assert_eq!(thread["found"][0]["pid"].to_string(), pid, "{language}");
        }
        // Without the process's number, its threads are found all the same.
        let all = place.deployed(&[]);
        assert!(all.status.success(), "{language}: {}", text(&all));
        // Twice the same program: which thread is meant is not known.
        let second = Ends(command.stdout(Stdio::null()).spawn().expect("a program"));
        wait_until(language, || text(&place.deployed(&[])).contains(" times: "));
        assert_eq!(place.deployed(&[]).status.code(), Some(1), "{language}");
        drop(second);
    }
}

/// Every policy on the whole machine, in C, Rust and Python.
#[test]
fn threads_of_a_program_set_themselves() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let before = HostState::now();
    let place = Place::of(plans::mixed(&machine_cpus().to_string()));
    threads_are_as_planned(&place);
    drop(place);
    assert_eq!(HostState::now(), before);
}

/// The same in cells, which the script makes and takes back.
#[test]
fn threads_of_a_program_enter_their_cells() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let Some(plan) = partitioned("deploy-test-cells", budgets) else { return };
    let before = HostState::now();
    let place = Place::of(plan);
    let confined = place.call(&["confine", "threads"]);
    assert!(confined.status.success(), "{}", text(&confined));
    threads_are_as_planned(&place);
    // The kernel keeps the bandwidth of what has ended for up to a period.
    let released = place.call(&["release"]);
    assert!(released.status.success(), "{}", text(&released));
    drop(place);
    assert_eq!(HostState::now(), before);
}

/// Python's file as a program: it sets a process, and becomes another program.
#[test]
fn the_python_file_starts_programs() {
    if !can_deploy() {
        return;
    }
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let place = Place::of(plans::mixed(&machine_cpus().to_string()));
    let file = place.path("python/laxity_apply.py");
    let mut children = Vec::new();
    let mut told = Vec::new();
    for (number, thread) in (1..).zip(&place.plan.threads) {
        let mut command = Command::new("python3");
        command.arg("-B").arg(&file).args(["run", &number.to_string(), "sleep", "600"]);
        let child = Ends(command.stdin(Stdio::null()).spawn().expect("python3"));
        told.push(format!("{}={}", thread.task, child.0.id()));
        children.push(child);
    }
    let words: Vec<&str> = told.iter().flat_map(|told| ["--pid", told]).collect();
    wait_until("all are as planned", || place.deployed(&words).status.success());
    for (words, code) in [(["run", "no such", "sleep"], 2), (["run", "1", "/no/such/program"], 3)] {
        let refused = output(Command::new("python3").arg("-B").arg(&file).args(words));
        assert_eq!(refused.status.code(), Some(code), "{}", text(&refused));
    }
}

/// A user's manager of systemd, in namespaces of its own: it starts the target, `laxity deployed` reads it back, and one service that
/// ends takes the others with it. It needs no systemd as the machine's first process.
const UNITS: &str = r#"
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/user/0 "$HOME/.config/systemd/user" || exit 90
sed 's,/path/to/[^ ]*,/bin/sleep 600,' -i "$1"/systemd/*.service
cp "$1"/systemd/* "$HOME/.config/systemd/user"
export XDG_RUNTIME_DIR=/run/user/0
"$2" --user >"$HOME/manager" 2>&1 &
tries=0
until systemctl --user is-system-running >/dev/null 2>&1; do
    [ $tries -lt 100 ] || { echo "no manager: $(cat "$HOME/manager")"; exit 90; }
    tries=$((tries + 1))
    sleep 0.1
done
systemctl --user start laxity-robot.target || {
    systemctl --user --no-pager status 'laxity*' | grep -A8 '^[^a-z ]' ; cat "$HOME/manager"
    exit 91
}
tries=0
until "$3" deployed "$1/plan.json" --json >"$HOME/read"; do
    [ $tries -lt 50 ] || { cat "$HOME/read"; systemctl --user status 'laxity*'; exit 92; }
    tries=$((tries + 1))
    sleep 0.1
done
[ "$(grep -c '"by": "unit"' "$HOME/read")" = "$4" ] || { cat "$HOME/read"; exit 93; }
systemctl --user stop laxity-robot.target
sleep 0.5
"$3" deployed "$1/plan.json" | grep "^0 of $4 threads" || exit 94
systemctl --user start laxity-robot.target || exit 95
systemctl --user kill -s KILL "$5"
tries=0
while systemctl --user is-active laxity-robot.target >/dev/null; do
    [ $tries -lt 50 ] || exit 96
    tries=$((tries + 1))
    sleep 0.1
done
sleep 0.5
"$3" deployed "$1/plan.json" | grep "^0 of $4 threads" || exit 97
"#;

#[test]
fn systemd_starts_the_target() {
    if !can_deploy() {
        return;
    }
    let manager = ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    let Some(manager) = manager else {
        eprintln!("SKIPPED: there is no systemd");
        return;
    };
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let mut plan = plans::mixed(&machine_cpus().to_string());
    if Path::new("/sys/fs/cgroup/cpu/cpu.rt_runtime_us").exists() {
        // CONFIG_RT_GROUP_SCHED: cgroups of the manager's services have no bandwidth for SCHED_FIFO and SCHED_RR.
        eprintln!(
            "SKIPPED: units of SCHED_FIFO and SCHED_RR: this kernel gives cgroups no real-time bandwidth"
        );
        plan.threads.retain(|thread| thread.scheduling.priority().is_none());
    }
    let place = Place::of(plan);
    let services = laxity_deploy::service_names(&place.plan);
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "sh",
        "-c",
        UNITS,
        "sh",
    ]);
    command.arg(place.directory.path()).arg(manager).arg(env!("CARGO_BIN_EXE_laxity"));
    command
        .arg(services.len().to_string())
        .arg(&services[1])
        .env("HOME", place.path("home"))
        .stdin(Stdio::null());
    fs::create_dir(place.path("home")).expect("made");
    let ended = place.ended(command);
    match ended.status.code() {
        Some(0) => {}
        Some(90) => eprintln!("SKIPPED: systemd's manager does not run here: {}", text(&ended)),
        other => panic!("{other:?}: {}", text(&ended)),
    }
}

#[test]
fn what_cannot_be_read_back_is_said() {
    let place = Place::of(plans::fifo());
    for (words, code, said) in [
        (vec!["/no/such/plan.json"], 2, "does not exist"),
        (vec!["PLAN", "--pid", "camera=4194305"], 2, "no such process"),
        (vec!["PLAN", "--pid", "camera"], 2, "not TASK=PID"),
        (vec!["PLAN", "--pid", "camara=1"], 2, "camera"),
        (vec!["PLAN", "--pid", "camera=1", "--pid", "camera=2"], 2, "named twice"),
        (vec!["PLAN", "--process", "4194305"], 2, "no such process"),
        (vec!["PLAN"], 1, "missing"),
    ] {
        let plan = place.path("plan.json");
        let words: Vec<&std::ffi::OsStr> =
            words.iter().map(|word| if *word == "PLAN" { plan.as_os_str() } else { word.as_ref() }).collect();
        let read = output(laxity().arg("deployed").args(&words));
        assert_eq!(read.status.code(), Some(code), "{words:?}: {}", text(&read));
        assert!(text(&read).contains(said), "{words:?}: {}", text(&read));
    }
    let empty = tempfile::tempdir().expect("a directory");
    let read = output(laxity().arg("deployed").arg(empty.path()));
    assert_eq!(read.status.code(), Some(2), "{}", text(&read));
    let mut file = fs::File::create(empty.path().join("other.json")).expect("a file");
    file.write_all(b"{\"version\": 1}").expect("written");
    let read = output(laxity().arg("deployed").arg(empty.path().join("other.json")));
    assert_eq!(read.status.code(), Some(2), "{}", text(&read));
    assert!(text(&read).contains("no plan of what to set"), "{}", text(&read));
}

/// `/proc/irq` in a namespace of its own: one interrupt of a device on a CPU of the plan, none, and a directory that cannot be read.
#[test]
fn interrupts_on_real_time_cpus_are_said() {
    if !is_root() {
        eprintln!("SKIPPED: mount namespaces need root");
        return;
    }
    let place = Place::of(plans::fifo());
    let call = "setpriv --bounding-set -dac_override,-dac_read_search \"$0\" deployed \"$1\" --interrupts";
    for (irq, code, said) in [
        (
            "mkdir -p /proc/irq/9/eth7 && echo 1-2 >/proc/irq/9/smp_affinity_list",
            1,
            "interrupt 9 (eth7) reaches CPUs 1-2",
        ),
        ("mkdir -p /proc/irq/9/eth7 && echo 3 >/proc/irq/9/smp_affinity_list", 1, "No interrupt of a device"),
        ("chmod 0 /proc/irq", 3, "cannot read /proc/irq"),
    ] {
        let script = format!("mount -t tmpfs none /proc/irq && {irq} && {call}");
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", &script]).arg(env!("CARGO_BIN_EXE_laxity"));
        let read = output(unshare.arg(place.path("plan.json")));
        assert_eq!(read.status.code(), Some(code), "{irq}: {}", text(&read));
        assert!(text(&read).contains(said), "{irq}: {}", text(&read));
    }
}
