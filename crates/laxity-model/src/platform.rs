//! A multicore machine: cores with speeds, caches, memory nodes, clusters.

use crate::{
    Cache, CacheKind, CpuList, Diagnostic, Result, Scope, TaskSet, check_name, cpus_named, gcd, plural,
};
use std::fmt;
use std::str::FromStr;

/// The speed of a CPU relative to the CPU on which WCETs were measured, as an exact fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Speed {
    numerator: u32,
    denominator: u32,
}

impl Speed {
    /// The speed that WCETs refer to.
    pub const UNIT: Speed = Speed { numerator: 1, denominator: 1 };

    /// `numerator / denominator`, reduced. Both must be positive.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self> {
        if numerator == 0 || denominator == 0 {
            return Err(Diagnostic::usage(format!(
                "CPU speed {numerator}/{denominator} is not a positive fraction"
            ))
            .hint("write speeds such as 1, 0.5 or \"3/4\""));
        }
        let divisor = gcd(numerator.into(), denominator.into());
        let reduced = |n: u32| u32::try_from(u64::from(n) / divisor).expect("a quotient of a u32");
        Ok(Speed { numerator: reduced(numerator), denominator: reduced(denominator) })
    }

    /// Numerator of the reduced fraction.
    pub fn numerator(self) -> u32 {
        self.numerator
    }

    /// Denominator of the reduced fraction.
    pub fn denominator(self) -> u32 {
        self.denominator
    }

    /// How long work takes at this speed that takes `time` (ns, say) at speed 1: rounded up, which is safe; at most 2^64 - 1.
    pub fn time_for(self, time: u64) -> u64 {
        let work = u128::from(time) * u128::from(self.denominator);
        u64::try_from(work.div_ceil(self.numerator.into())).unwrap_or(u64::MAX)
    }
}

impl PartialOrd for Speed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Speed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let left = u64::from(self.numerator) * u64::from(other.denominator);
        let right = u64::from(other.numerator) * u64::from(self.denominator);
        left.cmp(&right)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            _ => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

impl FromStr for Speed {
    type Err = Diagnostic;

    /// Reads `2`, `0.75` or `3/4`, exactly.
    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Diagnostic::usage(format!("CPU speed `{text}` is not a fraction of two numbers below 2^32"))
                .hint("write speeds such as 1, 0.5 or \"3/4\"")
        };
        let number = |digits: &str| {
            let all_digits = digits.chars().all(|c| c.is_ascii_digit());
            digits.parse::<u64>().ok().filter(|_| all_digits)
        };
        let trimmed = text.trim();
        let parts = match trimmed.split_once('/') {
            Some((above, below)) => number(above.trim()).zip(number(below.trim())),
            None => {
                let (whole, decimals) = trimmed.split_once('.').unwrap_or((trimmed, ""));
                let decimals = decimals.trim_end_matches('0');
                let below = u32::try_from(decimals.len()).ok().and_then(|n| 10u64.checked_pow(n));
                number(&format!("{whole}{decimals}")).zip(below)
            }
        };
        let (above, below) = parts.ok_or_else(bad)?;
        let divisor = gcd(above, below).max(1);
        let reduced = |n: u64| u32::try_from(n / divisor).map_err(|_| bad());
        Speed::new(reduced(above)?, reduced(below)?)
    }
}

/// One CPU (logical CPU).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// CPU number.
    pub cpu: u32,
    /// Relative speed.
    pub speed: Speed,
}

/// A memory node and the CPUs next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumaNode {
    /// Node number.
    pub id: u32,
    /// CPUs of the node.
    pub cpus: CpuList,
    /// Its memory, where known.
    pub memory_bytes: Option<u64>,
}

/// A machine. CPUs are sorted by CPU number; clusters are disjoint and cover all CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    name: String,
    cores: Vec<Core>,
    caches: Vec<Cache>,
    numa_nodes: Vec<NumaNode>,
    clusters: Vec<CpuList>,
}

impl Platform {
    /// `count` CPUs of speed 1 in one cluster, nothing known of caches or memory.
    pub fn symmetric(count: u32) -> Result<Self> {
        let cores = (0..count).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect();
        Self::new(plural(count, "identical CPU"), cores, vec![], vec![], None)
    }

