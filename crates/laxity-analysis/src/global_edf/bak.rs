//! BAK: the load of a window that is as long as it can be and still overloaded: Theorem 12 of Baker (2003),
//! which Bertogna, Cirinei and Lipari (ECRTS 2005) have as Theorem 5 (equation 6).
//!
//! Assumptions beyond those of all tests:
//! 1. J = 0: a job that has arrived is not kept from the scheduler.
//!
//! With lambda_k = C_k / min(D_k, T_k), task k meets its deadlines if
//! sum over all i of min(1, beta_i) <= m (1 - lambda_k) + lambda_k, where
//!
//! (a) beta_i = u_i (1 + max(0, T_i - D_i) / D_k)                                       if u_i <= lambda_k,
//! (b) beta_i = u_i (1 + (T_i - D_i) / D_k) + (C_i - lambda_k T_i) / D_k                if u_i > lambda_k and D_i <= T_i,
//! (c) beta_i = u_i + C_i / D_k                                                         if u_i > lambda_k and D_i > T_i.
//!
//! The paper has (a) and (b) for D <= T. For longer deadlines its argument holds as follows. Let task k be backlogged from t_0
//! until it misses at t_d: it has executed less than lambda_k (t_d - t_0), so that the load of the window is above
//! mu = m (1 - lambda_k) + lambda_k. Extend the window downward as far as its load exceeds mu, to the length L >= D_k, and let task
//! i have been backlogged for f before the window. Then it executed more than lambda_k f of it, so that in the window it executes
//! at most (floor((L + f - D_i) / T_i) + 1) C_i - lambda_k f <= u_i L + u_i (T_i - D_i) + f (u_i - lambda_k). If
//! u_i <= lambda_k this is (a). Otherwise, as no deadline was missed before, f is below D_i <= T_i (b), or only jobs that
//! arrived later than D_i before the window execute in it, at most ceil(L / T_i) of them (c).
//!
//! beta_k = lambda_k in either case, so it is left out on both sides. Sums are compared in fixed point, rounded in both directions,
//! and as rationals where that leaves it open. Without the minimum the sum follows from prefix sums over tasks by utilization:
//! where it suffices, no sum over tasks is needed.

use super::assumptions::{NO_JITTER, without_jitter};
use super::share;
use crate::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
    papers,
};
use laxity_model::LoadSum;
use std::cmp::Reverse;

/// Baker's test (2003).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bak;

static INFO: TestInfo = TestInfo {
    name: "bak",
    source: Source::Papers(&[
        Citation {
            paper: "Baker: Multiprocessor EDF and deadline monotonic schedulability analysis, RTSS 2003",
            theorem: Theorem::Numbered("Theorem 12"),
        },
        Citation {
            paper: papers::BERTOGNA_2005,
            theorem: Theorem::Numbered(
                "Theorem 5 and equation 6 (the same); for D > T, jobs that a task carries in count as \
                well",
            ),
        },
    ]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n log n) for tasks with room, O(n) steps for each other task",
    assumptions: &[NO_JITTER],
};

impl Test for Bak {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        without_jitter(tasks, work)?;
        let loads: Vec<Load> = tasks.iter().map(Load::of).collect();
        let prefixes = Prefixes::of(&loads);
        for k in 0..tasks.len() {
            if prefixes.suffice(&loads[k], processors) {
                continue;
            }
            work.take(tasks.len() as u64)?;
            if !meets(&loads, k, processors) {
                return Ok(Verdict::fails_at(k));
            }
        }
        Ok(Verdict::SCHEDULABLE)
    }
}

/// A task with what the sums need of it.
#[derive(Debug, Clone, Copy)]
struct Load {
    task: SporadicTask,
    /// max(0, T - D)
    early: u64,
    /// floor of u, and of lambda, in units of 2^-60.
    share: u128,
    density: u128,
}

impl Load {
    fn of(task: &SporadicTask) -> Self {
        let share = share::floor(task.wcet_ns, task.period_ns);
        let window = task.density_window();
        let density = if window == task.period_ns { share } else { share::floor(task.wcet_ns, window) };
        Load { task: *task, early: task.period_ns.saturating_sub(task.deadline_rel_ns), share, density }
    }

