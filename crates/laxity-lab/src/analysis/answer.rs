//! What `laxity analyze --json` prints: `schemas/analysis.schema.json`.

use super::verdicts::is_exact;
use crate::case::{Case, reason};
use crate::charges::kernel_words;
use crate::charges::{Failed, PlacedSet};
use crate::placing::FitAnswer;
use crate::schedulers::Scheduled;
use laxity_analysis::overheads::Eaten;
use laxity_analysis::scheduler::{Asked, Judgement};
use laxity_analysis::{Bounds, Guarantee, Verdict};
use laxity_model::{DeferrableServer, Diagnostic, TaskSet, cpus_named};
pub use laxity_trace::ProofVerdict as VerdictName;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Display;

/// Version of the format.
pub const VERSION: u32 = 1;

/// The answer of `laxity analyze`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// The platform's name.
    pub platform: String,
    /// How many CPUs it has.
    pub cores: usize,
    /// What the exit code and the answers to what would make it fit are about.
    pub guarantee: GuaranteeAnswer,
    /// Each set under each scheduler, set by set.
    pub schedulers: Vec<SchedulerAnswer>,
    /// Whether something is missing as the user ended it.
    pub interrupted: bool,
}

/// What is guaranteed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuaranteeAnswer {
    /// No deadline is missed.
    Hard,
    /// Tardiness is bounded.
    Soft,
}

impl From<Guarantee> for GuaranteeAnswer {
    fn from(guarantee: Guarantee) -> Self {
        match guarantee {
            Guarantee::Hard => GuaranteeAnswer::Hard,
            Guarantee::Soft => GuaranteeAnswer::Soft,
        }
    }
}

/// A set under a scheduler.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SchedulerAnswer {
    /// Name of the set.
    pub task_set: String,
    /// Name of the scheduler.
    pub scheduler: String,
    /// How the tasks were placed; null if they were not.
    pub placement: Option<String>,
    /// What was placed together; null if nothing was placed, or with one cell only.
    pub fit: Option<FitAnswer>,
    /// Which tasks share which CPUs.
    pub cells: Vec<CellAnswer>,
    /// Whether no deadline can be missed.
    pub hard: VerdictAnswer,
    /// Whether tardiness is bounded.
    pub soft: VerdictAnswer,
    /// How long a quantum of pfair is, in ns; null for other schedulers.
    pub quantum_ns: Option<u64>,
    /// What overheads took, and the quanta of pfair; null if there are neither.
    pub overheads: Option<OverheadsAnswer>,
    /// The fewest processors; null unless asked for.
    pub fewest_processors: Option<FewestProcessors>,
    /// The largest factor for all execution times; null unless asked for, or where no test covers the set.
    pub largest_scaling: Option<LargestScaling>,
    /// What is assumed of the kernel; empty under schedulers that Linux does not have.
    pub assumptions: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// CPUs, and the tasks on them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CellAnswer {
    /// The CPUs, those that run no task among them.
    pub cpus: String,
    /// How many of them run tasks.
    pub processors: u32,
    /// Names of the tasks.
    pub tasks: Vec<String>,
    /// The budget and the period of the deferrable server that goes before them, as on this CPU; null without one, or where no
    /// test says anything.
    pub server: Option<String>,
}

/// A verdict.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VerdictAnswer {
    /// What is known.
    pub verdict: VerdictName,
    /// The tests that prove it, of different cells or bounds separated by commas; null if it is not proven.
    pub test: Option<String>,
    /// What is proven of each task; null if it is not proven.
    pub bounds: Option<BoundsAnswer>,
    /// The task because of which it is not proven, or not applicable.
    pub task: Option<String>,
    /// The CPUs on which it is not proven.
    pub cpus: Option<String>,
    /// Why it is not proven, or not applicable.
    pub reason: Option<String>,
    /// What the kernel takes that was counted, without which it would be proven; null otherwise.
    pub proven_without: Option<String>,
    /// Whether not-proven means that it is not so for some arrivals: the tests are exact, and nothing was added for overheads.
    pub exact: bool,
    /// Whether a test took all its steps.
    pub out_of_work: bool,
}

