//! Schedulers with one defect each: the oracle that is meant to catch it does, on small random sets.

use crate::random::{ANY, Case, Wish, case};
use laxity_model::PriorityRule;
use laxity_oracle::{ActiveJob, BudgetRule, Cluster, Decisions, Definition, Oracle, scheduled_by, verify};

/// Defines a scheduler that differs from the textbook in one decision.
macro_rules! defect {
    ($name:ident, $($method:item)*) => {
        struct $name;
        impl Decisions for $name { $($method)* }
    };
}

defect!(
    TiesByHigherId,
    fn tie(&self, job: &ActiveJob) -> u32 {
        u32::MAX - job.task
    }
);
defect!(
    NeverPreempts,
    fn selected<'a>(&self, mut ready: Vec<&'a ActiveJob>, cpus: usize) -> Vec<&'a ActiveJob> {
        ready.sort_by_key(|job| job.running_on.is_none());
        ready.truncate(cpus);
        ready
    }
);
defect!(
    LeavesOneCpuIdle,
    fn selected<'a>(&self, mut ready: Vec<&'a ActiveJob>, cpus: usize) -> Vec<&'a ActiveJob> {
        ready.truncate(cpus - 1);
        ready
    }
);
defect!(
    UsesAnotherCluster,
    fn cpus(&self, definition: &Definition, cluster: &Cluster) -> Vec<u32> {
        let clusters = definition.clusters();
        let index = clusters.iter().position(|other| other == cluster).expect("one of them");
        clusters[(index + 1) % clusters.len()].task_cpus().iter().collect()
    }
);
defect!(
    UsesDedicatedCpu,
    fn cpus(&self, _: &Definition, cluster: &Cluster) -> Vec<u32> {
        cluster.cpus.iter().collect()
    }
);
defect!(
    OrdersByRelativeDeadline,
    fn key(&self, _: &Definition, job: &ActiveJob) -> u64 {
        job.deadline_abs_ns - job.release_ns
    }
);
defect!(
    FirstComeFirstServed,
    fn key(&self, _: &Definition, job: &ActiveJob) -> u64 {
        job.release_ns
    }
);
defect!(
    LatestDeadlineFirst,
    fn key(&self, _: &Definition, job: &ActiveJob) -> u64 {
        u64::MAX - job.server_deadline_abs_ns
    }
);
defect!(
    PeriodsForDeadlines,
    fn key(&self, definition: &Definition, job: &ActiveJob) -> u64 {
        definition.set().tasks()[job.task as usize].period().as_ns()
    }
);
defect!(
    LargerNumbersFirst,
    fn key(&self, definition: &Definition, job: &ActiveJob) -> u64 {
        u64::MAX - definition.key(job.task, 0)
    }
);
defect!(
    ForgetsServerDeadlines,
    fn key(&self, definition: &Definition, job: &ActiveJob) -> u64 {
        definition.key(job.task, job.deadline_abs_ns)
    }
);
defect!(
    JobsOverlap,
    fn is_ready(&self, job: &ActiveJob, now: u64) -> bool {
        job.has_budget_at <= now
    }
);
defect!(
    RunsThrottledJobs,
    fn is_ready(&self, job: &ActiveJob, _: u64) -> bool {
        job.predecessor_complete
    }
);
defect!(
    DecidesByTicks,
    fn decides(&self, now: u64) -> bool {
        now.is_multiple_of(2_000)
    }
);
defect!(
    NeverMigratesQueues,
    fn selected<'a>(&self, ready: Vec<&'a ActiveJob>, cpus: usize) -> Vec<&'a ActiveJob> {
        let first = |cpu: usize| ready.iter().find(|job| job.task as usize % cpus == cpu).copied();
        (0..cpus).filter_map(first).collect()
    }
);
defect!(
    IgnoresBudgets,
    fn budget_mode(&self, _: &Definition) -> BudgetRule {
        BudgetRule::OFF
    }
);
defect!(
    PostponesInsteadOfThrottling,
    fn budget_mode(&self, _: &Definition) -> BudgetRule {
        BudgetRule::POSTPONE
    }
);
defect!(
    ThrottlesInsteadOfPostponing,
    fn budget_mode(&self, _: &Definition) -> BudgetRule {
        BudgetRule::THROTTLE
    }
);
defect!(
    ReplenishesEarly,
    fn replenishment(&self, server: u64, period: u64) -> u64 {
        server + period - 1
    }
);
defect!(
    ReplenishesLate,
    fn replenishment(&self, server: u64, period: u64) -> u64 {
        server + period + 1
    }
);
defect!(
    FullBudgetForEveryJob,
    fn keeps_leftover(&self) -> bool {
        false
    }
);
defect!(
    KeepsDeadlineWhenPostponed,
    fn postponed(&self, deadline_abs: u64, _: u64) -> u64 {
        deadline_abs
    }
);

