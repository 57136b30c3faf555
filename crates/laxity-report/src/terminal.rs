//! The report as text, for a terminal or a file.

use crate::table::{Field, Table, Tone};
use crate::{Recommendation, Report, number};
use crate::{
    background, beside, caches, causes, disturbed, evidence_tables, inflation, symbols, verified, what_to_set,
};
use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets};
use laxity_model::shown;

/// Where the text goes, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// Columns of the terminal; `None`: 100.
    pub width: Option<u16>,
    /// Lines around cells, as on a terminal; a file or a pipe gets none.
    pub borders: bool,
    /// Colours and bold, by escape sequences.
    pub color: bool,
    /// ASCII only.
    pub ascii: bool,
    /// All tables with all of their notes; else the answer and what it rests on.
    pub verbose: bool,
}

/// Columns of text where nothing says how many there are.
const WIDTH_DEFAULT: u16 = 100;

/// Lines of words are not made longer than this, however wide the terminal.
const WORDS_WIDTH_MOST: usize = 100;

/// So many tasks that miss are named for each scheduler beside the answer.
const WORST_TASKS_BESIDE_ANSWER: usize = 2;

/// So many sets are named beside the answer.
const SETS_BESIDE_ANSWER: usize = 5;

/// The report as text: the tables and the answer that they lead to, or with all evidence.
pub(crate) fn text(report: &Report<'_>, style: TextStyle) -> String {
    if style.verbose { everything(report, style) } else { brief(report, style) }
}

/// The glance, the tasks that miss most, the answer, and how much more there is to read.
fn brief(report: &Report<'_>, style: TextStyle) -> String {
    let study = &report.study;
    let all = study.all_sets();
    let mut out = sets_in_brief(report, style);
    let mut shown = Vec::new();
    if study.anything_ran() {
        shown.push(evidence_tables::glance(study, &all, &report.recommendation));
        shown.extend(evidence_tables::worst_tasks(study, &all, WORST_TASKS_BESIDE_ANSWER));
    }
    // Those are there only where they were asked for.
    shown.extend(caches::table(study));
    shown.extend(background::table(study));
    let mut hidden: usize = hidden(report).iter().map(|table| table.notes.len()).sum();
    for mut table_shown in shown {
        // A mark in a cell needs its explanation.
        let marked = |note: &String| note.starts_with('†') || note.starts_with("Analysis:");
        let (kept, more) = std::mem::take(&mut table_shown.notes).into_iter().partition(marked);
        let more: Vec<String> = more;
        hidden += more.len();
        table_shown.notes = kept;
        out += &format!("{}\n", table(&table_shown, style));
    }
    if evidence_tables::worst_tasks(study, &all, 1).is_none() {
        out += &format!("{}\n\n", evidence_tables::no_misses(study));
    }
    out += &why_missed(report, style);
    if let Some(sentence) = verified::sentence(study) {
        out += &format!("{}\n", wrapped(&sentence, "", style));
    }
    out += &recommendation(&report.recommendation, style);
    out += &to_set(report, style);
    if hidden > 0 {
        let more = format!("{}, and more tables: -v shows them.", number::counted(hidden, "note"));
        out += &format!("\n{}", wrapped(&more, "", style));
    }
    out
}

/// A line for each configuration that missed: why.
fn why_missed(report: &Report<'_>, style: TextStyle) -> String {
    let lines = causes::lines(&report.causes);
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| hanging(line, style)).collect();
    format!("{}\n{lines}\n", bold("Why deadlines were missed", style))
}

/// A name and what is said of it, with the words that follow under the first.
fn hanging(line: &str, style: TextStyle) -> String {
    let (name, rest) = line.split_once("  ").unwrap_or(("", line));
    let lead = format!("  {name}{}", " ".repeat(line.len() - name.len() - rest.trim_start().len()));
    wrapped(rest.trim_start(), &printable(&lead, style), style)
}

