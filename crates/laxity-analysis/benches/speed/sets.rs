//! The sets: RandFixedSum, periods log-uniform in 10-100 ms on a grid of 1 us.

use laxity_analysis::SporadicTask;
use laxity_generate::{Common, Deadlines, Emberson, Generator, Request};
use laxity_model::Duration;
use std::fmt::Write as _;
use std::path::Path;

/// A kind of sets.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub processors: u32,
    pub tasks: u32,
    /// U in tenths of m.
    pub tenths: u32,
    /// D = T; otherwise D is uniform in [C + (T - C)/2, T].
    pub implicit: bool,
}

impl Kind {
    pub fn utilization(&self) -> String {
        format!("{}.{}", self.processors * self.tenths / 10, self.processors * self.tenths % 10)
    }

    pub fn deadlines(&self) -> &'static str {
        if self.implicit { "D = T" } else { "D < T" }
    }

    pub fn file_name(&self) -> String {
        let deadlines = if self.implicit { "implicit" } else { "constrained" };
        format!("{deadlines}-m{}-n{}-u{}.sets", self.processors, self.tasks, self.utilization())
    }

    /// The first sets of this kind, the same on every machine.
    pub fn draw(&self, count: u64) -> Vec<Vec<SporadicTask>> {
        let utilization = self.utilization().parse().expect("a decimal");
        let mut emberson = Emberson::new(self.tasks, utilization);
        emberson.granularity = Duration::from_us(1);
        let half = Deadlines::Constrained("0.5".parse().expect("a decimal"));
        let deadlines = if self.implicit { Deadlines::Implicit } else { half };
        let common = Common { deadlines, ..Common::default() };
        let request = Request { generator: Generator::from(emberson), common, seed: 1 };
        let prepared = request.prepare().expect("options");
        (0..count).map(|k| SporadicTask::of_set(&prepared.generate(k).expect("a set"))).collect()
    }
}

/// As SchedCAT was measured, n = 5 m, and the same with D < T.
pub fn against_peer() -> impl Iterator<Item = Kind> {
    let kind = |implicit, processors, tenths| Kind { processors, tasks: 5 * processors, tenths, implicit };
    [true, false].into_iter().flat_map(move |implicit| {
        [8, 24, 64]
            .into_iter()
            .flat_map(move |processors| [4, 6].map(|tenths| kind(implicit, processors, tenths)))
    })
}

/// m = 8, and n from m / 2 on, as far as utilizations stay below 1.
pub fn against_n(tenths: u32, implicit: bool) -> impl Iterator<Item = Kind> {
    let kind = move |tasks| Kind { processors: 8, tasks, tenths, implicit };
    COUNTS.map(kind).into_iter().filter(|kind| kind.processors * kind.tenths < 10 * kind.tasks)
}

/// m / 2, m, 2 m ... for m = 8.
pub const COUNTS: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];

/// A line per set.
pub fn write(file: &Path, kind: Kind, count: u64) {
    let mut text = String::new();
    for (index, tasks) in kind.draw(count).iter().enumerate() {
        write!(text, "{index} {} {}", kind.processors, tasks.len()).expect("memory");
        for SporadicTask { wcet_ns: wcet, deadline_rel_ns: deadline, period_ns: period, .. } in tasks {
            write!(text, " {wcet} {deadline} {period}").expect("memory");
        }
        text.push('\n');
    }
    std::fs::write(file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// The processors and the tasks of each set.
pub fn read(file: &Path) -> Vec<(u32, Vec<SporadicTask>)> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let set = |line: &str| {
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let tasks = numbers[3..].chunks(3).map(|task| SporadicTask::constrained(task[0], task[1], task[2]));
        (u32::try_from(numbers[1]).expect("processors"), tasks.collect())
    };
    text.lines().map(set).collect()
}
