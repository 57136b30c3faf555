//! How a machine is set up for real-time work, read from `/proc`, `/sys` and `/dev`. What its kernel does not say is absent.

use crate::machine_files::Files;
use laxity_model::CpuList;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Cgroups are not nested deeper where anything is looked for.
const DEPTH_MAX: usize = 32;

/// What on a machine lets its CPUs be late or keeps them from it, as it was before the runs. A field is absent where the machine
/// has no file for it, or the file could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tuning {
    /// The driver of idle states (`/sys/devices/system/cpu/cpuidle/current_driver`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpuidle_driver: Option<String>,
    /// The governor of idle states (`current_governor` beside it).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpuidle_governor: Option<String>,
    /// The idle states of the CPUs used, of each CPU the shallowest first. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle_states: Vec<IdleState>,
    /// The longest exit latency of an idle state that is allowed, in us: the least of what all programs ask for
    /// (`/dev/cpu_dma_latency`; 2000000000 where none asks).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_dma_latency_us: Option<u32>,
    /// Which CPUs have which frequency governor, of all CPUs of the machine. Absent where no frequency can be set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub governors: BTreeMap<String, CpuList>,
    /// The CPUs that `isolcpus=` keeps apart (`/sys/devices/system/cpu/isolated`); empty if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub isolated_cpus: Option<CpuList>,
    /// The cgroups (v2) that are partitions of CPUs, or that were to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Partition>,
    /// The CPUs without ticks while one thread runs (`/sys/devices/system/cpu/nohz_full`); empty if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub nohz_full: Option<CpuList>,
    /// The CPUs whose RCU callbacks threads call, as the kernel was told when it was booted (`rcu_nocbs=` in `/proc/cmdline`; `all`
    /// if without CPUs). Those of `nohz_full` have it by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rcu_nocbs: Option<String>,
    /// The CPUs to which interrupts that are set up later may come (`/proc/irq/default_smp_affinity`).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub irq_default_affinity: Option<CpuList>,
    /// To which CPUs which interrupts may come (`/proc/irq/*/smp_affinity_list`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub irq_affinities: Vec<IrqAffinity>,
    /// The numbers of the interrupts that may come to the CPUs used, as in `24-26,28`; empty if none may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub irqs_on_used_cpus: Option<String>,
}

/// An idle state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleState {
    /// Its name, such as `C6`.
    pub name: String,
    /// How long a CPU takes to leave it at the most, in us; absent where the driver does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_latency_us: Option<u32>,
    /// Those of the CPUs used that have it and may enter it.
    #[schemars(with = "String")]
    pub enabled_on: CpuList,
}

/// A partition of CPUs: a cgroup (v2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// Its path below the root of the hierarchy.
    pub cgroup: String,
    /// `root`, `isolated`, or one of them with `invalid` and the kernel's reason (`cpuset.cpus.partition`).
    pub state: String,
    /// Its CPUs (`cpuset.cpus.effective`).
    #[schemars(with = "String")]
    pub cpus: CpuList,
}

/// Interrupts that may come to the same CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IrqAffinity {
    /// The CPUs.
    #[schemars(with = "String")]
    pub cpus: CpuList,
    /// The interrupts' numbers, as in `24-26,28`.
    pub irqs: String,
}

/// Numbers as ranges, as in `24-26,28`.
pub fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    CpuList::from_iter(numbers).to_string()
}

/// The interrupts of the machine whose `/proc` is under `root`, by number, with the CPUs to which each may come. Nothing where the
/// machine has no such directory.
pub fn irq_affinities(root: &Path) -> Option<BTreeMap<u32, CpuList>> {
    let files = Files { root };
    let irqs = files.names("proc/irq")?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    let with_cpus = |irq: u32| Some((irq, files.cpus(&format!("proc/irq/{irq}/smp_affinity_list"))?));
    Some(irqs.filter_map(with_cpus).collect())
}

impl Tuning {
    /// That of this machine, of which `used` are the CPUs of the runs.
    pub fn of_this_machine(used: &CpuList) -> Tuning {
        Self::read(Path::new("/"), used)
    }

    /// That of the machine whose `/proc`, `/sys` and `/dev` are under `root`. Never fails.
    pub fn read(root: &Path, used: &CpuList) -> Tuning {
        const CPU: &str = "sys/devices/system/cpu";
        let files = Files { root };
        let idle = |name: &str| files.line(&format!("{CPU}/cpuidle/{name}"));
        let irqs = irq_affinities(root);
        let come = |cpus: &CpuList| !cpus.intersection(used).is_empty();
        Tuning {
            cpuidle_driver: idle("current_driver"),
            cpuidle_governor: idle("current_governor").or_else(|| idle("current_governor_ro")),
            idle_states: files.idle_states(used),
            cpu_dma_latency_us: files.latency_us(),
            governors: files.governors(),
            isolated_cpus: files.cpus(&format!("{CPU}/isolated")),
            partitions: files.partitions(),
            nohz_full: files.cpus(&format!("{CPU}/nohz_full")),
            rcu_nocbs: files.booted_with("rcu_nocbs"),
            irq_default_affinity: files
                .line("proc/irq/default_smp_affinity")
                .and_then(|mask| CpuList::of_mask(&mask)),
            irq_affinities: irqs.iter().flat_map(by_cpus).collect(),
            irqs_on_used_cpus: irqs
                .map(|irqs| ranges(irqs.iter().filter(|(_, cpus)| come(cpus)).map(|(irq, _)| *irq))),
        }
    }
}

