//! The runs of an experiment, one after the other, and the simulations beside them.

use super::checks::alone_duration;
use super::parts::{self, Part};
use super::repeating::Repeating;
use super::runs::Work;
use super::work::{self, Workload};
use super::{Bench, DemandModel, Settings, overruns, schedule};
use crate::case::{Case, Cases, reason};
use crate::observer::Steps;
use crate::overheads::Subject;
use crate::simulation::{Beside, Budgets, Conditions, simulate_beside};
use laxity_model::{Duration, Platform, Result, TaskSet, plural};
use laxity_run::{JobOrder, Plan, Progress, RunRecords};
use laxity_trace::{
    ExcuseLimits, NOT_SIMULATED, NOT_VERIFIED, QuietRecord, ResultsDirectory, Run, RunStatus, RunSummary,
    VerdictState, VerificationRecord,
};
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

/// Everything that runs need while they are made.
pub(super) struct Laboratory<'a> {
    pub(super) cases: &'a Cases<'a>,
    pub(super) settings: &'a Settings,
    pub(super) parts: &'a [Part<'a>],
    pub(super) workload: &'a Workload,
    pub(super) bench: &'a Bench,
    pub(super) repeating: Repeating,
    /// This is a virtual machine.
    pub(super) is_virtual: bool,
}

