//! Sets per second and the share accepted, in one thread: `cargo run --release -p laxity-analysis --example fixed_priority_speed`.
//!
//! Utilizations are uniform over all that sum to U with none above 1 (UUniFast with discarding, the distribution of RandFixedSum),
//! periods log-uniform from 10 to 100 ms in whole us, priorities deadline-monotonic. On m processors n = 5 m and D = T. On one, D is
//! uniform in [C, T], or T ("implicit"). Seconds are of CPU time, as the kernel counts it.

use laxity_analysis::{
    Density, FixedPriorityRta, GlobalFixedPriorityGuan, GlobalFixedPriorityRta, PriorityOrder, Qpa,
    SporadicTask, Test, TimeDemand, Work,
};
use std::fs::read_to_string;

const SETS: usize = 300;
const SECONDS_MIN: f64 = 0.5;

/// SplitMix64.
struct Random(u64);

impl Random {
    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn utilizations(&mut self, count: usize, total: f64) -> Vec<f64> {
        loop {
            let mut left = total;
            let mut shares: Vec<f64> = (1..count)
                .rev()
                .map(|after| {
                    let next = left * self.unit().powf(1.0 / after as f64);
                    std::mem::replace(&mut left, next) - next
                })
                .collect();
            shares.push(left);
            if shares.iter().all(|&share| share <= 1.0) {
                return shares;
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times of ms, in whole us")]
    fn set(&mut self, count: usize, total: f64, implicit: bool) -> Vec<SporadicTask> {
        let shares = self.utilizations(count, total);
        let task = |share: f64| {
            let period = (10_000.0 * 10_f64.powf(self.unit())) as u64;
            let wcet = ((period as f64 * share) as u64).clamp(1, period);
            let within = ((period - wcet) as f64 * self.unit()) as u64;
            let deadline = if implicit { period } else { wcet + within };
            SporadicTask::constrained(wcet * 1000, deadline * 1000, period * 1000)
        };
        PriorityOrder::DeadlineMonotonic.sorted(&shares.into_iter().map(task).collect::<Vec<_>>())
    }
}

fn cpu_seconds() -> f64 {
    let ran = read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    ran.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

fn measure(test: &dyn Test, processors: u32, count: usize, load: f64, implicit: bool) {
    let mut random = Random(1);
    let total = load * f64::from(processors);
    let sets: Vec<_> = (0..SETS).map(|_| random.set(count, total, implicit)).collect();
    let (start, mut judged, mut accepted) = (cpu_seconds(), 0, 0);
    // Whole rounds, so that the share is of the same sets for all tests.
    while judged == 0 || cpu_seconds() - start < SECONDS_MIN {
        for set in &sets {
            accepted += usize::from(test.judge(set, processors, &mut Work::default()).is_schedulable());
            judged += 1;
        }
    }
    let per_second = judged as f64 / (cpu_seconds() - start);
    let share = 100.0 * accepted as f64 / judged as f64;
    let deadlines = if implicit { "implicit" } else { "constrained" };
    let name = test.info().name;
    println!(
        "{name:>9} {processors:>4} {count:>5} {load:>5} {deadlines:>12} {per_second:>11.0} {share:>9.0}"
    );
}

fn main() {
    println!(
        "{:>9} {:>4} {:>5} {:>5} {:>12} {:>11} {:>9}",
        "test", "m", "n", "U/m", "deadlines", "sets/s", "accepted%"
    );
    for test in [&GlobalFixedPriorityRta as &dyn Test, &GlobalFixedPriorityGuan] {
        for processors in [8, 24, 64] {
            for load in [0.4, 0.6] {
                measure(test, processors, 5 * processors as usize, load, true);
            }
        }
    }
    for implicit in [true, false] {
        for test in [&FixedPriorityRta as &dyn Test, &TimeDemand, &Qpa, &Density] {
            for count in [10, 50] {
                for load in [0.6, 0.8, 0.95] {
                    measure(test, 1, count, load, implicit);
                }
            }
        }
    }
}
