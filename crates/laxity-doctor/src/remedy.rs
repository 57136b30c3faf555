//! What ends a finding, and what takes that back.

use laxity_model::CpuList;
use schemars::JsonSchema;
use serde::Serialize;

/// What a remedy's lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Commands for a shell. They hold until the next boot, unless they say otherwise.
    Command,
    /// Parameters of the kernel's command line, after which the machine is booted.
    KernelParameter,
    /// What to do by other means: another kernel, the hypervisor, cooling.
    Other,
}

/// What ends a finding, and what takes that back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remedy {
    /// What the lines are.
    pub kind: Kind,
    /// What ends the finding. Parameters of the kernel: to be added.
    pub fix: Vec<String>,
    /// What takes that back. Parameters of the kernel: to be removed.
    pub undo: Vec<String>,
}

impl Remedy {
    /// Commands.
    pub fn commands(fix: Vec<String>, undo: Vec<String>) -> Self {
        Remedy { kind: Kind::Command, fix, undo }
    }

    /// One command each.
    pub fn command(fix: impl Into<String>, undo: impl Into<String>) -> Self {
        Self::commands(vec![fix.into()], vec![undo.into()])
    }

    /// A parameter of the kernel.
    pub fn parameter(parameter: impl Into<String>) -> Self {
        let parameter = vec![parameter.into()];
        Remedy { kind: Kind::KernelParameter, fix: parameter.clone(), undo: parameter }
    }

    /// Another kernel.
    pub fn kernel(which: &str) -> Self {
        Self::other(format!("boot a kernel {which}"), "boot the present kernel again")
    }

    /// What no command does.
    pub fn other(fix: impl Into<String>, undo: impl Into<String>) -> Self {
        Remedy { kind: Kind::Other, fix: vec![fix.into()], undo: vec![undo.into()] }
    }

    /// Writes `wanted` into a file that says `now`.
    pub fn write(file: &str, wanted: &str, now: &str) -> Self {
        Self::command(written(file, wanted), written(file, now))
    }

    /// Writes `wanted` into a file of each of some CPUs. `file` has `{cpu}` where the number stands; the CPUs are grouped by
    /// what their files say now.
    pub fn write_each(file: &str, wanted: &str, now: &[(u32, String)]) -> Self {
        let all: CpuList = now.iter().map(|(cpu, _)| *cpu).collect();
        let mut values: Vec<&String> = now.iter().map(|(_, value)| value).collect();
        values.sort();
        values.dedup();
        let undo = values.into_iter().map(|value| {
            let cpus: CpuList = now.iter().filter(|(_, one)| one == value).map(|(cpu, _)| *cpu).collect();
            written_each(file, value, &cpus)
        });
        Self::commands(vec![written_each(file, wanted, &all)], undo.collect())
    }
}

/// The command that writes a value. What is below /proc/sys has a name for sysctl.
fn written(file: &str, value: &str) -> String {
    match file.strip_prefix("/proc/sys/") {
        Some(name) => format!("sudo sysctl -w {}={}", name.replace('/', "."), quoted(value)),
        None => format!("echo {} | sudo tee {file}", quoted(value)),
    }
}

fn written_each(file: &str, value: &str, cpus: &CpuList) -> String {
    match cpus.len() {
        1 => written(&file.replace("{cpu}", &cpus.to_string()), value),
        _ => {
            let numbers: Vec<String> = cpus.iter().map(|cpu| cpu.to_string()).collect();
            let file = file.replace("{cpu}", "$n");
            format!("for n in {}; do {}; done", numbers.join(" "), written(&file, value))
        }
    }
}

/// A value as a word of a shell. Values are what the kernel says: numbers, names and lists.
pub(crate) fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_,.:+/".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_writes_and_takes_back() {
        let remedy = Remedy::write("/proc/sys/vm/swappiness", "10", "60");
        assert_eq!(remedy.fix, ["sudo sysctl -w vm.swappiness=10"]);
        assert_eq!(remedy.undo, ["sudo sysctl -w vm.swappiness=60"]);
        let now = [(0, "powersave".to_owned()), (1, "schedutil".to_owned()), (3, "powersave".to_owned())];
        let remedy = Remedy::write_each("/sys/cpu{cpu}/governor", "performance", &now);
        assert_eq!(remedy.fix, ["for n in 0 1 3; do echo performance | sudo tee /sys/cpu$n/governor; done"]);
        assert_eq!(
            remedy.undo,
            [
                "for n in 0 3; do echo powersave | sudo tee /sys/cpu$n/governor; done",
                "echo schedutil | sudo tee /sys/cpu1/governor"
            ]
        );
    }

    #[test]
    fn what_is_no_plain_word_is_quoted() {
        assert_eq!(written("/sys/x", "a'; rm -rf /"), r"echo 'a'\''; rm -rf /' | sudo tee /sys/x");
        assert_eq!(written("/sys/x", ""), "echo '' | sudo tee /sys/x");
    }
}
