//! The command line as a whole: every command with its arguments, its help, and which function carries it out.

mod alone;
#[cfg(test)]
mod examples;

use crate::arguments::{
    CompareArguments, PlaceArguments, ReportArguments, RunArguments, SimulateArguments, VerifyArguments,
};
use crate::commands::{
    analyze, check, compare, deployed, diff, doctor, exec, generate, init, list, load, overheads, place,
    promote, report, run, schema, settings, shell, simulate, study, verify, vm,
};
use crate::output;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use laxity_model::{Result, ShownPath as _, shown_message};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

const ABOUT: &str = "The real-time scheduling laboratory for Linux: describe a set of recurring tasks, place it, \
run it for real under every scheduler, and get an answer.";

const AFTER: &str = "\
A first session:
  laxity list
  laxity init set.toml
  # how it would be scheduled
  laxity simulate set.toml --scheduler g-edf --gantt
  # what is proven of it, for any arrivals
  laxity analyze set.toml
  # the answer, with an HTML report
  sudo laxity compare set.toml

Exit codes: 0 clean; 1 misses or a violation, where asked to judge; 2 usage or input; 3 this machine cannot do it; \
130 interrupted (what was measured is kept).";

/// The whole command line.
#[derive(Parser)]
#[command(name = "laxity", version = crate::shipped::VERSION, about = ABOUT, after_help = AFTER, max_term_width = 110)]
pub struct Cli {
    /// How much is said
    #[command(flatten)]
    pub said: Said,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// How many examples the short help has.
const SHORT_EXAMPLES: usize = 3;

impl Cli {
    /// Reads the command line; errors and calls for help end the program.
    pub fn of_the_command_line() -> Cli {
        Cli::of_words(std::env::args_os()).unwrap_or_else(|error| {
            let printed = print(&error);
            match printed.map_err(|why| output::cannot_print(&why)) {
                // Help and versions are data: what did not get there is an error.
                Err(Some(full)) if !error.use_stderr() => {
                    output::say_error(&full);
                    std::process::exit(i32::from(full.failure.exit_code()))
                }
                _ => std::process::exit(error.exit_code()),
            }
        })
    }

    /// Errors quote the command line: they are those of the same words as they are shown.
    pub fn of_words(words: impl Iterator<Item = OsString>) -> clap::error::Result<Cli> {
        let words: Vec<OsString> = words.collect();
        let shown: Vec<OsString> =
            words.iter().map(|word| OsString::from(word.shown().to_string())).collect();
        Cli::read(&words).map_err(|error| {
            let unlike = |said: &clap::Error| {
                let said = said.to_string();
                let said = said.trim_start_matches("error: ");
                clap::Error::raw(error.kind(), format!("{}\n", shown_message(said)))
            };
            let as_shown = match shown == words {
                true => error,
                false => match Cli::read(&shown) {
                    Err(as_shown) => as_shown,
                    Ok(_) => return unlike(&error),
                },
            };
            match as_shown {
                // clap would list the hidden ones, too.
                none if none.kind() == ErrorKind::MissingSubcommand => Cli::whole_command().error(
                    ErrorKind::MissingSubcommand,
                    "no command is named\nhint: `laxity --help` lists the commands; `laxity compare SET` answers most",
                ),
                as_shown if is_about(&as_shown, QUIET_MACHINE) => {
                    let command = shown.get(1).map(|word| word.to_string_lossy()).unwrap_or_default();
                    Cli::whole_command().error(
                        ErrorKind::UnknownArgument,
                        format!(
                            "{QUIET_MACHINE} is for commands that run tasks on this machine, and `laxity {command}` runs none\n\
                             hint: leave it out; `laxity run`, `compare` and `study` (--real, overheads, schedules) take it"
                        ),
                    )
                }
                as_shown => as_shown,
            }
        })
    }

    /// To put all commands together takes longer than many of them: first with the one that the words name alone. What is wrong, and
    /// help, is said by the whole.
    fn read(words: &[OsString]) -> clap::error::Result<Cli> {
        let matches =
            alone::command(words).try_get_matches_from(words).or_else(|error| match error.kind() {
                ErrorKind::DisplayVersion => Err(error),
                _ => Cli::whole_command().try_get_matches_from(words),
            })?;
        Cli::from_arg_matches(&matches)
    }

