//! What `--quiet-machine` sets for the CPUs of a run, and puts back: frequency governors, the exit latency of idle states, and where
//! interrupts may come.
//!
//! 1. What was there is read and in the journal before anything is written ([`Undo::Restore`]).
//! 2. What the machine has no file for, or the kernel refuses, is in the record with its reason. The run goes on.
//! 3. The kernel keeps a latency for as long as the file is open by which it was asked for: it needs no undo.

use crate::journal::{FileAsItWas, Journal, Undo, overwrite};
use laxity_model::{CpuList, Result, cpus_named, plural};
use laxity_trace::{QuietRecord, irq_affinities, ranges};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where the CPUs' governors are, below the root of the machine.
const CPUS: &str = "sys/devices/system/cpu";
/// Where the interrupts are.
const IRQS: &str = "proc/irq";
/// To which CPUs interrupts may come that are set up later, as a mask.
const IRQ_DEFAULT: &str = "default_smp_affinity";
/// The governor that stays at the highest frequency.
const PERFORMANCE: &str = "performance";

/// A quiet machine, for as long as this is kept and the journal is not undone.
#[derive(Debug)]
pub(crate) struct Quiet {
    /// What was set and what could not be.
    pub(crate) record: QuietRecord,
    /// By this the kernel is asked for no exit latency at all.
    _latency: Option<File>,
}

/// A file that is to be written.
struct Change {
    /// Below its directory.
    file: PathBuf,
    /// What is there.
    before: String,
    /// What is to be there.
    wanted: String,
    /// The number of its CPU or interrupt; nothing of the default.
    number: Option<u32>,
}

/// How a file that is there is written.
type Writing<'a> = &'a dyn Fn(&Path, &str) -> io::Result<()>;

impl Quiet {
    /// Makes the machine whose files are under `root` quiet for a run on `cpus`, of all its CPUs `machine`.
    ///
    /// # Errors
    ///
    /// The journal cannot be written; nothing is changed then but what it has.
    pub(crate) fn make(
        root: &Path,
        cpus: &CpuList,
        machine: &CpuList,
        journal: &mut Journal,
    ) -> Result<Quiet> {
        Self::make_by(&overwrite, root, cpus, machine, journal)
    }

    fn make_by(
        write: Writing<'_>,
        root: &Path,
        cpus: &CpuList,
        machine: &CpuList,
        journal: &mut Journal,
    ) -> Result<Quiet> {
        let mut record = QuietRecord::default();
        set_governors(write, root, cpus, journal, &mut record)?;
        let latency = forbid_latency(root, &mut record);
        move_interrupts(write, root, cpus, &machine.difference(cpus), journal, &mut record)?;
        Ok(Quiet { record, _latency: latency })
    }
}

fn set_governors(
    write: Writing<'_>,
    root: &Path,
    cpus: &CpuList,
    journal: &mut Journal,
    record: &mut QuietRecord,
) -> Result<()> {
    let directory = root.join(CPUS);
    let mut changes = Vec::new();
    let mut without = Vec::new();
    for cpu in cpus.iter() {
        let file = PathBuf::from(format!("cpu{cpu}/cpufreq/scaling_governor"));
        match fs::read_to_string(directory.join(&file)) {
            Ok(before) if before.trim() == PERFORMANCE => {}
            Ok(before) => changes.push(Change {
                file,
                before: before.trim().to_owned(),
                wanted: PERFORMANCE.to_owned(),
                number: Some(cpu),
            }),
            Err(_) => without.push(cpu),
        }
    }
    if !without.is_empty() {
        record.not_set.push(format!(
            "governor of {}: it has none (cpufreq/scaling_governor)",
            cpus_named(ranges(without))
        ));
    }
    let outcomes = write_all(write, directory, &changes, journal)?;
    let of = |changes: &[&Change]| cpus_named(ranges(changes.iter().filter_map(|change| change.number)));
    for (why, changes) in &outcomes {
        match why {
            None => record.set.push(format!("governor {PERFORMANCE} on {}", of(changes))),
            Some(why) => record.not_set.push(format!("governor {PERFORMANCE} on {}: {why}", of(changes))),
        }
    }
    Ok(())
}

