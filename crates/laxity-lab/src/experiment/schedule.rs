//! The schedule that a real kernel made in a run: from its records to events, a verdict and a record for the results; and
//! back from the results to a verdict, for `laxity verify`.
//!
//! 1. The definition is that of the run's scheduler on the task set *as the kernel was told it*: a task's WCET is its budget,
//!    and where the kernel counts another period than the task's own, its period is that one. CPUs count as equally fast,
//!    because budgets are CPU time.
//! 2. Nothing excuses a deviation but what was measured in the run itself (laxity_kernel::schedule).

use super::of_equal_speed;
use laxity_kernel::schedule::{
    Charges, JobTimes, Member, Origin, Schedule, ThreadJobs, convert, verify, verify_kept, with_jobs,
};
use laxity_model::{
    AnyScheduler, Arrival, Diagnostic, Duration, Platform, Result, Task, TaskSet, scheduler_of,
};
use laxity_oracle::{About, Activity, BudgetRule, Cause, Causes, Definition, Evidence, Verdict, causes};
use laxity_run::{Pacing, Plan, PlannedTask, Policy, RunRecords};
use laxity_trace::{
    Event, Host, Job, JobOutcome, Kept, KernelActivity, Manifest, MissCause, RuleRecord, Run, RunStatus,
    ScheduleRecord, SpanRecord, VerificationRecord, create_events, write_activities,
};
use std::collections::BTreeSet;
use std::path::Path;

/// Violations in words that a manifest keeps.
const WORDS_MOST: usize = 20;

/// The number that a policy's host gives to what is job 0: before it a thread has done an empty job.
const FIRST_JOB: u32 = 1;

/// Makes the schedule of a run from its records, has it verified, finds out why jobs of the run missed, and writes events and
/// activities into the results directory; what goes into the manifest with the verdict, or why there is no verdict: laxity has
/// no definition of the scheduler.
///
/// # Errors
///
/// What the file system refuses; a run that does not say enough for a definition.
pub fn keep(
    directory: &Path,
    run: &mut Run,
    set: &TaskSet,
    plan: &Plan,
    machine: &Taken<'_>,
    records: &RunRecords,
) -> Result<std::result::Result<ScheduleRecord, String>> {
    let platform = machine.platform;
    let told = told(set, plan)?;
    let origin = origin(run, set, plan, platform, records);
    let schedule = match plan.attachment {
        Some(_) => convert(&records.recorded, &origin),
        None => convert(&with_jobs(&records.recorded, &thread_jobs(run, plan, records)), &origin),
    };
    let terms = Terms {
        task_set: told,
        free_arrivals: free_arrivals(plan, run),
        budgets: budgets(plan),
        batching: batches(plan),
    };
    write(directory, run.id, &schedule)?;
    if let Some(why) = undefined(run) {
        return Ok(Err(why.to_owned()));
    }
    let definition = terms.definition(run, platform, schedule.end_ns)?;
    let verdict = verify(&definition, &schedule);
    let why =
        why_missed(run, set, plan, &definition.with_on_miss(plan.on_miss), &schedule, (records, machine));
    let mut record = record(&terms, &schedule, &verdict, records);
    run.jobs.iter_mut().zip(why.of_jobs).for_each(|(job, cause)| job.cause = cause);
    (record.causes, record.budgets_used_up) = (true, why.budgets);
    Ok(Ok(record))
}

/// The machine of a run, as far as the causes of misses depend on it.
pub struct Taken<'a> {
    /// Its CPUs.
    pub platform: &'a Platform,
    /// It is a virtual machine, whose host can take the CPU away.
    pub is_virtual: bool,
    /// Demands are work, which takes longer where caches are cold.
    pub demand_is_work: bool,
}

