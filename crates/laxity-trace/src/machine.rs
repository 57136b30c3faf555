//! What a reader of results should know of the machine, read from `/proc` and `/sys`.

use crate::Machine;
use crate::machine_files::Files;
use crate::tuning::Tuning;
use laxity_model::{CacheKind, Core, CpuList, Platform, Speed, cpus_named};
use std::collections::BTreeMap;
use std::path::Path;

/// What is written where this machine does not say.
const UNKNOWN: &str = "unknown";

/// The word in the fact `virtualization` of a machine whose instructions are emulated.
pub const EMULATED: &str = "emulated";
/// What stands for the processor and the kernel of a simulated machine.
const SIMULATED: &str = "simulated";

impl Machine {
    /// This machine. `platform` has the CPUs used, their clusters and caches.
    pub fn this_machine(platform: &Platform) -> Machine {
        Self::read(Path::new("/"), platform)
    }

    /// A machine that exists only in a simulation: nothing is known of it but its platform.
    pub fn simulated(platform: &Platform) -> Machine {
        let slow = platform.cores().iter().any(|core| core.speed != Speed::UNIT);
        let speed = |core: &Core| format!("CPU {}: {}", core.cpu, core.speed);
        let speeds = || platform.cores().iter().map(speed).collect::<Vec<_>>().join(", ");
        Machine {
            host_name: platform.name().to_owned(),
            cpu_model: SIMULATED.to_owned(),
            kernel: SIMULATED.to_owned(),
            cpus: platform.cpus(),
            clusters: platform.clusters().to_vec(),
            caches: caches(platform),
            memory_bytes: None,
            facts: slow.then(|| ("core_speeds".to_owned(), speeds())).into_iter().collect(),
            tuning: None,
        }
    }

    /// Whether it exists only in a simulation.
    pub fn is_simulated(&self) -> bool {
        self.cpu_model == SIMULATED
    }

    /// Whether it is known to be a virtual machine.
    pub fn is_virtual(&self) -> bool {
        let kind = self.facts.get("virtualization").map(String::as_str);
        !matches!(kind, None | Some("none" | UNKNOWN | ""))
    }

    /// The machine whose `/proc` and `/sys` are under `root`. Never fails: what cannot be read is "unknown".
    pub fn read(root: &Path, platform: &Platform) -> Machine {
        let files = Files { root };
        let or_unknown = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
        Machine {
            host_name: or_unknown(files.line("proc/sys/kernel/hostname")),
            cpu_model: or_unknown(files.cpu_model()),
            kernel: or_unknown(files.line("proc/sys/kernel/osrelease")),
            cpus: platform.cpus(),
            clusters: platform.clusters().to_vec(),
            caches: caches(platform),
            memory_bytes: files.memory_bytes(),
            facts: files.facts(),
            tuning: Some(Tuning::read(root, &platform.cpus())),
        }
    }
}

/// One line per cache: `L2 unified 1024 KiB, 64-byte lines, 8 ways, CPUs 0-1`.
fn caches(platform: &Platform) -> Vec<String> {
    let line = |cache: &laxity_model::Cache| {
        let kind = match cache.kind {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instruction",
            CacheKind::Unified => "unified",
        };
        let size = match cache.size_bytes {
            bytes if bytes % 1024 == 0 => format!("{} KiB", bytes / 1024),
            bytes => format!("{bytes} bytes"),
        };
        let lines = cache.line_bytes.map(|bytes| format!(", {bytes}-byte lines")).unwrap_or_default();
        let ways = cache.ways.map(|ways| format!(", {ways} ways")).unwrap_or_default();
        format!("L{} {kind} {size}{lines}{ways}, {}", cache.level, cpus_named(&cache.cpus))
    };
    platform.caches().iter().map(line).collect()
}

