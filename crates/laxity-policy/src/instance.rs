//! One scheduler instance: the state in memory of its own, and the entry points.

use crate::action::Action;
use crate::locks::Locks;
use crate::prototype::{self, Named, Prototyped};
use crate::{NONE, Table, ffi};
use laxity_model::{BudgetMode, Diagnostic};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// What an entry point is called for, to ask which locks it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// release_group, arrive, resume.
    Release,
    /// complete, suspend.
    Complete,
    /// reschedule.
    Reschedule,
    /// exhaust.
    Exhaust,
    /// message.
    Message,
}

/// How an instance is set up.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// CPUs, the dedicated one (the last) included.
    pub cpus: u32,
    /// Fixed priorities instead of EDF.
    pub fixed_priorities: bool,
    /// Budget enforcement.
    pub budget_mode: BudgetMode,
    /// Whether jobs of one release instant are released together.
    pub batching: bool,
    /// Whether the last CPU takes all release interrupts and runs no task.
    pub dedicated_cpu: bool,
    /// push-pull: after how many failures a push is given up.
    pub retries_max: u32,
}

/// What a policy knows of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskParameters {
    /// D, in ns.
    pub deadline_rel_ns: u64,
    /// T, in ns.
    pub period_ns: u64,
    /// Work a job may do in a period, in ns.
    pub budget_ns: u64,
    /// Under fixed priorities: 0 is the highest.
    pub priority: u32,
    /// Whether its jobs are released together with others of their instant, if the instance does so.
    pub batching: bool,
}

/// A new budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replenishment {
    /// The beginning of the server period.
    pub at_ns: u64,
    /// The absolute deadline that comes with it.
    pub deadline_abs_ns: u64,
}

/// One scheduler over the tasks and CPUs of one cluster.
pub struct Instance {
    state: NonNull<ffi::lx_state>,
    layout: Layout,
    entries: Entries,
    /// A prototype's is behind its state.
    has_prototype: bool,
}

/// The entry points, without the null checks.
#[derive(Clone, Copy)]
struct Entries {
    arrive: unsafe extern "C" fn(*mut ffi::lx_state, u32, u64, u32, u64),
    take_due: unsafe extern "C" fn(*mut ffi::lx_state, u64) -> u32,
    release_group: unsafe extern "C" fn(*mut ffi::lx_state, u32, u64),
    complete: unsafe extern "C" fn(*mut ffi::lx_state, u32, u64, u64),
    reschedule: unsafe extern "C" fn(*mut ffi::lx_state, u32, u64) -> u32,
    finish: Option<unsafe extern "C" fn(*mut ffi::lx_state, u32, u64, u64) -> u32>,
    table: Table,
}

// SAFETY: the state is owned memory without pointers to anything but itself, and nothing in C is shared.
unsafe impl Send for Instance {}

impl Instance {
    /// An instance without jobs. `sockets` are the numbers, from 0, of the sockets that the CPUs are on: each has a mailbox
    /// in g-edf-mp.
    ///
    /// # Panics
    ///
    /// There must be as many sockets as CPUs.
    pub fn new(table: Table, config: Config, tasks: &[TaskParameters], sockets: &[u32]) -> Instance {
        Self::laid_out((table, None), config, tasks, sockets)
    }

    /// The same of a prototype, with what its tasks and CPUs are called in messages. It knows neither budgets nor a dedicated CPU: the
    /// host calls none of exhaust, suspend, resume and enter.
    pub fn of_prototype(prototype: Named, config: Config, tasks: &[TaskParameters]) -> Instance {
        let sockets = vec![0; config.cpus as usize];
        Self::laid_out((Table::prototypes(), Some(prototype)), config, tasks, &sockets)
    }