/// What the tasks are: a line for each set, of many the first.
fn sets_in_brief(report: &Report<'_>, style: TextStyle) -> String {
    let study = &report.study;
    if report.layout.grid {
        return generated(report, style) + "\n";
    }
    let all = study.all_sets();
    let mut out = String::new();
    for &index in all.iter().take(SETS_BESIDE_ANSWER) {
        out += &format!("{}\n", bold(&set_line(report, index), style));
    }
    let more = all.len().saturating_sub(SETS_BESIDE_ANSWER);
    if more > 0 {
        out += &format!("... and {}\n", number::counted(more, "more set"));
    }
    out + "\n"
}

fn generated(report: &Report<'_>, style: TextStyle) -> String {
    let sets = number::counted(report.study.sets.len(), "generated set");
    let points = number::counted(report.layout.points.len(), "point");
    format!("{}\n", bold(&format!("{sets} at {points} of the grid"), style))
}

/// The tables that the brief text leaves out.
fn hidden(report: &Report<'_>) -> Vec<Table> {
    let study = &report.study;
    let inflation = study.all_sets().into_iter().filter_map(|set| inflation::table(study, set));
    inflation
        .chain(causes::table(study, &report.causes))
        .chain(disturbed::table(study, &report.recommendation.misses_per_run))
        .chain(verified::table(study))
        .chain(beside::table(study, &report.beside))
        .collect()
}

/// All tables, set by set and together, and the answer.
fn everything(report: &Report<'_>, style: TextStyle) -> String {
    let study = &report.study;
    let mut out = String::new();
    let several = study.sets.len() > 1;
    if report.layout.grid {
        // Set by set would drown the answer; the HTML report has every set.
        out += &generated(report, style);
    }
    let most = evidence_tables::WORST_TASKS_MOST;
    for index in study.all_sets().into_iter().filter(|_| !report.layout.grid) {
        out += &format!("{}\n", bold(&set_line(report, index), style));
        let own = &report.set_recommendations[index];
        if several {
            out += &format!("\n{}\n", table(&evidence_tables::glance(study, &[index], own), style));
            if let Some(worst) = evidence_tables::worst_tasks(study, &[index], most) {
                out += &format!("{}\n", table(&worst, style));
            }
        }
        if let Some(inflation) = inflation::table(study, index) {
            out += &format!("\n{}\n", table(&inflation, style));
        }
    }
    out.push('\n');
    for table_4 in alike(evidence_tables::table_4(study, &report.layout), style) {
        out += &format!("{}\n", table(&table_4, style));
    }
    let all = study.all_sets();
    out += &format!("{}\n", table(&evidence_tables::glance(study, &all, &report.recommendation), style));
    if !several || report.layout.grid {
        match evidence_tables::worst_tasks(study, &all, most) {
            Some(worst) => out += &format!("{}\n", table(&worst, style)),
            None => out += &format!("{}\n\n", evidence_tables::no_misses(study)),
        }
    }
    out += &why_missed(report, style);
    for more in causes::table(study, &report.causes)
        .into_iter()
        .chain(disturbed::table(study, &report.recommendation.misses_per_run))
        .chain(verified::table(study))
        .chain(beside::table(study, &report.beside))
        .chain(caches::table(study))
        .chain(background::table(study))
    {
        out += &format!("{}\n", table(&more, style));
    }
    out + &recommendation(&report.recommendation, style) + &to_set(report, style)
}

/// What to set, after the answer.
fn to_set(report: &Report<'_>, style: TextStyle) -> String {
    let tables = what_to_set::tables(&report.to_set);
    tables.iter().map(|one| format!("\n{}", table(one, style))).collect()
}

fn set_line(report: &Report<'_>, index: usize) -> String {
    let study = &report.study;
    let set = &study.sets[index];
    let cell = crate::grid::point_of_set(study, index);
    format!(
        "{}: {}, U = {}, U/m = {} on {}",
        set.name(),
        number::counted(cell.tasks, "task"),
        number::significant(crate::study::utilization_of(set)),
        number::significant(cell.utilization_per_core),
        number::counted(study.cores(), "CPU")
    )
}

