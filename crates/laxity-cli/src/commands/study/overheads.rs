//! `laxity study overheads`.

use super::sweep::{SweepArguments, conclude, ended, measured, nothing};
use crate::arguments::simulated;
use crate::commands::unique;
use crate::{interrupt, output};
use clap::Args;
use laxity_lab::overheads::Probes;
use laxity_lab::schedulers::Configuration;
use laxity_lab::study::overheads::{Evaluation, FUNCTIONS_METHOD, StudyOutputs, TABLE_FILE, Unit};
use laxity_lab::study::{Cap, Kind, Sweep, Where};
use laxity_model::{Result, ShownPath as _};
use std::process::ExitCode;

/// `laxity study overheads`.
#[derive(Args)]
#[command(after_long_help = "\
Measures releases, interrupts, scheduling decisions, context switches and ticks under every scheduler, for n tasks per CPU and m \
CPUs, with the workload of ackelman2018, 6.2 (periods of 10 to 100 ms, utilizations of 0.001 to 0.1 each, scaled down where they \
exceed --load). The directory gets a page with figures (report.html), a table of all numbers (overheads.csv), for every scheduler \
costs that `laxity simulate --costs` takes (costs/; not of --instructions, as a number of instructions is no time), and every run \
as a results directory (with two CPUs in m2/runs/; m2/kernels.json is the study that they are of). Called again with the same directory it goes on where it was interrupted. Each run takes \
--duration and some seconds more; in emulated machines, minutes.

Examples:
  # a machine with 64 CPUs and sched_ext
  sudo laxity study overheads --cpu-counts 8,16,24,32,48,64 -o overheads
  # any machine that has QEMU; a small one first
  laxity study overheads --vm --cpu-counts 1 --tasks 2 \\
      --schedulers fpp,g-edf -o small
  laxity study overheads --vm --cpu-counts 1,2,4 -o overheads
  # counted, not timed: the host's speed changes nothing
  laxity study overheads --instructions -o instructions
  # releases one by one and together
  laxity study overheads --vm --schedulers fpp,edf-bh --batching off,on \\
      -o batching
  # enqueue, dequeue, push, pull
  laxity study overheads --vm --schedulers g-edf,g-rm --functions -o functions")]
pub struct OverheadsArguments {
    /// The schedulers, separated by commas or given several times
    #[arg(help_heading = "Schedulers", long, visible_alias = "scheduler", value_name = "NAMES", value_delimiter = ',', default_value = "edf-bh,edf-rbt,fpp,gsn-edf,gsn-edf-di,g-edf-mp,push-pull,g-edf,g-rm", value_parser = simulated)]
    pub schedulers: Vec<Configuration>,
    /// Also time the functions of scheduling classes, which makes what is around them longer
    ///
    /// As in lelli2012, Table 6.
    #[arg(help_heading = "Checks", long)]
    pub functions: bool,
    /// Count instructions in virtual machines instead of measuring time
    #[arg(help_heading = "Machine", long)]
    pub instructions: bool,
    #[command(flatten)]
    pub sweep: SweepArguments,
}

/// Enough is free that nothing is late because of the load.
const LOAD: Cap = Cap(500);

pub fn overheads(arguments: &OverheadsArguments) -> Result<ExitCode> {
    let place = match (arguments.instructions, arguments.sweep.vm) {
        (true, _) => Where::Counted,
        (false, true) => Where::Machines,
        (false, false) => Where::Here,
    };
    let probes = if arguments.functions { Probes::Functions } else { Probes::Events };
    let schedulers = unique(arguments.schedulers.iter().cloned());
    let sweep = arguments.sweep.sweep(&schedulers, Kind::Overheads(probes), LOAD, place)?;
    let interrupt = interrupt::flag()?;
    let grid = sweep.grid()?;
    let all = measured(&sweep, &grid, interrupt)?;
    let evaluation = Evaluation::of(&grid.trials, &sweep.names(), sweep.duration, sweep.seed)?;
    if evaluation.places.is_empty() {
        return nothing(&sweep, "measured", &evaluation.refused, all);
    }
    let unit = if arguments.instructions { Unit::COUNTED } else { Unit::Time };
    let told =
        StudyOutputs { schedulers: &sweep.schedulers, evaluation: &evaluation, unit, method: method(&sweep) };
    told.write(&sweep.directory)?;
    conclude(&sweep, &evaluation.refused);
    output::print(&format!("{}\n", sweep.directory.join(TABLE_FILE).shown()))?;
    Ok(ended(all, evaluation.open))
}

fn method(sweep: &Sweep) -> Vec<String> {
    let mut words = sweep.workload_in_words();
    words.push(
        "Samples during which their CPU was interrupted are counted and enter nothing else.".to_owned(),
    );
    words.push(
        "Releases of SCHED_DEADLINE, SCHED_FIFO and background sleepers are the kernel's timer handlers; those of laxity's own \
         policies are the host's release interrupt, from its entry until all that is due is queued and CPUs are asked to \
         reschedule. Scheduling decisions are measured alike for all, at the kernel's tracepoints. An interrupt within a release of laxity's \
         own policies with one lock is in the sample; elsewhere it sets the sample apart."
            .to_owned(),
    );
    if sweep.kind.functions() {
        words.push(FUNCTIONS_METHOD.to_owned());
    }
    words.push(match sweep.place {
        Where::Counted => {
            "The machine counts instructions (QEMU, -icount shift=1): its clocks advance by 2 ns for every instruction and by \
             nothing else while it works, so a time between two stamps is exactly twice a number of instructions of its \
             CPU, those of the kernel and of compiled BPF alike. Caches, memory and contention do not exist in it. With \
             two CPUs their instructions are counted in turns: what one CPU does may then be in a sample of the other, and \
             medians say more than means. A number of instructions is no time, so there are no costs for simulations (costs/)."
                .to_owned()
        }
        Where::Machines => "Measured in virtual machines. Without KVM their CPUs are emulated: times compare schedulers with \
                    each other at best."
            .to_owned(),
        Where::Here => "Measured on this machine.".to_owned(),
    });
    words
}
