//! Imports from rt-app and SimSo: the exact tasks that the example files become, what is said about them,
//! and what is refused.

use laxity_model::*;
use std::path::Path;

fn import(file: &str) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/imports").join(file);
    read_task_set(&path).unwrap_or_else(|e| panic!("{e}"))
}

fn us(time: u64) -> Duration {
    Duration::from_us(time)
}

fn rtapp(threads: &str) -> Result<Imported> {
    TaskSet::from_rtapp(&format!("{{\"tasks\": {{{threads}}}}}"), "s")
}

/// The only task of a file with one thread.
fn thread(description: &str) -> Task {
    let imported = rtapp(&format!("\"t\": {description}")).unwrap_or_else(|e| panic!("{description}\n{e}"));
    imported.set.tasks()[0].clone()
}

#[test]
fn rtapp_1_0_with_comments_reservation_instances_and_repeated_keys() {
    let Imported { set, warnings } = import("rtapp-1.0.json");
    let pump = Task {
        deadline_rel: us(15_000),
        demand: Some(Demand::Fraction(750_000)),
        ..Task::periodic("pump", us(4_000), us(20_000))
    };
    let valve = |name: &str| Task {
        phase: us(1_500),
        affinity: Some(CpuList::first(2)),
        // SCHED_FIFO's default, 10, of 99.
        priority: Some(90),
        ..Task::periodic(name, us(2_500), us(10_000))
    };
    assert_eq!(set.tasks(), [pump, valve("valve-0"), valve("valve-1")]);
    assert_eq!(set.name(), "rtapp-1.0");
    assert_eq!(
        warnings,
        [
            "global: `duration` belongs to a run, not to a task set; give it as --duration",
            "thread `valve`: its jobs differ; every job is given the longest, 2500 us",
        ]
    );
}

#[test]
fn later_rtapp_with_numbered_events_memory_and_a_thread_that_sleeps() {
    let Imported { set, warnings } = import("rtapp.json");
    let chase = WorkingSet { size_bytes: 262_144, reads: 1, writes: 0, pattern: AccessPattern::Random };
    let walker = Task {
        working_set: chase,
        group: Some(Group { name: "map".into(), shared_bytes: 262_144 }),
        ..Task::periodic("walker", us(2_000), us(50_000))
    };
    let read = WorkingSet { size_bytes: 65_536, reads: 1, writes: 0, pattern: AccessPattern::Sequential };
    let reader = Task { working_set: read, ..Task::periodic("reader", us(7_000), us(100_000)) };
    let sleeper = Task {
        arrival: Arrival::Sporadic { min_interarrival: us(100_000) },
        ..Task::periodic("sleeper", us(20_000), us(100_000))
    };
    assert_eq!(set.tasks(), [walker, reader, sleeper]);
    assert_eq!(
        warnings,
        [
            "thread `walker`: the time of memrun events is not in the wcet",
            "thread `reader`: the time of memrun events is not in the wcet",
            "thread `sleeper`: it sleeps after its work; imported as sporadic, 100000 us apart",
        ]
    );
}

