//! What differs from a plan is said, all of it and nothing else.

mod plans;

use laxity_deploy::{CgroupVersion, DeployPlan, Difference, Observed, Scheduling, differences};
use laxity_model::CpuList;

/// As the kernel would have it.
fn as_planned(plan: &DeployPlan, at: usize) -> Observed {
    let thread = &plan.threads[at];
    let of = thread.scheduling.reservation();
    let (nice, slice_ns) = match thread.scheduling {
        Scheduling::Other { nice, slice_ns } => (nice, slice_ns),
        _ => (0, None),
    };
    Observed {
        policy: thread.scheduling.number(),
        flags: thread.flags.iter().map(|flag| flag.bit()).sum(),
        nice,
        priority: thread.scheduling.priority().unwrap_or(0),
        runtime_ns: of.map(|of| of.runtime_ns).or(slice_ns).unwrap_or(0),
        deadline_ns: of.map_or(0, |of| of.deadline_ns),
        period_ns: of.map_or(0, |of| of.period_ns),
        cpus: thread.cpus.clone(),
        cpuset: Some((plan.cell_of(thread).cpus.clone(), CpuList::default())),
    }
}

fn whats(differences: &[Difference]) -> Vec<&str> {
    differences.iter().map(|one| one.what).collect()
}

#[test]
fn a_plan_that_is_carried_out_has_no_differences() {
    for (which, plan) in plans::all() {
        for at in 0..plan.threads.len() {
            assert_eq!(differences(&plan, &plan.threads[at], &as_planned(&plan, at)), [], "{which}");
        }
    }
}

#[test]
fn each_thing_that_is_changed_is_the_one_that_is_said() {
    type Change = fn(&mut Observed);
    let changes: [(&str, Change); 8] = [
        ("policy", |found| found.policy = 3),
        ("priority", |found| found.priority += 1),
        ("runtime", |found| found.runtime_ns += 1),
        ("deadline", |found| found.deadline_ns += 1),
        ("period", |found| found.period_ns += 1),
        ("flags", |found| found.flags ^= 1),
        ("CPUs", |found| found.cpus = CpuList::first(4)),
        ("cpuset", |found| found.cpuset = Some((CpuList::first(4), CpuList::default()))),
    ];
    let mut said = std::collections::BTreeSet::new();
    for plan in [plans::fifo(), plans::reserved(CgroupVersion::V1)] {
        for (what, change) in changes {
            let mut found = as_planned(&plan, 1);
            change(&mut found);
            let reserved = plan.threads[1].scheduling.is_deadline();
            let kept = match what {
                "priority" => !reserved,
                "runtime" | "deadline" | "period" | "cpuset" => reserved,
                _ => true,
            };
            let expected: Vec<&str> = kept.then_some(what).into_iter().collect();
            assert_eq!(whats(&differences(&plan, &plan.threads[1], &found)), expected);
            said.extend(expected);
        }
    }
    assert_eq!(said.len(), changes.len());
}

#[test]
fn what_the_kernel_does_not_keep_is_not_compared() {
    let plan = plans::attached();
    let found = Observed { runtime_ns: 0, deadline_ns: 0, period_ns: 0, ..as_planned(&plan, 0) };
    assert_eq!(differences(&plan, &plan.threads[0], &found), []);
}
