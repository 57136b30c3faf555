//! Tasks in the order of their periods.
//!
//! Windows of one length hold no whole period of the tasks from some place on: sums over tasks in this order divide for the first
//! of them only, and the processor predicts which.

use super::headroom::Rooms;
use crate::SporadicTask;

/// Tasks by period, where each was, and as many processors as matter to them.
pub(super) struct ByPeriod {
    pub(super) tasks: Vec<SporadicTask>,
    pub(super) processors: u64,
    places: Vec<usize>,
}

impl ByPeriod {
    pub(super) fn of(tasks: &[SporadicTask], processors: u32) -> Self {
        let mut places: Vec<usize> = (0..tasks.len()).collect();
        places.sort_unstable_by_key(|&place| (tasks[place].period_ns, place));
        ByPeriod {
            tasks: places.iter().map(|&place| tasks[place]).collect(),
            processors: useful(processors, tasks),
            places,
        }
    }

    /// What a bound on the interference of all at once leaves open, if tasks meet their deadlines below m (D - C + `spare`) of it.
    pub(super) fn rooms(&self, spare: u64) -> Rooms {
        Rooms::of(&self.tasks, self.processors, spare)
    }

    /// Where the task at `at` was.
    pub(super) fn place(&self, at: usize) -> usize {
        self.places[at]
    }

    /// Values of the tasks by period, in the order in which the tasks were.
    pub(super) fn placed(&self, values: &[u64]) -> Vec<u64> {
        let mut placed = vec![0; values.len()];
        self.places.iter().zip(values).for_each(|(&place, &value)| placed[place] = value);
        placed
    }
}

/// At most one processor more than there are tasks, so that m C fits 64 bits: no job waits then, and U < m.
pub(super) fn useful(processors: u32, tasks: &[SporadicTask]) -> u64 {
    u64::from(processors).min(tasks.len() as u64 + 1)
}
