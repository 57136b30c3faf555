//! A task set with the places in which it was judged.

use super::answer::{Answer, SchedulerAnswer, VerdictName};
use laxity_model::{CpuList, Diagnostic, Result, TaskSet};

/// The scheduler whose places are meant: the only one that has any, else the only one in whose places the set is proven.
///
/// # Errors
///
/// There is none, or several have places that differ.
pub fn chosen(answer: &Answer) -> Result<&SchedulerAnswer> {
    let placed: Vec<&SchedulerAnswer> = answer.schedulers.iter().filter(|one| one.fit.is_some()).collect();
    let proves = |one: &&&SchedulerAnswer| one.verdict(answer.guarantee).verdict == VerdictName::Schedulable;
    let proven: Vec<&SchedulerAnswer> = placed.iter().filter(proves).copied().collect();
    let names =
        |of: &[&SchedulerAnswer]| of.iter().map(|one| one.scheduler.as_str()).collect::<Vec<_>>().join(", ");
    let all: Vec<&SchedulerAnswer> = answer.schedulers.iter().collect();
    let differ = |of: &[&SchedulerAnswer]| of.iter().any(|one| places(one) != places(of[0]));
    match (&placed[..], &proven[..]) {
        ([], _) => Err(Diagnostic::usage(format!("--write: there are no places under {}", names(&all)))
            .hint("name a partitioned or clustered scheduler, such as --scheduler p-rm, and more than one CPU or cluster")),
        ([one], _) | (_, [one]) => Ok(one),
        (_, []) => Err(Diagnostic::usage(format!(
            "--write: of {} none is proven",
            names(&placed)
        ))
        .hint(format!("name the one whose places are to be written: --scheduler {}", placed[0].scheduler))),
        (_, several) if differ(several) => Err(Diagnostic::usage(format!(
            "--write: {} are proven, in different places",
            names(several)
        ))
        .hint(format!("name one: --scheduler {}", several[0].scheduler))),
        (_, several) => Ok(several[0]),
    }
}

fn places(one: &SchedulerAnswer) -> Vec<(&str, &[String])> {
    one.cells.iter().map(|cell| (cell.cpus.as_str(), &cell.tasks[..])).collect()
}

/// The set with each placed task's CPUs as its affinity.
///
/// # Errors
///
/// None that the set itself has not had.
pub fn placed(set: &TaskSet, answer: &SchedulerAnswer) -> Result<TaskSet> {
    in_places(set, answer.cells.iter().map(|cell| (cell.cpus.as_str(), &cell.tasks[..])))
}

/// The set with the CPUs of each place as the affinity of the tasks there.
///
/// # Errors
///
/// None that the set itself has not had.
pub fn in_places<'a>(
    set: &TaskSet,
    places: impl IntoIterator<Item = (&'a str, &'a [String])>,
) -> Result<TaskSet> {
    let mut tasks = set.tasks().to_vec();
    for (cpus, names) in places {
        let cpus: CpuList = cpus.parse()?;
        let here = tasks.iter_mut().filter(|task| names.contains(&task.name));
        here.for_each(|task| task.affinity = Some(cpus.clone()));
    }
    set.with_tasks(tasks)
}
