//! What `laxity settings --json` prints: `schemas/settings.schema.json`.

use super::{Found, Limits, NotFound, Parameters, Question, soft};
use crate::analysis::answer::VerdictAnswer;
use laxity_analysis::scheduler::Analysed;
use laxity_model::{PriorityRule, listed};
use laxity_run::TASK_PRIORITY_MAX;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the format.
pub const VERSION: u32 = 1;

/// The answer of `laxity settings`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Version of this format.
    pub version: u32,
    /// Name of the set.
    pub task_set: String,
    /// The platform's name.
    pub platform: String,
    /// What the kernel takes and admits.
    pub kernel: KernelAnswer,
    /// What to set; null if nothing is proven.
    pub settings: Option<SettingsAnswer>,
    /// The schedulers under which nothing is proven that were asked before.
    pub not_proven: Vec<NotProvenAnswer>,
}

/// A kernel's limits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KernelAnswer {
    /// Whose they are.
    pub whose: String,
    /// The least budget of SCHED_DEADLINE in ns.
    pub runtime_min_ns: u64,
    /// Its shortest period in ns.
    pub period_min_ns: u64,
    /// Its longest period in ns.
    pub period_max_ns: u64,
    /// What admission has for SCHED_DEADLINE on each CPU: sched_rt_runtime_us less the kernel's servers, in units of 2^-20.
    pub admission_q20: u64,
}

/// What to set.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettingsAnswer {
    /// Name of the scheduler.
    pub scheduler: String,
    /// How the tasks were placed.
    pub placement: String,
    /// That no deadline is missed, by which tests.
    pub hard: VerdictAnswer,
    /// Which tasks share which CPUs.
    pub cells: Vec<CellSettings>,
    /// What to set for each real-time task.
    pub tasks: Vec<TaskSettings>,
    /// What is assumed beyond what the tests assume.
    pub assumptions: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// CPUs, and what their tasks need.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CellSettings {
    /// The CPUs.
    pub cpus: String,
    /// Names of the tasks.
    pub tasks: Vec<String>,
    /// By what priorities were assigned; null under SCHED_DEADLINE.
    pub priorities: Option<String>,
    /// What admission counts of SCHED_DEADLINE, the sum of C/T of SCHED_FIFO, in units of 2^-20.
    pub bandwidth_q20: u64,
    /// What there is of it on these CPUs.
    pub limit_q20: u64,
}

/// What to set for a thread.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskSettings {
    /// Name of the task.
    pub task: String,
    /// SCHED_FIFO or SCHED_DEADLINE.
    pub policy: String,
    /// The priority of SCHED_FIFO, 99 the highest.
    pub priority: Option<u32>,
    /// The budget of SCHED_DEADLINE in ns.
    pub runtime_ns: Option<u64>,
    /// Its relative deadline in ns.
    pub deadline_ns: Option<u64>,
    /// Its period in ns.
    pub period_ns: Option<u64>,
    /// The cores: its affinity, and under SCHED_DEADLINE those of an exclusive cpuset.
    pub cpus: String,
    /// When its jobs have completed at the latest, in ns after their arrival; null of a task whose jobs may be late.
    pub response_ns: Option<u64>,
    /// The probability that a job misses its deadline is at most this, 0 to 1: 0 where no job does.
    pub miss_probability: f64,
}

/// Why nothing is set under a scheduler.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotProvenAnswer {
    /// Name of the scheduler.
    pub scheduler: String,
    /// The task because of which it is not.
    pub task: Option<String>,
    /// Why, in words that do not name the task.
    pub reason: String,
}

impl Answer {
    /// Of what was found, or not.
    pub fn of(question: &Question<'_>, found: Option<&Found>, not: Vec<NotFound>) -> Self {
        let rules = question.limits.rules;
        Answer {
            version: VERSION,
            task_set: question.set.name().to_owned(),
            platform: question.platform.name().to_owned(),
            kernel: KernelAnswer {
                whose: question.limits.origin.to_owned(),
                runtime_min_ns: rules.runtime_min_ns,
                period_min_ns: rules.period_min_ns,
                period_max_ns: rules.period_max_ns,
                admission_q20: question.limits.deadline_q20(),
            },
            settings: found.map(|found| SettingsAnswer::of(question, found)),
            not_proven: not
                .into_iter()
                .map(|NotFound { scheduler, task, reason }| NotProvenAnswer {
                    scheduler: scheduler.to_string(),
                    task,
                    reason,
                })
                .collect(),
        }
    }
}

