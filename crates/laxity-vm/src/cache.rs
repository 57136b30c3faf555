//! What is kept between calls: kernels with what is known of them, apt's lists, and whether KVM works here.
//!
//! `LAXITY_VM_CACHE`, else `$XDG_CACHE_HOME/laxity/vm`, else `~/.cache/laxity/vm`. Everything appears whole or not at
//! all, by renaming; `lock` is held while something is added.

use crate::elf::Elf;
use crate::preflight::{Preflight, examine};
use crate::process::{LOOK_EVERY, interrupted};
use crate::version::KernelVersion;
use crate::{Audience, Flavour};
use laxity_model::{Diagnostic, Result, ShownPath as _, cannot_write};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Room that fetching a kernel takes at most: the package, and what is in it.
const ROOM_BYTES: u64 = 900 << 20;
const PREFLIGHT_FILE: &str = "preflight.json";
const KERNEL_FILE: &str = "vmlinuz";
const UNPACKED_FILE: &str = "vmlinux";

/// A kernel that can be booted.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The image.
    pub path: PathBuf,
    /// The same, unpacked, if it boots like that: an emulated processor takes a second to unpack it.
    pub unpacked: Option<PathBuf>,
    /// What is known of it.
    pub preflight: Preflight,
}

/// The directory.
pub struct Cache {
    root: PathBuf,
}

/// Held while the cache is changed.
pub struct CacheLock {
    _file: File,
}

impl Cache {
    /// Opens the user's cache, and makes it if there is none.
    ///
    /// # Errors
    /// There is no place for it, or it cannot be written.
    pub fn open() -> Result<Self> {
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = variable("LAXITY_VM_CACHE")
            .or_else(|| variable("XDG_CACHE_HOME").map(|base| base.join("laxity/vm")))
            .or_else(|| variable("HOME").map(|home| home.join(".cache/laxity/vm")))
            .ok_or_else(|| {
                Diagnostic::environment(
                    "there is no place to keep kernels: neither HOME nor XDG_CACHE_HOME is set",
                )
                .hint("set LAXITY_VM_CACHE to a directory")
            })?;
        Self::at(&root)
    }

    /// The cache in this directory.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn at(root: &Path) -> Result<Self> {
        let absolute = std::path::absolute(root).map_err(|error| cannot(root, &error))?;
        fs::create_dir_all(absolute.join("kernels")).map_err(|error| cannot(root, &error))?;
        Ok(Cache { root: absolute })
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Waits until no other process changes the cache.
    ///
    /// # Errors
    /// It cannot be locked, or `interrupt` became true.
    pub fn lock(&self, interrupt: &AtomicBool, audience: &mut dyn Audience) -> Result<CacheLock> {
        let path = self.root.join("lock");
        let file = File::create(&path).map_err(|error| cannot(&path, &error))?;
        let mut said = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(CacheLock { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(cannot(&path, &error.into())),
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            if !std::mem::replace(&mut said, true) {
                audience.words("vm: waiting for another laxity that fetches a kernel");
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// A new directory in the cache that vanishes unless something in it is renamed.
    ///
    /// # Errors
    /// It cannot be made, or there is no room for a kernel.
    pub fn scratch(&self) -> Result<tempfile::TempDir> {
        let room = rustix::fs::statvfs(&self.root).map_err(|error| cannot(&self.root, &error.into()))?;
        let free = room.f_bavail.saturating_mul(room.f_frsize);
        if free < ROOM_BYTES {
            return Err(Diagnostic::environment(format!(
                "{} has {} MiB free; fetching a kernel takes up to {} MiB",
                self.root.shown(),
                free >> 20,
                ROOM_BYTES >> 20
            ))
            .hint("make room, or set LAXITY_VM_CACHE to a directory on another disk"));
        }
        tempfile::Builder::new()
            .prefix("fetching-")
            .tempdir_in(&self.root)
            .map_err(|error| cannot(&self.root, &error))
    }

    /// Adds a kernel, with what the preflight says of it; the file is moved.
    ///
    /// # Errors
    /// The file is no kernel, or the cache cannot be written.
    pub fn add(&self, image: &Path) -> Result<Kernel> {
        let (known, vmlinux) = examine(image)?;
        let vmlinux = vmlinux.filter(|bytes| Elf::new(bytes).is_some_and(|elf| elf.boots_as_it_is()));
        let directory = image.parent().unwrap_or(Path::new(".")).join("kernel");
        let place = self.place(&known.release)?;
        let text = serde_json::to_string_pretty(&known)
            .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
        fs::create_dir(&directory)
            .and_then(|()| fs::rename(image, directory.join(KERNEL_FILE)))
            .and_then(|()| fs::write(directory.join(PREFLIGHT_FILE), text))
            .and_then(|()| match &vmlinux {
                Some(bytes) => fs::write(directory.join(UNPACKED_FILE), bytes),
                None => Ok(()),
            })
            .and_then(|()| match place.exists() {
                // Damaged, or it would not have been fetched again.
                true => fs::remove_dir_all(&place),
                false => Ok(()),
            })
            .and_then(|()| fs::rename(&directory, &place))
            .map_err(|error| cannot(&place, &error))?;
        Ok(Kernel {
            path: place.join(KERNEL_FILE),
            unpacked: vmlinux.is_some().then(|| place.join(UNPACKED_FILE)),
            preflight: known,
        })
    }

    fn place(&self, release: &str) -> Result<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "+-._~".contains(c);
        if release.starts_with('.') || !release.chars().all(plain) {
            return Err(Diagnostic::usage(format!("`{release}` is a strange release for a kernel")));
        }
        Ok(self.root.join("kernels").join(release))
    }

    /// The kernels of this flavour, newest first.
    pub fn kernels(&self, flavour: Flavour) -> Vec<(KernelVersion, Kernel)> {
        let entries = fs::read_dir(self.root.join("kernels")).into_iter().flatten().flatten();
        let mut kernels: Vec<(KernelVersion, Kernel)> = entries
            .filter_map(|entry| known_kernel(&entry.path()))
            .filter(|(v, _)| flavour.has(v.release()))
            .collect();
        kernels.sort_by(|(a, _), (b, _)| b.cmp(a));
        kernels
    }

    /// Keeps something small under a name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn remember<T: Serialize>(&self, name: &str, what: &T) -> Result<()> {
        let path = self.root.join(name);
        let mut draft = tempfile::NamedTempFile::new_in(&self.root).map_err(|error| cannot(&path, &error))?;
        serde_json::to_writer_pretty(&mut draft, what)
            .map_err(std::io::Error::from)
            .and_then(|()| draft.persist(&path).map_err(|error| error.error))
            .map_err(|error| cannot(&path, &error))?;
        Ok(())
    }

    /// What was kept under this name, if it is still understood.
    pub fn recall<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.root.join(name)).ok()?).ok()
    }
}

