//! Systems whose kernel takes time, and what their schedules may deviate by.

use super::{Case, GRACE_NS, definition_of};
use laxity_model::{
    BudgetMode, Demand, Duration, Platform, Policy, PolicyScheduler, PriorityRule, Scope, Task, TaskSet,
};
use laxity_oracle::{KernelWindows, Transitions, Verdict, verify};
use laxity_sim::Setup;
use laxity_sim::costs::{Cost, Costs, Distribution, PiecewiseLinear};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// What costs explain under a policy, for at most `tasks` tasks in a cell; nothing beside.
pub fn windows(policy: Policy, costs: &Costs, tasks: u32) -> Transitions {
    let most = |cost: &Cost| Duration::from_ns(cost.max_ns(tasks));
    let kernel = KernelWindows {
        structure: policy.structure(),
        release_latency: most(&costs.release_latency),
        ipi: most(&costs.ipi),
        mailbox: most(&costs.mailbox),
    };
    Transitions { bound: Duration::ZERO, kernel: Some(kernel), abandoned_pushes: policy == Policy::PushPull }
}

/// What the oracles say of the case's schedule with those windows.
pub fn verdict(
    case: &Case,
    scheduler: PolicyScheduler,
    cores: u32,
    transitions: Transitions,
    change: impl FnOnce(&mut Setup<'_>),
) -> Verdict {
    let recording = case.simulate_with(scheduler, cores, change);
    let definition = definition_of(case, scheduler, cores).with_transitions(transitions);
    verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS)
}

impl Case {
    /// Up to about four tasks per CPU and a utilization of up to about 1.2 per CPU, in periods of 20 us to 400 us.
    pub fn of_cores(seed: u64, cores: u32) -> Case {
        let mut rng = Pcg64::seed_from_u64(seed ^ 0x6f66_636f_7265_7300);
        let count = rng.random_range(1..=4 * cores).max(2);
        let share = rng.random_range(200..=1_200) * u64::from(cores) / u64::from(count);
        let tasks = (0..count).map(|id| {
            let period = rng.random_range(20..=400u64) * [1, 10, 1_000][rng.random_range(0..3)];
            let period = if period > 400 { 1_000 * period.div_ceil(1_000).min(400) } else { 1_000 * period };
            let wcet = (period * rng.random_range(share / 2..=share + share / 2) / 1_000).clamp(500, period);
            let deadline = period * [60, 100, 100, 200][rng.random_range(0..4)] / 100;
            let phase = if rng.random_range(0..2) == 0 { 0 } else { rng.random_range(0..=100_000) };
            Task {
                deadline_rel: Duration::from_ns(deadline.max(wcet)),
                phase: Duration::from_ns(phase),
                priority: Some(rng.random_range(0..9)),
                batching: rng.random_range(0..5) != 0,
                ..Task::periodic(format!("T{}", id + 1), Duration::from_ns(wcet), Duration::from_ns(period))
            }
        });
        let set = TaskSet::new("of CPUs", tasks.collect()).expect("valid");
        let duration = Duration::from_ns(if cores > 8 { 600_000 } else { 2_000_000 });
        let batching = rng.random_range(0..2) == 0;
        Case { seed, set, cores, batching, duration, costs: costs(&mut rng), ..Case::plain() }
    }
}

fn distributed(text: &str) -> Cost {
    text.parse().expect("a cost")
}

/// One cost of up to about `most` ns.
fn cost(rng: &mut Pcg64, most: u64) -> Cost {
    let ns = |ns: u64| Duration::from_ns(ns);
    match rng.random_range(0..7) {
        0 => Cost::Zero,
        1 | 2 => Cost::Constant(ns(rng.random_range(1..=most))),
        3 => distributed(&format!("uniform:0ns,{}ns", rng.random_range(1..=most))),
        4 => distributed(&format!("exponential:{}ns", rng.random_range(1..=most / 4 + 1))),
        5 => {
            let (mean, sd) = (rng.random_range(1..=most / 2 + 1), rng.random_range(1..=most / 6 + 1));
            distributed(&format!("normal:{mean}ns,{sd}ns,{}ns", mean + 3 * sd))
        }
        _ => match rng.random_range(0..2) {
            0 => {
                let samples = [0, 1, 2, 3].map(|_| ns(rng.random_range(0..=most)));
                Cost::Distribution(Distribution::empirical(samples).expect("samples"))
            }
            _ => {
                let points = [(1, rng.random_range(0..=most / 2)), (300, rng.random_range(1..=most))];
                Cost::PiecewiseLinear(PiecewiseLinear::through(points).expect("points"))
            }
        },
    }
}

/// Costs of every kind, from next to nothing to about a tenth of a short job.
pub fn costs(rng: &mut Pcg64) -> Costs {
    let most = [3, 50, 400, 2_000][rng.random_range(0..4)];
    let mut of = |share: u64| cost(rng, (most * share / 4).max(1));
    let mut costs = Costs {
        release: of(4),
        scheduling: of(4),
        context_switch: of(4),
        ipi: of(4),
        release_latency: of(6),
        mailbox: of(4),
        dsp: of(1),
        step: of(1),
        tick: of(2),
        tick_period: Duration::from_ns(20_000),
        cache: None,
    };
    costs.tick = if rng.random_range(0..3) == 0 { costs.tick } else { Cost::Zero };
    costs
}

/// Checks one random case of so many CPUs under a policy, and says what to repeat if it fails.
pub fn check(seed: u64, cores: u32, policy: Policy) -> Verdict {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x6368_6563_6b00);
    let mut case = if cores <= 4 && rng.random_range(0..2) == 0 {
        let costs = costs(&mut rng);
        Case { cores, costs, ..Case::random(seed) }
    } else {
        Case::of_cores(seed, cores)
    };
    case.budget_mode = match rng.random_range(0..4) {
        0 => BudgetMode::Throttle,
        1 => BudgetMode::Postpone,
        _ => BudgetMode::Off,
    };
    if case.budget_mode != BudgetMode::Off || rng.random_range(0..2) == 0 {
        case.demand = Demand::Uniform(300_000, 1_500_000);
    }
    let dedicates = policy.dedicates_a_core();
    let scope = match rng.random_range(0..6) {
        0 if !dedicates => Scope::Partitioned,
        1 => Scope::Clustered,
        _ => Scope::Global,
    };
    let cores = match scope {
        Scope::Clustered => 2 * cores.div_ceil(2),
        _ => cores + u32::from(dedicates),
    };
    let rule = match rng.random_range(0..4) {
        0 => PriorityRule::RateMonotonic,
        1 => PriorityRule::Given,
        _ => PriorityRule::EarliestDeadlineFirst,
    };
    let scheduler = PolicyScheduler { policy, scope, rule };
    let interleaving = (rng.random_range(0..2) == 0).then_some(seed);
    let cells = case.cells(scope, &Platform::symmetric(cores).expect("cores"));
    let tasks = cells.iter().map(|cell| cell.tasks.len()).max().expect("a cell");
    let transitions = windows(policy, &case.costs, u32::try_from(tasks).expect("few"));
    let verdict = verdict(&case, scheduler, cores, transitions, |setup| setup.interleaving = interleaving);
    assert!(
        verdict.clean,
        "seed {seed}, {cores} CPUs, {scheduler}, interleaving {interleaving:?}, {:?}, {:?}\n{verdict}",
        case.budget_mode, case.costs
    );
    verdict
}
