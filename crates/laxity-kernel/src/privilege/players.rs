//! Users that root plays in tests, by util-linux's programs.

use super::{Capability, INITIAL_NAMESPACE, Privileges};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

pub const NOBODY: [&str; 6] = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
pub const OWN_NAMESPACE: [&str; 3] = ["unshare", "--user", "--map-root-user"];
pub const AMBIENT: [&str; 4] = ["--inh-caps", "+sys_nice", "--ambient-caps", "+sys_nice"];
/// Root, but not with this capability, whatever it executes.
pub const BOUNDED: [&str; 3] = ["setpriv", "--bounding-set", "-sys_nice"];

/// Whether there are several users to play, and namespaces; says so if not.
pub fn can_play() -> bool {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: only root can play several users");
        return false;
    }
    let initial = fs::metadata("/proc/self/ns/user").is_ok_and(|own| own.ino() == INITIAL_NAMESPACE);
    let namespaces = command(&[&OWN_NAMESPACE, &["true"]]).status().is_ok_and(|ended| ended.success());
    let ours = Privileges::of_this_process().is_ok_and(|ours| ours.has(Capability::SysNice));
    if !(initial && namespaces && ours) {
        eprintln!("SKIPPED: no user namespaces here, or root has no CAP_SYS_NICE in the initial one");
    }
    initial && namespaces && ours
}

pub fn command(words: &[&[&str]]) -> Command {
    let words = words.concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stderr(Stdio::null());
    command
}
