//! Cold caches while a schedule goes on.

use crate::costs::{CacheDelay, CacheState, Reloaded};
use crate::setup::Setup;
use laxity_model::Result;

/// What cold caches cost, and what they hold where that is followed.
pub enum Caches {
    /// By the distance to where a job was stopped.
    Distance(CacheDelay, Vec<u64>),
    /// By what the caches hold.
    State {
        /// What they hold.
        state: CacheState,
        /// By task: lines that its present job had from memory.
        memory_lines: Vec<u64>,
    },
}

impl Caches {
    /// Those of a setup; nothing if they cost nothing.
    ///
    /// # Errors
    ///
    /// Groups whose sizes contradict each other.
    pub fn of(setup: &Setup<'_>) -> Result<Option<Caches>> {
        let tasks = setup.set.tasks();
        if let Some(delay) = setup.costs.cache_delay(setup.platform) {
            let working_sets = tasks.iter().map(|task| task.working_set.size_bytes).collect();
            return Ok(Some(Caches::Distance(delay, working_sets)));
        }
        let state = setup.costs.cache_state(setup.platform, setup.set)?;
        Ok(state.map(|state| Caches::State { state, memory_lines: vec![0; tasks.len()] }))
    }

    /// A job of the task takes a core; if it goes on, `last` is where it was stopped. How much longer it takes, in ns.
    pub fn taken(&mut self, task: u32, last: Option<u32>, cpu: u32) -> u64 {
        match self {
            Caches::Distance(delay, working_sets) => {
                last.map_or(0, |last| delay.delay(working_sets[task as usize], last, cpu))
            }
            Caches::State { state, memory_lines } => {
                let Reloaded { delay_ns, memory_lines: lines } = state.enter(task as usize, cpu as usize);
                memory_lines[task as usize] += lines;
                delay_ns
            }
        }
    }

    /// A job of the task leaves a core.
    pub fn left(&mut self, task: u32, cpu: u32) {
        if let Caches::State { state, .. } = self {
            state.leave(task as usize, cpu as usize);
        }
    }

    /// The lines that the task's present job had from memory, for its record; nothing where that is not followed.
    pub fn job_ended(&mut self, task: usize) -> Option<u64> {
        match self {
            Caches::Distance(..) => None,
            Caches::State { memory_lines, .. } => Some(std::mem::take(&mut memory_lines[task])),
        }
    }
}
