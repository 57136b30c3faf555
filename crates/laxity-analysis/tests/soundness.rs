//! No test of the catalogue accepts a set that misses a deadline, or promises less than can happen, in a simulation of its own.
//!
//! Tiny sets, where most things that can happen do happen: hundreds of thousands of schedules. `LAXITY_SEEDS=1000..90000` looks at
//! more.

#[path = "simulation/arrivals.rs"]
mod arrivals;
#[path = "simulation/mod.rs"]
mod simulation;

use laxity_analysis::{
    Bounds, Exactness, Guarantee, Levels, Priorities, SporadicTask, Test, TestInfo, Verdict, Work, catalogue,
};
use laxity_seeds::{Random, seeds};
use simulation::{Rule, Seen, simulate};

/// A set, and processors for it.
struct Case {
    seed: u64,
    processors: u32,
    tasks: Vec<SporadicTask>,
}

impl Case {
    fn of(seed: u64) -> Case {
        let mut random = Random(seed);
        let processors = u32::try_from(random.between(1, 4)).expect("small");
        let count = random.between(1, 2 + 2 * u64::from(processors));
        let deadlines = random.below(4);
        let jitter = random.below(8) == 0;
        let mut tasks: Vec<SporadicTask> =
            (0..count).map(|_| random_task(&mut random, deadlines, jitter)).collect();
        // The order is that of fixed priorities: half the time one that makes sense.
        if random.below(2) == 0 {
            tasks.sort_by_key(|task| task.deadline_rel_ns);
        }
        Case { seed, processors, tasks }
    }

    /// The worst that simulations of this rule show.
    fn seen(&self, rules: &[Rule]) -> Vec<Seen> {
        let mut worst = vec![Seen::default(); self.tasks.len()];
        let mut random = Random(self.seed ^ 0x5bd1_e995);
        for &rule in rules {
            for arrivals in arrivals::ALL {
                let jobs = arrivals::jobs(arrivals, &self.tasks, 100, &mut random);
                // Bounded backlogs of sets that fit are worked off by then.
                let seen = simulate(&self.tasks, &jobs, self.processors, rule, 200);
                for (worst, seen) in worst.iter_mut().zip(seen) {
                    worst.response_max = worst.response_max.max(seen.response_max);
                    worst.tardiness_max = worst.tardiness_max.max(seen.tardiness_max);
                }
            }
        }
        worst
    }
}

fn random_task(random: &mut Random, deadlines: u64, jitter: bool) -> SporadicTask {
    let period = random.between(1, 12);
    let deadline = match deadlines {
        0 => period,
        1 | 2 => random.between(1, period),
        _ => random.between(1, 2 * period),
    };
    let most = random.between(1, deadline.min(period));
    let jitter = if jitter { random.below(4) } else { 0 };
    SporadicTask {
        wcet_ns: random.between(1, most),
        deadline_rel_ns: deadline,
        period_ns: period,
        jitter_ns: jitter,
    }
}

fn rules(priorities: Priorities) -> &'static [Rule] {
    match priorities {
        Priorities::EarliestDeadlineFirst => &[Rule::EarliestDeadlineFirst, Rule::EarliestDeadlineLastTask],
        Priorities::ZeroLaxity => &[Rule::ZeroLaxity],
        Priorities::FairLateness => &[Rule::FairLateness],
        Priorities::Fixed => &[Rule::Fixed],
        // Quanta and subtasks are beyond this simulation: tests/pfair has one for them.
        Priorities::Pfair => &[],
    }
}

/// What the verdict promises but the simulation breaks.
fn broken_promise(case: &Case, info: &TestInfo, verdict: &Verdict, seen: &[Seen]) -> Option<String> {
    let Verdict::Schedulable(bounds) = verdict else { return None };
    let name = info.name;
    let complain = |what: String| {
        let Case { seed, processors, tasks } = case;
        Some(format!(
            "{name}, seed {seed}: {what}\n{tasks:?} on {processors}\nseen {seen:?}\nbounds {bounds:?}"
        ))
    };
    if info.guarantee == Guarantee::Hard && seen.iter().any(|seen| seen.tardiness_max > 0) {
        return complain("accepted, but a deadline is missed".into());
    }
    let exceeds = |bounds: &[u64], value: fn(&Seen) -> u64| {
        assert_eq!(bounds.len(), seen.len(), "{name}");
        seen.iter().zip(bounds).position(|(seen, &bound)| value(seen) > bound)
    };
    let late = match bounds {
        Bounds::None => None,
        Bounds::ResponseTimes(bounds) => exceeds(bounds, |seen| seen.response_max),
        Bounds::Tardiness(bounds) => exceeds(bounds, |seen| seen.tardiness_max),
    };
    complain(format!("task {} exceeds its bound", late?))
}

/// How many sets the test accepts, and the first promise that it breaks.
fn judge_all(test: &dyn Test, seeds: impl Iterator<Item = u64>) -> (u64, Option<String>) {
    let info = test.info();
    let mut accepted = 0;
    for seed in seeds {
        let case = Case::of(seed);
        let verdict = test.judge(&case.tasks, case.processors, &mut Work::default());
        if !verdict.is_schedulable() {
            continue;
        }
        accepted += 1;
        let seen = case.seen(rules(info.priorities));
        if let Some(broken) = broken_promise(&case, info, &verdict, &seen) {
            return (accepted, Some(broken));
        }
    }
    (accepted, None)
}

