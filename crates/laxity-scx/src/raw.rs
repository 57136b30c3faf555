//! What the model and the host in C have in common: `native/model.h`, `native/host.c` and the types of `bpf/kernel/types.h`.

use std::ffi::{c_char, c_int, c_void};

/// `struct rq`, as far as bpf/kernel/types.h has it.
#[repr(C)]
pub(crate) struct RunQueue {
    pub rt_queued: i32,
    pub curr: *const TaskStruct,
}

impl Default for RunQueue {
    fn default() -> Self {
        RunQueue { rt_queued: 0, curr: std::ptr::null() }
    }
}

#[repr(C)]
pub(crate) struct ThreadInfo {
    pub flags: u64,
    pub status: u32,
}

#[repr(C)]
pub(crate) struct Hrtimer {
    pub base: usize,
    pub soft_expires: i64,
    pub function: usize,
}

#[repr(C)]
pub(crate) struct SchedDlEntity {
    pub runtime_ns: i64,
    pub deadline_ns: u64,
    pub bits: u32,
    pub dl_timer: Hrtimer,
}

#[repr(C)]
pub(crate) struct SchedExtEntity {
    pub dsq_vtime: u64,
    pub slice: u64,
    pub flags: u32,
    pub weight: u32,
}

#[repr(C)]
pub(crate) struct UserNamespace {
    pub level: c_int,
}

#[repr(C)]
pub(crate) struct Cred {
    pub user_ns: *const UserNamespace,
    pub cap_effective: u64,
}

/// `struct task_struct`, as far as the host reads it.
#[repr(C)]
pub(crate) struct TaskStruct {
    pub thread_info: ThreadInfo,
    pub flags: u32,
    pub on_cpu: u8,
    pub prio: c_int,
    pub rt_priority: u32,
    pub dl: SchedDlEntity,
    pub dl_server: usize,
    pub scx: SchedExtEntity,
    pub policy: u32,
    pub nr_cpus_allowed: c_int,
    pub cpus_ptr: *const u64,
    pub cpus_mask: u64,
    pub migration_disabled: u16,
    /// A bit field in C, in the word that `migration_disabled` begins.
    pub reset_on_fork: u16,
    pub pid: c_int,
    pub cred: *const Cred,
}

/// Registers of a thread that calls the kernel, on x86.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Registers {
    pub cx: u64,
    pub dx: u64,
    pub si: u64,
    pub orig_ax: u64,
}

/// `struct sched_attr`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SchedAttr {
    pub size: u32,
    pub policy: u32,
    pub flags: u64,
    pub nice: i32,
    pub priority: u32,
    pub runtime_ns: u64,
    pub deadline_ns: u64,
    pub period_ns: u64,
    pub util: [u32; 2],
}

#[repr(C)]
pub(crate) struct InitArgs {
    pub fork: bool,
}

/// `struct sched_ext_ops`.
#[repr(C)]
pub(crate) struct Ops {
    pub select_cpu: extern "C" fn(*mut TaskStruct, i32, u64) -> i32,
    pub enqueue: extern "C" fn(*mut TaskStruct, u64),
    pub dequeue: extern "C" fn(*mut TaskStruct, u64),
    pub dispatch: extern "C" fn(i32, *mut TaskStruct),
    pub tick: extern "C" fn(*mut TaskStruct),
    pub running: extern "C" fn(*mut TaskStruct),
    pub stopping: extern "C" fn(*mut TaskStruct, bool),
    pub quiescent: extern "C" fn(*mut TaskStruct, u64),
    pub yields: extern "C" fn(*mut TaskStruct, *mut TaskStruct) -> bool,
    pub set_cpumask: extern "C" fn(*mut TaskStruct, *const u64),
    pub init_task: extern "C" fn(*mut TaskStruct, *mut InitArgs) -> i32,
    pub exit_task: extern "C" fn(*mut TaskStruct, *mut c_void),
    pub enable: extern "C" fn(*mut TaskStruct),
    pub disable: extern "C" fn(*mut TaskStruct),
    pub cpu_release: Option<extern "C" fn(i32, *mut c_void)>,
    pub dump_cpu: usize,
    pub dump_task: usize,
    pub init: extern "C" fn() -> i32,
    pub exit: usize,
    pub flags: u64,
    pub timeout_ms: u32,
    pub name: [c_char; 128],
}

