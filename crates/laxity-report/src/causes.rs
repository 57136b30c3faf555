//! Why deadlines were missed: the causes that the recorded schedules of real runs tell (`laxity_oracle::causes`), and the scheduler
//! where the simulation of the same jobs misses the same job.

use crate::number;
use crate::study::{Configuration, Measured, Study, by_reason};
use crate::table::{Column, Field, Table, Tone};
use laxity_model::{Duration, TaskKind, TaskSet, listed};
use laxity_trace::{BudgetRecord, Host, Job, MissCause, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// So many throttled tasks are named in a line.
const TASKS_MOST: usize = 3;

/// How many misses have a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CauseCount {
    /// The cause.
    pub cause: MissCause,
    /// Misses with it.
    pub misses: u64,
}

/// Why jobs of a task missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskCauses {
    /// The task set.
    pub set: String,
    /// The task.
    pub task: String,
    /// Its misses in runs whose causes are known.
    pub misses: u64,
    /// The same by cause, most first.
    pub causes: Vec<CauseCount>,
    /// How often it was throttled.
    pub throttles: u64,
    /// The least budget margin with which no job of it would have used up its budget in these runs, in ns; nothing if none was
    /// throttled.
    pub margin_ns: Option<u64>,
}

/// Why jobs missed under a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MissCauses {
    /// What the configuration is called in tables.
    pub scheduler: String,
    /// The host that scheduled.
    pub host: Host,
    /// All misses.
    pub misses: u64,
    /// Those in runs whose causes were not recorded, and that the simulation does not show either.
    pub not_recorded: u64,
    /// Misses by cause, most first: together with `not_recorded` all of them.
    pub causes: Vec<CauseCount>,
    /// The tasks that missed or were throttled, in the order of the sets.
    pub tasks: Vec<TaskCauses>,
    /// The least `--budget-margin` with which no job would have used up its budget in these runs, in ns.
    pub margin_ns: Option<u64>,
    /// Why the kernel does not admit this margin, if so.
    pub margin_refused: Option<String>,
}

/// What is counted of a task.
#[derive(Default)]
struct Counted {
    causes: BTreeMap<MissCause, u64>,
    not_recorded: u64,
    throttles: u64,
    margin_ns: Option<u64>,
}

impl Counted {
    fn throttled(&mut self, budget: &BudgetRecord) {
        self.throttles += budget.throttles;
        self.margin_ns = self.margin_ns.max(Some(budget.margin_ns));
    }
}

/// Why jobs of these sets missed under each measured configuration that missed or throttled.
pub(crate) fn causes(study: &Study<'_>, sets: &[usize]) -> Vec<MissCauses> {
    let all = study.configurations.iter().map(|configuration| of(study, sets, configuration));
    all.flatten().filter(|of| of.misses > 0 || !of.tasks.is_empty()).collect()
}

/// The same of one configuration; nothing of a simulated one.
pub(crate) fn of(study: &Study<'_>, sets: &[usize], configuration: &Configuration) -> Option<MissCauses> {
    if configuration.host == Host::Simulator {
        return None;
    }
    let runs = study.runs(sets, configuration);
    let simulated = study.simulated.iter().find(|one| one.scheduler == configuration.scheduler);
    let twins = simulated.map_or_else(Vec::new, |twin| study.runs(sets, twin));
    let mut tasks: BTreeMap<(u32, u32), Counted> = BTreeMap::new();
    let mut refused: Option<(u64, String)> = None;
    for run in &runs {
        let Some(set) = usize::try_from(run.run.set).ok().and_then(|set| study.sets.get(set)) else {
            continue;
        };
        let twin = twins.iter().find(|twin| is_twin(twin.run, run.run)).map(|twin| twin.run);
        count_run(run.run, twin, set, &mut tasks);
        for budget in run.run.schedule.iter().flat_map(|schedule| &schedule.budgets_used_up) {
            tasks.entry((run.run.set, budget.task)).or_default().throttled(budget);
            if let Some(why) = budget.refused.as_ref()
                && refused.as_ref().is_none_or(|(most, _)| *most < budget.margin_ns)
            {
                refused = Some((budget.margin_ns, why.clone()));
            }
        }
    }
    Some(summed(study, configuration, &runs, &tasks, refused))
}

fn is_twin(twin: &Run, run: &Run) -> bool {
    twin.set == run.set && twin.repetition == run.repetition && !twin.jobs.is_empty()
}

