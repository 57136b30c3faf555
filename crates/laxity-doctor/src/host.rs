//! A machine as its checks see it: files below a root, and what only system calls tell.

use crate::counters::{CpuTime, Interrupts, cpu_time, memory_events, softirqs};
use crate::evidence::{Evidence, Unseen, unseen};
use crate::kernel_config::{KernelConfig, parameter};
use crate::wakeups::Wakeups;
use laxity_kernel::{Capability, Privileges, Support};
use laxity_model::{CpuList, Diagnostic, Platform, Policy, Result, listed};
use laxity_trace::Machine;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::result::Result as Seen;
use std::str::FromStr;
use std::time::Duration;

/// For how long counters are watched where nothing else is asked for.
pub const SAMPLE: Duration = Duration::from_secs(1);
/// Wakeups are measured for this part of that time, after it: the measurement would be among what is counted.
const WAKEUPS_PART: u32 = 4;
/// Evidence is no longer than this, in characters.
const SHOWN_MAX: usize = 200;

/// Policies that the kernel would not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unloadable {
    /// Which: `laxity's own policies`, or some by their names.
    pub which: String,
    /// What the kernel lacks.
    pub reason: String,
    /// What helps.
    pub hint: String,
}

impl Unloadable {
    /// Of the running kernel, if there are any.
    fn here() -> Option<Self> {
        if let Support::No { reason, hint } = laxity_kernel::support() {
            return Some(Unloadable { which: "laxity's own policies".to_owned(), reason, hint });
        }
        // What some need and others do not is the same for all of them.
        let mut found: Option<(Vec<&str>, String, String)> = None;
        for policy in Policy::all() {
            if let Support::No { reason, hint } = laxity_kernel::support_of(Some(policy)) {
                found.get_or_insert((Vec::new(), reason, hint)).0.push(policy.name());
            }
        }
        let (names, reason, hint) = found?;
        Some(Unloadable { which: format!("laxity's {}", listed(names)), reason, hint })
    }
}

/// What no file says.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    /// `clock_getres(CLOCK_MONOTONIC)`, ns.
    pub timer_resolution_ns: Option<u64>,
    /// Whether this process has CAP_SYS_NICE: it may make threads real-time whatever its limits are.
    pub sys_nice: Option<bool>,
    /// Whether this process has CAP_IPC_LOCK: it may lock memory whatever its limits are.
    pub ipc_lock: Option<bool>,
    /// Why the kernel would not take some of laxity's policies, by its build; inner none: it would take all.
    pub policies: Option<Option<Unloadable>>,
    /// How long one reading of CLOCK_MONOTONIC takes, ns.
    pub clock_reading_ns: Option<u64>,
    /// How late threads of SCHED_FIFO woke on the real-time CPUs; none where this was not measured.
    pub wakeups: Vec<Wakeups>,
}

impl Probes {
    /// Of the running machine and this process.
    pub fn here() -> Self {
        let resolution = rustix::time::clock_getres(rustix::time::ClockId::Monotonic);
        let privileges = Privileges::of_this_process().ok();
        let has = |capability| privileges.map(|ours| ours.has(capability));
        Probes {
            timer_resolution_ns: u64::try_from(resolution.tv_nsec).ok().filter(|_| resolution.tv_sec == 0),
            sys_nice: has(Capability::SysNice),
            ipc_lock: has(Capability::IpcLock),
            policies: Some(Unloadable::here()),
            clock_reading_ns: Some(crate::wakeups::clock_reading_ns()),
            wakeups: Vec::new(),
        }
    }
}

/// A file that could be read.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    /// Its path on that machine.
    pub file: String,
    /// All of it.
    pub text: String,
}

impl Read {
    /// Its trimmed content.
    pub fn value(&self) -> &str {
        self.text.trim()
    }

    /// The value as a number, a list or the like.
    pub fn parsed<T: FromStr>(&self) -> Seen<T, Unseen> {
        self.value().parse().map_err(|_| self.not_understood())
    }

    /// That it says something else than expected.
    pub fn not_understood(&self) -> Unseen {
        Unseen(format!("{} says `{}`, which laxity does not understand", self.file, shortened(self.value())))
    }

    /// The file with its value.
    pub fn evidence(&self) -> Evidence {
        Evidence::new(self.file.clone(), shortened(self.value()))
    }

    /// The file with a part of it.
    pub fn says(&self, part: impl Into<String>) -> Evidence {
        Evidence::new(self.file.clone(), shortened(&part.into()))
    }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}

/// What was counted at an instant.
struct Counted {
    interrupts: Seen<Interrupts, Unseen>,
    time: Seen<CpuTime, Unseen>,
    memory: BTreeMap<String, u64>,
    rcu: BTreeMap<u32, u64>,
}

