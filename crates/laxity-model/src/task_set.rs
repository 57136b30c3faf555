//! A checked set of tasks.

use crate::{Diagnostic, Duration, LoadSum, Result, Task, TaskKind, Utilization, check_name, shown};
use std::collections::BTreeMap;

/// The most tasks a set may have.
pub const TASKS_MAX: usize = 100_000;

/// Where a generated set comes from: enough to generate the same bytes again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Name of the generator, as on the command line.
    pub generator: String,
    /// Name of the random number generator.
    pub rng: String,
    /// Seed.
    pub seed: u64,
    /// Number of the set among those that the seed makes, from 0.
    pub index: u64,
    /// The generator's parameters by option name.
    pub parameters: BTreeMap<String, String>,
}

/// Tasks with unique names, each valid by itself. A task's id is its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSet {
    name: String,
    tasks: Vec<Task>,
    provenance: Option<Provenance>,
}

impl TaskSet {
    /// Checks the tasks and all names. An empty set is an error.
    pub fn new(name: impl Into<String>, tasks: Vec<Task>) -> Result<Self> {
        let name = name.into();
        check_name("the name of the task set", &name)?;
        if tasks.is_empty() {
            return Err(Diagnostic::usage("the task set is empty").hint("describe at least one task"));
        }
        if tasks.len() > TASKS_MAX {
            return Err(Diagnostic::usage(format!(
                "the task set has {} tasks; the limit is {TASKS_MAX}",
                tasks.len()
            ))
            .hint("split the set"));
        }
        let mut seen = BTreeMap::new();
        for (id, task) in tasks.iter().enumerate() {
            task.validate()?;
            if let Some(first) = seen.insert(task.name.as_str(), id) {
                return Err(Diagnostic::usage(format!(
                    "two tasks have the name `{}` (tasks {} and {}); names must be unique",
                    task.name,
                    first + 1,
                    id + 1
                ))
                .hint("rename one of them"));
            }
        }
        check_totals(&tasks)?;
        Ok(TaskSet { name, tasks, provenance: None })
    }

    /// Says where the set comes from.
    #[must_use]
    pub fn with_provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = Some(provenance);
        self
    }

    /// The set with other tasks in the place of its own: its name and where it comes from stay.
    ///
    /// # Errors
    ///
    /// Those of [`TaskSet::new`].
    pub fn with_tasks(&self, tasks: Vec<Task>) -> Result<TaskSet> {
        Ok(TaskSet { provenance: self.provenance.clone(), ..TaskSet::new(self.name.clone(), tasks)? })
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the set another name, with control characters escaped as [`shown`] does.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.name = shown(&name.into()).into_owned();
        self
    }

    /// All tasks, in id order.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The real-time tasks with their ids.
    pub fn real_time(&self) -> impl Iterator<Item = (usize, &Task)> {
        self.tasks.iter().enumerate().filter(|(_, task)| task.kind == TaskKind::RealTime)
    }

    /// How long after the last release jobs have to end where nothing else is asked for: what the longest deadline takes, 50 ms at the
    /// least and 10 s at the most.
    pub fn default_grace(&self) -> Duration {
        let longest = self.real_time().map(|(_, task)| task.deadline_rel).max().unwrap_or_default();
        longest.clamp(Duration::from_ms(50), Duration::from_secs(10))
    }

    /// Where a generated set comes from.
    pub fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref()
    }

    /// The sum of C/T of the real-time tasks.
    pub fn load(&self) -> LoadSum {
        let mut sum = LoadSum::new();
        self.real_time().for_each(|(_, task)| sum.add(task.wcet, task.period()));
        sum
    }

    /// U: the exact sum of C/T of the real-time tasks.
    pub fn utilization(&self) -> Utilization {
        self.load().exact()
    }

    /// The longest period.
    pub fn period_max(&self) -> Duration {
        self.tasks.iter().map(Task::period).max().unwrap_or_default()
    }
}

/// Keeps every sum over the set below 2^63, so that sums of periods, deadlines, phases or bytes cannot
/// overflow in whatever uses the set.
fn check_totals(tasks: &[Task]) -> Result<()> {
    let limit = u128::from(u64::MAX / 2);
    let total = |of: fn(&Task) -> u64| tasks.iter().map(|task| u128::from(of(task))).sum::<u128>();
    for (what, of) in [
        ("periods", (|task| task.period().as_ns()) as fn(&Task) -> u64),
        ("deadlines", |task| task.deadline_rel.as_ns()),
        ("phases", |task| task.phase.as_ns()),
    ] {
        if total(of) > limit {
            return Err(Diagnostic::usage(format!(
                "the {what} of the task set add up to more than 2^63 ns (292 years)"
            ))
            .hint("check the units of the times: ns, us, ms, s"));
        }
    }
    if total(|task| task.working_set.size_bytes) > limit {
        return Err(Diagnostic::usage("the working sets of the task set add up to more than 2^63 bytes")
            .hint("check the units of the sizes: B, KiB, MiB, GiB"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arrival;

    fn task(name: &str, wcet_ms: u64, period_ms: u64) -> Task {
        Task::periodic(name, Duration::from_ms(wcet_ms), Duration::from_ms(period_ms))
    }

    fn message(tasks: Vec<Task>) -> String {
        TaskSet::new("t", tasks).expect_err("must be refused").message
    }

    #[test]
    fn refuses_what_no_scheduler_can_use() {
        assert!(message(vec![]).contains("empty"));
        assert!(message(vec![task("a", 0, 5)]).contains("wcet is 0"));
        assert!(message(vec![task("a", 1, 0)]).contains("period is 0"));
        assert!(message(vec![task("a", 6, 5)]).contains("exceeds deadline 5ms"));
        assert!(message(vec![task("a", 1, 5), task("a", 1, 5)]).contains("tasks 1 and 2"));
        let late = Task { deadline_rel: Duration::from_ms(20), ..task("a", 7, 5) };
        assert!(message(vec![late]).contains("utilization above 1"));
        let sporadic =
            Task { arrival: Arrival::Sporadic { min_interarrival: Duration::ZERO }, ..task("a", 1, 5) };
        assert!(message(vec![sporadic]).contains("min_interarrival is 0"));
    }

    #[test]
    fn refuses_sums_that_would_overflow() {
        let long = |name: &str| Task { phase: Duration::from_ns(u64::MAX / 2), ..task(name, 1, 5) };
        assert!(TaskSet::new("t", vec![long("a")]).is_ok());
        assert!(message(vec![long("a"), long("b")]).contains("phases of the task set add up"));
        let mut large = task("a", 1, 5);
        large.working_set.size_bytes = u64::MAX;
        assert!(message(vec![large]).contains("working sets"));
    }

    #[test]
    fn utilization_is_exact() {
        let set = TaskSet::new("t", vec![task("a", 1, 3), task("b", 1, 3), task("c", 1, 3)]).expect("valid");
        assert_eq!(set.utilization(), Utilization::whole(1));
    }
}
