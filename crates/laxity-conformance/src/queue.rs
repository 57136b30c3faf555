//! The ready queues of `policy/queues` in native builds of the rig's own (`native/rig.c`).

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

/// `struct lx_state`, which only C looks into.
#[repr(C)]
struct State {
    _opaque: [u8; 0],
}

/// `struct rig_queue` of `native/rig.c`: change both.
#[repr(C)]
struct Table {
    name: *const c_char,
    init: unsafe extern "C" fn(*mut State),
    insert: unsafe extern "C" fn(*mut State, u32),
    insert_first: unsafe extern "C" fn(*mut State, u32),
    top: unsafe extern "C" fn(*mut State) -> u32,
    pop: unsafe extern "C" fn(*mut State, u32),
    remove: unsafe extern "C" fn(*mut State, u32),
    group_add: unsafe extern "C" fn(*mut State, u32, u32),
    group_release: Option<unsafe extern "C" fn(*mut State, u32)>,
    check: unsafe extern "C" fn(*mut State, *mut u32) -> *const c_char,
    fill: unsafe extern "C" fn(*mut State),
    hold: unsafe extern "C" fn(*mut State, u32, u64) -> u64,
}

/// How many queues there are.
pub const QUEUES: usize = 4;

/// The functions of one build.
#[derive(Clone, Copy)]
struct Functions {
    queues: *const [Table; QUEUES],
    open: unsafe extern "C" fn(u32, u32) -> *mut State,
    close: unsafe extern "C" fn(*mut State),
    task_set: unsafe extern "C" fn(*mut State, u32, u64, u32, u64, u64),
    key_set: unsafe extern "C" fn(*mut State, u32, u64),
    group_clear: unsafe extern "C" fn(*mut State, u32),
    group_first: unsafe extern "C" fn(*mut State, u32) -> u32,
    group_next: unsafe extern "C" fn(*mut State, u32) -> u32,
    group_check: unsafe extern "C" fn(*mut State, u32, *mut u32) -> *const c_char,
    promotions_late: unsafe extern "C" fn(*mut State, u32) -> u32,
    promotions_levels: unsafe extern "C" fn(*mut State),
}

macro_rules! build {
    ($module:ident, $prefix:literal) => {
        mod $module {
            use super::{Functions, QUEUES, State, Table};
            use std::ffi::c_char;
            unsafe extern "C" {
                #[link_name = concat!($prefix, "_queues")]
                static QUEUE_TABLES: [Table; QUEUES];
                #[link_name = concat!($prefix, "_open")]
                fn open(tasks: u32, rule: u32) -> *mut State;
                #[link_name = concat!($prefix, "_close")]
                fn close(state: *mut State);
                #[link_name = concat!($prefix, "_task_set")]
                fn task_set(
                    state: *mut State,
                    task: u32,
                    deadline_rel_ns: u64,
                    priority: u32,
                    first_key: u64,
                    late: u64,
                );
                #[link_name = concat!($prefix, "_key_set")]
                fn key_set(state: *mut State, task: u32, key: u64);
                #[link_name = concat!($prefix, "_group_clear")]
                fn group_clear(state: *mut State, group: u32);
                #[link_name = concat!($prefix, "_group_first")]
                fn group_first(state: *mut State, group: u32) -> u32;
                #[link_name = concat!($prefix, "_group_next")]
                fn group_next(state: *mut State, task: u32) -> u32;
                #[link_name = concat!($prefix, "_group_check")]
                fn group_check(state: *mut State, group: u32, jobs: *mut u32) -> *const c_char;
                #[link_name = concat!($prefix, "_promotions_levels")]
                fn promotions_levels(state: *mut State);
                #[link_name = concat!($prefix, "_promotions_late")]
                fn promotions_late(state: *mut State, task: u32) -> u32;
            }
            pub(super) const FUNCTIONS: Functions = Functions {
                queues: &raw const QUEUE_TABLES,
                open,
                close,
                task_set,
                key_set,
                group_clear,
                group_first,
                group_next,
                group_check,
                promotions_late,
                promotions_levels,
            };
        }
    };
}

build!(checked, "checked");
build!(plain, "plain");

unsafe extern "C" {
    #[link_name = "checked_seed_set"]
    fn checked_seed_set(seed: u64);
}

/// The seed that a failed assertion in the checked build names, on this thread.
pub fn seed_set(seed: u64) {
    // SAFETY: writes a variable of this thread.
    unsafe { checked_seed_set(seed) }
}

/// Which build of the queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Every assertion of `policy/` is tested; a failed one ends the process.
    Checked,
    /// As the simulator has it.
    Plain,
}

/// One ready queue with its tasks.
pub struct Queue {
    state: *mut State,
    table: &'static Table,
    functions: Functions,
    tasks: u32,
    /// C knows no threads here.
    _not_shared: PhantomData<*mut ()>,
}

impl Queue {
    /// Queue `number` (below [`QUEUES`]), for this many tasks, with relative deadlines and priorities of 0;
    /// [`Queue::init`] comes next, after the parameters.
    pub fn new(build: Build, number: usize, tasks: u32, fixed_priorities: bool) -> Queue {
        assert!(tasks > 0, "a queue is for at least one task");
        let functions = match build {
            Build::Checked => checked::FUNCTIONS,
            Build::Plain => plain::FUNCTIONS,
        };
        // SAFETY: the table is a constant; `open` makes zeroed state of its own or aborts.
        unsafe {
            Queue {
                state: (functions.open)(tasks, fixed_priorities.into()),
                table: &(&*functions.queues)[number],
                functions,
                tasks,
                _not_shared: PhantomData,
            }
        }
    }

