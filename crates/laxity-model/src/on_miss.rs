//! Rules for a job that misses its deadline, and for the releases that pass meanwhile.
//!
//! A job that is late may have lost its value: lindsay2012 (3.1.3) lets the system abort it. A task then watches a region of
//! shared memory, and stops as soon as it can do so safely once it is told to.
//!
//! 1. A job is late from its absolute deadline on, as long as it is not done; one that is done at that very instant is not.
//! 2. An aborted job is a miss, and it is no completed job.
//! 3. A release is skipped if it passes while an earlier job of its task is late. It does not happen: the job is no miss, the
//!    late one is. Releases stay on their grid. With D <= T that is every release at which the job before is not done; with D > T
//!    a job may be under way at the next release, or later ones, without being late.

use crate::text_form::serde_as_text;
use crate::{Diagnostic, Names, Result};
use std::fmt;
use std::str::FromStr;

crate::listed_enum! {
    /// The rule for a job that misses its deadline.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum OnMiss {
        /// It runs on to its end, and the jobs after it wait for it.
        #[default]
        Continue,
        /// It stops at its next safe point.
        Abort,
        /// It runs on to its end; releases that pass while it is late are not made up.
        Skip,
    }
}

impl OnMiss {
    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            OnMiss::Continue => "continue",
            OnMiss::Abort => "abort",
            OnMiss::Skip => "skip",
        }
    }

    /// The instant from which a job that is not done stops, if it does; of the clock of its deadline.
    pub fn abort_ns(self, deadline_abs_ns: u64) -> Option<u64> {
        (self == OnMiss::Abort).then_some(deadline_abs_ns)
    }

    /// Whether a release is skipped because of one earlier job of its task with this deadline, which was done at
    /// `done_ns` (None: never). All instants are ns of one clock.
    pub fn skips(self, release_ns: u64, deadline_abs_ns: u64, done_ns: Option<u64>) -> bool {
        self == OnMiss::Skip && deadline_abs_ns <= release_ns && done_ns.is_none_or(|done| release_ns < done)
    }
}

impl fmt::Display for OnMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OnMiss {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        OnMiss::ALL.into_iter().find(|rule| rule.name() == text).ok_or_else(|| {
            let names = Names::of("rule for missed deadlines", &["continue", "abort", "skip"]);
            let aliases = [("kill", "`abort`"), ("stop", "`abort`"), ("none", "`continue`"), ("drop", "`skip`")];
            let error = names.or(&aliases).unknown(text);
            let hint = error.hint.clone().unwrap_or_default();
            error.hint(format!(
                "{hint}: continue runs the job to its end, abort stops it, skip runs it to its end and makes up no \
                 releases that pass while it is late"
            ))
        })
    }
}

serde_as_text!(OnMiss);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for rule in OnMiss::ALL {
            assert_eq!(rule.to_string().parse(), Ok(rule));
            let json = serde_json::to_string(&rule).expect("text");
            assert_eq!(serde_json::from_str::<OnMiss>(&json).expect("text"), rule);
        }
        let error = "kill".parse::<OnMiss>().expect_err("is none");
        assert!(error.message.contains("`kill`") && error.hint.is_some_and(|hint| hint.contains("abort")));
    }

    #[test]
    fn only_abort_aborts_and_at_the_deadline() {
        assert_eq!(OnMiss::ALL.map(|rule| rule.abort_ns(7)), [None, Some(7), None]);
    }

    #[test]
    fn a_release_is_skipped_while_an_earlier_job_is_late() {
        // Late in [10, 25).
        let skipped = |release| OnMiss::Skip.skips(release, 10, Some(25));
        assert_eq!([0, 9, 10, 20, 24, 25, 30].map(skipped), [false, false, true, true, true, false, false]);
        assert!(OnMiss::Skip.skips(1_000, 10, None), "for ever");
        // Done at its deadline: never late.
        assert!((0..20).all(|release| !OnMiss::Skip.skips(release, 10, Some(10))));
        assert!(!OnMiss::Continue.skips(20, 10, Some(25)) && !OnMiss::Abort.skips(20, 10, Some(25)));
    }
}
