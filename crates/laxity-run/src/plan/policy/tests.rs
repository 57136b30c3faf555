use super::*;
use crate::BudgetMargin;
use laxity_model::{BudgetMode, Cell, Core, NumaNode, OnMiss, Policy, Scope, Speed};

fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn platform(cpus: u32) -> Platform {
    let cores = (0..cpus).map(|cpu| Core { cpu, speed: Speed::UNIT });
    Platform::new("p", cores.collect(), vec![], vec![], None).expect("valid")
}

fn cell(cpus: &str, tasks: &[usize]) -> Cell {
    Cell::new(cpus.parse().expect("valid list"), tasks.to_vec())
}

const POLICY: PolicyOptions = PolicyOptions {
    budget: BudgetMode::Throttle,
    batching: true,
    retries_max: 3,
    servers: ServerSizes::NONE,
};

fn plan_of(scheduler: &str, tasks: Vec<Task>, cells: &[Cell], policy: PolicyOptions) -> Result<Plan> {
    let set = TaskSet::new("set", tasks).expect("valid");
    let margin = BudgetMargin::Fixed { share_ppm: 0, least: Duration::ZERO };
    let options = PlanOptions {
        duration: ms(1000),
        grace: None,
        on_miss: OnMiss::Continue,
        busy: 0,
        budget_margin: margin,
        seed: 0,
    };
    let scheduler = scheduler.parse().expect("a scheduler");
    plan_policy(&set, scheduler, cells, &platform(4), KernelLimits::default(), options, &policy)
}

fn asked(plan: &Plan) -> Vec<(u64, u64, u64)> {
    let asked = |task: &PlannedTask| match task.policy {
        sched::Policy::Ext { runtime, deadline, period } => {
            (runtime.as_ns() / 1000, deadline.as_ns() / 1000, period.as_ns() / 1000)
        }
        _ => panic!("SCHED_EXT"),
    };
    plan.tasks.iter().map(asked).collect()
}

fn constrained(name: &str, wcet: u64, deadline: u64, period: u64) -> Task {
    Task { deadline_rel: ms(deadline), ..Task::periodic(name, ms(wcet), ms(period)) }
}

#[test]
fn every_cell_is_an_instance_and_tasks_may_use_all_of_it() {
    let tasks = vec![Task::periodic("a", ms(1), ms(10)), Task::periodic("b", ms(2), ms(20))];
    let cells = [cell("0-1", &[1]), cell("2-3", &[0])];
    let plan = plan_of("c-edf-bh", tasks, &cells, POLICY).expect("fits");
    let attachment = plan.attachment.as_ref().expect("a policy");
    assert_eq!(attachment.policy, "edf-bh");
    assert_eq!(attachment.cells.iter().map(|cell| cell.cpus.clone()).collect::<Vec<_>>(), [[0, 1], [2, 3]]);
    assert_eq!(attachment.share_ns, (950_000_000, 1_000_000_000));
    assert!(!attachment.fixed_priorities);
    let of = |at: usize| (plan.tasks[at].name.as_str(), plan.tasks[at].affinity.to_string());
    assert_eq!([of(0), of(1)], [("b", "0-1".to_owned()), ("a", "2-3".to_owned())]);
    assert_eq!(plan.confinement, Confinement::AffinityMasks, "sched_ext keeps them in their cell");
    assert_eq!(asked(&plan), [(2000, 20_000, 20_000), (1000, 10_000, 10_000)]);
}

#[test]
fn the_policy_releases_periodic_jobs_and_others_sleep() {
    let sporadic = |name, deadline| Task {
        arrival: Arrival::Sporadic { min_interarrival: ms(80) },
        ..constrained(name, 1, deadline, 80)
    };
    let late = Task { phase: Duration::from_secs(16), ..Task::periodic("l", ms(1), ms(10)) };
    let slow = Task::periodic("slow", ms(1), Duration::from_secs(4));
    let tasks = vec![constrained("p", 1, 20, 80), sporadic("s", 80), sporadic("t", 20), late, slow];
    let plan = plan_of("edf-bh", tasks, &[cell("0-3", &[0, 1, 2, 3, 4])], POLICY).expect("fits");
    let pacing: Vec<Pacing> = plan.tasks.iter().map(|task| task.pacing).collect();
    use Pacing::*;
    assert_eq!(pacing, [Released, FirstReleased, FirstReleased, Sleep, Released]);
    let periods: Vec<u64> = asked(&plan).iter().map(|(.., period)| period / 1000).collect();
    assert_eq!(
        periods,
        [80, 80, 70, 10, 4_000],
        "only a task that sleeps and has D < T could wake up too early"
    );
}

