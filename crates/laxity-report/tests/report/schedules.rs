//! Schedules on the page, from the events of a results directory.

use crate::synthetic::rover;
use laxity_report::Report;
use laxity_trace::{EVENTS_DIRECTORY, Event, EventKind, EventsFile};
use std::fs;
use std::path::Path;

fn write_events(directory: &Path, run: u32) {
    fs::create_dir_all(directory.join(EVENTS_DIRECTORY)).expect("creates");
    let path = directory.join(EVENTS_DIRECTORY).join(format!("run-{run}.parquet"));
    let mut file = EventsFile::create(path, run).expect("creates");
    for (time_ns, kind, cpu) in
        [(0, EventKind::Release, None), (5, EventKind::Start, Some(1)), (9, EventKind::Complete, Some(1))]
    {
        let event = Event { time_ns, kind, cpu, task: Some(2), job: Some(0), argument: Some(20) };
        file.write(&event).expect("writes");
    }
    file.finish().expect("finishes");
}

#[test]
fn runs_with_events_have_a_schedule() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let results = rover();
    let page = |directory: &Path| {
        let report =
            Report::of(&results).expect("valid results").with_schedules(directory).expect("readable");
        report.html().expect("a page")
    };
    // Without events, the page is what it is without schedules.
    assert_eq!(page(directory.path()), Report::of(&results).expect("valid results").html().expect("a page"));
    let runs: Vec<u32> = results.runs.iter().map(|run| run.id).take(10).collect();
    write_events(directory.path(), runs[1]);
    let one = page(directory.path());
    assert!(
        one.contains("<h2 id=\"schedules\">Schedules</h2>")
            && one.contains("<a href=\"#schedules\">Schedules</a>")
    );
    assert!(one.contains(&format!("id=\"schedule-run-{}\"", runs[1])));
    assert!(one.contains("from 0 to 9ns, no deadline missed."));
    assert!(one.contains("\"name\":\"camera-right\""), "tasks have their names");
    runs.iter().for_each(|run| write_events(directory.path(), *run));
    let many = page(directory.path());
    assert_eq!(many.matches("class=\"schedule\"").count(), 8);
    assert!(many.contains("The events of 2 more runs are in <code>events/</code>."));
}

#[test]
fn damaged_events_are_a_diagnostic() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let results = rover();
    let run = results.runs[0].id;
    fs::create_dir(directory.path().join(EVENTS_DIRECTORY)).expect("creates");
    fs::write(directory.path().join(EVENTS_DIRECTORY).join(format!("run-{run}.parquet")), "PAR1 no more")
        .expect("writes");
    let report = Report::of(&results).expect("valid results").with_schedules(directory.path());
    let error = report.map(|_| ()).expect_err("damaged");
    assert!(error.message.contains("cannot be read"), "{}", error.message);
}