impl Laboratory<'_> {
    pub(super) fn make_all(&self, runs: &[(Run, Work)], directory: &mut ResultsDirectory) -> Result<()> {
        let mut said = Vec::new();
        self.announce(runs);
        let possible = runs.iter().filter(|(_, work)| !matches!(work, Work::Nothing(_))).count();
        let mut steps = Steps::new(possible, &*self.settings.runs.caller.observer);
        for (planned, work) in runs {
            let mut run = planned.clone();
            if !matches!(work, Work::Nothing(_)) {
                if self.cases.interrupt.load(SeqCst) {
                    run.status = RunStatus::NotRun { reason: "interrupted before this run".into() };
                } else {
                    self.make(&mut run, *work, &mut steps, directory.path())?;
                    self.say_not_recorded(&run, &mut said);
                    self.say_quiet(&run, &mut said);
                }
            }
            directory.append_run(&run)?;
        }
        Ok(())
    }

    /// Simulates the same jobs in the same places. Comes last: nothing else is to run beside measurements.
    pub(super) fn simulate_beside(
        &self,
        runs: &[(Run, Work)],
        directory: &mut ResultsDirectory,
    ) -> Result<()> {
        let Some(mechanics) = self.settings.simulate.as_ref().filter(|_| !self.cases.interrupt.load(SeqCst))
        else {
            return Ok(());
        };
        let measured = directory.manifest().runs.clone();
        let made = |id: u32| measured.iter().find(|run| run.id == id);
        let mut cases = Vec::new();
        for (planned, part) in runs.iter().filter_map(|(run, work)| Some((run, work.part()?))) {
            let Case { set, scheduler, placed: Ok(placed), .. } = &self.parts[part].case else { continue };
            let run = made(planned.id).unwrap_or(planned);
            let grace = match run.grace {
                Duration::ZERO => self.settings.runs.grace.unwrap_or_else(|| set.default_grace()),
                grace => grace,
            };
            let seed = self.settings.runs.seed.wrapping_add(u64::from(run.repetition));
            // The others say themselves why they are not simulated.
            let Ok(model) = scheduler.model() else { continue };
            let budgets = match scheduler.linux() {
                _ if !work::may_exceed_wcet(set, self.cases.settings.demand) => Budgets::None,
                Some(linux) if linux.has_reservations() => Budgets::Throttled,
                Some(_) => Budgets::None,
                None => Budgets::OfPolicy,
            };
            cases.push(Beside { run, set, scheduler: model, placed, grace, budgets, seed });
        }
        let first = u32::try_from(runs.len()).expect("runs are far fewer than 2^32");
        let of_cases = self.cases.settings;
        let platform = self.settings.platform_of_demand(of_cases.platform())?;
        let machine = Conditions { of_cases, platform: &platform, mechanics };
        let observer = &*self.settings.runs.caller.observer;
        if !cases.is_empty() {
            observer.note(&format!("simulating the same jobs: {}", plural(cases.len(), "run")));
        }
        simulate_beside(&cases, &machine, first, observer, self.cases.interrupt, |run| {
            directory.append_run(&run)
        })
    }

    fn make(&self, run: &mut Run, work: Work, steps: &mut Steps<'_>, directory: &Path) -> Result<()> {
        let set = &self.cases.sets[run.set as usize];
        let Some((plan, orders)) = self.orders(run, work)? else { return Ok(()) };
        run.duration = plan.duration;
        run.grace = plan.grace;
        let deadlines: Vec<Duration> =
            plan.tasks.iter().map(|task| set.tasks()[task.id].deadline_rel).collect();
        let step = steps.begin(&format!("{} {}", run.scheduler, set.name()));
        let mut show = |progress: Progress| {
            step.show(progress.finished, progress.total, &plural(progress.missed, "miss"));
        };
        let mut execute = || {
            laxity_run::execute(&self.bench.lock, &plan, &orders, &deadlines, self.cases.interrupt, &mut show)
        };
        let (executed, recorded) = match (&self.bench.measuring, work.part()) {
            (Some(measuring), Some(part)) => {
                measuring.during(directory, &self.subject(run, part, set), execute)
            }
            _ => {
                let again =
                    |share: &str| step.phase(&format!("again, because others had {share} of the CPUs"));
                (self.repeating.least_disturbed(&mut execute, again), Ok(()))
            }
        };
        match executed {
            Ok(executed) => {
                run.disturbance = executed.disturbance;
                run.quiet = executed.quiet;
                run.status = executed.status;
                run.not_measured = executed.not_measured;
                run.not_measured
                    .extend(self.not_simulated(work).map(|why| (NOT_SIMULATED.into(), why.into())));
                run.notes = executed.notes;
                run.kernel_counters = executed.counters;
                run.overruns = executed.overruns.map(overruns::records);
                run.jobs = executed.jobs;
                if let Some(records) = executed.records {
                    step.phase("verifying the schedule");
                    self.keep_schedule(run, &plan, (&records, work.part()), directory);
                }
                run.notes.extend(overruns::note(run, set));
            }
            // The others may run all the same.
            Err(error) => run.status = RunStatus::NotRun { reason: reason(&error) },
        }
        if let Err(why) = recorded {
            run.notes.push(format!("overheads were not recorded: {}", reason(&why)));
        }
        step.end(Some(&outcome(run, set, self.cases.settings.platform())?));
        Ok(())
    }

    /// Why a run is not simulated, too, although that is wanted.
    fn not_simulated(&self, work: Work) -> Option<&'static str> {
        self.settings.simulate.as_ref()?;
        self.parts[work.part()?].case.scheduler.scheduler.model().err()
    }

    /// Makes a schedule of the records, and keeps it with what the oracles say of it and why jobs missed.
    fn keep_schedule(
        &self,
        run: &mut Run,
        plan: &Plan,
        (records, part): (&RunRecords, Option<usize>),
        directory: &Path,
    ) {
        let set = &self.cases.sets[run.set as usize];
        if let Some(overruns) = &mut run.overruns {
            overruns::count_throttled(overruns, plan, records);
        }
        let machine = schedule::Taken {
            platform: self.cases.settings.platform(),
            is_virtual: self.is_virtual,
            demand_is_work: self.settings.demand_model == DemandModel::Work,
        };
        match schedule::keep(directory, run, set, plan, &machine, records) {
            Ok(Ok(mut record)) => {
                for budget in &mut record.budgets_used_up {
                    let margin = Duration::from_ns(budget.margin_ns);
                    budget.refused = part.and_then(|part| {
                        let case = &self.parts[part].case;
                        parts::refused(self.cases, self.settings, &self.bench.capabilities, case, margin)
                    });
                }
                run.schedule = Some(record);
            }
            Ok(Err(why)) => {
                run.not_measured.insert(NOT_VERIFIED.into(), why);
            }
            Err(error) => {
                run.not_measured.insert(laxity_run::SCHEDULE.into(), reason(&error));
            }
        }
    }

    /// What overheads are recorded of.
    fn subject<'a>(&'a self, run: &Run, part: usize, set: &'a TaskSet) -> Subject<'a> {
        Subject {
            run: run.id,
            scheduler: self.parts[part].case.scheduler,
            set: set.name(),
            tasks: u32::try_from(set.real_time().count()).unwrap_or(u32::MAX),
            cpus: u32::try_from(self.cases.settings.platform().core_count()).unwrap_or(u32::MAX),
            seed: self.settings.runs.seed,
        }
    }

    /// What a run executes: the plan, and the jobs of its tasks.
    fn orders(&self, run: &Run, work: Work) -> Result<Option<(Plan, Vec<Vec<JobOrder>>)>> {
        let (set, settings) = (&self.cases.sets[run.set as usize], self.settings);
        let seed = settings.runs.seed.wrapping_add(u64::from(run.repetition));
        match work {
            Work::Nothing(_) => Ok(None),
            Work::Alone => {
                let cpu = self.cases.settings.platform().cores().last().expect("a platform has CPUs").cpu;
                let order = |id, index| self.workload.order_of(set, id, index, seed);
                let alone = laxity_run::alone(
                    set,
                    cpu,
                    settings.alone.unwrap_or_default(),
                    settings.runs.seed,
                    order,
                );
                alone.map(|(plan, orders)| Some((Plan { quiet: settings.quiet_machine, ..plan }, orders)))
            }
            Work::Together(part) => {
                let Ok(mut plan) = self.parts[part].plan.clone() else { return Ok(None) };
                plan.recorded = settings.record;
                plan.quiet = settings.quiet_machine;
                let orders =
                    |task: &laxity_run::PlannedTask| self.workload.orders(set, task.id, seed, plan.duration);
                let orders = plan.tasks.iter().map(orders).collect();
                Ok(Some((plan, orders)))
            }
        }
    }

    /// Says why a schedule was not recorded: each reason once.
    fn say_not_recorded(&self, run: &Run, said: &mut Vec<String>) {
        if let Some(why) = run.not_measured.get(laxity_run::SCHEDULE).filter(|why| !said.contains(why)) {
            self.settings.runs.caller.observer.warn(&format!(
                "note: schedules of {} are not recorded, and so not verified: {why}",
                run.scheduler
            ));
            said.push(why.clone());
        }
    }

    /// Says what was set on the machine for a run and what could not be: each once.
    fn say_quiet(&self, run: &Run, said: &mut Vec<String>) {
        let Some(QuietRecord { set, not_set }) = &run.quiet else { return };
        let set = set.iter().map(|what| format!("quiet machine: {what}"));
        let not_set = not_set.iter().map(|what| format!("quiet machine, not set: {what}"));
        for words in set.chain(not_set) {
            if !said.contains(&words) {
                self.settings.runs.caller.observer.detail(&words);
                said.push(words);
            }
        }
    }

    fn announce(&self, runs: &[(Run, Work)]) {
        let together = runs.iter().filter(|(_, work)| matches!(work, Work::Together(_))).count();
        let alone: Duration = runs
            .iter()
            .filter(|(_, work)| *work == Work::Alone)
            .filter_map(|(run, _)| {
                alone_duration(&self.cases.sets[run.set as usize], self.settings.alone?).ok()
            })
            .sum();
        let duration = self.settings.runs.duration;
        // Starting, stopping and the last jobs take a little longer.
        let total = alone.as_secs_f64() + (duration.as_secs_f64() + 0.3) * together as f64;
        self.settings.runs.caller.observer.note(&format!(
            "{}, {}, {} of {duration}: about {total:.0} s",
            plural(self.cases.sets.len(), "task set"),
            plural(self.cases.schedulers.len(), "scheduler"),
            plural(together, "run"),
        ));
    }
}

