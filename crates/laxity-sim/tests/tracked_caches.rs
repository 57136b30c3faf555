//! Caches that are followed through a schedule: by hand, and under the oracles.

mod common;

use common::costly::windows;
use common::{Case, GRACE_NS, definition_on};
use laxity_model::{
    Cache, CacheKind, Core, CpuList, Duration, Group, OnMiss, Platform, Policy, PolicyScheduler,
    PriorityRule, Scope, Speed, Task, TaskSet, WorkingSet, read_platform,
};
use laxity_oracle::verify;
use laxity_sim::Recording;
use laxity_sim::costs::{CacheCosts, Cost, Costs, LineLatencies, Reload};
use laxity_trace::{Efficiency, EventKind, JobOutcome};
use std::collections::BTreeMap;
use std::path::Path;

const KIB: u64 = 1 << 10;

/// A line takes 10 ns from L2, 20 ns from L3, 100 ns from memory.
fn tracked() -> Costs {
    tracked_by(latencies())
}

fn latencies() -> LineLatencies {
    let levels = BTreeMap::from([(2, 10_000), (3, 20_000)]);
    LineLatencies::new(64, levels, 100_000, None).expect("valid")
}

fn tracked_by(latencies: LineLatencies) -> Costs {
    let cache = CacheCosts::new(Reload::Lines(latencies)).tracking().expect("lines");
    Costs { cache: Some(cache), ..Costs::default() }
}

/// CPUs with an L2 each and, perhaps, one L3.
fn platform(cores: u32, l2_kib: u64, l3_kib: Option<u64>) -> Platform {
    let cache = |level, kib: u64, cpus: CpuList| Cache {
        level,
        kind: CacheKind::Unified,
        size_bytes: kib * KIB,
        line_bytes: Some(64),
        ways: None,
        cpus,
    };
    let mut caches: Vec<Cache> = (0..cores).map(|cpu| cache(2, l2_kib, CpuList::from_iter([cpu]))).collect();
    caches.extend(l3_kib.map(|kib| cache(3, kib, CpuList::first(cores))));
    let cores = (0..cores).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect();
    Platform::new("p", cores, caches, vec![], None).expect("valid")
}

/// The same with CPUs of other speeds.
fn at_speeds(platform: &Platform, speed: impl Fn(u64) -> (u32, u32)) -> Platform {
    let of_core = |(number, core): (u64, &Core)| {
        let (above, below) = speed(number);
        Core { speed: Speed::new(above, below).expect("a fraction"), ..core.clone() }
    };
    let cores = (0..).zip(platform.cores()).map(of_core).collect();
    Platform::new("p", cores, platform.caches().to_vec(), platform.numa_nodes().to_vec(), None)
        .expect("as it was")
}

/// Some speed of a CPU, other ones by seed.
fn some_speed(seed: u64) -> impl Fn(u64) -> (u32, u32) {
    let speeds = [(1, 1), (1, 2), (223, 512), (2, 1), (3, 4), (1, 4), (7, 3)];
    move |core| speeds[usize::try_from((seed + core * 3) % 7).expect("small")]
}

/// A task of 1 ms every 10 ms.
fn task(name: &str, wss_kib: u64, (reads, writes): (u32, u32), group: Option<&str>) -> Task {
    let size_bytes = wss_kib * KIB;
    Task {
        working_set: WorkingSet { size_bytes, reads, writes, ..WorkingSet::default() },
        group: group.map(|name| Group { name: name.into(), shared_bytes: size_bytes }),
        ..Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10))
    }
}

/// Partitioned EDF, tasks dealt in turn, 30 ms.
fn simulate(tasks: &[Task], platform: &Platform) -> Recording {
    simulate_with(tracked(), tasks, platform)
}

fn simulate_with(costs: Costs, tasks: &[Task], platform: &Platform) -> Recording {
    let set = TaskSet::new("set", tasks.to_vec()).expect("valid");
    let case = Case { set, costs, duration: Duration::from_ms(30), ..Case::plain() };
    let rule = PriorityRule::EarliestDeadlineFirst;
    let scheduler = PolicyScheduler { policy: Policy::EdfBh, scope: Scope::Partitioned, rule };
    case.simulate_on(scheduler, platform, |setup| setup.grace = Duration::from_ms(20))
}