/// The answer in words.
pub(crate) fn recommendation(recommendation: &Recommendation, style: TextStyle) -> String {
    let headline = format!("{}.", recommendation.headline(str::to_owned));
    let mut out = format!("{}\n", bold(&headline, style));
    let items = |items: &[String]| items.iter().map(|item| wrapped(item, "  - ", style)).collect::<String>();
    out += &items(&recommendation.reasons);
    if recommendation.ranking.len() > 1 {
        out += &wrapped(&format!("Ranking: {}.", recommendation.ranking.join(", ")), "  - ", style);
    }
    if !recommendation.caveats.is_empty() {
        out += &format!("{}\n", bold("Before you rely on it:", style));
        out += &items(&recommendation.caveats);
    }
    out
}

pub(crate) fn bold(text: &str, style: TextStyle) -> String {
    let text = printable(text, style);
    if style.color { format!("\x1b[1m{text}\x1b[0m") } else { text }
}

/// Text as it is shown, before colours and lines are put around it: names come from files.
fn printable(text: &str, style: TextStyle) -> String {
    let text = shown(text);
    if style.ascii { symbols::ascii(&text).into_owned() } else { text.into_owned() }
}

/// Breaks at words; continuation lines are indented under the first.
pub(crate) fn wrapped(text: &str, lead: &str, style: TextStyle) -> String {
    let width =
        style.width.map_or(WORDS_WIDTH_MOST, |columns| usize::from(columns).clamp(20, WORDS_WIDTH_MOST));
    let indent = " ".repeat(lead.chars().count());
    let (mut out, mut line) = (String::new(), lead.to_owned());
    let mut fresh = true;
    for word in printable(text, style).split_whitespace() {
        if !fresh && line.chars().count() + 1 + word.chars().count() > width {
            out += &format!("{line}\n");
            line.clone_from(&indent);
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line += word;
        fresh = false;
    }
    out + &line + "\n"
}

/// Tables of schedulers side by side, as they are if all of them fit; else with the schedulers in rows, all of them.
fn alike(tables: Vec<Table>, style: TextStyle) -> Vec<Table> {
    let too_wide = |table: &Table| !Drawing { table, style, compact: false }.fits();
    match tables.iter().any(too_wide) {
        true => evidence_tables::stacked(tables),
        false => tables,
    }
}

/// The table. Where the width does not suffice, headings take two lines; where that does not, it is cut into several, each
/// with the names of the rows.
pub(crate) fn table(table: &Table, style: TextStyle) -> String {
    let compact = !Drawing { table, style, compact: false }.fits();
    let drawing = Drawing { table, style, compact };
    let caption = wrapped(&table.caption, "", style);
    let mut out = if style.color { format!("\x1b[1m{}\x1b[0m\n", caption.trim_end()) } else { caption };
    for columns in drawing.chunks() {
        out += &format!("{}\n", drawing.grid(&columns));
    }
    table.notes.iter().for_each(|note| out += &wrapped(note, "  ", style));
    out
}

/// A table as it is drawn.
#[derive(Clone, Copy)]
struct Drawing<'t> {
    table: &'t Table,
    style: TextStyle,
    /// Headings wider than what stands under them take two lines.
    compact: bool,
}

