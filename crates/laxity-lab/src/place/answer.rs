//! The answer of `place`, as JSON has it.

use crate::placing::ServedCpus;
use laxity_analysis::Bounds;
use laxity_model::{Sharing, TaskSet};
use laxity_place::Placement;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the format.
const VERSION: u32 = 1;

/// The answer of `laxity place`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// Name of the set.
    pub task_set: String,
    /// The scheduler that they are placed for; null where loads decide.
    pub scheduler: Option<String>,
    /// How they were placed.
    pub method: String,
    /// What had to hold of the tasks of a bin: a limit on a load, or a test.
    pub fit: String,
    /// The largest load of a bin, relative to its capacity.
    pub max_load: f64,
    /// No placement has a smaller `max_load`; of an ILP.
    pub lower_bound: Option<f64>,
    /// By what share of `max_load` it can be larger than the least, 0 to 1; of an ILP.
    pub gap: Option<f64>,
    /// Whether no placement has a smaller `max_load`; of an ILP.
    pub optimal: Option<bool>,
    /// The CPUs or clusters.
    pub bins: Vec<BinAnswer>,
    /// Groups of several placed tasks.
    pub groups: Vec<GroupAnswer>,
    /// Names of the tasks that did not fit, where they were placed nevertheless.
    pub overloaded: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A CPU or a cluster, and its tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BinAnswer {
    /// Its CPUs.
    pub cpus: String,
    /// What it can take, in CPUs of speed 1.
    pub capacity: f64,
    /// What its tasks take, in the same unit.
    pub load: f64,
    /// What its tasks walk together: memory that they share counts once.
    pub working_set_bytes: u64,
    /// Names of its tasks.
    pub tasks: Vec<String>,
    /// What goes before them, where tasks are placed below servers.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub below: Option<BelowAnswer>,
}

/// A CPU's server, and what is proven of the tasks below it, in their order; one of the two, if they fit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BelowAnswer {
    /// Budget and period on this CPU.
    pub server: String,
    /// Bounds on response times in ns.
    pub response_times_ns: Option<Vec<u64>>,
    /// Bounds on tardiness in ns.
    pub tardiness_ns: Option<Vec<u64>>,
}

/// Tasks that share memory, and where they are.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GroupAnswer {
    /// Of the memory that they share.
    pub name: String,
    /// Names of the tasks.
    pub tasks: Vec<String>,
    /// The CPUs or clusters that its tasks are on; one if they are together.
    pub cpus: Vec<String>,
}

/// The JSON Schema of [`Answer`]; published as `schemas/placement.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("placement", "laxity placement", VERSION)
}

impl Answer {
    /// Of a placement; `served` says what is below servers.
    pub(super) fn of(
        set: &TaskSet,
        placement: &Placement,
        sharing: &Sharing,
        served: Option<&ServedCpus<'_>>,
    ) -> Self {
        let name = |&id: &usize| set.tasks()[id].name.clone();
        let bin = |(bin, tasks): (usize, Vec<usize>)| BinAnswer {
            cpus: placement.bins[bin].cpus().to_string(),
            capacity: placement.bins[bin].capacity().to_f64(),
            load: placement.loads[bin].nearest_f64(),
            working_set_bytes: sharing.footprint(tasks.iter().copied()),
            tasks: tasks.iter().map(name).collect(),
            below: served.map(|served| below(served, bin, &tasks)),
        };
        let optimality = placement.optimality.as_ref();
        Answer {
            version: VERSION,
            task_set: set.name().to_owned(),
            scheduler: None,
            method: placement.method.to_string(),
            fit: served.map_or_else(|| placement.fit.to_string(), |served| served.test().to_owned()),
            max_load: placement.max_load().to_f64(),
            lower_bound: optimality.map(|o| o.lower_bound.to_f64()),
            gap: optimality.map(|o| o.gap),
            optimal: optimality.map(|o| o.optimal),
            bins: placement.tasks_by_bin().into_iter().enumerate().map(bin).collect(),
            groups: groups(set, placement, sharing),
            overloaded: placement.overloaded.iter().map(name).collect(),
            notes: placement.notes.clone(),
        }
    }
}

fn below(served: &ServedCpus<'_>, bin: usize, tasks: &[usize]) -> BelowAnswer {
    let server = served.server(bin).to_string();
    let (response_times_ns, tardiness_ns) = match served.bounds(bin, tasks) {
        Some(Bounds::ResponseTimes(bounds)) => (Some(bounds), None),
        Some(Bounds::Tardiness(bounds)) => (None, Some(bounds)),
        Some(Bounds::None) | None => (None, None),
    };
    BelowAnswer { server, response_times_ns, tardiness_ns }
}

fn groups(set: &TaskSet, placement: &Placement, sharing: &Sharing) -> Vec<GroupAnswer> {
    let mut groups = Vec::new();
    for group in sharing.groups() {
        let placed = |task: &usize| placement.assignment[*task].is_some();
        let members: Vec<usize> = group.members.iter().copied().filter(placed).collect();
        if members.len() > 1 {
            let cpus =
                placement.bins_of(&members).into_iter().map(|bin| placement.bins[bin].cpus().to_string());
            groups.push(GroupAnswer {
                name: group.name.clone(),
                tasks: members.iter().map(|&id| set.tasks()[id].name.clone()).collect(),
                cpus: cpus.collect(),
            });
        }
    }
    groups
}
