//! What else takes part in scheduling.

use super::number;
use crate::evidence::{Evidence, Unseen, unseen};
use crate::host::{Host, Unloadable};
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};

const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";
const LSM: &str = "/sys/kernel/security/lsm";
const STATE: &str = "/sys/kernel/sched_ext/state";

pub const CHECKS: &[Check] = &[
    Check {
        name: "sched-ext-attached",
        severity: Severity::Moderate,
        rule: "a sched_ext scheduler is attached",
        why: "it decides when background threads run, among them those that real-time tasks wait for; laxity's own policies cannot \
              be attached beside it",
        judge: sched_ext_attached,
    },
    Check {
        name: "sched-ext-fifo",
        severity: Severity::Minor,
        rule: "a sched_ext scheduler is attached, in a Linux before 7.0",
        why: "a SCHED_FIFO thread that keeps a CPU for half a minute starves all threads of the sched_ext scheduler there, and \
              the kernel then ends it",
        judge: sched_ext_fifo,
    },
    Check {
        name: "sched-ext-clocks",
        severity: Severity::Minor,
        rule: "a sched_ext scheduler is attached, in Linux 7.2 or 7.3",
        why: "these kernels credit what a thread of sched_ext has used since the last tick to the next thread: measured \
              execution times may be off by up to a tick",
        judge: sched_ext_clocks,
    },
    Check {
        name: "sched-ext-build",
        severity: Severity::Minor,
        rule: "the kernel has sched_ext but laxity's own policies, or some of them, cannot be loaded into it: it is \
               older than Linux 6.14 (push-pull and g-edf-mp: 6.15), lacks BTF, or is one of the builds with broken BTF \
               (Debian's 7.1.7, 7.1.8, 7.1.13, 7.2.9 and 7.2.12)",
        why: "`laxity load`, and `laxity run` under these policies, do not work; Linux's own schedulers do",
        judge: sched_ext_build,
    },
    Check {
        name: "bpf-lsm",
        severity: Severity::Minor,
        rule: "the kernel has sched_ext, and bpf is not one of its active security modules",
        why: "laxity's own policies then hear of threads that ask for admission by tracing: of hundreds that ask at the same instant \
              some may be told yes although the policy has not heard of them",
        judge: bpf_lsm,
    },
    Check {
        name: "autogroup",
        severity: Severity::Minor,
        rule: "sched_autogroup_enabled is 1",
        why: "nice values of background threads count only within their session: a nice value chosen to keep background work away \
              does not do so against another session",
        judge: |host| {
            // Every Linux has the one, and those that were built with autogroups the other.
            if host.exists("/proc/sys/kernel/sched_rt_runtime_us") && !host.exists(AUTOGROUP) {
                return Verdict::not_here("the kernel has no autogroups");
            }
            number(host, AUTOGROUP, |on| on == 0, "0", |_| "autogroups are on".to_owned())
        },
    },
];

/// What is attached, with the evidence; none where the kernel has no sched_ext.
pub fn attached(host: &Host) -> Result<Option<(String, Vec<Evidence>)>, Unseen> {
    if !host.exists("/sys/kernel/sched_ext") {
        return Ok(None);
    }
    let state = host.text(STATE)?;
    if !matches!(state.value(), "enabling" | "enabled" | "disabling" | "disabled") {
        return Err(state.not_understood());
    }
    Ok(laxity_kernel::attached_under(host.root()).map(|name| {
        let evidence = vec![state.evidence(), Evidence::new("/sys/kernel/sched_ext/root/ops", name.clone())];
        (name, evidence)
    }))
}

fn sched_ext_attached(host: &Host) -> Judged {
    if !host.exists("/sys/kernel/sched_ext") {
        return Verdict::not_here("the kernel has no sched_ext");
    }
    match attached(host)? {
        None => Verdict::fine(vec![host.text(STATE)?.evidence()]),
        Some((name, evidence)) => {
            let remedy = Remedy::other("end the program that has attached it", "start that program again");
            Verdict::found(format!("the sched_ext scheduler {name} is attached"), evidence, remedy)
        }
    }
}

fn sched_ext_fifo(host: &Host) -> Judged {
    defect(
        host,
        |version| version < (7, 0),
        "a SCHED_FIFO thread can end the attached scheduler",
        "of Linux 7.0 or later",
    )
}

fn sched_ext_clocks(host: &Host) -> Judged {
    let affected = |version| ((7, 2)..=(7, 3)).contains(&version);
    defect(
        host,
        affected,
        "CPU clocks of the attached scheduler's threads are inexact",
        "other than Linux 7.2 and 7.3",
    )
}

/// A defect of some kernels that only matters while a sched_ext scheduler is attached.
fn defect(host: &Host, affected: impl Fn((u32, u32)) -> bool, what: &str, other: &str) -> Judged {
    let Some((_, mut evidence)) = attached(host)? else {
        return Verdict::not_here("no sched_ext scheduler is attached");
    };
    evidence.push(host.release_evidence());
    match affected(host.version()?) {
        true => Verdict::found(what, evidence, Remedy::kernel(other)),
        false => Verdict::fine(evidence),
    }
}

fn bpf_lsm(host: &Host) -> Judged {
    if !host.exists("/sys/kernel/sched_ext") {
        return Verdict::not_here("the kernel has no sched_ext");
    }
    let active = host.text(LSM)?;
    let modules: Vec<&str> = active.value().split(',').collect();
    let plain = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // `capability` is in every such list.
    if !modules.iter().all(plain) || !modules.contains(&"capability") {
        return Err(active.not_understood());
    }
    if modules.contains(&"bpf") {
        return Verdict::fine(vec![active.evidence()]);
    }
    // `capability` is always there, and not named.
    let wanted: Vec<&str> = modules.into_iter().filter(|name| *name != "capability").chain(["bpf"]).collect();
    let remedy = match host.config().map(|config| config.has("BPF_LSM")) {
        Ok(false) => Remedy::kernel("that was built with CONFIG_BPF_LSM"),
        _ => Remedy::parameter(format!("lsm={}", wanted.join(","))),
    };
    Verdict::found("the security module bpf is not active", vec![active.evidence()], remedy)
}

fn sched_ext_build(host: &Host) -> Judged {
    if !host.exists("/sys/kernel/sched_ext") {
        return Verdict::not_here("the kernel has no sched_ext");
    }
    match &host.probes.policies {
        None => unseen("laxity was not asked what the kernel takes"),
        Some(None) => {
            Verdict::fine(vec![Evidence::new("/sys/kernel/btf/vmlinux", "has what laxity's policies need")])
        }
        Some(Some(Unloadable { which, reason, hint })) => {
            let evidence =
                vec![host.release_evidence(), Evidence::new("/sys/kernel/btf/vmlinux", reason.clone())];
            let remedy = Remedy::other(hint.clone(), "boot the present kernel again");
            Verdict::found(format!("{which} cannot be loaded"), evidence, remedy)
        }
    }
}