impl Files<'_> {
    /// The first value of a key in `/proc/cpuinfo`.
    fn cpuinfo(&self, key: &str) -> Option<String> {
        let text = self.text("proc/cpuinfo")?;
        let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
    }

    fn cpu_model(&self) -> Option<String> {
        // x86 has "model name"; ARM boards say it in the device tree, others under their own keys.
        self.cpuinfo("model name")
            .or_else(|| self.line("proc/device-tree/model"))
            .or_else(|| self.cpuinfo("Hardware"))
            .or_else(|| self.cpuinfo("cpu model"))
            .or_else(|| self.cpuinfo("uarch"))
    }

    fn memory_bytes(&self) -> Option<u64> {
        let text = self.text("proc/meminfo")?;
        let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    }

    fn virtualization(&self) -> Option<String> {
        if let Some(hypervisor) = self.line("sys/hypervisor/type") {
            return Some(hypervisor);
        }
        let mut product: Vec<String> = ["sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"]
            .into_iter()
            .filter_map(|path| self.line(path))
            .collect();
        let flags = self.cpuinfo("flags")?;
        // An emulator need not tell the kernel that it is one; its name is in the machine all the same.
        let virtual_machine = flags.split_whitespace().any(|flag| flag == "hypervisor")
            || product.first().is_some_and(|vendor| vendor == "QEMU");
        let emulated = self.cpuinfo("model name").is_some_and(|model| model.contains("TCG"));
        product.extend(emulated.then(|| EMULATED.to_owned()));
        Some(match (virtual_machine || emulated, product.is_empty()) {
            (false, _) => "none".to_owned(),
            (true, true) => "virtual machine".to_owned(),
            (true, false) => format!("virtual machine ({})", product.join(" ")),
        })
    }

    /// The preemption model. Only debugfs knows the one in use of a kernel that can switch; else its build.
    fn preemption(&self) -> Option<String> {
        if self.line("sys/kernel/realtime").as_deref() == Some("1") {
            return Some("PREEMPT_RT".to_owned());
        }
        // debugfs of such a kernel says `(full) lazy`, and newer ones have no `realtime`.
        if self.line("proc/sys/kernel/version").is_some_and(|text| text.contains("PREEMPT_RT")) {
            return Some("PREEMPT_RT".to_owned());
        }
        if let Some(models) = self.line("sys/kernel/debug/sched/preempt") {
            return Some(chosen(&models, '(', ')'));
        }
        let version = self.line("proc/sys/kernel/version")?;
        let built = version.split_whitespace().find(|word| word.starts_with("PREEMPT"));
        Some(built.unwrap_or("not in the kernel's version").to_owned())
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let huge_pages = self.line("sys/kernel/mm/transparent_hugepage/enabled");
        let facts = [
            ("virtualization", self.virtualization()),
            ("preemption", self.preemption()),
            ("kernel_build", self.line("proc/sys/kernel/version")),
            ("clocksource", self.line("sys/devices/system/clocksource/clocksource0/current_clocksource")),
            ("cpufreq_governor", self.governor()),
            ("turbo_boost", self.turbo_boost()),
            ("smt_active", self.line("sys/devices/system/cpu/smt/active")),
            ("isolated_cpus", self.isolated()),
            ("transparent_hugepages", huge_pages.map(|choices| chosen(&choices, '[', ']'))),
            ("sched_rt_runtime_us", self.line("proc/sys/kernel/sched_rt_runtime_us")),
            ("sched_rt_period_us", self.line("proc/sys/kernel/sched_rt_period_us")),
            ("perf_event_paranoid", self.line("proc/sys/kernel/perf_event_paranoid")),
        ];
        let known = |(name, value): (&str, Option<String>)| {
            (name.to_owned(), value.unwrap_or_else(|| UNKNOWN.to_owned()))
        };
        facts.into_iter().map(known).collect()
    }

    /// The governor of all CPUs; each with its CPUs, where they have several.
    fn governor(&self) -> Option<String> {
        let governors = self.governors();
        let with_cpus = |(governor, cpus): (&String, &CpuList)| format!("{governor} ({})", cpus_named(cpus));
        match governors.len() {
            0 | 1 => governors.into_keys().next(),
            _ => Some(governors.iter().map(with_cpus).collect::<Vec<_>>().join(", ")),
        }
    }

    fn turbo_boost(&self) -> Option<String> {
        let on = |flag: &str| Some(if flag == "1" { "on" } else { "off" }.to_owned());
        if let Some(boost) = self.line("sys/devices/system/cpu/cpufreq/boost") {
            return on(&boost);
        }
        let disabled = self.line("sys/devices/system/cpu/intel_pstate/no_turbo")?;
        on(if disabled == "1" { "0" } else { "1" })
    }

    /// An empty file means that no CPU is isolated; a missing one that the kernel does not say.
    fn isolated(&self) -> Option<String> {
        let cpus = self.text("sys/devices/system/cpu/isolated")?;
        Some(if cpus.trim().is_empty() { "none" } else { cpus.trim() }.to_owned())
    }
}

