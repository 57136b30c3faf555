//! All tiny task sets: the reference against a scheduler that goes from unit to unit, and the oracles over both.

use laxity_model::{Duration, Platform, PriorityRule, TaskSet};
use laxity_oracle::{Definition, Timeline, first_difference, reference, tiny, verify};

const LIMITS: tiny::Limits = tiny::Limits {
    tasks_max: 3,
    period_max_units: 3,
    deadline_beyond_period_units: 1,
    phase_max_units: 1,
    unit: Duration::from_ns(10),
};

/// Global EDF or rate-monotonic scheduling, one unit at a time, from nothing but the task parameters.
fn unit_by_unit(set: &TaskSet, cpus: usize, rule: PriorityRule, units: u64) -> Timeline {
    let unit = LIMITS.unit.as_ns();
    let mut timeline = Timeline::new();
    let mut done: Vec<Vec<u64>> = vec![Vec::new(); set.tasks().len()];
    for now in 0..units {
        let mut ready = Vec::new();
        for (id, task) in set.tasks().iter().enumerate() {
            let [phase, period, wcet, deadline_rel] =
                [task.phase, task.period(), task.wcet, task.deadline_rel].map(|time| time.as_ns() / unit);
            if now >= phase && (now - phase) % period == 0 {
                done[id].push(0);
            }
            if let Some(job) = done[id].iter().position(|&done| done < wcet) {
                let deadline_abs = phase + job as u64 * period + deadline_rel;
                let key = if rule == PriorityRule::RateMonotonic { period } else { deadline_abs };
                ready.push((key, id, job));
            }
        }
        ready.sort_unstable();
        for &(_, id, job) in ready.iter().take(cpus) {
            done[id][job] += 1;
            let key = (u32::try_from(id).expect("few"), u32::try_from(job).expect("few"));
            let intervals = timeline.entry(key).or_default();
            match intervals.last_mut() {
                Some((_, to)) if *to == now * unit => *to = (now + 1) * unit,
                _ => intervals.push((now * unit, (now + 1) * unit)),
            }
        }
    }
    timeline
}

#[test]
fn the_reference_agrees_with_a_scheduler_by_units() {
    use PriorityRule::{EarliestDeadlineFirst, RateMonotonic};
    let mut checked = 0;
    for (number, set) in tiny::sets(LIMITS).enumerate() {
        // All sets of one and two tasks, every seventh of three.
        if set.tasks().len() == 3 && number % 7 != 0 {
            continue;
        }
        for cpus in 1..=2 {
            let rule = if number % 2 == 0 { EarliestDeadlineFirst } else { RateMonotonic };
            let end = tiny::span(&set);
            let platform = Platform::symmetric(cpus).expect("some");
            let definition = Definition::global(set.clone(), &platform, rule, end).expect("valid");
            let schedule = reference(&definition, &definition.jobs(), end.as_ns()).expect("possible");
            let slow = unit_by_unit(&set, cpus as usize, rule, end.as_ns() / LIMITS.unit.as_ns());
            if let Some(difference) = first_difference(&schedule.timeline, &slow) {
                panic!("{set:?} on {cpus}, {rule:?}: {difference}");
            }
            let verdict = verify(&definition, &schedule.events, end.as_ns());
            assert!(verdict.clean, "{set:?} on {cpus}, {rule:?}: {verdict}");
            checked += 1;
        }
    }
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn tiny_sets_are_as_many_as_they_should_be() {
    let limits = tiny::Limits {
        tasks_max: 2,
        period_max_units: 2,
        deadline_beyond_period_units: 0,
        phase_max_units: 0,
        ..LIMITS
    };
    // (C, T, D): (1,1,1), (1,2,1), (1,2,2), (2,2,2).
    assert_eq!(tiny::sets(limits).count(), 4 + 16);
    assert_eq!(tiny::count(limits), 4 + 16);
    assert_eq!(tiny::sets(LIMITS).map(|set| set.tasks().len()).max(), Some(3));
}
