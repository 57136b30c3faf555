//! Task sets in TOML and JSON.

use super::document::{DocumentEntries, DocumentKind};
use super::notation::{Bounded, Cpus, ReadsToWrites, Share, Size, Time, Whole, Written};
use crate::task_set::TASKS_MAX;
use crate::{
    AccessPattern, Arrival, ByteSize, Diagnostic, Duration, Group, Provenance, Result, Task, TaskKind,
    TaskSet, WorkingSet,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;

const KIND: DocumentKind = DocumentKind {
    what: "task set",
    schema: "schemas/task-set.schema.json",
    version: 1,
    entries: Some(DocumentEntries {
        key: "tasks",
        singular: "task",
        refuses: |entry| TaskFile::deserialize(entry).is_err(),
    }),
};

/// A set of recurring real-time tasks for laxity.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table with `tasks`")]
#[schemars(title = "laxity task set")]
pub(super) struct TaskSetFile {
    /// The schema that an editor is to check the file against; not read.
    #[serde(rename = "$schema", default, skip_serializing)]
    _schema: Option<String>,
    /// Version of this format.
    #[schemars(extend("const" = 1))]
    version: u64,
    /// Name of the set; without one, the file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Where a generated set comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<ProvenanceFile>,
    /// The tasks. Their order gives their ids, the last word in every tie.
    #[schemars(extend("minItems" = 1))]
    tasks: Bounded<TaskFile, TASKS_MAX>,
}

/// Enough to generate the same set again.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "provenance")]
struct ProvenanceFile {
    /// Name of the generator.
    generator: String,
    /// Name of the random number generator.
    rng: String,
    /// Seed of the random number generator.
    seed: Written<Whole>,
    /// Number of the set among those that the seed makes, from 0.
    index: Written<Whole>,
    /// The generator's parameters, by option name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

/// A recurring task. Exactly one of `period` and `min_interarrival` must be given.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table with `wcet` and `period`")]
#[schemars(extend("oneOf" = one_arrival(), "dependentRequired" = { "shared": ["group"] }))]
#[schemars(rename = "task")]
struct TaskFile {
    /// Unique name; without one, T1, T2 ... by position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    name: Option<String>,
    /// Worst-case execution time of one job on a CPU of speed 1.
    wcet: Written<Time>,
    /// Time between two releases of a periodic task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    period: Option<Written<Time>>,
    /// Least time between two releases of a sporadic task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_interarrival: Option<Written<Time>>,
    /// Deadline relative to the release; without one, the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Written<Time>>,
    /// First release after the start of the run; without one, 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phase: Option<Written<Time>>,
    /// When the task leaves: no job arrives from then on; without it, it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leave: Option<Written<Time>>,
    /// `false`: its jobs are released each by itself even where the scheduler batches releases of one instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batching: Option<bool>,
    /// Priority for schedulers with given priorities; the smaller, the higher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 4_294_967_295u64))]
    priority: Option<Written<Whole>>,
    /// Real-time (with deadlines) unless said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<KindFile>,
    /// The CPUs on which the task may run; without it, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    affinity: Option<Written<Cpus>>,
    /// What its jobs ask for; without it, what the run asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    demand: Option<Written<Share>>,
    /// Tasks of one group share memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    group: Option<String>,
    /// How much of the working set the group shares; without it, all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shared: Option<Written<Size>>,
    /// The memory each job walks, one access per cache line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    working_set: Option<WorkingSetFile>,
}

/// The memory a job walks.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { size = \"64KiB\" }")]
#[schemars(rename = "working_set")]
struct WorkingSetFile {
    /// How large it is.
    size: Written<Size>,
    /// Reads to writes; without it, "4:1".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reads_to_writes: Option<Written<ReadsToWrites>>,
    /// Order of the accesses; without it, sequential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access: Option<AccessFile>,
}

/// Whether a task has deadlines.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "kind")]
enum KindFile {
    /// A recurring task with deadlines.
    RealTime,
    /// Background work: not real-time.
    BestEffort,
}

/// Order of memory accesses.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "access")]
enum AccessFile {
    /// Cache line after cache line.
    Sequential,
    /// In a random permutation of the cache lines.
    Random,
}

fn one_arrival() -> Value {
    json!([{ "required": ["period"] }, { "required": ["min_interarrival"] }])
}

impl TaskSet {
    /// Reads a task set in TOML. `name` is its name if the text gives none.
    pub fn from_toml(text: &str, name: &str) -> Result<Self> {
        KIND.from_toml::<TaskSetFile>(text)?.read(name)
    }

    /// Reads a task set in JSON. `name` is its name if the text gives none.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        KIND.from_json::<TaskSetFile>(text)?.read(name)
    }

    /// Reads a task set from a JSON document in memory. `name` is its name if the document gives none.
    pub fn from_json_value(document: &Value, name: &str) -> Result<Self> {
        KIND.from_json_value::<TaskSetFile>(document)?.read(name)
    }

    /// Writes the set in TOML; [`TaskSet::from_toml`] reads the same set back.
    pub fn to_toml(&self) -> String {
        toml::to_string(&TaskSetFile::of(self))
            .expect("a task set file has only text, 53-bit integers and tables")
    }

    /// Writes the set in JSON; [`TaskSet::from_json`] reads the same set back.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(&TaskSetFile::of(self)).expect("a task set file has only text keys");
        text.push('\n');
        text
    }

    /// The set as a JSON document in memory.
    pub fn to_json_value(&self) -> Value {
        serde_json::to_value(TaskSetFile::of(self)).expect("a task set file has only text keys")
    }
}