/// Adds the misses of a run to those of its tasks.
fn count_run(run: &Run, twin: Option<&Run>, set: &TaskSet, tasks: &mut BTreeMap<(u32, u32), Counted>) {
    let horizon_ns = run.horizon().as_ns();
    let missed_in = |twin: &Run| -> BTreeSet<(u32, u32)> {
        let horizon_ns = twin.horizon().as_ns();
        let missed = twin.jobs.iter().filter(|job| job.missed(horizon_ns));
        missed.map(|job| (job.task, job.index)).collect()
    };
    // Simulated budgets are the WCETs: beyond them, the simulation shows the demand.
    let within_wcets = run.jobs.iter().all(|job| {
        let task = usize::try_from(job.task).ok().and_then(|id| set.tasks().get(id));
        task.zip(job.demand_ns).is_none_or(|(task, demand_ns)| demand_ns <= task.wcet.as_ns())
    });
    let simulated = twin.filter(|_| within_wcets).map(missed_in);
    let is_real_time = |job: &&Job| {
        let task = usize::try_from(job.task).ok().and_then(|id| set.tasks().get(id));
        task.is_some_and(|task| task.kind == TaskKind::RealTime)
    };
    for job in run.jobs.iter().filter(|job| job.missed(horizon_ns)).filter(is_real_time) {
        let in_simulation = simulated.as_ref().map(|missed| missed.contains(&(job.task, job.index)));
        let counted = tasks.entry((run.set, job.task)).or_default();
        match primary(job.cause, in_simulation) {
            Some(cause) => *counted.causes.entry(cause).or_default() += 1,
            None => counted.not_recorded += 1,
        }
    }
}

/// The cause of a miss from the record and from the simulation of the same job, as far as there are any.
fn primary(recorded: Option<MissCause>, missed_in_simulation: Option<bool>) -> Option<MissCause> {
    match (recorded, missed_in_simulation) {
        (Some(MissCause::DemandAboveWcet | MissCause::EarlierOverrun), _) => recorded,
        (_, Some(true)) => Some(MissCause::Scheduler),
        (Some(MissCause::Scheduler), Some(false)) => Some(MissCause::Unknown),
        (recorded, _) => recorded,
    }
}

