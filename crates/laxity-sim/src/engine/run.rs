//! Jobs on cores: completions, releases, switches.

use super::{Action, CellState, CpuState, Engine, EventKind, NEVER, NONE, Phase, index_u32};
use crate::observer::Observer;
use laxity_model::BudgetMode;
use laxity_policy::{Note, NoteKind, Replenishment, StandingEvent, Then};
use laxity_trace::{Event, JobOutcome};

impl<O: Observer, const IDEAL: bool> Engine<'_, O, IDEAL> {
    /// The clocks of the CPUs that have come, in the order of the CPUs.
    #[inline]
    pub(super) fn clocks_of_cores(&mut self) {
        while self.clocks.next_instant() == self.now_ns {
            let (core, last) = self.clocks.next_slot();
            if !last {
                self.clocks.set(core, NEVER);
            }
            self.clock_of_core(index_u32(core), last);
            if last {
                // It gets another clock, or none, when it reschedules or the kernel takes it: before the instant is over.
                break;
            }
        }
    }

    /// The clock of a CPU has come: its job has ended, or its budget has.
    #[inline(always)]
    fn clock_of_core(&mut self, cpu: u32, last: bool) {
        if !IDEAL && self.cpus[cpu as usize].running == NONE {
            // A background job of a task of the set, which has been dealt with.
            self.clocks.set(cpu as usize, NEVER);
            return;
        }
        if IDEAL {
            // The job is about to go: only what its record says matters.
            let core = &mut self.cpus[cpu as usize];
            self.tasks[core.running as usize].held(self.now_ns - core.since_ns, 0);
            core.since_ns = self.now_ns;
        } else {
            self.account(cpu as usize);
        }
        if self.has_budgets() && self.cpus[cpu as usize].exhausts {
            self.clocks.set(cpu as usize, NEVER);
            self.exhausted(cpu);
        } else if self.aborts(cpu) {
            self.ended(cpu, last, JobOutcome::Aborted);
        } else if !self.has_lost_lines(cpu) {
            self.ended(cpu, last, JobOutcome::Completed);
        }
    }

    /// The job on `cpu` is over.
    #[inline(always)]
    fn ended(&mut self, cpu: u32, last: bool, outcome: JobOutcome) {
        let CpuState { running: task, cell, local, .. } = self.cpus[cpu as usize];
        if O::EVENTS {
            self.show_end(cpu, task, outcome);
        }
        let cpus = &self.cpus[..];
        let state = &mut self.tasks[task as usize];
        let number = |cpu: u32| cpus.get(cpu as usize).map_or(NONE, |core| core.number);
        let mut job = state.record(task, Some(self.now_ns), number);
        if !IDEAL {
            job.outcome = outcome;
            if let Some(caches) = &mut self.caches {
                caches.job_ended(task as usize, &mut job);
            }
        }
        self.observer.job(&job);
        if self.counts_use() && !self.has_budgets() {
            // Every job has a budget of its own.
            self.tasks[task as usize].budget_used_parts = 0;
        }
        let next_release = self.next_job(task, self.now_ns);
        if self.has_kernel() {
            self.kernel_completed(cpu, next_release);
        } else if last && self.is_alone() {
            self.finish_on(cpu, next_release);
        } else {
            self.cells[cell as usize].instance.complete(local, next_release, self.now_ns);
            self.decided_on(cell, cpu);
        }
    }

    /// The job on `cpu` has ended, and the CPU decides at once.
    #[inline]
    fn finish_on(&mut self, cpu: u32, next_release: u64) {
        let core = &mut self.cpus[cpu as usize];
        let (cell, before) = (core.cell, core.running);
        let state = &mut self.cells[cell as usize];
        let task = state.finish(core.local, next_release, self.now_ns);
        core.decided = task;
        if state.instance.actions().len() > 0 {
            self.decided = 1;
            self.decided_on(cell, cpu);
        } else {
            self.arm(cell as usize);
            if task != before {
                self.tasks[before as usize].switched_out();
            }
            self.begin(cpu, before);
        }
    }

    /// Whether the last job that ends in this instant is the only one, no job is released, and nothing else is seen to happen:
    /// then its CPU may decide at once.
    #[inline]
    fn is_alone(&self) -> bool {
        self.goes_straight()
            && self.pending.is_empty()
            && self.timers.next_instant() > self.now_ns
            && (!O::EVENTS || self.watch.is_quiet(self.now_ns))
    }

    /// Whether the policy's decisions are made in one step, and nothing but jobs takes time.
    #[inline]
    fn goes_straight(&self) -> bool {
        IDEAL && !self.has_steps
    }

    fn exhausted(&mut self, cpu: u32) {
        if self.has_kernel() {
            self.kernel_exhausted(cpu);
            return;
        }
        self.exhaust(cpu);
        let cell = self.cpus[cpu as usize].cell;
        self.decided_on(cell, cpu);
    }

    /// A decision was made on `cpu`, which reschedules in any case: no action says so.
    #[inline]
    fn decided_on(&mut self, cell: u32, cpu: u32) {
        self.pending.push(cpu);
        self.carry_out(cell);
        self.arm(cell as usize);
    }

    /// The budget of the job on `cpu` is used up: it waits for the next one, or goes on with a later deadline.
    pub(super) fn exhaust(&mut self, cpu: u32) {
        let CpuState { cell, local, running: task, .. } = self.cpus[cpu as usize];
        let instance = &mut self.cells[cell as usize].instance;
        let Replenishment { at_ns, deadline_abs_ns: deadline_abs } =
            instance.next_replenishment(self.tasks[task as usize].local);
        instance.exhaust(local, self.now_ns);
        // A replenishment that is due already does not stop the job: it only has a later deadline.
        let waits = self.budget_mode == BudgetMode::Throttle && at_ns > self.now_ns;
        self.tasks[task as usize].stopped = waits;
        if O::EVENTS && waits {
            self.emit(EventKind::Throttle, Some(cpu), task, None);
            self.watch.replenish(task, self.tasks[task as usize].index(), at_ns, deadline_abs);
        } else if O::EVENTS {
            self.emit(EventKind::Postpone, Some(cpu), task, Some(deadline_abs));
        }
    }

    /// The release timer of a cell has come.
    #[inline]
    pub(super) fn release_timer(&mut self, cell: usize) {
        if self.has_kernel() {
            self.kernel_release_timer(cell);
            return;
        }
        let now = self.now_ns;
        loop {
            let instance = &mut self.cells[cell].instance;
            let Some(group) = instance.take_due(now) else { break };
            instance.release_group(group, now);
            let more = instance.next_due() <= now;
            self.carry_out(index_u32(cell));
            if !more {
                break;
            }
        }
        if !IDEAL && self.cells[cell].own_timer() <= now {
            let instance = &mut self.cells[cell].instance;
            instance.timer(instance.own_timer_cpu(), now);
            self.carry_out(index_u32(cell));
        }
        self.arm(cell);
    }

    /// Carries out the actions of a decision, when decisions take no time: CPUs that are to reschedule do so at the end of
    /// the instant, operations in several steps go on at once, then messages are handled.
    #[inline]
    pub(super) fn carry_out(&mut self, cell: u32) {
        let state = &self.cells[cell as usize];
        let mut more = false;
        for act in state.instance.actions() {
            match act {
                Action::Kick { cpu } => self.pending.push(state.cpus[cpu as usize]),
                Action::Arm { .. } => {}
                Action::Notify { .. } | Action::Step { .. } | Action::Note(_) => more = true,
            }
        }
        if more {
            self.carry_out_steps(cell);
        }
    }

    /// The rest of [`Engine::carry_out`], for policies with operations in several steps; the kicks have been seen to.
    #[cold]
    fn carry_out_steps(&mut self, cell: u32) {
        let (mut messages, mut dsp, mut kicks_seen) = (0u32, NONE, true);
        loop {
            let mut step: Option<u32> = None;
            let state = &self.cells[cell as usize];
            for act in state.instance.actions() {
                match act {
                    Action::Kick { .. } if kicks_seen => {}
                    Action::Kick { cpu } => self.pending.push(state.cpus[cpu as usize]),
                    Action::Arm { .. } => {}
                    Action::Step { cpu, .. } => step = Some(cpu),
                    Action::Notify { cpu } => (messages, dsp) = (messages + 1, cpu),
                    Action::Note(note) => {
                        if O::EVENTS {
                            self.observer.event(note_event(self.now_ns, note, state, &self.cpus));
                        }
                    }
                }
            }
            kicks_seen = false;
            let instance = &mut self.cells[cell as usize].instance;
            if let Some(local) = step {
                instance.step(local, self.now_ns);
            } else if messages > 0 {
                messages -= 1;
                instance.message(dsp, self.now_ns);
            } else {
                break;
            }
        }
    }

    /// Every CPU that was asked to follows its link: first all decide (which may ask further CPUs), then jobs leave
    /// their CPUs, then jobs begin. So no job runs for no time, and none begins before it has left another CPU.
    #[inline]
    pub(super) fn follow_links(&mut self) {
        // In whose order jobs leave and begin on several CPUs shows in events.
        if self.goes_straight() && (!O::EVENTS || self.pending.len() <= 1) {
            self.follow_straight();
            return;
        }
        let (mut next, mut left) = (std::mem::take(&mut self.decided), 0);
        loop {
            while next < self.pending.len() {
                self.decide(self.pending[next]);
                next += 1;
            }
            for index in left..self.pending.len() {
                let cpu = self.pending[index];
                self.stop_unless(cpu, self.cpus[cpu as usize].decided);
            }
            // What leaves for a job goes first elsewhere, perhaps, before any job begins there.
            let displaced = self.has_background() && self.displace_background(left);
            left = self.pending.len();
            if !(displaced || self.has_reserve()) || !self.ask_servers(Phase::Decided) {
                break;
            }
        }
        for index in 0..self.pending.len() {
            self.go_on(self.pending[index]);
        }
        self.pending.clear();
    }

    /// [`Engine::follow_links`] without events, or of one CPU, under a policy whose decisions are made in one step: CPU by CPU.
    /// A decision asks no further CPU then, and no job begins on one CPU while another still runs it, for links
    /// do not move away from where a task is scheduled.
    #[inline]
    fn follow_straight(&mut self) {
        let decided = std::mem::take(&mut self.decided);
        for index in 0..self.pending.len() {
            let core = &mut self.cpus[self.pending[index] as usize];
            if index >= decided {
                core.decided = self.cells[core.cell as usize].reschedule(core.local, self.now_ns);
            }
            let before = core.running;
            if before != core.decided && before != NONE {
                let state = &mut self.tasks[before as usize];
                core.account(state, self.now_ns);
                state.switched_out();
                if O::EVENTS && state.goes_on() {
                    self.emit(EventKind::Preempt, Some(self.pending[index]), before, None);
                }
            }
            self.begin(self.pending[index], before);
        }
        self.pending.clear();
    }

    /// Background tasks leave the CPUs, from the `first` pending one on, that have decided for a job. Whether any did.
    fn displace_background(&mut self, first: usize) -> bool {
        let mut displaced = false;
        for index in first..self.pending.len() {
            let cpu = self.pending[index];
            if self.cpus[cpu as usize].decided != NONE {
                displaced |= self.background_gives_up(cpu);
            } else if first > 0 {
                // Its server goes first by what has just come there.
                self.background_may_have(cpu);
            }
        }
        displaced
    }

    #[inline]
    fn decide(&mut self, cpu: u32) {
        if self.is_taken(cpu) {
            self.cpus[cpu as usize].decided = NONE;
            return;
        }
        let cell = self.cpus[cpu as usize].cell;
        if !IDEAL && self.has_prototypes {
            self.account_before_choice(cell as usize);
        } else if self.counts_use() {
            self.account(cpu as usize);
        }
        let core = &mut self.cpus[cpu as usize];
        let state = &mut self.cells[cell as usize];
        let task = state.reschedule(core.local, self.now_ns);
        core.decided = task;
        // Only operations in several steps, and policies with a timer, have more to do.
        if state.instance.actions().len() > 0 {
            self.carry_out(cell);
            self.arm(cell as usize);
        }
        if self.has_background() {
            self.cpus[cpu as usize].decided = self.unless_others_go_first(cpu, task);
        }
    }

    /// The decision of a CPU begins there after `before`, unless the same task just goes on.
    #[inline(always)]
    fn begin(&mut self, cpu: u32, before: u32) {
        let core = &mut self.cpus[cpu as usize];
        let task = core.decided;
        core.running = task;
        let mut clock = NEVER;
        if task != NONE {
            let state = &mut self.tasks[task as usize];
            if before == task && state.goes_on() {
                return;
            }
            let resumed = state.started;
            let from = state.begin(cpu, self.now_ns);
            core.since_ns = self.now_ns;
            clock = self.now_ns + core.lasts(state);
            if O::EVENTS {
                self.show_begin(cpu, task, resumed, from);
            }
        }
        self.clocks.set(cpu as usize, clock);
    }

    #[inline(always)]
    fn go_on(&mut self, cpu: u32) {
        // A clock that is off: a budget has ended, and the job goes on with a new one.
        if self.take_core(cpu, self.cpus[cpu as usize].decided)
            || (self.has_budgets() && self.clocks.is_off(cpu as usize))
        {
            self.progress(cpu);
        }
    }

    /// Asks the policy which task `cpu` is to run from now on.
    pub(super) fn reschedule(&mut self, cpu: u32) -> u32 {
        let CpuState { cell, local, .. } = self.cpus[cpu as usize];
        let task = self.cells[cell as usize].reschedule(local, self.now_ns);
        self.unless_others_go_first(cpu, task)
    }

    /// What runs on `cpu` leaves it, unless that is `task`. Whether it did.
    #[inline(always)]
    pub(super) fn stop_unless(&mut self, cpu: u32, task: u32) -> bool {
        let counts_use = self.counts_use();
        let core = &mut self.cpus[cpu as usize];
        let before = core.running;
        if before == NONE || before == task {
            return false;
        }
        let state = &mut self.tasks[before as usize];
        let since = core.since_ns;
        let work = core.account(state, self.now_ns);
        if counts_use && work > 0 {
            self.cells[core.cell as usize].consume(state, work, self.scale);
        }
        self.charge_reserve(cpu, since);
        self.rests(cpu);
        self.cpus[cpu as usize].running = NONE;
        let state = &mut self.tasks[before as usize];
        state.switched_out();
        if !IDEAL && let Some(caches) = &mut self.caches {
            caches.left(before, cpu);
        }
        if task == NONE {
            self.clocks.set(cpu as usize, NEVER);
        }
        if O::EVENTS && state.goes_on() {
            self.emit(EventKind::Preempt, Some(cpu), before, None);
        }
        // Where the kernel takes time, it has the core now.
        if self.has_background() && !self.has_kernel() {
            self.background_may_have(cpu);
        }
        true
    }

    /// `task`'s present job begins or goes on on `cpu`, which is free or held by that task. Whether that is a change.
    #[inline(always)]
    pub(super) fn take_core(&mut self, cpu: u32, task: u32) -> bool {
        let core = &mut self.cpus[cpu as usize];
        if task == NONE {
            return false;
        }
        let state = &mut self.tasks[task as usize];
        if core.running == task && state.goes_on() {
            return false;
        }
        core.running = task;
        let resumed = state.started;
        let last = state.last_cpu;
        let from = state.begin(cpu, self.now_ns);
        if self.has_background() {
            self.background_gives_up(cpu);
        }
        if O::EVENTS {
            self.show_begin(cpu, task, resumed, from);
        }
        if !IDEAL && self.caches.is_some() {
            self.reload_caches(task, resumed.then_some(last), cpu);
        }
        true
    }

    /// Whether [`Engine::take_core`] would change what the CPU does.
    #[inline]
    pub(super) fn would_change(&self, cpu: u32, task: u32) -> bool {
        let running = self.cpus[cpu as usize].running;
        task != NONE && (running != task || !self.tasks[task as usize].goes_on())
    }
}

