//! Global EDF and its kin, soft: by how much jobs can be late. Tardiness is bounded if, and only if, U <= m and no task
//! needs more than a processor.

mod compliant_vector;
mod devi_anderson;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

pub use compliant_vector::{CompliantVector, PriorityPoints};
pub use devi_anderson::DeviAnderson;

use crate::{SporadicTask, Verdict};
use laxity_model::LoadSum;

/// ceil(U), exactly. U <= m.
fn utilization_ceiling(tasks: &[SporadicTask], processors: u32) -> u32 {
    let mut load = LoadSum::new();
    tasks.iter().for_each(|task| load.add_ratio(task.wcet_ns, task.period_ns));
    let fits = |count: u32| !load.exceeds(count.into());
    let (mut least, mut most) = (0, processors);
    while least < most {
        let middle = least + (most - least) / 2;
        if fits(middle) { most = middle } else { least = middle + 1 }
    }
    least
}

/// What all bounds here need: jobs that are known to the scheduler when they arrive, and numbers that do not overflow.
const ASSUMPTIONS: &[&str] = &["J = 0", "m <= 2^12"];

/// What all begin with: the first of [`ASSUMPTIONS`] that does not hold.
fn covered(tasks: &[SporadicTask], processors: u32) -> Result<(), Verdict> {
    if processors > 1 << 12 {
        return Err(Verdict::needs(ASSUMPTIONS[1], None));
    }
    Verdict::unless(ASSUMPTIONS[0], tasks, |task| task.jitter_ns == 0)
}