    /// The command with a short help (`-h`) beside the long one (`--help`).
    pub fn whole_command() -> clap::Command {
        let whole = Cli::command().after_help(unbroken(AFTER));
        whole.mut_subcommands(|command| with_short_help(command, "laxity"))
    }
}

/// What commands take that make real runs.
const QUIET_MACHINE: &str = "--quiet-machine";

/// Whether an option is what a command does not know.
fn is_about(error: &clap::Error, option: &str) -> bool {
    use clap::error::{ContextKind, ContextValue};
    let of = error.get(ContextKind::InvalidArg);
    error.kind() == ErrorKind::UnknownArgument
        && matches!(of, Some(ContextValue::String(named)) if named == option)
}

/// A space at which help is not wrapped.
const FIRM_SPACE: char = '\u{a0}';

/// A text in which indented lines, which are commands and what explains them, are not wrapped: a part of a command is another
/// command.
fn unbroken(text: &str) -> String {
    let firm = |line: &str| match line.starts_with("  ") {
        true => line.replace(' ', &FIRM_SPACE.to_string()),
        false => line.to_owned(),
    };
    text.lines().map(firm).collect::<Vec<_>>().join("\n")
}

/// Prints help to standard output, and errors to standard error, as clap does.
fn print(error: &clap::Error) -> std::io::Result<()> {
    if error.use_stderr() {
        return error.print();
    }
    let text = error.render().ansi().to_string().replace(FIRM_SPACE, " ");
    anstream::stdout().write_all(text.as_bytes())
}

/// Groups of options, in the order of every help; those of single commands stand before the last.
const GROUPS: &[&str] = &[
    "Workload",
    "Deadlines",
    "Schedulers",
    "Placement",
    "Machine",
    "Kernel",
    "Servers of amp-rm",
    "Checks",
    "",
    "Output",
];

/// The command with its groups of options in one order: help shows a group where its first option is.
fn in_order(command: clap::Command) -> clap::Command {
    let rank = |group: &str| GROUPS.iter().position(|known| *known == group);
    let mut options: Vec<(Option<usize>, clap::Id)> = command
        .get_arguments()
        .filter_map(|option| {
            let group = option.get_help_heading()?;
            Some((rank(group).or(rank("")), option.get_id().clone()))
        })
        .collect();
    options.sort_by_key(|(rank, _)| *rank);
    // An option that is changed becomes the last.
    options.into_iter().fold(command, |command, (_, id)| command.mut_arg(id, |option| option))
}

/// The first examples of a command's long help, and where the rest is.
fn with_short_help(command: clap::Command, parent: &str) -> clap::Command {
    let name = format!("{parent} {}", command.get_name());
    let long = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let examples = long.split("Examples:\n").nth(1).unwrap_or_default();
    let mut shown = String::new();
    for line in examples.lines().take_while(|line| !line.is_empty()) {
        let begins = line.starts_with("  ") && !line.starts_with("   ");
        let is_command = begins && !line.starts_with("  #");
        let commands =
            shown.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).count();
        if is_command && commands == SHORT_EXAMPLES {
            break;
        }
        if !line.starts_with("  #") {
            shown += line;
            shown.push('\n');
        }
    }
    let more = format!("`{name} --help` says more of everything.");
    let short = if shown.is_empty() { more } else { format!("Examples:\n{shown}\n{more}") };
    let long = with_exit_codes(long, &name);
    let (short, long) = (unbroken(&short), unbroken(&long));
    in_order(command)
        .after_help(short)
        .after_long_help(long)
        .mut_subcommands(|inner| with_short_help(inner, &name))
}

/// The long help of a command that does not say its exit codes: with them, before the examples.
fn with_exit_codes(long: String, name: &str) -> String {
    if long.contains("Exit codes") {
        return long;
    }
    let codes = match name.trim_start_matches("laxity ") {
        "compare" | "run" | "simulate" => {
            "Exit codes: 0 done; 1 a miss or a violation, with --fail-on-miss or where the schedule was to be verified; 2 usage or \
             input; 3 this machine cannot do it; 130 interrupted (what was finished is kept)."
        }
        "place" => {
            "Exit codes: 0 placed; 2 usage, input, or no placement; 3 it cannot be written; 130 interrupted."
        }
        "study overheads" => {
            "Exit codes: 0 measured; 2 usage or input; 3 nothing could be measured; 130 interrupted (finished runs are kept)."
        }
        _ => "Exit codes: 0 done; 2 usage or input; 3 this machine cannot do it.",
    };
    match long.split_once("Examples:\n") {
        Some((before, examples)) => format!("{before}{codes}\n\nExamples:\n{examples}"),
        None if long.is_empty() => codes.to_owned(),
        None => format!("{long}\n\n{codes}"),
    }
}

