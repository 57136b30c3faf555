//! Threads: what the kernel knows of them, and what they do.

use crate::cpu::Context;
use crate::parts::{Class, Custody, Op, PF_KTHREAD, QUEUED, Queue, SCHED_FIFO, SCHED_NORMAL, State, TaskId};
use crate::raw::{
    Cred, Hrtimer, Registers, SchedAttr, SchedDlEntity, SchedExtEntity, TaskStruct, ThreadInfo,
};
use std::collections::BTreeMap;

pub(crate) struct Task {
    pub raw: Box<TaskStruct>,
    pub name: String,
    pub class: Class,
    pub state: State,
    pub cpu: usize,
    /// It is on a run queue: it can run.
    pub on_rq: bool,
    pub migrates: bool,
    pub custody: Custody,
    pub queue: Option<Queue>,
    /// The CPU that takes it from a queue, and the one to whose own queue it goes next.
    pub holding: Option<usize>,
    pub sticky: Option<usize>,
    /// It waits in a CPU's own queue behind what has risen to a class above there, and nothing has said so.
    pub is_behind_risen: bool,
    /// Where it is dispatched to directly, with which flags.
    pub direct: Option<(u64, u64)>,
    /// Since when it can run and does not, in ns.
    pub runnable_at: Option<u64>,
    /// As sched_setattr has left it for fair tasks.
    pub fair_slice_ns: u64,
    pub registers: Box<Registers>,
    pub attributes: Box<SchedAttr>,
    pub mask: Box<u64>,
    /// The CPU that it is kept on, as a mask.
    pub one_cpu: Box<u64>,
    pub storage: BTreeMap<usize, Box<[u64]>>,
    pub program: Vec<Op>,
    pub at: usize,
    pub repeated: u32,
    /// What it still has to compute, in ns.
    pub left_ns: u64,
    pub call: Option<Context>,
    /// Of its last call that can be refused: 0, or the error.
    pub answer: i32,
    pub leader: TaskId,
    /// The task that waits for its end.
    pub notifies: Option<TaskId>,
    /// Others may know of its end, which is before its last call of the scheduler (`exit_state`).
    pub has_exited: bool,
    /// No number leads to it any more.
    pub is_released: bool,
    /// It is to end.
    pub killed: bool,
    /// The kernel has no record of it any more.
    pub is_freed: bool,
}

impl Task {
    pub(crate) fn new(
        name: String,
        class: Class,
        pid: i32,
        cred: &'static Cred,
        cpu: usize,
        mask: u64,
    ) -> Task {
        let mut raw = Box::new(TaskStruct {
            thread_info: ThreadInfo { flags: 0, status: 0 },
            flags: 0,
            on_cpu: 0,
            prio: 120,
            rt_priority: 0,
            dl: SchedDlEntity {
                runtime_ns: 0,
                deadline_ns: 0,
                bits: 0,
                dl_timer: Hrtimer { base: 0, soft_expires: 0, function: 0 },
            },
            dl_server: 0,
            scx: SchedExtEntity { dsq_vtime: 0, slice: 20_000_000, flags: 0, weight: 100 },
            policy: if class == Class::Ext { SCHED_NORMAL } else { SCHED_FIFO },
            nr_cpus_allowed: i32::try_from(mask.count_ones()).expect("few"),
            cpus_ptr: std::ptr::null(),
            cpus_mask: mask,
            migration_disabled: 0,
            reset_on_fork: 0,
            pid,
            cred,
        });
        raw.cpus_ptr = &raw const raw.cpus_mask;
        Task {
            raw,
            name,
            class,
            state: State::Blocked,
            cpu,
            on_rq: false,
            migrates: false,
            custody: Custody::None,
            queue: None,
            holding: None,
            sticky: None,
            is_behind_risen: false,
            direct: None,
            runnable_at: None,
            fair_slice_ns: 0,
            registers: Box::default(),
            attributes: Box::default(),
            mask: Box::new(0),
            one_cpu: Box::new(0),
            storage: BTreeMap::new(),
            program: Vec::new(),
            at: 0,
            repeated: 0,
            left_ns: 0,
            call: None,
            answer: 0,
            leader: 0,
            notifies: None,
            has_exited: false,
            is_released: false,
            killed: false,
            is_freed: false,
        }
    }

    /// As its class has it.
    pub(crate) fn set_prio(&mut self) {
        self.raw.prio = match self.class {
            Class::Stop => 0,
            Class::RealTime => 49,
            Class::Ext | Class::Idle => 120,
        };
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.state == State::Dead && self.raw.on_cpu == 0
    }

    /// Whether a switch has kept it on its CPU, since it may not migrate (`cpus_ptr`).
    pub(crate) fn is_kept(&self) -> bool {
        std::ptr::eq(self.raw.cpus_ptr, &raw const *self.one_cpu)
    }

    pub(crate) fn keep(&mut self) {
        *self.one_cpu = 1 << self.cpu;
        self.raw.cpus_ptr = &raw const *self.one_cpu;
    }

    pub(crate) fn let_go(&mut self) {
        self.raw.cpus_ptr = &raw const self.raw.cpus_mask;
    }

    pub(crate) fn is_being_dispatched(&self) -> bool {
        matches!(self.custody, Custody::Dispatching | Custody::Queueing(_))
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.raw.scx.flags & QUEUED != 0
    }

    /// A kernel thread that can be on one CPU only: it goes first there for a bounded time.
    pub(crate) fn is_bound(&self) -> bool {
        self.raw.flags & PF_KTHREAD != 0 && self.raw.nr_cpus_allowed == 1
    }

    pub(crate) fn may_be_on(&self, cpu: usize) -> bool {
        self.raw.cpus_mask >> cpu & 1 == 1
    }

    /// Whether it may go to that CPU now (`task_can_run_on_remote_rq`).
    pub(crate) fn may_go_to(&self, cpu: usize) -> bool {
        self.may_be_on(cpu) && self.raw.migration_disabled == 0
    }
}
