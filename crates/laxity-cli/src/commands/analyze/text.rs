//! The answer in tables and words.

use super::places_table::places_table;
use crate::output;
use crate::tables::{fitted, table};
use comfy_table::{CellAlignment, ColumnConstraint};
use laxity_lab::analysis::answer::{
    Answer, BoundsAnswer, BoundsKind, CellAnswer, FewestProcessors, GuaranteeAnswer, LargestScaling,
    OverheadsAnswer, SchedulerAnswer,
};
use laxity_model::{Duration, TaskSet, cpus_named, plural, shown};

/// Everything about all sets.
pub fn text(answer: &Answer, sets: &[TaskSet]) -> String {
    let width = output::width();
    let mut text = String::new();
    let mut rest = &answer.schedulers[..];
    for set in sets {
        let (of_set, others) =
            rest.split_at(rest.iter().take_while(|one| one.task_set == set.name()).count());
        rest = others;
        if !of_set.is_empty() {
            text += &set_text(answer, set, of_set, width);
        }
    }
    text
}

fn set_text(answer: &Answer, set: &TaskSet, schedulers: &[SchedulerAnswer], width: u16) -> String {
    let tasks = set.real_time().count();
    let mut text = format!(
        "{}: {}, utilization {:.4}, {} of platform `{}`\n{}",
        set.name(),
        plural(tasks, "real-time task"),
        set.load(),
        plural(answer.cores, "CPU"),
        answer.platform,
        verdicts(schedulers, width)
    );
    if let Some(table) = places_table(schedulers, width) {
        text += &table;
    }
    if let Some(table) = bounds(set, schedulers, width) {
        text += &table;
    }
    for one in schedulers {
        let mut lines = Vec::from_iter(servers(&one.cells));
        lines.extend(one.overheads.as_ref().map(|answer| overheads(answer, one.quantum_ns)));
        lines.extend(one.fewest_processors.as_ref().map(fewest));
        lines.extend(one.largest_scaling.as_ref().map(scaling));
        lines.iter().for_each(|line| text += &format!("{}: {line}\n", one.scheduler));
    }
    text += &lines(schedulers, "assumed", |one| &one.assumptions);
    text + &lines(schedulers, "note", |one| &one.notes) + "\n"
}

/// Each line once, with the schedulers that it is about.
fn lines(
    schedulers: &[SchedulerAnswer],
    word: &str,
    of: impl Fn(&SchedulerAnswer) -> &Vec<String>,
) -> String {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in schedulers {
        for note in of(one).iter().filter(|note| output::shows(note)) {
            match notes.iter_mut().find(|(text, _)| text == note) {
                Some((_, names)) => names.push(&one.scheduler),
                None => notes.push((note, vec![&one.scheduler])),
            }
        }
    }
    notes.iter().map(|(note, names)| format!("{word} ({}): {note}\n", names.join(", "))).collect()
}

fn verdicts(schedulers: &[SchedulerAnswer], width: u16) -> String {
    let mut table = table(Some(width));
    table.set_header(["Scheduler", "Hard: no deadline missed", "Soft: tardiness bounded"]);
    for one in schedulers {
        table.add_row([one.scheduler.clone(), one.hard.words(), one.soft.words()]);
    }
    // Names stay whole; words wrap.
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    fitted(table)
}

/// What is proven of each task: a column for each scheduler with bounds, the better guarantee of the two. Columns that do
/// not fit stand in a table below, with the names of the tasks again.
fn bounds(set: &TaskSet, schedulers: &[SchedulerAnswer], width: u16) -> Option<String> {
    let deadlines = || set.real_time().map(|(_, task)| task.deadline_rel.as_ns());
    let times =
        schedulers.iter().filter_map(better_of).flat_map(|bounds| bounds.tasks.iter().map(|one| one.ns));
    let unit = Unit::of(times.chain(deadlines()).max()?);
    let better = |one: &SchedulerAnswer| {
        let bounds = better_of(one)?;
        let cell = |ns: u64| match bounds.kind {
            BoundsKind::ResponseTime => unit.text(ns),
            BoundsKind::Deadline => "D".to_owned(),
            BoundsKind::Tardiness if ns == 0 => "on time".to_owned(),
            BoundsKind::Tardiness => format!("late {}", unit.text(ns)),
        };
        let column = bounds.tasks.iter().map(|bound| cell(bound.ns));
        Some(std::iter::once(one.scheduler.clone()).chain(column).collect::<Vec<String>>())
    };
    let columns: Vec<_> = schedulers.iter().filter_map(better).collect();
    if columns.is_empty() {
        return None;
    }
    let names = std::iter::once("Task".to_owned()).chain(set.real_time().map(|(_, task)| task.name.clone()));
    let deadlines = std::iter::once("D".to_owned()).chain(deadlines().map(|ns| unit.text(ns)));
    let lead = [names.collect::<Vec<String>>(), deadlines.collect()];
    let mut text = format!(
        "Proven bounds of response times (D: the deadline) and of tardiness (late), in {}, rounded up\n",
        unit.name
    );
    for columns in side_by_side(&lead, &columns, width) {
        let mut table = table(Some(width));
        let row = |at: usize| lead.iter().chain(columns).map(move |column| column[at].clone());
        table.set_header(row(0));
        (1..lead[0].len()).for_each(|at| {
            table.add_row(row(at));
        });
        table.column_iter_mut().for_each(|column| {
            column.set_constraint(ColumnConstraint::ContentWidth);
        });
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
        text += &fitted(table);
    }
    Some(text)
}

