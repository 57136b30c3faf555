//! The tests once more, word by word from their equations and as slow as that is, and the relations between them.

use super::testing::{random_of, random_tasks};
use super::workload::{demand, in_window, under_edf};
use super::{AnyGlobalEdf, Bak, Bar, Bcl, BclIterative, FfDbf, Gfb, La, Load, Rta};
use crate::{Bounds, SporadicTask, Test, Verdict, Work};
use laxity_model::LoadSum;

/// A multiple of all periods and deadlines that occur (up to 12).
const COMMON: i128 = 27720;

fn judge(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> Verdict {
    test.judge(tasks, processors, &mut Work::default())
}

fn accepts(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> bool {
    judge(test, tasks, processors).is_schedulable()
}

/// Sets that every test takes (U <= m), with their seeds.
fn sets() -> impl Iterator<Item = (u64, u32, Vec<SporadicTask>)> {
    laxity_seeds::seeds!(0..12_000).filter_map(|seed| {
        let mut random = random_of(seed);
        let processors = u32::try_from(random.between(1, 4)).expect("small");
        let count = random.between(1, 3 * u64::from(processors));
        let tasks = random_tasks(&mut random, count, 12);
        let load: i128 =
            tasks.iter().map(|task| i128::from(task.wcet_ns) * COMMON / i128::from(task.period_ns)).sum();
        (load <= i128::from(processors) * COMMON).then_some((seed, processors, tasks))
    })
}

/// Both must say the same of all sets, and each answer must occur.
fn agrees(test: &dyn Test, reference: impl Fn(&[SporadicTask], u32) -> bool) {
    let mut seen = [0; 2];
    for (seed, processors, tasks) in sets() {
        let expected = reference(&tasks, processors);
        seen[usize::from(expected)] += 1;
        let verdict = judge(test, &tasks, processors);
        let name = test.info().name;
        assert_eq!(
            verdict.is_schedulable(),
            expected,
            "{name}, seed {seed}: {tasks:?} on {processors}: {verdict:?}"
        );
    }
    laxity_seeds::assert_together!(seen.iter().all(|&count| count > 300), "{seen:?}");
}

fn parameters(task: &SporadicTask) -> [i128; 3] {
    [task.wcet_ns, task.deadline_rel_ns, task.period_ns].map(i128::from)
}

#[test]
fn bak_is_its_equation() {
    agrees(&Bak, |tasks, processors| {
        let m = i128::from(processors);
        tasks.iter().all(|k| {
            let [wcet_k, deadline_k, _] = parameters(k);
            // All multiplied by D_k^2 COMMON.
            let beta = |i: &SporadicTask| {
                let [wcet, deadline, period] = parameters(i);
                let plain = wcet * COMMON / period * (deadline_k + period - deadline) * deadline_k;
                let heavy = wcet * deadline_k > wcet_k * period;
                plain + if heavy { (wcet * deadline_k - wcet_k * period) * COMMON } else { 0 }
            };
            let whole = deadline_k * deadline_k * COMMON;
            let sum: i128 = tasks.iter().map(|i| beta(i).min(whole)).sum();
            sum <= m * whole - (m - 1) * wcet_k * deadline_k * COMMON
        })
    });
}

fn meets_bcl(tasks: &[SporadicTask], k: usize, processors: u32) -> bool {
    let most = i128::from(tasks[k].deadline_rel_ns - tasks[k].wcet_ns);
    let [_, deadline_k, _] = parameters(&tasks[k]);
    let interference = |i: &SporadicTask| {
        let [wcet, deadline, period] = parameters(i);
        let jobs = (deadline_k - deadline).div_euclid(period) + 1;
        jobs * wcet + wcet.min((deadline_k - jobs * period).max(0))
    };
    let others = || tasks.iter().enumerate().filter(|&(i, _)| i != k).map(|(_, i)| interference(i));
    let sum: i128 = others().map(|each| each.min(most)).sum();
    let room = i128::from(processors) * most;
    sum < room || sum == room && others().any(|each| 0 < each && each <= most)
}

#[test]
fn bcl_is_its_equation() {
    agrees(&Bcl, |tasks, processors| (0..tasks.len()).all(|k| meets_bcl(tasks, k, processors)));
}

/// Rounds over all tasks until all are feasible or nothing changes.
fn rounds(tasks: &[SporadicTask], response: impl Fn(usize, &[u64]) -> Option<u64>) -> bool {
    let mut slacks = vec![0; tasks.len()];
    loop {
        let (mut feasible, mut updated) = (true, false);
        for k in 0..tasks.len() {
            match response(k, &slacks) {
                None => feasible = false,
                Some(response) if tasks[k].deadline_rel_ns - response > slacks[k] => {
                    slacks[k] = tasks[k].deadline_rel_ns - response;
                    updated = true;
                }
                Some(_) => {}
            }
        }
        if feasible || !updated {
            return feasible;
        }
    }
}

fn others(tasks: &[SporadicTask], k: usize) -> impl Iterator<Item = (usize, &SporadicTask)> {
    tasks.iter().enumerate().filter(move |&(i, _)| i != k)
}

#[test]
fn bcl_iterative_is_its_equation() {
    agrees(&BclIterative, |tasks, processors| {
        rounds(tasks, |k, slacks| {
            let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, .. } = tasks[k];
            let cap = deadline - wcet + 1;
            let each = others(tasks, k).map(|(i, task)| under_edf(task, deadline, slacks[i]).min(cap));
            let response = wcet + each.sum::<u64>() / u64::from(processors);
            (response <= deadline).then_some(response)
        })
    });
}

fn least_response(tasks: &[SporadicTask], k: usize, slacks: &[u64], processors: u32) -> Option<u64> {
    let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, .. } = tasks[k];
    (wcet..=deadline).find(|&response| {
        let each = others(tasks, k).map(|(i, task)| {
            let any = in_window(task, response, slacks[i]);
            any.min(under_edf(task, deadline, slacks[i])).min(response - wcet + 1)
        });
        wcet + each.sum::<u64>() / u64::from(processors) == response
    })
}

