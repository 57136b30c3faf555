//! Plans that the tests share.

#![allow(dead_code, reason = "each test binary uses a part")]

use laxity_deploy::{
    CellPlan, CgroupVersion, Confinement, DeployFile, DeployPlan, Flag, Reservation, Scheduling, ThreadPlan,
    VERSION, comms,
};
use laxity_model::CpuList;
use std::fs;
use std::path::Path;

pub const MS: u64 = 1_000_000;

pub fn cpus(text: &str) -> CpuList {
    text.parse().expect("CPUs")
}

pub fn reservation(runtime_us: u64, deadline_us: u64, period_us: u64) -> Reservation {
    let [runtime_ns, deadline_ns, period_ns] = [runtime_us, deadline_us, period_us].map(|us| us * 1_000);
    Reservation { runtime_ns, deadline_ns, period_ns }
}

/// A thread in a cell, without a name for the kernel yet.
pub fn thread(task: &str, scheduling: Scheduling, on: &str, cell: usize) -> ThreadPlan {
    ThreadPlan {
        task: task.to_owned(),
        comm: String::new(),
        scheduling,
        flags: vec![Flag::ResetOnFork],
        cpus: cpus(on),
        cell,
        why: Vec::new(),
    }
}

/// A plan of these threads; cells are those CPUs.
pub fn plan(confinement: Confinement, cells: &[&str], mut threads: Vec<ThreadPlan>) -> DeployPlan {
    let names: Vec<String> = threads.iter().map(|thread| thread.task.clone()).collect();
    let comms = comms(names.iter().map(String::as_str));
    threads.iter_mut().zip(comms).for_each(|(thread, comm)| thread.comm = comm);
    let cgroup = |at: usize| match &confinement {
        Confinement::Cpusets { base, .. } => Some(format!("{base}/laxity-deploy-robot-{at}")),
        _ => None,
    };
    let cell = |(at, on): (usize, &&str)| CellPlan {
        cpus: cpus(on),
        memory_nodes: CpuList::default(),
        cgroup: cgroup(at),
    };
    DeployPlan {
        version: VERSION,
        task_set: "robot".to_owned(),
        scheduler: "p-rm".to_owned(),
        description: "rate-monotonic, a cell per CPU".to_owned(),
        machine_cpus: cpus("0-3"),
        cells: cells.iter().enumerate().map(cell).collect(),
        confinement,
        threads,
        attached: None,
        warnings: Vec::new(),
        notes: Vec::new(),
    }
}

/// SCHED_FIFO by affinity masks.
pub fn fifo() -> DeployPlan {
    let threads = vec![
        thread("current-control", Scheduling::Fifo { priority: 98 }, "1", 0),
        thread("camera", Scheduling::Fifo { priority: 97 }, "1", 0),
        thread("logging", Scheduling::Fifo { priority: 98 }, "2", 1),
    ];
    plan(Confinement::AffinityMasks, &["1", "2"], threads)
}

/// SCHED_DEADLINE in exclusive cpusets.
pub fn reserved(version: CgroupVersion) -> DeployPlan {
    let base = match version {
        CgroupVersion::V1 => "/sys/fs/cgroup/cpuset",
        CgroupVersion::V2 => "/sys/fs/cgroup",
    };
    let mut first = thread("current-control", Scheduling::Deadline(reservation(150, 1_000, 1_000)), "2", 0);
    let mut second = thread("emergency-stop", Scheduling::Deadline(reservation(300, 1_000, 43_750)), "3", 1);
    first.why =
        vec!["the runtime is C = 100us and 50us: the kernel also charges what it takes to switch".into()];
    second.why = vec!["the period is less than T = 50ms (7/8 of it) because D < T".into()];
    let mut plan =
        plan(Confinement::Cpusets { version, base: base.into() }, &["2", "3"], vec![first, second]);
    plan.scheduler = "p-edf".into();
    plan.description = "earliest deadline first, a cell per CPU".into();
    plan
}

