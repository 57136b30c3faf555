//! Options on laxity's own policies in the kernel.

use super::{ServerArguments, switch, value, whole};
use clap::Args;
use laxity_model::BudgetMode;

/// What laxity's own policies can be told in the kernel.
#[derive(Args, Clone)]
pub struct PolicyArguments {
    /// Laxity's own policies: what happens to a job that exceeds its budget: throttle, postpone or off
    ///
    /// throttle: it waits for the next period, as under SCHED_DEADLINE; postpone: its deadline moves by a period; off:
    /// nothing.
    #[arg(help_heading = "Schedulers", long, value_name = "MODE", default_value = "throttle", value_parser = value::<BudgetMode>)]
    pub budget: BudgetMode,
    /// Laxity's own policies: whether jobs of one release instant are released together: on or off
    #[arg(help_heading = "Schedulers", long, value_name = "SWITCH", default_value = "on", action = clap::ArgAction::Set, value_parser = switch)]
    pub batching: bool,
    /// push-pull: failures after which a push is given up
    #[arg(help_heading = "Schedulers", long, allow_hyphen_values = true, value_name = "N", default_value_t = laxity_sim::RETRIES_MAX, value_parser = whole::<u32>(1..=u64::from(u32::MAX)))]
    pub retries: u32,
    /// What amp-rm's tasks are below
    #[command(flatten)]
    pub below: ServerArguments,
}
