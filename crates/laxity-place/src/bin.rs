//! Where tasks can be placed: a CPU, a cluster, or the whole machine.

use laxity_model::{CpuList, Diagnostic, Platform, Result, Scope, Speed, Utilization};
use std::fmt;

/// A set of CPUs that schedules its tasks on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bin {
    cpus: CpuList,
    capacity: Utilization,
    fastest: Speed,
}

impl Bin {
    /// The bin made of some of a platform's CPUs. An error if it is empty or names CPUs outside the platform.
    pub fn new(platform: &Platform, cpus: CpuList) -> Result<Self> {
        let speeds: Vec<Speed> =
            cpus.iter().filter_map(|cpu| platform.core(cpu)).map(|core| core.speed).collect();
        if speeds.len() != cpus.len() {
            return Err(Diagnostic::usage(format!(
                "CPUs {cpus} are not all CPUs of the platform, which has {}",
                platform.cpus()
            ))
            .hint("place tasks only onto CPUs of the platform"));
        }
        let Some(&fastest) = speeds.iter().max() else {
            return Err(Diagnostic::usage("a partition or cluster has no CPUs")
                .hint("give every partition or cluster at least one CPU"));
        };
        let capacity = speeds.iter().fold(Utilization::zero(), |sum, speed| sum.plus(&share(*speed)));
        Ok(Bin { cpus, capacity, fastest })
    }

    /// The bins of a platform: its CPUs, its clusters, or all of it; by lowest CPU.
    pub fn of_platform(platform: &Platform, scope: Scope) -> Result<Vec<Bin>> {
        let mut lists = platform.cells(scope);
        lists.sort_by_key(CpuList::lowest);
        lists.into_iter().map(|cpus| Bin::new(platform, cpus)).collect()
    }

    /// Its CPUs.
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// The sum of its CPUs' speeds: the number of its CPUs if all have speed 1.
    pub fn capacity(&self) -> &Utilization {
        &self.capacity
    }

    /// The speed of its fastest CPU, which bounds the density of a single task.
    pub fn fastest(&self) -> Speed {
        self.fastest
    }
}

impl fmt::Display for Bin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.cpus.len() == 1 { "CPU" } else { "CPUs" };
        f.pad(&format!("{word} {}", self.cpus))
    }
}

fn share(speed: Speed) -> Utilization {
    Utilization::ratio(speed.numerator().into(), speed.denominator().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Core;

    fn big_little() -> Platform {
        let speed = |cpu: u32| if cpu < 2 { Speed::new(1, 2).expect("valid") } else { Speed::UNIT };
        let cores = (0..4).map(|cpu| Core { cpu, speed: speed(cpu) }).collect();
        let clusters = ["2-3", "0-1"].map(|list| list.parse().expect("valid list"));
        Platform::new("p", cores, vec![], vec![], Some(clusters.to_vec())).expect("valid")
    }

    #[test]
    fn bins_follow_the_scope() {
        let shown = |scope| {
            let bins = Bin::of_platform(&big_little(), scope).expect("valid");
            bins.iter().map(|bin| format!("{bin}: {:.1}", bin.capacity())).collect::<Vec<_>>()
        };
        assert_eq!(shown(Scope::Partitioned), ["CPU 0: 0.5", "CPU 1: 0.5", "CPU 2: 1.0", "CPU 3: 1.0"]);
        assert_eq!(shown(Scope::Clustered), ["CPUs 0-1: 1.0", "CPUs 2-3: 2.0"]);
        assert_eq!(shown(Scope::Global), ["CPUs 0-3: 3.0"]);
    }

    #[test]
    fn refuses_cores_that_are_not_there() {
        let platform = big_little();
        for list in ["", "4", "3-4"] {
            assert!(Bin::new(&platform, list.parse().expect("valid list")).is_err(), "{list}");
        }
        let mixed = Bin::new(&platform, "1-2".parse().expect("valid list")).expect("valid");
        assert_eq!((mixed.capacity(), mixed.fastest()), (&Utilization::ratio(3, 2), Speed::UNIT));
    }
}
