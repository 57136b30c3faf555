//! BAK: the load of a window that is as long as it can be and still overloaded.
//!
//! With lambda_k = C_k / min(D_k, T_k), task k meets its deadlines if
//! sum over all i of min(1, beta_i) <= m (1 - lambda_k) + lambda_k, where
//!
//! 1. beta_i = u_i (1 + max(0, T_i - D_i) / D_k)                                       if u_i <= lambda_k,
//! 2. beta_i = u_i (1 + (T_i - D_i) / D_k) + (C_i - lambda_k T_i) / D_k                if u_i > lambda_k and D_i <= T_i,
//! 3. beta_i = u_i + C_i / D_k                                                         if u_i > lambda_k and D_i > T_i.
//!
//! The paper has 1 and 2 for D <= T. For longer deadlines its argument holds as follows. Let task k be backlogged from t_0 until
//! it misses at t_d: it has executed less than lambda_k (t_d - t_0), so that the load of the window is above
//! mu = m (1 - lambda_k) + lambda_k. Extend the window downward as far as its load exceeds mu, to the length L >= D_k, and let task
//! i have been backlogged for f before the window. Then it executed more than lambda_k f of it, so that in the window it executes
//! at most (floor((L + f - D_i) / T_i) + 1) C_i - lambda_k f <= u_i L + u_i (T_i - D_i) + f (u_i - lambda_k). If
//! u_i <= lambda_k this is 1. Otherwise, as no deadline was missed before, f is below D_i <= T_i (2), or only jobs that arrived later
//! than D_i before the window execute in it, at most ceil(L / T_i) of them (3).
//!
//! beta_k = lambda_k in either case, so it is left out on both sides. Sums are compared in fixed point, rounded in both directions,
//! and as rationals where that leaves it open. Without the minimum the sum follows from prefix sums over tasks by utilization:
//! where it suffices, no sum over tasks is needed.

use super::assumptions::{NO_JITTER, jitter};
use super::share;
use crate::{Exactness, Guarantee, OutOfWork, Priorities, SporadicTask, Test, TestInfo, Verdict, Work};
use laxity_model::Utilization;
use std::cmp::Reverse;

/// Baker's test (2003).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bak;

static INFO: TestInfo = TestInfo {
    name: "bak",
    source: "Baker: Multiprocessor EDF and deadline monotonic schedulability analysis, RTSS 2003; for D > T see the module",
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

    fn verdict(
        &self,
        tasks: &[SporadicTask],
        processors: u32,
        work: &mut Work,
    ) -> Result<Verdict, OutOfWork> {
        if let Some(verdict) = jitter(tasks) {
            return Ok(verdict);
        }
        work.take(tasks.len() as u64)?;
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
        let share = share::floor(task.wcet, task.period);
        let window = task.density_window();
        let density = if window == task.period { share } else { share::floor(task.wcet, window) };
        Load { task: *task, early: task.period.saturating_sub(task.deadline), share, density }
    }

    /// u_i > lambda_k
    fn exceeds(&self, k: &Load) -> bool {
        let window = u128::from(k.task.density_window());
        self.share > k.density
            || self.share == k.density
                && u128::from(self.task.wcet) * window
                    > u128::from(k.task.wcet) * u128::from(self.task.period)
    }

    /// T_i where lambda_k T_i is taken off, 0 where it is not.
    fn period_taken(&self) -> u64 {
        if self.task.deadline <= self.task.period { self.task.period } else { 0 }
    }
}

/// Sums over the tasks of the highest utilizations.
struct Prefixes {
    /// Floors of the utilizations, descending.
    shares: Vec<u128>,
    /// Of the first j tasks: sum of C_i, of T_i where D_i <= T_i.
    wcets: Vec<u128>,
    periods: Vec<u128>,
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
            wcets: sums(|load| load.task.wcet),
            periods: sums(Load::period_taken),
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
        let deadline = u128::from(k.task.deadline);
        let added = self.wcets[above] << share::BITS;
        let taken = k.density * self.periods[above];
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
    let deadline = u128::from(own.task.deadline);
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
            term = (term + (u128::from(load.task.wcet) << share::BITS)).saturating_sub(taken);
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

fn meets_exactly(loads: &[Load], k: usize, processors: u32) -> bool {
    let own = &loads[k];
    let deadline = Utilization::whole(own.task.deadline);
    let density = Utilization::ratio(own.task.wcet, own.task.density_window());
    // What is taken off stands on the other side.
    let (mut sum, mut room) = (Utilization::zero(), Utilization::zero());
    for load in loads[..k].iter().chain(&loads[k + 1..]) {
        let window = Utilization::whole(own.task.deadline + load.early);
        let mut term = Utilization::ratio(load.task.wcet, load.task.period).times(&window);
        let mut taken = Utilization::zero();
        if load.exceeds(own) {
            term = term.plus(&Utilization::whole(load.task.wcet));
            taken = density.times(&Utilization::whole(load.period_taken()));
        }
        if term >= deadline.plus(&taken) {
            sum = sum.plus(&deadline);
        } else {
            sum = sum.plus(&term);
            room = room.plus(&taken);
        }
    }
    let processors = Utilization::whole(processors.into());
    sum.plus(&processors.times(&density).times(&deadline)) <= room.plus(&processors.times(&deadline))
}
