//! A policy as the scheduler of the running kernel.

mod cores;
mod setup;

use crate::releaser::Releaser;
use crate::rings::{Rings, Switch};
use crate::visit::Visitor;
use crate::{Core, Counters, RunningServer, ffi, kernel, messages, skeleton};
use laxity_model::{BudgetMode, CpuList, Diagnostic, Duration, Platform, Policy, Reserve, Result};
use laxity_sys::{Attributes, policy, set_attributes};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Link, MapCore as _, MapFlags, Object, ProgramInput, ProgramType};
use std::ffi::CStr;
use zerocopy::{FromBytes as _, IntoBytes as _};

/// The CPUs of one instance of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyCpus {
    /// The kernel's numbers. With a dedicated CPU, that is the last one.
    pub cpus: Vec<u32>,
    /// The socket of each, from 0.
    pub sockets: Vec<u32>,
}

/// How a policy is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which policy.
    pub policy: Policy,
    /// Fixed priorities instead of EDF.
    pub fixed_priorities: bool,
    /// Which: by period (rate-monotonic) rather than by deadline.
    pub by_period: bool,
    /// One instance of the policy each; CPUs outside all cells run no real-time tasks.
    pub cells: Vec<PolicyCpus>,
    /// Budget enforcement.
    pub budget: BudgetMode,
    /// Whether jobs of one instant are released together.
    pub batching: bool,
    /// push-pull: after how many failures a push is given up.
    pub retries_max: u32,
    /// The number of tasks that a cell has room for.
    pub tasks: u32,
    /// What admitted tasks may use of each CPU, in millionths.
    pub share_ppm: u64,
    /// What is left to background work.
    pub reserve: Reserve,
    /// For how long kernel threads that are bound to a CPU go before its real-time tasks, in each [`crate::KERNEL_THREADS_WINDOW`].
    pub kernel_threads: Duration,
    /// amp-rm: the machine's CPUs; if empty, all CPUs are equally fast and have no servers. Empty for other
    /// policies.
    pub cores: Vec<Core>,
}

/// Why the kernel has thrown a scheduler out, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The kernel's kind of exit.
    pub kind: i32,
    /// The exit code, as the sched_ext tools define it.
    pub code: i64,
    /// The reason, in the kernel's words.
    pub reason: String,
    /// More about it, or nothing.
    pub message: String,
}

impl Exit {
    /// Whether the kernel asks that the scheduler be started again: a CPU came or went.
    pub fn wants_restart(&self) -> bool {
        self.code & (1 << 48) != 0
    }
}

/// A task that a scheduler has admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enrolled {
    /// Its thread id; 0 means the calling thread where it asks.
    pub tid: i32,
    /// Budget in ns.
    pub runtime_ns: u64,
    /// Relative deadline in ns.
    pub deadline_ns: u64,
    /// Period in ns.
    pub period_ns: u64,
}

impl Enrolled {
    /// Asks the kernel to admit the task.
    ///
    /// # Errors
    ///
    /// The objection of the kernel or of the scheduler that is attached now; the task may have ended meanwhile.
    pub fn ask(&self) -> std::io::Result<()> {
        let wanted = Attributes {
            policy: policy::EXT,
            runtime_ns: self.runtime_ns,
            deadline_ns: self.deadline_ns,
            period_ns: self.period_ns,
            ..Attributes::default()
        };
        set_attributes(self.tid, wanted)
    }
}

/// How long a program of an attached scheduler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Length {
    /// Its name, as far as the kernel keeps it.
    pub program: String,
    /// What the verifier went through, in instructions: all paths, up to where two are the same.
    pub verified: u32,
    /// Its own length in BPF instructions, with the functions that it calls.
    pub instructions: usize,
    /// What it became on this processor, in bytes.
    pub native_bytes: usize,
}

const BPF_INSTRUCTION_BYTES: usize = 8;
/// How often it is looked whether the kernel has enabled a scheduler that it has taken, and how many times at most: 30 s.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(50);
const LOOKS_MAX: u32 = 600;

/// An attached scheduler. It ends when this is dropped.
pub struct Scheduler {
    pub(crate) object: Object,
    link: Option<Link>,
    interface: Vec<Link>,
    /// What releases jobs where the kernel has no BPF timers.
    releaser: Option<Releaser>,
    /// Where in `.data` the kernel's reason for an exit is.
    exit_place: usize,
    /// Those it was attached with.
    servers: Vec<RunningServer>,
}

