//! Options on servers for ordinary tasks, below which real-time tasks are placed.

use super::value;
use clap::Args;
use laxity_analysis::DoubleHit;
use laxity_model::{CpuList, DeferrableServer, Diagnostic, Duration, Platform, Result, ServerSize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

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

/// A size, for all cores or for some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerChoice {
    cpus: Option<CpuList>,
    size: ServerSize,
}

impl FromStr for ServerChoice {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once('=') {
            None => Ok(ServerChoice { cpus: None, size: text.parse()? }),
            Some((cpus, size)) => Ok(ServerChoice { cpus: Some(cpus.trim().parse()?), size: size.parse()? }),
        }
    }
}

impl fmt::Display for ServerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cpus {
            None => write!(f, "{}", self.size),
            Some(cpus) => write!(f, "{cpus}={}", self.size),
        }
    }
}

impl From<ServerSize> for ServerChoice {
    fn from(size: ServerSize) -> Self {
        ServerChoice { cpus: None, size }
    }
}

/// The servers of a platform's cores, of those that have one; what is said last of a core counts.
///
/// # Errors
///
/// A core that the platform lacks.
pub fn servers(choices: &[ServerChoice], platform: &Platform) -> Result<BTreeMap<u32, DeferrableServer>> {
    let (known, mut servers) = (platform.cpus(), BTreeMap::new());
    for choice in choices {
        let foreign = choice.cpus.iter().flat_map(CpuList::iter).find(|&cpu| !known.contains(cpu));
        if let Some(cpu) = foreign {
            return Err(Diagnostic::usage(format!("--server for CPU {cpu}: no real-time tasks run there"))
                .hint("choose among the scheduler's CPUs (--cpus, --platform)"));
        }
        let of_choice = choice.size.on_cores(platform);
        servers
            .extend(of_choice.filter(|(cpu, _)| choice.cpus.as_ref().is_none_or(|cpus| cpus.contains(*cpu))));
    }
    Ok(servers)
}

/// What real-time tasks are promised, by the options.
pub fn double_hit(counted: bool) -> DoubleHit {
    if counted { DoubleHit::Counted } else { DoubleHit::Ignored }
}
