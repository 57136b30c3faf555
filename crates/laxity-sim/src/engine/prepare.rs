//! What a setup means for the policies: configuration, parameters, sockets, and the units in which work is counted.

use super::index_u32;
use crate::costs::COST_MAX;
use crate::setup::Setup;
use laxity_model::{Cell, CpuList, Diagnostic, PriorityRule, Result, gcd};
use laxity_policy::{Config, Instance, MemberNames, Table, TaskParameters};

/// The policy's entry points.
pub(super) fn table_of(setup: &Setup<'_>) -> Table {
    setup.table.unwrap_or_else(|| Table::of(setup.scheduler.policy))
}

/// The scheduler of a cell of these CPUs and tasks.
pub(super) fn instance_of(setup: &Setup<'_>, (own, members): (&CpuList, &[usize])) -> Result<Instance> {
    let config = config_of(setup, own.len());
    let parameters = parameters(setup, members, !setup.changes.list.is_empty());
    let Some(prototype) = setup.scheduler.policy.prototype() else {
        return Ok(Instance::new(table_of(setup), config, &parameters, &sockets(setup, own)));
    };
    let tasks = members.iter().map(|&task| setup.set.tasks()[task].name.clone()).collect();
    let names = MemberNames { tasks, cpus: own.iter().collect() };
    let begin = setup.prototypes.get(prototype)?;
    let begun = begin(setup.set, &Cell::new(own.clone(), members.to_vec()))?;
    Ok(Instance::of_prototype((begun, names), config, &parameters))
}

/// How a cell's scheduler is set up.
fn config_of(setup: &Setup<'_>, cpus: usize) -> Config {
    Config {
        cpus: index_u32(cpus),
        fixed_priorities: setup.scheduler.rule != PriorityRule::EarliestDeadlineFirst,
        budget_mode: setup.budget_mode,
        batching: setup.batching,
        dedicated_cpu: setup.scheduler.policy.dedicates_a_core(),
        retries_max: setup.retries_max,
    }
}

/// The socket of each of the cell's CPUs, numbered from 0 within the cell: its NUMA node, or where none are known its
/// cluster.
fn sockets(setup: &Setup<'_>, cores: &CpuList) -> Vec<u32> {
    let nodes = setup.platform.numa_nodes();
    let socket_of = |cpu: u32| match nodes.is_empty() {
        true => setup.platform.clusters().iter().position(|cluster| cluster.contains(cpu)),
        false => nodes.iter().position(|node| node.cpus.contains(cpu)),
    };
    let of_cores: Vec<Option<usize>> = cores.iter().map(socket_of).collect();
    let mut used = of_cores.clone();
    used.sort_unstable();
    used.dedup();
    of_cores.iter().map(|socket| index_u32(used.partition_point(|other| other < socket))).collect()
}

/// What the policy knows of the cell's tasks. Priorities are ranks: 0 is the highest, and equals share one, unless they are to be
/// `distinct`: then the lower id goes first, whatever their numbers in the instance.
pub(super) fn parameters(setup: &Setup<'_>, tasks: &[usize], distinct: bool) -> Vec<TaskParameters> {
    let given = |id: usize| {
        let given = setup.scheduler.rule.fixed_priority(&setup.set.tasks()[id]).unwrap_or(0);
        (given, if distinct { id } else { 0 })
    };
    let mut ranks: Vec<(u64, usize)> = tasks.iter().map(|&id| given(id)).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let parameters_of = |&id: &usize| {
        let task = &setup.set.tasks()[id];
        TaskParameters {
            deadline_rel_ns: task.deadline_rel.as_ns(),
            period_ns: task.period().as_ns(),
            budget_ns: task.wcet.as_ns(),
            priority: index_u32(ranks.partition_point(|&rank| rank < given(id))),
            batching: task.batching,
        }
    };
    tasks.iter().map(parameters_of).collect()
}

/// L: the least common multiple of the denominators of the CPUs' speeds.
pub(super) fn work_scale(setup: &Setup<'_>) -> Result<u64> {
    let too_fine = || {
        Diagnostic::usage("the CPUs' speeds have no common denominator below 2^20")
            .hint("round the speeds to simple fractions such as 1/2 or 3/4")
    };
    let mut scale = 1u64;
    for core in setup.platform.cores() {
        let denominator = u64::from(core.speed.denominator());
        scale = scale
            .checked_mul(denominator / gcd(scale, denominator))
            .filter(|&l| l < 1 << 20)
            .ok_or_else(too_fine)?;
    }
    Ok(scale)
}

/// Jobs may ask for ten times their WCET (`Demand`), and cold caches for as much as a cost may be on top.
const WORK_SHARES_MAX: u64 = 10;

/// Refuses work that is too much to be counted as finely as the CPUs' speeds ask for.
pub(super) fn check_work(setup: &Setup<'_>, scale: u64) -> Result<()> {
    let rate = |core: &laxity_model::Core| {
        u64::from(core.speed.numerator()).checked_mul(scale / u64::from(core.speed.denominator()))
    };
    let cold =
        setup.platform.cores().iter().map(|core| COST_MAX.as_ns().checked_mul(rate(core)?)).max().flatten();
    for (_, task) in setup.set.real_time() {
        let work = task.wcet.as_ns().checked_mul(WORK_SHARES_MAX).and_then(|work| work.checked_mul(scale));
        if cold.zip(work).and_then(|(cold, work)| cold.checked_add(work)).is_none_or(|most| most > 1 << 62) {
            return Err(Diagnostic::usage(format!(
                "task `{}`: a wcet of {} cannot be counted exactly on CPUs of these speeds (in parts of 1/{scale} ns)",
                task.name, task.wcet
            ))
            .hint("shorten the wcet, or round the speeds to simple fractions such as 1/2 or 3/4"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::global_cell;
    use laxity_model::{Core, Duration, NumaNode, Platform, PolicyScheduler, Speed, Task, TaskSet};

    fn list(cpus: std::ops::Range<u32>) -> CpuList {
        cpus.collect()
    }

    fn sockets_of(platform: &Platform, cores: std::ops::Range<u32>) -> Vec<u32> {
        let task = Task::periodic("T1", Duration::from_ms(1), Duration::from_ms(10));
        let set = TaskSet::new("one", vec![task]).expect("valid");
        let scheduler: PolicyScheduler = "g-edf-mp".parse().expect("a policy");
        let cells = vec![global_cell(&set, platform)];
        sockets(&Setup::new(&set, platform, scheduler, cells), &list(cores))
    }

    #[test]
    fn sockets_are_numa_nodes_or_else_clusters() {
        let cores = |count| (0..count).map(|cpu| Core { cpu, speed: Speed::UNIT }).collect::<Vec<_>>();
        let clusters = Some(vec![list(0..2), list(2..4), list(4..6)]);
        let platform = Platform::new("p", cores(6), Vec::new(), Vec::new(), clusters.clone()).expect("valid");
        assert_eq!(sockets_of(&platform, 0..6), [0, 0, 1, 1, 2, 2]);
        assert_eq!(sockets_of(&platform, 3..6), [0, 1, 1], "numbered from 0 in every cell");
        let node = |id, cpus| NumaNode { id, cpus, memory_bytes: None };
        let nodes = vec![node(7, list(0..3)), node(9, list(3..6))];
        let platform = Platform::new("p", cores(6), Vec::new(), nodes, clusters).expect("valid");
        assert_eq!(sockets_of(&platform, 0..6), [0, 0, 0, 1, 1, 1]);
    }
}
