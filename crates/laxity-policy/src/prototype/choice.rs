//! What a prototype has chosen, checked: which job runs on which CPU, and when it is asked again.

use super::{Choice, MemberNames, PendingJob};
use crate::NEVER;
use laxity_model::{Diagnostic, Result};
use std::collections::{BTreeMap, BTreeSet};

/// On which CPU each chosen job runs: by CPU, its task.
pub fn places(
    choice: &Choice,
    jobs: &[PendingJob],
    cpus: &[u32],
    names: &MemberNames,
) -> Result<BTreeMap<u32, u32>> {
    let wrong = |what: String, rule: &str| Diagnostic::usage(what).hint(rule.to_owned());
    let mut places: BTreeMap<u32, u32> = BTreeMap::new();
    let mut free: BTreeSet<u32> = cpus.iter().copied().collect();
    let (mut chosen, mut anywhere) = (BTreeSet::new(), Vec::new());
    for &(task, cpu) in &choice.run {
        let Ok(place) = jobs.binary_search_by_key(&task, |job| job.task) else {
            let what = format!("task {} was chosen, of which no job is pending", names.task(task));
            return Err(wrong(what, "choose among the jobs that are given"));
        };
        if !chosen.insert(task) {
            let what = format!("task {} was chosen twice", names.task(task));
            return Err(wrong(what, "a job runs on one CPU at a time"));
        }
        match cpu {
            None => anywhere.push((task, jobs[place].cpu)),
            Some(cpu) if free.remove(&cpu) => drop(places.insert(cpu, task)),
            Some(cpu) => match places.get(&cpu) {
                Some(&other) => {
                    let (one, two) = (names.task(other), names.task(task));
                    let what = format!("tasks {one} and {two} were put on CPU {}", names.cpu(cpu));
                    return Err(wrong(what, "a CPU runs one job at a time"));
                }
                None => {
                    let (task, cpu) = (names.task(task), names.cpu(cpu));
                    let what = format!("task {task} was put on CPU {cpu}, which is not there");
                    return Err(wrong(what, "choose among the CPUs that are given"));
                }
            },
        }
    }
    if choice.run.len() > cpus.len() {
        let what = format!("{} jobs were chosen for {} CPUs", choice.run.len(), cpus.len());
        return Err(wrong(what, "choose at most as many jobs as there are CPUs"));
    }
    anywhere.retain(|&(task, runs_on)| match runs_on.filter(|cpu| free.remove(cpu)) {
        Some(cpu) => places.insert(cpu, task).is_some(),
        None => true,
    });
    places.extend(free.into_iter().zip(anywhere.into_iter().map(|(task, _)| task)));
    Ok(places)
}

/// When the prototype is asked again.
pub fn again(choice: &Choice, now: u64) -> Result<u64> {
    match choice.again_at_ns {
        Some(at) if at <= now => {
            Err(Diagnostic::usage(format!("to be asked again at {at} ns, when it is {now} ns"))
                .hint("name a later instant, or none: a choice holds until something changes"))
        }
        Some(at) => Ok(at),
        None => Ok(NEVER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(task: u32, cpu: Option<u32>) -> PendingJob {
        PendingJob { task, release_ns: 0, deadline_abs_ns: 10, used_ns: 0, cpu }
    }

    fn placed(run: &[(u32, Option<u32>)]) -> Result<Vec<(u32, u32)>> {
        let jobs = [job(0, Some(1)), job(1, None), job(2, Some(3)), job(3, None)];
        let choice = Choice { run: run.to_vec(), again_at_ns: None };
        Ok(places(&choice, &jobs, &[1, 3, 5], &MemberNames::default())?.into_iter().collect())
    }

    #[test]
    fn jobs_stay_where_they_run_unless_they_are_put_elsewhere() {
        assert_eq!(placed(&[(1, None), (0, None), (2, None)]), Ok(vec![(1, 0), (3, 2), (5, 1)]));
        assert_eq!(placed(&[(1, Some(1)), (0, None)]), Ok(vec![(1, 1), (3, 0)]));
        assert_eq!(placed(&[(0, Some(3)), (2, Some(1))]), Ok(vec![(1, 2), (3, 0)]));
        assert_eq!(placed(&[]), Ok(vec![]));
    }

    #[test]
    fn refuses_what_cannot_run() {
        for (run, why) in [
            (&[(4, None)][..], "no job is pending"),
            (&[(1, None), (1, None)], "twice"),
            (&[(1, Some(2))], "task 1 was put on CPU 2, which is not there"),
            (&[(1, Some(1)), (0, Some(1))], "tasks 1 and 0 were put on CPU 1"),
            (&[(0, None), (1, None), (2, None), (3, None)], "4 jobs were chosen for 3 CPUs"),
        ] {
            let refused = placed(run).expect_err(why);
            assert!(refused.message.contains(why), "{}", refused.message);
        }
        assert!(again(&Choice { again_at_ns: Some(5), ..Choice::default() }, 5).is_err());
    }
}
