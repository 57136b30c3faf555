//! Tasks that may not run on all CPUs of their cluster: the weak invariant. What only a dedicated CPU may do.

use crate::written::trace;
use laxity_model::{Duration, Platform, PriorityRule, Task, TaskSet};
use laxity_oracle::{
    About, Activity, Cause, Cluster, Definition, Oracle, reference, verify, verify_measured,
};

fn definition() -> Definition {
    let task = |name: &str, wcet, period, affinity: &str| Task {
        affinity: Some(affinity.parse().expect("CPUs")),
        ..Task::periodic(name, Duration::from_us(wcet), Duration::from_us(period))
    };
    let set = TaskSet::new(
        "restricted",
        vec![task("a", 2, 10, "0-1"), task("b", 3, 12, "0"), task("c", 4, 20, "0-1")],
    );
    let platform = Platform::symmetric(2).expect("valid");
    let rule = PriorityRule::EarliestDeadlineFirst;
    Definition::global(set.expect("valid"), &platform, rule, Duration::from_us(10)).expect("valid")
}

#[test]
fn a_job_may_wait_for_its_own_cpu() {
    // b waits for a on CPU 0 although c, of lower priority, runs on CPU 1, where b may not run.
    let text = "
        0 release 0.0 10
        0 release 1.0 12
        0 release 2.0 20
        0 start 0.0 on 0
        0 start 2.0 on 1
        2 complete 0.0 10 on 0
        2 start 1.0 on 0
        4 complete 2.0 20 on 1
        5 complete 1.0 12 on 0";
    let verdict = verify(&definition(), &trace(text), 10_000);
    assert!(verdict.clean, "{verdict}");
    let idle = text.replace("2 start 1.0", "3 start 1.0").replace("5 complete", "6 complete");
    assert_eq!(verify(&definition(), &trace(&idle), 10_000).count(Oracle::WorkConservation), 1);
}

#[test]
fn but_not_for_a_job_of_lower_priority() {
    let text = "
        0 release 0.0 10
        0 release 1.0 12
        0 release 2.0 20
        0 start 0.0 on 1
        0 start 2.0 on 0
        2 complete 0.0 10 on 1
        4 complete 2.0 20 on 0
        4 start 1.0 on 0
        7 complete 1.0 12 on 0";
    let verdict = verify(&definition(), &trace(text), 10_000);
    assert_eq!(verdict.count(Oracle::GlobalInvariant), 1, "{verdict}");
    assert_eq!(
        verdict.violations[0].text,
        "t=0ns..4us cpu0 ran c.0 (deadline 20us) while b.0 (deadline 12us) waited [global invariant]"
    );
}

#[test]
fn nowhere_else_than_the_affinity() {
    let text = "
        0 release 0.0 10
        0 release 1.0 12
        0 release 2.0 20
        0 start 0.0 on 0
        0 start 1.0 on 1
        2 complete 0.0 10 on 0
        2 start 2.0 on 0
        3 complete 1.0 12 on 1
        6 complete 2.0 20 on 0";
    let verdict = verify(&definition(), &trace(text), 10_000);
    assert_eq!(verdict.violated().collect::<Vec<_>>(), [Oracle::Affinity], "{verdict}");
    assert!(reference(&definition(), &definition().jobs(), 10_000).is_err());
}

#[test]
fn the_dedicated_cpu_handles_all_releases() {
    let platform = Platform::symmetric(2).expect("valid");
    let (us, rule) = (Duration::from_us, PriorityRule::EarliestDeadlineFirst);
    let set = TaskSet::new("one", vec![Task::periodic("a", us(2), us(10))]).expect("valid");
    let cluster =
        Cluster { dedicated: "1".parse().expect("a CPU"), ..Cluster::new(platform.cpus(), vec![0]) };
    let definition =
        Definition::clustered(set.clone(), &platform, rule, vec![cluster], us(20)).expect("valid");
    let text = "
        0 release 0.0 10
        0 release-overhead - 1 on 1
        0 start 0.0 on 0
        2 complete 0.0 10 on 0
        10 release 0.1 20
        10 release-overhead - 1 on 1
        10 start 0.1 on 0
        12 complete 0.1 20 on 0";
    let verdict = verify(&definition, &trace(text), 20_000);
    assert!(verdict.clean, "{verdict}");
    let elsewhere = trace(&text.replace("10 release-overhead - 1 on 1", "10 release-overhead - 1 on 0"));
    // Where a real kernel made the trace: something above the scheduler has the dedicated CPU, or has had it since the release.
    for (cause, until, violations) in [
        (Cause::HigherClass, 10_001, 0),
        (Cause::KernelThread, 15_000, 0),
        (Cause::HigherClass, 10_000, 1),
        (Cause::Decision, 15_000, 1),
    ] {
        let taken = Activity { from_ns: 9_000, to_ns: until, cpu: 1, cause, about: About::Cpu };
        let verdict = verify_measured(&definition, &elsewhere, &[taken], Duration::from_us(1), 20_000);
        assert_eq!(verdict.count(Oracle::Affinity), violations, "{cause:?} until {until}: {verdict}");
    }
    let verdict = verify(&definition, &elsewhere, 20_000);
    assert_eq!(verdict.count(Oracle::Affinity), 1, "{verdict}");
    assert_eq!(
        verdict.violations[0].text,
        "t=10us cpu0 handled a release on cpu0, which is for tasks: cpu1 is dedicated to that [affinity]"
    );
    // Where no CPU is dedicated, each may.
    let anywhere = Definition::global(set, &platform, rule, us(20)).expect("valid");
    assert_eq!(verify(&anywhere, &elsewhere, 20_000).count(Oracle::Affinity), 0);
}
