//! Where this kernel takes no policy of laxity's own: why, and the same command in a virtual machine whose kernel does.

use crate::observer::Caller;
use crate::schedulers::Configuration;
use laxity_model::{Diagnostic, LinuxScheduler, Result, shell_word};
use laxity_run::{Capabilities, Refusal};

/// How `laxity-kernel` abbreviates the command.
const SHORT: &str = "laxity vm -- ...";

/// Says which of the schedulers cannot be run here, and how they could be.
///
/// # Errors
///
/// None of them can.
pub fn check(schedulers: &[Configuration], capabilities: &Capabilities, caller: &Caller) -> Result<()> {
    let Err(refusal) = &capabilities.sched_ext else { return Ok(()) };
    let own: Vec<&Configuration> = schedulers.iter().filter(|one| needs_sched_ext(one)).collect();
    if own.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = own.iter().map(|one| one.name.as_str()).collect();
    let what = format!("{} cannot be run here: {}", names.join(", "), refusal.reason);
    let hint = with_programs(hint(refusal, caller.command.iter().skip(1).cloned()), &own);
    if own.len() == schedulers.len() {
        return Err(Diagnostic::environment(what).hint(hint));
    }
    caller.observer.warn(&format!("note: {what}"));
    caller.observer.warn(&format!("hint: {hint}"));
    Ok(())
}

/// Laxity's own policies and those of programs.
fn needs_sched_ext(scheduler: &Configuration) -> bool {
    scheduler.linux().is_none_or(|linux| matches!(linux, LinuxScheduler::Foreign(_)))
}

/// Names the programs of foreign schedulers that the machine needs, too: it has the files that arguments are, and no others.
fn with_programs(hint: String, schedulers: &[&Configuration]) -> String {
    let path = |one: &&Configuration| match one.linux() {
        Some(LinuxScheduler::Foreign(program)) if program.as_str().contains('/') => {
            Some(format!("--with {} ", shell_word(program.as_str())))
        }
        _ => None,
    };
    let programs: String = schedulers.iter().filter_map(path).collect();
    hint.replace("laxity vm -- ", &format!("laxity vm {programs}-- "))
}

/// What helps, with the command line in full.
pub fn hint(refusal: &Refusal, arguments: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = arguments.map(|word| shell_word(&word).into_owned()).collect();
    let command = format!("laxity vm -- {}", words.join(" "));
    if refusal.hint.contains(SHORT) {
        refusal.hint.replace(SHORT, &command)
    } else {
        format!("{}, or: {command}", refusal.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_a_command_to_be_pasted() {
        let refusal = |hint: &str| Refusal { reason: "why".into(), hint: hint.into() };
        let call =
            || ["run", "my set.toml", "--scheduler", "p-fpp:rm,edf-bh", "it's"].map(String::from).into_iter();
        let command = "laxity vm -- run 'my set.toml' --scheduler p-fpp:rm,edf-bh 'it'\\''s'";
        assert_eq!(
            hint(&refusal("boot another, or: laxity vm -- ..."), call()),
            format!("boot another, or: {command}")
        );
        assert_eq!(hint(&refusal("run as root"), call()), format!("run as root, or: {command}"));
        let tried = ["scx:/opt/a_b", "scx:scx_simple", "edf-bh"]
            .map(|name| name.parse::<Configuration>().expect("a scheduler"));
        assert_eq!(
            with_programs("boot, or: laxity vm -- run".into(), &tried.iter().collect::<Vec<_>>()),
            "boot, or: laxity vm --with /opt/a_b -- run"
        );
    }
}
