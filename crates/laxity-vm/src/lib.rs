//! Runs commands in a QEMU virtual machine whose kernel has sched_ext.
//!
//! [`run`] finds a kernel (a file, the cache, or Debian's archives), looks into it, makes a file system in memory with
//! laxity, busybox, and the files that the command's arguments name, boots it, and passes output, exit code and changed
//! files on to the host. Nothing is written to the host's disks but the cache and the results, and nothing is left
//! running, however this program ends.
//!
//! The machine's first process is the calling program itself, so a program that uses this crate calls [`internal_role`]
//! first of all, or names laxity as [`Settings::agent`].
//!
//! Limits: x86-64 only; the kernel needs its virtio console (or a UART) built in, as Debian's are. Without KVM the machine is
//! emulated, and its time is the number of its instructions: schedules can be judged in it, how long something takes on real
//! hardware cannot.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod accelerator;
mod agent;
mod archive;
mod btf;
mod cache;
mod console;
mod cpio;
mod elf;
mod files;
mod image;
mod initramfs;
mod kernels;
mod machine;
mod preflight;
mod process;
mod protocol;
mod qemu;
mod qemu_version;
mod results;
mod session;
mod slowed;
mod turns;
mod version;

pub use accelerator::{Acceleration, Accelerator};
pub use agent::internal_role;
pub use kernels::{KernelChoice, KnownKernel, known};
pub use machine::{Ended, Order, Program, Settings, counts_by_default, run};
pub use preflight::{Preflight, Problem, preflight};
pub use process::interrupted;
pub use version::{KernelVersion, Line};

use laxity_model::{Diagnostic, Names};
use std::fmt;
use std::str::FromStr;

/// The receiver of a machine's output.
pub trait Audience {
    /// A line for a person.
    fn words(&mut self, line: &str);
    /// Standard output of the command. False once its reader is gone: the command then gets SIGPIPE.
    fn out(&mut self, bytes: &[u8]) -> bool;
    /// Standard error of the command.
    fn err(&mut self, bytes: &[u8]);
    /// What the machine's kernel says on its console.
    fn console(&mut self, _bytes: &[u8]) {}
}

/// How Debian builds a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// For virtual machines: boots fastest.
    #[default]
    Cloud,
    /// PREEMPT_RT.
    Rt,
    /// For PCs.
    Generic,
}

impl Flavour {
    /// Whether a release is of this flavour.
    pub fn has(self, release: &str) -> bool {
        let flavour = match release.strip_suffix("-amd64") {
            None => return false,
            Some(rest) if rest.ends_with("-cloud") => Flavour::Cloud,
            Some(rest) if rest.ends_with("-rt") => Flavour::Rt,
            Some(_) => Flavour::Generic,
        };
        flavour == self
    }
}

impl FromStr for Flavour {
    type Err = Diagnostic;

    fn from_str(text: &str) -> laxity_model::Result<Self> {
        match text {
            "cloud" => Ok(Flavour::Cloud),
            "rt" => Ok(Flavour::Rt),
            "generic" => Ok(Flavour::Generic),
            _ => Err(Names::of("flavour of Debian's kernels", &["cloud", "rt", "generic"])
                .or(&[("preempt_rt", "`rt`"), ("amd64", "`generic`")])
                .unknown(text)),
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::Cloud => "cloud",
            Flavour::Rt => "rt",
            Flavour::Generic => "generic",
        })
    }
}

#[cfg(test)]
mod tests {
    /// Hears nothing.
    pub struct Quiet;

    impl crate::Audience for Quiet {
        fn words(&mut self, _line: &str) {}
        fn out(&mut self, _bytes: &[u8]) -> bool {
            true
        }
        fn err(&mut self, _bytes: &[u8]) {}
    }
}
