//! Debian's archives, through an apt configuration of laxity's own: neither the system's sources nor its state are
//! used or changed.
//!
//! Up to 6.18, `linux-image-RELEASE` holds the kernel in boot/; from 6.19 on it is in `linux-binary-RELEASE`, in
//! usr/lib/modules/RELEASE/.

use crate::cache::{Cache, Kernel};
use crate::process::finish;
use crate::version::KernelVersion;
use crate::{Audience, Flavour};
use laxity_model::{Diagnostic, Result, cannot_write};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

const MIRROR: &str = "http://deb.debian.org/debian";
/// Suites whose kernels have sched_ext.
const SUITES: [&str; 2] = ["trixie-backports", "sid"];
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Lists older than that are fetched anew where possible.
const LISTS_STAY_FRESH: Duration = Duration::from_secs(24 * 3600);
const WITHOUT_APT: &str = "get a kernel with sched_ext in another way and name it with --kernel FILE";

/// A kernel in the archives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The package that has the image.
    pub name: String,
    /// The kernel in it.
    pub version: KernelVersion,
}

/// The archives, as seen from a cache.
pub struct Archive<'a> {
    cache: &'a Cache,
    root: PathBuf,
    interrupt: &'a AtomicBool,
}

impl<'a> Archive<'a> {
    /// Prepares apt's directories and its list of sources.
    ///
    /// # Errors
    /// This is not Debian, or the cache cannot be written.
    pub fn open(cache: &'a Cache, interrupt: &'a AtomicBool) -> Result<Self> {
        for (program, package) in [("apt-get", "apt"), ("apt-cache", "apt"), ("dpkg-deb", "dpkg")] {
            if find_program(program).is_none() {
                return Err(Diagnostic::environment(format!(
                    "kernels are fetched from Debian's archives by apt, and {program} (package {package}) is not here"
                ))
                .hint(WITHOUT_APT));
            }
        }
        if !Path::new(KEYRING).is_file() {
            return Err(Diagnostic::environment(format!(
                "{KEYRING} is missing: the keys that Debian's archives are signed with"
            ))
            .hint(format!("apt-get install debian-archive-keyring, or {WITHOUT_APT}")));
        }
        let root = cache.root().join("apt");
        let archive = Archive { cache, root, interrupt };
        archive.prepare().map_err(|error| {
            cannot_write(&archive.root, &error)
                .of_environment()
                .hint("set LAXITY_VM_CACHE to a directory that you may write to")
        })?;
        Ok(archive)
    }

