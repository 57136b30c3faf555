//! CPU limits of cgroups have no effect while a run is made under a policy of laxity's: said once, and kept in the manifest.

use super::Bench;
use super::parts::Part;
use crate::observer::Observer;
use laxity_kernel::{LimitedCgroup, limited_cgroups, named_cgroups};
use laxity_model::plural;
use laxity_trace::Machine;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Under which name the cgroups are among the facts of the machine.
const VOID_CGROUP_LIMITS: &str = "void_cgroup_limits";

/// If one of the parts runs under a policy of laxity's.
pub(super) fn note(parts: &[Part<'_>], bench: &Bench, machine: &mut Machine, observer: &dyn Observer) {
    let has_policy = |part: &Part<'_>| part.plan.as_ref().is_ok_and(|plan| plan.attachment.is_some());
    if parts.iter().any(has_policy) {
        keep(&limited_cgroups(Path::new("/")), &bench.said_limits, machine, observer);
    }
}

/// Into the machine's facts every time, and to the observer if it has not been `said`.
fn keep(limited: &[LimitedCgroup], said: &AtomicBool, machine: &mut Machine, observer: &dyn Observer) {
    if limited.is_empty() {
        return;
    }
    let all: Vec<String> = limited.iter().map(LimitedCgroup::to_string).collect();
    machine.facts.insert(VOID_CGROUP_LIMITS.to_owned(), all.join(", "));
    if !said.swap(true, SeqCst) {
        observer.warn(&format!(
            "note: the CPU limits of {} have no effect during runs under laxity's own policies: {}",
            plural(limited.len(), "cgroup"),
            named_cgroups(limited)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::{Silent, Step};
    use laxity_model::{Core, Platform, Speed};
    use std::sync::Mutex;

    /// Keeps the warnings.
    #[derive(Default)]
    struct Warned(Mutex<Vec<String>>);

    impl Observer for Warned {
        fn note(&self, _: &str) {}

        fn warn(&self, words: &str) {
            self.0.lock().expect("nothing panics").push(words.to_owned());
        }

        fn begin(&self, _: &str, _: &str) -> Box<dyn Step> {
            Box::new(Silent)
        }

        fn simulation(&self, _: u64) -> Box<dyn Step> {
            Box::new(Silent)
        }
    }

    fn machine() -> Machine {
        let cores = vec![Core { cpu: 0, speed: Speed::UNIT }];
        Machine::simulated(&Platform::new("p", cores, vec![], vec![], None).expect("valid"))
    }

    #[test]
    fn every_manifest_names_all_of_them_and_a_user_is_told_once() {
        let one = |number: usize| LimitedCgroup {
            path: format!("/{number}"),
            limits: vec!["cpu.idle 1".to_owned()],
        };
        let limited: Vec<LimitedCgroup> = (0..9).map(one).collect();
        let (said, warned) = (AtomicBool::new(false), Warned::default());
        for _ in 0..3 {
            let mut machine = machine();
            keep(&limited, &said, &mut machine, &warned);
            assert_eq!(machine.facts[VOID_CGROUP_LIMITS].matches("cpu.idle 1").count(), 9);
        }
        let told = warned.0.into_inner().expect("nothing panics");
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("9 cgroups") && told[0].contains("/0 (cpu.idle 1)"), "{}", told[0]);
    }

    #[test]
    fn without_limits_nothing_is_said() {
        let (said, warned, mut machine) = (AtomicBool::new(false), Warned::default(), machine());
        keep(&[], &said, &mut machine, &warned);
        assert_eq!((machine.facts.len(), warned.0.into_inner().expect("nothing panics").len()), (0, 0));
        assert!(!said.into_inner());
    }
}
