//! The CSV of overheads that the field's tools exchange: what laxity's costs and SchedCAT read.
//!
//! `TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY`, in µs with three decimals; for G-EDF-MP also
//! `MAILBOX` and `DSP`. One file has means, another one maxima. A column that was not measured is absent, and a comment says
//! so: readers take what has no column as costing nothing.

use crate::sample::Class;
use crate::statistics::{Groups, equal_counts};
use laxity_kernel::rings::SampleKind;
use laxity_model::overheads::Overhead;
use laxity_trace::Moments;
use std::fmt::Write;

/// How many columns there are: one for each overhead, in the order of [`Overhead::ALL`].
const COLUMNS: usize = Overhead::ALL.len();

/// The kinds of samples whose sum an overhead is.
///
/// Scheduling is the sum of its two parts (cerqueira2014, IV-A: "we report the aggregate measure"), each of its own
/// undisturbed samples: interrupts that came up meanwhile arrive in the second part, where they are allowed again, and
/// would take the first part with them. The sum of maxima is an upper bound.
pub fn kinds_of(overhead: Overhead) -> &'static [SampleKind] {
    match overhead {
        Overhead::IpiLatency => &[SampleKind::IpiLatency],
        Overhead::Schedule => &[SampleKind::Schedule, SampleKind::Schedule2],
        Overhead::Release => &[SampleKind::Release],
        Overhead::ContextSwitch => &[SampleKind::ContextSwitch],
        Overhead::Tick => &[SampleKind::Tick],
        Overhead::ReleaseLatency => &[SampleKind::ReleaseLatency],
        Overhead::RequestLatency => &[SampleKind::RequestLatency],
        Overhead::DspHandler => &[SampleKind::DspHandler],
    }
}

/// What one number of tasks costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Number of tasks.
    pub tasks: u32,
    /// Mean (rounded up) and maximum in ns, in the order of the columns; nothing where there is no sample.
    values: [Option<(u64, u64)>; COLUMNS],
}

/// Which of two numbers a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The mean: for soft real-time tests.
    Mean,
    /// The maximum: for hard real-time tests.
    Max,
}

impl Row {
    /// Of the samples of one class, taken while `tasks` tasks ran.
    pub fn of(tasks: u32, groups: &Groups, class: Class) -> Row {
        Row {
            tasks,
            values: Overhead::ALL.map(|overhead| {
                let of = |&kind: &SampleKind| groups.get(kind, class)?.mean_and_max_ns();
                kinds_of(overhead).iter().map(of).fold(None, sum)
            }),
        }
    }

    /// Of several recordings that are to be compared: of each kind of overhead, equally many undisturbed samples from
    /// every recording that has any, drawn from the seed. A maximum over more samples would be larger for that alone.
    pub fn of_equally_many(recordings: &[(u32, &Groups, Class)], seed: u64) -> Vec<Row> {
        let row = |&(tasks, ..): &(u32, &Groups, Class)| Row { tasks, values: [None; COLUMNS] };
        let mut rows: Vec<Row> = recordings.iter().map(row).collect();
        for (place, overhead) in Overhead::ALL.into_iter().enumerate() {
            for &kind in kinds_of(overhead) {
                let kept = recordings.iter().map(|&(_, groups, class)| match groups.get(kind, class) {
                    Some(group) => group.kept(),
                    None => &[],
                });
                let drawn = equal_counts(&kept.collect::<Vec<&[u64]>>(), seed);
                for (row, values) in rows.iter_mut().zip(drawn) {
                    row.values[place] = sum(row.values[place], mean_and_max(&values));
                }
            }
        }
        rows
    }
}

/// Of what is known; nothing if neither is.
fn sum(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.saturating_add(other.0), one.1.saturating_add(other.1))),
        (known, None) | (None, known) => known,
    }
}

fn mean_and_max(values: &[u64]) -> Option<(u64, u64)> {
    let max = *values.iter().max()?;
    let mut moments = Moments::default();
    values.iter().for_each(|&value| moments.add(value));
    Some((u64::try_from(moments.mean_rounded_up()?).expect("not above the maximum"), max))
}

/// The file of some rows. `absent` says why a quantity could not be measured, if it could not.
///
/// A quantity that could be measured but did not occur (no reschedule interrupt on one CPU) costs 0.
pub fn overheads_csv(rows: &[Row], which: Which, absent: impl Fn(SampleKind) -> Option<String>) -> String {
    let mut text = String::new();
    let mut columns = Vec::new();
    for (place, overhead) in Overhead::ALL.into_iter().enumerate() {
        let name = overhead.column();
        let sampled = rows.iter().any(|row| row.values[place].is_some());
        match kinds_of(overhead).iter().find_map(|&kind| absent(kind)) {
            Some(why) if !sampled => _ = writeln!(text, "# {name} was not measured: {}", one_line(&why)),
            Some(why) => {
                let _ = writeln!(text, "# {name} lacks a part that was not measured: {}", one_line(&why));
                columns.push((place, name));
            }
            None if !sampled && overhead.is_of_messages() => (),
            None => columns.push((place, name)),
        }
    }
    let names: Vec<&str> = columns.iter().map(|&(_, name)| name).collect();
    let _ = writeln!(text, "{}", [&["TASK-COUNT"], &names[..]].concat().join(", "));
    for row in rows {
        let _ = write!(text, "{}", row.tasks);
        for &(place, _) in &columns {
            let (mean, max) = row.values[place].unwrap_or_default();
            let ns = if which == Which::Mean { mean } else { max };
            let _ = write!(text, ", {}.{:03}", ns / 1_000, ns % 1_000);
        }
        text.push('\n');
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
