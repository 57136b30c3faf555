//! The trials of a study: which there are, where each is kept, and its state.

use super::contender::Contender;
use crate::schedulers::Scheduled as _;
use laxity_model::{Diagnostic, OutputDirectory, Result};
use laxity_trace::RunStatus;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where trials are in a study's directory.
pub const TRIALS_DIRECTORY: &str = "trials";
/// Why a trial could not be measured.
const REASON_FILE: &str = "not-measured.txt";

/// One run of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The scheduler, and how it releases.
    pub scheduler: Contender,
    /// CPUs that it uses: m.
    pub cpus: u32,
    /// Tasks per CPU: there are that many times `cpus`.
    pub tasks_per_cpu: u32,
    /// Which of the task sets of this size, from 0.
    pub set: u32,
}

impl Trial {
    /// Where in the study it is.
    pub fn place(&self, schedulers: &[String]) -> Place {
        Place {
            cpus: self.cpus,
            scheduler: schedulers.iter().position(|name| *name == self.scheduler.name).unwrap_or(0),
            tasks_per_cpu: self.tasks_per_cpu,
        }
    }

    /// Tasks in all.
    pub fn tasks(&self) -> u32 {
        self.tasks_per_cpu * self.cpus
    }

    /// Where it is kept in a directory of trials.
    pub fn folder(&self, trials: &Path) -> PathBuf {
        let scheduler = self.scheduler.name.replace(':', "-");
        trials
            .join(format!("m{}", self.cpus))
            .join(scheduler)
            .join(format!("n{}-{}", self.tasks_per_cpu, self.set))
    }

    /// How it ended.
    pub fn state(&self, trials: &Path) -> State {
        let folder = self.folder(trials);
        if let Ok(reason) = std::fs::read_to_string(folder.join(REASON_FILE)) {
            return State::NotMeasured(reason.trim().to_owned());
        }
        State::of_run(&folder)
    }

    /// Says why it could not be measured.
    pub fn refuse(&self, trials: &Path, why: &Diagnostic) -> Result<()> {
        let text = format!("{}\n", crate::case::reason(why));
        OutputDirectory::create(&self.folder(trials))?.write(REASON_FILE, text.as_bytes())
    }

    /// Forgets an earlier refusal: it is tried again.
    pub fn reopen(&self, trials: &Path) {
        // If it cannot be removed, the trial stays refused, which is shown.
        let _ = std::fs::remove_file(self.folder(trials).join(REASON_FILE));
    }

    /// Why no run can be made of it on any machine.
    pub fn impossible(&self) -> Option<Diagnostic> {
        (self.scheduler.scheduler.dedicates_a_core() && self.cpus < 2).then(|| {
            Diagnostic::usage(format!(
                "{} dedicates a CPU to scheduling, and there is only one",
                self.scheduler.name
            ))
            .hint("use 2 CPUs or more")
        })
    }
}

/// Where in a study a trial is: the task sets of one size share a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// m.
    pub cpus: u32,
    /// The scheduler's place among those asked for.
    pub scheduler: usize,
    /// n.
    pub tasks_per_cpu: u32,
}

/// The state of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Not measured yet, or not to the end.
    Open,
    /// It is there.
    Measured,
    /// It cannot be measured, and why.
    NotMeasured(String),
}

impl State {
    /// The state of the only run of a results directory.
    pub fn of_run(folder: &Path) -> State {
        let Ok(manifest) = laxity_trace::load_manifest(folder) else { return State::Open };
        match manifest.runs.first().map(|run| &run.status) {
            Some(RunStatus::Completed) => State::Measured,
            Some(RunStatus::NotRun { reason }) if !reason.is_empty() && !reason.contains("interrupted") => {
                State::NotMeasured(reason.clone())
            }
            // An interrupted study is continued.
            Some(RunStatus::Interrupted { reason, ran })
                if !reason.contains("interrupted") && !reason.contains("terminate") =>
            {
                State::NotMeasured(format!("ended after {ran}: {reason}"))
            }
            _ => State::Open,
        }
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.scheduler, self.cpus, self.tasks_per_cpu, self.set)
    }
}

impl FromStr for Trial {
    type Err = Diagnostic;

    /// As it is written by `Display`: SCHEDULER/CPUS/TASKS-PER-CPU/SET.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Diagnostic::usage(format!("`{text}` is no run of a study"))
                .hint("write SCHEDULER/CPUS/TASKS-PER-CPU/SET")
        };
        let parts: Vec<&str> = text.split('/').collect();
        let [scheduler, cpus, tasks_per_cpu, set] = parts[..] else { return Err(wrong()) };
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        Ok(Trial {
            scheduler: scheduler.parse()?,
            cpus: number(cpus)?,
            tasks_per_cpu: number(tasks_per_cpu)?,
            set: number(set)?,
        })
    }
}

/// Numbers in ascending order: a list of them and of ranges, such as `1,2,4-8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

/// The most of tasks per CPU, and of CPUs.
const NUMBER_MAX: u32 = 4096;

impl FromStr for Numbers {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Diagnostic::usage(format!("`{text}` is no list of numbers from 1 to {NUMBER_MAX}"))
                .hint("write numbers and ranges, such as 1,2,4-8")
        };
        let mut numbers = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) =
                (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
            if first == 0 || first > last || last > NUMBER_MAX {
                return Err(wrong());
            }
            numbers.extend(first..=last);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Numbers(numbers))
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_and_numbers_are_read_as_they_are_written() {
        let trial: Trial = "p-fpp:rm/4/20/1".parse().expect("a trial");
        assert_eq!((trial.tasks(), trial.to_string().as_str()), (80, "p-fpp:rm/4/20/1"));
        assert_eq!(trial.folder(Path::new("c")), Path::new("c/m4/p-fpp-rm/n20-1"));
        let beside: Trial = "fpp+batching/4/20/1".parse().expect("a trial");
        assert_eq!(beside.to_string(), "fpp+batching/4/20/1");
        assert_eq!(beside.folder(Path::new("c")), Path::new("c/m4/fpp+batching/n20-1"));
        assert!("edf-bh/4".parse::<Trial>().is_err() && "x/1/1/0".parse::<Trial>().is_err());
        let numbers: Numbers = "8,1-3,2".parse().expect("numbers");
        assert_eq!((numbers.0.clone(), numbers.to_string().as_str()), (vec![1, 2, 3, 8], "1,2,3,8"));
        for wrong in ["", "0", "3-1", "a", "1-9999", "-1"] {
            assert!(wrong.parse::<Numbers>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_refusal_is_kept_until_the_cell_is_tried_again() {
        let folder = tempfile::tempdir().expect("a directory");
        let trial: Trial = "g-edf-mp/1/4/0".parse().expect("a trial");
        assert_eq!(trial.state(folder.path()), State::Open);
        let why = trial.impossible().expect("it needs two");
        trial.refuse(folder.path(), &why).expect("writes");
        let State::NotMeasured(reason) = trial.state(folder.path()) else { panic!("it was refused") };
        assert!(reason.contains("dedicates a CPU"), "{reason}");
        trial.reopen(folder.path());
        assert_eq!(trial.state(folder.path()), State::Open);
        assert!("g-edf-mp/2/4/0".parse::<Trial>().expect("a trial").impossible().is_none());
    }
}