/// Asks the kernel for idle states without any exit latency. What it is asked for lasts as long as the file is open.
fn forbid_latency(root: &Path, record: &mut QuietRecord) -> Option<File> {
    let opened = OpenOptions::new().write(true).open(root.join("dev/cpu_dma_latency"));
    let asked = opened.and_then(|mut file| file.write_all(&0_i32.to_ne_bytes()).map(|()| file));
    match asked {
        Ok(file) => {
            record.set.push("exit latency of idle states at most 0 us (/dev/cpu_dma_latency)".to_owned());
            Some(file)
        }
        Err(error) => {
            record.not_set.push(format!("exit latency of idle states (/dev/cpu_dma_latency): {error}"));
            None
        }
    }
}

fn move_interrupts(
    write: Writing<'_>,
    root: &Path,
    cpus: &CpuList,
    rest: &CpuList,
    journal: &mut Journal,
    record: &mut QuietRecord,
) -> Result<()> {
    if rest.is_empty() {
        record
            .not_set
            .push("interrupts: the run has every CPU, and there is none to move them to".to_owned());
        return Ok(());
    }
    let Some(irqs) = irq_affinities(root) else {
        record.not_set.push("interrupts: there is no /proc/irq".to_owned());
        return Ok(());
    };
    // Only CPUs to which it may come already, where one of them is left.
    let elsewhere = |now: &CpuList| match now.intersection(rest) {
        left if left.is_empty() => rest.clone(),
        left => left,
    };
    let directory = root.join(IRQS);
    let mut changes = Vec::new();
    for (irq, now) in irqs.iter().filter(|(_, now)| !now.intersection(cpus).is_empty()) {
        changes.push(Change {
            file: PathBuf::from(format!("{irq}/smp_affinity_list")),
            before: now.to_string(),
            wanted: elsewhere(now).to_string(),
            number: Some(*irq),
        });
    }
    if let Ok(before) = fs::read_to_string(directory.join(IRQ_DEFAULT))
        && let Some(now) = CpuList::of_mask(&before)
        && !now.intersection(cpus).is_empty()
    {
        let (before, wanted) = (before.trim().to_owned(), elsewhere(&now).mask());
        changes.push(Change { file: IRQ_DEFAULT.into(), before, wanted, number: None });
    }
    let outcomes = write_all(write, directory, &changes, journal)?;
    for (why, changes) in &outcomes {
        let mut of: Vec<String> = Vec::new();
        let numbers: Vec<u32> = changes.iter().filter_map(|change| change.number).collect();
        if !numbers.is_empty() {
            of.push(format!("{} ({})", plural(numbers.len(), "interrupt"), ranges(numbers)));
        }
        if changes.iter().any(|change| change.number.is_none()) {
            of.push("those set up later".to_owned());
        }
        let of = of.join(" and ");
        match why {
            None => record.set.push(format!("{of} kept away from {}", cpus_named(cpus))),
            Some(why) => record.not_set.push(format!("{of} may come to {}: {why}", cpus_named(cpus))),
        }
    }
    Ok(())
}

/// Writes all of the changes below a directory, after what was there is in the journal: which were made, and by reason which were
/// not.
fn write_all<'a>(
    write: Writing<'_>,
    directory: PathBuf,
    changes: &'a [Change],
    journal: &mut Journal,
) -> Result<BTreeMap<Option<String>, Vec<&'a Change>>> {
    let mut outcomes: BTreeMap<Option<String>, Vec<&Change>> = BTreeMap::new();
    if changes.is_empty() {
        return Ok(outcomes);
    }
    let as_it_was = |change: &Change| FileAsItWas { file: change.file.clone(), value: change.before.clone() };
    journal.record(Undo::Restore {
        directory: directory.clone(),
        files: changes.iter().map(as_it_was).collect(),
    })?;
    for change in changes {
        let why = write(&directory.join(&change.file), &change.wanted).err().map(|error| error.to_string());
        outcomes.entry(why).or_default().push(change);
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests;