#[test]
fn rta_is_its_equation() {
    agrees(&Rta, |tasks, processors| rounds(tasks, |k, slacks| least_response(tasks, k, slacks, processors)));
}

#[test]
fn rta_leaps_over_many_jobs_at_once() {
    let mut seen = [0; 2];
    for seed in laxity_seeds::seeds!(0..2_000) {
        let mut random = random_of(seed);
        let processors = u32::try_from(random.between(1, 3)).expect("small");
        let short = random.between(1, 4);
        let mut tasks = random_tasks(&mut random, short, 4);
        for _ in 0..random.between(1, 3) {
            let period = random.between(100, 400);
            tasks.push(SporadicTask::implicit(random.between(1, period / 2), period));
        }
        let mut load = LoadSum::new();
        tasks.iter().for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
        if load.exceeds(processors.into()) {
            continue;
        }
        let expected = rounds(&tasks, |k, slacks| least_response(&tasks, k, slacks, processors));
        assert_eq!(accepts(&Rta, &tasks, processors), expected, "seed {seed}: {tasks:?} on {processors}");
        seen[usize::from(expected)] += 1;
    }
    laxity_seeds::assert_together!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn response_times_solve_their_equations() {
    for (seed, processors, tasks) in sets() {
        let Verdict::Schedulable(bounds) = judge(&Rta, &tasks, processors) else { continue };
        let Bounds::ResponseTimes(bounds) = bounds else { panic!("no response times") };
        let slacks: Vec<u64> =
            tasks.iter().zip(&bounds).map(|(task, bound)| task.deadline_rel_ns - bound).collect();
        for (k, &bound) in bounds.iter().enumerate() {
            // With the slacks of the answer itself no bound gets worse.
            let again = least_response(&tasks, k, &slacks, processors);
            assert!(again.is_some_and(|again| again <= bound), "seed {seed}: {tasks:?}: {bounds:?}");
            assert!(tasks[k].wcet_ns <= bound && bound <= tasks[k].deadline_rel_ns, "seed {seed}");
        }
    }
}

/// Beyond it no interval of a set with U < m can fail: m - U >= 1 / COMMON, but almost always far more.
const LONGEST: u64 = 3000;

fn meets_bar(tasks: &[SporadicTask], k: usize, processors: u32) -> bool {
    let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, .. } = tasks[k];
    (deadline..LONGEST).all(|length| {
        let cap = length - wcet + 1;
        let plain = |i: usize| {
            let work = demand(&tasks[i], length);
            if i == k { (work - wcet).min(length - deadline) } else { work.min(cap) }
        };
        let carry = |i: usize| {
            let task = &tasks[i];
            let late =
                length / task.period_ns * task.wcet_ns + (task.wcet_ns - 1).min(length % task.period_ns);
            let work = late.max(demand(task, length));
            if i == k { (work - wcet).min(length - deadline) } else { work.min(cap) }
        };
        let mut added: Vec<u64> = (0..tasks.len()).map(|i| carry(i) - plain(i)).collect();
        added.sort_unstable_by(|a, b| b.cmp(a));
        let sum: u64 = (0..tasks.len()).map(plain).sum();
        sum + added.iter().take(processors as usize - 1).sum::<u64>() < u64::from(processors) * cap
    })
}

