//! How the kernel was built, and what has happened to it.

use super::{costing, interrupts, number};
use crate::evidence::{Evidence, Unseen, unseen};
use crate::host::Host;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};

const TRACER: &str = "/sys/kernel/tracing/current_tracer";
const PREEMPT: &str = "/sys/kernel/debug/sched/preempt";
const TAINTED: &str = "/proc/sys/kernel/tainted";

/// Options that check locks at every use.
const LOCK_DEBUGGING: [&str; 8] = [
    "PROVE_LOCKING",
    "LOCK_STAT",
    "DEBUG_LOCK_ALLOC",
    "DEBUG_SPINLOCK",
    "DEBUG_MUTEXES",
    "DEBUG_RT_MUTEXES",
    "DEBUG_RWSEMS",
    "DEBUG_ATOMIC_SLEEP",
];
/// Options that check every access to memory, or every allocation.
const MEMORY_DEBUGGING: [&str; 8] = [
    "KASAN_GENERIC",
    "KASAN_SW_TAGS",
    "KCSAN",
    "KMSAN",
    "DEBUG_PAGEALLOC_ENABLE_DEFAULT",
    "SLUB_DEBUG_ON",
    "DEBUG_OBJECTS",
    "DEBUG_KMEMLEAK",
];
/// Bits of /proc/sys/kernel/tainted after which a kernel is not what it was, and what they mean.
const BROKEN: [(u32, &str); 3] =
    [(4, "a machine check (M)"), (7, "an oops (D)"), (14, "a CPU that did not schedule for long (L)")];

pub const CHECKS: &[Check] = &[
    Check {
        name: "preemption",
        severity: Severity::Severe,
        rule: "the preemption model is none or voluntary",
        why: "a real-time task has to wait until the kernel's code on its CPU comes to an end or to a place where it offers to be \
              preempted, for milliseconds at times",
        judge: |host| costing(preemption(host), || host.wakeups()),
    },
    Check {
        name: "preempt-rt",
        severity: Severity::Minor,
        rule: "the kernel is not PREEMPT_RT",
        why: "interrupt handlers, softirqs and code that holds spin locks are not preempted: delays of some 100 us are rare, but \
              nothing bounds them",
        judge: |host| costing(preempt_rt(host), || host.wakeups()),
    },
    Check {
        name: "lock-debugging",
        severity: Severity::Moderate,
        rule: "the kernel checks its locks at every use (PROVE_LOCKING, LOCK_STAT, DEBUG_LOCK_ALLOC, DEBUG_SPINLOCK, \
               DEBUG_MUTEXES, DEBUG_RT_MUTEXES, DEBUG_RWSEMS, DEBUG_ATOMIC_SLEEP)",
        why: "every call of the kernel takes several times as long, and sections that cannot be interrupted do",
        judge: |host| costing(debugging(host, &LOCK_DEBUGGING, "its locks"), || host.wakeups()),
    },
    Check {
        name: "memory-debugging",
        severity: Severity::Moderate,
        rule: "the kernel checks every access to memory or every allocation (KASAN_GENERIC, KASAN_SW_TAGS, KCSAN, KMSAN, \
               DEBUG_PAGEALLOC_ENABLE_DEFAULT, SLUB_DEBUG_ON, DEBUG_OBJECTS, DEBUG_KMEMLEAK)",
        why: "every call of the kernel takes several times as long, and sections that cannot be interrupted do",
        judge: |host| costing(debugging(host, &MEMORY_DEBUGGING, "its memory"), || host.wakeups()),
    },
    Check {
        name: "tracer",
        severity: Severity::Moderate,
        rule: "ftrace has a tracer other than nop",
        why: "the kernel writes a record at many places, some tracers at every function",
        judge: |host| costing(tracer(host), || host.wakeups()),
    },
    Check {
        name: "kernel-broken",
        severity: Severity::Moderate,
        rule: "the kernel is tainted by an oops, a machine check or a soft lockup since the machine was booted",
        why: "threads and locks may be left over from the failure: delays that no setting explains",
        judge: broken,
    },
    Check {
        name: "rcu-expedited",
        severity: Severity::Minor,
        rule: "rcu_expedited is not 0",
        why: "each grace period of RCU interrupts all CPUs to be shorter",
        judge: |host| {
            number(
                host,
                "/sys/kernel/rcu_expedited",
                |on| on == 0,
                "0",
                |_| "grace periods of RCU interrupt all CPUs".to_owned(),
            )
        },
    },
    Check {
        name: "budget-accounting",
        severity: Severity::Moderate,
        rule: "the kernel was built without CONFIG_IRQ_TIME_ACCOUNTING, and interrupts of devices may come to real-time CPUs; in a \
               virtual machine: or without CONFIG_PARAVIRT_TIME_ACCOUNTING (where the architecture has it), and the hypervisor \
               gave away time of these CPUs",
        why: "what is not told apart (interrupts, or time that the hypervisor gave to others) is charged to the budgets of \
              SCHED_DEADLINE tasks, which are then throttled before their jobs end",
        judge: accounting,
    },
];

