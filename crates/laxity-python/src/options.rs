//! What commands take, as the command line has it: from this the Python functions are written (`python/laxity/make_commands.py`).

use clap::{Arg, ArgAction, Command};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// What the command of these words takes, as JSON: its help, and for each option its name, help, value, default and kind
/// ("flag", "one" or "many").
#[pyfunction]
pub fn options(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    let whole = laxity_program::command_line();
    let mut command = &whole;
    for word in &words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let what = format!("`{word}` is no command of laxity");
            crate::error(py, &laxity_model::Diagnostic::usage(what))
        })?;
    }
    Ok(described(command).to_string())
}

fn described(command: &Command) -> Value {
    let help = |text: Option<&clap::builder::StyledStr>| text.map(|text| plain(&text.to_string()));
    let options: Vec<Value> =
        command.get_arguments().filter(|option| !option.is_hide_set()).map(option).collect();
    json!({
        "name": command.get_name(),
        "about": help(command.get_about()),
        "long_about": help(command.get_long_about()),
        "after": help(command.get_after_long_help()),
        "options": options,
        "commands": command.get_subcommands().filter(|inner| !inner.is_hide_set()).map(Command::get_name).collect::<Vec<_>>(),
    })
}

fn option(option: &Arg) -> Value {
    let help = |text: Option<&clap::builder::StyledStr>| text.map(|text| plain(&text.to_string()));
    let many = option.get_num_args().is_some_and(|range| range.max_values() > 1);
    let kind = match option.get_action() {
        ArgAction::SetTrue => "flag",
        ArgAction::Append => "many",
        _ if many || option.get_value_delimiter().is_some() => "many",
        _ => "one",
    };
    let defaults: Vec<_> = option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let values: Vec<String> =
        option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    json!({
        "name": option.get_long().unwrap_or(option.get_id().as_str()),
        "positional": option.is_positional(),
        "required": option.is_required_set(),
        "kind": kind,
        "value": option.get_value_names().and_then(|names| names.first()).map(|name| name.to_string()),
        "default": if kind == "flag" || defaults.is_empty() { None } else { Some(defaults.join(",")) },
        "values": values,
        "help": help(option.get_help()),
        "long_help": help(option.get_long_help()),
        "heading": option.get_help_heading(),
    })
}

/// Without what is for a terminal.
fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ")
}