/// Every policy, on the whole machine.
pub fn mixed(machine: &str) -> DeployPlan {
    let low = machine.split(['-', ',']).next().expect("a CPU");
    let threads = vec![
        thread("fast", Scheduling::Fifo { priority: 12 }, low, 0),
        thread("round-robin", Scheduling::RoundRobin { priority: 7 }, machine, 0),
        thread("budgeted", Scheduling::Deadline(reservation(1_000, 10_000, 20_000)), machine, 0),
        thread("ordinary", Scheduling::Other { nice: 5, slice_ns: None }, machine, 0),
        thread(
            "the second budgeted thread",
            Scheduling::Deadline(reservation(500, 50_000, 50_000)),
            machine,
            0,
        ),
    ];
    let mut plan = plan(Confinement::WholeMachine, &[machine], threads);
    plan.threads[3].flags.clear();
    plan.machine_cpus = cpus(machine);
    plan
}

/// SCHED_OTHER with a slice.
pub fn sliced() -> DeployPlan {
    let slice = Scheduling::Other { nice: 0, slice_ns: Some(3_000_000) };
    let mut plan = plan(Confinement::WholeMachine, &["0-3"], vec![thread("sliced", slice, "0-3", 0)]);
    plan.threads[0].flags.clear();
    plan
}

/// Under an attached policy.
pub fn attached() -> DeployPlan {
    let threads = vec![thread("a", Scheduling::Ext(reservation(100, 1_000, 1_000)), "0-3", 0)];
    let mut plan = plan(Confinement::AffinityMasks, &["0-3"], threads);
    plan.scheduler = "gsn-edf".into();
    plan.attached = Some("gsn-edf".into());
    plan
}

/// With bandwidth that is reclaimed.
pub fn reclaiming() -> DeployPlan {
    let mut plan = mixed("0-3");
    plan.threads[2].flags.push(Flag::Reclaim);
    plan
}

/// All of them, by a name.
pub fn all() -> Vec<(&'static str, DeployPlan)> {
    vec![
        ("fifo", fifo()),
        ("reserved-v1", reserved(CgroupVersion::V1)),
        ("reserved-v2", reserved(CgroupVersion::V2)),
        ("mixed", mixed("0-3")),
        ("attached", attached()),
        ("reclaiming", reclaiming()),
        ("sliced", sliced()),
    ]
}

/// Names that programs would obey if they were not quoted.
pub const HOSTILE: [&str; 16] = [
    "$(echo done >&2)",
    "`echo done >&2`",
    "\"; echo done; \"",
    "'\\",
    "x}; echo done",
    "../../x & echo done",
    "%n%i %%",
    "*/ int x; /*",
    "\") } # \"\"\"",
    "a: b - {c}, [d]",
    "??/ trigraph ??'",
    "@THREADS@",
    "@HEADING@ @",
    "naïve – 中 \u{1f980}",
    "-rf",
    "ends with \\",
];

/// Each thread, the set and the scheduler have one of these names.
pub fn hostile(of: DeployPlan) -> DeployPlan {
    let threads: Vec<ThreadPlan> = HOSTILE
        .iter()
        .zip(of.threads.iter().cycle())
        .map(|(name, thread)| ThreadPlan { task: (*name).to_owned(), ..thread.clone() })
        .collect();
    let comms = comms(HOSTILE.into_iter());
    let threads =
        threads.into_iter().zip(comms).map(|(thread, comm)| ThreadPlan { comm, ..thread }).collect();
    DeployPlan { task_set: HOSTILE[0].to_owned() + HOSTILE[2], threads, ..of }
}

/// Writes the files of a plan below a directory.
pub fn write(files: &[DeployFile], directory: &Path) {
    for file in files {
        let folder = file.folder.map_or(directory.to_owned(), |folder| directory.join(folder));
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join(&file.name), &file.text).expect("written");
    }
}