impl Drawing<'_> {
    /// Width of these columns side by side, with borders.
    fn width(&self, columns: &[usize]) -> usize {
        // A blank on both sides of a column; lines between columns and around all of them.
        let (between, around) = if self.style.borders { (3, 1) } else { (2, 0) };
        columns.iter().map(|&column| self.column_width(column) + between).sum::<usize>() + around
    }

    fn column_width(&self, column: usize) -> usize {
        let heading = self.heading(column);
        let heading = heading.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        heading.max(cells_width(self.table, column, self.style))
    }

    /// The lines over a column.
    fn heading(&self, column: usize) -> Vec<String> {
        let (head, cells) = (&self.table.columns[column], cells_width(self.table, column, self.style));
        let label = printable(&head.label, self.style);
        if self.grouped() {
            return vec![printable(&head.group, self.style), label];
        }
        match broken(&label) {
            Some((first, second)) if self.compact && label.chars().count() > cells => {
                vec![first.to_owned(), second.to_owned()]
            }
            _ => vec![label],
        }
    }

    fn grouped(&self) -> bool {
        self.table.columns.iter().any(|column| !column.group.is_empty())
    }

    /// The columns of what it is drawn on.
    fn room(&self) -> usize {
        usize::from(self.style.width.unwrap_or(WIDTH_DEFAULT))
    }

    fn fits(&self) -> bool {
        self.width(&self.all()) <= self.room()
    }

    fn all(&self) -> Vec<usize> {
        (0..self.table.columns.len()).collect()
    }

    /// Which columns stand side by side: all if they fit, else as many as fit after the names of the rows. Columns of a
    /// group stay together where that fits.
    fn chunks(&self) -> Vec<Vec<usize>> {
        let (lead, rest) = match self.fits() {
            true => (self.all(), Vec::new()),
            false => self.all().into_iter().partition(|&column| !self.table.columns[column].number),
        };
        let fits = |columns: &[usize]| self.width(columns) <= self.room();
        let group = |column: usize| &self.table.columns[column].group;
        let same_group = |&a: &usize, &b: &usize| !group(a).is_empty() && group(a) == group(b);
        let whole = |unit: &[usize]| fits(&[&lead, unit].concat());
        let units = rest.chunk_by(same_group);
        let units = units.flat_map(|unit| unit.chunks(if whole(unit) { unit.len() } else { 1 }));
        let mut chunks: Vec<Vec<usize>> = Vec::new();
        for unit in units {
            match chunks.last_mut().filter(|chunk| fits(&[chunk, unit].concat())) {
                Some(chunk) => chunk.extend(unit),
                None => chunks.push([&lead, unit].concat()),
            }
        }
        if chunks.is_empty() { vec![lead] } else { chunks }
    }

    fn grid(&self, columns: &[usize]) -> Grid {
        let style = self.style;
        let mut grid = Grid::new();
        grid.load_style(match (style.borders, style.ascii) {
            (false, _) => presets::NOTHING,
            (true, false) => presets::UTF8_FULL_CONDENSED,
            (true, true) => presets::ASCII_FULL_CONDENSED,
        });
        grid.set_content_arrangement(ContentArrangement::Dynamic);
        // Without lines the columns were chosen to fit; nothing is broken inside a cell.
        grid.set_width(if style.borders { style.width.unwrap_or(WIDTH_DEFAULT) } else { u16::MAX });
        if style.color {
            grid.enforce_styling()
        } else {
            grid.force_no_tty()
        };
        let headings: Vec<Vec<String>> = columns.iter().map(|&column| self.heading(column)).collect();
        let lines = headings.iter().map(Vec::len).max().unwrap_or(0);
        let head = |(heading, &column): (&Vec<String>, &usize)| {
            let words = format!("{}{}", "\n".repeat(lines - heading.len()), heading.join("\n"));
            aligned(Cell::new(words), self.table.columns[column].number)
        };
        grid.set_header(headings.iter().zip(columns).map(head));
        for row in &self.table.rows {
            let cell = |&column: &usize| {
                let number = self.table.columns[column].number;
                row.get(column).map_or_else(|| Cell::new(""), |field| toned(field, number, style))
            };
            grid.add_row(columns.iter().map(cell));
        }
        grid
    }
}

/// The widest cell of a column, without its heading.
fn cells_width(table: &Table, column: usize, style: TextStyle) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.get(column));
    let cells = cells.map(|field| printable(&field.text, style).chars().count());
    cells.max().unwrap_or(0)
}

/// Two lines, the longer as short as can be: broken after a blank or before a slash.
fn broken(heading: &str) -> Option<(&str, &str)> {
    let places = heading.char_indices().filter(|(at, c)| *at > 0 && [' ', '/'].contains(c));
    let halves = places.map(|(at, _)| (&heading[..at], heading[at..].trim_start()));
    halves.min_by_key(|(first, second)| first.chars().count().max(second.chars().count()))
}

fn aligned(cell: Cell, number: bool) -> Cell {
    if number { cell.set_alignment(CellAlignment::Right) } else { cell }
}

