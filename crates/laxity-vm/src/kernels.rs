//! Which kernel to boot: a file, or the newest good one of a line, from the cache or else from the archives.

use crate::archive::{Archive, Package};
use crate::cache::{Cache, Kernel};
use crate::preflight::{KNOWN_GOOD, Preflight, preflight, worth_fetching};
use crate::version::{KernelVersion, Line};
use crate::{Audience, Flavour};
use laxity_model::{Diagnostic, Result, ShownPath as _};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// How many kernels of a line are fetched in the hope that they pass.
const TRIES: usize = 4;

/// Where a kernel comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelChoice {
    /// An image that is there.
    File(PathBuf),
    /// The newest good one.
    Line {
        /// Of this line.
        line: Line,
        /// Of this flavour.
        flavour: Flavour,
        /// Only what is in the cache.
        offline: bool,
    },
}

impl Default for KernelChoice {
    fn default() -> Self {
        KernelChoice::Line { line: Line::long_term(), flavour: Flavour::Cloud, offline: false }
    }
}

/// Finds, and if need be fetches, a kernel. With `any`, one that fails the preflight too.
///
/// # Errors
/// There is none, it cannot be fetched, or it fails the preflight.
pub fn find(
    choice: &KernelChoice,
    any: bool,
    interrupt: &AtomicBool,
    audience: &mut dyn Audience,
) -> Result<Kernel> {
    let kernel = match choice {
        KernelChoice::File(path) => {
            Kernel { path: path.clone(), unpacked: None, preflight: preflight(path)? }
        }
        KernelChoice::Line { line, flavour, offline } => {
            let cache = Cache::open()?;
            let search = Search { cache: &cache, line, flavour: *flavour, any };
            match search.cached_suffices(*offline) {
                Some(kernel) => kernel,
                None if *offline => return Err(search.nothing_cached()),
                None => search.fetch(interrupt, audience)?,
            }
        }
    };
    if !any {
        kernel.preflight.require()?;
    }
    Ok(kernel)
}

struct Search<'a> {
    cache: &'a Cache,
    line: &'a Line,
    flavour: Flavour,
    any: bool,
}

impl Search<'_> {
    /// A kernel of the line that is there already. What is newest, only the archives know.
    fn cached_suffices(&self, offline: bool) -> Option<Kernel> {
        (offline || *self.line != Line::Newest).then(|| self.cached()).flatten()
    }

    fn cached(&self) -> Option<Kernel> {
        let mut kernels = self.cache.kernels(self.flavour).into_iter();
        kernels
            .find(|(version, kernel)| self.line.has(version) && self.will_do(&kernel.preflight))
            .map(|(_, k)| k)
    }

    fn will_do(&self, preflight: &Preflight) -> bool {
        // If one version is named, what is wrong with it is to be said.
        self.any || self.line.is_one_version() || preflight.passes()
    }

    fn fetch(&self, interrupt: &AtomicBool, audience: &mut dyn Audience) -> Result<Kernel> {
        let _lock = self.cache.lock(interrupt, audience)?;
        // The process that held the lock may have fetched it.
        if let Some(kernel) = self.cached_suffices(false) {
            return Ok(kernel);
        }
        let listed = Archive::open(self.cache, interrupt)
            .and_then(|archive| archive.update(audience).map(|()| archive))
            .and_then(|archive| archive.packages(self.flavour, audience).map(|packages| (archive, packages)));
        let (archive, packages) = match listed {
            Ok(listed) => listed,
            // Without a network, the newest is the newest that is here.
            Err(error) if error != crate::process::interrupted() => return self.cached().ok_or(error),
            Err(error) => return Err(error),
        };
        for package in self.candidates(&packages).into_iter().take(TRIES) {
            let kernel = self.obtain(&archive, package, audience)?;
            if self.will_do(&kernel.preflight) {
                return Ok(kernel);
            }
            if let Some(problem) = &kernel.preflight.problem {
                audience.words(&format!("vm: kernel {} {}", kernel.preflight.release, problem.words()));
            }
        }
        Err(self.nothing_good(&packages))
    }

    /// From the cache if it is there.
    fn obtain(&self, archive: &Archive, package: &Package, audience: &mut dyn Audience) -> Result<Kernel> {
        let mut kernels = self.cache.kernels(self.flavour).into_iter();
        match kernels.find(|(version, _)| *version == package.version) {
            Some((_, kernel)) => Ok(kernel),
            None => archive.fetch(package, audience),
        }
    }

    /// Kernels of the line, newest first, without those that are known to fail.
    fn candidates<'p>(&self, packages: &'p [Package]) -> Vec<&'p Package> {
        let in_line = packages.iter().filter(|package| self.line.has(&package.version));
        let hopeful = |package: &&Package| {
            self.any || self.line.is_one_version() || worth_fetching(package.version.numbers)
        };
        in_line.filter(hopeful).collect()
    }

    fn nothing_cached(&self) -> Diagnostic {
        Diagnostic::environment(format!(
            "{} has no good kernel of line {} ({})",
            self.cache.root().shown(),
            self.line,
            self.flavour
        ))
        .hint("run it once without --offline, or name a kernel with --kernel FILE")
    }

    fn nothing_good(&self, packages: &[Package]) -> Diagnostic {
        let mut lines: Vec<String> = Vec::new();
        for package in packages.iter().filter(|package| worth_fetching(package.version.numbers)) {
            let [major, minor, _] = package.version.numbers;
            let line = format!("{major}.{minor}");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        Diagnostic::environment(format!(
            "Debian's archives have no good kernel of line {} ({}) any more",
            self.line, self.flavour
        ))
        .hint(format!("they have {}; {KNOWN_GOOD}", lines.join(", ")))
    }
}

