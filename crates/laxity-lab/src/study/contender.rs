//! Schedulers as a study compares them: one may be there twice, releasing the jobs of one instant one by one and together
//! (ackelman2018, Figure 7.3).

use crate::schedulers::Configuration;
use laxity_model::{Diagnostic, LinuxScheduler, Result};
use std::fmt;
use std::str::FromStr;

/// What a scheduler that batches is called beside itself not batching.
const BATCHING: &str = "+batching";

/// A line of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// In figures, tables and folders: that of the scheduler, or such as `fpp+batching`.
    pub name: String,
    /// What schedules.
    pub scheduler: Configuration,
    /// Whether it batches while the study does not.
    beside: bool,
}

impl Contender {
    /// Every scheduler as a study of this batching has it; Linux's own cannot batch.
    pub fn each(schedulers: &[Configuration], batching: Batching) -> Vec<Contender> {
        let ways = |scheduler: &Configuration| {
            let twice = batching == Batching::Both && scheduler.linux().is_none();
            let beside = twice.then(|| Contender {
                name: format!("{}{BATCHING}", scheduler.name),
                scheduler: scheduler.clone(),
                beside: true,
            });
            [Some(scheduler.clone().into()), beside]
        };
        schedulers.iter().flat_map(ways).flatten().collect()
    }

    /// Linux's own scheduler, if it is one.
    pub fn linux(&self) -> Option<&LinuxScheduler> {
        self.scheduler.linux()
    }

    /// Whether it releases jobs of one instant together, where the study itself does so or does not.
    pub fn batches(&self, study: bool) -> bool {
        self.linux().is_none() && (study || self.beside)
    }
}

impl From<Configuration> for Contender {
    fn from(scheduler: Configuration) -> Self {
        Contender { name: scheduler.name.clone(), scheduler, beside: false }
    }
}

impl FromStr for Contender {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let Some(scheduler) = text.strip_suffix(BATCHING) else {
            return Ok(Configuration::simulated(text)?.into());
        };
        let scheduler = Configuration::simulated(scheduler)?;
        match Contender::each(&[scheduler], Batching::Both).pop() {
            Some(contender) if contender.beside => Ok(contender),
            _ => Err(Diagnostic::usage(format!("`{text}`: Linux's own schedulers do not batch"))
                .hint(format!("leave out {BATCHING}"))),
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Whether laxity's own policies release jobs of one instant together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batching {
    /// One by one.
    Off,
    /// Together.
    On,
    /// Each policy is measured both ways.
    Both,
}

impl FromStr for Batching {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "off" => Ok(Batching::Off),
            "on" => Ok(Batching::On),
            "off,on" | "on,off" => Ok(Batching::Both),
            _ => Err(Diagnostic::usage(format!("`{text}` is neither on nor off"))
                .hint("choose off, on, or off,on, which measures every policy both ways")),
        }
    }
}

/// As the command line and tables have it.
pub fn on_or_off(switch: bool) -> &'static str {
    if switch { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_there_both_ways_and_linux_schedulers_once() {
        let schedulers: Vec<Configuration> =
            ["fpp", "g-edf"].map(|name| name.parse().expect("a scheduler")).into();
        let told = |batching, study| {
            let each = Contender::each(&schedulers, batching);
            each.into_iter().map(|one| (one.batches(study), one.name)).collect::<Vec<_>>()
        };
        let own = |names: &[(bool, &str)]| {
            names.iter().map(|(batches, name)| (*batches, (*name).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            told(Batching::Both, false),
            own(&[(false, "fpp"), (true, "fpp+batching"), (false, "g-edf")])
        );
        assert_eq!(told(Batching::On, true), own(&[(true, "fpp"), (false, "g-edf")]));
        assert_eq!(told(Batching::Off, false), own(&[(false, "fpp"), (false, "g-edf")]));
    }

    #[test]
    fn they_are_read_as_they_are_written() {
        for name in ["fpp", "fpp+batching", "c-edf-bh:dm+batching", "g-edf"] {
            let contender: Contender = name.parse().expect("a contender");
            assert_eq!((contender.to_string().as_str(), contender.beside), (name, name.contains('+')));
        }
        for wrong in ["g-edf+batching", "+batching", "fpp+", "fpp+batching+batching"] {
            assert!(wrong.parse::<Contender>().is_err(), "{wrong}");
        }
        assert_eq!("on,off".parse(), Ok(Batching::Both));
        assert!("on,on".parse::<Batching>().is_err() && "".parse::<Batching>().is_err());
    }
}
