//! `events/run-N.parquet`: what is written reads back, the same events make the same bytes, damage is refused.

mod fixtures;
mod schedule;

use bytes::Bytes;
use fixtures::{manifest, run};
use laxity_trace::{
    EVENTS_DIRECTORY, Event, EventKind, EventsFile, EventsReader, EventsWriter, Existing, ResultsDirectory,
    load, open_events, runs_with_events,
};
use parquet::basic::{Compression, Encoding, Repetition};
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use schedule::{Imperfections, MS, global_edf, set_of};
use std::fs::{self, File};
use std::io::{self, Seek, Write};

fn bytes_of(events: &[Event], run: u32) -> Vec<u8> {
    let mut writer = EventsWriter::new(Vec::new(), run).expect("starts");
    events.iter().for_each(|event| writer.write(event).expect("fits"));
    writer.finish().expect("finishes")
}

fn reader_of(bytes: &[u8]) -> laxity_model::Result<EventsReader> {
    let mut file = tempfile::tempfile().expect("temporary file");
    file.write_all(bytes).expect("writes");
    file.rewind().expect("rewinds");
    EventsReader::new(file, "trace.parquet")
}

fn read(bytes: &[u8]) -> laxity_model::Result<Vec<Event>> {
    reader_of(bytes)?.events().collect()
}

/// Any events that the columns can hold, in time order.
fn any_events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    let small = || proptest::option::of(0..=i32::MAX as u32);
    let argument = proptest::option::of(0..=i64::MAX as u64);
    let event = (0..=i64::MAX as u64, 0..EventKind::ALL.len(), small(), small(), small(), argument);
    let event = event.prop_map(|(time_ns, kind, cpu, task, job, argument)| Event {
        time_ns,
        kind: EventKind::ALL[kind],
        cpu,
        task,
        job,
        argument,
    });
    proptest::collection::vec(event, 0..most).prop_map(|mut events| {
        events.sort_by_key(|event| event.time_ns);
        events
    })
}

/// More than two row groups, so that the encoding thread takes part.
fn long_schedule() -> Vec<Event> {
    let set = set_of(&[(2 * MS, 5 * MS), (3 * MS, 7 * MS), (4 * MS, 11 * MS), (5 * MS, 13 * MS)]);
    let imperfections = Imperfections { seed: Some(3), switch_ns: 1_000 };
    global_edf(&set, 2, 400_000 * MS, imperfections)
}

