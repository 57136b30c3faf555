//! Options on CPUs and placements, the same for every command.

use super::value;
use clap::Args;
use laxity_lab::case::PlacementSettings;
use laxity_lab::charges::Kernel;
use laxity_lab::placing::BelowServers;
use laxity_lab::schedulers::Choice;
use laxity_model::{
    CpuList, Diagnostic, Duration, Platform, Result, STANDARD, ShippedPlatform, Speed, cpus_named, plural,
    read_platform,
};
use laxity_place::{Fitting, Method, Overload};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Speeds of CPUs, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speeds(pub Vec<Speed>);

impl FromStr for Speeds {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        text.split(',').map(|speed| speed.trim().parse()).collect::<Result<_>>().map(Speeds)
    }
}

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
    /// The kernel beside which something is proven on this platform: the running one if the platform is this machine.
    pub fn kernel_of(&self, platform: &Platform, no_background: bool) -> Kernel {
        match self.is_this_machine() {
            true => Kernel::running(&platform.cpus(), no_background),
            false => Kernel::linux(no_background),
        }
    }

    /// The platform asked for.
    pub fn resolve(&self) -> Result<Platform> {
        let platform = match &self.platform {
            Some(file) => named_or_read(file)?,
            None => Platform::this_machine()?,
        };
        let platform = match &self.cpus {
            Some(text) => restrict(platform, text)?,
            None => platform,
        };
        self.clustered(platform)
    }

    /// The platform to be simulated: `--cpus` alone is a machine of that many identical CPUs.
    pub fn resolve_simulated(&self) -> Result<Platform> {
        match (&self.platform, &self.cpus) {
            (None, Some(text)) => self.clustered(identical_cores(text)?),
            _ => self.resolve(),
        }
    }

    /// Whether [`PlatformArguments::resolve_simulated`] gives this machine: it is neither described nor counted.
    pub fn is_this_machine(&self) -> bool {
        self.platform.is_none() && self.cpus.is_none()
    }

    fn clustered(&self, platform: Platform) -> Result<Platform> {
        match self.clusters.as_deref() {
            None | Some("llc") => Ok(platform),
            Some("each") => {
                let each = platform.cpus().iter().map(|cpu| CpuList::from_iter([cpu])).collect();
                platform.with_clusters(each)
            }
            Some("all") => {
                let all = vec![platform.cpus()];
                platform.with_clusters(all)
            }
            Some(lists) => lists
                .split(';')
                .map(str::parse)
                .collect::<Result<_>>()
                .and_then(|clusters| platform.with_clusters(clusters))
                .map_err(|error| {
                    let error = error.context(format!("--clusters `{lists}`"));
                    match error.hint.clone() {
                        Some(hint) => {
                            error.hint(format!("write llc, each, all, or lists as in `0-3;4-7`; {hint}"))
                        }
                        None => error,
                    }
                }),
        }
    }
}

/// A file goes before a name; what is neither is more likely a file that is missing.
fn named_or_read(file: &Path) -> Result<Platform> {
    let named = file.to_str().filter(|_| !file.exists() && file != Path::new(STANDARD));
    match named.map(ShippedPlatform::named) {
        Some(Ok(platform)) => Ok(platform),
        Some(Err(none)) if file.components().count() == 1 && file.extension().is_none() => Err(none),
        _ => read_platform(&crate::shipped::located(file)),
    }
}

/// More CPUs than this are not simulated.
const SIMULATED_CPUS_MAX: u32 = 1024;

/// A machine of identical CPUs: a number of them, or a list.
fn identical_cores(text: &str) -> Result<Platform> {
    let refused = |why: &str| {
        Diagnostic::usage(format!("--cpus `{text}`: {why}")).hint(format!(
            "give 1 to {SIMULATED_CPUS_MAX} identical CPUs, or describe others with --platform"
        ))
    };
    if let Ok(count) = text.trim().parse::<u64>() {
        let count = u32::try_from(count).ok().filter(|count| (1..=SIMULATED_CPUS_MAX).contains(count));
        return Platform::symmetric(count.ok_or_else(|| refused("that is no number of CPUs"))?);
    }
    let wanted: CpuList = text.parse().map_err(|error: Diagnostic| error.context("--cpus"))?;
    match wanted.iter().last() {
        Some(highest) if highest < SIMULATED_CPUS_MAX => {
            Platform::symmetric(highest + 1)?.restricted(&wanted)
        }
        Some(_) => Err(refused("CPU numbers are too high")),
        None => Err(refused("it names no CPU")),
    }
}

/// Some CPUs of a platform: a number of them, or a list.
///
/// # Errors
///
/// It has not so many, or not these.
pub fn restrict(platform: Platform, text: &str) -> Result<Platform> {
    let all = platform.cpus();
    let wanted = match text.trim().parse::<usize>() {
        Ok(count) if count > 0 && count <= all.len() => all.iter().take(count).collect(),
        Ok(count) => {
            return Err(Diagnostic::usage(format!(
                "--cpus {count}: the platform `{}` has {} ({all})",
                platform.name(),
                plural(all.len(), "CPU")
            ))
            .hint(
                "ask for between 1 and that many; where a command has --platform, it describes another one",
            ));
        }
        Err(_) => text.parse::<CpuList>().map_err(|error| error.context("--cpus"))?,
    };
    if wanted.is_empty() || !wanted.is_subset(&all) {
        return Err(Diagnostic::usage(format!(
            "--cpus `{text}`: the platform `{}` has {}",
            platform.name(),
            cpus_named(&all)
        ))
        .hint("name CPUs of the platform; `laxity list --as-platform` shows this machine's"));
    }
    platform.restricted(&wanted)
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
