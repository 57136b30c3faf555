//! Which CPUs, as a user says it: a platform by its name or file, some of its CPUs, and how they are clustered.

use crate::charges::{Kernel, Locate};
use laxity_model::{
    CpuList, Diagnostic, Platform, Result, STANDARD, ShippedPlatform, Speed, cpus_named, plural,
    read_platform,
};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// More CPUs than this are not simulated.
const SIMULATED_CPUS_MAX: u32 = 4096;

/// Which CPUs; by default all of this machine that laxity may use.
#[derive(Debug, Clone)]
pub struct PlatformChoice {
    /// A file of a platform, or the name of one.
    pub platform: Option<PathBuf>,
    /// A number of CPUs, or a list such as `0-3,8`.
    pub cpus: Option<String>,
    /// `llc`, `each`, `all`, or lists as in `0-3;4-7`.
    pub clusters: Option<String>,
    /// Where the file is.
    pub locate: Locate,
}

impl PlatformChoice {
    /// The kernel beside which something is proven on this platform: the running one if the platform is this machine.
    pub fn kernel_of(&self, platform: &Platform, no_background: bool) -> Kernel {
        match self.is_this_machine() {
            true => Kernel::running(&platform.cpus(), no_background),
            false => Kernel::linux(no_background),
        }
    }

    /// The platform.
    ///
    /// # Errors
    ///
    /// A file that is no platform, an unknown name; CPUs that it does not have, clusters that are not of its CPUs.
    pub fn resolve(&self) -> Result<Platform> {
        let platform = match &self.platform {
            Some(file) => self.named_or_read(file)?,
            None => Platform::this_machine()?,
        };
        let platform = match &self.cpus {
            Some(text) => restrict(platform, text)?,
            None => platform,
        };
        self.clustered(platform)
    }

    /// The platform to be simulated: CPUs alone are a machine of that many identical CPUs.
    ///
    /// # Errors
    ///
    /// As [`PlatformChoice::resolve`]; too many CPUs.
    pub fn resolve_simulated(&self) -> Result<Platform> {
        match (&self.platform, &self.cpus) {
            (None, Some(text)) => self.clustered(identical_cores(text)?),
            _ => self.resolve(),
        }
    }

    /// Whether [`PlatformChoice::resolve_simulated`] gives this machine: it is neither described nor counted.
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

    /// A file goes before a name; what is neither is more likely a file that is missing.
    fn named_or_read(&self, file: &Path) -> Result<Platform> {
        let named = file.to_str().filter(|_| !file.exists() && file != Path::new(STANDARD));
        match named.map(ShippedPlatform::named) {
            Some(Ok(platform)) => Ok(platform),
            Some(Err(none)) if file.components().count() == 1 && file.extension().is_none() => Err(none),
            _ => read_platform(&(self.locate)(file)),
        }
    }
}

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

/// Speeds of CPUs, in the order of their numbers: `1,1,0.5,0.5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speeds(pub Vec<Speed>);

impl FromStr for Speeds {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        text.split(',').map(|speed| speed.trim().parse()).collect::<Result<_>>().map(Speeds)
    }
}

impl Speeds {
    /// The platform with these speeds.
    ///
    /// # Errors
    ///
    /// There are not as many as CPUs.
    pub fn of(&self, platform: &Platform) -> Result<Platform> {
        let Speeds(given) = self;
        if given.len() != platform.core_count() {
            return Err(Diagnostic::usage(format!(
                "--speeds: {} speeds for {} CPUs (CPUs {})",
                given.len(),
                platform.core_count(),
                platform.cpus()
            ))
            .hint("give one for each CPU that real-time tasks run on, in the order of their numbers"));
        }
        let with_speed =
            |(core, &speed): (&laxity_model::Core, &Speed)| laxity_model::Core { cpu: core.cpu, speed };
        let cores = platform.cores().iter().zip(given).map(with_speed).collect();
        let (caches, nodes) = (platform.caches().to_vec(), platform.numa_nodes().to_vec());
        Platform::new(platform.name(), cores, caches, nodes, Some(platform.clusters().to_vec()))
    }
}