laxity_seeds::properties! {
    #[test]
    fn what_is_written_reads_back(events in any_events(60), run in 0..=i32::MAX as u32) {
        let bytes = bytes_of(&events, run);
        let reader = reader_of(&bytes).expect("opens");
        prop_assert_eq!(reader.run(), run);
        prop_assert_eq!(reader.len(), u64::try_from(events.len()).expect("few"));
        let read: Vec<Event> = reader.events().collect::<Result<_, _>>().expect("reads");
        prop_assert_eq!(&read, &events);
        prop_assert_eq!(bytes_of(&events, run), bytes);
    }

    #[test]
    fn a_window_has_the_events_in_it(events in any_events(60), from in any::<u64>(), length in any::<u64>()) {
        let reader = reader_of(&bytes_of(&events, 0)).expect("opens");
        let to = from.saturating_add(length);
        let read: Vec<Event> = reader.between(from, to).collect::<Result<_, _>>().expect("reads");
        let expected: Vec<Event> =
            events.into_iter().filter(|event| event.time_ns >= from && event.time_ns < to).collect();
        prop_assert_eq!(read, expected);
    }

    /// A file from elsewhere, or from a dying disk: any answer but a panic, and a diagnostic if it is an error.
    #[test]
    fn damage_is_an_error_or_other_data_but_no_panic(
        events in any_events(40),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        length in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        let mut bytes = bytes_of(&events, 0);
        for (index, value) in damage {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        if let Some(length) = length {
            bytes.truncate(length.index(bytes.len()));
        }
        if let Err(error) = read(&bytes) {
            prop_assert!(error.message.contains("trace.parquet cannot be read"), "{}", error.message);
            prop_assert!(error.hint.is_some());
        }
    }
}

/// Found by fuzzing: the library took 21 s to skip them all.
#[test]
fn a_page_that_is_to_skip_more_values_than_the_file_has_is_refused() {
    let mut bytes = bytes_of(&long_schedule()[..1_000], 0);
    let file = SerializedFileReader::new(Bytes::from(bytes.clone())).expect("opens");
    let (start, _) = file.metadata().row_group(0).column(1).byte_range();
    let start = usize::try_from(start).expect("small");
    // Where the header of its first page is: an unknown field, a list of 2^31 - 1 numbers of 8 bytes.
    bytes[start..start + 7].copy_from_slice(&[0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07]);
    let error = read(&bytes).expect_err("damaged");
    assert!(error.message.contains("it ends where more should follow"), "{}", error.message);
}

#[test]
fn a_long_trace_comes_in_several_row_groups_by_the_encoding_thread() {
    let events = long_schedule();
    assert!(events.len() > 3 << 18, "{} events do not fill three row groups", events.len());
    let bytes = bytes_of(&events, 5);
    assert_eq!(bytes_of(&events, 5), bytes, "the same events made other bytes");
    let reader = reader_of(&bytes).expect("opens");
    assert!(reader.events().map(|event| event.expect("reads")).eq(events.iter().copied()));
    // A window late in the trace, found without what is before it.
    let (from, to) = (200_000 * MS, 200_050 * MS);
    let window: Vec<Event> = reader.between(from, to).collect::<Result<_, _>>().expect("reads");
    assert!(!window.is_empty());
    assert!(window.iter().eq(events.iter().filter(|event| (from..to).contains(&event.time_ns))));
}

#[test]
fn columns_have_the_types_and_encodings_that_others_expect() {
    let event = Event {
        time_ns: 5,
        kind: EventKind::DeadlineMiss,
        cpu: None,
        task: Some(1),
        job: Some(2),
        argument: None,
    };
    let other = Event { kind: EventKind::Migrate, cpu: Some(3), argument: Some(1), ..event };
    let mut file = tempfile::tempfile().expect("temporary file");
    file.write_all(&bytes_of(&[event, other], 4)).expect("writes");
    let reader = SerializedFileReader::new(file).expect("opens");
    let group = reader.metadata().row_group(0);
    let columns: Vec<String> = group
        .columns()
        .iter()
        .map(|column| {
            let description = column.column_descr();
            let optional = description.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
            assert!(matches!(column.compression(), Compression::ZSTD(_)), "{}", description.name());
            let delta = column.encodings().any(|encoding| encoding == Encoding::DELTA_BINARY_PACKED);
            let dictionary = column.dictionary_page_offset().is_some();
            assert!(delta != dictionary, "{} is neither or both", description.name());
            let null = if optional { "?" } else { "" };
            format!("{} {}{null}", description.name(), description.physical_type())
        })
        .collect();
    let expected =
        "run INT32, time_ns INT64, cpu INT32?, kind BYTE_ARRAY, task INT32?, job INT32?, argument INT64?";
    assert_eq!(columns.join(", "), expected);
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| {
            row.expect("a row").get_column_iter().map(|(_, v)| v.to_string()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(rows, ["4 5 null \"deadline-miss\" 1 2 null", "4 5 3 \"migrate\" 1 2 1"]);
}

#[test]
fn numbers_that_do_not_fit_and_events_out_of_order_are_refused() {
    let good = Event {
        time_ns: 7,
        kind: EventKind::Start,
        cpu: Some(0),
        task: Some(0),
        job: Some(0),
        argument: None,
    };
    for (wrong, name) in [
        (Event { time_ns: 1 << 63, ..good }, "time_ns 9223372036854775808 of a start event"),
        (Event { cpu: Some(1 << 31), ..good }, "cpu 2147483648"),
        (Event { task: Some(1 << 31), ..good }, "task 2147483648"),
        (Event { job: Some(u32::MAX), ..good }, "job 4294967295"),
        (Event { argument: Some(u64::MAX), ..good }, "argument 18446744073709551615"),
        (Event { time_ns: 6, ..good }, "6 ns comes after one at 7 ns"),
    ] {
        let mut writer = EventsWriter::new(Vec::new(), 0).expect("starts");
        writer.write(&good).expect("fits");
        let error = writer.write(&wrong).expect_err("does not fit").to_string();
        assert!(error.contains(name), "{error}");
    }
    assert!(EventsWriter::new(Vec::new(), 1 << 31).is_err());
}

#[test]
fn files_of_others_are_refused() {
    for text in ["", "PAR1", "not parquet at all, but long enough to have a footer"] {
        assert!(read(text.as_bytes()).is_err(), "{text:?}");
    }
    // A table of jobs is no table of events.
    let jobs = laxity_trace::JobsWriter::new(Vec::new(), &[])
        .and_then(|writer| writer.finish())
        .expect("an empty table");
    let error = read(&jobs).expect_err("no events");
    assert!(error.message.contains("laxity did not write it"), "{}", error.message);
}

/// A sink that takes some bytes and is full then.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.0 {
            return Err(io::Error::from_raw_os_error(28));
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_wherever_it_happens() {
    let events = long_schedule();
    for room in [0, 3, 1_000, 1_000_000, 3_000_000] {
        let written = || {
            let mut writer = EventsWriter::new(Full(room), 0)?;
            events.iter().try_for_each(|event| writer.write(event))?;
            writer.finish()
        };
        let error = written().map(|_| ()).expect_err("does not fit").to_string();
        assert!(error.contains("os error 28") || error.contains("No space"), "{room}: {error}");
    }
}

#[test]
fn events_of_a_run_are_kept_beside_its_jobs() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join("results");
    let mut results =
        ResultsDirectory::create(&path, manifest(vec![run(0, "g-edf", 10, vec![])]), Existing::Refuse)
            .expect("creates");
    let event = Event {
        time_ns: 1,
        kind: EventKind::Release,
        cpu: None,
        task: Some(0),
        job: Some(0),
        argument: Some(9),
    };
    assert!(open_events(&path, 0).expect("readable").is_none());
    assert!(runs_with_events(&path).expect("readable").is_empty());
    // Two at a time; one is given up.
    let mut kept = results.create_events(0).expect("creates");
    let mut dropped = results.create_events(1).expect("creates");
    kept.write(&event).expect("writes");
    dropped.write(&event).expect("writes");
    assert!(open_events(&path, 0).expect("readable").is_none(), "a file that is not whole has its name");
    drop(dropped);
    kept.finish().expect("finishes");
    let names =
        fs::read_dir(path.join(EVENTS_DIRECTORY)).expect("readable").map(|e| e.expect("entry").file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["run-0.parquet"]);
    results.append_run(&run(0, "g-edf", 10, vec![])).expect("appends");
    results.finish().expect("finishes");
    assert_eq!(load(&path).expect("loads").runs.len(), 1);
    assert_eq!(runs_with_events(&path).expect("readable"), [0]);
    let reader = open_events(&path, 0).expect("opens").expect("is there");
    assert_eq!(reader.events().collect::<Result<Vec<_>, _>>().expect("reads"), [event]);
    // Replacing the results removes the events, also those that a killed writer left half-written, and nothing else.
    fs::write(path.join(EVENTS_DIRECTORY).join(".run-7.parquet.tmp"), "half").expect("writes");
    fs::write(path.join(EVENTS_DIRECTORY).join("notes.txt"), "mine").expect("writes");
    let replacing = ResultsDirectory::create(&path, manifest(vec![]), Existing::Replace).expect("begins");
    assert_eq!(runs_with_events(&path).expect("readable"), [0], "they are there until they are replaced");
    replacing.finish().expect("replaces");
    assert!(runs_with_events(&path).expect("readable").is_empty());
    let left =
        fs::read_dir(path.join(EVENTS_DIRECTORY)).expect("readable").map(|e| e.expect("entry").file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["notes.txt"]);
}

#[test]
fn a_renamed_or_damaged_file_is_a_diagnostic() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let events = directory.path().join(EVENTS_DIRECTORY);
    fs::create_dir(&events).expect("creates");
    EventsFile::create(events.join("run-3.parquet"), 3).and_then(EventsFile::finish).expect("an empty trace");
    fs::copy(events.join("run-3.parquet"), events.join("run-4.parquet")).expect("copies");
    let error = open_events(directory.path(), 4).map(|_| ()).expect_err("of another run");
    assert!(error.message.contains("has the events of run 3"), "{}", error.message);
    let half = File::options().write(true).open(events.join("run-3.parquet")).expect("opens");
    half.set_len(40).expect("truncates");
    let error = open_events(directory.path(), 3).map(|_| ()).expect_err("damaged");
    assert!(error.message.contains("run-3.parquet cannot be read"), "{}", error.message);
    let missing = EventsFile::create(directory.path().join("nowhere/run-0.parquet"), 0).map(|_| ());
    assert!(missing.expect_err("no such directory").message.contains("cannot write"));
}
