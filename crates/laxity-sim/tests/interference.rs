//! CPUs that something above the scheduler takes: every policy's schedule is the textbook's on the CPUs that are there.

mod common;

use common::{Case, GRACE_NS, definition_of, timeline};
use laxity_analysis::overheads::Overheads;
use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::{
    AnalysedCell, AnyGlobalEdf, GlobalFixedPriorityRta, Guarantee, SporadicTask, Taken, Test, Work,
};
use laxity_model::{
    BudgetMode, Demand, Duration, Interference, OnMiss, Platform, Policy, PolicyScheduler, PriorityRule,
    Scope, Speed,
};
use laxity_oracle::{TimelineBuilder, Transitions, first_difference, reference, verify};
use laxity_sim::{Background, Recording, Setup};
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const UNIT_NS: u64 = 1_000;

fn scheduler(policy: Policy, scope: Scope, rule: PriorityRule) -> PolicyScheduler {
    PolicyScheduler { policy, scope, rule }
}

fn global(policy: Policy) -> PolicyScheduler {
    scheduler(policy, Scope::Global, PriorityRule::EarliestDeadlineFirst)
}

/// Up to three intervals, some of which come again, of some of the CPUs below `cores`, of which those that are `dedicated` are left
/// alone. Most instants are those of the tasks.
fn random_interference(rng: &mut Pcg64, cores: u32, dedicated: impl Fn(u32) -> bool) -> Vec<Interference> {
    let mut all: Vec<Interference> = Vec::new();
    for cpu in (0..cores).filter(|&cpu| !dedicated(cpu)) {
        for _ in 0..rng.random_range(0..=3) {
            let mut ns = |units: std::ops::RangeInclusive<u64>| {
                let odd = if rng.random_range(0..4) == 0 { rng.random_range(0..UNIT_NS) } else { 0 };
                Duration::from_ns(rng.random_range(units) * UNIT_NS + odd)
            };
            let (from, length) = (ns(0..=100), ns(1..=8));
            let period = Some(length + ns(1..=40)).filter(|_| rng.random_range(0..3) == 0);
            let one = Interference::new(cpu, from, length, period).expect("valid");
            if !all.iter().any(|other| other.meets(&one)) {
                all.push(one);
            }
        }
    }
    all
}

/// How many CPUs a case of the scheduler has, and which of them are dedicated; nothing: it does not fit.
fn machine(case: &Case, of: PolicyScheduler) -> Option<(u32, impl Fn(u32) -> bool + use<>)> {
    let dedicates = of.policy.dedicates_a_core();
    let cores = match (dedicates, of.scope) {
        (false, _) => case.cores,
        (true, Scope::Global) => case.cores + 1,
        (true, Scope::Clustered) => 2 * case.cores.div_ceil(2),
        (true, Scope::Partitioned) => return None,
    };
    let clustered = of.scope == Scope::Clustered;
    Some((cores, move |cpu| dedicates && if clustered { cpu % 2 == 1 } else { cpu + 1 == cores }))
}

fn simulate(
    case: &Case,
    of: PolicyScheduler,
    cores: u32,
    all: &[Interference],
    seed: Option<u64>,
) -> Recording {
    let platform = Platform::symmetric(cores).expect("cores");
    let mut recording = Recording::default();
    let change = |setup: &mut Setup<'_>| {
        // What is borrowed for the simulation alone.
        setup.interleaving = seed;
        setup.interference = Vec::leak(all.to_vec());
    };
    case.simulate_to(of, &platform, change, &mut recording);
    recording
}

/// Simulates: the oracles find nothing, and the schedule is that of the reference scheduler. (An interleaved push-pull may have given
/// pushes up.)
fn check(
    case: &Case,
    of: PolicyScheduler,
    (cores, all): (u32, &[Interference]),
    seed: Option<u64>,
) -> Recording {
    let definition = definition_of(case, of, cores).with_interference(all.to_vec());
    let gives_up = seed.is_some() && of.policy.has_queue_per_core();
    let definition =
        definition.with_transitions(Transitions { abandoned_pushes: gives_up, ..Transitions::NONE });
    let recording = simulate(case, of, cores, all, seed);
    let horizon = case.duration.as_ns() + GRACE_NS;
    let context = || {
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        format!(
            "seed {}, {of}, {:?}, {:?}, {all:?}, interleaved {seed:?}: {}",
            case.seed,
            case.budget_mode,
            case.on_miss,
            case.describe()
        )
    };
    let verdict = verify(&definition, &recording.events, horizon);
    assert!(verdict.clean, "{verdict}\n{}", context());
    if gives_up && recording.events.iter().any(|event| event.kind == EventKind::PushAbandoned) {
        return recording;
    }
    let expected = reference(&definition, &definition.jobs(), horizon).expect("a schedule");
    assert!(verify(&definition, &expected.events, horizon).clean, "of the reference: {}", context());
    let found = TimelineBuilder::of(&recording.events, horizon).expect("well-formed");
    let difference = first_difference(&expected.timeline, &found);
    assert!(difference.is_none(), "{difference:?}\n{}", context());
    check_jobs(&recording, &context);
    recording
}

