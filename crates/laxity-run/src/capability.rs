//! What this machine, this kernel and this user can run, found out by trying, and for sched_ext by looking.

use crate::cpuset::Hierarchy;
use crate::foreign;
use crate::guardian::online_cpus;
use crate::perf;
use crate::sched::{self, Policy};
use laxity_kernel::schedule::{Watched, observe};
use laxity_kernel::{Capability, Privileges, Support};
use laxity_model::{Diagnostic, Duration, LinuxScheduler, Scope, ShownPath as _, Slice};
use std::collections::BTreeMap;

/// Why something is not possible here, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is missing.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

/// The answers; each `Err` says why not and what would help.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// SCHED_FIFO and SCHED_RR.
    pub fifo: Result<(), String>,
    /// SCHED_DEADLINE.
    pub deadline: Result<(), String>,
    /// SCHED_OTHER with a nice value below 0.
    pub urgent: Result<(), String>,
    /// SCHED_OTHER with a slice of its own.
    pub slices: Result<(), String>,
    /// Exclusive cpusets.
    pub cpusets: Result<Hierarchy, String>,
    /// Policies of laxity's own in the kernel.
    pub sched_ext: Result<(), Refusal>,
    /// Job columns that cannot be measured.
    pub not_measured: BTreeMap<String, String>,
}

impl Capabilities {
    /// Tries. Changes nothing that outlives the call.
    pub fn probe() -> Self {
        // Tiny, and gone from the kernel's account a millisecond later.
        let deadline = Policy::Deadline {
            runtime: Duration::from_us(10),
            deadline: Duration::from_ms(1),
            period: Duration::from_ms(1),
        };
        Capabilities {
            fifo: try_policy(Policy::Fifo { priority: 1 }),
            deadline: try_policy(deadline),
            urgent: try_policy(Policy::Fair { nice: -1, slice: Duration::ZERO }),
            slices: try_slice(),
            cpusets: Hierarchy::find().map_err(|error| error.message).and_then(writable),
            sched_ext: sched_ext(),
            not_measured: perf::not_available(),
        }
    }

    /// Whether a policy of laxity's own can run here.
    pub fn policy(&self, policy: laxity_model::Policy) -> Result<(), String> {
        if let Err(refusal) = &self.sched_ext {
            return Err(refusal.reason.clone());
        }
        if let Support::No { reason, .. } = laxity_kernel::support_of(Some(policy)) {
            return Err(reason);
        }
        laxity_kernel::built(policy)
            .map_err(|why| format!("this laxity was built without {policy} for the kernel: {why}"))
    }

    /// Whether a scheduler can run here: over the whole machine, or confined to cells.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn scheduler(&self, scheduler: impl Into<LinuxScheduler>, whole_machine: bool) -> Result<(), String> {
        let scheduler = scheduler.into();
        match &scheduler {
            LinuxScheduler::Ruled(_) | LinuxScheduler::Reclaiming(_) if scheduler.has_reservations() => {
                self.deadline.clone()?;
                // SCHED_FIFO can be confined by affinity masks instead.
                if !(whole_machine && scheduler.scope() != Scope::Partitioned) {
                    self.cpusets.clone()?;
                }
                Ok(())
            }
            LinuxScheduler::Ruled(_) | LinuxScheduler::Reclaiming(_) | LinuxScheduler::RoundRobin(_) => {
                self.fifo.clone()
            }
            LinuxScheduler::Fair(fair) => {
                // The guardian is above all.
                self.fifo.clone()?;
                if fair.nice < 0 {
                    self.urgent.clone()?;
                }
                if fair.slice != Slice::OfKernel { self.slices.clone() } else { Ok(()) }
            }
            LinuxScheduler::Foreign(program) => {
                self.foreign()?;
                foreign::find(program.as_str()).map(|_| ()).map_err(|error| reason(&error))
            }
        }
    }

    /// Whether a foreign scheduler can be loaded here.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn foreign(&self) -> Result<(), String> {
        self.sched_ext.as_ref().map(|_| ()).map_err(|refusal| refusal.reason.clone())
    }
}

/// Whether schedules of the kernel's own classes can be recorded here. Tries it, on no thread.
///
/// # Errors
///
/// Why not.
pub fn can_record() -> Result<(), String> {
    let watched = Watched { tids: Vec::new(), lowest_prio: 0 };
    observe(&watched).map(|_| ()).map_err(|error| reason(&error))
}

fn reason(error: &Diagnostic) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    }
}

/// Whether a thread of SCHED_OTHER keeps the slice that it asks for: Linux before 6.12 does not say no.
fn try_slice() -> Result<(), String> {
    let slice = Duration::from_ms(1);
    let tried = std::thread::spawn(move || {
        sched::set_policy(0, Policy::Fair { nice: 0, slice })?;
        sched::attributes(0)
    });
    match tried.join().expect("the trial does not panic") {
        Ok(kept) if kept.runtime_ns == slice.as_ns() => Ok(()),
        Ok(_) => {
            Err("this kernel gives all threads of SCHED_OTHER the same slice (Linux 6.12 or later does not)"
                .into())
        }
        Err(error) => Err(sched::explain(&error, Policy::Fair { nice: 0, slice })),
    }
}

/// Whether the kernel would take a scheduler from this user now.
fn sched_ext() -> Result<(), Refusal> {
    if let Support::No { reason, hint } = laxity_kernel::support() {
        return Err(Refusal { reason, hint });
    }
    if !may_load() {
        return Err(Refusal {
            reason: "not permitted: to load a scheduler into the kernel takes CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON, \
                     and its tasks take CAP_SYS_NICE"
                .into(),
            hint: "run as root".into(),
        });
    }
    match laxity_kernel::attached() {
        None => Ok(()),
        Some(name) => Err(Refusal {
            reason: format!("another scheduler is attached to the kernel by sched_ext: {name}"),
            hint: "end the program that has attached it".into(),
        }),
    }
}

/// Whether this process may load schedulers and make threads theirs.
fn may_load() -> bool {
    Privileges::of_this_process().is_ok_and(|ours| {
        let loads =
            ours.has(Capability::SysAdmin) || ours.has(Capability::Perfmon) && ours.has(Capability::Bpf);
        loads && ours.has(Capability::SysNice)
    })
}

fn try_policy(policy: Policy) -> Result<(), String> {
    let tried = std::thread::spawn(move || {
        // SCHED_DEADLINE wants a whole root domain; started on fewer CPUs we can still make one of our own. Where
        // that is not permitted, the trial says so.
        let _ = online_cpus().map(|cpus| sched::set_affinity(0, &cpus));
        sched::set_policy(0, policy)
    });
    tried.join().expect("the trial does not panic").map_err(|error| sched::explain(&error, policy))
}

fn writable(hierarchy: Hierarchy) -> Result<Hierarchy, String> {
    let (Hierarchy::V1(path) | Hierarchy::V2(path)) = &hierarchy;
    match rustix::fs::access(path, rustix::fs::Access::WRITE_OK) {
        Ok(()) => Ok(hierarchy),
        Err(error) => Err(format!("{} is not writable: {error}", path.shown())),
    }
}
