//! Cold caches while a schedule goes on.

use super::{CpuState, Engine, EventKind, NEVER, index_u32};
use crate::costs::{Begins, CacheCosts, CacheDelay, CacheState, Reloaded, quotient, quotient_up};
use crate::observer::Observer;
use crate::setup::Setup;
use laxity_model::Result;
use laxity_trace::Job;

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
        /// The tasks that are looked at.
        sharers: Vec<usize>,
    },
}

/// An access as work, in units of 10^-3 / scale ns at speed 1.
#[derive(Debug, Clone, Copy)]
pub struct Access(u128);

impl Access {
    /// How many accesses so much work is, in units of 1 / scale ns at speed 1; rounded down.
    fn lines_in(self, work: u64) -> u64 {
        u64::try_from(quotient(u128::from(work) * 1_000, self.0)).unwrap_or(u64::MAX)
    }

    /// How much work so many accesses are, rounded up.
    fn work_of(self, lines: u64) -> u64 {
        u64::try_from(quotient_up(u128::from(lines) * self.0, 1_000)).unwrap_or(u64::MAX)
    }
}

/// What is known of a task's present job. Work is in units of 1 / scale ns at speed 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct Followed {
    /// Lines that it had from memory.
    memory_lines: u64,
    /// How long what it has done takes with warm caches on the CPUs where it was, in fs: many can be added up.
    warm_fs: u128,
    /// What of its work is for cold caches and has not passed.
    cold: u64,
    /// Its stay on a CPU, until that has been settled.
    stay: Option<Stay>,
    /// That, where it counts towards what it pays when it goes on.
    unpaid: u64,
    /// When it will have done its work, as far as is known.
    until_ns: u64,
    /// What was added to its work for lines that others take from it, in ns, since it has been on its CPU.
    granted_ns: u64,
}

/// A job's stay on a CPU.
#[derive(Debug, Clone, Copy)]
struct Stay {
    /// The job's work when it began, with what is extra.
    work_parts: u64,
    /// What of it is for cold caches. It passes while the first walk does, at one pace.
    extra: u64,
    /// The lines of that walk.
    lines: u64,
    /// Of how much work a ns there is.
    rate: u64,
}

