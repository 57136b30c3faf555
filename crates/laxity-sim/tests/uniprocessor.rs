//! What theory says of one CPU, exactly: EDF meets all deadlines up to full utilization, and response-time analysis
//! gives the response times under fixed priorities.

mod common;

use common::Case;
use laxity_model::{
    Arrival, Demand, Duration, Policy, PolicyScheduler, PriorityRule, Scope, Task, TaskKind, TaskSet,
};
use laxity_trace::Job;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::cmp::Ordering;

/// All periods divide it.
const HYPERPERIOD: u64 = 120_000;
const PERIODS: [u64; 15] = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60, 120];

/// 1 to 8 tasks, (period, WCET) in ns. `full`: of utilization 1 exactly; otherwise of at most that.
fn draw(rng: &mut Pcg64, full: bool) -> Vec<(u64, u64)> {
    let count = rng.random_range(1..=8u64);
    let mut tasks = Vec::new();
    // What is left of a hyperperiod.
    let mut rest = HYPERPERIOD;
    for placed in 0..count {
        let last = placed + 1 == count;
        let period = PERIODS[rng.random_range(0..PERIODS.len())] * 1000;
        let jobs = HYPERPERIOD / period;
        if full && last {
            // The longest period takes any rest.
            let (period, jobs) = if rest.is_multiple_of(jobs) { (period, jobs) } else { (HYPERPERIOD, 1) };
            tasks.push((period, rest / jobs));
            break;
        }
        let share = if last { rest } else { 2 * rest / (count - placed) };
        // Leaves a ns, so that there is something for the last task.
        let wcet_max = (share / jobs).min((rest - 1) / jobs);
        if wcet_max > 0 {
            let wcet = rng.random_range(1..=wcet_max);
            rest -= wcet * jobs;
            tasks.push((period, wcet));
        }
    }
    if tasks.is_empty() {
        tasks.push((HYPERPERIOD, 1));
    }
    tasks
}

fn implicit(tasks: &[(u64, u64)]) -> Vec<Task> {
    let task = |(id, &(period, wcet)): (usize, &(u64, u64))| {
        Task::periodic(format!("T{}", id + 1), Duration::from_ns(wcet), Duration::from_ns(period))
    };
    tasks.iter().enumerate().map(task).collect()
}

fn case(seed: u64, tasks: Vec<Task>, demand: Demand, batching: bool, duration_ns: u64) -> Case {
    let set = TaskSet::new("uniprocessor", tasks).expect("valid");
    Case { seed, set, cores: 1, demand, batching, duration: Duration::from_ns(duration_ns), ..Case::plain() }
}

/// The jobs on one CPU, plus the CPU that some policies need for themselves. None is cut off.
fn jobs(case: &Case, policy: Policy, rule: PriorityRule) -> Vec<Job> {
    let scheduler = PolicyScheduler { policy, scope: Scope::Global, rule };
    let cores = 1 + u32::from(policy.dedicates_a_core());
    let recording = case.simulate_with(scheduler, cores, |setup| {
        let all = case.set.tasks().iter().map(|task| {
            let jobs = case.duration.as_ns() / task.period().as_ns() + 1;
            2 * jobs * task.wcet.as_ns()
        });
        setup.grace = Duration::from_ns(all.sum());
    });
    assert!(
        recording.jobs.iter().all(|job| job.finish_ns.is_some()),
        "seed {}: a job that never ends; {}",
        case.seed,
        case.describe()
    );
    recording.jobs
}

fn late(job: &Job) -> bool {
    job.finish_ns.is_none_or(|finish| finish > job.deadline_ns)
}