/// The jobs' own counts of time and migrations are those of the events.
fn check_jobs(recording: &Recording, context: &dyn Fn() -> String) {
    let ran = timeline(&recording.events);
    for job in recording.jobs.iter().filter(|job| job.finish_ns.is_some()) {
        let pieces = ran.get(&(job.task, job.index)).map_or(&[][..], |pieces| pieces);
        let time: u64 = pieces.iter().map(|(from, to)| to - from).sum();
        assert_eq!(job.cpu_time_ns, Some(time), "{job:?}\n{}", context());
        let of_job = |event: &&Event| (event.task, event.job) == (Some(job.task), Some(job.index));
        let moved = recording.events.iter().filter(of_job).filter(|event| event.kind == EventKind::Migrate);
        assert!(job.migrations >= Some(u32::try_from(moved.count()).expect("few")), "{job:?}\n{}", context());
    }
}

const RULES: [PriorityRule; 4] = [
    PriorityRule::EarliestDeadlineFirst,
    PriorityRule::RateMonotonic,
    PriorityRule::DeadlineMonotonic,
    PriorityRule::Given,
];

#[test]
fn all_policies_under_all_rules_and_scopes() {
    let mut taken = 0;
    for seed in laxity_seeds::seeds!(0..200) {
        let case = Case::random(seed);
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x7461_6b65);
        let rule = RULES[usize::try_from(seed).expect("small") % RULES.len()];
        for &policy in Policy::GENERAL {
            for scope in [Scope::Global, Scope::Clustered, Scope::Partitioned] {
                let of = scheduler(policy, scope, rule);
                let Some((cores, dedicated)) = machine(&case, of) else { continue };
                let all = random_interference(&mut rng, cores, dedicated);
                let recording = check(&case, of, (cores, &all), None);
                taken += recording.events.iter().filter(|event| event.kind == EventKind::Withdraw).count();
                if policy != Policy::PushPull || scope == Scope::Global {
                    check(&case, of, (cores, &all), Some(seed));
                }
            }
        }
    }
    laxity_seeds::assert_together!(taken > 0, "no CPU was ever taken");
}

/// Those whose rule is part of them: a job's laxity runs out where no CPU is there for it, too.
#[test]
fn policies_with_rules_of_their_own() {
    for seed in laxity_seeds::seeds!(0..300) {
        let case = Case::random(seed);
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x7a6c);
        for &of in Policy::SINGLE {
            let all = random_interference(&mut rng, case.cores, |_| false);
            check(&case, of, (case.cores, &all), None);
        }
    }
}

#[test]
fn with_budgets_and_late_jobs_that_stop() {
    for seed in laxity_seeds::seeds!(1000..1060) {
        let mut case = Case::random(seed);
        let mut rng = Pcg64::seed_from_u64(seed);
        case.demand = Demand::Uniform(300_000, 2_500_000);
        for (mode, on_miss) in [
            (BudgetMode::Throttle, OnMiss::Continue),
            (BudgetMode::Postpone, OnMiss::Continue),
            (BudgetMode::Off, OnMiss::Abort),
            (BudgetMode::Off, OnMiss::Skip),
        ] {
            (case.budget_mode, case.on_miss) = (mode, on_miss);
            for &policy in Policy::GENERAL {
                let of = global(policy);
                let (cores, dedicated) = machine(&case, of).expect("global");
                let all = random_interference(&mut rng, cores, dedicated);
                check(&case, of, (cores, &all), None);
            }
        }
    }
}

/// The same policy in different structures: the same schedule on every CPU, event by event.
#[test]
fn policies_that_decide_the_same_still_do() {
    for seed in laxity_seeds::seeds!(0..300) {
        let mut case = Case::random(seed);
        case.batching = false;
        let mut rng = Pcg64::seed_from_u64(seed);
        let all = random_interference(&mut rng, case.cores, |_| false);
        let of = |policy| simulate(&case, global(policy), case.cores, &all, None).events;
        let expected = of(Policy::EdfBh);
        for policy in [Policy::EdfRbt, Policy::Fpp, Policy::GsnEdf] {
            assert_eq!(of(policy), expected, "seed {seed}, {policy}: {}", case.describe());
        }
    }
}

