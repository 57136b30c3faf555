//! How the sets of a study are run: on which CPUs, how often, and what a run is told.

use super::Runnable;
use crate::case::{CaseSettings, Cases, PlacementSettings, Purpose, RunSettings};
use crate::charges::{Charges, Kernel};
use crate::experiment::{DemandModel, Settings};
use crate::observer::Caller;
use crate::overheads::Probes;
use crate::schedulers::Configuration;
use laxity_model::{Diagnostic, Platform, Result, TaskSet, Utilization};
use laxity_study::{Outline, Point, Recorded, SimulatedCurve, Simulations, seed_of_jobs};
use laxity_trace::Machine;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Where runs are in a study's directory.
const RUNS_DIRECTORY: &str = "runs";
/// How fast working sets are walked alone: once for all runs.
const CALIBRATION_FILE: &str = "calibration.json";

/// What all runs have in common.
pub struct Conditions {
    /// The CPUs that are used, with their caches.
    pub platform: Platform,
    /// This machine.
    pub machine: Machine,
    /// Runs of every set under every curve.
    pub repeat: u32,
    /// How much of each CPU placements fill at the most, as a fraction; nothing: all of it.
    pub limit: Option<(u64, u64)>,
    /// Whether schedules are recorded and verified.
    pub record: bool,
    /// Which overheads are recorded.
    pub overheads: Option<Probes>,
    /// What a job asks for.
    pub demand_model: DemandModel,
    /// Whether the machine is made quiet for each run.
    pub quiet_machine: bool,
}

/// A run's place in the study.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Family and value of the axis.
    pub point: Point,
    /// Which set of the point.
    pub index: u64,
    /// Which curve.
    pub curve: usize,
    /// Which repetition.
    pub repetition: u32,
}

/// What the run of a slot is told.
pub struct SlotSettings {
    scheduler: [Configuration; 1],
    of_case: CaseSettings,
    /// How it is run.
    pub run: Settings,
}

impl SlotSettings {
    /// The case of a set, as the only one.
    ///
    /// # Errors
    ///
    /// As [`Cases::of`].
    pub fn case<'a>(&'a self, set: &'a TaskSet, interrupt: &'static AtomicBool) -> Result<Cases<'a>> {
        Cases::of(std::slice::from_ref(set), &self.scheduler, &self.of_case, Purpose::Run, interrupt)
    }
}

impl Conditions {
    /// A run of every set on these CPUs of this machine, all of each, of which nothing but the jobs is recorded.
    pub fn plain(platform: Platform) -> Conditions {
        let machine = Machine::this_machine(&platform);
        Conditions {
            platform,
            machine,
            repeat: 1,
            limit: None,
            record: false,
            overheads: None,
            demand_model: DemandModel::Work,
            quiet_machine: false,
        }
    }

    /// What runs have beside their jobs.
    pub fn recorded(&self) -> Recorded {
        Recorded { schedules: self.record, overheads: self.overheads.is_some() }
    }

    /// The CPUs at a value of the axis: the first ones, where their number varies.
    ///
    /// # Errors
    ///
    /// There are not so many.
    pub fn platform_at(&self, simulations: &Simulations, value: u64) -> Result<Platform> {
        if simulations.platform.is_some() {
            return Ok(self.platform.clone());
        }
        let there = self.platform.cpus();
        let wanted = usize::try_from(value).ok().filter(|&wanted| wanted <= there.len());
        let Some(wanted) = wanted else {
            return Err(Diagnostic::usage(format!(
                "there are {} CPUs to run on ({there}), not {value}",
                there.len()
            ))
            .hint("let fewer CPUs vary"));
        };
        self.platform.clone().restricted(&there.iter().take(wanted).collect())
    }

