//! Reservations for soft tasks: bounds against exact chains, budgets against an exhaustive search, and 10^6 simulated jobs.

use crate::random::Random;
use crate::server::Server;
use laxity_analysis::SporadicTask;
use laxity_analysis::settings::{CERTAIN, DemandLaw, KernelRules, Reservation, SoftTask};
use std::collections::BTreeMap;

/// States that are less likely are left out: the exact probability is that much too small at the most for each of them.
const NEGLIGIBLE: f64 = 1e-9;
/// All periods are at most this long.
const PERIOD_MAX: u64 = 8;

pub fn share(probability: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "compared to 9 digits")]
    let share = probability as f64 / CERTAIN as f64;
    share
}

/// How many of some jobs ask for so much.
pub type Counts = BTreeMap<u64, u64>;

/// T up to 6, D up to 8, demands up to 5.
fn small_task(random: &mut Random) -> (SoftTask, Counts) {
    let period = 2 + random.below(5);
    let wcet = 1 + random.below(period.min(5));
    let deadline = wcet + random.below(9 - wcet);
    // The longer, the rarer.
    let counts: Counts =
        (1..=wcet).map(|demand| (demand, (1 + random.below(9)) << (2 * (wcet - demand)))).collect();
    let law = DemandLaw::of_counts(&counts);
    (SoftTask { task: SporadicTask::constrained(wcet, deadline, period), law }, counts)
}

/// The probability that a job misses its deadline if jobs arrive every T and budgets come as late as they may: the server of
/// `server.rs`, step by step, on all of its states at once, over so many jobs.
fn exact(task: &SporadicTask, counts: &Counts, reservation: Reservation, jobs: usize) -> f64 {
    let all: u64 = counts.values().sum();
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let chance = |count: u64| count as f64 / all as f64;
    // What is pending of each job, the first first with its age, and the server: how likely that is when a job arrives.
    type State = (Vec<(u64, u64)>, Server);
    let mut states: std::collections::HashMap<State, f64> =
        [((Vec::new(), Server::new(reservation)), 1.0)].into();
    let mut missed = 0.0;
    for _ in 0..jobs {
        missed = 0.0;
        let mut next = std::collections::HashMap::new();
        for ((pending, server), likely) in states {
            for (&demand, &count) in counts {
                let (mut pending, mut server) = (pending.clone(), server);
                let likely = likely * chance(count);
                server.timer();
                if pending.is_empty() {
                    server.wake_up();
                }
                pending.push((demand, 0));
                for _ in 0..task.period_ns {
                    server.timer();
                    late(&mut pending, &mut server);
                    missed += likely * overdue(&mut pending, task);
                    server.step();
                }
                if likely > NEGLIGIBLE {
                    *next.entry((pending, server)).or_insert(0.0) += likely;
                }
            }
        }
        states = next;
    }
    missed
}

/// A step in which the server runs only if else its budget would not be used up by its deadline.
fn late(pending: &mut Vec<(u64, u64)>, server: &mut Server) {
    if !pending.is_empty() && server.has_budget() && server.runtime >= server.deadline {
        server.run();
        pending[0].0 -= 1;
        if pending[0].0 == 0 {
            pending.remove(0);
        }
    }
}

/// Ages what is pending by a step, and counts which jobs are late now for the first time; very late ones are forgotten in their age.
fn overdue(pending: &mut [(u64, u64)], task: &SporadicTask) -> f64 {
    let mut missed = 0.0;
    for (_, age) in pending {
        *age = (*age + 1).min(task.deadline_rel_ns + 1);
        if *age == task.deadline_rel_ns {
            missed += 1.0;
        }
    }
    missed
}

#[test]
fn bounds_are_above_the_exact_probability_and_near_it_in_phase() {
    let (mut compared, mut tight) = (0, 0);
    for seed in laxity_seeds::seeds!(0..3_000) {
        let mut random = Random::new(seed);
        let (soft, counts) = small_task(&mut random);
        let period = 1 + random.below(PERIOD_MAX);
        let reservation =
            Reservation { runtime_ns: 1 + random.below(period), deadline_rel_ns: period, period_ns: period };
        let bound = share(soft.miss_bound(&reservation));
        if bound >= 0.6 || bound <= 0.0 {
            continue;
        }
        let truth = exact(&soft.task, &counts, reservation, 40);
        assert!(bound >= truth - 1e-9, "seed {seed}: {bound} < {truth}: {soft:?} {reservation:?}");
        compared += 1;
        let in_phase = soft.task.period_ns % period == 0;
        tight += u32::from(in_phase && bound <= truth * 1.01);
    }
    laxity_seeds::assert_together!(compared > 100 && tight > 30, "{compared} compared, {tight} exact");
}

#[test]
fn at_most_1_percent_above_the_least_of_all() {
    let (mut found, mut below_wcet) = (0, 0);
    for seed in laxity_seeds::seeds!(0..1_000) {
        let mut random = Random::new(seed);
        let (soft, _) = small_task(&mut random);
        let target = CERTAIN / [2, 10, 100, 1_000][usize::try_from(random.below(4)).expect("small")];
        let rules =
            KernelRules { runtime_min_ns: 1, period_min_ns: 1 + random.below(3), period_max_ns: PERIOD_MAX };
        let all = (rules.period_min_ns..=rules.period_max_ns).flat_map(|period| {
            (1..=period).flat_map(move |deadline| {
                (1..=deadline).map(move |runtime| Reservation {
                    runtime_ns: runtime,
                    deadline_rel_ns: deadline,
                    period_ns: period,
                })
            })
        });
        let best = all.filter(|one| soft.miss_bound(one) <= target).min_by(Reservation::cmp_bandwidth);
        let chosen = soft.candidates(target, rules).first().copied();
        let bandwidth = |one: &Reservation| one.runtime_ns * 840 / one.period_ns;
        match (best, chosen) {
            (None, None) => {}
            (Some(best), Some(chosen)) => {
                found += 1;
                let [best, own] = [&best, &chosen.reservation].map(bandwidth);
                assert!(own * 100 <= best * 101, "seed {seed}: {own} of {best}: {soft:?}, {chosen:?}");
                assert!(chosen.miss <= target);
                below_wcet += u32::from(own < soft.task.wcet_ns * 840 / soft.task.period_ns);
            }
            other => panic!("seed {seed}: {other:?} of {soft:?}"),
        }
    }
    laxity_seeds::assert_together!(found > 900 && below_wcet > 200, "{found} found, {below_wcet} below C/T");
}
