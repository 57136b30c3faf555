//! How many sets a second each test judges, and how many of them it accepts.
//!
//! ```text
//! cargo bench -p laxity-analysis [-- [TEST...] [--seconds S] [--sets N]]
//! ```
//!
//! The sets are those on which SchedCAT was measured: RandFixedSum, n = 5 m, U = .4 m and .6 m, periods log-uniform in 10-100 ms (on a
//! grid of 1 us), implicit deadlines. One thread; the time is CPU time of this thread, so that others disturb little. A cell is
//! sets per second, the share accepted in percent, and, where there is one, the ratio to SchedCAT's sets per second (one thread
//! of a 2 GHz Xeon).

use laxity_analysis::{Guarantee, Priorities, SporadicTask, Test, Work, catalogue};
use laxity_generate::{Emberson, Generator, Request};
use laxity_model::Duration;
use std::time::Instant;

/// The columns: m, and U in tenths of m.
const COLUMNS: [(u32, u32); 6] = [(8, 4), (8, 6), (24, 4), (24, 6), (64, 4), (64, 6)];

/// SchedCAT's sets per second in these columns.
const PEER: [(&str, [f64; 6]); 9] = [
    ("gfb", [33_700.0, 39_000.0, 12_000.0, 12_000.0, 4_400.0, 4_300.0]),
    ("bak", [3_400.0, 13_000.0, 1_300.0, 3_100.0, 460.0, 1_800.0]),
    ("bcl", [12_400.0, 25_600.0, 4_400.0, 6_300.0, 1_600.0, 2_900.0]),
    ("bcl-iterative", [10_400.0, 3_600.0, 1_000.0, 361.0, 142.0, 56.0]),
    ("rta", [192.0, 57.0, 16.0, 8.0, 3.1, 1.0]),
    ("bar", [1_200.0, 599.0, 110.0, 448.0, 18.0, 57.0]),
    // None in 9 s at m = 64, U = .4 m.
    ("ff-dbf", [20.0, 206.0, 1.0, 9_800.0, 0.11, 2_600.0]),
    ("la", [52.0, 43.0, 4.2, 20.0, 0.6, 5.1]),
    ("gedf", [3_000.0, 40.0, 158.0, 4.8, 10.0, 0.6]),
];

struct Options {
    tests: Vec<&'static dyn Test>,
    seconds: f64,
    sets: u64,
}

impl Options {
    fn read() -> Options {
        let mut options = Options { tests: Vec::new(), seconds: 0.3, sets: 200 };
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|number| number.parse::<f64>().ok()).expect("a number");
            match word.as_str() {
                "--seconds" => options.seconds = number(),
                "--sets" => options.sets = Duration::from_ns(1).as_ns() * count(number()),
                name => {
                    options.tests.push(catalogue::test(name).unwrap_or_else(|| panic!("no test `{name}`")))
                }
            }
        }
        if options.tests.is_empty() {
            let edf = |test: &&dyn Test| {
                let info = test.info();
                info.priorities == Priorities::EarliestDeadlineFirst && info.guarantee == Guarantee::Hard
            };
            options.tests = catalogue::tests().iter().copied().filter(edf).collect();
        }
        options
    }
}

fn count(number: f64) -> u64 {
    format!("{number:.0}").parse().expect("a count")
}

fn sets(m: u32, tenths: u32, sets: u64) -> Vec<Vec<SporadicTask>> {
    let utilization = format!("{}.{}", m * tenths / 10, m * tenths % 10).parse().expect("a decimal");
    let mut emberson = Emberson::new(5 * m, utilization);
    emberson.granularity = Duration::from_us(1);
    let request = Request { generator: Generator::Emberson(emberson), common: Default::default(), seed: 1 };
    let prepared = request.prepare().expect("options");
    (0..sets).map(|k| SporadicTask::of_set(&prepared.generate(k).expect("a set"))).collect()
}

/// CPU time of this thread if the kernel tells, else time that passes.
fn seconds(started: Instant) -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_cpu = statistics.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    on_cpu.map_or_else(|| started.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// Sets per second, and the share accepted.
fn measure(test: &dyn Test, m: u32, sets: &[Vec<SporadicTask>], least: f64, started: Instant) -> (f64, f64) {
    let from = seconds(started);
    let (mut judged, mut accepted) = (0.0, 0.0);
    loop {
        // The clock is read once in several sets: reading it takes microseconds.
        for chunk in sets.chunks(16) {
            for set in chunk {
                judged += 1.0;
                accepted += f64::from(u8::from(test.judge(set, m, &mut Work::default()).is_schedulable()));
            }
            let passed = seconds(started) - from;
            if passed >= least {
                return (judged / passed, accepted / judged);
            }
        }
    }
}

fn main() {
    let options = Options::read();
    let started = Instant::now();
    let columns: Vec<_> = COLUMNS.map(|(m, tenths)| (m, sets(m, tenths, options.sets))).into();
    let titles = COLUMNS.map(|(m, tenths)| format!("{:>24}", format!("m={m} U=.{tenths}m")));
    println!("{:<14}{}", "sets/s", titles.concat());
    for test in options.tests {
        let name = test.info().name;
        print!("{name:<14}");
        let peer = PEER.iter().find(|(peer, _)| *peer == name).map(|(_, figures)| figures);
        for (at, (m, sets)) in columns.iter().enumerate() {
            let (rate, accepted) = measure(test, *m, sets, options.seconds, started);
            let ratio = peer.map_or(String::new(), |figures| format!(" {:.0}x", rate / figures[at]));
            print!("{:>24}", format!("{rate:.0} ({:.0} %){ratio}", accepted * 100.0));
        }
        println!();
    }
}
