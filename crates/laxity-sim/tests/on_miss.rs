//! Late jobs that abort, or have later releases skipped: the schedule is the one that the reference scheduler makes, the oracles
//! find nothing, and the outcome of every job is what the rule says, word by word.

mod common;

use common::costly::{costs, windows};
use common::{Case, GRACE_NS, definition_of};
use laxity_model::{
    BudgetMode, Demand, Duration, OnMiss, Platform, Policy, PolicyScheduler, PriorityRule, Scope, TaskSet,
};
use laxity_oracle::{Oracle, TimelineBuilder, first_difference, reference, tiny, verify};
use laxity_sim::Recording;
use laxity_trace::{EventKind, Job, JobOutcome};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

const RULES: [OnMiss; 2] = [OnMiss::Abort, OnMiss::Skip];

const ORDERS: [PriorityRule; 3] =
    [PriorityRule::EarliestDeadlineFirst, PriorityRule::RateMonotonic, PriorityRule::Given];

fn context(case: &Case, scheduler: PolicyScheduler) -> String {
    format!("seed {}, {scheduler}, {}, {:?}: {}", case.seed, case.on_miss, case.budget_mode, case.describe())
}

/// The outcomes of a task's jobs are what the rule says, told from releases and ends alone.
fn follows_the_rule(case: &Case, jobs: &[&Job], costless: bool) -> bool {
    let ended = |job: &Job| matches!(job.outcome, JobOutcome::Completed | JobOutcome::Aborted);
    let each = jobs.iter().enumerate().all(|(at, job)| {
        let done = job.finish_ns.filter(|_| job.outcome == JobOutcome::Completed);
        let passed = |earlier: &&&Job| {
            earlier.outcome != JobOutcome::Skipped
                && case.on_miss.skips(job.release_ns, earlier.deadline_ns, earlier.finish_ns)
        };
        let skipped = jobs[..at].iter().any(|earlier| passed(&earlier));
        let spent = job.cpu_time_ns.unwrap_or_default();
        let asked = job.demand_ns.expect("known");
        let right = match job.outcome {
            JobOutcome::Skipped => {
                (job.start_ns, job.finish_ns, job.cpu_time_ns, job.migrations) == (None, None, None, None)
            }
            JobOutcome::Aborted => {
                let (start, end) = (job.start_ns.expect("it had a CPU"), job.finish_ns.expect("it ended"));
                // It ends with its deadline, or stops as soon as it is given a core: on a costless one at once.
                end >= job.deadline_ns && (spent < asked || !costless) && (start < end || spent == 0)
            }
            JobOutcome::Completed => {
                case.on_miss != OnMiss::Abort || done.is_some_and(|done| done <= job.deadline_ns)
            }
            JobOutcome::Unfinished => job.finish_ns.is_none(),
            JobOutcome::Ordinary => false,
        };
        right && skipped == (job.outcome == JobOutcome::Skipped) && usize::try_from(job.index) == Ok(at)
    });
    // Late jobs hold up those after them, and no job overtakes.
    let ends: Vec<u64> = jobs.iter().filter(|job| ended(job)).filter_map(|job| job.finish_ns).collect();
    each && ends.is_sorted()
}

fn by_task(jobs: &[Job]) -> BTreeMap<u32, Vec<&Job>> {
    let mut tasks: BTreeMap<u32, Vec<&Job>> = BTreeMap::new();
    for job in jobs {
        tasks.entry(job.task).or_default().push(job);
    }
    tasks
}

/// How often jobs ended in the way that the rule is about.
fn count(recording: &Recording, on_miss: OnMiss) -> usize {
    let outcome = if on_miss == OnMiss::Abort { JobOutcome::Aborted } else { JobOutcome::Skipped };
    recording.jobs.iter().filter(|job| job.outcome == outcome).count()
}

