//! Recording what scheduling costs on a machine, whatever runs: no experiment's, so that threads are known by their classes alone.

use super::kept::write_costs;
use super::recording::{Probes, record_during};
use laxity_kernel::rings::Record;
use laxity_model::{Diagnostic, OutputDirectory, Result, ShownPath as _, is_begun};
use laxity_overheads::{Class, Options, Recorded, SamplesFile};
use laxity_trace::Tuning;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The recording, as `--json` prints it.
const SUMMARY_FILE: &str = "overheads.json";
/// Every sample.
const SAMPLES_FILE: &str = "samples.parquet";
/// The classes whose costs are of use: of the others no thread has a deadline.
pub const REAL_TIME: [Class; 3] = [Class::Deadline, Class::FixedPriority, Class::Ext];

/// What was recorded of a machine.
pub struct MachineOverheads {
    /// The recording.
    pub recorded: Recorded,
    /// Of each class the threads that were seen.
    threads: BTreeMap<Class, BTreeSet<u32>>,
}

/// The directory of a recording, in which there is none yet, unless it is to be replaced.
///
/// # Errors
///
/// There is one; it cannot be written.
pub fn recording_directory(directory: &Path, replace: bool) -> Result<OutputDirectory> {
    if is_begun(directory, SUMMARY_FILE, "recording")? && !replace {
        return Err(Diagnostic::usage(format!("{} has a recording already", directory.shown()))
            .hint("choose another --out, or replace it with --force"));
    }
    OutputDirectory::create(directory)
}

impl MachineOverheads {
    /// Records while `work` goes on, with every sample in a directory, if there is one.
    ///
    /// # Errors
    ///
    /// The kernel does not let it be traced, samples cannot be written; those of the work.
    pub fn during<T>(
        probes: Probes,
        directory: Option<&OutputDirectory>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<(T, Self)> {
        let tuning = Tuning::of_this_machine(&laxity_run::online_cpus()?);
        let mut recorder = probes.attach()?;
        let file = |directory: &OutputDirectory| SamplesFile {
            directory: directory.clone(),
            name: SAMPLES_FILE.to_owned(),
        };
        let options = Options { samples: directory.map(file), ..Options::default() };
        let mut threads: BTreeMap<Class, BTreeSet<u32>> = BTreeMap::new();
        let note = |record: &Record| {
            if record.pid != 0 {
                threads.entry(Class::of(record.policy)).or_default().insert(record.pid);
            }
        };
        let (done, recorded) = record_during(&mut recorder, &options, note, work);
        let (done, mut recorded) = (done?, recorded?);
        recorded.summary.tuning = Some(tuning);
        Ok((done, MachineOverheads { recorded, threads }))
    }

    /// Keeps what was recorded, with the costs of each class for `--costs`: of so many tasks, or as many as threads were seen.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn keep(&self, output: &OutputDirectory, tasks: Option<u32>) -> Result<()> {
        // Of an earlier recording, of classes that this one may not have.
        REAL_TIME
            .iter()
            .flat_map(|class| ["mean", "max"].map(|which| format!("{}-{which}.csv", class.name())))
            .try_for_each(|name| output.remove(&name))?;
        let Recorded { summary, groups, .. } = &self.recorded;
        let text = serde_json::to_string_pretty(summary).expect("serializes") + "\n";
        output.write(SUMMARY_FILE, text.as_bytes())?;
        for class in REAL_TIME {
            let Some(seen) = self.threads.get(&class) else { continue };
            let tasks = tasks.unwrap_or_else(|| u32::try_from(seen.len()).expect("few threads"));
            write_costs(output, class.name(), class, &[(tasks, groups)], summary)?;
        }
        Ok(())
    }

    /// How many threads of a class were seen, if any.
    pub fn threads_seen(&self, class: Class) -> Option<usize> {
        self.threads.get(&class).map(BTreeSet::len)
    }
}
