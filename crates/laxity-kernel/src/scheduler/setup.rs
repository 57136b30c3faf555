//! What a policy is told before it is attached: its cells, and as much room as the machine needs.

use super::{Options, PolicyCpus};
use crate::object::Opened;
use crate::rings::Rings;
use crate::{fault, ffi, kernel, skeleton};
use laxity_model::{Diagnostic, Policy, Result};

/// Whether cells fit what the policies have room for: tasks, CPUs by number and by count, sockets.
///
/// # Errors
///
/// The number, what is possible, and what can be done.
pub(super) fn check(options: &Options) -> Result<()> {
    if options.tasks == 0 || options.tasks > ffi::LX_HOST_TASKS {
        return Err(Diagnostic::usage(format!("room for {} tasks in a cell", options.tasks))
            .hint(format!("ask for 1 to {}", ffi::LX_HOST_TASKS)));
    }
    for cell in &options.cells {
        if cell.cpus.is_empty() {
            return Err(Diagnostic::usage("a cell has no CPU".to_owned()).hint("give it at least one"));
        }
        if let Some(cpu) = cell.cpus.iter().find(|&&cpu| cpu >= ffi::LX_HOST_CPUS) {
            return Err(Diagnostic::environment(format!("a cell has CPU {cpu}")).hint(format!(
                "policies in the kernel take CPUs below {}: choose others (--cpus)",
                ffi::LX_HOST_CPUS
            )));
        }
        let sockets = cell.sockets.iter().max().map_or(1, |last| last + 1);
        if options.policy == Policy::GEdfMp && sockets > ffi::LX_HOST_SOCKETS {
            return Err(Diagnostic::environment(format!("a cell spans {sockets} sockets")).hint(format!(
                "g-edf-mp has mailboxes for {}: choose CPUs of fewer (--cpus)",
                ffi::LX_HOST_SOCKETS
            )));
        }
    }
    Ok(())
}

/// What the instance of a cell is told, in the form of `bpf/host/setup.h`.
pub(super) fn of_cell(
    options: &Options,
    number: usize,
    cell: &PolicyCpus,
) -> std::result::Result<ffi::lx_host_setup, String> {
    let count = u32::try_from(cell.cpus.len()).expect("checked");
    let dedicated = options.policy.dedicates_a_core();
    let mut setup = ffi::lx_host_setup {
        instance: u32::try_from(number).map_err(|_| "too many cells".to_owned())?,
        reserved: 0,
        config: ffi::lx_config {
            tasks: options.tasks,
            cpus: count,
            rule: options.fixed_priorities.into(),
            budget_mode: options.budget.code(),
            batching: options.batching.into(),
            dedicated_cpu: if dedicated { count - 1 } else { u32::MAX },
            retries_max: options.retries_max,
            sockets: cell.sockets.iter().max().map_or(1, |last| last + 1),
        },
        share_ppm: options.share_ppm,
        reserve_period_ns: options.reserve.window().as_ns(),
        reserve_runtime_ns: options.reserve.runtime().as_ns(),
        cpu: [0; ffi::LX_HOST_CPUS as usize],
        socket: [0; ffi::LX_HOST_CPUS as usize],
    };
    setup.cpu[..cell.cpus.len()].copy_from_slice(&cell.cpus);
    setup.socket[..cell.sockets.len()].copy_from_slice(&cell.sockets);
    Ok(setup)
}

/// How many CPUs this machine may have; with `LAXITY_FAULT=N@cpus`, for tests of the verifier, N.
fn possible_cpus() -> std::result::Result<u32, String> {
    if let Some(cpus) = fault::at("cpus") {
        return cpus.parse().map_err(|_| format!("LAXITY_FAULT={cpus}@cpus: a number of CPUs"));
    }
    let cpus = libbpf_rs::num_possible_cpus().map_err(|error| error.to_string())?;
    u32::try_from(cpus).map_err(|error| error.to_string())
}

/// Faults of the kernel side on request, for the tests of the oracles and of what makes up for them.
fn set_faults(opened: &mut Opened) -> std::result::Result<(), String> {
    /// Of how many kicks, or starts of a timer, one fails.
    const ONE_OF: u32 = 3;
    /// How much too late budget timers are set.
    const LATE_NS: u64 = 1_000_000;
    let one_of = |what: &str, place: &str| if fault::is(what, place) { ONE_OF } else { 0 };
    opened.set(&skeleton::KICKS_FORGOTTEN, one_of("forget", "kicks"))?;
    opened.set(&skeleton::TIMERS_REFUSED, one_of("refuse", "timers"))?;
    opened.set(&skeleton::BUDGETS_LATE_NS, if fault::is("late", "budgets") { LATE_NS } else { 0 })
}

/// Opens the policy's object with its maps as large as this machine needs.
pub(super) fn prepare(options: &Options) -> std::result::Result<Opened, String> {
    let mut opened = Opened::new(options.policy.source_name())?;
    let cpus = possible_cpus()?;
    opened.set(&skeleton::ONLINE_CPUS, cpus)?;
    opened.set(&skeleton::BY_DEADLINE, !options.by_period)?;
    opened.set(&skeleton::BOUND_PERIOD_NS, crate::KERNEL_THREADS_WINDOW.as_ns())?;
    opened.set(&skeleton::BOUND_RUNTIME_NS, options.kernel_threads.as_ns())?;
    opened.set(&skeleton::HAS_TIMERS, !kernel::is_preempt_rt())?;
    let instances = u32::try_from(options.cells.len()).map_err(|error| error.to_string())?;
    set_faults(&mut opened)?;
    opened.set(&skeleton::INSTANCE_COUNT, instances)?;
    Rings::prepare(&mut opened.object).map_err(|error| error.message)?;
    for mut map in opened.object.maps_mut() {
        let entries = match map.name().to_str() {
            Some(skeleton::INSTANCES) => instances,
            Some(skeleton::HOST_CPUS | skeleton::SAMPLE_RINGS) => cpus,
            _ => continue,
        };
        map.set_max_entries(entries).map_err(|error| error.to_string())?;
    }
    let hooked = kernel::has_bpf_security_module();
    for mut program in opened.object.progs_mut() {
        if program.name() == "scx_lib_init_probe" {
            // Of the sched_ext tools' headers; our use of what it finds out is on the safe side without it.
            program.set_autoload(false);
        } else if !program.autoload() {
            // One of the two ways in which sched_setattr is heard (bpf/host/interface.h).
            program.set_autoload(program.section().to_string_lossy().starts_with("lsm/") == hooked);
        }
    }
    Ok(opened)
}
