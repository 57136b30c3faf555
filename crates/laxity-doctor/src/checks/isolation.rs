//! What keeps everything else away from real-time CPUs.

use super::{NO_OTHER_CPU, costing, cpus_text, masked};
use crate::evidence::{Evidence, Unseen, unseen};
use crate::host::Host;
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Severity, Verdict};
use laxity_model::{CpuList, ShownPath as _};
use laxity_run::Hierarchy;

/// The first Linux that keeps the affinity that a thread was given when its cpuset changes (laxity-run's `journal/pinned.rs`).
const AFFINITY_STAYS_SINCE: (u32, u32) = (6, 2);
const NOHZ_FULL: &str = "/sys/devices/system/cpu/nohz_full";

pub const CHECKS: &[Check] = &[
    Check {
        name: "isolated-cpus",
        severity: Severity::Moderate,
        rule: "a real-time CPU is neither isolated by isolcpus= nor by an isolated partition of cgroup v2",
        why: "the kernel balances background threads onto such CPUs; each takes caches and runs whenever real-time tasks do not, and \
              what it does in the kernel delays them",
        judge: |host| costing(isolated(host), || host.use_of_cpus()),
    },
    Check {
        name: "nohz-full",
        severity: Severity::Minor,
        rule: "some CPUs are not real-time CPUs, and a real-time CPU is not one of nohz_full=",
        why: "the tick interrupts the task on that CPU 100 to 1000 times a second, for some microseconds each",
        judge: |host| costing(nohz_full(host), || host.timer_interrupts()),
    },
    Check {
        name: "rcu-callbacks",
        severity: Severity::Minor,
        rule: "some CPUs are not real-time CPUs, and a real-time CPU is neither one of rcu_nocbs= nor of nohz_full=",
        why: "the kernel frees memory on that CPU in batches, in its softirq, before the tasks there go on",
        judge: |host| costing(rcu_callbacks(host), || host.rcu_softirqs()),
    },
    Check {
        name: "cpuset-cpus",
        severity: Severity::Severe,
        rule: "the cpuset in which laxity was started lacks a real-time CPU",
        why: "threads started from here cannot have that CPU: sched_setaffinity and affinity masks leave it out without a word",
        judge: cpuset_cpus,
    },
    Check {
        name: "cpuset-affinity",
        severity: Severity::Moderate,
        rule: "Linux before 6.2, with cpusets of cgroup v2",
        why: "a change of a cpuset, such as systemd makes, gives all threads in and below it all of its CPUs: the affinities that \
              programs have set are lost, and real-time threads leave their CPUs",
        judge: cpuset_affinity,
    },
    Check {
        name: "cpuset-load-balance",
        severity: Severity::Severe,
        rule: "cgroup v1: cpuset.sched_load_balance of the cpuset in which laxity was started is 0, and it is the root",
        why: "the root's CPUs are no root domain any more, often what a tool has left behind: sched_setattr refuses SCHED_DEADLINE \
              to every thread there (EPERM or EBUSY), and SCHED_FIFO tasks are not balanced over CPUs",
        judge: cpuset_load_balance,
    },
    Check {
        name: "workqueues",
        severity: Severity::Minor,
        rule: "some CPUs are not real-time CPUs, and the mask of unbound workqueues has a real-time CPU",
        why: "work of the kernel and its drivers that any CPU could do is done on real-time CPUs, too",
        judge: |host| {
            masked(host, "/sys/devices/virtual/workqueue/cpumask", "unbound work of the kernel may run on")
        },
    },
    Check {
        name: "writeback",
        severity: Severity::Minor,
        rule: "some CPUs are not real-time CPUs, and the mask of the workqueue writeback has a real-time CPU",
        why: "writing dirty pages to disks, which takes CPU time in bursts, is done on real-time CPUs, too",
        judge: |host| {
            masked(
                host,
                "/sys/devices/virtual/workqueue/writeback/cpumask",
                "the writing of dirty pages may run on",
            )
        },
    },
];

