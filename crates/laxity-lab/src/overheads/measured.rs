//! Recording the overheads of an experiment's runs, one after the other.

use super::class_of;
use super::kept::{self, RunOverheads};
use super::recording::{Probes, record_during};
use crate::schedulers::Configuration;
use laxity_model::{OutputDirectory, Result};
use laxity_overheads::{Class, Groups, Options, Recorded, Recorder, Summary};
use std::cell::RefCell;
use std::path::Path;

/// The probes, attached once for all runs: patching the kernel for them disturbs it.
pub struct Measuring {
    recorder: RefCell<Recorder>,
    costs: RefCell<Vec<Costs>>,
}

/// What the runs of one scheduler with one number of tasks have given.
struct Costs {
    scheduler: String,
    class: Class,
    tasks: u32,
    groups: Groups,
    summary: Summary,
}

/// What is recorded.
pub struct Subject<'a> {
    /// Number of the run.
    pub run: u32,
    /// Its scheduler.
    pub scheduler: &'a Configuration,
    /// Name of the task set.
    pub set: &'a str,
    /// Its real-time tasks.
    pub tasks: u32,
    /// CPUs that it may use.
    pub cpus: u32,
    /// Of what is drawn.
    pub seed: u64,
}

impl Measuring {
    /// Attaches the probes.
    ///
    /// # Errors
    ///
    /// This kernel or this user's rights allow none of them.
    pub fn begin(probes: Probes) -> Result<Measuring> {
        Ok(Measuring { recorder: RefCell::new(probes.attach()?), costs: RefCell::new(Vec::new()) })
    }

    /// Records while `work` goes on and keeps what was recorded in the results directory. Gives what the work gives, and the
    /// reason if nothing could be recorded or kept: that does not end the run.
    pub fn during<T>(
        &self,
        directory: &Path,
        subject: &Subject<'_>,
        work: impl FnOnce() -> T,
    ) -> (T, Result<()>) {
        let samples = match kept::samples_file(directory, subject.run) {
            Ok(samples) => Some(samples),
            Err(error) => return (work(), Err(error)),
        };
        let options = Options { run: subject.run, seed: subject.seed, samples };
        let (done, recorded) = record_during(&mut self.recorder.borrow_mut(), &options, |_| (), work);
        (done, recorded.and_then(|recorded| self.keep(directory, subject, recorded)))
    }

    fn keep(&self, directory: &Path, subject: &Subject<'_>, recorded: Recorded) -> Result<()> {
        let class = class_of(&subject.scheduler.scheduler);
        let overheads = RunOverheads {
            run: subject.run,
            scheduler: subject.scheduler.name.clone(),
            set: subject.set.to_owned(),
            tasks: subject.tasks,
            cpus: subject.cpus,
            class: class.name().to_owned(),
            recorded: recorded.summary.clone(),
        };
        kept::keep(directory, &overheads)?;
        let mut all = self.costs.borrow_mut();
        let same =
            |costs: &&mut Costs| costs.scheduler == subject.scheduler.name && costs.tasks == subject.tasks;
        match all.iter_mut().find(same) {
            Some(costs) => costs.groups.merge(&recorded.groups),
            None => all.push(Costs {
                scheduler: subject.scheduler.name.clone(),
                class,
                tasks: subject.tasks,
                groups: recorded.groups,
                summary: recorded.summary,
            }),
        }
        Ok(())
    }

    /// Writes what the schedulers have cost since this was called last, by number of tasks, as CSV for `--costs`.
    pub fn write_costs(&self, directory: &Path) -> Result<()> {
        let mut all = self.costs.take();
        all.sort_by(|a, b| (&a.scheduler, a.tasks).cmp(&(&b.scheduler, b.tasks)));
        for costs in all.chunk_by(|a, b| a.scheduler == b.scheduler) {
            let by_tasks: Vec<(u32, &Groups)> = costs.iter().map(|c| (c.tasks, &c.groups)).collect();
            let folder = OutputDirectory::open(directory)?.subdirectory(kept::OVERHEADS_DIRECTORY)?;
            kept::write_costs(&folder, &costs[0].scheduler, costs[0].class, &by_tasks, &costs[0].summary)?;
        }
        Ok(())
    }
}
