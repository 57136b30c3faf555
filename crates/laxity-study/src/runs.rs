//! Studies by simulation whose sets are really run: the same sets and the same jobs, placed onto the machine that runs them.
//!
//! 1. What is measured instead of simulated has the same name where it is the same quantity ([`METRICS_OF_RUNS`]).
//! 2. A set's value is the mean over its repetitions, so that means and standard deviations are over sets, as in simulations.
//! 3. A set counts under a curve if all of its repetitions were run to their end; else the reason is kept ([`Gaps`]).
//! 4. What a machine cannot count is not known, never 0, and the reason is kept.

use crate::axis::Variable;
use crate::journal::Point;
use crate::metric::{Measure, Metric, Unit, Unknown};
use crate::outcomes::{Judged, Simulated};
use crate::outline::{Outline, utilization_q32};
use crate::simulations::{METRICS, Simulations, check_duration, value_of};
use crate::study::{Judging, Study};
use crate::tally::{Gaps, Kept, SeriesResult, SetResult, Value};
use laxity_generate::{Decimal, seed_of};
use laxity_model::{Diagnostic, Duration, Result, TaskSet};
use laxity_sim::BackgroundSummary;
use laxity_trace::{
    Efficiency, HardwareCounts, Moments, Run, RunStatus, RunSummary, ScheduleRecord, TardinessHistogram,
    relative_ipc,
};
use std::collections::BTreeMap;

/// The metric of a kind of overhead, with its title and what it is.
macro_rules! overhead {
    ($kind:literal, $title:literal, $what:literal) => {
        Metric {
            name: concat!("overhead-", $kind),
            title: $title,
            description: concat!(
                $what,
                ": the mean of a run's undisturbed samples (cerqueira2014, IV-A), with --record-overheads"
            ),
            measure: Measure::Number(Unit::Nanoseconds, |one| one.overheads_ns.get($kind).copied()),
            unknown: Unknown::Overheads,
        }
    };
}

/// Metrics that runs have instead of those of simulations, or beside them.
pub static METRICS_OF_RUNS: &[Metric] = &[
    Metric {
        name: "ipc",
        title: "instructions per cycle",
        description: "instructions by cycles of completed jobs, in user mode, as hardware counts them (lindsay2012, 6.2.1)",
        measure: Measure::Number(Unit::Number, |one| one.counted.ipc()),
        unknown: Unknown::Columns(&["instructions", "cycles"]),
    },
    Metric {
        name: "llc-miss-rate",
        title: "LLC miss rate",
        description: "misses of the last-level cache of completed jobs, as hardware counts them, by lines walked (lindsay2012, 6.2.2)",
        measure: Measure::Number(Unit::Ratio, |one| one.counted.llc_miss_rate()),
        unknown: Unknown::Columns(&["llc_misses"]),
    },
    Metric {
        name: INFLATION,
        title: "execution-time inflation",
        description: "CPU time of completed jobs by what the same accesses took alone, in a warm cache; IPC falls as it grows",
        measure: Measure::Number(Unit::Number, |one| one.summary.rates.execution_inflation),
        unknown: Unknown::Summary("execution_inflation"),
    },
    Metric {
        name: "relative-ipc",
        title: "IPC relative to the first curve",
        description: "the first curve's execution-time inflation by this one's, of the same set in the same repetition: jobs have the \
                      same instructions, so this is the ratio of instructions per cycle (lindsay2012, 6.2.1)",
        measure: Measure::Number(Unit::Number, |one| {
            relative_ipc(one.summary.rates.execution_inflation?, one.inflation_of_first?)
        }),
        unknown: Unknown::OfFirstCurve("execution_inflation"),
    },
    Metric {
        name: VIOLATIONS,
        title: "violations of the definition",
        description: "with --record: times in a run at which the schedule is not what its scheduler's definition says, and nothing that \
                      was measured in the same run explains it",
        measure: Measure::Number(Unit::Number, |one| one.judged.map(|judged| shown(judged.violations))),
        unknown: Unknown::Columns(&["schedule"]),
    },
    Metric {
        name: EXCUSED,
        title: "excused deviations per instant",
        description: "with --record: deviations from the definition that something measured in the same run explains, by the instants \
                      that were judged",
        measure: Measure::Number(Unit::Ratio, |one| {
            let Judged { checked, excused, .. } = one.judged?;
            (checked > 0).then(|| shown(excused) / shown(checked))
        }),
        unknown: Unknown::Columns(&["schedule"]),
    },
    Metric {
        name: EXCUSED_TIME,
        title: "excused CPU time",
        description: "with --record: how long jobs waited that should have run, or ran beyond their budgets, with something measured in \
                      the same run that explains it, by the CPU time that was observed",
        measure: Measure::Number(Unit::Ratio, |one| Some(shown(one.judged?.excused_ppm?) / 1_000_000.0)),
        unknown: Unknown::Columns(&["schedule"]),
    },
    Metric {
        name: WITHOUT_VERDICT,
        title: "schedules without a verdict",
        description: "with --record: runs whose schedule is not violated, but of which so much is excused that a wrong one would look the \
                      same",
        measure: Measure::Number(Unit::Ratio, |one| {
            one.judged.map(|judged| shown(u64::from(judged.is_excused)))
        }),
        unknown: Unknown::Columns(&["schedule"]),
    },
    overhead!("release", "releases", "the handler of the release interrupt"),
    overhead!(
        "schedule-before",
        "scheduling decisions",
        "from the scheduler's entry until the next thread is chosen"
    ),
    overhead!("context-switch", "context switches", "from one thread to the next"),
    overhead!("release-latency", "release latencies", "from the nominal release until its handler runs"),
    overhead!("ipi-latency", "IPI latencies", "from sending a reschedule interrupt until its handler runs"),
    overhead!("tick", "timer ticks", "the handler of the timer tick"),
];

