//! What executes the machine's instructions, and what its clocks go by: the processor (KVM) or QEMU's emulation (TCG), by the host's
//! time or by the count of its instructions.
//!
//! Emulated processors that go by the host's time stand still for as long as the host and the other processors please, some 10 ms,
//! and jobs miss their deadlines for it. Where time is counted, they stand still for as long as [`crate::turns`] allows.
//!
//! That /dev/kvm opens does not mean that a stock kernel boots with it: some hosts offer a KVM that executes only
//! prepared guests. So it is tried, and the outcome is kept for this host kernel and this QEMU.

use crate::cache::Cache;
use laxity_model::{Diagnostic, Names, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::str::FromStr;

const DEVICE: &str = "/dev/kvm";
const OUTCOME: &str = "kvm.json";

/// What executes instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor.
    Kvm,
    /// QEMU, by translation; time is the host's.
    Tcg,
    /// QEMU, by translation; time is the number of instructions.
    Counted,
}

/// What is to execute instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Acceleration {
    /// KVM where it works, else counted, from the host's time on.
    #[default]
    Auto,
    /// KVM where it works, else TCG by the host's time: for processors of unequal speed, and for how long something takes.
    HostTime,
    /// KVM or nothing.
    Kvm,
    /// TCG by the host's time.
    Tcg,
    /// TCG by counted instructions, and nothing of the host shows in the machine: the same order gives the same run.
    Counted,
}

impl Acceleration {
    /// What executes instructions if it is not KVM.
    pub fn emulated(self) -> Accelerator {
        match self {
            Acceleration::Auto | Acceleration::Counted => Accelerator::Counted,
            Acceleration::HostTime | Acceleration::Kvm | Acceleration::Tcg => Accelerator::Tcg,
        }
    }
}

/// Names from other tools.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("qemu", "`counted` (emulation)"),
    ("none", "`counted` (emulation)"),
    ("icount", "`counted` (instructions are counted)"),
];

impl FromStr for Acceleration {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Acceleration::Auto),
            "kvm" => Ok(Acceleration::Kvm),
            "tcg" => Ok(Acceleration::Tcg),
            "counted" => Ok(Acceleration::Counted),
            _ => Err(Names::of("accelerator", &["auto", "kvm", "counted", "tcg"])
                .or(OTHER_NAMES)
                .unknown(text)),
        }
    }
}

/// Whether KVM boots a kernel on this host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct BootOutcome {
    /// The host kernel and QEMU that it was found with.
    host: String,
    works: bool,
}

/// Whether [`Acceleration::Auto`] would try KVM with this QEMU.
pub fn kvm_may_work(qemu: &str) -> bool {
    Experience::with(qemu).first(Acceleration::Auto) == Ok(Accelerator::Kvm)
}

/// Finds out and remembers whether KVM works.
pub struct Experience {
    /// Without a cache every call finds out anew.
    cache: Option<Cache>,
    host: String,
}

impl Experience {
    /// What is known about this host with a QEMU of this version.
    pub fn with(qemu: &str) -> Self {
        let system = rustix::system::uname();
        let kernel = system.release().to_string_lossy().into_owned();
        Experience { cache: Cache::open().ok(), host: format!("{kernel}, {qemu}") }
    }

    /// What to try first.
    ///
    /// # Errors
    /// KVM is insisted on and cannot be opened.
    pub fn first(&self, wanted: Acceleration) -> Result<Accelerator> {
        match wanted {
            Acceleration::Tcg | Acceleration::Counted => Ok(wanted.emulated()),
            Acceleration::Kvm => match File::options().read(true).write(true).open(DEVICE) {
                Ok(_) => Ok(Accelerator::Kvm),
                Err(error) => Err(Diagnostic::environment(format!("cannot open {DEVICE}: {error}")).hint(
                    "leave --accel out to have the machine emulated; access needs root or the group kvm",
                )),
            },
            Acceleration::Auto | Acceleration::HostTime if self.known() == Some(false) || !openable() => {
                Ok(wanted.emulated())
            }
            Acceleration::Auto | Acceleration::HostTime => Ok(Accelerator::Kvm),
        }
    }

    /// Whether KVM is known to work here, or not to.
    pub fn known(&self) -> Option<bool> {
        let outcome: BootOutcome = self.cache.as_ref()?.recall(OUTCOME)?;
        (outcome.host == self.host).then_some(outcome.works)
    }

    /// Keeps an outcome. Failing to keep it costs time only.
    pub fn keep(&self, works: bool) {
        if self.known() != Some(works)
            && let Some(cache) = &self.cache
        {
            let _ = cache.remember(OUTCOME, &BootOutcome { host: self.host.clone(), works });
        }
    }
}

fn openable() -> bool {
    File::options().read(true).write(true).open(DEVICE).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_out_holds_for_this_host_only() {
        let directory = tempfile::tempdir().expect("directory");
        let experience = |host: &str| Experience {
            cache: Some(Cache::at(directory.path()).expect("a cache")),
            host: host.into(),
        };
        let here = experience("6.18, QEMU 7.2");
        assert_eq!(here.known(), None);
        here.keep(false);
        assert_eq!(here.known(), Some(false));
        assert_eq!(here.first(Acceleration::Auto), Ok(Accelerator::Counted));
        assert_eq!(here.first(Acceleration::HostTime), Ok(Accelerator::Tcg));
        assert_eq!(experience("6.19, QEMU 7.2").known(), None);
        here.keep(true);
        assert_eq!(here.known(), Some(true));
        assert_eq!(here.first(Acceleration::Tcg), Ok(Accelerator::Tcg));
        assert!("fast".parse::<Acceleration>().is_err());
    }
}