impl CellState {
    /// When the policy's own timer is due, unless that is on its way already.
    #[inline]
    pub(super) fn own_timer(&self) -> u64 {
        if self.timer_is_coming { NEVER } else { self.instance.next_timer() }
    }

    /// Asks the policy which task, as the set numbers them, `local` is to run from now on.
    #[inline]
    fn reschedule(&mut self, local: u32, now: u64) -> u32 {
        let mut task = self.instance.reschedule(local, now);
        while task != NONE && self.stands(task, StandingEvent::Turn) == Then::Suspend {
            self.instance.suspend(local, now);
            self.stands(task, StandingEvent::Told);
            task = self.instance.reschedule(local, now);
        }
        self.of_the_set(task)
    }

    /// The job on `local` has ended: which task is to run there from now on.
    #[inline]
    fn finish(&mut self, local: u32, next_release: u64, now: u64) -> u32 {
        let task = self.instance.finish(local, next_release, now);
        self.of_the_set(task)
    }

    /// The task, or [`NONE`], as the set numbers it.
    #[inline]
    fn of_the_set(&self, task: u32) -> u32 {
        match task {
            NONE => NONE,
            task => self.tasks[task as usize],
        }
    }
}

/// The event that a policy's note becomes.
pub(super) fn note_event(time_ns: u64, note: Note, cell: &CellState, cpus: &[CpuState]) -> Event {
    let kind = match note.kind {
        NoteKind::LinkSwap => EventKind::LinkSwap,
        NoteKind::StaleMessage | NoteKind::StaleJob => EventKind::StaleMessage,
        NoteKind::Push => EventKind::Push,
        NoteKind::PushFailed | NoteKind::PushOvertaken => EventKind::PushFailed,
        NoteKind::PushAbandoned => EventKind::PushAbandoned,
        NoteKind::Pull => EventKind::Pull,
        NoteKind::PullFailed => EventKind::PullFailed,
    };
    let number = |local: u32| cell.cpus.get(local as usize).map(|&cpu| cpus[cpu as usize].number);
    let task = note.task.and_then(|local| cell.tasks.get(local as usize)).copied();
    let other = note.other.and_then(number).map(u64::from);
    Event { time_ns, kind, cpu: number(note.cpu), task, job: None, argument: other }
}
