//! How much of the CPUs the kernel leaves to real-time tasks.

use super::cpus_of;
use crate::evidence::{Evidence, Unseen};
use crate::host::Host;
use crate::measured::share_lost;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};
use laxity_model::Duration;
use laxity_run::{EXT_SERVER_SINCE, FAIR_SERVER_SINCE, KernelLimits};

const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const PERIOD: &str = "/proc/sys/kernel/sched_rt_period_us";
const PERIOD_MIN: &str = "/proc/sys/kernel/sched_deadline_period_min_us";
const PERIOD_MAX: &str = "/proc/sys/kernel/sched_deadline_period_max_us";

pub const CHECKS: &[Check] = &[
    Check {
        name: "rt-throttling",
        severity: Severity::Severe,
        rule: "sched_rt_runtime_us is below sched_rt_period_us, in a kernel that throttles SCHED_FIFO: before Linux 6.12, or \
               with groups of real-time tasks (see rt-group-sched)",
        why: "SCHED_FIFO and SCHED_RR tasks that have used their share of a period are stopped until it ends",
        judge: rt_throttling,
    },
    Check {
        name: "fair-server",
        severity: Severity::Severe,
        rule: "the fair server of a real-time CPU has a runtime above 0 (since Linux 6.12)",
        why: "background threads that have not had the runtime in a period, because SCHED_FIFO tasks leave too little of the CPU, \
              run before these tasks for the rest of it; SCHED_DEADLINE tasks can have that much less of the CPU",
        judge: fair_server,
    },
    Check {
        name: "ext-server",
        severity: Severity::Severe,
        rule: "a sched_ext scheduler is attached, and the ext server of a real-time CPU has a runtime above 0 (since Linux 7.0)",
        why: "threads of sched_ext that have not had the runtime in a period, because SCHED_FIFO tasks leave too little of the \
              CPU, run before these tasks for the rest of it",
        judge: ext_server,
    },
    Check {
        name: "deadline-admission",
        severity: Severity::Minor,
        rule: "sched_rt_runtime_us is negative",
        why: "the kernel admits any set of SCHED_DEADLINE tasks, also one that needs more than all CPUs; then budgets and \
              deadlines are guaranteed to none of them",
        judge: deadline_admission,
    },
    Check {
        name: "deadline-periods",
        severity: Severity::Minor,
        rule: "the limits on SCHED_DEADLINE's periods are narrower than Linux's defaults, 100 us and 4194304 us",
        why: "sched_setattr refuses SCHED_DEADLINE tasks with other periods (EINVAL)",
        judge: deadline_periods,
    },
    Check {
        name: "rt-group-sched",
        severity: Severity::Moderate,
        rule: "the kernel has groups of real-time tasks (CONFIG_RT_GROUP_SCHED) and was not booted with rt_group_sched=0",
        why: "each cgroup has a real-time budget of its own, 0 at first: in a new group SCHED_FIFO is refused; throttling stays \
              in force beside the fair server",
        judge: rt_group_sched,
    },
    Check {
        name: "cgroup-rt-budget",
        severity: Severity::Severe,
        rule: "the cgroup (v1, cpu) in which laxity was started has a real-time budget of 0",
        why: "the kernel refuses SCHED_FIFO and SCHED_RR to every thread in that group, also to root's (EPERM)",
        judge: cgroup_rt_budget,
    },
];

/// Both files of the limit, and the share that it leaves.
fn limit(host: &Host) -> Result<(KernelLimits, Vec<Evidence>), Unseen> {
    let (runtime, period) = (host.text(RUNTIME)?, host.text(PERIOD)?);
    runtime.parsed::<i64>()?;
    period.parsed::<i64>()?;
    Ok((KernelLimits::read_under(host.root(), host.cpus()), vec![runtime.evidence(), period.evidence()]))
}

