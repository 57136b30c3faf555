//! CPU limits of cgroups that have no effect while a policy is loaded.
//!
//! Bandwidth and weights of cgroups (`cpu.max`, `cpu.weight`, `cpu.idle`) are a matter of the kernel's own fair scheduler. sched_ext
//! leaves them to the scheduler that is loaded, by callbacks that laxity's policies do not have: background work shares what is left
//! by the threads' own weights, wherever they are. Limits of cgroups without a process do not count: they limit nothing now.

use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// So many are named where there is no room for all.
const NAMED: usize = 4;

/// A cgroup whose CPU limits or weight are not the defaults, with a process in it or below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LimitedCgroup {
    /// Its directory.
    pub path: String,
    /// Its files with their values: `cpu.max 20000 100000`.
    pub limits: Vec<String>,
}

impl fmt::Display for LimitedCgroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.limits.join(", "))
    }
}

/// In words: the first few, and how many more there are.
pub fn named_cgroups(cgroups: &[LimitedCgroup]) -> String {
    let mut text: Vec<String> = cgroups.iter().take(NAMED).map(LimitedCgroup::to_string).collect();
    if cgroups.len() > NAMED {
        text.push(format!("and {} more", cgroups.len() - NAMED));
    }
    text.join(", ")
}

/// All of the machine whose `/proc` and `/sys` are under `root`, by their paths there. What cannot be read is left out: cgroups come
/// and go meanwhile.
pub fn limited_cgroups(root: &Path) -> Vec<LimitedCgroup> {
    let mounts = fs::read(root.join("proc/self/mounts")).unwrap_or_default();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (mount, version) in mounts.split(|&byte| byte == b'\n').filter_map(hierarchy) {
        let top = root.join(mount.strip_prefix("/").unwrap_or(&mount));
        // The same hierarchy may be mounted in several places.
        if fs::metadata(&top).is_ok_and(|top| seen.insert((top.dev(), top.ino()))) {
            found.extend(limited_below(root, &top, version));
        }
    }
    found.into_iter().collect()
}

/// Which files have the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// With the controller `cpu` in a hierarchy of its own.
    V1,
    V2,
}

/// Where a line of /proc/self/mounts has a hierarchy that may limit CPU time.
fn hierarchy(line: &[u8]) -> Option<(PathBuf, Version)> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let version = match *fields.get(2)? {
        b"cgroup2" => Version::V2,
        b"cgroup" if fields.get(3)?.split(|&byte| byte == b',').any(|option| option == b"cpu") => Version::V1,
        _ => return None,
    };
    Some((PathBuf::from(std::ffi::OsString::from_vec(unescaped(fields[1]))), version))
}

/// A path as it is: in the table of mounts, blanks and the like are `\040`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        let code = (first == b'\\').then(|| behind.get(..3)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &behind[3..] } else { behind };
    }
    bytes
}

/// A cgroup on the way through a hierarchy.
struct Cgroup {
    directory: PathBuf,
    /// The place of the one above it.
    above: Option<usize>,
    has_processes: bool,
}

/// Of one hierarchy, also its top: in a container that is a cgroup of its own.
fn limited_below(root: &Path, top: &Path, version: Version) -> Vec<LimitedCgroup> {
    let mut all = vec![Cgroup { directory: top.to_owned(), above: None, has_processes: false }];
    let mut at = 0;
    while at < all.len() {
        let directory = all[at].directory.clone();
        all[at].has_processes = has_processes(&directory);
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            // No links are followed: those of cgroup v1 lead to hierarchies that are mounted in their own right.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                all.push(Cgroup { directory: entry.path(), above: Some(at), has_processes: false });
            }
        }
        at += 1;
    }
    // Each comes after the one above it.
    for at in (1..all.len()).rev() {
        if let Some(above) = all[at].above {
            all[above].has_processes |= all[at].has_processes;
        }
    }
    let limited = |cgroup: &Cgroup| {
        let limits = limits(&cgroup.directory, version);
        let path = cgroup.directory.strip_prefix(root).unwrap_or(&cgroup.directory);
        let path = format!("/{}", String::from_utf8_lossy(path.as_os_str().as_bytes()));
        (!limits.is_empty()).then_some(LimitedCgroup { path, limits })
    };
    all.iter().filter(|cgroup| cgroup.has_processes).filter_map(limited).collect()
}

