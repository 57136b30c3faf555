//! Machines as sysfs describes them, built as small trees of files.

use laxity_model::*;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A fake `/sys`.
struct Sys(TempDir);

impl Sys {
    fn new(online: &str) -> Self {
        let sys = Sys(tempfile::tempdir().expect("temporary folder"));
        sys.file("cpu/online", online);
        sys
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, path: &str, content: &str) -> &Self {
        let path = self.root().join("devices/system").join(path);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("writable");
        fs::write(path, format!("{content}\n")).expect("writable");
        self
    }

    /// A cache of one CPU.
    fn cache(&self, cpu: u32, index: u32, [level, kind, size, shared]: [&str; 4]) -> &Self {
        let folder = format!("cpu/cpu{cpu}/cache/index{index}");
        for (name, content) in [
            ("level", level),
            ("type", kind),
            ("size", size),
            ("shared_cpu_list", shared),
            ("coherency_line_size", "64"),
            ("ways_of_associativity", "8"),
        ] {
            self.file(&format!("{folder}/{name}"), content);
        }
        self
    }

    fn each(&self, cpus: &str, file: &str, content: &str) -> &Self {
        for cpu in list(cpus).iter() {
            self.file(&format!("cpu/cpu{cpu}/{file}"), content);
        }
        self
    }

    fn platform(&self) -> Platform {
        Platform::from_sysfs(self.root()).unwrap_or_else(|e| panic!("{e}"))
    }
}

fn list(text: &str) -> CpuList {
    text.parse().expect("valid list")
}

fn lists(texts: &[&str]) -> Vec<CpuList> {
    texts.iter().map(|text| list(text)).collect()
}

fn speeds(platform: &Platform) -> Vec<String> {
    platform.cores().iter().map(|core| core.speed.to_string()).collect()
}

#[test]
fn two_cores_with_private_l1_and_shared_l3() {
    let sys = Sys::new("0-1");
    for cpu in 0..2 {
        let own = cpu.to_string();
        sys.cache(cpu, 0, ["1", "Data", "32K", &own])
            .cache(cpu, 1, ["1", "Instruction", "32K", &own])
            .cache(cpu, 2, ["2", "Unified", "1024K", &own])
            .cache(cpu, 3, ["3", "Unified", "36M", "0-1"]);
    }
    let platform = sys.platform();
    assert_eq!(platform.clusters(), lists(&["0-1"]));
    assert_eq!(speeds(&platform), ["1", "1"]);
    assert_eq!(platform.caches().len(), 7);
    let last = platform.caches().last().expect("seven");
    let expected = Cache {
        level: 3,
        kind: CacheKind::Unified,
        size_bytes: 36 << 20,
        line_bytes: Some(64),
        ways: Some(8),
        cpus: list("0-1"),
    };
    assert_eq!(*last, expected);
    assert!(platform.numa_nodes().is_empty());
    assert_eq!(Platform::from_toml(&platform.to_toml(), "x"), Ok(platform));
}

#[test]
fn two_numa_nodes() {
    let sys = Sys::new("0-3");
    for cpu in 0..4 {
        sys.cache(cpu, 0, ["3", "Unified", "16384K", if cpu < 2 { "0-1" } else { "2-3" }]);
    }
    sys.file("node/node0/cpulist", "0-1")
        .file("node/node0/meminfo", "Node 0 MemTotal:       32768 kB\nNode 0 MemFree: 1 kB");
    sys.file("node/node1/cpulist", "2-3").file("node/node1/meminfo", "broken");
    sys.file("node/possible", "0-1");
    let platform = sys.platform();
    assert_eq!(platform.clusters(), lists(&["0-1", "2-3"]));
    let node = |id, cpus, memory_bytes| NumaNode { id, cpus: list(cpus), memory_bytes };
    assert_eq!(platform.numa_nodes(), [node(0, "0-1", Some(32768 * 1024)), node(1, "2-3", None)]);
}

#[test]
fn big_little_by_cpu_capacity() {
    let sys = Sys::new("0-5");
    sys.each("0-3", "cpu_capacity", "446").each("4-5", "cpu_capacity", "1024");
    sys.each("0-5", "cpufreq/cpuinfo_max_freq", "2000000");
    for cpu in list("0-3").iter() {
        sys.cache(cpu, 0, ["2", "Unified", "512K", "0-3"]);
    }
    for cpu in list("4-5").iter() {
        sys.cache(cpu, 0, ["2", "Unified", "1024K", "4-5"]);
    }
    let platform = sys.platform();
    assert_eq!(speeds(&platform), ["223/512", "223/512", "223/512", "223/512", "1", "1"]);
    assert_eq!(platform.clusters(), lists(&["0-3", "4-5"]));
}

#[test]
fn hybrid_by_highest_frequency_with_smt() {
    let sys = Sys::new("0-5");
    sys.each("0-3", "cpufreq/cpuinfo_max_freq", "5000000").each("4-5", "cpufreq/cpuinfo_max_freq", "4000000");
    for cpu in 0..6 {
        let siblings = ["0-1", "0-1", "2-3", "2-3", "4", "5"][cpu as usize];
        sys.cache(cpu, 0, ["1", "Data", "48K", siblings]).cache(cpu, 1, ["3", "Unified", "24576K", "0-5"]);
    }
    let platform = sys.platform();
    assert_eq!(speeds(&platform), ["1", "1", "1", "1", "4/5", "4/5"]);
    assert_eq!(platform.clusters(), lists(&["0-5"]));
    let l1 = platform.caches().iter().filter(|cache| cache.level == 1).map(|cache| cache.cpus.clone());
    assert_eq!(l1.collect::<Vec<_>>(), lists(&["0-1", "2-3", "4", "5"]));
}

