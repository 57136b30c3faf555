//! Cold caches while a schedule goes on.

use super::{CpuState, Engine, EventKind};
use crate::costs::{CacheCosts, CacheDelay, CacheState, Contended, Reloaded};
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
        /// How long an access takes, where that is known.
        access: Option<Access>,
        /// By task.
        jobs: Vec<Followed>,
    },
}

/// An access as work, in units of 10^-3 / scale ns at speed 1.
#[derive(Debug, Clone, Copy)]
pub struct Access(u128);

impl Access {
    /// How many accesses so much work is, in units of 1 / scale ns at speed 1; rounded down.
    fn lines_in(self, work: u64) -> u64 {
        u64::try_from(u128::from(work) * 1_000 / self.0).unwrap_or(u64::MAX)
    }

    /// How much work so many accesses are, rounded up.
    fn work_of(self, lines: u64) -> u64 {
        u64::try_from((u128::from(lines) * self.0).div_ceil(1_000)).unwrap_or(u64::MAX)
    }
}

/// What is known of a task's present job. Work is in units of 1 / scale ns at speed 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Followed {
    /// Lines that it had from memory.
    memory_lines: u64,
    /// What it lost to others before it left its core, in ns: it takes so much longer when it goes on.
    debt_ns: u64,
    /// It has done its work, and is on a core only for what it lost to others.
    is_done: bool,
    /// Its stay on a core, until it is known what came of it.
    stay: Option<Stay>,
    /// What was added to its work for cold caches, and for what it lost, and has not passed yet.
    unpaid: Extra,
}

/// What is added to a job's work.
#[derive(Debug, Clone, Copy, Default)]
struct Extra {
    cold: u64,
    debt: u64,
}

impl Extra {
    fn sum(self) -> u64 {
        self.cold + self.debt
    }

    /// What is left of it once `done` of `all` has passed.
    fn after(self, done: u64, all: u64) -> Extra {
        let left = u128::from(all.saturating_sub(done));
        let share =
            |part: u64| u64::try_from(u128::from(part) * left / u128::from(all.max(1))).unwrap_or(part);
        Extra { cold: share(self.cold), debt: share(self.debt) }
    }
}

/// A job's stay on a core.
#[derive(Debug, Clone, Copy)]
struct Stay {
    /// The job's work when it began, with all that is extra.
    work: u64,
    /// What of it is extra. It passes while the first walk does, at one pace.
    extra: Extra,
    /// The lines of that walk.
    lines: u64,
}

/// A job's work, where it is.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// What is left of it.
    pub left: u64,
    /// Of how much of it a ns there is.
    pub rate: u64,
}

impl Caches {
    /// Those of a setup, whose work is counted in parts of 1 / `scale` ns; nothing if they cost nothing.
    ///
    /// # Errors
    ///
    /// Groups whose sizes contradict each other.
    pub fn of(setup: &Setup<'_>, scale: u64) -> Result<Option<Caches>> {
        let tasks = setup.set.tasks();
        if let Some(delay) = setup.costs.cache_delay(setup.platform) {
            let working_sets = tasks.iter().map(|task| task.working_set.size_bytes).collect();
            return Ok(Some(Caches::Distance(delay, working_sets)));
        }
        let access_ps = setup.costs.cache.as_ref().and_then(CacheCosts::access_ps);
        let access = access_ps.map(|ps| Access(u128::from(ps) * u128::from(scale)));
        let state = setup.costs.cache_state(setup.platform, setup.set)?;
        Ok(state.map(|state| Caches::State { state, access, jobs: vec![Followed::default(); tasks.len()] }))
    }

