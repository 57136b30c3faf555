//! What QEMU says of its version: several versions emulate several processors in different ways.

use std::path::Path;
use std::process::{Command, Stdio};

/// What QEMU says, for telling versions apart.
pub fn version(qemu: &Path) -> String {
    let said = Command::new(qemu).arg("--version").stdin(Stdio::null()).output();
    said.map_or_else(
        |error| error.to_string(),
        |output| String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned(),
    )
}

/// A version of QEMU: its first two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

impl Version {
    /// The one that QEMU says.
    pub fn in_words(said: &str) -> Option<Version> {
        said.split_whitespace().find_map(|word| {
            let (major, rest) = word.split_once('.')?;
            let minor = rest.split('.').next()?;
            Some(Version(major.parse().ok()?, minor.parse().ok()?))
        })
    }
}
