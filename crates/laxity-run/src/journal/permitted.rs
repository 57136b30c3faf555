//! What a journal may name: files of the kernel that laxity changes, and cgroups that it makes. A journal that
//! names anything else is refused, also if it is in the right directory.

use super::{FileAsItWas, Undo};
use laxity_model::{CpuList, ShownPath as _};
use rustix::fs::{Mode, OFlags, fstatfs, open};
use std::path::{Component, Path};

/// `CGROUP_SUPER_MAGIC` and `CGROUP2_SUPER_MAGIC` of linux/magic.h.
const CGROUP: [i64; 2] = [0x0027_e0eb, 0x6367_7270];
/// `PROC_SUPER_MAGIC` and `SYSFS_MAGIC`.
const PROC: i64 = 0x9fa0;
const SYS: i64 = 0x6265_6572;
/// No governor has a longer name (CPUFREQ_NAME_LEN of linux/cpufreq.h).
const GOVERNOR_LONGEST: usize = 16;
/// The files of cgroups that runs change, with the values that they put back.
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
        Undo::Restore { directory, files } => {
            let (magic, is_known): (i64, fn(&FileAsItWas) -> bool) = match directory.to_str() {
                Some("/proc/irq") => (PROC, is_affinity),
                Some("/sys/devices/system/cpu") => (SYS, is_governor),
                _ => return allow(directory, false),
            };
            allow(directory, is_of(directory, &[magic]))?;
            files.iter().try_for_each(|file| allow(&directory.join(&file.file), is_known(file)))
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

/// Whether it is where an interrupt, or one that is set up later, may come.
fn is_affinity(file: &FileAsItWas) -> bool {
    let Some(name) = file.file.to_str() else { return false };
    if name == "default_smp_affinity" {
        return CpuList::of_mask(&file.value).is_some();
    }
    let irq = name.strip_suffix("/smp_affinity_list");
    irq.is_some_and(is_number) && file.value.parse::<CpuList>().is_ok_and(|cpus| !cpus.is_empty())
}

/// Whether it is a CPU's frequency governor.
fn is_governor(file: &FileAsItWas) -> bool {
    let name = file.file.to_str().and_then(|name| name.strip_prefix("cpu"));
    let cpu = name.and_then(|name| name.strip_suffix("/cpufreq/scaling_governor"));
    let is_word = (1..=GOVERNOR_LONGEST).contains(&file.value.len())
        && file.value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    cpu.is_some_and(is_number) && is_word
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_cgroups(path: &Path) -> bool {
    is_of(path, &CGROUP)
}

/// Whether a path is one of such a file system: absolute, without `..`, and not by a link at its end.
fn is_of(path: &Path, magics: &[i64]) -> bool {
    let plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let found = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
    let magic = found.and_then(|file| fstatfs(&file)).map(|file_system| file_system.f_type);
    path.is_absolute() && plain && magic.is_ok_and(|magic| magics.contains(&magic))
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

    fn restore(directory: &str, file: &str, value: &str) -> Undo {
        let files = vec![FileAsItWas { file: file.into(), value: value.into() }];
        Undo::Restore { directory: directory.into(), files }
    }

    #[test]
    fn what_quiet_machines_had_is_permitted_and_nothing_beside_it() {
        let (irqs, cpus) = ("/proc/irq", "/sys/devices/system/cpu");
        for step in [
            restore(irqs, "24/smp_affinity_list", "0-3"),
            restore(irqs, "default_smp_affinity", "ff,00000003"),
            restore(cpus, "cpu10/cpufreq/scaling_governor", "schedutil"),
        ] {
            assert_eq!(check(&step), Ok(()), "{step:?}");
        }
        for step in [
            restore(irqs, "24/smp_affinity_list", ""),
            restore(irqs, "24/smp_affinity_list", "all"),
            restore(irqs, "24/smp_affinity", "3"),
            restore(irqs, "../24/smp_affinity_list", "0"),
            restore(irqs, "/24/smp_affinity_list", "0"),
            restore(irqs, "/smp_affinity_list", "0"),
            restore(irqs, "default_smp_affinity", "everywhere"),
            restore(irqs, "cpu0/cpufreq/scaling_governor", "schedutil"),
            restore(cpus, "cpu0/online", "0"),
            restore(cpus, "cpu0/../../cpufreq/scaling_governor", "schedutil"),
            restore(cpus, "cpu0/cpufreq/scaling_governor", "|/bin/sh"),
            restore(cpus, "cpu0/cpufreq/scaling_governor", ""),
            restore("/proc/sys", "default_smp_affinity", "1"),
            restore("/tmp", "24/smp_affinity_list", "0"),
            restore("/proc/../proc/irq", "24/smp_affinity_list", "0"),
        ] {
            assert!(check(&step).is_err(), "{step:?}");
        }
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