fn isolated(host: &Host) -> Judged {
    let (isolated, evidence) = host.isolated()?;
    let open = host.cpus().difference(&isolated);
    if open.is_empty() {
        return Verdict::fine(evidence);
    }
    if host.online().len() == 1 {
        return Verdict::not_here("the machine has one CPU");
    }
    // Something has to be left for all else: the first core.
    let first = first_core(host);
    let (wanted, left) = match host.rest() {
        Some(_) => (host.cpus().clone(), String::new()),
        None => (host.online().difference(&first), format!(" (the fix leaves them {})", cpus_text(&first))),
    };
    let what = format!("background threads can run on {}", cpus_text(&open));
    let what = if wanted.is_empty() { what } else { what + &left };
    let remedy = match wanted.is_empty() {
        true => Remedy::other("use a machine with more cores", "use this one"),
        false => Remedy::parameter(format!("isolcpus=domain,managed_irq,{wanted}")),
    };
    Verdict::found(what, evidence, remedy)
}

/// The first CPU, with those that share its core.
fn first_core(host: &Host) -> CpuList {
    let first = host.online().lowest().unwrap_or(0);
    let siblings = host.text(&format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list"));
    let siblings = siblings.and_then(|read| read.parsed::<CpuList>()).unwrap_or_default();
    if siblings.contains(first) { siblings } else { [first].into_iter().collect() }
}

/// The CPUs whose tick stops; the file has `(null)` where there are none.
fn tickless(host: &Host) -> Result<(CpuList, Evidence), Unseen> {
    let read = host.text(NOHZ_FULL)?;
    let cpus = if read.value() == "(null)" { CpuList::default() } else { read.parsed()? };
    Ok((cpus, read.evidence()))
}

fn nohz_full(host: &Host) -> Judged {
    if host.rest().is_none() {
        return Verdict::not_here(NO_OTHER_CPU);
    }
    if !host.exists(NOHZ_FULL) {
        let config = host.config()?;
        return match config.has("NO_HZ_FULL") {
            true => unseen(format!("there is no {NOHZ_FULL}")),
            false => Verdict::found(
                "the tick of real-time CPUs cannot be stopped",
                vec![config.evidence("NO_HZ_FULL")],
                Remedy::kernel("that was built with CONFIG_NO_HZ_FULL"),
            ),
        };
    }
    let (cpus, evidence) = tickless(host)?;
    let ticking = host.cpus().difference(&cpus);
    match ticking.is_empty() {
        true => Verdict::fine(vec![evidence]),
        false => Verdict::found(
            format!("the tick of {} never stops", cpus_text(&ticking)),
            vec![evidence],
            Remedy::parameter(format!("nohz_full={}", host.cpus())),
        ),
    }
}

fn rcu_callbacks(host: &Host) -> Judged {
    if host.rest().is_none() {
        return Verdict::not_here(NO_OTHER_CPU);
    }
    let mut offloaded = CpuList::default();
    let mut evidence = Vec::new();
    if host.exists(NOHZ_FULL) {
        let (cpus, seen) = tickless(host)?;
        offloaded = cpus;
        evidence.push(seen);
    }
    match host.booted_with("rcu_nocbs")? {
        Some((list, word)) => {
            let cpus = match list.as_str() {
                "all" => host.online().clone(),
                list => list.parse().or_else(|_| unseen(format!("`{}` is not understood", word.value)))?,
            };
            offloaded = offloaded.iter().chain(cpus.iter()).collect();
            evidence.push(word);
        }
        None => {
            let config = host.config()?;
            if config.has("RCU_NOCB_CPU_DEFAULT_ALL") {
                return Verdict::fine(vec![config.evidence("RCU_NOCB_CPU_DEFAULT_ALL")]);
            }
            evidence.push(Evidence::new("/proc/cmdline", "no rcu_nocbs"));
        }
    }
    let left = host.cpus().difference(&offloaded);
    match left.is_empty() {
        true => Verdict::fine(evidence),
        false => Verdict::found(
            format!("{} does the kernel's RCU callbacks", cpus_text(&left)).replace("CPUs", "each of CPUs"),
            evidence,
            Remedy::parameter(format!("rcu_nocbs={}", host.cpus())),
        ),
    }
}

/// The cpuset of this process.
struct OwnCpuset {
    /// Its directory, as that machine names it, without a slash at the end.
    directory: String,
    /// That of the root cpuset.
    root: String,
    /// Whether it is one of cgroup v1.
    is_v1: bool,
}

fn own_cpuset(host: &Host) -> Result<Option<OwnCpuset>, Unseen> {
    let own = host.text("/proc/self/cgroup")?;
    host.text("/proc/self/mounts")?;
    let Ok(found) = Hierarchy::find_under(host.root()) else { return Ok(None) };
    let is_v1 = matches!(found, Hierarchy::V1(_));
    let (Hierarchy::V1(path) | Hierarchy::V2(path)) = found;
    let directory = path.shown().to_string();
    let directory = directory.trim_end_matches('/').to_owned();
    // `3:cpuset:/box`, and `0::/box` under v2.
    let group = own.text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let is_it =
            if is_v1 { controllers.split(',').any(|name| name == "cpuset") } else { controllers.is_empty() };
        is_it.then(|| fields.next()).flatten()
    });
    let group = group.unwrap_or("/").trim_end_matches('/');
    Ok(Some(match is_v1 {
        // What is found is the process's own.
        true => {
            let root = directory.strip_suffix(group).unwrap_or(&directory).to_owned();
            OwnCpuset { directory, root, is_v1 }
        }
        false => OwnCpuset { directory: format!("{directory}{group}"), root: directory, is_v1 },
    }))
}