/// A machine.
pub struct Host {
    root: PathBuf,
    online: CpuList,
    cpus: CpuList,
    machine: Machine,
    config: Seen<KernelConfig, Unseen>,
    before: Option<Counted>,
    after: Option<Counted>,
    length: Duration,
    /// What no file says.
    pub(crate) probes: Probes,
}

impl Host {
    /// The machine whose `/proc`, `/sys` and `/boot` are under `root`, before its counters are watched. `cpus` are to be the
    /// real-time CPUs; without them, the isolated ones are, and else all that are online.
    ///
    /// # Errors
    ///
    /// The machine does not say which CPUs it has, or one of `cpus` is not online.
    pub fn look(root: &Path, cpus: Option<CpuList>, probes: Probes) -> Result<Host> {
        let platform = Platform::from_sysfs(&root.join("sys"))?;
        let online = platform.cpus();
        if let Some(cpus) = &cpus
            && (cpus.is_empty() || !cpus.is_subset(&online))
        {
            return Err(Diagnostic::usage(format!(
                "--cpus {cpus}: not all of them are online ({online} are)"
            ))
            .hint("name CPUs that are online, as in `--cpus 2-3`"));
        }
        let machine = Machine::read(root, &platform);
        let mut host = Host {
            root: root.to_owned(),
            cpus: online.clone(),
            online,
            machine,
            config: unseen("not read yet"),
            before: None,
            after: None,
            length: SAMPLE,
            probes,
        };
        host.config = host.release().and_then(|release| {
            KernelConfig::read(release, |file| Some(host.text(file).ok()?.text), |file| host.path(file))
        });
        let isolated = host.isolated().map(|(cpus, _)| cpus).unwrap_or_default();
        let isolated = Some(isolated).filter(|cpus| !cpus.is_empty());
        host.cpus = cpus.or(isolated).unwrap_or_else(|| host.online.clone());
        Ok(host)
    }

    /// Watches the counters for `length`, which is what `pause` is to take.
    pub fn watch(&mut self, length: Duration, pause: impl FnOnce()) {
        self.length = length;
        self.before = Some(self.count());
        pause();
        self.after = Some(self.count());
    }

    /// Measures on the running machine how late threads of SCHED_FIFO wake on the real-time CPUs, for a quarter of the time for
    /// which counters were watched.
    pub fn measure_wakeups(&mut self) {
        self.probes.wakeups = crate::wakeups::measure(&self.cpus, &self.online, self.length / WAKEUPS_PART);
    }

    /// For how long counters were watched.
    pub(crate) fn length(&self) -> Duration {
        self.length
    }

    fn count(&self) -> Counted {
        Counted {
            interrupts: self.text("/proc/interrupts").and_then(|read| Interrupts::parse(&read.text)),
            time: self.text("/proc/stat").and_then(|read| cpu_time(&read.text, &self.cpus)),
            memory: self.text("/proc/vmstat").map(|read| memory_events(&read.text)).unwrap_or_default(),
            rcu: self.text("/proc/softirqs").map(|read| softirqs(&read.text, "RCU")).unwrap_or_default(),
        }
    }

    /// The real-time CPUs.
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// The online CPUs.
    pub fn online(&self) -> &CpuList {
        &self.online
    }

    /// The online CPUs that are left for all else, if any.
    pub(crate) fn rest(&self) -> Option<CpuList> {
        Some(self.online.difference(&self.cpus)).filter(|rest| !rest.is_empty())
    }

