//! `bpf/host`, the part of laxity that runs in the kernel, beneath a deterministic model of the kernel's scheduler.
//!
//! The build compiles `bpf/host` with each policy for this machine, its text as it is. What it stands on is here: run queues and their
//! locks, dispatch queues, custody and dispatching, kicks and their interrupts, ticks, wake-ups, classes above, system calls that set
//! scheduling and affinity, fork, exec and exit, timers of BPF. At each function of the kernel, each lock and each access to what CPUs
//! share, others may go first. A run is a function of policy, kind and seed.
//!
//! ```text
//!   scenario.rs   threads and their programs, from the seed        run.rs     which CPU goes on; interrupts; time
//!   story.rs, called.rs   threads and their programs, from a file; which callbacks are called then
//!   recorder.rs, records.rs   the host's trace, and what the model notes beside it      judge.rs   what the oracles say
//!   memberships.rs, instance_schedule.rs, excuses.rs    from records to a schedule and what it claims to be
//!   calls.rs      system calls         schedule.rs   switching, waking, ticks  (kernel/sched/core.c)
//!   ext.rs, dsq.rs, dispatch.rs   the class of sched_ext, its queues            (kernel/sched/ext.c)
//!   kfuncs.rs, maps.rs    what the host calls                      watch.rs   what has to hold
//!   parts.rs, world.rs, cpu.rs, thread.rs, lock.rs, fibre.rs   what there is      host.rs, raw.rs   the host in C
//! ```
//!
//! What has to hold whenever nothing is under way says `watch.rs`. Besides, the host records its schedule all along, as in production; at
//! the end of a run the same code reads the records (`laxity_kernel::schedule`), and the same oracles judge. Where a member's parameters
//! change in the midst of a server period, or, where locks are several, before its job has begun, its instance is judged until then: no
//! record says that. Of the hostile kind that leaves most jobs, and a third or so under g-edf-mp.
//! `excuses.rs` has what excuses here and in no record, and the known faults that are left out.
//!
//! The kernel is Linux 6.18, configured as Debian's is. `tests/vm/callbacks` has stories that threads play in a virtual machine and under
//! the model: which callbacks are called, for which thread, with which flags. What 6.18.15 has been seen to call stands in
//! `tests/vm/callbacks/one.linux-6.18` and `two.linux-6.18`, and `tests/callbacks.rs` holds the model to it, in runs where interrupts and
//! preemption come as soon as they can; under seeds they come when they come. By that comparison the model has
//!
//! - a switch away from a thread that may not migrate, as it has a program of BPF called, which keeps it on its CPU until the program is
//!   over (`set_cpumask`; it is taken out of its queue and put back);
//! - `set_cpumask` behind `enable` where a thread comes back from a class above; no callback where CPUs stay what they are;
//! - `disable` before `exit_task`; a thread that ends changes its group, and tells who waits for it before it is off its CPU;
//! - calls that change nothing by what the kernel compares: a slice as it is asked for, before it is cut; none asked for is a change;
//! - `select_cpu` with the flag of a fork, `enable` of a child with its run queue locked.
//!
//! Not modelled: hotplug, cgroups, priority inheritance, core scheduling, samples of overheads. Not compared: ticks, the order between
//! CPUs, calls that several CPUs make at once, g-edf-mp and amp-rm. What 7.3 calls (`one.linux-7.3`) is not what the model does.

mod called;
mod calls;
mod cpu;
mod dispatch;
mod dsq;
mod excuses;
mod ext;
mod fibre;
mod host;
mod instance_schedule;
mod judge;
mod kfuncs;
mod lock;
mod maps;
mod memberships;
mod parts;
mod raw;
mod recorder;
mod records;
mod run;
mod scenario;
mod schedule;
mod set_up;
mod story;
mod terms;
mod thread;
mod watch;
mod world;

pub use called::CalledBack;
pub use host::Host;
pub use scenario::Kind;
pub use set_up::{Options, Summary, callbacks, run};
pub use world::Fault;
