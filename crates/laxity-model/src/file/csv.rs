//! Task sets as CSV: `name,wcet_ns,period_ns,deadline_ns,phase_ns,wss_bytes`, the last three optional.
//!
//! A missing or empty deadline is the period, a missing phase 0, a missing working set none. CSV has no
//! place for sporadic arrivals, groups, affinities, kinds, demands and the shape of accesses.

use super::document::printable;
use super::task_set::default_name;
use super::{Exported, Imported};
use crate::line_number::line_from;
use crate::task_set::TASKS_MAX;
use crate::{Arrival, Diagnostic, Duration, Result, Task, TaskKind, TaskSet, WorkingSet, closest, plural};
use csv::{ReaderBuilder, StringRecord, Trim, Writer};

const COLUMNS: [&str; 6] = TaskRow::COLUMNS;
const REQUIRED: usize = 3;

/// A task as the row of a table; what is not there is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRow<'a> {
    /// Its name; without one, T1, T2 ... by position.
    pub name: Option<&'a str>,
    /// The others of [`TaskRow::COLUMNS`], in their order.
    pub values: [Option<u64>; 5],
}

impl<'a> TaskRow<'a> {
    /// Names of the columns: times in ns, the deadline relative, the working set in bytes. The last three can be left out.
    pub const COLUMNS: [&'static str; 6] =
        ["name", "wcet_ns", "period_ns", "deadline_ns", "phase_ns", "wss_bytes"];

    /// The row of a task.
    pub fn of(task: &'a Task) -> Self {
        let times = [task.wcet, task.period(), task.deadline_rel, task.phase].map(Duration::as_ns);
        let [wcet, period, deadline, phase] = times.map(Some);
        let values = [wcet, period, deadline, phase, Some(task.working_set.size_bytes)];
        TaskRow { name: Some(&task.name), values }
    }

    /// The task, which is the one of this number in its set.
    pub fn task(&self, id: usize) -> Result<Task> {
        let name = self.name.map_or_else(|| default_name(id), str::to_owned);
        let [wcet, period, deadline, phase, working_set] = self.values;
        let required = |value: Option<u64>, column: &str| {
            value.map(Duration::from_ns).ok_or_else(|| {
                Diagnostic::usage(format!("task `{name}`: {column} is empty"))
                    .hint("give every task a wcet_ns and a period_ns")
            })
        };
        let (wcet, period) = (required(wcet, COLUMNS[1])?, required(period, COLUMNS[2])?);
        let deadline_rel = deadline.map_or(period, Duration::from_ns);
        let phase = Duration::from_ns(phase.unwrap_or(0));
        let working_set = WorkingSet { size_bytes: working_set.unwrap_or(0), ..WorkingSet::default() };
        Ok(Task { deadline_rel, phase, working_set, ..Task::periodic(name, wcet, period) })
    }
}

/// Whether a task has something.
type Has = fn(&Task) -> bool;

impl TaskSet {
    /// Reads a task set in CSV (see the header above); `name` becomes its name.
    pub fn from_csv(text: &str, name: &str) -> Result<Imported> {
        let mut reader = ReaderBuilder::new().trim(Trim::Headers).from_reader(text.as_bytes());
        let syntax = |error: csv::Error| syntax(text, &error);
        let columns = Columns::of(reader.headers().map_err(syntax)?)?;
        let mut tasks = Vec::new();
        for record in reader.records() {
            let record = record.map_err(syntax)?;
            if tasks.len() == TASKS_MAX {
                return Err(Diagnostic::usage(format!("more than {TASKS_MAX} tasks, the limit"))
                    .hint("split the set"));
            }
            let begins = record.position().map_or(0, csv::Position::byte);
            let context = |error: Diagnostic| error.context(line_at(text, begins));
            let task = columns.task(&record, tasks.len()).map_err(context)?;
            tasks.push(task);
        }
        Ok(Imported { set: TaskSet::new(name, tasks)?, warnings: Vec::new() })
    }