#[test]
fn bar_is_its_equation() {
    let nearly_full = |tasks: &[SporadicTask], processors: u32| {
        let load: i128 =
            tasks.iter().map(|task| i128::from(task.wcet_ns) * COMMON / i128::from(task.period_ns)).sum();
        load * 20 > i128::from(processors) * COMMON * 19
    };
    for (seed, processors, tasks) in sets().filter(|(_, processors, tasks)| !nearly_full(tasks, *processors))
    {
        if seed % 4 == 0 {
            let expected = (0..tasks.len()).all(|k| meets_bar(&tasks, k, processors));
            assert_eq!(accepts(&Bar, &tasks, processors), expected, "seed {seed}: {tasks:?} on {processors}");
        }
    }
}

/// The condition of LA for a backlog of `jobs` jobs of task k, where D may exceed T.
fn meets_la(tasks: &[SporadicTask], k: usize, jobs: u64, processors: u32) -> bool {
    let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, .. } = tasks[k];
    let shortest = deadline + (jobs - 1) * period;
    (shortest..shortest + 300).all(|length| {
        let cap = length + 1 - jobs * wcet;
        let limited = |i: usize, work: u64| {
            if i == k { (work - jobs * wcet).min(length - shortest) } else { work.min(cap) }
        };
        let plain = |i: usize| limited(i, demand(&tasks[i], length));
        let carry = |i: usize| {
            let task = &tasks[i];
            let left = if task.deadline_rel_ns > task.period_ns { task.wcet_ns } else { task.wcet_ns - 1 };
            let late = length / task.period_ns * task.wcet_ns + left.min(length % task.period_ns);
            limited(i, late.max(demand(task, length)))
        };
        let mut added: Vec<u64> = (0..tasks.len()).map(|i| carry(i) - plain(i)).collect();
        added.sort_unstable_by(|a, b| b.cmp(a));
        let sum: u64 = (0..tasks.len()).map(plain).sum();
        sum + added.iter().take(processors as usize - 1).sum::<u64>() < u64::from(processors) * cap
    })
}

