//! Prototypes: policies that are not of `policy/` but written elsewhere, such as in Python, and of which only a simulator is the host.
//!
//! A prototype is one function: which of the pending jobs run. [`Instance::of_prototype`](crate::Instance::of_prototype) makes
//! an instance of it, with the entry points that every policy has (`policy/native.h`); what a policy has besides its choice is here: a
//! release queue, the jobs that are pending, a timer.
//!
//! 1. The prototype is asked once for each instant at which something has changed: jobs were released, one has ended, a CPU was taken or
//!    given back, or the instant has come that it has named itself. All of the instant has happened by then: every entry point kicks all
//!    CPUs, and the first of them that follows its link asks. If a job ends in the instant in which it begins, for it is late and
//!    aborts, the prototype is asked again.
//! 2. Of every task one job is pending at most, the first that has not ended.
//! 3. A choice that is none (a job that is not pending, a CPU twice) ends the instance: it runs nothing any more, and says why
//!    ([`Instance::failure`](crate::Instance::failure)).
//!
//! Complexity: O(n + m) for each choice, beside the function's own.

use crate::{NEVER, NONE, ffi};
use laxity_model::{Diagnostic, Result};
use std::collections::BTreeMap;

/// A job that has been released and has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingJob {
    /// Its task, as the instance numbers them.
    pub task: u32,
    /// When it was released, in ns.
    pub release_ns: u64,
    /// By when it is to end, in ns.
    pub deadline_abs_ns: u64,
    /// What it has done, in whole ns of work on a CPU of speed 1.
    pub used_ns: u64,
    /// The CPU that runs it.
    pub cpu: Option<u32>,
}

/// Which jobs run from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Their tasks, each on this CPU, or where it runs already, or on the first CPU that is free.
    pub run: Vec<(u32, Option<u32>)>,
    /// When the prototype is to be asked again, in ns, though nothing else has changed.
    pub again_at_ns: Option<u64>,
}

/// A policy in one function. It may remember what it likes.
pub trait Prototype: Send {
    /// Chooses among the pending jobs, by task, for these CPUs, ascending: those of the instance that nothing else has taken.
    ///
    /// # Errors
    ///
    /// What ends the simulation.
    fn choose(&mut self, now_ns: u64, jobs: &[PendingJob], cpus: &[u32]) -> Result<Choice>;
}

/// What the tasks and CPUs of an instance are called elsewhere, by their numbers: for what is said of a wrong choice.
#[derive(Debug, Clone, Default)]
pub struct MemberNames {
    /// Tasks.
    pub tasks: Vec<String>,
    /// CPUs.
    pub cpus: Vec<u32>,
}

/// A prototype, and what its members are called.
pub type Named = (Box<dyn Prototype>, MemberNames);

impl MemberNames {
    fn task(&self, task: u32) -> String {
        self.tasks.get(task as usize).map_or_else(|| task.to_string(), |name| format!("`{name}`"))
    }

    fn cpu(&self, cpu: u32) -> u32 {
        self.cpus.get(cpu as usize).copied().unwrap_or(cpu)
    }
}

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
        self.state.ready_count = u32::try_from(jobs.len() - places.len()).unwrap_or(u32::MAX);
        self.state.next_timer_at = again_at;
        let cpu = cpus.first().copied().unwrap_or(0);
        self.state.timer_cpu = cpu;
        if again_at != NEVER {
            self.act(ffi::lx_action_kind_LX_ARM, cpu, again_at);
        }
    }

    /// The task that runs on the CPU from now on.
    fn follow(&mut self, cpu: u32) -> u32 {
        let task = self.cpu(cpu).linked;
        for job in self.own.pending.iter_mut().flatten() {
            if job.task == task {
                job.cpu = Some(cpu);
            } else if job.cpu == Some(cpu) {
                job.cpu = None;
            }
        }
        task
    }
}

