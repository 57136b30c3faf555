//! Configurations: a scheduler, and perhaps a placement, under one name, such as `p-rm@ffd`.

use super::{Choice, Scheduled};
use laxity_analysis::scheduler::Analysed;
use laxity_model::{
    AnyScheduler, Diagnostic, LinuxScheduler, Platform, Policy, PolicyScheduler, Result, Scheduler, Scope,
    TaskSet, configuration_of, scheduler_of,
};
use std::fmt;
use std::str::FromStr;

/// A scheduler under the name by which the user asked for it: what is run, or at least tried, and simulated where it has a model. Names
/// of Linux's schedulers stay: `g-edf` is reported as `g-edf`, not as the push-pull that simulates it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// In results.
    pub name: String,
    /// What it is.
    pub scheduler: AnyScheduler,
    /// The placement in its name, such as `p-rm@ffd`.
    pub placement: Option<Choice>,
}

impl Configuration {
    /// The six of lelli2012, which `compare` runs and `simulate` simulates where none is named.
    pub fn lelli2012() -> Vec<Configuration> {
        Scheduler::LELLI2012.into_iter().map(Configuration::from).collect()
    }

    /// One that can be simulated.
    ///
    /// # Errors
    ///
    /// It is not known, or has no model.
    pub fn simulated(text: &str) -> Result<Configuration> {
        let configuration: Configuration = text.parse()?;
        configuration.model()?;
        Ok(configuration)
    }

    /// One that can be run.
    ///
    /// # Errors
    ///
    /// It is not known, or a prototype.
    pub fn run_for_real(text: &str) -> Result<Configuration> {
        let configuration: Configuration = text.parse()?;
        configuration.policy().map(PolicyScheduler::run_for_real).transpose()?;
        Ok(configuration)
    }

    /// One of Linux.
    pub fn linux(&self) -> Option<&LinuxScheduler> {
        self.scheduler.linux()
    }

    /// One of laxity's own.
    pub fn policy(&self) -> Option<PolicyScheduler> {
        self.scheduler.policy()
    }

    /// A configuration for each of these placements, where there is anything to place and it has none of its own.
    pub fn placed_by(&self, placements: &[Choice], platform: &Platform) -> Vec<Configuration> {
        let of = |(name, placement)| Configuration { name, placement, ..self.clone() };
        configurations(&self.name, (self.scope(), self.placement), placements, platform).map(of).collect()
    }

    /// What simulates it.
    ///
    /// # Errors
    ///
    /// Nothing does, and why.
    pub fn model(&self) -> Result<PolicyScheduler> {
        self.scheduler.model().map_err(|why| {
            Diagnostic::usage(format!("scheduler `{}` cannot be simulated: {why}", self.name))
                .hint("`laxity list schedulers` says which can")
        })
    }
}

impl Scheduled for Configuration {
    fn analysed(&self) -> Option<Analysed> {
        scheduler_of(&self.name).0.parse().ok()
    }

    fn scope(&self) -> Scope {
        self.scheduler.scope()
    }

    fn dedicates_a_core(&self) -> bool {
        self.policy().map(|own| own.policy).is_some_and(Policy::dedicates_a_core)
    }

    fn has_servers(&self) -> bool {
        self.policy().is_some_and(|own| own.policy.has_servers())
    }

    fn placement(&self) -> Option<Choice> {
        self.placement
    }

    fn check_priorities(&self, set: &TaskSet) -> Result<()> {
        let rule = match &self.scheduler {
            AnyScheduler::Linux(linux) => linux.rule(),
            AnyScheduler::Policy(own) => Some(own.rule),
        };
        rule.map_or(Ok(()), |rule| rule.check(set, self))
    }
}

impl From<AnyScheduler> for Configuration {
    fn from(scheduler: AnyScheduler) -> Self {
        Configuration { name: scheduler.to_string(), scheduler, placement: None }
    }
}

impl From<Scheduler> for Configuration {
    fn from(scheduler: Scheduler) -> Self {
        AnyScheduler::Linux(scheduler.into()).into()
    }
}