fn toned(field: &Field, number: bool, style: TextStyle) -> Cell {
    let cell = aligned(Cell::new(printable(&field.text, style)), number);
    if !style.color {
        return cell;
    }
    match field.tone {
        Tone::Plain => cell,
        Tone::Good => cell.fg(Color::Green),
        Tone::Bad => cell.fg(Color::Red),
        Tone::Faint => cell.fg(Color::DarkGrey),
        Tone::Strong => cell.add_attribute(comfy_table::Attribute::Bold),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    /// As many schedulers as there are, each with two metrics, in the shape of lelli2012's Table 4.
    fn side_by_side(schedulers: usize) -> Table {
        let names: Vec<String> = (0..schedulers).map(|i| format!("scheduler-{i}")).collect();
        let mut columns = vec![Column::text("Set"), Column::number("U/m")];
        let mut row: Vec<Field> = vec!["avionics".into(), "0.232".into()];
        for (index, metric) in ["Norm. Laxity", "Migr. Rate"].into_iter().enumerate() {
            columns.extend(names.iter().map(|name| Column::grouped(metric, name)));
            row.extend((0..schedulers).map(|i| Field::from(format!("{index}.{i}"))));
        }
        Table { caption: "Global".into(), columns, rows: vec![row], notes: vec!["n".into()] }
    }

    fn widest(text: &str) -> usize {
        text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
    }

    #[test]
    fn many_schedulers_go_into_rows() {
        let style = TextStyle::default();
        let drawn = |schedulers: &[usize]| -> Vec<String> {
            let tables = schedulers.iter().map(|&n| side_by_side(n)).collect();
            alike(tables, style).iter().map(|one| table(one, style)).collect()
        };
        let few = &drawn(&[2])[0];
        assert!(few.contains("Norm. Laxity  Norm. Laxity"), "two stand side by side:\n{few}");
        let [many, one] = &drawn(&[11, 1])[..] else { panic!("two tables") };
        assert!(one.contains(" Scheduler    Norm. Laxity  Migr. Rate "), "and what stands beside:\n{one}");
        let expected = "\
Global
 Set         U/m  Scheduler     Norm. Laxity  Migr. Rate 
 avionics  0.232  scheduler-0            0.0         1.0 
                  scheduler-1            0.1         1.1 
";
        assert!(many.starts_with(expected), "{many}");
        assert_eq!(many.lines().count(), 2 + 11 + 1, "{many}");
    }

    #[test]
    fn no_table_is_wider_than_what_it_is_for() {
        let numbers = |n: usize| Table {
            caption: "At a glance".into(),
            columns: [Column::text("Scheduler")]
                .into_iter()
                .chain((0..n).map(|_| Column::number("Max. tardiness")))
                .collect(),
            rows: vec![(0..=n).map(|i| Field::from(format!("{i}.25"))).collect()],
            notes: vec![],
        };
        for width in [None, Some(40), Some(80), Some(132)] {
            let style = TextStyle { width, borders: width.is_some(), ..TextStyle::default() };
            let most = usize::from(width.unwrap_or(WIDTH_DEFAULT));
            for n in 1..16 {
                let stacked = alike(vec![side_by_side(n)], style).remove(0);
                for text in
                    [table(&numbers(n), style), table(&side_by_side(n), style), table(&stacked, style)]
                {
                    assert!(widest(&text) <= most, "{n} in {most} columns:\n{text}");
                }
                let text = table(&numbers(n), style);
                assert!((0..=n).all(|i| text.contains(&format!(" {i}.25"))), "all are there:\n{text}");
            }
        }
        let narrow = TextStyle { width: Some(40), borders: true, ..TextStyle::default() };
        let cut = table(&alike(vec![side_by_side(3)], narrow)[0], narrow);
        assert_eq!(cut.matches("scheduler-2").count(), cut.matches("avionics").count(), "{cut}");
        let seven = table(&numbers(7), TextStyle::default());
        assert!(seven.contains("Max.") && !seven.contains("Max. tardiness"), "in two lines:\n{seven}");
        assert_eq!(seven.matches("Scheduler").count(), 1, "in one piece:\n{seven}");
    }

    #[test]
    fn headings_break_where_that_is_shortest() {
        assert_eq!(broken("Max. tardiness"), Some(("Max.", "tardiness")));
        assert_eq!(broken("Switches/task"), Some(("Switches", "/task")));
        assert_eq!(broken("Cont. Switch Rate"), Some(("Cont.", "Switch Rate")));
        assert_eq!(broken("Missed"), None);
    }
}