/// By task: (execution time beyond 1 ms in ns, lines from memory) of each job.
fn paid(recording: &Recording, task: u32) -> Vec<(u64, u64)> {
    let of = recording.jobs.iter().filter(|job| job.task == task);
    of.map(|job| (job.cpu_time_ns.expect("known") - 1_000_000, job.counters.llc_misses.expect("followed")))
        .collect()
}

#[test]
fn sharers_on_one_core_warm_its_caches_for_each_other() {
    let sharers = ["a", "b"].map(|name| task(name, 64, (0, 1), Some("g")));
    let together = simulate(&sharers, &platform(1, 1024, None));
    // 1024 lines once, 90 ns more than from the L2 that is their home
    assert_eq!(paid(&together, 0), [(92_160, 1_024), (0, 0), (0, 0)]);
    assert_eq!(paid(&together, 1), [(0, 0); 3]);
    // Apart, each writes what the other has to load again.
    let apart = simulate(&sharers, &platform(2, 1024, None));
    for id in [0, 1] {
        assert_eq!(paid(&apart, id), [(92_160, 1_024); 3], "task {id}");
    }
    // With an L3 between them, only the first comes from memory; the others fetch from there, 10 ns a line more.
    let near = simulate(&sharers, &platform(2, 1024, Some(8192)));
    // The task that leaves last finds its own L2 as it was: a at first, which was slower, then b.
    assert_eq!(paid(&near, 0), [(92_160, 1_024), (0, 0), (10_240, 0)]);
    assert_eq!(paid(&near, 1), [(10_240, 0); 3]);
}

#[test]
fn writers_that_run_at_the_same_time_take_lines_from_each_other() {
    // A line every 100 ns: 10000 accesses in the 1 ms of a job.
    let simulate = |tasks: &[Task], platform: &Platform| {
        simulate_with(tracked_by(latencies().accessing(100_000).expect("valid")), tasks, platform)
    };
    let writers = ["a", "b"].map(|name| task(name, 64, (0, 1), Some("g")));
    let apart = simulate(&writers, &platform(2, 1024, None));
    // Each access 90 ns more, from memory: the first 1024, which are cold, like all others.
    for id in [0, 1] {
        assert_eq!(paid(&apart, id), [(900_000, 10_000); 3], "task {id}");
    }
    // With an L3 between them 10 ns more for every line after the first 1024 accesses, for as long as both work. At first b, which
    // loads faster, is 81.92 us ahead; then a has left last and finds its L2 as it was; then b has, but a writes before it enters.
    let near = simulate(&writers, &platform(2, 1024, Some(8192)));
    assert_eq!(paid(&near, 0), [(92_160 + 82_313, 1_024), (98_976, 0), (10_240 + 89_760, 0)]);
    assert_eq!(paid(&near, 1), [(10_240 + 89_760, 0), (10_240 + 89_667, 0), (10_240 + 89_760, 0)]);
    // One after the other on one core there is nothing to take.
    let together = simulate(&writers, &platform(1, 1024, None));
    assert_eq!(paid(&together, 0), [(92_160, 1_024), (0, 0), (0, 0)]);
    // A quarter of the 8976 accesses after the first walk is to a line that the other has written; none of readers.
    for (ratio, lost) in [((3, 1), 2_244 * 90), ((1, 0), 0)] {
        let tasks = ["a", "b"].map(|name| task(name, 64, ratio, Some("g")));
        assert_eq!(paid(&simulate(&tasks, &platform(2, 1024, None)), 1)[0].0, 92_160 + lost, "{ratio:?}");
    }
}

#[test]
fn what_a_job_lost_before_it_was_preempted_is_paid_when_it_goes_on() {
    // c takes core 0 from a once it has worked for 0.5 ms beside b, for 0.2 ms and 1.44 us.
    let c = Task {
        wcet: Duration::from_us(200),
        deadline_rel: Duration::from_ms(2),
        phase: Duration::from_ns(592_160),
        ..task("c", 1, (1, 0), None)
    };
    let [a, b] = ["a", "b"].map(|name| task(name, 64, (0, 1), Some("g")));
    let costs = tracked_by(latencies().accessing(100_000).expect("valid"));
    let found = simulate_with(costs, &[a, b, c], &platform(2, 1024, None));
    let preempted = found.jobs.iter().find(|job| job.task == 0).expect("a job");
    assert_eq!(preempted.context_switches, Some(1));
    // In those 0.5 ms the first 1024 lines, which are cold, take 102.4 us, and then each takes 190 ns for 100: 209.264 us of work in 397.6.
    // When a goes on, b has done 513.104 us of its 1000; the rest takes 925.104 us, 438.208 of them for lines that a has written. So it
    // does for a, which has 201.44 us left then.
    let lost = 188_337 + 438_208;
    assert_eq!(paid(&found, 0)[0], (92_160 + lost, 1_024 + 2_092 + 4_868));
    assert_eq!(paid(&found, 1)[0], (92_160 + lost - 1, 1_024 + 6_961));
}