const INFLATION: &str = "execution-inflation";
const VIOLATIONS: &str = "violations";
const EXCUSED: &str = "excused-deviations";
const EXCUSED_TIME: &str = "excused-time";
const WITHOUT_VERDICT: &str = "without-verdict";
/// How metrics of overheads begin; the rest is the kind of overhead.
const OVERHEAD: &str = "overhead-";
/// What runs add to the metrics that a study names.
const ADDED: &[&str] = &[INFLATION, "relative-ipc"];
/// How late jobs are: the least that runs say of it.
const TARDINESS: &str = "max-tardiness";

impl Study {
    /// The study by simulation whose sets are to be really run, each for `duration`, if that is given: with the metrics that runs have,
    /// among them those of what is recorded.
    ///
    /// # Errors
    ///
    /// What can be simulated only: servers, background tasks, ticks, admission, places by the test; sets that are proven; a duration of
    /// nothing, or too long.
    pub fn for_real(self, duration: Option<Duration>, recorded: Recorded) -> Result<Study> {
        let Study { outline, judging, versions } = self;
        let Judging::Simulations(mut simulations) = judging else {
            return Err(Diagnostic::usage("--real: the sets of a schedulability study are judged, not run")
                .hint("leave out --real, or name a study by simulation (kind = \"simulation\")"));
        };
        let refused = |what: &str| {
            Diagnostic::usage(format!("{what} can be simulated, but not run for a study"))
                .hint("leave out --real, or run a study of placements and schedulers such as studies/lindsay2012-two-cores.toml")
        };
        let mixed = simulations.mixed;
        if outline.axis.variable == Variable::Server || mixed.server.is_some() {
            return Err(refused("ordinary: deferrable servers"));
        }
        if mixed.ordinary > 0 || mixed.at_ticks {
            return Err(refused(
                "ordinary: tasks that are not real-time, and schedulers that look at ticks only,",
            ));
        }
        if let Some(curve) = simulations.curves.iter().find(|curve| curve.admission.is_some()) {
            return Err(
                refused("tasks that are admitted one by one").context(format!("curve `{}`", curve.name))
            );
        }
        // A run knows what the kernel takes beside the tasks, and would refuse what this test proves without it.
        if let Some(curve) = simulations.curves.iter().find(|curve| curve.fit.is_test()) {
            return Err(refused("places by the test").context(format!("curve `{}`", curve.name)));
        }
        if let Some(curve) =
            simulations.curves.iter().find(|curve| curve.scheduler.policy.prototype().is_some())
        {
            return Err(refused("prototypes").context(format!("curve `{}`", curve.name)));
        }
        if let Some(duration) = duration {
            simulations.duration = check_duration("--duration", duration, false)?;
        }
        simulations.metrics = metrics_of_runs(&simulations.metrics, recorded);
        Ok(Study { outline, judging: Judging::Simulations(simulations), versions })
    }
}

/// The seed of what jobs of set number `index` of a point ask for and when they come: that of the simulation.
pub fn seed_of_jobs(outline: &Outline, point: Point, index: u64) -> u64 {
    seed_of(&[outline.seed_of_point(point), index])
}

/// What every curve is where its sets are run, a line each.
pub fn curves_in_words_of_runs(simulations: &Simulations) -> Vec<String> {
    simulations.curves.iter().map(|curve| curve.words_of_places("run") + ".").collect()
}

