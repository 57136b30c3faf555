//! `laxity study`.

use super::unique;
use super::vm::memory;
use crate::arguments::{switch, value};
use crate::overheads::Probes;
use crate::simulation::NamedScheduler;
use crate::study::{
    CELLS_DIRECTORY, Cap, Cell, Conditions, Evaluation, Machines, Numbers, PAGE_FILE, State, TABLE_FILE,
    Told, Unit, measure_here, measure_in_machines, ns_per_instruction,
};
use crate::{interrupt, output};
use clap::{Args, Subcommand};
use laxity_generate::Decimal;
use laxity_model::{ByteSize, Diagnostic, Duration, Platform, Result};
use laxity_vm::{Flavour, KernelChoice, Line};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `laxity study`.
#[derive(Args)]
pub struct StudyArguments {
    /// Of what.
    #[command(subcommand)]
    pub study: Study,
}

/// The studies.
#[derive(Subcommand)]
pub enum Study {
    /// What scheduling costs in the kernel, against the numbers of tasks and CPUs.
    Overheads(Box<OverheadsArguments>),
}

/// `laxity study overheads`.
#[derive(Args)]
#[command(after_help = "\
Measures releases, interrupts, scheduling decisions, context switches and ticks under every scheduler, for n tasks per CPU \
and m CPUs, with the workload of ackelman2018, 6.2 (periods of 10 to 100 ms, utilizations of 0.001 to 0.1 each, scaled down \
where they exceed --load). The directory gets a page with figures (report.html), a table of all numbers (overheads.csv), for \
every scheduler costs that `laxity simulate --costs` takes (costs/), and every run as a results directory (cells/). Called \
again with the same directory it goes on where it was interrupted.

Examples:
  sudo laxity study overheads --cpus 8,16,24,32,48,64 -o overheads     a machine with 64 cores and sched_ext
  laxity study overheads --vm --cpus 1,2,4 -o overheads                any machine that has QEMU
  laxity study overheads --instructions -o instructions                counted, not timed: the same everywhere")]
pub struct OverheadsArguments {
    /// The schedulers, separated by commas
    #[arg(long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', default_value = "edf-bh,edf-rbt,fpp,gsn-edf,gsn-edf-di,g-edf-mp,push-pull,g-edf", value_parser = value::<NamedScheduler>)]
    pub schedulers: Vec<NamedScheduler>,
    /// Numbers of CPUs m, such as 8,16,32; default: all of this machine, 2 with --vm, 1 with --instructions
    #[arg(long, value_name = "NUMBERS", value_parser = value::<Numbers>)]
    pub cpus: Option<Numbers>,
    /// Numbers of tasks per CPU n: there are n m tasks
    #[arg(long, value_name = "NUMBERS", default_value = "1,2,4,6,8,10,12,14,16,18,20", value_parser = value::<Numbers>)]
    pub tasks: Numbers,
    /// Task sets of each size
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub sets: u32,
    /// How long each run releases jobs; default: 10s, 2s with --instructions
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub duration: Option<Duration>,
    /// What tasks may ask for, as a share of the CPUs that every scheduler lets tasks use
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = load)]
    pub load: Cap,
    /// Whether laxity's own policies release jobs of one instant together: on or off (SCHED_DEADLINE does not)
    #[arg(long, value_name = "SWITCH", default_value = "off", action = clap::ArgAction::Set, value_parser = switch)]
    pub batching: bool,
    /// Also time the functions of scheduling classes (lelli2012, Table 6), which makes what is around them longer
    #[arg(long)]
    pub functions: bool,
    /// Measure in virtual machines that have as many CPUs
    #[arg(long)]
    pub vm: bool,
    /// Count instructions in virtual machines instead of measuring time
    #[arg(long)]
    pub instructions: bool,
    /// The virtual machines' kernel image
    #[arg(long, value_name = "FILE", conflicts_with = "kernel_line")]
    pub kernel: Option<PathBuf>,
    /// The newest good kernel of this line for virtual machines
    #[arg(long, value_name = "LINE", default_value_t = Line::long_term(), value_parser = value::<Line>)]
    pub kernel_line: Line,
    /// Memory of a virtual machine
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = memory)]
    pub memory: ByteSize,
    /// Seed of everything random
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The study's directory; default: laxity-results/overheads
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Only these cells, into the directory itself: how a virtual machine is told what to measure
    #[arg(long, hide = true, value_delimiter = ',', value_parser = value::<Cell>)]
    pub cells: Vec<Cell>,
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

/// What a directory's cells were measured with: they are only taken together with such.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Description {
    version: u32,
    duration: String,
    seed: u64,
    load_permille: u32,
    batching: bool,
    functions: bool,
    place: String,
}

const DESCRIPTION_FILE: &str = "study.json";

pub fn study(arguments: &StudyArguments) -> Result<ExitCode> {
    match &arguments.study {
        Study::Overheads(arguments) if !arguments.cells.is_empty() => inside(arguments),
        Study::Overheads(arguments) => overheads(arguments),
    }
}

