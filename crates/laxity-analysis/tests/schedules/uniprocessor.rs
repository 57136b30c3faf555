//! Tests for one processor against schedules of tiny sets, and against each other on large ones.

use crate::simulation::{Policy, Random, fits, hyperperiod, response_times, sporadic, synchronous};
use laxity_analysis::{
    Bounds, Density, FixedPriorityRta, PriorityOrder, Qpa, SporadicTask, Test, TimeDemand, Verdict, Work,
};

/// How much later than its period a deadline may be, and how long jobs may be kept.
#[derive(Clone, Copy)]
struct Kind {
    deadlines_max: u64,
    jitter_max: u64,
}

const KINDS: [Kind; 4] = [
    Kind { deadlines_max: 1, jitter_max: 0 },
    Kind { deadlines_max: 3, jitter_max: 0 },
    Kind { deadlines_max: 1, jitter_max: 2 },
    Kind { deadlines_max: 4, jitter_max: 9 },
];

fn tiny_set(random: &mut Random) -> Vec<SporadicTask> {
    let kind = random.of(&KINDS);
    let count = 1 + random.below(4);
    let one = |_| {
        let period: u64 = random.of(&[1, 2, 3, 4, 5, 6, 8, 10, 12]);
        let wcet = 1 + random.below(period.div_ceil(count));
        let deadline = wcet + random.below(kind.deadlines_max * period + 1 - wcet.min(period));
        SporadicTask {
            wcet_ns: wcet,
            deadline_rel_ns: deadline,
            period_ns: period,
            jitter_ns: random.below(kind.jitter_max + 1),
        }
    };
    (0..count).map(one).collect()
}

fn judge(test: &dyn Test, tasks: &[SporadicTask]) -> Verdict {
    test.judge(tasks, 1, &mut Work::default())
}

fn meet_deadlines(tasks: &[SporadicTask], response_times: &[u64]) -> bool {
    tasks.iter().zip(response_times).all(|(task, &response_time)| response_time <= task.deadline_rel_ns)
}

/// Whether the first jobs of a busy period that has all jobs that can matter meet their deadlines, by simulation.
fn longest_in_busy_period(tasks: &[SporadicTask], policy: Policy) -> Vec<u64> {
    let beyond = tasks.iter().map(|task| task.deadline_rel_ns + task.jitter_ns).max().unwrap_or(0);
    let windows = vec![3 * hyperperiod(tasks) + beyond; tasks.len()];
    response_times(tasks, &synchronous(tasks, &windows), 1, policy)
}

/// With fixed priorities: verdict, witness and bounds are those of the schedule.
fn agrees_with_fixed_priorities(tasks: &[SporadicTask], seed: u64) {
    let simulated = longest_in_busy_period(tasks, Policy::Fixed);
    let late = tasks.iter().zip(&simulated).position(|(task, &longest)| longest > task.deadline_rel_ns);
    let (expected, plain) = match late {
        None => (Verdict::Schedulable(Bounds::ResponseTimes(simulated)), Verdict::SCHEDULABLE),
        Some(at) => (Verdict::fails_at(at), Verdict::fails_at(at)),
    };
    assert_eq!(judge(&FixedPriorityRta, tasks), expected, "seed {seed}: {tasks:?}");
    assert_eq!(judge(&TimeDemand, tasks), plain, "seed {seed}: {tasks:?}");
}

fn agrees_with_earliest_deadlines(tasks: &[SporadicTask], seed: u64) {
    let simulated = longest_in_busy_period(tasks, Policy::EarliestDeadline);
    let meets = meet_deadlines(tasks, &simulated);
    assert_eq!(judge(&Qpa, tasks).is_schedulable(), meets, "seed {seed}: {tasks:?}");
    let density = judge(&Density, tasks).is_schedulable();
    assert!(!density || meets, "seed {seed}: {tasks:?}");
    let exact = tasks.iter().all(|task| task.deadline_rel_ns >= task.period_ns + task.jitter_ns);
    assert!(density || !exact, "seed {seed}: {tasks:?}");
}

#[test]
fn verdicts_are_those_of_schedules_from_the_critical_instant() {
    let (mut judged, mut accepted) = (0, [0; 2]);
    for seed in laxity_seeds::seeds!(0..6000) {
        let tasks = tiny_set(&mut Random(seed));
        if fits(&tasks, 1) && tasks.iter().all(|task| task.wcet_ns <= task.deadline_rel_ns) {
            agrees_with_fixed_priorities(&tasks, seed);
            agrees_with_earliest_deadlines(&tasks, seed);
            judged += 1;
            accepted[0] += u32::from(judge(&FixedPriorityRta, &tasks).is_schedulable());
            accepted[1] += u32::from(judge(&Qpa, &tasks).is_schedulable());
        }
    }
    // Sets of both kinds, or this would say little.
    laxity_seeds::assert_together!(
        judged > 3000 && accepted.iter().all(|&it| it > judged / 5 && it < judged * 9 / 10),
        "{judged} {accepted:?}"
    );
}