    /// Writes the set in CSV, with a warning for everything that CSV cannot carry.
    pub fn to_csv(&self) -> Exported {
        let mut writer = Writer::from_writer(Vec::new());
        let in_memory = "writing into memory";
        writer.write_record(COLUMNS).expect(in_memory);
        for task in self.tasks() {
            let text = |value: Option<u64>| value.map_or_else(String::new, |number| number.to_string());
            writer.write_field(&task.name).expect(in_memory);
            writer.write_record(TaskRow::of(task).values.map(text)).expect(in_memory);
        }
        let bytes = writer.into_inner().expect(in_memory);
        let text = String::from_utf8(bytes).expect("made of strings");
        Exported { text, warnings: self.losses() }
    }

    fn losses(&self) -> Vec<String> {
        let usual = WorkingSet::default();
        let shape = |w: WorkingSet| (w.reads, w.writes, w.pattern);
        let kinds: [(&str, Has); 6] = [
            ("minimum interarrival times (written as periods)", |t| {
                matches!(t.arrival, Arrival::Sporadic { .. })
            }),
            ("groups", |t| t.group.is_some()),
            ("affinities", |t| t.affinity.is_some()),
            ("kinds", |t| t.kind == TaskKind::BestEffort),
            ("demands", |t| t.demand.is_some()),
            ("which tasks are released by themselves", |t| !t.batching),
        ];
        let mut warnings: Vec<String> = kinds
            .iter()
            .filter(|(_, has)| self.tasks().iter().any(has))
            .map(|(what, _)| format!("CSV cannot carry {what}"))
            .collect();
        if self.tasks().iter().any(|task| shape(task.working_set) != shape(usual)) {
            warnings.push("CSV cannot carry read:write ratios and access patterns".into());
        }
        if self.provenance().is_some() {
            warnings.push("CSV cannot carry the provenance".into());
        }
        warnings
    }
}

/// Where each column of [`COLUMNS`] stands.
struct Columns([Option<usize>; 6]);

impl Columns {
    fn of(header: &StringRecord) -> Result<Self> {
        let rule = format!("write the header `{}` (the last three are optional)", COLUMNS.join(","));
        let refuse = |why: String| Err(Diagnostic::usage(printable(&why)).hint(&rule));
        let commas = "separate the columns by commas: ";
        let mut places = [None; 6];
        for (at, title) in header.iter().enumerate() {
            let title = title.trim_start_matches('\u{feff}');
            let Some(column) = COLUMNS.iter().position(|known| *known == title) else {
                let why = format!("the header has the unknown column `{title}`");
                let with_unit = COLUMNS.into_iter().find(|known| known.starts_with(&format!("{title}_")));
                let hint = match with_unit.or_else(|| closest(title, &COLUMNS)) {
                    _ if title.contains([';', '\t']) => format!("{commas}{rule}"),
                    Some(near) => format!("did you mean `{near}`? Else {rule}"),
                    None => rule,
                };
                return Err(Diagnostic::usage(printable(&why)).hint(hint));
            };
            if places[column].replace(at).is_some() {
                return refuse(format!("the header has the column `{title}` twice"));
            }
        }
        match (0..REQUIRED).find(|&column| places[column].is_none()) {
            Some(missing) => refuse(format!("the header lacks the column `{}`", COLUMNS[missing])),
            None => Ok(Columns(places)),
        }
    }

    fn task(&self, record: &StringRecord, id: usize) -> Result<Task> {
        let field = |column: usize| {
            self.0[column].and_then(|at| record.get(at)).filter(|text| !text.trim().is_empty())
        };
        let name = field(0);
        let mut values = [None; 5];
        for (at, value) in values.iter_mut().enumerate() {
            let column = at + 1;
            let named = || name.map_or_else(|| default_name(id), str::to_owned);
            let context =
                |error: Diagnostic| error.context(format!("task `{}`: {}", named(), COLUMNS[column]));
            *value = field(column).map(|text| whole(text.trim())).transpose().map_err(context)?;
        }
        TaskRow { name, values }.task(id)
    }
}

fn whole(text: &str) -> Result<u64> {
    let digits = text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        Diagnostic::usage(printable(&format!("`{text}` is not a whole number below 2^64")))
            .hint("CSV times are whole nanoseconds and sizes whole bytes, without units")
    })
}