/// Whether events are watched changes no job.
#[test]
fn watching_changes_nothing() {
    for seed in laxity_seeds::seeds!(0..100) {
        let case = Case::random(seed);
        let mut rng = Pcg64::seed_from_u64(seed);
        for &policy in Policy::GENERAL {
            let of = global(policy);
            let (cores, dedicated) = machine(&case, of).expect("global");
            let all = random_interference(&mut rng, cores, dedicated);
            let platform = Platform::symmetric(cores).expect("cores");
            let mut jobs = Vec::new();
            let change = |setup: &mut Setup<'_>| setup.interference = Vec::leak(all.clone());
            case.simulate_to(of, &platform, change, &mut jobs);
            assert_eq!(jobs, simulate(&case, of, cores, &all, None).jobs, "seed {seed}, {policy}");
        }
    }
}

/// CPUs of different speeds: what was done before a CPU was taken counts, and no more.
#[test]
fn on_cpus_of_different_speeds() {
    for seed in laxity_seeds::seeds!(0..100) {
        let case = Case::random(seed);
        let mut rng = Pcg64::seed_from_u64(seed);
        let speed = |speed: &str| speed.parse::<Speed>().expect("a speed");
        let cores = (0..case.cores).map(|cpu| laxity_model::Core {
            cpu,
            speed: if cpu % 2 == 0 { Speed::UNIT } else { speed("2/3") },
        });
        let platform =
            Platform::new("mixed", cores.collect(), Vec::new(), Vec::new(), None).expect("a platform");
        let all = random_interference(&mut rng, case.cores, |_| false);
        for policy in [Policy::EdfBh, Policy::PushPull] {
            let change = |setup: &mut Setup<'_>| setup.interference = Vec::leak(all.clone());
            let recording = case.simulate_on(global(policy), &platform, change);
            let definition =
                common::definition_on(&case, global(policy), &platform).with_interference(all.clone());
            let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
            assert!(verdict.clean, "seed {seed}, {policy}: {verdict}\n{}", case.describe());
        }
    }
}

/// Background tasks do not run on a CPU that is taken, and do on one that is free.
#[test]
fn background_tasks_leave_the_cpu_too() {
    let mut stopped = 0;
    for seed in laxity_seeds::seeds!(0..100) {
        let mut case = Case::random(seed);
        let horizon = case.duration + Duration::from_ns(GRACE_NS);
        let busy = usize::try_from(case.cores).expect("few");
        case.background =
            Background { tick: Duration::from_ns(10 * UNIT_NS), ..Background::busy(busy, horizon) };
        let mut rng = Pcg64::seed_from_u64(seed);
        let all = random_interference(&mut rng, case.cores, |_| false);
        for (policy, interleaved) in
            [(Policy::EdfBh, None), (Policy::Fpp, Some(seed)), (Policy::PushPull, None)]
        {
            let events = check(&case, global(policy), (case.cores, &all), interleaved).events;
            let is_taken = |cpu: u32, at: u64| all.iter().any(|one| one.cpu() == cpu && one.takes_at(at));
            // By CPU, what has it.
            let mut has = vec![false; busy];
            let (mut place, mut had) = (0, 0);
            while place < events.len() {
                let now = events[place].time_ns;
                if now > had && had >= 10 * UNIT_NS {
                    let idle = (0..case.cores).find(|&cpu| !has[cpu as usize] && !is_taken(cpu, had));
                    assert_eq!(
                        idle,
                        None,
                        "idle at {had}: seed {seed}, {policy}, {all:?}: {}",
                        case.describe()
                    );
                }
                while let Some(event) = events.get(place).filter(|event| event.time_ns == now) {
                    let cpu = event.cpu.unwrap_or(0);
                    if event.kind.begins_running() || event.kind == EventKind::BackgroundStart {
                        assert!(
                            !is_taken(cpu, now),
                            "seed {seed}, {policy}: {event:?} on a CPU that is taken"
                        );
                        has[cpu as usize] = true;
                    } else if event.kind.ends_running() || event.kind == EventKind::BackgroundStop {
                        has[cpu as usize] = false;
                        stopped += u64::from(event.kind == EventKind::BackgroundStop && is_taken(cpu, now));
                    }
                    assert!(
                        event.kind != EventKind::Withdraw || !has[cpu as usize],
                        "seed {seed}: {event:?}"
                    );
                    place += 1;
                }
                had = now;
            }
        }
    }
    laxity_seeds::assert_together!(stopped > 0, "no background task ever had to leave");
}

