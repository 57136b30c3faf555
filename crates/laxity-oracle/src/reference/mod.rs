//! The reference scheduler: slow, and obviously right. It is not the policy, nor made from it.
//!
//! At every instant at which anything happens it looks at all released jobs, sorts those that are ready, and lets the
//! first m of each cluster run.
//!
//! 1. Costs are zero: decisions take effect at once.
//! 2. The task CPUs of a cluster are equally fast. Work is done at the CPU's speed; a job completes, and a budget is used
//!    up, at the first whole ns at which that is so.
//! 3. Tasks may run on every task CPU of their cluster.
//! 4. A job that completes at the instant at which its budget is used up completes.
//! 5. CPUs: a job that runs stays; others take the CPU they ran on last if it is free, else the lowest one.
//! 6. A job that is late and to abort does so where it runs; one that is given a CPU then has it for no time.
//! 7. A throttled job whose replenishment is not in the future goes on, with the later deadline.
//! 8. What runs on a CPU when that is taken stops, and competes for those that are there in the same instant.
//!
//! Complexity: O(j log j) per instant with j released jobs; memory holds the complete schedule.
//! Source: the definition itself; servers: ackelman2018, 5.1, and Abeni and Buttazzo 1998.

mod decisions;
mod interference;
mod timeline;

use crate::definition::task_id;
use crate::{BudgetRule, Definition};
use laxity_generate::JobSpec;
use laxity_model::{Diagnostic, Result, Speed};
use laxity_trace::{Event, EventKind};
use std::collections::BTreeSet;

pub use decisions::{ActiveJob, Decisions, Textbook};
pub use timeline::{Difference, Timeline, TimelineBuilder, first_difference};

/// A schedule: its events, and when each job ran.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// A well-formed trace.
    pub events: Vec<Event>,
    /// When each job ran, wherever.
    pub timeline: Timeline,
}

/// The textbook schedule of the definition's jobs (`jobs[task]`, as from [`Definition::jobs`]) in `[0, end]`.
///
/// # Errors
///
/// CPUs of unequal speed in one cluster, or a task that may not run on all of its cluster: assumptions 2 and 3.
pub fn reference(definition: &Definition, jobs: &[Vec<JobSpec>], end: u64) -> Result<Schedule> {
    scheduled_by(&Textbook, definition, jobs, end)
}

/// The schedule that other decisions make; see [`reference()`].
pub fn scheduled_by(
    decisions: &dyn Decisions,
    definition: &Definition,
    jobs: &[Vec<JobSpec>],
    end: u64,
) -> Result<Schedule> {
    check(definition)?;
    let mut machine = Machine::new(decisions, definition, jobs);
    let mut now = 0;
    loop {
        machine.complete_jobs(now);
        machine.abort_jobs(now);
        if now >= end {
            break;
        }
        machine.use_up_budgets(now);
        machine.release_jobs(now);
        machine.replenish(now);
        machine.record_misses(now);
        machine.interfere(now);
        if decisions.decides(now) {
            machine.decide(now);
            while machine.abort_jobs(now) {
                machine.decide(now);
            }
        }
        let next = machine.next_instant(now).min(end);
        machine.run_for(next - now);
        now = next;
    }
    let timeline = TimelineBuilder::of(&machine.events, end)?;
    Ok(Schedule { events: machine.events, timeline })
}

fn check(definition: &Definition) -> Result<()> {
    for cluster in definition.clusters() {
        let cpus = cluster.task_cpus();
        let speeds: Vec<Speed> = cpus.iter().map(|cpu| definition.speed(cpu)).collect();
        if speeds.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Diagnostic::usage(format!("the CPUs of cluster `{cpus}` differ in speed"))
                .hint("the reference scheduler needs equally fast CPUs in a cluster"));
        }
        for &task in &cluster.tasks {
            let task = &definition.set().tasks()[task as usize];
            if task.affinity.as_ref().is_some_and(|affinity| !cpus.is_subset(affinity)) {
                return Err(Diagnostic::usage(format!(
                    "task `{}` may not run on all CPUs of its cluster `{cpus}`",
                    task.name
                ))
                .hint("the reference scheduler needs tasks that may run on all of their cluster"));
            }
        }
    }
    Ok(())
}

/// The budget of one task. Work is counted in ns times the denominator of the cluster's speed.
#[derive(Clone, Copy)]
struct Server {
    /// When its period began; nothing before the first job.
    began: Option<u64>,
    left: u128,
}