    /// u_i > lambda_k
    fn exceeds(&self, k: &Load) -> bool {
        let window = u128::from(k.task.density_window());
        self.share > k.density
            || self.share == k.density
                && u128::from(self.task.wcet_ns) * window
                    > u128::from(k.task.wcet_ns) * u128::from(self.task.period_ns)
    }

    /// T_i where lambda_k T_i is taken off, 0 where it is not.
    fn period_taken(&self) -> u64 {
        if self.task.deadline_rel_ns <= self.task.period_ns { self.task.period_ns } else { 0 }
    }
}

/// Sums over the tasks of the highest utilizations.
struct Prefixes {
    /// Floors of the utilizations, descending.
    shares: Vec<u128>,
    /// Of the first j tasks: sum of C_i, of T_i where D_i <= T_i.
    wcets_ns: Vec<u128>,
    periods_ns: Vec<u128>,
    /// Of all: ceil of u, and of u max(0, T - D), in units of 2^-60.
    share: u128,
    early: u128,
}

impl Prefixes {
    fn of(loads: &[Load]) -> Self {
        let mut sorted: Vec<&Load> = loads.iter().collect();
        sorted.sort_unstable_by_key(|load| Reverse(load.share));
        let sums = |value: fn(&Load) -> u64| {
            let mut sum = 0u128;
            let running = sorted.iter().map(|load| {
                sum += u128::from(value(load));
                sum
            });
            std::iter::once(0).chain(running).collect()
        };
        Prefixes {
            wcets_ns: sums(|load| load.task.wcet_ns),
            periods_ns: sums(Load::period_taken),
            share: loads.iter().map(|load| load.share + 1).sum(),
            // (2^60 + 1) 2^50 each
            early: loads.iter().map(|load| (load.share + 1) * u128::from(load.early)).sum(),
            shares: sorted.iter().map(|load| load.share).collect(),
        }
    }

    /// Whether task k meets the condition even without the minimum.
    ///
    /// A task whose floor is that of lambda_k may be counted although u_i <= lambda_k: with lambda_k rounded down it adds no less
    /// than nothing.
    fn suffice(&self, k: &Load, processors: u32) -> bool {
        let above = self.shares.partition_point(|&share| share >= k.density);
        let deadline = u128::from(k.task.deadline_rel_ns);
        let added = self.wcets_ns[above] << share::BITS;
        let taken = k.density * self.periods_ns[above];
        // Each of n terms is below 2^60 2^51: thousands of them are below 2^124. Task k itself counts lambda_k D_k, and its own
        // part on the left is at least its floor.
        let Some(sum) = (self.share * deadline + self.early + added).checked_sub(taken) else { return true };
        let own = k.share * (deadline + u128::from(k.early));
        let idle = ((1 << share::BITS) - 1u128).saturating_sub(k.density) * deadline;
        // Of millions of processors the product is above any sum, even where it does not fit.
        sum - own.min(sum) <= u128::from(processors).saturating_mul(idle)
    }
}

/// The condition of task k, exactly: multiplied by D_k, and without task k on either side.
fn meets(loads: &[Load], k: usize, processors: u32) -> bool {
    let own = &loads[k];
    let deadline = u128::from(own.task.deadline_rel_ns);
    let whole = deadline << share::BITS;
    // The sum is at least `least`, and at most `least + gap`.
    let (mut least, mut gap) = (0u128, 0u128);
    for load in loads[..k].iter().chain(&loads[k + 1..]) {
        let window = deadline + u128::from(load.early);
        let mut term = load.share * window;
        let mut open = window;
        if load.exceeds(own) {
            let period = u128::from(load.period_taken());
            let taken = (own.density + 1) * period;
            term = (term + (u128::from(load.task.wcet_ns) << share::BITS)).saturating_sub(taken);
            open += period;
        }
        least += term.min(whole);
        gap += open;
    }
    // m (D_k - lambda_k D_k), and D_k units less at most.
    let processors_wide = u128::from(processors);
    let room = processors_wide.saturating_mul(((1 << share::BITS) - own.density) * deadline);
    if least > room {
        return false;
    }
    if least + gap + processors_wide * deadline <= room {
        return true;
    }
    meets_exactly(loads, k, processors)
}