/// Whether a process is in this cgroup; where the kernel says it of those below, too, in one of those.
fn has_processes(directory: &Path) -> bool {
    match value(directory, "cgroup.events") {
        Some(events) => events.lines().any(|line| line == "populated 1"),
        None => value(directory, "cgroup.procs").is_some_and(|processes| !processes.is_empty()),
    }
}

/// What limits the CPU time of a cgroup or shares it out otherwise than by default.
fn limits(directory: &Path, version: Version) -> Vec<String> {
    let read = |file: &str| value(directory, file);
    let mut limits = Vec::new();
    let bandwidth = match version {
        Version::V2 => {
            read("cpu.max").filter(|max| !max.starts_with("max")).map(|max| format!("cpu.max {max}"))
        }
        Version::V1 => read("cpu.cfs_quota_us")
            .filter(|quota| !quota.starts_with('-'))
            .map(|quota| format!("cpu.cfs_quota_us {quota}")),
    };
    limits.extend(bandwidth);
    // A cgroup of SCHED_IDLE has no weight that anything can set.
    if read("cpu.idle").is_some_and(|idle| idle == "1") {
        limits.push("cpu.idle 1".to_owned());
        return limits;
    }
    let (weight, default) = match version {
        Version::V2 => ("cpu.weight", "100"),
        Version::V1 => ("cpu.shares", "1024"),
    };
    limits.extend(read(weight).filter(|text| text != default).map(|text| format!("{weight} {text}")));
    limits
}

