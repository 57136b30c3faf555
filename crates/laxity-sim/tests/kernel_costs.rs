//! What the kernel costs, and which CPU pays when: by hand, and under the oracles.

mod common;

use common::costly::windows;
use common::{Case, GRACE_NS, definition_of, definition_on};
use laxity_model::{Duration, Policy, PolicyScheduler, PriorityRule, Scope, Task, TaskSet, read_platform};
use laxity_oracle::verify;
use laxity_sim::Recording;
use laxity_sim::costs::{Cost, Costs, read_costs};
use laxity_trace::{Event, EventKind};
use std::path::{Path, PathBuf};

fn constant(ns: u64) -> Cost {
    Cost::Constant(Duration::from_ns(ns))
}

/// Release 2 us, decision 3 us, switch 1 us, IPI 4 us, mailbox 5 us, message 6 us.
fn costs() -> Costs {
    Costs {
        release: constant(2_000),
        scheduling: constant(3_000),
        context_switch: constant(1_000),
        ipi: constant(4_000),
        mailbox: constant(5_000),
        dsp: constant(6_000),
        ..Costs::default()
    }
}

fn one_task(policy: Policy, cores: u32) -> Recording {
    let task = Task::periodic("T1", Duration::from_ns(10_000), Duration::from_ns(100_000));
    let set = TaskSet::new("one", vec![task]).expect("valid");
    let case = Case { set, costs: costs(), duration: Duration::from_ns(150_000), ..Case::plain() };
    let rule = PriorityRule::EarliestDeadlineFirst;
    case.simulate(PolicyScheduler { policy, scope: Scope::Global, rule }, cores)
}

/// (time, kind, CPU) in us of what happens before 50 us.
fn early(events: &[Event]) -> Vec<(u64, &'static str, Option<u32>)> {
    let early = events.iter().filter(|event| event.time_ns < 50_000);
    early.map(|event| (event.time_ns / 1000, event.kind.name(), event.cpu)).collect()
}

#[test]
fn on_one_core_every_cost_delays_the_job_or_follows_it() {
    let recording = one_task(Policy::EdfBh, 1);
    let cpu = Some(0);
    assert_eq!(
        early(&recording.events),
        [
            (0, "release", None),
            (0, "release-overhead", cpu),
            (2, "scheduling-overhead", cpu),
            (5, "switch-overhead", cpu),
            (6, "start", cpu),
            (16, "complete", cpu),
            (16, "scheduling-overhead", cpu),
            (19, "switch-overhead", cpu),
        ]
    );
    let finishes: Vec<Option<u64>> = recording.jobs.iter().map(|job| job.finish_ns).collect();
    assert_eq!(finishes, [Some(16_000), Some(116_000)]);
    assert_eq!(recording.jobs[0].cpu_time_ns, Some(10_000));
}

/// Where another CPU takes the release interrupt and decides.
const RELEASED_ELSEWHERE: [(u64, &str, Option<u32>); 9] = [
    (0, "release", None),
    (0, "release-overhead", Some(1)),
    (6, "ipi", Some(0)),
    (6, "scheduling-overhead", Some(0)),
    (9, "switch-overhead", Some(0)),
    (10, "start", Some(0)),
    (20, "complete", Some(0)),
    (20, "scheduling-overhead", Some(0)),
    (23, "switch-overhead", Some(0)),
];

#[test]
fn dedicated_interrupt_handling_pays_for_releases_elsewhere_and_an_ipi() {
    let recording = one_task(Policy::GsnEdfDi, 2);
    assert_eq!(early(&recording.events), RELEASED_ELSEWHERE);
}

#[test]
fn message_passing_pays_for_the_way_to_the_dsp() {
    let recording = one_task(Policy::GEdfMp, 2);
    let to_the_dsp = [(28, "dsp-message", Some(1)), (28, "dsp-overhead", Some(1))];
    assert_eq!(early(&recording.events), [&RELEASED_ELSEWHERE[..], &to_the_dsp].concat());
}