impl VerdictAnswer {
    /// In words.
    pub fn words(&self) -> String {
        let task = self.task.as_ref().map(|task| format!("task `{task}`"));
        let cpus = self.cpus.as_deref().map(cpus_named);
        let place = [task, cpus].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let reason = self.reason.clone();
        match self.verdict {
            VerdictName::Schedulable => format!("schedulable ({})", self.test.as_deref().unwrap_or_default()),
            VerdictName::NotProven => {
                let head = match (self.exact, self.out_of_work) {
                    (true, _) => "not schedulable for some arrivals",
                    (false, true) => "not proven within --work steps",
                    (false, false) => "not proven",
                };
                let without = self.proven_without.as_ref().map(|what| format!("proven only without {what}"));
                [Some(head.to_owned()), Some(place).filter(|it| !it.is_empty()), reason, without]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(": ")
            }
            VerdictName::NotApplicable => {
                let breaks =
                    self.task.as_ref().map_or(String::new(), |task| format!("; `{task}` breaks this"));
                format!("not applicable: assumes that {}{breaks}", reason.unwrap_or_default())
            }
        }
    }
}

/// What is proven of each task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BoundsAnswer {
    /// What the times are.
    pub kind: BoundsKind,
    /// One for each task, in the order of the set.
    pub tasks: Vec<TaskBound>,
}

/// What bounds are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoundsKind {
    /// From a job's arrival to its completion.
    ResponseTime,
    /// The same, but the tests say no more than that deadlines are met: each is the relative deadline.
    Deadline,
    /// From a job's deadline to its completion.
    Tardiness,
}

/// A bound.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskBound {
    /// Name of the task.
    pub task: String,
    /// In ns.
    pub ns: u64,
}

/// What overheads and kernel threads took, and the quanta of pfair.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OverheadsAnswer {
    /// The file of overheads; null without one.
    pub file: Option<String>,
    /// The file of cache-related delays; null without one.
    pub cache_delays: Option<String>,
    /// The kernel threads of each CPU that are counted; null if none are.
    pub kernel_threads: Option<KernelThreadsAnswer>,
    /// Sum of C/T without them.
    pub utilization: f64,
    /// Sum of C'/T' with them; null if they leave no room. Interrupts that are counted as tasks of their own are not in it.
    pub utilization_inflated: Option<f64>,
    /// What they took of each task; empty if they leave no room.
    pub tasks: Vec<TaskEaten>,
    /// Why they leave no room.
    pub no_room: Option<String>,
}

/// Kernel threads that go before tasks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KernelThreadsAnswer {
    /// For so long, in ns.
    pub runtime_ns: u64,
    /// In each window of this length, in ns.
    pub period_ns: u64,
}

/// What overheads took of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskEaten {
    /// Name of the task.
    pub task: String,
    /// C' - C in ns.
    pub wcet_ns: u64,
    /// D - D' in ns.
    pub deadline_ns: u64,
    /// T - T' in ns.
    pub period_ns: u64,
    /// J' - J in ns.
    pub jitter_ns: u64,
}

/// The fewest identical processors on which the guarantee is proven.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FewestProcessors {
    /// Of which guarantee.
    pub guarantee: GuaranteeAnswer,
    /// How many, those that run no task among them; null if there is no such number.
    pub processors: Option<u32>,
    /// The largest number that was tried. All smaller ones were, and are not enough.
    pub tried_to: u32,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Whether with fewer a test took all its steps.
    pub out_of_work: bool,
}

/// The largest factor for all execution times with which the guarantee is proven, found by bisection.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LargestScaling {
    /// Of which guarantee.
    pub guarantee: GuaranteeAnswer,
    /// The factor is `numerator / denominator`: proven, while `(numerator + 1) / denominator` is not. 0: not with 1/denominator
    /// either.
    pub numerator: u64,
    /// The resolution is 1/denominator.
    pub denominator: u64,
    /// Whether tasks are placed anew with each factor, as they are placed where the set has such execution times; false where they
    /// share one cell, and there is nothing to place.
    pub placed_anew: bool,
    /// Whether no larger factor is proven: the tests are monotonic, none took all its steps, and places do not change; or a larger
    /// factor is more than the CPUs can do under any scheduler.
    pub nothing_above: bool,
    /// Whether a test took all its steps with a larger factor.
    pub out_of_work: bool,
}