fn environment(what: String) -> Diagnostic {
    let said = messages::last_lines(30);
    if said.is_empty() {
        Diagnostic::environment(what)
    } else {
        Diagnostic::environment(format!("{what}\n{said}"))
    }
}

fn taken(by: &str) -> Diagnostic {
    Diagnostic::environment(format!("another scheduler is attached to this kernel by sched_ext: {by}"))
        .hint("there can be one at a time: end the program that has attached it")
}

/// Whether this program has been built with the policy for the kernel.
///
/// # Errors
///
/// Why not.
pub fn built(policy: Policy) -> std::result::Result<(), String> {
    crate::object(policy.source_name()).map(|_| ())
}

impl Scheduler {
    /// Loads the policy and attaches it. Whether the kernel then has it schedule this machine, [`Scheduler::wait_until_enabled`]
    /// says.
    ///
    /// # Errors
    ///
    /// What the kernel lacks or refuses, with the verifier's words.
    pub fn attach(options: &Options) -> Result<Scheduler> {
        messages::listen();
        setup::check(options)?;
        if let kernel::Support::No { reason, hint } = kernel::support_of(Some(options.policy)) {
            return Err(Diagnostic::environment(reason).hint(hint));
        }
        if let Some(name) = kernel::wait_until_free() {
            return Err(taken(&name));
        }
        let opened = setup::prepare(options).map_err(environment)?;
        let exit_place = opened.place_in_data(&skeleton::ENDED).map_err(environment)?;
        let object = opened.object.load().map_err(|error| refused(options.policy, &error))?;
        let (interface, servers) = (Vec::new(), Vec::new());
        let mut scheduler = Scheduler { object, link: None, interface, releaser: None, exit_place, servers };
        for (number, cell) in options.cells.iter().enumerate() {
            scheduler.set_up(options, number, cell).map_err(environment)?;
        }
        scheduler.size_all(&options.sized_cores()?)?;
        scheduler.attach_interface()?;
        let visitor = Visitor::ready();
        let mut map = scheduler
            .object
            .maps_mut()
            .find(|map| map.name() == skeleton::SCHEDULER)
            .ok_or_else(|| Diagnostic::environment("the object has no scheduler".to_owned()))?;
        // Another scheduler may have been attached while this one was verified.
        let link = map.attach_struct_ops().map_err(|error| match kernel::wait_until_free() {
            Some(name) => taken(&name),
            None => environment(format!(
                "the kernel does not take the scheduler {}: {error}",
                options.policy.name()
            )),
        })?;
        scheduler.link = Some(link);
        let taken: CpuList = options.cells.iter().flat_map(|cell| cell.cpus.iter().copied()).collect();
        if let Some(visitor) = visitor {
            visitor.visit(taken.iter().collect());
        }
        if kernel::is_preempt_rt() {
            let rest = Platform::this_machine()?.cpus().difference(&taken);
            scheduler.releaser = Some(Releaser::start(&scheduler.object, &rest)?);
        }
        Ok(scheduler)
    }

    /// What it lacks on this machine, in words, without which it is slower.
    pub fn notes(&self) -> &[String] {
        self.releaser.as_ref().map_or(&[], Releaser::lacks)
    }

    fn set_up(&self, options: &Options, number: usize, cell: &PolicyCpus) -> std::result::Result<(), String> {
        skeleton::SETUP.of(&self.object)?.put(&0, &setup::of_cell(options, number, cell)?)?;
        self.run(skeleton::SET_UP)
    }

    /// Records what is under way or overdue now, as far as it has come, before a recording ends. Without it, what
    /// waits at the end waits without a reason.
    ///
    /// # Errors
    ///
    /// The kernel does not run the program.
    pub fn note_pending(&self) -> Result<()> {
        self.run(skeleton::NOTE_PENDING).map_err(Diagnostic::environment)
    }

    pub(crate) fn run(&self, name: &str) -> std::result::Result<(), String> {
        let program = self.object.progs_mut().find(|p| p.name() == name);
        let program = program.ok_or_else(|| format!("there is no program {name}"))?;
        match program.test_run(ProgramInput::default()) {
            Ok(output) if output.return_value == 0 => Ok(()),
            Ok(output) => Err(format!("{name}: {}", output.return_value)),
            Err(error) => Err(format!("{name}: {error}")),
        }
    }