/// Why jobs of the run missed their deadlines.
fn why_missed(
    run: &Run,
    set: &TaskSet,
    plan: &Plan,
    definition: &Definition,
    schedule: &Schedule,
    (records, machine): (&RunRecords, &Taken<'_>),
) -> Causes {
    let charges = Charges::of(&records.recorded);
    let tid = |task: u32| {
        let of = |&&(position, _): &&(usize, u32)| {
            plan.tasks.get(position).is_some_and(|planned| u32::try_from(planned.id) == Ok(task))
        };
        records.threads.iter().find(of).map(|&(_, tid)| tid)
    };
    let absolute = |ns: u64| records.t0_ns.saturating_add(ns);
    let charged =
        |task: u32, (from, to): (u64, u64)| charges.within(tid(task)?, (absolute(from), absolute(to)));
    let wcets: Vec<u64> = set.tasks().iter().map(|task| task.wcet.as_ns()).collect();
    let mut budgets = vec![None; wcets.len()];
    for planned in &plan.tasks {
        budgets[planned.id] = match planned.policy {
            Policy::Deadline { runtime, .. } | Policy::Ext { runtime, .. } => Some(runtime.as_ns()),
            // What others leave does not count as used: the budget is no bound.
            Policy::Reclaiming { .. } => None,
            Policy::Other
            | Policy::Fair { .. }
            | Policy::Fifo { .. }
            | Policy::RoundRobin { .. }
            | Policy::Foreign => None,
        };
    }
    causes(&Evidence {
        definition,
        jobs: &run.jobs,
        events: &schedule.events,
        activities: &schedule.activities,
        end_ns: schedule.end_ns,
        horizon_ns: run.horizon().as_ns(),
        wcets_ns: &wcets,
        budgets_ns: &budgets,
        charged_ns: &charged,
        skipped_without_number: plan.attachment.is_none(),
        demand_is_work: machine.demand_is_work,
        taken: if machine.is_virtual { MissCause::Steal } else { MissCause::Interrupt },
    })
}

/// Why nothing can be said of a run's schedule; nothing where its scheduler has a definition.
fn undefined(run: &Run) -> Option<&'static str> {
    match scheduler_of(&run.scheduler).0.parse() {
        Ok(AnyScheduler::Linux(linux)) => linux.undefined(),
        _ => None,
    }
}

/// The tasks whose jobs a policy sees when their threads wake up, whatever it was before: later than they were due, and so
/// perhaps sooner after one another; and those of which Linux's classes have not seen every release, because some were skipped.
fn free_arrivals(plan: &Plan, run: &Run) -> Vec<u32> {
    let skipped: BTreeSet<u32> =
        run.jobs.iter().filter(|job| job.outcome == JobOutcome::Skipped).map(|job| job.task).collect();
    let free = |(task, id): &(&PlannedTask, u32)| match plan.attachment {
        Some(_) => task.pacing != Pacing::Released,
        None => skipped.contains(id),
    };
    let ids = plan.tasks.iter().filter_map(|task| Some((task, u32::try_from(task.id).ok()?)));
    ids.filter(free).map(|(_, id)| id).collect()
}

/// What the threads know of their jobs.
fn thread_jobs(run: &Run, plan: &Plan, records: &RunRecords) -> Vec<ThreadJobs> {
    let absolute = |ns: u64| records.t0_ns.saturating_add(ns);
    let times = |job: &Job| JobTimes {
        release_ns: absolute(job.release_ns),
        deadline_ns: absolute(job.deadline_ns),
        start_ns: job.start_ns.map(absolute),
        finish_ns: job.finish_ns.map(absolute),
    };
    let of_thread = |&(position, tid): &(usize, u32)| {
        let task = plan.tasks.get(position).and_then(|planned| u32::try_from(planned.id).ok());
        // A release that was skipped is none: the events number the jobs that there were.
        let own = run.jobs.iter().filter(|job| Some(job.task) == task && job.outcome != JobOutcome::Skipped);
        let reservation = plan.tasks.get(position).and_then(|planned| planned.policy.reservation());
        let deadline_rel_ns = reservation.map(|reservation| reservation.deadline.as_ns());
        ThreadJobs { tid, deadline_rel_ns, jobs: own.map(times).collect() }
    };
    records.threads.iter().map(of_thread).collect()
}

/// The task set as the kernel was told it.
fn told(set: &TaskSet, plan: &Plan) -> Result<TaskSet> {
    let mut tasks: Vec<Task> = set.tasks().to_vec();
    for planned in &plan.tasks {
        let Policy::Ext { runtime, period, .. } = planned.policy else { continue };
        let task = &mut tasks[planned.id];
        // A margin may make the budget longer than the deadline of a task that is checked by fixed priorities.
        task.wcet = runtime.min(task.deadline_rel);
        if let Arrival::Sporadic { min_interarrival } = &mut task.arrival {
            *min_interarrival = period.min(*min_interarrival);
        }
    }
    TaskSet::new(set.name(), tasks)
}

