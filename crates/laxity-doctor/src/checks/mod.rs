//! The checks, by what they look at.

mod clocks;
mod interrupts;
mod isolation;
mod kernel;
mod limits;
mod memory;
mod permissions;
mod power;
mod schedulers;
mod virtualization;

use crate::evidence::{Evidence, Unseen};
use crate::host::{Host, Read};
use crate::remedy::Remedy;
use crate::verdict::{Check, Judged, Verdict};
use laxity_model::{CpuList, Names, Result};

/// All checks, in the order in which they are made and listed.
pub const ALL: &[&[Check]] = &[
    limits::CHECKS,
    schedulers::CHECKS,
    permissions::CHECKS,
    kernel::CHECKS,
    clocks::CHECKS,
    power::CHECKS,
    isolation::CHECKS,
    interrupts::CHECKS,
    memory::CHECKS,
    virtualization::CHECKS,
];

/// The check with this name.
///
/// # Errors
///
/// There is none; the hint has the nearest name.
pub fn named(name: &str) -> Result<&'static Check> {
    let all = || ALL.iter().flat_map(|group| group.iter());
    all().find(|check| check.name == name).ok_or_else(|| {
        let known: Vec<&str> = all().map(|check| check.name).collect();
        Names::of("check", &known).listed_by("laxity doctor --list").unknown(name)
    })
}

/// Why a question has no sense where every CPU is a real-time CPU.
const NO_OTHER_CPU: &str = "all online CPUs are real-time CPUs (--cpus names fewer)";

/// A file with a number: a finding unless the number is fine; the remedy writes another one.
fn number(
    host: &Host,
    file: &str,
    is_fine: impl Fn(i64) -> bool,
    wanted: &str,
    what: impl Fn(i64) -> String,
) -> Judged {
    let read = host.text(file)?;
    let value: i64 = read.parsed()?;
    match is_fine(value) {
        true => Verdict::fine(vec![read.evidence()]),
        false => {
            let remedy = Remedy::write(file, wanted, read.value());
            Verdict::found(what(value), vec![read.evidence()], remedy)
        }
    }
}

/// A finding with its cost, where there is one and it was measured.
fn costing(judged: Judged, measured: impl FnOnce() -> Option<String>) -> Judged {
    judged.map(|verdict| match verdict {
        Verdict::Found(mut found) => {
            found.measured = measured();
            Verdict::Found(found)
        }
        other => other,
    })
}

/// The evidence of a file of each CPU; files that say the same are one line.
fn of_each(file: &str, values: &[(u32, String)]) -> Vec<Evidence> {
    let mut groups: Vec<(&String, Vec<u32>)> = Vec::new();
    for (cpu, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, cpus)) => cpus.push(*cpu),
            None => groups.push((value, vec![*cpu])),
        }
    }
    let line = |(value, cpus): (&String, Vec<u32>)| {
        let cpus: laxity_model::CpuList = cpus.into_iter().collect();
        let place = if cpus.len() == 1 { cpus.to_string() } else { format!("{{{cpus}}}") };
        Evidence::new(file.replace("{cpu}", &place), value.clone())
    };
    groups.into_iter().map(line).collect()
}

/// The CPUs of such values as text: `CPU 3`, `CPUs 1-3`.
fn cpus_of(values: &[(u32, String)]) -> String {
    cpus_text(&values.iter().map(|(cpu, _)| *cpu).collect())
}

/// A mask of CPUs of which something is said: a finding if a real-time CPU is in it.
fn masked(host: &Host, file: &str, what: &str) -> Judged {
    let Some(rest) = host.rest() else { return Verdict::not_here(NO_OTHER_CPU) };
    let read = host.text(file)?;
    let cpus = CpuList::of_mask(read.value()).ok_or_else(|| read.not_understood())?;
    let both = cpus.intersection(host.cpus());
    match both.is_empty() {
        true => Verdict::fine(vec![read.evidence()]),
        false => Verdict::found(
            format!("{what} {}", cpus_text(&both)),
            vec![read.evidence()],
            Remedy::write(file, &rest.mask(), read.value()),
        ),
    }
}

fn cpus_text(cpus: &laxity_model::CpuList) -> String {
    if cpus.len() == 1 { format!("CPU {cpus}") } else { format!("CPUs {cpus}") }
}

/// The marked word of choices such as `always [madvise] never`.
fn chosen(read: &Read) -> std::result::Result<&str, Unseen> {
    let marked = read.value().split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    marked.map(|(word, _)| word).ok_or_else(|| read.not_understood())
}
