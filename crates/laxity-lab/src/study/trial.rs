//! The trials of a study of kernels: which there are, and where each is kept.

use super::contender::Contender;
use super::real::State;
use crate::schedulers::Scheduled as _;
use laxity_model::{Diagnostic, Result, plural};
use laxity_study::WorkUnit;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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
    /// Where it is in the study of its number of CPUs; nothing if no machine can run it.
    pub run: Option<RunOfStudy>,
}

/// A run of the study of one number of CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOfStudy {
    /// The work: one set under one curve.
    pub unit: WorkUnit,
    /// Its directory.
    pub folder: PathBuf,
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

    /// Its results directory; nothing if no machine can run it.
    pub fn folder(&self) -> Option<&Path> {
        self.run.as_ref().map(|run| run.folder.as_path())
    }

    /// How it ended.
    pub fn state(&self) -> State {
        match self.folder() {
            Some(folder) => State::of(folder),
            None => State::NotMeasured(crate::case::reason(&self.impossible())),
        }
    }

    fn impossible(&self) -> Diagnostic {
        if can_be_run(&self.scheduler, self.cpus) {
            return Diagnostic::usage(format!("{} tasks are more than a set may have", self.tasks()))
                .hint("use fewer CPUs, or fewer tasks per CPU");
        }
        Diagnostic::usage(format!(
            "{} dedicates a CPU to scheduling, and there is only one",
            self.scheduler.name
        ))
        .hint("use 2 CPUs or more")
    }
}

/// Whether a scheduler can be run on so many CPUs: one that dedicates a CPU leaves tasks none of one.
pub(super) fn can_be_run(scheduler: &Contender, cpus: u32) -> bool {
    cpus > 1 || !scheduler.scheduler.dedicates_a_core()
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<10} {}, {}:", self.scheduler, plural(self.cpus, "CPU"), plural(self.tasks(), "task"))
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

/// Trials for tests of what is shown of them: such as `edf-bh/2/4/0`, which is scheduler, CPUs, tasks per CPU and set, below a directory.
#[cfg(test)]
pub(super) fn trial(text: &str, directory: &Path) -> Trial {
    use super::contender::Batching;
    use laxity_study::Point;
    let parts: Vec<&str> = text.split('/').collect();
    let number = |at: usize| parts[at].parse::<u32>().expect("a number");
    let scheduler = Contender::each(&[parts[0].parse().expect("a scheduler")], Batching::Off).remove(0);
    let (cpus, tasks_per_cpu, set) = (number(1), number(2), number(3));
    let point = Point { family: 0, value: (cpus * tasks_per_cpu).into() };
    let unit = WorkUnit { point, series: 0..1, sets: set.into()..u64::from(set) + 1 };
    let run = can_be_run(&scheduler, cpus).then(|| RunOfStudy { unit, folder: directory.join(text) });
    Trial { scheduler, cpus, tasks_per_cpu, set, run }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let numbers: Numbers = "8,1-3,2".parse().expect("numbers");
        assert_eq!((numbers.0.clone(), numbers.to_string().as_str()), (vec![1, 2, 3, 8], "1,2,3,8"));
        for wrong in ["", "0", "3-1", "a", "1-9999", "-1"] {
            assert!(wrong.parse::<Numbers>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_no_machine_can_run_says_why() {
        let none = Path::new("/nonexistent");
        let State::NotMeasured(why) = trial("g-edf-mp/1/4/0", none).state() else { panic!("one CPU") };
        assert!(why.contains("dedicates a CPU"), "{why}");
        assert_eq!(trial("g-edf-mp/2/4/0", none).state(), State::Open);
        assert_eq!(trial("fpp/2/4/0", none).to_string(), "fpp        2 CPUs, 8 tasks:");
    }
}
