//! Measured schedulers, simulated: the same jobs on the same CPUs, with nothing in between but the costs of a file.
//! Schedulers that cannot be measured are simulated in the same way.

use super::mechanics::Mechanics;
use super::progress::watching;
use super::runs::not_simulated;
use super::simulated::{Control, Keep, Simulation};
use super::tasks_of;
use crate::case::{CaseSettings, expected_jobs, reason};
use crate::in_order::in_order;
use crate::observer::Observer;
use crate::placing::{BelowServers, Placed};
use laxity_model::{BudgetMode, Duration, Platform, PolicyScheduler, Result, TaskSet};
use laxity_trace::{Host, Run, RunStatus};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// One measured run to be simulated.
pub struct Beside<'a> {
    /// The measured run; the simulated one gets its set, scheduler, repetition and length.
    pub run: &'a Run,
    /// Its task set.
    pub set: &'a TaskSet,
    /// What simulates its scheduler.
    pub scheduler: PolicyScheduler,
    /// Where its tasks are.
    pub placed: &'a Placed,
    /// How much longer than `run.duration` jobs may run.
    pub grace: Duration,
    /// What happens to jobs that exceed their WCET.
    pub budgets: Budgets,
    /// Seed of its jobs.
    pub seed: u64,
}

/// What happens to jobs that exceed their WCET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budgets {
    /// They run on, as under SCHED_FIFO; or there are none.
    None,
    /// They are throttled, as under SCHED_DEADLINE.
    Throttled,
    /// As laxity's own policies are told.
    OfPolicy,
}

/// What all runs have in common.
pub struct Conditions<'a> {
    /// What jobs ask for, what they are below, and what changes.
    pub of_cases: &'a CaseSettings,
    /// The machine as demands see it.
    pub platform: &'a Platform,
    /// Costs and the rest; what happens to a job that exceeds its budget is up to [`Beside::budgets`], and its mode is for
    /// laxity's own policies.
    pub mechanics: &'a Mechanics,
}

/// Simulates runs on all CPUs of this machine, those of Linux's schedulers under Linux's structure (push and pull). The
/// runs come back in their order, with ids from `first_id` on.
pub fn simulate_beside(
    cases: &[Beside<'_>],
    conditions: &Conditions<'_>,
    first_id: u32,
    observer: &dyn Observer,
    interrupt: &AtomicBool,
    mut take: impl FnMut(Run) -> Result<()>,
) -> Result<()> {
    let (control, nothing_below) = (Control::default(), BelowServers::default());
    let work = |index: usize| {
        let beside = &cases[index];
        let mechanics = mechanics_of(beside, conditions.mechanics);
        let below = if beside.scheduler.policy.has_servers() {
            &conditions.of_cases.placement.below
        } else {
            &nothing_below
        };
        let simulation = Simulation {
            set: beside.set,
            platform: conditions.platform,
            scheduler: beside.scheduler,
            cells: beside.placed.cells.clone(),
            duration: beside.run.duration,
            grace: beside.grace,
            seed: beside.seed,
            demand: conditions.of_cases.demand,
            below,
            changes: &conditions.of_cases.changes,
            mechanics: &mechanics,
            ordinary: beside.placed.ordinary.clone(),
        };
        let id = first_id + u32::try_from(index).expect("runs are far fewer than 2^32");
        simulated(id, beside, &simulation, &control)
    };
    let expected = cases.iter().map(|beside| expected_jobs(beside.set, beside.run.duration)).sum();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    watching(&control, interrupt, expected, observer, || {
        in_order(cases.len(), threads, work, |_, run| take(run))
    })
}

/// What of all that the runs were told is for this one.
fn mechanics_of(beside: &Beside<'_>, all: &Mechanics) -> Mechanics {
    let budget_mode = match beside.budgets {
        Budgets::None => BudgetMode::Off,
        Budgets::Throttled => BudgetMode::Throttle,
        Budgets::OfPolicy => all.budget_mode,
    };
    Mechanics { budget_mode, ..all.clone() }
}

fn simulated(id: u32, beside: &Beside<'_>, simulation: &Simulation<'_>, control: &Control) -> Run {
    let mut notes = simulation.mechanics.notes(simulation.platform);
    notes.extend(simulation.mechanics.costs.notes(tasks_of(simulation.set)));
    notes.extend(match (beside.budgets, simulation.mechanics.budget_mode) {
        (Budgets::None, _) => None,
        (Budgets::Throttled, _) => {
            Some("simulated with budgets of exactly the WCET; Linux had them with a margin".to_owned())
        }
        (Budgets::OfPolicy, BudgetMode::Off) => {
            Some("simulated without budgets: a job that exceeds its WCET runs on".to_owned())
        }
        (Budgets::OfPolicy, _) => {
            Some("simulated with budgets of exactly the WCET; in the kernel they have a margin".to_owned())
        }
    });
    let mut run = Run {
        id,
        host: Host::Simulator,
        placement: Some(beside.placed.record.clone()),
        grace: beside.grace,
        not_measured: not_simulated(simulation.mechanics),
        notes,
        status: RunStatus::Completed,
        jobs: Vec::new(),
        // What the kernel did is none of the simulator's.
        kernel_counters: BTreeMap::new(),
        overruns: None,
        job_count: None,
        schedule: None,
        disturbance: None,
        quiet: None,
        ..beside.run.clone()
    };
    match simulation.simulate(Keep { jobs: true, ..Keep::default() }, control) {
        Ok(simulated) => (run.status, run.jobs) = (simulated.status, simulated.jobs),
        Err(error) => {
            run.status = RunStatus::NotRun { reason: reason(&error) };
            run.not_measured = BTreeMap::new();
        }
    }
    run
}
