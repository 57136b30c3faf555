//! Which files go into the machine, and where results are looked for.
//!
//! The rule: the command works in a directory of the same path as on the host. Every argument that names something on
//! the host is copied in under the same path, and so is what `--with` names. What is new or changed afterwards comes
//! back: everything in the working directory, and everything at or below a path outside it that an argument names.

use laxity_model::{Diagnostic, Result, ShownPath as _};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// The machine has its own: what the kernel provides, where programs put what is only for themselves, and laxity's lock.
const OF_THE_SYSTEM: [&str; 6] = ["/proc", "/sys", "/dev", SCRATCH, HOME, "/run/laxity"];
/// Temporary files of the machine.
pub const SCRATCH: &str = "/run/tmp";
/// The home directory in the machine.
pub const HOME: &str = "/run/home";
/// The most entries of a directory that is copied into memory.
const ENTRIES_MAX: usize = 100_000;

/// What travels between host and machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Travel {
    /// Existing files and directories that are copied in, absolute, each once.
    pub inward: Vec<PathBuf>,
    /// Where the command may leave results, absolute, none inside another.
    pub watched: Vec<PathBuf>,
}

impl Travel {
    /// What a command line needs, run in `cwd` (absolute). `with` are paths to be copied in beside.
    ///
    /// # Errors
    /// A path of `with` does not exist.
    pub fn of(cwd: &Path, arguments: &[String], with: &[PathBuf]) -> Result<Self> {
        // Below / is everything; there, results are only where arguments point.
        let own = (cwd != Path::new("/")).then(|| cwd.to_owned());
        let mut travel = Travel { inward: Vec::new(), watched: own.into_iter().collect() };
        for path in with {
            let path = resolve(cwd, path);
            if fs::symlink_metadata(&path).is_err() {
                return Err(Diagnostic::usage(format!("--with {}: there is no such file", path.shown()))
                    .hint("check the path"));
            }
            travel.take(path);
        }
        for argument in arguments {
            for named in paths_in(argument) {
                let path = resolve(cwd, Path::new(named));
                // What is no path on this host may still become one.
                if named.contains('/') {
                    travel.watch(&path);
                }
                if fs::symlink_metadata(&path).is_ok() {
                    travel.take(path);
                }
            }
        }
        Ok(travel)
    }

    fn take(&mut self, path: PathBuf) {
        if !is_of_the_system(&path) && path != Path::new("/") && !self.inward.contains(&path) {
            self.inward.push(path);
        }
    }

    fn watch(&mut self, path: &Path) {
        let pointless = is_of_the_system(path) || path == Path::new("/");
        if pointless || self.watched.iter().any(|known| path.starts_with(known)) {
            return;
        }
        self.watched.retain(|known| !known.starts_with(path));
        self.watched.push(path.to_owned());
    }

    /// Whether results may come back to this path.
    pub fn may_return(&self, path: &Path) -> bool {
        let plain = path.is_absolute() && path.components().all(|part| !matches!(part, Component::ParentDir));
        plain && !is_of_the_system(path) && self.watched.iter().any(|known| path.starts_with(known))
    }
}

/// Whether a path is the machine's own business.
pub fn is_of_the_system(path: &Path) -> bool {
    OF_THE_SYSTEM.iter().any(|system| path.starts_with(system))
}

/// The parts of an argument that may be paths: itself, what follows `--option=`, what follows `-o`.
fn paths_in(argument: &str) -> Vec<&str> {
    let mut paths = Vec::new();
    match argument.strip_prefix('-') {
        None if argument.is_empty() => {}
        None => paths.push(argument),
        Some(rest) if rest.starts_with('-') => paths.extend(rest.split_once('=').map(|(_, value)| value)),
        Some(rest) => {
            let mut letters = rest.chars();
            letters.next();
            paths.push(letters.as_str().strip_prefix('=').unwrap_or(letters.as_str()));
        }
    }
    paths.retain(|path| !path.is_empty());
    paths
}

/// The absolute path, without `.` and `..`. Links are left alone: the machine gets the path that it is called by.
pub fn resolve(cwd: &Path, path: &Path) -> PathBuf {
    let mut resolved = PathBuf::from("/");
    for part in cwd.join(path).components() {
        match part {
            Component::Normal(name) => resolved.push(name),
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    resolved
}

/// One thing that is copied in.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its path, the same on both sides.
    pub path: PathBuf,
    /// What it is.
    pub kind: ItemKind,
    /// Permissions.
    pub permissions: u32,
    /// Seconds since 1970, for files.
    pub modified: u32,
}

/// What is copied in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemKind {
    /// A directory; what is in it follows.
    Directory,
    /// A file of so many bytes.
    File(u64),
    /// A symbolic link.
    Link(PathBuf),
}