    /// The queue's name in C.
    pub fn name(&self) -> &'static str {
        // SAFETY: a literal of C.
        unsafe { CStr::from_ptr(self.table.name) }.to_str().expect("it is ASCII")
    }

    fn known(&self, task: u32) -> u32 {
        assert!(task < self.tasks, "task {task} is not one of {}", self.tasks);
        task
    }

    /// Parameters of a task, and for [`Queue::fill`] its first key and its lateness.
    pub fn set_task(
        &mut self,
        task: u32,
        deadline_rel_ns: u64,
        priority: u32,
        first_key: u64,
        lateness_ns: u64,
    ) {
        // SAFETY: the task exists.
        unsafe {
            (self.functions.task_set)(
                self.state,
                self.known(task),
                deadline_rel_ns,
                priority,
                first_key,
                lateness_ns,
            );
        }
    }

    /// An empty queue, by the tasks' present parameters.
    pub fn init(&mut self) {
        // SAFETY: this queue owns the state.
        unsafe { (self.table.init)(self.state) }
    }

    /// Sets the key of a task that does not wait.
    pub fn set_key(&mut self, task: u32, key: u64) {
        // SAFETY: the task exists.
        unsafe { (self.functions.key_set)(self.state, self.known(task), key) }
    }

    /// Inserts a task that does not wait.
    pub fn insert(&mut self, task: u32) {
        // SAFETY: the task exists.
        unsafe { (self.table.insert)(self.state, self.known(task)) }
    }

    /// Inserts a task that does not wait and goes before all that do.
    pub fn insert_first(&mut self, task: u32) {
        // SAFETY: the task exists.
        unsafe { (self.table.insert_first)(self.state, self.known(task)) }
    }

    /// The task that goes before all others, if one waits.
    pub fn top(&mut self) -> Option<u32> {
        // SAFETY: this queue owns the state.
        let top = unsafe { (self.table.top)(self.state) };
        (top != laxity_policy::NONE).then_some(top)
    }

    /// Removes the top, which `task` is.
    pub fn pop(&mut self, task: u32) {
        // SAFETY: the task exists.
        unsafe { (self.table.pop)(self.state, self.known(task)) }
    }

    /// Removes a waiting task.
    pub fn remove(&mut self, task: u32) {
        // SAFETY: the task exists.
        unsafe { (self.table.remove)(self.state, self.known(task)) }
    }

    /// Empties a release group without looking at it.
    pub fn clear_group(&mut self, group: u32) {
        // SAFETY: groups are numbered as tasks are.
        unsafe { (self.functions.group_clear)(self.state, self.known(group)) }
    }

    /// Adds a task that waits nowhere to a release group.
    pub fn group_add(&mut self, group: u32, task: u32) {
        // SAFETY: both exist.
        unsafe { (self.table.group_add)(self.state, self.known(group), self.known(task)) }
    }

    /// Moves all tasks of a group to the queue, and empties the group.
    pub fn group_release(&mut self, group: u32) {
        self.known(group);
        // SAFETY: the group and the tasks in it exist.
        unsafe {
            if let Some(release) = self.table.group_release {
                release(self.state, group);
            } else {
                let mut task = (self.functions.group_first)(self.state, group);
                while task != laxity_policy::NONE {
                    let next = (self.functions.group_next)(self.state, task);
                    (self.table.insert)(self.state, task);
                    task = next;
                }
            }
        }
        self.clear_group(group);
    }

    /// How many tasks wait, if the queue is what it should be inside.
    ///
    /// # Errors
    ///
    /// The condition that does not hold.
    pub fn check(&mut self) -> Result<u32, &'static str> {
        let mut jobs = 0;
        // SAFETY: this queue owns the state.
        let wrong = unsafe { (self.table.check)(self.state, &raw mut jobs) };
        verdict(wrong, jobs)
    }

    /// How many tasks are in a group, if it is what it should be inside; `None` if it is only a list.
    ///
    /// # Errors
    ///
    /// The condition that does not hold.
    pub fn check_group(&mut self, group: u32) -> Result<Option<u32>, &'static str> {
        if self.table.group_release.is_none() {
            return Ok(None);
        }
        let mut jobs = 0;
        // SAFETY: the group exists.
        let wrong = unsafe { (self.functions.group_check)(self.state, self.known(group), &raw mut jobs) };
        verdict(wrong, jobs).map(Some)
    }

    /// Whether fpp would take its step 0 for this task, which is about to be inserted.
    pub fn is_late_for_promotions(&mut self, task: u32) -> bool {
        // SAFETY: the task exists.
        unsafe { (self.functions.promotions_late)(self.state, self.known(task)) != 0 }
    }

    /// After [`Queue::set_task`] of a task that does not wait while others may: fpp makes its levels anew. Only for the queue
    /// of fpp.
    pub fn admit_for_promotions(&mut self) {
        // SAFETY: this queue owns the state.
        unsafe { (self.functions.promotions_levels)(self.state) }
    }

    /// Empties the queue and inserts the tasks that have a first key (other than 0).
    pub fn fill(&mut self) {
        // SAFETY: this queue owns the state.
        unsafe { (self.table.fill)(self.state) }
    }

    /// The hold benchmark (`bpf/hold.h`); a number that depends on which tasks it popped in which order.
    pub fn hold(&mut self, operations: u32, slack_ns: u64) -> u64 {
        // SAFETY: this queue owns the state.
        unsafe { (self.table.hold)(self.state, operations, slack_ns) }
    }
}

fn verdict(wrong: *const c_char, jobs: u32) -> Result<u32, &'static str> {
    if wrong.is_null() {
        return Ok(jobs);
    }
    // SAFETY: a literal of C.
    Err(unsafe { CStr::from_ptr(wrong) }.to_str().expect("it is ASCII"))
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: opened in `new`, and not used again.
        unsafe { (self.functions.close)(self.state) }
    }
}
