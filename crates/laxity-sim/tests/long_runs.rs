//! Long runs in which tasks enter and leave: no job is lost, and memory does not grow with simulated time.

mod common;

use common::Case;
use laxity_model::{Demand, Duration, Platform, Policy, PolicyScheduler, PriorityRule, Scope, Task, TaskSet};
use laxity_sim::Observer;
use laxity_sim::costs::{Cost, Costs, Distribution};
use laxity_trace::{Event, EventKind, Job};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the present thread allocates: tests run side by side.
struct Counting;

/// How often it has allocated, and how many bytes it has more than it gave back (a thread may free what another allocated).
#[derive(Clone, Copy)]
struct Allocated {
    times: u64,
    bytes: i128,
}

thread_local! {
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { times: 0, bytes: 0 }) };
}

fn count(times: u64, new_bytes: usize, old_bytes: usize) {
    let Allocated { times: before, bytes } = ALLOCATED.get();
    ALLOCATED.set(Allocated { times: before + times, bytes: bytes + new_bytes as i128 - old_bytes as i128 });
}

// SAFETY: everything is the system allocator's; the count is a constant-initialized thread-local without a destructor,
// which needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size(), 0);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, 0, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Checks every job as it comes and allocates nothing.
struct Watchful<const EVENTS: bool> {
    set: TaskSet,
    end_ns: u64,
    /// Number of the next job of each task.
    next: Vec<u32>,
    jobs: u64,
    /// Releases, completions, entries and departures among the events.
    releases: u64,
    completions: u64,
    entered: u64,
    left: u64,
    /// What had been allocated when the first half of the time was over.
    at_half: Option<Allocated>,
    /// The same at the latest job.
    at_end: Option<Allocated>,
}

impl<const EVENTS: bool> Watchful<EVENTS> {
    fn new(set: &TaskSet, end_ns: u64) -> Self {
        Watchful {
            set: set.clone(),
            end_ns,
            next: vec![0; set.tasks().len()],
            jobs: 0,
            releases: 0,
            completions: 0,
            entered: 0,
            left: 0,
            at_half: None,
            at_end: None,
        }
    }
}

impl<const EVENTS: bool> Observer for Watchful<EVENTS> {
    const EVENTS: bool = EVENTS;

    fn job(&mut self, job: &Job) {
        let task = &self.set.tasks()[job.task as usize];
        let index = self.next[job.task as usize];
        let release = task.phase.as_ns() + u64::from(index) * task.period().as_ns();
        assert_eq!((job.index, job.release_ns), (index, release), "a job was lost or came twice: {job:?}");
        assert_eq!(job.cpu_time_ns.filter(|_| job.finish_ns.is_some()), job.finish_ns.and(job.demand_ns));
        self.next[job.task as usize] += 1;
        self.jobs += 1;
        if job.finish_ns.is_some_and(|finish| finish > self.end_ns / 2) {
            self.at_half.get_or_insert(ALLOCATED.get());
            self.at_end = Some(ALLOCATED.get());
        }
    }

    fn event(&mut self, event: Event) {
        match event.kind {
            EventKind::Release => self.releases += 1,
            EventKind::Complete => self.completions += 1,
            EventKind::Enter => self.entered += 1,
            EventKind::Leave => self.left += 1,
            _ => {}
        }
    }
}

/// 24 tasks for 4 CPUs; two thirds of them enter later, leave early, or both. Load while all are there: `load` CPUs.
fn coming_and_going(seed: u64, load: f64, end_ns: u64) -> TaskSet {
    let mut rng = Pcg64::seed_from_u64(seed);
    let tasks = (0..24u64)
        .map(|id| {
            let period = rng.random_range(500..=5_000u64) * 1_000;
            #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
            let mean = period as f64 * load / 24.0;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and T")]
            let wcet = (mean * rng.random_range(0.5..1.5)).clamp(1.0, period as f64) as u64;
            let mut task =
                Task::periodic(format!("T{}", id + 1), Duration::from_ns(wcet), Duration::from_ns(period));
            let phase = if id % 3 == 0 { 0 } else { rng.random_range(0..end_ns + end_ns / 8) };
            task.phase = Duration::from_ns(phase);
            if id % 3 == 1 {
                task.leave = Some(Duration::from_ns(phase + rng.random_range(1..=end_ns)));
            }
            task.deadline_rel = Duration::from_ns(rng.random_range(wcet..=2 * period));
            task
        })
        .collect();
    TaskSet::new("coming and going", tasks).expect("valid")
}

/// Jobs that a task releases before the end and before it leaves.
fn releases(task: &Task, end_ns: u64) -> u64 {
    let until = task.leave.map_or(end_ns, |leave| leave.as_ns().min(end_ns));
    until.saturating_sub(task.phase.as_ns()).div_ceil(task.period().as_ns())
}

