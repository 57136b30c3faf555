//! What all studies have in common: trials for every scheduler, number of CPUs and number of tasks, measured here or in virtual
//! machines, and gone on with where they were interrupted.

use crate::arguments::{value, whole};
use crate::commands::check_length;
use crate::commands::vm::memory;
use crate::output;
use crate::study::{
    Batching, Cap, Conditions, Contender, Kind, Machines, Numbers, PAGE_FILE, State, TRIALS_DIRECTORY, Trial,
    check_cpus, measure_here, measure_in_machines,
};
use clap::Args;
use laxity_generate::Decimal;
use laxity_lab::schedulers::NamedScheduler;
use laxity_model::{
    ByteSize, Diagnostic, Duration, OutputDirectory, Platform, Result, ShownPath as _, is_begun,
    json_in_plain_words, plural, read_file,
};
use laxity_vm::{Flavour, KernelChoice, Line};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// What every study takes, beside its schedulers.
#[derive(Args)]
pub struct SweepArguments {
    /// Numbers of CPUs m, such as 8,16,32; default: all of this machine, 2 in virtual machines, 1 where instructions are counted
    #[arg(help_heading = "Machine", long, value_name = "NUMBERS", value_parser = value::<Numbers>)]
    pub cpu_counts: Option<Numbers>,
    /// Numbers of tasks per CPU n: there are n m tasks
    #[arg(help_heading = "Workload", long, value_name = "NUMBERS", default_value = "1,2,4,6,8,10,12,14,16,18,20", value_parser = value::<Numbers>)]
    pub tasks: Numbers,
    /// Task sets of each size
    #[arg(help_heading = "Workload", long, value_name = "N", default_value_t = 1, value_parser = whole::<u32>(1..=1_000))]
    pub sets: u32,
    /// How long each run releases jobs; default: 10s, 2s where instructions are counted
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub duration: Option<Duration>,
    /// What tasks may ask for, as a share of the CPUs that every scheduler lets tasks use
    ///
    /// Without it, 0.5 (study overheads) or 0.9 (study schedules).
    #[arg(help_heading = "Workload", long, value_name = "SHARE", value_parser = load)]
    pub load: Option<Cap>,
    /// Whether laxity's own policies release jobs of one instant together: on, off, or off,on
    ///
    /// off,on measures both, side by side. SCHED_DEADLINE does not release them together.
    #[arg(help_heading = "Schedulers", long, value_name = "SWITCH", default_value = "off", value_parser = value::<Batching>)]
    pub batching: Batching,
    /// Measure in virtual machines that have as many CPUs
    #[arg(help_heading = "Machine", long)]
    pub vm: bool,
    /// The virtual machines' kernel image
    #[arg(help_heading = "Machine", long, value_name = "FILE", conflicts_with = "kernel_line")]
    pub kernel: Option<PathBuf>,
    /// The newest good kernel of this line for virtual machines
    #[arg(help_heading = "Machine", long, value_name = "LINE", default_value_t = Line::long_term(), value_parser = value::<Line>)]
    pub kernel_line: Line,
    /// Memory of a virtual machine
    #[arg(help_heading = "Machine", long, value_name = "SIZE", default_value = "2G", value_parser = memory)]
    pub memory: ByteSize,
    /// Seed of everything random
    #[arg(help_heading = "Workload", long, allow_hyphen_values = true, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX))]
    pub seed: u64,
    /// The study's directory; default: laxity-results/ and the study's name
    #[arg(help_heading = "Output", short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only these trials, into the directory itself: how a virtual machine is told what to measure
    #[arg(long, hide = true, value_delimiter = ',', value_parser = value::<Trial>)]
    pub trials: Vec<Trial>,
}

