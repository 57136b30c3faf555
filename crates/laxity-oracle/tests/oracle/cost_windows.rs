//! Transition windows: what costs explain is tolerated, and not more. What kernel work and cold caches take is not work.

use crate::written::{edf, trace};
use laxity_model::{Demand, Duration, Platform, PriorityRule, Structure};
use laxity_oracle::{BudgetRule, Cluster, Definition, KernelWindows, Oracle, Transitions, Verdict, verify};

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

/// A job waits while a CPU that runs another one is at work: that may be for a job that goes before what runs there, and
/// never for one that goes after it.
#[test]
fn work_on_a_cpu_that_runs_what_goes_before_explains_nothing() {
    for (period, bound_us, violations) in [(20, 0, 1), (20, 2, 1), (20, 3, 0), (5, 0, 1), (5, 1, 0)] {
        let text = format!(
            "
            0 release 0.0 10
            0 release 1.0 {period}
            0 start 0.0 on 0
            1 scheduling-overhead - 2 on 0
            3 start 1.0 on 1
            5 complete 1.0 {period} on 1
            7 complete 0.0 10 on 0"
        );
        let definition = edf(&[(5, 10), (2, period)], 2, 5).with_transitions(tolerating(bound_us, true));
        let verdict = verdict(&definition, &text);
        assert_eq!(verdict.count(Oracle::WorkConservation), violations, "{period}, {bound_us}: {verdict}");
    }
}

fn latencies(structure: Structure, release_us: u64, ipi_us: u64, mailbox_us: u64) -> Transitions {
    let us = Duration::from_us;
    let (release_latency, ipi, mailbox) = (us(release_us), us(ipi_us), us(mailbox_us));
    let kernel = Some(KernelWindows { structure, release_latency, ipi, mailbox });
    Transitions { kernel, ..Transitions::NONE }
}

/// The interrupt of a release takes 1 us to come and 2 us, the one to the other CPU 4 us more.
#[test]
fn what_is_on_its_way_explains_for_as_long_as_it_may_take() {
    let text = "
        0 release 0.0 20
        1 release-overhead - 2 on 0
        7 ipi - 0 on 1
        7 scheduling-overhead - 1 on 1
        8 start 0.0 on 1
        13 complete 0.0 20 on 1";
    let on_two = edf(&[(5, 20)], 2, 20);
    let arrives_nowhere = text.replace("7 ipi - 0 on 1", "");
    for (release_us, ipi_us, text, clean) in [
        (1, 4, text, true),
        (0, 4, text, false),
        (1, 3, text, false),
        (1, 4, arrives_nowhere.as_str(), false),
    ] {
        let definition = on_two.clone().with_transitions(latencies(Structure::Linked, release_us, ipi_us, 0));
        let verdict = verdict(&definition, text);
        assert_eq!(verdict.clean, clean, "release {release_us} us, IPI {ipi_us} us: {verdict}");
    }
    // At the end of a trace, an interrupt may still be on its way.
    let cut: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    for (ipi_us, clean) in [(4, true), (3, false)] {
        let definition = on_two.clone().with_transitions(latencies(Structure::Linked, 1, ipi_us, 0));
        let verdict = verify(&definition, &trace(&cut), 7_000);
        assert_eq!(verdict.clean, clean, "{ipi_us} us: {verdict}");
    }
}

/// At 20 us t0 and t1 are released, by the timers of the CPUs where their jobs before ended. CPU 1 handles its release for 2 us, and
/// decides for t0, which takes no time and is not recorded; then it handles another release for 3 us.
const DECIDED_BETWEEN: &str = "
        0 release 0.0 20
        0 release 1.0 20
        0 release 2.0 100
        0 start 0.0 on 0
        0 start 1.0 on 1
        2 complete 0.0 20 on 0
        2 complete 1.0 20 on 1
        2 start 2.0 on 1
        20 release 0.1 40
        20 release 1.1 40
        20 release-overhead - 2 on 1
        22 ipi - 1 on 0
        22 start 1.1 1 on 0
        22 preempt 2.0 on 1
        22 release-overhead - 3 on 1
        24 complete 1.1 40 on 0
        24 migrate 2.0 1 on 0
        25 start 0.1 0 on 1
        27 complete 0.1 40 on 1";