/// No job is lost, and in the second half of the run memory grows by at most `growth_max` bytes; 0: nothing is allocated.
fn run<const EVENTS: bool>(
    case: &Case,
    policy: Policy,
    rule: PriorityRule,
    growth_max: u32,
) -> Watchful<EVENTS> {
    let end_ns = case.duration.as_ns();
    let platform = Platform::symmetric(case.cores + u32::from(policy.dedicates_a_core())).expect("cores");
    let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
    let mut observer = Watchful::new(&case.set, end_ns);
    case.simulate_to(scheduler, &platform, |setup| setup.grace = Duration::from_ms(100), &mut observer);
    let end = observer.at_end.expect("a job ends in the second half");
    let half = observer.at_half.expect("a job ends in the second half");
    let (times, bytes) = (end.times - half.times, end.bytes - half.bytes);
    assert!(
        bytes <= i128::from(growth_max) && (times == 0 || growth_max > 0),
        "{scheduler}, seed {}: {times} allocations, {bytes} bytes after the warm-up",
        case.seed
    );
    for (task, &seen) in case.set.tasks().iter().zip(&observer.next) {
        let expected = releases(task, end_ns);
        assert_eq!(u64::from(seen), expected, "{scheduler}, seed {}: jobs of {}", case.seed, task.name);
    }
    observer
}

fn case(seed: u64, load: f64, jobs: u64) -> Case {
    let mut case = Case { seed, cores: 4, demand: Demand::Uniform(500_000, 1_000_000), ..Case::plain() };
    // Half of the tasks are there at a time, one job every 2.75 ms each.
    case.duration = Duration::from_us(jobs * 2_750 / 12);
    case.set = coming_and_going(seed, load, case.duration.as_ns());
    case
}

const RULES: [PriorityRule; 2] = [PriorityRule::EarliestDeadlineFirst, PriorityRule::RateMonotonic];

#[test]
fn no_job_is_lost_and_nothing_is_allocated() {
    for (seed, load) in [(1, 2.0), (2, 4.0)] {
        let case = case(seed, load, 60_000);
        for &policy in Policy::GENERAL {
            for rule in RULES {
                let observer = run::<false>(&case, policy, rule, 0);
                assert!(observer.jobs > 20_000, "only {} jobs", observer.jobs);
            }
        }
    }
}

/// Jobs wait in thousands, but only one of each task takes memory.
#[test]
fn nor_in_overload() {
    let case = case(3, 16.0, 30_000);
    for &policy in Policy::GENERAL {
        for rule in RULES {
            let observer = run::<false>(&case, policy, rule, 0);
            assert!(observer.jobs > 10_000, "only {} jobs", observer.jobs);
        }
    }
}

#[test]
fn nor_with_events() {
    for (seed, load) in [(4, 3.0), (5, 16.0)] {
        let case = case(seed, load, 30_000);
        let entering =
            case.set.tasks().iter().filter(|task| !task.phase.is_zero() && task.phase < case.duration);
        let (end, entering) = (case.duration, entering.count() as u64);
        let leaving = case.set.tasks().iter().filter(|task| task.leave.is_some_and(|leave| leave < end));
        let leaving = leaving.count() as u64;
        assert!(entering > 4 && leaving > 1, "few tasks enter ({entering}) or leave ({leaving})");
        for &policy in Policy::GENERAL {
            for rule in RULES {
                let observer = run::<true>(&case, policy, rule, 0);
                assert_eq!(observer.releases, observer.jobs, "{policy}: an event per release");
                assert!(observer.completions <= observer.jobs);
                assert_eq!((observer.entered, observer.left), (entering, leaving), "{policy}");
            }
        }
    }
}

/// Kernel work queues up too, and ends; costs vary, so that interrupts come in every order. A queue may reach a new length
/// late, but a byte for every job in the second half would be more than this.
const QUEUES_GROWTH_MAX: u32 = 3_000;

#[test]
fn nor_with_costs() {
    let us = |low, high| {
        let (low, high) = (Duration::from_us(low), Duration::from_us(high));
        Cost::Distribution(Distribution::uniform(low, high).expect("a distribution"))
    };
    for (seed, load) in [(6, 2.0), (7, 16.0)] {
        let mut case = case(seed, load, 20_000);
        case.costs = Costs {
            release: us(1, 9),
            scheduling: us(1, 5),
            context_switch: us(1, 3),
            ipi: us(0, 4),
            tick: us(1, 2),
            release_latency: us(0, 5),
            mailbox: us(0, 2),
            dsp: us(1, 4),
            step: us(1, 3),
            ..Costs::default()
        };
        for &policy in Policy::GENERAL {
            let rule = PriorityRule::EarliestDeadlineFirst;
            let observer = run::<false>(&case, policy, rule, QUEUES_GROWTH_MAX);
            assert!(observer.jobs > 8_000, "only {} jobs", observer.jobs);
            run::<true>(&case, policy, rule, QUEUES_GROWTH_MAX);
        }
    }
}
