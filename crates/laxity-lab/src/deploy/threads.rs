//! The threads of a running system that are those of a plan, and what the kernel says of them.
//!
//! A thread is looked for in this order, and the first way that finds any decides:
//! 1. by what the caller says (`--pid`);
//! 2. by the script's own notes (`/run/laxity-deploy/NAME/processes`);
//! 3. by its systemd unit: the process whose parent is outside of the unit;
//! 4. by the name that the kernel has: the plan's, else the first 15 bytes of the task's where no other task's are the same.

use laxity_deploy::{DeployPlan, Observed, ThreadPlan};
use laxity_model::CpuList;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How many bytes of a thread's name the kernel keeps.
const COMM_BYTES: usize = 15;

/// How a thread was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// `--pid`.
    Pid,
    /// The script's notes.
    Script,
    /// Its systemd unit.
    Unit,
    /// Its name.
    Name,
}

/// A thread that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundThread {
    /// Its process.
    pub pid: i32,
    /// Its own number.
    pub tid: i32,
    /// How it was found.
    pub by: By,
}

/// A thread as `/proc` has it.
struct Entry {
    pid: i32,
    tid: i32,
    comm: Vec<u8>,
}

/// A process as `/proc` has it.
struct Process {
    pid: i32,
    parent: i32,
    /// Lines of `/proc/PID/cgroup`, the paths alone.
    cgroups: Vec<String>,
}

/// All threads of the machine, or of one process.
pub struct Threads {
    entries: Vec<Entry>,
    processes: Vec<Process>,
}

impl Threads {
    /// Those that run now; `of` names the process whose threads are asked for.
    pub fn now(of: Option<i32>) -> Self {
        let pids: Vec<i32> = match of {
            Some(pid) => vec![pid],
            None => numbers(Path::new("/proc")),
        };
        let mut threads = Threads { entries: Vec::new(), processes: Vec::new() };
        for pid in pids {
            for tid in numbers(Path::new(&format!("/proc/{pid}/task"))) {
                let comm = fs::read(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
                let comm = comm.strip_suffix(b"\n").unwrap_or(&comm).to_vec();
                threads.entries.push(Entry { pid, tid, comm });
            }
            let Some(parent) = parent_of(pid) else { continue };
            let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
            let path = |line: &str| line.splitn(3, ':').nth(2).map(str::to_owned);
            threads.processes.push(Process { pid, parent, cgroups: text.lines().filter_map(path).collect() });
        }
        threads
    }

    /// The threads that are the plan's, by its own order; `told` says some of them by position.
    pub fn of(&self, plan: &DeployPlan, told: &BTreeMap<usize, i32>) -> Vec<Vec<FoundThread>> {
        let scripts = noted(plan);
        let units = laxity_deploy::service_names(plan);
        let same = same_beginnings(plan);
        let of = |(at, thread): (usize, &ThreadPlan)| {
            if let Some(&tid) = told.get(&at) {
                return self.numbered(tid, By::Pid);
            }
            let script = scripts.get(&at).map(|&pid| self.numbered(pid, By::Script)).unwrap_or_default();
            let found = |found: Vec<FoundThread>| Some(found).filter(|found| !found.is_empty());
            found(script)
                .or_else(|| found(self.in_unit(&units[at])))
                .unwrap_or_else(|| self.named(thread, !same.contains(&at)))
        };
        plan.threads.iter().enumerate().map(of).collect()
    }

    fn numbered(&self, tid: i32, by: By) -> Vec<FoundThread> {
        let is = |entry: &&Entry| entry.tid == tid;
        self.entries.iter().filter(is).map(|entry| FoundThread { pid: entry.pid, tid, by }).collect()
    }

    /// The processes of a unit that were not made by one of the unit's.
    fn in_unit(&self, unit: &str) -> Vec<FoundThread> {
        let is_in =
            |process: &&Process| process.cgroups.iter().any(|path| path.split('/').any(|part| part == unit));
        let inside: Vec<&Process> = self.processes.iter().filter(is_in).collect();
        let pids: BTreeSet<i32> = inside.iter().map(|process| process.pid).collect();
        let first = inside.iter().filter(|process| !pids.contains(&process.parent));
        first.map(|process| FoundThread { pid: process.pid, tid: process.pid, by: By::Unit }).collect()
    }

    fn named(&self, thread: &ThreadPlan, also_by_task: bool) -> Vec<FoundThread> {
        let found = |comm: &[u8]| -> Vec<FoundThread> {
            let is = |entry: &&Entry| entry.comm == comm;
            let found = |entry: &Entry| FoundThread { pid: entry.pid, tid: entry.tid, by: By::Name };
            self.entries.iter().filter(is).map(found).collect()
        };
        let by_plan = found(thread.comm.as_bytes());
        match by_plan.is_empty() && also_by_task {
            true => found(beginning(&thread.task)),
            false => by_plan,
        }
    }
}

/// The bytes of a name that the kernel keeps.
fn beginning(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(COMM_BYTES)]
}