/// Its CPU runs t2, which is preempted then; or nothing, as t2 has ended.
#[test]
fn a_decision_that_takes_no_time_explains_what_its_cpu_does_next() {
    let interrupted = DECIDED_BETWEEN.to_owned();
    let ended = DECIDED_BETWEEN
        .replace("22 preempt 2.0 on 1", "")
        .replace("24 migrate 2.0 1 on 0", "")
        .replace("20 release 0.1", "19 complete 2.0 100 on 1\n 20 release 0.1");
    let late = |text: &str| text.replace("25 start", "26 start").replace("27 complete", "28 complete");
    let preempts_later = DECIDED_BETWEEN
        .replace("22 preempt 2.0 on 1", "")
        .replace("24 migrate 2.0 1 on 0", "")
        .replace("25 start", "25 preempt 2.0 on 1\n 25 migrate 2.0 1 on 0\n 25 start");
    for (wcet_us, text, violations) in [
        (90, interrupted.clone(), 0),
        (90, late(&interrupted), 1),
        (90, preempts_later, 1),
        (17, ended.clone(), 0),
        (17, late(&ended), 1),
    ] {
        let definition = edf(&[(2, 20), (2, 20), (wcet_us, 100)], 2, 28);
        let definition = definition.with_transitions(latencies(Structure::Linked, 2, 0, 0));
        let verdict = verify(&definition, &trace(&text), 28_000);
        assert_eq!(verdict.violations.len(), violations, "{verdict}\n{text}");
    }
}

