//! What was simulated beside what was measured: where the two differ, and what the numbers say about why.
//!
//! 1. A measured run is compared with the simulated run of the same set, scheduler and repetition, job by job: both had
//!    the same releases and demands.
//! 2. Simulated without costs, a job waits only for jobs that go first. What it is later in reality is release latency,
//!    scheduling, context switches, cold caches, and whatever else takes the CPU away. Simulated with costs, it is what
//!    these differ by from the real ones, and those that the costs leave out.
//! 3. Of a job that ended later than simulated, the CPU time that it used beyond the simulated one is known; the rest is
//!    time that it waited.

use crate::number;
use crate::study::{Configuration, Evidence, Measured, Study, by_reason, reasons_of_runs, shown};
use crate::table::{Column, Field, Table, Tone};
use laxity_model::Duration;
use laxity_trace::{Host, Job, NOT_SIMULATED, RunStatus, Sample};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Mean normalized laxities closer than this share of a period are called equal.
const LAXITY_EQUAL: f64 = 0.01;
/// Rates of migrations and switches within this share of each other are not remarkable.
const RATE_EQUAL: f64 = 0.1;
/// Tasks named per sentence.
const TASKS_MOST: usize = 4;

/// A scheduler that was measured and simulated.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Beside {
    /// Name of the scheduler.
    pub scheduler: String,
    /// What scheduled the measured jobs.
    pub host: Host,
    /// Jobs that were both measured and simulated, and completed in both.
    pub jobs_compared: u64,
    /// Misses.
    pub misses: Pair<Option<u64>>,
    /// Mean normalized laxity, over runs.
    pub normalized_laxity: Pair<Option<f64>>,
    /// Maximum tardiness in ns.
    pub tardiness_ns_max: Pair<Option<u64>>,
    /// Migrations per task and run.
    pub migration_rate: Pair<Option<f64>>,
    /// Context switches per task and run.
    pub context_switch_rate: Pair<Option<f64>>,
    /// How much later jobs ended than simulated, in ns; negative where they ended earlier.
    pub later_ns: Option<Later>,
    /// Jobs that missed their deadline only in the measurement.
    pub missed_only_measured: Vec<TaskCount>,
    /// Jobs that missed their deadline only in the simulation.
    pub missed_only_simulated: Vec<TaskCount>,
    /// Where the two differ and why, in sentences.
    pub differences: Vec<String>,
}

/// The same quantity twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Pair<T> {
    /// Measured.
    pub measured: T,
    /// Simulated.
    pub simulated: T,
}

/// How much later jobs ended than simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Later {
    /// Half of the jobs at most this much.
    pub median: i64,
    /// 99 % of the jobs at most this much.
    pub p99: i64,
    /// All of them at most this much.
    pub max: i64,
}

/// A number of jobs of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskCount {
    /// Name of the task set.
    pub set: String,
    /// Name of the task.
    pub task: String,
    /// How many.
    pub jobs: u64,
}

/// Every scheduler that was measured and simulated, in the order of the tables.
pub(crate) fn beside(study: &Study<'_>) -> Vec<Beside> {
    let twin = |c: &&Configuration| study.simulated.iter().find(|s| s.scheduler == c.scheduler);
    let measured = study.configurations.iter().filter_map(|c| Some((c, twin(&c)?)));
    measured.map(|(measured, simulated)| of_scheduler(study, measured, simulated)).collect()
}

/// What simulations beside measurements pay for, as the manifest says.
#[derive(Debug, Clone, Copy)]
struct Paid<'a> {
    /// The costs file.
    file: &'a str,
    /// What costs something.
    modelled: &'a str,
    /// What costs nothing, though it does under Linux.
    left_out: &'a str,
}

