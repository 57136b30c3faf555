//! Source code for the threads of one program, in C, Rust and Python: the table, and a function that a thread calls on itself.
//!
//! 1. A thread enters its cell (of cgroup v1 by `tasks`, of v2 by `cgroup.threads`), sets its affinity and then its policy: SCHED_DEADLINE
//!    asks for an affinity that covers the root domain, which is the cell.
//! 2. Under cgroup v2 the cells are threaded cgroups below the root. Threads get there from a process in the root cgroup alone.

use super::DeployFile;
use crate::names::{c_string, harmless, python_string, rust_string};
use crate::plan::{CgroupVersion, Confinement, DeployPlan, Reservation, Scheduling, ThreadPlan};
use laxity_model::CpuList;
use std::fmt::Write as _;

/// The directory of C.
pub(super) const C: &str = "c";
/// The directory of Rust.
pub(super) const RUST: &str = "rust";
/// The directory of Python.
pub(super) const PYTHON: &str = "python";
/// The directory's file for threads of one process in Python, from the directory of the plan.
pub(super) const PYTHON_FILE: &str = "laxity_apply.py";

/// The files of all three.
pub(super) fn files(plan: &DeployPlan) -> Vec<DeployFile> {
    vec![
        DeployFile::inside(C, "laxity_apply.h", include_str!("../templates/laxity_apply.h").to_owned()),
        DeployFile::inside(C, "laxity_apply.c", c(plan)),
        DeployFile::inside(RUST, "laxity_apply.rs", rust(plan)),
        DeployFile::inside(PYTHON, PYTHON_FILE, python(plan)),
    ]
}

fn heading(plan: &DeployPlan) -> String {
    format!("The threads of task set {} under {}.", harmless(&plan.task_set), harmless(&plan.scheduler))
}

/// The attributes of a thread, as numbers: nice, priority, runtime, deadline, period.
fn numbers(thread: &ThreadPlan) -> (i32, u32, Reservation) {
    let none = Reservation { runtime_ns: 0, deadline_ns: 0, period_ns: 0 };
    match thread.scheduling {
        Scheduling::Other { nice, slice_ns } => {
            (nice, 0, Reservation { runtime_ns: slice_ns.unwrap_or_default(), ..none })
        }
        Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => (0, priority, none),
        Scheduling::Deadline(of) | Scheduling::Ext(of) => (0, 0, of),
    }
}

fn flags(thread: &ThreadPlan) -> u64 {
    thread.flags.iter().fold(0, |all, flag| all | flag.bit())
}

/// The file by which a thread enters its cell.
fn entrance(plan: &DeployPlan, thread: &ThreadPlan) -> Option<String> {
    let Confinement::Cpusets { version, .. } = &plan.confinement else { return None };
    let cgroup = plan.cgroup_of(thread)?.trim_end_matches('/');
    Some(match version {
        CgroupVersion::V1 => format!("{cgroup}/tasks"),
        CgroupVersion::V2 => format!("{cgroup}/cgroup.threads"),
    })
}

/// The file that takes the process to where its threads may go to their cells from.
fn process_home(plan: &DeployPlan) -> Option<String> {
    match &plan.confinement {
        Confinement::Cpusets { version: CgroupVersion::V2, base } => {
            Some(format!("{}/cgroup.procs", base.trim_end_matches('/')))
        }
        _ => None,
    }
}

/// CPUs in bits, in words of 64.
fn words(cpus: &CpuList) -> Vec<u64> {
    let highest = cpus.iter().last().unwrap_or(0);
    let mut words = vec![0u64; highest as usize / 64 + 1];
    for cpu in cpus.iter() {
        words[cpu as usize / 64] |= 1 << (cpu % 64);
    }
    words
}

fn hexadecimal(cpus: &CpuList) -> String {
    words(cpus).iter().map(|word| format!("0x{word:x}")).collect::<Vec<_>>().join(", ")
}