#[test]
fn all_pairs_of_small_tasks() {
    let mut all = Vec::new();
    for period in 1..=4 {
        for wcet in 1..=period {
            for deadline in wcet..=2 * period {
                all.extend((0..3).map(|jitter| SporadicTask {
                    wcet_ns: wcet,
                    deadline_rel_ns: deadline,
                    period_ns: period,
                    jitter_ns: jitter,
                }));
            }
        }
    }
    for one in &all {
        for other in &all {
            let tasks = [*one, *other];
            if fits(&tasks, 1) {
                agrees_with_fixed_priorities(&tasks, 0);
                agrees_with_earliest_deadlines(&tasks, 0);
            }
        }
    }
}

#[test]
fn no_accepted_set_misses_a_deadline_whenever_jobs_come() {
    for seed in laxity_seeds::seeds!(0..3000) {
        let mut random = Random(seed);
        let tasks = tiny_set(&mut random);
        let bounds = match judge(&FixedPriorityRta, &tasks) {
            Verdict::Schedulable(Bounds::ResponseTimes(bounds)) => Some(bounds),
            _ => None,
        };
        let by_deadlines = judge(&Qpa, &tasks).is_schedulable();
        for _ in 0..3 {
            let jobs = sporadic(&tasks, 60, &mut random);
            if let Some(bounds) = &bounds {
                let simulated = response_times(&tasks, &jobs, 1, Policy::Fixed);
                assert!(
                    simulated.iter().zip(bounds).all(|(it, bound)| it <= bound),
                    "seed {seed}: {tasks:?}"
                );
            }
            if by_deadlines {
                let simulated = response_times(&tasks, &jobs, 1, Policy::EarliestDeadline);
                assert!(meet_deadlines(&tasks, &simulated), "seed {seed}: {tasks:?}");
            }
        }
    }
}

/// Sets of up to 15 tasks with unrelated periods of some hundreds to thousands, and loads around 0.9.
fn large_set(random: &mut Random) -> Vec<SporadicTask> {
    let kind = random.of(&KINDS);
    let count = 2 + random.below(14);
    let scale = 60 + random.below(60);
    let one = |_| {
        let spread = random.of(&[50, 900, 9000]);
        let period = 100 + random.below(spread);
        let wcet = 1 + random.below((period * scale * 2 / 100 / count).min(period));
        let deadline = wcet + period / 10 + random.below(kind.deadlines_max * period);
        SporadicTask {
            wcet_ns: wcet,
            deadline_rel_ns: deadline,
            period_ns: period,
            jitter_ns: random.below(kind.jitter_max * 5 + 1),
        }
    };
    let tasks: Vec<_> = (0..count).map(one).collect();
    PriorityOrder::DeadlineMonotonic.sorted(&tasks)
}

#[test]
fn response_times_and_time_demand_agree() {
    let mut accepted = 0;
    for seed in laxity_seeds::seeds!(0..4000) {
        let tasks = large_set(&mut Random(seed));
        let (one, other) = (judge(&FixedPriorityRta, &tasks), judge(&TimeDemand, &tasks));
        match &one {
            Verdict::Schedulable(Bounds::ResponseTimes(bounds)) => {
                assert_eq!(other, Verdict::SCHEDULABLE, "seed {seed}: {tasks:?}");
                assert!(meet_deadlines(&tasks, bounds), "seed {seed}: {tasks:?}");
                accepted += 1;
            }
            _ => assert_eq!(one, other, "seed {seed}: {tasks:?}"),
        }
    }
    laxity_seeds::assert_together!((800..3600).contains(&accepted), "{accepted}");
}

