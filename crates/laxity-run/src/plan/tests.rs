use super::fifo::TASK_PRIORITY_MIN;
use super::*;
use crate::limits::KernelServer;
use laxity_model::{Cell, PriorityRule, Scheduler, Scope, Task};

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn set(tasks: &[(u64, u64)]) -> TaskSet {
    let task =
        |(id, &(wcet, period)): (usize, &(u64, u64))| Task::periodic(format!("t{id}"), ms(wcet), ms(period));
    TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("valid")
}

fn cell(cpus: &str, tasks: &[usize]) -> Cell {
    Cell::new(cpus.parse().expect("valid list"), tasks.to_vec())
}

fn options() -> PlanOptions {
    PlanOptions {
        duration: ms(1000),
        grace: None,
        on_miss: OnMiss::Continue,
        busy: 0,
        budget_margin: BudgetMargin::default(),
        seed: 0,
    }
}

fn make(set: &TaskSet, rule: PriorityRule, cells: &[Cell]) -> Result<Plan> {
    let scheduler = Scheduler { scope: Scope::Partitioned, rule };
    plan(set, scheduler, cells, &CpuList::first(2), KernelLimits::default(), options())
}

#[test]
fn rate_monotonic_priorities_follow_period_then_id() {
    let set = set(&[(1, 20), (1, 10), (1, 20), (1, 5)]);
    let plan = make(&set, PriorityRule::RateMonotonic, &[cell("0-1", &[0, 1, 2, 3])]).expect("fits");
    let priorities: Vec<Policy> = plan.tasks.iter().map(|task| task.policy).collect();
    assert_eq!(priorities, [96, 97, 95, 98].map(|priority| Policy::Fifo { priority }));
    assert_eq!(plan.confinement, Confinement::WholeMachine);
}

#[test]
fn more_tasks_than_priorities_share_levels_in_order() {
    let tasks: Vec<(u64, u64)> = (0..300).map(|id| (1, 1000 - id)).collect();
    let set = set(&tasks);
    let all: Vec<usize> = (0..300).collect();
    let plan = make(&set, PriorityRule::RateMonotonic, &[cell("0-1", &all)]).expect("fits");
    let level = |id: usize| match plan.tasks[id].policy {
        Policy::Fifo { priority } => priority,
        _ => panic!("RM runs on SCHED_FIFO"),
    };
    assert_eq!((level(299), level(0)), (TASK_PRIORITY_MAX, TASK_PRIORITY_MIN));
    assert!((1..300).all(|id| level(id) >= level(id - 1)), "a shorter period never has a lower priority");
    assert!(plan.notes[0].contains("300 tasks share 97"));
}

fn fifo(plan: &Plan) -> Vec<u32> {
    let priority = |task: &PlannedTask| match task.policy {
        Policy::Fifo { priority } => priority,
        _ => panic!("fixed priorities run on SCHED_FIFO"),
    };
    plan.tasks.iter().map(priority).collect()
}

#[test]
fn deadline_monotonic_priorities_follow_deadline_then_id() {
    let task = |name: &str, deadline, period| Task {
        deadline_rel: ms(deadline),
        ..Task::periodic(name, ms(1), ms(period))
    };
    // The shorter the period, the longer the deadline.
    let tasks = vec![task("a", 20, 20), task("b", 10, 30), task("c", 20, 25), task("d", 5, 40)];
    let set = TaskSet::new("set", tasks).expect("valid");
    let in_order = make(&set, PriorityRule::DeadlineMonotonic, &[cell("0-1", &[0, 1, 2, 3])]).expect("fits");
    assert_eq!(fifo(&in_order), [96, 97, 95, 98]);
    assert!(in_order.notes.is_empty(), "{:?}", in_order.notes);
    let turned = make(&set, PriorityRule::DeadlineMonotonic, &[cell("0-1", &[3, 2, 1, 0])]).expect("fits");
    assert_eq!(fifo(&turned), [98, 95, 97, 96], "ties go by id, whatever the order in the cell");
    let apart = make(&set, PriorityRule::DeadlineMonotonic, &[cell("0", &[0, 2]), cell("1", &[1, 3])]);
    assert_eq!(fifo(&apart.expect("fits")), [98, 97, 97, 98], "each cell has its own");
}

/// Tasks with these priorities.
fn given(priorities: impl IntoIterator<Item = u32>) -> TaskSet {
    let task = |(id, priority)| Task {
        priority: Some(priority),
        ..Task::periodic(format!("t{id}"), Duration::from_us(10), ms(100))
    };
    TaskSet::new("set", (0..).zip(priorities).map(task).collect::<Vec<Task>>()).expect("valid")
}

