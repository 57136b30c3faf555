use super::super::Costs;
use super::*;

const OVERHEADS: &str = "\
# measured on nothing
TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY
10, 1.5, 2.0004, 3, 4, 5, 6
30, 2.5, 2, 3, 4, .5, 7.25
";

#[test]
fn reads_the_fields_overheads() {
    let overheads = Overheads::from_csv(OVERHEADS).expect("valid");
    let costs = Costs {
        ipi: 2_000,
        schedule: 2_001,
        release: 3_000,
        context_switch: 4_000,
        tick: 5_000,
        release_latency: 6_625,
        ..Costs::default()
    };
    assert_eq!(overheads.at(20), costs, "2.0004 us is rounded up, and dips are filled");
    assert!(overheads.absent().eq([Overhead::RequestLatency, Overhead::DspHandler]));
}

#[test]
fn reads_the_fields_cache_delays() {
    let delays = CacheDelays::from_csv("WSS,MEM,L1,L2,L3\n4,10,1,2,3\n64,100,10,20,30\n").expect("valid");
    let at = |level, kib: u64| Overheads::none().with_cache(delays.within(level)).cache_delay(kib << 10);
    assert_eq!(
        [None, Some(1), Some(2), Some(3)].map(|level| at(level, 64)),
        [100_000, 10_000, 20_000, 30_000]
    );
    assert_eq!(at(Some(3), 34), 16_500);
    assert_eq!(at(Some(1), 0), 1_000, "before the first sample: the first value");
}

#[test]
fn every_column_of_laxitys_own_recordings_is_read() {
    // Recordings are written with these, in this order.
    let columns = Overhead::ALL.map(Overhead::column);
    assert_eq!(columns.len(), 8, "{columns:?}");
    let row: Vec<String> = (1..=8).map(|us| format!("{us}.001")).collect();
    let text = format!("# a comment\nTASK-COUNT, {}\n4, {}\n", columns.join(", "), row.join(", "));
    let overheads = Overheads::from_csv(&text).expect("readable");
    assert_eq!(overheads.absent().count(), 0);
    let costs = overheads.at(4);
    assert_eq!([costs.ipi, costs.schedule, costs.request, costs.dsp], [1_001, 2_001, 7_001, 8_001]);
    // Columns that were not measured are absent, as the writer's own tests have it.
    let some =
        "# CXS was not measured: no function for it\nTASK-COUNT, IPI-LATENCY, RELEASE\n4, 0.000, 1.234\n";
    let overheads = Overheads::from_csv(some).expect("readable");
    assert_eq!((overheads.at(4).release, overheads.absent().count()), (1_234, 6));
}

#[test]
fn the_shipped_examples_are_readable() {
    let overheads =
        Overheads::from_csv(include_str!("../../../../../examples/costs/overheads.csv")).expect("valid");
    assert_eq!((overheads.at(10).ipi, overheads.at(20).release), (800, 3_000));
    let delays =
        CacheDelays::from_csv(include_str!("../../../../../examples/costs/cpmd.csv")).expect("valid");
    assert_eq!(Overheads::none().with_cache(delays.within(Some(2))).cache_delay(4 << 10), 2_000);
}

#[test]
fn what_other_analyses_use_is_skipped() {
    let text = "TASK-COUNT,LOCK,UNLOCK,SYSCALL-IN,STEP,CXS\n10.0,1,2,3,4,5\n";
    assert_eq!(
        Overheads::from_csv(text).expect("valid").at(1),
        Costs { context_switch: 5_000, ..Costs::default() }
    );
}

#[test]
fn refuses_what_it_does_not_understand() {
    for (text, part) in [
        ("", "no values"),
        ("TASK-COUNT,CXS\n", "no values"),
        ("TASK-COUNT,CSX\n1,2\n", "`CSX` is not known"),
        ("TASK-COUNT,CXS,CXS\n1,2,3\n", "twice"),
        ("CXS\n2\n", "no column `TASK-COUNT`"),
        ("TASK-COUNT,CXS\n1\n", "line 2: 1 field where the header has 2"),
        ("TASK-COUNT,CXS\n1,-2\n", "line 2, CXS: `-2`"),
        ("TASK-COUNT,CXS\n1,2us\n", "`2us`"),
        ("TASK-COUNT,CXS\n1,1e3\n", "`1e3`"),
        ("TASK-COUNT,CXS\n1,nan\n", "`nan`"),
        ("TASK-COUNT,CXS\n1,\n", "CXS: `` is not"),
        ("TASK-COUNT,CXS\n1,1.2.3\n", "`1.2.3`"),
        ("TASK-COUNT,CXS\n1,2\n1,3\n", "line 3, TASK-COUNT: `1` is there twice"),
        ("TASK-COUNT,CXS\n1.5,2\n", "`1.5` is not a whole number"),
        ("TASK-COUNT,CXS\n1,1125899906843\n", "line 2, CXS: `1125899906843` is more than"),
        ("TASK-COUNT,CXS\n1,99999999999999999999\n", "too large"),
    ] {
        let error = Overheads::from_csv(text).expect_err(text);
        assert!(error.message.contains(part) && error.hint.is_some(), "{text}: {error}");
    }
    for (text, part) in [("WSS,L1\n1,2\n", "no column `MEM`"), ("MEM,L1\n1,2\n", "no column `WSS`")] {
        let error = CacheDelays::from_csv(text).expect_err(text);
        assert!(error.message.contains(part) && error.hint.is_some(), "{text}: {error}");
    }
}
