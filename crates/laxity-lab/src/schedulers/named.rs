//! A scheduler under the name by which the user asked for it.

use super::{Choice, TriedScheduler, configurations};
use laxity_analysis::scheduler::Analysed;
use laxity_model::{AnyScheduler, Diagnostic, Platform, PolicyScheduler, Result, Scheduler, scheduler_of};
use std::fmt;
use std::str::FromStr;

/// A scheduler that can be simulated. Names of Linux's schedulers stay: `g-edf` is reported as `g-edf`, not as the
/// push-pull that simulates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedScheduler {
    /// In results.
    pub name: String,
    /// What is simulated.
    pub scheduler: PolicyScheduler,
    /// The placement in its name, such as `p-rm@ffd`.
    pub placement: Option<Choice>,
}

impl NamedScheduler {
    /// Linux's own scheduler of this name, if it is one: what can run for real.
    pub fn linux(&self) -> Option<Scheduler> {
        scheduler_of(&self.name).0.parse().ok()
    }

    /// The six of lelli2012, which `compare` runs and `simulate` simulates where none is named.
    pub fn lelli2012() -> Vec<NamedScheduler> {
        Scheduler::LELLI2012.into_iter().map(NamedScheduler::from).collect()
    }

    /// As analyses know it, if they do.
    pub fn analysed(&self) -> Option<Analysed> {
        scheduler_of(&self.name).0.parse().ok()
    }

    /// A configuration for each of these placements, where there is anything to place and it has none of its own.
    pub fn placed_by(&self, placements: &[Choice], platform: &Platform) -> Vec<NamedScheduler> {
        let of = |(name, placement)| NamedScheduler { name, placement, ..self.clone() };
        configurations(&self.name, (self.scheduler.scope, self.placement), placements, platform)
            .map(of)
            .collect()
    }

    /// What it is, whether or not it is simulated.
    pub fn any(&self) -> AnyScheduler {
        self.linux().map_or(AnyScheduler::Policy(self.scheduler), |linux| AnyScheduler::Linux(linux.into()))
    }
}

impl From<Scheduler> for NamedScheduler {
    fn from(linux: Scheduler) -> Self {
        NamedScheduler { name: linux.name().to_owned(), scheduler: linux.into(), placement: None }
    }
}

impl FromStr for NamedScheduler {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let TriedScheduler { name, scheduler, placement } = text.parse()?;
        match scheduler.model() {
            Ok(model) => Ok(NamedScheduler { name, scheduler: model, placement }),
            Err(why) => Err(Diagnostic::usage(format!("scheduler `{name}` cannot be simulated: {why}"))
                .hint("`laxity list schedulers` says which can")),
        }
    }
}

impl fmt::Display for NamedScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_name_that_was_asked_for() {
        for (asked, name, policy) in [
            ("g-edf", "g-edf", "push-pull"),
            (" P-RM ", "p-rm", "p-push-pull:rm"),
            ("push-pull", "push-pull", "push-pull"),
            ("c-fpp:dm", "c-fpp:dm", "c-fpp:dm"),
            ("g-edf-mp", "g-edf-mp", "g-edf-mp"),
        ] {
            let named: NamedScheduler = asked.parse().expect("a scheduler");
            assert_eq!((named.name.as_str(), named.scheduler.to_string().as_str()), (name, policy));
            assert_eq!(named.linux().is_some(), ["g-edf", "p-rm"].contains(&name), "{name}");
        }
        assert!("edf".parse::<NamedScheduler>().is_err());
    }

    #[test]
    fn a_placement_in_the_name_is_one_of_its_own() {
        let named: NamedScheduler = "P-RM@FFD".parse().expect("a configuration");
        assert_eq!((named.name.as_str(), named.placement), ("p-rm@ffd", "ffd".parse().ok()));
        assert_eq!((named.linux(), named.analysed()), ("p-rm".parse().ok(), "p-rm".parse().ok()));
        for (wrong, why) in [("g-edf@ffd", "nothing is placed"), ("p-rm@fdf", "fdf"), ("p-mr@ffd", "p-mr")] {
            let error = wrong.parse::<NamedScheduler>().expect_err(wrong);
            assert!(error.message.contains(why), "{}", error.message);
        }
    }

    #[test]
    fn placements_multiply_what_is_placed() {
        let choices: Vec<Choice> = ["ilp", "ffd"].map(|name| name.parse().expect("a placement")).into();
        let two = Platform::symmetric(2).expect("two CPUs");
        let names = |name: &str| {
            let one: NamedScheduler = name.parse().expect("a scheduler");
            one.placed_by(&choices, &two).into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names("p-rm"), ["p-rm@ilp", "p-rm@ffd"]);
        assert_eq!(
            (names("g-rm"), names("p-rm@wfd")),
            (vec!["g-rm".to_owned()], vec!["p-rm@wfd".to_owned()])
        );
        assert_eq!(names("c-edf"), ["c-edf"], "one cluster");
    }
}
