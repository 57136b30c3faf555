//! The platform that Linux describes in sysfs.
//!
//! 1. CPUs are the online CPUs. Their speeds are the ratios of `cpu_capacity`, or else of
//!    `cpufreq/cpuinfo_max_freq`, the fastest CPU being 1; if any online CPU lacks both, all are 1.
//! 2. Caches are read from every online CPU and listed once. Left out is a cache whose level, type, size or list of
//!    sharers is unreadable, a second cache of a level and kind for the same CPUs, and a cache that not all of the
//!    CPUs of a closer cache share. Ways and lines that cannot be are not known. CPUs that share a last-level cache
//!    form a cluster.
//! 3. Without `node/`, nothing is said of memory nodes.

use crate::{
    Cache, CacheKind, Core, CpuList, Diagnostic, Failure, NumaNode, Platform, Result, ShownPath as _, Speed,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

impl Platform {
    /// Reads the platform from a sysfs tree (`/sys`, or a copy of one).
    pub fn from_sysfs(root: &Path) -> Result<Self> {
        let system = root.join("devices/system");
        let online = online_cpus(&system)?;
        let cpu = |number: u32| system.join(format!("cpu/cpu{number}"));
        let speeds = speeds(&online, cpu);
        let cores = online.iter().zip(speeds).map(|(cpu, speed)| Core { cpu, speed }).collect();
        let mut caches: Vec<Cache> = Vec::new();
        for cache in online.iter().flat_map(|number| caches_of(&cpu(number), &online)) {
            if caches.iter().all(|other| other.clash(&cache).is_empty() && other.astray(&cache).is_empty()) {
                caches.push(cache);
            }
        }
        caches.sort_by(|a, b| (a.level, a.kind, &a.cpus).cmp(&(b.level, b.kind, &b.cpus)));
        let nodes = numa_nodes(&system.join("node"), &online);
        Self::new("this machine", cores, caches, nodes, None).map_err(|e| {
            Diagnostic { failure: Failure::Environment, ..e }
                .context(format!("topology in {}", system.shown()))
        })
    }

    /// The machine that this process runs on, reduced to the CPUs it may use.
    pub fn this_machine() -> Result<Self> {
        Self::from_sysfs(Path::new("/sys"))?.restricted(&allowed_cpus()?)
    }
}

/// The CPUs that the calling thread may run on.
fn allowed_cpus() -> Result<CpuList> {
    let set = rustix::thread::sched_getaffinity(None).map_err(|error| {
        Diagnostic::environment(format!("the CPUs of this process cannot be read: {error}"))
            .hint("describe the machine in a file and give it as --platform")
    })?;
    let numbers = 0..rustix::thread::CpuSet::MAX_CPU;
    Ok(numbers.filter(|&cpu| set.is_set(cpu)).filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

fn online_cpus(system: &Path) -> Result<CpuList> {
    let file = system.join("cpu/online");
    let online = read::<CpuList>(&file).filter(|cpus| !cpus.is_empty());
    online.ok_or_else(|| {
        Diagnostic::environment(format!("{} does not list the online CPUs", file.shown()))
            .hint("mount sysfs on /sys, or describe the machine in a file and give it as --platform")
    })
}

/// The value in a file, if there is one and it can be read.
fn read<T: FromStr>(file: &Path) -> Option<T> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn speeds(online: &CpuList, cpu: impl Fn(u32) -> PathBuf) -> Vec<Speed> {
    let measure = |file: &str| -> Option<Vec<u32>> {
        online.iter().map(|number| read::<u32>(&cpu(number).join(file)).filter(|&value| value > 0)).collect()
    };
    let values = measure("cpu_capacity").or_else(|| measure("cpufreq/cpuinfo_max_freq"));
    let values = values.unwrap_or_else(|| vec![1; online.len()]);
    let fastest = values.iter().copied().max().unwrap_or(1);
    values.iter().map(|&value| Speed::new(value, fastest).unwrap_or(Speed::UNIT)).collect()
}

/// The caches of one CPU, by index.
fn caches_of(cpu: &Path, online: &CpuList) -> Vec<Cache> {
    (0..)
        .map(|index| cpu.join(format!("cache/index{index}")))
        .take_while(|folder| folder.is_dir())
        .filter_map(|folder| cache(&folder, online))
        .collect()
}

fn cache(folder: &Path, online: &CpuList) -> Option<Cache> {
    let kind = match read::<String>(&folder.join("type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let cpus = read::<CpuList>(&folder.join("shared_cpu_list"))?.intersection(online);
    let cache = Cache {
        level: read(&folder.join("level"))?,
        kind,
        size_bytes: size(&read::<String>(&folder.join("size"))?)?,
        line_bytes: read(&folder.join("coherency_line_size")),
        ways: read(&folder.join("ways_of_associativity")),
        cpus: Some(cpus).filter(|cpus| !cpus.is_empty())?,
    };
    // A geometry that cannot be is not known.
    let without_ways = Cache { ways: None, ..cache.clone() };
    let only_size = Cache { line_bytes: None, ..without_ways.clone() };
    [cache, without_ways, only_size].into_iter().find(|cache| cache.validate().is_ok())
}

/// A size as sysfs writes it: `32K`.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let scale = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale).filter(|&bytes| bytes > 0)
}

fn numa_nodes(folder: &Path, online: &CpuList) -> Vec<NumaNode> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut ids: Vec<u32> = names.filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    let node = |id: u32| {
        let folder = folder.join(format!("node{id}"));
        Some(NumaNode {
            id,
            cpus: read::<CpuList>(&folder.join("cpulist"))?.intersection(online),
            memory_bytes: read::<String>(&folder.join("meminfo")).and_then(|text| memory_total(&text)),
        })
    };
    ids.into_iter().filter_map(node).collect()
}

/// Bytes of the line `Node 0 MemTotal: 32768 kB`.
fn memory_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.contains("MemTotal:"))?;
    let value = line.split("MemTotal:").nth(1)?.trim().strip_suffix("kB")?;
    value.trim().parse::<u64>().ok()?.checked_mul(1024)
}
