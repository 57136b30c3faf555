//! `laxity promote`, `demote` and `resize`: threads and servers of a loaded amp-rm.

use crate::arguments::{value, whole};
use crate::output;
use clap::Args;
use laxity_lab::promotion::{Order, OrderOutcome, Proven, ask, lateness};
use laxity_model::{Diagnostic, Duration, Result, ServerSize, cpus_named};
use std::process::ExitCode;

/// Exit code where it does not fit.
const REFUSED: u8 = 1;

/// Make a background thread a real-time task of the loaded amp-rm.
///
/// It goes onto the slowest CPU that fits, by exact analysis, and runs nowhere else; sched_yield or blocking ends a job. What
/// does not fit stays in the background. How late jobs can be is said of it and of the others there: that is proven, of jobs that need no
/// more than their runtime. `laxity demote`, and the end of the loader however it comes, give it back its policy, nice value and CPUs.
#[derive(Args)]
#[command(after_long_help = "\
Exit codes: 0 it is a real-time task; 1 refused, with the reason of each CPU; 2 there is no such thread, or it cannot be one; 3 \
no amp-rm is loaded, or by another user.

Examples:
  sudo laxity load amp-rm --server 25%/4ms &
  sudo laxity promote 4711 --runtime 2ms --period 10ms --tardiness-bound 1ms")]
pub struct PromoteArguments {
    /// A process (its first thread), or a thread
    #[arg(value_name = "PID", value_parser = pid)]
    pub pid: i32,
    /// What a job needs, at speed 1
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub runtime: Duration,
    /// A job arrives once in this time, and is to be done within it
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub period: Duration,
    /// How late its jobs may be (calandrino2007, Theorem 1); default: by any bound
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub tardiness_bound: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Put a promoted thread back into the background, with the policy, nice value and CPUs that it had.
#[derive(Args)]
#[command(after_long_help = "\
Exit codes: 0 it is background work; 2 it is not promoted; 3 no amp-rm is loaded, or by another user.

Examples:
  sudo laxity demote 4711")]
pub struct DemoteArguments {
    /// A process (its first thread), or a thread
    #[arg(value_name = "PID", value_parser = pid)]
    pub pid: i32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Give the deferrable server of a CPU of the loaded amp-rm another size.
///
/// From its next period on; where the period changes, from when no real-time job is pending on the CPU.
#[derive(Args)]
#[command(after_long_help = "\
Exit codes: 0 it has that size; 1 refused: which task it would break, and by how much; 2 no such CPU or size; 3 no amp-rm is \
loaded, or by another user.

Examples:
  sudo laxity resize --cpu 0 --server 1ms/10ms")]
pub struct ResizeArguments {
    /// The CPU
    #[arg(long, value_name = "CPU", value_parser = whole::<u32>(0..=u64::from(u32::MAX)))]
    pub cpu: u32,
    /// Its server: `2ms/10ms`, `20%/10ms` or `2ms@slowest/10ms`; `0ms/10ms` for none
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = value::<ServerSize>)]
    pub server: ServerSize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The number of a process or a thread.
fn pid(text: &str) -> std::result::Result<i32, String> {
    text.trim().parse().ok().filter(|&pid| pid > 0).ok_or_else(|| {
        "not the number of a process or thread\nhint: `pidof PROGRAM` says that of a program, and `ps -L -p PID` those of its \
         threads"
            .to_owned()
    })
}

pub fn promote(arguments: &PromoteArguments) -> Result<ExitCode> {
    let &PromoteArguments { pid, runtime, period, tardiness_bound, json } = arguments;
    conclude(ask(&Order::Promote { pid, runtime, period, tardiness_bound })?, json)
}

pub fn demote(arguments: &DemoteArguments) -> Result<ExitCode> {
    conclude(ask(&Order::Demote { pid: arguments.pid })?, arguments.json)
}

pub fn resize(arguments: &ResizeArguments) -> Result<ExitCode> {
    conclude(ask(&Order::Resize { cpu: arguments.cpu, server: arguments.server })?, arguments.json)
}

/// What is proven of threads on a CPU now; empty without any.
fn beside(cpu: u32, tasks: &[Proven]) -> String {
    let words: Vec<String> = tasks.iter().map(Proven::words).collect();
    if words.is_empty() { String::new() } else { format!("with it on CPU {cpu}: {}\n", words.join(", ")) }
}

/// Prints the outcome of an order.
fn conclude(outcome: OrderOutcome, json: bool) -> Result<ExitCode> {
    if json {
        output::print_json(&outcome)?;
    }
    let text = match outcome {
        OrderOutcome::Promoted { pid, cpu, runtime, period, tardiness_ns, others } => {
            let late = lateness(tardiness_ns);
            format!(
                "{pid} is a real-time task on CPU {cpu}: {runtime} in every {period}, {late}\n{}",
                beside(cpu, &others)
            )
        }
        OrderOutcome::Demoted { pid, cpu, cpus } => {
            format!(
                "{pid} has left CPU {cpu}, is a background thread again and may run on {}\n",
                cpus_named(cpus)
            )
        }
        OrderOutcome::Resized { cpu, budget, period, after, tasks } => {
            let when = match after {
                Some(after) if after.is_zero() => "from now on".to_owned(),
                Some(after) => format!("in {after}"),
                None => "as soon as no real-time job is pending".to_owned(),
            };
            format!("the server of CPU {cpu} is {budget}/{period} {when}\n{}", beside(cpu, &tasks))
        }
        OrderOutcome::Refused { reason, hint } => {
            output::say(format!("refused: {reason}"));
            hint.iter().for_each(|hint| output::say(format!("hint: {hint}")));
            return Ok(ExitCode::from(REFUSED));
        }
        OrderOutcome::Failed { usage, reason, hint } => {
            let error = if usage { Diagnostic::usage(reason) } else { Diagnostic::environment(reason) };
            return Err(Diagnostic { hint, ..error });
        }
    };
    if !json {
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
