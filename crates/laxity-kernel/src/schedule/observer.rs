//! The kernel's own scheduling classes, watched from outside (`bpf/schedule.bpf.c`).

use super::Recording;
use crate::ffi_observer::lx_watched;
use crate::kernel::is_preempt_rt;
use crate::messages;
use crate::object::Opened;
use crate::rings::{Rings, Switch};
use crate::skeleton;
use laxity_model::{Diagnostic, Result};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, Typedef};
use libbpf_rs::{Link, Object, OpenObject};
use std::fs;

/// Without these nothing is known of a schedule.
const NEEDED: [&str; 2] = ["sched_switch", "sched_wakeup"];

/// What is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The threads; the place of each is its number in records.
    pub tids: Vec<u32>,
    /// The lowest priority of theirs as the kernel has it inside: -1 under SCHED_DEADLINE, 99 less the priority of
    /// SCHED_FIFO. What is above it needs no other reason to have a CPU.
    pub lowest_prio: i32,
}

/// Programs at work in the kernel until this is dropped.
pub struct Observer {
    // Links go before what they are of.
    _links: Vec<Link>,
    _object: Object,
    missing: Vec<String>,
}

fn refused(what: &str, error: &libbpf_rs::Error) -> Diagnostic {
    let said = messages::last_lines(3);
    let why = match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => {
            "the kernel permits no BPF programs that trace it".to_owned()
        }
        _ if said.is_empty() => error.to_string(),
        _ => format!("{error}: {said}"),
    };
    Diagnostic::environment(format!("{what}: {why}"))
        .hint("run as root on a kernel with BTF, or in a virtual machine: laxity vm -- ...")
}

/// Attaches what this kernel offers, and begins to record.
///
/// # Errors
///
/// The kernel does not let itself be watched, and why; it is PREEMPT_RT, whose timer threads run out of stack in these programs and
/// end the kernel (seen with 7.3); a laxity that was built without its programs.
pub fn observe(watched: &Watched) -> Result<(Observer, Recording)> {
    if is_preempt_rt() {
        return Err(Diagnostic::environment(
            "schedules of the kernel's own classes are not recorded under PREEMPT_RT, which does not survive it",
        )
        .hint("run it on another kernel, or under a policy of laxity's own"));
    }
    messages::listen();
    let (object, missing) = match load(watched, true) {
        Ok(loaded) => loaded,
        // There are kernels that let tracepoints be watched, and no functions.
        Err(_) => load(watched, false)?,
    };
    enlist(&object, &watched.tids)?;
    let mut links = Vec::new();
    for program in object.progs_mut().filter(|program| program.autoload()) {
        match program.attach() {
            Ok(link) => links.push(link),
            Err(error) if NEEDED.iter().any(|needed| program.name() == *needed) => {
                return Err(refused("the kernel's scheduler cannot be watched", &error));
            }
            Err(_) => {}
        }
    }
    let recording = Recording::start(Rings::of(&object)?, Switch::of(&object)?);
    Ok((Observer { _links: links, _object: object, missing }, recording))
}

/// Loads the programs, those on functions of the kernel too if asked for; what is left out.
fn load(watched: &Watched, functions: bool) -> Result<(Object, Vec<String>)> {
    let cannot = |why: String| {
        Diagnostic::environment(format!("schedules of the kernel's own classes cannot be recorded: {why}"))
    };
    let mut opened = Opened::new("schedule").map_err(cannot)?;
    opened.set(&skeleton::LOWEST_PRIO, watched.lowest_prio).map_err(cannot)?;
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let address = |name: &str| address_of(&symbols, name).unwrap_or(0);
    opened.set(&skeleton::HRTIMER_WAKEUP, address("hrtimer_wakeup")).map_err(cannot)?;
    opened.set(&skeleton::DL_TASK_TIMER, address("dl_task_timer")).map_err(cannot)?;
    Rings::prepare(&mut opened.object)?;
    let missing = leave_out_what_is_not_there(&mut opened.object, functions)?;
    let object =
        opened.object.load().map_err(|error| refused("the kernel's scheduler cannot be watched", &error))?;
    Ok((object, missing))
}

/// Where a function is, from the text of `/proc/kallsyms`.
fn address_of(symbols: &str, name: &str) -> Option<u64> {
    let address = |line: &str| {
        let mut words = line.split_whitespace();
        let (address, _, found) = (words.next()?, words.next()?, words.next()?);
        (found == name).then(|| u64::from_str_radix(address, 16).ok()).flatten()
    };
    symbols.lines().find_map(address).filter(|&address| address != 0)
}

impl Observer {
    /// What this kernel does not have, so that it excuses nothing.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }
}

/// The names of what this kernel does not have.
fn leave_out_what_is_not_there(object: &mut OpenObject, functions: bool) -> Result<Vec<String>> {
    let types = Btf::from_vmlinux().map_err(|error| refused("the kernel's types cannot be read", &error))?;
    let mut missing = Vec::new();
    for mut program in object.progs_mut() {
        let section = program.section().to_string_lossy().into_owned();
        let there = match section.split_once('/') {
            Some(("raw_tp", name)) => {
                types.type_by_name::<Typedef<'_>>(&format!("btf_trace_{name}")).is_some()
            }
            Some((_, name)) => functions && types.type_by_name::<Func<'_>>(name).is_some(),
            // A probe of the sched_ext tools' headers.
            None => false,
        };
        if !there {
            program.set_autoload(false);
            missing.extend(section.split_once('/').map(|(_, name)| name.to_owned()));
        }
    }
    missing.sort();
    missing.dedup();
    match NEEDED.iter().find(|needed| missing.iter().any(|name| name == *needed)) {
        Some(needed) => {
            Err(Diagnostic::environment(format!("the running kernel has no tracepoint {needed}"))
                .hint("use a kernel with CONFIG_TRACEPOINTS and BTF, or: laxity vm -- ..."))
        }
        None => Ok(missing),
    }
}

fn enlist(object: &Object, tids: &[u32]) -> Result<()> {
    let map = skeleton::WATCHED.of(object).map_err(Diagnostic::environment)?;
    for (number, tid) in (0..).zip(tids) {
        let thread = lx_watched { number, ..Default::default() };
        map.put(tid, &thread)
            .map_err(|why| Diagnostic::environment(format!("a thread cannot be watched: {why}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_whole_names() {
        let symbols = "ffffffff81a0b0c0 t hrtimer_wakeup_more\nffffffff81a0b0d0 t hrtimer_wakeup\n0000000000000000 t hidden\n";
        assert_eq!(address_of(symbols, "hrtimer_wakeup"), Some(0xffff_ffff_81a0_b0d0));
        assert_eq!([address_of(symbols, "hidden"), address_of(symbols, "none")], [None, None]);
    }
}