/// a walks 65536 lines of 100 ns, of which it has to load each at first: 6.5536 ms + 5.89824 ms. c stops it in the middle.
#[test]
fn a_job_that_is_stopped_within_its_first_walk_has_paid_its_share() {
    let costs = tracked_by(latencies().accessing(100_000).expect("valid"));
    let a = Task {
        wcet: Duration::from_ms(7),
        deadline_rel: Duration::from_ms(30),
        ..task("a", 4_096, (1, 0), None)
    };
    let a = Task { arrival: laxity_model::Arrival::Periodic { period: Duration::from_ms(40) }, ..a };
    let c = Task {
        wcet: Duration::from_us(200),
        deadline_rel: Duration::from_ms(2),
        phase: Duration::from_ns(6_225_920),
        ..task("c", 0, (1, 0), None)
    };
    let c = Task { arrival: laxity_model::Arrival::Periodic { period: Duration::from_ms(40) }, ..c };
    let recording = simulate_with(costs.clone(), &[a.clone(), c], &platform(1, 8_192, None));
    let found = recording.jobs.iter().find(|job| job.task == 0).expect("a job");
    // It goes on with the other half, and pays nothing twice.
    assert_eq!(found.cpu_time_ns, Some(7_000_000 + 65_536 * 90));
    assert_eq!(found.counters.llc_misses, Some(65_536));
    // A job that walks less than all loads no more than that; the next one goes on there.
    let short = Task { wcet: Duration::from_ms(4), ..a.clone() };
    let short = Task {
        arrival: laxity_model::Arrival::Periodic { period: Duration::from_ms(10) },
        deadline_rel: Duration::from_ms(10),
        ..short
    };
    let recording = simulate_with(costs.clone(), &[short], &platform(1, 8_192, None));
    let of_jobs: Vec<_> =
        recording.jobs.iter().map(|job| (job.cpu_time_ns, job.counters.llc_misses)).collect();
    let cold = |lines: u64| (Some(4_000_000 + lines * 90), Some(lines));
    assert_eq!(of_jobs, [cold(40_000), cold(25_536), cold(0)]);
    // Where nothing holds the walk, every access is a miss, and takes no longer.
    let recording = simulate_with(costs, &[a], &platform(1, 1_024, None));
    let found = recording.jobs.first().expect("a job");
    assert_eq!((found.cpu_time_ns, found.counters.llc_misses), (Some(7_000_000), Some(70_000)));
}

/// The work for a line takes longer on a slow CPU, and shorter on a fast one; what the line takes that another has written does not.
#[test]
fn writers_on_slow_cores_lose_as_many_lines() {
    let costs = tracked_by(latencies().accessing(100_000).expect("valid"));
    let writers = ["a", "b"].map(|name| task(name, 64, (0, 1), Some("g")));
    for (above, below) in [(1, 2), (1, 4), (2, 1), (1, 1)] {
        let platform = at_speeds(&platform(2, 1024, None), |_| (above, below));
        let found = simulate_with(costs.clone(), &writers, &platform);
        // 10000 accesses of 100 ns by the speed, each 90 ns more.
        let warm_ns = 1_000_000 * u64::from(below) / u64::from(above);
        for job in &found.jobs {
            let seen = (job.cpu_time_ns.expect("known"), job.counters.llc_misses);
            assert_eq!(seen, (warm_ns + 900_000, Some(10_000)), "at {above}/{below}: {job:?}");
            assert_eq!(job.warm_ns, Some(warm_ns), "at {above}/{below}");
        }
        assert_eq!(found.jobs.len(), 6);
    }
    // The first, at a quarter of the speed, finds every line stale: the other one comes by more often. That one finds t / 490 of them
    // stale where an access of it takes t = 100 + 90 t / 490, which is 122.5: a quarter, 22.5 of 90. Its first 1024 are cold.
    let platform = at_speeds(&platform(2, 1024, None), |core| [(1, 4), (1, 1)][usize::from(core > 0)]);
    let found = simulate_with(costs, &writers, &platform);
    let (cold, others) = (92_160, (10_000 - 1_024) * 90 / 4);
    let (paid, lines) = paid(&found, 1)[0];
    assert!(paid.abs_diff(cold + others) < 10 && lines.abs_diff(1_024 + 2_244) < 2, "{paid} {lines}");
}