impl<'a> Paid<'a> {
    /// Nothing where they pay for nothing.
    fn of(study: &Study<'a>) -> Option<Paid<'a>> {
        let option = |name: &str| study.results.options.get(name).map(String::as_str);
        let modelled = option("modelled")?;
        let file = option("costs").unwrap_or("a costs file");
        Some(Paid { file, modelled, left_out: option("not-modelled").unwrap_or_default() })
    }
}

/// The table of all of them; nothing if nothing was simulated beside measurements.
pub(crate) fn table(study: &Study<'_>, besides: &[Beside]) -> Option<Table> {
    if besides.is_empty() {
        return None;
    }
    let columns = vec![
        Column::text("Scheduler"),
        Column::grouped("Missed", "measured"),
        Column::grouped("Missed", "simulated"),
        Column::grouped("Norm. laxity", "measured"),
        Column::grouped("Norm. laxity", "simulated"),
        Column::grouped("Max. tardiness", "measured"),
        Column::grouped("Max. tardiness", "simulated"),
        Column::grouped("Migr./task", "measured"),
        Column::grouped("Migr./task", "simulated"),
        Column::grouped("Jobs end later by", "median"),
        Column::grouped("Jobs end later by", "99 %"),
        Column::grouped("Jobs end later by", "at most"),
    ];
    let differences = besides.iter().map(|b| (b.scheduler.clone(), b.differences.join(" ")));
    let mut notes: Vec<String> =
        by_reason(differences).into_iter().map(|(labels, words)| format!("{labels}: {words}")).collect();
    let not = reasons_of_runs(study, NOT_SIMULATED).into_iter();
    notes.extend(not.map(|(labels, why)| format!("Not simulated: {labels} ({why}).")));
    notes.push(general_words(study));
    let how = match Paid::of(study) {
        None => "without the costs of a real machine".to_owned(),
        Some(paid) => format!("with the costs of {}", paid.file),
    };
    Some(Table {
        caption: format!("Simulated beside measured: the same jobs, {how}"),
        columns,
        rows: besides.iter().map(row).collect(),
        notes,
    })
}

fn row(b: &Beside) -> Vec<Field> {
    let misses = |n: Option<u64>| match n {
        Some(n) => Field::toned(number::count(n), if n == 0 { Tone::Good } else { Tone::Bad }),
        None => Field::toned(number::NOT_AVAILABLE, Tone::Faint),
    };
    let value = |v: Option<f64>| match v {
        Some(v) => number::mean_sd(v, None).into(),
        None => Field::toned(number::NOT_AVAILABLE, Tone::Faint),
    };
    let tardiness = |ns: Option<u64>| match ns {
        Some(0) => "0".into(),
        Some(ns) => number::span_ns(ns).into(),
        None => Field::toned(number::NOT_AVAILABLE, Tone::Faint),
    };
    let later = |of: fn(&Later) -> i64| match &b.later_ns {
        Some(later) => signed(of(later)).into(),
        None => Field::toned(number::NOT_AVAILABLE, Tone::Faint),
    };
    vec![
        b.scheduler.as_str().into(),
        misses(b.misses.measured),
        misses(b.misses.simulated),
        value(b.normalized_laxity.measured),
        value(b.normalized_laxity.simulated),
        tardiness(b.tardiness_ns_max.measured),
        tardiness(b.tardiness_ns_max.simulated),
        value(b.migration_rate.measured),
        value(b.migration_rate.simulated),
        later(|l| l.median),
        later(|l| l.p99),
        later(|l| l.max),
    ]
}

fn signed(ns: i64) -> String {
    match ns.cmp(&0) {
        Ordering::Less => format!("-{}", number::span_ns(ns.unsigned_abs())),
        Ordering::Equal => "0".to_owned(),
        Ordering::Greater => number::span_ns(ns.unsigned_abs()),
    }
}

/// One job, measured and simulated.
struct Twins<'a> {
    set: usize,
    measured: &'a Job,
    simulated: &'a Job,
}

impl Twins<'_> {
    /// How much later it completed than simulated, if it did in both.
    fn later_ns(&self) -> Option<i64> {
        self.measured.completed_ns()?.checked_signed_diff(self.simulated.completed_ns()?)
    }

    /// CPU time beyond the simulated one.
    fn longer_ns(&self) -> Option<i64> {
        self.measured.cpu_time_ns?.checked_signed_diff(self.simulated.cpu_time_ns?)
    }
}

