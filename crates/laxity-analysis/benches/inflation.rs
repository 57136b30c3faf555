//! How many sets a second overheads are put into, and how many of them still have room for all tasks.
//!
//! ```text
//! cargo bench -p laxity-analysis --bench inflation
//! ```
//!
//! The sets are those of the tests' benchmark (`speed`), with working sets of 1 to 32 KiB; overheads and delays are those of
//! `examples/costs`. One thread, CPU time. A cell is sets per second, the share with room in percent, and for the accounting that
//! was measured there, where most have room, the ratio to SchedCAT's sets per second (one thread of a 2 GHz Xeon; U is not stated).

use laxity_analysis::SporadicTask;
use laxity_analysis::overheads::{
    Accounting, CacheDelays, FixedPriority, Interrupts, JobLevel, MessagePassing, Overheads, QuantumBased,
};
use laxity_generate::{Emberson, Generator, Request};
use laxity_model::Duration;

/// m, and SchedCAT's sets per second.
const COLUMNS: [(u32, f64); 3] = [(8, 7_900.0), (24, 3_100.0), (64, 595.0)];
const SETS: u64 = 100;
const SECONDS: f64 = 0.5;

fn sets(m: u32) -> Vec<Vec<SporadicTask>> {
    let utilization = format!("{}.{}", m * 4 / 10, m * 4 % 10).parse().expect("a decimal");
    let mut emberson = Emberson::new(5 * m, utilization);
    emberson.granularity = Duration::from_us(1);
    let request = Request { generator: Generator::from(emberson), common: Default::default(), seed: 1 };
    let prepared = request.prepare().expect("options");
    (0..SETS).map(|k| SporadicTask::of_set(&prepared.generate(k).expect("a set"))).collect()
}

fn overheads() -> Overheads {
    let delays = CacheDelays::from_csv(include_str!("../../../examples/costs/cpmd.csv")).expect("an example");
    Overheads::from_csv(include_str!("../../../examples/costs/overheads.csv"))
        .expect("an example")
        .with_cache(delays.within(Some(3)))
}

fn cpu_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = statistics.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
    on_cpu.expect("the kernel counts CPU time") / 1e9
}

/// Sets per second, and the share with room.
fn measure(accounting: &dyn Accounting, overheads: &Overheads, sets: &[Vec<SporadicTask>]) -> (f64, f64) {
    let tasks = sets.first().map_or(0, Vec::len) as u64;
    let working_sets: Vec<u64> = (0..tasks).map(|task| 1_024 << (task % 6)).collect();
    let (from, mut inflated, mut with_room) = (cpu_seconds(), 0.0, 0.0);
    loop {
        for set in sets {
            inflated += 1.0;
            with_room += f64::from(u8::from(accounting.inflate(overheads, set, &working_sets).is_ok()));
        }
        let passed = cpu_seconds() - from;
        if passed >= SECONDS {
            return (inflated / passed, with_room / inflated);
        }
    }
}

fn main() {
    let overheads = overheads();
    let columns = COLUMNS.map(|(m, peer)| (m, peer, sets(m)));
    let titles = COLUMNS.map(|(m, _)| format!("{:>26}", format!("m={m} n={} U=.4m", 5 * m)));
    println!("{:<26}{}", "sets/s", titles.concat());
    let of = |name: &str, compared: bool, accounting: &dyn Fn(u32) -> Box<dyn Accounting>| {
        let cells = columns.iter().map(|(m, peer, sets)| {
            let (rate, room) = measure(accounting(*m).as_ref(), &overheads, sets);
            // A set without room is given up early.
            let ratio = if compared && room > 0.9 { format!(" {:.0}x", rate / peer) } else { String::new() };
            format!("{:>26}", format!("{rate:.0} ({:.0} %){ratio}", room * 100.0))
        });
        println!("{name:<26}{}", cells.collect::<String>());
    };
    for (name, interrupts) in [("shared", Interrupts::Shared), ("dedicated", Interrupts::Dedicated)] {
        of(&format!("job level, {name}"), true, &|processors| Box::new(JobLevel { processors, interrupts }));
        of(&format!("fixed priority, {name}"), false, &|_| Box::new(FixedPriority { interrupts }));
        let quantum = QuantumBased { interrupts, aligned: false, staggered: None };
        of(&format!("quantum, {name}"), false, &|_| Box::new(quantum));
    }
    of("message passing", false, &|_| Box::new(MessagePassing));
}
