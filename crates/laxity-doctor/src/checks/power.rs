//! Frequencies, idle states, heat, and threads that share a core.

use super::{costing, cpus_of, cpus_text};
use crate::evidence::{Evidence, Unseen, unseen};
use crate::host::Host;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};
use laxity_model::{CpuList, plural};
use std::fs;
use std::io::ErrorKind;

const CPU: &str = "/sys/devices/system/cpu/cpu{cpu}";
/// Waking up from an idle state takes no longer than this, us.
const WAKE_MAX_US: u64 = 10;

pub const CHECKS: &[Check] = &[
    Check {
        name: "cpufreq-governor",
        severity: Severity::Moderate,
        rule: "the governor of a real-time CPU is another than performance",
        why: "a CPU that was idle starts slowly: a job takes longer by the ratio of the frequencies until the governor reacts, \
              often some milliseconds",
        judge: |host| costing(governor(host), || slowest(host)),
    },
    Check {
        name: "energy-preference",
        severity: Severity::Minor,
        rule: "the energy performance preference of a real-time CPU is another than performance, or 0",
        why: "the processor itself chooses lower frequencies, and raises them later",
        judge: energy_preference,
    },
    Check {
        name: "turbo",
        severity: Severity::Minor,
        rule: "frequencies above the nominal one are allowed",
        why: "how long they last depends on heat and on the other CPUs: the same job takes different times",
        judge: turbo,
    },
    Check {
        name: "idle-states",
        severity: Severity::Moderate,
        rule: "a real-time CPU may enter an idle state whose latency is above 10 us. States above the limit in \
               /dev/cpu_dma_latency or the CPU's pm_qos_resume_latency_us do not count",
        why: "an interrupt or a release has to wait until the CPU has left the state",
        judge: |host| costing(idle_states(host), || host.wakeups()),
    },
    Check {
        name: "thermal-throttling",
        severity: Severity::Moderate,
        rule: "a real-time CPU was slowed down for its heat since the machine was booted",
        why: "execution times grow while the CPU is slowed down",
        judge: thermal,
    },
    Check {
        name: "smt-siblings",
        severity: Severity::Moderate,
        rule: "a real-time CPU shares its core with another online CPU",
        why: "the two share execution units and caches: a job takes longer while the other one works, up to twice as long",
        judge: smt,
    },
    Check {
        name: "cpus-offline",
        severity: Severity::Minor,
        rule: "a CPU is present but offline, for another reason than SMT being off",
        why: "its load has to be carried by the others, and cpusets that name it have fewer CPUs than their sets were proven for",
        judge: offline,
    },
];