fn known_kernel(directory: &Path) -> Option<(KernelVersion, Kernel)> {
    let preflight: Preflight =
        serde_json::from_slice(&fs::read(directory.join(PREFLIGHT_FILE)).ok()?).ok()?;
    let version = preflight.release.parse().ok()?;
    let file = |name: &str| Some(directory.join(name)).filter(|path| path.is_file());
    Some((version, Kernel { path: file(KERNEL_FILE)?, unpacked: file(UNPACKED_FILE), preflight }))
}

fn cannot(path: &Path, error: &std::io::Error) -> Diagnostic {
    cannot_write(path, error)
        .of_environment()
        .hint("set LAXITY_VM_CACHE to a directory that you may write to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::forge::btf;
    use crate::image::forge;
    use crate::tests::Quiet;

    fn add(cache: &Cache, release: &str, with_sched_ext: bool) -> Kernel {
        let scratch = tempfile::tempdir_in(cache.root()).expect("directory");
        let image = scratch.path().join("vmlinuz-new");
        let vmlinux = forge::vmlinux(&[(".BTF", &btf(with_sched_ext, &[("scx_bpf_now", true)]))]);
        fs::write(&image, forge::zstd_image(&format!("{release} (x)"), &vmlinux)).expect("write");
        cache.add(&image).expect("a kernel")
    }

    #[test]
    fn kernels_are_kept_with_what_is_known_of_them() {
        let directory = tempfile::tempdir().expect("directory");
        let cache = Cache::at(directory.path()).expect("a cache");
        let releases = ["6.18.9+deb13-cloud-amd64", "6.18.15+deb13-cloud-amd64", "6.18.15+deb13-rt-amd64"];
        for release in releases {
            add(&cache, release, release != releases[1]);
        }
        // A second time replaces it.
        add(&cache, releases[0], true);
        let found: Vec<(String, bool)> = cache
            .kernels(Flavour::Cloud)
            .into_iter()
            .map(|(version, kernel)| {
                assert!(kernel.path.is_file());
                (version.release().to_owned(), kernel.preflight.passes())
            })
            .collect();
        assert_eq!(found, [(releases[1].to_owned(), false), (releases[0].to_owned(), true)]);
        assert_eq!(cache.kernels(Flavour::Rt).len(), 1);
        let left: Vec<_> = fs::read_dir(directory.path()).expect("readable").flatten().collect();
        assert_eq!(left.len(), 1, "nothing but the kernels: {left:?}");
    }

    #[test]
    fn damaged_entries_are_as_if_they_were_not_there() {
        let directory = tempfile::tempdir().expect("directory");
        let cache = Cache::at(directory.path()).expect("a cache");
        let kernel = add(&cache, "6.18.15+deb13-cloud-amd64", true);
        fs::remove_file(&kernel.path).expect("removed");
        fs::create_dir(directory.path().join("kernels/stray")).expect("made");
        assert!(cache.kernels(Flavour::Cloud).is_empty());
        fs::write(directory.path().join("kvm.json"), "{").expect("write");
        assert_eq!(cache.recall::<u32>("kvm.json"), None);
        cache.remember("kvm.json", &7u32).expect("kept");
        assert_eq!(cache.recall::<u32>("kvm.json"), Some(7));
    }

    #[test]
    fn releases_cannot_leave_the_cache() {
        let directory = tempfile::tempdir().expect("directory");
        let cache = Cache::at(directory.path()).expect("a cache");
        assert!(cache.place("../../etc").is_err() && cache.place("..").is_err());
        assert!(cache.place("6.18.15+deb13-cloud-amd64").is_ok());
    }

    #[test]
    fn the_lock_is_waited_for_until_interrupted() {
        let directory = tempfile::tempdir().expect("directory");
        let cache = Cache::at(directory.path()).expect("a cache");
        let held = cache.lock(&AtomicBool::new(false), &mut Quiet).expect("free");
        let refused = cache.lock(&AtomicBool::new(true), &mut Quiet).err().expect("held");
        assert_eq!(refused, interrupted());
        drop(held);
        assert!(cache.lock(&AtomicBool::new(true), &mut Quiet).is_ok());
    }
}
