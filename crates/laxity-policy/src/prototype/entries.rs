//! The entry points of an instance of a prototype, and what it has beside the state of all policies.

use super::choice::{again, places};
use super::{MemberNames, Named, PendingJob, Prototype};
use crate::{NEVER, NONE, ffi};
use laxity_model::Diagnostic;
use std::collections::BTreeMap;

/// What an instance of a prototype has beside the state of all policies.
pub(crate) struct Prototyped {
    prototype: Box<dyn Prototype>,
    names: MemberNames,
    /// By task: the job that is pending.
    pending: Vec<Option<PendingJob>>,
    /// By release instant: groups, each with its tasks.
    due: BTreeMap<u64, Vec<Group>>,
    /// Groups that [`Prototyped::take_due`] has handed out.
    taken: Vec<Group>,
    /// By CPU: whether it is there.
    is_there: Vec<bool>,
    /// Something has changed since the last choice.
    changed: bool,
    failure: Option<Diagnostic>,
}

/// Jobs that are released together. Its number is that of its first task.
struct Group {
    tasks: Vec<u32>,
    /// Others may join.
    open: bool,
}

/// A table that all threads may have.
pub(crate) struct Entries(pub ffi::lx_policy);

// SAFETY: constant: a name and functions.
unsafe impl Sync for Entries {}

/// The entry points of an instance whose state is a prototype's.
pub(crate) static ENTRIES: Entries = Entries(ffi::lx_policy {
    name: c"prototype".as_ptr(),
    counts_use: 1,
    init: Some(init),
    enter: None,
    arrive: Some(arrive),
    take_due: Some(take_due),
    release_group: Some(release_group),
    timer: Some(timer),
    complete: Some(complete),
    reschedule: Some(reschedule),
    finish: None,
    consume: Some(consume),
    exhaust: None,
    step: None,
    message: None,
    suspend: None,
    resume: None,
    withdraw: Some(withdraw),
    restore: Some(restore),
    complete_here: None,
    exhaust_here: None,
    await_: None,
    lock_of: None,
});

impl Prototyped {
    pub fn new((prototype, names): Named, (tasks, cpus): (usize, usize)) -> Box<Prototyped> {
        Box::new(Prototyped {
            prototype,
            names,
            pending: vec![None; tasks],
            due: BTreeMap::new(),
            taken: Vec::new(),
            is_there: vec![true; cpus],
            changed: false,
            failure: None,
        })
    }

    /// Whether the next CPU that follows its link asks the prototype.
    pub fn is_to_choose(&self) -> bool {
        self.changed
    }

    /// Why it runs nothing any more.
    pub fn failure(&self) -> Option<&Diagnostic> {
        self.failure.as_ref()
    }
}

/// A state together with what the prototype has beside it.
struct Of<'a> {
    state: &'a mut ffi::lx_state,
    own: &'a mut Prototyped,
}