#[test]
fn given_priorities_keep_their_order_and_equal_ones_are_equal() {
    let set = given([50, 1, 50, 7]);
    let plan = make(&set, PriorityRule::Given, &[cell("0-1", &[0, 1, 2, 3])]).expect("fits");
    assert_eq!(fifo(&plan), [96, 98, 96, 97]);
    assert!(plan.notes[0].contains("`t0` and `t2`"), "{:?}", plan.notes);
    let distinct = given([4, 3, 2, 1]);
    let plan = make(&distinct, PriorityRule::Given, &[cell("0-1", &[0, 1, 2, 3])]).expect("fits");
    assert_eq!((fifo(&plan), plan.notes.len()), (vec![95, 96, 97, 98], 0));
}

#[test]
fn more_given_priorities_than_levels_share_them_in_order() {
    let set = given((0..300).map(|id| 1000 - id / 2));
    let all: Vec<usize> = (0..300).collect();
    let plan = make(&set, PriorityRule::Given, &[cell("0-1", &all)]).expect("fits");
    let levels = fifo(&plan);
    assert!(levels.windows(2).all(|pair| pair[0] <= pair[1]), "a smaller number never has a lower priority");
    assert!((0..150).all(|pair| levels[2 * pair] == levels[2 * pair + 1]), "equal ones stay equal");
    assert_eq!((levels[299], levels[0]), (TASK_PRIORITY_MAX, TASK_PRIORITY_MIN));
    // 97 distinct ones have a level each.
    let just = given(0..97);
    let all: Vec<usize> = (0..97).collect();
    let plan = make(&just, PriorityRule::Given, &[cell("0-1", &all)]).expect("fits");
    assert_eq!((fifo(&plan), plan.notes.len()), ((2..=98).rev().collect(), 0));
}

#[test]
fn a_task_without_a_priority_is_refused_under_given_priorities() {
    let half = vec![
        Task { priority: Some(1), ..Task::periodic("a", ms(1), ms(10)) },
        Task::periodic("b", ms(1), ms(10)),
    ];
    let half = TaskSet::new("set", half).expect("valid");
    let refused = make(&half, PriorityRule::Given, &[cell("0-1", &[0, 1])]).expect_err("b has none");
    assert!(refused.message.contains("task `b`") && refused.message.contains("p-fp"), "{refused}");
    assert!(refused.hint.is_some_and(|hint| hint.contains("priority = NUMBER")));
    assert!(make(&half, PriorityRule::DeadlineMonotonic, &[cell("0-1", &[0, 1])]).is_ok());
}

#[test]
fn admission_is_exact_at_the_kernels_limit() {
    let options = PlanOptions {
        budget_margin: BudgetMargin::Fixed { share_ppm: 0, least: Duration::ZERO },
        ..options()
    };
    let scheduler = Scheduler { scope: Scope::Partitioned, rule: PriorityRule::EarliestDeadlineFirst };
    let machine = CpuList::first(2);
    let plan_of = |tasks: &[(u64, u64)], limits| {
        let us = Duration::from_us;
        let task = |(id, &(wcet, period)): (usize, &(u64, u64))| {
            Task::periodic(format!("t{id}"), us(wcet), us(period))
        };
        let set = TaskSet::new("set", tasks.iter().enumerate().map(task).collect()).expect("valid");
        let tasks_of_cell: Vec<usize> = (0..tasks.len()).collect();
        plan(&set, scheduler, &[cell("0", &tasks_of_cell)], &machine, limits, options)
    };
    // 0.95 less 0.05, as the kernel rounds each: 943719 of 2^20.
    let linux = KernelLimits::default();
    let made = plan_of(&[(943_719, 1 << 20)], linux).expect("exactly the limit");
    assert_eq!(made.confinement, Confinement::Cpusets);
    let refused = plan_of(&[(943_720, 1 << 20)], linux).expect_err("above");
    assert!(refused.message.contains("CPUs 0") && refused.message.contains("0.900"), "{refused}");
    assert!(refused.message.contains("less the fair server's 50ms in 1s"), "{refused}");
    let without = KernelLimits { fair: KernelServer::default(), ..linux };
    assert!(plan_of(&[(95_000, 100_000)], without).is_ok());
    let refused = plan_of(&[(95_000, 100_000), (1_000, 4_000_000)], without).expect_err("above");
    assert!(refused.message.contains("0.950") && !refused.message.contains("less"), "{refused}");
    // Without the kernel's limit the guardian still needs some of every CPU.
    let unlimited = KernelLimits { rt_runtime_us: -1, ..linux };
    let refused = plan_of(&[(95_000, 100_000), (1_000, 4_000_000)], unlimited).expect_err("above");
    assert!(refused.message.contains("sets no limit"), "{refused}");
}