fn check(case: &Case, scheduler: PolicyScheduler, cores: u32) -> usize {
    let definition = definition_of(case, scheduler, cores);
    let recording = case.simulate(scheduler, cores);
    let horizon = case.duration.as_ns() + GRACE_NS;
    let verdict = verify(&definition, &recording.events, horizon);
    assert!(verdict.clean, "{verdict}\n{}", context(case, scheduler));
    let expected = reference(&definition, &definition.jobs(), horizon).expect("a schedule");
    let found = TimelineBuilder::of(&recording.events, horizon).expect("well-formed");
    let difference = first_difference(&expected.timeline, &found);
    assert!(difference.is_none(), "{difference:?}\n{}", context(case, scheduler));
    let verdict = verify(&definition, &expected.events, horizon);
    assert!(verdict.clean, "the reference: {verdict}\n{}", context(case, scheduler));
    for (task, jobs) in by_task(&recording.jobs) {
        assert!(follows_the_rule(case, &jobs, true), "task {task}: {jobs:#?}\n{}", context(case, scheduler));
    }
    let platform = Platform::symmetric(cores).expect("cores");
    let mut unwatched = Vec::new();
    case.simulate_to(scheduler, &platform, |_| {}, &mut unwatched);
    assert_eq!(recording.jobs, unwatched, "unwatched: {}", context(case, scheduler));
    count(&recording, case.on_miss)
}

fn global(policy: Policy, rule: PriorityRule) -> PolicyScheduler {
    PolicyScheduler { policy, scope: Scope::Global, rule }
}

#[test]
fn schedules_are_those_of_the_reference() {
    for on_miss in RULES {
        let mut seen = 0;
        for seed in laxity_seeds::seeds!(0..1_500) {
            let case = Case { on_miss, ..Case::random(seed) };
            let at = usize::try_from(seed).expect("small");
            let policy = Policy::GENERAL[at % Policy::GENERAL.len()];
            let rule = ORDERS[at / 7 % ORDERS.len()];
            seen += check(&case, global(policy, rule), case.cores + u32::from(policy.dedicates_a_core()));
            if !policy.dedicates_a_core() {
                let scope = if seed % 2 == 0 { Scope::Partitioned } else { Scope::Clustered };
                seen += check(&case, PolicyScheduler { policy, scope, rule }, case.cores);
            }
        }
        laxity_seeds::assert_together!(seen > 10_000, "{on_miss}: {seen}");
    }
}

#[test]
fn budgets_and_late_jobs_get_on_together() {
    for on_miss in RULES {
        let mut seen = 0;
        for seed in laxity_seeds::seeds!(5_000..5_300) {
            let mut case = Case { on_miss, ..Case::random(seed) };
            case.demand = Demand::Uniform(300_000, 2_500_000);
            for mode in [BudgetMode::Throttle, BudgetMode::Postpone] {
                case.budget_mode = mode;
                let at = usize::try_from(seed).expect("small");
                let policy = Policy::GENERAL[at % Policy::GENERAL.len()];
                let scheduler = global(policy, ORDERS[at % 2]);
                seen += check(&case, scheduler, case.cores + u32::from(policy.dedicates_a_core()));
            }
        }
        laxity_seeds::assert_together!(seen > 1_000, "{on_miss}: {seen}");
    }
}

/// All sets of up to two tasks with periods up to 3, deadlines up to T + 2 and phases up to 1, on one CPU and on two.
#[test]
fn tiny_sets_exhaustively() {
    let unit = Duration::from_ns(1_000);
    let limits = tiny::Limits {
        tasks_max: 2,
        period_max_units: 3,
        deadline_beyond_period_units: 2,
        phase_max_units: 1,
        unit,
    };
    let (mut sets, mut seen) = (0, 0);
    for set in tiny::sets(limits) {
        for on_miss in RULES {
            let policy = Policy::GENERAL[sets % Policy::GENERAL.len()];
            // Jobs ask for up to 1.5 times their WCET, so that one task alone can be late.
            let demand = if sets % 2 == 0 { Demand::Wcet } else { Demand::Uniform(1_000_000, 1_500_000) };
            let cores = 1 + u32::try_from(sets / 5 % 2).expect("small");
            let duration = Duration::from_ns(13_000);
            let case = Case { set: set.clone(), cores, on_miss, demand, duration, ..Case::plain() };
            let scheduler = global(policy, ORDERS[sets / 3 % 2]);
            seen += check(&case, scheduler, cores + u32::from(policy.dedicates_a_core()));
            sets += 1;
        }
    }
    assert!(sets > 2_000 && seen > 1_000, "{sets} sets, {seen}");
}