fn summed(
    study: &Study<'_>,
    configuration: &Configuration,
    runs: &[Measured<'_>],
    counted: &BTreeMap<(u32, u32), Counted>,
    refused: Option<(u64, String)>,
) -> MissCauses {
    let mut all: BTreeMap<MissCause, u64> = BTreeMap::new();
    let mut tasks = Vec::new();
    for (&(set, task), of) in counted {
        of.causes.iter().for_each(|(cause, count)| *all.entry(*cause).or_default() += count);
        let set = usize::try_from(set).ok().and_then(|set| study.sets.get(set));
        let name = set.and_then(|set| Some(set.tasks().get(usize::try_from(task).ok()?)?.name.clone()));
        tasks.push(TaskCauses {
            set: set.map(|set| set.name().to_owned()).unwrap_or_default(),
            task: name.unwrap_or_else(|| task.to_string()),
            misses: of.causes.values().sum(),
            causes: ordered(&of.causes),
            throttles: of.throttles,
            margin_ns: of.margin_ns,
        });
    }
    let misses: u64 = runs.iter().map(|run| run.summary.counts.misses).sum();
    let told: u64 = all.values().sum();
    let margin_ns = tasks.iter().filter_map(|task| task.margin_ns).max();
    MissCauses {
        scheduler: configuration.label.clone(),
        host: configuration.host,
        misses,
        not_recorded: misses.saturating_sub(told),
        causes: ordered(&all),
        tasks,
        margin_ns,
        margin_refused: refused.filter(|(most, _)| Some(*most) == margin_ns).map(|(_, why)| why),
    }
}

fn ordered(causes: &BTreeMap<MissCause, u64>) -> Vec<CauseCount> {
    let mut all: Vec<CauseCount> =
        causes.iter().map(|(&cause, &misses)| CauseCount { cause, misses }).collect();
    all.sort_by_key(|count| (Reverse(count.misses), count.cause));
    all
}

impl MissCauses {
    fn of_cause(&self, cause: MissCause) -> u64 {
        self.causes.iter().find(|count| count.cause == cause).map_or(0, |count| count.misses)
    }

    /// `289 missed: 278 throttled (current-loop; a margin of 45us would have sufficed), 9 by kernel threads, 2 unknown`.
    pub(crate) fn words(&self) -> String {
        format!("{} missed: {}", number::count(self.misses), self.list())
    }

    /// The causes with their numbers.
    pub(crate) fn list(&self) -> String {
        if self.causes.is_empty() {
            return "causes were not recorded".to_owned();
        }
        let one = |count: &CauseCount| {
            let more = match count.cause {
                MissCause::Throttled => format!(" ({})", self.throttled_words()),
                MissCause::LateRelease
                | MissCause::KernelThread
                | MissCause::OtherThread
                | MissCause::Reserve
                | MissCause::Interrupt
                | MissCause::Steal
                | MissCause::Scheduling
                | MissCause::EarlierOverrun
                | MissCause::DemandAboveWcet
                | MissCause::Scheduler
                | MissCause::Unknown => String::new(),
            };
            format!("{} {}{more}", number::count(count.misses), count.cause.words())
        };
        let mut parts: Vec<String> = self.causes.iter().map(one).collect();
        if self.not_recorded > 0 {
            parts.push(format!("{} not recorded", number::count(self.not_recorded)));
        }
        parts.join(", ")
    }

    /// Which tasks, and what would have helped.
    fn throttled_words(&self) -> String {
        let throttled =
            |task: &&TaskCauses| task.causes.iter().any(|count| count.cause == MissCause::Throttled);
        let mut tasks: Vec<&TaskCauses> = self.tasks.iter().filter(|task| task.throttles > 0).collect();
        if tasks.is_empty() {
            tasks = self.tasks.iter().filter(throttled).collect();
        }
        tasks.sort_by_key(|task| Reverse(task.throttles));
        let more = tasks.len().saturating_sub(TASKS_MOST);
        let named = tasks.iter().take(TASKS_MOST).map(|task| format!("`{}`", task.task));
        let names = listed(named.chain((more > 0).then(|| number::counted(more, "other task"))));
        match self.margin_words() {
            Some(margin) => format!("{names}; {margin}"),
            None => names,
        }
    }

    /// Which margin would have sufficed.
    fn margin_words(&self) -> Option<String> {
        let margin = Duration::from_ns(self.margin_ns?);
        Some(match &self.margin_refused {
            None => format!("a margin of {margin} would have sufficed"),
            Some(_) => format!("a margin of {margin} would have sufficed, and is not admitted"),
        })
    }

    /// What would have helped against the most frequent cause, as a sentence; nothing where nothing is known to help.
    pub(crate) fn remedy(&self) -> Option<String> {
        let throttled = self.of_cause(MissCause::Throttled);
        if throttled == 0 || self.causes.first().is_none_or(|first| first.cause != MissCause::Throttled) {
            return None;
        }
        let margin = Duration::from_ns(self.margin_ns?);
        let of = format!(
            "{} of its {} misses were throttled",
            number::count(throttled),
            number::count(self.misses)
        );
        Some(match &self.margin_refused {
            None => format!("Raise `--budget-margin` to {margin}: {of}."),
            Some(why) => format!(
                "{of}; the `--budget-margin` of {margin} that would have sufficed is not admitted: {why}."
            ),
        })
    }
}

/// A line for each configuration that missed.
pub(crate) fn lines(causes: &[MissCauses]) -> Vec<String> {
    let missed: Vec<&MissCauses> = causes.iter().filter(|of| of.misses > 0).collect();
    let width = missed.iter().map(|of| of.scheduler.chars().count()).max().unwrap_or(0);
    missed.iter().map(|of| format!("{:width$}  {}", of.scheduler, of.words())).collect()
}

/// One row per configuration and task, one column per cause; nothing where nothing was missed or no cause is known.
pub(crate) fn table(study: &Study<'_>, causes: &[MissCauses]) -> Option<Table> {
    let there = |cause: &MissCause| causes.iter().any(|of| of.of_cause(*cause) > 0);
    let present: Vec<MissCause> = MissCause::ALL.into_iter().filter(there).collect();
    let throttles = causes.iter().flat_map(|of| &of.tasks).any(|task| task.throttles > 0);
    if present.is_empty() && !throttles {
        return None;
    }
    let mut columns = vec![Column::text("Scheduler"), Column::text("Task"), Column::number("Missed")];
    columns.extend(present.iter().map(|cause| Column::number(heading(*cause))));
    if throttles {
        columns.extend([Column::number("Times throttled"), Column::number("Margin needed")]);
    }
    let several_sets = study.sets.len() > 1;
    let row = |of: &MissCauses, task: &TaskCauses| -> Vec<Field> {
        let set = if several_sets { format!("{} / ", task.set) } else { String::new() };
        let count = |cause: &MissCause| {
            let own = task.causes.iter().find(|count| count.cause == *cause).map_or(0, |count| count.misses);
            if own == 0 { Field::toned("–", Tone::Faint) } else { number::count(own).into() }
        };
        let mut row: Vec<Field> = vec![
            of.scheduler.as_str().into(),
            format!("{set}{}", task.task).into(),
            Field::toned(number::count(task.misses), if task.misses > 0 { Tone::Bad } else { Tone::Good }),
        ];
        row.extend(present.iter().map(count));
        if throttles {
            row.push(number::count(task.throttles).into());
            row.push(task.margin_ns.map_or_else(
                || Field::toned("–", Tone::Faint),
                |ns| Duration::from_ns(ns).to_string().into(),
            ));
        }
        row
    };
    let rows = causes.iter().flat_map(|of| of.tasks.iter().map(move |task| (of, task)));
    Some(Table {
        caption: "Why deadlines were missed".to_owned(),
        columns,
        rows: rows.map(|(of, task)| row(of, task)).collect(),
        notes: notes(causes, throttles),
    })
}

/// A cause over a column.
fn heading(cause: MissCause) -> &'static str {
    match cause {
        MissCause::Throttled => "Throttled",
        MissCause::LateRelease => "Late release",
        MissCause::KernelThread => "Kernel thread",
        MissCause::OtherThread => "Other thread",
        MissCause::Reserve => "Share of other work",
        MissCause::Interrupt => "Interrupt",
        MissCause::Steal => "Steal",
        MissCause::Scheduling => "Scheduling costs",
        MissCause::EarlierOverrun => "Earlier overrun",
        MissCause::DemandAboveWcet => "Demand above WCET",
        MissCause::Scheduler => "Scheduler",
        MissCause::Unknown => "Unknown",
    }
}