    fn prepare(&self) -> std::io::Result<()> {
        for directory in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(self.root.join(directory))?;
        }
        let mirror = std::env::var("LAXITY_VM_MIRROR").ok().filter(|mirror| !mirror.is_empty());
        let mirror = mirror.as_deref().unwrap_or(MIRROR);
        let sources: String = SUITES
            .iter()
            .map(|suite| format!("deb [arch=amd64 signed-by={KEYRING}] {mirror} {suite} main\n"))
            .collect();
        fs::write(self.root.join("sources.list"), sources)
    }

    /// An apt program that knows nothing but these archives.
    fn apt(&self, program: &str) -> Command {
        let at = |name: &str| self.root.join(name).to_string_lossy().into_owned();
        let mut command = Command::new(program);
        let options = [
            format!("Dir::Etc::sourcelist={}", at("sources.list")),
            "Dir::Etc::sourceparts=/dev/null".into(),
            "Dir::Etc::preferencesparts=/dev/null".into(),
            format!("Dir::State::Lists={}", at("lists")),
            "Dir::State::status=/dev/null".into(),
            format!("Dir::Cache={}", at("cache")),
            "APT::Architecture=amd64".into(),
            "APT::Architectures=amd64".into(),
            "APT::Sandbox::User=root".into(),
            "Acquire::Languages=none".into(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".into(),
            "Acquire::Retries=2".into(),
            "Acquire::http::Timeout=30".into(),
        ];
        for option in options {
            command.arg("-o").arg(option);
        }
        command.env("LC_ALL", "C");
        command
    }

    /// Fetches the lists of packages, unless they are fresh.
    ///
    /// # Errors
    /// There are no lists, and none can be fetched.
    pub fn update(&self, audience: &mut dyn Audience) -> Result<()> {
        let stamp = self.root.join("updated");
        let age = fs::metadata(&stamp).and_then(|found| found.modified()).ok();
        let age = age.and_then(|when| SystemTime::now().duration_since(when).ok());
        if age.is_some_and(|age| age < LISTS_STAY_FRESH) {
            return Ok(());
        }
        audience.words("vm: fetching the lists of Debian's kernels");
        let mut update = self.apt("apt-get");
        update.args(["update", "-qq", "--error-on=any"]);
        match finish(&mut update, self.interrupt, audience, || None) {
            Ok(_) => fs::write(&stamp, "").map_err(|error| cannot_write(&stamp, &error).of_environment()),
            Err(error) if error == crate::process::interrupted() => Err(error),
            Err(_) if age.is_some() => {
                audience.words(
                    "vm: the lists of Debian's kernels cannot be fetched; the ones from last time will do",
                );
                Ok(())
            }
            Err(error) => Err(error.context("cannot fetch the lists of Debian's kernels").hint(format!(
                "is there a network? LAXITY_VM_MIRROR names another mirror than {MIRROR}; or {WITHOUT_APT}"
            ))),
        }
    }

    /// The kernels of a flavour, newest first.
    ///
    /// # Errors
    /// apt fails.
    pub fn packages(&self, flavour: Flavour, audience: &mut dyn Audience) -> Result<Vec<Package>> {
        let mut search = self.apt("apt-cache");
        search.args(["search", "--names-only", r"^linux-(image|binary)-[0-9].*-amd64$"]);
        let found = finish(&mut search, self.interrupt, audience, || None)?;
        Ok(packages_of(&found, flavour))
    }

    /// Downloads a kernel into the cache.
    ///
    /// # Errors
    /// It cannot be fetched, is not what it says, or there is no room.
    pub fn fetch(&self, package: &Package, audience: &mut dyn Audience) -> Result<Kernel> {
        let scratch = self.cache.scratch()?;
        let size = self.size_mib(package, audience);
        let of_size = size.map_or_else(String::new, |size| format!(" ({size} MiB)"));
        audience.words(&format!("vm: fetching {}{of_size}", package.name));
        let mut download = self.apt("apt-get");
        download.args(["download", "-qq", &package.name]).current_dir(scratch.path());
        finish(&mut download, self.interrupt, audience, || {
            let so_far = directory_bytes(scratch.path()) >> 20;
            Some(format!("vm:   {so_far}{} MiB", size.map_or_else(String::new, |size| format!(" of {size}"))))
        })
        .map_err(|error| match error == crate::process::interrupted() {
            true => error,
            false => error
                .context(format!("cannot fetch {}", package.name))
                .hint("is there a network? is the disk full?"),
        })?;
        let deb = files_in(scratch.path())
            .into_iter()
            .find(|path| path.extension().is_some_and(|ending| ending == "deb"))
            .ok_or_else(|| Diagnostic::environment(format!("apt has fetched no {}", package.name)))?;
        let unpacked = scratch.path().join("unpacked");
        finish(
            Command::new("dpkg-deb").arg("-x").arg(&deb).arg(&unpacked),
            self.interrupt,
            audience,
            || None,
        )?;
        let release = package.version.release();
        let places = [format!("boot/vmlinuz-{release}"), format!("usr/lib/modules/{release}/vmlinuz")];
        let image = places.iter().map(|place| unpacked.join(place)).find(|path| path.is_file());
        let image = image.ok_or_else(|| {
            Diagnostic::environment(format!(
                "{} has no kernel where kernels are: {}",
                package.name,
                places.join(", ")
            ))
        })?;
        self.cache.add(&image)
    }

    /// How large a package is, if apt says so.
    fn size_mib(&self, package: &Package, audience: &mut dyn Audience) -> Option<u64> {
        let mut show = self.apt("apt-cache");
        show.args(["show", "--no-all-versions", &package.name]);
        let shown = finish(&mut show, self.interrupt, audience, || None).ok()?;
        let size = shown.lines().find_map(|line| line.strip_prefix("Size: "))?;
        Some(size.trim().parse::<u64>().ok()?.div_ceil(1 << 20))
    }
}