/// In which line the record is that begins at this byte.
fn line_at(text: &str, byte: u64) -> String {
    format!("line {}", line_from(text, byte, None))
}

fn syntax(text: &str, error: &csv::Error) -> Diagnostic {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let diagnostic =
                Diagnostic::usage(format!("{} where the header has {expected_len}", plural(*len, "field")))
                    .hint("give every line as many fields as the header; an optional field may be empty");
            match pos {
                Some(pos) => diagnostic.context(line_at(text, pos.byte())),
                None => diagnostic,
            }
        }
        _ => Diagnostic::usage(printable(&error.to_string())).hint("the file must be CSV in UTF-8"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_all_and_only_the_required_columns() {
        let full = "name,wcet_ns,period_ns,deadline_ns,phase_ns,wss_bytes\na,1000,5000,4000,7,64\n,1,2,,,\n";
        let set = TaskSet::from_csv(full, "s").expect("valid").set;
        let a = &set.tasks()[0];
        assert_eq!((a.deadline_rel, a.phase), (Duration::from_us(4), Duration::from_ns(7)));
        assert_eq!(a.working_set.size_bytes, 64);
        assert_eq!(set.tasks()[1], Task::periodic("T2", Duration::from_ns(1), Duration::from_ns(2)));
        assert_eq!(TaskSet::from_csv(&set.to_csv().text, "s").expect("valid").set, set);
        let least =
            TaskSet::from_csv("period_ns, wcet_ns, name\r\n10, 5,\"x, y\"\r\n", "s").expect("valid").set;
        assert_eq!(least.tasks()[0].name, "x, y");
    }

    #[test]
    fn refuses_what_is_not_the_format() {
        for (text, why) in [
            ("", "lacks the column `name`"),
            ("name,wcet_ns\na,1\n", "lacks the column `period_ns`"),
            ("name,wcet_ns,period_ns,cpu\na,1,2,0\n", "unknown column `cpu`"),
            ("name,name,wcet_ns,period_ns\n", "twice"),
            ("name,wcet_ns,period_ns\n", "empty"),
            ("name,wcet_ns,period_ns\na,1\n", "line 2: 2 fields where the header has 3"),
            ("name,wcet_ns,period_ns\na,,2\n", "task `a`: wcet_ns is empty"),
            ("name,wcet_ns,period_ns\nb,1,2\na,1ms,2\n", "line 3: task `a`: wcet_ns: `1ms` is not a whole"),
            ("name,wcet_ns,period_ns\na,-1,2\n", "not a whole"),
            ("name,wcet_ns,period_ns\na,1,99999999999999999999\n", "not a whole"),
            ("name,wcet_ns,period_ns\na,3,2\n", "exceeds"),
        ] {
            let message = TaskSet::from_csv(text, "s").expect_err(text).message;
            assert!(message.contains(why), "{text:?}: {message}");
        }
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        for ending in ["\n", "\r\n", "\r"] {
            let message = |lines: &[&str]| {
                let text = lines.join(ending);
                TaskSet::from_csv(&text, "s").expect_err(&text).message
            };
            let header = "name,wcet_ns,period_ns";
            let number = message(&["", header, "a,1,2", "", "", "b,1,x"]);
            assert!(number.starts_with("line 6: task `b`: period_ns"), "{ending:?}: {number}");
            let fields = message(&[header, "", "a,1"]);
            assert!(fields.starts_with("line 3: 2 fields"), "{ending:?}: {fields}");
            let quoted = message(&[header, "\"a", "b\",1,2", "c,1,x"]);
            assert!(quoted.starts_with("line 4: task `c`"), "{ending:?}: {quoted}");
        }
    }

    #[test]
    fn says_what_csv_cannot_carry() {
        let sporadic = Arrival::Sporadic { min_interarrival: Duration::from_ms(5) };
        let task =
            Task { arrival: sporadic, ..Task::periodic("a", Duration::from_ms(1), Duration::from_ms(5)) };
        let exported = TaskSet::new("s", vec![task]).expect("valid").to_csv();
        assert_eq!(exported.warnings, ["CSV cannot carry minimum interarrival times (written as periods)"]);
    }
}
