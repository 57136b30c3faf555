//! Clusters of a definition: which CPUs, which tasks, and that they fit together.

use super::task_id;
use laxity_model::{CpuList, Diagnostic, Result, TaskSet};
use laxity_trace::PlacementRecord;
use std::collections::BTreeMap;

/// CPUs that share a ready queue, and the tasks in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// All its CPUs.
    pub cpus: CpuList,
    /// Those among them that run no task.
    pub dedicated: CpuList,
    /// Ids of its tasks.
    pub tasks: Vec<u32>,
}

impl Cluster {
    /// A cluster whose CPUs all run tasks.
    pub fn new(cpus: CpuList, tasks: Vec<u32>) -> Self {
        Cluster { cpus, dedicated: CpuList::default(), tasks }
    }

    /// The CPUs that run tasks.
    pub fn task_cpus(&self) -> CpuList {
        self.cpus.difference(&self.dedicated)
    }
}

pub(super) fn clusters_of(set: &TaskSet, placement: &PlacementRecord) -> Result<Vec<Cluster>> {
    let ids: BTreeMap<&str, u32> =
        set.tasks().iter().enumerate().map(|(id, task)| (task.name.as_str(), task_id(id))).collect();
    let id_of = |name: &String| {
        ids.get(name.as_str()).copied().ok_or_else(|| {
            Diagnostic::usage(format!("the placement names task `{name}`, which the task set does not have"))
                .hint("verify results with the manifest they were written with")
        })
    };
    let cluster = |bin: &laxity_trace::PlacedBin| {
        Ok(Cluster::new(bin.cpus.clone(), bin.tasks.iter().map(id_of).collect::<Result<_>>()?))
    };
    placement.bins.iter().map(cluster).collect()
}

pub(super) fn check_cpus(clusters: &[Cluster], platform: &CpuList) -> Result<()> {
    let mut left = platform.clone();
    for cluster in clusters {
        if !cluster.cpus.is_subset(&left) {
            return Err(Diagnostic::usage(format!(
                "cluster `{}` overlaps another or names CPUs outside {platform}",
                cluster.cpus
            ))
            .hint("clusters must be disjoint and made of the platform's CPUs"));
        }
        if cluster.task_cpus().is_empty() && !cluster.tasks.is_empty() {
            return Err(Diagnostic::usage(format!(
                "cluster `{}` has no CPU left for its tasks (dedicated: `{}`)",
                cluster.cpus, cluster.dedicated
            ))
            .hint("give every cluster one CPU more than it dedicates"));
        }
        left = left.difference(&cluster.cpus);
    }
    Ok(())
}

pub(super) fn membership(set: &TaskSet, clusters: &[Cluster]) -> Result<Vec<Option<usize>>> {
    let mut of: Vec<Option<usize>> = vec![None; set.tasks().len()];
    for (index, cluster) in clusters.iter().enumerate() {
        for &task in &cluster.tasks {
            let slot = of.get_mut(task as usize).ok_or_else(|| {
                Diagnostic::usage(format!("cluster `{}` has task {task}, which the set lacks", cluster.cpus))
                    .hint("a task's id is its index in the set")
            })?;
            if slot.replace(index).is_some() {
                let name = &set.tasks()[task as usize].name;
                return Err(Diagnostic::usage(format!("task `{name}` is in two clusters"))
                    .hint("put every task into one cluster"));
            }
        }
    }
    for (id, task) in set.real_time() {
        let Some(index) = of[id] else {
            return Err(Diagnostic::usage(format!("task `{}` is in no cluster", task.name))
                .hint("put every real-time task into one cluster"));
        };
        let cpus = clusters[index].task_cpus();
        if task.affinity.as_ref().is_some_and(|affinity| affinity.intersection(&cpus).is_empty()) {
            return Err(Diagnostic::usage(format!(
                "task `{}` may run on no CPU of its cluster `{cpus}`",
                task.name
            ))
            .hint("put the task where its affinity allows it to run"));
        }
    }
    Ok(of)
}