fn origin(run: &Run, set: &TaskSet, plan: &Plan, platform: &Platform, records: &RunRecords) -> Origin {
    let member = |&(position, tid): &(usize, u32)| {
        let planned = plan.tasks.get(position)?;
        let deadline_rel_ns = set.tasks()[planned.id].deadline_rel.as_ns();
        let asked_deadline_ns = match planned.policy {
            Policy::Ext { deadline, .. } => deadline.as_ns(),
            _ => deadline_rel_ns,
        };
        let task = u32::try_from(planned.id).ok()?;
        Some(Member { tid, task, deadline_rel_ns, asked_deadline_ns })
    };
    Origin {
        t0_ns: records.t0_ns,
        tasks: records.threads.iter().filter_map(member).collect(),
        names: set.tasks().iter().map(|task| task.name.clone()).collect(),
        first_job: if plan.attachment.is_some() { FIRST_JOB } else { 0 },
        cpus: platform.cpus().iter().collect(),
        queues: plan.attachment.as_ref().is_some_and(|attachment| attachment.has_queue_per_core()),
        end_ns: Some(records.t0_ns.saturating_add(run.horizon().as_ns())),
        servers: records.servers.clone(),
    }
}

fn budgets(plan: &Plan) -> BudgetRule {
    match plan.attachment.as_ref().map(|attachment| attachment.budget) {
        Some(mode) => mode.into(),
        None if plan.uses_deadline() => BudgetRule::Followed,
        None => BudgetRule::OFF,
    }
}

fn batches(plan: &Plan) -> bool {
    plan.attachment.as_ref().is_some_and(|attachment| attachment.batching)
}

/// What a schedule claims beyond the name of its scheduler.
struct Terms {
    task_set: TaskSet,
    free_arrivals: Vec<u32>,
    budgets: BudgetRule,
    batching: bool,
}

impl Terms {
    fn definition(&self, run: &Run, platform: &Platform, end_ns: u64) -> Result<Definition> {
        let until = Run { duration: run.duration.min(Duration::from_ns(end_ns)), ..run.clone() };
        let definition = Definition::of_run(self.task_set.clone(), &of_equal_speed(platform)?, &until)?;
        Ok(definition
            .with_budgets(self.budgets)
            .with_batching(self.batching)
            .with_free_arrivals(self.free_arrivals.iter().copied()))
    }

    fn of(record: &ScheduleRecord) -> Result<Self> {
        let task_set = TaskSet::from_json_value(&record.task_set, "task_set")
            .map_err(|error| error.context("the task set of the schedule's record"))?;
        Ok(Terms {
            task_set,
            free_arrivals: record.free_arrivals.clone(),
            budgets: budgets_named(&record.budgets)?,
            batching: record.batching,
        })
    }
}

/// The name of budgets that the kernel accounts for.
const FOLLOWED: &str = "kernel";

fn budgets_name(rule: BudgetRule) -> &'static str {
    match rule {
        BudgetRule::Enforced(mode) => mode.name(),
        BudgetRule::Followed => FOLLOWED,
    }
}

fn budgets_named(name: &str) -> Result<BudgetRule> {
    if name == FOLLOWED {
        return Ok(BudgetRule::Followed);
    }
    name.parse().map(BudgetRule::Enforced).map_err(|_| {
        Diagnostic::usage(format!("the manifest says that budgets are `{name}`, which is not known"))
            .hint("use a results directory as this version of laxity wrote it")
    })
}

fn write(directory: &Path, run: u32, schedule: &Schedule) -> Result<()> {
    let mut events = create_events(directory, run)?;
    schedule.events.iter().try_for_each(|event| events.write(event))?;
    events.finish()?;
    let row = |one: &Activity| {
        let (released, task) = match one.about {
            About::Cpu => (None, None),
            About::Released(first, last) => (Some((first, last)), None),
            About::Task(task) => (None, Some(task)),
        };
        let cause = one.cause.code_name().to_owned();
        KernelActivity { from_ns: one.from_ns, to_ns: one.to_ns, cpu: one.cpu, cause, released, task }
    };
    write_activities(directory, run, &schedule.activities.iter().map(row).collect::<Vec<_>>())
}