/// The same by CPUs.
fn by_cpus(irqs: &BTreeMap<u32, CpuList>) -> Vec<IrqAffinity> {
    let mut together: BTreeMap<&CpuList, Vec<u32>> = BTreeMap::new();
    irqs.iter().for_each(|(irq, cpus)| together.entry(cpus).or_default().push(*irq));
    let of = |(cpus, irqs): (&CpuList, Vec<u32>)| IrqAffinity { cpus: cpus.clone(), irqs: ranges(irqs) };
    together.into_iter().map(of).collect()
}

impl Files<'_> {
    /// A binary number of 32 bits, with sign, in the machine's order of bytes.
    fn latency_us(&self) -> Option<u32> {
        let bytes = std::fs::read(self.root.join("dev/cpu_dma_latency")).ok()?;
        u32::try_from(i32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?)).ok()
    }

    /// Which CPUs of the machine have which frequency governor.
    pub(crate) fn governors(&self) -> BTreeMap<String, CpuList> {
        let mut governors: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for cpu in self.numbered("sys/devices/system/cpu", "cpu") {
            let file = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
            if let Some(governor) = self.line(&file) {
                governors.entry(governor).or_default().push(cpu);
            }
        }
        governors.into_iter().map(|(governor, cpus)| (governor, cpus.into_iter().collect())).collect()
    }

    fn idle_states(&self, used: &CpuList) -> Vec<IdleState> {
        let mut states: Vec<(String, Option<u32>, Vec<u32>)> = Vec::new();
        for cpu in used.iter() {
            let idle = format!("sys/devices/system/cpu/cpu{cpu}/cpuidle");
            for number in self.numbered(&idle, "state") {
                let line = |file: &str| self.line(&format!("{idle}/state{number}/{file}"));
                let Some(name) = line("name") else { continue };
                let latency_us = line("latency").and_then(|us| us.parse().ok());
                let enabled = (line("disable").as_deref() != Some("1")).then_some(cpu);
                match states.iter_mut().find(|known| known.0 == name && known.1 == latency_us) {
                    Some(known) => known.2.extend(enabled),
                    None => states.push((name, latency_us, enabled.into_iter().collect())),
                }
            }
        }
        let state = |(name, exit_latency_us, cpus): (String, Option<u32>, Vec<u32>)| IdleState {
            name,
            exit_latency_us,
            enabled_on: cpus.into_iter().collect(),
        };
        states.into_iter().map(state).collect()
    }

    /// The value of a word with which the kernel was booted; `all` where it has none.
    fn booted_with(&self, word: &str) -> Option<String> {
        let line = self.line("proc/cmdline")?;
        // Behind `--`, words are for init.
        let ours = line.split_whitespace().take_while(|word| *word != "--");
        // The kernel takes the last one.
        let value = ours.filter_map(|part| match part.split_once('=') {
            Some((name, value)) => (name == word).then_some(value),
            None => (part == word).then_some("all"),
        });
        value.last().map(str::to_owned)
    }

    fn partitions(&self) -> Vec<Partition> {
        let mounts = self.text("proc/self/mounts").unwrap_or_default();
        let mut mounted = mounts.lines().filter_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            (*fields.get(2)? == "cgroup2").then(|| fields[1].trim_start_matches('/').to_owned())
        });
        let Some(base) = mounted.next() else { return Vec::new() };
        let mut found = Vec::new();
        let mut left = vec![(PathBuf::from(&base), 0)];
        while let Some((cgroup, depth)) = left.pop() {
            let file = |name: &str| cgroup.join(name).to_string_lossy().into_owned();
            let state = self.line(&file("cpuset.cpus.partition")).filter(|state| state != "member");
            if let Some(state) = state {
                let below = cgroup.strip_prefix(&base).unwrap_or(&cgroup);
                found.push(Partition {
                    cgroup: format!("/{}", below.to_string_lossy()),
                    state,
                    cpus: self.cpus(&file("cpuset.cpus.effective")).unwrap_or_default(),
                });
            }
            let entries = std::fs::read_dir(self.root.join(&cgroup)).into_iter().flatten().flatten();
            let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let below = below.map(|entry| (cgroup.join(entry.file_name()), depth + 1));
            left.extend(below.filter(|(_, depth)| *depth < DEPTH_MAX));
        }
        found.sort_by(|a, b| a.cgroup.cmp(&b.cgroup));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_files::tree;

    const CPU: &str = "sys/devices/system/cpu";

    fn cpus(list: &str) -> CpuList {
        list.parse().expect("valid list")
    }

    #[test]
    fn reads_a_tuned_machine() {
        let state = |cpu: u32, state: u32, file: &str| format!("{CPU}/cpu{cpu}/cpuidle/state{state}/{file}");
        let mut files: Vec<(String, &str)> = vec![
            (format!("{CPU}/cpuidle/current_driver"), "intel_idle\n"),
            (format!("{CPU}/cpuidle/current_governor_ro"), "menu\n"),
            (format!("{CPU}/isolated"), "2-3\n"),
            (format!("{CPU}/nohz_full"), "  (null)\n"),
            ("proc/cmdline".into(), "quiet rcu_nocbs=1 rcu_nocbs=2-3 isolcpus=2-3 -- rcu_nocbs=7\n"),
            ("proc/irq/default_smp_affinity".into(), "ff,00000003\n"),
            ("proc/irq/9/smp_affinity_list".into(), "0-1\n"),
            ("proc/irq/10/smp_affinity_list".into(), "0-1\n"),
            ("proc/irq/11/smp_affinity_list".into(), "2\n"),
            ("proc/irq/9000/smp_affinity_list".into(), "0-3\n"),
            ("proc/irq/12/node".into(), "0\n"),
            ("proc/self/mounts".into(), "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
            ("sys/fs/cgroup/a/cpuset.cpus.partition".into(), "member\n"),
            ("sys/fs/cgroup/a/rt/cpuset.cpus.partition".into(), "isolated\n"),
            ("sys/fs/cgroup/a/rt/cpuset.cpus.effective".into(), "2\n"),
            (
                "sys/fs/cgroup/b/cpuset.cpus.partition".into(),
                "root invalid (Parent is not a partition root)\n",
            ),
        ];
        for cpu in 0..4 {
            let governor = if cpu == 3 { "performance\n" } else { "schedutil\n" };
            files.push((format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor"), governor));
            files.push((state(cpu, 0, "name"), "POLL\n"));
            files.push((state(cpu, 0, "latency"), "0\n"));
            files.push((state(cpu, 1, "name"), "C6\n"));
            files.push((state(cpu, 1, "latency"), "133\n"));
            files.push((state(cpu, 1, "disable"), if cpu == 3 { "1\n" } else { "0\n" }));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let root = tree(&files);
        std::fs::create_dir(root.path().join("dev")).expect("creates");
        std::fs::write(root.path().join("dev/cpu_dma_latency"), 20_i32.to_ne_bytes()).expect("writes");
        let tuning = Tuning::read(root.path(), &cpus("2-3"));
        let idle = |name: &str, latency_us, on| IdleState {
            name: name.into(),
            exit_latency_us: Some(latency_us),
            enabled_on: cpus(on),
        };
        let of = |cpus_list: &str, irqs: &str| IrqAffinity { cpus: cpus(cpus_list), irqs: irqs.into() };
        let invalid = "root invalid (Parent is not a partition root)";
        let partition = |cgroup: &str, state: &str, on: &str| Partition {
            cgroup: cgroup.into(),
            state: state.into(),
            cpus: cpus(on),
        };
        assert_eq!(
            tuning,
            Tuning {
                cpuidle_driver: Some("intel_idle".into()),
                cpuidle_governor: Some("menu".into()),
                idle_states: vec![idle("POLL", 0, "2-3"), idle("C6", 133, "2")],
                cpu_dma_latency_us: Some(20),
                governors: [("performance".into(), cpus("3")), ("schedutil".into(), cpus("0-2"))].into(),
                isolated_cpus: Some(cpus("2-3")),
                partitions: vec![partition("/a/rt", "isolated", "2"), partition("/b", invalid, "")],
                nohz_full: Some(CpuList::default()),
                rcu_nocbs: Some("2-3".into()),
                irq_default_affinity: Some(cpus("0-1,32-39")),
                irq_affinities: vec![of("0-1", "9-10"), of("0-3", "9000"), of("2", "11")],
                irqs_on_used_cpus: Some("11,9000".into()),
            }
        );
        let written = serde_json::to_value(&tuning).expect("written");
        assert_eq!(serde_json::from_value::<Tuning>(written).expect("read"), tuning);
    }

    #[test]
    fn what_a_machine_does_not_say_is_absent() {
        let nothing = tree(&[]);
        assert_eq!(Tuning::read(nothing.path(), &cpus("0")), Tuning::default());
        assert_eq!(serde_json::to_value(Tuning::default()).expect("written"), serde_json::json!({}));
        let nonsense = tree(&[
            ("sys/devices/system/cpu/isolated", "many\n"),
            ("proc/irq/default_smp_affinity", "mask\n"),
            ("proc/irq/9/smp_affinity_list", "all\n"),
            ("dev/cpu_dma_latency", "0x"),
            ("proc/cmdline", "rcu_nocbs\n"),
        ]);
        let read = Tuning::read(nonsense.path(), &cpus("0"));
        let rest = Tuning {
            rcu_nocbs: Some("all".into()),
            irqs_on_used_cpus: Some(String::new()),
            ..Tuning::default()
        };
        assert_eq!(read, rest);
    }
}