    /// Where a file of that machine is.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root.join(file.trim_start_matches('/'))
    }

    /// The root of that machine's files.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A file of that machine, or why it cannot be read.
    pub(crate) fn text(&self, file: &str) -> Seen<Read, Unseen> {
        match fs::read(self.path(file)) {
            Ok(bytes) => {
                Ok(Read { file: file.to_owned(), text: String::from_utf8_lossy(&bytes).into_owned() })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                unseen(format!("there is no {file}{}", self.hidden(file)))
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                unseen(format!("{file} is for root only"))
            }
            Err(error) => unseen(format!("{file} cannot be read: {error}")),
        }
    }

    /// Why a file is absent that the kernel may have all the same: its file system is not mounted.
    fn hidden(&self, file: &str) -> String {
        let places = [
            ("debugfs", "/sys/kernel/debug"),
            ("tracefs", "/sys/kernel/tracing"),
            ("securityfs", "/sys/kernel/security"),
        ];
        let empty = |place: &str| fs::read_dir(self.path(place)).is_ok_and(|mut all| all.next().is_none());
        match places.into_iter().find(|(_, place)| file.starts_with(place) && empty(place)) {
            Some((kind, place)) => format!(" (`sudo mount -t {kind} none {place}` shows it)"),
            None => String::new(),
        }
    }

    /// A file that may be absent without harm.
    pub(crate) fn optional(&self, file: &str) -> Seen<Option<Read>, Unseen> {
        match self.exists(file) {
            true => self.text(file).map(Some),
            false => Ok(None),
        }
    }

    /// Whether there is such a file, as far as this process may see.
    pub(crate) fn exists(&self, file: &str) -> bool {
        self.path(file).symlink_metadata().is_ok()
    }

    /// The names in a directory, sorted; none if it cannot be read.
    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The numbers in a directory, such as processes and interrupts.
    pub(crate) fn numbers(&self, directory: &str) -> Vec<u32> {
        let mut numbers: Vec<u32> =
            self.names(directory).iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// A file of each real-time CPU; `file` has `{cpu}` where its number stands.
    pub(crate) fn of_each(&self, file: &str) -> Seen<Vec<(u32, Read)>, Unseen> {
        self.cpus.iter().map(|cpu| Ok((cpu, self.text(&file.replace("{cpu}", &cpu.to_string()))?))).collect()
    }

    /// What results keep of a machine.
    pub(crate) fn fact(&self, name: &str) -> Seen<&str, Unseen> {
        match self.machine.facts.get(name).map(String::as_str) {
            None | Some("unknown") => {
                unseen(format!("the machine does not say its {}", name.replace('_', " ")))
            }
            Some(fact) => Ok(fact),
        }
    }

    /// How the kernel was built.
    pub(crate) fn config(&self) -> Seen<&KernelConfig, Unseen> {
        self.config.as_ref().map_err(Clone::clone)
    }

    /// The kernel's release: `6.18.1-amd64`.
    pub(crate) fn release(&self) -> Seen<&str, Unseen> {
        match self.machine.kernel.as_str() {
            "unknown" => unseen("there is no /proc/sys/kernel/osrelease"),
            // It becomes part of a path.
            release if release.contains('/') => unseen("/proc/sys/kernel/osrelease is no release"),
            release => Ok(release),
        }
    }

    /// The kernel's version, as (major, minor).
    pub(crate) fn version(&self) -> Seen<(u32, u32), Unseen> {
        let release = self.release()?;
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse().ok());
        match (numbers.next(), numbers.next()) {
            (Some(major), Some(minor)) => Ok((major, minor)),
            _ => unseen(format!("`{release}` is no version of Linux")),
        }
    }

    /// The release as evidence.
    pub(crate) fn release_evidence(&self) -> Evidence {
        Evidence::new("/proc/sys/kernel/osrelease", self.machine.kernel.clone())
    }

    /// The value of a parameter on the kernel's command line, and the evidence; `None` where it is not there.
    pub(crate) fn booted_with(&self, name: &str) -> Seen<Option<(String, Evidence)>, Unseen> {
        let line = self.text("/proc/cmdline")?;
        Ok(parameter(&line.text, name).map(|value| {
            let word = if value.is_empty() { name.to_owned() } else { format!("{name}={value}") };
            (value.to_owned(), line.says(word))
        }))
    }

    /// The CPUs that no load balancing reaches: those of `isolcpus=` and of isolated partitions of cgroup v2.
    pub(crate) fn isolated(&self) -> Seen<(CpuList, Vec<Evidence>), Unseen> {
        let booted = self.text("/sys/devices/system/cpu/isolated")?;
        let mut cpus: CpuList = booted.parsed()?;
        let mut evidence = vec![booted.evidence()];
        if let Some(partitions) = self.optional("/sys/fs/cgroup/cpuset.cpus.isolated")? {
            let more: CpuList = partitions.parsed()?;
            cpus = cpus.iter().chain(more.iter()).collect();
            evidence.push(partitions.evidence());
        }
        Ok((cpus.intersection(&self.online), evidence))
    }

    /// Interrupts before and after the pause.
    pub(crate) fn interrupts(&self) -> Seen<(&Interrupts, &Interrupts), Unseen> {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                let (before, after) = (before.interrupts.as_ref(), after.interrupts.as_ref());
                Ok((before.map_err(Clone::clone)?, after.map_err(Clone::clone)?))
            }
            _ => unseen("the counters were not watched"),
        }
    }

    /// How often an event of /proc/vmstat happened during the pause, and since the machine was booted.
    pub(crate) fn memory_event(&self, name: &str) -> Option<(u64, u64)> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        let now = *after.memory.get(name)?;
        Some((now.saturating_sub(*before.memory.get(name)?), now))
    }

    /// How often each real-time CPU ran RCU's softirq during the pause.
    pub(crate) fn rcu_runs(&self) -> Vec<(u32, u64)> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        let runs = |cpu| Some((cpu, after.rcu.get(&cpu)?.saturating_sub(*before.rcu.get(&cpu)?)));
        self.cpus.iter().filter_map(runs).collect()
    }

    /// CPU time of the real-time CPUs before and after the pause.
    pub(crate) fn cpu_times(&self) -> Seen<(CpuTime, CpuTime), Unseen> {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => Ok((before.time.clone()?, after.time.clone()?)),
            _ => unseen("the counters were not watched"),
        }
    }
}