/// The preemption model in force and where it is seen: `none`, `voluntary`, `full`, `lazy` or `PREEMPT_RT`.
fn model(host: &Host) -> Result<(String, Vec<Evidence>), Unseen> {
    let fact = host.fact("preemption")?;
    let read = ["/sys/kernel/realtime", "/sys/kernel/debug/sched/preempt", "/proc/sys/kernel/version"]
        .into_iter()
        .find_map(|file| host.text(file).ok());
    let seen = read.map(|read| vec![read.evidence()]).unwrap_or_default();
    match fact {
        "PREEMPT_RT" | "none" | "voluntary" | "full" | "lazy" => return Ok((fact.to_owned(), seen)),
        "PREEMPT" => return Ok(("full".to_owned(), seen)),
        _ => {}
    }
    if let Some((value, word)) = host.booted_with("preempt")? {
        return match value.as_str() {
            "none" | "voluntary" | "full" | "lazy" => Ok((value, vec![word])),
            _ => unseen(format!("`{}` is not understood", word.value)),
        };
    }
    // What the kernel was built with holds unless debugfs has changed it, which was asked above where it can be seen.
    let config = host.config()?;
    let built = [
        ("PREEMPT_RT", "PREEMPT_RT"),
        ("PREEMPT_NONE", "none"),
        ("PREEMPT_VOLUNTARY", "voluntary"),
        ("PREEMPT_LAZY", "lazy"),
        ("PREEMPT", "full"),
    ];
    match built.into_iter().find(|(option, _)| config.has(option)) {
        Some((option, model)) => Ok((model.to_owned(), vec![config.evidence(option)])),
        None => unseen("neither debugfs nor the kernel's configuration says the preemption model"),
    }
}

fn preemption(host: &Host) -> Judged {
    let (model, evidence) = model(host)?;
    if !matches!(model.as_str(), "none" | "voluntary") {
        return Verdict::fine(evidence);
    }
    let switchable = host.config().is_ok_and(|config| config.has("PREEMPT_DYNAMIC"))
        || host.text("/proc/sys/kernel/version").is_ok_and(|read| read.text.contains("PREEMPT_DYNAMIC"));
    let now = host.text(PREEMPT).is_ok_and(|read| read.text.split_whitespace().any(|word| word == "full"));
    let remedy = match (now, switchable) {
        (true, _) => Remedy::write(PREEMPT, "full", &model),
        (_, true) => Remedy::parameter("preempt=full"),
        _ => {
            Remedy::kernel("that was built with CONFIG_PREEMPT, CONFIG_PREEMPT_DYNAMIC or CONFIG_PREEMPT_RT")
        }
    };
    Verdict::found(format!("the kernel's preemption model is {model}"), evidence, remedy)
}

