//! `laxity overheads`: what scheduling costs on this machine now, under any scheduler and whatever runs.

use crate::arguments::{count, value};
use crate::{interrupt, output, overheads_text};
use clap::Args;
use laxity_lab::is_over;
use laxity_lab::overheads::{MachineOverheads, Probes, recording_directory};
use laxity_model::{Diagnostic, Duration, Result, ShownPath as _};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration as Span, Instant};

/// How often it is looked whether it is over.
const LOOK_EVERY: Span = Span::from_millis(20);

/// Record what scheduling costs on this machine, whatever runs: releases, interrupts, decisions, switches, ticks.
///
/// Of SCHED_DEADLINE, SCHED_FIFO and the attached policy alike, while a program runs, for some time, or until Ctrl-C. It attaches
/// when it begins and leaves nothing behind: a policy that `laxity load` has attached, and the tasks under it, go on before and
/// after.
#[derive(Args)]
#[command(after_long_help = "\
The directory of --out gets the recording (overheads.json), every sample (samples.parquet), and for each scheduling class two CSV \
files, means and maxima, with as many tasks as threads of that class were seen: what `laxity simulate --costs` takes. Only \
samples that concern real-time threads are recorded; those that an interrupt disturbed are counted apart.

Exit codes: those of the program, if there is one (128 and the signal that killed it); otherwise 0; 2 usage or input; 3 the \
kernel does not let it be traced; 130 interrupted before --duration was over.

Examples:
  # whatever runs here now
  sudo laxity overheads --duration 10s
  # a program under SCHED_DEADLINE
  sudo laxity overheads -o linux -- cyclicdeadline -t 2 -D 10 -i 10000
  # the same program under the policy of `laxity load`
  sudo laxity overheads -o ours -- laxity exec -- cyclicdeadline -t 2 -D 10 \\
      -i 10000")]
pub struct OverheadsArguments {
    /// Record for this time; default: until Ctrl-C, or while the program runs
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = value::<Duration>, conflicts_with = "command")]
    pub duration: Option<Duration>,
    /// Also time the functions of scheduling classes (lelli2012, Table 6), which makes what is around them longer
    #[arg(long)]
    pub functions: bool,
    /// How many tasks the CSV files say there were; default: as many as threads of the class were seen
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = count)]
    pub tasks: Option<u32>,
    /// Keep the recording in this directory
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a recording that is in the directory already
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print JSON instead of a table (behind what the program prints: --out keeps the same apart)
    #[arg(long)]
    pub json: bool,
    /// A program to run meanwhile, and its arguments
    #[arg(value_name = "PROGRAM", last = true)]
    pub command: Vec<OsString>,
}

pub fn overheads(arguments: &OverheadsArguments) -> Result<ExitCode> {
    if let Some((program, _)) = arguments.command.split_first() {
        super::exec::check_program(program)?;
    }
    let directory = |out: &PathBuf| recording_directory(out, arguments.force);
    let out = arguments.out.as_ref().map(directory).transpose()?;
    let stop = interrupt::flag()?;
    let probes = if arguments.functions { Probes::Functions } else { Probes::Events };
    let (ended, found) = MachineOverheads::during(probes, out.as_ref(), || wait(arguments, stop))?;
    if let Some(output) = &out {
        found.keep(output, arguments.tasks)?;
        output::note(format_args!("recording: {}", output.path().shown()));
    }
    output::answer(arguments.json, &found.recorded.summary, || overheads_text::of_machine(&found))?;
    Ok(match ended {
        Some(status) => code_of(status),
        None if stop.load(Ordering::SeqCst) && arguments.duration.is_some() => {
            ExitCode::from(output::INTERRUPTED)
        }
        None => ExitCode::SUCCESS,
    })
}

/// Waits until the program has ended, the time is over, or a signal ends the recording; gives how the program
/// has ended, if there is one.
fn wait(arguments: &OverheadsArguments, stop: &AtomicBool) -> Result<Option<ExitStatus>> {
    let Some((program, rest)) = arguments.command.split_first() else {
        output::note(match arguments.duration {
            Some(time) => format!("recording for {time}"),
            None => "recording; Ctrl-C ends it".to_owned(),
        });
        let begin = Instant::now();
        while !is_over(begin, arguments.duration, stop) {
            sleep(LOOK_EVERY);
        }
        return Ok(None);
    };
    let started = Command::new(program).args(rest).spawn();
    let mut child = started.map_err(|error| super::exec::cannot_be_started(program, &error))?;
    attend(&mut child, stop).map(Some)
}

/// Waits for a program, and passes on to it that it is to end.
fn attend(child: &mut Child, stop: &AtomicBool) -> Result<ExitStatus> {
    let mut told = false;
    loop {
        let ended = child.try_wait();
        let ended = ended
            .map_err(|error| Diagnostic::environment(format!("the program cannot be waited for: {error}")))?;
        if let Some(status) = ended {
            return Ok(status);
        }
        if stop.load(Ordering::SeqCst) && !told {
            told = true;
            // Ctrl-C has reached it already; a signal to this process only is meant for both.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        sleep(LOOK_EVERY);
    }
}

/// As shells say it.
fn code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
