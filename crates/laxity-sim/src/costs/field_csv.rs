//! The CSV files that the field's tools exchange (those of SchedCAT; see `examples/costs`).
//!
//! - Overheads: `TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY`, in µs.
//! - Cache-related delays: `WSS, MEM, L1, L2, L3`; the working set in KiB, delays in µs.
//! - Samples: one column, headed `ns` or `us`.
//!
//! Columns come in any order, numbers are decimal and rounded up to whole ns, lines that begin with `#` are comments.

use super::cache_costs::MeasuredDelays;
use super::decimal::scaled_up;
use super::{Cost, Costs, Distribution, PiecewiseLinear};
use csv::{ReaderBuilder, Trim};
use laxity_model::{Diagnostic, Duration, Result};
use std::collections::BTreeMap;

const US: u64 = 1_000;
const KIB: u64 = 1_024;

/// A table whose columns have names.
struct Table {
    columns: Vec<String>,
    /// With the line of each row.
    rows: Vec<(u64, Vec<String>)>,
}

impl Table {
    fn read(text: &str) -> Result<Table> {
        let syntax = |e: csv::Error| {
            let line = e.position().map_or(0, csv::Position::line);
            let why = match e.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} fields where the header has {expected_len}")
                }
                _ => e.to_string(),
            };
            Diagnostic::usage(format!("line {line}: {why}")).hint("every line has one value per column")
        };
        let mut reader =
            ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers().map_err(syntax)?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(syntax)?;
            let line = record.position().map_or(0, csv::Position::line);
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
        if rows.is_empty() {
            return Err(Diagnostic::usage("there are no values below the header")
                .hint("give at least one line of values"));
        }
        Ok(Table { columns, rows })
    }

    /// Refuses columns that are not known or there twice.
    fn check(&self, known: &[&str]) -> Result<()> {
        for (place, column) in self.columns.iter().enumerate() {
            if !known.contains(&column.as_str()) {
                return Err(Diagnostic::usage(format!("the column `{column}` is not known"))
                    .hint(format!("the columns are {}", known.join(", "))));
            }
            if self.columns[..place].contains(column) {
                return Err(Diagnostic::usage(format!("the column `{column}` is there twice"))
                    .hint("remove one of them"));
            }
        }
        Ok(())
    }

    /// The values of a column times `scale`, if it is there.
    fn column(&self, name: &str, scale: u64) -> Result<Option<Vec<u64>>> {
        let Some(place) = self.columns.iter().position(|column| column == name) else {
            return Ok(None);
        };
        let value = |(line, row): &(u64, Vec<String>)| {
            let text = &row[place];
            scaled_up(text, scale).map_err(|why| {
                Diagnostic::usage(format!("line {line}, {name}: `{text}` {why}"))
                    .hint("write decimal numbers such as 12.5, without unit, sign or exponent")
            })
        };
        self.rows.iter().map(value).collect::<Result<_>>().map(Some)
    }

    fn required(&self, name: &str, scale: u64) -> Result<Vec<u64>> {
        self.column(name, scale)?.ok_or_else(|| {
            Diagnostic::usage(format!("there is no column `{name}`"))
                .hint(format!("the header has {}", self.columns.join(", ")))
        })
    }

    /// A column of times in µs as a function of `xs`.
    fn function(&self, name: &str, xs: &[u64]) -> Result<Option<PiecewiseLinear>> {
        let Some(times) = self.column(name, US)? else { return Ok(None) };
        let samples = xs.iter().copied().zip(times.into_iter().map(Duration::from_ns));
        PiecewiseLinear::new(samples).map(Some).map_err(|e| e.context(format!("column {name}")))
    }
}

/// Overheads as functions of the number of tasks. What has no column costs nothing.
pub(super) fn overheads(text: &str) -> Result<Costs> {
    const COUNT: &str = "TASK-COUNT";
    let table = Table::read(text)?;
    let mut costs = Costs::default();
    let columns: [(&str, &mut Cost); 9] = [
        ("IPI-LATENCY", &mut costs.ipi),
        ("SCHEDULE", &mut costs.scheduling),
        ("RELEASE", &mut costs.release),
        ("CXS", &mut costs.context_switch),
        ("TICK", &mut costs.tick),
        ("RELEASE-LATENCY", &mut costs.release_latency),
        // Not among the field's: what G-EDF-MP and push/pull need besides.
        ("MAILBOX", &mut costs.mailbox),
        ("DSP", &mut costs.dsp),
        ("STEP", &mut costs.step),
    ];
    let known: Vec<&str> = [COUNT].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
    table.check(&known)?;
    let counts = table.required(COUNT, 1)?;
    let at = table.columns.iter().position(|column| column == COUNT).expect("required above");
    if let Some((line, row)) = table.rows.iter().find(|(_, row)| row[at].contains('.')) {
        return Err(Diagnostic::usage(format!("line {line}, {COUNT}: `{}` is not a whole number", row[at]))
            .hint("tasks are counted: 1, 2, 3 ..."));
    }
    for (name, cost) in columns {
        if let Some(function) = table.function(name, &counts)? {
            *cost = Cost::PiecewiseLinear(function);
        }
    }
    Ok(costs)
}

