//! Pfair against PD2: every set that `pfair` accepts meets every pseudo-deadline, and so every deadline, whatever the order of equals;
//! none that it refuses can. `LAXITY_SEEDS=2000..90000` looks at other sets.

mod pd2;

use laxity_analysis::overheads::Overheads;
use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::{AnalysedCell, Bounds, Guarantee, Pfair, SporadicTask, Test, Verdict, Work};
use laxity_model::gcd;
use laxity_seeds::{Random, seeds};
use pd2::{Arrivals, Rules, Seen, Weight, schedule};

/// All at once, then every period.
struct Periodic;

impl Arrivals for Periodic {
    fn delay(&mut self, _: usize) -> u64 {
        0
    }
}

/// A third of the jobs up to four quanta later.
struct Sporadic(Random);

impl Arrivals for Sporadic {
    fn delay(&mut self, _: usize) -> u64 {
        if self.0.between(0, 2) == 0 { self.0.between(1, 4) } else { 0 }
    }
}

/// All periods divide it.
const HYPERPERIOD: u64 = 120;

/// A set that fills its processors: U = m, in steps of 1/120, heavy tasks more often than light ones.
fn full(seed: u64) -> (Vec<Weight>, usize) {
    let mut random = Random(seed);
    let processors = random.between(2, 5);
    let (mut left, mut weights) = (processors * HYPERPERIOD, Vec::new());
    while left > 0 {
        let p = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20][usize::try_from(random.between(0, 9)).expect("small")];
        let least = 1 + random.between(0, 1) * (p / 2);
        let e = random.between(least, p);
        let share = (e * HYPERPERIOD / p).min(left);
        let common = gcd(share, HYPERPERIOD);
        weights.push(Weight { e: share / common, p: HYPERPERIOD / common });
        left -= share;
    }
    (weights, usize::try_from(processors).expect("small"))
}

fn judge(weights: &[Weight], processors: usize) -> Verdict {
    let tasks: Vec<_> = weights.iter().map(|weight| SporadicTask::implicit(weight.e, weight.p)).collect();
    let processors = u32::try_from(processors).expect("small");
    Pfair.judge(&tasks, processors, &mut Work::default())
}

fn periodic(weights: &[Weight], processors: usize, rules: Rules, last_first: bool) -> Seen {
    schedule(weights, processors, HYPERPERIOD, rules, last_first, &mut Periodic)
}

/// All pseudo-deadlines are met, and no job responds later than the bound.
fn keeps(verdict: &Verdict, seen: &Seen, what: &dyn Fn() -> String) {
    let Verdict::Schedulable(Bounds::ResponseTimes(bounds)) = verdict else {
        panic!("{verdict:?}: {}", what())
    };
    assert_eq!(seen.missed, None, "{}", what());
    assert!(seen.responses.iter().zip(bounds).all(|(seen, bound)| seen <= bound), "{seen:?}: {}", what());
}

#[test]
fn full_processors_meet_every_pseudo_deadline() {
    let mut reached = 0;
    for seed in seeds!(0..2_000) {
        let (weights, processors) = full(seed);
        let verdict = judge(&weights, processors);
        for last_first in [false, true] {
            let what = || format!("seed {seed}: {weights:?} on {processors}, last first: {last_first}");
            let seen = periodic(&weights, processors, Rules::Pd2, last_first);
            keeps(&verdict, &seen, &what);
            assert_eq!(seen.idle, 0, "{}", what());
            reached +=
                seen.responses.iter().zip(&weights).filter(|&(&seen, weight)| seen == weight.p).count();
            let mut sporadic = Sporadic(Random(seed));
            let seen = schedule(&weights, processors, 3 * HYPERPERIOD, Rules::Pd2, last_first, &mut sporadic);
            keeps(&verdict, &seen, &what);
        }
    }
    // The bound T is not too large.
    laxity_seeds::assert_together!(reached > 1_000, "{reached}");
}

