//! Files that the Parquet library answers with a panic: an error like any other, and nothing on standard error. A process of its
//! own, for it looks at what panics show.

mod fixtures;

use bytes::Bytes;
use fixtures::{job, run};
use laxity_seeds::Damage;
use laxity_trace::{Event, EventKind, EventsReader, EventsWriter, JobsReader, JobsWriter, RunColumns};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Panics that were shown.
static SHOWN: AtomicUsize = AtomicUsize::new(0);

/// What the answer to a panic of the library says.
const PANICKED: &str = "its content contradicts itself";

/// More seeds than this are not tried for a file that panics.
const SEEDS: u64 = 200_000;

fn events() -> Vec<u8> {
    let mut writer = EventsWriter::new(Vec::new(), 0).expect("starts");
    for at in 0..200_u32 {
        let kind = EventKind::ALL[at as usize % EventKind::ALL.len()];
        let event = Event {
            time_ns: u64::from(at) * 1_000,
            kind,
            cpu: Some(at % 4),
            task: Some(at % 7),
            job: Some(at / 7),
            argument: None,
        };
        writer.write(&event).expect("writes");
    }
    writer.finish().expect("finishes")
}

fn jobs() -> Vec<u8> {
    let columns = RunColumns::new(&run(0, "g-edf", 10, vec![]), &["a".to_owned()]);
    let mut writer = JobsWriter::new(Vec::new(), &[]).expect("starts");
    for index in 0..50 {
        let at = u64::from(index) * 10;
        writer.write(&columns, &job(0, index, at, at + 10, Some(at + 4))).expect("fits");
    }
    writer.finish().expect("finishes")
}

/// The file with one to three bits flipped.
fn damaged(whole: &[u8], seed: u64) -> Bytes {
    let (mut damage, mut bytes) = (Damage::of(seed), whole.to_vec());
    for _ in 0..=damage.below(3) {
        damage.flip(&mut bytes);
    }
    bytes.into()
}

/// Seeds of damage that makes the library panic, the first `count` of them.
fn seeds(count: usize, read: impl Fn(u64) -> String) -> Vec<u64> {
    (0..SEEDS).filter(|&seed| read(seed).contains(PANICKED)).take(count).collect()
}

#[test]
fn panics_of_the_library_are_errors_that_show_nothing() {
    std::panic::set_hook(Box::new(|_| {
        SHOWN.fetch_add(1, SeqCst);
    }));
    let (events, jobs) = (events(), jobs());
    let read_events = |seed| {
        let reader = EventsReader::new(damaged(&events, seed), "trace.parquet");
        let error = reader.and_then(|reader| reader.events().collect::<Result<Vec<_>, _>>()).err();
        error.map_or_else(String::new, |error| error.to_string())
    };
    let read_jobs = |seed| {
        let error = JobsReader::new(damaged(&jobs, seed)).and_then(|reader| reader.read_all()).err();
        error.map_or_else(String::new, |error| error.to_string())
    };
    let found = [seeds(2, read_events), seeds(2, read_jobs)];
    println!("seeds of damage that panics: events {:?}, jobs {:?}", found[0], found[1]);
    assert!(
        found.iter().any(|seeds| !seeds.is_empty()),
        "no damage of {SEEDS} seeds makes the library panic"
    );
    assert_eq!(SHOWN.load(SeqCst), 0, "a panic of the library was shown");

    let defect = std::panic::catch_unwind(|| {
        let reader = JobsReader::new(Bytes::from(jobs.clone())).expect("opens");
        let _ = reader.read_group(0, |_, _| panic!("a defect of laxity"));
    });
    assert!(defect.is_err(), "a panic of laxity's own code is no damage of a file");
    assert_eq!(SHOWN.load(SeqCst), 1, "it is shown");
    let _ = std::panic::take_hook();
}
