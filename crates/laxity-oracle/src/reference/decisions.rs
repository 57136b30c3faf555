//! The decisions of the reference scheduler, one method each: the textbook by default, something else in a mutant.

use crate::{BudgetRule, Cluster, Definition};

/// A job that has been released and is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveJob {
    /// Id of its task.
    pub task: u32,
    /// Number in its task, from 0.
    pub job: u32,
    /// When it was released.
    pub release_ns: u64,
    /// Release plus D.
    pub deadline_abs_ns: u64,
    /// The deadline it is scheduled by, which budgets may have moved.
    pub server_deadline_abs_ns: u64,
    /// Whether the job before it is complete.
    pub predecessor_complete: bool,
    /// From when on it has budget.
    pub has_budget_at: u64,
    /// Where it runs.
    pub running_on: Option<u32>,
    pub(crate) work_left_parts: u128,
    pub(crate) started: bool,
    pub(crate) throttled: bool,
    /// When its laxity ran out, if it did while the job waited.
    pub(crate) urgent: Option<u64>,
}

/// What the reference scheduler decides. The provided methods are the textbook; a test that wants a broken scheduler
/// overrides one of them.
pub trait Decisions {
    /// Whether a released job may run: the job before it is complete, and it has budget.
    fn is_ready(&self, job: &ActiveJob, now: u64) -> bool {
        job.predecessor_complete && job.has_budget_at <= now
    }

    /// The number by which jobs are ordered, the smallest first.
    fn key(&self, definition: &Definition, job: &ActiveJob) -> u64 {
        job.urgent.unwrap_or_else(|| definition.key(job.task, job.server_deadline_abs_ns))
    }

    /// Whether a job that waits and has no laxity left goes before those that have some.
    fn minds_laxity(&self, definition: &Definition) -> bool {
        definition.minds_laxity()
    }

    /// What decides among equal keys, the smallest first.
    fn tie(&self, job: &ActiveJob) -> u32 {
        job.task
    }

    /// Those of the cluster's ready jobs, highest priority first, that run on its `cpus` CPUs.
    fn selected<'a>(&self, ready: Vec<&'a ActiveJob>, cpus: usize) -> Vec<&'a ActiveJob> {
        ready.into_iter().take(cpus).collect()
    }

    /// The CPUs that the cluster's jobs are put on.
    fn cpus(&self, definition: &Definition, cluster: &Cluster) -> Vec<u32> {
        let _ = definition;
        cluster.task_cpus().iter().collect()
    }

    /// Whether a decision is made at this instant, at which something happened.
    fn decides(&self, now: u64) -> bool {
        let _ = now;
        true
    }

    /// What happens when a budget is used up.
    fn budget_mode(&self, definition: &Definition) -> BudgetRule {
        definition.budgets()
    }

    /// When a server whose period began at `server` is replenished, counted from there.
    fn replenishment(&self, server: u64, period: u64) -> u64 {
        server + period
    }

    /// Whether a job that arrives while its server still has budget keeps what is left.
    fn keeps_leftover(&self) -> bool {
        true
    }

    /// The deadline by which a postponed job is scheduled from now on.
    fn postponed(&self, deadline_abs: u64, period: u64) -> u64 {
        deadline_abs + period
    }
}

/// The textbook.
#[derive(Debug, Clone, Copy)]
pub struct Textbook;

impl Decisions for Textbook {}