fn rt_throttling(host: &Host) -> Judged {
    let (limits, mut evidence) = limit(host)?;
    let Some((runtime, period)) = limits.share() else { return Verdict::fine(evidence) };
    if host.version()? >= FAIR_SERVER_SINCE {
        let (groups, more) = groups(host)?;
        evidence.push(host.release_evidence());
        evidence.extend(more);
        if !groups {
            return Verdict::fine(evidence);
        }
    } else {
        evidence.push(host.release_evidence());
    }
    // Not -1, which would end the admission control of SCHED_DEADLINE.
    let remedy = Remedy::write(RUNTIME, &period.to_string(), &runtime.to_string());
    let time = |us: u64| Duration::from_us(us);
    let what = format!("SCHED_FIFO tasks are stopped after {} of each {}", time(runtime), time(period));
    let rest = period.saturating_sub(runtime);
    let measured = share_lost(rest, period, host.cpus(), "SCHED_FIFO tasks");
    Verdict::measured(what, evidence, measured, remedy)
}

fn fair_server(host: &Host) -> Judged {
    match host.version()? {
        version if version < FAIR_SERVER_SINCE => Verdict::not_here("Linux has a fair server since 6.12"),
        _ => server(host, "fair_server", "background threads"),
    }
}

fn ext_server(host: &Host) -> Judged {
    if super::schedulers::attached(host)?.is_none() {
        return Verdict::not_here("no sched_ext scheduler is attached");
    }
    match host.version()? {
        version if version < EXT_SERVER_SINCE => Verdict::not_here("Linux has an ext server since 7.0"),
        _ => server(host, "ext_server", "threads of sched_ext"),
    }
}

fn server(host: &Host, name: &str, of: &str) -> Judged {
    let file = format!("/sys/kernel/debug/sched/{name}/cpu{{cpu}}/runtime");
    let periods = host.of_each(&file.replace("runtime", "period"))?;
    let mut on = Vec::new();
    for (cpu, read) in host.of_each(&file)? {
        if read.parsed::<u64>()? > 0 {
            on.push((cpu, read.value().to_owned()));
        }
    }
    if on.is_empty() {
        return Verdict::fine(vec![Evidence::new(
            file.replace("{cpu}", &format!("{{{}}}", host.cpus())),
            "0",
        )]);
    }
    let longest = on.iter().filter_map(|(_, ns)| ns.parse::<u64>().ok()).max().unwrap_or(0);
    let mut evidence = super::of_each(&file, &on);
    let periods: Vec<(u32, String)> = periods
        .into_iter()
        .filter(|(cpu, _)| on.iter().any(|(one, _)| one == cpu))
        .map(|(cpu, read)| (cpu, read.value().to_owned()))
        .collect();
    evidence.extend(super::of_each(&file.replace("runtime", "period"), &periods));
    let what = format!(
        "on {} a server runs {of} before SCHED_FIFO tasks that leave them too little, for up to {} us of its period",
        cpus_of(&on),
        longest / 1000
    );
    let share = |(cpu, runtime): &(u32, String)| {
        let period = periods.iter().find(|(one, _)| one == cpu)?.1.parse::<u64>().ok()?;
        Some((runtime.parse::<u64>().ok()?, period))
    };
    let largest =
        on.iter().filter_map(share).max_by_key(|(part, all)| part.saturating_mul(10_000).checked_div(*all));
    let cpus = on.iter().map(|(cpu, _)| *cpu).collect();
    let measured = largest.and_then(|(part, all)| share_lost(part, all, &cpus, "SCHED_FIFO tasks"));
    Verdict::measured(what, evidence, measured, Remedy::write_each(&file, "0", &on))
}

fn deadline_admission(host: &Host) -> Judged {
    let (limits, evidence) = limit(host)?;
    if limits.rt_runtime_us >= 0 {
        return Verdict::fine(evidence);
    }
    let remedy = Remedy::write(RUNTIME, &limits.rt_period_us.to_string(), "-1");
    Verdict::found("SCHED_DEADLINE has no admission control", evidence, remedy)
}

