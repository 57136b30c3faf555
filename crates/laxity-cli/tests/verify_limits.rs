//! `laxity verify` on what a real kernel has recorded: clean, no verdict because too much is excused, violated. The schedules are
//! made by hand, of a release timer that is late and says so.

mod calls;
mod host;
mod patience;

use calls::{json, text, utf8};
use host::{laxity, output};
use laxity_model::{Duration, Platform, Task, TaskSet};
use laxity_trace::{
    Event, EventKind, Existing, Host, KernelActivity, Machine, RESULTS_VERSION, Results, ResultsDirectory,
    Run, RunStatus, ScheduleRecord, create_events, write_activities,
};
use std::collections::BTreeMap;
use std::path::Path;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const PERIOD: u64 = 10 * MS;
const END: u64 = 100 * MS;

/// Results of a run of one task, each of whose jobs is released so late, for a reason that is `known` or is not.
fn write(directory: &Path, late: u64, known: bool) {
    let set = TaskSet::new("one", vec![Task::periodic("t", Duration::from_ms(1), Duration::from_ms(10))])
        .expect("a set");
    let platform = Platform::symmetric(1).expect("valid");
    let schedule = ScheduleRecord {
        end_ns: END,
        task_set: set.to_json_value(),
        budgets: "off".into(),
        ..ScheduleRecord::default()
    };
    let duration = Duration::from_ns(END);
    let run = Run {
        schedule: Some(schedule),
        ..Run::new("g-edf".to_owned(), Host::Linux, duration, RunStatus::Completed)
    };
    let machine = Machine {
        host_name: "here".into(),
        cpu_model: "some".into(),
        kernel: "6.18.15".into(),
        clusters: vec![platform.cpus()],
        cpus: platform.cpus(),
        caches: vec![],
        memory_bytes: Some(1),
        facts: BTreeMap::new(),
        tuning: None,
    };
    let manifest = Results {
        version: RESULTS_VERSION,
        laxity_version: "0".into(),
        command: vec![],
        created: "2026-01-01T00:00:00Z".into(),
        seed: 1,
        machine,
        platform: Some(platform.to_json_value()),
        task_sets: vec![set.to_json_value()],
        options: BTreeMap::new(),
        background: vec![],
        analysis: vec![],
        runs: vec![run.clone()],
    };
    let mut results = ResultsDirectory::create(directory, manifest, Existing::Replace).expect("creates");
    results.append_run(&run).expect("appends");
    let mut events = create_events(results.path(), 0).expect("creates");
    let mut activities = Vec::new();
    for job in 0..10 {
        let due = u64::from(job) * PERIOD;
        let event = |time_ns, kind, cpu, argument| Event {
            time_ns,
            kind,
            cpu,
            task: Some(0),
            job: Some(job),
            argument,
        };
        let begin = due + late;
        for one in [
            event(due, EventKind::Release, None, Some(due + PERIOD)),
            event(begin, EventKind::Start, Some(0), None),
            event(begin + MS, EventKind::Complete, Some(0), Some(due + PERIOD)),
        ] {
            events.write(&one).expect("writes");
        }
        let cause = "release-latency".to_owned();
        let released = Some((due, begin));
        activities.push(KernelActivity { from_ns: due, to_ns: begin, cpu: 0, cause, released, task: None });
    }
    events.finish().expect("finishes");
    activities.truncate(if known { 10 } else { 3 });
    write_activities(results.path(), 0, &activities).expect("writes");
    results.finish().expect("finishes");
}

#[test]
fn what_is_excused_has_limits_and_an_exit_code() {
    for (late, known, more, state, code) in [
        (8 * US, true, &[][..], "clean", 0),
        (2 * MS, true, &[], "excused", 4),
        (2 * MS, true, &["--excuse-limit", "2ms"], "excused", 4),
        (2 * MS, true, &["--excuse-limit", "2ms", "--excuse-share", "0.2"], "clean", 0),
        (2 * MS, true, &["--excuse-limit", "1999999ns", "--excuse-share", "1"], "excused", 4),
        (8 * US, true, &["--excuse-limit", "7us"], "excused", 4),
        (2 * MS, false, &["--excuse-limit", "1s", "--excuse-share", "1"], "violated", 1),
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let out = directory.path().join("out");
        write(&out, late, known);
        let verify = |format: &[&str]| output(laxity().args(["verify", utf8(&out)]).args(more).args(format));
        let told = verify(&["--json"]);
        let answer = json(&text(&told.stdout));
        assert_eq!(
            (&answer["state"], &answer["clean"]),
            (&state.into(), &(state == "clean").into()),
            "{answer}"
        );
        assert_eq!(answer["runs"][0]["verdict"]["state"], state);
        assert_eq!(told.status.code(), Some(code), "{more:?}: {answer}");
        let shown = verify(&[]);
        assert_eq!(shown.status.code(), Some(code));
        let (words, extent) = (text(&shown.stdout), &answer["runs"][0]["verdict"]["extent"]);
        if state == "excused" {
            assert!(words.contains("excused, no verdict: ") && words.contains("may be excused"), "{words}");
        }
        if known {
            assert_eq!((&extent["jobs"], &extent["jobs_excused"]), (&10.into(), &10.into()), "{extent}");
            assert_eq!(extent["share_ppm"], 10 * late * 1_000_000 / END, "{extent}");
            assert_eq!(
                (&extent["longest"]["kind"], &extent["longest"]["ns"]),
                (&"release-latency".into(), &late.into())
            );
        }
    }
}

#[test]
fn limits_that_are_none_are_refused() {
    for wrong in [&["--excuse-limit", "soon"][..], &["--excuse-share", "2"], &["--excuse-share", "0"]] {
        let ended = output(laxity().args(["verify", "out"]).args(wrong));
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}");
    }
}