    fn laid_out(
        (table, prototype): (Table, Option<Named>),
        config: Config,
        tasks: &[TaskParameters],
        sockets: &[u32],
    ) -> Instance {
        assert_eq!(sockets.len(), config.cpus as usize, "every CPU is on a socket");
        let count = u32::try_from(tasks.len()).expect("task sets are far smaller");
        let c_config = ffi::lx_config {
            tasks: count.max(1),
            cpus: config.cpus,
            rule: u32::from(config.fixed_priorities),
            budget_mode: config.budget_mode.code(),
            batching: config.batching.into(),
            dedicated_cpu: if config.dedicated_cpu { config.cpus - 1 } else { NONE },
            retries_max: config.retries_max,
            sockets: sockets.iter().max().map_or(1, |last| last + 1),
        };
        let size = match prototype {
            // SAFETY: reads the configuration only.
            None => unsafe { ffi::lx_policy_size(&raw const c_config) },
            Some(_) => prototype::offset(&c_config) + size_of::<Box<Prototyped>>(),
        };
        let layout = Layout::from_size_align(size, 64).expect("a few hundred bytes per task and CPU");
        // SAFETY: the size is not zero: the header alone is larger.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        // SAFETY: zeroed memory of the size asked for, aligned.
        let state = unsafe { ffi::lx_policy_lay_out(memory.as_ptr().cast(), &raw const c_config) };
        let has_prototype = prototype.is_some();
        if let Some(prototype) = prototype {
            let own = Prototyped::new(prototype, (c_config.tasks as usize, c_config.cpus as usize));
            // SAFETY: the memory has room for it there, and nothing is there yet.
            unsafe { prototype::place(state).write(own) };
        }
        let entries = table.entries();
        let mut instance = Instance {
            state: NonNull::new(state).expect("it is the memory given"),
            layout,
            entries: Entries {
                arrive: entries.arrive.expect("every policy has it"),
                take_due: entries.take_due.expect("every policy has it"),
                release_group: entries.release_group.expect("every policy has it"),
                complete: entries.complete.expect("every policy has it"),
                reschedule: entries.reschedule.expect("every policy has it"),
                finish: entries.finish,
                table,
            },
            has_prototype,
        };
        for (id, task) in (0..).zip(tasks) {
            instance.set_parameters(id, task);
        }
        for (cpu, &socket) in sockets.iter().enumerate() {
            // SAFETY: the array holds `cpus` elements, as many as there are sockets.
            unsafe { (*instance.state.as_ref().cpu.add(cpu)).socket = socket };
        }
        let init = entries.init.expect("every policy has it");
        // SAFETY: laid out above, parameters in place.
        unsafe { init(state) };
        instance
    }

    /// The earliest pending release instant, or [`crate::NEVER`].
    #[inline]
    pub fn next_due(&self) -> u64 {
        // SAFETY: the state lives as long as self.
        unsafe { self.state.as_ref().next_due_at }
    }

    /// When the policy's own timer is due ([`Instance::timer`]), or [`crate::NEVER`].
    #[inline]
    pub fn next_timer(&self) -> u64 {
        // SAFETY: the state lives as long as self.
        unsafe { self.state.as_ref().next_timer_at }
    }

    /// The CPU that takes the interrupt of the policy's own timer.
    #[inline]
    pub fn own_timer_cpu(&self) -> u32 {
        // SAFETY: the state lives as long as self.
        unsafe { self.state.as_ref().timer_cpu }
    }

    /// The policy's own timer has come, on `cpu`. Nothing for a policy without one.
    pub fn timer(&mut self, cpu: u32, now: u64) {
        if let Some(timer) = self.entries.table.entries().timer {
            // SAFETY: the state is valid and belongs to this instance alone.
            unsafe { timer(self.state.as_ptr(), cpu, now) }
        }
    }

    /// Whether the next CPU that follows its link asks a prototype, which sees then what jobs have used.
    pub fn is_to_choose(&self) -> bool {
        self.prototyped().is_some_and(Prototyped::is_to_choose)
    }

    /// Why a prototype runs nothing any more.
    pub fn failure(&self) -> Option<&Diagnostic> {
        self.prototyped().and_then(Prototyped::failure)
    }

    fn prototyped(&self) -> Option<&Prototyped> {
        // SAFETY: it was put there when the instance was made, and lives as long.
        self.has_prototype.then(|| unsafe { &**prototype::place(self.state.as_ptr()) })
    }

    /// Jobs that are ready or linked to a CPU. O(m).
    pub fn ready_jobs(&self) -> u32 {
        // SAFETY: the state lives as long as self, and its array of CPUs is as long as the configuration says.
        unsafe {
            let state = self.state.as_ref();
            let cpus = std::slice::from_raw_parts(state.cpu, state.config.cpus as usize);
            cpus.iter().filter(|cpu| cpu.linked != NONE).fold(state.ready_count, |sum, _| sum + 1)
        }
    }

    /// The actions of the last decision.
    #[inline]
    pub fn actions(&self) -> impl ExactSizeIterator<Item = Action> {
        // SAFETY: the first `actions` elements are written by every entry point.
        let actions = unsafe {
            let state = self.state.as_ref();
            std::slice::from_raw_parts(state.action, state.actions as usize)
        };
        actions.iter().map(Action::from)
    }