type Defect = (&'static str, Box<dyn Decisions>, Wish, Oracle);

fn defects() -> Vec<Defect> {
    use Oracle::*;
    use PriorityRule::{DeadlineMonotonic, EarliestDeadlineFirst, Given};
    let rule = |rule| Wish { rule: Some(rule), ..ANY };
    let edf = rule(EarliestDeadlineFirst);
    let budgets = |mode| Wish { budget_mode: Some(mode), ..edf };
    let off = Wish { budget_mode: Some(BudgetRule::OFF), ..ANY };
    let (throttle, postpone) = (budgets(BudgetRule::THROTTLE), budgets(BudgetRule::POSTPONE));
    let two = Wish { cpus_min: 2, ..ANY };
    vec![
        ("ties by the higher id", Box::new(TiesByHigherId), Wish { plain: true, ..ANY }, GlobalInvariant),
        ("never preempts", Box::new(NeverPreempts), ANY, GlobalInvariant),
        ("leaves one CPU idle", Box::new(LeavesOneCpuIdle), two, WorkConservation),
        ("uses another cluster", Box::new(UsesAnotherCluster), Wish { clustered: true, ..ANY }, Affinity),
        ("uses the dedicated CPU", Box::new(UsesDedicatedCpu), Wish { dedicated: true, ..ANY }, Affinity),
        ("orders by relative deadline", Box::new(OrdersByRelativeDeadline), edf, GlobalInvariant),
        ("first come first served", Box::new(FirstComeFirstServed), edf, GlobalInvariant),
        ("latest deadline first", Box::new(LatestDeadlineFirst), edf, GlobalInvariant),
        ("periods for deadlines", Box::new(PeriodsForDeadlines), rule(DeadlineMonotonic), GlobalInvariant),
        ("larger numbers first", Box::new(LargerNumbersFirst), rule(Given), GlobalInvariant),
        ("forgets server deadlines", Box::new(ForgetsServerDeadlines), throttle, GlobalInvariant),
        ("jobs overlap", Box::new(JobsOverlap), off, Sequence),
        ("runs throttled jobs", Box::new(RunsThrottledJobs), throttle, Budgets),
        ("decides by ticks", Box::new(DecidesByTicks), ANY, WorkConservation),
        ("queues without migration", Box::new(NeverMigratesQueues), two, WorkConservation),
        ("ignores budgets", Box::new(IgnoresBudgets), throttle, Budgets),
        ("postpones instead of throttling", Box::new(PostponesInsteadOfThrottling), throttle, Budgets),
        ("throttles instead of postponing", Box::new(ThrottlesInsteadOfPostponing), postpone, Budgets),
        ("replenishes early", Box::new(ReplenishesEarly), throttle, Budgets),
        ("replenishes late", Box::new(ReplenishesLate), throttle, Budgets),
        ("full budget for every job", Box::new(FullBudgetForEveryJob), postpone, Budgets),
        (
            "keeps the deadline when postponed",
            Box::new(KeepsDeadlineWhenPostponed),
            postpone,
            GlobalInvariant,
        ),
    ]
}

const SEEDS: u64 = 60;

#[test]
fn every_defect_is_caught_by_its_oracle() {
    let mut escaped = Vec::new();
    for (name, decisions, wish, oracle) in defects() {
        let caught = (0..SEEDS).filter(|&seed| {
            let Case { definition, end, .. } = case(seed, wish);
            let schedule = scheduled_by(&*decisions, &definition, &definition.jobs(), end);
            // A defect may make a trace that is not even well-formed; the oracle then need not see it.
            schedule.is_ok_and(|schedule| verify(&definition, &schedule.events, end).count(oracle) > 0)
        });
        let caught: Vec<u64> = caught.collect();
        println!("{name:36} {:18} caught with {} of {SEEDS} seeds", oracle.name(), caught.len());
        if caught.first().is_none_or(|&first| first > 20) {
            escaped.push(name);
        }
    }
    assert!(escaped.is_empty(), "{escaped:?}");
}
