//! CPU limits of cgroups have no effect while a policy is loaded: that is asked for, or nothing is loaded.

use super::Loading;
use laxity_deploy::VOID_CGROUP_LIMITS;
use laxity_kernel::{LimitedCgroup, named_cgroups};
use laxity_model::{Diagnostic, Result, plural};

impl Loading {
    /// The cgroups whose limits lose their effect.
    ///
    /// # Errors
    ///
    /// There are some, and that was not asked for.
    pub(super) fn limits_given_up(&self, limited: Vec<LimitedCgroup>) -> Result<Vec<LimitedCgroup>> {
        if limited.is_empty() || self.void_cgroup_limits {
            return Ok(limited);
        }
        Err(Diagnostic::environment(format!("{} is not loaded: {}", self.policy, void(&limited))).hint(format!(
            "{VOID_CGROUP_LIMITS} loads it all the same; or remove these limits before (cpu.max: max, cpu.weight: 100, cpu.idle: 0; of \
             a unit of systemd, CPUQuota= and CPUWeight=)"
        )))
    }
}

/// What a policy means for these limits.
pub(super) fn void(limited: &[LimitedCgroup]) -> String {
    format!(
        "the CPU limits of {} have no effect while a policy is loaded (sched_ext leaves them to the scheduler, and laxity's policies do \
         without): {}",
        plural(limited.len(), "cgroup"),
        named_cgroups(limited)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loading::servers::tests::loading;
    use laxity_model::Failure;

    fn limited(count: usize) -> Vec<LimitedCgroup> {
        let one = |number: usize| LimitedCgroup {
            path: format!("/sys/fs/cgroup/work-{number}"),
            limits: vec!["cpu.max 20000 100000".to_owned(), "cpu.weight 7".to_owned()],
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_machine_without_limits_is_not_asked_about() {
        assert_eq!(loading("edf-bh", &[], None).limits_given_up(Vec::new()), Ok(Vec::new()));
    }

    #[test]
    fn limits_are_given_up_only_if_that_is_asked_for() {
        let without = loading("edf-bh", &[], None);
        let refused = without.limits_given_up(limited(20)).expect_err("not asked for");
        assert_eq!(refused.failure, Failure::Environment);
        for words in [
            "edf-bh is not loaded",
            "20 cgroups",
            "/work-0 (cpu.max 20000 100000, cpu.weight 7)",
            "and 16 more",
        ] {
            assert!(refused.message.contains(words), "{words}: {}", refused.message);
        }
        let hint = refused.hint.expect("what to do");
        assert!(hint.starts_with(VOID_CGROUP_LIMITS) && hint.contains("cpu.max: max"), "{hint}");
        let with = Loading { void_cgroup_limits: true, ..without };
        assert_eq!(with.limits_given_up(limited(20)), Ok(limited(20)));
    }
}
