//! Small sets and a brute-force oracle that shares no code with the crate.

use laxity_model::{Duration, Platform, Scope, Task, TaskSet, Utilization};
use laxity_place::{Bin, Fit};

/// (wcet, deadline, period) in ms, named t0, t1 ...
pub fn set(tasks: &[(u64, u64, u64)]) -> TaskSet {
    let ms = Duration::from_ms;
    let task = |(id, &(wcet, deadline, period)): (usize, &(u64, u64, u64))| Task {
        deadline_rel: ms(deadline),
        ..Task::periodic(format!("t{id}"), ms(wcet), ms(period))
    };
    TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("a valid set")
}

/// Implicit deadlines: (wcet, period) in ms.
pub fn implicit(tasks: &[(u64, u64)]) -> TaskSet {
    set(&tasks.iter().map(|&(wcet, period)| (wcet, period, period)).collect::<Vec<_>>())
}

pub fn cores(count: u32) -> Vec<Bin> {
    Bin::of_platform(&Platform::symmetric(count).expect("valid"), Scope::Partitioned).expect("valid")
}

fn load(task: &Task, fit: Fit) -> Utilization {
    match fit {
        Fit::Density => Utilization::of(task.wcet, task.deadline_rel.min(task.period())),
        Fit::Utilization | Fit::DemandBound => Utilization::of(task.wcet, task.period()),
    }
}

/// DBF* by its definition, in plain rationals.
fn demand(task: &Task, t: Duration) -> Utilization {
    match t.checked_sub(task.deadline_rel) {
        None => Utilization::zero(),
        Some(past) => Utilization::whole(task.wcet.as_ns())
            .plus(&task.utilization().times(&Utilization::whole(past.as_ns()))),
    }
}

fn may_go(task: &Task, bin: &Bin) -> bool {
    let speed = Utilization::ratio(bin.fastest().numerator().into(), bin.fastest().denominator().into());
    task.density() <= speed && task.affinity.as_ref().is_none_or(|cpus| bin.cpus().is_subset(cpus))
}

/// True if the tasks together pass the admission test of the bin.
pub fn bin_holds(tasks: &[&Task], bin: &Bin, fit: Fit) -> bool {
    let sum = tasks.iter().fold(Utilization::zero(), |sum, task| sum.plus(&load(task, fit)));
    let within = tasks.iter().all(|task| may_go(task, bin)) && sum <= *bin.capacity();
    let demand_within = |t: Duration| {
        let demand = tasks.iter().fold(Utilization::zero(), |sum, task| sum.plus(&demand(task, t)));
        demand <= Utilization::whole(t.as_ns()).times(bin.capacity())
    };
    within && (fit != Fit::DemandBound || tasks.iter().all(|task| demand_within(task.deadline_rel)))
}

/// True if an assignment (by task id) passes every bin's admission test.
pub fn feasible(set: &TaskSet, bins: &[Bin], fit: Fit, assignment: &[usize]) -> bool {
    (0..bins.len()).all(|bin| {
        let tasks: Vec<&Task> =
            set.tasks().iter().zip(assignment).filter(|(_, b)| **b == bin).map(|(task, _)| task).collect();
        bin_holds(&tasks, &bins[bin], fit)
    })
}

/// The largest load relative to capacity.
pub fn max_load(set: &TaskSet, bins: &[Bin], fit: Fit, assignment: &[usize]) -> Utilization {
    let mut loads = vec![Utilization::zero(); bins.len()];
    for (task, &bin) in set.tasks().iter().zip(assignment) {
        loads[bin] = loads[bin].plus(&load(task, fit));
    }
    let relative = loads.iter().zip(bins).map(|(load, bin)| load.over(bin.capacity()));
    relative.max().expect("there are bins")
}

/// Every assignment of the tasks to the bins they may go into.
pub fn assignments(set: &TaskSet, bins: &[Bin]) -> Vec<Vec<usize>> {
    set.tasks().iter().fold(vec![Vec::new()], |partial: Vec<Vec<usize>>, task| {
        let allowed: Vec<usize> = (0..bins.len()).filter(|&bin| may_go(task, &bins[bin])).collect();
        partial
            .iter()
            .flat_map(|prefix| allowed.iter().map(move |&bin| [prefix.as_slice(), &[bin]].concat()))
            .collect()
    })
}

/// The least maximum load of any assignment; nothing if some task may go nowhere.
pub fn least_max_load(set: &TaskSet, bins: &[Bin], fit: Fit) -> Option<Utilization> {
    assignments(set, bins).iter().map(|assignment| max_load(set, bins, fit, assignment)).min()
}