/// Caches that hold all inflate nothing, and IPC is that with warm caches, at every speed.
#[test]
fn a_slow_core_has_the_ipc_of_a_fast_one() {
    let costs = tracked_by(latencies().accessing(100_000).expect("valid"));
    let strangers = ["a", "b"].map(|name| task(name, 32, (0, 1), None));
    for (above, below) in [(1, 1), (1, 2), (1, 4), (223, 512), (2, 1), (7, 3)] {
        let found = simulate_with(
            costs.clone(),
            &strangers,
            &at_speeds(&platform(2, 1024, None), |_| (above, below)),
        );
        let mut warm = Efficiency::default();
        for job in &found.jobs {
            let alone = Speed::new(above, below).expect("a fraction").time_for(1_000_000);
            let cold = if job.index == 0 { 512 * 90 } else { 0 };
            assert_eq!((job.warm_ns, job.cpu_time_ns), (Some(alone), Some(alone + cold)), "{above}/{below}");
            if job.index > 0 {
                warm.add(job);
            }
        }
        let (work, cpu_time) = warm.relative_ipc().expect("jobs");
        assert!(work == cpu_time && work > 0, "at {above}/{below}: {work} of {cpu_time}");
    }
}

/// Whatever stops and moves jobs, and whatever they lose: at one speed their work takes what was asked for by that speed; at different
/// ones, what they were on their CPUs if no cache costs anything.
#[test]
fn warm_time_is_that_of_the_cores_where_jobs_were() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/platforms/two-sockets.toml");
    let platform = read_platform(&file).expect("an example");
    let (mut checked, mut inflated, mut moved) = (0, 0, 0);
    for seed in laxity_seeds::seeds!(0..2_000) {
        let mut case = Case::random(seed);
        case.on_miss = OnMiss::ALL[usize::try_from(seed % 3).expect("small")];
        let is_cold = seed % 2 == 0;
        let (above, below) = some_speed(seed)(0);
        let cores = platform.cpus().iter().filter(|cpu| cpu % 2 == 0).take(3).collect();
        let platform = platform.clone().restricted(&cores).expect("three of its CPUs");
        let platform = match is_cold {
            true => at_speeds(&platform, |_| (above, below)),
            false => at_speeds(&platform, some_speed(seed)),
        };
        let sized = |(id, task): (usize, &Task)| {
            let mut task = task.clone();
            let size_bytes = if is_cold { 512 * (1 + id as u64 / 2 % 3) } else { 0 };
            task.working_set = WorkingSet { size_bytes, reads: 1, writes: 3, ..WorkingSet::default() };
            let is_shared = is_cold && id / 2 * 2 + 1 < case.set.tasks().len();
            task.group =
                is_shared.then(|| Group { name: format!("g{}", id / 2), shared_bytes: size_bytes / 2 });
            task
        };
        let tasks = case.set.tasks().iter().enumerate().map(sized).collect();
        case.set = TaskSet::new("sized", tasks).expect("valid");
        case.costs = match seed % 4 < 2 {
            true => tracked_by(latencies().accessing(3_000).expect("valid")),
            false => tracked(),
        };
        let rule = PriorityRule::EarliestDeadlineFirst;
        let scheduler = PolicyScheduler { policy: Policy::EdfBh, scope: Scope::Global, rule };
        for job in case.simulate_on(scheduler, &platform, |_| {}).jobs {
            let (warm, used) = (job.warm_ns, job.cpu_time_ns);
            if !is_cold && job.outcome != JobOutcome::Skipped {
                assert_eq!(warm, used, "seed {seed}: {job:?}\n{}", case.describe());
                moved += u32::from(job.first_cpu != job.last_cpu);
                checked += 1;
            } else if is_cold && job.outcome == JobOutcome::Completed {
                let alone =
                    Speed::new(above, below).expect("a fraction").time_for(job.demand_ns.expect("known"));
                assert_eq!(warm, Some(alone), "seed {seed}: {job:?}\n{}", case.describe());
                inflated += u32::from(used > warm);
                checked += 1;
            }
        }
    }
    laxity_seeds::assert_together!(
        checked > 200_000 && inflated > 5_000 && moved > 5_000,
        "{checked} {inflated} {moved}"
    );
}