/// The marked word of a list such as `none voluntary (full)`; the whole list if none is marked.
fn chosen(list: &str, open: char, close: char) -> String {
    let marked = list.split_once(open).and_then(|(_, rest)| rest.split_once(close));
    marked.map_or(list, |(word, _)| word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_files::tree;
    use laxity_model::{Cache, Core, Speed};

    fn platform() -> Platform {
        let cores = (0..2).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect();
        let cache = Cache {
            level: 3,
            kind: CacheKind::Unified,
            size_bytes: 32 << 20,
            line_bytes: Some(64),
            ways: Some(16),
            cpus: "0-1".parse().expect("valid list"),
        };
        Platform::new("p", cores, vec![cache], vec![], None).expect("valid")
    }

    #[test]
    fn reads_a_virtual_machine() {
        let root = tree(&[
            ("proc/sys/kernel/hostname", "node7\n"),
            ("proc/sys/kernel/osrelease", "6.18.1\n"),
            ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Mon Jan 1\n"),
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor sse\n"),
            ("proc/meminfo", "MemTotal:        8000 kB\nMemFree: 1 kB\n"),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
            ("sys/devices/system/cpu/isolated", "\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n"),
        ]);
        let machine = Machine::read(root.path(), &platform());
        assert_eq!((&*machine.host_name, &*machine.kernel), ("node7", "6.18.1"));
        assert_eq!((&*machine.cpu_model, machine.memory_bytes), ("AMD EPYC", Some(8_192_000)));
        assert_eq!(machine.caches, ["L3 unified 32768 KiB, 64-byte lines, 16 ways, CPUs 0-1"]);
        let fact = |name: &str| machine.facts[name].as_str();
        assert_eq!(fact("virtualization"), "virtual machine (QEMU)");
        assert_eq!((fact("preemption"), fact("transparent_hugepages")), ("full", "madvise"));
        assert_eq!((fact("turbo_boost"), fact("isolated_cpus")), ("off", "none"));
        assert_eq!((fact("clocksource"), fact("cpufreq_governor")), ("unknown", "unknown"));
    }

    #[test]
    fn the_governor_is_that_of_all_cpus() {
        let governor = |of_cpu_1: &str| {
            let file = |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
            let root = tree(&[(file(0).as_str(), "performance\n"), (file(1).as_str(), of_cpu_1)]);
            Machine::read(root.path(), &platform()).facts["cpufreq_governor"].clone()
        };
        assert_eq!(governor("performance\n"), "performance");
        assert_eq!(governor("powersave\n"), "performance (CPU 0), powersave (CPU 1)");
    }

    #[test]
    fn an_emulator_that_keeps_quiet_is_one() {
        let virtualization = |vendor| {
            let root =
                tree(&[("proc/cpuinfo", "flags\t\t: fpu sse\n"), ("sys/class/dmi/id/sys_vendor", vendor)]);
            Machine::read(root.path(), &platform()).facts["virtualization"].clone()
        };
        assert_eq!(virtualization("QEMU\n"), "virtual machine (QEMU)");
        assert_eq!(virtualization("Dell Inc.\n"), "none");
    }

    #[test]
    fn says_unknown_where_there_is_nothing_or_nonsense() {
        let root = tree(&[("proc/meminfo", "MemTotal: many kB\n"), ("proc/cpuinfo", "\u{0}:::\n")]);
        let machine = Machine::read(root.path(), &platform());
        assert_eq!(
            (&*machine.host_name, &*machine.cpu_model, machine.memory_bytes),
            ("unknown", "unknown", None)
        );
        assert!(machine.facts.values().all(|fact| fact == "unknown"), "{:?}", machine.facts);
    }

    #[test]
    fn memory_of_which_nothing_is_known_is_absent_also_where_it_was_written_as_zero() {
        let unknown = Machine::simulated(&platform());
        let mut written = serde_json::to_value(&unknown).expect("written");
        assert_eq!(written.get("memory_bytes"), None);
        let read =
            |value: &serde_json::Value| serde_json::from_value::<Machine>(value.clone()).expect("read");
        assert_eq!(read(&written), unknown);
        written["memory_bytes"] = 0.into();
        assert_eq!(read(&written), unknown, "as earlier versions wrote it");
        written["memory_bytes"] = 4_096.into();
        assert_eq!(read(&written).memory_bytes, Some(4_096));
    }

    #[test]
    fn reads_an_arm_board_and_a_real_time_kernel() {
        let root = tree(&[
            ("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\n"),
            ("proc/device-tree/model", "Raspberry Pi 5\u{0}"),
            ("sys/kernel/realtime", "1\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        ]);
        let machine = Machine::read(root.path(), &platform());
        assert_eq!(machine.cpu_model, "Raspberry Pi 5");
        assert_eq!(machine.facts["preemption"], "PREEMPT_RT");
        assert_eq!((&*machine.facts["turbo_boost"], &*machine.facts["virtualization"]), ("on", "unknown"));
    }
}
