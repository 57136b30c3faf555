//! What the measurements of the simulator's speed run: n = 5m periodic tasks with U = 0.8m, log-uniform periods of 10 to
//! 100 ms, synchronous, implicit deadlines, no costs. Other simulators were measured with the same sets.

#![allow(dead_code, reason = "every measurement uses its part")]

use laxity_generate::{Parameters, Request};
use laxity_model::{Duration, Platform, PolicyScheduler, Task, TaskSet};
use laxity_sim::{Observer, Setup, global_cell, simulate};
use laxity_trace::{Event, Job, Tallies};
use std::sync::atomic::AtomicBool;

/// The most tasks that are drawn at once; larger machines get several such sets.
const CORES_PER_SET: u32 = 512;

/// The first task set of the generator's seed 7 for `m` cores; beyond 512 cores, which must then be a multiple of that, the
/// first few sets for 512 cores together.
pub fn set(m: u32) -> TaskSet {
    let cores = m.min(CORES_PER_SET);
    assert!(m.is_multiple_of(cores), "{m} cores are no multiple of {cores}");
    let parameters: Parameters = [
        ("tasks", (5 * cores).to_string()),
        ("utilization", format!("{}.{}", 8 * cores / 10, 8 * cores % 10)),
        ("periods", "log-uniform:10ms,100ms".to_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let request = Request::from_parameters("emberson", 7, &parameters).expect("request");
    let prepared = request.prepare().expect("prepared");
    if m == cores {
        return prepared.generate(0).expect("set");
    }
    let sets = (0..m / cores).map(|number| prepared.generate(number.into()).expect("set"));
    let tasks = sets.flat_map(|set| set.tasks().to_vec()).enumerate();
    let named = tasks.map(|(id, task)| Task { name: format!("T{}", id + 1), ..task });
    TaskSet::new("joined", named.collect()).expect("set")
}

/// How long to simulate so that about `jobs` jobs are released: at least one ms.
pub fn duration_for(set: &TaskSet, jobs: u64) -> Duration {
    let per_second: u64 = set.real_time().map(|(_, task)| 1_000_000_000 / task.period().as_ns()).sum();
    Duration::from_ms((jobs * 1_000 / per_second.max(1)).max(1))
}

/// Simulates the set on `m` cores (one more for a policy that dedicates one); the CPU time that this took, in ns.
pub fn measure(
    set: &TaskSet,
    m: u32,
    scheduler: PolicyScheduler,
    duration: Duration,
    observer: &mut impl Observer,
) -> u64 {
    let cores = m + u32::from(scheduler.policy.dedicates_a_core());
    let platform = Platform::symmetric(cores).expect("cores");
    let cells = vec![global_cell(set, &platform)];
    let setup = Setup { duration, grace: GRACE, ..Setup::new(set, &platform, scheduler, cells) };
    let before = cpu_time_ns();
    simulate(&setup, observer, &AtomicBool::new(false)).expect("a valid setup");
    cpu_time_ns() - before
}

/// Late jobs end within this time.
pub const GRACE: Duration = Duration::from_ms(100);

/// CPU time of this process, all threads: other processes do not disturb it much. (Through libc, because rustix finds
/// the vDSO in a way that valgrind does not survive.)
pub fn cpu_time_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time to where it is told.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(status, 0, "this clock is always there");
    u64::try_from(time.tv_sec).expect("positive") * 1_000_000_000
        + u64::try_from(time.tv_nsec).expect("below 1e9")
}

/// An observer that does next to nothing: what remains is the simulator. It knows what SchedCAT's simulator tells of a run.
#[derive(Default)]
pub struct CountJobs {
    pub jobs: u64,
    pub late: u64,
    pub tardiness_ns: u128,
    pub tardiness_ns_max: u64,
}

impl Observer for CountJobs {
    const EVENTS: bool = false;

    #[inline]
    fn job(&mut self, job: &Job) {
        self.jobs += 1;
        let Some(finish) = job.finish_ns else {
            self.late += 1;
            return;
        };
        if finish > job.deadline_ns {
            let tardiness = finish - job.deadline_ns;
            self.late += 1;
            self.tardiness_ns += u128::from(tardiness);
            self.tardiness_ns_max = self.tardiness_ns_max.max(tardiness);
        }
    }

    fn event(&mut self, _: Event) {}
}

/// Wants events, and counts them.
#[derive(Default)]
pub struct CountEvents {
    pub jobs: u64,
    pub events: u64,
}

impl Observer for CountEvents {
    const EVENTS: bool = true;

    #[inline]
    fn job(&mut self, _: &Job) {
        self.jobs += 1;
    }

    #[inline]
    fn event(&mut self, event: Event) {
        // The last instant is used, so that the events are really made.
        self.events += u64::from(event.time_ns != u64::MAX);
    }
}

/// All metrics, as `laxity simulate` computes them.
pub struct Metrics {
    pub jobs: u64,
    pub tallies: Tallies,
}

impl Metrics {
    pub fn new(set: &TaskSet, duration: Duration) -> Self {
        Metrics { jobs: 0, tallies: Tallies::new(set, duration.as_ns() + GRACE.as_ns()) }
    }
}

impl Observer for Metrics {
    const EVENTS: bool = false;

    #[inline(always)]
    fn job(&mut self, job: &Job) {
        self.jobs += 1;
        self.tallies.add(job).expect("a task of the set");
    }

    fn event(&mut self, _: Event) {}
}
