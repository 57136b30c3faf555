//! `laxity completions` and the manual pages: both from the definition of the command line.

use crate::{output, shipped};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use laxity_model::{OutputDirectory, Result};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// `laxity completions`.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  laxity completions bash > ~/.local/share/bash-completion/completions/laxity
  laxity completions zsh > ~/.zfunc/_laxity
  laxity completions fish > ~/.config/fish/completions/laxity.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// `laxity __man`, for those that make packages.
#[derive(Args)]
pub struct ManArguments {
    /// Where the pages go
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Prints what a shell completes commands and options by.
pub fn completions(arguments: &CompletionsArguments, whole: Command) -> Result<ExitCode> {
    output::print_data(&completions_text(arguments.shell, whole))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a manual page per command: `laxity.1`, `laxity-compare.1` ...
pub fn man(arguments: &ManArguments, whole: &Command) -> Result<ExitCode> {
    let directory = OutputDirectory::create(&arguments.directory)?;
    for page in pages(whole) {
        directory.write(&page.file, &page.text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn completions_text(shell: Shell, whole: Command) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut shown(whole), "laxity", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The command line without what is hidden. Commands cannot be taken away: it is made again with those that remain.
fn shown(command: Command) -> Command {
    let visible: Vec<Command> = command.get_subcommands().filter(|one| !one.is_hide_set()).cloned().collect();
    Command::new("laxity")
        .version(shipped::VERSION)
        .args(command.get_arguments().cloned())
        .subcommands(visible)
}

struct Page {
    file: String,
    text: Vec<u8>,
}

/// A page for the command and for each below it that is not hidden.
fn pages(command: &Command) -> Vec<Page> {
    let mut built = command.clone().disable_help_subcommand(true);
    built.build();
    let mut pages = Vec::new();
    add_pages(&built, built.get_name().to_owned(), &mut pages);
    pages
}

fn add_pages(command: &Command, name: String, pages: &mut Vec<Page>) {
    let file = format!("{name}.1");
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        add_pages(below, format!("{name}-{}", below.get_name()), pages);
    }
    let text = page(command, &name).expect("writing to memory does not fail");
    pages.push(Page { file, text });
}

fn page(command: &Command, name: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let man = Man::new(command.clone())
        .title(name)
        .source(format!("laxity {}", env!("CARGO_PKG_VERSION")))
        .date(shipped::DATE)
        .manual("laxity");
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut text)?;
    }
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        notes(&after.to_string()).to_writer(&mut text)?;
    }
    Ok(text)
}

/// What a command's help ends with: paragraphs are filled, indented lines stay as they are, so that they can be copied.
fn notes(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["NOTES"]);
    let mut verbatim = false;
    for line in text.lines() {
        let indented = line.starts_with("  ");
        if indented != verbatim && !line.is_empty() {
            roff.control(if indented { "nf" } else { "fi" }, []);
            verbatim = indented;
        }
        if line.is_empty() {
            roff.control("PP", []);
        } else {
            roff.text([roman(line)]);
        }
    }
    if verbatim {
        roff.control("fi", []);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::Cli;
    use clap::{CommandFactory as _, ValueEnum as _};

    /// Every command that is shown, with its words: `["study", "overheads"]`.
    fn commands() -> Vec<(Vec<String>, Command)> {
        fn below(command: &Command, words: &[String], all: &mut Vec<(Vec<String>, Command)>) {
            for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
                let words = [words, &[one.get_name().to_owned()]].concat();
                below(one, &words, all);
                all.push((words, one.clone()));
            }
        }
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        let mut all = Vec::new();
        below(&root, &[], &mut all);
        all
    }

    fn options(command: &Command) -> Vec<String> {
        command
            .get_opts()
            .filter(|option| !option.is_hide_set())
            .filter_map(|o| o.get_long().map(str::to_owned))
            .collect()
    }

    #[test]
    fn every_command_has_a_page_that_has_every_option() {
        let pages = pages(&Cli::command());
        let commands = commands();
        assert_eq!(pages.len(), commands.len() + 1, "one page per command, and laxity's own");
        for (words, command) in commands {
            let file = format!("laxity-{}.1", words.join("-"));
            let page = pages.iter().find(|page| page.file == file).unwrap_or_else(|| panic!("no {file}"));
            let text = String::from_utf8(page.text.clone()).expect("text").replace("\\-", "-");
            assert!(
                text.starts_with(".ie") && text.contains(&format!(".TH laxity-{}", words.join("-"))),
                "{file}:\n{text}"
            );
            for option in options(&command) {
                assert!(text.contains(&format!("--{option}")), "{file} lacks --{option}:\n{text}");
            }
        }
    }

    #[test]
    fn every_shell_completes_every_option_of_every_command() {
        for shell in Shell::value_variants() {
            let text = completions_text(*shell, Cli::command());
            assert!(!text.contains("__man"), "{shell}: what is hidden is not completed");
            for (words, command) in commands() {
                for option in options(&command) {
                    // fish has `-l duration`, the others `--duration`.
                    let there =
                        text.contains(&format!("--{option}")) || text.contains(&format!("-l {option}"));
                    assert!(there, "{shell}: {words:?} lacks --{option}");
                }
            }
        }
    }

    #[test]
    fn examples_stay_as_they_are_in_a_page() {
        let text = notes("Words\nof one paragraph.\n\nExamples:\n  laxity a\n  laxity b\nMore.").render();
        assert!(text.contains(".nf\n  laxity a\n  laxity b\n.fi\nMore."), "{text}");
    }
}