#[test]
fn offline_cpus_are_not_there() {
    let sys = Sys::new("0,2-3");
    for cpu in list("0-3").iter() {
        sys.cache(cpu, 0, ["3", "Unified", "8192K", "0-3"]);
    }
    sys.file("node/node0/cpulist", "0-3");
    let platform = sys.platform();
    assert_eq!(platform.cpus(), list("0,2-3"));
    assert_eq!(platform.clusters(), lists(&["0,2-3"]));
    assert_eq!(platform.numa_nodes()[0].cpus, list("0,2-3"));
}

#[test]
fn without_caches_all_cores_are_one_cluster() {
    let platform = Sys::new("0-2").platform();
    assert_eq!(platform.clusters(), lists(&["0-2"]));
    assert!(platform.caches().is_empty());
}

#[test]
fn garbage_is_left_out_not_guessed() {
    let sys = Sys::new("0-1");
    sys.cache(0, 0, ["one", "Data", "32K", "0"])
        .cache(0, 1, ["1", "Trace", "32K", "0"])
        .cache(0, 2, ["1", "Data", "-5", "0"])
        .cache(0, 3, ["1", "Data", "32K", "0-x"])
        .cache(0, 4, ["1", "Data", "99999999999999999999K", "0"])
        .cache(0, 5, ["1", "Data", "32KM", "0"])
        .cache(0, 6, ["0", "Data", "32K", "0"])
        .cache(0, 7, ["2", "Unified", "64K", "0-1"]);
    sys.each("0", "cpu_capacity", "1024").each("1", "cpu_capacity", "fast");
    sys.each("0", "cpufreq/cpuinfo_max_freq", "1000").each("1", "cpufreq/cpuinfo_max_freq", "0");
    sys.file("node/nodeX/cpulist", "0").file("node/node7/cpulist", "??");
    let platform = sys.platform();
    assert_eq!(platform.caches().len(), 1);
    assert_eq!(speeds(&platform), ["1", "1"]);
    assert!(platform.numa_nodes().is_empty());
}

#[test]
fn caches_that_no_machine_has_are_left_out() {
    let sys = Sys::new("0-1");
    // Both CPUs share one L2, whose size they do not agree on: the first is taken.
    sys.cache(0, 0, ["2", "Unified", "64K", "0-1"]).cache(1, 0, ["2", "Unified", "128K", "0-1"]);
    sys.cache(0, 1, ["1", "Data", "32K", "0"]).cache(1, 1, ["1", "Data", "1K", "1"]);
    sys.file("cpu/cpu0/cache/index1/coherency_line_size", "48");
    sys.file("cpu/cpu0/cache/index1/ways_of_associativity", "8");
    sys.file("cpu/cpu1/cache/index1/coherency_line_size", "64");
    sys.file("cpu/cpu1/cache/index1/ways_of_associativity", "17");
    let platform = sys.platform();
    let shown = |cache: &Cache| (cache.level, cache.size_bytes >> 10, cache.line_bytes, cache.ways);
    let caches: Vec<_> = platform.caches().iter().map(shown).collect();
    assert_eq!(caches, [(1, 32, None, None), (1, 1, Some(64), None), (2, 64, Some(64), Some(8))]);
    assert_eq!(Platform::from_toml(&platform.to_toml(), "x"), Ok(platform));
}

/// What virtual machines have been seen to say: an L3 of a thread alone behind an L2 of two, a level that cannot be, and ways that do not
/// divide the lines.
#[test]
fn an_odd_machine_is_read_without_what_cannot_be() {
    let sys = Sys::new("0-1");
    for cpu in [0, 1] {
        let own = cpu.to_string();
        sys.cache(cpu, 0, ["2", "Unified", "64K", "0-1"]).cache(cpu, 1, ["3", "Unified", "32M", &own]);
        sys.cache(cpu, 2, ["77", "Unified", "1G", &own]).cache(cpu, 3, ["1", "Data", "48K", &own]);
        sys.file(&format!("cpu/cpu{cpu}/cache/index3/ways_of_associativity"), "7");
    }
    let platform = sys.platform();
    let shown = |cache: &Cache| (cache.level, cache.size_bytes >> 10, cache.ways);
    let caches: Vec<_> = platform.caches().iter().map(shown).collect();
    assert_eq!(caches, [(1, 48, None), (1, 48, None), (2, 64, Some(8))]);
    assert_eq!(Platform::from_toml(&platform.to_toml(), "x"), Ok(platform));
}

#[test]
fn a_tree_without_online_cpus_is_the_environments_fault() {
    for sys in [Sys::new(""), Sys::new("zero"), Sys::new("0-99999")] {
        let error = Platform::from_sysfs(sys.root()).expect_err("no CPUs");
        assert_eq!(error.failure, Failure::Environment);
        assert!(error.message.ends_with("does not list the online CPUs") && error.hint.is_some(), "{error}");
    }
}

#[test]
fn this_machine_has_the_cpus_that_this_process_may_use() {
    let platform = Platform::this_machine().unwrap_or_else(|e| panic!("{e}"));
    let status = fs::read_to_string("/proc/thread-self/status").expect("procfs");
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("listed");
    assert!(platform.cpus().is_subset(&list(allowed)), "{} not in {allowed}", platform.cpus());
    assert_eq!(Platform::from_json(&platform.to_json(), "x"), Ok(platform));
}
