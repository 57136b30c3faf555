//! What the user who asks may do.

use crate::evidence::{Unseen, unseen};
use crate::host::{Host, Read};
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};

const LIMITS: &str = "/proc/self/limits";
/// Less locked memory than this refuses programs of a dozen threads (stacks of 8 MiB), bytes.
const LOCKED_LEAST: u64 = 256 << 20;

pub const CHECKS: &[Check] = &[
    Check {
        name: "rtprio-limit",
        severity: Severity::Severe,
        rule: "this process has no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0",
        why: "the kernel refuses SCHED_FIFO and SCHED_RR to this user's threads (EPERM); SCHED_DEADLINE needs CAP_SYS_NICE \
              whatever the limit is",
        judge: rtprio,
    },
    Check {
        name: "rttime-limit",
        severity: Severity::Severe,
        rule: "RLIMIT_RTTIME is not unlimited",
        why: "a SCHED_FIFO or SCHED_RR thread that runs for that long without blocking gets SIGXCPU, and is killed at the hard \
              limit",
        judge: rttime,
    },
    Check {
        name: "nice-limit",
        severity: Severity::Minor,
        rule: "this process has no CAP_SYS_NICE, and RLIMIT_NICE does not let it lower nice values below 0",
        why: "this user's background threads, such as those that feed real-time tasks, cannot go before other users' threads",
        judge: nice,
    },
    Check {
        name: "memlock-limit",
        severity: Severity::Moderate,
        rule: "this process has no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is below 256 MiB",
        why: "mlockall fails, or later allocations and new threads do; memory that is not locked can be paged out, and a page \
              fault of a real-time task can take milliseconds",
        judge: memlock,
    },
];

/// A limit, soft; `None`: unlimited.
fn limit(read: &Read, name: &str) -> Result<(Option<u64>, String), Unseen> {
    let line = read.text.lines().find(|line| line.starts_with(name)).ok_or_else(|| read.not_understood())?;
    let value = line[name.len()..].split_whitespace().next();
    match value {
        Some("unlimited") => Ok((None, line.to_owned())),
        Some(number) => match number.parse() {
            Ok(number) => Ok((Some(number), line.to_owned())),
            Err(_) => Err(read.not_understood()),
        },
        None => Err(read.not_understood()),
    }
}

/// Judges a limit that a capability overrides. `domain` is the word of limits.conf.
fn overridden(
    host: &Host,
    capable: Option<bool>,
    name: &str,
    is_fine: impl Fn(u64) -> bool,
    what: &str,
    domain: (&str, &str),
) -> Judged {
    let read = host.text(LIMITS)?;
    let (value, line) = limit(&read, name)?;
    let evidence = vec![read.says(line)];
    match (capable, value) {
        (Some(true), _) | (_, None) => Verdict::fine(evidence),
        (None, _) => unseen("the capabilities of this process cannot be read"),
        (_, Some(value)) if is_fine(value) => Verdict::fine(evidence),
        _ => Verdict::found(what, evidence, granted(domain.0, domain.1)),
    }
}

/// Grants a limit to this user, from the next login on.
fn granted(item: &str, value: &str) -> Remedy {
    let file = format!("/etc/security/limits.d/laxity-{item}.conf");
    Remedy::command(
        format!("echo \"$USER - {item} {value}\" | sudo tee {file}   # then log in again"),
        format!("sudo rm {file}   # then log in again"),
    )
}

fn rtprio(host: &Host) -> Judged {
    let what = "this user may not make threads real-time";
    overridden(host, host.probes.sys_nice, "Max realtime priority", |most| most > 0, what, ("rtprio", "98"))
}

fn nice(host: &Host) -> Judged {
    // The limit is 20 minus the lowest nice value.
    let what = "this user may not lower nice values below 0";
    overridden(host, host.probes.sys_nice, "Max nice priority", |most| most > 20, what, ("nice", "-20"))
}

fn memlock(host: &Host) -> Judged {
    let what = "this user may lock less than 256 MiB of memory";
    let enough = |most| most >= LOCKED_LEAST;
    overridden(host, host.probes.ipc_lock, "Max locked memory", enough, what, ("memlock", "unlimited"))
}

fn rttime(host: &Host) -> Judged {
    let read = host.text(LIMITS)?;
    let (value, line) = limit(&read, "Max realtime timeout")?;
    match value {
        None => Verdict::fine(vec![read.says(line)]),
        Some(us) => Verdict::found(
            format!("a real-time thread that runs for {us} us without blocking gets SIGXCPU"),
            vec![read.says(line)],
            Remedy::command("ulimit -R unlimited", format!("ulimit -R {us}")),
        ),
    }
}