fn c(plan: &DeployPlan) -> String {
    let (mut masks, mut threads) = (String::new(), String::new());
    for (at, thread) in plan.threads.iter().enumerate() {
        let _ = writeln!(
            masks,
            "static const uint64_t cpus_{at}[] = {{ {} }}; /* {} */",
            hexadecimal(&thread.cpus),
            thread.cpus
        );
        let (nice, priority, of) = numbers(thread);
        let cell = entrance(plan, thread).map_or("NULL".to_owned(), |file| c_string(&file));
        let _ = writeln!(
            threads,
            "{}\t{{ {}, {}, {cell},\n\t  {{ sizeof(struct laxity_attributes), {}, {}, {nice}, {priority}, {}u, {}u, {}u }},\n\t  \
             cpus_{at}, sizeof cpus_{at} / sizeof cpus_{at}[0] }},",
            why(thread, "\t/* ", " */\n"),
            c_string(&thread.task),
            c_string(&thread.comm),
            thread.scheduling.number(),
            flags(thread),
            of.runtime_ns,
            of.deadline_ns,
            of.period_ns,
        );
    }
    let process = process_home(plan).map_or("NULL".to_owned(), |file| c_string(&file));
    let places = [
        ("HEADING", heading(plan)),
        ("MASKS", masks),
        ("THREADS", threads.trim_end().to_owned()),
        ("PROCESS", process),
    ];
    super::filled(include_str!("../templates/laxity_apply.c"), &places)
}

/// Comments that say why a parameter is not what the task set says; laxity's own words and numbers.
fn why(thread: &ThreadPlan, before: &str, after: &str) -> String {
    thread.why.iter().map(|why| format!("{before}{}{after}", comment(why))).collect()
}

/// A reason in a comment: its own characters, without what could end the comment.
fn comment(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || " -_.,;:()<>=/+".contains(c);
    text.chars().map(|c| if fits(c) { c } else { '_' }).collect::<String>().replace("*/", "_/")
}

fn rust(plan: &DeployPlan) -> String {
    let option =
        |file: Option<String>| file.map_or("None".to_owned(), |file| format!("Some({})", rust_string(&file)));
    let mut threads = String::new();
    for thread in &plan.threads {
        let (nice, priority, of) = numbers(thread);
        let _ = writeln!(
            threads,
            "{}    Thread {{\n        name: {},\n        comm: {},\n        cell: {},\n        attributes: Attributes {{ size: \
             size_of::<Attributes>() as u32, policy: {}, flags: {}, nice: {nice}, priority: {priority}, runtime_ns: {}, \
             deadline_ns: {}, period_ns: {} }},\n        cpus: &[{}], // {}\n    }},",
            why(thread, "    // ", "\n"),
            rust_string(&thread.task),
            rust_string(&thread.comm),
            option(entrance(plan, thread)),
            thread.scheduling.number(),
            flags(thread),
            of.runtime_ns,
            of.deadline_ns,
            of.period_ns,
            hexadecimal(&thread.cpus),
            thread.cpus,
        );
    }
    let places = [
        ("HEADING", heading(plan)),
        ("COUNT", plan.threads.len().to_string()),
        ("THREADS", threads.trim_end().to_owned()),
        ("PROCESS", option(process_home(plan))),
    ];
    super::filled(include_str!("../templates/laxity_apply.rs"), &places)
}

fn python(plan: &DeployPlan) -> String {
    let option = |file: Option<String>| file.map_or("None".to_owned(), |file| python_string(&file));
    let mut threads = String::new();
    for thread in &plan.threads {
        let (nice, priority, of) = numbers(thread);
        let cpus: Vec<String> = thread.cpus.iter().map(|cpu| cpu.to_string()).collect();
        let _ = writeln!(
            threads,
            "{}    Thread(\n        {}, {}, policy={}, flags={}, nice={nice}, priority={priority},\n        runtime={}, \
             deadline={}, period={}, cpus=frozenset({{{}}}), cell={},\n    ),",
            why(thread, "    # ", "\n"),
            python_string(&thread.task),
            python_string(&thread.comm),
            thread.scheduling.number(),
            flags(thread),
            of.runtime_ns,
            of.deadline_ns,
            of.period_ns,
            cpus.join(", "),
            option(entrance(plan, thread)),
        );
    }
    let places = [
        ("HEADING", heading(plan)),
        ("THREADS", threads.trim_end().to_owned()),
        ("PROCESS", option(process_home(plan))),
    ];
    super::filled(include_str!("../templates/laxity_apply.py"), &places)
}
