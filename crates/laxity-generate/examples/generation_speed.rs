//! How fast sets are generated, in one thread: `cargo run --release -p laxity-generate --example generation_speed`.
//!
//! "table" is the time to prepare a request (RandFixedSum's table), spent once for all its sets; "set" the
//! time per complete, checked task set with provenance, at U = 0.8 m and n = 5 m.

use laxity_generate::{Decimal, Emberson, Generator, Request, UUniFast};
use std::hint::black_box;
use std::time::Instant;

fn microseconds_each(rounds: u32, mut work: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    (0..rounds).for_each(&mut work);
    start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

fn main() -> laxity_model::Result<()> {
    println!("{:>9} {:>5} {:>10} {:>10} {:>10}", "generator", "n", "table_us", "set_us", "sets/s");
    for tasks in [5, 20, 80, 320, 1_280] {
        let total = Decimal::from_thousandths(160).checked_mul(tasks).expect("small");
        let generators =
            [Generator::from(Emberson::new(tasks, total)), Generator::from(UUniFast::new(tasks, total))];
        for generator in generators {
            let request = Request { generator, common: Default::default(), seed: 1 };
            let prepared = match request.prepare() {
                Ok(prepared) => prepared,
                Err(refused) => {
                    println!("{:>9} {tasks:>5} {}", request.generator.name(), refused.message);
                    continue;
                }
            };
            let table = microseconds_each(20, |_| drop(black_box(request.prepare())));
            let set =
                microseconds_each(400_000 / tasks, |index| drop(black_box(prepared.generate(index.into()))));
            println!(
                "{:>9} {tasks:>5} {table:>10.1} {set:>10.1} {:>10.0}",
                request.generator.name(),
                1e6 / set
            );
        }
    }
    Ok(())
}
