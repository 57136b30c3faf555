//! Random small definitions: every rule, scope and budget mode, sporadic tasks, phases, overload.

use laxity_model::{Arrival, Core, CpuList, Demand, Duration, Platform, PriorityRule, Speed, Task, TaskSet};
use laxity_oracle::{BudgetRule, Cluster, Definition};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub const UNIT: u64 = 1_000;

/// What a test asks of its definitions.
#[derive(Clone, Copy)]
pub struct Wish {
    pub rule: Option<PriorityRule>,
    pub budget_mode: Option<BudgetRule>,
    pub cpus_min: u32,
    /// No tasks that arrive late, and no demand but the WCET: everything is decided by periods and deadlines.
    pub plain: bool,
    /// More than one cluster, or a dedicated CPU in each.
    pub clustered: bool,
    pub dedicated: bool,
    pub slower_cores: bool,
}

pub const ANY: Wish = Wish {
    rule: None,
    budget_mode: None,
    cpus_min: 1,
    plain: false,
    clustered: false,
    dedicated: false,
    slower_cores: true,
};

pub struct Case {
    pub definition: Definition,
    pub end: u64,
    pub seed: u64,
}

pub fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

pub fn case(seed: u64, wish: Wish) -> Case {
    let mut rng = rng(seed);
    let count = rng.random_range(wish.cpus_min..=4);
    let clusters = clusters(&mut rng, count, wish);
    let cpus: u32 = clusters.iter().map(|cluster| u32::try_from(cluster.cpus.len()).expect("few")).sum();
    let tasks = rng.random_range(1 + clusters.len()..=3 + 2 * cpus as usize);
    let mut clusters = clusters;
    for task in 0..u32::try_from(tasks).expect("few") {
        let index = rng.random_range(0..clusters.len());
        clusters[index].tasks.push(task);
    }
    let set = (0..tasks).map(|id| task(&mut rng, id, wish)).collect();
    let set = TaskSet::new(format!("seed {seed}"), set).expect("a valid set");
    let rule = wish.rule.unwrap_or_else(|| {
        use PriorityRule::*;
        pick(
            &mut rng,
            &[EarliestDeadlineFirst, EarliestDeadlineFirst, RateMonotonic, DeadlineMonotonic, Given],
        )
    });
    let budgets = wish
        .budget_mode
        .unwrap_or_else(|| pick(&mut rng, &[BudgetRule::OFF, BudgetRule::THROTTLE, BudgetRule::POSTPONE]));
    let demand = match wish.plain {
        true => "wcet",
        false => pick(&mut rng, &["wcet", "uniform:0.1,1", "uniform:0.2,2.5", "bimodal:1,2,0.3", "0.7"]),
    };
    let demand: Demand = demand.parse().expect("a valid demand");
    let end = rng.random_range(20..80) * UNIT + if wish.plain { 0 } else { rng.random_range(0..UNIT) };
    let duration = Duration::from_ns(rng.random_range(end / 2..=end));
    let platform = platform(&mut rng, &clusters, wish);
    let definition = Definition::clustered(set, &platform, rule, clusters, duration)
        .expect("a valid definition")
        .with_budgets(budgets)
        .with_batching(true)
        .with_jobs(seed, demand);
    Case { definition, end, seed }
}

fn pick<T: Copy>(rng: &mut Pcg64, from: &[T]) -> T {
    from[rng.random_range(0..from.len())]
}

fn clusters(rng: &mut Pcg64, count: u32, wish: Wish) -> Vec<Cluster> {
    let (sizes, dedicated) = match rng.random_range(0..4) {
        _ if wish.clustered => (vec![1, 2], false),
        _ if wish.dedicated => (vec![count + 1], true),
        0 => (vec![1; count as usize], false),
        1 => (vec![count, rng.random_range(1..=2)], false),
        2 => (vec![count + 1], rng.random_bool(0.5)),
        _ => (vec![count], false),
    };
    let mut first = rng.random_range(0..3);
    let mut clusters = Vec::new();
    for size in sizes {
        let cpus: CpuList = (first..first + size).collect();
        let mut cluster = Cluster::new(cpus, Vec::new());
        if dedicated {
            cluster.dedicated = [first + size - 1].into_iter().collect();
        }
        clusters.push(cluster);
        first += size + rng.random_range(0..2);
    }
    clusters
}

fn platform(rng: &mut Pcg64, clusters: &[Cluster], wish: Wish) -> Platform {
    let mut cores = Vec::new();
    for cluster in clusters {
        let speed = match wish.slower_cores && rng.random_bool(0.3) {
            true => pick(rng, &["1/2", "3/4", "2/3", "2", "7/5"]).parse().expect("a valid speed"),
            false => Speed::UNIT,
        };
        cores.extend(cluster.cpus.iter().map(|cpu| Core { cpu, speed }));
    }
    Platform::new("random", cores, vec![], vec![], None).expect("a valid platform")
}

fn task(rng: &mut Pcg64, id: usize, wish: Wish) -> Task {
    // Few periods, so that many jobs arrive and are due together.
    let period = pick(rng, &[2, 3, 4, 4, 6, 8, 8, 12]);
    let wcet = rng.random_range(1..=period.min(4));
    let deadline_rel = match rng.random_range(0..3) {
        0 => period,
        1 => rng.random_range(wcet..=period),
        _ => rng.random_range(wcet..=2 * period),
    };
    let unit = Duration::from_ns(UNIT);
    let mut task = Task::periodic(format!("t{id}"), unit * wcet, unit * period);
    task.deadline_rel = unit * deadline_rel;
    task.priority = Some(rng.random_range(1..4));
    if !wish.plain {
        if rng.random_bool(0.4) {
            task.phase = unit * rng.random_range(0..6);
        }
        if rng.random_bool(0.2) {
            task.arrival = Arrival::Sporadic { min_interarrival: unit * period };
        }
        if rng.random_bool(0.1) {
            task.leave = Some(unit * 30);
        }
    }
    task
}
