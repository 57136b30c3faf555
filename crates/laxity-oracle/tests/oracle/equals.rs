//! Where tasks share priorities of SCHED_FIFO, oracles accept any order among equals, and no other.

use crate::random::{ANY, Case, Wish, case};
use laxity_model::PriorityRule;
use laxity_oracle::{ActiveJob, Decisions, Definition, Oracle, scheduled_by, verify};

struct LastOfEquals;
impl Decisions for LastOfEquals {
    fn tie(&self, job: &ActiveJob) -> u32 {
        u32::MAX - job.task
    }
}

/// As the kernel has it.
struct FirstReleasedOfEquals;
impl Decisions for FirstReleasedOfEquals {
    fn tie(&self, job: &ActiveJob) -> u32 {
        u32::try_from(job.release_ns).expect("short schedules")
    }
}

struct LargerNumbersFirst;
impl Decisions for LargerNumbersFirst {
    fn key(&self, definition: &Definition, job: &ActiveJob) -> u64 {
        u64::MAX - definition.key(job.task, job.server_deadline_abs_ns)
    }
}

/// With how many of so many seeds a scheduler is accused: by the definition with a total order, and by that of SCHED_FIFO.
fn accused(decisions: &dyn Decisions, rule: PriorityRule, seeds: u64) -> (u64, u64) {
    let (mut strictly, mut as_fifo) = (0, 0);
    for seed in laxity_seeds::seeds!(0..seeds) {
        let Case { definition, end, .. } = case(seed, Wish { rule: Some(rule), ..ANY });
        let schedule = scheduled_by(decisions, &definition, &definition.jobs(), end).expect("a schedule");
        let count = |definition: &Definition| {
            let verdict = verify(definition, &schedule.events, end);
            verdict.count(Oracle::GlobalInvariant) + verdict.count(Oracle::WorkConservation)
        };
        strictly += u64::from(count(&definition) > 0);
        as_fifo += u64::from(count(&definition.clone().with_fifo_levels()) > 0);
    }
    (strictly, as_fifo)
}

#[test]
fn any_order_among_equals_is_accepted() {
    for (name, decisions) in
        [("last", &LastOfEquals as &dyn Decisions), ("first released", &FirstReleasedOfEquals)]
    {
        let (strictly, as_fifo) = accused(decisions, PriorityRule::Given, 400);
        assert_eq!(as_fifo, 0, "{name}");
        laxity_seeds::assert_together!(strictly > 100, "{name}: {strictly}");
    }
}

#[test]
fn the_order_of_priorities_is_not_free() {
    let (strictly, as_fifo) = accused(&LargerNumbersFirst, PriorityRule::Given, 100);
    assert!(as_fifo <= strictly, "{strictly} {as_fifo}");
    laxity_seeds::assert_together!(as_fifo > 50, "{as_fifo}");
}

/// Tasks with equal periods have priorities of their own.
#[test]
fn ties_of_rate_monotonic_tasks_are_not_free() {
    let (strictly, as_fifo) = accused(&LastOfEquals, PriorityRule::RateMonotonic, 100);
    assert_eq!(strictly, as_fifo);
    laxity_seeds::assert_together!(strictly > 20, "{strictly}");
    let edf = PriorityRule::EarliestDeadlineFirst;
    let (strictly, as_fifo) = accused(&LastOfEquals, edf, 100);
    assert_eq!(strictly, as_fifo, "nothing changes under EDF");
}
