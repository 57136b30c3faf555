//! The CSV of overheads that the field's tools exchange: what laxity's costs and SchedCAT read.
//!
//! `TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY`, in µs with three decimals; for G-EDF-MP also
//! `MAILBOX` and `DSP`. One file has means, another one maxima. A column that was not measured is absent, and a comment says
//! so: readers take what has no column as costing nothing.

use crate::sample::Class;
use crate::statistics::{Groups, equal_counts};
use laxity_kernel::rings::SampleKind;
use laxity_trace::Moments;
use std::fmt::Write;

/// Columns and the kinds whose sum they are, in the order of the file.
///
/// Scheduling is the sum of its two parts (cerqueira2014, IV-A: "we report the aggregate measure"), each of its own
/// undisturbed samples: interrupts that came up meanwhile arrive in the second part, where they are allowed again, and
/// would take the first part with them. The sum of maxima is an upper bound.
const COLUMNS: [(&str, &[SampleKind]); 8] = [
    ("IPI-LATENCY", &[SampleKind::IpiLatency]),
    ("SCHEDULE", &[SampleKind::Schedule, SampleKind::Schedule2]),
    ("RELEASE", &[SampleKind::Release]),
    ("CXS", &[SampleKind::ContextSwitch]),
    ("TICK", &[SampleKind::Tick]),
    ("RELEASE-LATENCY", &[SampleKind::ReleaseLatency]),
    ("MAILBOX", &[SampleKind::RequestLatency]),
    ("DSP", &[SampleKind::DspHandler]),
];

/// Only under G-EDF-MP.
const OPTIONAL: [SampleKind; 2] = [SampleKind::RequestLatency, SampleKind::DspHandler];

/// What one number of tasks costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Number of tasks.
    pub tasks: u32,
    /// Mean (rounded up) and maximum in ns, in the order of the columns; nothing where there is no sample.
    values: [Option<(u64, u64)>; COLUMNS.len()],
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
            values: COLUMNS.map(|(_, kinds)| {
                let of = |&kind: &SampleKind| groups.get(kind, class)?.mean_and_max_ns();
                kinds.iter().map(of).fold(None, sum)
            }),
        }
    }

    /// Of several recordings that are to be compared: of each kind of overhead, equally many undisturbed samples from
    /// every recording that has any, drawn from the seed. A maximum over more samples would be larger for that alone.
    pub fn of_equally_many(recordings: &[(u32, &Groups, Class)], seed: u64) -> Vec<Row> {
        let row = |&(tasks, ..): &(u32, &Groups, Class)| Row { tasks, values: [None; COLUMNS.len()] };
        let mut rows: Vec<Row> = recordings.iter().map(row).collect();
        for (place, (_, kinds)) in COLUMNS.into_iter().enumerate() {
            for &kind in kinds {
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
    for (place, (name, kinds)) in COLUMNS.into_iter().enumerate() {
        let sampled = rows.iter().any(|row| row.values[place].is_some());
        match kinds.iter().find_map(|&kind| absent(kind)) {
            Some(why) if !sampled => _ = writeln!(text, "# {name} was not measured: {}", one_line(&why)),
            Some(why) => {
                let _ = writeln!(text, "# {name} lacks a part that was not measured: {}", one_line(&why));
                columns.push((place, name));
            }
            _ if !sampled && OPTIONAL.contains(&kinds[0]) => (),
            _ => columns.push((place, name)),
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
