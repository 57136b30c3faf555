//! What the tests of real runs share: the state of the host, and laxity processes seen from outside.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One real run at a time: they would refuse each other's machine lock.
static MACHINE: Mutex<()> = Mutex::new(());

/// Waits for the machine.
pub fn machine() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program under test, in a terminal that shows UTF-8, of no width that anything says.
pub fn laxity() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_laxity"));
    command.env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
    command
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    // SAFETY: takes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// A copy of the program, made by another process. This one would have the file open for writing, and so would a child that
/// another test starts at that moment; the kernel executes no such file.
pub fn copy_program(to: &Path) {
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_laxity")).arg(to).status();
    assert!(copied.expect("coreutils").success());
}

/// Runs to the end.
pub fn output(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Standard error as text.
pub fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// True if real-time runs work here; else says why the test is skipped.
pub fn can_run(schedulers: &[&str]) -> bool {
    let listed = output(laxity().args(["list", "--json"]));
    let answer: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let known = answer["schedulers"].as_array().expect("a list");
    for name in schedulers {
        let entry = known.iter().find(|entry| entry["name"] == *name).expect("a known scheduler");
        if entry["runs_here"] != true {
            eprintln!("SKIPPED: {name} does not run here: {}", entry["why_not"]);
            return false;
        }
    }
    true
}

/// Whether the kernel takes policies of laxity's own now.
pub fn takes_policies() -> bool {
    let listed = output(laxity().args(["list", "--json"]));
    let answer: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    answer["can"]["sched_ext"] == "yes"
}

/// Everything laxity may change on a host.
#[derive(Debug, PartialEq, Eq)]
pub struct HostState {
    cgroups: Vec<PathBuf>,
    load_balance: Option<String>,
    subtree_control: Vec<Option<String>>,
    rt_sysctls: Vec<String>,
    affinity_of_init: String,
    affinity_of_ours: String,
    real_time_threads: Vec<String>,
    /// Of each CPU that has one.
    pub governors: Vec<(PathBuf, String)>,
    /// Where each interrupt may come, those that are set up later among them.
    pub interrupts: Vec<(PathBuf, String)>,
    /// What `/dev/cpu_dma_latency` says: the least that is asked for now.
    pub latency: Option<Vec<u8>>,
}

impl HostState {
    /// Looks.
    pub fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let allowed = |path: &str| {
            read(path)
                .lines()
                .find(|line| line.starts_with("Cpus_allowed_list"))
                .unwrap_or_default()
                .to_owned()
        };
        let roots = ["/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
        let mut cgroups: Vec<PathBuf> =
            roots.iter().flat_map(|root| entries(Path::new(root), "laxity-")).collect();
        cgroups.sort();
        HostState {
            cgroups,
            load_balance: fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance").ok(),
            subtree_control: roots
                .iter()
                .map(|root| fs::read_to_string(format!("{root}/cgroup.subtree_control")).ok())
                .collect(),
            rt_sysctls: ["sched_rt_runtime_us", "sched_rt_period_us"]
                .map(|name| read(&format!("/proc/sys/kernel/{name}")))
                .to_vec(),
            affinity_of_init: allowed("/proc/1/status"),
            affinity_of_ours: allowed("/proc/self/status"),
            real_time_threads: real_time_threads(),
            governors: each("/sys/devices/system/cpu", "cpu", "cpufreq/scaling_governor"),
            interrupts: interrupts(),
            latency: fs::read("/dev/cpu_dma_latency").ok(),
        }
    }
}

fn interrupts() -> Vec<(PathBuf, String)> {
    let default = PathBuf::from("/proc/irq/default_smp_affinity");
    let later = fs::read_to_string(&default).ok().map(|mask| (default, mask.trim().to_owned()));
    each("/proc/irq", "", "smp_affinity_list").into_iter().chain(later).collect()
}

/// What a file says in each subdirectory with such a name, where it is there.
fn each(directory: &str, prefix: &str, file: &str) -> Vec<(PathBuf, String)> {
    let mut paths = entries(Path::new(directory), prefix);
    paths.sort();
    let with_text = |path: PathBuf| {
        let path = path.join(file);
        let text = fs::read_to_string(&path).ok()?.trim().to_owned();
        Some((path, text))
    };
    paths.into_iter().filter_map(with_text).collect()
}

fn entries(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(directory) else { return Vec::new() };
    let named =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    found.flatten().map(|entry| entry.path()).filter(named).collect()
}

/// Threads of laxity with a real-time policy: "pid/tid name policy". Not those of `laxity list`, which other tests
/// call at any time and which tries the policies for a moment.
pub fn real_time_threads() -> Vec<String> {
    laxity_processes(|line| !line.contains(" list"))
        .into_iter()
        .flat_map(|pid| entries(Path::new(&format!("/proc/{pid}/task")), ""))
        .filter_map(|thread| {
            let tid: i32 = thread.file_name()?.to_str()?.parse().ok()?;
            // SAFETY: takes a number; a thread that is gone yields -1.
            let policy = unsafe { libc::sched_getscheduler(tid) } & !libc::SCHED_RESET_ON_FORK;
            (policy > 0).then(|| format!("{} policy {policy}", thread.display()))
        })
        .collect()
}

/// Process ids of laxity's processes whose command line fits.
pub fn laxity_processes(fits: impl Fn(&str) -> bool) -> Vec<i32> {
    let is_ours = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let program = line.split(' ').next().unwrap_or_default();
            let ours = program == env!("CARGO_BIN_EXE_laxity") || line.starts_with("/proc/self/exe __");
            ours && fits(&line)
        })
    };
    let numbers = fs::read_dir("/proc").expect("/proc").flatten();
    numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