/// Two CPUs complete at once: the second waits for the one lock as long as the first holds it.
#[test]
fn one_lock_serializes_decisions() {
    let task = |name: &str| Task::periodic(name, Duration::from_ns(10_000), Duration::from_ns(100_000));
    let set = TaskSet::new("two", vec![task("T1"), task("T2")]).expect("valid");
    let costs = Costs { scheduling: constant(3_000), ..Costs::default() };
    let case = Case { set, costs, duration: Duration::from_ns(50_000), ..Case::plain() };
    let rule = PriorityRule::EarliestDeadlineFirst;
    let run = |policy| case.simulate(PolicyScheduler { policy, scope: Scope::Global, rule }, 2);
    let waits = |recording: &Recording| -> Vec<Option<u64>> {
        let waits = recording.events.iter().filter(|event| event.kind == EventKind::LockWait);
        waits.map(|event| event.argument).collect()
    };
    assert_eq!(waits(&run(Policy::EdfBh)), [Some(3_000)], "both start at once; the second waits");
    // With a lock per core, both decide at the same time.
    assert_eq!(waits(&run(Policy::PushPull)), []);
}

#[test]
fn with_costs_the_oracles_tolerate_transitions_and_nothing_else() {
    for seed in laxity_seeds::seeds!(0..150) {
        let mut case = Case::random(seed);
        case.costs = Costs {
            release: constant(11),
            scheduling: constant(13),
            context_switch: constant(17),
            ipi: constant(5),
            release_latency: constant(7),
            mailbox: constant(3),
            dsp: constant(2),
            tick: constant(4),
            tick_period: Duration::from_ns(1_000),
            step: constant(2),
            ..Costs::default()
        };
        for &policy in Policy::GENERAL {
            let rule = PriorityRule::EarliestDeadlineFirst;
            let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
            let cores = case.cores + u32::from(policy.dedicates_a_core());
            let recording = case.simulate(scheduler, cores);
            let transitions = windows(policy, &case.costs, 12);
            let definition = definition_of(&case, scheduler, cores).with_transitions(transitions);
            let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
            assert!(verdict.clean, "seed {seed}, {policy}: {verdict}\n{}", case.describe());
        }
    }
}

/// A job that resumes pays for its working set by the distance between the CPUs, and runs that much longer.
#[test]
fn resumed_jobs_reload_their_caches() {
    let platform = read_platform(&example("platforms/two-sockets.toml")).expect("an example");
    let last = platform.cores().last().expect("cores").cpu;
    let platform = platform.restricted(&[0, 1, last].into_iter().collect()).expect("three of its CPUs");
    let costs = read_costs(&example("costs/measured.toml")).expect("an example");
    let costs = Costs { cache: costs.cache, ..Costs::default() };
    let caches = costs.cache_delay(&platform).expect("cold caches cost something");
    let index = |number: u64| {
        let cores = platform.cores();
        let index = cores.iter().position(|core| u64::from(core.cpu) == number).expect("a CPU");
        u32::try_from(index).expect("few")
    };
    let mut delays = [0u32; 2];
    for seed in laxity_seeds::seeds!(0..60) {
        let mut case = Case::random(seed);
        let sized = |(id, task): (usize, &Task)| {
            let mut task = task.clone();
            task.working_set.size_bytes = 1024 * (id as u64 + 1);
            task
        };
        let tasks = case.set.tasks().iter().enumerate().map(sized).collect();
        case.set = TaskSet::new("sized", tasks).expect("valid");
        case.costs = costs.clone();
        let rule = PriorityRule::EarliestDeadlineFirst;
        let scheduler = PolicyScheduler { policy: Policy::EdfRbt, scope: Scope::Global, rule };
        let recording = case.simulate_on(scheduler, &platform, |_| {});
        for pair in recording.events.windows(2) {
            let [before, event] = pair else { continue };
            if event.kind != EventKind::CacheDelay {
                continue;
            }
            let cpu = u64::from(event.cpu.expect("a CPU"));
            let (migrated, from) = match before.kind {
                EventKind::Resume => (false, cpu),
                EventKind::Migrate => (true, before.argument.expect("a CPU")),
                kind => panic!("seed {seed}: a cache delay after {}", kind.name()),
            };
            let task = &case.set.tasks()[event.task.expect("a task") as usize];
            let expected = caches.delay(task.working_set.size_bytes, index(from), index(cpu));
            assert_eq!(event.argument, Some(expected), "seed {seed}");
            delays[usize::from(migrated)] += 1;
        }
        let definition = definition_on(&case, scheduler, &platform);
        let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
        assert!(verdict.clean, "seed {seed}: {verdict}");
    }
    laxity_seeds::assert_together!(
        delays.iter().all(|&count| count > 20),
        "too few delays to judge: {delays:?}"
    );
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}
