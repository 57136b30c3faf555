//! The examples of every help: each is a command line that this program understands.

use super::Cli;
use clap::{Command, CommandFactory as _, Parser as _};

/// The widest line of an example: a terminal of 80 columns does not break it.
const WIDTH: usize = 80;

/// The command lines below `Examples:` or `A first session:`, with continued lines joined.
fn commands_of(help: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut inside = false;
    let mut continues = false;
    for line in help.lines() {
        if line == "Examples:" || line == "A first session:" {
            inside = true;
            continue;
        }
        inside &= !line.is_empty();
        if !inside {
            continue;
        }
        assert!(line.chars().count() <= WIDTH, "too wide to be copied from a terminal: {line}");
        if line.trim_start().starts_with('#') {
            continue;
        }
        let text = line.trim();
        let (text, goes_on) = match text.strip_suffix('\\') {
            Some(begun) => (begun.trim_end(), true),
            None => (text, false),
        };
        match commands.last_mut().filter(|_| continues) {
            Some(begun) => *begun += &format!(" {text}"),
            None => commands.push(text.to_owned()),
        }
        continues = goes_on;
    }
    commands
}

/// The words of every call of laxity in a line of shell.
fn calls(line: &str) -> Vec<Vec<String>> {
    let line = line.trim_end_matches('&');
    let mut calls = Vec::new();
    for part in line.split('|') {
        let part = part.split('>').next().unwrap_or_default();
        let words = part.split_whitespace().map(|word| word.trim_matches('\'').to_owned());
        let words: Vec<String> = words.skip_while(|word| word == "sudo").collect();
        if words.first().is_some_and(|word| word == "laxity") {
            calls.push(words);
        }
    }
    calls
}

/// Every command with the examples of its help.
fn all(command: &Command, name: &str, found: &mut Vec<(String, Vec<String>)>) {
    let long = command.get_after_long_help().or(command.get_after_help());
    found.push((name.to_owned(), commands_of(&long.map(ToString::to_string).unwrap_or_default())));
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        all(inner, &format!("{name} {}", inner.get_name()), found);
    }
}

#[test]
fn every_example_is_understood() {
    let mut found = Vec::new();
    all(&Cli::command(), "laxity", &mut found);
    assert!(found.len() > 20, "{}", found.len());
    for (name, examples) in found {
        let is_generator = name.starts_with("laxity generate ");
        assert!(!examples.is_empty() || is_generator, "the help of `{name}` has no examples");
        for example in examples {
            let calls = calls(&example);
            assert!(!calls.is_empty(), "{name}: `{example}` is no call of laxity");
            for words in calls {
                let parsed = Cli::try_parse_from(&words);
                assert!(
                    parsed.is_ok(),
                    "{name}: `{example}`: {}",
                    parsed.err().map_or(String::new(), |e| e.to_string())
                );
            }
        }
    }
}

#[test]
fn the_short_help_is_short_and_has_examples() {
    let shown = |command: &&Command| !command.is_hide_set();
    for mut command in Cli::whole_command().get_subcommands().filter(shown).cloned() {
        let name = command.get_name().to_owned();
        let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
        assert!(short.lines().count() <= long.lines().count(), "{name}");
        assert!(short.contains(&format!("laxity {name} --help")), "{name}: {short}");
        assert!(short.contains("Examples:"), "{name}: {short}");
    }
}

#[test]
fn many_options_come_in_groups() {
    fn look(command: &Command, name: &str) {
        let options: Vec<_> =
            command.get_arguments().filter(|one| !one.is_positional() && !one.is_hide_set()).collect();
        if options.len() > 8 {
            for option in &options {
                let id = option.get_id().as_str();
                let grouped = option.get_help_heading().is_some() || ["help", "version"].contains(&id);
                assert!(grouped, "{name}: --{id} is in no group");
            }
        }
        command.get_subcommands().for_each(|inner| look(inner, &format!("{name} {}", inner.get_name())));
    }
    look(&Cli::command(), "laxity");
}
