//! What is written is what its readers take.

use laxity_kernel::rings::SampleKind;
use laxity_overheads::{
    Class, Groups, Missing, OVERHEADS_SUMMARY_VERSION, Overhead, Row, Sample, SamplesWriter, Summary,
    TracingCost, Which, overheads_csv, overheads_schema, read_samples,
};
use laxity_sim::costs::Costs;
use proptest::prelude::*;
use std::path::PathBuf;

fn sample(kind: SampleKind, class: Class, duration_ns: u64) -> Sample {
    Sample {
        kind,
        class,
        time_ns: 1_000,
        duration_ns,
        cpu: 1,
        thread: Some(77),
        task: None,
        job: None,
        disturbing: 0,
    }
}

/// Two samples of each quantity: 1.5 and 2.5 times its code in us, and one of another class.
fn groups(scale: u64) -> Groups {
    let mut groups = Groups::new(1);
    for kind in SampleKind::ALL {
        let us = u64::from(kind.code()) * 1_000 * scale;
        for duration in [us + us / 2, us * 2 + us / 2 + 1] {
            groups.add(&sample(kind, Class::Deadline, duration));
        }
        groups.add(&sample(kind, Class::Ext, 1));
        groups.add(&Sample { disturbing: 1, ..sample(kind, Class::Deadline, 1 << 40) });
    }
    groups
}

fn read(text: &str) -> Costs {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("overheads.csv");
    std::fs::write(&path, text).expect("writes");
    laxity_sim::costs::read_costs(&path).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_csv_is_read_as_costs_in_ns() {
    let rows = [Row::of(10, &groups(1), Class::Deadline), Row::of(20, &groups(2), Class::Deadline)];
    let nothing_missing = |_| None;
    let mean = read(&overheads_csv(&rows, Which::Mean, nothing_missing));
    let max = read(&overheads_csv(&rows, Which::Max, nothing_missing));
    let costs = |costs: &Costs| {
        [
            costs.ipi.clone(),
            costs.scheduling.clone(),
            costs.release.clone(),
            costs.context_switch.clone(),
            costs.tick.clone(),
            costs.release_latency.clone(),
            costs.mailbox.clone(),
            costs.dsp.clone(),
        ]
    };
    use SampleKind::*;
    let kinds: [&[SampleKind]; 8] = [
        &[IpiLatency],
        &[Schedule, Schedule2],
        &[Release],
        &[ContextSwitch],
        &[Tick],
        &[ReleaseLatency],
        &[RequestLatency],
        &[DspHandler],
    ];
    for ((kinds, mean), max) in kinds.into_iter().zip(costs(&mean)).zip(costs(&max)) {
        for (tasks, scale) in [(10, 1), (20, 2)] {
            let us = |kind: &SampleKind| u64::from(kind.code()) * 1_000 * scale;
            let mean_ns: u64 = kinds.iter().map(|kind| us(kind) * 2 + 1).sum();
            let max_ns: u64 = kinds.iter().map(|kind| us(kind) * 2 + us(kind) / 2 + 1).sum();
            assert_eq!(mean.mean_ns(tasks), mean_ns, "{kinds:?}: the mean, rounded up");
            assert_eq!(max.mean_ns(tasks), max_ns, "{kinds:?}: the maximum");
        }
    }
}

#[test]
fn what_was_not_measured_has_no_column_and_what_did_not_occur_costs_nothing() {
    let mut some = Groups::new(1);
    some.add(&sample(SampleKind::Release, Class::FixedPriority, 1_234));
    let row = Row::of(4, &some, Class::FixedPriority);
    let absent = |kind| (kind == SampleKind::ContextSwitch).then(|| "no function\nfor it".to_owned());
    let text = overheads_csv(&[row], Which::Max, absent);
    assert_eq!(
        text,
        "# CXS was not measured: no function for it\n\
         TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, TICK, RELEASE-LATENCY\n\
         4, 0.000, 0.000, 1.234, 0.000, 0.000\n"
    );
    let costs = read(&text);
    assert_eq!(costs.release.mean_ns(4), 1_234);
    assert!(costs.context_switch.is_zero() && costs.mailbox.is_zero());
}

#[test]
fn recordings_are_compared_by_equally_many_samples_of_each_kind() {
    let (mut long, mut short) = (Groups::new(1), Groups::new(1));
    (0..1_000).for_each(|value| long.add(&sample(SampleKind::Tick, Class::Ext, value)));
    (0..50).for_each(|value| long.add(&sample(SampleKind::Release, Class::Ext, value)));
    short.add(&sample(SampleKind::Tick, Class::Deadline, 7));
    let recordings = [(1, &long, Class::Ext), (2, &short, Class::Deadline)];
    let csv = |seed| overheads_csv(&Row::of_equally_many(&recordings, seed)[..1], Which::Max, |_| None);
    assert_eq!(csv(3), csv(3));
    // The maximum of one sample of 0..1000, not of a thousand.
    let ticks: Vec<u64> = (0..64).map(|seed| read(&csv(seed)).tick.mean_ns(1)).collect();
    assert!(ticks.iter().any(|&tick| tick < 500) && ticks.iter().any(|&tick| tick > 500), "{ticks:?}");
    // What only one has is not shortened.
    assert_eq!(read(&csv(0)).release.mean_ns(1), 49);
    let short_rows = overheads_csv(&Row::of_equally_many(&recordings, 0)[1..], Which::Mean, |_| None);
    assert_eq!(read(&short_rows).tick.mean_ns(2), 7);
}

fn summary() -> Summary {
    let overhead = |(kind, class, group): (SampleKind, Class, &laxity_overheads::Group)| Overhead {
        kind: kind.name().to_owned(),
        class: class.name().to_owned(),
        statistics: group.statistics(),
    };
    let groups = groups(1);
    Summary {
        version: OVERHEADS_SUMMARY_VERSION,
        kernel: "6.18.0".to_owned(),
        cpus: 2,
        duration_ns: 2_000_000_000,
        overheads: groups.iter().map(overhead).collect(),
        missing: vec![Missing {
            probe: "the function balance_scx".to_owned(),
            reason: "inlined".to_owned(),
            quantities: vec!["pull".to_owned()],
        }],
        tracing: TracingCost {
            empty_sample_ns: groups.get(SampleKind::Empty, Class::Deadline).map(|group| group.statistics()),
            probes_per_sample_ns: Some(123.4),
            probe_runs: Some(9),
            probes_skipped: 1,
        },
        lost: vec![0, 3],
        interrupts: vec![5, 6],
        tuning: None,
    }
}

#[test]
fn the_summary_is_valid_under_its_published_schema() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas/overheads.schema.json");
    let text = serde_json::to_string_pretty(&overheads_schema()).expect("serializes") + "\n";
    if std::env::var_os("LAXITY_BLESS").is_some() {
        std::fs::write(&path, &text).expect("writes the schema");
    }
    let published = std::fs::read_to_string(&path).expect("the schema is published");
    assert!(published == text, "the schema differs from the code; LAXITY_BLESS=1 rewrites it");
    let document = serde_json::to_value(summary()).expect("serializes");
    let validator = jsonschema::draft202012::new(&overheads_schema()).expect("a valid schema");
    let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(serde_json::from_value::<Summary>(document.clone()).expect("reads back"), summary());
    for (name, wrong) in [("version", 2.into()), ("overheads", 1.into()), ("lost", "none".into())] {
        let mut document = document.clone();
        document[name] = wrong;
        assert!(!validator.is_valid(&document), "a wrong {name} is not noticed");
    }
}

