//! Random instances: configuration and tasks.

use laxity_model::{BudgetMode, Policy};
use laxity_policy::{Config, Table, TaskParameters};
use rand::RngExt;
use rand_pcg::Pcg64;

/// An instance to drive.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The policy.
    pub policy: Policy,
    /// The seed that it was drawn from.
    pub seed: u64,
    /// The configuration.
    pub config: Config,
    /// The tasks.
    pub tasks: Vec<TaskParameters>,
    /// The socket of each CPU.
    pub sockets: Vec<u32>,
}

impl Scenario {
    /// An instance of a policy: small and large, under both rules, with every way to treat budgets, releases in groups
    /// or one by one. Times are small numbers, so that equal instants, deadlines and keys are common.
    pub fn draw(policy: Policy, seed: u64) -> Scenario {
        let mut random = stream(seed);
        let dedicated = policy.dedicates_a_core() || (policy == Policy::GsnEdf && random.random_bool(0.2));
        let size = random.random_range(0..20_u32);
        let tasks_max = if size == 0 {
            600
        } else if size < 6 {
            60
        } else {
            14
        };
        let cpus_max = if size % 5 == 0 { 40 } else { 6 };
        let cpus = random.random_range(1..=cpus_max) + u32::from(dedicated);
        let config = Config {
            cpus,
            fixed_priorities: random.random_bool(0.25),
            budget_mode: [BudgetMode::Off, BudgetMode::Throttle, BudgetMode::Postpone]
                [random.random_range(0..3_usize)],
            batching: random.random_bool(0.5),
            dedicated_cpu: dedicated,
            retries_max: 3,
        };
        let period_max = if random.random_bool(0.3) { 6 } else { 60 };
        let tasks =
            (0..random.random_range(1..=tasks_max)).map(|_| draw_task(&mut random, period_max)).collect();
        let sockets_max = random.random_range(1..=3);
        let sockets = (0..cpus).map(|_| random.random_range(0..sockets_max)).collect();
        Scenario { policy, seed, config, tasks, sockets }
    }
}

/// A task with a period of at most `period_max`.
pub(crate) fn draw_task(random: &mut Pcg64, period_max: u64) -> TaskParameters {
    let period_ns = random.random_range(1..=period_max);
    TaskParameters {
        deadline_rel_ns: if random.random_bool(0.5) {
            period_ns
        } else {
            random.random_range(1..=2 * period_ns)
        },
        period_ns,
        budget_ns: random.random_range(1..=period_ns),
        priority: random.random_range(0..8),
        batching: random.random_bool(0.8),
    }
}

/// The stream of random numbers of a seed.
pub(crate) fn stream(seed: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed) << 64 | 0x6c61_7869_7479, 0xa02b_dbf7_bb3c_0a7a_c28f_a16a_64ab_f96b)
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A policy in the build where a failed assertion ends the process and names the seed ([`crate::queue::seed_set`]).
///
/// # Panics
///
/// `policy/policies.h` does not list it.
pub fn table_checked(policy: Policy) -> Table {
    let found = tables().into_iter().find(|(name, _)| *name == policy.source_name());
    let (_, table) = found.unwrap_or_else(|| panic!("policy/policies.h does not list {policy}"));
    // SAFETY: a constant table of rig.c, compiled from the same native.h.
    unsafe { Table::from_raw(table) }
}