impl Of<'_> {
    /// Both, and no actions yet.
    ///
    /// # Safety
    ///
    /// `state` is the state of an instance of a prototype, and nothing else has it now.
    unsafe fn entry<'a>(state: *mut ffi::lx_state) -> Of<'a> {
        // SAFETY: the caller's promise; what is behind the state was put there when the instance was made.
        let of = unsafe { Of { own: &mut *place(state), state: &mut *state } };
        of.state.actions = 0;
        of
    }

    /// Leaves an action; `due_at` matters to a timer.
    fn act(&mut self, kind: ffi::lx_action_kind, cpu: u32, due_at: u64) {
        let place = self.state.actions as usize;
        let action = ffi::lx_action { kind, cpu, __bindgen_anon_1: ffi::lx_action__bindgen_ty_1 { due_at } };
        // SAFETY: the array has room for an action for each CPU and more (policy/native.c), and no entry point here leaves more.
        unsafe { *self.state.action.add(place) = action };
        self.state.actions += 1;
    }

    fn task(&mut self, task: u32) -> &mut ffi::lx_task {
        assert!(task < self.state.config.tasks, "task {task} is not of this instance");
        // SAFETY: the array has as many elements.
        unsafe { &mut *self.state.task.add(task as usize) }
    }

    fn cpu(&mut self, cpu: u32) -> &mut ffi::lx_cpu {
        assert!(cpu < self.state.config.cpus, "CPU {cpu} is not of this instance");
        // SAFETY: the array has as many elements.
        unsafe { &mut *self.state.cpu.add(cpu as usize) }
    }

    /// Something has changed: all CPUs are to reschedule.
    fn change(&mut self) {
        self.own.changed = true;
        for cpu in 0..self.state.config.cpus {
            if self.own.is_there[cpu as usize] {
                self.act(ffi::lx_action_kind_LX_KICK, cpu, 0);
            }
        }
    }

    /// A job of the task is released at `release_at`, now or later.
    fn comes(&mut self, task: u32, release_at: u64, cpu: u32, now: u64) {
        if now != NEVER && release_at <= now {
            self.is_released(task, release_at);
            return;
        }
        let alone = self.state.config.batching == 0 || self.task(task).alone != 0;
        let groups = self.own.due.entry(release_at).or_default();
        match groups.iter_mut().find(|group| group.open && !alone) {
            Some(group) => group.tasks.push(task),
            None => {
                groups.push(Group { tasks: vec![task], open: !alone });
                // SAFETY: groups are numbered as tasks are, and the task is of this instance.
                unsafe { (*self.state.group.add(task as usize)).cpu = cpu };
            }
        }
        self.state.next_due_at = self.state.next_due_at.min(release_at);
    }

    fn is_released(&mut self, task: u32, release_ns: u64) {
        let parameters = self.task(task);
        let deadline_abs_ns = release_ns.saturating_add(parameters.deadline_rel_ns);
        parameters.deadline_abs_ns = deadline_abs_ns;
        let job = PendingJob { task, release_ns, deadline_abs_ns, used_ns: 0, cpu: None };
        self.own.pending[task as usize] = Some(job);
    }

    /// Asks the prototype, and links the jobs that it has chosen.
    fn choose(&mut self, now: u64) {
        self.own.changed = false;
        self.state.next_timer_at = NEVER;
        if self.own.failure.is_some() {
            return;
        }
        let jobs: Vec<PendingJob> = self.own.pending.iter().copied().flatten().collect();
        let cpus: Vec<u32> =
            (0..self.state.config.cpus).filter(|&cpu| self.own.is_there[cpu as usize]).collect();
        let chosen =
            self.own.prototype.choose(now, &jobs, &cpus).and_then(|choice| {
                Ok((places(&choice, &jobs, &cpus, &self.own.names)?, again(&choice, now)?))
            });
        let (places, again_at) = chosen.unwrap_or_else(|failure| {
            self.own.failure = Some(failure);
            (BTreeMap::new(), NEVER)
        });
        for cpu in 0..self.state.config.cpus {
            self.cpu(cpu).linked = places.get(&cpu).copied().unwrap_or(NONE);
        }
        self.own.pending.iter_mut().flatten().for_each(|job| job.cpu = None);
        for (&cpu, &task) in &places {
            if let Some(job) = &mut self.own.pending[task as usize] {
                job.cpu = Some(cpu);
            }
        }
        self.state.ready_count = u32::try_from(jobs.len() - places.len()).unwrap_or(u32::MAX);
        self.state.next_timer_at = again_at;
        let cpu = cpus.first().copied().unwrap_or(0);
        self.state.timer_cpu = cpu;
        if again_at != NEVER {
            self.act(ffi::lx_action_kind_LX_ARM, cpu, again_at);
        }
    }
}