/// Liu and Layland 1973: EDF on one CPU, implicit deadlines, any phases.
#[test]
fn edf_meets_all_deadlines_up_to_full_utilization() {
    for seed in laxity_seeds::seeds!(0..800) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let full = seed % 2 == 0;
        let synchronous = seed % 4 < 2;
        let mut tasks = implicit(&draw(&mut rng, full));
        let mut end = 3 * HYPERPERIOD;
        if !synchronous {
            for task in &mut tasks {
                task.phase = Duration::from_ns(rng.random_range(0..2 * task.period().as_ns()));
                end = end.max(3 * HYPERPERIOD + task.phase.as_ns());
            }
        }
        let demand = if full || rng.random() { Demand::Wcet } else { Demand::Uniform(100_000, 1_000_000) };
        let case = case(seed, tasks, demand, rng.random(), end);
        let load = case.set.load().cmp_ratio(1, 1);
        assert!(if full { load == Ordering::Equal } else { load != Ordering::Greater }, "seed {seed}");
        for &policy in Policy::GENERAL {
            let jobs = jobs(&case, policy, PriorityRule::EarliestDeadlineFirst);
            let missed = jobs.iter().find(|job| late(job));
            assert!(missed.is_none(), "seed {seed}, {policy}: {missed:?}; {}", case.describe());
            if full && synchronous {
                let busy: u64 = jobs.iter().filter_map(|job| job.cpu_time_ns).sum();
                let last = jobs.iter().filter_map(|job| job.finish_ns).max();
                assert_eq!((busy, last), (end, Some(end)), "seed {seed}, {policy}: the CPU was idle");
            }
        }
    }
}

/// The counterpart: a ns per hyperperiod too much, and a deadline in the first one is missed.
#[test]
fn edf_misses_a_deadline_above_full_utilization() {
    let mut overloads = 0;
    for seed in laxity_seeds::seeds!(0..400) {
        let mut rng = Pcg64::seed_from_u64(1_000 + seed);
        let mut tasks = draw(&mut rng, true);
        let Some(task) = tasks.iter_mut().rev().find(|(period, wcet)| wcet < period) else { continue };
        task.1 += 1;
        overloads += 1;
        let case = case(seed, implicit(&tasks), Demand::Wcet, rng.random(), HYPERPERIOD);
        assert_eq!(case.set.load().cmp_ratio(1, 1), Ordering::Greater, "seed {seed}");
        for &policy in Policy::GENERAL {
            let jobs = jobs(&case, policy, PriorityRule::EarliestDeadlineFirst);
            assert!(jobs.iter().any(late), "seed {seed}, {policy}: no miss; {}", case.describe());
        }
    }
    laxity_seeds::assert_together!(overloads > 300, "only {overloads} overloads");
}

/// The least fixed point of W = (q + 1) C + sum over higher priorities of ceil(W / T_j) C_j (Lehoczky 1990; for q = 0
/// Joseph and Pandya 1986): when job q of a synchronous release ends, while the task's busy window lasts.
fn window(q: u64, wcet: u64, higher: &[(u64, u64)]) -> u64 {
    let mut window = (q + 1) * wcet;
    loop {
        let interference: u64 = higher.iter().map(|(period, wcet)| window.div_ceil(*period) * wcet).sum();
        let next = (q + 1) * wcet + interference;
        if next == window {
            return window;
        }
        window = next;
    }
}

/// Of every task the response times of the jobs in its first busy window, after a synchronous release. Their maximum bounds
/// every response. Exact for utilization up to 1; ends because no busy window is longer than a hyperperiod then.
fn responses(set: &TaskSet, rule: PriorityRule) -> Vec<Vec<u64>> {
    let order = |id: usize| (rule.fixed_priority(&set.tasks()[id]).expect("fixed priorities"), id);
    let parameters = |id: usize| (set.tasks()[id].period().as_ns(), set.tasks()[id].wcet.as_ns());
    let of = |id: usize| {
        let all = 0..set.tasks().len();
        let higher: Vec<(u64, u64)> = all.filter(|&other| order(other) < order(id)).map(parameters).collect();
        let (period, wcet) = parameters(id);
        let mut responses = Vec::new();
        loop {
            let q = responses.len() as u64;
            let end = window(q, wcet, &higher);
            responses.push(end - q * period);
            if end <= (q + 1) * period {
                return responses;
            }
        }
    };
    (0..set.tasks().len()).map(of).collect()
}

