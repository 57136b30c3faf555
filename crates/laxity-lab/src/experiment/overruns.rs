//! How often tasks of SCHED_DEADLINE used up their budgets: as the kernel told their threads, and as the records of the schedule say.

use laxity_kernel::rings::{Kind, NONE};
use laxity_model::{TaskSet, plural, shown};
use laxity_run::{Plan, RunRecords};
use laxity_trace::{EventKind, OverrunRecord, Run};

/// As results keep it: of each task, by id, the signals that its thread got.
pub fn records(signals: Vec<(u32, u64)>) -> Vec<OverrunRecord> {
    signals.into_iter().map(|(task, signals)| OverrunRecord { task, signals, throttled: None }).collect()
}

/// Counts the times at which a thread left its CPU because its budget was used up.
pub fn count_throttled(overruns: &mut [OverrunRecord], plan: &Plan, records: &RunRecords) {
    for overrun in overruns {
        let own = |&(position, _): &(usize, u32)| {
            plan.tasks.get(position).is_some_and(|task| u32::try_from(task.id) == Ok(overrun.task))
        };
        let Some(&(_, tid)) = records.threads.iter().find(|thread| own(thread)) else { continue };
        // Without a CPU it is said of a thread that was throttled before.
        let gave_way = records.recorded.records.iter().filter(|record| {
            record.pid == tid
                && record.cpu != NONE
                && Kind::of(record.kind) == Some(Kind::Event(EventKind::Throttle))
        });
        overrun.throttled = Some(gave_way.count() as u64);
    }
}

/// Says which tasks used up budgets, and how often; nothing where none did.
pub fn note(run: &Run, set: &TaskSet) -> Option<String> {
    let overruns = run.overruns.as_deref().unwrap_or_default();
    let used_up = |one: &&OverrunRecord| one.signals > 0 || one.throttled.is_some_and(|count| count > 0);
    let words = |one: &OverrunRecord| {
        let name = set.tasks().get(one.task as usize).map_or("?", |task| task.name.as_str());
        let throttled =
            one.throttled.map(|count| format!(", throttled {}", plural(count, "time"))).unwrap_or_default();
        format!("`{}` {} (SIGXCPU){throttled}", shown(name), plural(one.signals, "overrun signal"))
    };
    let all: Vec<String> = overruns.iter().filter(used_up).map(words).collect();
    (!all.is_empty()).then(|| format!("budgets used up: {}", all.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::{Duration, Task};
    use laxity_trace::{Host, RunStatus};

    #[test]
    fn only_tasks_that_used_up_budgets_are_named() {
        let task = |name: &str| Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10));
        let set = TaskSet::new("set", vec![task("a"), task("b"), task("c")]).expect("valid");
        let mut run = Run {
            overruns: Some(records(vec![(0, 0), (1, 7), (2, 0)])),
            ..Run::new("p-edf", Host::Linux, Duration::from_ms(100), RunStatus::Completed)
        };
        assert_eq!(note(&run, &set).as_deref(), Some("budgets used up: `b` 7 overrun signals (SIGXCPU)"));
        run.overruns.as_mut().expect("some")[2].throttled = Some(2);
        let words = note(&run, &set).expect("two");
        assert!(words.ends_with("`c` 0 overrun signals (SIGXCPU), throttled 2 times"), "{words}");
        run.overruns = None;
        assert_eq!(note(&run, &set), None);
    }
}
