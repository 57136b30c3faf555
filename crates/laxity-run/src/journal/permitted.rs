//! What a journal may name: files of the kernel that laxity changes, and cgroups that it makes. A journal that
//! names anything else is refused, also if it is in the right directory.

use super::Undo;
use laxity_model::ShownPath as _;
use rustix::fs::{Mode, OFlags, fstatfs, open};
use std::path::{Component, Path};

/// `CGROUP_SUPER_MAGIC` and `CGROUP2_SUPER_MAGIC` of linux/magic.h.
const CGROUP: [i64; 2] = [0x0027_e0eb, 0x6367_7270];
/// The files that runs change, with the values that they put back.
const FILES: [(&str, &[&str]); 2] =
    [("cpuset.sched_load_balance", &["0", "1"]), ("cgroup.subtree_control", &["-cpuset"])];
/// How the cgroups that runs make begin.
const PREFIX: &str = "laxity-";
/// The longest period that the kernel can be told to admit (kernel.sched_deadline_period_max_us is a u32), and more.
const SPAN_NS_MAX: u64 = 5_000_000_000_000;

/// Refuses a step that laxity itself does not write down.
pub(super) fn check(step: &Undo) -> Result<(), String> {
    match step {
        Undo::Write { path, value } => {
            let values = FILES.iter().find(|(name, _)| path.file_name().is_some_and(|file| file == *name));
            let is_known = values.is_some_and(|(_, values)| values.contains(&value.as_str()));
            allow(path, is_known && is_of_cgroups(path))
        }
        Undo::RemoveCgroup { path } => {
            let is_own =
                path.file_name().is_some_and(|name| name.to_str().is_some_and(|n| n.starts_with(PREFIX)));
            // One that is gone has a parent still.
            allow(path, is_own && path.parent().is_some_and(is_of_cgroups))
        }
        Undo::Settle { span_ns } if *span_ns > SPAN_NS_MAX => {
            Err(format!("it says to wait {span_ns} ns, longer than any period"))
        }
        // What is ended must have been started by laxity, and what is detached must be what came next: both look at that.
        Undo::Settle { .. } | Undo::Affinities { .. } | Undo::EndProgram { .. } | Undo::Detach { .. } => {
            Ok(())
        }
    }
}

fn allow(path: &Path, is_allowed: bool) -> Result<(), String> {
    match is_allowed {
        true => Ok(()),
        false => Err(format!("it names {}, which laxity does not change so", path.shown())),
    }
}

/// Whether a path is one of a cgroup file system: absolute, without `..`, and not by a link at its end.
fn is_of_cgroups(path: &Path) -> bool {
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let found = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    let magic = found.and_then(|file| fstatfs(&file)).map(|file_system| file_system.f_type);
    path.is_absolute() && plain && magic.is_ok_and(|magic| CGROUP.contains(&magic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn write(path: &str, value: &str) -> Undo {
        Undo::Write { path: path.into(), value: value.into() }
    }

    fn remove(path: &str) -> Undo {
        Undo::RemoveCgroup { path: path.into() }
    }

    #[test]
    fn only_what_runs_change_is_permitted() {
        for step in [
            write("/etc/cpuset.sched_load_balance", "1"),
            write("/etc/passwd", "1"),
            write("cpuset.sched_load_balance", "1"),
            write("/proc/sys/kernel/core_pattern", "|/bin/sh"),
            write("/sys/fs/cgroup/cgroup.procs", "1"),
            write("/sys/fs/cgroup/cgroup.subtree_control", "+cpuset"),
            write("/sys/fs/cgroup/cpuset/../cpuset/cpuset.sched_load_balance", "1"),
            remove("/tmp/laxity-1-0"),
            remove("/home/laxity-1-0"),
            remove("/sys/fs/cgroup/system.slice"),
            Undo::Settle { span_ns: u64::MAX },
        ] {
            assert!(check(&step).is_err(), "{step:?}");
        }
    }

    #[test]
    fn what_runs_change_here_is_permitted() {
        let mounts = std::fs::read_to_string("/proc/mounts").expect("Linux has it");
        let of_cpusets = |line: &&str| {
            let mut words = line.split(' ').skip(2);
            let (kind, options) = (words.next(), words.next().unwrap_or_default());
            kind == Some("cgroup2")
                || kind == Some("cgroup") && options.split(',').any(|option| option == "cpuset")
        };
        let bases: Vec<PathBuf> = mounts
            .lines()
            .filter(of_cpusets)
            .filter_map(|line| Some(line.split(' ').nth(1)?.into()))
            .collect();
        if bases.is_empty() {
            eprintln!("SKIPPED: no cgroup file system is mounted");
        }
        for base in bases {
            let removed = Undo::RemoveCgroup { path: base.join("laxity-1-rest") };
            assert_eq!(check(&removed), Ok(()), "{removed:?}");
            for (name, values) in FILES {
                let path = base.join(name);
                if path.exists() {
                    assert_eq!(check(&Undo::Write { path, value: values[0].into() }), Ok(()));
                }
            }
        }
    }
}