    /// What a run is told.
    ///
    /// # Errors
    ///
    /// There are not as many CPUs; jobs that ask for more than they may.
    pub fn settings(
        &self,
        runnable: Runnable<'_>,
        slot: Slot,
        directory: &Path,
        caller: Caller,
    ) -> Result<SlotSettings> {
        let Runnable { outline, simulations, .. } = runnable;
        let curve = &simulations.curves[slot.curve];
        let seed = seed_of_jobs(outline, slot.point, slot.index);
        let platform = self.platform_at(simulations, slot.point.value)?;
        let out = runnable.run_directory(slot, directory);
        let kernel = Kernel::running(&platform.cpus(), false);
        let plain = CaseSettings::by_load(curve.placement, platform);
        let placement = PlacementSettings {
            fit: curve.fit,
            amp_rm: curve.placement,
            limit: self.limit.map(|(part, whole)| Utilization::ratio(part, whole)),
            overload: curve.overload,
            ..plain.placement
        };
        let of_case = CaseSettings {
            placement,
            charges: Charges::default().beside_kernel(kernel),
            demand: simulations.demand_at(&outline.axis, slot.point.value)?,
            ..plain
        };
        let plain = Settings::plain(simulations.duration, out, caller);
        let run = Settings {
            runs: RunSettings {
                grace: simulations.grace,
                seed: seed.wrapping_add(u64::from(slot.repetition)),
                ..plain.runs
            },
            demand_model: self.demand_model,
            calibration: (self.demand_model == DemandModel::Work).then(|| calibration_file(directory)),
            record: self.record,
            overheads: self.overheads,
            quiet_machine: self.quiet_machine,
            batching: curve.batching.unwrap_or(plain.batching),
            ..plain
        };
        Ok(SlotSettings { scheduler: [curve.scheduler_name.parse()?], of_case, run })
    }

    /// All that results depend on, as far as the study and this machine's files say it.
    pub fn description(&self, runnable: Runnable<'_>) -> Value {
        let mut description = runnable.study.description();
        description["study"] = json!("runs");
        // What simulations cost is in no run.
        for curve in description["curves"].as_array_mut().into_iter().flatten() {
            curve["costs"] = Value::Null;
        }
        description["limit"] = json!(self.limit.map(|(part, whole)| format!("{part}/{whole}")));
        description["repeat"] = json!(self.repeat);
        if self.record {
            description["record"] = json!(true);
        }
        if let Some(probes) = self.overheads {
            description["overheads"] = json!(probes.name());
        }
        if self.quiet_machine {
            description["quiet-machine"] = json!(true);
        }
        description["machine"] = json!({
            "processor": self.machine.cpu_model,
            "kernel": self.machine.kernel,
            "platform": self.platform.to_json_value(),
        });
        description
    }
}

/// Where a study keeps how fast working sets are walked alone.
pub fn calibration_file(directory: &Path) -> PathBuf {
    directory.join(CALIBRATION_FILE)
}

/// The name of a set: family, value of the axis, number.
pub fn name_of_set(outline: &Outline, point: Point, index: u64) -> String {
    let stem = outline.families[point.family].stem();
    let of_family = if stem.is_empty() { String::new() } else { format!("{stem}-") };
    format!("{of_family}{}-{index}", outline.axis.text(point.value))
}

impl Runnable<'_> {
    /// The results directory of a run.
    pub fn run_directory(&self, slot: Slot, directory: &Path) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let word = |curve: &SimulatedCurve| curve.name.chars().map(plain).collect::<String>();
        let curves = &self.simulations.curves;
        let curve = word(&curves[slot.curve]);
        // Curves of other names may read the same, and so may families of other parameters.
        let number = match curves.iter().filter(|other| word(other) == curve).count() {
            1 => String::new(),
            _ => format!("{}-", slot.curve + 1),
        };
        directory
            .join(RUNS_DIRECTORY)
            .join(format!("{}-{}", slot.point.family + 1, name_of_set(self.outline, slot.point, slot.index)))
            .join(format!("{number}{curve}-{}", slot.repetition + 1))
    }
}
