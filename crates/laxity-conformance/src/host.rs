//! A host that does anything a host may do, in random order, and writes down what the policy decides.
//!
//! 1. A CPU runs what its last reschedule says. It may take any time to follow a kick.
//! 2. After complete, suspend and exhaust the CPU does nothing but reschedule; other CPUs go on meanwhile.
//! 3. While an operation of several steps is in progress on a CPU, that CPU does nothing but step.
//! 4. A task arrives only if it has no job, or a suspended one, which it gives up; the CPU where its last job ended may have
//!    yet to reschedule. Its release may have passed, or be to come.
//! 5. A group that was taken is released later, by the CPU whose timer it is, in any order with others.
//! 6. Budgets are charged to running tasks; a job without budget is exhausted next.
//! 7. A CPU may be taken after any event there, before it reschedules too; it reschedules when it is there again.
//! 8. A task that has no job, or a suspended one, may leave for good; another one with other parameters then enters with
//!    its number, perhaps at once.

use crate::event::{Decision, Event, Kind};
use crate::queue::seed_set;
use crate::scenario::{Scenario, draw_task, stream};
use laxity_model::BudgetMode;
use laxity_policy::{Action, Instance, NEVER, NONE, Table};
use rand::RngExt;
use rand_pcg::Pcg64;

/// What happened in one instance: every event with its decision.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The instance.
    pub scenario: Scenario,
    /// Events in order.
    pub events: Vec<Event>,
    /// The decision that each of them led to.
    pub decisions: Vec<Decision>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    running: Option<u32>,
    kicked: bool,
    /// Complete, suspend or exhaust was called.
    leaving: bool,
    stepping: bool,
    exhausted: bool,
    withdrawn: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Absent,
    Present,
    Suspended,
}

struct Host {
    instance: Instance,
    random: Pcg64,
    now: u64,
    cpus: Vec<Cpu>,
    jobs: Vec<Job>,
    /// Of the last job of each task.
    releases: Vec<u64>,
    /// Of each task, in ns.
    periods: Vec<u64>,
    taken: Vec<u32>,
    messages: u32,
    /// The policy has finish.
    finishes: bool,
    recording: Recording,
}

impl Recording {
    /// Drives a policy's entry points through at least `events` events.
    pub fn make(scenario: Scenario, table: Table, events: usize) -> Recording {
        seed_set(scenario.seed);
        let mut host = Host {
            instance: Instance::new(table, scenario.config, &scenario.tasks, &scenario.sockets),
            random: stream(!scenario.seed),
            now: 0,
            cpus: vec![Cpu::default(); scenario.config.cpus as usize],
            jobs: vec![Job::Absent; scenario.tasks.len()],
            releases: vec![0; scenario.tasks.len()],
            periods: scenario.tasks.iter().map(|task| task.period_ns).collect(),
            taken: Vec::new(),
            messages: 0,
            finishes: !table.has_steps(),
            recording: Recording { scenario, events: Vec::new(), decisions: Vec::new() },
        };
        host.begin();
        while host.recording.events.len() < events {
            host.anything();
        }
        host.recording
    }
}

impl Host {
    /// Half of the time all tasks are there before time begins, and are released together or one after the other.
    fn begin(&mut self) {
        if self.random.random_bool(0.5) {
            return;
        }
        let phase_max = if self.random.random_bool(0.5) { 0 } else { 20 };
        let timer = self.timer_cpu();
        for task in 0..self.task_count() {
            let release = self.random.random_range(0..=phase_max);
            self.arrive(task, release, timer, NEVER);
        }
    }

    fn task_count(&self) -> u32 {
        u32::try_from(self.jobs.len()).expect("tasks are counted in u32")
    }

    fn cpu_count(&self) -> u32 {
        self.recording.scenario.config.cpus
    }

    /// The CPU that takes timer interrupts, if one does.
    fn timer_cpu(&mut self) -> u32 {
        if self.recording.scenario.config.dedicated_cpu {
            self.cpu_count() - 1
        } else {
            self.random.random_range(0..self.cpu_count())
        }
    }