#[test]
fn nothing_is_reserved_for_longer_where_budgets_are_not_throttled() {
    let task =
        Task { arrival: Arrival::Sporadic { min_interarrival: ms(80) }, ..constrained("s", 1, 20, 80) };
    let off = PolicyOptions { budget: BudgetMode::Off, ..POLICY };
    let plan = plan_of("edf-bh", vec![task], &[cell("0-3", &[0])], off).expect("fits");
    assert_eq!(asked(&plan), [(1000, 20_000, 80_000)]);
    assert!(plan.notes[0].contains("not enforced"), "{:?}", plan.notes);
}

#[test]
fn a_dedicated_cpu_carries_no_load() {
    let tasks = || vec![Task::periodic("a", ms(9), ms(10)), Task::periodic("b", ms(9), ms(10))];
    assert!(plan_of("gsn-edf", tasks(), &[cell("0-1", &[0, 1])], POLICY).is_ok());
    let refused =
        plan_of("gsn-edf-di", tasks(), &[cell("0-1", &[0, 1])], POLICY).expect_err("one CPU is left");
    assert!(refused.message.contains("1.800") && refused.message.contains("0.950"), "{refused}");
    let plan = plan_of("gsn-edf-di", tasks(), &[cell("0-2", &[0, 1])], POLICY).expect("two are left");
    assert_eq!(plan.tasks[0].affinity.to_string(), "0-2", "the policy keeps the dedicated one free");
    let alone = plan_of("p-gsn-edf-di", tasks(), &[cell("0", &[0])], POLICY).expect_err("none is left");
    assert!(alone.message.contains("dedicates the last CPU"), "{alone}");
}

#[test]
fn a_server_takes_its_share_of_every_core_with_tasks() {
    let policy = PolicyOptions { servers: "2ms@slowest/10ms".parse().expect("a size"), ..POLICY };
    let set = |wcet| TaskSet::new("set", vec![Task::periodic("a", ms(wcet), ms(10))]).expect("valid");
    let speeds = [Speed::UNIT, Speed::new(1, 2).expect("positive")];
    let cores = (0..).zip(speeds).map(|(cpu, speed)| laxity_model::Core { cpu, speed });
    let platform = Platform::new("p", cores.collect(), vec![], vec![], None).expect("valid");
    let options = PlanOptions {
        duration: ms(1000),
        grace: None,
        on_miss: OnMiss::Continue,
        busy: 3,
        budget_margin: BudgetMargin::Fixed { share_ppm: 0, least: Duration::ZERO },
        seed: 0,
    };
    let plan = |wcet, name: &str, policy| {
        let scheduler = name.parse().expect("a scheduler");
        plan_policy(
            &set(wcet),
            scheduler,
            &[cell("0", &[0])],
            &platform,
            KernelLimits::default(),
            options,
            &policy,
        )
    };
    let made = plan(9, "amp-rm", policy.clone()).expect("1 ms of 10 is the server's on the fast CPU");
    let attachment = made.attachment.expect("a policy");
    let sizes =
        |core: &laxity_kernel::Core| (core.cpu, core.speed, core.budget_ns, core.period_ns, core.share_ppm);
    let [fast, slow] = [0, 1].map(|at: usize| sizes(&attachment.cores[at]));
    assert_eq!(fast, (0, 65_536, 1_000_000, 10_000_000, 900_000));
    assert_eq!(slow, (1, 32_768, 0, 0, 950_000), "without tasks background work has all");
    assert_eq!(made.busy, 3);
    let smaller = PolicyOptions { servers: "3ms/10ms; 0=10.1%/10ms".parse().expect("sizes"), ..POLICY };
    let refused = plan(9, "amp-rm", smaller).expect_err("less than 9 ms are left");
    assert!(refused.message.contains("beside the server 1.01ms/10ms"), "{refused}");
    let fast = PolicyOptions { servers: "10%/50us".parse().expect("a size"), ..POLICY };
    assert!(plan(1, "amp-rm", fast).is_err_and(|refused| refused.message.contains("period")));
    let other = PolicyOptions { servers: "1=3ms/10ms".parse().expect("a size"), ..POLICY };
    let plain = plan(9, "amp-rm", other).expect("CPU 0 has none").attachment.expect("a policy");
    assert_eq!(sizes(&plain.cores[0]), (0, 65_536, 0, 0, 950_000));
    // Another policy has none.
    let attachment = plan(9, "p-fpp:rm", policy).expect("fits").attachment.expect("a policy");
    assert_eq!(attachment.cores, []);
}