impl OverheadsArguments {
    fn conditions(&self) -> Result<Conditions> {
        let default = if self.instructions { Duration::from_secs(2) } else { Duration::from_secs(10) };
        let duration = self.duration.unwrap_or(default);
        super::check_length(duration, None)?;
        Ok(Conditions {
            duration,
            seed: self.seed,
            cap: self.load,
            batching: self.batching,
            probes: if self.functions { Probes::Functions } else { Probes::Events },
            quiet: self.quiet,
        })
    }

    fn machines(&self) -> Option<Machines> {
        (self.vm || self.instructions).then(|| Machines {
            kernel: match &self.kernel {
                Some(file) => KernelChoice::File(file.clone()),
                None => KernelChoice::Line {
                    line: self.kernel_line.clone(),
                    flavour: Flavour::Cloud,
                    offline: false,
                },
            },
            memory_mib: self.memory.0 >> 20,
            deterministic: self.instructions,
        })
    }

    fn cpus(&self) -> Result<Vec<u32>> {
        Ok(match &self.cpus {
            Some(numbers) => numbers.0.clone(),
            None if self.instructions => vec![1],
            None if self.vm => vec![2],
            None => vec![u32::try_from(Platform::this_machine()?.core_count()).unwrap_or(u32::MAX)],
        })
    }

    /// All cells: one scheduler after the other for each number of CPUs. Where no number of CPUs was asked for, a scheduler that
    /// dedicates one has two.
    fn all_cells(&self, schedulers: &[NamedScheduler]) -> Result<Vec<Cell>> {
        let mut cells = Vec::new();
        for cpus in self.cpus()? {
            for scheduler in schedulers {
                for &tasks_per_cpu in &self.tasks.0 {
                    for set in 0..self.sets {
                        let mut cell = Cell { scheduler: scheduler.clone(), cpus, tasks_per_cpu, set };
                        if self.cpus.is_none() && cell.impossible().is_some() {
                            cell.cpus = 2;
                        }
                        cells.push(cell);
                    }
                }
            }
        }
        Ok(cells)
    }
}

/// What times are in a machine that counts: two nanoseconds for each instruction (`laxity_vm`).
const COUNTED: Unit = Unit::Instructions { ns_each: 2 };

/// The machine counts as `COUNTED` says.
fn check_unit() -> Result<()> {
    let counts = Unit::Instructions { ns_each: ns_per_instruction()? };
    if counts == COUNTED {
        return Ok(());
    }
    Err(Diagnostic::environment(format!("this machine counts {counts:?}, not {COUNTED:?}"))
        .hint("report this as a bug in laxity"))
}

/// In a virtual machine: the cells, and nothing else.
fn inside(arguments: &OverheadsArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from(CELLS_DIRECTORY));
    let cells: Vec<&Cell> = arguments.cells.iter().collect();
    if arguments.instructions {
        check_unit()?;
    }
    let all = measure_here(&cells, &folder, &arguments.conditions()?, &interrupt)?;
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(output::INTERRUPTED) })
}

fn overheads(arguments: &OverheadsArguments) -> Result<ExitCode> {
    let conditions = arguments.conditions()?;
    let machines = arguments.machines();
    let schedulers = unique(arguments.schedulers.iter().cloned());
    let directory = arguments.out.clone().unwrap_or_else(|| PathBuf::from("laxity-results/overheads"));
    let interrupt = interrupt::flag()?;
    check_description(&directory, &description(arguments, &conditions, machines.as_ref()))?;
    let cells = arguments.all_cells(&schedulers)?;
    let folder = directory.join(CELLS_DIRECTORY);
    let left = left_over(&cells, &folder)?;
    if !conditions.quiet {
        announce(&cells, &left, &conditions);
    }
    let all = match &machines {
        _ if left.is_empty() => true,
        Some(machines) => measure_in_machines(&left, &directory, machines, &conditions, &interrupt)?,
        None => measure_here(&left, &folder, &conditions, &interrupt)?,
    };
    let names: Vec<String> = schedulers.iter().map(|scheduler| scheduler.name.clone()).collect();
    let evaluation = Evaluation::of(&cells, &names, &folder, conditions.duration, conditions.seed)?;
    if evaluation.places.is_empty() {
        return nothing_measured(&evaluation, all);
    }
    let unit = if arguments.instructions { COUNTED } else { Unit::Time };
    let method = method(arguments, &conditions, machines.as_ref());
    Told { schedulers: &schedulers, evaluation: &evaluation, unit, method }.write(&directory)?;
    conclude(&directory, &evaluation, all)
}

fn description(
    arguments: &OverheadsArguments,
    conditions: &Conditions,
    machines: Option<&Machines>,
) -> Description {
    Description {
        version: 1,
        duration: conditions.duration.to_string(),
        seed: conditions.seed,
        load_permille: conditions.cap.0,
        batching: conditions.batching,
        functions: arguments.functions,
        place: match machines {
            None => "this machine".to_owned(),
            Some(machines) if machines.deterministic => "virtual machines that count instructions".to_owned(),
            Some(_) => "virtual machines".to_owned(),
        },
    }
}

