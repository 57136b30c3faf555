//! The largest parameters that there are: times near 2^50 ns, hundreds of tasks, periods that have nothing in common, periods of
//! some ns beside deadlines of days.
//!
//! No test takes a step for each of 2^50 ns, or reckons with numbers of thousands of digits: a test of this file
//! that does not end has found a loop that takes no steps of work.

use laxity_analysis::{
    Bounds, Density, DeviAnderson, FfDbf, Gfb, Load, Pfair, Priorities, Qpa, Rta, Source, SporadicTask,
    TIME_MAX, Test, TestInfo, Verdict, Work, catalogue,
};
use std::collections::BTreeMap;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// In `[low, high]`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }
}

/// Enough for what ends at all, and soon over.
fn some_steps() -> Work {
    Work::steps(1 << 21)
}

fn is_out_of_work(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::NotProven(not_proven) if not_proven.out_of_work)
}

fn judge(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> Verdict {
    test.judge(tasks, processors, &mut some_steps())
}

fn accepts(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> bool {
    judge(test, tasks, processors).is_schedulable()
}

/// A set of small numbers, and processors for it; in the order of deadlines, as fixed priorities need one.
fn small_set(random: &mut Random) -> (Vec<SporadicTask>, u32) {
    let processors = u32::try_from(random.between(1, 4)).expect("small");
    let count = random.between(1, 3 * u64::from(processors));
    let constrained = random.between(0, 2) > 0;
    let task = |_| {
        let period = random.between(1, 12);
        let deadline = match random.between(0, 1) {
            0 => period,
            _ if constrained => random.between(1, period),
            _ => random.between(1, 12),
        };
        let most = random.between(1, deadline.min(period));
        SporadicTask::constrained(random.between(1, most), deadline, period)
    };
    let mut tasks: Vec<SporadicTask> = (0..count).map(task).collect();
    tasks.sort_by_key(|task| task.deadline_rel_ns);
    (tasks, processors)
}

/// A unit of time is any: what is in ns says the same as if it were in multiples of them. Tests that count in whole ns allow for
/// less between them when there are more, so that these may accept less; no test may accept more, and none overflows.
#[test]
fn the_same_set_in_another_unit() {
    let scale = TIME_MAX / 12;
    let whole_ns = |info: &TestInfo| {
        // The union has tests that do, and quotients of interference are rounded down under global fixed priorities.
        matches!(info.source, Source::Tests(_))
            || info.priorities == Priorities::Fixed && !info.assumptions.contains(&"m = 1")
            || info.assumptions.iter().any(|assumption| assumption.contains("whole ns"))
    };
    for test in catalogue::tests() {
        let info = test.info();
        let (mut same, mut accepted, mut fewer, mut out_of_work) = (0, 0, 0, 0);
        for seed in laxity_seeds::seeds!(0..1_500) {
            let (tasks, processors) = small_set(&mut Random(seed));
            // On one processor there are tests for no other number of them.
            let processors = if info.assumptions.contains(&"m = 1") { 1 } else { processors };
            let wide = |task: &SporadicTask| {
                SporadicTask::constrained(
                    task.wcet_ns * scale,
                    task.deadline_rel_ns * scale,
                    task.period_ns * scale,
                )
            };
            let scaled: Vec<SporadicTask> = tasks.iter().map(wide).collect();
            let (before, after) = (judge(*test, &tasks, processors), judge(*test, &scaled, processors));
            let verdicts = (before.is_schedulable(), after.is_schedulable());
            let place =
                || format!("{}, seed {seed}: {tasks:?} on {processors}: {before:?}, {after:?}", info.name);
            out_of_work += u32::from(is_out_of_work(&after));
            match verdicts {
                (true, false) if whole_ns(info) => fewer += 1,
                (one, other) => assert_eq!(one, other, "{}", place()),
            }
            same += u32::from(verdicts.0 == verdicts.1);
            accepted += u32::from(verdicts.1);
        }
        println!(
            "{}: {same} the same, {accepted} accepted, {fewer} not any more, {out_of_work} out of work",
            info.name
        );
        // Not even BAR and LA go down in steps of some ns where the condition holds by no more than that.
        assert_eq!(out_of_work, 0, "{}", info.name);
        laxity_seeds::assert_together!(fewer < 300, "{}: {fewer}", info.name);
        laxity_seeds::assert_together!(accepted > 100, "{}: {accepted}", info.name);
    }
}

/// Pairs of tasks with C_1 + C_2 = T / `parts`, of 300 periods near 2^50 that have little in common.
fn pairs(parts: u64) -> Vec<SporadicTask> {
    let pair = |place: u64| {
        let share = TIME_MAX / parts - 3 * place - 1;
        let (period, wcet) = (share * parts, share / (place % 97 + 2));
        [SporadicTask::implicit(wcet, period), SporadicTask::implicit(share - wcet, period)]
    };
    (0..300).flat_map(pair).collect()
}

#[test]
fn hundreds_of_unrelated_periods_fill_the_processors_to_the_last_ns() {
    let mut tasks = pairs(1);
    assert!(accepts(&Pfair, &tasks, 300));
    assert!(accepts(&DeviAnderson, &tasks, 300));
    assert_eq!(judge(&Pfair, &tasks, 299), Verdict::FAILS);
    // One ns more in 13 days of 300 processors.
    tasks[7].wcet_ns += 1;
    for test in catalogue::tests() {
        assert_eq!(judge(*test, &tasks, 300), Verdict::FAILS, "{}", test.info().name);
    }
}

#[test]
fn they_fill_one_processor_to_the_last_ns() {
    let mut tasks = pairs(300);
    let tests: [&dyn Test; 5] = [&Gfb, &Load, &FfDbf, &Density, &Qpa];
    for test in tests {
        assert!(accepts(test, &tasks, 1), "{}", test.info().name);
    }
    tasks[7].wcet_ns += 1;
    for test in tests {
        assert_eq!(judge(test, &tasks, 1), Verdict::FAILS, "{}", test.info().name);
    }
}

#[test]
fn the_density_bound_with_equality() {
    // sum of lambda = 150 + 1/2 + 1/2 = 151 = m - (m - 1) lambda_max for m = 301, lambda_max = 1/2.
    let mut tasks = pairs(2);
    tasks.extend([SporadicTask::implicit(TIME_MAX / 2, TIME_MAX); 2]);
    for test in [&Gfb as &dyn Test, &FfDbf] {
        assert!(accepts(test, &tasks, 301), "{}", test.info().name);
    }
    tasks[9].wcet_ns += 1;
    for test in [&Gfb as &dyn Test, &FfDbf] {
        assert_eq!(judge(test, &tasks, 301), Verdict::FAILS, "{}", test.info().name);
    }
}

/// Sets of hundreds of tasks, of which some are heavy, some have few ns of a period, some D < T.
fn large_set(random: &mut Random, shape: u64) -> (Vec<SporadicTask>, u32) {
    let processors = random.between(1, 64);
    let count = random.between(100, 400);
    let load_percent = random.between(5, 100);
    let mut tasks = Vec::new();
    for place in 0..count {
        let period = match (shape, place % 5) {
            (0, _) => random.between(TIME_MAX - (1 << 20), TIME_MAX),
            (1, 0) => random.between(2, 9),
            (2, 0) => random.between(2, 1 << 20),
            _ => random.between(TIME_MAX / 8, TIME_MAX),
        };
        let share = processors * load_percent * random.between(1, 200);
        let wcet = u64::try_from(u128::from(period) * u128::from(share) / (10_000 * u128::from(count)))
            .expect("fits");
        let wcet = wcet.clamp(1, period);
        let deadline = if random.between(0, 2) == 0 { random.between(wcet, period) } else { period };
        tasks.push(SporadicTask::constrained(wcet, deadline, period));
    }
    tasks.sort_by_key(|task| task.deadline_rel_ns);
    (tasks, u32::try_from(processors).expect("small"))
}

#[test]
fn every_test_ends_and_the_stronger_accepts_what_the_weaker_does() {
    let stronger = [
        ("bcl", "bcl-iterative"),
        ("bcl-iterative", "rta"),
        ("gfb", "ff-dbf"),
        ("gfb", "gedf"),
        ("bak", "gedf"),
        ("density", "qpa"),
        ("fp-rta", "fp-tda"),
        ("fp-tda", "fp-rta"),
        ("fp-rta", "qpa"),
    ];
    let (mut accepted, mut out_of_work) = (0, 0);
    for seed in laxity_seeds::seeds!(0..32) {
        let (tasks, processors) = large_set(&mut Random(seed), seed % 4);
        let judged = |test: &&dyn Test| (test.info().name, judge(*test, &tasks, processors));
        let verdicts: BTreeMap<&str, Verdict> = catalogue::tests().iter().map(judged).collect();
        for (weak, strong) in stronger {
            let accepted = verdicts[weak].is_schedulable();
            assert!(
                !accepted || verdicts[strong].is_schedulable() || is_out_of_work(&verdicts[strong]),
                "seed {seed}: {weak} accepts, {strong} does not"
            );
        }
        accepted += verdicts.values().filter(|verdict| verdict.is_schedulable()).count();
        for (name, _) in verdicts.iter().filter(|(_, verdict)| is_out_of_work(verdict)) {
            println!("seed {seed}: {name} is out of work");
            out_of_work += 1;
        }
    }
    println!("{accepted} accepted, {out_of_work} out of work");
    laxity_seeds::assert_together!(
        accepted > 60 && out_of_work > 0,
        "{accepted} accepted, {out_of_work} out of work"
    );
}

/// Response times grow by days while jobs come every 3 ns: 2^48 of them, none of which may be counted singly.
#[test]
fn short_periods_beside_long_deadlines() {
    let mut tasks = vec![SporadicTask::implicit(1, 3); 3];
    tasks.push(SporadicTask::implicit(TIME_MAX / 2, TIME_MAX));
    tasks.push(SporadicTask::implicit(TIME_MAX / 4, TIME_MAX));
    for test in catalogue::tests() {
        let verdict = judge(*test, &tasks, 3);
        println!("{}: {verdict:?}", test.info().name);
    }
    let Verdict::Schedulable(Bounds::ResponseTimes(bounds)) = judge(&Rta, &tasks, 3) else {
        panic!("accepted")
    };
    // Task 4 waits for x: 3 (C + x) / 3 of short jobs and 2^48 of task 5 are about 3 x, so x = (2^49 + 2^48) / 2.
    let expected = (1 << 49) + 3 * (1 << 47);
    assert!(bounds[3].abs_diff(expected) < 9, "{} is not about {expected}", bounds[3]);
}
