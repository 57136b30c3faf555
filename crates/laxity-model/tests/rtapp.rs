//! Imports of rt-app files of every shape that its tutorial and its examples have (`rtapp/`), and of random threads, against what
//! such a thread does when it is alone, event by event.

use laxity_model::*;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    let at = if name == WAITS { "../../examples/imports" } else { "tests/rtapp" };
    Path::new(env!("CARGO_MANIFEST_DIR")).join(at).join(name)
}

/// The example of the guide.
const WAITS: &str = "rtapp-waits.json";

fn ms(time: u64) -> Duration {
    Duration::from_ms(time)
}

fn us(time: u64) -> Duration {
    Duration::from_us(time)
}

fn sporadic(name: &str, wcet: Duration, apart: Duration) -> Task {
    Task { arrival: Arrival::Sporadic { min_interarrival: apart }, ..Task::periodic(name, wcet, apart) }
}

fn import(name: &str) -> Imported {
    read_task_set(&file(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn without(name: &str) -> Imported {
    read_task_set_as(&file(name), Incomplete::LeaveOut).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(name: &str) -> Diagnostic {
    read_task_set(&file(name)).expect_err(name)
}

#[test]
fn a_thread_that_sleeps_after_its_work_is_sporadic() {
    let Imported { set, warnings } = import("sleeper.json");
    assert_eq!(set.tasks(), [sporadic("pump", ms(2), ms(10))]);
    assert_eq!(
        warnings,
        [
            "global: `duration` belongs to a run, not to a task set; give it as --duration",
            "thread `pump`: it sleeps after its work; imported as sporadic, 10000 us apart"
        ]
    );
}

#[test]
fn loops_end_and_instances_are_as_many_tasks() {
    let Imported { set, warnings } = import("ends.json");
    let task = Task { leave: Some(ms(600)), ..Task::periodic("burst-0", ms(27), ms(30)) };
    assert_eq!((&set.tasks()[0], set.tasks().len()), (&task, 12));
    assert_eq!(warnings, ["thread `burst`: its jobs differ; every job is given the longest, 27000 us"]);
}

#[test]
fn what_comes_before_the_first_work_delays_it() {
    let Imported { set, warnings } = import("late.json");
    // Ten jobs, the last of which begins at 12 s.
    let task = Task {
        phase: ms(1_200),
        leave: Some(ms(13_200)),
        affinity: Some("1".parse().expect("a list")),
        priority: Some(90),
        ..Task::periodic("dvfs", ms(900), ms(1_200))
    };
    assert_eq!(set.tasks(), [task]);
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn threads_that_wait_for_others_refuse_the_file_unless_they_are_left_out() {
    let error = refused(WAITS);
    for part in [
        "thread `out`: waits for other threads (`suspend`)",
        "thread `decoder`: waits for other threads (`wait`)",
    ] {
        assert!(error.message.contains(part), "{error}");
    }
    assert!(!error.message.contains("`display`") && !error.message.contains("`tick`"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("--leave-out-threads")));
    let Imported { set, warnings } = without(WAITS);
    assert_eq!(set.tasks(), [Task::periodic("display", us(115), us(16_667))]);
    let said = |text: &str| warnings.iter().any(|warning| warning.contains(text));
    assert!(
        warnings[0].starts_with("left out with its work: thread `out`, which waits for other threads"),
        "{warnings:?}"
    );
    assert!(warnings[1].starts_with("left out with its work: thread `decoder`, which waits"), "{warnings:?}");
    assert!(said("thread `tick`: has no `run` or `runtime` event") && said("makes no task"), "{warnings:?}");
    // Of what is left out nothing else is said.
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    // Nothing is left of some.
    for name in ["together.json", WAITS] {
        assert_eq!(refused(name).failure.exit_code(), 2, "{name}");
    }
    let nothing =
        read_task_set_as(&file("together.json"), Incomplete::LeaveOut).expect_err("nothing is left");
    assert!(
        nothing.message.contains("threads `first`, `second`: each waits for other threads (`barrier`)"),
        "{nothing}"
    );
    assert!(nothing.hint.is_some_and(|hint| hint.contains("no other thread makes a task")));
}

#[test]
fn a_thread_without_a_pause_is_background() {
    let Imported { set, warnings } = import("hog.json");
    let background = |name: &str, us: u64| Task {
        kind: TaskKind::BestEffort,
        ..Task::periodic(name, Duration::from_us(us), Duration::from_us(us))
    };
    assert_eq!(set.tasks(), [background("hog", 4_500), background("slice", 20_000)]);
    assert_eq!(
        warnings,
        [
            "thread `hog`: its phases have different `cpus`; the affinity is left out",
            "thread `hog` has neither a timer nor a sleep, so no period: imported as background work without a pause",
            "thread `slice` has neither a timer nor a sleep, so no period: imported as background work without a pause",
            "thread `slice`: its reservation (SCHED_DEADLINE) is left out"
        ]
    );
}

#[test]
fn forked_threads_have_no_known_times() {
    let error = refused("forks.json");
    assert!(error.message.contains("thread `child`: is started by `fork` of thread `parent`"), "{error}");
    let Imported { set, .. } = without("forks.json");
    // 10 of 20 ms, then 5 of 20 ms.
    assert_eq!(set.tasks(), [Task { leave: Some(ms(40)), ..sporadic("parent", ms(10), ms(20)) }]);
}

#[test]
fn work_of_unknown_length_is_said() {
    assert!(
        refused("memory.json")
            .message
            .contains("thread `only`: has no `run` or `runtime` event, and how long its `iorun` takes")
    );
    let Imported { set, warnings } = without("memory.json");
    assert_eq!(set.tasks(), [sporadic("bound", ms(1), ms(6))]);
    for event in ["mem", "iorun"] {
        assert!(
            warnings.contains(&format!("thread `bound`: the event `{event}` is not modelled")),
            "{warnings:?}"
        );
    }
}

#[test]
fn the_first_dialect_has_no_events() {
    let Imported { set, warnings } = import("exec.json");
    assert_eq!(set.tasks(), [Task { deadline_rel: ms(8), ..Task::periodic("old", ms(1), ms(10)) }]);
    assert!(warnings.iter().any(|warning| warning.contains("`lock_order`")), "{warnings:?}");
}

#[test]
fn priorities_loops_and_shared_timers_do_not_get_lost() {
    let text = |thread: &str| {
        format!("{{\"tasks\": {{\"t\": {{{thread}, \"timer\": {{\"ref\": \"x\", \"period\": 1000}}}}}}}}")
    };
    let task = |thread: &str| {
        let Imported { set, warnings } =
            TaskSet::from_rtapp(&text(thread), "s").unwrap_or_else(|e| panic!("{e}"));
        (set.tasks()[0].clone(), warnings)
    };
    let (five, warnings) = task("\"loop\": 5, \"run\": 100");
    assert_eq!((five.leave, warnings), (Some(us(5_000)), vec![]));
    assert_eq!(task("\"loop\": 5, \"delay\": 300, \"run\": 100").0.leave, Some(us(5_300)));
    assert_eq!(task("\"loop\": -1, \"run\": 100").0.leave, None);
    for (priority, ours) in [(1, 99), (99, 1), (50, 50)] {
        let (task, warnings) =
            task(&format!("\"policy\": \"SCHED_RR\", \"priority\": {priority}, \"run\": 100"));
        assert_eq!((task.priority, warnings), (Some(ours), vec![]));
    }
    let (nice, warnings) = task("\"priority\": -19, \"run\": 100");
    assert_eq!(nice.priority, None);
    assert_eq!(
        warnings,
        ["thread `t`: its `priority` is a nice value, which a task has not; it is left out"]
    );
    let (_, warnings) = task("\"instance\": 2, \"run\": 100");
    assert!(warnings[0].starts_with("timer `x` is one for several threads"), "{warnings:?}");
}

/// An event of a thread: work, a sleep, a timer.
#[derive(Debug, Clone, Copy)]
enum Event {
    Run(u64),
    Sleep(u64),
    Timer(u64),
}

/// Repetitions of the thread (none: without end), and phases with theirs.
type Described = (Option<u64>, Vec<(Option<u64>, Vec<Event>)>);

fn described() -> impl Strategy<Value = Described> {
    let event = prop_oneof![
        4 => (1u64..40).prop_map(Event::Run),
        2 => (0u64..60).prop_map(Event::Sleep),
        2 => prop::sample::select(vec![50u64, 50, 50, 100]).prop_map(Event::Timer),
    ];
    let loops = || prop_oneof![1 => Just(None), 9 => (1u64..5).prop_map(Some)];
    let phase = (loops(), prop::collection::vec(event, 1..5));
    (prop_oneof![Just(None), (1u64..4).prop_map(Some)], prop::collection::vec(phase, 1..4))
}

fn text((repeats, phases): &Described) -> String {
    let times = |loops: &Option<u64>| loops.map_or("-1".to_owned(), |loops| loops.to_string());
    let event = |event: &Event| match event {
        Event::Run(us) => format!("\"run\": {us}"),
        Event::Sleep(us) => format!("\"sleep\": {us}"),
        Event::Timer(us) => format!("\"timer\": {{\"ref\": \"unique\", \"period\": {us}}}"),
    };
    let phase = |(at, (loops, events)): (usize, &(Option<u64>, Vec<Event>))| {
        let events: Vec<String> = events.iter().map(event).collect();
        format!("\"p{at}\": {{\"loop\": {}, {}}}", times(loops), events.join(", "))
    };
    let phases: Vec<String> = phases.iter().enumerate().map(phase).collect();
    format!(
        "{{\"tasks\": {{\"t\": {{\"loop\": {}, \"delay\": 7, \"phases\": {{{}}}}}}}}}",
        times(repeats),
        phases.join(", ")
    )
}

/// The events of a thread in the order in which it meets them, until it ends or so many were met; and whether it has ended. A phase
/// that does nothing for ever is an end, too.
fn events((repeats, phases): &Described, most: usize) -> (Vec<Event>, bool) {
    let mut met = Vec::new();
    for _ in 0..repeats.unwrap_or(u64::MAX) {
        for (loops, events) in phases {
            let works = events.iter().any(|event| matches!(event, Event::Run(_)));
            if loops.is_none() && !works {
                met.extend(events);
                return (met, true);
            }
            for _ in 0..loops.unwrap_or(u64::MAX) {
                met.extend(events);
                if met.len() >= most {
                    return (met, false);
                }
            }
        }
    }
    (met, true)
}

/// When the jobs of a thread that is alone arrive, and their work; nothing if a timer is late.
fn alone(events: &[Event]) -> Option<Vec<(u64, u64)>> {
    let timed = events.iter().any(|event| matches!(event, Event::Timer(_)));
    let (mut now, mut next) = (7, 7);
    let mut jobs = vec![(7, 0)];
    for event in events {
        match *event {
            Event::Run(us) => {
                now += us;
                jobs.last_mut().expect("a job").1 += us;
            }
            Event::Sleep(us) => {
                now += us;
                if !timed && us > 0 {
                    jobs.push((now, 0));
                }
            }
            Event::Timer(us) => {
                next += us;
                if now > next {
                    return None;
                }
                now = next;
                jobs.push((now, 0));
            }
        }
    }
    jobs.retain(|&(_, work)| work > 0);
    Some(jobs)
}

laxity_seeds::properties! {
    #![cases(4000)]

    /// The task asks for all that the thread does: each of its jobs is no longer than C, none comes sooner than T after the one
    /// before, the first at the phase, none when the task has left, and none is missing.
    #[test]
    fn a_task_covers_what_its_thread_does(described in described()) {
        let (events, ended) = events(&described, 600);
        let Some(jobs) = alone(&events) else { return Ok(()) };
        let text = text(&described);
        let imported = TaskSet::from_rtapp(&text, "s");
        let pauses = events.iter().any(|event| matches!(event, Event::Timer(_) | Event::Sleep(1..)));
        let (Some(&(first, _)), true) = (jobs.first(), pauses) else { return Ok(()) };
        let last = jobs.last().map_or(0, |&(at, _)| at);
        let closest = jobs.windows(2).map(|two| two[1].0 - two[0].0).min();
        let longest = jobs.iter().map(|&(_, work)| work).max().unwrap_or(0);
        let Imported { set, .. } = match imported {
            Ok(imported) => imported,
            Err(error) => {
                let endless = described.1.iter().any(|(loops, events)| {
                    loops.is_none() && !events.iter().any(|event| matches!(event, Event::Timer(_) | Event::Sleep(1..)))
                }) || described.1.iter().any(|(loops, _)| loops.is_none());
                prop_assert!(endless || closest.is_some_and(|closest| longest > closest) || error.message.contains("differ"), "{text}: {error}");
                return Ok(());
            }
        };
        let task = &set.tasks()[0];
        let ns = |us: u64| us * 1_000;
        prop_assert_eq!(task.phase.as_ns(), ns(first), "{}", text);
        prop_assert_eq!(task.wcet.as_ns(), ns(longest), "{}", text);
        prop_assert!(closest.is_none_or(|closest| task.period().as_ns() <= ns(closest)), "{}", text);
        if let (Arrival::Periodic { period }, Some(_)) = (task.arrival, closest) {
            let on_time = |&(at, _): &(u64, u64)| (ns(at) - task.phase.as_ns()).is_multiple_of(period.as_ns());
            prop_assert!(jobs.iter().all(on_time), "{}", text);
        }
        prop_assert_eq!(task.leave.is_some(), ended, "{}", text);
        if let Some(leave) = task.leave {
            prop_assert!(leave.as_ns() > ns(last), "{}", text);
            // Not longer than what the thread waits for in the end.
            let most: u64 = events.iter().map(|event| match event {
                Event::Run(us) | Event::Sleep(us) | Event::Timer(us) => *us,
            }).max().unwrap_or(0);
            let quiet = events.iter().rev().take_while(|event| !matches!(event, Event::Run(_))).count() as u64 + 2;
            prop_assert!(leave.as_ns() <= ns(last + longest + most * quiet + task.period().as_ns() / 1_000), "{}", text);
        }
    }
}
