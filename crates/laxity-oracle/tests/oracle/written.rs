//! Traces written by hand, in microseconds: `"0 release 0.0 10"`, `"3 start 0.0 on 1"`, `"4 tick-overhead 2 on 0"`.

use laxity_model::{Duration, Platform, PriorityRule, Task, TaskSet};
use laxity_oracle::Definition;
use laxity_trace::{Event, EventKind};

/// A trace, one event per line: time, kind, job (task.job) or `-`, argument if any (a time, or a CPU), `on` CPU if any.
pub fn trace(text: &str) -> Vec<Event> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(event).collect()
}

fn event(line: &str) -> Event {
    let (line, cpu) = match line.split_once(" on ") {
        Some((line, cpu)) => (line, Some(cpu.parse().expect("a CPU"))),
        None => (line, None),
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    let kind = EventKind::ALL.into_iter().find(|kind| kind.name() == words[1]).expect("a kind");
    let job = words.get(2).and_then(|job| job.split_once('.'));
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let is_time = kind.is_overhead()
        || matches!(
            kind,
            EventKind::Release
                | EventKind::Complete
                | EventKind::Abort
                | EventKind::Replenish
                | EventKind::Postpone
                | EventKind::CacheDelay
        );
    let argument = words.get(3).map(|text| u64::from(number(text)) * if is_time { 1_000 } else { 1 });
    Event {
        time_ns: u64::from(number(words[0])) * 1_000,
        kind,
        cpu,
        task: job.map(|(task, _)| number(task)),
        job: job.map(|(_, job)| number(job)),
        argument,
    }
}

/// Periodic tasks (C, T) with implicit deadlines on `cpus` CPUs under global EDF for `duration`; all in microseconds.
pub fn edf(tasks: &[(u64, u64)], cpus: u32, duration: u64) -> Definition {
    let us = Duration::from_us;
    let task =
        |(id, &(wcet, period)): (usize, &(u64, u64))| Task::periodic(format!("t{id}"), us(wcet), us(period));
    let set = TaskSet::new("written", tasks.iter().enumerate().map(task).collect()).expect("valid");
    let platform = Platform::symmetric(cpus).expect("valid");
    Definition::global(set, &platform, PriorityRule::EarliestDeadlineFirst, us(duration)).expect("valid")
}