struct Machine<'a> {
    decisions: &'a dyn Decisions,
    definition: &'a Definition,
    jobs: &'a [Vec<JobSpec>],
    released: Vec<usize>,
    completed: Vec<u32>,
    servers: Vec<Server>,
    last_cpu: Vec<Option<u32>>,
    active: Vec<ActiveJob>,
    skipped: BTreeSet<(u32, u32)>,
    missed: BTreeSet<(u32, u32)>,
    events: Vec<Event>,
}

impl<'a> Machine<'a> {
    fn new(decisions: &'a dyn Decisions, definition: &'a Definition, jobs: &'a [Vec<JobSpec>]) -> Self {
        let tasks = jobs.len();
        Machine {
            decisions,
            definition,
            jobs,
            released: vec![0; tasks],
            completed: vec![0; tasks],
            servers: vec![Server { began: None, left: 0 }; tasks],
            last_cpu: vec![None; tasks],
            active: Vec::new(),
            skipped: BTreeSet::new(),
            missed: BTreeSet::new(),
            events: Vec::new(),
        }
    }

    fn speed(&self, task: u32) -> Speed {
        let cluster = self.definition.cluster_of(task).expect("only real-time tasks have jobs");
        let cpus = self.definition.clusters()[cluster].task_cpus();
        self.definition.speed(cpus.lowest().expect("a cluster with tasks has CPUs for them"))
    }

    fn work(&self, task: u32, ns: u64) -> u128 {
        u128::from(ns) * u128::from(self.speed(task).denominator())
    }

    fn period(&self, task: u32) -> u64 {
        self.definition.set().tasks()[task as usize].period().as_ns()
    }

    fn deadline_rel(&self, task: u32) -> u64 {
        self.definition.set().tasks()[task as usize].deadline_rel.as_ns()
    }

    fn full_budget(&self, task: u32) -> u128 {
        self.work(task, self.definition.set().tasks()[task as usize].wcet.as_ns())
    }

    fn emit(
        &mut self,
        time_ns: u64,
        kind: EventKind,
        job: &ActiveJob,
        cpu: Option<u32>,
        argument: Option<u64>,
    ) {
        self.events.push(Event { time_ns, kind, cpu, task: Some(job.task), job: Some(job.job), argument });
    }

    fn complete_jobs(&mut self, now: u64) {
        let done = |job: &ActiveJob| job.running_on.is_some() && job.work_left_parts == 0;
        for job in self.active.extract_if(.., |job| done(job)).collect::<Vec<_>>() {
            self.emit(now, EventKind::Complete, &job, job.running_on, Some(job.deadline_abs_ns));
            self.over(job.task);
        }
    }

    /// Late jobs that have CPUs abort, if they do at all. Whether there was one.
    fn abort_jobs(&mut self, now: u64) -> bool {
        let on_miss = self.definition.on_miss();
        let late = |job: &ActiveJob| on_miss.abort_ns(job.deadline_abs_ns).is_some_and(|at| at <= now);
        let aborts = self.active.extract_if(.., |job| job.running_on.is_some() && late(job));
        let aborts = aborts.collect::<Vec<_>>();
        for job in &aborts {
            if job.deadline_abs_ns == now && !self.missed.contains(&(job.task, job.job)) {
                self.record_miss(now, job);
            }
            self.emit(now, EventKind::Abort, job, job.running_on, Some(job.deadline_abs_ns));
            self.over(job.task);
        }
        !aborts.is_empty()
    }

    /// The task's first job is over; the next one that there is follows.
    fn over(&mut self, task: u32) {
        let completed = &mut self.completed[task as usize];
        *completed += 1;
        while self.skipped.contains(&(task, *completed)) {
            *completed += 1;
        }
        self.activate_next(task);
    }

    /// The task's first job that is not complete gets the server, if it has been released.
    fn activate_next(&mut self, task: u32) {
        let first = self.completed[task as usize];
        let Some(index) = self.active.iter().position(|job| job.task == task && job.job == first) else {
            return;
        };
        self.active[index].predecessor_complete = true;
        let mode = self.decisions.budget_mode(self.definition);
        if mode == BudgetRule::OFF {
            // Not enforced, but counted.
            self.servers[task as usize].left = self.full_budget(task);
            return;
        }
        let release = self.active[index].release_ns;
        let period = self.period(task);
        let full = self.full_budget(task);
        let server = self.servers[task as usize];
        // Without a server period that reaches past the release, a new one begins there.
        let current = server.began.filter(|&began| release < began + period);
        let (began, left) = match current {
            None => (release, full),
            Some(began) if server.left > 0 => {
                (began, if self.decisions.keeps_leftover() { server.left } else { full })
            }
            Some(began) => (self.decisions.replenishment(began, period), full),
        };
        if server.left == 0 && current.is_some() && mode == BudgetRule::THROTTLE {
            self.active[index].has_budget_at = began;
        }
        if began > release {
            self.active[index].server_deadline_abs_ns = began + self.deadline_rel(task);
        }
        self.servers[task as usize] = Server { began: Some(began), left };
    }