fn of_scheduler(study: &Study<'_>, measured: &Configuration, simulated: &Configuration) -> Beside {
    let sets = study.all_sets();
    let made = |c: &Configuration| -> Vec<Measured<'_>> {
        let runs = study.runs(&sets, c).into_iter();
        runs.filter(|m| !matches!(m.run.status, RunStatus::NotRun { .. })).collect()
    };
    let (real, virtual_) = (made(measured), made(simulated));
    let mut comparison = Comparison::default();
    for run in &real {
        let same = |other: &&Measured<'_>| {
            other.run.set == run.run.set && other.run.repetition == run.run.repetition
        };
        if let Some(other) = virtual_.iter().find(same) {
            comparison.runs(study, run, other);
        }
    }
    // Of what was not made, the evidence is the reason.
    let asked = if real.is_empty() { study.runs(&sets, measured) } else { real };
    let planned = if virtual_.is_empty() { study.runs(&sets, simulated) } else { virtual_ };
    let evidence = Pair { measured: Evidence::of(&asked), simulated: Evidence::of(&planned) };
    comparison.finish(study, measured, &evidence)
}

/// What the runs of a scheduler show, compared job by job.
#[derive(Default)]
struct Comparison<'a> {
    later: Vec<i64>,
    worst: Option<Twins<'a>>,
    only_measured: BTreeMap<(usize, u32), u64>,
    only_simulated: BTreeMap<(usize, u32), u64>,
    /// Of the jobs that missed only in the measurement: used so much more CPU time that this alone made them late.
    overran: u64,
}

impl<'a> Comparison<'a> {
    fn runs(&mut self, study: &Study<'_>, measured: &Measured<'a>, simulated: &Measured<'a>) {
        let Ok(set) = usize::try_from(measured.run.set) else { return };
        let until = measured.run.horizon().min(simulated.run.horizon()).as_ns();
        let real_time = |job: &&Job| {
            let task = usize::try_from(job.task).ok().and_then(|id| study.sets[set].tasks().get(id));
            task.is_some_and(|task| task.kind == laxity_model::TaskKind::RealTime)
        };
        let mut others = simulated.run.jobs.iter().peekable();
        for job in measured.run.jobs.iter().filter(real_time) {
            let key = (job.task, job.index);
            while others.next_if(|other| (other.task, other.index) < key).is_some() {}
            if let Some(other) = others.next_if(|other| (other.task, other.index) == key) {
                self.job(Twins { set, measured: job, simulated: other }, until);
            }
        }
    }

    fn job(&mut self, twins: Twins<'a>, until_ns: u64) {
        let missed = |job: &Job| job.missed(until_ns);
        let key = (twins.set, twins.measured.task);
        match (missed(twins.measured), missed(twins.simulated)) {
            (true, false) => {
                *self.only_measured.entry(key).or_default() += 1;
                let late = twins.measured.tardiness_ns().and_then(|ns| i64::try_from(ns).ok());
                let margin = twins.simulated.laxity_ns();
                if let (Some(longer), Some(late), Some(margin)) = (twins.longer_ns(), late, margin) {
                    self.overran += u64::from(longer >= late.saturating_add(margin));
                }
            }
            (false, true) => *self.only_simulated.entry(key).or_default() += 1,
            _ => {}
        }
        let Some(later) = twins.later_ns() else { return };
        self.later.push(later);
        if self.worst.as_ref().and_then(Twins::later_ns).is_none_or(|worst| later > worst) {
            self.worst = Some(twins);
        }
    }