impl FromStr for Configuration {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        if let (scheduler, Some(placement)) = scheduler_of(text.trim()) {
            let scheduler: Configuration = scheduler.parse()?;
            let (name, choice) = taken_apart((&scheduler.name, placement), scheduler.scope())?;
            return Ok(Configuration { name, placement: Some(choice), ..scheduler });
        }
        match text.parse::<AnyScheduler>() {
            Ok(scheduler) => Ok(scheduler.into()),
            Err(unknown) => Err(analysed_only(text).unwrap_or(unknown)),
        }
    }
}

/// What is said of a scheduler that has tests and nothing else.
fn analysed_only(text: &str) -> Option<Diagnostic> {
    let analysed: Analysed = text.parse().ok()?;
    Some(
        Diagnostic::usage(format!(
            "scheduler `{analysed}` can only be analysed: laxity has tests for it and no policy"
        ))
        .hint("`laxity analyze` takes it; `laxity list schedulers` has the others"),
    )
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// The names of a scheduler's configurations, one for each of these placements, where there is anything to place and its name has no
/// placement of its own; else its own name.
fn configurations(
    name: &str,
    (scope, own): (Scope, Option<Choice>),
    placements: &[Choice],
    platform: &Platform,
) -> impl Iterator<Item = (String, Option<Choice>)> {
    let nothing_to_place = scope == Scope::Global || platform.cells(scope).len() == 1;
    let many = !nothing_to_place && own.is_none() && placements.len() > 1;
    let all = match many {
        true => placements
            .iter()
            .map(|&choice| (configuration_of(name, &choice.to_string()), Some(choice)))
            .collect(),
        false => vec![(name.to_owned(), own)],
    };
    all.into_iter()
}

/// The name of a configuration by those of its scheduler and placement, and the placement.
///
/// # Errors
///
/// The placement is not known, or the scheduler is global.
fn taken_apart((scheduler, placement): (&str, &str), scope: Scope) -> Result<(String, Choice)> {
    let choice: Choice = placement.parse()?;
    if scope == Scope::Global {
        return Err(Diagnostic::usage(format!(
            "`{scheduler}@{placement}`: {scheduler} is global: nothing is placed"
        ))
        .hint(format!("write {scheduler}, or choose a partitioned or clustered scheduler")));
    }
    Ok((configuration_of(scheduler, &choice.to_string()), choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_name_that_was_asked_for() {
        for (asked, name, model) in [
            (" P-RM ", "p-rm", Some("p-push-pull:rm")),
            ("g-edf", "g-edf", Some("push-pull")),
            ("push-pull", "push-pull", Some("push-pull")),
            ("c-fpp:dm", "c-fpp:dm", Some("c-fpp:dm")),
            ("g-edf-mp", "g-edf-mp", Some("g-edf-mp")),
            ("amp-rm", "amp-rm", Some("amp-rm")),
            ("G-RR", "g-rr", None),
            ("other:nice=3", "other:nice=3", None),
            ("p-edf:GRUB", "p-edf:grub", None),
        ] {
            let tried: Configuration = asked.parse().expect("a scheduler");
            assert_eq!(tried.name, name);
            assert_eq!(tried.model().ok().map(|model| model.to_string()).as_deref(), model);
            assert_eq!(Configuration::simulated(asked).ok(), model.map(|_| tried));
        }
        assert!("edf".parse::<Configuration>().is_err());
    }

    #[test]
    fn a_placement_in_the_name_is_one_of_its_own() {
        let own: Configuration = "P-RM@FFD".parse().expect("a configuration");
        assert_eq!((own.name.as_str(), own.placement), ("p-rm@ffd", "ffd".parse().ok()));
        assert_eq!((own.linux().is_some(), own.analysed()), (true, "p-rm".parse().ok()));
        for (wrong, why) in [("g-edf@ffd", "nothing is placed"), ("p-rm@fdf", "fdf"), ("p-mr@ffd", "p-mr")] {
            let error = wrong.parse::<Configuration>().expect_err(wrong);
            assert!(error.message.contains(why), "{}", error.message);
        }
    }

    #[test]
    fn placements_multiply_what_is_placed() {
        let choices: Vec<Choice> = ["ilp", "ffd"].map(|name| name.parse().expect("a placement")).into();
        let two = Platform::symmetric(2).expect("two CPUs");
        let names = |name: &str| {
            let one: Configuration = name.parse().expect("a scheduler");
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