/// What runs measure of what a study names, and of what is recorded.
fn metrics_of_runs(named: &[&'static Metric], recorded: Recorded) -> Vec<&'static Metric> {
    let of_runs = |name: &str| METRICS_OF_RUNS.iter().find(|metric| metric.name == name);
    let measured = named.iter().map(|metric| of_runs(metric.name).unwrap_or(metric));
    let mut metrics: Vec<&'static Metric> =
        measured.filter(|metric| metric.unknown != Unknown::NotOfRuns).collect();
    metrics.extend(ADDED.iter().copied().filter_map(of_runs));
    if !metrics.iter().any(|metric| metric.name == TARDINESS) {
        metrics.extend(METRICS.iter().find(|metric| metric.name == TARDINESS));
    }
    if recorded.schedules {
        metrics.extend([VIOLATIONS, EXCUSED, EXCUSED_TIME, WITHOUT_VERDICT].into_iter().filter_map(of_runs));
    }
    if recorded.overheads {
        metrics.extend(METRICS_OF_RUNS.iter().filter(|metric| metric.name.starts_with(OVERHEAD)));
    }
    metrics
}

/// What is recorded of runs beside their jobs. It takes CPU time of what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recorded {
    /// Their schedules, which the oracles judge.
    pub schedules: bool,
    /// What scheduling costs.
    pub overheads: bool,
}

/// A run that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeRun {
    /// With its jobs.
    pub run: Run,
    /// The mean length of what scheduling did, in ns, by kind of overhead; none where it was not recorded.
    pub overheads_ns: BTreeMap<String, f64>,
}

/// The runs of a set under a curve, one for each repetition; or why there are none.
pub type Runs = std::result::Result<Vec<MadeRun>, String>;

/// Of the runs of a set under every curve, on so many CPUs. `accesses` says how many a task makes in a job of this demand.
///
/// # Errors
///
/// Jobs of a task that the set does not have.
pub fn result_of_runs(
    simulations: &Simulations,
    set: &TaskSet,
    cores: usize,
    runs: &[Runs],
    accesses: impl Fn(usize, Duration) -> Option<u64>,
) -> Result<SetResult> {
    let measured = |made: &MadeRun| measured(made, set, cores, &accesses);
    let mut series = Vec::new();
    // The first curve's inflation by repetition.
    let mut first: Vec<Option<f64>> = Vec::new();
    for (at, runs) in runs.iter().enumerate() {
        let runs = match completed(runs) {
            Ok(runs) => runs,
            Err(why) => {
                series.push(not_run(why));
                continue;
            }
        };
        let mut found: Vec<Simulated> = runs.iter().map(measured).collect::<Result<_>>()?;
        if at == 0 {
            first = found.iter().map(|one| one.summary.rates.execution_inflation).collect();
        }
        for (one, &inflation) in found.iter_mut().zip(&first) {
            one.inflation_of_first = inflation;
        }
        series.push(run(simulations, |metric| mean_over_runs(metric, &found, runs)));
    }
    let (tasks, utilization_q32) = (set.tasks().len() as u64, utilization_q32(set.tasks()));
    Ok(SetResult { tasks, utilization_q32, series })
}

/// Of a set that has no tasks: it runs under every curve, and nothing is known of it.
pub fn result_of_nothing(simulations: &Simulations) -> SetResult {
    let nothing = |metric: &Metric| match Kept::none(metric) {
        Kept::Histogram(classes) => Ok(Value::Histogram(classes)),
        Kept::Sets(_) | Kept::Number(_) => Err("the set has no tasks".to_owned()),
    };
    let series = vec![run(simulations, nothing); simulations.curves.len()];
    SetResult { tasks: 0, utilization_q32: 0, series }
}

/// A set that was not run under a curve.
fn not_run(why: String) -> SeriesResult {
    let mut gaps = Gaps::default();
    gaps.not_run.insert(why, 1);
    SeriesResult { values: None, gaps }
}

/// A set that was run: what every metric is, or why that is not known.
fn run(
    simulations: &Simulations,
    of: impl Fn(&'static Metric) -> std::result::Result<Value, String>,
) -> SeriesResult {
    let mut gaps = Gaps::default();
    let mut value = |metric: &&'static Metric| {
        of(metric).unwrap_or_else(|why| {
            gaps.not_measured.entry(metric.name.to_owned()).or_default().insert(why, 1);
            Value::Number(None)
        })
    };
    let values = simulations.metrics.iter().map(&mut value).collect();
    SeriesResult { values: Some(values), gaps }
}

/// The runs, if all were made to their end.
fn completed(runs: &Runs) -> std::result::Result<&[MadeRun], String> {
    let runs = runs.as_ref().map_err(Clone::clone)?;
    for MadeRun { run, .. } in runs {
        match &run.status {
            RunStatus::Completed => {}
            RunStatus::NotRun { reason } => return Err(reason.clone()),
            RunStatus::Interrupted { reason, .. } => return Err(format!("ended before its time: {reason}")),
        }
    }
    Ok(runs)
}