    /// Checks the parts against each other. Without `clusters`, CPUs that share a last-level cache form one.
    pub fn new(
        name: impl Into<String>,
        mut cores: Vec<Core>,
        caches: Vec<Cache>,
        numa_nodes: Vec<NumaNode>,
        clusters: Option<Vec<CpuList>>,
    ) -> Result<Self> {
        let name = name.into();
        check_name("the name of the platform", &name)?;
        if cores.is_empty() {
            return Err(Diagnostic::usage("the platform has no CPUs").hint("describe at least one CPU"));
        }
        cores.sort_by_key(|core| core.cpu);
        if let Some(pair) = cores.windows(2).find(|pair| pair[0].cpu == pair[1].cpu) {
            return Err(Diagnostic::usage(format!("CPU {} is described twice", pair[0].cpu))
                .hint("give every CPU its own number"));
        }
        let cpus: CpuList = cores.iter().map(|core| core.cpu).collect();
        let sharers = caches.iter().map(|c| (format!("L{} cache", c.level), &c.cpus));
        let nodes = numa_nodes.iter().map(|n| (format!("NUMA node {}", n.id), &n.cpus));
        for (what, list) in sharers.chain(nodes) {
            if !list.is_subset(&cpus) {
                return Err(Diagnostic::usage(format!(
                    "{what} names {} but the platform has only {cpus}",
                    cpus_named(list.difference(&cpus))
                ))
                .hint("list only CPUs of the platform"));
            }
        }
        let mut ids: Vec<u32> = numa_nodes.iter().map(|node| node.id).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Diagnostic::usage(format!("NUMA node {} is described twice", pair[0]))
                .hint("give every node its own number"));
        }
        let clusters = clusters.unwrap_or_else(|| clusters_by_cache(&cpus, &caches));
        check_clusters(&cpus, &clusters)?;
        Ok(Platform { name, cores, caches, numa_nodes, clusters })
    }

    /// The same machine with other clusters.
    pub fn with_clusters(self, clusters: Vec<CpuList>) -> Result<Self> {
        check_clusters(&self.cpus(), &clusters)?;
        Ok(Platform { clusters, ..self })
    }

    /// The same machine reduced to some of its CPUs (those a process may use).
    pub fn restricted(self, allowed: &CpuList) -> Result<Self> {
        let keep = |list: CpuList| list.intersection(allowed);
        let cores = self.cores.into_iter().filter(|core| allowed.contains(core.cpu)).collect();
        let caches = self.caches.into_iter().map(|c| Cache { cpus: keep(c.cpus.clone()), ..c });
        let nodes = self.numa_nodes.into_iter().map(|n| NumaNode { cpus: keep(n.cpus.clone()), ..n });
        let clusters = self.clusters.into_iter().map(keep).filter(|c| !c.is_empty()).collect();
        Self::new(
            self.name,
            cores,
            caches.filter(|c| !c.cpus.is_empty()).collect(),
            nodes.collect(),
            Some(clusters),
        )
    }

    /// Name of the platform.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// CPUs by CPU number.
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// The CPU of that number, if there is one.
    pub fn core(&self, cpu: u32) -> Option<&Core> {
        self.cores.binary_search_by_key(&cpu, |core| core.cpu).ok().map(|place| &self.cores[place])
    }

    /// All caches.
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// All memory nodes.
    pub fn numa_nodes(&self) -> &[NumaNode] {
        &self.numa_nodes
    }

    /// Disjoint sets of CPUs that cover the machine.
    pub fn clusters(&self) -> &[CpuList] {
        &self.clusters
    }

    /// What schedules its tasks on its own under a scheduler of this scope: every CPU, every cluster, or all of the machine.
    pub fn cells(&self, scope: Scope) -> Vec<CpuList> {
        match scope {
            Scope::Partitioned => self.cpus().iter().map(|cpu| CpuList::from_iter([cpu])).collect(),
            Scope::Clustered => self.clusters.clone(),
            Scope::Global => vec![self.cpus()],
        }
    }

    /// The CPU numbers of all CPUs.
    pub fn cpus(&self) -> CpuList {
        self.cores.iter().map(|core| core.cpu).collect()
    }

    /// Refuses a task that may run on none of the CPUs.
    ///
    /// # Errors
    ///
    /// Names the task, its affinity and the CPUs.
    pub fn check_affinities(&self, set: &TaskSet) -> Result<()> {
        let cpus = self.cpus();
        for task in set.tasks() {
            let Some(own) = task.affinity.as_ref().filter(|own| own.intersection(&cpus).is_empty()) else {
                continue;
            };
            return Err(Diagnostic::usage(format!(
                "task set `{}`: task `{}` may run on {} only, and platform `{}` has {}",
                set.name(),
                task.name,
                cpus_named(own),
                self.name,
                cpus_named(&cpus)
            ))
            .hint("correct the task's affinity, or name the platform that it is for (--platform, --cpus)"));
        }
        Ok(())
    }

    /// The speed of the slowest CPU.
    pub fn slowest(&self) -> Speed {
        self.cores.iter().map(|core| core.speed).min().expect("a platform has a CPU")
    }

    /// m: the number of CPUs.
    pub fn core_count(&self) -> usize {
        self.cores.len()
    }

    /// The speed of all these CPUs; nothing if they differ. Of none, 1.
    pub fn one_speed(&self, cpus: &CpuList) -> Option<Speed> {
        let mut speeds = cpus.iter().filter_map(|cpu| self.core(cpu)).map(|core| core.speed);
        let first = speeds.next().unwrap_or(Speed::UNIT);
        speeds.all(|speed| speed == first).then_some(first)
    }
}

