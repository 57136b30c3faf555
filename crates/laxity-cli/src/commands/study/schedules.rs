//! `laxity study schedules`.

use super::sweep::{SweepArguments, conclude, ended, measured, nothing};
use crate::arguments::{ExcuseArguments, simulated};
use crate::commands::unique;
use crate::{interrupt, output};
use clap::Args;
use laxity_lab::schedulers::Configuration;
use laxity_lab::study::schedules::{Answer, Evaluation, StudyOutputs, TABLE_FILE};
use laxity_lab::study::{Cap, Kind, Sweep, Where};
use laxity_model::{Duration, Result, ShownPath as _, plural};
use laxity_oracle::ExcuseLimits;
use std::process::ExitCode;

/// `laxity study schedules`.
#[derive(Args)]
#[command(after_long_help = "\
Runs n tasks per CPU on m CPUs under every scheduler, with the workload of ackelman2018, 6.2 (periods of 10 to 100 ms, \
utilizations of 0.001 to 0.1 each, scaled down where they exceed --load), records what the kernel does, and has the oracles check \
every decision: a job that waits although it should run needs a reason that was measured in that very run. The directory gets a \
page with tables and figures (report.html): what was checked, what was excused and by what, what was violated and for how long, \
and how the jobs ended. It also gets a table with a row per run (schedules.csv), and every run as a results directory (with two CPUs in m2/runs/; \
m2/kernels.json is the study that they are of): \
`laxity verify DIR/m2/runs/1-8-0/g-edf-1` says more about one. Called again with the same directory it goes on where it was \
interrupted, and tries again what could not be measured. Each run takes --duration and some seconds more; in emulated machines, \
minutes.

If too much of a schedule is excused for a verdict (--excuse-limit, --excuse-share), that is said. In virtual machines, whose CPUs \
take turns, 50ms and 0.5 are allowed by default.

Exit codes: 0 no violation; 1 violations; 2 usage or input; 3 nothing could be recorded; 4 no violation, and a schedule without a \
verdict; 130 interrupted.

Examples:
  # a machine with 64 CPUs and sched_ext
  sudo laxity study schedules --cpu-counts 8,16,32,64 --sets 10 --duration 1m \\
      -o schedules
  # any machine that has QEMU; a small one first
  laxity study schedules --deterministic --cpu-counts 2 --tasks 2 \\
      --schedulers fpp,g-edf -o small
  laxity study schedules --deterministic --cpu-counts 2,4,8 --load 0.5 \\
      -o schedules
  # a machine that has KVM, or little else to do
  laxity study schedules --vm --cpu-counts 2 --duration 3s -o schedules")]
pub struct SchedulesArguments {
    /// The schedulers, separated by commas or given several times
    #[arg(help_heading = "Schedulers", long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', default_value = "edf-bh,edf-rbt,fpp,gsn-edf,gsn-edf-di,g-edf-mp,push-pull,g-edf", value_parser = simulated)]
    pub schedulers: Vec<Configuration>,
    /// Measure in virtual machines whose time is the number of instructions: however busy their host is
    #[arg(help_heading = "Machine", long)]
    pub deterministic: bool,
    /// Print JSON: every run with its metrics, its windows and what the oracles say
    #[arg(help_heading = "Output", long)]
    pub json: bool,
    #[command(flatten)]
    pub excuses: ExcuseArguments,
    #[command(flatten)]
    pub sweep: SweepArguments,
}

/// The more tasks compete, the more there is to decide; every scheduler admits this.
const LOAD: Cap = Cap(900);

pub fn schedules(arguments: &SchedulesArguments) -> Result<ExitCode> {
    let place = match (arguments.deterministic, arguments.sweep.vm) {
        (true, _) => Where::Counted,
        (false, true) if laxity_vm::counts_by_default()? => Where::Counted,
        (false, true) => Where::Machines,
        (false, false) => Where::Here,
    };
    let schedulers = unique(arguments.schedulers.iter().cloned());
    let sweep = arguments.sweep.sweep(&schedulers, Kind::Schedules, LOAD, place)?;
    let interrupt = interrupt::flag()?;
    let grid = sweep.grid()?;
    let all = measured(&sweep, &grid, interrupt)?;
    let evaluation = Evaluation::of(&grid.trials)?;
    let refused = evaluation.refused();
    if evaluation.measured().next().is_none() {
        return nothing(&sweep, "measured", &refused, all);
    }
    let limits = arguments.excuses.limits(match place {
        Where::Here => ExcuseLimits::DEFAULT,
        Where::Counted | Where::Machines => ExcuseLimits::EMULATED,
    });
    let (names, method) = (sweep.names(), method(&sweep, &limits));
    let told = StudyOutputs { schedulers: &names, evaluation: &evaluation, method, limits };
    told.write(&sweep.directory)?;
    conclude(&sweep, &refused);
    match arguments.json {
        true => output::print_json(&Answer::of(&evaluation, &limits))?,
        false => output::print(&format!("{}\n", sweep.directory.join(TABLE_FILE).shown()))?,
    }
    if !all {
        return Ok(ended(all, evaluation.open()));
    }
    let (verified, violations) = (evaluation.verified_schedules(), evaluation.violations());
    if verified == 0 {
        return nothing(&sweep, "recorded", &refused, all);
    }
    let without = match evaluation.excused(&limits) {
        0 => String::new(),
        excused => format!(", {excused} without a verdict: too much is excused"),
    };
    output::note(format_args!(
        "{} verified, {}{without}",
        plural(verified, "schedule"),
        plural(violations, "violation")
    ));
    Ok(output::verified(evaluation.state(&limits)))
}

fn method(sweep: &Sweep, limits: &ExcuseLimits) -> Vec<String> {
    let mut words = sweep.workload_in_words();
    words.push(
        "Every run was recorded and verified as `laxity run` does it: at each instant at which something changes, the jobs that \
         the scheduler's definition names are to run. They need not while something of the kernel's is at work for them or on \
         its way to them, for as long as the records of the same run show it: the latency of a release, its handler, an \
         interrupt between CPUs, a decision, a switch, a push, a kernel thread, a higher scheduling class, the reserve of \
         background tasks. No constant excuses anything. SCHED_DEADLINE (g-edf) is held to the deadlines and budgets that the \
         kernel keeps itself."
            .to_owned(),
    );
    words.push(format!(
        "A schedule has no verdict if the scheduler was late with one thing for more than {}, or if more than {} of the CPU time is \
         excused: a wrong one would look the same.",
        Duration::from_ns(limits.longest_ns),
        laxity_trace::percent_of_ppm(limits.share_ppm)
    ));
    words.push(match sweep.place {
        Where::Here => "Measured on this machine.".to_owned(),
        Where::Counted => {
            "Measured in virtual machines whose clocks advance by 2 ns for every instruction of any of their CPUs, and by \
             nothing else while one works (QEMU, -icount shift=1). CPUs take turns of 50 us at most: while one works, the others \
             stand still, and time passes for them. So m busy CPUs are each as fast as one of m, and whatever is done in an \
             interrupt or a decision is long next to the tasks' own work. \
             The load of the host is in nothing. What was decided is judged, how long it took is not."
                .to_owned()
        }
        Where::Machines => {
            "Measured in virtual machines by the host's time. Without KVM their CPUs are emulated, and where the host has fewer than they \
             have, it takes CPUs away for milliseconds at any point: that is in every time, in tardiness as in the windows. \
             What was decided is judged, how long it took is not."
                .to_owned()
        }
    });
    words
}
