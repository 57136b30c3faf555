//! The rows of a Gantt chart.

use super::super::window::{JobSpan, Window};
use super::super::{exact, task_name};
use super::GanttOptions;
use super::columns::Columns;
use laxity_model::TaskSet;
use laxity_trace::{Activity, Segment};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Names longer than this are cut.
const NAME_MOST: usize = 16;

/// Room for the utilization after the row of a CPU.
const PERCENT_WIDTH: usize = 7;

/// One per task, in id order; further tasks begin again.
const SYMBOLS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// One per CPU; further ones are `+`.
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Escape sequences of the tasks, one after the other: no red, which is for misses.
const COLORS: [&str; 6] = ["\x1b[34m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[35m", "\x1b[94m"];
const MISS_COLOR: &str = "\x1b[1;31m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// The characters of a chart.
struct Glyphs {
    idle: char,
    kernel: char,
    background: char,
    taken: char,
    waiting: char,
    release: char,
    deadline: char,
    both: char,
    miss: char,
    tick: char,
}

const ASCII: Glyphs = Glyphs {
    idle: '.',
    kernel: '#',
    background: '~',
    taken: 'x',
    waiting: '-',
    release: '^',
    deadline: 'v',
    both: '|',
    miss: '!',
    tick: '|',
};

const UNICODE: Glyphs = Glyphs {
    idle: '·',
    kernel: '▒',
    background: '~',
    taken: '×',
    waiting: '╌',
    release: '↑',
    deadline: '↓',
    both: '↕',
    miss: '✗',
    tick: '│',
};

/// What a column of a CPU may show, in the order in which equal shares go.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Job,
    Background,
    Taken,
}

/// A character and its escape sequence, if it has one.
type Glyph = (char, &'static str);

const BLANK: Glyph = (' ', "");

pub(super) struct Chart<'a> {
    set: &'a TaskSet,
    window: &'a Window,
    options: &'a GanttOptions,
    glyphs: &'static Glyphs,
    /// Tasks that the window has something of.
    tasks: BTreeSet<u32>,
    cpus: BTreeSet<u32>,
    /// What each of them ran.
    segments: BTreeMap<u32, Vec<&'a Segment>>,
    label_width: usize,
}

impl<'a> Chart<'a> {
    pub(super) fn new(set: &'a TaskSet, window: &'a Window, options: &'a GanttOptions) -> Self {
        let mut segments: BTreeMap<u32, Vec<&Segment>> = BTreeMap::new();
        for segment in &window.segments {
            if let Some(task) = task_of(segment.activity) {
                segments.entry(task).or_default().push(segment);
            }
        }
        let tasks = segments.keys().copied().chain(window.jobs.iter().map(|job| job.task)).collect();
        let cpus = (0..options.cpus).chain(window.segments.iter().map(|segment| segment.cpu)).collect();
        let glyphs = if options.unicode { &UNICODE } else { &ASCII };
        let mut chart = Chart { set, window, options, glyphs, tasks, cpus, segments, label_width: 0 };
        chart.label_width = chart.width_of_labels();
        chart
    }

    /// Columns of the terminal that are not columns of the chart.
    pub(super) fn margin(&self) -> usize {
        self.label_width + PERCENT_WIDTH
    }

    fn width_of_labels(&self) -> usize {
        let cpus = self.cpus.iter().map(|cpu| format!("cpu{cpu}").len());
        let tasks = self.tasks.iter().map(|task| self.name(*task).chars().count() + 2);
        let tasks = tasks.filter(|_| self.options.tasks);
        cpus.chain(tasks).max().unwrap_or(0).max(4) + 2
    }

    fn name(&self, task: u32) -> String {
        let name = task_name(self.set, task);
        if name.chars().count() <= NAME_MOST {
            return name;
        }
        let cut = if self.options.unicode { "…" } else { "~" };
        name.chars().take(NAME_MOST - 1).collect::<String>() + cut
    }

    pub(super) fn draw(&self, columns: Columns) -> String {
        let (from, to) = (exact(self.window.from_ns), exact(self.window.to_ns));
        let span = exact(columns.span_ns);
        let mut out = format!("t in [{from}, {to}), one column is {span}\n");
        if self.window.cut {
            out += "The window was longer; this is what fits of it.\n";
        }
        if self.window.contradictions > 0 {
            let events = self.window.contradictions;
            let _ = writeln!(
                out,
                "{}; the chart follows the later ones.",
                crate::timeline::html::contradictions(events)
            );
        }
        out.push('\n');
        self.axis(&mut out, columns);
        for cpu in &self.cpus {
            let (row, busy_ns) = self.cpu_row(columns, *cpu);
            let percent = percent(busy_ns, self.window.to_ns - self.window.from_ns);
            self.row(&mut out, &format!("cpu{cpu}"), "", &row, &percent);
        }
        let missed = self.window.jobs.iter().filter(|job| job.missed);
        let misses = self.marks(columns, missed, |_| None);
        if misses.iter().any(|glyph| *glyph != BLANK) {
            self.row(&mut out, "miss", MISS_COLOR, &misses, "");
        }
        if self.options.tasks {
            for task in &self.tasks {
                out.push('\n');
                let marks = self.marks(columns, self.window.jobs_of(*task), |job| job.release_ns);
                let label = format!("{} {}", symbol(*task), self.name(*task));
                self.row(&mut out, &label, color(*task), &marks, "");
                self.row(&mut out, "", "", &self.task_row(columns, *task), "");
            }
            out.push('\n');
        }
        self.legend(&mut out);
        out
    }