    /// How tasks become the scheduler's: before it is attached, so that none is missed.
    fn attach_interface(&mut self) -> Result<()> {
        for program in self.object.progs_mut() {
            let listens = matches!(program.prog_type(), ProgramType::Tracing | ProgramType::Lsm);
            if !listens || !program.autoload() {
                continue;
            }
            let link = program.attach().map_err(|error| {
                let name = program.name().to_string_lossy();
                environment(format!("the kernel does not let sched_setattr be watched ({name}): {error}"))
            })?;
            self.interface.push(link);
        }
        Ok(())
    }

    /// Whether every call of `sched_setattr` reaches it. Where the kernel has no active security module `bpf`, it
    /// may miss some of many that are made at the same time: they succeed, and the task is background work.
    pub fn hears_all(&self) -> bool {
        self.object.progs().any(|program| program.prog_type() == ProgramType::Lsm && program.autoload())
    }

    /// The rings that trace records come in.
    ///
    /// # Errors
    ///
    /// They cannot be mapped.
    pub fn rings(&self) -> Result<Rings> {
        Rings::of(&self.object)
    }

    /// What turns trace records on and off.
    ///
    /// # Errors
    ///
    /// It cannot be mapped.
    pub fn trace_switch(&self) -> Result<Switch> {
        Switch::of(&self.object)
    }

    /// How long its programs are, as the kernel has loaded them.
    pub fn lengths(&self) -> Vec<Length> {
        let ours: Vec<String> =
            self.object.progs().map(|p| p.name().to_string_lossy().into_owned()).collect();
        let options =
            ProgInfoQueryOptions::default().include_xlated_prog_insns(true).include_jited_prog_insns(true);
        ProgInfoIter::with_query_opts(options)
            .map(|info| Length {
                program: info.name.to_string_lossy().into_owned(),
                verified: info.verified_insns,
                instructions: info.xlated_prog_insns.len() / BPF_INSTRUCTION_BYTES,
                native_bytes: info.jited_prog_insns.len(),
            })
            .filter(|one| ours.iter().any(|own| own.starts_with(one.program.as_str())))
            .collect()
    }

    /// Sets when the second job of a task arrives, in ns of CLOCK_MONOTONIC: the synchronous release. To be called
    /// before its first job ends, with its first sched_yield.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn set_first_release(&self, tid: u32, release_ns: u64) -> Result<()> {
        let done = skeleton::FIRST_RELEASES.of(&self.object).and_then(|map| map.put(&tid, &release_ns));
        done.map_err(|why| Diagnostic::environment(format!("the release of thread {tid}: {why}")))
    }

    /// Releases the jobs of a thread that is about to enter each by itself, also where releases are batched.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn release_alone(&self, tid: u32) -> Result<()> {
        let done = skeleton::RELEASED_ALONE.of(&self.object).and_then(|map| map.put(&tid, &1));
        done.map_err(|why| Diagnostic::environment(format!("the releases of thread {tid}: {why}")))
    }

    /// The tasks it has admitted, for its successor. Also available after it has ended.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn roster(&self) -> Result<Vec<Enrolled>> {
        let roster = skeleton::ROSTER.of(&self.object).map_err(Diagnostic::environment)?;
        let enrolled = |(tid, wanted): (i32, ffi::lx_parameters)| Enrolled {
            tid,
            runtime_ns: wanted.runtime_ns,
            deadline_ns: wanted.deadline_rel_ns,
            period_ns: wanted.period_ns,
        };
        Ok(roster.all().into_iter().map(enrolled).collect())
    }

    /// The counts since it was attached.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn counters(&self) -> Result<Counters> {
        let values = skeleton::COUNTERS.of(&self.object).and_then(|map| map.of_cpus(&0));
        Ok(Counters::from_cpus(&values.map_err(Diagnostic::environment)?))
    }

    /// Waits until the kernel says that it has this one schedule the machine: `None`; or until the kernel has ended it without:
    /// why. Attaching may succeed although the kernel throws it out at once.
    ///
    /// # Errors
    ///
    /// The kernel says neither.
    pub fn wait_until_enabled(&self) -> Result<Option<Exit>> {
        enabled(|| self.exited(), kernel::enabled, || std::thread::sleep(LOOK_EVERY))
    }

    /// Whether it has ended, and why.
    pub fn exited(&self) -> Option<Exit> {
        let map = self.object.maps().find(|map| map.name().to_string_lossy().ends_with(".data"))?;
        let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        exit_of(&ffi::lx_exit::read_from_prefix(value.get(self.exit_place..)?).ok()?.0)
    }
}