fn deadline_periods(host: &Host) -> Judged {
    let (min, max) = (host.text(PERIOD_MIN)?, host.text(PERIOD_MAX)?);
    min.parsed::<u64>()?;
    max.parsed::<u64>()?;
    let (here, usual) = (KernelLimits::read_under(host.root(), host.cpus()), KernelLimits::default());
    let evidence = vec![min.evidence(), max.evidence()];
    let (mut fix, mut undo) = (Vec::new(), Vec::new());
    let mut write = |file: &str, wanted: u64, now: u64| {
        let remedy = Remedy::write(file, &wanted.to_string(), &now.to_string());
        fix.extend(remedy.fix);
        undo.extend(remedy.undo);
    };
    if here.deadline_period_min_us > usual.deadline_period_min_us {
        write(PERIOD_MIN, usual.deadline_period_min_us, here.deadline_period_min_us);
    }
    if here.deadline_period_max_us < usual.deadline_period_max_us {
        write(PERIOD_MAX, usual.deadline_period_max_us, here.deadline_period_max_us);
    }
    if fix.is_empty() {
        return Verdict::fine(evidence);
    }
    let (least, most) = (here.deadline_period_min_us, here.deadline_period_max_us);
    let what = format!("SCHED_DEADLINE takes only periods from {least} us to {most} us");
    Verdict::found(what, evidence, Remedy::commands(fix, undo))
}

/// Whether real-time tasks have groups with budgets, and the evidence.
fn groups(host: &Host) -> Result<(bool, Vec<Evidence>), Unseen> {
    let config = host.config()?;
    let mut evidence = vec![config.evidence("RT_GROUP_SCHED")];
    if !config.has("RT_GROUP_SCHED") {
        return Ok((false, evidence));
    }
    match host.booted_with("rt_group_sched")? {
        Some((value, word)) => {
            evidence.push(word);
            Ok((!matches!(value.as_str(), "0" | "n" | "N" | "off"), evidence))
        }
        None => Ok((!config.has("RT_GROUP_SCHED_DEFAULT_DISABLED"), evidence)),
    }
}

fn rt_group_sched(host: &Host) -> Judged {
    match groups(host)? {
        (false, evidence) => Verdict::fine(evidence),
        (true, evidence) => {
            // The parameter has come with the option for its default, which such a kernel's configuration names, set or not.
            let remedy = match host.config()?.names("RT_GROUP_SCHED_DEFAULT_DISABLED") {
                true => Remedy::parameter("rt_group_sched=0"),
                false => Remedy::kernel("that was built without CONFIG_RT_GROUP_SCHED"),
            };
            Verdict::found("real-time tasks need a budget of their cgroup", evidence, remedy)
        }
    }
}

fn cgroup_rt_budget(host: &Host) -> Judged {
    let (mounts, own) = (host.text("/proc/self/mounts")?, host.text("/proc/self/cgroup")?);
    let mount = mounts.text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let cpu = *fields.get(2)? == "cgroup" && fields.get(3)?.split(',').any(|option| option == "cpu");
        cpu.then(|| fields[1].trim_end_matches('/').to_owned())
    });
    let Some(mount) = mount else { return Verdict::not_here("the cpu controller is not one of cgroup v1") };
    let group = own.text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let is_cpu = fields.next()?.split(',').any(|controller| controller == "cpu");
        is_cpu.then(|| fields.next()).flatten()
    });
    let directory = format!("{mount}/{}", group.unwrap_or("").trim_matches('/'));
    let directory = directory.trim_end_matches('/');
    let Some(budget) = host.optional(&format!("{directory}/cpu.rt_runtime_us"))? else {
        return Verdict::not_here("cgroups have no real-time budgets (no cpu.rt_runtime_us)");
    };
    match budget.parsed::<i64>()? {
        0 => {
            let enter = |group: &str| format!("echo $$ | sudo tee {group}/tasks");
            let remedy = Remedy::command(enter(&mount), enter(directory));
            Verdict::found("the present cgroup has no real-time budget", vec![budget.evidence()], remedy)
        }
        _ => Verdict::fine(vec![budget.evidence()]),
    }
}