#[test]
fn no_accepted_set_misses() {
    for test in catalogue::tests() {
        let info = test.info();
        if info.exactness == Exactness::Necessary || rules(info.priorities).is_empty() {
            println!("SKIPPED: {}: nothing to see in this simulation", info.name);
            continue;
        }
        let (accepted, broken) = judge_all(*test, seeds!(0..6000));
        if let Some(broken) = broken {
            panic!("{broken}");
        }
        println!("{}: {accepted} accepted", info.name);
        laxity_seeds::assert_together!(accepted > 0, "{} accepts nothing", info.name);
    }
}

/// The tasks of a case at levels of one to three each, and what the kernel may do among equals.
fn shared_levels(case: &Case) -> (Vec<usize>, Vec<Rule>) {
    let mut random = Random(case.seed ^ 0x2545_f491);
    let (mut sizes, mut of, mut placed) = (Vec::new(), [0; 16], 0);
    while placed < case.tasks.len() {
        let size = usize::try_from(random.between(1, 3)).expect("small").min(case.tasks.len() - placed);
        of[placed..placed + size].fill(u8::try_from(sizes.len()).expect("few"));
        sizes.push(size);
        placed += size;
    }
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    let rule = |(keeps_place, last_first)| Rule::Levels(simulation::Levels { of, keeps_place, last_first });
    (sizes, ways.map(rule).into())
}

#[test]
fn no_accepted_set_misses_where_tasks_share_priorities() {
    let mut accepted_by = 0;
    for test in catalogue::tests().iter().filter(|test| test.info().priorities == Priorities::Fixed) {
        let info = test.info();
        let mut accepted = 0;
        for case in seeds!(0..6000).map(Case::of) {
            let (sizes, rules) = shared_levels(&case);
            let levels = Levels::new(&sizes);
            let verdict = test.judge_among_equals(&case.tasks, levels, case.processors, &mut Work::default());
            if verdict.is_schedulable() {
                accepted += 1;
                if let Some(broken) = broken_promise(&case, info, &verdict, &case.seen(&rules)) {
                    panic!("levels of {sizes:?}: {broken}");
                }
            }
        }
        println!("{}: {accepted} accepted", info.name);
        accepted_by += u32::from(accepted > 0);
    }
    assert!(accepted_by > 2, "{accepted_by}");
}

/// Accepts whatever fits: wrong for both rules.
struct WhateverFits(TestInfo);

impl Test for WhateverFits {
    fn info(&self) -> &'static TestInfo {
        Box::leak(Box::new(self.0))
    }

    fn verdict(&self, _: &[SporadicTask], _: u32, _: &mut Work) -> Result<Verdict, Verdict> {
        Ok(Verdict::SCHEDULABLE)
    }
}

#[test]
fn the_simulation_catches_a_test_that_accepts_what_fits() {
    let gfb = catalogue::test("gfb").expect("a test").info();
    for priorities in [Priorities::EarliestDeadlineFirst, Priorities::ZeroLaxity, Priorities::Fixed] {
        let (_, broken) = judge_all(&WhateverFits(TestInfo { priorities, ..*gfb }), 0..200);
        assert!(broken.is_some_and(|broken| broken.contains("a deadline is missed")), "{priorities:?}");
    }
}

#[test]
fn names_are_unique() {
    let mut names: Vec<_> = catalogue::tests().iter().map(|test| test.info().name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn the_simulation_agrees_with_schedules_by_hand() {
    let job = |arrival| simulation::Job { arrival, release: arrival };
    // Dhall's effect: light jobs first, the heavy one ends at 12.
    let tasks = [(2, 10), (2, 10), (11, 11)].map(|(wcet, period)| SporadicTask::implicit(wcet, period));
    let jobs = vec![vec![job(0)]; 3];
    let seen = simulate(&tasks, &jobs, 2, Rule::EarliestDeadlineFirst, 30);
    assert_eq!(seen.iter().map(|seen| seen.response_max).collect::<Vec<_>>(), [2, 2, 13]);
    assert_eq!(seen[2].tardiness_max, 2);
    // EDZL sees that the heavy one has no laxity, and lets a light one wait.
    let seen = simulate(&tasks, &jobs, 2, Rule::ZeroLaxity, 30);
    assert_eq!(seen.iter().map(|seen| seen.response_max).collect::<Vec<_>>(), [2, 4, 11]);
    // With the heavy task's priority the highest, all meet.
    let heavy_first = [tasks[2], tasks[0], tasks[1]];
    let seen = simulate(&heavy_first, &jobs, 2, Rule::Fixed, 30);
    assert_eq!(seen.iter().map(|seen| seen.response_max).collect::<Vec<_>>(), [11, 2, 4]);
    // A job never runs on two processors, nor two jobs of a task at once.
    let alone = [SporadicTask::constrained(4, 8, 3)];
    let seen = simulate(&alone, &[vec![job(0), job(3)]], 2, Rule::EarliestDeadlineFirst, 30);
    assert_eq!(seen[0].response_max, 5);
}