/// Tasks of utilization up to 1, with deadlines below, at and above their periods.
fn fixed_priority_tasks(rng: &mut Pcg64, full: bool) -> Vec<Task> {
    let mut tasks = implicit(&draw(rng, full));
    for task in &mut tasks {
        let (wcet, period) = (task.wcet.as_ns(), task.period().as_ns());
        task.deadline_rel = Duration::from_ns(match rng.random_range(0..3) {
            0 => rng.random_range(wcet..=period),
            1 => rng.random_range(period..=2 * period),
            _ => period,
        });
        task.priority = Some(rng.random_range(0..4));
    }
    tasks
}

const FIXED: [PriorityRule; 3] =
    [PriorityRule::RateMonotonic, PriorityRule::DeadlineMonotonic, PriorityRule::Given];

fn response(job: &Job) -> u64 {
    job.finish_ns.expect("all jobs end") - job.release_ns
}

#[test]
fn response_time_analysis_is_exact_after_a_synchronous_release() {
    let mut several = 0;
    for seed in laxity_seeds::seeds!(0..600) {
        let mut rng = Pcg64::seed_from_u64(2_000 + seed);
        let tasks = fixed_priority_tasks(&mut rng, seed % 3 == 0);
        let case = case(seed, tasks, Demand::Wcet, rng.random(), HYPERPERIOD);
        for rule in FIXED {
            let expected = responses(&case.set, rule);
            several += expected.iter().filter(|responses| responses.len() > 1).count();
            for &policy in Policy::GENERAL {
                let mut longest = vec![0; expected.len()];
                for job in jobs(&case, policy, rule) {
                    let task = job.task as usize;
                    longest[task] = response(&job).max(longest[task]);
                    if let Some(&expected) = expected[task].get(job.index as usize) {
                        let found = response(&job);
                        assert_eq!(
                            found,
                            expected,
                            "seed {seed}, {policy}, {rule:?}: {job:?}; {}",
                            case.describe()
                        );
                    }
                }
                let bounds: Vec<u64> = expected.iter().map(|all| *all.iter().max().expect("a job")).collect();
                assert_eq!(longest, bounds, "seed {seed}, {policy}, {rule:?}: {}", case.describe());
            }
        }
    }
    laxity_seeds::assert_together!(several > 50, "only {several} busy windows of several jobs");
}

#[test]
fn response_time_analysis_bounds_all_other_arrivals_and_demands() {
    let mut below = 0;
    for seed in laxity_seeds::seeds!(0..600) {
        let mut rng = Pcg64::seed_from_u64(3_000 + seed);
        let mut tasks = fixed_priority_tasks(&mut rng, seed % 3 == 0);
        for task in &mut tasks {
            let period = task.period();
            task.phase = Duration::from_ns(rng.random_range(0..=period.as_ns()));
            if rng.random_range(0..3) == 0 {
                task.arrival = Arrival::Sporadic { min_interarrival: period };
            }
            if rng.random_range(0..4) == 0 {
                task.leave = Some(task.phase + Duration::from_ns(rng.random_range(1..=HYPERPERIOD)));
            }
        }
        assert!(tasks.iter().all(|task| task.kind == TaskKind::RealTime));
        let demand = if rng.random() { Demand::Wcet } else { Demand::Uniform(300_000, 1_000_000) };
        let case = case(seed, tasks, demand, rng.random(), 3 * HYPERPERIOD);
        for rule in FIXED {
            let bounds: Vec<u64> =
                responses(&case.set, rule).iter().map(|all| *all.iter().max().expect("a job")).collect();
            for &policy in Policy::GENERAL {
                for job in jobs(&case, policy, rule) {
                    let bound = bounds[job.task as usize];
                    below += u64::from(response(&job) < bound);
                    assert!(
                        response(&job) <= bound,
                        "seed {seed}, {policy}, {rule:?}: bound {bound} but {job:?}; {}",
                        case.describe()
                    );
                }
            }
        }
    }
    laxity_seeds::assert_together!(below > 0, "every response is the worst one: the runs are all alike");
}
