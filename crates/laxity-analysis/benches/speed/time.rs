//! Time per set.

use super::{accepts, peer, sets};
use laxity_analysis::{SporadicTask, Test};
use std::time::Instant;

/// CPU time of this thread if the kernel tells, else time that passes.
struct Clock(Instant);

impl Clock {
    fn seconds(&self) -> f64 {
        let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let on_cpu = statistics.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
        on_cpu.map_or_else(|| self.0.elapsed().as_secs_f64(), |ns| ns / 1e9)
    }
}

/// ns per set, and the share accepted, in at least so many seconds.
fn measure(test: &dyn Test, processors: u32, sets: &[Vec<SporadicTask>], least: f64) -> (f64, f64) {
    let clock = Clock(Instant::now());
    let from = clock.seconds();
    let (mut judged, mut accepted) = (0.0, 0.0);
    loop {
        // The clock is read once in several sets: reading it takes microseconds.
        for chunk in sets.chunks(16) {
            for set in chunk {
                judged += 1.0;
                accepted += f64::from(u8::from(accepts(test, set, processors)));
            }
            let passed = clock.seconds() - from;
            if passed >= least {
                return (passed * 1e9 / judged, accepted / judged);
            }
        }
    }
}

/// A row per test and kind of sets.
pub fn table(tests: &[&dyn Test], seconds: f64, count: u64) {
    println!("| deadlines | m | n | U | test | accepted | ns per set | SchedCAT | ratio |");
    println!("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |");
    for (column, kind) in sets::against_peer().enumerate() {
        let sets = kind.draw(count);
        for test in tests {
            let (ns, accepted) = measure(*test, kind.processors, &sets, seconds);
            let name = test.info().name;
            let (theirs, ratio) = match peer::ns_per_set(name, column) {
                Some(theirs) => (format!("{theirs:.0}"), format!("{:.0}", theirs / ns)),
                None => Default::default(),
            };
            let sets::Kind { processors, tasks, .. } = kind;
            let (deadlines, utilization) = (kind.deadlines(), kind.utilization());
            let accepted = accepted * 100.0;
            println!(
                "| {deadlines} | {processors} | {tasks} | {utilization} | {name} | {accepted:.0} % | {ns:.0} | {theirs} | {ratio} |"
            );
        }
    }
}