pub(crate) const CPUS_MAX: usize = 256;

/// `struct lx_host_setup`.
#[repr(C)]
pub(crate) struct Setup {
    pub instance: u32,
    pub reserved: u32,
    pub tasks: u32,
    pub cpus: u32,
    pub rule: u32,
    pub budget_mode: u32,
    pub batching: u32,
    pub dedicated_cpu: u32,
    pub retries_max: u32,
    pub sockets: u32,
    pub share_ppm: u64,
    pub reserve_period_ns: u64,
    pub reserve_runtime_ns: u64,
    pub cpu: [u32; CPUS_MAX],
    pub socket: [u32; CPUS_MAX],
}

/// `struct lx_scx_options`.
#[repr(C)]
pub(crate) struct Options {
    pub cpus: u32,
    pub instances: u32,
    pub timers_refused: u32,
    pub kicks_forgotten: u32,
    pub bound_runtime_ns: u64,
    pub bound_period_ns: u64,
    pub budgets_late_ns: u64,
    pub setup: *const Setup,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CpuView {
    pub linked: u32,
    pub scheduled: u32,
    pub kicked: u32,
    pub running: u32,
    pub gave_way: u32,
    pub ended: u32,
    pub withdrawn: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InstanceView {
    pub members: u32,
    pub slots_used: u32,
    pub bandwidth: u64,
    pub admitted: u64,
    pub free: u32,
    pub ready_count: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SlotView {
    pub pid: u32,
    pub standing: u32,
    pub custody: u32,
    pub yielded: u32,
}

/// What a CPU has counted (`struct lx_scx_counts`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub completions: u64,
    pub exhaustions: u64,
    pub decisions: u64,
    pub departed: u64,
}

/// What a task has asked for (`struct lx_parameters`).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub runtime_ns: u64,
    pub deadline_rel_ns: u64,
    pub period_ns: u64,
}

/// `struct lx_scx_host`: the host with one policy.
#[repr(C)]
pub(crate) struct HostTable {
    pub name: *const c_char,
    pub memory: *mut u8,
    pub memory_end: *mut u8,
    pub ops: *const Ops,
    pub prepare: extern "C" fn(*const Options),
    pub set_up: extern "C" fn(*mut c_void) -> c_int,
    pub may_set_scheduling: extern "C" fn(*mut TaskStruct, c_int) -> c_int,
    pub switched: extern "C" fn(bool, *mut TaskStruct, *mut TaskStruct) -> c_int,
    pub answered: extern "C" fn(*mut TaskStruct, *const SchedAttr, bool, bool, c_int) -> c_int,
    pub look_at_cpu: extern "C" fn(u32, u32, *mut CpuView),
    pub look_at_instance: extern "C" fn(u32, *mut InstanceView),
    pub look_at_slot: extern "C" fn(u32, u32, *mut SlotView),
    pub member_of: extern "C" fn(*mut TaskStruct) -> u32,
    pub instance_of: extern "C" fn(*mut TaskStruct) -> u32,
    pub size_core: Option<extern "C" fn(u32, u32, u64, u64, u64, *mut u64) -> c_int>,
    pub note_pending: extern "C" fn(*mut c_void) -> c_int,
    pub look_at_counters: extern "C" fn(*mut Counts),
    /// Declarations of maps.
    pub trace_rings: usize,
    pub roster: usize,
    pub released_alone: usize,
    pub task_size: u32,
    pub setup_size: u32,
    pub has_steps: u32,
    pub has_servers: u32,
}

/// `struct lx_scx_map`: what the declaration of a map says.
#[repr(C)]
pub(crate) struct MapDeclaration {
    pub declared: usize,
    pub kind: u32,
    pub entries: u32,
    pub key_size: u32,
    pub value_size: u32,
}