impl SettingsAnswer {
    fn of(question: &Question<'_>, found: &Found) -> Self {
        let name = |&id: &usize| question.set.tasks()[id].name.clone();
        let cell = |cell: &super::FoundCell| CellSettings {
            cpus: cell.cpus.to_string(),
            tasks: cell.tasks.iter().map(name).collect(),
            priorities: cell.order.map(|order| order.words().to_owned()),
            bandwidth_q20: cell.bandwidth_q20,
            limit_q20: limit(question.limits, found.scheduler.rule).saturating_mul(cell.cpus.len() as u64),
        };
        let task = |setting: &super::Setting| {
            let (priority, reservation) = match setting.parameters {
                Parameters::Level(level) => {
                    (u32::try_from(level).ok().map(|level| TASK_PRIORITY_MAX - level), None)
                }
                Parameters::Reservation(one) => (None, Some(one)),
            };
            TaskSettings {
                task: name(&setting.task),
                policy: found.scheduler.linux_policy().to_owned(),
                priority,
                runtime_ns: reservation.map(|one| one.runtime_ns),
                deadline_ns: reservation.map(|one| one.deadline_rel_ns),
                period_ns: reservation.map(|one| one.period_ns),
                cpus: setting.cpus.to_string(),
                response_ns: setting.response_ns,
                miss_probability: soft::probability(setting.miss),
            }
        };
        SettingsAnswer {
            scheduler: found.scheduler.to_string(),
            placement: found.placement.clone(),
            hard: found.verdict.clone(),
            cells: found.cells.iter().map(cell).collect(),
            tasks: found.settings.iter().map(task).collect(),
            assumptions: assumptions(question, found),
            notes: found.notes.iter().cloned().chain(one_ns_more(question, found)).collect(),
        }
    }
}

/// What there is of each CPU, in units of 2^-20.
fn limit(limits: Limits, rule: PriorityRule) -> u64 {
    match rule {
        PriorityRule::EarliestDeadlineFirst => limits.deadline_q20(),
        PriorityRule::RateMonotonic | PriorityRule::DeadlineMonotonic | PriorityRule::Given => {
            limits.fifo_q20()
        }
    }
}

/// Why a deadline is not the one that the task set has (`laxity_analysis::settings`, rules 4 and 5).
fn one_ns_more(question: &Question<'_>, found: &Found) -> Option<String> {
    let longer = |setting: &super::Setting| match setting.parameters {
        Parameters::Reservation(one) => {
            one.deadline_rel_ns == question.set.tasks()[setting.task].deadline_rel.as_ns() + 1
        }
        Parameters::Level(_) => false,
    };
    found.settings.iter().any(longer).then(|| {
        "budgets and deadlines of tasks with D < T are set 1 ns longer: a job that uses up a budget of exactly its WCET would \
         shorten the budget of the next one; D itself stays proven"
            .to_owned()
    })
}

fn assumptions(question: &Question<'_>, found: &Found) -> Vec<String> {
    let mut all = vec![
        "no job needs more than its WCET, and none waits for anything but the CPU; the system calls with which a job begins \
         and ends are part of it"
            .to_owned(),
    ];
    all.extend(soft_assumptions(question));
    let charged = question.charges.of(Analysed::Linux(found.scheduler), question.platform);
    if charged.is_none() {
        all.push("scheduling, interrupts and cold caches cost nothing (--overheads counts them)".into());
    }
    if found.scheduler.rule == PriorityRule::EarliestDeadlineFirst {
        let own = found.scheduler.scope != laxity_model::Scope::Global;
        if own {
            all.push(
                "the CPUs of each cell are an exclusive cpuset: SCHED_DEADLINE takes no narrower affinity"
                    .into(),
            );
        }
        let constrained = found.settings.iter().any(
            |setting| matches!(setting.parameters, Parameters::Reservation(one) if one.deadline_rel_ns < one.period_ns),
        );
        if constrained {
            all.push(
                "no wake-up of a task with D < T is late: one late wake-up delays all later jobs of a strictly periodic task by \
                 as much (`laxity compare` and `run` reserve such budgets for 7/8 of T, which prevents it and takes 8/7 of the \
                 bandwidth)"
                    .into(),
            );
        }
    } else {
        all.push(
            "no other thread of these CPUs has as high a priority, kernel threads of interrupts among them"
                .into(),
        );
    }
    let most = found.cells.iter().map(|cell| cell.cpus.len()).max().unwrap_or(1);
    let processors = u32::try_from(most).unwrap_or(u32::MAX);
    all.extend(question.charges.assumptions(Analysed::Linux(found.scheduler), processors));
    all
}

/// What bounds on the probability of misses assume.
fn soft_assumptions(question: &Question<'_>) -> Vec<String> {
    if question.soft.is_empty() {
        return Vec::new();
    }
    let tasks = question.set.tasks();
    let sources = question.soft.iter().map(|(id, soft)| format!("`{}`: {}", tasks[*id].name, soft.source));
    let mut all = vec![format!(
        "execution times of a soft task's jobs are independent and have one distribution ({})",
        listed(sources.collect::<Vec<_>>())
    )];
    if question.measured {
        all.push(format!(
            "they are as they were when they were measured; all distributions hold with {} % confidence, and what may be longer than \
             all that was measured counts as WCET",
            100.0 * (1.0 - soft::ERROR)
        ));
    }
    all
}

/// The JSON Schema of [`Answer`]; published as `schemas/settings.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("settings", "laxity settings", VERSION)
}
