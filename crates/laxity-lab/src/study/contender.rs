//! Schedulers as a study compares them: one may be there twice, releasing the jobs of one instant one by one and together
//! (ackelman2018, Figure 7.3).

use crate::schedulers::Configuration;
use laxity_model::{Diagnostic, Result, Scope, scheduler_of};
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;

/// What a scheduler that batches is called beside itself not batching.
const BATCHING: &str = "+batching";
/// Tasks are light, and spread over the CPUs: where no name says another placement.
const PLACEMENT: &str = "wfd";

/// A line of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// In figures, tables and folders: that of the scheduler, or such as `fpp+batching`.
    pub name: String,
    /// What schedules.
    pub scheduler: Configuration,
    /// Whether it releases jobs of one instant together.
    pub batches: bool,
}

impl Contender {
    /// Every scheduler as a study of this batching has it; Linux's own cannot batch.
    pub fn each(schedulers: &[Configuration], batching: Batching) -> Vec<Contender> {
        let ways = |scheduler: &Configuration| {
            let is_own = scheduler.linux().is_none();
            let beside = (is_own && batching == Batching::Both).then(|| Contender {
                name: format!("{}{BATCHING}", scheduler.name),
                scheduler: scheduler.clone(),
                batches: true,
            });
            let batches = is_own && batching == Batching::On;
            let plain = Contender { name: scheduler.name.clone(), scheduler: scheduler.clone(), batches };
            [Some(plain), beside]
        };
        schedulers.iter().flat_map(ways).flatten().collect()
    }

    /// As a curve of a study's file.
    pub(super) fn curve(&self) -> Value {
        let mut curve = json!({ "name": self.name, "scheduler": scheduler_of(&self.scheduler.name).0 });
        if self.scheduler.scheduler.scope() != Scope::Global {
            let choice = self.scheduler.placement.map(|choice| choice.to_string());
            curve["placement"] = json!(choice.as_deref().unwrap_or(PLACEMENT));
        }
        if self.scheduler.linux().is_none() {
            curve["batching"] = json!(self.batches);
        }
        curve
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
        let told = |batching| {
            let each = Contender::each(&schedulers, batching);
            each.into_iter().map(|one| (one.batches, one.name)).collect::<Vec<_>>()
        };
        let own = |names: &[(bool, &str)]| {
            names.iter().map(|(batches, name)| (*batches, (*name).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(told(Batching::Both), own(&[(false, "fpp"), (true, "fpp+batching"), (false, "g-edf")]));
        assert_eq!(told(Batching::On), own(&[(true, "fpp"), (false, "g-edf")]));
        assert_eq!(told(Batching::Off), own(&[(false, "fpp"), (false, "g-edf")]));
        assert_eq!("on,off".parse(), Ok(Batching::Both));
        assert!("on,on".parse::<Batching>().is_err() && "".parse::<Batching>().is_err());
    }

    #[test]
    fn each_is_a_curve_that_says_all_of_it() {
        let curve = |name: &str| {
            Contender::each(&[name.parse().expect("a scheduler")], Batching::On).remove(0).curve()
        };
        assert_eq!(curve("fpp"), json!({ "name": "fpp", "scheduler": "fpp", "batching": true }));
        assert_eq!(curve("g-edf"), json!({ "name": "g-edf", "scheduler": "g-edf" }));
        let placed = json!({ "name": "p-rm@ffd", "scheduler": "p-rm", "placement": "ffd" });
        assert_eq!((curve("p-rm@ffd"), curve("p-rm")["placement"].clone()), (placed, json!("wfd")));
    }
}