    fn anything(&mut self) {
        match self.random.random_range(0..100_u32) {
            0..10 => self.now += self.random.random_range(0..4),
            10..12 => self.now += self.random.random_range(0..80),
            12..28 => self.arrive_any(),
            28..30 => self.enter_any(),
            30..36 => self.take_due(),
            36..40 => self.timer(),
            40..55 => self.release_any(),
            55..65 => self.message(),
            65..100 => {
                let cpu = self.random.random_range(0..self.cpu_count());
                self.at(cpu);
            }
            _ => unreachable!("the range ends at 100"),
        }
    }

    /// Something that `cpu` may do.
    fn at(&mut self, cpu: u32) {
        let state = self.cpus[cpu as usize];
        if state.stepping {
            self.about(Kind::Step, cpu);
        } else if state.withdrawn {
            if self.random.random_bool(0.3) {
                self.restore(cpu);
            }
        } else if !state.exhausted && !self.is_dedicated(cpu) && self.random.random_bool(0.03) {
            self.withdraw(cpu);
        } else if state.leaving {
            self.reschedule(cpu);
        } else if let (true, Some(task)) = (state.exhausted, state.running) {
            self.cpus[cpu as usize].exhausted = false;
            self.leave(Kind::Exhaust, cpu, task, 0);
        } else if state.kicked && self.random.random_bool(0.6) {
            self.reschedule(cpu);
        } else if let Some(task) = state.running {
            self.run(cpu, task);
        } else if self.random.random_bool(0.05) && !self.is_dedicated(cpu) {
            // A reschedule without a request changes nothing, and is allowed.
            self.reschedule(cpu);
        }
    }

    fn is_dedicated(&self, cpu: u32) -> bool {
        self.recording.scenario.config.dedicated_cpu && cpu + 1 == self.cpu_count()
    }

    /// Something that happens to a task that runs.
    fn run(&mut self, cpu: u32, task: u32) {
        let budgets = self.recording.scenario.config.budget_mode != BudgetMode::Off;
        if budgets && self.random.random_bool(0.5) {
            let time_ns = self.random.random_range(0..6);
            self.event(Event { kind: Kind::Consume, cpu, task, time_ns, now: self.now, parameters: None });
            self.cpus[cpu as usize].exhausted = self.instance.budget_left(task) == 0;
        } else if self.random.random_bool(0.7) {
            let next = self.next_release(task);
            if next == NEVER {
                self.jobs[task as usize] = Job::Absent;
            } else {
                self.releases[task as usize] = next;
            }
            if self.finishes && self.random.random_bool(0.5) {
                self.finish(cpu, task, next);
            } else {
                self.leave(Kind::Complete, cpu, task, next);
            }
        } else if self.random.random_bool(0.3) {
            self.jobs[task as usize] = Job::Suspended;
            self.leave(Kind::Suspend, cpu, task, 0);
        }
    }

    /// Periodic as often as not; otherwise sporadic, or not known yet. May have passed, if the job was late.
    fn next_release(&mut self, task: u32) -> u64 {
        let last = self.releases[task as usize];
        let period = self.periods[task as usize];
        match self.random.random_range(0..10_u32) {
            0..5 => last + period,
            5..7 => self.now.max(last) + self.random.random_range(0..10),
            7 => last + self.random.random_range(0..3),
            _ => NEVER,
        }
    }

