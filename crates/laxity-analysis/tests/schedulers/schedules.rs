//! What is accepted, in schedules time unit by time unit, where the scheduler learns of a job up to ev after its arrival.

use super::cases::{Case, GIVEN, Random, all};
use super::simulation::{Job, Levels, Rule, Seen, simulate};
use laxity_analysis::overheads::{Monotone, Overhead, Overheads};
use laxity_analysis::scheduler::{Analysed, Asked, Judgement};
use laxity_analysis::{Bounds, Guarantee, Priorities, SporadicTask, Verdict};
use laxity_seeds::seeds;

/// Arrivals until then; bounded backlogs are worked off by twice that.
const END: u64 = 100;

#[derive(Debug, Clone, Copy)]
enum Arrivals {
    Synchronous,
    Sporadic,
}

/// Jobs of each task, known to the scheduler up to `latency` after their arrivals.
fn jobs(arrivals: Arrivals, tasks: &[SporadicTask], latency: u64, random: &mut Random) -> Vec<Vec<Job>> {
    let of = |task: &SporadicTask| {
        let (mut jobs, mut released) = (Vec::new(), 0);
        let mut arrival = match arrivals {
            Arrivals::Synchronous => 0,
            Arrivals::Sporadic => random.below(2 * task.period_ns),
        };
        while arrival < END {
            // The first jobs late together and the others at once, or each as it comes.
            let late = match arrivals {
                Arrivals::Synchronous => {
                    if jobs.is_empty() {
                        latency
                    } else {
                        0
                    }
                }
                Arrivals::Sporadic => random.below(latency + 1),
            };
            released = released.max(arrival + late);
            jobs.push(Job { arrival, release: released });
            arrival += task.period_ns + if random.below(4) == 0 { random.below(3) } else { 0 };
        }
        jobs
    };
    tasks.iter().map(of).collect()
}

/// The tasks of a cell in the order of their fixed priorities, or in that of the set.
fn in_order(scheduler: Analysed, case: &Case, cell: usize) -> Vec<usize> {
    let mut numbers = case.cells[cell].tasks.clone();
    let rule = scheduler.to_string();
    numbers.sort_by_key(|&number| {
        let task = &case.tasks[number];
        let rank = match rule.as_str() {
            rule if rule.ends_with("rm") => task.period_ns,
            rule if rule.ends_with("dm") => task.deadline_rel_ns,
            rule if rule.ends_with("fp") => u64::from(GIVEN[number]),
            rule if rule.ends_with("edf") || rule.ends_with("grub") => 0,
            rule if matches!(scheduler, Analysed::Policy(_)) && !rule.contains(':') => 0,
            "g-fl" => 0,
            rule if rule.starts_with("pfair") => 0,
            other => panic!("`{other}`: in which order do its tasks go?"),
        };
        (rank, number)
    });
    numbers
}

/// What the kernel may do among tasks of equal given priority, which share one of SCHED_FIFO.
fn among_equals(scheduler: Analysed, numbers: &[usize]) -> Vec<Rule> {
    if !matches!(scheduler, Analysed::Linux(_)) || !scheduler.goes_by_given_priorities() {
        return Vec::new();
    }
    let mut of = [0; 16];
    of.iter_mut()
        .zip(numbers)
        .for_each(|(level, &number)| *level = u8::try_from(GIVEN[number]).expect("small"));
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    ways.map(|(keeps_place, last_first)| Rule::Levels(Levels { of, keeps_place, last_first })).into()
}

