//! What this build is made of: `LAXITY_VERSION` (version, commit, date), `LAXITY_DATE` (the date alone) and `LAXITY_CHECKOUT`
//! (where shipped files are found by a program that is no package's).

#[path = "../laxity-trace/src/timestamp.rs"]
mod timestamp;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

fn main() {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let checkout = manifest.join("../..").canonicalize().unwrap_or(manifest);
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["SOURCE_DATE_EPOCH", "LAXITY_PACKAGE"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let git = is_its_own_repository(&checkout);
    if git {
        watch(&checkout);
    }
    println!("cargo::rustc-env=LAXITY_VERSION={}", version(&checkout, git));
    println!("cargo::rustc-env=LAXITY_DATE={}", date(&checkout, git).unwrap_or_default());
    // A package brings its files, and says nothing of the directory in which it was built.
    let beside = if env::var_os("LAXITY_PACKAGE").is_some() { Path::new("") } else { &checkout };
    println!("cargo::rustc-env=LAXITY_CHECKOUT={}", beside.display());
}

/// `0.1.0 (ef025d8e1, 2026-11-23)`; what is not known is left out.
fn version(checkout: &Path, git: bool) -> String {
    let number = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let known: Vec<String> =
        [git.then(|| commit(checkout)).flatten(), date(checkout, git)].into_iter().flatten().collect();
    if known.is_empty() { number } else { format!("{number} ({})", known.join(", ")) }
}

fn commit(checkout: &Path) -> Option<String> {
    let hash = said(checkout, &["rev-parse", "--short=9", "HEAD"])?;
    let changed = said(checkout, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { hash } else { hash + "-dirty" })
}

/// The day of the commit, or of SOURCE_DATE_EPOCH, in UTC.
fn date(checkout: &Path, git: bool) -> Option<String> {
    let seconds = match env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => git.then(|| said(checkout, &["log", "-1", "--format=%ct"])).flatten()?,
    };
    let instant = UNIX_EPOCH.checked_add(Duration::from_secs(seconds.trim().parse().ok()?))?;
    timestamp::rfc3339(instant).split_once('T').map(|(day, _)| day.to_owned())
}

/// Whether this checkout, and no directory above it, is a repository that git reads.
fn is_its_own_repository(checkout: &Path) -> bool {
    said(checkout, &["rev-parse", "--show-toplevel"])
        .and_then(|top| Path::new(&top).canonicalize().ok())
        .is_some_and(|top| top == checkout)
}

/// Another commit makes another version; a changed file alone does not build the program again.
fn watch(checkout: &Path) {
    let branch = said(checkout, &["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD"].into_iter().chain(branch.as_deref()) {
        let Some(path) = said(checkout, &["rev-parse", "--git-path", name]) else { continue };
        // A branch may be in packed-refs alone: its next commit makes a file in the directory.
        if let Some(watched) = checkout.join(path).ancestors().take(2).find(|path| path.exists()) {
            println!("cargo::rerun-if-changed={}", watched.display());
        }
    }
}

/// What git prints; nothing without git, or where it fails.
fn said(checkout: &Path, arguments: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(checkout).env("GIT_OPTIONAL_LOCKS", "0");
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