/// CPU 1 decides for CPU 0, which tells it that a job has ended.
#[test]
fn messages_explain_until_the_dedicated_cpu_has_heard() {
    let text = "
        0 release 0.0 15
        0 release 1.0 20
        0 start 0.0 on 0
        5 complete 0.0 15 on 0
        5 scheduling-overhead - 1 on 0
        8 dsp-message - 0 on 1
        8 dsp-overhead - 1 on 1
        10 ipi - 1 on 0
        10 scheduling-overhead - 1 on 0
        11 start 1.0 on 0
        16 complete 1.0 20 on 0";
    let set = edf(&[(5, 15), (5, 20)], 2, 15).set().clone();
    let cpus = |cpu: u32| [cpu].into_iter().collect();
    let cluster = Cluster { cpus: (0..2).collect(), dedicated: cpus(1), tasks: vec![0, 1] };
    let platform = Platform::symmetric(2).expect("cores");
    let rule = PriorityRule::EarliestDeadlineFirst;
    let definition = Definition::clustered(set, &platform, rule, vec![cluster], Duration::from_us(15));
    let definition = definition.expect("valid");
    for (ipi_us, mailbox_us, clean) in [(1, 2, true), (0, 2, false), (1, 1, false)] {
        let transitions = latencies(Structure::Messages, 0, ipi_us, mailbox_us);
        let verdict = verdict(&definition.clone().with_transitions(transitions), text);
        assert_eq!(verdict.clean, clean, "IPI {ipi_us} us, mailbox {mailbox_us} us: {verdict}");
    }
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
    let definition = definition().with_transitions(tolerating(3, false)).with_budgets(BudgetRule::THROTTLE);
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
        0 push-abandoned 1.0 0 on 1
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

/// T1.0 waits on CPU 0 behind T0.0, while CPU 1 runs T2.0, whose deadline is later.
const GIVEN_UP: &str = "
        0 release 0.0 10
        0 release 1.0 12
        0 release 2.0 20
        0 start 0.0 on 0
        0 start 2.0 on 1
        2 push-abandoned 1.0 1 on 0
        3 complete 0.0 10 on 0
        3 start 1.0 on 0
        7 complete 1.0 12 on 0
        8 complete 2.0 20 on 1
        10 release 0.1 20
        10 start 0.1 on 0";

#[test]
fn a_push_is_given_up_for_a_reason() {
    let definition = edf(&[(3, 10), (4, 12), (8, 20)], 2, 11);
    let kernel = KernelWindows { structure: Structure::Queues, ipi: Duration::from_us(1), ..KERNEL };
    let transitions = Transitions { bound: Duration::ZERO, kernel: Some(kernel), abandoned_pushes: true };
    let definition = definition.with_transitions(transitions);
    let wrong = |text: &str| {
        let verdict = verify(&definition, &trace(text), 11_000);
        assert!(verdict.violated().all(|oracle| oracle == Oracle::GlobalInvariant), "{verdict}");
        let reasons = verdict.violations.iter().filter(|violation| violation.text.contains("gave up"));
        assert_eq!(reasons.clone().count(), verdict.violations.len(), "{verdict}");
        reasons.map(|violation| violation.text.clone()).collect::<Vec<_>>()
    };
    let text = "t=2us cpu0 gave up pushing t1.0 (deadline 12us) to cpu1, which ran t2.0 (deadline 20us), without a \
                reason [global invariant]";
    assert_eq!(wrong(GIVEN_UP), [text]);
    let instead = |line: &str| GIVEN_UP.replace("2 push-abandoned 1.0 1 on 0", line);
    assert_eq!(wrong(&instead("2 push-abandoned 1.0 0 on 1")), Vec::<String>::new(), "runs a job before it");
    let nowhere = verify(&definition, &trace(&instead("2 push-abandoned 1.0 9 on 0")), 11_000);
    assert_eq!(nowhere.violated().collect::<Vec<_>>(), [Oracle::WellFormed], "{nowhere}");
}

#[test]
fn what_a_target_is_about_to_run_is_a_reason() {
    // T0.0 enters CPU 1's queue unseen when it is released, and CPU 1 switches to it.
    let text = "
        0 release 1.0 12
        0 release 2.0 20
        0 start 2.0 on 0
        0 start 1.0 on 1
        1 push-failed 2.0 1 on 0
        1 push-abandoned 2.0 1 on 0
        4 complete 1.0 12 on 1
        5 release 3.0 30
        5 start 3.0 on 1
        6 release 0.0 16
        7 push-abandoned 2.0 1 on 0
        8 ipi - 0 on 1
        8 preempt 3.0 on 1
        8 scheduling-overhead - 2 on 1
        10 start 0.0 on 1";
    let phases = [6, 0, 0, 5];
    let us = Duration::from_us;
    let tasks = [(3, 10), (4, 12), (8, 20), (9, 25)].into_iter().zip(phases).enumerate();
    let task = |(id, ((wcet, period), phase)): (usize, ((u64, u64), u64))| laxity_model::Task {
        phase: us(phase),
        ..laxity_model::Task::periodic(format!("t{id}"), us(wcet), us(period))
    };
    let set = laxity_model::TaskSet::new("written", tasks.map(task).collect()).expect("valid");
    let platform = Platform::symmetric(2).expect("valid");
    let verdict_of = |text: &str, ipi: u64| {
        let kernel = KernelWindows { structure: Structure::Queues, ipi: us(ipi), ..KERNEL };
        let transitions = Transitions { bound: Duration::ZERO, kernel: Some(kernel), abandoned_pushes: true };
        let rule = PriorityRule::EarliestDeadlineFirst;
        let definition = Definition::global(set.clone(), &platform, rule, us(12)).expect("valid");
        let verdict = verify(&definition.with_transitions(transitions), &trace(text), 11_000);
        verdict.violations.iter().filter(|violation| violation.text.contains("gave up")).count()
    };
    assert_eq!(verdict_of(text, 1), 0);
    assert_eq!(verdict_of(text, 0), 1, "the interrupt comes too late");
    assert_eq!(verdict_of(&text.replace("10 start", "11 start"), 1), 1, "CPU 1 pauses");
    assert_eq!(
        verdict_of(&text.replace("10 start 0.0", "10 resume 3.0"), 1),
        1,
        "it goes on with a later job"
    );
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