    fn finish(mut self, study: &Study<'_>, of: &Configuration, evidence: &Pair<Evidence>) -> Beside {
        self.later.sort_unstable();
        let later_ns = self.later.last().map(|&max| Later {
            median: self.later[rank(self.later.len(), 50)],
            p99: self.later[rank(self.later.len(), 99)],
            max,
        });
        let mut beside = Beside {
            scheduler: of.label.clone(),
            host: of.host,
            jobs_compared: u64::try_from(self.later.len()).unwrap_or(u64::MAX),
            misses: pair_of(evidence, |e| (e.runs > 0).then_some(e.counts.misses)),
            normalized_laxity: pair_of(evidence, |e| mean_of(e.laxity)),
            tardiness_ns_max: pair_of(evidence, |e| e.tardiness_ns_max),
            migration_rate: pair_of(evidence, |e| mean_of(e.migration_rate)),
            context_switch_rate: pair_of(evidence, |e| mean_of(e.context_switch_rate)),
            later_ns,
            missed_only_measured: counts(study, &self.only_measured),
            missed_only_simulated: counts(study, &self.only_simulated),
            differences: Vec::new(),
        };
        beside.differences = match (evidence.measured.runs, evidence.simulated.runs) {
            (0, _) => vec![format!("Not measured: {}.", evidence.measured.incomplete.join("; "))],
            (_, 0) => vec![format!("Not simulated: {}.", evidence.simulated.incomplete.join("; "))],
            _ => self.differences(study, &beside),
        };
        beside
    }

    fn differences(&self, study: &Study<'_>, beside: &Beside) -> Vec<String> {
        let paid = Paid::of(study).is_some();
        let mut words = vec![laxity_words(beside, paid)];
        words.extend(self.miss_words(beside, paid));
        words.extend(beside.later_ns.and_then(|later| earlier_words(later, paid)));
        words.extend(self.worst_words(study));
        words.extend(rate_words("migrates", beside.migration_rate));
        words
    }

    fn miss_words(&self, beside: &Beside, paid: bool) -> Vec<String> {
        let mut words = Vec::new();
        // With costs, what a job was simulated to use includes what it reloads into its caches.
        let wanted = if paid { "than simulated" } else { "than they asked for" };
        let only: u64 = self.only_measured.values().sum();
        if only > 0 {
            let why = match (self.overran, only - self.overran) {
                (0, _) => "they waited longer than simulated".to_owned(),
                (_, 0) => format!("they used more CPU time {wanted}"),
                (overran, waited) => format!(
                    "{} used more CPU time {wanted}, {} waited longer than simulated",
                    number::count(overran),
                    number::count(waited)
                ),
            };
            words.push(format!(
                "Missed only in reality: {} ({}); {why}.",
                number::counted(only, "job"),
                names(&beside.missed_only_measured)
            ));
        }
        let only: u64 = self.only_simulated.values().sum();
        if only > 0 {
            let less = if paid {
                "these used less than they asked for, or less was paid than simulated"
            } else {
                "or these used less than they asked for"
            };
            words.push(format!(
                "Missed only in the simulation: {} ({}); Linux ran other jobs first, {less}.",
                number::counted(only, "job"),
                names(&beside.missed_only_simulated)
            ));
        }
        words
    }

    fn worst_words(&self, study: &Study<'_>) -> Option<String> {
        let worst = self.worst.as_ref()?;
        let later = worst.later_ns().filter(|&later| later > 0)?;
        let task = study.sets[worst.set].tasks().get(usize::try_from(worst.measured.task).ok()?)?;
        let longer = worst.longer_ns().map(|longer| longer.clamp(0, later));
        let parts = match longer {
            Some(longer) => format!(
                " ({} of it more CPU time, {} waiting)",
                number::span_ns(longer.unsigned_abs()),
                number::span_ns((later - longer).unsigned_abs())
            ),
            None => String::new(),
        };
        Some(format!(
            "Most behind: job {} of `{}`, released at {}, {} later than simulated{parts}.",
            worst.measured.index,
            task.name,
            shown(Duration::from_ns(worst.measured.release_ns)),
            number::span_ns(later.unsigned_abs())
        ))
    }
}

fn mean_of(sample: Option<Sample>) -> Option<f64> {
    sample.map(|sample| sample.mean)
}

fn pair_of<T>(evidence: &Pair<Evidence>, metric: impl Fn(&Evidence) -> T) -> Pair<T> {
    Pair { measured: metric(&evidence.measured), simulated: metric(&evidence.simulated) }
}

/// The place of the smallest of so many ascending values that at least this percentage of them do not exceed.
fn rank(values: usize, percent: usize) -> usize {
    (values * percent).div_ceil(100).max(1) - 1
}