impl TaskSetFile {
    fn read(self, name: &str) -> Result<TaskSet> {
        KIND.check_version(self.version)?;
        let tasks = self.tasks.0.into_iter().enumerate().map(|(id, task)| task.read(id));
        let tasks = tasks.collect::<Result<Vec<Task>>>()?;
        let set = TaskSet::new(self.name.unwrap_or_else(|| name.to_owned()), tasks)?;
        Ok(match self.provenance {
            Some(provenance) => set.with_provenance(provenance.read()?),
            None => set,
        })
    }

    fn of(set: &TaskSet) -> Self {
        TaskSetFile {
            _schema: None,
            version: KIND.version,
            name: Some(set.name().to_owned()),
            provenance: set.provenance().map(ProvenanceFile::of),
            tasks: Bounded(set.tasks().iter().map(TaskFile::of).collect()),
        }
    }
}

impl ProvenanceFile {
    fn read(self) -> Result<Provenance> {
        let number = |written: &Written<Whole>, field: &str| {
            let text = written.text();
            text.parse::<u64>().ok().filter(|_| !text.starts_with('+')).ok_or_else(|| {
                Diagnostic::usage(format!("provenance: {field} `{text}` is not a whole number below 2^64"))
                    .hint(format!("copy the {field} that the generator wrote"))
            })
        };
        Ok(Provenance {
            seed: number(&self.seed, "seed")?,
            index: number(&self.index, "index")?,
            generator: self.generator,
            rng: self.rng,
            parameters: self.parameters,
        })
    }

    fn of(provenance: &Provenance) -> Self {
        ProvenanceFile {
            generator: provenance.generator.clone(),
            rng: provenance.rng.clone(),
            seed: Written::of(provenance.seed),
            index: Written::of(provenance.index),
            parameters: provenance.parameters.clone(),
        }
    }
}

impl TaskFile {
    fn read(self, id: usize) -> Result<Task> {
        let name = self.name.clone().unwrap_or_else(|| default_name(id));
        self.read_named(name.clone()).map_err(|e| e.context(format!("task `{name}`")))
    }

    fn read_named(self, name: String) -> Result<Task> {
        let (arrival, period) = self.arrival()?;
        let time = |written: Option<&Written<Time>>, field: &str, default: Duration| {
            written.map_or(Ok(default), |written| written.read(field))
        };
        let working_set =
            self.working_set.as_ref().map_or(Ok(WorkingSet::default()), WorkingSetFile::read)?;
        Ok(Task {
            name,
            wcet: self.wcet.read("wcet")?,
            arrival,
            deadline_rel: time(self.deadline.as_ref(), "deadline", period)?,
            phase: time(self.phase.as_ref(), "phase", Duration::ZERO)?,
            working_set,
            group: self.group(working_set.size_bytes)?,
            affinity: self.affinity.map(|cpus| cpus.read("affinity")).transpose()?,
            kind: self.kind.map_or(TaskKind::RealTime, TaskKind::from),
            demand: self.demand.map(|demand| demand.read("demand")).transpose()?,
            priority: self.priority.as_ref().map(read_priority).transpose()?,
            leave: self.leave.as_ref().map(|leave| leave.read("leave")).transpose()?,
            batching: self.batching.unwrap_or(true),
        })
    }

    fn arrival(&self) -> Result<(Arrival, Duration)> {
        match (&self.period, &self.min_interarrival) {
            (Some(period), None) => {
                let period = period.read("period")?;
                Ok((Arrival::Periodic { period }, period))
            }
            (None, Some(least)) => {
                let min_interarrival = least.read("min_interarrival")?;
                Ok((Arrival::Sporadic { min_interarrival }, min_interarrival))
            }
            (None, None) => Err(Diagnostic::usage("neither period nor min_interarrival is given")
                .hint("give `period` to a periodic task, `min_interarrival` to a sporadic one")),
            (Some(_), Some(_)) => Err(Diagnostic::usage("both period and min_interarrival are given")
                .hint("keep `period` for a periodic task or `min_interarrival` for a sporadic one")),
        }
    }