fn record(terms: &Terms, schedule: &Schedule, verdict: &Verdict, records: &RunRecords) -> ScheduleRecord {
    let span = |span: laxity_kernel::schedule::Span| SpanRecord {
        count: span.count,
        longest_ns: span.longest_ns,
        total_ns: span.total_ns,
    };
    let windows = schedule.windows.named().into_iter().filter(|(_, span)| span.count > 0);
    ScheduleRecord {
        end_ns: schedule.end_ns,
        records: records.recorded.records.len() as u64,
        lost: records.recorded.lost,
        recorder_cpu_ns: records.cpu_ns,
        decisions: schedule.decisions,
        task_set: terms.task_set.to_json_value(),
        free_arrivals: terms.free_arrivals.clone(),
        budgets: budgets_name(terms.budgets).to_owned(),
        batching: terms.batching,
        longest_way_ns: schedule.windows.longest_way_ns(),
        windows: windows.map(|(name, measured)| (name.to_owned(), span(measured))).collect(),
        verification: verification(verdict),
        notes: records.notes.iter().chain(&schedule.notes).cloned().collect(),
        causes: false,
        budgets_used_up: Vec::new(),
    }
}

/// What a verdict says, as results keep it.
fn verification(verdict: &Verdict) -> VerificationRecord {
    let instants =
        |oracle| verdict.findings.iter().find(|one| one.oracle == oracle).map_or(0, |one| one.checked);
    let span = |count, longest_ns, total_ns| SpanRecord { count, longest_ns, total_ns };
    let causes = verdict.excused.iter().map(|excuse| {
        let name = excuse.cause.code_name().to_owned();
        (name, span(excuse.count, excuse.longest_ns, excuse.total_ns))
    });
    let violated =
        verdict.findings.iter().filter(|finding| finding.violations > 0).map(|finding| RuleRecord {
            rule: finding.oracle.name().to_owned(),
            violations: span(finding.violations, finding.longest_ns, finding.total_ns),
        });
    let tolerated = verdict.tolerated;
    let overruns = verdict.overruns.unwrap_or_default();
    VerificationRecord {
        instants: instants(laxity_oracle::Oracle::GlobalInvariant),
        excused: span(tolerated.count, tolerated.longest_ns, tolerated.total_ns),
        causes: causes.collect(),
        overruns: Some(span(overruns.count, overruns.longest_ns, overruns.total_ns)),
        state: Some(verdict.state),
        extent: verdict.extent.clone(),
        violated: violated.collect(),
        violations: verdict.violations.iter().take(WORDS_MOST).map(|one| one.text.clone()).collect(),
    }
}

/// Verifies the schedule of a real kernel that a results directory has kept; nothing if it has none of this run.
///
/// # Errors
///
/// A manifest that does not say enough; events or activities that cannot be read.
pub fn verify_again(kept: &Kept, manifest: &Manifest, run: &Run) -> Result<Option<Verdict>> {
    if matches!(run.status, RunStatus::NotRun { .. }) || run.host == Host::Simulator {
        return Ok(None);
    }
    let Some(record) = &run.schedule else { return Ok(None) };
    let (Some(reader), Some(rows)) = (kept.open_events(run.id)?, kept.read_activities(run.id)?) else {
        return Ok(None);
    };
    let platform = manifest.platform.as_ref().ok_or_else(|| {
        Diagnostic::usage("the manifest does not say on which platform the runs were made")
            .hint("use a results directory as this version of laxity wrote it")
    })?;
    let platform = Platform::from_json_value(platform, "platform")
        .map_err(|error| error.context("the manifest's platform"))?;
    let definition = Terms::of(record)?.definition(run, &platform, record.end_ns)?;
    let events = reader.events().collect::<Result<Vec<Event>>>()?;
    let activities = rows.iter().map(activity).collect::<Result<Vec<_>>>()?;
    let late = Duration::from_ns(record.longest_way_ns);
    Ok(Some(verify_kept(&definition, &events, &activities, late, record.end_ns)))
}

fn activity(row: &KernelActivity) -> Result<Activity> {
    let cause = Cause::named(&row.cause).ok_or_else(|| {
        Diagnostic::usage(format!("`{}` is no activity of a kernel that is known", row.cause))
            .hint("use activities as this version of laxity wrote them")
    })?;
    let about = match (row.released, row.task) {
        (Some((first, last)), _) => About::Released(first, last),
        (None, Some(task)) => About::Task(task),
        (None, None) => About::Cpu,
    };
    Ok(Activity { from_ns: row.from_ns, to_ns: row.to_ns, cpu: row.cpu, cause, about })
}
