//! One command by itself, without the others: to make the arguments of them all takes longer than many a command does.

use super::Said;
use crate::arguments::{
    CompareArguments, PlaceArguments, ReportArguments, RunArguments, SimulateArguments, VerifyArguments,
};
use crate::commands::{
    analyze, check, deployed, diff, doctor, exec, generate, init, list, load, overheads, promote, schema,
    settings, shell, study, vm,
};
use crate::shipped;
use clap::Args;
use std::ffi::OsString;

type Augment = fn(clap::Command) -> clap::Command;

/// The arguments of every command, by the name that [`super::Command`] gives it.
const ARGUMENTS: &[(&str, Augment)] = &[
    ("compare", CompareArguments::augment_args),
    ("run", RunArguments::augment_args),
    ("analyze", analyze::AnalyzeArguments::augment_args),
    ("settings", settings::SettingsArguments::augment_args),
    ("simulate", SimulateArguments::augment_args),
    ("verify", VerifyArguments::augment_args),
    ("place", PlaceArguments::augment_args),
    ("generate", generate::GenerateArguments::augment_args),
    ("report", ReportArguments::augment_args),
    ("diff", diff::DiffArguments::augment_args),
    ("deployed", deployed::DeployedArguments::augment_args),
    ("list", list::ListArguments::augment_args),
    ("init", init::InitArguments::augment_args),
    ("check", check::CheckArguments::augment_args),
    ("doctor", doctor::DoctorArguments::augment_args),
    ("schema", schema::SchemaArguments::augment_args),
    ("load", load::LoadArguments::augment_args),
    ("exec", exec::ExecArguments::augment_args),
    ("promote", promote::PromoteArguments::augment_args),
    ("demote", promote::DemoteArguments::augment_args),
    ("resize", promote::ResizeArguments::augment_args),
    ("overheads", overheads::OverheadsArguments::augment_args),
    ("study", study::StudyArguments::augment_args),
    ("vm", vm::VmArguments::augment_args),
    ("completions", shell::CompletionsArguments::augment_args),
    ("__judge", |command| command),
    ("__man", shell::ManArguments::augment_args),
];

/// The command line with that command only which the words name, if they name one. What it takes, the whole takes with the same
/// matches: words before the name are options without values, and others are no name of another command. It has no help.
pub fn command(words: &[OsString]) -> clap::Command {
    let said = clap::Command::new("laxity").version(shipped::VERSION).subcommand_required(true);
    let said = Said::augment_args(said);
    let named = words.iter().skip(1).find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    match ARGUMENTS.iter().find(|(name, _)| named.is_some_and(|word| word == name)) {
        Some((name, augment)) => said.subcommand(augment(clap::Command::new(*name))),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory as _;
    use std::fmt::Write as _;

    /// All arguments of a command and of those below it.
    fn arguments(command: &clap::Command, text: &mut String) {
        for argument in command.get_arguments() {
            let _ = writeln!(text, "{argument:?}");
        }
        for group in command.get_groups() {
            let _ = writeln!(text, "{group:?}");
        }
        for below in command.get_subcommands() {
            let _ = writeln!(text, "{}", below.get_name());
            arguments(below, text);
        }
    }

    #[test]
    fn every_command_alone_has_the_arguments_that_it_has_in_the_whole() {
        let whole = Cli::command();
        let names: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
        let alone: Vec<&str> = ARGUMENTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(alone, names);
        for name in names {
            let (mut alone, mut within) = (String::new(), String::new());
            let words = ["laxity", "-q", name, "check"].map(OsString::from);
            let by_itself = command(&words);
            arguments(by_itself.find_subcommand(name).expect("it is named"), &mut alone);
            arguments(whole.find_subcommand(name).expect("one of its own"), &mut within);
            assert_eq!(alone, within, "{name}");
        }
    }

    #[test]
    fn words_without_a_command_name_none() {
        for words in [&["laxity"][..], &["laxity", "--version"], &["laxity", "-v", "help", "run"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(command(&words).get_subcommands().count(), 0, "{words:?}");
        }
    }
}