fn value(directory: &Path, file: &str) -> Option<String> {
    fs::read_to_string(directory.join(file)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";

    /// A machine of these files.
    fn machine(mounts: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in files.iter().chain([&("proc/self/mounts", mounts)]) {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("created");
            fs::write(path, text).expect("written");
        }
        root
    }

    fn words(mounts: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = machine(mounts, files);
        limited_cgroups(root.path()).iter().map(LimitedCgroup::to_string).collect()
    }

    /// A cgroup of version 2 with the kernel's defaults but for what is said.
    fn v2(
        name: &str,
        populated: bool,
        other: &[(&'static str, &'static str)],
    ) -> Vec<(String, &'static str)> {
        let defaults = [("cpu.max", "max 100000\n"), ("cpu.weight", "100\n"), ("cpu.idle", "0\n")];
        let of = |file: &str| other.iter().find(|(name, _)| *name == file).map(|(_, text)| *text);
        let files = defaults
            .iter()
            .map(|(file, text)| (format!("sys/fs/cgroup/{name}/{file}"), of(file).unwrap_or(text)));
        let populated = if populated { "populated 1\nfrozen 0\n" } else { "populated 0\nfrozen 0\n" };
        files.chain([(format!("sys/fs/cgroup/{name}/cgroup.events"), populated)]).collect()
    }

    fn of_v2(cgroups: &[Vec<(String, &str)>]) -> Vec<String> {
        let files: Vec<(&str, &str)> =
            cgroups.iter().flatten().map(|(path, text)| (path.as_str(), *text)).collect();
        words(MOUNTS, &files)
    }

    #[test]
    fn each_kind_of_limit_is_found_and_no_default() {
        let found = of_v2(&[
            v2("plain", true, &[]),
            v2("quota", true, &[("cpu.max", "20000 100000\n")]),
            v2("heavy", true, &[("cpu.weight", "10000\n")]),
            v2("light", true, &[("cpu.weight", "1\n")]),
            v2("idle", true, &[("cpu.idle", "1\n"), ("cpu.weight", "0\n")]),
            v2("all", true, &[("cpu.max", "1000 5000\n"), ("cpu.weight", "7\n")]),
        ]);
        assert_eq!(
            found,
            [
                "/sys/fs/cgroup/all (cpu.max 1000 5000, cpu.weight 7)",
                "/sys/fs/cgroup/heavy (cpu.weight 10000)",
                "/sys/fs/cgroup/idle (cpu.idle 1)",
                "/sys/fs/cgroup/light (cpu.weight 1)",
                "/sys/fs/cgroup/quota (cpu.max 20000 100000)",
            ]
        );
    }

    #[test]
    fn what_has_no_process_in_it_or_below_it_limits_nothing() {
        let quota = &[("cpu.max", "20000 100000\n")];
        assert_eq!(of_v2(&[v2("empty", false, quota)]), [""; 0]);
        // The kernel says it of all above.
        let found = of_v2(&[v2("a", true, quota), v2("a/b", true, &[]), v2("a/empty", false, quota)]);
        assert_eq!(found, ["/sys/fs/cgroup/a (cpu.max 20000 100000)"]);
    }

    #[test]
    fn without_the_controller_there_are_no_limits() {
        let files =
            [("sys/fs/cgroup/a/cgroup.events", "populated 1\n"), ("sys/fs/cgroup/a/memory.max", "1000\n")];
        assert_eq!(words(MOUNTS, &files), [""; 0]);
        assert_eq!(words("", &files), [""; 0], "nothing is mounted");
    }

    #[test]
    fn a_hierarchy_of_version_1_is_gone_through_where_it_has_the_cpu_controller() {
        let mounts = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\ncgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n";
        let found = words(
            mounts,
            &[
                ("sys/fs/cgroup/cpu,cpuacct/cpu.shares", "1024\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cgroup.procs", "1\n"),
                ("sys/fs/cgroup/cpu,cpuacct/a/cgroup.procs", ""),
                ("sys/fs/cgroup/cpu,cpuacct/a/cpu.shares", "2\n"),
                ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu,cpuacct/a/b/cgroup.procs", "7\n8\n"),
                ("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.shares", "1024\n"),
                ("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/empty/cgroup.procs", ""),
                ("sys/fs/cgroup/cpu,cpuacct/empty/cpu.cfs_quota_us", "50000\n"),
                ("sys/fs/cgroup/cpuset/a/cgroup.procs", "7\n"),
                ("sys/fs/cgroup/cpuset/a/cpu.shares", "2\n"),
            ],
        );
        assert_eq!(
            found,
            [
                "/sys/fs/cgroup/cpu,cpuacct/a (cpu.shares 2)",
                "/sys/fs/cgroup/cpu,cpuacct/a/b (cpu.cfs_quota_us 50000)"
            ]
        );
    }

    #[test]
    fn the_cgroup_of_a_container_is_the_top_of_what_it_sees() {
        let top =
            [("sys/fs/cgroup/cpu.max", "150000 100000\n"), ("sys/fs/cgroup/cgroup.events", "populated 1\n")];
        assert_eq!(words(MOUNTS, &top), ["/sys/fs/cgroup (cpu.max 150000 100000)"]);
    }

    #[test]
    fn a_hierarchy_that_is_mounted_twice_or_under_an_odd_name_counts_once() {
        let mounts = "cgroup2 /mnt/two\\040words cgroup2 rw 0 0\ncgroup2 /mnt/two\\040words cgroup2 rw 0 0\n";
        let files =
            [("mnt/two words/a/cpu.max", "1000 5000\n"), ("mnt/two words/a/cgroup.events", "populated 1\n")];
        assert_eq!(words(mounts, &files), ["/mnt/two words/a (cpu.max 1000 5000)"]);
        assert_eq!(unescaped(b"a\\040b\\134c\\9\\77"), b"a b\\c\\9\\77");
    }

    #[test]
    fn links_are_not_followed() {
        let root = machine(MOUNTS, &[("sys/fs/cgroup/a/cgroup.events", "populated 1\n")]);
        let a = root.path().join("sys/fs/cgroup/a");
        std::os::unix::fs::symlink(&a, a.join("again")).expect("a link");
        assert_eq!(limited_cgroups(root.path()), []);
    }

    #[test]
    fn the_first_few_are_named_and_the_others_counted() {
        let cgroup =
            |name: usize| LimitedCgroup { path: format!("/{name}"), limits: vec!["cpu.idle 1".into()] };
        let all: Vec<LimitedCgroup> = (0..6).map(cgroup).collect();
        assert_eq!(named_cgroups(&all[..1]), "/0 (cpu.idle 1)");
        assert_eq!(named_cgroups(&all[..4]).matches("cpu.idle").count(), 4);
        assert!(named_cgroups(&all).ends_with("/3 (cpu.idle 1), and 2 more"), "{}", named_cgroups(&all));
    }
}
