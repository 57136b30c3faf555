//! Measured execution times of jobs, a line each.

use super::table::Table;
use crate::{Diagnostic, Duration, Result};
use std::collections::BTreeMap;

const TASK: &str = "task";
const TIME: &str = "cpu_time";

/// Execution times of jobs in ns by the names of their tasks, from the columns `task` and `cpu_time`, a duration with its unit.
///
/// # Errors
///
/// A column is unknown, missing or there twice, or a time is not a duration above 0. The message has the line and the column.
pub fn job_times_from_csv(text: &str) -> Result<BTreeMap<String, Vec<u64>>> {
    let table = Table::read(text)?;
    table.check(&[TASK, TIME], &[])?;
    let tasks = table.texts(TASK).ok_or_else(|| table.lacks(TASK, "the name of each job's task"))?;
    let times =
        table.texts(TIME).ok_or_else(|| table.lacks(TIME, "the time that each job ran, such as 1.5ms"))?;
    let mut of_tasks: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (row, (task, time)) in tasks.into_iter().zip(times).enumerate() {
        let duration = time.parse::<Duration>().map_err(|error| Diagnostic {
            message: table.wrong_at(row, TIME, "is not a duration").message,
            ..error
        })?;
        if duration == Duration::ZERO {
            return Err(table
                .wrong_at(row, TIME, "is no time at all")
                .hint("leave out jobs that did not run"));
        }
        of_tasks.entry(task.to_owned()).or_default().push(duration.as_ns());
    }
    Ok(of_tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_to_their_tasks() {
        let times = job_times_from_csv("# log\ncpu_time,task\n1.5ms,a\n20us, b\n2ms,a\n").expect("valid");
        assert_eq!(times["a"], [1_500_000, 2_000_000]);
        assert_eq!(times["b"], [20_000]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let message = |text: &str| job_times_from_csv(text).expect_err("wrong").message;
        assert_eq!(message("task,cpu_time\na,1ms\na,5\n"), "line 3, cpu_time: `5` is not a duration");
        assert_eq!(message("task,cpu_time\na,0ms\n"), "line 2, cpu_time: `0ms` is no time at all");
        assert_eq!(message("task,time\na,1ms\n"), "line 1: the column `time` is not known");
        assert_eq!(message("task\na\n"), "line 1: there is no column `cpu_time`");
    }
}