fn any_sample() -> impl Strategy<Value = (u32, Sample)> {
    let known = || proptest::option::of(0u32..1 << 31);
    (
        (0..SampleKind::ALL.len(), 0..Class::ALL.len(), 0u32..1 << 31, 0u32..1 << 31, 0u32..1 << 31),
        (0u64..1 << 63, 0u64..1 << 63, known(), known(), known()),
    )
        .prop_map(|((kind, class, cpu, disturbing, run), (time_ns, duration_ns, thread, task, job))| {
            let (kind, class) = (SampleKind::ALL[kind], Class::ALL[class]);
            (run, Sample { kind, class, time_ns, duration_ns, cpu, thread, task, job, disturbing })
        })
}

fn file_of(samples: &[(u32, Sample)]) -> Vec<u8> {
    let mut writer = SamplesWriter::new(Vec::new()).expect("starts");
    samples.iter().for_each(|(run, sample)| writer.write(*run, sample).expect("fits"));
    writer.finish().expect("ends")
}

laxity_seeds::properties! {
    #[test]
    fn samples_come_back_from_their_file(samples in proptest::collection::vec(any_sample(), 0..60)) {
        let mut back = Vec::new();
        read_samples(bytes::Bytes::from(file_of(&samples)), |run, sample| back.push((run, sample))).expect("reads");
        prop_assert_eq!(back, samples);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_file(
        samples in proptest::collection::vec(any_sample(), 1..20),
        place: prop::sample::Index,
        bit in 0u32..8,
    ) {
        let mut file = file_of(&samples);
        let place = place.index(file.len());
        file[place] ^= 1 << bit;
        let _ = read_samples(bytes::Bytes::from(file.clone()), |_, _| ());
        file.truncate(place);
        prop_assert!(read_samples(bytes::Bytes::from(file), |_, _| ()).is_err());
    }
}

#[test]
fn more_than_a_group_of_samples_comes_back() {
    let samples: Vec<(u32, Sample)> =
        (0..300_000).map(|number| (0, sample(SampleKind::Tick, Class::Other, number))).collect();
    let mut next = 0;
    read_samples(bytes::Bytes::from(file_of(&samples)), |_, sample| {
        assert_eq!(sample.duration_ns, next);
        next += 1;
    })
    .expect("reads");
    assert_eq!(next, 300_000);
    let too_long = Sample { duration_ns: 1 << 63, ..samples[0].1 };
    let mut writer = SamplesWriter::new(Vec::new()).expect("starts");
    writer.write(0, &too_long).expect("is only kept");
    assert!(writer.finish().expect_err("does not fit").to_string().contains("9223372036854775808"));
}
