//! Attaches a policy for some seconds: `attach POLICY SECONDS`.
use laxity_kernel::*;
use laxity_model::Policy;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let policy = Policy::ALL.into_iter().find(|p| p.name() == args[1]).expect("a policy");
    let n = std::thread::available_parallelism().unwrap().get() as u32;
    let options = Options {
        policy,
        fixed_priorities: false,
        cells: vec![Cell { cpus: (0..n).collect(), sockets: vec![0; n as usize] }],
        budget: BudgetMode::Throttle,
        batching: true,
        retries_max: 3,
        tasks: 1024,
        share_ppm: 950_000,
        reserve: Reserve { period_ns: 1_000_000_000, runtime_ns: 950_000_000 },
    };
    let s = match Scheduler::attach(&options) {
        Ok(s) => s,
        Err(e) => {
            println!("ERROR {e}");
            std::process::exit(3)
        }
    };
    println!("attached {:?}", s.verified());
    let mut rings = s.rings().unwrap();
    let switch = s.trace_switch().unwrap();
    if args.len() > 3 {
        switch.set(3);
    }
    let mut n = 0;
    let end = std::time::Instant::now() + std::time::Duration::from_secs(args[2].parse().unwrap());
    while std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(500));
        rings.drain(|r| {
            n += 1;
            if args.len() > 4 {
                println!("{r:?}");
            }
        });
        if let Some(e) = s.exited() {
            println!("EXIT {e:?}");
            println!("{:?}", s.counters());
            std::process::exit(1);
        }
    }
    println!("{:?}", s.counters());
    drop(s);
    println!("detached");
}