    /// A job of the task takes a core; if it goes on, `last` is where it was stopped. How much longer it takes, in ns.
    pub fn taken(&mut self, task: u32, last: Option<u32>, cpu: u32, now: u64, work: Work) -> u64 {
        match self {
            Caches::Distance(delay, working_sets) => {
                last.map_or(0, |last| delay.delay(working_sets[task as usize], last, cpu))
            }
            Caches::State { state, access, jobs } => {
                let job = &mut jobs[task as usize];
                let unpaid = std::mem::take(&mut job.unpaid);
                let useful = if job.is_done { 0 } else { work.left.saturating_sub(unpaid.sum()) };
                let most = access.map(|access| access.lines_in(useful));
                let Reloaded { delay_ns, lines, cold_lines } = state.enter(task as usize, cpu as usize, most);
                // What it has not paid yet is in its work still.
                let cold_ns = (delay_ns * work.rate).saturating_sub(unpaid.cold).div_ceil(work.rate);
                let debt_ns = std::mem::take(&mut job.debt_ns);
                let extra = Extra {
                    cold: unpaid.cold + cold_ns * work.rate,
                    debt: unpaid.debt + debt_ns * work.rate,
                };
                let longer_ns = cold_ns + debt_ns;
                job.stay = Some(Stay { work: work.left + longer_ns * work.rate, extra, lines });
                if !job.is_done {
                    let since = now + extra.sum().div_ceil(work.rate);
                    state.works(task as usize, cpu as usize, since, cold_lines);
                }
                longer_ns
            }
        }
    }

    /// A job of the task leaves a core with so much work left.
    pub fn left(&mut self, task: u32, cpu: u32, now: u64, work_left: u64) {
        if let Caches::State { state, access, jobs } = self {
            let job = &mut jobs[task as usize];
            settle(state, *access, job, task, work_left);
            let delay_ns = lost(state, job, task, now);
            job.debt_ns += delay_ns;
            state.leave(task as usize, cpu as usize);
        }
    }

    /// The task's present job has done its work, or stops with so much of it left: how much longer it takes for what it lost to others
    /// meanwhile, in ns. 0 when it is asked again.
    pub fn done(&mut self, task: u32, now: u64, work_left: u64) -> u64 {
        let Caches::State { state, access, jobs } = self else { return 0 };
        let job = &mut jobs[task as usize];
        settle(state, *access, job, task, work_left);
        job.is_done = true;
        lost(state, job, task, now)
    }

    /// The lines that the task's present job had from memory, for its record; nothing where that is not followed. Its next job is the present one from now on.
    pub fn job_ended(&mut self, task: usize) -> Option<u64> {
        match self {
            Caches::Distance(..) => None,
            Caches::State { jobs, .. } => Some(std::mem::take(&mut jobs[task]).memory_lines),
        }
    }
}

/// A job's stay is over, or its work is: what came of it.
fn settle(state: &mut CacheState, access: Option<Access>, job: &mut Followed, task: u32, work_left: u64) {
    let Some(Stay { work, extra, lines }) = job.stay.take() else { return };
    let walked = access.map(|access| {
        let done = work.saturating_sub(work_left);
        let first = extra.sum().saturating_add(access.work_of(lines));
        if done >= first {
            return access.lines_in(done - extra.sum());
        }
        job.unpaid = extra.after(done, first);
        u64::try_from(u128::from(lines) * u128::from(done) / u128::from(first)).unwrap_or(lines)
    });
    job.memory_lines += state.settle(task as usize, walked);
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The job on `cpu` has done its work; whether it goes on there for what others have taken from it meanwhile.
    #[inline(always)]
    pub(super) fn has_lost_lines(&mut self, cpu: u32) -> bool {
        if IDEAL {
            return false;
        }
        let CpuState { running: task, rate, .. } = self.cpus[cpu as usize];
        let lost = self.caches.as_mut().map_or(0, |caches| caches.done(task, self.now, 0));
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
        let rate = self.cpus[cpu as usize].rate;
        let work = Work { left: self.tasks[task as usize].work_left, rate };
        let delay = caches.taken(task, last, cpu, self.now, work);
        if delay > 0 {
            self.tasks[task as usize].work_left += delay * rate;
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
