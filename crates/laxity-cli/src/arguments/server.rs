//! Options on servers for background tasks, below which real-time tasks are placed and run.

use super::value;
use clap::Args;
use laxity_analysis::DoubleHit;
use laxity_lab::placing::BelowServers;
use laxity_model::{Duration, ServerChoice};

/// What real-time tasks are below, and how late they may be.
#[derive(Args, Clone)]
pub struct ServerArguments {
    /// Deferrable server of every CPU, or of some: 2ms/10ms, 20%/10ms ...; default: none
    ///
    /// For so long background tasks go before real-time tasks (amp-rm), per period: 2ms/10ms or 20%/10ms of each CPU,
    /// 2ms@slowest/10ms for as much work as the slowest CPU does in 2ms, 0-1=2ms/10ms for some CPUs. May be given
    /// several times: for each CPU the last one counts.
    #[arg(help_heading = "Servers of amp-rm", long = "server", allow_hyphen_values = true, value_name = "[CPUS=]SIZE", value_parser = value::<ServerChoice>)]
    pub sizes: Vec<ServerChoice>,
    /// How late jobs may be at most, by Theorem 1 of calandrino2007; default: by any bound
    #[arg(help_heading = "Servers of amp-rm", long, allow_hyphen_values = true, value_name = "TIME", conflicts_with = "count_double_hit", value_parser = value::<Duration>)]
    pub tardiness_bound: Option<Duration>,
    /// Count that a server can use up two budgets in a row: no deadline is missed then
    #[arg(help_heading = "Servers of amp-rm", long)]
    pub count_double_hit: bool,
}

impl ServerArguments {
    /// What is asked for.
    pub fn below(&self) -> BelowServers {
        BelowServers {
            servers: self.sizes.clone().into(),
            double_hit: double_hit(self.count_double_hit),
            tardiness_bound: self.tardiness_bound,
            tick: Duration::ZERO,
        }
    }
}

/// What real-time tasks are promised, by the options.
pub fn double_hit(counted: bool) -> DoubleHit {
    if counted { DoubleHit::Counted } else { DoubleHit::Ignored }
}
