//! How many instructions the kernel's verifier goes through until a policy is attached: `verified POLICY...` prints a line each, the sum
//! over its programs. `LAXITY_FAULT=256@cpus` makes room for so many CPUs as if the machine had them.

use laxity_kernel::{Options, PolicyCpus, Scheduler};
use laxity_model::{BudgetMode, Policy, Reserve};

type Failure = Box<dyn std::error::Error>;

fn options(policy: Policy, cpus: u32) -> Options {
    let cell = |cpus: Vec<u32>| PolicyCpus { sockets: vec![0; cpus.len()], cpus };
    let cells = match policy {
        Policy::AmpRm => (0..cpus).map(|cpu| cell(vec![cpu])).collect(),
        _ => vec![cell((0..cpus).collect())],
    };
    Options {
        policy,
        fixed_priorities: policy == Policy::AmpRm,
        by_period: policy == Policy::AmpRm,
        cells,
        budget: BudgetMode::Throttle,
        batching: true,
        retries_max: 3,
        tasks: 64,
        share_ppm: 950_000,
        reserve: Reserve::percent(5, Reserve::WINDOW).expect("a share"),
        kernel_threads: laxity_kernel::KERNEL_THREADS,
        cores: Vec::new(),
    }
}

fn main() -> Result<(), Failure> {
    let cpus = u32::try_from(std::thread::available_parallelism()?.get())?;
    for name in std::env::args().skip(1) {
        let policy = Policy::all().find(|policy| policy.name() == name);
        let policy = policy.ok_or_else(|| format!("{name}: no policy of the kernel's"))?;
        let scheduler = Scheduler::attach(&options(policy, cpus)).map_err(|error| error.to_string())?;
        let sum: u64 = scheduler.lengths().iter().map(|one| u64::from(one.verified)).sum();
        println!("{name} {sum}");
    }
    Ok(())
}