    fn axis(&self, out: &mut String, columns: Columns) {
        let width = self.label_width;
        let ticks = columns.ticks();
        let (mut labels, mut marks) = (String::new(), String::new());
        for (column, label) in ticks {
            let missing = column.saturating_sub(labels.chars().count());
            // The label before leaves no room: the tick stays without one.
            if column >= labels.chars().count() {
                labels += &" ".repeat(missing);
                labels += &label;
                labels.push(' ');
            }
            marks += &" ".repeat(column - marks.chars().count());
            marks.push(self.glyphs.tick);
        }
        let _ = writeln!(out, "{:width$}{}", "", labels.trim_end());
        let _ = writeln!(out, "{:width$}{marks}", "");
    }

    fn row(&self, out: &mut String, label: &str, label_color: &str, glyphs: &[Glyph], after: &str) {
        let mut line = String::new();
        self.painted(&mut line, label_color, label);
        line += &" ".repeat(self.label_width.saturating_sub(label.chars().count()));
        // One escape sequence for neighbours of one colour.
        for run in glyphs.chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().map(|glyph| glyph.0).collect();
            self.painted(&mut line, run[0].1, &text);
        }
        line += after;
        *out += line.trim_end();
        out.push('\n');
    }

    fn painted(&self, line: &mut String, color: &str, text: &str) {
        if self.options.color && !color.is_empty() && !text.is_empty() {
            let _ = write!(line, "{color}{text}{RESET}");
        } else {
            *line += text;
        }
    }

    /// What a CPU does in each column, and for how many ns it runs jobs in all.
    fn cpu_row(&self, columns: Columns, cpu: u32) -> (Vec<Glyph>, u64) {
        let mut shares = vec![BTreeMap::<Activity, u64>::new(); columns.count];
        let mut busy_ns = 0;
        for segment in self.window.segments_of(cpu) {
            if matches!(segment.activity, Activity::Job { .. }) {
                busy_ns += segment.length_ns();
            }
            for (column, ns) in columns.shares(segment.from_ns, segment.to_ns) {
                *shares[column].entry(segment.activity).or_default() += ns;
            }
        }
        let row = shares.iter().map(|shares| self.cpu_glyph(columns, shares)).collect();
        (row, busy_ns)
    }

    fn cpu_glyph(&self, columns: Columns, shares: &BTreeMap<Activity, u64>) -> Glyph {
        let kernel_ns: u64 =
            shares.iter().filter(|(what, _)| matches!(what, Activity::Kernel(_))).map(|(_, ns)| ns).sum();
        // The task with the largest share; of equal ones the lower id.
        let mut tasks: BTreeMap<(Shown, u32), u64> = BTreeMap::new();
        for (what, ns) in shares {
            match *what {
                Activity::Job { task, .. } => *tasks.entry((Shown::Job, task)).or_default() += ns,
                Activity::Background { task } => *tasks.entry((Shown::Background, task)).or_default() += ns,
                Activity::Taken => *tasks.entry((Shown::Taken, 0)).or_default() += ns,
                Activity::Kernel(_) => {}
            }
        }
        let dominant = tasks.into_iter().rev().max_by_key(|(_, ns)| *ns);
        match dominant {
            _ if kernel_ns > columns.span_ns / 2 => (self.glyphs.kernel, FAINT),
            Some(((Shown::Taken, _), _)) => (self.glyphs.taken, FAINT),
            Some(((Shown::Background, _), _)) => (self.glyphs.background, FAINT),
            Some(((Shown::Job, task), _)) => (symbol(task), color(task)),
            None => (self.glyphs.idle, FAINT),
        }
    }

    /// Releases (where `release` says so), deadlines and misses of jobs.
    fn marks<'j>(
        &self,
        columns: Columns,
        jobs: impl IntoIterator<Item = &'j JobSpan>,
        release: impl Fn(&JobSpan) -> Option<u64>,
    ) -> Vec<Glyph> {
        let mut row = vec![BLANK; columns.count];
        let column = |ns: Option<u64>| columns.mark(ns.filter(|ns| *ns < self.window.until_ns)?);
        for job in jobs {
            if let Some(column) = column(release(job)) {
                row[column] = (merged(row[column].0, self.glyphs.release, self.glyphs), row[column].1);
            }
            let Some(column) = column(job.deadline_ns) else { continue };
            if job.missed {
                row[column] = (self.glyphs.miss, MISS_COLOR);
            } else {
                row[column] = (merged(row[column].0, self.glyphs.deadline, self.glyphs), row[column].1);
            }
        }
        row
    }

    /// Where a task runs, and where one of its jobs waits.
    fn task_row(&self, columns: Columns, task: u32) -> Vec<Glyph> {
        let mut row = vec![BLANK; columns.count];
        for job in self.window.jobs_of(task) {
            let (from, to) = (job.release_ns.unwrap_or(0), job.complete_ns.unwrap_or(u64::MAX));
            for (column, _) in columns.shares(from, to) {
                row[column] = (self.glyphs.waiting, FAINT);
            }
        }
        let mut shares = vec![BTreeMap::<u32, u64>::new(); columns.count];
        for segment in self.segments.get(&task).into_iter().flatten() {
            for (column, ns) in columns.shares(segment.from_ns, segment.to_ns) {
                *shares[column].entry(segment.cpu).or_default() += ns;
            }
        }
        for (glyph, shares) in row.iter_mut().zip(shares) {
            if let Some((cpu, _)) = shares.into_iter().rev().max_by_key(|(_, ns)| *ns) {
                *glyph = (digit(cpu), color(task));
            }
        }
        row
    }

    fn legend(&self, out: &mut String) {
        let glyphs = self.glyphs;
        let mut items: Vec<String> = Vec::new();
        if !self.options.tasks {
            items.extend(self.tasks.iter().map(|task| format!("{} {}", symbol(*task), self.name(*task))));
        }
        let has = |wanted: fn(&Activity) -> bool| self.window.segments.iter().any(|s| wanted(&s.activity));
        if has(|activity| matches!(activity, Activity::Kernel(_))) {
            items.push(format!("{} kernel", glyphs.kernel));
        }
        if has(|activity| matches!(activity, Activity::Background { .. })) {
            items.push(format!("{} background", glyphs.background));
        }
        if has(|activity| matches!(activity, Activity::Taken)) {
            items.push(format!("{} taken", glyphs.taken));
        }
        items.push(format!("{} idle", glyphs.idle));
        if self.options.tasks {
            items.push(format!("{} release", glyphs.release));
            items.push(format!("{} deadline", glyphs.deadline));
            items.push(format!("{} waiting", glyphs.waiting));
            items.push("digits: the CPU".to_owned());
        }
        if self.window.jobs.iter().any(|job| job.missed) {
            items.push(format!("{} deadline missed", glyphs.miss));
        }
        let mut line = String::new();
        for item in items {
            let separator = if line.is_empty() { "" } else { ", " };
            if line.chars().count() + separator.len() + item.chars().count() + 1
                > usize::from(self.options.width)
            {
                *out += &line;
                *out += ",\n";
                line = item;
            } else {
                line += separator;
                line += &item;
            }
        }
        *out += &line;
        out.push('\n');
    }
}