/// The threads of a plan whose names begin as another one's does.
fn same_beginnings(plan: &DeployPlan) -> BTreeSet<usize> {
    let mut by_beginning: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (at, thread) in plan.threads.iter().enumerate() {
        by_beginning.entry(beginning(&thread.task)).or_default().push(at);
    }
    by_beginning.into_values().filter(|same| same.len() > 1).flatten().collect()
}

/// The processes that the script has started, by the position of their thread; those that have ended are not among them.
fn noted(plan: &DeployPlan) -> BTreeMap<usize, i32> {
    let name = laxity_deploy::file_name(&plan.task_set);
    let text = fs::read_to_string(format!("/run/laxity-deploy/{name}/processes")).unwrap_or_default();
    let read = |line: &str| {
        let mut fields = line.split_whitespace();
        let number: usize = fields.next()?.parse().ok()?;
        let (pid, started): (i32, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        (started_at(pid)? == started).then_some((number.checked_sub(1)?, pid))
    };
    text.lines().filter_map(read).collect()
}

/// Fields of `/proc/PID/stat` behind the name, which may hold spaces and parentheses.
fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn started_at(pid: i32) -> Option<u64> {
    stat_fields(pid)?.get(19)?.parse().ok()
}

fn parent_of(pid: i32) -> Option<i32> {
    stat_fields(pid)?.get(1)?.parse().ok()
}

fn numbers(directory: &Path) -> Vec<i32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut all: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    all.sort_unstable();
    all
}

/// What the kernel says of a thread; nothing if it has ended meanwhile.
///
/// # Errors
///
/// The kernel does not say it.
pub fn observed(tid: i32) -> std::io::Result<Option<Observed>> {
    let (attributes, cpus) = match (laxity_run::attributes(tid), laxity_run::affinity(tid)) {
        (Ok(attributes), Ok(cpus)) => (attributes, cpus),
        (Err(error), _) | (_, Err(error)) if error.raw_os_error() == Some(libc::ESRCH) => return Ok(None),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    Ok(Some(Observed {
        policy: attributes.policy,
        flags: attributes.flags,
        nice: attributes.nice,
        priority: attributes.priority,
        runtime_ns: attributes.runtime_ns,
        deadline_ns: attributes.deadline_ns,
        period_ns: attributes.period_ns,
        cpus,
        cpuset: cpuset(tid),
    }))
}

/// The CPUs and memory nodes of a thread's cpuset.
fn cpuset(tid: i32) -> Option<(CpuList, CpuList)> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let own = fs::read_to_string(format!("/proc/{tid}/cgroup")).ok()?;
    let (mount, path, [cpus, nodes]) = match cpuset_v1(&mounts) {
        Some(mount) => {
            let path = own.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                fields.next()?.split(',').any(|name| name == "cpuset").then(|| fields.next()).flatten()
            })?;
            (mount, path, ["cpuset.effective_cpus", "cpuset.effective_mems"])
        }
        None => {
            let mount = cgroup2(&mounts)?;
            let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
            (mount, path, ["cpuset.cpus.effective", "cpuset.mems.effective"])
        }
    };
    let mut directory = mount.join(path.trim_start_matches('/'));
    // Below a cgroup that hands on no cpusets, those of the nearest one above hold.
    while !directory.join(cpus).is_file() {
        if directory == mount || !directory.pop() {
            return None;
        }
    }
    let read = |file: &str| fs::read_to_string(directory.join(file)).ok()?.trim().parse().ok();
    Some((read(cpus)?, read(nodes)?))
}

fn cpuset_v1(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let of_cpusets =
            fields.get(2) == Some(&"cgroup") && fields.get(3)?.split(',').any(|one| one == "cpuset");
        of_cpusets.then(|| PathBuf::from(fields[1]))
    })
}

fn cgroup2(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let mount = PathBuf::from(fields.get(1).filter(|_| fields.get(2) == Some(&"cgroup2"))?);
        let controllers = fs::read_to_string(mount.join("cgroup.controllers")).ok()?;
        controllers.split_whitespace().any(|name| name == "cpuset").then_some(mount)
    })
}
