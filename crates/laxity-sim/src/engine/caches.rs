//! Cold caches while a schedule goes on.

use super::{CpuState, Engine, EventKind};
use crate::costs::{CacheDelay, CacheState, Contended, Reloaded};
use crate::observer::Observer;
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
        /// By task.
        jobs: Vec<Followed>,
    },
}

/// What is known of a task's present job.
#[derive(Debug, Clone, Copy, Default)]
pub struct Followed {
    /// Lines that it had from memory.
    memory_lines: u64,
    /// What it lost to others before it left its core, in ns: it takes so much longer when it goes on.
    debt_ns: u64,
    /// It has done its work, and is on a core only for what it lost to others.
    is_done: bool,
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
        Ok(state.map(|state| Caches::State { state, jobs: vec![Followed::default(); tasks.len()] }))
    }

    /// A job of the task takes a core; if it goes on, `last` is where it was stopped. How much longer it takes, in ns.
    pub fn taken(&mut self, task: u32, last: Option<u32>, cpu: u32, now: u64) -> u64 {
        match self {
            Caches::Distance(delay, working_sets) => {
                last.map_or(0, |last| delay.delay(working_sets[task as usize], last, cpu))
            }
            Caches::State { state, jobs } => {
                let Reloaded { delay_ns, memory_lines } = state.enter(task as usize, cpu as usize);
                let job = &mut jobs[task as usize];
                job.memory_lines += memory_lines;
                let delay_ns = delay_ns + std::mem::take(&mut job.debt_ns);
                if !job.is_done {
                    state.works(task as usize, cpu as usize, now + delay_ns);
                }
                delay_ns
            }
        }
    }

    /// A job of the task leaves a core.
    pub fn left(&mut self, task: u32, cpu: u32, now: u64) {
        if let Caches::State { state, jobs } = self {
            let job = &mut jobs[task as usize];
            let delay_ns = lost(state, job, task, now);
            job.debt_ns += delay_ns;
            state.leave(task as usize, cpu as usize);
        }
    }

    /// The task's present job has done its work: how much longer it takes for what it lost to others meanwhile, in ns. 0 when it is
    /// asked again.
    pub fn done(&mut self, task: u32, now: u64) -> u64 {
        let Caches::State { state, jobs } = self else { return 0 };
        let job = &mut jobs[task as usize];
        job.is_done = true;
        lost(state, job, task, now)
    }

    /// The lines that the task's present job had from memory, for its record; nothing where that is not followed. Its next job is
    /// the present one from now on.
    pub fn job_ended(&mut self, task: usize) -> Option<u64> {
        match self {
            Caches::Distance(..) => None,
            Caches::State { jobs, .. } => Some(std::mem::take(&mut jobs[task]).memory_lines),
        }
    }
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The job on `cpu` has done its work; whether it goes on there for what others have taken from it meanwhile.
    #[inline(always)]
    pub(super) fn has_lost_lines(&mut self, cpu: u32) -> bool {
        if IDEAL {
            return false;
        }
        let CpuState { running: task, rate, .. } = self.cpus[cpu as usize];
        let lost = self.caches.as_mut().map_or(0, |caches| caches.done(task, self.now));
        if lost > 0 {
            self.tasks[task as usize].work_left += lost * rate;
            self.emit(EventKind::CacheDelay, Some(cpu), task, Some(lost));
            self.progress(cpu);
        }
        lost > 0
    }

    /// A job starts on `cpu`, or goes on there after it was stopped on `last`: the caches may be colder than they were.
    pub(super) fn reload_caches(&mut self, task: u32, last: Option<u32>, cpu: u32) {
        let Some(caches) = &mut self.caches else { return };
        let delay = caches.taken(task, last, cpu, self.now);
        if delay > 0 {
            self.tasks[task as usize].work_left += delay * self.cpus[cpu as usize].rate;
            self.emit(EventKind::CacheDelay, Some(cpu), task, Some(delay));
        }
    }
}

/// What a job has lost to others, in ns.
fn lost(state: &mut CacheState, job: &mut Followed, task: u32, now: u64) -> u64 {
    let Contended { delay_ns, memory_lines } = state.rests(task as usize, now);
    job.memory_lines += memory_lines;
    delay_ns
}