    fn use_up_budgets(&mut self, now: u64) {
        let mode = self.decisions.budget_mode(self.definition);
        if mode == BudgetRule::OFF {
            return;
        }
        for index in 0..self.active.len() {
            let task = self.active[index].task;
            let server = self.servers[task as usize];
            let Some(cpu) = self.active[index].running_on.filter(|_| server.left == 0) else { continue };
            let period = self.period(task);
            let began = server.began.expect("a job that runs has a server");
            let replenished = self.decisions.replenishment(began, period);
            self.servers[task as usize] = Server { began: Some(replenished), left: self.full_budget(task) };
            let deadline = match mode {
                BudgetRule::POSTPONE => self.active[index].server_deadline_abs_ns + period,
                _ => replenished + self.deadline_rel(task),
            };
            let old = self.active[index].server_deadline_abs_ns;
            let waits = mode == BudgetRule::THROTTLE && replenished > now;
            self.active[index].server_deadline_abs_ns = deadline;
            let minds_laxity = self.decisions.minds_laxity(self.definition);
            let ends = self.laxity_ends(&self.active[index]);
            let job = &mut self.active[index];
            job.urgent = Some(ends).filter(|&ends| minds_laxity && ends <= now && !waits);
            if waits {
                job.has_budget_at = replenished;
                job.throttled = true;
                job.running_on = None;
                let job = job.clone();
                self.emit(now, EventKind::Throttle, &job, Some(cpu), None);
            } else {
                let job = job.clone();
                self.emit(now, EventKind::Postpone, &job, Some(cpu), Some(deadline));
                if mode == BudgetRule::POSTPONE {
                    self.active[index].server_deadline_abs_ns = self.decisions.postponed(old, period);
                }
            }
        }
    }

    fn release_jobs(&mut self, now: u64) {
        for index in 0..self.jobs.len() {
            let task = task_id(index);
            while let Some(spec) = self.jobs[index].get(self.released[index]) {
                if spec.release.as_ns() != now {
                    break;
                }
                let deadline_abs = now + self.deadline_rel(task);
                let number = task_id(self.released[index]);
                let skips = |other: &ActiveJob| {
                    other.task == task && self.definition.on_miss().skips(now, other.deadline_abs_ns, None)
                };
                let skipped = self.active.iter().any(skips);
                let job = ActiveJob {
                    task,
                    job: number,
                    release_ns: now,
                    deadline_abs_ns: deadline_abs,
                    server_deadline_abs_ns: deadline_abs,
                    predecessor_complete: false,
                    has_budget_at: now,
                    running_on: None,
                    work_left_parts: self.work(task, spec.demand.as_ns()),
                    started: false,
                    throttled: false,
                    urgent: None,
                };
                self.released[index] += 1;
                if skipped {
                    self.skipped.insert((task, number));
                    self.emit(now, EventKind::Skip, &job, None, None);
                    continue;
                }
                self.emit(now, EventKind::Release, &job, None, Some(deadline_abs));
                let first = job.job == self.completed[index];
                self.active.push(job);
                if first {
                    self.activate_next(task);
                }
            }
        }
    }

    fn replenish(&mut self, now: u64) {
        for index in 0..self.active.len() {
            let job = &mut self.active[index];
            if job.throttled && job.has_budget_at == now {
                job.throttled = false;
                let job = job.clone();
                self.emit(now, EventKind::Replenish, &job, None, Some(job.server_deadline_abs_ns));
            }
        }
    }

    fn record_misses(&mut self, now: u64) {
        for job in self.active.iter().filter(|job| job.deadline_abs_ns == now).cloned().collect::<Vec<_>>() {
            self.record_miss(now, &job);
        }
    }

    fn record_miss(&mut self, now: u64, job: &ActiveJob) {
        self.missed.insert((job.task, job.job));
        self.emit(now, EventKind::DeadlineMiss, job, job.running_on, None);
    }

    /// When a job that does not run has no laxity left.
    fn laxity_ends(&self, job: &ActiveJob) -> u64 {
        let parts = u128::from(self.speed(job.task).denominator());
        let left =
            u64::try_from(self.servers[job.task as usize].left.div_ceil(parts)).expect("a budget in ns");
        job.server_deadline_abs_ns.saturating_sub(left)
    }