fn cpuset_cpus(host: &Host) -> Judged {
    let Some(OwnCpuset { mut directory, root, is_v1 }) = own_cpuset(host)? else {
        return Verdict::not_here("no cpuset controller is mounted");
    };
    let name = if is_v1 { "cpuset.effective_cpus" } else { "cpuset.cpus.effective" };
    // Under v2 a group without the controller has the CPUs of the nearest one above that has it.
    let own = directory.clone();
    while !is_v1 && directory != root && !host.exists(&format!("{directory}/{name}")) {
        let Some((above, _)) = directory.rsplit_once('/') else { break };
        directory = above.to_owned();
    }
    let read = host.text(&format!("{directory}/{name}"))?;
    let cpus: CpuList = read.parsed()?;
    if cpus.is_empty() {
        return Err(read.not_understood());
    }
    let lacking = host.cpus().difference(&cpus);
    if lacking.is_empty() {
        return Verdict::fine(vec![read.evidence()]);
    }
    let enter = |group: &str| format!("echo $$ | sudo tee {group}/cgroup.procs");
    let what = format!("threads started from here cannot run on {}", cpus_text(&lacking));
    Verdict::found(what, vec![read.evidence()], Remedy::command(enter(&root), enter(&own)))
}

fn cpuset_affinity(host: &Host) -> Judged {
    let Some(OwnCpuset { root, is_v1: false, .. }) = own_cpuset(host)? else {
        return Verdict::not_here("cpusets are not those of cgroup v2");
    };
    let evidence = vec![host.release_evidence(), Evidence::new(root, "cgroup v2, with cpusets")];
    match host.version()? >= AFFINITY_STAYS_SINCE {
        true => Verdict::fine(evidence),
        false => Verdict::found(
            "a change of a cpuset undoes affinities",
            evidence,
            Remedy::kernel("of Linux 6.2 or later"),
        ),
    }
}

fn cpuset_load_balance(host: &Host) -> Judged {
    let Some(OwnCpuset { directory, root, is_v1: true }) = own_cpuset(host)? else {
        return Verdict::not_here("cpusets are not those of cgroup v1");
    };
    if directory != root {
        return Verdict::not_here("laxity was not started in the root cpuset");
    }
    let file = format!("{directory}/cpuset.sched_load_balance");
    let read = host.text(&file)?;
    match read.parsed::<u8>()? {
        0 => Verdict::found(
            "the root cpuset does not balance load",
            vec![read.evidence()],
            Remedy::write(&file, "1", "0"),
        ),
        _ => Verdict::fine(vec![read.evidence()]),
    }
}
