//! Options on CPUs and placements, the same for every command.

use super::value;
use crate::shipped;
use clap::Args;
use laxity_lab::case::PlacementSettings;
use laxity_lab::placing::BelowServers;
use laxity_lab::platforms::PlatformChoice;
use laxity_lab::schedulers::Choice;
use laxity_model::{Diagnostic, Duration, Platform, Result};
use laxity_place::{Fitting, Method, Overload};
use std::path::PathBuf;

/// Which CPUs, and how they are clustered.
#[derive(Args, Clone)]
pub struct PlatformArguments {
    /// The platform: a TOML or JSON file, or a name that `laxity list platforms` has; default: this machine
    #[arg(help_heading = "Machine", long, value_name = "FILE|NAME")]
    pub platform: Option<PathBuf>,
    /// Which CPUs: a number of them, or a list such as 0-3,8
    ///
    /// Of --platform, if one is given. Commands that run on this machine (run, compare, load) take CPUs that it has;
    /// place, analyze and simulate without --platform work on that many identical CPUs.
    #[arg(help_heading = "Machine", long, value_name = "N|LIST")]
    pub cpus: Option<String>,
    /// Clusters: llc, each, all, or lists as in `0-3;4-7`
    ///
    /// `llc`: CPUs that share a last-level cache; `each` CPU; `all` CPUs.
    #[arg(help_heading = "Machine", long, value_name = "CLUSTERS")]
    pub clusters: Option<String>,
}

impl PlatformArguments {
    /// What is asked for.
    pub fn choice(&self) -> PlatformChoice {
        PlatformChoice {
            platform: self.platform.clone(),
            cpus: self.cpus.clone(),
            clusters: self.clusters.clone(),
            locate: shipped::located,
        }
    }
}

/// How tasks are placed.
#[derive(Args, Clone)]
pub struct PlacementArguments {
    /// How tasks are placed onto CPUs and clusters, separated by commas where several are compared; default: auto
    #[arg(
        help_heading = "Placement",
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = value::<Choice>,
        long_help = format!(
            "How tasks are placed onto CPUs and clusters, separated by commas where several are compared; default: auto\n\n{AUTO} Of \
             several, each scheduler that places tasks has a configuration for each, such as p-rm@ffd; those with the same places are \
             one."
        )
    )]
    pub placement: Vec<Choice>,
    /// What may be placed together: test, load, utilization, density or dbf; default: test
    ///
    /// `test`: what the scheduler's own schedulability test accepts, so that each has places of its own; `load`: by
    /// density where a deadline is below its period, else by utilization. By load all schedulers of CPUs have the same
    /// places, and all of clusters.
    #[arg(help_heading = "Placement", long, value_name = "TEST", value_parser = value::<Fitting>)]
    pub fit: Option<Fitting>,
    /// What to do with a task that fits nowhere: refuse, or least-loaded
    #[arg(help_heading = "Placement", long, value_name = "RULE", default_value = "refuse", value_parser = value::<Overload>)]
    pub overload: Overload,
    /// How long the ILP may look for the optimum and its proof
    ///
    /// The best placement found until then is used. Default: it stops after a fixed amount of work, in about a tenth of
    /// a second.
    #[arg(help_heading = "Placement", long, allow_hyphen_values = true, value_name = "TIME", value_parser = value::<Duration>)]
    pub ilp_time_limit: Option<Duration>,
}

/// What `--placement` is where it is not given.
const AUTO: &str = "auto is ilp, the least load; where the test does not prove its places, those of wfd, ffd, bf-deadline or a \
                    search in which it is proven with the most room. `laxity list placements` has all names. Under amp-rm the \
                    default is slowest-fit, by what is proven below its servers.";

/// `--placement` of commands that take one.
pub fn one_placement(argument: clap::Arg) -> clap::Arg {
    let help = "How tasks are placed onto CPUs and clusters; default: auto";
    argument.value_name("NAME").help(help).long_help(format!("{help}\n\n{AUTO}"))
}

impl PlacementArguments {
    /// The placement of every scheduler that has none of its own.
    pub fn choice(&self) -> Choice {
        self.placement.first().copied().unwrap_or_default()
    }

    /// The only one.
    ///
    /// # Errors
    ///
    /// There are several.
    pub fn only_choice(&self, command: &str) -> Result<Choice> {
        match &self.placement[..] {
            [] | [_] => Ok(self.choice()),
            several => {
                let names: Vec<String> = several.iter().map(Choice::to_string).collect();
                Err(Diagnostic::usage(format!(
                    "--placement {}: {command} takes one placement",
                    names.join(",")
                ))
                .hint("name one; compare, run and simulate take several"))
            }
        }
    }

    /// What may be placed together.
    pub fn fit(&self) -> Fitting {
        self.fit.unwrap_or_default()
    }

    /// All of it: on this platform, by the only choice or the first, with amp-rm's tasks below these servers.
    ///
    /// # Errors
    ///
    /// A placement by loads, which keeps no promise.
    pub fn settings(&self, platform: Platform, below: BelowServers) -> Result<PlacementSettings> {
        Ok(PlacementSettings {
            platform,
            choice: self.choice(),
            fit: self.fit(),
            amp_rm: self.amp_rm(&below)?,
            below,
            limit: None,
            overload: self.overload,
            ilp_time_limit: self.ilp_time_limit,
        })
    }

    /// How amp-rm's tasks are placed below servers.
    ///
    /// # Errors
    ///
    /// A placement by loads, which keeps no promise.
    fn amp_rm(&self, below: &BelowServers) -> Result<Method> {
        if let Some(fit @ Fitting::Load(_)) = self.fit.filter(|_| below.promises()) {
            return Err(Diagnostic::usage(format!(
                "{}: --fit {fit} goes by loads, and promises nothing",
                below.words()
            ))
            .hint("leave out --fit"));
        }
        for choice in &self.placement {
            below.method(choice.named())?;
        }
        below.method(self.choice().named())
    }
}