    /// Ready jobs that do not run and have no laxity left are urgent from now on.
    fn laxities_run_out(&mut self, now: u64) {
        if !self.decisions.minds_laxity(self.definition) {
            return;
        }
        for index in 0..self.active.len() {
            let job = &self.active[index];
            let waits = job.running_on.is_none() && self.decisions.is_ready(job, now);
            let ends = self.laxity_ends(job);
            if waits && job.urgent.is_none() && ends <= now {
                self.active[index].urgent = Some(ends);
            }
        }
    }

    fn decide(&mut self, now: u64) {
        self.laxities_run_out(now);
        let mut begins: Vec<(u32, u32, u32)> = Vec::new();
        let mut keeps: Vec<(u32, u32)> = Vec::new();
        for cluster in self.definition.clusters() {
            let in_cluster = |job: &&ActiveJob| cluster.tasks.contains(&job.task);
            let mut ready: Vec<&ActiveJob> = self
                .active
                .iter()
                .filter(in_cluster)
                .filter(|job| self.decisions.is_ready(job, now))
                .collect();
            ready.sort_by_key(|job| {
                (self.decisions.key(self.definition, job), self.decisions.tie(job), job.job)
            });
            let mut cpus = self.decisions.cpus(self.definition, cluster);
            cpus.retain(|&cpu| self.is_there(cpu, now));
            let selected = self.decisions.selected(ready, cpus.len());
            let taken: Vec<u32> = selected.iter().filter_map(|job| job.running_on).collect();
            let mut free: Vec<u32> = cpus.into_iter().filter(|cpu| !taken.contains(cpu)).collect();
            for job in selected {
                if job.running_on.is_some() {
                    keeps.push((job.task, job.job));
                    continue;
                }
                let last = self.last_cpu[job.task as usize];
                let position = free.iter().position(|&cpu| Some(cpu) == last).unwrap_or(0);
                begins.push((job.task, job.job, free.remove(position)));
            }
        }
        self.preempt(now, &keeps);
        for (task, job, cpu) in begins {
            self.begin(now, task, job, cpu);
        }
    }

    fn preempt(&mut self, now: u64, keeps: &[(u32, u32)]) {
        for index in 0..self.active.len() {
            let job = &mut self.active[index];
            if job.running_on.is_some() && !keeps.contains(&(job.task, job.job)) {
                let cpu = job.running_on.take();
                let job = job.clone();
                self.emit(now, EventKind::Preempt, &job, cpu, None);
            }
        }
    }

    fn begin(&mut self, now: u64, task: u32, job: u32, cpu: u32) {
        let active = self.active.iter_mut().find(|active| (active.task, active.job) == (task, job));
        let active = active.expect("it was selected from these");
        let last = self.last_cpu[task as usize].replace(cpu).filter(|&last| last != cpu).map(u64::from);
        let kind = match (active.started, last) {
            (false, _) => EventKind::Start,
            (true, None) => EventKind::Resume,
            (true, Some(_)) => EventKind::Migrate,
        };
        active.started = true;
        active.running_on = Some(cpu);
        let active = active.clone();
        self.emit(now, kind, &active, Some(cpu), last);
    }

    /// The next instant after `now` at which anything happens, if no decision changes that.
    fn next_instant(&self, now: u64) -> u64 {
        let mut next = u64::MAX;
        let mut at = |instant: u64| {
            if instant > now {
                next = next.min(instant);
            }
        };
        for (index, jobs) in self.jobs.iter().enumerate() {
            if let Some(spec) = jobs.get(self.released[index]) {
                at(spec.release.as_ns());
            }
        }
        self.definition.interference().iter().filter_map(|one| one.next_change(now)).for_each(&mut at);
        for job in &self.active {
            at(job.deadline_abs_ns);
            at(job.has_budget_at);
            if job.running_on.is_none() && self.decisions.minds_laxity(self.definition) {
                at(self.laxity_ends(job));
            }
            if job.running_on.is_some() {
                let per_ns = u128::from(self.speed(job.task).numerator());
                let after =
                    |work: u128| now + u64::try_from(work.div_ceil(per_ns)).expect("work is in u64 ns");
                at(after(job.work_left_parts));
                let server = self.servers[job.task as usize];
                if server.began.is_some() {
                    at(after(server.left));
                }
            }
        }
        next
    }

    fn run_for(&mut self, ns: u64) {
        for index in 0..self.active.len() {
            let task = self.active[index].task;
            if self.active[index].running_on.is_some() {
                let done = u128::from(ns) * u128::from(self.speed(task).numerator());
                self.active[index].work_left_parts = self.active[index].work_left_parts.saturating_sub(done);
                let server = &mut self.servers[task as usize];
                server.left = server.left.saturating_sub(done);
            }
        }
    }
}
