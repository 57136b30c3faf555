//! Can this kernel load sched_ext schedulers? Answered from its image, before anything is booted.

use crate::btf;
use crate::elf::Elf;
use crate::image::Image;
use laxity_model::{Diagnostic, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where good kernels are to be found, for hints.
pub const KNOWN_GOOD: &str =
    "known good: Debian's 6.16 to 7.0, 7.2.13 (sid) and 7.3.4; `--kernel-line 6.18` fetches one";

/// Builds of trixie-backports known to lack tags in their BTF. Saves downloading them; [`examine`] needs no list.
const KNOWN_BAD: [[u32; 3]; 5] = [[7, 1, 7], [7, 1, 8], [7, 1, 13], [7, 2, 9], [7, 2, 12]];
/// The best known functions, to name first.
const EVERY_SCHEDULER_CALLS: [&str; 5] = [
    "scx_bpf_create_dsq",
    "scx_bpf_dsq_insert",
    "scx_bpf_kick_cpu",
    "scx_bpf_pick_idle_cpu",
    "scx_bpf_select_cpu_dfl",
];
/// Debian builds with sched_ext from here on.
const FIRST_WITH_SCHED_EXT: [u32; 3] = [6, 16, 0];

/// What stands in a kernel's way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "problem", rename_all = "kebab-case")]
pub enum Problem {
    /// Built without CONFIG_SCHED_CLASS_EXT.
    NoSchedExt,
    /// Built without CONFIG_DEBUG_INFO_BTF.
    NoBtf,
    /// Kernel functions that lack the declaration tag `bpf_kfunc`.
    UntaggedFunctions {
        /// Their names.
        functions: Vec<String>,
    },
    /// BTF that cannot be read.
    BrokenBtf {
        /// What is wrong with it.
        why: String,
    },
}

impl Problem {
    /// In words that follow the name of the kernel.
    pub fn words(&self) -> String {
        match self {
            Problem::NoSchedExt => "was built without sched_ext (CONFIG_SCHED_CLASS_EXT)".into(),
            Problem::NoBtf => "has no BTF (CONFIG_DEBUG_INFO_BTF), which sched_ext needs".into(),
            Problem::UntaggedFunctions { functions } => {
                let mut examples: Vec<&str> = functions.iter().map(String::as_str).collect();
                examples.sort_by_key(|function| !EVERY_SCHEDULER_CALLS.contains(function));
                examples.truncate(3);
                format!(
                    "cannot load sched_ext schedulers that call one of {} functions ({}, ...): its BTF lacks their tag \
                     bpf_kfunc, and loading fails with EINVAL. This is a fault of the build, not of a scheduler",
                    functions.len(),
                    examples.join(", ")
                )
            }
            Problem::BrokenBtf { why } => format!("cannot load sched_ext schedulers: {why}"),
        }
    }
}

/// What is known of a kernel before it is booted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preflight {
    /// The kernel's release.
    pub release: String,
    /// What stands in its way.
    pub problem: Option<Problem>,
    /// Why the image could not be looked into; the check is then made inside the machine.
    pub not_examined: Option<String>,
}

impl Preflight {
    /// Nothing known is wrong with it.
    pub fn passes(&self) -> bool {
        self.problem.is_none()
    }

    /// Refuses a kernel that has a problem.
    ///
    /// # Errors
    /// The problem, with where to find a good kernel.
    pub fn require(&self) -> Result<()> {
        match &self.problem {
            None => Ok(()),
            Some(problem) => Err(refusal(&self.release, problem)),
        }
    }
}

/// The error for a kernel with a problem.
pub fn refusal(release: &str, problem: &Problem) -> Diagnostic {
    Diagnostic::environment(format!("kernel {release} {}", problem.words()))
        .hint(format!("{KNOWN_GOOD}; --any-kernel boots this one all the same"))
}

/// Looks into a kernel image.
///
/// # Errors
/// The file is no kernel.
pub fn preflight(path: &Path) -> Result<Preflight> {
    Ok(examine(path)?.0)
}

/// Looks into a kernel image; also the kernel in it, if it could be unpacked.
///
/// # Errors
/// The file is no kernel.
pub fn examine(path: &Path) -> Result<(Preflight, Option<Vec<u8>>)> {
    let image = Image::read(path)?;
    let (problem, not_examined, vmlinux) = match image.unpacked() {
        Ok(vmlinux) => (problem_of(&vmlinux), None, Some(vmlinux)),
        Err(why) => (None, Some(why), None),
    };
    Ok((Preflight { release: image.release, problem, not_examined }, vmlinux))
}

