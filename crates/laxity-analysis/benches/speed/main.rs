//! What judging a set costs, by test, and how many sets each test accepts.
//!
//! ```text
//! cargo bench -p laxity-analysis --bench speed -- [TEST...] [--seconds S] [--sets N]
//! cargo bench -p laxity-analysis --bench speed -- --against-n [TEST...] [--sets N]
//! cargo bench -p laxity-analysis --bench speed -- --write DIR [--sets N]
//! cargo bench -p laxity-analysis --bench speed -- --judge FILE TEST ROUNDS
//! ```
//!
//! 1. Time per set, beside SchedCAT's (`peer.rs`), on sets as SchedCAT was measured with, and on sets with D < T. CPU time of one
//!    thread, so that others disturb little; still a number of one machine and one day: the ratio to it is what counts.
//! 2. Instructions per set against n, as valgrind counts them: the same number every time.
//! 3. The sets as lines of numbers, `index m n` and `C D T` of each task in ns: what another program needs to judge the same.
//! 4. Verdicts on the sets of such a file, `index 0` or `index 1` each, as another program would print them; judged in so many rounds.
//!
//! Both tables are Markdown. `results/analysis-speed` has them.

mod instructions;
mod peer;
mod sets;
mod time;

use laxity_analysis::{Guarantee, Priorities, SporadicTask, Test, Work, catalogue};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A table, or what is to be written.
enum Order {
    Time,
    AgainstN,
    Write(PathBuf),
    Judge { file: PathBuf, rounds: u32 },
}

struct Options {
    order: Order,
    tests: Vec<&'static dyn Test>,
    seconds: f64,
    /// Nothing: as many as the order has by default.
    sets: Option<u64>,
}

impl Options {
    fn read() -> Options {
        let mut options = Options { order: Order::Time, tests: Vec::new(), seconds: 0.3, sets: None };
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            match word.as_str() {
                "--seconds" => options.seconds = next(&mut words),
                "--sets" => options.sets = Some(next(&mut words)),
                "--against-n" => options.order = Order::AgainstN,
                "--write" => options.order = Order::Write(next(&mut words)),
                "--judge" => {
                    let file = next(&mut words);
                    options.tests.push(test(&next::<String>(&mut words)));
                    options.order = Order::Judge { file, rounds: next(&mut words) };
                }
                name => options.tests.push(test(name)),
            }
        }
        if options.tests.is_empty() {
            options.tests = catalogue::tests().iter().copied().filter(of_global_edf).collect();
        }
        options
    }
}

fn next<T: FromStr>(words: &mut impl Iterator<Item = String>) -> T {
    let word = words.next().expect("an argument is missing");
    word.parse().unwrap_or_else(|_| panic!("`{word}` is not what belongs here"))
}

fn test(name: &str) -> &'static dyn Test {
    catalogue::test(name).unwrap_or_else(|| panic!("no test `{name}`"))
}

fn of_global_edf(test: &&dyn Test) -> bool {
    let info = test.info();
    info.priorities == Priorities::EarliestDeadlineFirst
        && info.guarantee == Guarantee::Hard
        && !info.assumptions.contains(&"m = 1")
}

fn accepts(test: &dyn Test, tasks: &[SporadicTask], processors: u32) -> bool {
    test.judge(tasks, processors, &mut Work::default()).is_schedulable()
}

fn judge(file: &Path, test: &dyn Test, rounds: u32) {
    let sets = sets::read(file);
    for round in 0..rounds {
        for (index, (processors, tasks)) in sets.iter().enumerate() {
            let accepted = accepts(test, tasks, *processors);
            if round == 0 {
                println!("{index} {}", u8::from(accepted));
            }
        }
    }
}

fn main() {
    let options = Options::read();
    match &options.order {
        Order::Time => time::table(&options.tests, options.seconds, options.sets.unwrap_or(200)),
        Order::AgainstN => instructions::table(&options.tests, options.sets.unwrap_or(8)),
        Order::Write(directory) => {
            for kind in sets::against_peer() {
                sets::write(&directory.join(kind.file_name()), kind, options.sets.unwrap_or(200));
            }
        }
        Order::Judge { file, rounds } => judge(file, options.tests[0], *rounds),
    }
}