/// On which CPU each chosen job runs: by CPU, its task.
fn places(
    choice: &Choice,
    jobs: &[PendingJob],
    cpus: &[u32],
    names: &MemberNames,
) -> Result<BTreeMap<u32, u32>> {
    let wrong = |what: String, rule: &str| Diagnostic::usage(what).hint(rule.to_owned());
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    let mut elsewhere: Vec<(u32, Option<u32>)> = Vec::new();
    let mut seen = vec![];
    for &(task, cpu) in &choice.run {
        let Some(job) = jobs.iter().find(|job| job.task == task) else {
            return Err(wrong(
                format!("task {} was chosen, of which no job is pending", names.task(task)),
                "choose among the jobs that are given",
            ));
        };
        if seen.contains(&task) {
            return Err(wrong(
                format!("task {} was chosen twice", names.task(task)),
                "a job runs on one CPU at a time",
            ));
        }
        seen.push(task);
        match cpu {
            None => elsewhere.push((task, job.cpu)),
            Some(cpu) if !cpus.contains(&cpu) => {
                return Err(wrong(
                    format!(
                        "task {} was put on CPU {}, which is not there",
                        names.task(task),
                        names.cpu(cpu)
                    ),
                    "choose among the CPUs that are given",
                ));
            }
            Some(cpu) => {
                if let Some(other) = places.insert(cpu, task) {
                    return Err(wrong(
                        format!(
                            "tasks {} and {} were put on CPU {}",
                            names.task(other),
                            names.task(task),
                            names.cpu(cpu)
                        ),
                        "a CPU runs one job at a time",
                    ));
                }
            }
        }
    }
    if choice.run.len() > cpus.len() {
        let what = format!("{} jobs were chosen for {} CPUs", choice.run.len(), cpus.len());
        return Err(wrong(what, "choose at most as many jobs as there are CPUs"));
    }
    let is_free = |places: &BTreeMap<u32, u32>, cpu: &u32| cpus.contains(cpu) && !places.contains_key(cpu);
    let mut moves = Vec::new();
    for (task, runs_on) in elsewhere {
        match runs_on.filter(|cpu| is_free(&places, cpu)) {
            Some(cpu) => drop(places.insert(cpu, task)),
            None => moves.push(task),
        }
    }
    for task in moves {
        let cpu = cpus.iter().find(|cpu| is_free(&places, cpu)).expect("as many CPUs as jobs, and more");
        places.insert(*cpu, task);
    }
    Ok(places)
}

/// When the prototype is asked again.
fn again(choice: &Choice, now: u64) -> Result<u64> {
    match choice.again_at_ns {
        Some(at) if at <= now => {
            Err(Diagnostic::usage(format!("to be asked again at {at} ns, when it is {now} ns"))
                .hint("name a later instant, or none: a choice holds until something changes"))
        }
        Some(at) => Ok(at),
        None => Ok(NEVER),
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
    of.follow(cpu)
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
    of.cpu(cpu).linked = NONE;
    of.follow(cpu);
    of.change();
}

unsafe extern "C" fn restore(state: *mut ffi::lx_state, cpu: u32, _: u64) {
    // SAFETY: as above.
    let mut of = unsafe { Of::entry(state) };
    of.own.is_there[cpu as usize] = true;
    of.change();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(task: u32, cpu: Option<u32>) -> PendingJob {
        PendingJob { task, release_ns: 0, deadline_abs_ns: 10, used_ns: 0, cpu }
    }

    fn placed(run: &[(u32, Option<u32>)]) -> Result<Vec<(u32, u32)>> {
        let jobs = [job(0, Some(1)), job(1, None), job(2, Some(3)), job(3, None)];
        let choice = Choice { run: run.to_vec(), again_at_ns: None };
        Ok(places(&choice, &jobs, &[1, 3, 5], &MemberNames::default())?.into_iter().collect())
    }

    #[test]
    fn jobs_stay_where_they_run_unless_they_are_put_elsewhere() {
        assert_eq!(placed(&[(1, None), (0, None), (2, None)]), Ok(vec![(1, 0), (3, 2), (5, 1)]));
        assert_eq!(placed(&[(1, Some(1)), (0, None)]), Ok(vec![(1, 1), (3, 0)]));
        assert_eq!(placed(&[(0, Some(3)), (2, Some(1))]), Ok(vec![(1, 2), (3, 0)]));
        assert_eq!(placed(&[]), Ok(vec![]));
    }

    #[test]
    fn refuses_what_cannot_run() {
        for (run, why) in [
            (&[(4, None)][..], "no job is pending"),
            (&[(1, None), (1, None)], "twice"),
            (&[(1, Some(2))], "task 1 was put on CPU 2, which is not there"),
            (&[(1, Some(1)), (0, Some(1))], "tasks 1 and 0 were put on CPU 1"),
            (&[(0, None), (1, None), (2, None), (3, None)], "4 jobs were chosen for 3 CPUs"),
        ] {
            let refused = placed(run).expect_err(why);
            assert!(refused.message.contains(why), "{}", refused.message);
        }
        assert!(again(&Choice { again_at_ns: Some(5), ..Choice::default() }, 5).is_err());
    }
}
