//! Sets of multi-threaded tasks placed per second: `cargo run --release -p laxity-place --example mtt_sets`. 50 000 sets
//! of lindsay2012's MWL distribution (Table 6.1), loads 6 to 48 on 48 cores; the paper's Python takes "less than 5 minutes
//! on a 1.6 GHz processor" (5.4). Only placing is timed. One thread.

use laxity_model::{Duration, Group, LoadSum, Platform, Scope, Task, TaskSet};
use laxity_place::{Bin, Method, Overload, Request};
use std::cmp::Ordering;
use std::hint::black_box;
use std::time::Instant;

const SETS: u64 = 50_000;
const CORES: u32 = 48;

struct Draw(u64);

impl Draw {
    fn within(&mut self, low: u64, high: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (self.0 >> 33) % (high - low + 1)
    }
}

/// MTTs until their load exceeds `cap`.
fn set(seed: u64, cap: u64) -> TaskSet {
    let mut draw = Draw(seed);
    let mut load = LoadSum::new();
    let mut tasks: Vec<Task> = Vec::new();
    for number in 0.. {
        let (count, period_ms) = (draw.within(1, 8), draw.within(10, 250));
        let (period, share_ppm) = (Duration::from_ms(period_ms), draw.within(100_000, 400_000));
        let wcet = Duration::from_ns(period_ms * share_ppm);
        let size_bytes = draw.within(64, 512) << 10;
        (0..count).for_each(|_| load.add(wcet, period));
        if load.cmp_ratio(cap, 1) == Ordering::Greater {
            break;
        }
        tasks.extend((0..count).map(|place| {
            let mut task = Task::periodic(format!("m{number}.{place}"), wcet, period);
            task.working_set.size_bytes = size_bytes;
            task.group = Some(Group { name: format!("m{number}"), shared_bytes: size_bytes });
            task
        }));
    }
    TaskSet::new("mwl", tasks).expect("a valid set")
}

fn main() {
    let platform = Platform::symmetric(CORES).expect("a platform");
    let bins = Bin::of_platform(&platform, Scope::Partitioned).expect("bins");
    println!("placement,sets,tasks,seconds,sets_per_second,overloaded_sets");
    for name in ["lwfg", "lwf", "ffd", "wfd", "bf-deadline"] {
        let method: Method = name.parse().expect("a placement");
        let (mut seconds, mut tasks, mut overloaded) = (0.0, 0, 0);
        for seed in 0..SETS {
            let set = set(seed, 6 * (1 + seed % 8));
            tasks += set.tasks().len();
            let started = Instant::now();
            let request = Request::new(&set, bins.clone()).expect("a request");
            let placement = request.with_overload(Overload::LeastLoaded).place(method).expect("a placement");
            overloaded += usize::from(!black_box(placement).overloaded.is_empty());
            seconds += started.elapsed().as_secs_f64();
        }
        #[expect(clippy::cast_precision_loss, reason = "a small count, to show")]
        let rate = SETS as f64 / seconds;
        println!("{name},{SETS},{tasks},{seconds:.2},{rate:.0},{overloaded}");
    }
}