#[test]
fn fixed_priorities_are_expressed_by_deadlines() {
    let tasks = || vec![constrained("a", 1, 20, 20), constrained("b", 1, 10, 40)];
    let cells = [cell("0", &[0, 1])];
    let deadlines = |name: &str| {
        let plan = plan_of(name, tasks(), &cells, POLICY).expect("possible");
        assert!(plan.attachment.as_ref().is_some_and(|attachment| attachment.fixed_priorities));
        asked(&plan).iter().map(|(_, deadline, _)| deadline / 1000).collect::<Vec<_>>()
    };
    assert_eq!(deadlines("fpp:dm"), [20, 10]);
    assert_eq!(deadlines("fpp:rm"), [20, 40], "a has the shorter period");
    let given = |priorities: [u32; 2]| {
        let tasks = tasks().into_iter().zip(priorities);
        let tasks = tasks.map(|(task, priority)| Task { priority: Some(priority), ..task }).collect();
        plan_of("fpp:fp", tasks, &cells, POLICY).map(|plan| asked(&plan)[1].1 / 1000)
    };
    assert_eq!(given([2, 1]), Ok(10), "as the deadlines are");
    assert_eq!(given([1, 2]), Ok(40), "as the periods are");
    let same = vec![
        Task { priority: Some(2), ..constrained("a", 1, 10, 20) },
        Task { priority: Some(1), ..constrained("b", 1, 20, 40) },
    ];
    let neither = plan_of("fpp:fp", same, &cells, POLICY).expect_err("neither order");
    assert!(neither.message.contains("neither"), "{neither}");
    let none = plan_of("fpp:fp", tasks(), &cells, POLICY).expect_err("no priorities");
    assert!(none.message.contains("task `a` has no priority"), "{none}");
}

#[test]
fn what_the_kernel_would_refuse_is_refused_beforehand() {
    let one = [cell("0-3", &[0])];
    let refused = |task: Task| plan_of("edf-bh", vec![task], &one, POLICY).expect_err("refused").message;
    assert!(refused(constrained("late", 1, 30, 20)).contains("D <= T"));
    let slow = Task::periodic("slow", ms(1), Duration::from_secs(5));
    assert!(refused(slow).contains("period 5s"));
    let pinned = Task { affinity: Some("1".parse().expect("list")), ..Task::periodic("pin", ms(1), ms(20)) };
    assert!(refused(pinned).contains("the policy refuses that"));
    let many: Vec<Task> = (0..2049).map(|id| Task::periodic(format!("t{id}"), ms(1), ms(4_000))).collect();
    let all: Vec<usize> = (0..2049).collect();
    let refused = plan_of("edf-bh", many, &[cell("0-3", &all)], POLICY).expect_err("too many");
    assert!(refused.message.contains("2049 tasks") && refused.message.contains("2048"), "{refused}");
}

#[test]
fn sockets_are_numa_nodes_or_else_clusters() {
    let base = platform(8);
    let cores = base.cores().to_vec();
    let nodes = |lists: &[&str]| -> Vec<NumaNode> {
        let node =
            |(id, list): (u32, &&str)| NumaNode { id, cpus: list.parse().expect("list"), memory_bytes: None };
        (0..).zip(lists).map(node).collect()
    };
    let two = Platform::new("two", cores.clone(), vec![], nodes(&["0-3", "4-7"]), None).expect("valid");
    assert_eq!(sockets(&two, &"2-5".parse().expect("list")), [0, 0, 1, 1]);
    assert_eq!(sockets(&two, &"4-7".parse().expect("list")), [0; 4], "numbered within the cell");
    let clusters = ["0-1", "2-7"].map(|list| list.parse().expect("list")).to_vec();
    let clustered = Platform::new("c", cores, vec![], vec![], Some(clusters)).expect("valid");
    assert_eq!(sockets(&clustered, &"0-3".parse().expect("list")), [0, 0, 1, 1]);
}

#[test]
fn every_policy_can_be_planned_in_every_scope() {
    for &policy in Policy::GENERAL {
        for (scope, cpus) in [(Scope::Global, "0-3"), (Scope::Clustered, "0-1"), (Scope::Partitioned, "3")] {
            let name =
                PolicyScheduler { policy, scope, rule: PriorityRule::EarliestDeadlineFirst }.to_string();
            let made = plan_of(&name, vec![Task::periodic("a", ms(1), ms(10))], &[cell(cpus, &[0])], POLICY);
            let possible = !(policy.dedicates_a_core() && scope == Scope::Partitioned);
            assert_eq!(made.is_ok(), possible, "{name}");
        }
    }
}
