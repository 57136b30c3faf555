//! A schedule by hand for the tests of this module: two CPUs, four tasks, one of each thing that can happen.

use laxity_model::{Duration, ShownPath as _, Task, TaskSet};
use laxity_trace::{Event, EventKind};
use proptest::prelude::*;
use std::path::PathBuf;

const MS: u64 = 1_000_000;

/// T1 to T3 with C/T of 2/5, 4/10 and 6/12 ms, and `log` in the background.
pub(crate) fn set() -> TaskSet {
    let task = |name, wcet, period| Task::periodic(name, Duration::from_ms(wcet), Duration::from_ms(period));
    let tasks = vec![task("T1", 2, 5), task("T2", 4, 10), task("T3", 6, 12), task("log", 1, 100)];
    TaskSet::new("by hand", tasks).expect("a valid set")
}

/// `(time, kind, CPU, task, job, argument)`; times and arguments that are times in µs.
type Row = (u64, EventKind, Option<u32>, Option<u32>, Option<u32>, Option<u64>);

/// EDF with a context switch of 100 µs. T3.0 is preempted, migrates and misses its deadline.
pub(crate) fn events() -> Vec<Event> {
    use EventKind::*;
    let rows: &[Row] = &[
        (0, Enter, None, Some(3), None, None),
        (0, Release, None, Some(0), Some(0), Some(5_000)),
        (0, Release, None, Some(1), Some(0), Some(10_000)),
        (0, Release, None, Some(2), Some(0), Some(12_000)),
        (0, ReleaseOverhead, Some(0), None, None, Some(50)),
        (50, SchedulingOverhead, Some(0), None, None, Some(20)),
        (70, Ipi, Some(1), None, None, Some(0)),
        (70, Start, Some(0), Some(0), Some(0), None),
        (70, SwitchOverhead, Some(0), Some(0), Some(0), Some(100)),
        (90, Start, Some(1), Some(1), Some(0), None),
        (1_000, TickOverhead, Some(0), None, None, Some(5)),
        (1_500, Block, Some(1), Some(1), Some(0), None),
        (1_500, Start, Some(1), Some(2), Some(0), None),
        (2_175, Complete, Some(0), Some(0), Some(0), Some(5_000)),
        (2_400, LockWait, Some(0), None, None, Some(12)),
        (2_500, BackgroundStart, Some(0), None, None, Some(3)),
        (3_000, Wake, None, Some(1), Some(0), None),
        (3_000, DspMessage, Some(1), None, None, Some(0)),
        (3_000, DspOverhead, Some(1), None, None, Some(7)),
        (3_000, Preempt, Some(1), Some(2), Some(0), None),
        (3_000, Resume, Some(1), Some(1), Some(0), None),
        (3_200, BackgroundStop, Some(0), None, None, Some(3)),
        (3_200, Migrate, Some(0), Some(2), Some(0), Some(1)),
        (3_200, CacheDelay, Some(0), Some(2), Some(0), Some(40)),
        (5_000, Release, None, Some(0), Some(1), Some(10_000)),
        (5_000, Preempt, Some(0), Some(2), Some(0), None),
        (5_000, Start, Some(0), Some(0), Some(1), None),
        (5_000, StaleMessage, Some(1), None, None, None),
        (5_500, Throttle, Some(1), Some(1), Some(0), None),
        (5_500, LinkSwap, Some(1), None, None, Some(0)),
        (5_500, Migrate, Some(1), Some(2), Some(0), Some(0)),
        (6_000, Replenish, None, Some(1), Some(0), Some(16_000)),
        (7_000, Complete, Some(0), Some(0), Some(1), Some(10_000)),
        (7_000, PullFailed, Some(0), None, None, Some(1)),
        (7_100, Pull, Some(0), Some(1), Some(0), Some(1)),
        (7_100, Migrate, Some(0), Some(1), Some(0), Some(1)),
        (8_000, PushFailed, Some(1), Some(2), Some(0), Some(0)),
        (8_100, Push, Some(1), Some(2), Some(0), Some(0)),
        (8_200, PushAbandoned, Some(1), Some(2), Some(0), None),
        (8_600, Complete, Some(0), Some(1), Some(0), Some(10_000)),
        (9_000, Postpone, Some(1), Some(2), Some(0), Some(24_000)),
        (10_000, Release, None, Some(0), Some(2), Some(15_000)),
        (10_000, Preempt, Some(1), Some(2), Some(0), None),
        (10_100, Start, Some(1), Some(0), Some(2), Some(0)),
        (12_000, DeadlineMiss, None, Some(2), Some(0), None),
        (12_000, Release, None, Some(2), Some(1), Some(24_000)),
        (12_100, Complete, Some(1), Some(0), Some(2), Some(15_000)),
        (12_100, Resume, Some(1), Some(2), Some(0), None),
        (13_250, Complete, Some(1), Some(2), Some(0), Some(12_000)),
        (13_250, Start, Some(1), Some(2), Some(1), None),
        (14_000, Leave, None, Some(0), None, None),
    ];
    rows.iter().map(event).collect()
}

/// The same with a late job that aborts, a release that is skipped, and what changes at run time.
pub(crate) fn events_of_every_kind() -> Vec<Event> {
    use EventKind::*;
    let late: &[Row] = &[
        (24_000, DeadlineMiss, None, Some(2), Some(1), None),
        (24_000, Abort, Some(1), Some(2), Some(1), Some(24_000)),
        (24_000, Skip, None, Some(2), Some(2), None),
        (25_000, Demote, Some(0), Some(1), Some(3), None),
        (25_000, ServerPeriod, Some(0), None, None, Some(10_000)),
        (25_000, ServerBudget, Some(0), None, None, Some(2_000)),
        (25_000, BackgroundWait, Some(0), Some(1), Some(3), None),
        (25_500, BackgroundStart, Some(0), Some(1), Some(3), None),
        (26_000, BackgroundStop, Some(0), Some(1), Some(3), None),
        (26_000, Promote, Some(0), Some(1), Some(3), None),
        (26_500, Withdraw, Some(1), None, None, None),
        (27_000, Restore, Some(1), None, None, None),
    ];
    events().into_iter().chain(late.iter().map(event)).collect()
}

fn event(&(time_us, kind, cpu, task, job, argument): &Row) -> Event {
    use EventKind::*;
    let is_time = kind.is_overhead()
        || matches!(
            kind,
            Release | Complete | Abort | Replenish | Postpone | CacheDelay | ServerPeriod | ServerBudget
        );
    let argument = argument.map(|argument| if is_time { argument * MS / 1_000 } else { argument });
    Event { time_ns: time_us * 1_000, kind, cpu, task, job, argument }
}

/// Any events in time order, on few CPUs, of few jobs, so that they meet.
pub(crate) fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let argument = proptest::option::of(0u64..30);
    let row = (0u64..40, 0..EventKind::ALL.len(), proptest::option::of(0u32..3), 0u32..5, 0u32..3, argument);
    let event = row.prop_map(|(time_ns, kind, cpu, task, job, argument)| Event {
        time_ns,
        kind: EventKind::ALL[kind],
        cpu,
        task: Some(task).filter(|task| *task < 4),
        job: Some(job),
        argument,
    });
    proptest::collection::vec(event, 0..120).prop_map(|mut events| {
        events.sort_by_key(|event| event.time_ns);
        events
    })
}

/// Compares with a file that a researcher can read. `LAXITY_BLESS=1` writes it anew.
pub(crate) fn golden(file: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("directory");
        std::fs::write(&path, found).expect("golden file written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} differs; found:\n{found}", path.shown());
}