#[test]
fn la_is_its_condition_for_any_deadline() {
    let mut seen = [0; 2];
    for (seed, processors, mut tasks) in sets().filter(|(seed, ..)| seed % 3 == 0) {
        let mut random = random_of(seed ^ 0x1a);
        for task in &mut tasks {
            if random.between(0, 1) == 0 {
                task.deadline_rel_ns = random.between(task.wcet_ns, 3 * task.period_ns);
            }
        }
        // 1 / (m - U), and so the intervals that can fail, stay small: U + (m - 1) max u <= 0.9 m.
        let share = |task: &SporadicTask| i128::from(task.wcet_ns) * COMMON / i128::from(task.period_ns);
        let most = tasks.iter().map(share).max().unwrap_or(0);
        let load = tasks.iter().map(share).sum::<i128>() + i128::from(processors - 1) * most;
        if load * 10 > i128::from(processors) * COMMON * 9 {
            continue;
        }
        let each = || (0..tasks.len()).flat_map(|k| (1..6).map(move |jobs| (k, jobs)));
        let backlog = |k: usize, jobs: u64| jobs == 1 || tasks[k].deadline_rel_ns > tasks[k].period_ns;
        let expected = each()
            .filter(|&(k, jobs)| backlog(k, jobs))
            .all(|(k, jobs)| meets_la(&tasks, k, jobs, processors));
        seen[usize::from(expected)] += 1;
        assert_eq!(accepts(&La, &tasks, processors), expected, "seed {seed}: {tasks:?} on {processors}");
    }
    laxity_seeds::assert_together!(seen.iter().all(|&count| count > 25), "{seen:?}");
}

#[test]
fn load_is_its_equation() {
    agrees(&Load, |tasks, processors| {
        if tasks.len() <= processors as usize {
            return true;
        }
        let m = i128::from(processors);
        // Densities and mu in units of 1 / COMMON.
        let density =
            tasks.iter().map(|task| i128::from(task.wcet_ns) * COMMON / i128::from(task.deadline_rel_ns));
        let most = density.max().expect("a task");
        let mu = m * COMMON - (m - 1) * most;
        let whole = (mu + COMMON - 1) / COMMON;
        let bound = (mu - (whole - 1) * most).max((whole - 1) * COMMON - (whole - 2) * most);
        // The demand of a whole hyperperiod repeats: one of them after the longest deadline shows all.
        let hyper = tasks.iter().fold(1, |hyper, task| lcm(hyper, task.period_ns));
        (1..=hyper + 12).all(|length| {
            let needed: u64 = tasks.iter().map(|task| demand(task, length)).sum();
            i128::from(needed) * COMMON <= bound * i128::from(length)
        })
    });
}

fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// In units of 1 / 256, at t and sigma = speed / 256.
fn forced_forward(task: &SporadicTask, time: i128, speed: i128) -> i128 {
    let [wcet, deadline, period] = parameters(task);
    let (jobs, rest) = (time / period, time % period);
    let last = if rest >= deadline { wcet * 256 } else { (wcet * 256 - (deadline - rest) * speed).max(0) };
    jobs * wcet * 256 + last
}

#[test]
fn ff_dbf_finds_a_speed_if_one_of_256ths_does() {
    let mut speeds_needed = 0;
    for (seed, processors, tasks) in sets().filter(|(seed, _, _)| seed % 8 == 0) {
        let m = i128::from(processors);
        let density =
            tasks.iter().map(|task| (task.wcet_ns * 256).div_ceil(task.deadline_rel_ns)).map(i128::from);
        let load: i128 =
            tasks.iter().map(|task| i128::from(task.wcet_ns) * COMMON / i128::from(task.period_ns)).sum();
        let works = |speed: i128| {
            (m * 256 - (m - 1) * speed) * COMMON >= load * 256
                && (1..600).all(|time| {
                    let sum: i128 = tasks.iter().map(|task| forced_forward(task, time, speed)).sum();
                    sum <= (m * 256 - (m - 1) * speed) * time
                })
        };
        let least = density.max().expect("a task");
        let found = (least..=256).find(|&speed| works(speed));
        let verdict = accepts(&FfDbf, &tasks, processors);
        assert!(verdict || found.is_none(), "seed {seed}: {tasks:?} on {processors}: {found:?}/256");
        // A speed that works is at most 1/256 below one of them, at which the left side is no larger.
        let nearly = |speed: i128| {
            (1..600).all(|time| {
                let sum: i128 = tasks.iter().map(|task| forced_forward(task, time, speed)).sum();
                sum <= (m * 256 - (m - 1) * (speed - 1)) * time
            })
        };
        let waits = tasks.len() > processors as usize;
        assert!(!verdict || !waits || (least..=257).any(nearly), "seed {seed}: {tasks:?} on {processors}");
        speeds_needed += u64::from(verdict && found.is_some_and(|speed| speed > least));
    }
    laxity_seeds::assert_together!(speeds_needed > 0);
}