/// A share of one, in thousandths.
fn load(text: &str) -> std::result::Result<Cap, String> {
    let wrong = || format!("`{text}` is no share of the CPUs\nhint: between 0.01 and 0.9, such as 0.5");
    let _: Decimal = text.parse().map_err(|_| wrong())?;
    let share: f64 = text.parse().map_err(|_| wrong())?;
    if !(0.01..=0.9).contains(&share) {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 10 and 900")]
    let thousandths = (share * 1_000.0).round() as u32;
    Ok(Cap(thousandths))
}

/// What a directory's trials were measured with: they are only taken together with such.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Description {
    version: u32,
    #[serde(default = "first_study")]
    study: String,
    duration: String,
    seed: u64,
    load_permille: u32,
    batching: bool,
    functions: bool,
    place: String,
}

const DESCRIPTION_FILE: &str = "study.json";

/// Descriptions that do not say whose they are.
fn first_study() -> String {
    "overheads".to_owned()
}

/// Where a study is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// On this machine.
    Here,
    /// In virtual machines.
    Machines,
    /// In virtual machines that count instructions.
    Counted,
}

/// A study: what its command line comes to.
pub struct Sweep<'a> {
    /// The command line.
    pub arguments: &'a SweepArguments,
    /// The schedulers, each once, or both ways.
    pub schedulers: Vec<Contender>,
    /// What all trials have in common.
    pub conditions: Conditions,
    /// Where.
    pub place: Where,
}