    fn arrive_any(&mut self) {
        let task = self.random.random_range(0..self.task_count());
        let cpu = if self.random.random_bool(0.5) {
            self.timer_cpu()
        } else {
            self.random.random_range(0..self.cpu_count())
        };
        if self.cpus[cpu as usize].stepping || self.cpus[cpu as usize].leaving {
            return;
        }
        match self.jobs[task as usize] {
            Job::Present => {}
            Job::Suspended if self.random.random_bool(0.7) => {
                let woken =
                    Event { kind: Kind::WakeUp, cpu, task, time_ns: 0, now: self.now, parameters: None };
                let release = self.event(woken).release_at;
                if release != NEVER {
                    self.arrive(task, release, cpu, self.now);
                    return;
                }
                self.jobs[task as usize] = Job::Present;
                self.event(Event {
                    kind: Kind::Resume,
                    cpu,
                    task,
                    time_ns: 0,
                    now: self.now,
                    parameters: None,
                });
            }
            Job::Absent | Job::Suspended => {
                let earliest = self.releases[task as usize];
                let release = match self.random.random_range(0..4_u32) {
                    0 => self.now.saturating_sub(self.random.random_range(0..30)),
                    1 => self.now + self.random.random_range(0..30),
                    _ => self.now,
                };
                self.arrive(task, release.max(earliest), cpu, self.now);
            }
        }
    }

    /// A task without a job leaves, and another one enters in its place.
    fn enter_any(&mut self) {
        let task = self.random.random_range(0..self.task_count());
        if self.jobs[task as usize] == Job::Present {
            return;
        }
        let parameters = Some(draw_task(&mut self.random, 60));
        self.jobs[task as usize] = Job::Absent;
        self.releases[task as usize] = 0;
        self.periods[task as usize] = parameters.map_or(0, |p| p.period_ns);
        self.event(Event { kind: Kind::Enter, cpu: NONE, task, time_ns: 0, now: self.now, parameters });
    }

    fn arrive(&mut self, task: u32, release: u64, cpu: u32, now: u64) {
        self.jobs[task as usize] = Job::Present;
        self.releases[task as usize] = release;
        self.event(Event { kind: Kind::Arrive, cpu, task, time_ns: release, now, parameters: None });
    }

    fn take_due(&mut self) {
        let now = self.now;
        self.event(Event { kind: Kind::TakeDue, cpu: NONE, task: NONE, time_ns: 0, now, parameters: None });
    }

    /// The policy's own timer, when it is due or later.
    fn timer(&mut self) {
        let cpu = self.instance.own_timer_cpu();
        if self.instance.next_timer() > self.now || self.cpus[cpu as usize].leaving {
            return self.take_due();
        }
        let now = self.now;
        self.event(Event { kind: Kind::Timer, cpu, task: NONE, time_ns: 0, now, parameters: None });
    }

    fn release_any(&mut self) {
        if self.taken.is_empty() {
            return;
        }
        let index = self.random.random_range(0..self.taken.len());
        let cpu = self.instance.timer_cpu(self.taken[index]);
        if self.cpus[cpu as usize].stepping || self.cpus[cpu as usize].leaving {
            return;
        }
        let task = self.taken.swap_remove(index);
        self.event(Event {
            kind: Kind::ReleaseGroup,
            cpu,
            task,
            time_ns: 0,
            now: self.now,
            parameters: None,
        });
    }

    fn message(&mut self) {
        let cpu = self.cpu_count() - 1;
        if self.messages > 0 && !self.cpus[cpu as usize].stepping {
            self.messages -= 1;
            self.about(Kind::Message, cpu);
        }
    }

    fn leave(&mut self, kind: Kind, cpu: u32, task: u32, time_ns: u64) {
        self.cpus[cpu as usize].leaving = true;
        self.event(Event { kind, cpu, task, time_ns, now: self.now, parameters: None });
    }

    fn finish(&mut self, cpu: u32, task: u32, next: u64) {
        self.cpus[cpu as usize].kicked = false;
        self.event(Event { kind: Kind::Finish, cpu, task, time_ns: next, now: self.now, parameters: None });
    }

    /// Something above the policy takes the CPU.
    fn withdraw(&mut self, cpu: u32) {
        self.cpus[cpu as usize] = Cpu { withdrawn: true, ..Cpu::default() };
        self.about(Kind::Withdraw, cpu);
    }

    /// It is there again, and reschedules next.
    fn restore(&mut self, cpu: u32) {
        self.cpus[cpu as usize] = Cpu { leaving: true, ..Cpu::default() };
        self.about(Kind::Restore, cpu);
    }