/// A run as metrics see it.
fn measured(
    MadeRun { run, overheads_ns }: &MadeRun,
    set: &TaskSet,
    cores: usize,
    accesses: impl Fn(usize, Duration) -> Option<u64>,
) -> Result<Simulated> {
    let (mut counted, mut efficiency) = (HardwareCounts::default(), Efficiency::default());
    let mut tardiness = TardinessHistogram::default();
    let horizon_ns = run.horizon().as_ns();
    for job in &run.jobs {
        let made = job.demand_ns.and_then(|demand| accesses(job.task as usize, Duration::from_ns(demand)));
        counted.add(job, made);
        efficiency.add(job);
        tardiness.add(job, horizon_ns);
    }
    let tasks = set.real_time().count() as u64;
    Ok(Simulated {
        summary: RunSummary::of(run, set, cores)?,
        tardiness,
        efficiency,
        access_ps: None,
        ordinary: BackgroundSummary::default(),
        admitted: (tasks, tasks),
        base_ipc: Decimal::ONE,
        counted,
        inflation_of_first: None,
        judged: run.schedule.as_ref().map(judged),
        overheads_ns: overheads_ns.clone(),
    })
}

fn judged(schedule: &ScheduleRecord) -> Judged {
    let verification = &schedule.verification;
    Judged {
        checked: verification.instants,
        excused: verification.excused.count,
        violations: verification.violations_count(),
        excused_ppm: verification.extent.as_ref().map(|extent| extent.share_ppm),
        is_excused: verification.is_excused(),
    }
}

/// What a metric is of a set: the mean over its runs, or the sum of their classes; or why it is not known.
fn mean_over_runs(
    metric: &Metric,
    found: &[Simulated],
    runs: &[MadeRun],
) -> std::result::Result<Value, String> {
    let values = found.iter().map(|one| value_of(metric, one));
    let mut numbers: Vec<i64> = Vec::new();
    let mut jobs: Vec<u64> = Vec::new();
    for value in values {
        match value {
            Value::Number(number) => numbers.extend(number),
            Value::Holds(_) => {}
            Value::Histogram(more) if jobs.is_empty() => jobs = more,
            Value::Histogram(more) => jobs.iter_mut().zip(more).for_each(|(own, more)| *own += more),
        }
    }
    match metric.measure {
        Measure::Histogram(_) => Ok(Value::Histogram(jobs)),
        // A mean over some of its repetitions would not be that of the others.
        Measure::Number(..) if numbers.len() == found.len() && !found.is_empty() => {
            let mut moments = Moments::default();
            numbers.iter().for_each(|&number| moments.add_signed(number));
            let mean =
                moments.mean_to_nearest().map(|mean| i64::try_from(mean).expect("between its numbers"));
            Ok(Value::Number(mean))
        }
        Measure::Number(..) | Measure::Sets(_) => Err(reason(metric, found, runs)),
    }
}

/// Why a metric is not known.
fn reason(metric: &Metric, found: &[Simulated], runs: &[MadeRun]) -> String {
    let column = |name: &&str| runs.iter().find_map(|made| made.run.not_measured.get(*name).cloned());
    let summary = |name: &str| found.iter().find_map(|one| one.summary.not_measured.get(name).cloned());
    let why = match metric.unknown {
        Unknown::Columns(names) => names.iter().find_map(column),
        Unknown::OfFirstCurve(_) if found.iter().any(|one| one.inflation_of_first.is_none()) => {
            Some("the set was not run under the first curve".to_owned())
        }
        Unknown::OfFirstCurve(name) | Unknown::Summary(name) => summary(name),
        Unknown::Overheads => Some(without_overheads(runs)),
        Unknown::Words(words) => Some(words.to_owned()),
        Unknown::NotOfRuns => unreachable!("`{}` is of no run", metric.name),
    };
    why.unwrap_or_else(|| "no job completed of which it is known".to_owned())
}

/// Why an overhead is not known.
fn without_overheads(runs: &[MadeRun]) -> String {
    let nothing = |made: &MadeRun| made.overheads_ns.is_empty();
    let note = |made: &MadeRun| made.run.notes.iter().find(|note| note.starts_with("overheads ")).cloned();
    match runs.iter().find(|made| nothing(made)) {
        Some(made) => note(made).unwrap_or_else(|| "overheads were not recorded".to_owned()),
        None => "there was no undisturbed sample of it in a run".to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn shown(number: u64) -> f64 {
    number as f64
}
