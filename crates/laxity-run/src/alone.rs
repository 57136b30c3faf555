//! Every task alone (lelli2012, 6.1): its reference execution time and cache behaviour.
//!
//! All tasks run on one CPU at the highest task priority, one after the other: task k's jobs are released in a
//! window of their own, so that no other task ever competes with them. The policy has no influence then.

use crate::execute::JobOrder;
use crate::plan::{Confinement, Plan, PlannedTask, TASK_PRIORITY_MAX};
use crate::sched::Policy;
use crate::sharing::Regions;
use laxity_model::{Cell, CpuList, Diagnostic, Duration, OnMiss, Result, Task, TaskSet};

/// Jobs per task at least: the first finds a cold cache.
const JOBS_MIN: u64 = 3;
/// Jobs per task at most.
const JOBS_MAX: u64 = 50;

/// Time between two releases of a lone task: its period, or less if that is long. Twice the WCET leaves the job
/// time to end, and 100 ms the kernel's own work time to cool the cache as it would within a period.
fn gap_of(task: &Task) -> Duration {
    let enough = task.wcet.checked_mul(2).unwrap_or(task.wcet).max(Duration::from_ms(100));
    task.period().min(enough)
}

/// A plan in which every real-time task of the set runs alone on `cpu` for about `span`, and the jobs of its
/// k-th task. `order` says what the i-th job of a task is to do; its release is moved into the task's window.
pub fn alone(
    set: &TaskSet,
    cpu: u32,
    span: Duration,
    seed: u64,
    order: impl Fn(usize, usize) -> JobOrder,
) -> Result<(Plan, Vec<Vec<JobOrder>>)> {
    let cpus = CpuList::from_iter([cpu]);
    let cell = Cell::new(cpus, Vec::new());
    let regions = Regions::of(set, seed)?;
    let too_long = || Diagnostic::usage("running every task alone takes more than 584 years").hint("skip it");
    let mut begin = Duration::ZERO;
    let mut tasks = Vec::new();
    let mut orders = Vec::new();
    for (id, task) in set.real_time() {
        let gap = gap_of(task);
        let jobs = (span.as_ns() / gap.as_ns()).clamp(JOBS_MIN, JOBS_MAX);
        let release = |index: u64| gap.checked_mul(index).and_then(|offset| begin.checked_add(offset));
        let job = |index: u64| -> Result<JobOrder> {
            let number = usize::try_from(index).expect("at most 50");
            Ok(JobOrder { release: release(index).ok_or_else(too_long)?, ..order(id, number) })
        };
        orders.push((0..jobs).map(job).collect::<Result<Vec<_>>>()?);
        begin = release(jobs).and_then(|end| end.checked_add(task.deadline_rel)).ok_or_else(too_long)?;
        let policy = Policy::Fifo { priority: TASK_PRIORITY_MAX };
        // On whichever CPU it may run.
        tasks.push(PlannedTask {
            affinity: cell.cpus.clone(),
            ..PlannedTask::of(set, id, &cell, policy, &regions, seed)
        });
    }
    let plan = Plan {
        cells: vec![Cell { tasks: (0..tasks.len()).collect(), ..cell }],
        confinement: Confinement::AffinityMasks,
        tasks,
        regions: regions.bytes,
        duration: begin,
        grace: Duration::from_ms(500),
        on_miss: OnMiss::Continue,
        busy: 0,
        bandwidth_linger: Duration::ZERO,
        attachment: None,
        foreign: None,
        recorded: false,
        quiet: false,
        notes: vec![format!("each task alone on CPU {cpu} under SCHED_FIFO")],
    };
    Ok((plan, orders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_do_not_overlap() {
        let tasks = [(1, 10), (2, 400), (1, 5)]
            .map(|(c, t)| Task::periodic(format!("t{t}"), Duration::from_ms(c), Duration::from_ms(t)));
        let set = TaskSet::new("set", tasks.to_vec()).expect("valid");
        let order = |_, _| JobOrder { release: Duration::ZERO, demand: Duration::from_ms(1), accesses: None };
        let (plan, orders) = alone(&set, 1, Duration::from_ms(200), 0, order).expect("a plan");
        assert_eq!([0, 1, 2].map(|k| orders[k].len()), [20, 3, 40], "a period of 400 ms is cut to 100 ms");
        for k in 0..2 {
            let last = orders[k].last().expect("jobs").release;
            assert!(last + set.tasks()[k].deadline_rel <= orders[k + 1][0].release);
        }
        assert_eq!(orders[1][1].release - orders[1][0].release, Duration::from_ms(100));
        assert!(orders[2].last().expect("jobs").release < plan.duration);
    }
}
