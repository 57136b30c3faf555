//! The reserve: traces written by hand, in which jobs leave other work 3 us of every 10 us.

use crate::written::{edf, trace};
use laxity_model::{Duration, Reserve};
use laxity_oracle::{Oracle, Verdict, verify};

/// One CPU, and a task that asks for all of it.
const FULL: &str = "
    0 release 0.0 10
    0 start 0.0 on 0
    0 background-wait - 1
    7 preempt 0.0 on 0
    7 background-start - 1 on 0
    10 background-stop - 1 on 0
    10 release 0.1 20
    10 deadline-miss 0.0
    10 resume 0.0 on 0
    10 background-wait - 1
    13 complete 0.0 10 on 0
    13 start 0.1 on 0
    17 preempt 0.1 on 0
    17 background-start - 1 on 0
    20 background-stop - 1 on 0
    20 deadline-miss 0.1
    20 resume 0.1 on 0
    20 background-wait - 1";

fn verdict(tasks: usize, cpus: u32, text: &str, has_queues: bool) -> Verdict {
    let reserve = Reserve::new(Duration::from_us(3), Duration::from_us(10)).expect("valid");
    let definition = edf(&vec![(10, 10); tasks], cpus, 20).with_reserve(reserve, has_queues);
    verify(&definition, &trace(text), 22_000)
}

/// What is seen, each with its oracle and from when to when in us.
fn seen(verdict: &Verdict) -> Vec<(Oracle, u64, u64)> {
    let all = verdict.violations.iter();
    all.map(|it| (it.oracle, it.from_ns / 1_000, it.to_ns / 1_000)).collect()
}

#[test]
fn neither_side_may_take_longer() {
    assert!(verdict(1, 1, FULL, false).clean, "{}", verdict(1, 1, FULL, false));
    for (changes, expected) in [
        // The job goes on for a microsecond.
        (
            &[("    7 preempt", "    8 preempt"), ("    7 background-start", "    8 background-start")][..],
            (Oracle::GlobalInvariant, 7, 8),
        ),
        // It stops before it has had its share: nothing is used up then, and nothing excuses that it waits.
        (
            &[("    7 preempt", "    6 preempt"), ("    7 background-start", "    6 background-start")],
            (Oracle::WorkConservation, 6, 10),
        ),
        // Background work keeps the CPU for a microsecond of the next window.
        (
            &[
                ("    20 background-stop - 1 on 0\n", ""),
                ("    20 resume", "    21 background-stop - 1 on 0\n    21 resume"),
                ("    20 background-wait", "    21 background-wait"),
            ],
            (Oracle::WorkConservation, 20, 21),
        ),
    ] {
        let text = changes.iter().fold(FULL.to_owned(), |text, (from, to)| text.replacen(from, to, 1));
        let found = verdict(1, 1, &text, false);
        assert_eq!(seen(&found), [expected], "{found}");
    }
}

#[test]
fn it_only_counts_while_other_work_waits() {
    let alone = FULL.lines().filter(|line| line.contains(" 0.0") && !line.contains("miss")).take(2);
    let alone: Vec<&str> = alone.chain(["10 complete 0.0 10 on 0"]).collect();
    assert!(verdict(1, 1, &alone.join("\n"), false).violations.iter().all(|it| it.from_ns >= 10_000));
}

/// Two CPUs of a cluster, both used up at 7.
const TWO: &str = "
    0 release 0.0 10
    0 release 1.0 10
    0 start 0.0 on 0
    0 start 1.0 on 1
    0 background-wait - 1
    7 preempt 0.0 on 0
    7 background-start - 1 on 0";

#[test]
fn as_many_jobs_may_wait_as_other_work_has_cpus() {
    let until_10 = |text: &str, tasks: usize, has_queues: bool| {
        let found = verdict(tasks, 2, text, has_queues);
        let mut all = seen(&found);
        all.retain(|&(oracle, from, _)| {
            from < 10 && matches!(oracle, Oracle::GlobalInvariant | Oracle::WorkConservation)
        });
        all.into_iter().map(|(oracle, from, _)| (oracle, from)).collect::<Vec<_>>()
    };
    assert_eq!(until_10(TWO, 2, false), []);
    let both = format!("{TWO}\n    8 preempt 1.0 on 1");
    // One of two may wait where each CPU has a queue; where one is for all, the background task has to go to the idle CPU.
    assert_eq!(until_10(&both, 2, true), [(Oracle::WorkConservation, 8)]);
    assert_eq!(until_10(&both, 2, false), [(Oracle::WorkConservation, 8); 2]);
    // Another background task takes the other CPU, by right.
    let by_right = format!("{both}\n    8 background-start - 2 on 1");
    assert_eq!(until_10(&by_right, 2, false), []);
    // A CPU has nothing to do, where one queue is for all and where each has its own.
    let spare: Vec<&str> = TWO.lines().filter(|line| !line.contains(" 1.0")).collect();
    assert_eq!(until_10(&spare.join("\n"), 1, false), [(Oracle::WorkConservation, 7)]);
    assert_eq!(until_10(&spare.join("\n"), 1, true), []);
}