/// What [`Scheduler::wait_until_enabled`] says, by what the kernel says of the scheduler and of itself.
fn enabled(
    exited: impl Fn() -> Option<Exit>,
    is_enabled: impl Fn() -> std::result::Result<(), String>,
    pause: impl Fn(),
) -> Result<Option<Exit>> {
    let mut state = String::new();
    for _ in 0..LOOKS_MAX {
        let found = is_enabled();
        // After the state: one that had been enabled and is gone again must not pass for one that schedules.
        if let Some(exit) = exited() {
            return Ok(Some(exit));
        }
        match found {
            Ok(()) => return Ok(None),
            Err(other) => state = other,
        }
        pause();
    }
    Err(environment(format!(
        "the kernel has taken the policy and does not have it schedule: sched_ext says {state}"
    ))
    .hint("`dmesg` may say why; try again"))
}

/// Why a policy cannot be loaded: a missing privilege, or the verifier's objection.
fn refused(policy: Policy, error: &libbpf_rs::Error) -> Diagnostic {
    if error.kind() == libbpf_rs::ErrorKind::PermissionDenied && !rustix::process::geteuid().is_root() {
        return Diagnostic::environment(format!(
            "only root may attach the policy {}: {error}",
            policy.name()
        ))
        .hint("sudo laxity ...; it takes CAP_SYS_ADMIN, CAP_BPF and CAP_PERFMON");
    }
    // What is known of kernels has been asked before (`kernel::support_of`): here the verifier alone says why.
    let kernel = kernel::running();
    environment(format!("the kernel refuses the policy {}: {error} (Linux {kernel})", policy.name()))
        .hint("the verifier's words above say why; another kernel may take it, such as that of a virtual machine: laxity vm -- ...")
}

fn exit_of(ended: &ffi::lx_exit) -> Option<Exit> {
    let text = |bytes: &[u8]| {
        let text = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
        text.to_string_lossy().trim().to_owned()
    };
    (ended.kind != 0).then(|| Exit {
        kind: ended.kind,
        code: ended.code,
        reason: text(ended.reason.as_bytes()),
        message: text(ended.message.as_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn thrown_out() -> Exit {
        Exit {
            kind: 1024,
            code: 0,
            reason: "runtime error".into(),
            message: "scx_root_enable() failed (-16)".into(),
        }
    }

    /// What is said if the kernel enables the scheduler at the look `enabled_at`, and has ended it from the look `ended_at` on.
    fn said(enabled_at: u32, ended_at: u32) -> (Result<Option<Exit>>, u32) {
        let looks = Cell::new(0);
        let state = || if looks.get() >= enabled_at { Ok(()) } else { Err("enabling".to_owned()) };
        let exited = || (looks.get() >= ended_at).then(thrown_out);
        (enabled(exited, state, || looks.set(looks.get() + 1)), looks.get())
    }

    #[test]
    fn a_scheduler_is_enabled_when_the_kernel_says_so() {
        assert_eq!(said(0, u32::MAX), (Ok(None), 0));
        assert_eq!(said(7, u32::MAX), (Ok(None), 7), "not before");
    }

    #[test]
    fn one_that_is_thrown_out_at_once_is_not_enabled() {
        assert_eq!(said(u32::MAX, 0).0, Ok(Some(thrown_out())));
        assert_eq!(said(u32::MAX, 3), (Ok(Some(thrown_out())), 3));
        assert_eq!(said(0, 0).0, Ok(Some(thrown_out())), "the state is that of a moment ago");
    }

    #[test]
    fn a_kernel_that_says_neither_is_not_waited_for_without_end() {
        let (end, looks) = said(u32::MAX, u32::MAX);
        let why = end.expect_err("neither");
        assert_eq!(looks, LOOKS_MAX);
        assert!(why.message.contains("sched_ext says enabling"), "{}", why.message);
    }
}