/// The bounds of the better guarantee, if there are any.
fn better_of(one: &SchedulerAnswer) -> Option<&BoundsAnswer> {
    one.hard.bounds.as_ref().or(one.soft.bounds.as_ref())
}

/// As many columns behind those that lead as the width has room for, and the others below; at least one at a time.
fn side_by_side<'c>(lead: &[Vec<String>], columns: &'c [Vec<String>], width: u16) -> Vec<&'c [Vec<String>]> {
    // A blank on both sides, and one between columns.
    let room = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 3;
    let free = usize::from(width).saturating_sub(lead.iter().map(room).sum());
    let (mut parts, mut from, mut taken) = (Vec::new(), 0, 0);
    for (at, column) in columns.iter().enumerate() {
        if at > from && taken + room(column) > free {
            parts.push(&columns[from..at]);
            (from, taken) = (at, 0);
        }
        taken += room(column);
    }
    parts.push(&columns[from..]);
    parts
}

/// The unit of all times of a table.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    /// In ns.
    thousandth: u64,
}

impl Unit {
    /// Milliseconds, or microseconds where none of the times is as long as one.
    fn of(longest_ns: u64) -> Unit {
        match longest_ns {
            0..1_000_000 => Unit { name: "us", thousandth: 1 },
            _ => Unit { name: "ms", thousandth: 1_000 },
        }
    }

    /// With three decimals, rounded up: a bound stays one.
    fn text(self, ns: u64) -> String {
        let thousandths = ns.div_ceil(self.thousandth);
        format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
    }
}

/// Each size with the CPUs that have it, in the order of the cells.
fn servers(cells: &[CellAnswer]) -> Option<String> {
    let mut sizes: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in cells {
        let Some(server) = &cell.server else { continue };
        match sizes.iter_mut().find(|(size, _)| size == server) {
            Some((_, cpus)) => cpus.push(&cell.cpus),
            None => sizes.push((server, vec![&cell.cpus])),
        }
    }
    let of_size = |(size, cpus): &(&str, Vec<&str>)| format!("{size} on {}", cpus_named(cpus.join(", ")));
    let sizes: Vec<String> = sizes.iter().map(of_size).collect();
    (!sizes.is_empty()).then(|| format!("below deferrable servers of {}", sizes.join(" and ")))
}

fn overheads(answer: &OverheadsAnswer, quantum_ns: Option<u64>) -> String {
    let files: Vec<&str> = answer.file.iter().chain(&answer.cache_delays).map(String::as_str).collect();
    let quanta = quantum_ns.map(|ns| format!("quanta of {} (--tick)", Duration::from_ns(ns)));
    let costs = (!files.is_empty()).then(|| format!("overheads ({})", shown(&files.join(", "))));
    let threads = answer.kernel_threads.as_ref().map(|threads| {
        let [runtime, period] = [threads.runtime_ns, threads.period_ns].map(Duration::from_ns);
        format!("kernel threads ({runtime} of each {period})")
    });
    let from = quanta.into_iter().chain(costs).chain(threads).collect::<Vec<_>>().join(" and ");
    match (answer.utilization_inflated, &answer.no_room) {
        (Some(inflated), _) => {
            let most = answer.tasks.iter().map(|task| task.wcet_ns).max().unwrap_or(0);
            let most = Duration::from_ns(most);
            format!(
                "{from} take the utilization from {:.4} to {inflated:.4}, at most {most} of a job",
                answer.utilization
            )
        }
        (None, why) => {
            format!("{from} leave no room: {}", why.as_deref().unwrap_or("the reason is not known"))
        }
    }
}

fn fewest(answer: &FewestProcessors) -> String {
    let unsure = if answer.out_of_work { " (with fewer, a test took all its steps)" } else { "" };
    match answer.processors {
        Some(cores) => {
            format!(
                "proven {} on {} of speed 1; no fewer are enough, as tasks are placed{unsure}",
                word(answer.guarantee),
                plural(cores, "CPU")
            )
        }
        None => {
            let reason = answer.reason.as_deref().unwrap_or_default();
            format!(
                "not proven {} with any number of CPUs that was tried: {reason}{unsure}",
                word(answer.guarantee)
            )
        }
    }
}

fn scaling(answer: &LargestScaling) -> String {
    let LargestScaling { numerator, denominator, .. } = *answer;
    let factor = |numerator: u64| format!("{}.{:03}", numerator / denominator, numerator % denominator);
    let above = match (answer.nothing_above, answer.out_of_work, answer.placed_anew) {
        (true, ..) => "nor with more",
        (false, true, _) => "more may be possible: a test took all its steps",
        (false, false, true) => "more may be possible: places change with the factor",
        (false, false, false) => "more may be possible: the tests are not monotonic",
    };
    let placed = if answer.placed_anew { ", placed anew with each factor" } else { "" };
    let (word, next) = (word(answer.guarantee), factor(numerator + 1));
    match numerator {
        0 => format!("not proven {word} with {next} of all execution times{placed} ({above})"),
        _ => format!(
            "proven {word} with {} of all execution times, not with {next}{placed} ({above})",
            factor(numerator)
        ),
    }
}

fn word(guarantee: GuaranteeAnswer) -> &'static str {
    match guarantee {
        GuaranteeAnswer::Hard => "hard",
        GuaranteeAnswer::Soft => "soft",
    }
}