fn notes(causes: &[MissCauses], throttles: bool) -> Vec<String> {
    let mut notes = vec![
        "The cause of a miss is that without which the job would have been in time, by a replay of what was recorded; of \
         another job, where that made this one late. Scheduler: the same jobs miss without any disturbance, as the \
         simulation shows. Unknown: the records do not tell."
            .to_owned(),
    ];
    if throttles {
        notes.push(
            "Margin needed: the least `--budget-margin` with which no job of the task would have used up its budget in \
             these runs."
                .to_owned(),
        );
    }
    let refused = causes.iter().filter_map(|of| {
        let margin = Duration::from_ns(of.margin_ns?);
        Some((
            of.scheduler.clone(),
            format!("a margin of {margin} is not admitted: {}", of.margin_refused.as_ref()?),
        ))
    });
    notes.extend(by_reason(refused).into_iter().map(|(labels, why)| format!("{labels}: {why}.")));
    let not_recorded = causes.iter().filter(|of| of.not_recorded > 0);
    let not_recorded =
        listed(not_recorded.map(|of| format!("{} ({})", of.scheduler, number::count(of.not_recorded))));
    if !not_recorded.is_empty() {
        notes.push(format!("Misses whose causes were not recorded: {not_recorded}."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(counts: &[(MissCause, u64)], misses: u64) -> MissCauses {
        let counted: BTreeMap<MissCause, u64> = counts.iter().copied().collect();
        MissCauses {
            scheduler: "g-edf".into(),
            host: Host::Linux,
            misses,
            not_recorded: misses - counted.values().sum::<u64>(),
            causes: ordered(&counted),
            tasks: vec![TaskCauses {
                set: "robot".into(),
                task: "current-loop".into(),
                misses: 278,
                causes: vec![],
                throttles: 476,
                margin_ns: Some(45_000),
            }],
            margin_ns: Some(45_000),
            margin_refused: None,
        }
    }

    #[test]
    fn a_line_says_what_and_what_would_have_helped() {
        use MissCause::{KernelThread, Throttled, Unknown};
        let of = causes(&[(Throttled, 278), (KernelThread, 9), (Unknown, 2)], 289);
        assert_eq!(
            lines(std::slice::from_ref(&of)),
            ["g-edf  289 missed: 278 throttled (`current-loop`; a margin of 45us would have sufficed), \
              9 by kernel threads, 2 unknown"]
        );
        assert_eq!(
            of.remedy().expect("one"),
            "Raise `--budget-margin` to 45us: 278 of its 289 misses were throttled."
        );
        let refused = MissCauses { margin_refused: Some("too much".into()), ..of };
        assert!(refused.words().contains("would have sufficed, and is not admitted)"), "{}", refused.words());
        assert!(refused.remedy().expect("one").ends_with("is not admitted: too much."));
    }

    #[test]
    fn what_was_not_recorded_is_said() {
        assert_eq!(causes(&[], 12).words(), "12 missed: causes were not recorded");
        assert_eq!(
            causes(&[(MissCause::Scheduler, 8)], 12).words(),
            "12 missed: 8 by the scheduler, 4 not recorded"
        );
    }

    #[test]
    fn the_simulation_has_the_last_word_on_the_scheduler() {
        use MissCause::{DemandAboveWcet, Scheduler, Throttled, Unknown};
        for (recorded, simulated, expected) in [
            (Some(Throttled), Some(true), Some(Scheduler)),
            (Some(Throttled), Some(false), Some(Throttled)),
            (Some(Throttled), None, Some(Throttled)),
            (Some(DemandAboveWcet), Some(true), Some(DemandAboveWcet)),
            (Some(Scheduler), Some(false), Some(Unknown)),
            (Some(Scheduler), None, Some(Scheduler)),
            (None, Some(true), Some(Scheduler)),
            (None, Some(false), None),
            (None, None, None),
        ] {
            assert_eq!(primary(recorded, simulated), expected, "{recorded:?} {simulated:?}");
        }
    }
}
