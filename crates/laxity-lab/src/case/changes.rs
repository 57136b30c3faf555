//! What changes while a simulation goes on: `--at TIME=ACTION`.

use crate::placing::BelowServers;
use laxity_model::{Diagnostic, Duration, Names, Platform, Result, ServerSize, TaskKind, TaskSet, closest};
use laxity_sim::{Change, Changes, Promise, What};
use std::fmt;
use std::str::FromStr;

/// A change, as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeAt {
    at: Duration,
    action: Action,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    Enter(String),
    Promote(String),
    Demote(String),
    Leave(String),
    Resize(u32, ServerSize),
}

impl FromStr for ChangeAt {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Diagnostic::usage(format!("`{text}`: {why}")).hint(
                "write TIME=enter:TASK, TIME=promote:TASK, TIME=demote:TASK, TIME=leave:TASK or TIME=resize:CPU:SIZE, as in \
                 200ms=enter:T4 or 50ms=resize:0:20%/10ms",
            )
        };
        let (at, action) =
            text.split_once('=').ok_or_else(|| wrong("it has no TIME= before what changes"))?;
        let at = at.trim().parse().map_err(|error: Diagnostic| wrong(&error.message))?;
        let (word, rest) = action.split_once(':').ok_or_else(|| wrong("it does not say what changes"))?;
        let name =
            || Some(rest.to_owned()).filter(|name| !name.is_empty()).ok_or_else(|| wrong("it names no task"));
        let action = match word.trim() {
            "enter" => Action::Enter(name()?),
            "promote" => Action::Promote(name()?),
            "demote" => Action::Demote(name()?),
            "leave" => Action::Leave(name()?),
            "resize" => {
                let (cpu, size) = rest.split_once(':').ok_or_else(|| wrong("a server needs CPU:SIZE"))?;
                let cpu = cpu.trim().parse().map_err(|_| wrong("a server needs the number of a CPU"))?;
                Action::Resize(cpu, size.parse().map_err(|error: Diagnostic| wrong(&error.message))?)
            }
            other => {
                let words = ["enter", "promote", "demote", "leave", "resize"];
                let meant =
                    closest(other, &words).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(wrong(&format!("`{other}` is nothing that changes{meant}")));
            }
        };
        Ok(ChangeAt { at, action })
    }
}

impl fmt::Display for ChangeAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.at)?;
        match &self.action {
            Action::Enter(task) => write!(f, "enter:{task}"),
            Action::Promote(task) => write!(f, "promote:{task}"),
            Action::Demote(task) => write!(f, "demote:{task}"),
            Action::Leave(task) => write!(f, "leave:{task}"),
            Action::Resize(cpu, size) => write!(f, "resize:{cpu}:{size}"),
        }
    }
}

impl ChangeAt {
    fn of(&self, set: &TaskSet, platform: &Platform) -> Result<Change> {
        let names: Vec<&str> = set.real_time().map(|(_, task)| task.name.as_str()).collect();
        let task = |name: &str| {
            let found =
                set.tasks().iter().position(|task| task.name == name && task.kind == TaskKind::RealTime);
            found.ok_or_else(|| {
                Diagnostic::usage(format!(
                    "--at {self}: task set `{}` has no real-time task `{name}`",
                    set.name()
                ))
                .hint(Names::of("task", &names).hint(name))
            })
        };
        let what = match &self.action {
            Action::Enter(name) => What::Enter { task: task(name)?, cpu: None },
            Action::Promote(name) => What::Promote { task: task(name)?, cpu: None },
            Action::Demote(name) => What::Demote { task: task(name)? },
            Action::Leave(name) => What::Leave { task: task(name)? },
            &Action::Resize(cpu, size) => {
                let core = platform.core(cpu).ok_or_else(|| {
                    Diagnostic::usage(format!("--at {self}: platform `{}` has no CPU {cpu}", platform.name()))
                        .hint("name a CPU of the platform")
                })?;
                What::Resize { cpu, server: size.on(platform, core.speed) }
            }
        };
        Ok(Change { at: self.at, what })
    }
}

/// All changes of a set, in the order of their instants.
///
/// # Errors
///
/// A task or a CPU that is none.
pub fn changes(
    asked: &[ChangeAt],
    set: &TaskSet,
    platform: &Platform,
    below: &BelowServers,
) -> Result<Changes> {
    let named = |asked: &ChangeAt| Ok((asked.of(set, platform)?, format!("--at {asked}")));
    let mut all = asked.iter().map(named).collect::<Result<Vec<_>>>()?;
    all.sort_by_key(|(change, _)| change.at);
    let (list, names) = all.into_iter().unzip();
    let promise = Promise { double_hit: below.double_hit, tardiness_max: below.tardiness_bound };
    Ok(Changes { list, names, admission: Some(promise) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Task;

    #[test]
    fn reads_what_it_writes() {
        for text in [
            "200ms=enter:T4",
            "1s=promote:a b",
            "0ns=demote:T1",
            "3us=leave:x",
            "50ms=resize:3:2ms@slowest/10ms",
        ] {
            assert_eq!(text.parse::<ChangeAt>().expect("a change").to_string(), text);
        }
        for (text, why) in [
            ("enter:T4", "TIME="),
            ("5=enter:T4", "unit"),
            ("5ms=enter", "does not say what"),
            ("5ms=enter:", "names no task"),
            ("5ms=vanish:T1", "`vanish`"),
            ("5ms=resize:2ms/10ms", "CPU:SIZE"),
            ("5ms=resize:x:2ms/10ms", "number of a CPU"),
            ("5ms=resize:0:20ms/10ms", "20ms"),
        ] {
            let error = text.parse::<ChangeAt>().expect_err(text);
            assert!(error.message.contains(why), "{text}: {}", error.message);
            assert!(error.hint.is_some());
        }
    }

    #[test]
    fn changes_are_of_a_set_and_in_order() {
        let task = |name: &str| Task::periodic(name, Duration::from_ms(1), Duration::from_ms(10));
        let set = TaskSet::new("set", vec![task("a"), task("b")]).expect("valid");
        let platform = Platform::symmetric(2).expect("two");
        let asked: Vec<ChangeAt> =
            ["9ms=demote:b", "3ms=demote:a"].iter().map(|text| text.parse().expect("a change")).collect();
        let all = changes(&asked, &set, &platform, &BelowServers::default()).expect("known tasks");
        assert_eq!(all.list.iter().map(|change| change.what.task()).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert_eq!(all.names, ["--at 3ms=demote:a", "--at 9ms=demote:b"]);
        for (text, why) in [("1ms=leave:c", "`c`"), ("1ms=resize:7:1ms/4ms", "CPU 7")] {
            let asked = [text.parse().expect("a change")];
            let error = changes(&asked, &set, &platform, &BelowServers::default()).expect_err(why);
            assert!(error.message.contains(why), "{}", error.message);
        }
    }
}