/// Cells in one directory are measured alike.
fn check_description(directory: &Path, description: &Description) -> Result<()> {
    std::fs::create_dir_all(directory).map_err(|error| output::cannot_write(directory, &error))?;
    let path = directory.join(DESCRIPTION_FILE);
    if let Ok(text) = std::fs::read_to_string(&path) {
        let known: Description = serde_json::from_str(&text).map_err(|error| {
            Diagnostic::usage(format!("{} cannot be read: {error}", path.display()))
                .hint("choose another directory")
        })?;
        if known != *description {
            return Err(Diagnostic::usage(format!(
                "{} has cells of another study: {known:?}, not {description:?}",
                directory.display()
            ))
            .hint("choose another directory, or the same options"));
        }
        return Ok(());
    }
    let text = serde_json::to_string_pretty(description).expect("serializes") + "\n";
    output::write_file(&path, &text)
}

/// Cells that are still to be measured; those that no machine can run are refused at once.
fn left_over<'a>(cells: &'a [Cell], folder: &Path) -> Result<Vec<&'a Cell>> {
    let mut left = Vec::new();
    for cell in cells.iter().filter(|cell| cell.state(folder) != State::Measured) {
        match cell.impossible() {
            Some(why) => cell.refuse(folder, &why)?,
            None => left.push(cell),
        }
    }
    Ok(left)
}

fn announce(cells: &[Cell], left: &[&Cell], conditions: &Conditions) {
    let done = cells.len() - left.len();
    let minutes =
        conditions.duration.as_secs_f64() * f64::from(u32::try_from(left.len()).unwrap_or(u32::MAX)) / 60.0;
    output::say(format_args!(
        "{} cells, {done} of them done or impossible; the others run for {minutes:.1} min in all, and take longer",
        cells.len()
    ));
}

fn method(
    arguments: &OverheadsArguments,
    conditions: &Conditions,
    machines: Option<&Machines>,
) -> Vec<String> {
    let mut words = vec![
        format!(
            "Each point is {} run(s) of {} with the task sets of ackelman2018, 6.2: periods uniform in [10 ms, 100 ms], \
             utilizations uniform in [0.001, 0.1], synchronous release, seed {}. Where they ask for more than {} of the CPUs \
             (less one, if there are several, as some schedulers dedicate one), all WCETs are scaled down to that.",
            arguments.sets,
            conditions.duration,
            conditions.seed,
            f64::from(conditions.cap.0) / 1_000.0
        ),
        format!(
            "Jobs of one release instant are released {}. Samples during which their CPU was interrupted are counted and enter \
             nothing else.",
            if conditions.batching { "together" } else { "one by one" }
        ),
        "Releases of SCHED_DEADLINE, SCHED_FIFO and ordinary sleepers are the kernel's timer handlers; those of laxity's own \
         policies are the host's release interrupt, from its entry until all that is due is queued and CPUs are asked to \
         reschedule. Scheduling decisions are measured alike for all, at the kernel's tracepoints. An interrupt within a release of laxity's \
         own policies with one lock is in the sample; elsewhere it sets the sample apart."
            .to_owned(),
    ];
    words.push(match machines {
        Some(machines) if machines.deterministic => {
            "The machine counts instructions (QEMU, -icount shift=1): its clocks advance by 2 ns for every instruction and by \
             nothing else while it works, so a time between two stamps is exactly twice a number of instructions of its \
             processor, those of the kernel and of compiled BPF alike. Caches, memory and contention do not exist in it. With \
             two CPUs their instructions are counted in turns: what one CPU does may then be in a sample of the other, and \
             medians say more than means."
                .to_owned()
        }
        Some(_) => "Measured in virtual machines. Without KVM their processors are emulated: times compare schedulers with \
                    each other at best."
            .to_owned(),
        None => "Measured on this machine.".to_owned(),
    });
    words
}

fn nothing_measured(evaluation: &Evaluation, all: bool) -> Result<ExitCode> {
    if !all {
        output::say("interrupted before anything was measured");
        return Ok(ExitCode::from(output::INTERRUPTED));
    }
    let mut reasons: Vec<&str> = evaluation.refused.iter().map(|(_, why)| why.as_str()).collect();
    reasons.dedup();
    Err(Diagnostic::environment(format!("nothing could be measured: {}", reasons.join("; ")))
        .hint("laxity study overheads --vm measures in virtual machines"))
}

fn conclude(directory: &Path, evaluation: &Evaluation, all: bool) -> Result<ExitCode> {
    let mut said: Vec<(&str, &str)> = Vec::new();
    for (cell, why) in &evaluation.refused {
        if !said.contains(&(&cell.scheduler.name, why)) {
            said.push((&cell.scheduler.name, why));
            output::say(format_args!("{} not measured: {why}", cell.scheduler));
        }
    }
    let page = directory.join(PAGE_FILE);
    output::say(format_args!("report: {}", page.canonicalize().unwrap_or(page).display()));
    output::print(&format!("{}\n", directory.join(TABLE_FILE).display()))?;
    if !all {
        output::say(format_args!(
            "interrupted: {} cells are left; the same command goes on with them",
            evaluation.open
        ));
        return Ok(ExitCode::from(output::INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