/// How much every command says beside its answer.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Every command")]
pub struct Said {
    /// No progress and no words on what was written; warnings and errors are said
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// More of the evidence: what is excused, what was not recorded, and why
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// What laxity can do.
#[derive(Subcommand)]
pub enum Command {
    /// Run a task set under every scheduler and say which one to deploy, with the evidence.
    Compare(CompareArguments),
    /// Run a task set under given schedulers on this machine, real threads.
    Run(RunArguments),
    /// Say what is proven of a task set under given schedulers, with overheads.
    Analyze(Box<analyze::AnalyzeArguments>),
    /// Say what to set for each thread, so that all is proven: priorities or budgets, and CPUs.
    Settings(Box<settings::SettingsArguments>),
    /// Simulate a task set under given schedulers on any number of CPUs.
    Simulate(SimulateArguments),
    /// Check that schedules, simulated or recorded, are what their schedulers' definitions say.
    Verify(VerifyArguments),
    /// Place tasks onto CPUs or clusters.
    Place(PlaceArguments),
    /// Make task sets with the generators of the literature.
    Generate(generate::GenerateArguments),
    /// Make the report of a results directory again.
    Report(ReportArguments),
    /// Say what differs between two results directories by more than noise.
    Diff(diff::DiffArguments),
    /// Say what of a running system differs from what was to be set.
    Deployed(deployed::DeployedArguments),
    /// What this machine can run, and the names of schedulers, tests, placements and the like.
    List(list::ListArguments),
    /// Write a commented task set to start from.
    Init(init::InitArguments),
    /// Say what a file is, and what is wrong with it.
    Check(check::CheckArguments),
    /// Say whether this machine is fit for real-time work, with evidence, fixes and their undo.
    Doctor(doctor::DoctorArguments),
    /// Print the JSON Schema of what laxity reads or writes.
    Schema(schema::SchemaArguments),
    /// Attach a policy to this kernel until stopped.
    Load(Box<load::LoadArguments>),
    /// Run a program unmodified, its SCHED_DEADLINE tasks under the attached policy.
    Exec(exec::ExecArguments),
    /// Make a background thread a real-time task of the loaded amp-rm.
    Promote(promote::PromoteArguments),
    /// Make a promoted thread a background thread again.
    Demote(promote::DemoteArguments),
    /// Give the deferrable server of a CPU of the loaded amp-rm another size.
    Resize(promote::ResizeArguments),
    /// Record what scheduling costs on this machine, whatever runs.
    Overheads(overheads::OverheadsArguments),
    /// Sweeps over task sets and machines.
    Study(study::StudyArguments),
    /// Do any of this inside a virtual machine whose kernel has sched_ext.
    Vm(vm::VmArguments),
    /// Print what a shell completes commands and options by.
    Completions(shell::CompletionsArguments),
    /// Judge units of a study that another program hands out.
    #[command(name = "__judge", hide = true)]
    Judge,
    /// Write the manual pages.
    #[command(name = "__man", hide = true)]
    Man(shell::ManArguments),
}

/// Carries out a command.
pub fn dispatch(command: Command) -> Result<ExitCode> {
    match command {
        Command::Analyze(arguments) => analyze::analyze(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Simulate(arguments) => simulate::simulate(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Place(arguments) => place::place(&arguments),
        Command::Generate(arguments) => generate::generate(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::List(arguments) => list::list(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Deployed(arguments) => deployed::deployed(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Schema(arguments) => schema::schema(&arguments),
        Command::Settings(arguments) => settings::settings(&arguments),
        Command::Load(arguments) => load::load(&arguments),
        Command::Exec(arguments) => exec::exec(&arguments),
        Command::Promote(arguments) => promote::promote(&arguments),
        Command::Demote(arguments) => promote::demote(&arguments),
        Command::Resize(arguments) => promote::resize(&arguments),
        Command::Overheads(arguments) => overheads::overheads(&arguments),
        Command::Study(arguments) => study::study(&arguments),
        Command::Vm(arguments) => vm::vm(&arguments, understood),
        Command::Completions(arguments) => shell::completions(&arguments, Cli::command()),
        Command::Judge => study::judge(),
        Command::Man(arguments) => shell::man(&arguments, &Cli::command()),
    }
}

/// Whether these words are a command line of this program, whose help counts; if not, what is said of them.
fn understood(words: &[String]) -> std::result::Result<(), String> {
    match Cli::try_parse_from(std::iter::once("laxity").chain(words.iter().map(String::as_str))) {
        Err(error) if error.use_stderr() => Err(error.to_string()),
        _ => Ok(()),
    }
}