/// A job on another CPU, which takes longer or less long than it was thought to.
#[derive(Debug, Clone, Copy)]
pub struct Repaced {
    /// Its task.
    pub task: u32,
    /// By how much, in ns.
    pub change_ns: i64,
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
        let jobs = vec![Followed::default(); tasks.len()];
        Ok(state.map(|state| Caches::State { state, access, jobs, sharers: Vec::new() }))
    }

    /// A job of the task takes a CPU; if it goes on, `last` is where it was stopped. Returns how much longer it
    /// takes, in ns.
    pub fn taken(&mut self, task: u32, last: Option<u32>, cpu: u32, now: u64, work: Work) -> u64 {
        match self {
            Caches::Distance(delay, working_sets) => {
                last.map_or(0, |last| delay.delay(working_sets[task as usize], last, cpu))
            }
            Caches::State { state, access, jobs, .. } => {
                let job = &mut jobs[task as usize];
                let unpaid = std::mem::take(&mut job.unpaid);
                let useful = work.left.saturating_sub(unpaid);
                let most = access.map(|access| access.lines_in(useful));
                let Reloaded { delay_ns, lines, cold_lines } = state.enter(task as usize, cpu as usize, most);
                // What it has not paid yet is in its work still.
                let longer_ns = (delay_ns * work.rate).saturating_sub(unpaid).div_ceil(work.rate);
                let extra = unpaid + longer_ns * work.rate;
                job.stay = Some(Stay {
                    work_parts: work.left + longer_ns * work.rate,
                    extra,
                    lines,
                    rate: work.rate,
                });
                job.cold += longer_ns * work.rate;
                let since = now + extra.div_ceil(work.rate);
                let work_ns = useful.div_ceil(work.rate);
                (job.until_ns, job.granted_ns) = (since.saturating_add(work_ns), 0);
                state.works(
                    task as usize,
                    Begins { core: cpu as usize, since_ns: since, work_ns, cold_lines },
                );
                longer_ns
            }
        }
    }

    /// The task's job would have done its work now: how much longer it takes because others have taken lines from it, in ns.
    fn more(&mut self, task: u32, now: u64) -> u64 {
        let Caches::State { state, jobs, .. } = self else { return 0 };
        let more = state.works_until(task as usize, now).map_or(0, |until| until.saturating_sub(now));
        let job = &mut jobs[task as usize];
        job.until_ns = now.saturating_add(more);
        job.granted_ns = job.granted_ns.saturating_add(more);
        more
    }

    /// The task's job has done its work, leaves its CPU or stops. Returns what it lost to others in its stay, in
    /// ns, and what is left of its work if no other job takes lines from it any longer.
    fn rests(&mut self, task: u32, now: u64, work: Work) -> (u64, u64) {
        let Caches::State { state, access, jobs, .. } = self else { return (0, work.left) };
        let job = &mut jobs[task as usize];
        let (mut lost_ns, mut left) = (0, work.left);
        if let Some(rested) = state.rests(task as usize, now) {
            job.memory_lines += rested.memory_lines;
            let change = job.repaced(now, now.saturating_add(rested.left_ns), work);
            lost_ns = job.granted_ns;
            left = changed(work, change);
        }
        settle(state, *access, job, task, left);
        (lost_ns, left)
    }

    /// Whether what they hold is followed: nothing else is lost to others.
    #[inline]
    fn are_followed(&self) -> bool {
        matches!(self, Caches::State { .. })
    }

    /// A job of the task has left a CPU.
    pub fn left(&mut self, task: u32, cpu: u32) {
        if let Caches::State { state, .. } = self {
            state.leave(task as usize, cpu as usize);
        }
    }

    /// A job of the task takes no more lines from others: the jobs that now take another time than expected. `work`
    /// says what is left of a task's work.
    fn repaced(&mut self, task: u32, now: u64, work: impl Fn(u32) -> Work) -> Vec<Repaced> {
        let Caches::State { state, jobs, sharers, .. } = self else { return Vec::new() };
        let mut repaced = Vec::new();
        sharers.clear();
        state.sharers_at_work(task as usize, sharers);
        for &other in &*sharers {
            let job = &mut jobs[other];
            // Whose time has come is asked for itself.
            let Some(until) = state.works_until(other, now).filter(|_| job.until_ns > now) else { continue };
            let task = index_u32(other);
            let change_ns = job.repaced(now, until.max(now + 1), work(task));
            if change_ns != 0 {
                repaced.push(Repaced { task, change_ns });
            }
        }
        repaced
    }

    /// The record of the task's present job gets what is followed of it. Its next job is the present one from now on.
    pub fn job_ended(&mut self, task: usize, record: &mut Job) {
        let Caches::State { jobs, .. } = self else { return };
        let Followed { memory_lines, warm_fs, .. } = std::mem::take(&mut jobs[task]);
        record.counters.llc_misses = Some(memory_lines);
        record.warm_ns = Some(u64::try_from(quotient_up(warm_fs, FS_PER_NS)).unwrap_or(u64::MAX));
    }
}

impl Followed {
    /// It will have done its work at another time than was thought: by how much its work changes for that, in ns.
    fn repaced(&mut self, now: u64, until: u64, work: Work) -> i64 {
        let was = self.until_ns.max(now);
        self.until_ns = until;
        if until >= was {
            let more = until - was;
            self.granted_ns = self.granted_ns.saturating_add(more);
            return i64::try_from(more).unwrap_or(i64::MAX);
        }
        // Some work is left to a job that has some.
        let less = (was - until).min(self.granted_ns).min(work.left.saturating_sub(1) / work.rate);
        self.granted_ns -= less;
        -i64::try_from(less).unwrap_or(i64::MAX)
    }
}

/// What is left of work that takes so much longer, in ns.
fn changed(work: Work, change_ns: i64) -> u64 {
    let change = change_ns.unsigned_abs().saturating_mul(work.rate);
    if change_ns < 0 { work.left.saturating_sub(change) } else { work.left.saturating_add(change) }
}

/// fs in a ns.
const FS_PER_NS: u128 = 1_000_000;

