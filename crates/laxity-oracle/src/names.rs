//! What violations call tasks and jobs: by the names of the set, `emergency-stop.12`.

use crate::Definition;
use laxity_model::{Duration, PriorityRule, Task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A job in a violation. Texts write `video.2 (deadline 40ms)`: the job of number 2, from 0, of the task `video`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobName {
    /// Id of the task: its index in the set.
    pub task: u32,
    /// Number of the job in its task, from 0.
    pub job: u32,
    /// The absolute deadline it is scheduled by, in ns, under EDF.
    pub deadline_ns: Option<u64>,
    /// Its task's number under fixed priorities, or its level where tasks share them; the smallest goes first.
    pub priority: Option<u64>,
}

/// The tasks of a definition in words.
#[derive(Debug, Default)]
pub(crate) struct Names {
    tasks: Vec<Words>,
}

#[derive(Debug)]
struct Words {
    name: String,
    /// What its place under fixed priorities follows from.
    priority: String,
}

impl Names {
    /// The tasks of a definition.
    pub fn new(definition: &Definition) -> Self {
        let words = |task: &Task| Words {
            name: task.name.clone(),
            priority: match definition.rule() {
                PriorityRule::RateMonotonic => format!("period {}", task.period()),
                PriorityRule::DeadlineMonotonic => format!("relative deadline {}", task.deadline_rel),
                PriorityRule::Given => {
                    task.priority.map_or_else(String::new, |number| format!("priority {number}"))
                }
                PriorityRule::EarliestDeadlineFirst => String::new(),
            },
        };
        Names { tasks: definition.set().tasks().iter().map(words).collect() }
    }

    fn words(&self, task: u32) -> Option<&Words> {
        self.tasks.get(usize::try_from(task).ok()?)
    }

    /// A task. One that the set does not have goes by its id.
    pub fn task(&self, task: u32) -> String {
        self.words(task).map_or_else(|| format!("task {task}"), |words| words.name.clone())
    }

    /// A job without what it is scheduled by: `video.12`.
    pub fn plain(&self, task: u32, job: u32) -> String {
        format!("{}.{job}", self.task(task))
    }

    /// A job with what it is scheduled by: `video.12 (deadline 40ms)`, `video.12 (period 10ms)`.
    pub fn job(&self, job: JobName) -> String {
        let name = self.plain(job.task, job.job);
        let priority = job.priority.and_then(|_| Some(self.words(job.task)?.priority.as_str()));
        match (job.deadline_ns, priority) {
            (Some(deadline), _) => format!("{name} (deadline {})", Duration::from_ns(deadline)),
            (None, Some(priority)) if !priority.is_empty() => format!("{name} ({priority})"),
            (None, _) => name,
        }
    }
}