#[test]
fn tests_dominate_as_their_papers_prove() {
    let pairs: [(&dyn Test, &dyn Test); 8] = [
        (&BclIterative, &Bcl),
        (&Rta, &BclIterative),
        (&FfDbf, &Gfb),
        (&La, &Bar),
        (&Bar, &La),
        (&AnyGlobalEdf, &Bak),
        (&AnyGlobalEdf, &Bar),
        (&AnyGlobalEdf, &Rta),
    ];
    let mut strictly = [0; 8];
    for (seed, processors, tasks) in sets() {
        for (at, (stronger, weaker)) in pairs.iter().enumerate() {
            let (strong, weak) =
                (accepts(*stronger, &tasks, processors), accepts(*weaker, &tasks, processors));
            let names = (stronger.info().name, weaker.info().name);
            assert!(strong || !weak, "{names:?}, seed {seed}: {tasks:?} on {processors}");
            strictly[at] += u32::from(strong && !weak);
        }
    }
    laxity_seeds::assert_together!(strictly[..3].iter().all(|&count| count > 0), "{strictly:?}");
    assert_eq!(strictly[3..5], [0, 0]);
}

#[test]
fn the_union_accepts_what_any_of_them_does() {
    let tests: [&dyn Test; 9] = [&Gfb, &Bak, &Bar, &Bcl, &BclIterative, &Rta, &FfDbf, &Load, &La];
    let mut accepted = 0;
    for (seed, processors, mut tasks) in sets().filter(|(seed, ..)| seed % 2 == 0) {
        let mut random = random_of(seed ^ 0xa11);
        if random.between(0, 1) == 0 {
            tasks
                .iter_mut()
                .for_each(|task| task.deadline_rel_ns = random.between(task.wcet_ns, 2 * task.period_ns));
        }
        let any = tests.iter().any(|test| accepts(*test, &tasks, processors));
        assert_eq!(accepts(&AnyGlobalEdf, &tasks, processors), any, "seed {seed}: {tasks:?} on {processors}");
        accepted += u32::from(any);
    }
    laxity_seeds::assert_together!(accepted > 500, "{accepted}");
}

#[test]
fn no_test_is_the_union_of_the_others() {
    let tests: [&dyn Test; 7] = [&Gfb, &Bak, &Bar, &Rta, &FfDbf, &Load, &BclIterative];
    let mut alone = [0; 7];
    for (_, processors, tasks) in sets() {
        let accepted: Vec<usize> = (0..7).filter(|&at| accepts(tests[at], &tasks, processors)).collect();
        if let [one] = accepted[..] {
            alone[one] += 1;
        }
    }
    // RTA and BAR at least know sets that nothing else accepts.
    laxity_seeds::assert_together!(alone[2] > 0 && alone[3] > 0, "{alone:?}");
}

#[test]
fn neither_order_nor_more_processors_matter() {
    let tests: [&dyn Test; 9] = [&Gfb, &Bak, &Bar, &Bcl, &BclIterative, &Rta, &Load, &La, &FfDbf];
    for (seed, processors, tasks) in sets() {
        let reversed: Vec<SporadicTask> = tasks.iter().rev().copied().collect();
        for test in tests {
            let name = test.info().name;
            let accepted = accepts(test, &tasks, processors);
            assert_eq!(accepted, accepts(test, &reversed, processors), "{name}, seed {seed}: {tasks:?}");
            assert!(!accepted || accepts(test, &tasks, processors + 1), "{name}, seed {seed}: {tasks:?}");
        }
    }
}