impl<'a> Sweep<'a> {
    /// Checks the command line.
    ///
    /// # Errors
    ///
    /// Runs that are too long; a kernel for this machine.
    pub fn new(
        arguments: &'a SweepArguments,
        schedulers: &[NamedScheduler],
        kind: Kind,
        load_default: Cap,
        place: Where,
    ) -> Result<Sweep<'a>> {
        let default = if place == Where::Counted { Duration::from_secs(2) } else { Duration::from_secs(10) };
        let duration = arguments.duration.unwrap_or(default);
        check_length(duration, None)?;
        if let (Some(file), Where::Here) = (&arguments.kernel, place) {
            return Err(Diagnostic::usage(format!(
                "--kernel {} is for virtual machines, and this study is measured on this machine",
                file.shown()
            ))
            .hint("add --vm, or leave out --kernel"));
        }
        let schedulers = Contender::each(schedulers, arguments.batching);
        let conditions = Conditions {
            duration,
            seed: arguments.seed,
            cap: arguments.load.unwrap_or(load_default),
            batching: arguments.batching == Batching::On,
            kind,
            quiet: output::quiet(),
        };
        Ok(Sweep { arguments, schedulers, conditions, place })
    }

    /// Names of the schedulers.
    pub fn names(&self) -> Vec<String> {
        self.schedulers.iter().map(|scheduler| scheduler.name.clone()).collect()
    }

    /// The study's directory.
    pub fn directory(&self) -> PathBuf {
        let default = || Path::new("laxity-results").join(self.conditions.kind.name());
        self.arguments.out.clone().unwrap_or_else(default)
    }

    /// Where its trials are.
    pub fn folder(&self) -> PathBuf {
        self.directory().join(TRIALS_DIRECTORY)
    }

    /// Measures what is left of the trials; whether all were tried, or an interruption came first.
    ///
    /// # Errors
    ///
    /// The directory is another study's; nothing can be measured here at all.
    pub fn measure(&self, trials: &[Trial], interrupt: &'static AtomicBool) -> Result<bool> {
        let directory = self.directory();
        self.check_kernel()?;
        if self.place == Where::Here {
            check_cpus(trials)?;
        }
        check_description(&directory, &self.description())?;
        let folder = self.folder();
        let left = left_over(trials, &folder)?;
        if !self.conditions.quiet {
            self.announce(trials, &left);
        }
        match self.machines() {
            _ if left.is_empty() => Ok(true),
            Some(machines) => measure_in_machines(&left, &directory, &machines, &self.conditions, interrupt),
            None => measure_here(&left, &folder, &self.conditions, interrupt),
        }
    }

    /// In a virtual machine: the trials that it is told, and nothing else.
    ///
    /// # Errors
    ///
    /// As [`Sweep::measure`].
    pub fn measure_inside(&self, interrupt: &'static AtomicBool) -> Result<ExitCode> {
        let folder = self.arguments.out.clone().unwrap_or_else(|| PathBuf::from(TRIALS_DIRECTORY));
        let trials: Vec<&Trial> = self.arguments.trials.iter().collect();
        let all = measure_here(&trials, &folder, &self.conditions, interrupt)?;
        Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(output::INTERRUPTED) })
    }

    /// A kernel that is named is one: not every trial has to find out that it is not.
    fn check_kernel(&self) -> Result<()> {
        let Some(file) = &self.arguments.kernel else { return Ok(()) };
        let kernel = laxity_vm::preflight(file)?;
        kernel.require().map_err(|why| {
            why.hint("name another one, or leave out --kernel: a good one is found or fetched")
        })
    }

    fn machines(&self) -> Option<Machines> {
        let arguments = self.arguments;
        (self.place != Where::Here).then(|| Machines {
            kernel: match &arguments.kernel {
                Some(file) => KernelChoice::File(file.clone()),
                None => KernelChoice::Line {
                    line: arguments.kernel_line.clone(),
                    flavour: Flavour::Cloud,
                    offline: false,
                },
            },
            memory_mib: arguments.memory.0 >> 20,
            deterministic: self.place == Where::Counted,
        })
    }

    fn cpus(&self) -> Result<Vec<u32>> {
        Ok(match (&self.arguments.cpu_counts, self.place) {
            (Some(numbers), _) => numbers.0.clone(),
            (None, Where::Counted) if self.conditions.kind != Kind::Schedules => vec![1],
            (None, Where::Machines | Where::Counted) => vec![2],
            (None, Where::Here) => {
                vec![u32::try_from(Platform::this_machine()?.core_count()).unwrap_or(u32::MAX)]
            }
        })
    }

    /// All trials: one scheduler after the other for each number of CPUs. Where no number of CPUs was asked for, a
    /// scheduler that
    /// dedicates one has two.
    ///
    /// # Errors
    ///
    /// This machine cannot be read.
    pub fn trials(&self) -> Result<Vec<Trial>> {
        let mut trials = Vec::new();
        for cpus in self.cpus()? {
            for scheduler in &self.schedulers {
                for &tasks_per_cpu in &self.arguments.tasks.0 {
                    for set in 0..self.arguments.sets {
                        let mut trial = Trial { scheduler: scheduler.clone(), cpus, tasks_per_cpu, set };
                        if self.arguments.cpu_counts.is_none() && trial.impossible().is_some() {
                            trial.cpus = 2;
                        }
                        trials.push(trial);
                    }
                }
            }
        }
        Ok(trials)
    }

    fn description(&self) -> Description {
        Description {
            version: 1,
            study: self.conditions.kind.name().to_owned(),
            duration: self.conditions.duration.to_string(),
            seed: self.conditions.seed,
            load_permille: self.conditions.cap.0,
            batching: self.conditions.batching,
            functions: self.conditions.kind.functions(),
            place: match self.place {
                Where::Here => "this machine",
                Where::Machines => "virtual machines",
                Where::Counted => "virtual machines that count instructions",
            }
            .to_owned(),
        }
    }

    fn announce(&self, trials: &[Trial], left: &[&Trial]) {
        let done = trials.len() - left.len();
        let number = f64::from(u32::try_from(left.len()).unwrap_or(u32::MAX));
        let minutes = self.conditions.duration.as_secs_f64() * number / 60.0;
        output::say(format_args!(
            "{}, {done} of them done or impossible; the others take {minutes:.1} min or more in all",
            plural(trials.len(), "run")
        ));
    }

    /// What is measured and under which load, in words.
    pub fn workload_in_words(&self) -> Vec<String> {
        let conditions = &self.conditions;
        vec![
            format!(
                "Each point is {} of {} with the task sets of ackelman2018, 6.2: periods uniform in [10 ms, 100 ms], \
                 utilizations uniform in [0.001, 0.1], synchronous release, seed {}. Where they ask for more than {} of the CPUs \
                 (less one, if there are several, as some schedulers dedicate one), all WCETs are scaled down to that.",
                plural(self.arguments.sets, "run"),
                conditions.duration,
                conditions.seed,
                f64::from(conditions.cap.0) / 1_000.0
            ),
            match self.arguments.batching {
                Batching::Off => "Jobs of one release instant are released one by one.",
                Batching::On => "Jobs of one release instant are released together (SCHED_DEADLINE and SCHED_FIFO do not).",
                Batching::Both => {
                    "Jobs of one release instant are released one by one; by schedulers that are called +batching, together."
                }
            }
            .to_owned(),
        ]
    }

    /// Nothing was measured, or recorded: why.
    ///
    /// # Errors
    ///
    /// The reasons, unless it was interrupted.
    pub fn nothing(&self, what: &str, refused: &[(Trial, String)], all: bool) -> Result<ExitCode> {
        if !all {
            output::say(format_args!("interrupted before anything was {what}"));
            return Ok(ExitCode::from(output::INTERRUPTED));
        }
        let mut reasons: Vec<&str> = refused.iter().map(|(_, why)| why.as_str()).collect();
        reasons.dedup();
        let help = match self.place {
            Where::Here => {
                format!("laxity study {} --vm measures in virtual machines", self.conditions.kind.name())
            }
            Where::Machines | Where::Counted => "mend that; the same command tries again".to_owned(),
        };
        Err(Diagnostic::environment(format!("nothing could be {what}: {}", reasons.join("; "))).hint(help))
    }

    /// Says what could not be measured and where the page is, and whether the study is whole.
    pub fn conclude(&self, refused: &[(Trial, String)]) {
        let mut said: Vec<(&str, &str)> = Vec::new();
        for (trial, why) in refused {
            if !said.contains(&(&trial.scheduler.name, why)) {
                said.push((&trial.scheduler.name, why));
                output::say(format_args!("{} not measured: {why}", trial.scheduler));
            }
        }
        let page = self.directory().join(PAGE_FILE);
        output::note(format_args!("report: {}", page.canonicalize().unwrap_or(page).shown()));
    }
}

