//! `jobs.parquet`: what is written reads back, and what is damaged is refused.

mod fixtures;

use fixtures::{any_job, job, run};
use laxity_trace::{Job, JobsReader, JobsWriter, MissCause, RunColumns};
use parquet::basic::{Compression, Encoding, Repetition};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, Write};

fn write(runs: &[(u32, Vec<Job>)]) -> File {
    let names = ["fast".to_owned(), "slow".to_owned()];
    let file = tempfile::tempfile().expect("temporary file");
    let mut writer = JobsWriter::new(file, &[("note", "ü".to_owned())]).expect("starts");
    for (id, jobs) in runs {
        let columns = RunColumns::new(&run(*id, "g-edf", 10, vec![]), &names);
        jobs.iter().for_each(|job| writer.write(&columns, job).expect("fits"));
    }
    let mut file = writer.finish().expect("finishes");
    file.rewind().expect("rewinds");
    file
}

fn bytes_of(file: &File) -> Vec<u8> {
    file.get_bytes(0, usize::try_from(file.metadata().expect("readable").len()).expect("small"))
        .expect("readable")
        .into()
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("temporary file");
    file.write_all(bytes).expect("writes");
    file
}

laxity_seeds::properties! {
    #[test]
    fn what_is_written_reads_back(
        runs in proptest::collection::btree_map(0..=i32::MAX as u32, proptest::collection::vec(any_job(), 1..40), 0..4)
    ) {
        let reader = JobsReader::new(write(&runs.clone().into_iter().collect::<Vec<_>>())).expect("opens");
        prop_assert_eq!(reader.metadata("note"), Some("ü"));
        prop_assert_eq!(reader.read_all().expect("reads"), runs);
    }

    /// A file from elsewhere, or from a dying disk: any answer but a panic.
    #[test]
    fn damage_is_an_error_or_other_data_but_no_panic(
        jobs in proptest::collection::vec(any_job(), 1..40),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        length in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        let mut bytes = bytes_of(&write(&[(3, jobs)]));
        for (index, value) in damage {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        if let Some(length) = length {
            bytes.truncate(length.index(bytes.len()));
        }
        let read = JobsReader::new(file_of(&bytes)).and_then(|reader| reader.read_all());
        drop(read);
    }
}

/// Found by fuzzing events: the library takes long to skip them all.
#[test]
fn a_page_that_is_to_skip_more_values_than_the_file_has_is_refused() {
    let file = write(&[(0, (0..100).map(|index| job(0, index, 5, 9, Some(7))).collect())]);
    let mut bytes = bytes_of(&file);
    let columns = SerializedFileReader::new(file).expect("opens");
    let columns = columns.metadata().row_group(0).columns();
    let run = columns.iter().find(|column| column.column_descr().name() == "run").expect("a column");
    let start = usize::try_from(run.byte_range().0).expect("small");
    // Where the header of its first page is: an unknown field, a list of 2^31 - 1 numbers of 8 bytes.
    bytes[start..start + 7].copy_from_slice(&[0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07]);
    let error = JobsReader::new(file_of(&bytes)).and_then(|reader| reader.read_all()).expect_err("damaged");
    assert!(error.to_string().contains("it ends where more should follow"), "{error}");
}

#[test]
fn many_jobs_come_in_several_row_groups() {
    let jobs: Vec<Job> = (0..300_000u32)
        .map(|k| job(k % 2, k / 2, u64::from(k), u64::from(k) + 10, Some(u64::from(k) + 3)))
        .collect();
    let runs: BTreeMap<u32, Vec<Job>> = [(0, jobs[..100_000].to_vec()), (7, jobs[100_000..].to_vec())].into();
    let reader = JobsReader::new(write(&runs.clone().into_iter().collect::<Vec<_>>())).expect("opens");
    assert_eq!(reader.groups(), 5);
    assert_eq!(reader.read_all().expect("reads"), runs);
}

#[test]
fn columns_have_the_types_and_encodings_that_others_expect() {
    let missed = Job { cause: Some(MissCause::LateRelease), ..job(1, 0, 0, 20, None) };
    let file = write(&[(0, vec![job(0, 0, 0, 10, Some(4)), missed])]);
    let reader = SerializedFileReader::new(file).expect("opens");
    let group = reader.metadata().row_group(0);
    let columns: Vec<String> = group
        .columns()
        .iter()
        .map(|column| {
            let description = column.column_descr();
            let null = if description.self_type().get_basic_info().repetition() == Repetition::OPTIONAL {
                "?"
            } else {
                ""
            };
            assert!(matches!(column.compression(), Compression::ZSTD(_)), "{}", description.name());
            let delta = column.encodings().any(|encoding| encoding == Encoding::DELTA_BINARY_PACKED);
            let dictionary = column.dictionary_page_offset().is_some();
            assert!(delta != dictionary, "{} is neither or both", description.name());
            format!("{} {}{null}", description.name(), description.physical_type())
        })
        .collect();
    let expected = "run INT32, set INT32, scheduler BYTE_ARRAY, host BYTE_ARRAY, repetition INT32, task INT32, \
        task_name BYTE_ARRAY, job INT32, release_ns INT64, deadline_ns INT64, demand_ns INT64?, \
        outcome BYTE_ARRAY, start_ns INT64?, finish_ns INT64?, response_ns INT64?, laxity_ns INT64?, \
        tardiness_ns INT64?, cpu_time_ns INT64?, first_cpu INT32?, last_cpu INT32?, migrations INT32?, \
        context_switches INT32?, instructions INT64?, cycles INT64?, l1d_misses INT64?, l2_misses INT64?, \
        llc_misses INT64?, warm_ns INT64?, cause BYTE_ARRAY?";
    assert_eq!(columns.join(", "), expected);
    // The values as anyone reads them, the derived ones too: R = 4 ms, laxity 6 ms, no tardiness; then nulls.
    let rows: Vec<String> = reader
        .get_row_iter(None)
        .expect("rows")
        .map(|row| {
            let row = row.expect("a row");
            let wanted = ["task_name", "outcome", "response_ns", "laxity_ns", "tardiness_ns", "l2_misses"];
            let fields = row.get_column_iter().filter(|(name, _)| wanted.contains(&name.as_str()));
            fields.map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(
        rows,
        ["\"fast\" \"completed\" 4000000 6000000 0 null", "\"slow\" \"unfinished\" null null null null"]
    );
}

#[test]
fn numbers_that_do_not_fit_are_refused_by_name() {
    let columns = RunColumns::new(&run(0, "g-edf", 10, vec![]), &[]);
    for (wrong, name) in [
        (Job { release_ns: 1 << 63, ..job(0, 0, 0, 10, None) }, "release_ns"),
        (Job { task: 1 << 31, ..job(0, 0, 0, 10, None) }, "task"),
        (Job { migrations: Some(u32::MAX), ..job(0, 0, 0, 10, None) }, "migrations"),
    ] {
        let mut writer = JobsWriter::new(Vec::new(), &[]).expect("starts");
        let written = writer.write(&columns, &wrong).and_then(|()| writer.finish());
        let error = written.expect_err("does not fit").to_string();
        assert!(error.contains(&format!("{name} ")) && error.contains("does not fit"), "{error}");
    }
}

#[test]
fn files_of_others_are_refused() {
    for text in ["", "PAR1", "not parquet at all, but long enough to have a footer"] {
        assert!(JobsReader::new(file_of(text.as_bytes())).is_err(), "{text:?}");
    }
}