    /// What is left of the task's budget, in ns.
    pub fn budget_left(&self, task: u32) -> u64 {
        self.task(task).budget_left_ns
    }

    /// When the next server period of the task begins, and the deadline it then has.
    pub fn next_replenishment(&self, task: u32) -> Replenishment {
        let _ = self.task(task);
        let mut deadline_abs = 0;
        // SAFETY: the task is of this instance (checked above); only read.
        let at_ns =
            unsafe { ffi::lx_policy_next_replenishment(self.state.as_ptr(), task, &raw mut deadline_abs) };
        Replenishment { at_ns, deadline_abs_ns: deadline_abs }
    }

    /// The absolute deadline under which the task is scheduled.
    pub fn deadline_abs(&self, task: u32) -> u64 {
        self.task(task).deadline_abs_ns
    }

    /// A task that has never had a job, or has left, becomes one of the instance, with these parameters. A task leaves by
    /// completing with [`crate::NEVER`] or by suspending, and not coming back.
    pub fn enter(&mut self, task: u32, parameters: &TaskParameters) {
        self.set_parameters(task, parameters);
        let enter = self.entries.table.entries().enter.expect("every policy has it");
        // SAFETY: the state is valid and belongs to this instance alone.
        unsafe { enter(self.state.as_ptr(), task) }
    }

    fn set_parameters(&mut self, task: u32, parameters: &TaskParameters) {
        let _ = self.task(task);
        // SAFETY: the task is of this instance (checked above), and the state belongs to it alone.
        let slot = unsafe { &mut *self.state.as_ref().task.add(task as usize) };
        slot.deadline_rel_ns = parameters.deadline_rel_ns;
        slot.period_ns = parameters.period_ns;
        slot.budget_ns = parameters.budget_ns;
        slot.priority = parameters.priority;
        slot.alone = (!parameters.batching).into();
    }

    fn task(&self, task: u32) -> &ffi::lx_task {
        // SAFETY: the array holds `tasks` elements.
        unsafe {
            assert!(task < self.state.as_ref().config.tasks, "task {task} is not of this instance");
            &*self.state.as_ref().task.add(task as usize)
        }
    }

    /// The CPU that takes the timer interrupt of a release group.
    #[inline]
    pub fn timer_cpu(&self, group: u32) -> u32 {
        // SAFETY: groups are numbered as tasks are.
        unsafe {
            debug_assert!(group < self.state.as_ref().config.tasks);
            (*self.state.as_ref().group.add(group as usize)).cpu
        }
    }

    /// The first release group whose time has come, out of the release queue.
    #[inline]
    pub fn take_due(&mut self, now: u64) -> Option<u32> {
        // SAFETY: the state is valid and belongs to this instance alone.
        let group = unsafe { (self.entries.take_due)(self.state.as_ptr(), now) };
        (group != NONE).then_some(group)
    }

    /// The group's jobs are released.
    #[inline]
    pub fn release_group(&mut self, group: u32, now: u64) {
        // SAFETY: as above.
        unsafe { (self.entries.release_group)(self.state.as_ptr(), group, now) }
    }

    /// A task's job arrives at `release`, now or later, from the point of view of `cpu`. Before time begins `now` is
    /// [`crate::NEVER`]: then every job waits for its timer.
    #[inline]
    pub fn arrive(&mut self, task: u32, release: u64, cpu: u32, now: u64) {
        // SAFETY: as above.
        unsafe { (self.entries.arrive)(self.state.as_ptr(), task, release, cpu, now) }
    }

    /// The job on `cpu` has ended; the next one of its task arrives at `next_release`, or [`crate::NEVER`].
    #[inline]
    pub fn complete(&mut self, cpu: u32, next_release: u64, now: u64) {
        // SAFETY: as above.
        unsafe { (self.entries.complete)(self.state.as_ptr(), cpu, next_release, now) }
    }

    /// `cpu` follows its link. Returns the task that it runs from now on, or [`NONE`].
    #[inline]
    pub fn reschedule(&mut self, cpu: u32, now: u64) -> u32 {
        // SAFETY: as above.
        unsafe { (self.entries.reschedule)(self.state.as_ptr(), cpu, now) }
    }

    /// [`Instance::complete`] and [`Instance::reschedule`] in one, for policies without steps ([`Table::has_steps`]).
    #[inline]
    pub fn finish(&mut self, cpu: u32, next_release: u64, now: u64) -> u32 {
        let finish = self.entries.finish.expect("a policy without steps has it");
        // SAFETY: as above.
        unsafe { finish(self.state.as_ptr(), cpu, next_release, now) }
    }