fn laxity_words(beside: &Beside, paid: bool) -> String {
    let Pair { measured: Some(measured), simulated: Some(simulated) } = beside.normalized_laxity else {
        return "Laxity cannot be compared: no job completed in one of the two.".to_owned();
    };
    let same_misses = beside.missed_only_measured.is_empty() && beside.missed_only_simulated.is_empty();
    let difference = measured - simulated;
    if difference.abs() < LAXITY_EQUAL {
        let misses = if same_misses { "the same jobs are in time, and " } else { "" };
        return format!("Equal: {misses}mean laxity is within 1 % of a period.");
    }
    let direction = if difference < 0.0 { "less" } else { "more" };
    format!(
        "Jobs have {} % of a period {direction} left than simulated {}.",
        number::significant(difference.abs() * 100.0),
        if paid { "with costs" } else { "without costs" }
    )
}

/// Linux does not run what goes first in the simulation, or its jobs take less time.
fn earlier_words(later: Later, paid: bool) -> Option<String> {
    let why = match paid {
        true => "they paid less than the costs file says, used less CPU time, or ran before others",
        false => "they used less CPU time, or ran before others",
    };
    (later.median < 0).then(|| {
        format!(
            "Half of the jobs end {} or more earlier than simulated: {why}.",
            number::span_ns(later.median.unsigned_abs())
        )
    })
}

/// What makes any real job end at another time than its simulated twin.
fn general_words(study: &Study<'_>) -> String {
    let host = match study.results.machine.facts.get("virtualization").map(String::as_str) {
        None | Some("none" | "unknown" | "") => "",
        // Whether the guest's clocks count it as either depends on the hypervisor.
        Some(_) => {
            ", and for what the host of this virtual machine took away, which shows as waiting or as CPU time"
        }
    };
    match Paid::of(study) {
        None => format!(
            "Simulated without costs: a real job pays for release latency, scheduling, context switches and cold caches, \
             which the simulation leaves out{host}."
        ),
        Some(Paid { file, modelled, left_out }) => {
            let left_out = match left_out {
                "" => String::new(),
                some => format!(" Left out of the simulation: {some}."),
            };
            format!(
                "Simulated with the costs of {file}: {modelled}.{left_out} A real job pays what this machine takes for \
                 all of it{host}."
            )
        }
    }
}

fn rate_words(verb: &str, rate: Pair<Option<f64>>) -> Option<String> {
    let (measured, simulated) = (rate.measured?, rate.simulated?);
    let most = measured.max(simulated);
    if most < 1.0 || (measured - simulated).abs() <= most * RATE_EQUAL {
        return None;
    }
    Some(format!(
        "How often a task {verb} in a run: {} measured, {} simulated.",
        number::significant(measured),
        number::significant(simulated)
    ))
}

fn counts(study: &Study<'_>, by_task: &BTreeMap<(usize, u32), u64>) -> Vec<TaskCount> {
    let count = |(&(set, task), &jobs): (&(usize, u32), &u64)| {
        let of = &study.sets[set];
        let known = usize::try_from(task).ok().and_then(|id| of.tasks().get(id));
        let name = known.map_or_else(|| format!("T{}", u64::from(task) + 1), |task| task.name.clone());
        TaskCount { set: of.name().to_owned(), task: name, jobs }
    };
    by_task.iter().map(count).collect()
}

/// The tasks with most jobs first.
fn names(counts: &[TaskCount]) -> String {
    let several_sets = counts.iter().any(|count| count.set != counts[0].set);
    let mut most: Vec<&TaskCount> = counts.iter().collect();
    most.sort_by_key(|count| std::cmp::Reverse(count.jobs));
    let name = |count: &&TaskCount| {
        let set = if several_sets { format!("{} / ", count.set) } else { String::new() };
        format!("`{set}{}` {}", count.task, number::count(count.jobs))
    };
    let mut names: Vec<String> = most.iter().take(TASKS_MOST).map(name).collect();
    if most.len() > TASKS_MOST {
        names.push(format!("{} more tasks", most.len() - TASKS_MOST));
    }
    names.join(", ")
}