/// The same without rounding. Multiplied by min(D_k, T_k) as well, the term of task i is a whole number and a fraction r / T_i below
/// 1, and both sides of the minimum with D_k are whole but for that fraction, which therefore does not matter to it.
fn meets_exactly(loads: &[Load], k: usize, processors: u32) -> bool {
    let own = &loads[k];
    let (wcet, scale) = (i128::from(own.task.wcet_ns), i128::from(own.task.density_window()));
    let most = scale * i128::from(own.task.deadline_rel_ns);
    // m (1 - lambda_k) D_k is in question only where it is about the sum of the others or less. Each term is below 2^103.
    let mut left = i128::from(processors) * (scale - wcet) * i128::from(own.task.deadline_rel_ns);
    let mut parts = LoadSum::new();
    for load in loads[..k].iter().chain(&loads[k + 1..]) {
        let (whole, part) = scaled_term(load, own);
        if whole >= most {
            left -= most;
        } else {
            left -= whole;
            parts.add_ratio(part, load.task.period_ns);
        }
    }
    // Fractions below 1 sum to less than their number.
    match u64::try_from(left) {
        Ok(left) => parts.cmp_ratio(left, 1).is_le(),
        Err(_) => left > 0,
    }
}

/// beta_i D_k min(D_k, T_k), without the minimum: a whole number, and the numerator of a fraction of T_i below 1.
fn scaled_term(load: &Load, own: &Load) -> (i128, u64) {
    let (wcet, period) = (u128::from(load.task.wcet_ns), u128::from(load.task.period_ns));
    let scale = u128::from(own.task.density_window());
    // u_i (D_k + max(0, T_i - D_i)), times the scale: the remainder of one quotient goes into the next.
    let product = wcet * (u128::from(own.task.deadline_rel_ns) + u128::from(load.early));
    let carried = product % period * scale;
    let whole = product / period * scale + carried / period;
    let part = u64::try_from(carried % period).expect("below the period");
    let mut whole = whole.cast_signed();
    if load.exceeds(own) {
        let taken = u128::from(own.task.wcet_ns) * u128::from(load.period_taken());
        whole += (wcet * scale).cast_signed() - taken.cast_signed();
    }
    (whole, part)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{random_of, random_tasks};
    use super::*;
    use laxity_model::Utilization;
    use laxity_seeds::Random;

    /// The condition in rationals, word by word, multiplied by D_k: terms are above 0.
    fn meets_in_rationals(loads: &[Load], k: usize, processors: u32) -> bool {
        let own = &loads[k].task;
        let whole = Utilization::whole;
        let density = Utilization::ratio(own.wcet_ns, own.density_window());
        let (mut left, mut right) = (whole(0), whole(0));
        for (i, load) in loads.iter().enumerate().filter(|&(i, _)| i != k) {
            let SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, .. } = load.task;
            let early = period.saturating_sub(deadline);
            let mut term = Utilization::ratio(wcet, period).times(&whole(own.deadline_rel_ns + early));
            let mut taken = whole(0);
            if Utilization::ratio(wcet, period) > density {
                term = term.plus(&whole(wcet));
                taken = density.times(&whole(if deadline <= period { period } else { 0 }));
            }
            assert!(i != k && term > taken);
            if term >= whole(own.deadline_rel_ns).plus(&taken) {
                left = left.plus(&whole(own.deadline_rel_ns));
            } else {
                left = left.plus(&term);
                right = right.plus(&taken);
            }
        }
        let processors = whole(processors.into()).times(&whole(own.deadline_rel_ns));
        left.plus(&processors.times(&density)) <= right.plus(&processors)
    }

    /// Tasks of up to `n`, some with D > T, with parameters up to 2^50: multiples of small ones, or near them.
    fn large(random: &mut Random, n: u64) -> Vec<SporadicTask> {
        let count = random.between(2, n);
        let scale = random.between(1, 1 << 46);
        let mut tasks = random_tasks(random, count, 12);
        for task in &mut tasks {
            if random.between(0, 3) == 0 {
                task.deadline_rel_ns = random.between(task.wcet_ns, 12);
            }
            for value in [&mut task.wcet_ns, &mut task.deadline_rel_ns, &mut task.period_ns] {
                *value *= scale;
            }
            if random.between(0, 9) == 0 {
                task.wcet_ns -= 1;
            }
        }
        tasks
    }

    #[test]
    fn integers_agree_with_rationals() {
        let mut seen = [0; 2];
        for seed in laxity_seeds::seeds!(0..3_000) {
            let mut random = random_of(seed);
            let tasks = large(&mut random, 9);
            let loads: Vec<Load> = tasks.iter().map(Load::of).collect();
            for (k, processors) in (0..tasks.len()).flat_map(|k| (1..5).map(move |m| (k, m))) {
                let expected = meets_in_rationals(&loads, k, processors);
                let found = (meets_exactly(&loads, k, processors), meets(&loads, k, processors));
                assert_eq!(found, (expected, expected), "seed {seed}, task {k} of {tasks:?} on {processors}");
                seen[usize::from(expected)] += 1;
            }
        }
        laxity_seeds::assert_together!(seen.iter().all(|&count| count > 5_000), "{seen:?}");
    }

    #[test]
    fn hundreds_of_unrelated_periods_that_use_up_all_there_is() {
        // lambda_k = 1/2 is the largest: sum of u_i <= m / 2 is left. Each pair has C_1 + C_2 = T / 2.
        let processors = 300;
        let half = SporadicTask::implicit(1 << 49, 1 << 50);
        let pair = |place: u64| {
            let period = (1 << 50) - 2 * (3 * place + 1);
            let wcet = period / (place + 3);
            [SporadicTask::implicit(wcet, period), SporadicTask::implicit(period / 2 - wcet, period)]
        };
        let mut tasks: Vec<SporadicTask> = (0..300).flat_map(pair).collect();
        tasks.push(half);
        let meets_at = |tasks: &[SporadicTask]| {
            let loads: Vec<Load> = tasks.iter().map(Load::of).collect();
            (meets(&loads, 600, processors), meets_exactly(&loads, 600, processors))
        };
        assert_eq!(meets_at(&tasks), (true, true));
        // 2^-50 more, which is below the resolution of the sum in fixed point.
        tasks[77].wcet_ns += 1;
        assert_eq!(meets_at(&tasks), (false, false));
    }
    #[test]
    fn utilizations_that_differ_by_less_than_the_resolution() {
        // u - lambda = 1 / (T_i T_k).
        let period = 3u64.pow(31);
        let more = Load::of(&SporadicTask::implicit(period - 1, period));
        let less = Load::of(&SporadicTask::implicit(period - 2, period - 1));
        assert_eq!(more.share, less.density);
        assert!(more.exceeds(&less) && !less.exceeds(&more) && !more.exceeds(&more));
    }

    #[test]
    fn what_rounding_leaves_open_is_decided_exactly() {
        // Of the sum: quarters of T in 1200 tasks for 300 / 2 processors. A period less by 4 makes u more by 2^-78 or so.
        let pair = |place: u64| {
            let period = (1 << 50) - 4 * (3 * place + 1);
            let wcet = period / (4 * place + 1_000_000);
            [SporadicTask::implicit(wcet, period), SporadicTask::implicit(period / 4 - wcet, period)]
        };
        let mut tasks: Vec<SporadicTask> = (0..600).flat_map(pair).collect();
        tasks.push(SporadicTask::implicit(1 << 49, 1 << 50));
        let meets_at = |tasks: &[SporadicTask], k, processors| {
            meets(&tasks.iter().map(Load::of).collect::<Vec<_>>(), k, processors)
        };
        assert!(meets_at(&tasks, 1_200, 300));
        tasks[8].period_ns -= 4;
        tasks[8].deadline_rel_ns -= 4;
        assert!(!meets_at(&tasks, 1_200, 300));
        // Of the room: m (1 - lambda) = m a / T, where a 2^60 / T is not whole.
        let (processors, period, left) = (1 << 14, 3 << 48, (3 << 35) - 1);
        let most = u64::from(processors) * left;
        let others = |sum: u64| [sum / 3, sum / 3, sum - 2 * (sum / 3)];
        let set = |sum: u64| {
            let wcets = [[period - left].as_slice(), &others(sum)].concat();
            wcets.iter().map(|&wcet| SporadicTask::implicit(wcet, period)).collect::<Vec<_>>()
        };
        assert!(meets_at(&set(most), 0, processors));
        assert!(!meets_at(&set(most + 1), 0, processors));
    }
}
