//! `bpf/host`, the part of laxity that runs in the kernel, beneath a deterministic model of the kernel's scheduler.
//!
//! The build compiles `bpf/host` with each policy for this machine, its text as it is. What it stands on is here: run queues and their
//! locks, dispatch queues, custody and dispatching, kicks and their interrupts, ticks, wake-ups, classes above, system calls that set
//! scheduling and affinity, fork, exec and exit, timers of BPF. At each function of the kernel, each lock and each access to what CPUs
//! share, others may go first. A run is a function of policy, kind and seed.
//!
//! ```text
//!   scenario.rs   threads and their programs, from the seed        run.rs     which CPU goes on; interrupts; time
//!   calls.rs      system calls         schedule.rs   switching, waking, ticks  (kernel/sched/core.c)
//!   ext.rs, dsq.rs, dispatch.rs   the class of sched_ext, its queues            (kernel/sched/ext.c)
//!   kfuncs.rs, maps.rs    what the host calls                      watch.rs   what has to hold
//!   parts.rs, world.rs, cpu.rs, thread.rs, lock.rs, fibre.rs   what there is      host.rs, raw.rs   the host in C
//! ```
//!
//! The kernel is Linux 6.18. Not modelled: hotplug, cgroups, priority inheritance, core scheduling, the records of the schedule.

mod calls;
mod cpu;
mod dispatch;
mod dsq;
mod ext;
mod fibre;
mod host;
mod kfuncs;
mod lock;
mod maps;
mod parts;
mod raw;
mod run;
mod scenario;
mod schedule;
mod set_up;
mod thread;
mod watch;
mod world;

pub use host::Host;
pub use scenario::Kind;
pub use set_up::{Options, Summary, run};
pub use world::Fault;