/// C = 3, T = 4 twice on one CPU, EDF. Worked by hand.
#[test]
fn worked_by_hand() {
    let task = |name| laxity_model::Task::periodic(name, Duration::from_ns(3), Duration::from_ns(4));
    let set = TaskSet::new("two", vec![task("a"), task("b")]).expect("valid");
    let ends = |on_miss| {
        let case = Case { set: set.clone(), on_miss, duration: Duration::from_ns(12), ..Case::plain() };
        let recording = case.simulate(global(Policy::EdfBh, PriorityRule::EarliestDeadlineFirst), 1);
        let tasks = by_task(&recording.jobs);
        let of = |task: u32| tasks[&task].iter().map(|job| (job.outcome.name(), job.start_ns, job.finish_ns));
        [of(0).collect::<Vec<_>>(), of(1).collect()]
    };
    // b has a core from 3 on, and aborts at 4 after 1 of 3.
    let [a, b] = ends(OnMiss::Abort);
    let at = |from: u64, to: u64| (Some(from), Some(to));
    assert_eq!(a.iter().map(|job| (job.1, job.2)).collect::<Vec<_>>(), [at(0, 3), at(4, 7), at(8, 11)]);
    assert_eq!(b.iter().map(|job| (job.1, job.2)).collect::<Vec<_>>(), [at(3, 4), at(7, 8), at(11, 12)]);
    assert!(a.iter().all(|job| job.0 == "completed") && b.iter().all(|job| job.0 == "aborted"));
    // b runs on to 6, late from 4 on: its release at 4 is skipped. a runs from 6 to 9, late from 8 on, before b, released at 8.
    let [a, b] = ends(OnMiss::Skip);
    assert_eq!(
        a,
        [("completed", Some(0), Some(3)), ("completed", Some(6), Some(9)), ("skipped", None, None)]
    );
    assert_eq!(
        b,
        [("completed", Some(3), Some(6)), ("skipped", None, None), ("completed", Some(9), Some(12))]
    );
}

/// A job that has no CPU at its deadline does not notice it. Under rate-monotonic priorities b waits for a beyond its deadline, and
/// stops when it is given the CPU.
#[test]
fn a_job_without_a_core_aborts_when_it_gets_one() {
    let us = Duration::from_us;
    let a = laxity_model::Task::periodic("a", us(4), us(10));
    let b = laxity_model::Task { deadline_rel: us(3), ..laxity_model::Task::periodic("b", us(2), us(20)) };
    let set = TaskSet::new("two", vec![a, b]).expect("valid");
    let case = Case { set, on_miss: OnMiss::Abort, duration: us(20), ..Case::plain() };
    let recording = case.simulate(global(Policy::Fpp, PriorityRule::RateMonotonic), 1);
    let b = recording.jobs.iter().find(|job| job.task == 1).expect("a job");
    assert_eq!(b.outcome, JobOutcome::Aborted);
    assert_eq!(
        (b.deadline_ns, b.start_ns, b.finish_ns, b.cpu_time_ns),
        (3_000, Some(4_000), Some(4_000), Some(0))
    );
    let of_b = recording
        .events
        .iter()
        .filter(|event| event.task == Some(1))
        .map(|event| (event.time_ns, event.kind));
    let [release, miss, start, abort] = of_b.collect::<Vec<_>>()[..] else { panic!("four events") };
    assert_eq!(release, (0, EventKind::Release));
    assert_eq!(miss, (3_000, EventKind::DeadlineMiss));
    assert_eq!((start, abort), ((4_000, EventKind::Start), (4_000, EventKind::Abort)));
}