/// The processor demand criterion (Baruah, Rosier, Howell 1990) without any shortcut: at every deadline before the bound that needs
/// no more than U < 1, `None` where it has too many of them.
fn demand_fits(tasks: &[SporadicTask]) -> Option<bool> {
    let load = tasks.iter().map(|task| task.wcet_ns as f64 / task.period_ns as f64).sum::<f64>();
    // Not exact, so with room: more points never hurt.
    let extra: f64 = tasks.iter().map(|task| task.wcet_ns as f64).sum();
    let bound = extra / (1.0 - load) * 1.01 + 1.0;
    if load >= 0.9999 || bound > 5e5 {
        return None;
    }
    let demand = |t: u64| {
        let of = |task: &SporadicTask| {
            let deadline = task.deadline_rel_ns.checked_sub(task.jitter_ns).expect("a window for its work");
            t.checked_sub(deadline).map_or(0, |after| (after / task.period_ns + 1) * task.wcet_ns)
        };
        tasks.iter().map(of).sum::<u64>()
    };
    if tasks.iter().any(|task| task.deadline_rel_ns < task.jitter_ns + task.wcet_ns) {
        return Some(false);
    }
    let deadlines = |task: &SporadicTask| {
        let (first, period) = (task.deadline_rel_ns - task.jitter_ns, task.period_ns);
        (0_u64..).map(move |job| first + job * period).take_while(move |&it| (it as f64) < bound)
    };
    Some(tasks.iter().flat_map(deadlines).all(|t| demand(t) <= t))
}

#[test]
fn qpa_and_the_demand_at_every_deadline_agree() {
    let mut seen = [0; 2];
    for seed in laxity_seeds::seeds!(0..3000) {
        let tasks = large_set(&mut Random(seed));
        if let Some(expected) = demand_fits(&tasks) {
            let verdict = judge(&Qpa, &tasks);
            assert_eq!(verdict.is_schedulable(), expected, "seed {seed}: {tasks:?}");
            seen[usize::from(expected)] += 1;
        }
    }
    laxity_seeds::assert_together!(seen.iter().all(|&it| it > 150), "{seen:?}");
}

#[test]
fn less_to_do_later_deadlines_longer_periods_and_less_jitter_never_hurt() {
    let tests: [&dyn Test; 4] = [&FixedPriorityRta, &TimeDemand, &Qpa, &Density];
    for seed in laxity_seeds::seeds!(0..3000) {
        let mut random = Random(seed);
        let tasks = large_set(&mut random);
        let mut better = tasks.clone();
        for task in &mut better {
            task.wcet_ns -= random.below(task.wcet_ns.min(5));
            task.deadline_rel_ns += random.below(5);
            task.period_ns += random.below(5);
            task.jitter_ns -= random.below(task.jitter_ns + 1);
        }
        for test in tests {
            let (before, after) = (judge(test, &tasks), judge(test, &better));
            let name = test.info().name;
            assert!(!before.is_schedulable() || after.is_schedulable(), "{name}, seed {seed}: {tasks:?}");
        }
    }
}

#[test]
fn edf_schedules_what_fixed_priorities_do_and_the_order_of_tasks_does_not_matter() {
    for seed in laxity_seeds::seeds!(0..3000) {
        let tasks = large_set(&mut Random(seed));
        let edf = judge(&Qpa, &tasks).is_schedulable();
        assert!(edf || !judge(&FixedPriorityRta, &tasks).is_schedulable(), "seed {seed}: {tasks:?}");
        assert!(edf || !judge(&Density, &tasks).is_schedulable(), "seed {seed}: {tasks:?}");
        let reversed: Vec<_> = tasks.iter().rev().copied().collect();
        for test in [&Qpa as &dyn Test, &Density] {
            assert_eq!(
                judge(test, &reversed).is_schedulable(),
                judge(test, &tasks).is_schedulable(),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn the_largest_parameters_do_not_overflow() {
    let huge = laxity_analysis::TIME_MAX;
    let at = |wcet, jitter| SporadicTask {
        wcet_ns: wcet,
        deadline_rel_ns: huge,
        period_ns: huge,
        jitter_ns: jitter,
    };
    let mut tasks = vec![at(huge / 4096, huge / 2); 2048];
    assert!(judge(&FixedPriorityRta, &tasks).is_schedulable());
    assert!(judge(&TimeDemand, &tasks).is_schedulable());
    assert!(judge(&Qpa, &tasks).is_schedulable());
    assert!(judge(&Density, &tasks).is_schedulable());
    // Load 1 with short periods below long ones.
    tasks.truncate(1);
    tasks[0] = SporadicTask { wcet_ns: 1, deadline_rel_ns: 1 << 49, period_ns: 2, jitter_ns: 1 << 49 };
    tasks.push(SporadicTask {
        wcet_ns: huge / 2 - 3,
        deadline_rel_ns: huge - 1,
        period_ns: huge - 1,
        jitter_ns: 0,
    });
    for test in [&FixedPriorityRta as &dyn Test, &TimeDemand, &Qpa, &Density] {
        let verdict = test.judge(&tasks, 1, &mut Work::steps(1 << 20));
        assert!(!verdict.is_schedulable(), "{}: {verdict:?}", test.info().name);
    }
}
