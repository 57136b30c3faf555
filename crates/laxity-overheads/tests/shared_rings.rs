//! The host of a policy and the probes write into one ring: one stream of events and samples, in their order. Needs a kernel with
//! sched_ext; without it, it says SKIPPED. In a virtual machine: `laxity vm --exec -- target/release/deps/shared_rings-...`.

use laxity_kernel::rings::{Kind, Record, SampleKind, Switch};
use laxity_kernel::{Options, PolicyCpus, Scheduler};
use laxity_model::{BudgetMode, Policy, Reserve};
use laxity_overheads::{Recorder, Selection};
use laxity_sys::{Attributes, policy, set_attributes};
use laxity_trace::EventKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const JOBS: usize = 30;
const PERIOD_NS: u64 = 20_000_000;

fn options(cpus: u32) -> Options {
    Options {
        policy: Policy::EdfBh,
        fixed_priorities: false,
        by_period: false,
        cells: vec![PolicyCpus { cpus: (0..cpus).collect(), sockets: (0..cpus).map(|_| 0).collect() }],
        budget: BudgetMode::Throttle,
        batching: false,
        retries_max: 3,
        tasks: 16,
        share_ppm: 950_000,
        reserve: Reserve::percent(5, Reserve::WINDOW).expect("a share"),
        kernel_threads: laxity_kernel::KERNEL_THREADS,
        cores: Vec::new(),
    }
}

/// The calling thread becomes the policy's; its jobs end with sched_yield.
fn periodic() -> std::io::Result<()> {
    let wanted = Attributes {
        policy: policy::EXT,
        runtime_ns: 2_000_000,
        deadline_ns: PERIOD_NS,
        period_ns: PERIOD_NS,
        ..Attributes::default()
    };
    set_attributes(0, wanted)?;
    (0..JOBS).for_each(|_| thread::yield_now());
    Ok(())
}

#[test]
fn events_and_samples_come_in_one_stream() {
    let cpus = u32::try_from(libbpf_rs::num_possible_cpus().unwrap_or(1)).expect("few CPUs");
    let scheduler = match Scheduler::attach(&options(cpus)) {
        Ok(scheduler) => scheduler,
        Err(why) => return println!("SKIPPED: {why}"),
    };
    let selection = Selection { all_threads: false, functions: false, run_times: false };
    let rings = scheduler.rings().expect("its rings");
    let mut recorder = match Recorder::attach_to(selection, &rings) {
        Ok(recorder) => recorder,
        Err(why) => return println!("SKIPPED: {why}"),
    };
    scheduler.trace_switch().expect("its switch").set(Switch::EVENTS);
    let stop = AtomicBool::new(false);
    let mut records: Vec<Record> = Vec::new();
    let told = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            let ran = thread::spawn(periodic).join().expect("no panic");
            stop.store(true, Ordering::Release);
            ran.expect("the policy admits it");
        });
        recorder.record(&stop, |record| records.push(*record))
    });
    assert!(told.lost.iter().all(|&lost| lost == 0), "{told:?}");
    let number = |kind: Kind| records.iter().filter(|record| Kind::of(record.kind) == Some(kind)).count();
    let completions = number(Kind::Event(EventKind::Complete));
    assert!(completions + 2 >= JOBS, "{completions} completions");
    // One to each job, from the probes; the release of each from the host, whose own samples come beside.
    for kind in [SampleKind::Schedule, SampleKind::ContextSwitch] {
        assert!(
            number(Kind::Sample(kind)) >= completions,
            "{} of {}",
            number(Kind::Sample(kind)),
            kind.name()
        );
    }
    let releases = number(Kind::Sample(SampleKind::Release));
    assert!(releases > 0 && releases <= JOBS + 2, "{releases} releases");
    println!("{} records, {completions} completions, {releases} releases", records.len());
}