#[test]
fn rtapp_jobs_are_the_work_between_timers() {
    let wcet = |description: &str| thread(description).wcet;
    // Work before and after the timer belongs to one job, across the end of the loop.
    assert_eq!(wcet(r#"{"run": 100, "timer": {"period": 1000}, "run": 200}"#), us(300));
    // A phase without a timer adds its work, repeated, to the next phase's job.
    let phases = r#"{"phases": {"a": {"loop": 3, "run": 100}, "b": {"run": 50, "timer": {"period": 1000}}}}"#;
    assert_eq!(wcet(phases), us(350));
    // ... but only to the first of that phase's jobs; the longest job counts.
    let phases =
        r#"{"phases": {"a": {"run": 100}, "b": {"loop": 5, "run": 150, "timer": {"period": 1000}}}}"#;
    assert_eq!(wcet(phases), us(250));
    // What follows an endless phase never runs.
    let phases =
        r#"{"phases": {"a": {"loop": -1, "run": 10, "timer": {"period": 1000}}, "b": {"run": 900}}}"#;
    assert_eq!(wcet(phases), us(10));
    // A single round has no wrap-around: what comes after the last timer is a job of its own.
    assert_eq!(wcet(r#"{"loop": 1, "run": 100, "timer": {"period": 1000}, "run": 200}"#), us(200));
    assert_eq!(wcet(r#"{"loop": 1, "run": 100, "timer": {"period": 1000}, "run": 20}"#), us(100));
}

#[test]
fn rtapp_timers_that_differ_give_a_sporadic_task() {
    let two = r#"{"phases": {"a": {"run": 10, "timer": {"period": 1000}}, "b": {"run": 20, "timer": {"period": 400}}}}"#;
    let task = thread(two);
    assert_eq!(task.arrival, Arrival::Sporadic { min_interarrival: us(400) });
    assert_eq!((task.wcet, task.deadline_rel), (us(20), us(400)));
}

#[test]
fn rtapp_reservations_set_budget_deadline_and_demand() {
    let deadline = |rest: &str| thread(&format!(r#"{{"policy": "SCHED_DEADLINE", {rest}}}"#));
    let task = deadline(r#""dl-runtime": 300, "dl-period": 1000, "run": 100, "yield": """#);
    assert_eq!(
        task,
        Task { demand: Some(Demand::Fraction(333_334)), ..Task::periodic("t", us(300), us(1_000)) }
    );
    let task = deadline(r#""dl-runtime": 300, "dl-period": 500, "run": 100, "timer": {"period": 1000}"#);
    assert_eq!(task, Task::periodic("t", us(100), us(1_000)));
    let task = deadline(r#""dl-runtime": 200, "dl-period": 1000, "run": 300, "timer": {"period": 1000}"#);
    assert_eq!((task.wcet, task.demand), (us(200), Some(Demand::Fraction(1_500_000))));
    let task = deadline(r#""runtime": 200, "period": 1000, "deadline": 800, "timer": {"period": 1000}"#);
    assert_eq!((task.wcet, task.deadline_rel, task.demand), (us(200), us(800), None));
    // Without SCHED_DEADLINE a reservation means nothing.
    let task = thread(r#"{"dl-runtime": 200, "dl-period": 500, "run": 300, "timer": {"period": 1000}}"#);
    assert_eq!(task, Task::periodic("t", us(300), us(1_000)));
}

#[test]
fn rtapp_files_that_cannot_be_task_sets_are_refused() {
    for (threads, why) in [
        (r#""a": {"run": 10, "suspend": "a"}"#, "thread `a`: waits for other threads"),
        (r#""a": {"timer": {"period": 1000}}"#, "thread `a`: has no `run` or `runtime` event"),
        (r#""a": {"run": 10, "timer": {}}"#, "a timer has no period"),
        (r#""a": {"run": -10, "timer": {"period": 5}}"#, "`run` is -10; it must not be negative"),
        (r#""a": {"run": "10", "timer": {"period": 5}}"#, "`run` is text, not an integer"),
        (r#""a": {"run": 1.5, "timer": {"period": 5}}"#, "a number with decimals"),
        (r#""a": {"run": 6, "timer": {"period": 5}}"#, "exceeds deadline"),
        (r#""a": {"run": 18446744073709551615, "timer": {"period": 5}}"#, "not an integer"),
        (r#""a": {"run": 9223372036854775807, "timer": {"period": 5}}"#, "longer than 2^64 ns"),
        (
            r#""a": {"run": 9223372036854775807, "sleep": 9223372036854775807, "run": 2}"#,
            "longer than 2^64 us",
        ),
        (r#""a": {"phases": {"x": {"loop": 99, "run": 9223372036854775807}}}"#, "longer than 2^64 us"),
        (
            r#""a": {"phases": {"x": {"loop": -1, "run": 1}, "y": {"run": 1, "timer": {"period": 9}}}}"#,
            "loops for ever",
        ),
        (r#""a": {"instance": 1000000000, "run": 1, "timer": {"period": 5}}"#, "more than 100000 threads"),
        (r#""a": {"instance": 0, "run": 1, "timer": {"period": 5}}"#, "`instance` 0 and is never started"),
        (r#""a": {"run": 1, "timer": {"period": 5}, "policy": "SCHED_FIFO", "priority": 0}"#, "from 1 to 99"),
        (r#""a": {"run": 1, "timer": {"period": 5}, "policy": "SCHED_RR", "priority": "1"}"#, "is text"),
        (r#""a": {"run": 1, "timer": {"period": 5}}, "b": {"fork": 3}"#, "`fork` is an integer, not text"),
        ("", "the task set is empty"),
        (
            r#""a": {"run": 1, "timer": {"period": 5}}, "a": {"run": 1, "timer": {"period": 5}}"#,
            "two tasks have the name",
        ),
        (r#""a": {"run": 1, "timer": {"period": 5}, "cpus": 3}"#, "`cpus` is an integer, not a list"),
        (r#""a": {"run": 1, "timer": {"period": 5}, "cpus": [9999]}"#, "not a CPU number"),
        (r#""a": {"phases": []}"#, "`phases` is a list, not an object"),
        (r#""a": 3"#, "thread `a`: is an integer, not an object"),
        (r#""a": {"memrun": {"type": "jump"}}"#, "no known `type`"),
    ] {
        let error = rtapp(threads).expect_err(threads);
        assert!(error.message.contains(why) && error.hint.is_some(), "{threads}\n{error}");
    }
    let error = TaskSet::from_rtapp(r#"{"tasks": {}, "global": {"ftrace": 3}}"#, "s").expect_err("a number");
    assert!(error.message.contains("`ftrace` is an integer"), "{error}");
}

#[test]
fn rtapp_warns_of_what_it_leaves_out() {
    let warnings = |description: &str| rtapp(&format!("\"t\": {description}")).expect("valid").warnings;
    let timer = r#""timer": {"period": 1000}"#;
    assert_eq!(
        warnings(&format!(r#"{{"run": 1, "lock": "m", {timer}, "util_min": 3}}"#)),
        [
            "thread `t`: `util_min` has no counterpart in a task set and is left out",
            "thread `t`: the event `lock` is not modelled"
        ]
    );
    assert_eq!(
        warnings(&format!(r#"{{"run": 1, "sleep": 5, {timer}}}"#)),
        ["thread `t`: waits and sleeps within its jobs are not modelled"]
    );
    let buffers = format!(
        r#"{{"run": 1, "memrun1": {{"type": "write", "size": 64}}, "memrun2": {{"type": "read", "size": 640}}, {timer}}}"#
    );
    assert_eq!(
        warnings(&buffers),
        [
            "thread `t`: the time of memrun events is not in the wcet; of several buffers, the largest is the working set"
        ]
    );
    let phases = format!(
        r#"{{"cpus": [1], "phases": {{"a": {{"run": 1, {timer}}}, "b": {{"cpus": [2], "run": 1, {timer}}}}}}}"#
    );
    assert_eq!(warnings(&phases), ["thread `t`: its phases have different `cpus`; the affinity is left out"]);
}

#[test]
fn simso_with_periodic_and_sporadic_tasks() {
    let Imported { set, warnings } = import("simso.xml");
    let ms = Duration::from_ms;
    let winch = Task { deadline_rel: ms(10), ..Task::periodic("winch", us(3_250), us(12_500)) };
    let brake = Task {
        arrival: Arrival::Sporadic { min_interarrival: ms(20) },
        deadline_rel: ms(5),
        phase: ms(4),
        // The last arrival is at 49 ms.
        leave: Some(Duration::from_ns(49_000_001)),
        ..Task::periodic("brake", ms(1), ms(20))
    };
    let panel = Task { phase: us(2_500), ..Task::periodic("panel", Duration::from_ns(20_123_457), ms(100)) };
    assert_eq!(set.tasks(), [winch, brake, panel]);
    assert_eq!(
        warnings,
        [
            "task `brake`: its 3 activation dates become arrivals at least 20ms apart, until the last of them",
            "rounded to whole ns, to the safe side (WCETs up, all others down): 1 time",
            "left out, for a task set has no CPUs: 2 CPUs; describe them in a platform",
        ]
    );
}

fn simso(root: &str, tasks: &str) -> Result<Imported> {
    TaskSet::from_simso(&format!("<simulation {root}><tasks>{tasks}</tasks></simulation>"), "s")
}

#[test]
fn simso_average_execution_times_become_demands() {
    let task = r#"<task name="a&amp;b" period="10" deadline="10" WCET="4" ACET="2" et_stddev="0.5"/>"#;
    let imported = simso(r#"etm="acet""#, task).expect("valid");
    assert_eq!(imported.set.tasks()[0].demand, Some(Demand::Normal(500_000, 125_000)));
    assert_eq!(imported.set.tasks()[0].name, "a&b");
    assert_eq!(
        imported.warnings,
        [
            "abort_on_miss of 1 task: no task set says that jobs which miss are aborted; --on-miss abort does so in simulations and runs, \
             for all tasks"
        ]
    );
    assert_eq!(simso("", task).expect("valid").set.tasks()[0].demand, None);
}

#[test]
fn simso_attributes_left_out_are_named() {
    let warnings = |attributes: &str| {
        let task =
            format!(r#"<task name="a" period="10" deadline="10" WCET="1" abort_on_miss="no" {attributes}/>"#);
        simso("", &task).expect("valid").warnings
    };
    // What SimSo writes for every task, and what says nothing.
    let usual = r#"id="1" task_type="Periodic" activationDate="0" base_cpi="1.0" instructions="0" mix="0.5" stack="" ACET="0"
        et_stddev="0" list_activation_dates="" preemption_cost="0" priority="" jitter="0.0""#;
    assert_eq!(warnings(usual), [""; 0]);
    let named = [
        (r#"preemption_cost="5""#, "`preemption_cost`"),
        (r#"priority="3" jitter="0.5" data="x" stack="file""#, "`data`, `jitter`, `priority`"),
        (r#"colour="red" affinity="0-1" preemption_cost="0""#, "`affinity`, `colour`"),
    ];
    for (attributes, names) in named {
        let expected = format!("task `a`: {names} left out: a task has no such thing");
        assert_eq!(warnings(attributes), [expected], "{attributes}");
    }
    // Each task speaks for itself.
    let task = |name: &str, more: &str| {
        format!(r#"<task name="{name}" period="9" deadline="9" WCET="1" abort_on_miss="no" {more}/>"#)
    };
    let two = simso("", &(task("a", r#"jitter="1""#) + &task("b", r#"priority="1""#))).expect("valid");
    let named: Vec<&str> =
        two.warnings.iter().filter_map(|warning| warning.split(" left out").next()).collect();
    assert_eq!(named, ["task `a`: `jitter`", "task `b`: `priority`"]);
    assert!(two.set.tasks().iter().all(|task| task.wcet == Duration::from_ms(1)));
}

#[test]
fn simso_files_that_cannot_be_task_sets_are_refused() {
    for (task, why) in [
        (r#"<task name="a" period="10" deadline="10"/>"#, "task `a`: has no `WCET`"),
        (r#"<task name="a" period="ten" deadline="10" WCET="1"/>"#, "`period` is `ten`, not a time"),
        (r#"<task name="a" period="-1" deadline="10" WCET="1"/>"#, "not a time"),
        (r#"<task name="a" period="1e30" deadline="10" WCET="1"/>"#, "not a time"),
        (r#"<task name="a" task_type="APeriodic" period="1" deadline="1" WCET="1"/>"#, "is aperiodic"),
        (r#"<task name="a" periodic="no" period="1" deadline="1" WCET="1"/>"#, "is aperiodic"),
        (
            r#"<task name="a" task_type="GenerateJobs" period="1" deadline="1" WCET="1"/>"#,
            "`GenerateJobs` is not known",
        ),
        (
            r#"<task name="a" task_type="Sporadic" list_activation_dates="5" deadline="1" WCET="1"/>"#,
            "fewer than two",
        ),
        (
            r#"<task name="a" task_type="Sporadic" list_activation_dates="5,5" deadline="1" WCET="1"/>"#,
            "min_interarrival is 0",
        ),
        (r#"<task period="1" deadline="1" WCET="1"/>"#, "a task has no name"),
        (
            r#"<task name="a" period="10" deadline="10" WCET="1"/><task name="a" period="10" deadline="10" WCET="1"/>"#,
            "two tasks",
        ),
        (r#"<task name="&nope;" period="10" deadline="10" WCET="1"/>"#, "nope"),
        (r#"<task name="a" name="b"/>"#, "duplicate"),
        ("", "the task set is empty"),
        ("</wrong>", "line 1, column 21"),
    ] {
        let error = simso("", task).expect_err(task);
        assert!(error.message.contains(why) && error.hint.is_some(), "{task}\n{error}");
    }
    for (text, why) in [
        ("", "ends before"),
        ("<simulation>", "ends before"),
        ("<tasks/>", "the root element is `tasks`"),
        ("<simulation/><simulation/>", "not one `simulation`"),
    ] {
        let error = TaskSet::from_simso(text, "s").expect_err(text);
        assert!(error.message.contains(why), "{text}: {error}");
    }
    assert!(TaskSet::from_simso(&"<simulation>".repeat(100_000), "s").is_err());
}
