//! Definitions: from the record of a run, and what they refuse.

use laxity_model::{CpuList, Duration, Platform, PriorityRule, Task, TaskSet};
use laxity_oracle::{Cluster, Definition};
use laxity_trace::{Host, PlacedBin, PlacementRecord, Run, RunStatus};

fn set() -> TaskSet {
    let task = |name: &str| Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10));
    TaskSet::new("set", vec![task("a"), task("b"), task("c")]).expect("valid")
}

fn cpus(text: &str) -> CpuList {
    text.parse().expect("CPUs")
}

fn run(scheduler: &str, bins: &[(&str, &[&str])]) -> Run {
    let bins = bins.iter().map(|(cpus, tasks)| PlacedBin {
        cpus: cpus.parse().expect("CPUs"),
        tasks: tasks.iter().map(|&name| name.to_owned()).collect(),
        load: String::new(),
    });
    let record =
        PlacementRecord { method: "ff".to_owned(), bins: bins.collect(), ordinary: vec![], notes: vec![] };
    Run {
        placement: Some(record).filter(|record| !record.bins.is_empty()),
        ..Run::new(scheduler, Host::Simulator, Duration::from_secs(1), RunStatus::Completed)
    }
}

#[test]
fn a_run_says_what_it_claims_to_be() {
    let platform = Platform::symmetric(4).expect("valid");
    let of = |run: &Run| Definition::of_run(set(), &platform, run);
    let global = of(&run("gsn-edf-di", &[])).expect("valid");
    assert_eq!(global.clusters()[0].dedicated, cpus("3"));
    assert_eq!(global.clusters()[0].tasks, [0, 1, 2]);
    let clustered = of(&run("c-fpp:dm", &[("0-1", &["c"]), ("2-3", &["a", "b"])])).expect("valid");
    assert_eq!(clustered.rule(), PriorityRule::DeadlineMonotonic);
    assert_eq!((clustered.cluster_of(0), clustered.cluster_of(2)), (Some(1), Some(0)));
    assert_eq!(clustered.duration(), Duration::from_secs(1));
    // Equal given priorities are one of SCHED_FIFO's, in a run of Linux's scheduler and nowhere else.
    let equal = TaskSet::new(
        "equal",
        [2, 1, 2]
            .into_iter()
            .zip(["a", "b", "c"])
            .map(|(number, name)| Task {
                priority: Some(number),
                ..Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10))
            })
            .collect(),
    )
    .expect("valid");
    for (scheduler, host, free) in [
        ("g-fp", Host::Linux, true),
        ("g-fp", Host::Simulator, false),
        ("push-pull:fp", Host::KernelPolicy, false),
        ("g-rm", Host::Linux, false),
        ("g-edf", Host::Linux, false),
    ] {
        let run = Run { host, ..run(scheduler, &[]) };
        let definition = Definition::of_run(equal.clone(), &platform, &run).expect("valid");
        assert_eq!(definition.has_free_ties(0), free, "{scheduler}");
    }
    for (run, why) in [
        (run("p-edf-bh", &[]), "has no placement"),
        (run("nonsense", &[]), "not known"),
        (run("p-edf", &[("0", &["a", "x"])]), "`x`"),
        (run("p-edf", &[("0", &["a", "b"])]), "`c` is in no cluster"),
        (run("p-gsn-edf-di", &[("0", &["a", "b", "c"])]), "no CPU left"),
        (run("fpp:fp", &[]), "has no priority"),
    ] {
        let error = of(&run).expect_err("must be refused");
        assert!(error.message.contains(why), "{}", error.message);
    }
}

#[test]
fn refuses_clusters_that_cannot_be() {
    let platform = Platform::symmetric(4).expect("valid");
    let refused = |set: TaskSet, clusters: Vec<Cluster>| {
        let rule = PriorityRule::EarliestDeadlineFirst;
        Definition::clustered(set, &platform, rule, clusters, Duration::from_ms(1))
            .expect_err("refused")
            .message
    };
    let all = || vec![0, 1, 2];
    let overlapping = vec![Cluster::new(cpus("0-1"), all()), Cluster::new(cpus("1"), vec![])];
    assert!(refused(set(), overlapping).contains("overlaps"));
    assert!(refused(set(), vec![Cluster::new(cpus("4"), all())]).contains("outside 0-3"));
    assert!(refused(set(), vec![Cluster::new(cpus("0"), vec![0, 1, 2, 2])]).contains("in two clusters"));
    assert!(refused(set(), vec![Cluster::new(cpus("0"), vec![0, 1, 2, 3])]).contains("has task 3"));
    let mut tasks = set().tasks().to_vec();
    tasks[1].affinity = Some(cpus("3"));
    let restricted = TaskSet::new("restricted", tasks).expect("valid");
    assert!(refused(restricted, vec![Cluster::new(cpus("0-2"), all())]).contains("may run on no CPU"));
}

/// Whose turn it is is not known: all are equals. What has no definition is not checked as something else.
#[test]
fn those_that_take_turns_are_equals_and_others_have_no_definition() {
    let platform = Platform::symmetric(2).expect("valid");
    let of = |scheduler: &str| {
        let bins: &[(&str, &[&str])] = &[("0", &["a", "b"]), ("1", &["c"])];
        Definition::of_run(set(), &platform, &Run { host: Host::Linux, ..run(scheduler, bins) })
    };
    let turns = of("p-rr").expect("defined");
    assert_eq!([0, 1, 2].map(|task| turns.key(task, 7)), [1; 3]);
    assert!(turns.has_free_ties(0) && !turns.has_free_ties(1));
    // The set stays what it is.
    assert_eq!(turns.set().tasks()[0].priority, None);
    let edf = of("p-edf:grub").expect("by the kernel's accounts");
    assert_eq!((edf.rule(), edf.key(0, 7)), (PriorityRule::EarliestDeadlineFirst, 7));
    for (scheduler, why) in [("other:nice=1", "EEVDF"), ("scx:scx_simple", "what a program loads")] {
        let refused = of(scheduler).expect_err("undefined");
        assert!(refused.message.contains(why) && refused.message.contains("not verified"), "{refused}");
    }
}
