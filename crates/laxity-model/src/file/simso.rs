//! Import of SimSo's simulation files (XML).
//!
//! 1. Times are decimals of milliseconds. What is not a whole number of nanoseconds is rounded to the safe
//!    side: WCETs up; periods, deadlines and activation dates down.
//! 2. A `Periodic` task keeps its period and activation date (the phase). A `Sporadic` one has a list of
//!    activation dates; its minimum interarrival time is their smallest distance, its phase the first, and it leaves
//!    after the last.
//! 3. An `APeriodic` task is started by the end of another task's job: it has no period and is refused.
//! 4. With `etm="acet"`, execution times vary around ACET (a normal distribution): the task's demand.
//!
//! Processors, caches, overheads and the scheduler are not part of a task set. A warning names what else is left out.

use super::{Imported, limited};
use crate::file::document::{line_and_column, printable};
use crate::task_set::TASKS_MAX;
use crate::{Arrival, Demand, Diagnostic, Duration, Result, Task, TaskSet, plural};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::BTreeMap;

type Attributes = BTreeMap<String, String>;

/// Attributes of tasks that are read here, or that only say how caches are modelled (`etm="cache"`), which has its own warning.
const KNOWN: [&str; 18] = [
    "name",
    "id",
    "task_type",
    "periodic",
    "abort_on_miss",
    "period",
    "activationDate",
    "list_activation_dates",
    "deadline",
    "WCET",
    "ACET",
    "et_stddev",
    "followed_by",
    "base_cpi",
    "instructions",
    "n_instr",
    "mix",
    "stack",
];

/// A task leaves so many ns after its last activation date: it still arrives on that.
const AFTER_THE_LAST: u64 = 1;

impl TaskSet {
    /// Imports a SimSo simulation file (see the rules above); `name` becomes the set's name.
    pub fn from_simso(text: &str, name: &str) -> Result<Imported> {
        let mut import = Import::default();
        let mut reader = Reader::from_str(text);
        loop {
            let start = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
            let place = || {
                let (line, column) = line_and_column(text, start);
                format!("line {line}, column {column}")
            };
            let event = reader.read_event().map_err(|e| syntax(&e).context(place()))?;
            match event {
                Event::Start(element) => import.open(&element).map_err(|e| e.context(place()))?,
                Event::Empty(element) => {
                    import.open(&element).map_err(|e| e.context(place()))?;
                    import.path.pop();
                }
                Event::End(_) => drop(import.path.pop()),
                Event::Eof => break,
                _ => {}
            }
        }
        import.finish(name)
    }
}

#[derive(Default)]
struct Import {
    /// Names of the open elements.
    path: Vec<String>,
    seen_root: bool,
    tasks: Vec<Task>,
    varies: bool,
    rounded: usize,
    processors: usize,
    aborting: usize,
    warnings: Vec<String>,
}