/// One CPU after the other is not there: never two at once, and often one.
fn one_at_a_time(rng: &mut Pcg64, cores: u32, until_ns: u64) -> Vec<Interference> {
    let mut all: Vec<Interference> = Vec::new();
    let mut from = rng.random_range(0..=10 * UNIT_NS);
    while from < until_ns {
        let length = rng.random_range(1..=20 * UNIT_NS);
        let cpu = rng.random_range(0..cores);
        let [start, length_ns] = [from, length].map(Duration::from_ns);
        all.push(Interference::new(cpu, start, length_ns, None).expect("valid"));
        // The CPU is there for a time, however short, where it is the same one that goes next.
        from += length + rng.random_range(0..=3) * rng.random_range(1..=UNIT_NS);
        if all.last().is_some_and(|last| last.from().as_ns() + length == from) {
            from += 1;
        }
    }
    all
}

/// What is proven on m - 1 CPUs misses no deadline on m of which one at a time is not there, whichever that is: at every instant at
/// which a job waits, m - 1 others that go before it run, which is all that the proofs take from m - 1 CPUs.
#[test]
fn what_fewer_cpus_can_schedule_survives_the_loss_of_any_one() {
    let (mut proven, mut moved) = (0u64, 0u64);
    for seed in laxity_seeds::seeds!(0..1500) {
        let mut case = Case::random(seed);
        case.cores = 2 + case.cores % 4;
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x6c6f_7373);
        let edf: Vec<SporadicTask> = case.set.tasks().iter().map(SporadicTask::from).collect();
        let mut by_deadline: Vec<_> = case.set.tasks().iter().enumerate().collect();
        by_deadline.sort_by_key(|(id, task)| (task.deadline_rel, *id));
        let fixed: Vec<SporadicTask> =
            by_deadline.iter().map(|(_, task)| SporadicTask::from(*task)).collect();
        let all = one_at_a_time(&mut rng, case.cores, case.duration.as_ns());
        for rule in [PriorityRule::EarliestDeadlineFirst, PriorityRule::DeadlineMonotonic] {
            let edf_rule = rule == PriorityRule::EarliestDeadlineFirst;
            let (test, tasks): (&dyn Test, _) =
                if edf_rule { (&AnyGlobalEdf, &edf) } else { (&GlobalFixedPriorityRta, &fixed) };
            if !test.judge(tasks, case.cores - 1, &mut Work::default()).is_schedulable() {
                continue;
            }
            proven += 1;
            // A job may ask for less than its WCET, and not for more.
            case.demand = if seed % 2 == 0 { Demand::Wcet } else { Demand::Uniform(200_000, 1_000_000) };
            for &policy in Policy::GENERAL {
                if policy.minds_laxity() {
                    // The test is of another rule.
                    continue;
                }
                let of = scheduler(policy, Scope::Global, rule);
                let (cores, _) = machine(&case, of).expect("global");
                // All in turn: the dedicated CPU is none of these.
                for interleaved in [None, Some(seed)] {
                    if interleaved.is_some() && policy == Policy::PushPull {
                        // It may give a push up.
                        continue;
                    }
                    let recording = simulate(&case, of, cores, &all, interleaved);
                    let missed =
                        recording.jobs.iter().find(|job| job.finish_ns.is_none_or(|at| at > job.deadline_ns));
                    assert!(missed.is_none(), "seed {seed}, {of}: {missed:?}, {all:?}: {}", case.describe());
                    moved += recording.events.iter().filter(|event| event.kind == EventKind::Migrate).count()
                        as u64;
                }
            }
        }
    }
    println!("{proven} sets, {moved} migrations");
    laxity_seeds::assert_together!(proven > 50 && moved > 50, "{proven} sets, {moved} migrations");
}