/// Checks a case with kernel work on top, of every kind. How many jobs ended as the rule says.
fn check_where_the_kernel_takes_time(seed: u64, on_miss: OnMiss) -> usize {
    let mut rng = Pcg64::seed_from_u64(seed);
    let base = if seed.is_multiple_of(2) {
        Case::random(seed)
    } else {
        Case::of_cores(seed, 1 + u32::try_from(seed % 4).expect("small"))
    };
    let case = Case { on_miss, costs: costs(&mut rng), ..base };
    let policy = Policy::GENERAL[usize::try_from(seed).expect("small") % Policy::GENERAL.len()];
    let scheduler = global(policy, ORDERS[usize::try_from(seed / 8).expect("small") % 2]);
    let cores = case.cores + u32::from(policy.dedicates_a_core());
    let recording = case.simulate_with(scheduler, cores, |setup| {
        setup.interleaving = Some(seed).filter(|seed| seed % 3 == 0);
    });
    let tasks = u32::try_from(case.set.tasks().len()).expect("few");
    let definition = definition_of(&case, scheduler, cores);
    let definition = definition.with_transitions(windows(policy, &case.costs, tasks));
    let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
    assert!(verdict.clean, "{verdict}\n{}", context(&case, scheduler));
    for (task, jobs) in by_task(&recording.jobs) {
        let right = follows_the_rule(&case, &jobs, false);
        assert!(right, "task {task}: {jobs:#?}\n{}", context(&case, scheduler));
    }
    count(&recording, on_miss)
}

/// The operations of different CPUs interleave.
#[test]
fn the_oracles_find_nothing_where_the_kernel_takes_time() {
    for on_miss in RULES {
        let seen: usize =
            laxity_seeds::seeds!(0..400).map(|seed| check_where_the_kernel_takes_time(seed, on_miss)).sum();
        laxity_seeds::assert_together!(seen > 3_000, "{on_miss}: {seen}");
    }
}

/// Of 10^5 seeds, those whose schedules have decisions that take no time, and are not recorded, between the releases of one instant.
#[test]
fn decisions_between_releases_may_take_no_time() {
    for seed in [6_741, 35_489, 54_557] {
        check_where_the_kernel_takes_time(seed, OnMiss::Abort);
    }
}

/// A schedule under one rule is none under another, where the two come to something different.
#[test]
fn the_oracles_tell_the_rules_apart() {
    for told in OnMiss::ALL {
        let mut told_apart = BTreeMap::new();
        for seed in laxity_seeds::seeds!(0..100) {
            let case = Case { on_miss: told, ..Case::random(seed) };
            let scheduler = global(Policy::EdfBh, PriorityRule::EarliestDeadlineFirst);
            let recording = case.simulate(scheduler, case.cores);
            let late = recording.events.iter().any(|event| event.kind == EventKind::DeadlineMiss);
            for other in OnMiss::ALL.into_iter().filter(|&other| other != told) {
                let definition = definition_of(&case, scheduler, case.cores).with_on_miss(other);
                let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
                assert!(verdict.clean || late, "seed {seed}: {told} taken for {other}: {verdict}");
                let seen = verdict.count(Oracle::Demand) + verdict.count(Oracle::Periods) > 0;
                *told_apart.entry(other.name()).or_insert(0) += u32::from(seen);
            }
        }
        laxity_seeds::assert_together!(
            told_apart.values().all(|&seeds| seeds > 30),
            "{told}: {told_apart:?}"
        );
    }
}

#[test]
fn a_scheduler_that_looks_at_ticks_only_is_refused() {
    for on_miss in RULES {
        let case = Case { on_miss, ..Case::plain() };
        let platform = Platform::symmetric(1).expect("a CPU");
        let scheduler = global(Policy::EdfBh, PriorityRule::EarliestDeadlineFirst);
        let cells = case.cells(Scope::Global, &platform);
        let setup = laxity_sim::Setup {
            at_ticks: true,
            on_miss,
            ..laxity_sim::Setup::new(&case.set, &platform, scheduler, cells)
        };
        let error = setup.check().expect_err("refused");
        assert!(error.message.contains(on_miss.name()) && error.hint.is_some(), "{error:?}");
    }
}
