//! What a hypervisor or an emulator takes.

use super::costing;
use crate::evidence::Evidence;
use crate::host::Host;
use crate::measured::percent;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};
use laxity_trace::EMULATED;

/// More steal than this share of CPU time since the machine was booted is a finding, in thousandths.
const STEAL_MAX: u64 = 1;

pub const CHECKS: &[Check] = &[
    Check {
        name: "hypervisor-steal",
        severity: Severity::Severe,
        rule: "the hypervisor gave away more than 0.1 % of the real-time CPUs' time since the machine was booted, or any while \
               laxity watched",
        why: "a task does not run although it is scheduled, for as long as the hypervisor runs something else on the CPU: \
              milliseconds at a time",
        judge: steal,
    },
    Check {
        name: "emulation",
        severity: Severity::Severe,
        rule: "the processor is emulated (QEMU's TCG)",
        why: "instructions take 10 to 100 times as long, and times mean nothing",
        judge: |host| costing(emulation(host), || host.wakeups()),
    },
];

fn steal(host: &Host) -> Judged {
    let (before, after) = host.cpu_times()?;
    if after.all_ticks == 0 {
        return crate::evidence::unseen("/proc/stat counts no time");
    }
    let watched = (
        after.stolen_ticks.saturating_sub(before.stolen_ticks),
        after.all_ticks.saturating_sub(before.all_ticks),
    );
    let share = |(stolen, all)| percent(stolen, all).unwrap_or_else(|| "nothing".to_owned());
    let measured = format!(
        "{} of the CPU time {}, {} since the machine was booted",
        share(watched),
        host.in_time(),
        share((after.stolen_ticks, after.all_ticks))
    );
    let evidence = vec![Evidence::new("/proc/stat", format!("steal: {measured}"))];
    if watched.0 == 0 && after.stolen_ticks.saturating_mul(1000) <= after.all_ticks.saturating_mul(STEAL_MAX)
    {
        return Verdict::fine(evidence);
    }
    let remedy = Remedy::other(
        "on the host, give this machine's processors (the QEMU threads of its vCPUs) cores of their own, or use a machine \
         without a hypervisor",
        "on the host, release these cores again",
    );
    Verdict::measured("a hypervisor takes time from the real-time CPUs", evidence, Some(measured), remedy)
}

fn emulation(host: &Host) -> Judged {
    let fact = host.fact("virtualization")?;
    let evidence = vec![Evidence::new("/proc/cpuinfo", fact)];
    match fact.contains(EMULATED) {
        false => Verdict::fine(evidence),
        true => Verdict::found(
            "the processor is emulated",
            evidence,
            Remedy::other("use KVM (`-accel kvm`), or a real machine", "use the emulator again"),
        ),
    }
}