#[test]
fn sched_deadline_refuses_what_it_cannot_express() {
    let edf = PriorityRule::EarliestDeadlineFirst;
    let late = Task { deadline_rel: ms(30), ..Task::periodic("late", ms(1), ms(20)) };
    let late = TaskSet::new("set", vec![late]).expect("valid");
    assert!(make(&late, edf, &[cell("0-1", &[0])]).expect_err("D > T").message.contains("D <= T"));
    assert!(make(&late, PriorityRule::RateMonotonic, &[cell("0-1", &[0])]).is_ok());
    let slow = set(&[(1, 5000)]);
    assert!(make(&slow, edf, &[cell("0-1", &[0])]).expect_err("4.19 s").message.contains("period 5s"));
    let pinned = Task { affinity: Some("1".parse().expect("list")), ..Task::periodic("pin", ms(1), ms(20)) };
    let pinned = TaskSet::new("set", vec![pinned]).expect("valid");
    assert!(make(&pinned, edf, &[cell("0-1", &[0])]).expect_err("narrow").message.contains("narrower"));
    assert!(
        make(&pinned, PriorityRule::RateMonotonic, &[cell("0", &[0])])
            .expect_err("no CPU")
            .message
            .contains("no CPU")
    );
}

fn of_name(set: &TaskSet, name: &str, cells: &[Cell], limits: KernelLimits) -> Result<Plan> {
    let scheduler = LinuxScheduler::named(name).expect("a name").expect("valid");
    plan(set, scheduler, cells, &CpuList::first(2), limits, options())
}

#[test]
fn those_that_take_turns_have_one_priority() {
    let set = set(&[(1, 20), (1, 10), (40, 50)]);
    let cells = [cell("0", &[0, 1]), cell("1", &[2])];
    let plan = of_name(&set, "p-rr", &cells, KernelLimits::default()).expect("fits");
    let one = Policy::RoundRobin { priority: TASK_PRIORITY_MAX };
    assert!(plan.tasks.iter().all(|task| task.policy == one), "{:?}", plan.tasks);
    assert_eq!((plan.confinement, plan.uses_deadline()), (Confinement::Cpusets, false));
}

#[test]
fn sched_other_has_no_cpusets_and_what_its_name_says() {
    let set = set(&[(1, 20), (200, 1000)]);
    let one = [cell("1", &[0, 1])];
    let policies = |name: &str| -> Vec<Policy> {
        let plan = of_name(&set, name, &one, KernelLimits::default()).expect("fits");
        assert_eq!(plan.confinement, Confinement::AffinityMasks);
        assert!(plan.tasks.iter().all(|task| task.affinity.to_string() == "1"));
        plan.tasks.iter().map(|task| task.policy).collect()
    };
    let fair = |nice, slice| Policy::Fair { nice, slice };
    assert_eq!(policies("other"), [fair(0, Duration::ZERO); 2]);
    assert_eq!(policies("other:nice=-7:slice=3ms"), [fair(-7, ms(3)); 2]);
    // Linux grants no longer one.
    assert_eq!(policies("other:slice=wcet"), [fair(0, ms(1)), fair(0, ms(100))]);
    assert_eq!(policies("scx:scx_simple"), [Policy::Foreign; 2]);
    let foreign = of_name(&set, "scx:scx_simple", &one, KernelLimits::default()).expect("fits").foreign;
    assert_eq!(foreign.as_deref(), Some("scx_simple"));
}

#[test]
fn reclaiming_reserves_the_same_and_refuses_a_task_that_needs_a_whole_cpu() {
    let set = set(&[(5, 20), (3, 10)]);
    let cells = [cell("0-1", &[0, 1])];
    let reserved = |name: &str| of_name(&set, name, &cells, KernelLimits::default()).expect("fits");
    let (plain, reclaiming) = (reserved("g-edf"), reserved("g-edf:grub"));
    assert_eq!(plain.bandwidth_linger, reclaiming.bandwidth_linger);
    for (one, other) in plain.tasks.iter().zip(&reclaiming.tasks) {
        assert!(matches!(other.policy, Policy::Reclaiming { .. }));
        assert_eq!(one.policy.reservation(), other.policy.reservation());
        assert!(one.policy.reservation().is_some());
    }
    // On two CPUs the kernel would admit it.
    let heavy = self::set(&[(97, 100)]);
    let alone = [cell("0-1", &[0])];
    assert!(of_name(&heavy, "g-edf", &alone, KernelLimits::default()).is_ok());
    let refused = of_name(&heavy, "g-edf:grub", &alone, KernelLimits::default()).expect_err("too much");
    assert!(refused.message.contains("task `t0`") && refused.message.contains("95.0 %"), "{refused}");
}
