//! Measured execution times: of a results directory, or of a CSV file.

use laxity_model::overheads::job_times_from_csv;
use laxity_model::{Diagnostic, Result, ShownPath as _, TaskSet};
use laxity_trace::{ALONE, Host, JobOutcome, Run};
use std::collections::BTreeMap;
use std::path::Path;

/// Execution times of jobs.
pub struct Measured {
    /// In ns, by the name of the task.
    pub times: BTreeMap<String, Vec<u64>>,
    /// Whence they are.
    pub shown: String,
}

impl Measured {
    /// Those of all completed jobs of the real runs in a results directory, or those in a CSV file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or nothing was measured.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.shown().to_string();
        let times = if path.is_dir() {
            of_results(path)?
        } else {
            laxity_model::read_file(path, job_times_from_csv)?
        };
        if times.is_empty() {
            return Err(Diagnostic::usage(format!("{shown} has no job whose execution time was measured"))
                .hint(
                    "give the directory of `laxity run`, or a CSV file with the columns task and cpu_time",
                ));
        }
        Ok(Measured { times, shown })
    }
}

fn of_results(directory: &Path) -> Result<BTreeMap<String, Vec<u64>>> {
    let results = laxity_trace::load(directory)?;
    let names: Vec<Vec<String>> = results
        .task_sets
        .iter()
        .enumerate()
        .map(|(at, document)| {
            let set = TaskSet::from_json_value(document, &format!("set-{at}"))?;
            Ok(set.tasks().iter().map(|task| task.name.clone()).collect())
        })
        .collect::<Result<_>>()?;
    let is_real = |run: &&Run| run.host != Host::Simulator && run.scheduler != ALONE;
    let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for run in results.runs.iter().filter(is_real) {
        for job in run.jobs.iter().filter(|job| job.outcome == JobOutcome::Completed) {
            let name = names.get(run.set as usize).and_then(|names| names.get(job.task as usize));
            if let (Some(name), Some(time)) = (name, job.cpu_time_ns.filter(|&time| time > 0)) {
                times.entry(name.clone()).or_default().push(time);
            }
        }
    }
    Ok(times)
}
