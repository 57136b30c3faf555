//! A recording of threads whose releases are known. It needs root and a kernel that lets its functions be traced; without
//! them it says SKIPPED. In a virtual machine: `laxity vm --exec -- target/release/deps/recording-...` (one emulating thread:
//! kernels that patch themselves while probes come and go die under QEMU with several, by its own fault).
//!
//! Counts are judged, never times: in an emulated machine they mean nothing.

use laxity_kernel::rings::{Kind, Record, SampleKind};
use laxity_overheads::{Recorder, Recording, Sampler, Selection};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const THREADS: u32 = 3;
const JOBS: u32 = 40;

fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is there to be written.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) }, 0);
    let (seconds, rest) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    seconds * 1_000_000_000 + rest
}

fn sleep_until(time_ns: u64) {
    let part = |value: u64| i64::try_from(value).expect("a time");
    let until =
        libc::timespec { tv_sec: part(time_ns / 1_000_000_000), tv_nsec: part(time_ns % 1_000_000_000) };
    // SAFETY: `until` is there to be read; nothing is to be written.
    let failed = unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        )
    };
    assert_eq!(failed, 0);
}

/// The calling thread under SCHED_FIFO, if that is allowed.
fn fixed_priority(priority: i32) -> bool {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: of the calling thread; `parameters` is there to be read.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}

/// Releases itself `JOBS` times, each far enough ahead that it is asleep by then. Gives its id.
fn periodic(priority: i32) -> Option<u32> {
    if !fixed_priority(priority) {
        return None;
    }
    for _ in 0..JOBS {
        sleep_until(monotonic_ns() + 20_000_000);
    }
    // SAFETY: asks for a number.
    Some(unsafe { libc::gettid() }.unsigned_abs())
}

/// Records while the threads run.
fn recorded(recorder: &mut Recorder) -> Option<(Vec<Record>, Recording, Vec<u32>)> {
    let stop = AtomicBool::new(false);
    let mut records = Vec::new();
    let (ids, told) = thread::scope(|scope| {
        let threads = scope.spawn(|| {
            // Until the switch is on, which is at once.
            thread::sleep(Duration::from_millis(200));
            let threads: Vec<_> = (1..=i32::try_from(THREADS).expect("few"))
                .map(|priority| thread::spawn(move || periodic(priority)))
                .collect();
            let ids: Option<Vec<u32>> = threads.into_iter().map(|t| t.join().expect("no panic")).collect();
            stop.store(true, Ordering::Release);
            ids
        });
        let told = recorder.record(&stop, |record| records.push(*record));
        (threads.join().expect("no panic"), told)
    });
    Some((records, told, ids?))
}

fn number(records: &[Record], kind: SampleKind, pid: u32) -> u32 {
    let found = records.iter().filter(|r| r.kind == kind.code() && r.pid == pid).count();
    u32::try_from(found).expect("few")
}

/// Of the records of one CPU, in their order: a switch is a first part, the switch, and a second part that knows the
/// length of the first.
fn check_switches(cpu: u32, records: &[Record]) {
    use SampleKind::{ContextSwitch, Schedule, Schedule2};
    let parts: Vec<&Record> = records
        .iter()
        .filter(|r| {
            r.cpu == cpu && [Schedule, ContextSwitch, Schedule2].map(SampleKind::code).contains(&r.kind)
        })
        .collect();
    // The recording may begin and end in the middle of a switch.
    let first = parts.iter().position(|r| r.kind == Schedule.code()).unwrap_or(parts.len());
    for switch in parts[first..].chunks_exact(3) {
        let kinds: Vec<u32> = switch.iter().map(|r| r.kind).collect();
        assert_eq!(kinds, [Schedule, ContextSwitch, Schedule2].map(SampleKind::code), "{switch:?}");
        assert_eq!(switch[2].argument2, switch[0].argument, "{switch:?}");
        let end = |r: &Record| r.time_ns + r.argument;
        assert!(end(switch[0]) <= switch[1].time_ns && end(switch[1]) <= switch[2].time_ns, "{switch:?}");
    }
}

#[test]
fn every_release_and_every_switch_is_measured() {
    let mut recorder =
        match Recorder::attach(Selection { all_threads: false, functions: true, run_times: true }) {
            Ok(recorder) => recorder,
            Err(why) => return println!("SKIPPED: {why}"),
        };
    let needed =
        [SampleKind::Release, SampleKind::Schedule, SampleKind::ContextSwitch, SampleKind::Schedule2];
    let lacks = |kind: SampleKind| {
        recorder.missing().iter().find(|missing| missing.quantities.iter().any(|name| name == kind.name()))
    };
    if let Some(missing) = needed.into_iter().find_map(lacks) {
        return println!("SKIPPED: {missing:?}");
    }
    let empty = recorder.empty_samples();
    let Some((records, told, ids)) = recorded(&mut recorder) else {
        return println!("SKIPPED: SCHED_FIFO is not allowed here");
    };
    assert!(told.lost.iter().all(|&lost| lost == 0), "{told:?}");
    assert!(told.interrupts.iter().any(|&interrupts| interrupts > 0), "{told:?}");
    let (run_ns, runs) = told.run_times.expect("was asked for");
    assert!(run_ns > 0 && runs >= records.len() as u64, "{runs} runs, {} records", records.len());
    for &id in &ids {
        for kind in [SampleKind::Release, SampleKind::ReleaseLatency] {
            assert_eq!(number(&records, kind, id), JOBS, "{} of {id}", kind.name());
        }
        // It is switched to at least once per job.
        assert!(number(&records, SampleKind::ContextSwitch, id) >= JOBS);
    }
    let cpus = u32::try_from(told.lost.len()).expect("few");
    (0..cpus).for_each(|cpu| check_switches(cpu, &records));
    let mut both = 0;
    let mut sampler = Sampler::default();
    for record in &records {
        assert!(matches!(Kind::of(record.kind), Some(Kind::Sample(_))), "{record:?}");
        sampler.take(record, |sample| both += u32::from(sample.kind == SampleKind::ScheduleBoth));
    }
    let after: u32 =
        records.iter().filter(|r| r.kind == SampleKind::Schedule2.code()).map(|_| 1).sum::<u32>();
    assert!(after - both <= cpus, "{both} of {after} switches have both parts");
    println!("{} records, {both} switches, {} empty samples", records.len(), empty.len());
}

/// A thread that has asked to sleep until a time that is past is not released by the timer.
#[test]
fn a_late_thread_is_not_released() {
    let mut recorder = match Recorder::attach(Selection::default()) {
        Ok(recorder) => recorder,
        Err(why) => return println!("SKIPPED: {why}"),
    };
    let stop = AtomicBool::new(false);
    let mut records = Vec::new();
    let late = thread::scope(|scope| {
        let late = scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            let allowed = fixed_priority(1);
            (0..JOBS).for_each(|_| sleep_until(monotonic_ns() - 1_000_000));
            stop.store(true, Ordering::Release);
            // SAFETY: asks for a number.
            allowed.then(|| unsafe { libc::gettid() }.unsigned_abs())
        });
        recorder.record(&stop, |record| records.push(*record));
        late.join().expect("no panic")
    });
    let Some(late) = late else { return println!("SKIPPED: SCHED_FIFO is not allowed here") };
    for kind in [SampleKind::Release, SampleKind::ReleaseLatency] {
        assert_eq!(number(&records, kind, late), 0, "{}", kind.name());
    }
}