/// Everything at and below a path, parents first, in alphabetical order. Sockets, pipes and devices stay at home.
/// What the argument itself names is copied even if it is a link: its target may lie elsewhere.
///
/// # Errors
/// Something cannot be read, or there is too much of it.
pub fn items(root: &Path) -> Result<Vec<Item>> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let seen = if path == root { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
        let seen = seen.map_err(|error| unreadable(&path, &error))?;
        let kind = if seen.is_dir() {
            pending.extend(children(&path)?.into_iter().rev());
            ItemKind::Directory
        } else if seen.is_symlink() {
            ItemKind::Link(fs::read_link(&path).map_err(|error| unreadable(&path, &error))?)
        } else if seen.is_file() {
            ItemKind::File(seen.len())
        } else {
            continue;
        };
        let modified = u32::try_from(seen.mtime()).unwrap_or(0);
        found.push(Item { path, kind, permissions: seen.permissions().mode() & 0o7777, modified });
        if found.len() > ENTRIES_MAX {
            return Err(Diagnostic::usage(format!("{} has more than {ENTRIES_MAX} files", root.shown()))
                .hint(
                    "everything an argument names is copied into the machine; name the files that are needed",
                ));
        }
    }
    Ok(found)
}

fn children(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(|error| unreadable(directory, &error))?;
    let mut children: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    children.sort();
    Ok(children)
}

/// Why a file cannot be copied in.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::usage(format!("cannot copy {} into the machine: {error}", path.shown()))
        .hint("everything that an argument names is copied in; check its permissions")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn travel(cwd: &Path, arguments: &[&str]) -> Travel {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Travel::of(cwd, &arguments, &[]).expect("no --with")
    }

    fn directory(files: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("directory");
        for file in files {
            let path = directory.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, file).expect("write");
        }
        directory
    }

    #[test]
    fn arguments_that_name_files_go_in() {
        let here = directory(&["set.toml", "costs/a.toml", "p"]);
        let at = |name: &str| here.path().join(name);
        let arguments = [
            "run",
            "set.toml",
            "--costs=costs/a.toml",
            "-pp",
            "--scheduler",
            "g-edf",
            "--out",
            "results",
            "./set.toml",
        ];
        let found = travel(here.path(), &arguments);
        assert_eq!(found.inward, [at("set.toml"), at("costs/a.toml"), at("p")]);
        assert_eq!(found.watched, [here.path()]);
    }

    #[test]
    fn results_are_looked_for_where_arguments_point() {
        let here = directory(&["sub/set.toml"]);
        let cwd = here.path().join("sub");
        let out = here.path().join("out");
        let found = travel(&cwd, &["../out", "/proc/cpuinfo", "--o=/dev/null", "-x/var/new", "set.toml"]);
        assert_eq!(found.watched, [cwd.as_path(), &out, Path::new("/var/new")]);
        assert_eq!(found.inward, [cwd.join("set.toml")]);
        assert!(found.may_return(&out.join("a/b")) && found.may_return(&cwd.join("x")));
        assert!(!found.may_return(&here.path().join("other")));
        assert!(!found.may_return(&cwd.join("../other")));
        assert!(!found.may_return(Path::new("relative")) && !found.may_return(Path::new("/proc/x")));
    }

    #[test]
    fn from_the_root_results_are_where_arguments_point() {
        let found = travel(Path::new("/"), &["/", "tmp/new", "--x=/run/laxity/lock", "/run/tmp"]);
        assert_eq!(found.watched, [Path::new("/tmp/new")]);
        assert_eq!(found.inward, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_watched_path_contains_those_below_it() {
        let here = directory(&["a/b/c"]);
        let at = |name: &str| here.path().join(name);
        let arguments = [at("a/b/x"), at("a"), at("a/y")].map(|path| path.to_string_lossy().into_owned());
        let found = Travel::of(Path::new("/nowhere"), &arguments, &[]).expect("no --with");
        assert_eq!(found.watched, [PathBuf::from("/nowhere"), at("a")]);
    }

    #[test]
    fn everything_below_a_directory_goes_in_parents_first() {
        let here = directory(&["d/z", "d/a/inner", "other"]);
        std::os::unix::fs::symlink("z", here.path().join("d/link")).expect("linked");
        let found = items(&here.path().join("d")).expect("readable");
        let names: Vec<String> = found
            .iter()
            .map(|item| item.path.strip_prefix(here.path()).expect("below").to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["d", "d/a", "d/a/inner", "d/link", "d/z"]);
        assert_eq!(found[3].kind, ItemKind::Link("z".into()));
        assert_eq!(found[4].kind, ItemKind::File(3));
        // Named itself, a link is what it points to.
        assert_eq!(items(&here.path().join("d/link")).expect("readable")[0].kind, ItemKind::File(3));
    }

    #[test]
    fn what_cannot_be_copied_is_named() {
        let missing = Travel::of(Path::new("/"), &[], &["nonexistent".into()]).expect_err("missing");
        assert!(missing.message.contains("--with /nonexistent"), "{missing}");
        let dangling = directory(&[]);
        std::os::unix::fs::symlink("nowhere", dangling.path().join("link")).expect("linked");
        let refused = items(&dangling.path().join("link")).expect_err("dangling");
        assert!(refused.message.contains("link"), "{refused}");
    }

    #[test]
    fn paths_lose_their_dots() {
        let resolved = |path: &str| resolve(Path::new("/a/b"), Path::new(path));
        assert_eq!(resolved("../c/./d"), Path::new("/a/c/d"));
        assert_eq!(resolved("../../../x"), Path::new("/x"));
        assert_eq!(resolved("/x//y/"), Path::new("/x/y"));
    }
}
