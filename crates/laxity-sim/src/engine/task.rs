//! A task while it is simulated: its present job and what has happened to it.

use laxity_generate::Jobs;
use laxity_model::Duration;
use laxity_policy::NEVER;
use laxity_trace::{Counters, Job, JobOutcome};

/// No CPU.
const NOWHERE: u32 = u32::MAX;

/// The present job of a task, which is the one that runs, waits or is to arrive.
pub struct TaskState {
    /// Work left, in units of 1/scale ns at speed 1.
    pub work_left_parts: u64,
    /// Where it ran last, as an index into the platform's CPUs; for a task that never ran, no CPU.
    pub last_cpu: u32,
    /// Whether the present job has run at all.
    pub started: bool,
    /// Whether it is off its CPU already, though the CPU has not switched: its budget is used up.
    pub stopped: bool,
    /// Work that has used less than a whole ns of the budget, in the units of `work_left_parts`.
    pub budget_used_parts: u64,
    /// When the budget of `budget_used_parts` is replenished next: another instant, another budget.
    pub next_replenishment_ns: u64,
    /// Whether there is a present job: false once the task has left or the simulation releases no more.
    pub alive: bool,
    /// Its cell, and its number there.
    pub cell: u32,
    /// Its number within the cell.
    pub local: u32,
    release_ns: u64,
    /// The present job had arrived before it was released anew.
    carried: bool,
    demand_ns: u64,
    start_ns: u64,
    first_cpu: u32,
    cpu_time_ns: u64,
    index: u32,
    migrations: u32,
    switches: u32,
    deadline_rel_ns: u64,
    scale: u64,
    jobs: Jobs,
}

impl TaskState {
    /// A task before its first job; [`TaskState::advance`] gives it that.
    pub fn new(cell: u32, local: u32, deadline_rel: u64, scale: u64, jobs: Jobs) -> Self {
        TaskState {
            work_left_parts: 0,
            last_cpu: NOWHERE,
            started: false,
            stopped: false,
            budget_used_parts: 0,
            next_replenishment_ns: NEVER,
            alive: true,
            cell,
            local,
            release_ns: 0,
            carried: false,
            demand_ns: 0,
            start_ns: 0,
            first_cpu: NOWHERE,
            cpu_time_ns: 0,
            index: u32::MAX,
            migrations: 0,
            switches: 0,
            deadline_rel_ns: deadline_rel,
            scale,
            jobs,
        }
    }

    /// Whether the present job, if it holds a CPU, simply goes on: it has run there and not been stopped.
    #[inline]
    pub fn goes_on(&self) -> bool {
        self.started && !self.stopped
    }

    /// Goes on to the next job. Returns its release, or [`NEVER`] if there is none.
    #[inline]
    pub fn advance(&mut self) -> u64 {
        self.started = false;
        self.carried = false;
        self.cpu_time_ns = 0;
        let Some(job) = self.jobs.next() else {
            self.alive = false;
            return NEVER;
        };
        self.release_ns = job.release.as_ns();
        self.demand_ns = job.demand.as_ns();
        self.work_left_parts = self.demand_ns * self.scale;
        self.index = self.index.wrapping_add(1);
        self.release_ns
    }

    /// The task becomes a real-time task at `now`, and its present job with it: one that has arrived is released anew, and those behind
    /// it are as much later.
    pub fn enters(&mut self, now: u64) {
        let late = now.saturating_sub(self.release_ns);
        self.carried = late > 0;
        self.release_ns += late;
        self.jobs = self.jobs.clone().delayed(Duration::from_ns(late));
        (self.started, self.stopped) = (false, false);
        (self.budget_used_parts, self.next_replenishment_ns) = (0, NEVER);
    }

    /// The task releases no more jobs from `now` on: a present one that has not arrived by then is not there.
    pub fn leaves(&mut self, now: u64) {
        self.jobs = self.jobs.clone().before(Duration::from_ns(now));
        self.alive &= self.has_arrived(now);
    }

    /// Whether there is a present job that has arrived before what arrives at `now`.
    pub fn has_arrived(&self, now: u64) -> bool {
        self.alive && (self.release_ns < now || self.carried)
    }

    /// The jobs behind the present one.
    pub fn following(&self) -> Jobs {
        self.jobs.clone()
    }

    /// The present job's number in its task.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The present job's release.
    #[inline]
    pub fn release(&self) -> u64 {
        self.release_ns
    }

    /// The present job's absolute deadline.
    #[inline]
    pub fn deadline(&self) -> u64 {
        self.release_ns + self.deadline_rel_ns
    }

    /// The present job runs on `cpu` from `now`. Returns where it ran before, if elsewhere.
    #[inline]
    pub fn begin(&mut self, cpu: u32, now: u64) -> Option<u32> {
        // Without branches: whether a job is new, or moves, cannot be predicted.
        self.start_ns = if self.started { self.start_ns } else { now };
        self.first_cpu = if self.started { self.first_cpu } else { cpu };
        self.started = true;
        self.stopped = false;
        let from = self.last_cpu;
        self.last_cpu = cpu;
        let moved = (from != cpu) & (from != NOWHERE);
        self.migrations += u32::from(moved);
        moved.then_some(from)
    }

    /// It has held a CPU for `elapsed` ns, and done so much of its work. (Its last ns may be longer than what was left.)
    #[inline]
    pub fn held(&mut self, elapsed: u64, work: u64) {
        self.cpu_time_ns += elapsed;
        self.work_left_parts -= work.min(self.work_left_parts);
    }

    /// It is taken off its CPU.
    #[inline]
    pub fn switched_out(&mut self) {
        self.switches += 1;
    }

    /// The record of the present job, which ended at `finish` or did not end. `number` gives a CPU its CPU number.
    #[inline]
    pub fn record(&mut self, task: u32, finish: Option<u64>, number: impl Fn(u32) -> u32) -> Job {
        let ran = self.started;
        let job = Job {
            task,
            index: self.index,
            release_ns: self.release_ns,
            deadline_ns: self.deadline(),
            demand_ns: Some(self.demand_ns),
            warm_ns: None,
            cause: None,
            outcome: if finish.is_some() { JobOutcome::Completed } else { JobOutcome::Unfinished },
            start_ns: ran.then_some(self.start_ns),
            finish_ns: finish,
            cpu_time_ns: Some(self.cpu_time_ns),
            first_cpu: ran.then(|| number(self.first_cpu)),
            last_cpu: ran.then(|| number(self.last_cpu)),
            migrations: Some(self.migrations),
            context_switches: Some(self.switches),
            counters: Counters::default(),
        };
        self.migrations = 0;
        self.switches = 0;
        job
    }
}