fn governor(host: &Host) -> Judged {
    let file = format!("{CPU}/cpufreq/scaling_governor");
    if !host.cpus().iter().any(|cpu| host.exists(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq"))) {
        return unseen("Linux does not control the frequency (no cpufreq): firmware, or a hypervisor, may");
    }
    each_is(
        host,
        &file,
        |value| value == "performance",
        "performance",
        |cpus, other| format!("the frequency of {cpus} follows the load ({other})"),
    )
}

/// The real-time CPU whose frequency is the smallest part of its highest one.
fn slowest(host: &Host) -> Option<String> {
    let khz = |cpu: u32, file: &str| {
        let read = host.text(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{file}")).ok()?;
        read.parsed::<u64>().ok()
    };
    let part = |cpu| Some((khz(cpu, "scaling_cur_freq")?, khz(cpu, "cpuinfo_max_freq")?, cpu));
    let share = |&(now, most, _): &(u64, u64, u32)| now.saturating_mul(1000).checked_div(most);
    let (now, most, cpu) = host.cpus().iter().filter_map(part).min_by_key(share)?;
    Some(format!("CPU {cpu} is at {} MHz of {} MHz", now / 1000, most / 1000))
}

fn energy_preference(host: &Host) -> Judged {
    let file = format!("{CPU}/cpufreq/energy_performance_preference");
    let first = host.cpus().lowest().unwrap_or(0).to_string();
    if !host.exists(&file.replace("{cpu}", &first)) {
        return Verdict::not_here(
            "the processor has no energy performance preference, or its driver does not use it",
        );
    }
    each_is(
        host,
        &file,
        |value| matches!(value, "performance" | "0"),
        "performance",
        |cpus, other| format!("{cpus} may save energy ({other})"),
    )
}

/// A file of each CPU that has to have one of some values.
fn each_is(
    host: &Host,
    file: &str,
    is_fine: impl Fn(&str) -> bool,
    wanted: &str,
    what: impl Fn(&str, &str) -> String,
) -> Judged {
    let mut all = Vec::new();
    for (cpu, read) in host.of_each(file)? {
        let value = read.value();
        if value.is_empty() || !value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(read.not_understood());
        }
        all.push((cpu, value.to_owned()));
    }
    let other: Vec<(u32, String)> = all.iter().filter(|(_, value)| !is_fine(value)).cloned().collect();
    let Some((_, value)) = other.first() else { return Verdict::fine(super::of_each(file, &all)) };
    let what = what(&cpus_of(&other), value);
    Verdict::found(what, super::of_each(file, &other), Remedy::write_each(file, wanted, &other))
}

fn turbo(host: &Host) -> Judged {
    let boost = "/sys/devices/system/cpu/cpufreq/boost";
    let no_turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    let (file, off, on) = if host.exists(boost) { (boost, "0", "1") } else { (no_turbo, "1", "0") };
    if !host.exists(file) {
        return Verdict::not_here("Linux has no switch for frequencies above the nominal one here");
    }
    let read = host.text(file)?;
    if !matches!(read.value(), "0" | "1") {
        return Err(read.not_understood());
    }
    match host.fact("turbo_boost")? {
        "off" => Verdict::fine(vec![read.evidence()]),
        _ => Verdict::found(
            "frequencies above the nominal one are allowed",
            vec![read.evidence()],
            Remedy::write(file, off, on),
        ),
    }
}

/// An idle state that a CPU may enter.
struct State {
    cpu: u32,
    number: u32,
    name: String,
    latency_us: u64,
}

fn idle_states(host: &Host) -> Judged {
    let first = host.cpus().lowest().unwrap_or(0);
    if !host.exists(&format!("/sys/devices/system/cpu/cpu{first}/cpuidle/state0")) {
        return match host.booted_with("idle")? {
            Some((value, word)) if value == "poll" => Verdict::fine(vec![word]),
            _ => {
                unseen("Linux has no idle states to choose from (no cpuidle): firmware, or a hypervisor, may")
            }
        };
    }
    let mut slow: Vec<State> = Vec::new();
    let mut deepest = Vec::new();
    for cpu in host.cpus().iter() {
        let states = enabled_states(host, cpu)?;
        let longest = states.iter().max_by_key(|state| state.latency_us);
        deepest.extend(longest.map(|state| (cpu, state.latency_us.to_string())));
        slow.extend(states.into_iter().filter(|state| state.latency_us > WAKE_MAX_US));
    }
    if slow.is_empty() {
        return Verdict::fine(super::of_each(
            &format!("{CPU}/cpuidle/state*/latency (the deepest enabled), us"),
            &deepest,
        ));
    }
    let Some(global) = global_limit(host)? else {
        return unseen(
            "states above 10 us are enabled, but a program may forbid them by /dev/cpu_dma_latency, which is for root only",
        );
    };
    let mut kept = Vec::new();
    for state in slow {
        let limit = cpu_limit(host, state.cpu)?.unwrap_or(u64::MAX).min(global);
        if state.latency_us <= limit {
            kept.push(state);
        }
    }
    let Some(worst) = kept.iter().max_by_key(|state| state.latency_us) else {
        let limit = "/dev/cpu_dma_latency or pm_qos_resume_latency_us";
        return Verdict::fine(vec![Evidence::new(limit, "forbids the states above 10 us")]);
    };
    let file = |state: &State, what: &str| {
        format!("/sys/devices/system/cpu/cpu{}/cpuidle/state{}/{what}", state.cpu, state.number)
    };
    let mut evidence = vec![
        Evidence::new(file(worst, "name"), worst.name.clone()),
        Evidence::new(file(worst, "latency"), worst.latency_us.to_string()),
    ];
    if global < u64::MAX {
        evidence.push(Evidence::new("/dev/cpu_dma_latency", format!("{global} us")));
    }
    let cpus: CpuList = kept.iter().map(|state| state.cpu).collect();
    let what = format!(
        "{} may enter idle state {}, which takes {} us to leave",
        cpus_text(&cpus),
        worst.name,
        worst.latency_us
    );
    Verdict::found(what, evidence, disable(&kept))
}

/// Switches states off, by state for all CPUs that have it on.
fn disable(states: &[State]) -> Remedy {
    let mut numbers: Vec<u32> = states.iter().map(|state| state.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let remedies = numbers.into_iter().map(|number| {
        let now: Vec<(u32, String)> = states
            .iter()
            .filter(|state| state.number == number)
            .map(|state| (state.cpu, "0".to_owned()))
            .collect();
        Remedy::write_each(&format!("{CPU}/cpuidle/state{number}/disable"), "1", &now)
    });
    let (fix, undo): (Vec<_>, Vec<_>) = remedies.map(|one| (one.fix, one.undo)).unzip();
    Remedy::commands(fix.concat(), undo.concat())
}

fn enabled_states(host: &Host, cpu: u32) -> Result<Vec<State>, Unseen> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let numbers: Vec<u32> =
        host.names(&folder).iter().filter_map(|name| name.strip_prefix("state")?.parse().ok()).collect();
    if numbers.is_empty() {
        return unseen(format!("{folder} has no states"));
    }
    let mut states = Vec::new();
    for number in numbers {
        let of = |what: &str| host.text(&format!("{folder}/state{number}/{what}"));
        let disabled = of("disable")?.parsed::<u64>()? != 0;
        let latency_us = of("latency")?.parsed()?;
        if !disabled {
            states.push(State { cpu, number, name: of("name")?.value().to_owned(), latency_us });
        }
    }
    Ok(states)
}

/// The longest latency that programs allow all CPUs, us: four bytes. `None`: this process may not see it. Without the file
/// there is no such limit.
fn global_limit(host: &Host) -> Result<Option<u64>, Unseen> {
    match fs::read(host.path("/dev/cpu_dma_latency")) {
        Ok(bytes) => match <[u8; 4]>::try_from(bytes.as_slice()).map(i32::from_ne_bytes).map(u64::try_from) {
            Ok(Ok(us)) => Ok(Some(us)),
            _ => unseen("/dev/cpu_dma_latency does not hold four bytes"),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(u64::MAX)),
        Err(_) => Ok(None),
    }
}

/// The longest latency that is allowed one CPU, us; `None`: any. The file says 0 for that, and `n/a` for none at all.
fn cpu_limit(host: &Host, cpu: u32) -> Result<Option<u64>, Unseen> {
    let Some(read) =
        host.optional(&format!("/sys/devices/system/cpu/cpu{cpu}/power/pm_qos_resume_latency_us"))?
    else {
        return Ok(None);
    };
    match read.value() {
        "n/a" => Ok(Some(0)),
        _ => Ok(Some(read.parsed::<u64>()?).filter(|&us| us > 0)),
    }
}

fn thermal(host: &Host) -> Judged {
    let file = format!("{CPU}/thermal_throttle/core_throttle_count");
    let mut hot = Vec::new();
    let all = host.of_each(&file)?;
    for (cpu, read) in &all {
        if read.parsed::<u64>()? > 0 {
            hot.push((*cpu, read.value().to_owned()));
        }
    }
    if hot.is_empty() {
        let all: Vec<_> = all.into_iter().map(|(cpu, read)| (cpu, read.value().to_owned())).collect();
        return Verdict::fine(super::of_each(&file, &all));
    }
    let most = hot.iter().filter_map(|(_, count)| count.parse::<u64>().ok()).max().unwrap_or(0);
    Verdict::measured(
        format!("{} was slowed down for its heat", cpus_of(&hot)),
        super::of_each(&file, &hot),
        Some(format!("up to {} since the machine was booted", plural(most, "time"))),
        Remedy::other(
            "cool the machine better, or limit its frequency (scaling_max_freq)",
            "lift the limit again",
        ),
    )
}

fn smt(host: &Host) -> Judged {
    let file = format!("{CPU}/topology/thread_siblings_list");
    let mut shared = Vec::new();
    let mut others: Vec<u32> = Vec::new();
    let all = host.of_each(&file)?;
    for (cpu, read) in &all {
        let siblings: CpuList = read.parsed()?;
        if !siblings.contains(*cpu) {
            return Err(read.not_understood());
        }
        let siblings = siblings.intersection(host.online());
        if siblings.len() > 1 {
            shared.push((*cpu, read.value().to_owned()));
            // The other one goes; of two real-time CPUs the higher.
            let goes = |&one: &u32| one != *cpu && (one > *cpu || !host.cpus().contains(one));
            others.extend(siblings.iter().filter(goes));
        }
    }
    if shared.is_empty() {
        let all: Vec<_> = all.into_iter().map(|(cpu, read)| (cpu, read.value().to_owned())).collect();
        return Verdict::fine(super::of_each(&file, &all));
    }
    let control = "/sys/devices/system/cpu/smt/control";
    let remedy = match host.text(control) {
        Ok(read) if read.value() == "on" => Remedy::write(control, "off", "on"),
        // Where the kernel has no switch, the further threads of each core go offline.
        _ => {
            others.sort_unstable();
            others.dedup();
            let now: Vec<(u32, String)> = others.into_iter().map(|cpu| (cpu, "1".to_owned())).collect();
            Remedy::write_each(&format!("{CPU}/online"), "0", &now)
        }
    };
    let what = format!("{} shares a core with another online CPU", cpus_of(&shared));
    Verdict::found(what.replace("CPUs", "each of CPUs"), super::of_each(&file, &shared), remedy)
}

fn offline(host: &Host) -> Judged {
    let present = host.text("/sys/devices/system/cpu/present")?;
    let cpus: CpuList = present.parsed()?;
    if cpus.is_empty() {
        return Err(present.not_understood());
    }
    let offline = cpus.difference(host.online());
    let evidence =
        vec![present.evidence(), Evidence::new("/sys/devices/system/cpu/online", host.online().to_string())];
    if offline.is_empty() {
        return Verdict::fine(evidence);
    }
    if let Ok(control) = host.text("/sys/devices/system/cpu/smt/control")
        && matches!(control.value(), "off" | "forceoff")
    {
        return Verdict::fine(vec![present.evidence(), control.evidence()]);
    }
    let now: Vec<(u32, String)> = offline.iter().map(|cpu| (cpu, "0".to_owned())).collect();
    let be = if offline.len() == 1 { "is" } else { "are" };
    let what = format!("{} {be} present but offline", cpus_text(&offline));
    Verdict::found(what, evidence, Remedy::write_each(&format!("{CPU}/online"), "1", &now))
}