/// CPUs that share the highest-level data cache, by lowest CPU; CPUs without one are one more cluster.
fn clusters_by_cache(cpus: &CpuList, caches: &[Cache]) -> Vec<CpuList> {
    let last_level = caches.iter().filter(|c| c.kind != CacheKind::Instruction).map(|c| c.level).max();
    let mut left = cpus.clone();
    let mut clusters = Vec::new();
    for cache in caches.iter().filter(|c| Some(c.level) == last_level && c.kind != CacheKind::Instruction) {
        let cluster = cache.cpus.intersection(&left);
        if !cluster.is_empty() {
            left = left.difference(&cluster);
            clusters.push(cluster);
        }
    }
    if !left.is_empty() {
        clusters.push(left);
    }
    clusters.sort();
    clusters
}

fn check_clusters(cpus: &CpuList, clusters: &[CpuList]) -> Result<()> {
    let mut left = cpus.clone();
    for cluster in clusters {
        if cluster.is_empty() || !cluster.is_subset(&left) {
            return Err(Diagnostic::usage(format!(
                "cluster `{cluster}` is empty, overlaps another or names CPUs outside {cpus}"
            ))
            .hint("clusters must be disjoint and made of the platform's CPUs"));
        }
        left = left.difference(cluster);
    }
    if !left.is_empty() {
        return Err(Diagnostic::usage(format!("in no cluster: {}", cpus_named(&left)))
            .hint("put every CPU into exactly one cluster"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(text: &str) -> CpuList {
        text.parse().expect("valid list")
    }

    fn cache(level: u32, list: &str) -> Cache {
        let kind = CacheKind::Unified;
        Cache { level, kind, size_bytes: 1 << 20, line_bytes: Some(64), ways: None, cpus: cpus(list) }
    }

    fn cores(count: u32) -> Vec<Core> {
        (0..count).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect()
    }

    #[test]
    fn cells_of_each_scope() {
        let clusters = ["2-3", "0-1"].map(cpus).to_vec();
        let platform = Platform::new("p", cores(4), Vec::new(), Vec::new(), Some(clusters)).expect("valid");
        assert_eq!(platform.cells(Scope::Global), [cpus("0-3")]);
        assert_eq!(platform.cells(Scope::Clustered), platform.clusters());
        assert_eq!(platform.cells(Scope::Partitioned), ["0", "1", "2", "3"].map(cpus));
    }

    #[test]
    fn a_slow_core_takes_longer_rounded_up() {
        let speed = |numerator, denominator| Speed::new(numerator, denominator).expect("positive");
        assert_eq!(Speed::UNIT.time_for(7), 7);
        assert_eq!(speed(1, 2).time_for(7), 14);
        assert_eq!(speed(3, 4).time_for(7), 10);
        assert_eq!(speed(1, 2).time_for(u64::MAX), u64::MAX);
    }

    #[test]
    fn clusters_follow_the_last_level_cache() {
        let caches = vec![cache(2, "0"), cache(2, "1"), cache(3, "0-1"), cache(3, "2-3")];
        let platform = Platform::new("p", cores(4), caches, vec![], None).expect("valid");
        assert_eq!(platform.clusters(), [cpus("0-1"), cpus("2-3")]);
        let platform = platform.restricted(&cpus("1-2")).expect("valid");
        assert_eq!(platform.clusters(), [cpus("1"), cpus("2")]);
    }

    #[test]
    fn refuses_clusters_that_do_not_partition_the_cores() {
        let platform = Platform::symmetric(4).expect("valid");
        for clusters in [vec!["0-1"], vec!["0-2", "2-3"], vec!["0-3", "4"], vec![""]] {
            let clusters = clusters.into_iter().map(cpus).collect();
            assert!(platform.clone().with_clusters(clusters).is_err());
        }
        assert!(Platform::symmetric(0).is_err());
        assert!(Speed::new(0, 1).is_err());
        assert_eq!(Speed::new(2, 4), Speed::new(1, 2));
    }

    #[test]
    fn reads_speeds_exactly() {
        for (text, above, below) in [
            ("1", 1, 1),
            ("0.75", 3, 4),
            ("3/4", 3, 4),
            (" 446 / 1024 ", 223, 512),
            (".5", 1, 2),
            ("2.50", 5, 2),
        ] {
            assert_eq!(text.parse(), Speed::new(above, below), "{text}");
        }
        for text in
            ["", "0", "0/1", "1/0", "-1", "+1", "1e3", "1/2/3", "0.1/2", "4294967296", "0.00000000001", "."]
        {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