/// The exit code of a study of which so many trials are left, although all were tried or because an interruption came.
pub fn ended(all: bool, open: usize) -> ExitCode {
    if all {
        return ExitCode::SUCCESS;
    }
    let left = plural(open, "run");
    output::say(format_args!("interrupted with {left} to go; the same command continues there"));
    ExitCode::from(output::INTERRUPTED)
}

/// Trials in one directory are measured alike.
fn check_description(directory: &Path, description: &Description) -> Result<()> {
    let path = directory.join(DESCRIPTION_FILE);
    if is_begun(directory, DESCRIPTION_FILE, "study")? {
        let known: Description = read_file(&path, |text| {
            serde_json::from_str(text).map_err(|error| {
                Diagnostic::usage(json_in_plain_words(&error)).hint("choose another directory")
            })
        })?;
        if known != *description {
            return Err(Diagnostic::usage(format!(
                "{} has runs of another study: {}",
                directory.shown(),
                differences(&known, description)
            ))
            .hint("choose another directory, or the same options"));
        }
        return Ok(());
    }
    let text = serde_json::to_string_pretty(description).expect("serializes") + "\n";
    OutputDirectory::create(directory)?.write(DESCRIPTION_FILE, text.as_bytes())
}

/// What differs between two descriptions: `duration 10s there, 2s asked for`.
fn differences(there: &Description, asked: &Description) -> String {
    let fields = |description: &Description| match serde_json::to_value(description) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let plain = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (there, asked) = (fields(there), fields(asked));
    let differs = there.iter().filter_map(|(name, value)| {
        let other = asked.get(name).filter(|other| *other != value)?;
        Some(format!("{} {} there, {} asked for", name.replace('_', " "), plain(value), plain(other)))
    });
    differs.collect::<Vec<_>>().join("; ")
}

/// Trials that are still to be measured; those that no machine can run are refused at once.
fn left_over<'c>(trials: &'c [Trial], folder: &Path) -> Result<Vec<&'c Trial>> {
    let mut left = Vec::new();
    for trial in trials.iter().filter(|trial| trial.state(folder) != State::Measured) {
        match trial.impossible() {
            Some(why) => trial.refuse(folder, &why)?,
            None => left.push(trial),
        }
    }
    Ok(left)
}