impl Import {
    fn open(&mut self, element: &BytesStart) -> Result<()> {
        let name = element.name().as_ref().to_owned();
        if self.path.is_empty() {
            self.open_root(&name, element)?;
        }
        self.path.push(name);
        if self.path.len() > 64 {
            return Err(
                Diagnostic::usage("elements are nested more than 64 deep").hint("the file is not SimSo's")
            );
        }
        let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["simulation", "tasks", "task"] => self.task(&attributes(element)?),
            ["simulation", "processors", "processor"] => {
                self.processors += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open_root(&mut self, name: &str, element: &BytesStart) -> Result<()> {
        if name != "simulation" || self.seen_root {
            return Err(Diagnostic::usage(format!("the root element is `{name}`, not one `simulation`"))
                .hint("export the file from SimSo"));
        }
        self.seen_root = true;
        let attributes = attributes(element)?;
        let model = attributes.get("etm").map(String::as_str);
        self.varies = model == Some("acet");
        if let Some(other) = model.filter(|model| !["acet", "wcet"].contains(model)) {
            self.warnings.push(format!(
                "the execution time model `{other}` has no counterpart; jobs ask for their WCET"
            ));
        }
        Ok(())
    }

    fn task(&mut self, attributes: &Attributes) -> Result<()> {
        if self.tasks.len() == TASKS_MAX {
            return Err(
                Diagnostic::usage(format!("more than {TASKS_MAX} tasks, the limit")).hint("split the set")
            );
        }
        let Some(name) = attributes.get("name") else {
            return Err(Diagnostic::usage("a task has no name").hint("give every task a `name`"));
        };
        let task = self.read_task(name, attributes).map_err(|e| e.context(format!("task `{name}`")))?;
        self.tasks.push(task);
        Ok(())
    }

    fn read_task(&mut self, name: &str, attributes: &Attributes) -> Result<Task> {
        let wcet = self.time(attributes, "WCET", Rounding::Up)?;
        let Arrivals { arrival, phase, leave } = self.arrivals(name, attributes)?;
        if attributes.get("abort_on_miss").is_none_or(|abort| abort == "yes") {
            self.aborting += 1;
        }
        if attributes.contains_key("followed_by") {
            self.warnings.push(format!("task `{name}`: `followed_by` (precedence) is not modelled"));
        }
        self.warn_unknown(name, attributes);
        let deadline_rel = self.time(attributes, "deadline", Rounding::Down)?;
        let period = match arrival {
            Arrival::Periodic { period } => period,
            Arrival::Sporadic { min_interarrival } => min_interarrival,
        };
        let demand = if self.varies { self.demand(name, attributes, wcet)? } else { None };
        Ok(Task { arrival, phase, leave, deadline_rel, demand, ..Task::periodic(name, wcet, period) })
    }

    /// Says which attributes have no counterpart, unless they say nothing.
    fn warn_unknown(&mut self, name: &str, attributes: &Attributes) {
        let says_nothing =
            |value: &str| value.is_empty() || milliseconds(value, Rounding::Up) == Some((0, true));
        let unknown =
            attributes.iter().filter(|(key, value)| !KNOWN.contains(&key.as_str()) && !says_nothing(value));
        let names: Vec<String> = unknown.map(|(key, _)| format!("`{key}`")).collect();
        if !names.is_empty() {
            self.warnings
                .push(format!("task `{name}`: {} left out: a task has no such thing", names.join(", ")));
        }
    }

    fn arrivals(&mut self, name: &str, attributes: &Attributes) -> Result<Arrivals> {
        let aperiodic_flag = attributes.get("periodic").is_some_and(|periodic| periodic == "no");
        let kind =
            attributes.get("task_type").map_or(if aperiodic_flag { "APeriodic" } else { "Periodic" }, |t| t);
        match kind {
            "Periodic" => {
                let period = self.time(attributes, "period", Rounding::Down)?;
                let given = attributes.contains_key("activationDate");
                let phase = if given {
                    self.time(attributes, "activationDate", Rounding::Down)?
                } else {
                    Duration::ZERO
                };
                Ok(Arrivals { arrival: Arrival::Periodic { period }, phase, leave: None })
            }
            "Sporadic" => self.activations(name, attributes),
            "APeriodic" => {
                Err(Diagnostic::usage("is aperiodic: another task's job starts it, so it has no period")
                    .hint("make it Periodic with the period of the task that starts it, or remove it"))
            }
            other => Err(Diagnostic::usage(format!("task_type `{other}` is not known"))
                .hint("use Periodic or Sporadic")),
        }
    }

    fn activations(&mut self, name: &str, attributes: &Attributes) -> Result<Arrivals> {
        let list = attributes.get("list_activation_dates").map_or("", String::as_str);
        let mut dates = Vec::new();
        for date in list.split(',').map(str::trim).filter(|date| !date.is_empty()) {
            dates.push(self.decimal("list_activation_dates", date, Rounding::Down)?);
        }
        dates.sort_unstable();
        let gaps = dates.windows(2).map(|pair| pair[1] - pair[0]);
        let Some(min_interarrival) = gaps.min() else {
            return Err(Diagnostic::usage(
                "is sporadic with fewer than two activation dates, so nothing bounds its rate",
            )
            .hint("give at least two dates in list_activation_dates"));
        };
        let last = dates.last().copied().unwrap_or_default();
        self.warnings.push(format!(
            "task `{name}`: its {} activation dates become arrivals at least {min_interarrival} apart, until the last of them",
            dates.len()
        ));
        let leave = last.as_ns().checked_add(AFTER_THE_LAST).map(Duration::from_ns);
        Ok(Arrivals { arrival: Arrival::Sporadic { min_interarrival }, phase: dates[0], leave })
    }

    fn demand(&mut self, name: &str, attributes: &Attributes, wcet: Duration) -> Result<Option<Demand>> {
        let part = |import: &mut Self, key: &str| {
            if attributes.contains_key(key) {
                import.time(attributes, key, Rounding::Up)
            } else {
                Ok(Duration::ZERO)
            }
        };
        let (mean, deviation) = (part(self, "ACET")?, part(self, "et_stddev")?);
        if mean.is_zero() || wcet.is_zero() {
            self.warnings.push(format!("task `{name}` has no ACET; its jobs ask for their WCET"));
            return Ok(None);
        }
        let ppm =
            |share: Duration| (u128::from(share.as_ns()) * 1_000_000).div_ceil(u128::from(wcet.as_ns()));
        let decimal = |ppm: u128| format!("{}.{:06}", ppm / 1_000_000, ppm % 1_000_000);
        let text = match deviation.is_zero() {
            true => decimal(ppm(mean)),
            false => format!("normal:{},{}", decimal(ppm(mean)), decimal(ppm(deviation))),
        };
        text.parse().map(Some)
    }

    fn time(&mut self, attributes: &Attributes, key: &str, rounding: Rounding) -> Result<Duration> {
        let text = attributes.get(key).ok_or_else(|| {
            Diagnostic::usage(format!("has no `{key}`")).hint(format!("give `{key}` in milliseconds"))
        })?;
        self.decimal(key, text, rounding)
    }

    fn decimal(&mut self, key: &str, text: &str, rounding: Rounding) -> Result<Duration> {
        let (ns, exact) = milliseconds(text.trim(), rounding).ok_or_else(|| {
            Diagnostic::usage(printable(&format!("`{key}` is `{text}`, not a time from 0 to 2^64 ns")))
                .hint("SimSo's times are decimal numbers of milliseconds")
        })?;
        self.rounded += usize::from(!exact);
        Ok(Duration::from_ns(ns))
    }

    fn finish(mut self, name: &str) -> Result<Imported> {
        if !self.seen_root || !self.path.is_empty() {
            return Err(Diagnostic::usage("the file ends before its `simulation` element does")
                .hint("the file is empty or was cut off"));
        }
        if self.rounded > 0 {
            self.warnings.push(format!(
                "rounded to whole ns, to the safe side (WCETs up, all others down): {}",
                plural(self.rounded, "time")
            ));
        }
        if self.aborting > 0 {
            self.warnings.push(format!(
                "abort_on_miss of {}: no task set says that jobs which miss are aborted; --on-miss abort does so in simulations \
                 and runs, for all tasks",
                plural(self.aborting, "task")
            ));
        }
        if self.processors > 0 {
            self.warnings.push(format!(
                "left out, for a task set has no CPUs: {}; describe them in a platform",
                plural(self.processors, "CPU")
            ));
        }
        Ok(Imported { set: TaskSet::new(name, self.tasks)?, warnings: limited(self.warnings) })
    }
}

/// When a task's jobs arrive.
struct Arrivals {
    arrival: Arrival,
    phase: Duration,
    leave: Option<Duration>,
}

#[derive(Clone, Copy)]
enum Rounding {
    Up,
    Down,
}

/// Nanoseconds of a decimal number of milliseconds (`1.5`, `1e-05`), and whether nothing was rounded.
fn milliseconds(text: &str, rounding: Rounding) -> Option<(u64, bool)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some((0, true));
    }
    // digits * 10^(exponent - fraction) ms, and 1 ms is 10^6 ns
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let count = |length: usize| i64::try_from(length).ok();
    let power = exponent.parse::<i64>().ok()?.checked_add(6)?;
    let power = power.checked_sub(count(fraction.len())?)?.checked_add(count(trailing)?)?;
    if power >= 0 {
        let scale = 10u64.checked_pow(u32::try_from(power).ok()?)?;
        return Some((significant.parse::<u64>().ok()?.checked_mul(scale)?, true));
    }
    let kept =
        count(significant.len())?.checked_add(power).and_then(|kept| usize::try_from(kept).ok()).unwrap_or(0);
    let floor = if kept == 0 { 0 } else { significant[..kept].parse::<u64>().ok()? };
    // The last significant digit is not 0 and lies below 1 ns, so the floor is never exact.
    match rounding {
        Rounding::Down => Some((floor, false)),
        Rounding::Up => Some((floor.checked_add(1)?, false)),
    }
}