impl FewestProcessors {
    /// None yet.
    pub fn new(guarantee: GuaranteeAnswer) -> Self {
        FewestProcessors { guarantee, processors: None, tried_to: 0, reason: None, out_of_work: false }
    }

    /// There is no number.
    pub fn because(self, reason: &str) -> Self {
        FewestProcessors { reason: Some(reason.to_owned()), ..self }
    }
}

impl SchedulerAnswer {
    /// Nothing is known yet.
    pub fn new<S: Scheduled + Display>(case: &Case<'_, S>) -> Self {
        let (set, placed, scheduler) = (case.set, case.placed.as_ref().ok(), case.scheduler.analysed());
        let cells = placed.map_or(&[][..], |placed| &placed.cells);
        let running = |all: u32| scheduler.map_or(all, |scheduler| scheduler.running(all));
        let cell = |cell: &laxity_model::Cell| CellAnswer {
            cpus: cell.cpus.to_string(),
            processors: running(u32::try_from(cell.cpus.len()).unwrap_or(u32::MAX)),
            tasks: cell.tasks.iter().map(|&id| set.tasks()[id].name.clone()).collect(),
            server: None,
        };
        SchedulerAnswer {
            task_set: set.name().to_owned(),
            scheduler: case.scheduler.to_string(),
            placement: placed.map(|placed| placed.record.method.clone()),
            fit: placed.and_then(|placed| placed.fit),
            cells: cells.iter().map(cell).collect(),
            hard: VerdictAnswer::nothing(VerdictName::NotProven),
            soft: VerdictAnswer::nothing(VerdictName::NotProven),
            quantum_ns: None,
            overheads: None,
            fewest_processors: None,
            largest_scaling: None,
            assumptions: Vec::new(),
            notes: placed.map_or_else(Vec::new, |placed| placed.record.notes.clone()),
        }
    }

    /// The verdict on a guarantee.
    pub fn verdict(&self, guarantee: GuaranteeAnswer) -> &VerdictAnswer {
        match guarantee {
            GuaranteeAnswer::Hard => &self.hard,
            GuaranteeAnswer::Soft => &self.soft,
        }
    }

    /// The server of each cell.
    pub fn show_servers(&mut self, servers: &[DeferrableServer]) {
        for (cell, server) in self.cells.iter_mut().zip(servers) {
            cell.server = (!server.is_none()).then(|| server.to_string());
        }
    }

    /// Its tasks have no places.
    pub fn not_placed(&mut self, error: &Diagnostic) {
        for verdict in [&mut self.hard, &mut self.soft] {
            verdict.reason = Some(format!("no placement: {}", reason(error)));
        }
    }

    /// No test covers it.
    pub fn not_applicable(&mut self, failed: &Failed, set: &TaskSet) {
        for verdict in [&mut self.hard, &mut self.soft] {
            verdict.verdict = VerdictName::NotApplicable;
            verdict.task = failed.task.map(|id| set.tasks()[id].name.clone());
            verdict.reason = Some(failed.assumption.to_owned());
        }
        self.notes.extend(failed.fix.map(str::to_owned));
    }
}

impl VerdictAnswer {
    fn nothing(verdict: VerdictName) -> Self {
        VerdictAnswer {
            verdict,
            test: None,
            bounds: None,
            task: None,
            cpus: None,
            reason: None,
            proven_without: None,
            exact: false,
            out_of_work: false,
        }
    }