    fn group(&self, working_set_bytes: u64) -> Result<Option<Group>> {
        match (&self.group, &self.shared) {
            (Some(name), Some(shared)) => {
                let shared_bytes = shared.read::<ByteSize>("shared")?.0;
                Ok(Some(Group { name: name.clone(), shared_bytes }))
            }
            (Some(name), None) => Ok(Some(Group { name: name.clone(), shared_bytes: working_set_bytes })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(Diagnostic::usage("shared memory is given but no group to share it with")
                .hint("name the `group`, or leave `shared` out")),
        }
    }

    fn of(task: &Task) -> Self {
        let (period, min_interarrival) = match task.arrival {
            Arrival::Periodic { period } => (Some(Written::of(period)), None),
            Arrival::Sporadic { min_interarrival } => (None, Some(Written::of(min_interarrival))),
        };
        let shared = task.group.as_ref().map(|group| group.shared_bytes);
        let shared = shared.filter(|&bytes| bytes != task.working_set.size_bytes);
        TaskFile {
            name: Some(task.name.clone()),
            wcet: Written::of(task.wcet),
            period,
            min_interarrival,
            deadline: (task.deadline_rel != task.period()).then(|| Written::of(task.deadline_rel)),
            phase: (!task.phase.is_zero()).then(|| Written::of(task.phase)),
            leave: task.leave.map(Written::of),
            batching: (!task.batching).then_some(false),
            priority: task.priority.map(Written::of),
            kind: (task.kind == TaskKind::BestEffort).then_some(KindFile::BestEffort),
            affinity: task.affinity.as_ref().map(Written::of),
            demand: task.demand.map(Written::of),
            group: task.group.as_ref().map(|group| group.name.clone()),
            shared: shared.map(|bytes| Written::of(ByteSize(bytes))),
            working_set: (task.working_set != WorkingSet::default())
                .then(|| WorkingSetFile::of(task.working_set)),
        }
    }
}

fn read_priority(written: &Written<Whole>) -> Result<u32> {
    let text = written.text();
    text.parse().ok().filter(|_| !text.starts_with('+')).ok_or_else(|| {
        Diagnostic::usage(format!("priority `{text}` is not a whole number below 2^32"))
            .hint("give the highest priority the smallest number, as in priority = 1")
    })
}

/// The name of a task without one, by its position.
pub(super) fn default_name(id: usize) -> String {
    format!("T{}", id + 1)
}

impl WorkingSetFile {
    fn read(&self) -> Result<WorkingSet> {
        let default = WorkingSet::default();
        let ratio = self.reads_to_writes.as_ref().map(|ratio| ratio.read("reads_to_writes")).transpose()?;
        let AccessRatio { reads, writes } =
            ratio.unwrap_or(AccessRatio { reads: default.reads, writes: default.writes });
        Ok(WorkingSet {
            size_bytes: self.size.read::<ByteSize>("working_set")?.0,
            reads,
            writes,
            pattern: match self.access {
                None | Some(AccessFile::Sequential) => AccessPattern::Sequential,
                Some(AccessFile::Random) => AccessPattern::Random,
            },
        })
    }

    fn of(working_set: WorkingSet) -> Self {
        let WorkingSet { size_bytes, reads, writes, pattern } = working_set;
        let default = WorkingSet::default();
        let usual = (reads, writes) == (default.reads, default.writes);
        WorkingSetFile {
            size: Written::of(ByteSize(size_bytes)),
            reads_to_writes: (!usual).then(|| Written::of(format!("{reads}:{writes}"))),
            access: (pattern == AccessPattern::Random).then_some(AccessFile::Random),
        }
    }
}

struct AccessRatio {
    reads: u32,
    writes: u32,
}

impl FromStr for AccessRatio {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let number = |part: &str| {
            let digits = part.trim();
            digits.parse().ok().filter(|_| digits.chars().all(|c| c.is_ascii_digit()))
        };
        let parts = text.split_once(':').and_then(|(reads, writes)| number(reads).zip(number(writes)));
        parts.map(|(reads, writes)| AccessRatio { reads, writes }).ok_or_else(|| {
            Diagnostic::usage(format!("`{text}` is not a ratio of two whole numbers"))
                .hint("write reads, a colon and writes, as in \"4:1\"")
        })
    }
}

impl From<KindFile> for TaskKind {
    fn from(kind: KindFile) -> Self {
        match kind {
            KindFile::RealTime => TaskKind::RealTime,
            KindFile::BestEffort => TaskKind::BestEffort,
        }
    }
}