fn attributes(element: &BytesStart) -> Result<Attributes> {
    let mut attributes = Attributes::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|e| syntax(&e))?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| syntax(&e))?;
        attributes.insert(attribute.key.as_ref().to_owned(), value.into_owned());
    }
    Ok(attributes)
}

fn syntax(error: &impl std::fmt::Display) -> Diagnostic {
    Diagnostic::usage(printable(&error.to_string())).hint("the file must be well-formed XML in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_decimal_milliseconds_exactly() {
        for (text, down, up) in [
            ("10", 10_000_000, 10_000_000),
            ("10.0", 10_000_000, 10_000_000),
            ("0.000001", 1, 1),
            ("1e-05", 10, 10),
            ("1.5e3", 1_500_000_000, 1_500_000_000),
            ("0", 0, 0),
            ("1.23456789", 1_234_567, 1_234_568),
            ("0.0000001", 0, 1),
            ("1e-400", 0, 1),
            ("5e-324", 0, 1),
            (".5", 500_000, 500_000),
        ] {
            assert_eq!(milliseconds(text, Rounding::Down).map(|t| t.0), Some(down), "{text}");
            assert_eq!(milliseconds(text, Rounding::Up).map(|t| t.0), Some(up), "{text}");
        }
        for text in
            ["", "-1", "nan", "inf", "1e", "1e99", "99999999999999", ".", "1.2.3", "1e9999999999999999999"]
        {
            assert_eq!(milliseconds(text, Rounding::Down), None, "{text}");
        }
    }
}