/// All sets of up to five tasks with periods up to 4, on one to three processors.
#[test]
fn all_small_sets_are_schedulable_if_and_only_if_they_fit() {
    let all: Vec<Weight> = (1..=4).flat_map(|p| (1..=p).map(move |e| Weight { e, p })).collect();
    let (mut fit, mut not) = (0, 0);
    let mut stack: Vec<Vec<usize>> = (0..all.len()).map(|at| vec![at]).collect();
    while let Some(chosen) = stack.pop() {
        let weights: Vec<Weight> = chosen.iter().map(|&at| all[at]).collect();
        for processors in [1, 2, 3] {
            let verdict = judge(&weights, processors);
            let work: u64 = weights.iter().map(|weight| weight.e * (12 / weight.p)).sum();
            let seen = schedule(&weights, processors, 12, Rules::Pd2, false, &mut Periodic);
            if work <= 12 * processors as u64 {
                keeps(&verdict, &seen, &|| format!("{weights:?} on {processors}"));
                fit += 1;
            } else {
                // What does not fit ends late under any scheduler.
                assert_eq!(verdict, Verdict::FAILS, "{weights:?} on {processors}");
                assert!(seen.missed.is_some(), "{weights:?} on {processors}");
                not += 1;
            }
        }
        if chosen.len() < 5 {
            let last = *chosen.last().expect("a task");
            stack.extend((last..all.len()).map(|next| [&chosen[..], &[next]].concat()));
        }
    }
    println!("{fit} fit, {not} do not");
    assert!(fit > 1_000 && not > 1_000, "{fit} {not}");
}

/// Whole quanta are what PD2 gives away, whatever scheduling costs: of C = 1 ns as of C = Q.
#[test]
fn a_quantum_is_whole_where_scheduling_costs_nothing() {
    let aligned: Analysed = "pfair:aligned".parse().expect("a scheduler");
    let (mut fit, mut not, mut lost) = (0, 0, 0);
    for seed in seeds!(0..2_000) {
        let mut random = Random(seed);
        let quantum = [1, 3, 10, 1_000][usize::try_from(random.between(0, 3)).expect("small")];
        let overheads = Overheads::none().with_tick_period(quantum);
        let (mut weights, mut tasks) = (Vec::new(), Vec::new());
        for _ in 0..random.between(1, 5) {
            let p = [1, 2, 3, 4, 6, 12][usize::try_from(random.between(0, 5)).expect("small")];
            let wcet = random.between(1, p * quantum);
            weights.push(Weight { e: wcet.div_ceil(quantum), p });
            tasks.push(SporadicTask::implicit(wcet, p * quantum));
        }
        for processors in [1, 2, 3] {
            let cells = [AnalysedCell { processors, tasks: (0..tasks.len()).collect() }];
            let proven = |overheads| {
                let (working_sets, given_priorities, servers) = (&[], &[], &[]);
                let placed = Placed {
                    tasks: &tasks,
                    working_sets,
                    given_priorities,
                    cells: &cells,
                    servers,
                    overheads,
                };
                aligned.judge(&placed, Asked::of(Guarantee::Hard)).verdict.is_schedulable()
            };
            let processors = usize::try_from(processors).expect("small");
            let seen = schedule(&weights, processors, 12, Rules::Pd2, false, &mut Periodic);
            let whole = proven(Some(&overheads));
            assert_eq!(whole, seen.missed.is_none(), "seed {seed}: {tasks:?} on {processors}, Q = {quantum}");
            assert!(proven(None) || !whole, "seed {seed}: {tasks:?} on {processors}, Q = {quantum}");
            (fit, not) = (fit + u32::from(whole), not + u32::from(!whole));
            lost += u32::from(proven(None) && !whole);
        }
    }
    assert!(!laxity_seeds::are_usual() || fit > 500 && not > 500 && lost > 100, "{fit} {not} {lost}");
}

/// Without one of its rules, PD2 is not optimal: the simulation shows it.
#[test]
fn no_rule_of_pd2_can_be_left_out() {
    for rules in [Rules::WithoutGroupDeadlines, Rules::WithoutBits, Rules::Reversed] {
        let misses = |seed: &u64| {
            let (weights, processors) = full(*seed);
            [false, true].iter().any(|&last| periodic(&weights, processors, rules, last).missed.is_some())
        };
        let caught: Vec<u64> = (0..2_000).filter(misses).collect();
        println!("{rules:?}: {} sets, the first of seed {:?}", caught.len(), caught.first());
        assert!(!caught.is_empty(), "{rules:?}");
    }
}

/// Anderson and Srinivasan (2004) draw the windows of a task of weight 8/11: `[0, 2), [1, 3), [2, 5), [4, 6), [5, 7), [6, 9), [8, 10),
/// [9, 11)`. Their group deadlines end its three cascades.
#[test]
fn windows_of_weight_eight_elevenths() {
    let weight = Weight { e: 8, p: 11 };
    let groups: Vec<u64> = (1..=8).map(|subtask| weight.group_deadline(subtask)).collect();
    assert_eq!(groups, [4, 4, 8, 8, 8, 11, 11, 11]);
    let alone = periodic(&[weight], 1, Rules::Pd2, false);
    assert_eq!((alone.missed, alone.responses), (None, vec![10]));
}