/// What the oracles said of its schedule.
fn checked(verification: &VerificationRecord) -> String {
    match (verification.violations_count(), &verification.extent) {
        (0, Some(extent)) if verification.state == Some(VerdictState::Excused) => {
            let why = ExcuseLimits::DEFAULT.exceeded(extent).unwrap_or_default();
            format!(", no verdict on the schedule, too much is excused ({why})")
        }
        (0, _) => ", schedule as defined".to_owned(),
        (count, _) => format!(", {} of the schedule's definition", plural(count, "violation")),
    }
}

/// One line on how a run went.
fn outcome(run: &Run, set: &TaskSet, platform: &Platform) -> Result<String> {
    Ok(match &run.status {
        RunStatus::NotRun { reason } => format!("not run: {reason}"),
        status => {
            let summary = RunSummary::of(run, set, platform.core_count())?;
            let tardy = match summary.tardiness_ns.map_or(0, |tardiness| tardiness.max) {
                0 => String::new(),
                // No finer than a clock read in user space tells.
                ns => format!(", max tardiness {}", Duration::from_ns(ns.next_multiple_of(1_000))),
            };
            let early = if *status == RunStatus::Completed { "" } else { " (cut short)" };
            let checked = run.schedule.as_ref().map(|schedule| checked(&schedule.verification));
            let apart = [(summary.counts.aborted, "aborted"), (summary.counts.skipped, "skipped")];
            let apart = apart.iter().filter(|(count, _)| *count > 0);
            let apart: String = apart.map(|(count, what)| format!(", {count} {what}")).collect();
            format!(
                "{}, {}{apart}{tardy}{early}{}",
                plural(summary.counts.jobs, "job"),
                plural(summary.counts.misses, "miss"),
                checked.unwrap_or_default()
            )
        }
    })
}