/// No job has more lines from memory than it has walked, whatever happens to it.
#[test]
fn misses_never_exceed_accesses() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/platforms/two-sockets.toml");
    let platform = read_platform(&file).expect("an example");
    let (mut misses, mut accesses) = (0, 0);
    for seed in laxity_seeds::seeds!(0..3_000) {
        let mut case = Case::random(seed);
        case.on_miss = OnMiss::ALL[usize::try_from(seed % 3).expect("small")];
        // An access takes 2 to 9 ns, and a job lasts 1 to 12 us: much shorter than walks of up to 64 KiB, or longer.
        let access_ps = 2_000 + seed % 8 * 1_000;
        let tasks_count = case.set.tasks().len();
        let platform = if seed % 8 < 4 { at_speeds(&platform, some_speed(seed)) } else { platform.clone() };
        let tasks = case.set.tasks().iter().enumerate().map(|(id, task)| {
            let mut task = task.clone();
            task.working_set.size_bytes = 1_024 << ((id as u64 * 7 + seed) % 15);
            (task.working_set.reads, task.working_set.writes) = [(1, 0), (0, 1), (3, 1)][id % 3];
            if seed % 4 > 1 {
                // Each shares half of what it walks with another one.
                task.working_set.size_bytes = 1_024 << ((id as u64 / 2 * 7 + seed) % 15);
                let shared_bytes = task.working_set.size_bytes / 2;
                task.group = (id / 2 * 2 + 1 < tasks_count)
                    .then(|| Group { name: format!("g{}", id / 2), shared_bytes });
            }
            task
        });
        case.set = TaskSet::new("sized", tasks.collect()).expect("valid");
        case.costs = tracked_by(latencies().accessing(access_ps).expect("valid"));
        let rule = PriorityRule::EarliestDeadlineFirst;
        let scheduler = PolicyScheduler { policy: Policy::EdfBh, scope: Scope::Global, rule };
        let mut jobs: Vec<laxity_trace::Job> = Vec::new();
        case.simulate_to(
            scheduler,
            &platform,
            |setup| setup.interleaving = Some(seed).filter(|seed| seed % 2 == 0),
            &mut jobs,
        );
        for job in &jobs {
            let walked = job.demand_ns.expect("known") * 1_000 / access_ps;
            let missed = job.counters.llc_misses.unwrap_or_default();
            assert!(
                missed <= walked,
                "seed {seed}: {missed} misses of {walked}: {job:?}\n{}",
                case.describe()
            );
            (misses, accesses) = (misses + missed, accesses + walked);
        }
    }
    laxity_seeds::assert_together!(misses > accesses / 20 && misses < accesses, "{misses} of {accesses}");
}

#[test]
fn readers_do_not_take_lines_from_each_other() {
    let readers = ["a", "b"].map(|name| task(name, 64, (1, 0), Some("g")));
    let apart = simulate(&readers, &platform(2, 1024, None));
    for id in [0, 1] {
        assert_eq!(paid(&apart, id), [(92_160, 1_024), (0, 0), (0, 0)], "task {id}");
    }
    // One in four accesses writes: a quarter of the lines.
    let writers = ["a", "b"].map(|name| task(name, 64, (3, 1), Some("g")));
    let apart = simulate(&writers, &platform(2, 1024, None));
    assert_eq!(paid(&apart, 1), [(92_160, 1_024), (23_040, 256), (23_040, 256)]);
}

#[test]
fn tasks_that_share_nothing_push_each_other_out_of_a_small_cache() {
    let strangers = ["a", "b"].map(|name| task(name, 64, (1, 0), None));
    let fits = simulate(&strangers, &platform(1, 128, None));
    assert_eq!([paid(&fits, 0), paid(&fits, 1)], [[(92_160, 1_024), (0, 0), (0, 0)]; 2]);
    // A KiB less, and neither finds anything.
    let tight = simulate(&strangers, &platform(1, 127, None));
    assert_eq!([paid(&tight, 0), paid(&tight, 1)], [[(92_160, 1_024); 3]; 2]);
}

