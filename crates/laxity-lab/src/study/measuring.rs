//! Measuring what is left of the trials, here or in virtual machines: a study that was interrupted goes on where it was.

use super::grid::{Grid, STUDY_FILE};
use super::machines::measure as measure_in_machines;
use super::real::{Conditions, Numbering, State, refuse, run_units};
use super::sweep::{Kind, Sweep, Where};
use super::trial::Trial;
use crate::experiment::DemandModel;
use crate::observer::Caller;
use laxity_model::{Diagnostic, OutputDirectory, Platform, Result, plural};
use laxity_study::{Journal, WorkUnit};
use laxity_vm::{Audience, KernelChoice};
use std::sync::atomic::AtomicBool;

impl Sweep {
    /// Measures what is left of the trials; whether all were tried, or an interruption came first.
    ///
    /// # Errors
    ///
    /// The directory is another study's; nothing can be measured here at all.
    pub fn measure(
        &self,
        grid: &Grid,
        (caller, audience): (&Caller, &mut dyn Audience),
        interrupt: &'static AtomicBool,
    ) -> Result<bool> {
        self.check_kernel()?;
        if let (Where::Here, Some(fewest)) = (self.place, grid.studies.first()) {
            some_of_this_machine(fewest.cpus)?;
        }
        Journal::begin(&self.directory, &self.description())?;
        for study in &grid.studies {
            OutputDirectory::create(&study.directory)?.write(STUDY_FILE, study.text.as_bytes())?;
        }
        let is_left = |trial: &&Trial| trial.run.is_some() && trial.state() != State::Measured;
        let left: Vec<&Trial> = grid.trials.iter().filter(is_left).collect();
        self.announce(grid.trials.len(), left.len(), caller);
        match self.place {
            _ if left.is_empty() => Ok(true),
            Where::Here => self.measure_here(grid, &left, caller, interrupt),
            Where::Machines | Where::Counted => {
                measure_in_machines(self, grid, &left, (caller, audience), interrupt)
            }
        }
    }

    fn measure_here(
        &self,
        grid: &Grid,
        left: &[&Trial],
        caller: &Caller,
        interrupt: &'static AtomicBool,
    ) -> Result<bool> {
        let mut numbering = Numbering { before: 0, of: left.len() };
        for same in left.chunk_by(|a, b| a.cpus == b.cpus) {
            let study = grid.study_of(same[0]).expect("each has one");
            let runs: Vec<_> = same.iter().filter_map(|trial| trial.run.as_ref()).collect();
            match some_of_this_machine(study.cpus) {
                Err(why) => runs.iter().try_for_each(|run| refuse(&run.folder, &why))?,
                Ok(platform) => {
                    let conditions = self.conditions_on(platform);
                    let units: Vec<WorkUnit> = runs.iter().map(|run| run.unit.clone()).collect();
                    let work = (&units[..], numbering);
                    if !run_units(study.runnable(), &conditions, work, &study.directory, caller, interrupt)? {
                        return Ok(false);
                    }
                }
            }
            numbering.before += same.len();
        }
        Ok(true)
    }

    /// A kernel that is named is one: not every trial has to find out that it is not.
    fn check_kernel(&self) -> Result<()> {
        let (KernelChoice::File(file), false) = (&self.machines.kernel, self.place == Where::Here) else {
            return Ok(());
        };
        laxity_vm::preflight(file)?.require().map_err(|why| {
            why.hint("name another one, or leave out --kernel: a good one is found or fetched")
        })
    }

    /// How runs are made on these CPUs.
    fn conditions_on(&self, platform: Platform) -> Conditions {
        Conditions {
            record: self.kind == Kind::Schedules,
            overheads: self.kind.probes(),
            demand_model: DemandModel::CpuTime,
            quiet_machine: self.quiet_machine,
            ..Conditions::plain(platform)
        }
    }

    fn announce(&self, trials: usize, left: usize, caller: &Caller) {
        let done = trials - left;
        let number = f64::from(u32::try_from(left).unwrap_or(u32::MAX));
        let minutes = self.duration.as_secs_f64() * number / 60.0;
        caller.observer.note(&format!(
            "{}, {done} of them done or impossible; the others take {minutes:.1} min or more in all",
            plural(trials, "run")
        ));
    }
}

/// The first CPUs of this machine.
fn some_of_this_machine(cpus: u32) -> Result<Platform> {
    let platform = Platform::this_machine()?;
    let there = platform.core_count();
    let wanted = usize::try_from(cpus).expect("64-bit addresses");
    if wanted > there {
        return Err(Diagnostic::usage(format!("this machine has {}, not {cpus}", plural(there, "CPU")))
            .hint("measure in virtual machines with --vm, or ask for fewer with --cpu-counts"));
    }
    let first = platform.cpus().iter().take(wanted).collect();
    platform.restricted(&first)
}