    /// Of a judgement on what was asked, with the names of the tasks.
    pub fn of(judgement: &Judgement, names: &[&str], placed: &PlacedSet, asked: Asked) -> Self {
        let task = |number: Option<usize>| number.map(|number| names[number].to_owned());
        let cpus = judgement.fails_in.map(|cell| placed.cpus[cell].to_string());
        match &judgement.verdict {
            Verdict::Schedulable(bounds) => VerdictAnswer {
                test: Some(judgement.proven_by.join(", ")),
                bounds: Some(BoundsAnswer::of(bounds, names, placed)),
                ..Self::nothing(VerdictName::Schedulable)
            },
            Verdict::NotProven(why) => VerdictAnswer {
                task: task(why.task),
                cpus,
                reason: judgement
                    .no_room
                    .map(|why| why.text().to_owned())
                    .or_else(|| placed.overload(judgement.fails_in?)),
                proven_without: judgement
                    .but_for_beside
                    .then(|| kernel_words(&asked.beside, placed.scheduler)),
                exact: !why.out_of_work && !judgement.but_for_beside && is_exact(placed, asked),
                out_of_work: why.out_of_work,
                ..Self::nothing(VerdictName::NotProven)
            },
            Verdict::NotApplicable(why) => VerdictAnswer {
                task: task(why.task),
                cpus,
                reason: Some(why.assumption.to_owned()),
                ..Self::nothing(VerdictName::NotApplicable)
            },
        }
    }
}

impl BoundsAnswer {
    fn of(bounds: &Bounds, names: &[&str], placed: &PlacedSet) -> Self {
        let deadlines = || placed.tasks.iter().map(|task| task.deadline_rel_ns).collect();
        let (kind, values): (_, Vec<u64>) = match bounds {
            Bounds::None => (BoundsKind::Deadline, deadlines()),
            Bounds::ResponseTimes(values) => (BoundsKind::ResponseTime, values.clone()),
            Bounds::Tardiness(values) => (BoundsKind::Tardiness, values.clone()),
        };
        let bound = |(&task, ns): (&&str, u64)| TaskBound { task: task.to_owned(), ns };
        BoundsAnswer { kind, tasks: names.iter().zip(values).map(bound).collect() }
    }
}

impl OverheadsAnswer {
    /// What overheads take of a set in its places, as counted for a guarantee; nothing without overheads, or below servers, where
    /// there is no accounting.
    pub fn of(placed: &PlacedSet, names: &[&str], guarantee: Guarantee) -> Option<Self> {
        let charge = placed.charge.as_ref().filter(|_| !placed.is_served())?;
        let eaten = placed.scheduler.eaten(&placed.as_placed(&placed.tasks), guarantee);
        let file =
            |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
        let task = |(&name, eaten): (&&str, &Eaten)| TaskEaten {
            task: name.to_owned(),
            wcet_ns: eaten.wcet_ns,
            deadline_ns: eaten.deadline_rel_ns,
            period_ns: eaten.period_ns,
            jitter_ns: eaten.jitter_ns,
        };
        let nothing = [Eaten::default()];
        let threads = charge.overheads.kernel_threads().map(|threads| KernelThreadsAnswer {
            runtime_ns: threads.runtime_ns,
            period_ns: threads.period_ns,
        });
        Some(OverheadsAnswer {
            file: file(&charge.file),
            cache_delays: file(&charge.cache_file),
            kernel_threads: threads,
            utilization: utilization(placed, nothing.iter().cycle()),
            utilization_inflated: eaten.as_ref().ok().map(|eaten| utilization(placed, eaten.iter())),
            tasks: eaten
                .as_ref()
                .map_or_else(|_| Vec::new(), |eaten| names.iter().zip(eaten).map(task).collect()),
            no_room: eaten.err().map(|why| match why.task {
                Some(number) => format!("task `{}`: {}", names[number], why.reason.text()),
                None => why.reason.text().to_owned(),
            }),
        })
    }
}

/// For display.
fn utilization<'a>(placed: &PlacedSet, eaten: impl Iterator<Item = &'a Eaten>) -> f64 {
    let mut load = laxity_model::LoadSum::new();
    for (task, eaten) in placed.tasks.iter().zip(eaten) {
        load.add_ratio(task.wcet_ns + eaten.wcet_ns, task.period_ns - eaten.period_ns);
    }
    load.to_f64()
}

/// The JSON Schema of [`Answer`]; published as `schemas/analysis.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("analysis", "laxity analysis", VERSION)
}