#[test]
fn what_no_cache_holds_misses_as_ever_and_takes_no_longer() {
    let large = [task("a", 2048, (1, 0), None)];
    let recording = simulate(&large, &platform(1, 1024, None));
    assert_eq!(paid(&recording, 0), [(0, 32_768); 3]);
}

/// b comes in after 1 ms, with an earlier deadline; a is warm when it goes on if b leaves room for it.
#[test]
fn a_preempted_job_reloads_what_was_pushed_out_in_between() {
    let delays = |kib: u64| {
        let a = Task { wcet: Duration::from_ms(3), ..task("a", 64, (1, 0), None) };
        let b = Task {
            phase: Duration::from_ms(1),
            deadline_rel: Duration::from_ms(3),
            ..task("b", kib, (1, 0), None)
        };
        let recording = simulate(&[a, b], &platform(1, 128, None));
        let early = recording.events.into_iter().filter(|event| event.time_ns < 10_000_000);
        let delays = early.filter(|event| event.kind == EventKind::CacheDelay);
        delays
            .map(|event| (event.task.expect("a task"), event.argument.expect("a delay")))
            .collect::<Vec<_>>()
    };
    assert_eq!(delays(64), [(0, 92_160), (1, 92_160)]);
    assert_eq!(delays(65), [(0, 92_160), (1, 93_600), (0, 92_160)]);
    assert_eq!(delays(0), [(0, 92_160)]);
}

#[test]
fn contradictory_groups_are_refused() {
    let set = TaskSet::new("set", vec![task("a", 0, (1, 0), Some("g"))]).expect("valid");
    let error = tracked().cache_state(&platform(1, 128, None), &set).expect_err("shares nothing");
    assert!(error.message.contains("shares no memory"), "{error}");
}

/// Whatever caches cost, schedules are what their policies define, on any policy and with a kernel that costs, too.
#[test]
fn oracles_accept_schedules_with_followed_caches() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/platforms/two-sockets.toml");
    let platform = read_platform(&file).expect("an example");
    let last = platform.cores().last().expect("cores").cpu;
    let platform = platform.restricted(&[0, 1, last].into_iter().collect()).expect("three of its CPUs");
    let mut delays = 0u32;
    for seed in laxity_seeds::seeds!(0..60) {
        let mut case = Case::random(seed);
        let platform = if seed % 8 < 4 { at_speeds(&platform, some_speed(seed)) } else { platform.clone() };
        let sized = |(id, task): (usize, &Task)| {
            let mut task = task.clone();
            task.working_set.size_bytes = 1_024 * (1 + id as u64 % 3);
            let shared_bytes = task.working_set.size_bytes;
            task.group = (id % 4 > 0).then(|| Group { name: format!("g{}", id % 2), shared_bytes });
            task
        };
        let tasks = case.set.tasks().iter().enumerate().map(sized).collect();
        case.set = TaskSet::new("sized", tasks).expect("valid");
        case.on_miss = OnMiss::ALL[usize::try_from(seed % 3).expect("small")];
        // Half of the time, sharers take lines from each other.
        case.costs = match seed % 4 < 2 {
            true => tracked_by(latencies().accessing(100_000).expect("valid")),
            false => tracked(),
        };
        if seed % 2 == 0 {
            case.costs.scheduling = Cost::Constant(Duration::from_ns(13));
            case.costs.context_switch = Cost::Constant(Duration::from_ns(17));
        }
        for &policy in Policy::GENERAL {
            let rule = PriorityRule::EarliestDeadlineFirst;
            let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
            let recording = case.simulate_on(scheduler, &platform, |_| {});
            let delayed = recording.events.iter().filter(|event| event.kind == EventKind::CacheDelay);
            delays += u32::try_from(delayed.count()).expect("few");
            let definition = definition_on(&case, scheduler, &platform);
            let definition = definition.with_transitions(windows(policy, &case.costs, 12));
            let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
            assert!(verdict.clean, "seed {seed}, {policy}, {}: {verdict}\n{}", case.on_miss, case.describe());
        }
    }
    laxity_seeds::assert_together!(delays > 1_000, "too few delays to judge: {delays}");
}