/// What a mark becomes where another one is.
fn merged(present: char, mark: char, glyphs: &Glyphs) -> char {
    if present == ' ' || present == mark {
        mark
    } else if present == glyphs.miss {
        present
    } else {
        glyphs.both
    }
}

/// The task of the set that runs; background tasks are not of the set.
fn task_of(activity: Activity) -> Option<u32> {
    match activity {
        Activity::Job { task, .. } => Some(task),
        Activity::Background { .. } | Activity::Taken | Activity::Kernel(_) => None,
    }
}

fn at<T: Copy>(table: &[T], index: u32) -> Option<T> {
    usize::try_from(index).ok().and_then(|index| table.get(index)).copied()
}

fn symbol(task: u32) -> char {
    let index = usize::try_from(task).unwrap_or(0) % SYMBOLS.len();
    char::from(SYMBOLS[index])
}

fn color(task: u32) -> &'static str {
    COLORS[usize::try_from(task).unwrap_or(0) % COLORS.len()]
}

fn digit(cpu: u32) -> char {
    at(DIGITS, cpu).map_or('+', char::from)
}

/// In whole percent, rounded to the nearest, but 0 and 100 only for nothing and all.
fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole).max(1));
    let nearest = (part * 200 + whole) / (2 * whole);
    let shown = if part == 0 || part >= whole { nearest } else { nearest.clamp(1, 99) };
    format!(" {shown:>3} %")
}