/// The run's guardian processes.
pub fn guardians() -> Vec<i32> {
    laxity_processes(|line| line.contains(" __guardian "))
}

/// The run's worker processes.
pub fn workers() -> Vec<i32> {
    laxity_processes(|line| line.contains(" __worker "))
}

/// Sends a signal.
pub fn kill(pid: i32, signal: i32) {
    // SAFETY: takes two numbers.
    unsafe { libc::kill(pid, signal) };
}

/// Waits until a condition holds; panics after a minute, which is no measure of speed.
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < give_up, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A running laxity that is killed if its test panics.
pub struct Running(pub Child);

impl Running {
    /// Starts it and waits until its tasks run.
    pub fn start(command: &mut Command, tasks: usize) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let running = Running(child.expect("laxity starts"));
        wait_until("the tasks are real-time", || real_time_threads().len() > tasks);
        // Past the synchronous release, which follows the last admission.
        std::thread::sleep(Duration::from_millis(500));
        running
    }

    /// Waits for its end.
    pub fn end(mut self) -> Output {
        let mut output =
            Output { status: self.0.wait().expect("a child"), stdout: Vec::new(), stderr: Vec::new() };
        use std::io::Read;
        if let Some(mut pipe) = self.0.stdout.take() {
            let _ = pipe.read_to_end(&mut output.stdout);
        }
        if let Some(mut pipe) = self.0.stderr.take() {
            let _ = pipe.read_to_end(&mut output.stderr);
        }
        output
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A small set: four tasks, U = 0.6.
pub const SMALL_SET: &str = r#"
version = 1
name = "small"
[[tasks]]
name = "fast"
wcet = "1ms"
period = "10ms"
[[tasks]]
name = "middle"
wcet = "4ms"
period = "20ms"
working_set = { size = "16KiB" }
[[tasks]]
name = "slow"
wcet = "8ms"
period = "40ms"
[[tasks]]
name = "random"
wcet = "10ms"
period = "100ms"
working_set = { size = "64KiB", access = "random" }
"#;

/// A directory with the small set in it.
pub fn small_set() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("small.toml");
    fs::write(&path, SMALL_SET).expect("write");
    (directory, path)
}