/// Reads `apt-cache search`, newest first.
fn packages_of(found: &str, flavour: Flavour) -> Vec<Package> {
    let mut by_release: BTreeMap<&str, &str> = BTreeMap::new();
    for name in found.lines().filter_map(|line| line.split(" - ").next()).map(str::trim) {
        let in_binary = name.strip_prefix("linux-binary-");
        let Some(release) = in_binary.or_else(|| name.strip_prefix("linux-image-")) else { continue };
        // Where both exist, `linux-image` only depends on `linux-binary`.
        if in_binary.is_some() || !by_release.contains_key(release) {
            by_release.insert(release, name);
        }
    }
    let package = |(release, name): (&str, &str)| {
        Some(Package { name: name.to_owned(), version: release.parse().ok()? })
    };
    let of_flavour = by_release.into_iter().filter(|(release, _)| flavour.has(release));
    let mut packages: Vec<Package> = of_flavour.filter_map(package).collect();
    packages.sort_by(|a, b| b.version.cmp(&a.version));
    packages
}

/// A program of this name in PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    std::env::split_paths(&std::env::var_os("PATH")?).map(|directory| directory.join(name)).find(is_program)
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn directory_bytes(directory: &Path) -> u64 {
    files_in(directory).iter().filter_map(|path| fs::metadata(path).ok()).map(|found| found.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: &str = "\
linux-binary-6.19.6+deb13-amd64 - Binary for Linux 6.19.6 (signed)
linux-binary-6.19.6+deb13-cloud-amd64 - Binary for Linux 6.19.6 (signed)
linux-binary-7.3.4+deb13-cloud-amd64 - Linux 7.3.4 for x86-64 cloud (kernel image)
linux-binary-7.3.4+deb13-rt-amd64 - Linux 7.3.4 for 64-bit PCs (kernel image)
linux-image-6.18.15+deb13-cloud-amd64 - Linux 6.18.15 for x86-64 cloud (signed)
linux-image-6.18.15+deb13-rt-amd64 - Linux 6.18.15 for 64-bit PCs (signed), PREEMPT_RT
linux-image-6.18.9+deb13-cloud-amd64 - Linux 6.18.9 for x86-64 cloud (signed)
linux-image-6.19.6+deb13-cloud-amd64 - Linux 6.19.6 for x86-64 cloud
linux-image-cloud-amd64 - Linux for x86-64 cloud (meta-package)
linux-image-7.3.4+deb13-cloud-amd64-dbg - Debug symbols
nonsense
";

    #[test]
    fn the_package_with_the_image_is_found_newest_first() {
        let found =
            |flavour| packages_of(FOUND, flavour).into_iter().map(|package| package.name).collect::<Vec<_>>();
        let cloud = [
            "linux-binary-7.3.4+deb13-cloud-amd64",
            "linux-binary-6.19.6+deb13-cloud-amd64",
            "linux-image-6.18.15+deb13-cloud-amd64",
            "linux-image-6.18.9+deb13-cloud-amd64",
        ];
        assert_eq!(found(Flavour::Cloud), cloud);
        assert_eq!(
            found(Flavour::Rt),
            ["linux-binary-7.3.4+deb13-rt-amd64", "linux-image-6.18.15+deb13-rt-amd64"]
        );
        assert_eq!(found(Flavour::Generic), ["linux-binary-6.19.6+deb13-amd64"]);
    }

    #[test]
    fn nothing_found_is_no_package() {
        assert!(packages_of("", Flavour::Cloud).is_empty());
    }
}
