//! Processors of unequal speed: each gets a part of the time of one of the host's, and no more.
//!
//! QEMU has a thread per processor, and a thread of SCHED_DEADLINE gets its reservation and is held to it. The host enforces that at
//! its ticks: a processor of a quarter may run for 4 ms and be away for 12, so what is measured in such a machine should take much
//! longer than that.

use laxity_model::{Diagnostic, Duration, Result, Speed};
use laxity_sys::{Attributes, flag, policy, set_attributes};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The host's ticks are as rare; anything between them only makes timers.
const PERIOD: Duration = Duration::from_ms(4);

/// Whether these can be the speeds of a machine's processors.
///
/// # Errors
/// One for each of `cpus`, above 0 and at most 1.
pub fn check(speeds: &[Speed], cpus: u32) -> Result<()> {
    if !speeds.is_empty() && u32::try_from(speeds.len()) != Ok(cpus) {
        let given = speeds.len();
        return Err(Diagnostic::usage(format!("{given} speeds for the machine's {cpus} CPUs"))
            .hint("give --cpu-speeds one for each of --cpus"));
    }
    match speeds.iter().find(|&&speed| speed > Speed::UNIT) {
        None => Ok(()),
        Some(speed) => Err(Diagnostic::usage(format!(
            "a CPU cannot have {speed} times the speed of the host's"
        ))
        .hint("speeds are parts of one of the host's CPUs: at most 1, and together less than it has CPUs")),
    }
}

/// Holds the processors of QEMU's process `pid` to these parts of the host's. A whole one is not held to anything.
///
/// # Errors
/// QEMU has no thread for each of them, or the host's kernel does not admit that much.
pub fn hold(pid: u32, speeds: &[Speed]) -> Result<()> {
    if speeds.is_empty() {
        return Ok(());
    }
    let threads = threads(pid)
        .map_err(|error| Diagnostic::environment(format!("cannot find QEMU's threads: {error}")))?;
    for (cpu, &speed) in (0..).zip(speeds) {
        let tid = *threads.get(&cpu).ok_or_else(one_thread)?;
        if speed < Speed::UNIT {
            reserve(tid, speed).map_err(|error| refused(cpu, speed, speeds, &error))?;
        }
    }
    Ok(())
}

fn one_thread() -> Diagnostic {
    Diagnostic::environment("QEMU executes all CPUs by one thread here: they cannot have speeds of their own").hint(
        "--cpu-speeds needs QEMU 8.1 or newer (Debian 12: apt-get install -t bookworm-backports qemu-system-x86), KVM, or --cpus 1",
    )
}

fn refused(cpu: u32, speed: Speed, speeds: &[Speed], error: &io::Error) -> Diagnostic {
    let all: f64 =
        speeds.iter().map(|speed| f64::from(speed.numerator()) / f64::from(speed.denominator())).sum();
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let hint = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "reservations of the host's time need root (CAP_SYS_NICE), and CPUs that are not restricted"
                .to_owned()
        }
        _ => format!(
            "the CPUs are to have {all:.2} of the host's {here} together; its kernel leaves a twentieth to everything else"
        ),
    };
    Diagnostic::environment(format!("CPU {cpu} cannot have {speed} of one of the host's: {error}")).hint(hint)
}

/// The processors that a process of QEMU's has threads for, and these threads.
fn threads(pid: u32) -> io::Result<BTreeMap<u32, i32>> {
    let mut found = BTreeMap::new();
    for task in fs::read_dir(PathBuf::from(format!("/proc/{pid}/task")))? {
        let path = task?.path();
        // A thread may end meanwhile.
        let name = fs::read_to_string(path.join("comm")).unwrap_or_default();
        let tid = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        found.extend(cpu_of(&name).zip(tid));
    }
    Ok(found)
}

/// The processor of a thread with this name: `CPU 3/TCG`, `CPU 3/KVM`; `ALL CPUs/TCG` is the first and, before QEMU 8.1, all others.
fn cpu_of(name: &str) -> Option<u32> {
    match name.split_once('/')?.0 {
        "ALL CPUs" => Some(0),
        name => name.strip_prefix("CPU ")?.parse().ok(),
    }
}

fn reserve(tid: i32, speed: Speed) -> io::Result<()> {
    let part = u128::from(PERIOD.as_ns()) * u128::from(speed.numerator()) / u128::from(speed.denominator());
    let wanted = Attributes {
        policy: policy::DEADLINE,
        // A thread that it makes is no processor of the machine.
        flags: flag::RESET_ON_FORK,
        runtime_ns: u64::try_from(part).expect("a part of the period"),
        deadline_ns: PERIOD.as_ns(),
        period_ns: PERIOD.as_ns(),
        ..Attributes::default()
    };
    set_attributes(tid, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_sys::attributes;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    fn speeds(text: &str) -> Vec<Speed> {
        text.split(',').map(|speed| speed.parse().expect("a speed")).collect()
    }

    #[test]
    fn one_for_each_and_at_most_one() {
        assert_eq!(check(&[], 8), Ok(()));
        assert_eq!(check(&speeds("1,0.5"), 2), Ok(()));
        assert!(check(&speeds("1,0.5"), 3).is_err_and(|why| why.message.contains("2 speeds")));
        assert!(check(&speeds("1,1.5"), 2).is_err_and(|why| why.message.contains("3/2")));
    }

    #[test]
    fn threads_are_known_by_their_names() {
        assert_eq!(cpu_of("CPU 12/TCG\n"), Some(12));
        assert_eq!(cpu_of("CPU 0/KVM\n"), Some(0));
        assert_eq!(cpu_of("ALL CPUs/TCG\n"), Some(0));
        for other in ["qemu-system-x86", "CPU x/TCG", "CPU 1"] {
            assert_eq!(cpu_of(other), None, "{other}");
        }
    }

    #[test]
    fn threads_get_their_part_or_it_says_what_is_needed() {
        let over = Arc::new(AtomicBool::new(false));
        let idle = |name: &str| {
            let over = Arc::clone(&over);
            let idle = move || {
                while !over.load(Ordering::Relaxed) {
                    thread::sleep(std::time::Duration::from_millis(5));
                }
            };
            thread::Builder::new().name(name.to_owned()).spawn(idle).expect("a thread")
        };
        let all = [idle("CPU 0/TCG"), idle("CPU 1/TCG")];
        let pid = std::process::id();
        // A thread is called so once it runs.
        while threads(pid).expect("threads").len() < 2 {
            thread::yield_now();
        }
        let held = hold(pid, &speeds("1,0.05"));
        let found: Vec<_> =
            threads(pid).expect("threads").values().map(|&tid| attributes(tid).expect("a thread")).collect();
        let missing = hold(pid, &speeds("1,1,1"));
        over.store(true, Ordering::Relaxed);
        for thread in all {
            thread.join().expect("it ends");
        }
        match held {
            Ok(()) => {
                let held = (found[1].policy, found[1].runtime_ns, found[1].period_ns);
                assert_eq!(held, (policy::DEADLINE, 200_000, 4_000_000));
            }
            Err(why) => {
                assert!(why.message.contains("CPU 1 cannot have 1/20") && why.hint.is_some(), "{why:?}")
            }
        }
        assert_ne!(found[0].policy, policy::DEADLINE, "a whole one is not held");
        assert!(missing.is_err_and(|why| why.message.contains("one thread")));
    }
}