/// One kernel of [`known`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KnownKernel {
    /// Its release.
    pub release: String,
    /// Whether its image is here.
    pub cached: bool,
    /// Whether it is in the archives now; nothing if that was not looked up.
    pub in_archive: Option<bool>,
    /// Whether it can load sched_ext schedulers; nothing if it has not been examined.
    pub passes: Option<bool>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// The image.
    pub path: Option<PathBuf>,
}

/// Kernels of a flavour in the cache and, unless `offline`, in the archives, newest first.
///
/// # Errors
/// The cache or, unless `offline`, the archives cannot be read.
pub fn known(
    flavour: Flavour,
    offline: bool,
    interrupt: &AtomicBool,
    audience: &mut dyn Audience,
) -> Result<Vec<KnownKernel>> {
    let cache = Cache::open()?;
    let packages = if offline {
        None
    } else {
        let _lock = cache.lock(interrupt, audience)?;
        let archive = Archive::open(&cache, interrupt)?;
        archive.update(audience)?;
        Some(archive.packages(flavour, audience)?)
    };
    let mut listed: Vec<(KernelVersion, KnownKernel)> = cache
        .kernels(flavour)
        .into_iter()
        .map(|(version, kernel)| {
            let in_archive =
                packages.as_ref().map(|all| all.iter().any(|package| package.version == version));
            (version, of_cached(kernel, in_archive))
        })
        .collect();
    for package in packages.into_iter().flatten() {
        if listed.iter().all(|(version, _)| *version != package.version) {
            let known = of_archive(&package.version);
            listed.push((package.version, known));
        }
    }
    listed.sort_by(|(a, _), (b, _)| b.cmp(a));
    Ok(listed.into_iter().map(|(_, known)| known).collect())
}

fn of_cached(kernel: Kernel, in_archive: Option<bool>) -> KnownKernel {
    let found = kernel.preflight;
    KnownKernel {
        cached: true,
        in_archive,
        passes: found.not_examined.is_none().then(|| found.passes()),
        problem: found.problem.map(|problem| problem.words()).or(found.not_examined),
        release: found.release,
        path: Some(kernel.path),
    }
}

fn of_archive(version: &KernelVersion) -> KnownKernel {
    let bad = !worth_fetching(version.numbers);
    KnownKernel {
        release: version.release().to_owned(),
        cached: false,
        in_archive: Some(true),
        passes: bad.then_some(false),
        problem: bad.then(|| "known to be built without sched_ext, or with broken BTF".to_owned()),
        path: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages() -> Vec<Package> {
        let releases = ["7.3.4", "7.2.12", "7.2.11", "6.18.15", "6.18.9", "6.12.48"];
        releases
            .iter()
            .map(|release| Package {
                name: format!("linux-image-{release}"),
                version: release.parse().expect("a version"),
            })
            .collect()
    }

    fn candidates(line: &str, any: bool) -> Vec<String> {
        let directory = tempfile::tempdir().expect("directory");
        let cache = Cache::at(directory.path()).expect("a cache");
        let line: Line = line.parse().expect("a line");
        let search = Search { cache: &cache, line: &line, flavour: Flavour::Cloud, any };
        let all = packages();
        search.candidates(&all).iter().map(|package| package.version.release().to_owned()).collect()
    }

    #[test]
    fn candidates_are_the_hopeful_ones_of_the_line() {
        assert_eq!(candidates("6.18", false), ["6.18.15", "6.18.9"]);
        assert_eq!(candidates("newest", false), ["7.3.4", "7.2.11", "6.18.15", "6.18.9"]);
        assert_eq!(candidates("7.2", false), ["7.2.11"]);
        assert_eq!(candidates("7.2.12", false), ["7.2.12"], "a version that is named is taken");
        assert_eq!(candidates("6.12", false), Vec::<String>::new());
        assert_eq!(candidates("6.12", true), ["6.12.48"]);
    }

    #[test]
    fn a_line_that_is_gone_names_what_there_is() {
        let directory = tempfile::tempdir().expect("directory");
        let cache = Cache::at(directory.path()).expect("a cache");
        let line: Line = "6.17".parse().expect("a line");
        let search = Search { cache: &cache, line: &line, flavour: Flavour::Cloud, any: false };
        let said = search.nothing_good(&packages());
        assert_eq!(said.failure.exit_code(), 3);
        assert!(said.hint.is_some_and(|hint| hint.contains("7.3, 7.2, 6.18;")), "{}", said.message);
        assert!(search.cached().is_none());
    }
}