/// Where what a prototype has beside the state is: behind it.
///
/// # Safety
///
/// `state` is the state of an instance of a prototype.
pub(crate) unsafe fn place(state: *mut ffi::lx_state) -> *mut Box<Prototyped> {
    // SAFETY: the configuration is what the state was laid out for, and the memory is larger by a place for this (Instance::of_prototype).
    unsafe { state.cast::<u8>().add(offset(&(*state).config)).cast() }
}

/// How far behind its beginning the state of this configuration ends.
pub(crate) fn offset(config: &ffi::lx_config) -> usize {
    // SAFETY: reads the configuration only.
    unsafe { ffi::lx_policy_size(&raw const *config) }.next_multiple_of(align_of::<Box<Prototyped>>())
}

unsafe extern "C" fn init(state: *mut ffi::lx_state) {
    // SAFETY: called by `Instance` with its own state.
    let of = unsafe { Of::entry(state) };
    (of.state.next_due_at, of.state.next_timer_at) = (NEVER, NEVER);
    of.state.ready_count = 0;
    for cpu in 0..of.state.config.cpus {
        // SAFETY: the array has as many elements.
        unsafe { (*of.state.cpu.add(cpu as usize)).linked = NONE };
    }
}

unsafe extern "C" fn arrive(state: *mut ffi::lx_state, task: u32, release_at: u64, cpu: u32, now: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    of.comes(task, release_at, cpu, now);
    if of.own.pending[task as usize].is_some() {
        of.change();
    }
}

unsafe extern "C" fn take_due(state: *mut ffi::lx_state, now: u64) -> u32 {
    // SAFETY: as above.
    let of = unsafe { Of::entry(state) };
    let Some(mut first) = of.own.due.first_entry().filter(|first| *first.key() <= now) else { return NONE };
    let group = first.get_mut().remove(0);
    if first.get().is_empty() {
        first.remove();
    }
    of.state.next_due_at = of.own.due.keys().next().copied().unwrap_or(NEVER);
    let number = group.tasks[0];
    of.own.taken.push(group);
    number
}

unsafe extern "C" fn release_group(state: *mut ffi::lx_state, group: u32, now: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    let place =
        of.own.taken.iter().position(|taken| taken.tasks[0] == group).expect("take_due has handed it out");
    for task in of.own.taken.swap_remove(place).tasks {
        of.is_released(task, now);
    }
    of.change();
}

unsafe extern "C" fn timer(state: *mut ffi::lx_state, _: u32, _: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    of.state.next_timer_at = NEVER;
    of.change();
}

unsafe extern "C" fn complete(state: *mut ffi::lx_state, cpu: u32, next_release_at: u64, now: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    let task = of.cpu(cpu).linked;
    of.own.pending[task as usize] = None;
    of.cpu(cpu).linked = NONE;
    if next_release_at != NEVER {
        of.comes(task, next_release_at, cpu, now);
    }
    of.change();
}

unsafe extern "C" fn reschedule(state: *mut ffi::lx_state, cpu: u32, now: u64) -> u32 {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    if of.own.changed {
        of.choose(now);
    }
    of.cpu(cpu).linked
}

unsafe extern "C" fn consume(state: *mut ffi::lx_state, task: u32, used_ns: u64) {
    // SAFETY: as above.
    let of = unsafe { Of::entry(state) };
    if let Some(job) = &mut of.own.pending[task as usize] {
        job.used_ns += used_ns;
    }
}

unsafe extern "C" fn withdraw(state: *mut ffi::lx_state, cpu: u32, _: u32, _: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    of.own.is_there[cpu as usize] = false;
    let task = std::mem::replace(&mut of.cpu(cpu).linked, NONE);
    if let Some(Some(job)) = of.own.pending.get_mut(task as usize) {
        job.cpu = None;
    }
    of.change();
}

unsafe extern "C" fn restore(state: *mut ffi::lx_state, cpu: u32, _: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    of.own.is_there[cpu as usize] = true;
    of.change();
}
