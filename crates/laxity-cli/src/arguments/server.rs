//! Options on servers for ordinary tasks, below which real-time tasks are placed.

use super::value;
use clap::Args;
use laxity_model::{Duration, ServerSize};

/// What real-time tasks are placed below, and how late they may be.
#[derive(Args, Clone)]
pub struct ServerArguments {
    /// Reserve time for ordinary tasks by a deferrable server on each core: 2ms/10ms or 20%/10ms of each, or 2ms@slowest/10ms, as much work as the slowest core does in 2ms. What fits is then what rate-monotonic priorities below it allow
    #[arg(long, allow_hyphen_values = true, value_name = "BUDGET/PERIOD", value_parser = value::<ServerSize>)]
    pub server: Option<ServerSize>,
    /// How late jobs may be at most, by Theorem 1 of calandrino2007; without it the bounds may be of any size
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", conflicts_with = "count_double_hit", value_parser = value::<Duration>)]
    pub tardiness_bound: Option<Duration>,
    /// Count that a server can use up two budgets in a row: no deadline is missed then
    #[arg(long)]
    pub count_double_hit: bool,
}

impl ServerArguments {
    /// Whether any of them says something.
    pub fn any(&self) -> bool {
        self.server.is_some() || self.tardiness_bound.is_some() || self.count_double_hit
    }
}