    /// The task used `used` ns of its budget.
    pub fn consume(&mut self, task: u32, used: u64) {
        let consume = self.entries.table.entries().consume.expect("every policy has it");
        // SAFETY: as above.
        unsafe { consume(self.state.as_ptr(), task, used) }
    }

    /// The job on `cpu` has no budget left.
    pub fn exhaust(&mut self, cpu: u32, now: u64) {
        let exhaust = self.entries.table.entries().exhaust.expect("every policy has it");
        // SAFETY: as above.
        unsafe { exhaust(self.state.as_ptr(), cpu, now) }
    }

    /// The job on `cpu` waits for something.
    pub fn suspend(&mut self, cpu: u32, now: u64) {
        let suspend = self.entries.table.entries().suspend.expect("every policy has it");
        // SAFETY: as above.
        unsafe { suspend(self.state.as_ptr(), cpu, now) }
    }

    /// What the task's job waited for has happened, on `cpu`.
    pub fn resume(&mut self, task: u32, cpu: u32, now: u64) {
        let resume = self.entries.table.entries().resume.expect("every policy has it");
        // SAFETY: as above.
        unsafe { resume(self.state.as_ptr(), task, cpu, now) }
    }

    /// Something above the policy has taken `cpu`; what has ended there was said before. Not for the dedicated CPU.
    pub fn withdraw(&mut self, cpu: u32, now: u64) {
        let withdraw = self.entries.table.entries().withdraw.expect("every policy has it");
        // SAFETY: as above.
        unsafe { withdraw(self.state.as_ptr(), cpu, cpu, now) }
    }

    /// `cpu`, which was withdrawn, is there again: it reschedules next.
    pub fn restore(&mut self, cpu: u32, now: u64) {
        let restore = self.entries.table.entries().restore.expect("every policy has it");
        // SAFETY: as above.
        unsafe { restore(self.state.as_ptr(), cpu, now) }
    }

    /// The task, whose job is suspended or which has had none, wakes up at `now`. None: its job goes on
    /// ([`Instance::resume`]); otherwise a new job arrives at the returned instant, `now` or later
    /// ([`Instance::arrive`]). `policy/wake_up.h` has the rule.
    pub fn wake_up(&mut self, task: u32, now: u64) -> Option<u64> {
        let _ = self.task(task);
        // SAFETY: the task is of this instance, and the state belongs to it alone.
        let release = unsafe { ffi::lx_policy_wake_up(self.state.as_ptr(), task, now) };
        (release != crate::NEVER).then_some(release)
    }

    /// The locks to hold when the entry point for an event on `cpu` is called.
    #[inline]
    pub fn locks_of(&self, event: Event, cpu: u32) -> Locks {
        let Some(lock_of) = self.entries.table.entries().lock_of else { return Locks::ONLY };
        // SAFETY: reads the state only.
        Locks::from(unsafe { lock_of(self.state.as_ptr(), event as u32, cpu) })
    }

    /// The operation in progress on `cpu` goes on.
    pub fn step(&mut self, cpu: u32, now: u64) {
        let step = self.entries.table.entries().step.expect("a policy that asks for steps has it");
        // SAFETY: as above.
        unsafe { step(self.state.as_ptr(), cpu, now) }
    }

    /// `cpu`, the dedicated scheduling processor, handles one message. Returns whether there was one.
    pub fn message(&mut self, cpu: u32, now: u64) -> bool {
        let message = self.entries.table.entries().message.expect("a policy that notifies has it");
        // SAFETY: as above.
        unsafe { message(self.state.as_ptr(), cpu, now) != 0 }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.has_prototype {
            // SAFETY: it was put there when the instance was made, and nothing uses it any more.
            unsafe { prototype::place(self.state.as_ptr()).drop_in_place() }
        }
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.state.as_ptr().cast(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_modes_have_the_numbers_of_the_policies() {
        for (mode, number) in [
            (BudgetMode::Off, ffi::lx_budget_mode_LX_BUDGET_OFF),
            (BudgetMode::Throttle, ffi::lx_budget_mode_LX_BUDGET_THROTTLE),
            (BudgetMode::Postpone, ffi::lx_budget_mode_LX_BUDGET_POSTPONE),
        ] {
            assert_eq!(mode.code(), number, "{mode}");
        }
    }
}
