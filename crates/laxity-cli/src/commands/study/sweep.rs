//! What the command lines of studies of trials have in common, and what is said at their end.

use crate::arguments::{value, whole};
use crate::commands::check_length;
use crate::commands::vm::{memory, own_file};
use crate::machine_terminal::Terminal;
use crate::{output, terminal};
use clap::Args;
use laxity_generate::Decimal;
use laxity_lab::schedulers::Configuration;
use laxity_lab::study::{
    Batching, Cap, Contender, Grid, Kind, Machines, Numbers, PAGE_FILE, Sweep, Trial, Where,
};
use laxity_model::{ByteSize, Diagnostic, Duration, Result, ShownPath as _, plural};
use laxity_vm::{Flavour, KernelChoice, Line};
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
    /// Make the CPUs of the runs quiet while they are made, as far as their machine lets it, and put all back
    ///
    /// As `laxity run --quiet-machine`; with --vm, in the virtual machines.
    #[arg(help_heading = "Machine", long)]
    pub quiet_machine: bool,
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

impl SweepArguments {
    /// The study, checked.
    ///
    /// # Errors
    ///
    /// Runs that are too long; a kernel for this machine; a system that does not say where this program is.
    pub fn sweep(
        &self,
        schedulers: &[Configuration],
        kind: Kind,
        load_default: Cap,
        place: Where,
    ) -> Result<Sweep> {
        let default = if place == Where::Counted { Duration::from_secs(2) } else { Duration::from_secs(10) };
        let duration = self.duration.unwrap_or(default);
        check_length(duration, None)?;
        if let (Some(file), Where::Here) = (&self.kernel, place) {
            return Err(Diagnostic::usage(format!(
                "--kernel {} is for virtual machines, and this study is measured on this machine",
                file.shown()
            ))
            .hint("add --vm, or leave out --kernel"));
        }
        Ok(Sweep {
            schedulers: Contender::each(schedulers, self.batching),
            batching: self.batching,
            cpu_counts: self.cpu_counts.as_ref().map(|numbers| numbers.0.clone()),
            tasks_per_cpu: self.tasks.0.clone(),
            sets: self.sets,
            duration,
            seed: self.seed,
            cap: self.load.unwrap_or(load_default),
            kind,
            place,
            quiet_machine: self.quiet_machine,
            machines: self.machines(place)?,
            directory: self.out.clone().unwrap_or_else(|| Path::new("laxity-results").join(kind.name())),
        })
    }

    fn machines(&self, place: Where) -> Result<Machines> {
        Ok(Machines {
            program: own_file()?,
            kernel: match &self.kernel {
                Some(file) => KernelChoice::File(file.clone()),
                None => KernelChoice::Line {
                    line: self.kernel_line.clone(),
                    flavour: Flavour::Cloud,
                    offline: false,
                },
            },
            memory_mib: self.memory.0 >> 20,
            deterministic: place == Where::Counted,
            quiet: output::quiet(),
        })
    }
}

/// Measures what is left of the trials; whether all were tried, or an interruption came first.
///
/// # Errors
///
/// As [`Sweep::measure`].
pub fn measured(sweep: &Sweep, grid: &Grid, interrupt: &'static AtomicBool) -> Result<bool> {
    let mut machines = Terminal::new(output::quiet(), false);
    sweep.measure(grid, (&terminal::caller(), &mut machines), interrupt)
}

/// Nothing was measured, or recorded: why.
///
/// # Errors
///
/// The reasons, unless it was interrupted.
pub fn nothing(sweep: &Sweep, what: &str, refused: &[(Trial, String)], all: bool) -> Result<ExitCode> {
    if !all {
        return Ok(output::interrupted(format_args!(" before anything was {what}")));
    }
    let mut reasons: Vec<&str> = refused.iter().map(|(_, why)| why.as_str()).collect();
    reasons.dedup();
    let help = match sweep.place {
        Where::Here => {
            format!("laxity study {} --vm measures in virtual machines", sweep.kind.name())
        }
        Where::Machines | Where::Counted => "mend that; the same command tries again".to_owned(),
    };
    Err(Diagnostic::environment(format!("nothing could be {what}: {}", reasons.join("; "))).hint(help))
}

/// Says what could not be measured and where the page is, and whether the study is whole.
pub fn conclude(sweep: &Sweep, refused: &[(Trial, String)]) {
    let mut said: Vec<(&str, &str)> = Vec::new();
    for (trial, why) in refused {
        if !said.contains(&(&trial.scheduler.name, why)) {
            said.push((&trial.scheduler.name, why));
            output::say(format_args!("{} not measured: {why}", trial.scheduler));
        }
    }
    output::note_page(&sweep.directory.join(PAGE_FILE));
}

/// The exit code of a study of which so many trials are left, although all were tried or because an interruption came.
pub fn ended(all: bool, open: usize) -> ExitCode {
    if all {
        return ExitCode::SUCCESS;
    }
    let left = plural(open, "run");
    output::interrupted(format_args!(" with {left} to go; the same command continues there"))
}
