//! Transition windows: what costs explain is tolerated, and not more. What kernel work and cold caches take is not work.

use crate::written::{edf, trace};
use laxity_model::{Demand, Duration};
use laxity_oracle::{BudgetMode, Definition, KernelWindows, Oracle, Structure, Transitions, Verdict, verify};

const END: u64 = 20_000;

/// A release is handled and a decision made before the job starts; a tick and cold caches delay it.
const COSTLY: &str = "
    0 release 0.0 20
    0 release-overhead - 2 on 0
    2 scheduling-overhead - 1 on 0
    3 start 0.0 on 0
    5 tick-overhead - 2 on 0
    7 cache-delay 0.0 1 on 0
    11 complete 0.0 20 on 0";

fn definition() -> Definition {
    edf(&[(5, 20)], 1, 20).with_jobs(0, Demand::Wcet)
}

/// Kernel work explains, nothing takes time that no event shows.
const KERNEL: KernelWindows = KernelWindows {
    structure: Structure::Linked,
    release_latency: Duration::ZERO,
    ipi: Duration::ZERO,
    mailbox: Duration::ZERO,
};

fn tolerating(bound_us: u64, kernel_work: bool) -> Transitions {
    let kernel = kernel_work.then_some(KERNEL);
    Transitions { bound: Duration::from_us(bound_us), kernel, abandoned_pushes: false }
}

fn verdict(definition: &Definition, text: &str) -> Verdict {
    verify(definition, &trace(text), END)
}

#[test]
fn a_window_is_as_long_as_declared() {
    for (transitions, violations) in [
        (Transitions::NONE, 1),
        (tolerating(2, false), 1),
        (tolerating(3, false), 0),
        (tolerating(0, true), 0),
    ] {
        let verdict = verdict(&definition().with_transitions(transitions), COSTLY);
        assert_eq!(verdict.count(Oracle::WorkConservation), violations, "{transitions:?}: {verdict}");
        assert_eq!(verdict.clean, violations == 0, "{verdict}");
        assert_eq!(verdict.tolerated.count, 1 - violations);
    }
}

#[test]
fn kernel_work_excuses_only_its_own_time() {
    let definition = definition().with_transitions(tolerating(0, true));
    let late = COSTLY.replace("3 start", "4 start").replace("11 complete", "12 complete");
    let verdict = verdict(&definition, &late);
    assert_eq!(verdict.count(Oracle::WorkConservation), 1, "{verdict}");
    assert_eq!((verdict.violations[0].from_ns, verdict.violations[0].to_ns), (0, 4_000));
}

#[test]
fn kernel_work_and_cold_caches_are_not_work() {
    let definition = definition().with_transitions(tolerating(3, false));
    for (change, wrong) in [
        (("", ""), false),
        (("5 tick-overhead - 2", "5 tick-overhead - 1"), true),
        (("5 tick-overhead - 2", "5 tick-overhead - 3"), true),
        (("cache-delay 0.0 1", "cache-delay 0.0 2"), true),
        // Work that waits its turn behind other work takes the time after it.
        (("5 tick-overhead - 2", "5 tick-overhead - 1 on 0\n 5 lock-wait - 1"), false),
    ] {
        let verdict = verdict(&definition, &COSTLY.replace(change.0, change.1));
        assert_eq!(verdict.count(Oracle::Demand), u64::from(wrong), "{change:?}: {verdict}");
    }
}

#[test]
fn kernel_work_uses_no_budget() {
    let definition = definition().with_transitions(tolerating(3, false)).with_budgets(BudgetMode::Throttle);
    assert!(verdict(&definition, COSTLY).clean);
    let longer =
        COSTLY.replace("cache-delay 0.0 1", "cache-delay 0.0 0").replace("11 complete", "15 complete");
    assert_eq!(verdict(&definition, &longer).count(Oracle::Budgets), 1);
}

#[test]
fn a_job_may_wait_after_an_abandoned_push_until_it_runs() {
    let text = "
        0 release 0.0 10
        0 release 1.0 12
        0 start 0.0 on 0
        0 push-abandoned 1.0 on 0
        3 complete 0.0 10 on 0
        3 start 1.0 on 0
        7 preempt 1.0 on 0
        9 resume 1.0 on 0
        10 release 0.1 20
        10 start 0.1 on 1
        10 complete 1.0 12 on 0
        13 complete 0.1 20 on 1";
    let definition = edf(&[(3, 10), (5, 12)], 2, 12);
    assert_eq!(verify(&definition, &trace(text), 12_000).count(Oracle::WorkConservation), 2);
    let transitions = Transitions { abandoned_pushes: true, ..Transitions::NONE };
    let verdict = verify(&definition.with_transitions(transitions), &trace(text), 12_000);
    assert_eq!(verdict.count(Oracle::WorkConservation), 1, "{verdict}");
    assert_eq!(verdict.violations[0].from_ns, 7_000);
    assert_eq!(verdict.tolerated.abandoned_pushes, 1);
}

#[test]
fn blocked_jobs_do_not_wait() {
    let text = "
        0 release 0.0 20
        0 start 0.0 on 0
        2 block 0.0 on 0
        6 wake 0.0
        6 resume 0.0 on 0
        9 complete 0.0 20 on 0";
    let verdict = verdict(&definition(), text);
    assert!(verdict.clean, "{verdict}");
    let asleep = text.replace("6 wake 0.0", "5 wake 0.0");
    assert_eq!(self::verdict(&definition(), &asleep).count(Oracle::WorkConservation), 1);
}
