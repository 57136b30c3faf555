//! What is deployed is what was planned: each form is started here for real and read back, and the host is as it was afterwards.
//!
//! The tests of cells change cpusets, and hold the machine lock meanwhile.

#[path = "../host/mod.rs"]
mod host;
#[path = "../../../laxity-deploy/tests/plans/mod.rs"]
mod plans;
mod programs;
mod script;
mod systemd;

use host::{is_root, laxity, output, words};
use laxity_deploy::{CellPlan, CgroupVersion, Confinement, DeployPlan, Scheduling, files};
use laxity_model::CpuList;
use laxity_run::{Hierarchy, MachineLock};
use plans::{reservation, thread};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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