fn preempt_rt(host: &Host) -> Judged {
    let fact = host.fact("preemption")?;
    let version = host.text("/proc/sys/kernel/version")?;
    match fact {
        "PREEMPT_RT" => Verdict::fine(vec![version.evidence()]),
        _ if version.text.split_whitespace().any(|word| word == "SMP" || word.starts_with("PREEMPT")) => {
            Verdict::found(
                "the kernel is not PREEMPT_RT",
                vec![version.evidence()],
                Remedy::kernel("that was built with CONFIG_PREEMPT_RT (Debian: linux-image-rt-amd64)"),
            )
        }
        _ => Err(version.not_understood()),
    }
}

fn debugging(host: &Host, options: &[&str], what: &str) -> Judged {
    let config = host.config()?;
    let on: Vec<&str> = options.iter().copied().filter(|option| config.has(option)).collect();
    if on.is_empty() {
        return Verdict::fine(options.iter().take(2).map(|option| config.evidence(option)).collect());
    }
    let named: Vec<String> = on.iter().map(|option| format!("CONFIG_{option}")).collect();
    Verdict::found(
        format!("the kernel checks {what} all the time"),
        on.iter().map(|option| config.evidence(option)).collect(),
        Remedy::kernel(&format!("that was built without {}", named.join(", "))),
    )
}

fn tracer(host: &Host) -> Judged {
    let read = host.text(TRACER)?;
    match read.value() {
        "nop" => Verdict::fine(vec![read.evidence()]),
        name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            Verdict::found(
                format!("the kernel is traced ({name})"),
                vec![read.evidence()],
                Remedy::write(TRACER, "nop", name),
            )
        }
        _ => Err(read.not_understood()),
    }
}

fn broken(host: &Host) -> Judged {
    let read = host.text(TAINTED)?;
    let bits: u64 = read.parsed()?;
    let met: Vec<&str> =
        BROKEN.iter().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, what)| *what).collect();
    if met.is_empty() {
        return Verdict::fine(vec![read.evidence()]);
    }
    Verdict::found(
        format!("the kernel has met {}", met.join(", ")),
        vec![read.evidence()],
        Remedy::other("read `dmesg`, end the cause, and boot", "nothing was changed"),
    )
}

fn accounting(host: &Host) -> Judged {
    let config = host.config()?;
    let mut lacking = Vec::new();
    let mut evidence =
        vec![config.evidence("IRQ_TIME_ACCOUNTING"), config.evidence("PARAVIRT_TIME_ACCOUNTING")];
    // What does not come to these CPUs is not charged there.
    if !config.has("IRQ_TIME_ACCOUNTING") && !config.has("VIRT_CPU_ACCOUNTING_NATIVE") {
        match host.rest().is_none() || !interrupts::directed(host)?.is_empty() {
            true => lacking.push("IRQ_TIME_ACCOUNTING"),
            false => evidence.push(Evidence::new("/proc/irq/*/smp_affinity_list", "no real-time CPU")),
        }
    }
    let is_virtual = config.has("PARAVIRT") && host.fact("virtualization")? != "none";
    if is_virtual && !config.has("PARAVIRT_TIME_ACCOUNTING") {
        match host.cpu_times()?.1.stolen_ticks {
            0 => evidence.push(Evidence::new("/proc/stat", "no steal on real-time CPUs")),
            _ => lacking.push("PARAVIRT_TIME_ACCOUNTING"),
        }
    }
    if lacking.is_empty() {
        return Verdict::fine(evidence);
    }
    let named: Vec<String> = lacking.iter().map(|option| format!("CONFIG_{option}")).collect();
    let what = match lacking.len() {
        2 => "interrupts and the hypervisor's steal are charged to tasks",
        _ if lacking[0] == "IRQ_TIME_ACCOUNTING" => "interrupts are charged to tasks",
        _ => "the hypervisor's steal is charged to tasks",
    };
    Verdict::found(
        what,
        lacking.iter().map(|option| config.evidence(option)).collect(),
        Remedy::kernel(&format!("that was built with {}", named.join(" and "))),
    )
}
