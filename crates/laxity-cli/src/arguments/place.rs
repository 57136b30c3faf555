//! `laxity place`.

use super::{
    ImportArguments, PlacementArguments, PlatformArguments, ServerArguments, WriteArguments, one_placement,
    share_or_kernel, simulated, worded,
};
use clap::Args;
use laxity_lab::schedulers::Configuration;
use laxity_model::{Names, Scope};
use std::path::PathBuf;

/// `laxity place`.
#[derive(Args)]
#[command(
    mut_arg("placement", one_placement),
    after_long_help = "\
Examples:
  # onto the CPUs of this machine, optimally
  laxity place set.toml
  # keep the places: other commands use them
  laxity place set.toml --cpus 4 --write placed.toml
  # so that rate-monotonic priorities meet all deadlines
  laxity place set.toml --scheduler p-rm --cpus 4
  # by a heuristic, onto four identical CPUs
  laxity place set.toml --placement wfd --cpus 4
  # tasks that share memory (`group`) on one CPU; by ffd where lwfg finds none
  laxity place set.toml --placement lwfg --cpus 4
  laxity place set.toml --placement lwfg-else:ffd --cpus 4
  laxity place set.toml --onto clusters --placement ff:density:down --json
  # below servers for background work, with a bound on tardiness
  laxity place set.toml --platform big-little --placement slowest-fit \\
      --server 10%/2ms --tardiness-bound 5ms"
)]
#[command(mut_arg("force", |force| force.requires("write")))]
pub struct PlaceArguments {
    /// The task set
    #[arg(value_name = "SET")]
    pub set: PathBuf,
    /// How files of other tools are read
    #[command(flatten)]
    pub import: ImportArguments,
    /// What tasks are placed onto: cpus or clusters; default: cpus, or those of --scheduler
    #[arg(help_heading = "Placement", long, value_name = "BINS", value_parser = onto)]
    pub onto: Option<Scope>,
    /// The scheduler that they are placed for: its own test says what fits
    ///
    /// Without it, they are placed by load (--fit load). `laxity list schedulers` has all names.
    #[arg(help_heading = "Placement", long, value_name = "NAME", value_parser = simulated)]
    pub scheduler: Option<Configuration>,
    /// Fill each CPU only up to this share, such as 0.95, or `kernel`
    ///
    /// `kernel` is what SCHED_DEADLINE is admitted for here: sched_rt_runtime_us less the kernel's servers.
    #[arg(help_heading = "Placement", long, allow_hyphen_values = true, value_name = "SHARE", default_value = "1", value_parser = share_or_kernel)]
    pub limit: (u64, u64),
    /// The places
    #[command(flatten)]
    pub written: WriteArguments,
    /// Print JSON instead of a table
    #[arg(help_heading = "Output", long)]
    pub json: bool,
    /// Which CPUs
    #[command(flatten)]
    pub platform: PlatformArguments,
    /// How
    #[command(flatten)]
    pub placement: PlacementArguments,
    /// What goes before them
    #[command(flatten)]
    pub below: ServerArguments,
}

fn onto(text: &str) -> std::result::Result<Scope, String> {
    match text {
        "cpus" | "cores" => Ok(Scope::Partitioned),
        "clusters" => Ok(Scope::Clustered),
        _ => Err(worded(Names::of("kind of bin", &["cpus", "clusters"]).unknown(text))),
    }
}