    /// An event that is about a CPU alone.
    fn about(&mut self, kind: Kind, cpu: u32) {
        self.event(Event { kind, cpu, task: NONE, time_ns: 0, now: self.now, parameters: None });
    }

    fn reschedule(&mut self, cpu: u32) {
        let state = &mut self.cpus[cpu as usize];
        state.kicked = false;
        state.leaving = false;
        self.about(Kind::Reschedule, cpu);
    }

    /// Calls the entry point, writes down the decision, and carries it out; what it returned.
    fn event(&mut self, event: Event) -> Returned {
        let returned = call(&mut self.instance, &event);
        let value = returned.value;
        let acts = !matches!(event.kind, Kind::TakeDue | Kind::Consume | Kind::Enter | Kind::WakeUp);
        let actions: Vec<Action> = if acts { self.instance.actions().collect() } else { Vec::new() };
        let task = (event.task < self.task_count()).then_some(event.task);
        self.recording.decisions.push(Decision {
            actions: actions.clone(),
            value,
            next_due_at: self.instance.next_due(),
            next_timer_at: self.instance.next_timer(),
            deadline_abs_ns: task.map_or(0, |t| self.instance.deadline_abs(t)),
            budget_left_ns: task.map_or(0, |t| self.instance.budget_left(t)),
            release_at: returned.release_at,
        });
        self.recording.events.push(event);
        match event.kind {
            Kind::Step => self.cpus[event.cpu as usize].stepping = false,
            Kind::Reschedule | Kind::Finish => self.runs(event.cpu, value),
            _ => {}
        }
        if event.kind == Kind::TakeDue && value != NONE {
            self.taken.push(value);
        }
        for action in actions {
            self.carry_out(action);
        }
        returned
    }

    fn runs(&mut self, cpu: u32, task: u32) {
        let cpu = &mut self.cpus[cpu as usize];
        let task = (task != NONE).then_some(task);
        // The same job may go on without budget only until the next event.
        cpu.exhausted &= cpu.running == task;
        cpu.running = task;
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Kick { cpu } => self.cpus[cpu as usize].kicked = true,
            Action::Notify { .. } => self.messages += 1,
            Action::Step { cpu, .. } => self.cpus[cpu as usize].stepping = true,
            Action::Arm { .. } | Action::Note(_) => {}
        }
    }
}

/// What an entry point returned, or 0.
#[derive(Clone, Copy, Default)]
struct Returned {
    /// A group or a task.
    value: u32,
    /// The release instant of a new job.
    release_at: u64,
}

/// Calls the entry point of an event.
fn call(instance: &mut Instance, event: &Event) -> Returned {
    let &Event { kind, cpu, task, time_ns, now, parameters } = event;
    let value = |value| Returned { value, release_at: 0 };
    match kind {
        Kind::WakeUp => {
            return Returned { value: 0, release_at: instance.wake_up(task, now).unwrap_or(NEVER) };
        }
        Kind::Enter => instance.enter(task, &parameters.expect("a task enters with them")),
        Kind::Arrive => instance.arrive(task, time_ns, cpu, now),
        Kind::TakeDue => return value(instance.take_due(now).unwrap_or(NONE)),
        Kind::ReleaseGroup => instance.release_group(task, now),
        Kind::Complete => instance.complete(cpu, time_ns, now),
        Kind::Reschedule => return value(instance.reschedule(cpu, now)),
        Kind::Finish => return value(instance.finish(cpu, time_ns, now)),
        Kind::Consume => instance.consume(task, time_ns),
        Kind::Exhaust => instance.exhaust(cpu, now),
        Kind::Step => instance.step(cpu, now),
        Kind::Message => return value(instance.message(cpu, now).into()),
        Kind::Suspend => instance.suspend(cpu, now),
        Kind::Resume => instance.resume(task, cpu, now),
        Kind::Timer => instance.timer(cpu, now),
        Kind::Withdraw => instance.withdraw(cpu, now),
        Kind::Restore => instance.restore(cpu, now),
    }
    Returned::default()
}