/// The worst that is seen of each task.
fn seen(scheduler: Analysed, case: &Case, latency: u64, random: &mut Random) -> Vec<Seen> {
    let mut worst = vec![Seen::default(); case.tasks.len()];
    for (at, cell) in case.cells.iter().enumerate() {
        let processors = scheduler.running(cell.processors);
        let numbers = in_order(scheduler, case, at);
        let tasks: Vec<_> = numbers.iter().map(|&number| case.tasks[number]).collect();
        let rules = match scheduler.priorities(processors) {
            Priorities::EarliestDeadlineFirst => {
                vec![Rule::EarliestDeadlineFirst, Rule::EarliestDeadlineLastTask]
            }
            Priorities::ZeroLaxity => vec![Rule::ZeroLaxity],
            Priorities::FairLateness => vec![Rule::FairLateness],
            Priorities::Fixed => [vec![Rule::Fixed], among_equals(scheduler, &numbers)].concat(),
            Priorities::Pfair => Vec::new(),
        };
        for rule in rules {
            for arrivals in [Arrivals::Synchronous, Arrivals::Sporadic] {
                let jobs = jobs(arrivals, &tasks, latency, random);
                let found = simulate(&tasks, &jobs, processors, rule, 2 * END);
                for (&number, seen) in numbers.iter().zip(found) {
                    let worst = &mut worst[number];
                    worst.response_max = worst.response_max.max(seen.response_max);
                    worst.tardiness_max = worst.tardiness_max.max(seen.tardiness_max);
                }
            }
        }
    }
    worst
}

fn broken(judgement: &Judgement, guarantee: Guarantee, seen: &[Seen]) -> Option<usize> {
    let Verdict::Schedulable(bounds) = &judgement.verdict else { return None };
    let late = |seen: &Seen| guarantee == Guarantee::Hard && seen.tardiness_max > 0;
    let exceeds = |(at, seen): (usize, &Seen)| match bounds {
        Bounds::None => false,
        Bounds::ResponseTimes(bounds) => seen.response_max > bounds[at],
        Bounds::Tardiness(bounds) => seen.tardiness_max > bounds[at],
    };
    seen.iter().position(late).or_else(|| seen.iter().enumerate().position(exceeds))
}

/// The test above would see it: without regard to equals, the first of them goes first, and that is broken.
#[test]
fn a_proof_that_puts_the_first_of_equals_first_is_broken_under_sched_fifo() {
    for (linux, own) in [("p-fp", "p-push-pull:fp"), ("c-fp", "c-push-pull:fp"), ("g-fp", "push-pull:fp")] {
        let [linux, own]: [Analysed; 2] = [linux, own].map(|name| name.parse().expect("a scheduler"));
        let (mut broken_by, mut proven) = (0, 0);
        for seed in seeds!(0..4_000) {
            let case = Case::of(seed, linux.scope(), false);
            let hard = |scheduler: Analysed| scheduler.judge(&case.placed(None), Asked::of(Guarantee::Hard));
            let (of_linux, of_own) = (hard(linux), hard(own));
            assert!(of_own.verdict.is_schedulable() || !of_linux.verdict.is_schedulable(), "{case:?}");
            proven += u32::from(of_linux.verdict.is_schedulable());
            if of_own.verdict.is_schedulable() {
                let seen = seen(linux, &case, 0, &mut Random(seed ^ 0x5bd1_e995));
                broken_by += u32::from(broken(&of_own, Guarantee::Hard, &seen).is_some());
            }
        }
        let enough = broken_by > 5 && proven > 100;
        assert!(!laxity_seeds::are_usual() || enough, "{linux}: {broken_by} {proven}");
    }
}

#[test]
fn no_schedule_breaks_what_is_said_of_its_scheduler() {
    let (mut proven, all) = (0, all());
    for seed in seeds!(0..400) {
        for &scheduler in &all {
            let case = Case::of(seed, scheduler.scope(), scheduler.dedicates_a_processor());
            let mut random = Random(seed ^ 0x5bd1_e995);
            let latency = random.below(4);
            let overheads = Overheads::none().with(Overhead::ReleaseLatency, Monotone::constant(latency));
            let placed = case.placed((latency > 0).then_some(&overheads));
            for guarantee in [Guarantee::Hard, Guarantee::Soft] {
                let judgement = scheduler.judge(&placed, Asked::of(guarantee));
                if !judgement.verdict.is_schedulable() {
                    continue;
                }
                proven += 1;
                let seen = seen(scheduler, &case, latency, &mut random);
                let broken = broken(&judgement, guarantee, &seen);
                assert!(
                    broken.is_none(),
                    "{scheduler}, {guarantee:?}, ev {latency}: task {broken:?}\n{case:?}\n{judgement:?}\n{seen:?}\n\
                     LAXITY_SEEDS={seed}..{} cargo test --release -p laxity-analysis --test schedulers",
                    seed + 1
                );
            }
        }
    }
    println!("{proven} proven");
    assert!(proven > 100);
}