/// Settles a stay that is over, or whose work is done: the lines that the job walked and what is left of its delay.
fn settle(state: &mut CacheState, access: Option<Access>, job: &mut Followed, task: u32, work_left: u64) {
    let Some(Stay { work_parts: work, extra, lines, rate }) = job.stay.take() else { return };
    let done = work.saturating_sub(work_left);
    let walked = access.map(|access| {
        let first = extra.saturating_add(access.work_of(lines));
        if done >= first {
            return access.lines_in(done - extra);
        }
        let unpaid = quotient(u128::from(extra) * u128::from(first - done), first.max(1).into());
        job.unpaid = u64::try_from(unpaid).unwrap_or(extra);
        u64::try_from(quotient(u128::from(lines) * u128::from(done), first.into())).unwrap_or(lines)
    });
    job.memory_lines += state.settle(task as usize, walked);
    // Where the time of a walk is unknown, what it costs passes first.
    let cold = if access.is_some() { job.unpaid } else { job.cold.saturating_sub(done) };
    let useful = done.saturating_sub(job.cold - cold);
    job.warm_fs += quotient(u128::from(useful) * FS_PER_NS, rate.into());
    job.cold = cold;
}

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The job on `cpu` would have done its work: whether it goes on there because others have taken lines from it.
    #[inline(always)]
    pub(super) fn has_lost_lines(&mut self, cpu: u32) -> bool {
        if IDEAL {
            return false;
        }
        let CpuState { running: task, rate, .. } = self.cpus[cpu as usize];
        let more = self.caches.as_mut().map_or(0, |caches| caches.more(task, self.now_ns));
        if more > 0 {
            self.tasks[task as usize].work_left_parts += more * rate;
            self.progress(cpu);
        } else {
            self.rests(cpu);
        }
        more > 0
    }

    /// The job on `cpu` has done its work, leaves the CPU or stops: it takes no more lines from others, and others
    /// take none from it.
    #[inline]
    pub(super) fn rests(&mut self, cpu: u32) {
        if IDEAL || !self.caches.as_ref().is_some_and(|caches| caches.are_followed()) {
            return;
        }
        let CpuState { running: task, rate, .. } = self.cpus[cpu as usize];
        let Some(caches) = &mut self.caches else { return };
        let work_left = &mut self.tasks[task as usize].work_left_parts;
        let (lost_ns, left) = caches.rests(task, self.now_ns, Work { left: *work_left, rate });
        *work_left = left;
        let repaced = caches.repaced(task, self.now_ns, |other| {
            let state = &self.tasks[other as usize];
            let CpuState { rate, since_ns: since, .. } = self.cpus[state.last_cpu as usize];
            // Nothing while the kernel has the core.
            let done = self.now_ns.saturating_sub(since) * rate;
            Work { left: state.work_left_parts.saturating_sub(done), rate }
        });
        if lost_ns > 0 {
            self.emit(EventKind::CacheDelay, Some(cpu), task, Some(lost_ns));
        }
        for other in repaced {
            self.repace(other);
        }
    }

    /// A job that runs on another CPU takes longer than was thought, or less long.
    fn repace(&mut self, Repaced { task, change_ns }: Repaced) {
        let cpu = self.tasks[task as usize].last_cpu;
        self.account(cpu as usize);
        let CpuState { rate, since_ns: since, .. } = self.cpus[cpu as usize];
        let state = &mut self.tasks[task as usize];
        state.work_left_parts = changed(Work { left: state.work_left_parts, rate }, change_ns);
        // Where the kernel has the core, the job goes on when it leaves it.
        if since != NEVER {
            self.progress(cpu);
        }
    }

    /// A job starts on `cpu`, or goes on there after it was stopped on `last`: the caches may be colder than they were.
    pub(super) fn reload_caches(&mut self, task: u32, last: Option<u32>, cpu: u32) {
        let Some(caches) = &mut self.caches else { return };
        let rate = self.cpus[cpu as usize].rate;
        let work = Work { left: self.tasks[task as usize].work_left_parts, rate };
        let delay = caches.taken(task, last, cpu, self.now_ns, work);
        if delay > 0 {
            self.tasks[task as usize].work_left_parts += delay * rate;
            self.emit(EventKind::CacheDelay, Some(cpu), task, Some(delay));
        }
    }
}