/// Cache-related delays as functions of the working set's size.
pub(super) fn cache_delays(text: &str) -> Result<MeasuredDelays> {
    let table = Table::read(text)?;
    table.check(&["WSS", "MEM", "L1", "L2", "L3", "L4"])?;
    let sizes = table.required("WSS", KIB)?;
    let memory = table.function("MEM", &sizes)?;
    let memory = memory.ok_or_else(|| {
        Diagnostic::usage("there is no column `MEM`")
            .hint("it has the delays of migrations that share no cache")
    })?;
    let mut levels = BTreeMap::new();
    for (level, name) in [(1, "L1"), (2, "L2"), (3, "L3"), (4, "L4")] {
        if let Some(function) = table.function(name, &sizes)? {
            levels.insert(level, function);
        }
    }
    Ok(MeasuredDelays { levels, memory })
}

/// Measured values of one cost.
pub(super) fn samples(text: &str) -> Result<Distribution> {
    let table = Table::read(text)?;
    let (name, scale) = match table.columns.as_slice() {
        [unit] if unit == "ns" => ("ns", 1),
        [unit] if unit == "us" => ("us", US),
        other => {
            return Err(Diagnostic::usage(format!("samples have the header `{}`", other.join(", ")))
                .hint("samples are one column with the header `ns` or `us`, its unit"));
        }
    };
    Distribution::empirical(table.required(name, scale)?.into_iter().map(Duration::from_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEADS: &str = "\
# measured on nothing
TASK-COUNT, IPI-LATENCY, SCHEDULE, RELEASE, CXS, TICK, RELEASE-LATENCY
10, 1.5, 2.0004, 3, 4, 5, 6
30, 2.5, 2, 3, 4, .5, 7.25
";

    #[test]
    fn reads_the_fields_overheads() {
        let costs = overheads(OVERHEADS).expect("valid");
        let at = |cost: &Cost| [10, 20, 30].map(|n| cost.mean_ns(n));
        assert_eq!(at(&costs.ipi), [1_500, 2_000, 2_500]);
        assert_eq!(at(&costs.scheduling), [2_001; 3], "rounded up, then never less for more tasks");
        assert_eq!(at(&costs.tick), [5_000; 3]);
        assert_eq!(at(&costs.release_latency), [6_000, 6_625, 7_250]);
        assert_eq!((at(&costs.release), at(&costs.context_switch)), ([3_000; 3], [4_000; 3]));
        assert!(
            costs.mailbox.is_zero() && costs.dsp.is_zero() && costs.step.is_zero() && costs.cache.is_none()
        );
        assert_eq!(costs.notes(30), [""; 0]);
        assert!(costs.notes(31)[0].contains("up to 30 tasks; for 31"), "{:?}", costs.notes(31));
    }

    #[test]
    fn reads_the_fields_cache_delays() {
        let delays = cache_delays("WSS,MEM,L1,L2,L3\n4,10,1,2,3\n64,100,10,20,30\n").expect("valid");
        let at = |level, kib: u64| delays.delay(level, kib << 10);
        assert_eq!(
            [None, Some(1), Some(2), Some(3)].map(|level| at(level, 64)),
            [100_000, 10_000, 20_000, 30_000]
        );
        assert_eq!(at(Some(3), 34), 16_500);
        assert_eq!(at(Some(4), 4), 10_000, "farther than what was measured: memory");
        let few = cache_delays("WSS,MEM,L2\n4,10,2\n").expect("valid");
        assert_eq!([Some(1), Some(2), Some(3)].map(|level| few.delay(level, 99)), [2_000, 2_000, 10_000]);
    }

    #[test]
    fn reads_samples_in_either_unit() {
        assert_eq!(samples("us\n1.5\n2\n"), samples("ns\n1500\n2000\n"));
        assert!(samples("ms\n1\n").expect_err("unit").message.contains("`ms`"));
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        let wrong = |text: &str| overheads(text).expect_err(text).to_string();
        for (text, part) in [
            ("", "no values"),
            ("TASK-COUNT,CXS\n", "no values"),
            ("TASK-COUNT,CSX\n1,2\n", "`CSX` is not known"),
            ("TASK-COUNT,CXS,CXS\n1,2,3\n", "twice"),
            ("CXS\n2\n", "no column `TASK-COUNT`"),
            ("TASK-COUNT,CXS\n1\n", "line 2: 1 fields where the header has 2"),
            ("TASK-COUNT,CXS\n1,-2\n", "line 2, CXS: `-2`"),
            ("TASK-COUNT,CXS\n1,2us\n", "`2us`"),
            ("TASK-COUNT,CXS\n1,1e3\n", "`1e3`"),
            ("TASK-COUNT,CXS\n1,nan\n", "`nan`"),
            ("TASK-COUNT,CXS\n1,\n", "CXS: `` is not"),
            ("TASK-COUNT,CXS\n1,2\n1,3\n", "column CXS: there are two values at 1"),
            ("TASK-COUNT,CXS\n1.5,2\n", "`1.5`"),
            ("TASK-COUNT,CXS\n1,1000000001\n", "limit"),
            ("TASK-COUNT,CXS\n1,99999999999999999999\n", "too large"),
        ] {
            let message = wrong(text);
            assert!(message.contains(part) && message.contains("hint:"), "{text}: {message}");
        }
        assert!(cache_delays("WSS,L1\n1,2\n").expect_err("no MEM").message.contains("`MEM`"));
    }
}