/// On one CPU: what is proven where kernel threads go first for a part of each window misses nothing while they do, two of their budgets
/// in a row.
#[test]
fn kernel_threads_that_are_counted_make_no_job_late() {
    let (mut proven, mut late_unless_counted) = (0u64, 0u64);
    for seed in laxity_seeds::seeds!(0..3000) {
        let mut case = Case::random(seed);
        case.cores = 1;
        // No more than the WCET that is proven.
        case.demand = if seed % 2 == 0 { Demand::Wcet } else { Demand::Uniform(200_000, 1_000_000) };
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x6b74_6872);
        let window = rng.random_range(10..=60) * UNIT_NS;
        let runtime = rng.random_range(1..=window / 8);
        let from = Duration::from_ns(rng.random_range(0..=2 * window));
        let [length, period] = [2 * runtime, 2 * window].map(Duration::from_ns);
        let all = [Interference::new(0, from, length, Some(period)).expect("valid")];
        let counted = Overheads::none().with_kernel_threads(Taken { runtime_ns: runtime, period_ns: window });
        let tasks: Vec<SporadicTask> = case.set.tasks().iter().map(SporadicTask::from).collect();
        let cells = [AnalysedCell { processors: 1, tasks: (0..tasks.len()).collect() }];
        for of in [
            global(Policy::EdfBh),
            scheduler(Policy::Fpp, Scope::Global, PriorityRule::DeadlineMonotonic),
            global(Policy::GsnEdf),
        ] {
            let accepts = |overheads| {
                let placed = Placed {
                    tasks: &tasks,
                    working_sets: &[],
                    given_priorities: &[],
                    cells: &cells,
                    servers: &[],
                    overheads,
                };
                Analysed::Policy(of).judge(&placed, Asked::of(Guarantee::Hard)).verdict.is_schedulable()
            };
            let is_proven = accepts(Some(&counted));
            if !is_proven && !accepts(None) {
                continue;
            }
            let recording = simulate(&case, of, 1, &all, None);
            let missed =
                recording.jobs.iter().find(|job| job.finish_ns.is_none_or(|at| at > job.deadline_ns));
            assert!(
                !is_proven || missed.is_none(),
                "seed {seed}, {of}: {missed:?}, {all:?}: {}",
                case.describe()
            );
            proven += u64::from(is_proven);
            late_unless_counted += u64::from(missed.is_some());
        }
    }
    println!("{proven} proven, {late_unless_counted} late unless counted");
    laxity_seeds::assert_together!(
        proven > 50 && late_unless_counted > 50,
        "{proven} proven, {late_unless_counted} late unless counted"
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let case = Case::plain();
    let refused = |name: &str, cores: u32, texts: &[&str], change: &dyn Fn(&mut Setup<'_>)| {
        let platform = Platform::symmetric(cores).expect("cores");
        let of: PolicyScheduler = name.parse().expect("a scheduler");
        let all: Vec<Interference> = texts.iter().map(|text| text.parse().expect("interference")).collect();
        let cells = case.cells(of.scope, &platform);
        let mut setup = Setup::new(&case.set, &platform, of, cells);
        setup.interference = &all;
        change(&mut setup);
        let error = setup.check().expect_err("it cannot be");
        assert!(error.hint.is_some(), "{}", error.message);
        error.message
    };
    let same = |_: &mut Setup<'_>| {};
    for (message, why) in [
        (refused("edf-bh", 2, &["2@0ns+1us"], &same), "no CPU 2"),
        (refused("edf-bh", 2, &["1@0ns+2us", "1@1us+2us"], &same), "overlap"),
        (refused("edf-bh", 2, &["1@1s+2us"], &same), "begins when no more jobs are released"),
        (refused("g-edf-mp", 3, &["2@0ns+1us"], &same), "dedicates CPU 2"),
        (refused("gsn-edf-di", 3, &["2@0ns+1us"], &same), "dedicates CPU 2"),
    ] {
        assert!(message.contains(why), "{message}");
    }
    let ticks = |setup: &mut Setup<'_>| setup.at_ticks = true;
    assert!(refused("edf-bh", 1, &["0@0ns+1us"], &ticks).contains("looks at ticks only"));
    let reserve = |setup: &mut Setup<'_>| setup.reserve = "50ms/1s".parse().expect("a reserve");
    assert!(refused("edf-bh", 1, &["0@0ns+1us"], &reserve).contains("a reserve or servers"));
    let costs = laxity_sim::costs::Costs { release: "1us".parse().expect("a cost"), ..Default::default() };
    let costs: &'static _ = Box::leak(Box::new(costs));
    assert!(refused("edf-bh", 1, &["0@0ns+1us"], &|setup| setup.costs = costs).contains("costs"));
    let background: &'static _ = Box::leak(Box::new(Background::busy(1, Duration::from_secs(1))));
    let busy = |setup: &mut Setup<'_>| setup.background = background;
    assert!(refused("amp-rm", 1, &["0@0ns+1us"], &busy).contains("wait for one CPU each"));
}