fn problem_of(vmlinux: &[u8]) -> Option<Problem> {
    match Elf::new(vmlinux).and_then(|elf| elf.section(".BTF")) {
        Some(btf) => judge(btf),
        None => Some(Problem::NoBtf),
    }
}

/// What the BTF of a kernel says against it.
pub fn judge(btf: &[u8]) -> Option<Problem> {
    match btf::sched_ext(btf) {
        Err(why) => Some(Problem::BrokenBtf { why }),
        Ok(found) if !found.has_ops => Some(Problem::NoSchedExt),
        Ok(found) if !found.untagged.is_empty() => {
            Some(Problem::UntaggedFunctions { functions: found.untagged })
        }
        Ok(_) => None,
    }
}

/// Whether it is worth fetching a Debian kernel with these numbers.
pub fn worth_fetching(numbers: [u32; 3]) -> bool {
    numbers >= FIRST_WITH_SCHED_EXT && !KNOWN_BAD.contains(&numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::forge::btf;
    use crate::image::forge;

    fn of(vmlinux: &[u8]) -> Preflight {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("vmlinuz");
        std::fs::write(&path, forge::zstd_image("7.2.12+deb13 (x)", vmlinux)).expect("write");
        preflight(&path).expect("a kernel")
    }

    #[test]
    fn a_sound_kernel_passes() {
        let found = of(&forge::vmlinux(&[(".BTF", &btf(true, &[("scx_bpf_now", true)]))]));
        assert!(found.passes() && found.require().is_ok() && found.not_examined.is_none(), "{found:?}");
    }

    #[test]
    fn a_kernel_without_tags_is_refused_with_the_cause_and_the_way_out() {
        let functions = [("scx_bpf_now", true), ("scx_bpf_create_dsq", false)];
        let found = of(&forge::vmlinux(&[(".BTF", &btf(true, &functions))]));
        let refused = found.require().expect_err("refused");
        assert_eq!(refused.failure.exit_code(), 3);
        let words = refused.to_string();
        for word in ["7.2.12+deb13", "bpf_kfunc", "scx_bpf_create_dsq", "--kernel-line 6.18", "7.3.4"] {
            assert!(words.contains(word), "{word} in {words}");
        }
    }

    #[test]
    fn kernels_without_sched_ext_or_btf_are_refused() {
        let without = of(&forge::vmlinux(&[(".BTF", &btf(false, &[("schedule", true)]))]));
        assert_eq!(without.problem, Some(Problem::NoSchedExt));
        assert_eq!(of(&forge::vmlinux(&[])).problem, Some(Problem::NoBtf));
        let broken = of(&forge::vmlinux(&[(".BTF", b"nonsense")]));
        assert!(broken.require().expect_err("refused").message.contains("BTF is broken"));
    }

    #[test]
    fn a_kernel_that_cannot_be_unpacked_is_left_to_the_machine() {
        let image = forge::bz_image("6.18.15 (x)", b"in an unknown way");
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("vmlinuz");
        std::fs::write(&path, image).expect("write");
        let found = preflight(&path).expect("a kernel");
        assert!(found.passes() && found.not_examined.is_some());
    }

    #[test]
    fn files_that_are_no_kernels_are_the_users_to_mend() {
        let refused = preflight(Path::new("/etc/passwd")).expect_err("no kernel");
        assert_eq!(refused.failure.exit_code(), 2);
        assert!(refused.message.contains("/etc/passwd is not a kernel"), "{refused}");
        let missing = preflight(Path::new("/nonexistent/vmlinuz")).expect_err("no file");
        assert_eq!(missing.failure.exit_code(), 2);
        assert!(missing.message.contains("/nonexistent/vmlinuz"));
    }

    #[test]
    fn known_bad_builds_are_not_fetched() {
        assert!(worth_fetching([6, 18, 15]) && worth_fetching([7, 3, 4]) && worth_fetching([7, 2, 13]));
        assert!(!worth_fetching([7, 2, 12]) && !worth_fetching([6, 12, 48]));
    }
}
